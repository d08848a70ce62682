//! Compiles a RIB to ranked lines: from the survey's sorted starts to segments, leaves and inner
//! lines.

use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::Range;

use super::super::book::Book;
use super::super::compile::{Admit, empty_root};
use super::super::layout::{self, Code, CodeForm};
use super::super::plan::RootForm;
use super::super::root::{MAX_REGIONS, Root, RootLayout, fill};
use super::super::survey::{Start, Survey, sorted_by_key};
use super::super::{Byte, Coded, NAME};
use super::layout::{
    CHILDREN, Entry, Fixed, KEYS, Line, Lines, MAX_DEPTH, MAX_LINES, MAX_NEXT_HOP, SEPARATORS,
    STAGES, escape,
};
use crate::engine::kit::CompileError;
use crate::mem::{Frozen, Growing, LINE};

/// Bits that number the blocks of a root, and those of a root whose routes are too far apart.
const ROOT_BITS: [u8; 2] = [20, 16];
/// The most blocks of a root that has more of them than the table has starts.
const MAX_BLOCKS: usize = 1 << 16;
/// Next hops without a code are rare if they have at most one start in this many: each of these
/// costs a line of escapes.
const WITHOUT_CODE: u64 = 500;

/// Codes for next hops: the inverse of the codebook.
pub(super) struct Codes {
    pub form: CodeForm,
    /// The code of each next hop up to the greatest one in the codebook.
    code_of: Vec<u8>,
}

impl Codes {
    /// Makes the codes of a table, and its codebook: the most frequent next hops.
    fn new(survey: &Survey<u128>, form: CodeForm) -> (Self, Book) {
        let mut book = [0; 256];
        if form.book {
            let counts = survey.frequencies(u16::MAX.into());
            let used = (0..counts.len() as u32).filter(|raw| counts[*raw as usize] > 0);
            let used = sorted_by_key(used, |raw| u32::MAX - counts[raw as usize]);
            let codes = book.iter_mut().take(escape(0) as usize);
            codes.zip(used).for_each(|(next_hop, raw)| *next_hop = raw as u16);
        }
        let book = Book::new(book);
        (Self::of(&book, form), book)
    }

    /// Makes the codes of a codebook.
    pub fn of(book: &Book, form: CodeForm) -> Self {
        let mut code_of = Vec::new();
        if form.book {
            for code in (0..escape(0) as u8).rev() {
                let raw = usize::from(book.value(code));
                code_of.resize(code_of.len().max(raw + 1), escape(0) as u8);
                code_of[raw] = code;
            }
        }
        Self { form, code_of }
    }

    /// The most codes that a leaf can have.
    pub fn in_leaf(&self) -> usize {
        KEYS[self.form.log2 as usize] + 1
    }

    /// Returns the code of an entry; an escape where it has none.
    pub fn code(&self, entry: Entry) -> u32 {
        match self.form.log2 {
            2 => entry.0,
            0 if self.form.book => {
                let code = self.code_of.get(entry.0 as usize);
                code.map_or(escape(0), |code| (*code).into())
            }
            // Words that lead to lines are greater than any escape.
            log2 => entry.0.min(escape(log2)),
        }
    }
}

/// Returns the name of the narrowest codes that suit the table.
pub(super) fn codes(survey: &Survey<u128>) -> &'static str {
    let counts = survey.frequencies(u16::MAX.into());
    let all = survey.starts.len() as u64 + 1;
    let rare = |with_code: u64| (all - with_code) * WITHOUT_CODE <= all;
    let sum = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum::<u64>();
    let mut frequent = counts.clone();
    frequent.sort_unstable_by(|a, b| b.cmp(a));
    if rare(sum(&counts[..escape(0) as usize])) {
        Byte::NAME
    } else if rare(sum(&frequent[..escape(0) as usize])) {
        Coded::NAME
    } else if rare(sum(&counts[..escape(1) as usize])) {
        <u16 as Code>::NAME
    } else {
        <u32 as Code>::NAME
    }
}

