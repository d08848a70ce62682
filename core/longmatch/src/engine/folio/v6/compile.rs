//! Compiles a table: plans it, and stores its pages and leaves.

use alloc::vec::Vec;

use super::super::NAME;
use super::super::admit::{SizeLimit, admit_plan};
use super::super::pieces::{Array, Full, Pieces, frozen};
use super::super::survey::{self, Start};
use super::codes::{Codes, Form};
use super::layout::{
    Block, CODES, Entry, FORK, Fixed, Folio6, LINE, LOWER, MAX_NEXT_HOP, MAX_STEPS, PAGE, PLACES,
    run, word,
};
use super::leaf::{self, KEYS, LINE_WORDS, MINI_WORDS};
use super::outline::Outline;
use super::plan::{Choice, Content, Costs, Plan, Sub, half_of};
use super::{Choices, Config};
use crate::engine::kit::{CompileError, Lookup};
use crate::mem::Frozen;
use crate::net::Ipv6;
use crate::rib::Rib;

/// Kinds of pieces that are not shared, in the arrays of pages and of lines.
pub(super) const PAGE_PIECE: u8 = 0;
pub(super) const LOWER_PIECE: u8 = 1;
pub(super) const RUN_PIECE: u8 = 2;
pub(super) const FORK_PIECE: u8 = 3;
/// The kind of pieces that are shared.
pub(super) const SHARED: u8 = 4;

/// The most blocks of the root.
const ROOT_BLOCKS: u64 = 1 << 12;
/// The lengths of the root's blocks.
pub(super) const MIN_ROOT: u8 = 12;
pub(super) const MAX_ROOT: u8 = 48;
/// Bits from one length of a sample's plan to the next.
const GRID: u8 = 2;
/// The parts of a sample. A part has at most `PART` starts, or one start in `SHARE` of a large table's.
const PARTS: usize = 16;
const PART: usize = 256;
const SHARE: usize = 1024;
/// log2 of the bytes that pieces of codes are aligned to.
const ALIGN: u8 = 6;

/// The pieces of all arrays.
#[derive(Debug)]
pub(super) struct Store<W: Array<u32>, B: Array<u8>> {
    pub pages: Pieces<u32, W>,
    pub codes: Pieces<u8, B>,
    pub lines: Pieces<u32, W>,
    pub minis: Pieces<u32, W>,
}

impl<W: Array<u32>, B: Array<u8>> Store<W, B> {
    /// No pieces but those of the arrays.
    pub fn new(log2: u8, [pages, lines, minis]: [W; 3], codes: B) -> Self {
        Self {
            pages: Pieces::new(pages, 1, 0, PLACES),
            codes: Pieces::new(codes, 1 << log2, ALIGN - log2, PLACES),
            lines: Pieces::new(lines, LINE_WORDS, 0, PLACES),
            minis: Pieces::new(minis, MINI_WORDS, 0, PLACES),
        }
    }
}

/// The place of an entry.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Top(usize),
    Page(usize),
}

/// A line that takes segments of neighbouring blocks, until one does not fit.
#[derive(Debug, Default)]
struct Shared {
    /// First words, and codes.
    segments: Vec<(u64, u32)>,
    drop: u32,
    /// The first bit of the half that the blocks divide, and their first address.
    half: u8,
    first: u128,
    slots: Vec<Slot>,
}

/// Stores the blocks of a plan.
pub(super) struct Builder<'a, W: Array<u32>, B: Array<u8>> {
    plan: &'a Plan<'a>,
    store: &'a mut Store<W, B>,
    shared: Shared,
    /// The entries of the plan's first level.
    pub tops: Vec<Entry>,
    /// Numbers of new pages and of new leaves.
    pub pages: u64,
    pub leaves: u64,
}

impl<'a, W: Array<u32>, B: Array<u8>> Builder<'a, W, B> {
    pub fn new(plan: &'a Plan<'a>, store: &'a mut Store<W, B>) -> Self {
        Self { plan, store, shared: Shared::default(), tops: Vec::new(), pages: 0, leaves: 0 }
    }

    /// Stores all blocks of the first level, with so many steps left. The entry of a block of 64
    /// bits is that of a lower word if `is_lower`.
    pub fn tops(&mut self, steps: u8, is_lower: bool) -> Result<(), Full> {
        for sub in 0..self.plan.levels[0].subs.len() {
            self.tops.push(Entry(0));
            if is_lower {
                self.divided(0, sub, steps, Slot::Top(sub))?;
            } else {
                self.block(0, sub, steps, Slot::Top(sub))?;
            }
        }
        self.finish_line()
    }

