//! Verifies the invariants of `layout.rs`, and every answer against the RIB.
//!
//! First verifies the position of everything, so that no read leaves an array; then walks root and
//! pages in order of addresses, counts the entries that lead to each page, and compares each change
//! of next hop with the RIB's disjoint ranges.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use super::NAME;
use super::layout::{CodeForm, Entry, Fixed, Level, MAX_WIDTH, PLACE_UNIT, Slices};
use super::root::{Root, RootLayout};
use super::store::{Account, Kind, Page};
use crate::engine::kit::Corrupt;
use crate::engine::kit::Expected;
use crate::mem::LINE;
use crate::net::{Bits, Family};
use crate::rib::Rib;

pub(super) fn check<F: Family>(
    folio: Slices<'_>,
    form: CodeForm,
    account: &Account,
    rib: &Rib<F>,
) -> Result<(), Corrupt> {
    root_form::<F>(&folio.root, folio.entries)?;
    let outside = Entry(folio.entries[folio.root.last as usize]);
    if outside.is_page() {
        return corrupt(format!("the root's last entry is a page: {outside:x?}"));
    }
    levels_join::<F>(folio)?;
    codes_agree(folio, form)?;
    pieces_tile(folio, form, account)?;
    contents_differ(folio, account)?;
    let pages = &account.pages[..];
    let mut walk = Walk {
        form,
        folio,
        pages,
        bytes: folio.pages,
        expected: Expected::new(NAME, rib),
        page_at: (0..).zip(pages).map(|(at, page)| (page.start, at)).collect(),
        met: alloc::vec![0; pages.len()],
    };
    walk.root()?;
    walk.expected.finish()?;
    for (page, met) in pages.iter().zip(&walk.met) {
        if page.references != *met {
            return corrupt(format!("{page:?} is met {met} times"));
        }
    }
    Ok(())
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

/// Verifies that blocks lie where they can, and that there is an entry for the outside.
pub(super) fn root_form<F: Family>(root: &Root, entries: &[u32]) -> Result<(), Corrupt> {
    let blocks = root.last as usize;
    if entries.len() != blocks + 1 {
        return corrupt(format!("{} entries of a root of {blocks} blocks", entries.len()));
    }
    if !(1..=30).contains(&root.bits) || root.bits >= F::WIDTH || blocks > 1 << 30 {
        return corrupt(format!("a root of {blocks} blocks for {} bits", root.bits));
    }
    let all = 1u64 << root.bits;
    // The index of an IPv4 address is not bounded before the root is read.
    if F::WIDTH == 32
        && !matches!(root.layout, RootLayout::Span { first: 0, .. } if blocks as u64 == all)
    {
        return corrupt(format!("{blocks} blocks from {:?} on, of {all}", root.layout));
    }
    let mut at = 0;
    for (index, numbers) in root.stored_ranges() {
        let word = numbers.start << (32 - root.bits);
        if numbers.start < at || u64::from(numbers.end) > all || index + numbers.len() > blocks {
            return corrupt(format!("blocks from {numbers:?} on at {index} of {blocks} stored"));
        }
        if !numbers.is_empty() && root.index(word) as usize != index {
            return corrupt(format!("blocks from {numbers:?} on are not found at {index}"));
        }
        at = numbers.end;
    }
    Ok(())
}

/// Verifies that windows join to the address's end, none in both halves.
fn levels_join<F: Family>(folio: Slices<'_>) -> Result<(), Corrupt> {
    let (levels, usual) = (&folio.levels, folio.usual_levels);
    let mut at = folio.root.bits;
    for level in levels {
        let width = u32::from(level.width);
        let end = u32::from(level.start) + width;
        if level.start != at || !(1..=MAX_WIDTH).contains(&level.width) {
            return corrupt(format!("{level:?} after a cut at {at}"));
        }
        if end > F::WIDTH.into() || (at < 64 && end > 64) {
            return corrupt(format!("{level:?} of {} bits in halves of 64", F::WIDTH));
        }
        at = level.end();
    }
    if at != F::WIDTH {
        return corrupt(format!("the levels end at {at} of {} bits", F::WIDTH));
    }
    let reach = folio.root.bits + 32;
    match usual.checked_sub(1).and_then(|last| levels.get(last)) {
        Some(last) if F::WIDTH == 32 || last.end() <= reach => Ok(()),
        _ => corrupt(format!("{usual} usual levels of {levels:?}")),
    }
}

/// Verifies that codebook and patches agree, and that each next hop has one code.
fn codes_agree(folio: Slices<'_>, form: CodeForm) -> Result<(), Corrupt> {
    let Fixed { book, patches, .. } = folio.fixed;
    if patches.len() > form.patches {
        return corrupt(format!("{patches:?} for codes={}", form.name));
    }
    if form.log2 > 0 {
        return Ok(());
    }
    let mut coded = HashSet::new();
    for code in 0..=u8::MAX {
        let raw = book.value(code);
        let mut patched = patches.iter().filter(|patch| patch.0 == code);
        let own = patched.next().map_or(u16::from(code), |patch| patch.1);
        if patched.next().is_some() || (!form.book && raw != own) {
            return corrupt(format!("code {code} is {raw} in the codebook, with {patches:?}"));
        }
        if raw != 0 && !coded.insert(raw) {
            return corrupt(format!("next hop {raw} has two codes"));
        }
    }
    Ok(())
}

/// Verifies that pages and unused pieces tile the array, each at a valid place.
fn pieces_tile(folio: Slices<'_>, form: CodeForm, account: &Account) -> Result<(), Corrupt> {
    let unit = PLACE_UNIT << form.log2;
    let Account { pages, unused } = account;
    if let Some(page) = pages.iter().find(|page| !is_sound(page, unit)) {
        return corrupt(format!("{page:?} with places in units of {unit} bytes"));
    }
    let pages = pages.iter().map(|page| (page.start, page.bytes()));
    let pack = |(start, bytes)| u64::from(start) << 32 | bytes as u64;
    let mut pieces: Vec<u64> = pages.chain(unused.iter().copied()).map(pack).collect();
    pieces.sort_unstable();
    let mut end = 0;
    for piece in pieces {
        let (start, bytes) = (piece >> 32, piece as u32 as usize);
        if start != end as u64 {
            return corrupt(format!(
                "a piece begins at byte {start}, the one before ends at {end}"
            ));
        }
        end += bytes;
    }
    if folio.pages.len() < end {
        return corrupt(format!("{} bytes for pages of {end}", folio.pages.len()));
    }
    Ok(())
}

/// Whether a page has a valid size and crosses no cache line without need.
fn is_sound(page: &Page, unit: usize) -> bool {
    let largest = (size_of::<u32>() << MAX_WIDTH).ilog2();
    if u32::from(page.log2_bytes) > largest || page.bytes() < unit {
        return false;
    }
    let aligned = (page.start as usize).is_multiple_of(page.bytes().min(LINE));
    aligned && (page.start as usize).is_multiple_of(unit)
}

/// Verifies that no two pages of a kind have the same bytes.
fn contents_differ(folio: Slices<'_>, account: &Account) -> Result<(), Corrupt> {
    let (bytes, pages) = (folio.pages, &account.pages);
    let mut contents = HashSet::with_capacity(pages.len());
    for page in pages {
        let branch = match page.kind {
            Kind::Codes | Kind::Escaping => None,
            Kind::Branch(level) => Some(level),
        };
        if !contents.insert((branch, content(bytes, page))) {
            return corrupt(format!("{page:?} is stored twice"));
        }
    }
    Ok(())
}

fn content<'b>(bytes: &'b [u8], page: &Page) -> &'b [u8] {
    &bytes[page.start as usize..][..page.bytes()]
}

