//! Verifies the invariants of `layout.rs`, and every answer against the RIB.
//!
//! First verifies the position of everything, so that no read leaves an array; then walks root and
//! pages in order of addresses, counts the entries that lead to each page and the escapes of each
//! code, and compares each change of next hop with the RIB's disjoint ranges.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use super::super::NAME;
use super::super::check::run_end;
use super::super::store::{Account, Kind, Page};
use super::layout::{
    Decode, Entry, Escape, MAX_CODES, MAX_NEXT_HOP, MAX_ROOT, MIN_ROOT, PATCHES, Slices, Vectors,
    WIDTH, escape_code,
};
use crate::engine::kit::{Corrupt, Expected};
use crate::mem::{LINE, Run, tile};
use crate::net::Ipv4;
use crate::rib::Rib;

/// Key of a slot whose escape was removed.
pub(super) const REMOVED: u32 = u32::MAX;

/// What a live table has besides its account.
#[derive(Default)]
pub(super) struct Spare {
    /// Pages that wait until no reader can reach them. They keep their escapes.
    pub retired: Vec<Page>,
    /// Free answers of blocks.
    pub free: Vec<Run>,
}

pub(super) fn check(
    table: Slices<'_>,
    account: &Account,
    spare: Spare,
    rib: &Rib<Ipv4>,
) -> Result<(), Corrupt> {
    arrays_fit(table)?;
    codes_agree(table)?;
    pieces_tile(table, account, &spare)?;
    contents_differ(table, account)?;
    let escapes = escapes(table)?;
    let pages = &account.pages[..];
    let mut walk = Walk {
        table,
        pages,
        expected: Expected::new(NAME, rib),
        page_at: (0..).zip(pages).map(|(at, page)| (page.start, at)).collect(),
        met: vec![0; pages.len()],
        escapes: &escapes,
        met_escapes: 0,
        blocks: spare.free,
    };
    walk.root()?;
    walk.expected.finish()?;
    for (page, met) in pages.iter().zip(&walk.met) {
        if page.references != *met {
            return corrupt(format!("{page:?} is met {met} times"));
        }
    }
    for page in &spare.retired {
        walk.escapes_of(page)?;
    }
    let Walk { met_escapes, blocks, .. } = walk;
    if met_escapes != escapes.len() {
        return corrupt(format!("{} escapes, {met_escapes} of them of codes", escapes.len()));
    }
    let tiled = tile(blocks, table.deep.len());
    tiled.or_else(|at| corrupt(format!("the blocks do not cover deep answer {at} once")))
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

/// Verifies the lengths of the arrays.
fn arrays_fit(table: Slices<'_>) -> Result<(), Corrupt> {
    let (bits, log2, escape_bits) =
        (table.fixed.root_bits(), table.fixed.log2, table.fixed.escape_bits);
    if !(MIN_ROOT..=MAX_ROOT).contains(&bits) || table.root.len() != 1 << bits {
        return corrupt(format!("{} entries of a root of {bits} bits", table.root.len()));
    }
    let masks = (table.fixed.below_root, table.fixed.escape_code);
    if log2 > 2 || masks != (u32::MAX >> bits, escape_code(log2)) {
        return corrupt(format!("masks {masks:x?} for a root of {bits} bits and 2^{log2} bytes"));
    }
    if !(1..=30).contains(&escape_bits) || table.escapes.len() != 2 << escape_bits {
        let words = table.escapes.len();
        return corrupt(format!(
            "codes of 2^{log2} bytes, {words} words for 2^{escape_bits} escapes"
        ));
    }
    Ok(())
}

/// Verifies that each next hop has one code, and each code a next hop.
fn codes_agree(table: Slices<'_>) -> Result<(), Corrupt> {
    let escape = table.fixed.escape_code;
    let mut hops = HashSet::new();
    let mut once = |code: u32| match table.fixed.decode(code) {
        0 => Ok(()),
        raw if raw > MAX_NEXT_HOP || !hops.insert(raw) => {
            corrupt(format!("next hop {raw} of code {code} is too large, or has two codes"))
        }
        _ => Ok(()),
    };
    let Decode::Table(hops, vectors) = &table.fixed.decode else { return Ok(()) };
    if hops.len() as u64 != u64::from(escape) + 1 {
        return corrupt(format!("{} next hops for {escape} codes", hops.len()));
    }
    let agrees = |code: u32| match vectors {
        Vectors::Gather => true,
        Vectors::Book(book) => {
            table.fixed.log2 == 0 && u32::from(book.value(code as u8)) == hops[code as usize]
        }
        Vectors::Patches(patches) => {
            let patch = patches.iter().find(|patch| patch.0 == code);
            let hop = patch.map_or(code, |patch| patch.1);
            table.fixed.log2 == 0 && patches.len() <= PATCHES && hop == hops[code as usize]
        }
    };
    if let Some(code) = (0..escape).find(|code| !agrees(*code)) {
        return corrupt(format!("vectors find another next hop of code {code}"));
    }
    (0..escape).try_for_each(&mut once)
}

/// Verifies that pages and unused pieces tile the array, each at a valid place.
fn pieces_tile(table: Slices<'_>, account: &Account, spare: &Spare) -> Result<(), Corrupt> {
    let Account { pages, unused } = account;
    let all = pages.iter().chain(&spare.retired);
    let unit = table.fixed.log2;
    let sound = |page: &&Page| {
        let size = page.log2_bytes;
        size >= unit && size < 27 && (page.start as usize).is_multiple_of(page.bytes().min(LINE))
    };
    if let Some(page) = all.clone().find(|page| !sound(page)) {
        return corrupt(format!("{page:?} of codes of 2^{unit} bytes"));
    }
    let pieces = all.map(|page| (page.start, page.bytes())).chain(unused.iter().copied());
    let runs = pieces.map(|(start, bytes)| Run { start, count: bytes as u32 }).collect();
    let end = table.codes.len();
    if end > MAX_CODES << unit {
        return corrupt(format!("{end} bytes of codes of 2^{unit} bytes"));
    }
    let tiled = tile(runs, end);
    tiled.or_else(|at| corrupt(format!("the pages do not cover byte {at} of {end} once")))
}

/// Verifies that no two pages without escapes have the same bytes.
fn contents_differ(table: Slices<'_>, account: &Account) -> Result<(), Corrupt> {
    let shared = account.pages.iter().filter(|page| page.kind != Kind::Escaping);
    let mut contents = HashSet::with_capacity(account.pages.len());
    for page in shared {
        if !contents.insert(content(table.codes, page)) || page.kind != Kind::Codes {
            return corrupt(format!("{page:?} is stored twice, or is no page of codes"));
        }
    }
    Ok(())
}

fn content<'b>(bytes: &'b [u8], page: &Page) -> &'b [u8] {
    &bytes[page.start as usize..][..page.bytes()]
}

