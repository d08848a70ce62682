//! Compiles a RIB: its ranges, codes for its next hops, a plan, then a form for each block.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::super::NAME;
use super::super::admit::{SizeLimit, admit_plan};
use super::super::pieces::{Array, Full, Pieces, fill_codes, frozen};
use super::super::survey::Start;
use super::blocks::{Block, Copies, Form, Ranges, Shaper};
use super::layout::{
    CODES_ALIGN, Entry, Fixed, Folio4, LONGEST_LIST, MAX_PLACES, MAX_ROOT, MIN_ROOT, PATCHES,
    Patches, Single, WIDTH, WORDS_ALIGN, below, code_mask,
};
use super::model::Machine;
use super::plan::{self, Planner, Request};
use super::{Config, EXPECTED};
use crate::engine::kit::{CompileError, OptionError, Variant};
use crate::mem::Frozen;
use crate::net::Ipv4;
use crate::rib::Rib;

/// Kinds of pieces.
pub(super) const LIST: u8 = 0;
pub(super) const ENTRIES: u8 = 1;
pub(super) const CODES: u8 = 2;

/// Next hops without a code are rare if they have at most one range in this many.
const UNCODED: usize = 1000;
/// The most identity codes on top of the number of ranges.
const IDENTITY: usize = 1 << 16;

/// The lookup structure of a table, planned for a machine.
pub(super) fn compile(
    machine: &Machine,
    rib: &Rib<Ipv4>,
    config: &Config,
    admit: SizeLimit<'_>,
) -> Result<Folio4, CompileError> {
    let request = config.request()?;
    let ranges = Ranges::of(rib);
    let fixed = codes(&ranges, config)?;
    // The codes of next hops that patches replace may be in use.
    let all_coded = fixed.patches.count == 0 && fixed.code_bytes > 1
        || ranges.hops().all(|hop| fixed.code(hop).is_some());
    let copies = Copies::of(&ranges, plan::sizes());
    let identity_bytes = (identity_units(&fixed) * usize::from(fixed.code_bytes)) as f64;
    let mut planner = Planner { fixed, all_coded, copies: &copies, machine, identity_bytes };
    let (plan, planned) = planner.plan(&ranges, request);
    let mut fixed = planner.fixed;
    fixed.root_shift = u32::from(WIDTH - plan.root);
    fixed.below_root = u32::MAX >> plan.root;
    (fixed.single, fixed.ahead) = (plan.single, plan.ahead);
    let shaper = Shaper { fixed: &fixed, plan: &plan, copies: &copies, all_coded };
    admit_plan(admit, planned, || upper_bound(&shaper, &ranges))?;
    let arrays = build(shaper, &ranges).map_err(|full| match full {
        Full::Places => {
            CompileError::TooMany { engine: NAME, what: "codes or words", limit: MAX_PLACES as u64 }
        }
        Full::Memory => CompileError::Allocation { engine: NAME, bytes: 4u64 << plan.root },
    })?;
    let (root, words, codes) = arrays;
    if fixed.single == Single::Plain && words.len() > first_word(&fixed) {
        // The plan has seen a sample only.
        fixed.single = Single::Branches;
    }
    admit((4 * (root.len() + words.len()) + codes.len()) as u64)?;
    let words = frozen(&words).map_err(CompileError::memory(NAME))?;
    let codes = frozen(&codes).map_err(CompileError::memory(NAME))?;
    Ok(Folio4::new(root, words, codes, Arc::new(fixed), plan))
}

/// An upper bound of the bytes of a table: those of its pieces, each of them as often as it occurs.
fn upper_bound(shaper: &Shaper<'_>, ranges: &Ranges) -> u64 {
    let width = usize::from(shaper.fixed.code_bytes);
    let bits = WIDTH - shaper.plan.root;
    let leaf = |block: &Block<'_>, form| match form {
        Some(Form::Codes(drop)) => width << (block.bits - drop),
        Some(Form::List) => 4 * block.ranges().next_power_of_two().max(2),
        _ => 0,
    };
    let uniform = |bits: u8, hop: u32| {
        let block = Block { bits, first: hop, starts: &[] };
        leaf(&block, shaper.leaf(&block).1)
    };
    let block = |(_, block): (u32, Block<'_>)| {
        // Behind a block and its parts there may be blocks of their last next hop.
        let after = uniform(bits, block.last());
        after
            + match shaper.best(&block).1 {
                Some(Form::Entries(cut)) => {
                    let parts = block.parts(cut).map(|(_, part)| {
                        leaf(&part, shaper.leaf(&part).1) + uniform(cut, part.last())
                    });
                    (4 << (block.bits - cut)) + uniform(cut, block.first) + parts.sum::<usize>()
                }
                form => leaf(&block, form),
            }
    };
    let pieces: usize = ranges.all().parts(bits).map(block).sum();
    let first = 4 * first_word(shaper.fixed) + width * identity_units(shaper.fixed);
    let rounded = (4 << WORDS_ALIGN) + (width << CODES_ALIGN);
    ((4 << shaper.plan.root) + first + rounded + uniform(bits, ranges.lowest) + pieces) as u64
}

