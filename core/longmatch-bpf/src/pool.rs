//! Pages and lines from runs of addresses: which of them, and each content once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::build_error::BuildError;
use crate::layout::{
    LOW, LOW_BITS, LineForm, MAX_STRIDE, PAGE, STARTS, STEPS_6, STRIDE_SHIFT, UNIT_SHIFT, WORDS,
};

/// The answer of a run of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cell {
    /// A value, 0 for none.
    Value(u32),
    /// The word of the page of a low half.
    Word(u32),
}

/// Addresses from `start`, the high bits of 64, to the next run, with one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub start: u64,
    pub cell: Cell,
}

/// Addresses that share their first `depth` bits.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub first: u64,
    pub depth: u32,
    pub form: LineForm,
}

/// The hasher of keys that are hashes already.
#[derive(Clone, Copy, Default)]
pub(crate) struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// The words of a version, and where each content is.
#[derive(Clone)]
pub(crate) struct Pool {
    pub words: Vec<u32>,
    /// The places of contents by their hashes.
    seen: HashMap<u64, u32, BuildHasherDefault<Same>>,
    value_bytes: u32,
    /// The greatest number of words.
    limit: usize,
}

impl Pool {
    pub(crate) fn new(roots: usize, value_bytes: u32, capacity: u32) -> Self {
        let limit = capacity as usize / 4;
        Self { words: vec![0; roots], seen: HashMap::default(), value_bytes, limit }
    }

    /// Sets the greatest size in bytes, at least that of now.
    pub(crate) fn set_capacity(&mut self, capacity: u32) {
        self.limit = capacity as usize / 4;
    }