/// The escapes by position. Verifies that each is found, and that lookups of others end.
fn escapes(table: Slices<'_>) -> Result<HashMap<u32, Escape>, Corrupt> {
    let slots = table.escapes.as_chunks::<2>().0;
    let mut escapes = HashMap::new();
    for [key, value] in slots.iter().filter(|[key, _]| ![0, REMOVED].contains(key)) {
        let mut slot = table.fixed.escape_slot(key - 1);
        while slots[slot][0] != *key {
            if slots[slot][0] == 0 {
                return corrupt(format!("the escape of position {} is not found", key - 1));
            }
            slot = table.fixed.next_slot(slot);
        }
        if slots[slot] != [*key, *value] || escapes.insert(key - 1, Escape(*value)).is_some() {
            return corrupt(format!("two escapes of position {}", key - 1));
        }
    }
    match slots.iter().any(|[key, _]| *key == 0) {
        true => Ok(escapes),
        false => corrupt(format!("no empty slot among {}", slots.len())),
    }
}

struct Walk<'a> {
    table: Slices<'a>,
    /// The account's pages.
    pages: &'a [Page],
    /// The RIB's ranges, read in step with the walk.
    expected: Expected<'a, Ipv4>,
    /// The position of each page in the store's account, by its start.
    page_at: HashMap<u32, u32>,
    /// The number of entries visited for each page of the account.
    met: Vec<u32>,
    escapes: &'a HashMap<u32, Escape>,
    /// Escapes of codes visited.
    met_escapes: usize,
    /// Free answers, and those of blocks visited.
    blocks: Vec<Run>,
}