    fn set(&mut self, slot: Slot, entry: Entry) {
        match slot {
            Slot::Top(at) => self.tops[at] = entry,
            Slot::Page(at) => self.store.pages.array_mut().write(at, &[entry.0]),
        }
    }

    /// Stores a block, and the entry that leads to it.
    fn block(&mut self, level: usize, sub: usize, left: u8, slot: Slot) -> Result<(), Full> {
        let plan = self.plan;
        if plan.levels[level].bits == 64 && plan.choice(level, sub, left) != Choice::Run {
            let at = self.store.pages.reserve(LOWER_PIECE, 0)?.piece.start;
            self.set(slot, Entry(LOWER | at));
            return self.divided(level, sub, left, Slot::Page(at as usize));
        }
        self.divided(level, sub, left, slot)
    }

    /// Stores a block that its own half divides.
    fn divided(&mut self, level: usize, sub: usize, left: u8, slot: Slot) -> Result<(), Full> {
        let plan = self.plan;
        let choice = plan.choice(level, sub, left);
        let content = plan.levels[level].subs[sub];
        self.leaves += u64::from(!matches!(choice, Choice::Page(_)));
        match choice {
            Choice::Page(child) => return self.page(level, sub, child.into(), left, slot),
            Choice::Line => return self.line(level, sub, slot),
            _ => {}
        }
        let entry = match choice {
            Choice::Fork => self.fork(level, sub)?,
            Choice::Run => {
                let (hosts, others) = plan.hosts(level, content).unwrap_or_default();
                self.run(&hosts, others)?
            }
            Choice::Mini => {
                let bits = plan.levels[level].bits;
                let shift = plan.mini_shift(bits, content).unwrap_or_default();
                self.mini(level, sub, shift)?
            }
            _ => self.codes(level, sub)?,
        };
        self.set(slot, entry);
        Ok(())
    }

