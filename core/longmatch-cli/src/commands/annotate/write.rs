//! A block of whole lines: scanned, looked up and written again with the added cells.

use longmatch::NextHopId;
use longmatch_feed::{Codec, compress};

use super::block::{LineKind, RowCounts, Scanned, Slot, scan};
use super::plan::{Format, Plan};
use super::source::Block;
use super::tables::AnnotationTables;

/// The ids of the addresses of a block, table by table: those of IPv4 and of IPv6.
type Ids = [[Vec<Option<NextHopId>>; 2]];

/// A block of output.
#[derive(Default)]
pub struct Annotated {
    /// The output, compressed if it is to be.
    pub output: Vec<u8>,
    /// Whether its last line has no line end.
    pub is_open: bool,
    /// The counts of the block.
    pub counts: RowCounts,
    /// Number of line ends.
    pub lines: u64,
    /// The number of line ends before a problem, and the problem.
    pub problem: Option<(u64, String)>,
    /// An error of reading, or of compression.
    pub error: Option<String>,
}

/// Annotates a block of whole lines.
pub fn annotate(plan: &Plan, block: &Block) -> Annotated {
    let bytes = &*block.bytes;
    let mut scanned =
        scan(plan, block.layout.as_deref().unwrap_or(&plan.format), bytes, block.position);
    let mut output = Vec::with_capacity(bytes.len() + bytes.len() / 2);
    let mut counts = scanned.counts;
    write(plan, &scanned, &mut counts, &mut output);
    let count_lines = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
    let lines = count_lines(bytes);
    let problem = scanned.problem.take().map(|(at, problem)| (count_lines(&bytes[..at]), problem));
    let is_open = output.last().is_some_and(|last| *last != b'\n');
    let mut annotated = Annotated { output, is_open, counts, lines, problem, error: None };
    annotated.compress(plan.codec);
    annotated
}

impl Annotated {
    /// Compresses the output by itself.
    fn compress(&mut self, codec: Option<Codec>) {
        let Some(codec) = codec.filter(|_| !self.output.is_empty()) else { return };
        match compress(codec, &self.output) {
            Ok(output) => self.output = output,
            Err(error) => self.error = Some(format!("cannot be compressed: {error}")),
        }
    }
}

/// Looks up the addresses and writes the lines.
fn write(plan: &Plan, scanned: &Scanned<'_>, counts: &mut RowCounts, out: &mut Vec<u8>) {
    let Scanned { bytes, marks, addresses, .. } = scanned;
    let tables = &*plan.tables();
    let ids = tables.lookup(&addresses.ipv4, &addresses.ipv6);
    let mut matches = vec![None; plan.sources.len() * tables.len()];
    let mut slots = addresses.slots.chunks_exact(plan.sources.len());
    for mark in marks {
        let is_row = matches!(mark.kind, LineKind::Row(_) | LineKind::EmptyObject);
        let slots = if is_row { slots.next().unwrap_or_default() } else { &[] };
        if slots.is_empty() {
            matches.fill(None);
        }
        for (slot, matches) in slots.iter().zip(matches.chunks_exact_mut(tables.len())) {
            match addresses.list(*slot) {
                None => slot.matches(&ids, matches),
                Some(list) => first_match(list, &ids, matches),
            }
        }
        if let Some(wanted) = plan.only_matching
            && mark.kind.is_data()
            && matches.iter().any(Option::is_some) != wanted
        {
            continue;
        }
        counts.printed += u64::from(mark.kind.is_data());
        if plan.count {
            continue;
        }
        if tables.added.is_empty() || matches!(mark.kind, LineKind::Other | LineKind::Comment) {
            out.extend_from_slice(&bytes[mark.start..mark.next]);
            continue;
        }
        out.extend_from_slice(&bytes[mark.start..mark.insert]);
        let row = Row { plan, tables, scanned, ids: &ids, slots, matches: &matches };
        match mark.kind {
            LineKind::Header => out.extend_from_slice(&plan.header),
            LineKind::Types => out.extend_from_slice(&plan.types),
            LineKind::Row(missing) => {
                (0..missing).for_each(|_| plan.missing_cell(out));
                row.added(false, out);
            }
            LineKind::EmptyObject => row.added(true, out),
            LineKind::Comment | LineKind::Other => {}
        }
        out.extend_from_slice(&bytes[mark.insert..mark.next]);
    }
}

/// The ids of the first address that has one.
fn first_match(list: &[Slot], ids: &Ids, matches: &mut [Option<NextHopId>]) {
    matches.fill(None);
    for slot in list {
        slot.matches(ids, matches);
        if matches.iter().any(Option::is_some) {
            return;
        }
    }
}

/// A row, and what its addresses match.
struct Row<'a> {
    plan: &'a Plan,
    tables: &'a AnnotationTables,
    scanned: &'a Scanned<'a>,
    ids: &'a Ids,
    slots: &'a [Slot],
    matches: &'a [Option<NextHopId>],
}

impl Row<'_> {
    /// Writes the added cells.
    #[inline]
    fn added(&self, is_empty: bool, out: &mut Vec<u8>) {
        let mut leads = self.plan.leads.iter();
        let mut skip = usize::from(is_empty);
        let matches = self.matches.chunks_exact(self.tables.len());
        for (slot, matches) in self.slots.iter().zip(matches) {
            let list = self.scanned.addresses.list(*slot).filter(|_| !self.plan.any);
            for (i, lead) in (0..self.tables.added.len()).zip(&mut leads) {
                // The first member of an object has no comma before it.
                out.extend_from_slice(&lead[skip..]);
                skip = 0;
                match list {
                    None => self.tables.write(i, matches, out),
                    Some(list) => self.list(i, list, out),
                }
            }
        }
    }

    /// Writes the added cells of a list of addresses: an array, or a cell with commas.
    fn list(&self, i: usize, list: &[Slot], out: &mut Vec<u8>) {
        let is_json = matches!(self.plan.format, Format::Json(_));
        let mut matches = vec![None; self.tables.len()];
        let mut all = Vec::new();
        for (place, slot) in list.iter().enumerate() {
            if place > 0 {
                all.push(b',');
            }
            slot.matches(self.ids, &mut matches);
            match is_json {
                true => self.tables.write(i, &matches, &mut all),
                false => self.tables.write_bare(i, &matches, &mut all),
            }
        }
        match is_json {
            true => out.extend([b"[", &*all, b"]"].concat()),
            false => self.tables.write_text(&String::from_utf8_lossy(&all), out),
        }
    }
}
