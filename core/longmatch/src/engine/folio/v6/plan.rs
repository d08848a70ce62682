//! The plan: for each block of a table the cheapest of all pages and leaves, by dynamic programming.
//!
//! Blocks are considered at some lengths, the grid. The cost of a block is in bytes: those of its
//! pages and leaves, and the time of lookups in it, which grows with its number of starts.

use alloc::vec::Vec;
use core::ops::Range;

use super::super::survey::Start;
use super::codes::Codes;
use super::layout::{Block, MAX_CODES, MAX_DROP, MAX_GRAIN, MAX_RUN, MAX_STEPS, below};
use super::leaf::{FORK_KEYS, HOSTS, KEYS, MINI_KEYS, log2_lines};
use super::outline::{CODES, LINES, MINIS, Outline, PAGES};

/// What a plan weighs, in bytes for each start of a block.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Costs {
    /// A step through a page, one of those that all addresses make.
    pub step: f32,
    /// A rare step.
    pub rare: f32,
    pub codes: f32,
    pub mini: f32,
    pub line: f32,
    pub fork: f32,
    /// How much of a line a block takes, as lines are shared.
    pub fill: f32,
}

/// More than any bytes: a leaf that a plan does not use.
const NEVER: f32 = 1e9;

impl Costs {
    /// Plans that use one kind of leaf besides codes, as mixed kinds cost more time than bytes.
    pub const ALL: [(&'static str, Self); 3] = [
        ("lines", Self::LINES),
        (
            "codes",
            Self {
                step: 1.0,
                rare: 600.0,
                codes: 3.0,
                mini: NEVER,
                line: NEVER,
                fork: 600.0,
                fill: 1.3,
            },
        ),
        (
            "minis",
            Self {
                step: 5.0,
                rare: 3000.0,
                codes: 15.0,
                mini: 30.0,
                line: NEVER,
                fork: 3000.0,
                fill: 1.3,
            },
        ),
    ];
    pub const LINES: Self =
        Self { step: 0.05, rare: 30.0, codes: 15.0, mini: NEVER, line: 1.5, fork: 6.0, fill: 1.3 };
    /// For changes: any leaf that holds a block.
    pub const ANY: Self = Self { mini: 1.0, ..Self::LINES };
}

/// The choice for a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    Codes,
    Mini,
    Line,
    Fork,
    Run,
    /// A page whose entries lead to blocks of a level.
    Page(u8),
}

#[derive(Clone, Copy, Debug)]
struct Best {
    cost: f32,
    choice: Choice,
}

/// Numbers of steps that may be left.
const LEFT: usize = MAX_STEPS as usize + 1;

/// A block with starts inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sub {
    /// Its starts, with the one at its beginning.
    pub from: u32,
    pub to: u32,
    /// The greatest depth of a start inside.
    pub finest: u8,
    /// Whether some next hop has no code.
    is_wide: bool,
    /// Number of starts inside.
    inner: u32,
}

impl Sub {
    /// Number of segments.
    pub fn segments(self) -> usize {
        self.inner as usize + 1
    }

    pub fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }
}

/// The blocks of a length that have starts inside, and their choices by the number of steps left.
#[derive(Debug)]
pub(super) struct Level {
    pub bits: u8,
    pub subs: Vec<Sub>,
    best: Vec<[Best; LEFT]>,
}

/// Changes of next hop, and the blocks that they make.
pub(super) struct Plan<'a> {
    pub codes: &'a Codes,
    pub lowest: u32,
    pub starts: &'a [Start<u128>],
    pub levels: Vec<Level>,
    costs: Costs,
    /// The index of the level of 64 bits, if any is as short.
    half: usize,
}

/// The part of a fork: the first word of a segment, and its content.
pub(super) type Part = (u64, Content);

/// The content of a fork's segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    Answer(u32),
    /// A block of 64 bits that the lower half divides, by its number in its level.
    Deep(u32),
}

/// The first bit of the half that blocks of a length divide.
pub(super) fn half_of(bits: u8) -> u8 {
    if bits < 64 { 0 } else { 64 }
}