/// The error of an option with an impossible value.
fn refused(key: &str, value: u8) -> CompileError {
    let option = Variant::new().value(key, value).finish();
    OptionError { engine: NAME, option, expected: EXPECTED }.into()
}

impl Config {
    /// The plan's part of the choices.
    fn request(&self) -> Result<Request, CompileError> {
        let Self { code_bytes, root_bits: root, spare, lists, entries, flat, ahead } = *self;
        if let Some(root) = root.filter(|root| !(MIN_ROOT..=MAX_ROOT).contains(root)) {
            return Err(refused("s", root));
        }
        if let Some(bytes) = code_bytes.filter(|bytes| !(1..=4).contains(bytes)) {
            return Err(refused("codes", bytes.saturating_mul(8)));
        }
        Ok(Request { root, spare, lists, entries, flat, ahead })
    }
}

/// The codes before the first page, whole aligned units.
pub(super) fn identity_units(fixed: &Fixed) -> usize {
    (fixed.identity as usize).next_multiple_of(1 << CODES_ALIGN)
}

/// The first word of a list or page of entries: with patches no place of a list is a code.
pub(super) fn first_word(fixed: &Fixed) -> usize {
    if fixed.patches.count > 0 { 256 } else { 0 }
}

/// The widths of codes and of the next hops of lists, for a table.
fn codes(ranges: &Ranges, config: &Config) -> Result<Fixed, CompileError> {
    let greatest = ranges.hops().fold(0, u32::max);
    let byte = config.code_bytes.is_none_or(|bytes| bytes == 1);
    let patches = if byte { patches(ranges, greatest) } else { None };
    let needed = match greatest {
        0..=0xff => 1,
        _ if patches.is_some() => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    };
    let code_bytes = config.code_bytes.unwrap_or(needed);
    if code_bytes < needed {
        return Err(refused("codes", 8 * code_bytes));
    }
    let code_mask = code_mask(code_bytes);
    let most = ranges.starts.len() + IDENTITY;
    let identity = match code_bytes {
        1 => 256,
        _ => (u64::from(greatest) + 1).min(most as u64) as u32,
    };
    Ok(Fixed {
        root_shift: 16,
        below_root: u32::MAX >> 16,
        hop_bits: (WIDTH as u32 - greatest.leading_zeros()).max(1),
        code_bytes,
        code_mask,
        identity,
        patches: Patches::new(&patches.unwrap_or_default()),
        single: Single::Branches,
        ahead: false,
    })
}

/// The codes of one byte that denote greater next hops; `None` where they do not suffice.
///
/// The heaviest greater next hops take the codes of the lightest others. Next hops that are left
/// without a code must be rare, and must fit a list of any block.
fn patches(ranges: &Ranges, greatest: u32) -> Option<Vec<(u32, u32)>> {
    if greatest < 256 {
        return Some(Vec::new());
    }
    let mut greater: HashMap<u32, usize> = HashMap::new();
    let mut own = [0usize; 256];
    for hop in ranges.hops() {
        match own.get_mut(hop as usize) {
            Some(count) => *count += 1,
            None => *greater.entry(hop).or_default() += 1,
        }
        if greater.len() > 256 {
            return None;
        }
    }
    let mut greater: Vec<(u32, usize)> = greater.into_iter().collect();
    greater.sort_unstable_by_key(|(hop, count)| (usize::MAX - count, *hop));
    // Not the code of "no route".
    let mut light: Vec<u32> = (1..256).collect();
    light.sort_by_key(|hop| own[*hop as usize]);
    let pairs: Vec<(u32, u32)> = light
        .iter()
        .zip(&greater)
        .take(PATCHES)
        .filter(|(code, (_, count))| *count > own[**code as usize])
        .map(|(code, (hop, _))| (*code, *hop))
        .collect();
    let replaced: usize = pairs.iter().map(|(code, _)| own[*code as usize]).sum();
    let left: usize = greater.iter().skip(pairs.len()).map(|(_, count)| count).sum();
    let uncoded = replaced + left;
    let rare = uncoded * UNCODED <= ranges.starts.len() + 1;
    (uncoded == 0 || rare && greatest < 1 << 20).then_some(pairs)
}