impl Walk<'_> {
    fn root(&mut self) -> Result<(), Corrupt> {
        let root = self.table.root;
        let mut at = 0;
        while at < root.len() {
            let entry = Entry(root[at]);
            let alike = match entry.log2_codes(self.table.fixed.root_bits()) {
                Some(0) => run_end(root, 1, at),
                _ => at + 1,
            };
            self.page(entry, at, (alike - at) as u32)?;
            at = alike;
        }
        Ok(())
    }

    /// Walks the page of `entries` equal entries from the block `block` on.
    fn page(&mut self, entry: Entry, block: usize, entries: u32) -> Result<(), Corrupt> {
        let bits = self.table.fixed.root_bits();
        let first = (block as u32) << (WIDTH - bits);
        let addr = core::net::Ipv4Addr::from(first);
        let Some(log2_codes) = entry.log2_codes(bits) else {
            return corrupt(format!("{addr}: {entry:x?} below a root of {bits} bits"));
        };
        let start = u64::from(entry.place()) << self.table.fixed.log2;
        let at = u32::try_from(start).ok().and_then(|start| self.page_at.get(&start)).copied();
        let Some(at) = at.map(|at| at as usize) else {
            return corrupt(format!("{addr}: {entry:x?} leads to no page"));
        };
        let page = self.pages[at];
        if page.log2_bytes != log2_codes + self.table.fixed.log2 {
            return corrupt(format!("{addr}: {entry:x?} leads to {page:?}"));
        }
        if self.met[at] == 0 {
            self.escapes_of(&page)?;
        }
        self.met[at] += entries;
        let depth = if log2_codes == 0 { bits } else { WIDTH - entry.drop() as u8 };
        self.codes(&page, first, depth)
    }

    /// Visits the escapes of a page: every code that escapes has one, and its block is its own.
    fn escapes_of(&mut self, page: &Page) -> Result<(), Corrupt> {
        let log2 = self.table.fixed.log2;
        let log2_codes = page.log2_bytes - log2;
        let below = u32::from(WIDTH - self.table.fixed.root_bits() - log2_codes);
        let mut escapes = 0;
        for slot in 0..1 << log2_codes {
            let position = (page.start >> log2) + slot;
            if self.code(position) != self.table.fixed.escape_code {
                continue;
            }
            escapes += 1;
            let Some(escape) = self.escapes.get(&position) else {
                return corrupt(format!("{page:?} has no escape for its code {slot}"));
            };
            if escape.is_block() {
                let answers = escape.answers(below);
                let Some(count) = answers.map(|count| count as u32) else {
                    return corrupt(format!("{page:?}: {escape:x?} with {below} bits below"));
                };
                self.blocks.push(Run { start: escape.place(), count });
                if u64::from(escape.place()) + u64::from(count) > self.table.deep.len() as u64 {
                    return corrupt(format!("{page:?}: {escape:x?} ends after the deep answers"));
                }
            }
        }
        self.met_escapes += escapes;
        match (escapes > 0) == (page.kind == Kind::Escaping) {
            true => Ok(()),
            false => corrupt(format!("{page:?} has {escapes} escapes")),
        }
    }

    fn code(&self, position: u32) -> u32 {
        let log2 = self.table.fixed.log2;
        let bytes = &self.table.codes[(position as usize) << log2..][..1 << log2];
        bytes.iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte))
    }

    /// Compares the codes of a page at a depth, whose addresses begin at `first`.
    fn codes(&mut self, page: &Page, first: u32, depth: u8) -> Result<(), Corrupt> {
        let unit = 1usize << self.table.fixed.log2;
        let codes = content(self.table.codes, page);
        let start = page.start >> self.table.fixed.log2;
        let (mut at, mut fine) = (0, codes.len() == unit || page.kind == Kind::Escaping);
        while at < codes.len() {
            let slot = at / unit;
            fine |= slot % 2 == 1;
            let addr = first | ((slot as u64) << (WIDTH - depth)) as u32;
            let code = self.code(start + slot as u32);
            if code == self.table.fixed.escape_code {
                let escape = self.escapes[&(start + slot as u32)];
                self.escape(escape, addr, u32::from(WIDTH - depth))?;
                at += unit;
                continue;
            }
            self.answer(addr, self.table.fixed.decode(code))?;
            at = run_end(codes, unit, at);
        }
        match fine {
            true => Ok(()),
            false => corrupt(format!("{page:?} has more codes than it needs")),
        }
    }

    /// Compares the answers of an escape, from the address `first` on.
    fn escape(&mut self, escape: Escape, first: u32, below: u32) -> Result<(), Corrupt> {
        if !escape.is_block() {
            return self.answer(first, escape.0);
        }
        let count = escape.answers(below).unwrap_or(0);
        let answers = &self.table.deep[escape.place() as usize..][..count];
        let mut addrs = (0..).map(|i: u32| first | i << escape.drop());
        addrs.by_ref().zip(answers).try_for_each(|(addr, raw)| self.answer(addr, *raw))
    }

    fn answer(&mut self, first: u32, raw: u32) -> Result<(), Corrupt> {
        match raw <= MAX_NEXT_HOP {
            true => self.expected.expect(first, raw),
            false => corrupt(format!("next hop {raw} at {}", core::net::Ipv4Addr::from(first))),
        }
    }
}