impl<'a> Plan<'a> {
    /// Plans the blocks of the first of some ascending lengths, whose pages lead to blocks of the
    /// others; leaves alone with one length.
    pub fn new(
        codes: &'a Codes,
        lowest: u32,
        starts: &'a [Start<u128>],
        lengths: &[u8],
        costs: Costs,
    ) -> Self {
        let level = |bits: &u8| Level { bits: *bits, subs: Vec::new(), best: Vec::new() };
        let levels: Vec<Level> = lengths.iter().map(level).collect();
        let half = levels.iter().position(|level| level.bits >= 64).unwrap_or(0);
        let mut plan = Self { codes, lowest, starts, levels, costs, half };
        plan.find_subs();
        plan.choose_all(costs);
        plan
    }

    /// Chooses again, with other costs.
    pub fn choose_all(&mut self, costs: Costs) {
        self.costs = costs;
        for level in (0..self.levels.len()).rev() {
            self.choose(level);
        }
    }

    /// The lengths that an outline's pages lead to, with all whole bytes, so that a plan with these
    /// lengths alone can have pages for any block.
    pub fn lengths(&self, outline: &Outline) -> Vec<u8> {
        let levels = self.levels.iter().enumerate();
        let is_chosen = |(at, level): &(usize, &Level)| {
            *at == 0 || level.bits.is_multiple_of(8) || outline.levels >> at & 1 != 0
        };
        levels.filter(is_chosen).map(|(_, level)| level.bits).collect()
    }

    /// The outline of the plan with this number of usual steps.
    pub fn outline(&self, steps: u8) -> Outline {
        let mut outline = Outline::new(self.codes.form.log2);
        for sub in 0..self.levels[0].subs.len() {
            self.add_to(&mut outline, 0, sub, steps, false);
        }
        outline
    }

    fn add_to(&self, outline: &mut Outline, level: usize, sub: usize, left: u8, is_rare: bool) {
        let content = self.levels[level].subs[sub];
        let starts = (content.to - content.from) as f32;
        let (bits, log2) = (self.levels[level].bits, self.codes.form.log2);
        let choice = self.choice(level, sub, left);
        if bits == 64 && choice != Choice::Run {
            // The entry of the lower word.
            outline.add_whole(PAGES, 1);
        }
        match choice {
            Choice::Page(child) => {
                let child = usize::from(child);
                outline.levels |= 1 << child;
                outline.add_whole(PAGES, 1 << (self.levels[child].bits - bits));
                let subs = &self.levels[child].subs;
                let first = subs.partition_point(|sub| sub.from < content.from);
                let count = subs[first..].partition_point(|sub| sub.from < content.to);
                let is_rare = is_rare || left == 0;
                for sub in first..first + count {
                    self.add_to(outline, child, sub, left.saturating_sub(1), is_rare);
                }
                return;
            }
            Choice::Run => {
                // Hosts are half of the starts where none are neighbours, or all of them.
                let of_hosts = |hosts: usize| 1u64 << log2_lines(log2, hosts);
                let segments = content.segments();
                outline.add(LINES, of_hosts(2 * segments), of_hosts(segments / 2) as f32);
                outline.rare += starts;
                return;
            }
            Choice::Fork => {
                outline.add_whole(LINES, 1);
                outline.rare += starts;
                for (_, part) in self.fork(level, content).unwrap_or_default() {
                    if let Content::Deep(sub) = part {
                        self.add_to(outline, self.half, sub as usize, 0, true);
                    }
                }
                return;
            }
            Choice::Mini => outline.add_whole(MINIS, 1),
            Choice::Line => {
                let share = content.segments() as f32 / KEYS[usize::from(log2)] as f32;
                outline.add(LINES, 1, (share * self.costs.fill).min(1.0));
            }
            Choice::Codes => {
                let depth = self.depth(bits, content).unwrap_or(bits);
                outline.add_whole(CODES, 1 << (depth - bits));
            }
        }
        let kind = match choice {
            _ if is_rare => &mut outline.rare,
            Choice::Mini => &mut outline.minis,
            Choice::Line => &mut outline.lines,
            _ => &mut outline.codes,
        };
        *kind += starts;
    }

