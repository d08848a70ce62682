//! Compiles a RIB to Folio: a survey of the table, a plan of its cuts, then the pages.
//!
//! Pages are built from the survey's sorted starts, lower pages first.

use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::Range;
use core::sync::atomic::Ordering::Relaxed;

use super::book::Book;
use super::layout::{
    Code, CodeForm, Entry, Extent, Fixed, Folio, Level, MAX_NEXT_HOP, PLACE, PLACE_UNIT,
};
use super::plan::{Constraints, Plan, RootForm};
use super::root::{Regions, Root, RootLayout, fill};
use super::store::{Full, Kind, Lines, Store};
use super::survey::{Start, Survey, sorted_by_key};
use super::{Config, NAME};
use crate::engine::kit::CompileError;
use crate::mem::Frozen;
use crate::net::{Bits, Family};

/// Codes for next hops: the inverse of the codebook.
pub(super) struct Codes {
    pub form: CodeForm,
    book: [u16; 256],
    /// The code of each next hop, [`NONE`] for one without a code. Empty where next hops are codes.
    code_of: Vec<u16>,
    patches: Vec<(u8, u16)>,
}

const NONE: u16 = u16::MAX;

impl Codes {
    pub fn new<B: Bits>(survey: &Survey<B>, form: CodeForm) -> Self {
        let mut codes = Self::empty(form);
        if form.log2 > 0 {
            return codes;
        }
        let counts = survey.frequencies(form.max);
        codes.code_of = vec![NONE; counts.len()];
        if form.book {
            codes.most_frequent(&counts);
        } else {
            codes.assign_identity(&counts, form.patches);
        }
        codes
    }

    fn empty(form: CodeForm) -> Self {
        Self { form, book: [0; 256], code_of: Vec::new(), patches: Vec::new() }
    }

    /// Rebuilds the codes of a compiled Folio.
    pub fn of(fixed: &Fixed, form: CodeForm) -> Self {
        let mut codes = Self::empty(form);
        if form.log2 > 0 {
            return codes;
        }
        for code in (0..=u8::MAX).rev() {
            let raw = usize::from(fixed.book.value(code));
            codes.code_of.resize(codes.code_of.len().max(raw + 1), NONE);
            codes.set(code.into(), raw);
        }
        codes.patches = fixed.patches.clone();
        codes
    }

    fn set(&mut self, code: usize, raw: usize) {
        self.book[code] = raw as u16;
        self.code_of[raw] = code as u16;
    }

    /// Gives codes to the 256 next hops with the most starts.
    fn most_frequent(&mut self, counts: &[u32]) {
        let used = (0..counts.len() as u32).filter(|raw| counts[*raw as usize] > 0);
        let used = sorted_by_key(used, |raw| u32::MAX - counts[raw as usize]);
        let most = used.into_iter().take(self.book.len()).enumerate();
        most.for_each(|(code, raw)| self.set(code, raw as usize));
    }

    /// Makes each next hop below 256 its own code. Some above take the codes of those with the
    /// fewest starts.
    fn assign_identity(&mut self, counts: &[u32], patches: usize) {
        let own = self.book.len();
        (0..own).for_each(|raw| self.set(raw, raw));
        let others = (own as u32..counts.len() as u32).filter(|raw| counts[*raw as usize] > 0);
        let others = sorted_by_key(others, |raw| u32::MAX - counts[raw as usize]);
        let rare = sorted_by_key(0..own as u32, |raw| counts[raw as usize]);
        for (raw, code) in others.into_iter().zip(rare).take(patches) {
            let (raw, code) = (raw as usize, code as usize);
            if counts[raw] > counts[code] {
                self.code_of[code] = NONE;
                self.set(code, raw);
                self.patches.push((code as u8, raw as u16));
            }
        }
    }

    /// Returns the code of a next hop, if it has one.
    #[inline]
    pub fn code(&self, raw: u32) -> Option<u32> {
        if self.form.log2 > 0 {
            return Some(raw);
        }
        let code = self.code_of.get(raw as usize).copied();
        code.filter(|code| *code != NONE).map(u32::from)
    }
}

/// Refuses a structure of so many bytes, or admits it.
pub(super) type Admit<'a> = &'a dyn Fn(u64) -> Result<(), CompileError>;

/// Bytes that a table may take on top of twice its plan.
const MARGIN: u64 = 1 << 20;

/// Admits a planned table, whose bytes are an estimate. Close to the limit an upper bound decides,
/// which may take as long as to compile.
///
/// # Errors
/// The refusal of the bound.
pub(super) fn admit_plan(
    admit: Admit<'_>,
    planned: u64,
    bound: impl FnOnce() -> u64,
) -> Result<(), CompileError> {
    let most = planned.saturating_mul(2).saturating_add(MARGIN);
    if admit(most).is_ok() { Ok(()) } else { admit(bound()) }
}