    /// The first words of a block's segments, and their codes.
    fn segments(
        &self,
        level: usize,
        sub: usize,
    ) -> impl Iterator<Item = (u64, u32)> + use<'a, W, B> {
        let plan = self.plan;
        let (block, raw, inside) = plan.block(level, plan.levels[level].subs[sub]);
        let is_lower = block.bits >= 64;
        let inside = inside.iter().map(|start| (start.at, start.raw));
        let code = |raw| plan.codes.code(raw).unwrap_or_default();
        let all = [(block.first, raw)].into_iter().chain(inside);
        all.map(move |(at, raw)| (word(at, is_lower), code(raw)))
    }

    fn codes(&mut self, level: usize, sub: usize) -> Result<Entry, Full> {
        let plan = self.plan;
        let (bits, log2) = (plan.levels[level].bits, plan.codes.form.log2);
        let depth = plan.depth(bits, plan.levels[level].subs[sub]).unwrap_or(bits);
        let drop = u32::from(half_of(bits) + 64 - depth);
        let segments: Vec<(u64, u32)> = self.segments(level, sub).collect();
        let first = segments[0].0 >> drop;
        let mut codes = alloc::vec![0u8; 1usize << (depth - bits) << log2];
        let count = 1 << (depth - bits);
        for (i, (start, code)) in segments.iter().enumerate() {
            let end = segments.get(i + 1).map_or(count, |next| (next.0 >> drop) - first);
            leaf::fill(&mut codes, log2, (start >> drop) - first..end, *code);
        }
        let place = self.store.codes.insert(SHARED, &codes)?.piece.start;
        Ok(Entry::new(CODES, drop, place.wrapping_sub(first as u32)))
    }

    fn mini(&mut self, level: usize, sub: usize, shift: u8) -> Result<Entry, Full> {
        let shifted =
            self.segments(level, sub).map(|(at, code)| ((at >> (16 * shift)) as u32, code));
        let mini = leaf::mini(&shifted.collect::<Vec<_>>());
        let place = self.store.minis.insert(SHARED, &mini)?.piece.start;
        Ok(Entry(super::layout::MINI | u32::from(shift) << 24 | place))
    }

    fn fork(&mut self, level: usize, sub: usize) -> Result<Entry, Full> {
        let plan = self.plan;
        let parts = plan.fork(level, plan.levels[level].subs[sub]).unwrap_or_default();
        let mut entries = Vec::with_capacity(parts.len());
        for (start, content) in parts {
            let entry = match content {
                Content::Answer(raw) => Entry::answer(raw),
                Content::Deep(sub) => {
                    let top = self.tops.len();
                    self.tops.push(Entry(0));
                    self.block(plan.half(), sub as usize, 0, Slot::Top(top))?;
                    // A line that waits would come too late.
                    self.tops.pop().unwrap_or(Entry(0))
                }
            };
            entries.push((start as u32, entry.0));
        }
        let place = self.store.lines.reserve(FORK_PIECE, 0)?.piece.start;
        let array = self.store.lines.array_mut();
        array.write(LINE_WORDS * place as usize, &leaf::fork(&entries));
        Ok(Entry(FORK | place))
    }

    fn run(&mut self, hosts: &[(u64, u32)], others: u32) -> Result<Entry, Full> {
        let codes = self.plan.codes;
        let code = |raw| codes.code(raw).unwrap_or_default();
        let hosts: Vec<(u64, u32)> = hosts.iter().map(|(at, raw)| (*at, code(*raw))).collect();
        add_run(self.store, &leaf::run(codes.form.log2, &hosts, code(others)))
    }

    fn page(
        &mut self,
        level: usize,
        sub: usize,
        child: usize,
        left: u8,
        slot: Slot,
    ) -> Result<(), Full> {
        let plan = self.plan;
        let (bits, to) = (plan.levels[level].bits, plan.levels[child].bits);
        let content = plan.levels[level].subs[sub];
        let (block, mut raw, inside) = plan.block(level, content);
        let start = self.store.pages.reserve(PAGE_PIECE, to - bits)?.piece.start;
        self.pages += 1;
        let drop = u32::from(half_of(bits) + 64 - to);
        let first = block.word(bits >= 64) >> drop;
        self.set(slot, Entry::new(PAGE, drop, start.wrapping_sub(first as u32)));
        let subs = &plan.levels[child].subs;
        let mut next = subs.partition_point(|sub| sub.from < content.from);
        let mut i = content.to as usize - inside.len();
        for at in 0..1u128 << (to - bits) {
            let place = Slot::Page(start as usize + at as usize);
            let block = Block { first: block.first | at << (128 - to), bits: to };
            let begins = |sub: &&Sub| Block::of(plan.starts[sub.from as usize].at, to) == block;
            if let Some(sub) = subs.get(next).filter(begins) {
                self.block(child, next, left.saturating_sub(1), place)?;
                i = sub.to as usize;
                raw = plan.before(i);
                next += 1;
                continue;
            }
            if i < content.to as usize && plan.starts[i].at == block.first {
                raw = plan.starts[i].raw;
                i += 1;
            }
            self.set(place, Entry::answer(raw));
        }
        Ok(())
    }

    /// Adds a block to the line that is being filled, or to the next one.
    fn line(&mut self, level: usize, sub: usize, slot: Slot) -> Result<(), Full> {
        let plan = self.plan;
        let content = plan.levels[level].subs[sub];
        let (block, ..) = plan.block(level, content);
        let half = half_of(block.bits);
        let depth = plan.depth(block.bits, content).unwrap_or(block.bits);
        let own_drop = u32::from(half + 64 - depth);
        let drop = self.shared.drop.min(own_drop);
        let mut segments = self.segments(level, sub).peekable();
        let window = |addr| Block::of(addr, half + 48 - drop as u8);
        let codes = KEYS[usize::from(plan.codes.form.log2)] + 1;
        let fits = !self.shared.slots.is_empty()
            && self.shared.half == half
            && self.shared.segments.len() + content.segments() <= codes
            && window(self.shared.first) == window(block.last());
        if fits {
            self.shared.drop = drop;
            if self.shared.segments.last().map(|it| it.1) == segments.peek().map(|it| it.1) {
                segments.next();
            }
        } else {
            self.finish_line()?;
            (self.shared.drop, self.shared.half, self.shared.first) = (own_drop, half, block.first);
        }
        self.shared.segments.extend(segments);
        self.shared.slots.push(slot);
        Ok(())
    }

    /// Stores the line that is being filled.
    fn finish_line(&mut self) -> Result<(), Full> {
        let Shared { segments, drop, slots, .. } = core::mem::take(&mut self.shared);
        if slots.is_empty() {
            return Ok(());
        }
        let keys: Vec<(u16, u32)> =
            segments.iter().map(|(at, code)| ((at >> drop) as u16, *code)).collect();
        let line = leaf::line(self.plan.codes.form.log2, &keys);
        let stored = self.store.lines.insert(SHARED, &line)?;
        self.store.lines.retain(stored.at, slots.len() as u32 - 1);
        for slot in slots {
            self.set(slot, Entry::new(LINE, drop, stored.piece.start));
        }
        Ok(())
    }
}