    /// The next hop before a start.
    pub fn before(&self, start: usize) -> u32 {
        start.checked_sub(1).map_or(self.lowest, |before| self.starts[before].raw)
    }

    /// A block of a level, with the next hop at its beginning and the starts inside.
    pub fn block(&self, level: usize, sub: Sub) -> (Block, u32, &'a [Start<u128>]) {
        let starts = &self.starts[sub.range()];
        let block = Block::of(starts[0].at, self.levels[level].bits);
        match starts[0].at == block.first {
            true => (block, starts[0].raw, &starts[1..]),
            false => (block, self.before(sub.from as usize), starts),
        }
    }

    fn find_subs(&mut self) {
        let all =
            [Sub { from: 0, to: self.starts.len() as u32, finest: 0, is_wide: false, inner: 0 }];
        let half = self.half;
        for level in (half..self.levels.len()).take(1).chain(0..half) {
            self.levels[level].subs = self.subs_within(&all, self.levels[level].bits);
        }
        let deep: Vec<Sub> = match self.levels.get(half) {
            Some(level) if level.bits == 64 => {
                let not_run = |sub: &&Sub| self.hosts(half, **sub).is_none();
                level.subs.iter().filter(not_run).copied().collect()
            }
            Some(level) => level.subs.clone(),
            None => Vec::new(),
        };
        for level in half + 1..self.levels.len() {
            self.levels[level].subs = self.subs_within(&deep, self.levels[level].bits);
        }
    }

    /// The blocks of a length within others.
    fn subs_within(&self, within: &[Sub], bits: u8) -> Vec<Sub> {
        let below = below(bits);
        let mut subs = Vec::new();
        let mut add = |from: usize, to: usize, inner: u32, ors: u128| {
            if inner > 0 {
                let finest = 128 - ors.trailing_zeros() as u8;
                let is_wide = !self.codes.is_total && !self.have_codes(from..to, below);
                subs.push(Sub { from: from as u32, to: to as u32, finest, is_wide, inner });
            }
        };
        for sub in within {
            let (mut from, mut inner, mut ors, mut block) = (sub.range().start, 0, 0, None);
            for i in sub.range() {
                let at = self.starts[i].at;
                if block != Some(at & !below) {
                    add(from, i, inner, ors);
                    (from, inner, ors, block) = (i, 0, 0, Some(at & !below));
                }
                let inside = at & below;
                inner += u32::from(inside != 0);
                ors |= inside;
            }
            add(from, sub.range().end, inner, ors);
        }
        subs
    }

    /// Whether all next hops of a block have codes.
    fn have_codes(&self, starts: Range<usize>, below: u128) -> bool {
        let first = self.starts[starts.start].at & below == 0;
        let before = (!first).then(|| self.before(starts.start));
        let mut raws = self.starts[starts].iter().map(|start| start.raw).chain(before);
        raws.all(|raw| self.codes.code(raw).is_some())
    }

    /// Chooses for all blocks of a level, those of longer levels being chosen.
    fn choose(&mut self, level: usize) {
        let bits = self.levels[level].bits;
        let leaf = |sub: &Sub| [self.leaf(level, *sub); LEFT];
        let mut best: Vec<[Best; LEFT]> = self.levels[level].subs.iter().map(leaf).collect();
        for child in level + 1..self.levels.len() {
            let to = self.levels[child].bits;
            if to - bits > MAX_GRAIN || bits < 64 && to > 64 {
                break;
            }
            self.try_pages(level, child, &mut best);
        }
        if bits >= 64 {
            // All steps in the lower half are rare.
            best.iter_mut().for_each(|best| *best = [best[0]; LEFT]);
        }
        self.levels[level].best = best;
    }