/// Array of lines under construction.
pub(super) trait Space {
    /// Places lines one after the other, and returns the number of the first.
    ///
    /// `None` when there is no capacity.
    fn place(&mut self, lines: &[Line]) -> Option<u32>;
}

impl Space for Growing<Line> {
    fn place(&mut self, lines: &[Line]) -> Option<u32> {
        let start = self.extend(lines);
        (start + lines.len() <= MAX_LINES).then_some(start as u32)
    }
}

pub(super) fn compile<C: Code>(
    survey: &Survey<u128>,
    admit: Admit<'_>,
) -> Result<Lines<C>, CompileError> {
    let (entries, lines, fixed) = parts(survey, CodeForm::of::<C>(), admit)?;
    Ok(Lines { entries, lines, fixed, code: PhantomData })
}

type Parts = (Frozen<u32>, Frozen<Line>, Fixed);

fn parts(survey: &Survey<u128>, form: CodeForm, admit: Admit<'_>) -> Result<Parts, CompileError> {
    let id = survey.max_next_hop();
    if id > MAX_NEXT_HOP {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit: MAX_NEXT_HOP });
    }
    let root = plan(survey);
    let (mut entries, root) = root.ok_or(CompileError::Allocation {
        engine: NAME,
        bytes: (size_of::<u32>() * MAX_BLOCKS) as u64,
    })?;
    let (codes, book) = Codes::new(survey, form);
    let mut space = Growing::new();
    // A few lines a route at most, so there is no need to estimate them beforehand.
    let built = Builder::new(&codes, &mut space).root(survey, &root, &mut entries);
    let lines = space.finish().map_err(CompileError::memory(NAME))?;
    built.ok_or(CompileError::TooMany { engine: NAME, what: "lines", limit: MAX_LINES as u64 })?;
    admit((size_of::<u32>() * entries.len() + LINE * lines.len()) as u64)?;
    let lines = Frozen::of(&lines).map_err(CompileError::memory(NAME))?;
    Ok((entries, lines, Fixed { root, book }))
}

/// Chooses the root, and allocates it without entries. `None` when memory is short.
fn plan(survey: &Survey<u128>) -> Option<(Frozen<u32>, Root)> {
    let [bits, fewer] = ROOT_BITS;
    if (1..=MAX_REGIONS).contains(&survey.regions().len())
        && let Some(root) = empty_root(survey, bits, RootForm::Regions)
    {
        return Some(root);
    }
    let most = MAX_BLOCKS.max(survey.starts.len());
    let bits = if survey.span(bits).len() <= most { bits } else { fewer };
    empty_root(survey, bits, RootForm::Dense)
}

/// Addresses from a word on that have one entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    pub start: u32,
    pub entry: Entry,
}

/// Addresses that share their first bits: the block of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub first: u128,
    pub last: u128,
}

impl Block {
    /// The addresses that share the first `bits` bits with one of them.
    pub fn of(addr: u128, bits: u8) -> Self {
        let below = u128::MAX.checked_shr(bits.into()).unwrap_or(0);
        Self { first: addr & !below, last: addr | below }
    }

    /// The words of its addresses in a stage.
    pub fn words(self, stage: usize) -> (u32, u32) {
        let below = STAGES[stage];
        ((self.first >> below) as u32, (self.last >> below) as u32)
    }

    /// The slot of an address in a stage: the block of a tree of the stage after.
    pub fn slot(addr: u128, stage: usize) -> Self {
        Self::of(addr, 128 - STAGES[stage] as u8)
    }
}

/// Builds trees of lines, and the entries that lead to them.
pub(super) struct Builder<'a, S> {
    codes: &'a Codes,
    space: &'a mut S,
    /// The most codes in a leaf.
    fill: usize,
    /// The lines of a run under construction.
    run: Vec<Line>,
    /// Number of new leaves.
    pub leaves: u64,
    /// Number of new inner lines.
    pub inner: u64,
}