/// The root, the words and the codes.
type Arrays = (Frozen<u32>, Vec<u32>, Vec<u8>);

/// Builds the arrays of a table.
fn build(shaper: Shaper<'_>, ranges: &Ranges) -> Result<Arrays, Full> {
    let mut root = Frozen::zeroed(1 << shaper.plan.root).map_err(|_| Full::Memory)?;
    let Fixed { code_bytes, identity, .. } = *shaper.fixed;
    let mut codes = Vec::new();
    codes.reserve_exact(identity_units(shaper.fixed) * usize::from(code_bytes));
    for code in 0..identity {
        codes.extend_from_slice(&code.to_le_bytes()[..usize::from(code_bytes)]);
    }
    codes.resize(identity_units(shaper.fixed) * usize::from(code_bytes), 0);
    let mut words = Pieces::new(vec![0; first_word(shaper.fixed)], 1, WORDS_ALIGN, MAX_PLACES);
    let mut codes = Pieces::new(codes, code_bytes.into(), CODES_ALIGN, MAX_PLACES);
    let mut builder = Builder::new(shaper, &mut words, &mut codes);
    let bits = WIDTH - shaper.plan.root;
    let mut filled = 0;
    let mut raw = ranges.lowest;
    for (number, block) in ranges.all().parts(bits) {
        let number = number as usize;
        if filled < number {
            let answer = builder.uniform(bits, raw)?;
            root[filled..number].fill(answer.0);
        }
        root[number] = builder.block(&block)?.0;
        raw = block.last();
        filled = number + 1;
    }
    if filled < root.len() {
        let answer = builder.uniform(bits, raw)?;
        root[filled..].fill(answer.0);
    }
    Ok((root, words.into_array(), codes.into_array()))
}

/// Builds pieces, and the entries that lead to them.
pub(super) struct Builder<'a, W, C>
where
    W: Array<u32>,
    C: Array<u8>,
{
    pub shaper: Shaper<'a>,
    pub words: &'a mut Pieces<u32, W>,
    pub codes: &'a mut Pieces<u8, C>,
    /// Pieces under construction.
    page: Vec<u8>,
    list: Vec<u32>,
    slots: Vec<u32>,
    /// Numbers of new pages of entries, and of new lists and pages of codes.
    pub nodes: u64,
    pub leaves: u64,
}

impl<'a, W: Array<u32>, C: Array<u8>> Builder<'a, W, C> {
    pub fn new(
        shaper: Shaper<'a>,
        words: &'a mut Pieces<u32, W>,
        codes: &'a mut Pieces<u8, C>,
    ) -> Self {
        let (page, list, slots) = (Vec::new(), Vec::new(), Vec::new());
        Self { shaper, words, codes, page, list, slots, nodes: 0, leaves: 0 }
    }

    /// The entry of a block of one next hop, with a reference to what it leads to.
    pub fn uniform(&mut self, bits: u8, hop: u32) -> Result<Entry, Full> {
        self.block(&Block { bits, first: hop, starts: &[] })
    }

    /// The entry of a block, with a reference to what it leads to.
    pub fn block(&mut self, block: &Block<'_>) -> Result<Entry, Full> {
        match self.shaper.best(block).1 {
            Some(Form::Entries(cut)) => self.entries(block, cut),
            Some(form) => self.leaf(block, form),
            None => Err(Full::Places),
        }
    }

    /// The entry of a block within a page of entries.
    pub fn inner(&mut self, block: &Block<'_>) -> Result<Entry, Full> {
        let form = self.shaper.leaf(block).1.ok_or(Full::Places)?;
        self.leaf(block, form)
    }