    /// Chooses pages whose entries lead to blocks of another level, where they are cheaper.
    fn try_pages(&self, level: usize, child: usize, best: &mut [[Best; LEFT]]) {
        let (above, children) = (&self.levels[level], &self.levels[child]);
        let page = 4.0 * (1u32 << (children.bits - above.bits)) as f32;
        let mut at = 0;
        for (sub, best) in above.subs.iter().zip(best) {
            while at < children.subs.len() && children.subs[at].from < sub.from {
                at += 1;
            }
            let starts = (sub.to - sub.from) as f32;
            let mut costs: [f32; LEFT] =
                [page + starts * self.costs.rare, page + starts * self.costs.step, 0.0, 0.0];
            (costs[2], costs[3]) = (costs[1], costs[1]);
            while at < children.subs.len() && children.subs[at].from < sub.to {
                let below = &children.best[at];
                for left in 0..LEFT {
                    costs[left] += below[left.saturating_sub(1)].cost;
                }
                at += 1;
            }
            for (best, cost) in best.iter_mut().zip(costs) {
                if cost < best.cost {
                    *best = Best { cost, choice: Choice::Page(child as u8) };
                }
            }
        }
    }

    /// The cheapest leaf of a block.
    fn leaf(&self, level: usize, sub: Sub) -> Best {
        let (bits, costs) = (self.levels[level].bits, &self.costs);
        let starts = (sub.to - sub.from) as f32;
        let mut best = Best { cost: f32::MAX, choice: Choice::Codes };
        let mut offer = |cost: f32, choice: Choice| {
            if cost < best.cost {
                best = Best { cost, choice };
            }
        };
        let log2 = usize::from(self.codes.form.log2);
        let segments = sub.segments();
        if let Some(depth) = self.depth(bits, sub) {
            let grain = depth - bits;
            if grain <= MAX_CODES {
                offer(((1u32 << grain) << log2) as f32 + starts * costs.codes, Choice::Codes);
            }
            if grain <= 16 && segments <= KEYS[log2] + 1 {
                let share = (segments as f32 / (KEYS[log2] + 1) as f32 * costs.fill).min(1.0);
                offer(64.0 * share + starts * costs.line, Choice::Line);
            }
            if self.mini_shift(bits, sub).is_some() {
                offer(16.0 + starts * costs.mini, Choice::Mini);
            }
        }
        if bits - half_of(bits) >= 32
            && let Some(cost) = self.fork_cost(level, sub)
        {
            offer(cost + starts * costs.fork, Choice::Fork);
        }
        if bits >= 64
            && let Some((hosts, _)) = self.hosts(level, sub)
        {
            // A run is found at once: no other leaf saves the steps above.
            let bytes = 64 << log2_lines(log2 as u8, hosts.len());
            offer(if bits == 64 { 0.0 } else { bytes as f32 }, Choice::Run);
        }
        best
    }

    /// The least depth of codes or of a line's keys for a block; `None` if it needs entries.
    pub fn depth(&self, bits: u8, sub: Sub) -> Option<u8> {
        let half = half_of(bits);
        let fits = !sub.is_wide && (half == 64 || sub.finest <= 64);
        fits.then(|| sub.finest.max(half + 64 - MAX_DROP as u8))
    }

    /// The number of 16 bits below those that a mini of a block compares.
    pub fn mini_shift(&self, bits: u8, sub: Sub) -> Option<u8> {
        let depth = self.depth(bits, sub)?;
        let half = half_of(bits);
        let covers = |shift: &u8| bits - half + 16 * shift >= 32 && depth - half + 16 * shift <= 64;
        let fits = sub.inner as usize <= MINI_KEYS && self.codes.form.log2 < 2;
        (0..=2).find(|shift| fits && covers(shift))
    }

    fn fork_cost(&self, level: usize, sub: Sub) -> Option<f32> {
        if sub.finest <= 64 || self.levels[level].bits >= 64 {
            return (sub.segments() <= FORK_KEYS + 1).then_some(64.0);
        }
        if self.levels[self.half].bits != 64 {
            return None;
        }
        let parts = self.fork(level, sub)?;
        let deep = parts.iter().filter_map(|(_, content)| match content {
            Content::Deep(at) => Some(self.levels[self.half].best[*at as usize][0].cost),
            Content::Answer(_) => None,
        });
        Some(64.0 + deep.sum::<f32>())
    }

