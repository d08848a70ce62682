//! Disjoint ranges of addresses as CSV or Parquet, each with the prefix that answers for it.

#[cfg(feature = "columnar")]
mod parquet;

use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::Path;

use longmatch::file::NewFile;
use longmatch::table::{Cell, PrefixData, Row};
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
    if let Some(name) = own_names(data).find(|name| names.contains(name)) {
        let problem =
            format!("ranges have a column '{name}' of their own: rename that of the data");
        return Err(CliError::input("--columns", problem));
    }
    let (ipv4, ipv6) = (data.table().ipv4(), data.table().ipv6());
    let (bits4, bits6) = buckets.unzip();
    let count = count(ipv4, bits4) + count(ipv6, bits6);
    if count > MAX_ROWS {
        let problem = format!("the file would have {count} rows: give fewer bits");
        return Err(CliError::input("--buckets", problem));
    }
    let mut file = NewFile::create(path).map_err(|error| CliError::file(&error))?;
    let mut rows = open(data, names, path, &mut file)?;
    family(data, ipv4, bits4, &mut *rows)?;
    family(data, ipv6, bits6, &mut *rows)?;
    let bytes = rows.finish()?;
    file.finish().map_err(|error| CliError::file(&error))?;
    Ok((count as u64, bytes))
}

/// The writer of the format that the name of the file says.
fn open<'a>(
    data: &'a PrefixData,
    names: &[&str],
    path: &'a Path,
    file: &'a mut NewFile,
) -> Result<Box<dyn Rows<'a> + 'a>, CliError> {
    #[cfg(feature = "columnar")]
    if path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("parquet")) {
        return Ok(Box::new(parquet::Groups::new(data, names.len() == NAMES.len(), path, file)?));
    }
    let mut lines = Lines { out: BufWriter::new(file), path, line: Vec::new(), bytes: 0 };
    lines.header(names.iter().copied().chain(own_names(data)))?;
    Ok(Box::new(lines))
}

/// The names of the columns of the data.
fn own_names(data: &PrefixData) -> impl Iterator<Item = &str> + Clone {
    data.columns().iter().map(|column| &*column.name)
}

/// A range, or the part of it that is in a bucket.
struct Range<'d> {
    prefix: IpPrefix,
    first: u128,
    last: u128,
    bucket: Option<u64>,
    cells: &'d Row,
}

impl Range<'_> {
    fn is_ipv4(&self) -> bool {
        matches!(self.prefix, IpPrefix::V4(_))
    }
}

/// A writer of ranges.
trait Rows<'d> {
    /// Writes a range.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn add(&mut self, range: Range<'d>) -> Result<(), CliError>;

    /// Writes the end and returns the bytes of the file.
    ///
    /// # Errors
    /// As [`Rows::add`].
    fn finish(self: Box<Self>) -> Result<u64, CliError>;
}

/// The error of a file that cannot be written.
fn failed(path: &Path, error: impl Display) -> CliError {
    CliError::input(path.display(), format_args!("cannot be written: {error}"))
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

/// Writes the ranges of a family, each cut where its bucket ends.
fn family<'d, F: Family<Bits: Into<u128>>>(
    data: &'d PrefixData,
    rib: &Rib<F>,
    bits: Option<u8>,
    rows: &mut dyn Rows<'d>,
) -> Result<(), CliError>
where
    longmatch::Prefix<F>: Into<IpPrefix>,
{
    for range in rib.ranges() {
        let Some(route) = range.route else { continue };
        let Some(cells) = data.table().next_hops().get(route.next_hop) else { continue };
        let (mut first, end): (u128, u128) = (range.first.into(), range.last.into());
        loop {
            let number = bucket(first, bits, F::WIDTH);
            let last = match bits {
                Some(bits) => end.min(((number + 1) << (F::WIDTH - bits)).wrapping_sub(1)),
                None => end,
            };
            let bucket = bits.map(|_| number as u64);
            rows.add(Range { prefix: route.prefix.into(), first, last, bucket, cells })?;
            if last == end {
                break;
            }
            first = last + 1;
        }
    }
    Ok(())
}

/// CSV.
struct Lines<'a> {
    out: BufWriter<&'a mut NewFile>,
    path: &'a Path,
    line: Vec<u8>,
    bytes: u64,
}

impl Lines<'_> {
    fn end_line(&mut self) -> Result<(), CliError> {
        self.line.push(b'\n');
        self.bytes += self.line.len() as u64;
        self.out.write_all(&self.line).map_err(|error| failed(self.path, error))?;
        self.line.clear();
        Ok(())
    }

    fn header<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<(), CliError> {
        for (at, name) in names.enumerate() {
            if at > 0 {
                self.line.push(b',');
            }
            write_cell(Cell::String(name), Style::Csv(b','), &mut self.line);
        }
        self.end_line()
    }
}

impl<'d> Rows<'d> for Lines<'_> {
    /// IPv4 addresses are integers, IPv6 addresses 32 hexadecimal digits.
    fn add(&mut self, range: Range<'d>) -> Result<(), CliError> {
        let is_ipv4 = range.is_ipv4();
        let Range { prefix, first, last, bucket, cells } = range;
        self.line.extend_from_slice(if is_ipv4 { b"4," } else { b"6," });
        write_prefix(prefix, Style::Csv(b','), &mut self.line);
        // Writing to memory does not fail.
        let _ = match is_ipv4 {
            true => write!(self.line, ",{first},{last},,"),
            false => write!(self.line, ",,,{first:032x},{last:032x}"),
        };
        if let Some(number) = bucket {
            let _ = write!(self.line, ",{number}");
        }
        for cell in cells {
            self.line.push(b',');
            write_cell(cell.borrowed(), Style::Csv(b','), &mut self.line);
        }
        self.end_line()
    }

    fn finish(mut self: Box<Self>) -> Result<u64, CliError> {
        self.out.flush().map_err(|error| failed(self.path, error))?;
        Ok(self.bytes)
    }
}