    /// The offset of this content, in units, which is stored unless it is there already.
    fn intern(&mut self, content: &[u32]) -> Result<u32, BuildError> {
        let mut hash = content.iter().fold(content.len() as u64, |hash, word| {
            (hash ^ u64::from(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        while let Some(place) = self.seen.get(&hash) {
            let place = *place as usize;
            if self.words.get(place..place + content.len()) == Some(content) {
                return Ok((place as u32 * 4) >> UNIT_SHIFT);
            }
            hash = hash.wrapping_add(1);
        }
        // Units have two words. Pages begin at cache lines, and so that few lines cross one more than they must.
        let align = match content.len() {
            words if words.is_power_of_two() => words.clamp(2, 16),
            words if words > 16 => 4,
            _ => 2,
        };
        let place = self.words.len().next_multiple_of(align);
        if place + content.len() > self.limit {
            return Err(BuildError::Full { capacity: self.limit * 4 });
        }
        self.words.resize(place, 0);
        self.words.extend_from_slice(content);
        self.seen.insert(hash, place as u32);
        Ok((place as u32 * 4) >> UNIT_SHIFT)
    }

    /// The word of a page of `2^stride` entries.
    fn page(&mut self, stride: u32, entries: &Entries) -> Result<u32, BuildError> {
        let offset = self.intern(&entries.words())?;
        Ok(PAGE | (MAX_STRIDE - stride) << STRIDE_SHIFT | entries.flag() | offset)
    }

    /// The word of addresses with one answer.
    pub(crate) fn uniform(&mut self, cell: Cell) -> Result<u32, BuildError> {
        match cell {
            Cell::Word(word) => Ok(word),
            Cell::Value(value) => {
                let mut entries = Entries::new(self.value_bytes, false);
                entries.repeat(value, 2);
                self.page(1, &entries)
            }
        }
    }

    /// The word of a block with at most `budget` pages and lines one below the other.
    ///
    /// The first run may begin before the block.
    pub(crate) fn block(
        &mut self,
        runs: &[Run],
        block: Block,
        budget: u32,
    ) -> Result<u32, BuildError> {
        if let [run] = runs {
            return self.uniform(run.cell);
        }
        let finest = runs[1..].iter().map(|run| 64 - run.start.trailing_zeros()).max();
        let bits = finest.unwrap_or(64) - block.depth;
        let values = are_values(runs);
        if values && self.suits_values(runs.len(), block, bits) {
            return self.values(runs, block, bits);
        }
        let is_line = runs.len() <= STARTS + 1 && fits(runs.len(), values, budget);
        if !is_line && let Some(stride) = stride(runs, block, bits, budget) {
            return self.split(runs, block, stride, budget);
        }
        if fits(runs.len(), values, budget) {
            return self.line(runs, block);
        }
        if values && bits <= MAX_STRIDE {
            return self.values(runs, block, bits);
        }
        Err(BuildError::Ranges { ranges: runs.len() })
    }

    /// Whether the block becomes a page of values: the fastest form, if it is not much larger than lines would be.
    fn suits_values(&self, runs: usize, block: Block, bits: u32) -> bool {
        if bits > MAX_STRIDE {
            return false;
        }
        let bytes = (self.value_bytes as usize) << bits;
        // Directly below the root of IPv4 down to /24, where most routes are.
        let routes = block.form.start_bytes == 2 && block.depth + bits <= 24;
        bytes <= 64 || bytes <= 16 * runs || routes && bytes <= 512
    }

    fn values(&mut self, runs: &[Run], block: Block, bits: u32) -> Result<u32, BuildError> {
        let mut entries = Entries::new(self.value_bytes, false);
        let shift = 64 - block.depth - bits;
        for (number, run) in runs.iter().enumerate() {
            let Cell::Value(value) = run.cell else { continue };
            let end =
                runs.get(number + 1).map_or(1 << bits, |next| (next.start - block.first) >> shift);
            entries.repeat(value, end as usize - entries.count());
        }
        self.page(bits, &entries)
    }

    /// A page of words.
    fn split(
        &mut self,
        runs: &[Run],
        block: Block,
        stride: u32,
        budget: u32,
    ) -> Result<u32, BuildError> {
        let shift = 64 - block.depth - stride;
        let mut entries = Entries::new(4, true);
        let mut from = 0;
        let mut same: Option<(Cell, u32)> = None;
        for slot in 0..1_u64 << stride {
            let first = block.first + (slot << shift);
            let last = first + ((1 << shift) - 1);
            while runs.get(from + 1).is_some_and(|next| next.start <= first) {
                from += 1;
            }
            let count = runs[from..].iter().take_while(|run| run.start <= last).count();
            let inside = &runs[from..from + count];
            let known = same.filter(|(cell, _)| inside.len() == 1 && inside[0].cell == *cell);
            let word = match known {
                Some((_, word)) => word,
                None => {
                    let depth = block.depth + stride;
                    self.block(inside, Block { first, depth, ..block }, budget - 1)?
                }
            };
            same = (inside.len() == 1).then_some((inside[0].cell, word));
            entries.push(word);
        }
        self.page(stride, &entries)
    }

    /// A line, or a tree of lines, as deep as [`fits`] assumes.
    fn line(&mut self, runs: &[Run], block: Block) -> Result<u32, BuildError> {
        if let [run] = runs {
            return self.uniform(run.cell);
        }
        let form = block.form;
        let values = runs.len() <= STARTS + 1 && are_values(runs);
        let part = runs.len().div_ceil(STARTS + 1);
        let mut starts = [form.never(); STARTS];
        let mut entries = Entries::new(if values { self.value_bytes } else { 4 }, !values);
        for (number, part) in runs.chunks(part).enumerate() {
            if number > 0 {
                starts[number - 1] = (part[0].start << block.depth) >> form.shift;
            }
            match part[0].cell {
                Cell::Value(value) if values => entries.push(value),
                _ => entries.push(self.line(part, block)?),
            }
        }
        entries.repeat(0, STARTS + 1 - entries.count());
        let mut bytes: Vec<u8> = match form.start_bytes {
            2 => starts.iter().flat_map(|start| (*start as u16).to_ne_bytes()).collect(),
            _ => starts.iter().flat_map(|start| start.to_ne_bytes()).collect(),
        };
        bytes.extend(&entries.bytes);
        let offset = self.intern(&words(&bytes))?;
        Ok(entries.flag() | offset)
    }

    /// The cell of the runs of a low half.
    pub(crate) fn low_half(&mut self, runs: &[Run]) -> Result<Cell, BuildError> {
        let block = Block { first: 0, depth: 0, form: LineForm::V6 };
        let word = self.split(runs, block, LOW_BITS, STEPS_6 + 1)?;
        Ok(Cell::Word(LOW | WORDS | word & crate::layout::OFFSET))
    }
}

fn are_values(runs: &[Run]) -> bool {
    runs.iter().all(|run| matches!(run.cell, Cell::Value(_)))
}

/// Whether a tree of lines with this many levels holds the runs.
fn fits(runs: usize, values: bool, budget: u32) -> bool {
    let levels = if values { budget } else { budget.saturating_sub(1) };
    budget > 0 && runs <= (STARTS + 1).pow(levels)
}

/// The stride of a page that divides the runs well, if there is one, or of the widest one if lines cannot hold the runs.
fn stride(runs: &[Run], block: Block, bits: u32, budget: u32) -> Option<u32> {
    let widest = bits.min(MAX_STRIDE);
    let most = |stride: u32| {
        let shift = 64 - block.depth - stride;
        let (mut slot, mut count, mut most) = (0, 1, 1);
        for run in &runs[1..] {
            let inside = run.start - block.first;
            if inside >> shift != slot {
                (slot, count) = (inside >> shift, 1);
            }
            // A run that begins a slot replaces the one before.
            count += usize::from(inside & ((1 << shift) - 1) != 0);
            most = most.max(count);
        }
        most
    };
    let first = (runs.len().ilog2().max(3) - 1).min(widest);
    let values = are_values(runs);
    let fair = (first..=widest.min(first + 3)).find(|stride| {
        let most = most(*stride);
        most * 3 <= runs.len() && fits(most, values, budget - 1)
    });
    // Narrow pages do not divide them well; a wide one may, and so may those below it.
    fair.or_else(|| (budget > 1 && !fits(runs.len(), values, budget)).then_some(widest))
}

/// The entries of a page or a line.
struct Entries {
    bytes: Vec<u8>,
    entry_bytes: u32,
    are_words: bool,
}

impl Entries {
    fn new(entry_bytes: u32, are_words: bool) -> Self {
        Self { bytes: Vec::new(), entry_bytes, are_words }
    }

    fn count(&self) -> usize {
        self.bytes.len() / self.entry_bytes as usize
    }

    fn push(&mut self, entry: u32) {
        match self.entry_bytes {
            1 => self.bytes.push(entry as u8),
            2 => self.bytes.extend((entry as u16).to_ne_bytes()),
            _ => self.bytes.extend(entry.to_ne_bytes()),
        }
    }

    fn repeat(&mut self, entry: u32, count: usize) {
        (0..count).for_each(|_| self.push(entry));
    }

    fn flag(&self) -> u32 {
        if self.are_words { WORDS } else { 0 }
    }

    fn words(&self) -> Vec<u32> {
        words(&self.bytes)
    }
}

/// Bytes as whole units.
fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |four: &[u8]| {
        let mut word = [0; 4];
        word[..four.len()].copy_from_slice(four);
        u32::from_ne_bytes(word)
    };
    let mut words: Vec<u32> = bytes.chunks(4).map(word).collect();
    words.resize(words.len().next_multiple_of(2), 0);
    words
}