    /// The segments of a fork. `None` if it cannot hold those of a block.
    pub fn fork(&self, level: usize, sub: Sub) -> Option<Vec<Part>> {
        let (block, raw, inside) = self.block(level, sub);
        let is_lower = block.bits >= 64;
        let mut parts: Vec<Part> = Vec::with_capacity(FORK_KEYS + 1);
        let last = super::layout::word(block.last(), is_lower);
        let mut push = |word: u64, content: Content| {
            parts.pop_if(|before| before.0 == word);
            parts.push((word, content));
            parts.len() <= FORK_KEYS + 1
        };
        let mut fits = push(block.word(is_lower), Content::Answer(raw));
        let mut i = sub.to as usize - inside.len();
        let has_deep = !is_lower && self.levels[self.half].bits == 64;
        let deep = if has_deep { &self.levels[self.half].subs } else { &[][..] };
        let mut next = deep.partition_point(|deep| deep.from < sub.from);
        while fits && i < sub.to as usize {
            let start = self.starts[i];
            let word = super::layout::word(start.at, is_lower);
            if let Some(deep) = deep.get(next).filter(|deep| deep.range().contains(&i)) {
                fits = push(word, Content::Deep(next as u32));
                i = deep.to as usize;
                fits &= word == last || push(word + 1, Content::Answer(self.before(i)));
                next += 1;
            } else {
                fits = push(word, Content::Answer(start.raw));
                i += 1;
            }
        }
        fits.then_some(parts)
    }

    /// The hosts of a block, and the next hop of all its other addresses; `None` if it is no block
    /// of hosts.
    pub fn hosts(&self, level: usize, sub: Sub) -> Option<(Vec<(u64, u32)>, u32)> {
        if sub.is_wide {
            return None;
        }
        let (block, raw, inside) = self.block(level, sub);
        let most = HOSTS[usize::from(self.codes.form.log2)] << MAX_RUN;
        hosts(block, raw, inside, most * 4 / 5)
    }

    /// The choice for a block, if some steps are left.
    pub fn choice(&self, level: usize, sub: usize, left: u8) -> Choice {
        self.levels[level].best[sub][usize::from(left)].choice
    }

    /// The cost of all blocks, by the number of steps.
    pub fn total(&self, steps: u8) -> f32 {
        self.levels[0].best.iter().map(|best| best[usize::from(steps)].cost).sum()
    }

    /// The level of 64 bits.
    pub fn half(&self) -> usize {
        self.half
    }
}

/// The most neighbouring addresses with one next hop that are hosts of a run.
const NEIGHBOURS: u128 = 2;

/// The hosts of a block of the lower half, and the next hop of all its other addresses.
pub(super) fn hosts(
    block: Block,
    raw: u32,
    inside: &[Start<u128>],
    most: usize,
) -> Option<(Vec<(u64, u32)>, u32)> {
    if inside.len() > 2 * most + 1 {
        return None;
    }
    let firsts = || [(block.first, raw)].into_iter().chain(inside.iter().map(|it| (it.at, it.raw)));
    let lasts = inside.iter().map(|start| start.at - 1).chain([block.last()]);
    let segments = || firsts().zip(lasts.clone()).map(|((at, raw), last)| (at, last - at + 1, raw));
    let others = segments().max_by_key(|(_, count, _)| *count)?.2;
    let mut hosts = Vec::with_capacity(inside.len() / 2 + 1);
    for (at, count, raw) in segments().filter(|(.., raw)| *raw != others) {
        if count > NEIGHBOURS || hosts.len() + count as usize > most {
            return None;
        }
        hosts.extend((0..count).map(|i| ((at + i) as u64, raw)));
    }
    Some((hosts, others))
}