    fn leaf(&mut self, block: &Block<'_>, form: Form) -> Result<Entry, Full> {
        let fixed = self.shaper.fixed;
        let code = |hop| fixed.code(hop).ok_or(Full::Places);
        match form {
            Form::Answer => Ok(Entry::answer(code(block.first)?)),
            Form::Codes(drop) => {
                let unit = usize::from(fixed.code_bytes);
                self.page.clear();
                let mut hop = block.first;
                for start in block.starts {
                    let to = (below(start.at, block.bits) >> drop) as usize;
                    fill(&mut self.page, unit, to, code(hop)?);
                    hop = start.raw;
                }
                fill(&mut self.page, unit, 1 << (block.bits - drop), code(hop)?);
                let stored = self.codes.insert(CODES, &self.page)?;
                self.leaves += u64::from(!stored.is_known);
                Ok(Entry::codes(stored.piece.start, drop))
            }
            Form::List => {
                list_words(fixed, block, &mut self.list);
                let stored = self.words.insert(LIST, &self.list)?;
                self.leaves += u64::from(!stored.is_known);
                Ok(Entry::list(stored.piece.start, self.list.len()))
            }
            Form::Entries(_) => Err(Full::Places),
        }
    }

    fn entries(&mut self, block: &Block<'_>, cut: u8) -> Result<Entry, Full> {
        let mut slots = core::mem::take(&mut self.slots);
        slots.clear();
        let stored = self.slots(block, cut, &mut slots);
        let stored = stored.and_then(|()| self.words.insert(ENTRIES, &slots));
        if !matches!(&stored, Ok(stored) if !stored.is_known) {
            // The entries of a page were counted when it was new.
            slots.iter().for_each(|slot| self.discard(Entry(*slot)));
        }
        self.slots = slots;
        let stored = stored?;
        self.nodes += u64::from(!stored.is_known);
        Ok(Entry::entries(stored.piece.start, cut))
    }

    /// Builds the entries of a page.
    fn slots(&mut self, block: &Block<'_>, cut: u8, slots: &mut Vec<u32>) -> Result<(), Full> {
        let mut hop = block.first;
        for (number, part) in block.parts(cut) {
            self.alike(slots, cut, hop, number as usize)?;
            slots.push(self.inner(&part)?.0);
            hop = part.last();
        }
        self.alike(slots, cut, hop, 1 << (block.bits - cut))
    }

    /// Adds slots of one next hop up to a number of slots.
    fn alike(&mut self, slots: &mut Vec<u32>, cut: u8, hop: u32, to: usize) -> Result<(), Full> {
        let more = to - slots.len();
        if more > 0 {
            let entry = self.uniform(cut, hop)?;
            self.retain(entry, more as u32 - 1);
            slots.resize(to, entry.0);
        }
        Ok(())
    }

    /// Adds references to what an entry leads to.
    pub fn retain(&mut self, entry: Entry, count: u32) {
        match position(self.words, self.codes, entry) {
            Some((true, at)) => self.words.retain(at, count),
            Some((false, at)) => self.codes.retain(at, count),
            None => {}
        }
    }

    /// Removes a reference to a piece that no reader can reach if it is the last.
    fn discard(&mut self, entry: Entry) {
        match position(self.words, self.codes, entry) {
            Some((true, at)) => {
                if let Some(piece) = self.words.release(at) {
                    self.words.free(piece);
                }
            }
            Some((false, at)) => {
                if let Some(piece) = self.codes.release(at) {
                    self.codes.free(piece);
                }
            }
            None => {}
        }
    }
}

/// Where an entry leads: whether to the words, and the position of the piece in their account.
///
/// `None` for an answer, and while pieces are not found by their starts.
pub(super) fn position<W: Array<u32>, C: Array<u8>>(
    words: &Pieces<u32, W>,
    codes: &Pieces<u8, C>,
    entry: Entry,
) -> Option<(bool, u32)> {
    use super::layout::Target;
    match entry.target() {
        Target::Answer(_) | Target::None => None,
        Target::Codes { place, .. } => Some((false, codes.find(place)?)),
        Target::Entries { place, .. } | Target::List { place, .. } => {
            Some((true, words.find(place)?))
        }
    }
}

/// Writes the words of a list.
pub(super) fn list_words(fixed: &Fixed, block: &Block<'_>, list: &mut Vec<u32>) {
    debug_assert!(block.ranges() <= LONGEST_LIST && fixed.lists_in(block.bits));
    list.clear();
    let word = |start: &Start<u32>| below(start.at, block.bits) << fixed.hop_bits | start.raw;
    list.extend(block.starts.iter().rev().map(word));
    list.push(block.first);
    list.resize(list.len().next_power_of_two().max(2), 0);
}

/// Adds codes of `unit` bytes up to a number of codes.
pub(super) fn fill(page: &mut Vec<u8>, unit: usize, to: usize, code: u32) {
    let from = page.len();
    page.resize(to * unit, code as u8);
    fill_codes(&mut page[from..], unit, code);
}