/// An inner line without a place, and the first word of its addresses.
pub(super) type Node = (u32, Line);

impl<'a, S: Space> Builder<'a, S> {
    pub fn new(codes: &'a Codes, space: &'a mut S) -> Self {
        let fill = codes.in_leaf();
        Self { codes, space, fill, run: Vec::new(), leaves: 0, inner: 0 }
    }

    /// Fills leaves to three quarters only, so that most changes need no more of them.
    pub fn with_spare(self) -> Self {
        Self { fill: self.fill * 3 / 4, ..self }
    }

    /// The most codes in a leaf.
    pub fn fill(&self) -> usize {
        self.fill
    }

    /// Fills in the entries of a root.
    fn root(&mut self, survey: &Survey<u128>, root: &Root, entries: &mut [u32]) -> Option<()> {
        let bits = root.bits;
        let number = |start: &Start<u128>| (start.at >> (128 - bits)) as u32;
        let stored_ranges = root.stored_ranges();
        let mut raw = survey.lowest;
        let mut filled = 0;
        let answers = |entries: &mut [u32], blocks: Range<u32>, raw: u32| {
            fill(entries, &stored_ranges, blocks, layout::Entry(raw));
        };
        for starts in survey.starts.chunk_by(|a, b| number(a) == number(b)) {
            let at = number(&starts[0]);
            answers(entries, filled..at, raw);
            let entry = self.block(0, Block::of(starts[0].at, bits), &mut raw, starts)?;
            entries[root.index((starts[0].at >> 96) as u32) as usize] = entry.0;
            filled = at + 1;
        }
        answers(entries, filled..1 << bits, raw);
        let outside = match root.layout {
            RootLayout::Regions(_) => survey.lowest,
            RootLayout::Span { .. } => survey.highest(),
        };
        entries[root.last as usize] = Entry::answer(outside).0;
        Some(())
    }

    /// Builds the entry of a block.
    ///
    /// One of the starts may be the beginning of the block. `raw` is the next hop before the block,
    /// and on return the one at its end.
    pub fn block(
        &mut self,
        stage: usize,
        block: Block,
        raw: &mut u32,
        starts: &[Start<u128>],
    ) -> Option<Entry> {
        let inside = match starts.split_first() {
            Some((first, inside)) if first.at == block.first => {
                *raw = first.raw;
                inside
            }
            _ => starts,
        };
        let segments = self.segments(stage, block, raw, inside)?;
        self.tree(&segments)
    }

    /// Cuts a block into segments at some starts, all after its beginning.
    pub fn segments(
        &mut self,
        stage: usize,
        block: Block,
        raw: &mut u32,
        starts: &[Start<u128>],
    ) -> Option<Vec<Segment>> {
        let below = STAGES[stage];
        let (first, last) = block.words(stage);
        let mut segments: Vec<Segment> = Vec::with_capacity(starts.len() + 1);
        let mut push = |start: u32, entry: Entry| match segments.last_mut() {
            Some(before) if before.start == start => before.entry = entry,
            _ => segments.push(Segment { start, entry }),
        };
        push(first, Entry::answer(*raw));
        for slot in starts.chunk_by(|a, b| a.at >> below == b.at >> below) {
            let word = (slot[0].at >> below) as u32;
            let block = Block::slot(slot[0].at, stage);
            if slot[0].at == block.first && slot.len() == 1 {
                *raw = slot[0].raw;
                push(word, Entry::answer(*raw));
                continue;
            }
            push(word, self.block(stage + 1, block, raw, slot)?);
            if word < last {
                push(word + 1, Entry::answer(*raw));
            }
        }
        Some(segments)
    }