/// Returns the end of the run of equal items that begins at `from`. An item is `unit` elements.
pub(super) fn run_end<T: PartialEq>(items: &[T], unit: usize, from: usize) -> usize {
    /// Two stretches of this length fit the L1 cache; the run is read from memory once.
    const LONGEST: usize = 1 << 11;
    let (mut end, mut step, mut growing) = (from + unit, unit, true);
    while step >= unit {
        // The items of the run are equal, so its beginning is compared with the continuation.
        let alike = items.get(end..end + step) == Some(&items[from..from + step]);
        end += if alike { step } else { 0 };
        growing &= alike;
        step = match growing {
            true => (2 * step).min(LONGEST),
            false => step / 2,
        };
    }
    end
}

struct Walk<'a, F: Family> {
    form: CodeForm,
    folio: Slices<'a>,
    /// The account's pages.
    pages: &'a [Page],
    /// The array of pages.
    bytes: &'a [u8],
    /// The RIB's ranges, read in step with the walk.
    expected: Expected<'a, F>,
    /// The position of each page in the store's account, by its start.
    page_at: HashMap<u32, u32>,
    /// The number of entries visited for each page of the account.
    met: Vec<u32>,
}

impl<F: Family> Walk<'_, F> {
    /// Walks the blocks of the root; blocks outside have the last entry.
    fn root(&mut self) -> Result<(), Corrupt> {
        let root = &self.folio.fixed.root;
        let outside = Entry(self.folio.entries[root.last as usize]);
        let mut at = 0;
        for (index, numbers) in root.stored_ranges() {
            if at < numbers.start {
                self.answer(block(F::Bits::ZERO, at as usize, root.bits), outside)?;
            }
            let entries = &self.folio.entries[index..][..numbers.len()];
            self.entries(0, entries, F::Bits::ZERO, numbers.start as usize, root.bits, true)?;
            at = numbers.end;
        }
        if at < 1 << root.bits {
            self.answer(block(F::Bits::ZERO, at as usize, root.bits), outside)?;
        }
        Ok(())
    }

    /// Walks entries that lead to pages of a level.
    ///
    /// Their blocks are at depth `bits`, their addresses begin with `stem`, and the first block has
    /// the number `number`. Entries of a shared page are counted once, when it is first met.
    fn entries(
        &mut self,
        level: usize,
        entries: &[u32],
        stem: F::Bits,
        number: usize,
        bits: u8,
        counted: bool,
    ) -> Result<(), Corrupt> {
        let mut at = 0;
        while at < entries.len() {
            let (entry, first) = (Entry(entries[at]), block(stem, number + at, bits));
            if entry.is_page() {
                self.page(level, entry, first, counted)?;
                at += 1;
            } else {
                self.answer(first, entry)?;
                at = run_end(entries, 1, at);
            }
        }
        Ok(())
    }

    fn answer(&mut self, first: F::Bits, entry: Entry) -> Result<(), Corrupt> {
        if entry.raw() > self.form.max {
            return corrupt(format!(
                "{}: {entry:x?} with codes={}",
                F::addr(first),
                self.form.name
            ));
        }
        self.expected.expect(first, entry.raw())
    }

    /// Walks the page that an entry leads to, whose addresses begin at `first`. The recursion is as
    /// deep as the number of levels.
    fn page(
        &mut self,
        level: usize,
        entry: Entry,
        first: F::Bits,
        counted: bool,
    ) -> Result<(), Corrupt> {
        let Some(window) = self.folio.levels.get(level).copied() else {
            return corrupt(format!("{}: a page past the address's end", F::addr(first)));
        };
        if self.folio.closed && level >= self.folio.usual_levels {
            return corrupt(format!("{}: a page after the usual levels", F::addr(first)));
        }
        let (kind, bytes) = match entry.is_branch() {
            true => (Kind::Branch(level as u8), size_of::<u32>() << window.width),
            false => (Kind::Codes, slots::<F>(self.form, window, entry, first)? << self.form.log2),
        };
        let unit = PLACE_UNIT << self.form.log2;
        let (page, met) = self.visit_page(kind, entry, bytes.max(unit), first, counted)?;
        let (content, padding) = content(self.bytes, &page).split_at(bytes);
        if padding.iter().any(|byte| *byte != 0) {
            return corrupt(format!("{}: {page:?} is not filled up with zeros", F::addr(first)));
        }
        if kind == Kind::Codes {
            return self.codes(content, first, window.start);
        }
        if entry != Entry::branch_page(entry.place()) {
            return corrupt(format!("{}: {entry:x?} drops bits of a branch page", F::addr(first)));
        }
        let slots = content.as_chunks::<4>().0.iter().map(|slot| u32::from_le_bytes(*slot));
        let slots: Vec<u32> = slots.collect();
        if !Entry(slots[0]).is_page() && run_end(&slots, 1, 0) == slots.len() {
            return corrupt(format!("{}: a branch page without a change", F::addr(first)));
        }
        self.entries(level + 1, &slots, first, 0, window.end(), counted && met == 1)
    }

    /// Finds the page of a kind and size that an entry leads to. Returns also the number of such
    /// entries so far, including this one if it is counted.
    fn visit_page(
        &mut self,
        kind: Kind,
        entry: Entry,
        bytes: usize,
        first: F::Bits,
        counted: bool,
    ) -> Result<(Page, u32), Corrupt> {
        let start = entry.place().checked_mul(1 << self.form.log2);
        let at = start.and_then(|start| self.page_at.get(&start));
        let Some(at) = at.map(|at| *at as usize) else {
            return corrupt(format!("{}: {entry:x?} leads to no page", F::addr(first)));
        };
        let page = self.pages[at];
        self.met[at] += u32::from(counted);
        if (page.kind, page.bytes()) != (kind, bytes) || self.met[at] > page.references {
            let (met, addr) = (self.met[at], F::addr(first));
            let what = format!("{kind:?} of {bytes} bytes, time {met}");
            return corrupt(format!("{addr}: {entry:x?}, {what}, leads to {page:?}"));
        }
        Ok((page, self.met[at]))
    }

    /// Walks a page of codes; its addresses begin at `first`. The bits below `start` number its
    /// slots.
    fn codes(&mut self, codes: &[u8], first: F::Bits, start: u8) -> Result<(), Corrupt> {
        let unit = 1 << self.form.log2;
        let depth = start + (codes.len() >> self.form.log2).ilog2() as u8;
        let (mut at, mut fine) = (0, false);
        while at < codes.len() {
            let slot = at >> self.form.log2;
            fine |= slot % 2 == 1;
            let raw = self.folio.next_hop(&codes[at..at + unit]);
            self.answer(block(first, slot, depth), Entry(raw))?;
            at = run_end(codes, unit, at);
        }
        if !fine {
            return corrupt(format!("{}: a page of codes finer than needed", F::addr(first)));
        }
        Ok(())
    }
}

