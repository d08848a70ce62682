//! Disjoint ranges of addresses as CSV, each with the prefix that answers for it.

use std::io::{BufWriter, Write};
use std::path::Path;

use longmatch::file::NewFile;
use longmatch::table::{Cell, PrefixData};
use longmatch::{Family, IpPrefix, Rib};

use crate::cells::{Style, write_cell, write_prefix};
use crate::error::CliError;

/// The greatest number of rows that buckets may make.
const MAX_ROWS: u128 = 1 << 28;
/// The names of the columns before those of the data.
const NAMES: [&str; 7] = ["family", "prefix", "start", "end", "start16", "end16", "bucket"];

/// Writes the ranges and returns their number and the bytes of the file.
///
/// # Errors
/// If a column has the name of another, buckets make too many rows, or the file cannot be written.
pub fn write(
    data: &PrefixData,
    buckets: Option<(u8, u8)>,
    path: &Path,
) -> Result<(u64, u64), CliError> {
    let names = &NAMES[..if buckets.is_some() { 7 } else { 6 }];
    let own = data.columns().iter().map(|column| &*column.name);
    if let Some(name) = own.clone().find(|name| names.contains(name)) {
        let problem =
            format!("ranges have a column '{name}' of their own: rename that of the data");
        return Err(CliError::input("--columns", problem));
    }
    let (ipv4, ipv6) = (data.table().ipv4(), data.table().ipv6());
    let (bits4, bits6) = buckets.unzip();
    let rows = count(ipv4, bits4) + count(ipv6, bits6);
    if rows > MAX_ROWS {
        let problem = format!("the file would have {rows} rows: give fewer bits");
        return Err(CliError::input("--buckets", problem));
    }
    let failed =
        |error| CliError::input(path.display(), format_args!("cannot be written: {error}"));
    let mut file = NewFile::create(path).map_err(|error| CliError::file(&error))?;
    let mut lines = Lines { out: BufWriter::new(&mut file), line: Vec::new(), bytes: 0 };
    lines.header(names.iter().copied().chain(own)).map_err(failed)?;
    lines.family(data, ipv4, bits4).map_err(failed)?;
    lines.family(data, ipv6, bits6).map_err(failed)?;
    lines.out.flush().map_err(failed)?;
    let bytes = lines.bytes;
    drop(lines);
    file.finish().map_err(|error| CliError::file(&error))?;
    Ok((rows as u64, bytes))
}

/// The first bits of an address of this width; 0 without buckets.
fn bucket(addr: u128, bits: Option<u8>, width: u8) -> u128 {
    bits.map_or(0, |bits| addr >> (width - bits))
}

/// The number of rows of a family.
fn count<F: Family<Bits: Into<u128>>>(rib: &Rib<F>, bits: Option<u8>) -> u128 {
    let routed = rib.ranges().filter(|range| range.route.is_some());
    let of = |addr: F::Bits| bucket(addr.into(), bits, F::WIDTH);
    routed.map(|range| of(range.last) - of(range.first) + 1).sum()
}

/// Lines that are written.
struct Lines<W: Write> {
    out: BufWriter<W>,
    line: Vec<u8>,
    bytes: u64,
}

impl<W: Write> Lines<W> {
    fn end_line(&mut self) -> std::io::Result<()> {
        self.line.push(b'\n');
        self.bytes += self.line.len() as u64;
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }

    fn header<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> std::io::Result<()> {
        for (at, name) in names.enumerate() {
            if at > 0 {
                self.line.push(b',');
            }
            write_cell(Cell::String(name), Style::Csv(b','), &mut self.line);
        }
        self.end_line()
    }

    /// Writes the ranges of a family, each cut where its bucket ends.
    fn family<F: Family<Bits: Into<u128>>>(
        &mut self,
        data: &PrefixData,
        rib: &Rib<F>,
        bits: Option<u8>,
    ) -> std::io::Result<()>
    where
        longmatch::Prefix<F>: Into<IpPrefix>,
    {
        for range in rib.ranges() {
            let Some(route) = range.route else { continue };
            let Some(row) = data.table().next_hops().get(route.next_hop) else { continue };
            let (mut first, end): (u128, u128) = (range.first.into(), range.last.into());
            loop {
                let number = bucket(first, bits, F::WIDTH);
                let last = match bits {
                    Some(bits) => end.min(((number + 1) << (F::WIDTH - bits)).wrapping_sub(1)),
                    None => end,
                };
                self.place(route.prefix.into(), first, last)?;
                if bits.is_some() {
                    write!(self.line, ",{number}")?;
                }
                for cell in row {
                    self.line.push(b',');
                    write_cell(cell.borrowed(), Style::Csv(b','), &mut self.line);
                }
                self.end_line()?;
                if last == end {
                    break;
                }
                first = last + 1;
            }
        }
        Ok(())
    }

    /// Appends the family, the prefix and the addresses: integers of IPv4, 32 hexadecimal digits of IPv6.
    fn place(&mut self, prefix: IpPrefix, first: u128, last: u128) -> std::io::Result<()> {
        let is_ipv4 = matches!(prefix, IpPrefix::V4(_));
        self.line.extend_from_slice(if is_ipv4 { b"4," } else { b"6," });
        write_prefix(prefix, Style::Csv(b','), &mut self.line);
        match is_ipv4 {
            true => write!(self.line, ",{first},{last},,"),
            false => write!(self.line, ",,,{first:032x},{last:032x}"),
        }
    }
}