/// Stores the lines of a run.
pub(super) fn add_run<W: Array<u32>, B: Array<u8>>(
    store: &mut Store<W, B>,
    lines: &[u32],
) -> Result<Entry, Full> {
    let log2 = (lines.len() / LINE_WORDS).ilog2();
    let place = store.lines.reserve(RUN_PIECE, log2 as u8)?.piece.start;
    store.lines.array_mut().write(LINE_WORDS * place as usize, lines);
    Ok(run(log2, place))
}

/// The root of a table: where its blocks begin and how large they are.
fn root(lowest: u32, starts: &[Start<u128>]) -> (u64, u8, u32) {
    let highest = starts.last().map_or(lowest, |start| start.raw);
    let first = match lowest == highest {
        true => starts.first().map_or(0, |start| word(start.at, false)),
        // Addresses before the first start and after the last differ in next hop.
        false => 0,
    };
    let last = starts.last().map_or(first, |start| word(start.at, false));
    let of_bits = |bits: u8| {
        let shift = 64 - bits;
        let base = first >> shift.max(32) << shift.max(32);
        (base, shift, ((last - base) >> shift) + 1)
    };
    let fits = |(_, _, blocks): &(u64, u8, u64)| *blocks <= ROOT_BLOCKS;
    let lengths = (MIN_ROOT..=MAX_ROOT).rev().step_by(4);
    let (base, shift, blocks) = lengths.map(of_bits).find(fits).unwrap_or(of_bits(MIN_ROOT));
    (base, shift, blocks as u32)
}

/// The choices of a plan.
struct Chosen {
    leaves: &'static str,
    costs: Costs,
    steps: u8,
    lengths: Vec<u8>,
    /// Estimated from a sample.
    outline: Outline,
}

impl Chosen {
    fn time(&self) -> f32 {
        self.outline.time(self.steps)
    }
}

/// Chooses the kind of leaves, the number of usual steps and the lengths of blocks from a sample: the
/// fastest plan that is not too large comes first. The others follow: the table may be larger than the sample suggests.
fn choose(
    codes: &Codes,
    (lowest, starts): (u32, &[Start<u128>]),
    bits: u8,
    steps: Option<u8>,
    leaves: Option<&str>,
) -> Vec<Chosen> {
    /// The bytes of a table that is not too large, and how many times the smallest.
    const BYTES: f32 = 4e6;
    const TIMES: f32 = 1.5;
    let (sample, times) = sample(lowest, starts, bits);
    let grid = [bits].into_iter().chain((bits + 1..=128).filter(|bits| bits.is_multiple_of(GRID)));
    let mut plan = Plan::new(codes, lowest, &sample, &grid.collect::<Vec<_>>(), Costs::LINES);
    let mut all = Vec::new();
    for (name, costs) in Costs::ALL {
        if leaves.is_some_and(|leaves| leaves != name) {
            continue;
        }
        plan.choose_all(costs);
        let steps = (1..=MAX_STEPS).filter(|it| steps.is_none_or(|steps| steps == *it));
        all.extend(steps.map(|steps| {
            let outline = plan.outline(steps);
            let lengths = plan.lengths(&outline);
            Chosen { leaves: name, costs, steps, lengths, outline: outline.times(times) }
        }));
    }
    let least = all.iter().map(|it| it.outline.bytes()).fold(f32::MAX, f32::min);
    let fits =
        |it: &Chosen| it.outline.has_places() && it.outline.bytes() <= BYTES.max(TIMES * least);
    all.sort_by(|a, b| fits(b).cmp(&fits(a)).then(a.time().total_cmp(&b.time())));
    all
}

/// Some parts of a table, and how many times as many starts the table has. A part is a block around
/// one of some starts at equal distances, at most one of `bits` bits.
fn sample(lowest: u32, starts: &[Start<u128>], bits: u8) -> (Vec<Start<u128>>, f32) {
    let most = PART.max(starts.len() / SHARE);
    if starts.len() <= PARTS * most {
        return (starts.to_vec(), 1.0);
    }
    let mut sample = Vec::new();
    let mut end = 0;
    for middle in (0..PARTS).map(|i| (2 * i + 1) * starts.len() / (2 * PARTS)) {
        let around = |bits: u8| {
            let block = Block::of(starts[middle].at, bits);
            let from = starts[..middle].partition_point(|start| start.at < block.first);
            let to = middle + starts[middle..].partition_point(|start| start.at <= block.last());
            (block, from..to)
        };
        let mut parts = (bits..=128).map(around);
        let Some((block, part)) = parts.find(|(_, part)| part.len() <= most) else { continue };
        if part.start < end {
            continue;
        }
        end = part.end;
        // Between the parts the sample has the next hops before and after them.
        let raw = part.start.checked_sub(1).map_or(lowest, |before| starts[before].raw);
        sample.extend(
            (starts[part.start].at > block.first).then_some(Start { at: block.first, raw }),
        );
        sample.extend_from_slice(&starts[part]);
    }
    let times = starts.len() as f32 / sample.len() as f32;
    (sample, times)
}