/// Number of slots of a page of codes, from its entry.
fn slots<F: Family>(
    form: CodeForm,
    window: Level,
    entry: Entry,
    first: F::Bits,
) -> Result<usize, Corrupt> {
    let width = (u32::from(window.width) + form.slot_shift).checked_sub(entry.drop());
    match width {
        Some(width) if (1..=u32::from(window.width)).contains(&width) => Ok(1 << width),
        _ => corrupt(format!("{}: {entry:x?} drops bits of {window:?}", F::addr(first))),
    }
}

/// The first address of a block. Its number is the bits of the address below `stem`, down to depth
/// `bits`.
fn block<B: Bits>(stem: B, number: usize, bits: u8) -> B {
    stem | B::from_u128((number as u128) << (B::WIDTH - bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of small lengths at every position, and lengths around the stretches'.
    #[test]
    fn runs_end_where_items_change() {
        let mut state = 1u32;
        for most in [1, 2, 3, 17, 100, 5000] {
            let mut items = Vec::new();
            while items.len() < 20_000 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let length = items.len() + 4 * (1 + (state >> 8) as usize % most);
                items.resize(length, (state >> 4) as u8 & 1);
            }
            for unit in [1, 4] {
                let mut at = 0;
                while at < items.len() {
                    let other = items[at..].iter().position(|item| *item != items[at]);
                    let end = other.map_or(items.len(), |other| at + other);
                    assert_eq!(run_end(&items, unit, at), end, "{most}, {unit}, {at}");
                    at = end;
                }
            }
        }
        assert_eq!(run_end(&[1u8, 2, 1, 2, 1, 2, 1, 3], 2, 0), 6);
    }
}