pub(super) fn compile<F: Family, C: Code>(
    survey: &Survey<F::Bits>,
    config: &Config,
    admit: Admit<'_>,
) -> Result<Folio<F, C>, CompileError> {
    let Parts { entries, pages, fixed, store } =
        parts::<F>(survey, config, CodeForm::of::<C>(), admit)?;
    let extent = Extent::default();
    extent.pages.store(store.page_count(), Relaxed);
    extent.bytes.store(pages.len(), Relaxed);
    Ok(Folio { entries, pages, fixed, store, extent, family: PhantomData })
}

/// A compiled Folio of any codes.
struct Parts {
    entries: Frozen<u32>,
    pages: Frozen<u8>,
    fixed: Fixed,
    store: Store,
}

fn parts<F: Family>(
    survey: &Survey<F::Bits>,
    config: &Config,
    form: CodeForm,
    admit: Admit<'_>,
) -> Result<Parts, CompileError> {
    let (id, limit) = (survey.max_next_hop(), form.max.min(MAX_NEXT_HOP));
    if id > limit {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit });
    }
    let constraints = Constraints { cuts: config.cuts.clone(), root: config.root };
    let plan = Plan::new(survey, &constraints, 1 << form.log2);
    let plan = plan.ok_or_else(|| config.impossible::<F>())?;
    let estimate = plan.estimate(survey, 1 << form.log2);
    admit(estimate)?;
    let missing = |bytes| CompileError::Allocation { engine: NAME, bytes };
    let (mut entries, root) =
        empty_root(survey, plan.root_bits, plan.root).ok_or_else(|| missing(estimate))?;
    let codes = Codes::new(survey, form);
    let mut store = Store::default();
    let mut builder = Builder::<F::Bits, _>::new(&plan.levels, &codes, &mut store);
    builder.root(survey, &root, &mut entries).map_err(|full| match full {
        Full::Places => CompileError::TooMany {
            engine: NAME,
            what: "codes in pages",
            limit: u64::from(PLACE) + PLACE_UNIT as u64,
        },
        Full::Memory => missing(estimate),
    })?;
    let closed = builder.levels_used <= plan.usual_levels;
    let bytes = store.take_bytes();
    let pages = if config.huge { Frozen::huge(bytes.len()) } else { Frozen::zeroed(bytes.len()) };
    let mut pages = pages.map_err(CompileError::memory(NAME))?;
    pages.copy_from_slice(&bytes);
    let (book, patches) = (Book::new(codes.book), codes.patches);
    let (levels, usual_levels) = (plan.levels, plan.usual_levels);
    let fixed = Fixed { root, levels, usual_levels, closed, book, patches };
    Ok(Parts { entries, pages, fixed, store })
}

/// Allocates a root of a form, without entries. `None` when memory runs out, or the regions cannot
/// be found by hashing.
pub(super) fn empty_root<B: Bits>(
    survey: &Survey<B>,
    bits: u8,
    form: RootForm,
) -> Option<(Frozen<u32>, Root)> {
    if let RootForm::Regions = form {
        let regions = Regions::new(survey.regions(), bits)?;
        let len = survey.regions().len() << regions.block_bits;
        let layout = RootLayout::Regions(regions);
        return Some((Frozen::zeroed(len + 1).ok()?, Root { last: len as u32, bits, layout }));
    }
    let Range { start: first, end } = survey.span(bits);
    let len = end - first;
    let layout = RootLayout::Span { first: first as u32, sparse: form == RootForm::Sparse };
    Some((Frozen::zeroed(len + 1).ok()?, Root { last: len as u32, bits, layout }))
}

/// Builds pages, and the entries that lead to them.
pub(super) struct Builder<'a, B, L> {
    levels: &'a [Level],
    codes: &'a Codes,
    store: &'a mut Store<L>,
    /// Buffers for pages under construction, by level.
    scratch: Vec<Vec<u8>>,
    /// Number of levels that have pages.
    pub levels_used: usize,
    /// Positions in the store of pages that no stored page leads to yet.
    pub children: Vec<u32>,
    /// Number of new pages of codes.
    pub leaves: u64,
    /// Number of new branch pages.
    pub branches: u64,
    bits: PhantomData<B>,
}

impl<'a, B: Bits, L: Lines> Builder<'a, B, L> {
    pub fn new(levels: &'a [Level], codes: &'a Codes, store: &'a mut Store<L>) -> Self {
        let (scratch, children) = (Vec::new(), Vec::new());
        Self {
            levels,
            codes,
            store,
            scratch,
            levels_used: 0,
            children,
            leaves: 0,
            branches: 0,
            bits: PhantomData,
        }
    }

    /// Fills in the entries of a root.
    fn root(&mut self, survey: &Survey<B>, root: &Root, entries: &mut [u32]) -> Result<(), Full> {
        let bits = root.bits;
        let number = |start: &Start<B>| start.at.extract(0, bits) as u32;
        let starts = &survey.starts[..];
        let all = 1u32 << bits;
        let stored_ranges = root.stored_ranges();
        let mut raw = survey.lowest;
        let mut filled = 0;
        for block in starts.chunk_by(|a, b| number(a) == number(b)) {
            let at = number(&block[0]);
            fill(entries, &stored_ranges, filled..at, Entry::answer(raw));
            let entry = self.block(0, bits, &mut raw, block)?;
            let index = root.index((block[0].at.half(0) >> 32) as u32) as usize;
            self.children.clear();
            entries[index] = entry.0;
            filled = at + 1;
        }
        fill(entries, &stored_ranges, filled..all, Entry::answer(raw));
        let outside = match root.layout {
            RootLayout::Regions(_) => survey.lowest,
            RootLayout::Span { .. } => survey.highest(),
        };
        entries[root.last as usize] = Entry::answer(outside).0;
        Ok(())
    }