/// Compiles a table.
///
/// # Errors
/// When a next hop is too large, the arrays have no more places, memory is short, or `admit` refuses
/// the bytes.
pub(super) fn compile(
    rib: &Rib<Ipv6>,
    config: &Config,
    admit: SizeLimit<'_>,
) -> Result<Folio6, CompileError> {
    let Choices { form, steps, leaves } = config.choices()?;
    let (lowest, starts) = survey::read(rib);
    let id = starts.iter().map(|start| start.raw).fold(lowest, u32::max);
    if id > MAX_NEXT_HOP {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit: MAX_NEXT_HOP });
    }
    let codes = Codes::choose(lowest, &starts, form);
    let (base, shift, last) = root(lowest, &starts);
    let mut result = Err(refused(Full::Places, 0));
    for chosen in choose(&codes, (lowest, &starts), 64 - shift, steps, leaves) {
        let plan = Plan::new(&codes, lowest, &starts, &chosen.lengths, chosen.costs);
        let Form { log2, is_list, .. } = codes.form;
        let fixed = Fixed { base, shift, last, steps: chosen.steps, log2, is_list };
        result = store(&plan, fixed, chosen.leaves, admit);
        if !matches!(result, Err(CompileError::TooMany { .. })) {
            break;
        }
    }
    result
}

/// Stores the pages and leaves of a plan.
fn store(
    plan: &Plan<'_>,
    fixed: Fixed,
    leaves: &'static str,
    admit: SizeLimit<'_>,
) -> Result<Folio6, CompileError> {
    let (codes, outline) = (plan.codes, plan.outline(fixed.steps));
    // Refused here, before most of the table is stored.
    if !outline.has_places_for_pages() {
        return Err(refused(Full::Places, 0));
    }
    let others = 4 * (u64::from(fixed.last) + 1 + codes.form.list_len() as u64) + (1 << ALIGN);
    let bound = outline.bound() + others;
    admit_plan(admit, outline.bytes() as u64 + others, || bound)?;
    let mut store = Store::new(codes.form.log2, [const { Vec::new() }; 3], Vec::new());
    let mut builder = Builder::new(plan, &mut store);
    builder.tops(fixed.steps, false).map_err(|full| refused(full, bound))?;
    let tops = builder.tops;
    let mut root = Vec::with_capacity(fixed.last as usize + 1);
    fill_root(plan, &fixed, &tops, &mut root);
    let memory = CompileError::memory(NAME);
    let arrays = (|| {
        Ok(Folio6 {
            root: Frozen::of(&root)?,
            pages: frozen(&store.pages.into_array())?,
            codes: frozen(&store.codes.into_array())?,
            lines: frozen(&store.lines.into_array())?,
            minis: frozen(&store.minis.into_array())?,
            hops: Frozen::of(&codes.hops())?,
            fixed,
            leaves,
        })
    })();
    let folio = arrays.map_err(memory)?;
    admit(folio.memory_usage().bytes() as u64)?;
    Ok(folio)
}

/// Fills in the entries of the root.
fn fill_root(plan: &Plan<'_>, fixed: &Fixed, tops: &[Entry], root: &mut Vec<u32>) {
    let (mut i, mut next, mut raw) = (0, 0, plan.lowest);
    let subs = &plan.levels[0].subs;
    for at in 0..fixed.last {
        let block = fixed.block(at);
        let begins = |sub: &&Sub| Block::of(plan.starts[sub.from as usize].at, block.bits) == block;
        if let Some(sub) = subs.get(next).filter(begins) {
            root.push(tops[next].0);
            i = sub.to as usize;
            raw = plan.before(i);
            next += 1;
            continue;
        }
        if let Some(start) = plan.starts.get(i).filter(|start| start.at == block.first) {
            raw = start.raw;
            i += 1;
        }
        root.push(raw);
    }
    root.push(plan.before(plan.starts.len()));
}

fn refused(full: Full, bytes: u64) -> CompileError {
    match full {
        Full::Places => CompileError::TooMany {
            engine: NAME,
            what: "entries, codes or lines",
            limit: PLACES as u64,
        },
        Full::Memory => CompileError::Allocation { engine: NAME, bytes },
    }
}