    /// Places the tree of some segments, and returns the entry that leads to it.
    pub fn tree(&mut self, segments: &[Segment]) -> Option<Entry> {
        if let [only] = segments
            && only.entry.depth() == 0
        {
            return Some(only.entry);
        }
        let leaves = segments.len().div_ceil(self.fill);
        if leaves == 1 {
            return Some(Entry::line(1, self.leaves([segments].into_iter())?));
        }
        let groups = leaves.div_ceil(CHILDREN);
        let group = |group| self.group(segments, leaves, part(leaves, groups, group));
        let mut nodes: Vec<Node> = (0..groups).map(group).collect::<Option<_>>()?;
        let mut depth = 2;
        while nodes.len() > 1 {
            let groups = nodes.len().div_ceil(CHILDREN);
            let parent = |group| self.parent(&nodes[part(nodes.len(), groups, group)]);
            nodes = (0..groups).map(parent).collect::<Option<_>>()?;
            depth += 1;
        }
        let top = self.space.place(&[nodes[0].1])?;
        (depth <= MAX_DEPTH).then(|| Entry::line(depth, top))
    }

    /// Places some of the leaves into which segments are cut, and makes the inner line above them.
    pub fn group(
        &mut self,
        segments: &[Segment],
        leaves: usize,
        group: Range<usize>,
    ) -> Option<Node> {
        let leaf = |leaf: usize| &segments[part(segments.len(), leaves, leaf)];
        let base = self.leaves(group.clone().map(leaf))?;
        Some(self.inner(base, group.map(|at| leaf(at)[0].start)))
    }

    /// Places inner lines, and makes the inner line above them.
    fn parent(&mut self, children: &[Node]) -> Option<Node> {
        self.run.clear();
        self.run.extend(children.iter().map(|(_, line)| *line));
        let base = self.space.place(&self.run)?;
        Some(self.inner(base, children.iter().map(|(start, _)| *start)))
    }

    /// Places the leaves of an inner line, given by their segments.
    fn leaves<'s>(&mut self, leaves: impl Iterator<Item = &'s [Segment]>) -> Option<u32> {
        self.run.clear();
        let mut escapes = Vec::new();
        for segments in leaves {
            let (leaf, escaped) = self.leaf(segments);
            escapes.extend(escaped.map(|line| (self.run.len(), line)));
            self.run.push(leaf);
            self.leaves += 1;
        }
        for (leaf, line) in escapes {
            let at = self.run.len();
            self.run[leaf].set_distance(at - leaf);
            self.run.push(line);
        }
        self.space.place(&self.run)
    }

    /// Writes a leaf without a distance, and its escapes.
    pub fn leaf(&self, segments: &[Segment]) -> (Line, Option<Line>) {
        let log2 = self.codes.form.log2;
        let mut leaf = Line::empty(KEYS[log2 as usize]);
        let mut escapes = None;
        for (i, segment) in segments.iter().enumerate() {
            if let Some(key) = i.checked_sub(1) {
                leaf.0[key] = segment.start - 1;
            }
            let code = self.codes.code(segment.entry);
            leaf.set_code(log2, i, code);
            if log2 < 2 && code == escape(log2) {
                escapes.get_or_insert(Line::empty(0)).0[i] = segment.entry.0;
            }
        }
        (leaf, escapes)
    }

    /// Makes an inner line, given the first words of its children.
    fn inner(&mut self, base: u32, starts: impl Iterator<Item = u32>) -> Node {
        let mut line = Line::empty(SEPARATORS);
        let mut first = None;
        for (i, start) in starts.enumerate() {
            match i.checked_sub(1) {
                None => first = Some(start),
                Some(separator) => line.0[separator] = start - 1,
            }
        }
        line.0[SEPARATORS] = base;
        self.inner += 1;
        (first.unwrap_or(0), line)
    }
}

/// The range of part `i` of `parts` nearly equal parts of `len` items.
fn part(len: usize, parts: usize, i: usize) -> Range<usize> {
    len * i / parts..len * (i + 1) / parts
}