    /// Builds the entry of a block at depth `start`.
    ///
    /// One of the starts may be the beginning of the block. `raw` is the next hop before the block,
    /// and on return the one at its end.
    pub fn block(
        &mut self,
        level: usize,
        start: u8,
        raw: &mut u32,
        starts: &[Start<B>],
    ) -> Result<Entry, Full> {
        let (at_first, inside) = match starts.split_first() {
            Some((first, inside)) if first.depth() <= start => (first.raw, inside),
            _ => (*raw, starts),
        };
        let entry = self.page(level, at_first, inside)?;
        *raw = starts.last().map_or(*raw, |start| start.raw);
        Ok(entry)
    }

    /// Builds the entry of addresses that begin with `raw` and change at `starts`.
    pub fn page(&mut self, level: usize, raw: u32, starts: &[Start<B>]) -> Result<Entry, Full> {
        let Some(depth) = starts.iter().map(Start::depth).max() else {
            return Ok(Entry::answer(raw));
        };
        self.levels_used = self.levels_used.max(level + 1);
        let window = self.levels[level];
        let own = self.children.len();
        let mut page = self.scratch.pop().unwrap_or_default();
        page.clear();
        let coded =
            depth <= window.end() && self.write_codes(window, depth, raw, starts, &mut page);
        let kind = if coded {
            Kind::Codes
        } else {
            page.clear();
            self.write_branches(level, raw, starts, &mut page)?;
            Kind::Branch(level as u8)
        };
        let CodeForm { log2, slot_shift, .. } = self.codes.form;
        if page.len() < PLACE_UNIT << log2 {
            page.resize(PLACE_UNIT << log2, 0);
        }
        let stored = self.store.insert(kind, &page, 1 << log2)?;
        let new = match kind {
            Kind::Codes | Kind::Escaping => &mut self.leaves,
            Kind::Branch(_) => &mut self.branches,
        };
        *new += u64::from(!stored.known);
        let place = stored.start >> log2;
        self.scratch.push(page);
        for child in self.children.drain(own..) {
            // The slots of an existing page were counted when it was added.
            if stored.known {
                self.store.release(child);
            }
        }
        self.children.push(stored.at);
        Ok(match kind {
            Kind::Codes | Kind::Escaping => {
                Entry::page_of_codes(place, window.end() - depth + slot_shift as u8)
            }
            Kind::Branch(_) => Entry::branch_page(place),
        })
    }

    /// Writes a page of codes with slots at `depth`. Returns whether all next hops have codes.
    fn write_codes(
        &self,
        window: Level,
        depth: u8,
        raw: u32,
        starts: &[Start<B>],
        page: &mut Vec<u8>,
    ) -> bool {
        let width = depth - window.start;
        let size = 1usize << self.codes.form.log2;
        page.resize(size << width, 0);
        let mut raw = raw;
        let mut from = 0;
        for start in starts {
            let to = start.at.extract(window.start, width);
            let Some(code) = self.codes.code(raw) else { return false };
            fill_codes(&mut page[from * size..to * size], size, code);
            (raw, from) = (start.raw, to);
        }
        let Some(code) = self.codes.code(raw) else { return false };
        fill_codes(&mut page[from * size..], size, code);
        true
    }

    fn write_branches(
        &mut self,
        level: usize,
        raw: u32,
        starts: &[Start<B>],
        page: &mut Vec<u8>,
    ) -> Result<(), Full> {
        let window = self.levels[level];
        let number = |start: &Start<B>| start.at.extract(window.start, window.width);
        let mut raw = raw;
        let push = |page: &mut Vec<u8>, to: usize, entry: Entry| {
            while page.len() < 4 * to {
                page.extend(entry.0.to_le_bytes());
            }
        };
        for slot in starts.chunk_by(|a, b| number(a) == number(b)) {
            let at = number(&slot[0]);
            push(page, at, Entry::answer(raw));
            let entry = if level + 1 < self.levels.len() {
                self.block(level + 1, window.end(), &mut raw, slot)?
            } else {
                // The last window ends with the address, so a slot is one address.
                raw = slot[0].raw;
                Entry::answer(raw)
            };
            push(page, at + 1, entry);
        }
        push(page, 1 << window.width, Entry::answer(raw));
        Ok(())
    }
}

/// Fills a piece of a page with a code of 1, 2 or 4 bytes.
pub(super) fn fill_codes(bytes: &mut [u8], size: usize, code: u32) {
    match size {
        1 => bytes.fill(code as u8),
        2 => bytes.as_chunks_mut().0.fill((code as u16).to_le_bytes()),
        _ => bytes.as_chunks_mut().0.fill(code.to_le_bytes()),
    }
}
