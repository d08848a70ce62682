//! The ranges of a table, read back from its words.

use std::ops::RangeInclusive;

use longmatch::set::AddressRange;
use longmatch::{Family, IpPrefix, Ipv4, Ipv6, Prefix};

use crate::layout::{
    LOW, LOW_BITS, LineForm, PAGE, ROOT_BITS_4, ROOT_BITS_6, STARTS, STRIDE_SHIFT, Shape,
    UNIT_SHIFT, WORDS, Words,
};
use crate::table::slot_of;
use crate::{KernelFamily, KernelTable};

/// Ranges of addresses with their values: disjoint, in order, joined where neighbours have equal values, and without those
/// of no match.
pub type ValueRanges<F> = Vec<(AddressRange<F>, u32)>;

impl KernelTable {
    /// The ranges of both families of a table. O(ranges + words of the root).
    ///
    /// ```
    /// use longmatch::{Ipv4, Ipv6, NextHopId, Rib};
    /// use longmatch_bpf::KernelTable;
    ///
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(7).unwrap())?;
    /// let (ipv4, ipv6) = KernelTable::build(&[(&rib, &Rib::<Ipv6>::new())])?.ranges(0);
    /// assert_eq!((ipv4[0].0.to_string(), ipv4[0].1), ("10.0.0.0-10.255.255.255".to_owned(), 7));
    /// assert!(ipv4.len() == 1 && ipv6.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such table.
    #[must_use]
    pub fn ranges(&self, table: u32) -> (ValueRanges<Ipv4>, ValueRanges<Ipv6>) {
        assert!(table < self.shape().tables(), "there is no table {table}");
        ranges(self.words().0, self.shape(), table, None)
    }
}

#[cfg(target_os = "linux")]
impl crate::Version {
    /// The ranges of both families of a table, as [`KernelTable::ranges`].
    ///
    /// # Errors
    /// If the kernel refuses.
    ///
    /// # Panics
    /// If there is no such table.
    pub fn ranges(
        &self,
        table: u32,
    ) -> Result<(ValueRanges<Ipv4>, ValueRanges<Ipv6>), crate::sys::Error> {
        self.ranges_near(table, None)
    }

    /// The ranges of the words of the root that a prefix overlaps, or of all words. O(ranges + these words of the root).
    ///
    /// # Errors
    /// If the kernel refuses.
    ///
    /// # Panics
    /// If there is no such table.
    pub fn ranges_near(
        &self,
        table: u32,
        prefix: Option<IpPrefix>,
    ) -> Result<(ValueRanges<Ipv4>, ValueRanges<Ipv6>), crate::sys::Error> {
        assert!(table < self.shape().tables(), "there is no table {table}");
        Ok(ranges(self.map().memory()?.words(), self.shape(), table, prefix))
    }
}

/// The words of a root that a prefix overlaps.
fn slots<F: KernelFamily>(prefix: Prefix<F>) -> RangeInclusive<u32> {
    slot_of::<F>(prefix.first()) as u32..=slot_of::<F>(prefix.last()) as u32
}

const NO_SLOTS: RangeInclusive<u32> = RangeInclusive::new(1, 0);

/// The ranges of the words of a table's roots that a prefix overlaps, or of all words.
fn ranges<W: Words + ?Sized>(
    words: &W,
    shape: Shape,
    table: u32,
    prefix: Option<IpPrefix>,
) -> (ValueRanges<Ipv4>, ValueRanges<Ipv6>) {
    let [root4, root6] = shape.roots(table);
    let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
    let mut walk = Walk { words, shape, form: LineForm::V4 };
    let (slots4, slots6) = match prefix {
        None => (0..=(1 << ROOT_BITS_4) - 1, 0..=(1 << ROOT_BITS_6) - 1),
        Some(IpPrefix::V4(it)) => (slots(it), NO_SLOTS),
        Some(IpPrefix::V6(it)) => (NO_SLOTS, slots(it)),
    };
    walk.root(root4, ROOT_BITS_4, slots4, &mut |first, last, cell| {
        // Low halves exist in IPv6 alone.
        if let Cell::Value(value) = cell {
            push(&mut ipv4, (first >> 32) as u32, (last >> 32) as u32, value);
        }
    });
    walk.form = LineForm::V6;
    let low = Walk { words, shape, form: LineForm::V6 };
    walk.root(root6, ROOT_BITS_6, slots6, &mut |first, last, cell| match cell {
        Cell::Value(value) => {
            let last = u128::from(last) << 64 | u128::from(u64::MAX);
            push(&mut ipv6, u128::from(first) << 64, last, value);
        }
        Cell::Low(word) => {
            for high in first..=last {
                let high = u128::from(high) << 64;
                low.low_half(word, &mut |first, last, cell| {
                    if let Cell::Value(value) = cell {
                        push(&mut ipv6, high | u128::from(first), high | u128::from(last), value);
                    }
                });
            }
        }
    });
    (ipv4, ipv6)
}

/// Adds a range, joined to the last one if it continues that.
fn push<F: Family>(ranges: &mut ValueRanges<F>, first: F::Bits, last: F::Bits, value: u32) {
    use longmatch::Bits;
    let mut start = first;
    if let Some((before, before_value)) = ranges.last()
        && *before_value == value
        && before.last().successor() == Some(first)
    {
        start = before.first();
        ranges.pop();
    }
    let range = AddressRange::from_bits(start, last).filter(|_| value != 0);
    ranges.extend(range.map(|range| (range, value)));
}

/// The answer of a range of 64 bits.
#[derive(Clone, Copy)]
enum Cell {
    Value(u32),
    /// The word of the page of a low half.
    Low(u32),
}

/// Takes a range and its answer, in order.
type Each<'e> = &'e mut dyn FnMut(u64, u64, Cell);

/// A block of 64-bit numbers: those that begin with the first `bits` bits of `start`. Only those from `first` to `last` are
/// walked.
#[derive(Clone, Copy)]
struct Block {
    start: u64,
    bits: u32,
    first: u64,
    last: u64,
}

impl Block {
    /// The block of a number of bits, whole.
    fn whole(start: u64, bits: u32) -> Self {
        Self { start, bits, first: start, last: start | u64::MAX.checked_shr(bits).unwrap_or(0) }
    }

    /// The part of a block inside this one.
    fn part(self, first: u64, last: u64) -> Option<Self> {
        let (first, last) = (first.max(self.first), last.min(self.last));
        (first <= last).then_some(Self { first, last, ..self })
    }
}

struct Walk<'w, W: ?Sized> {
    words: &'w W,
    shape: Shape,
    form: LineForm,
}

impl<W: Words + ?Sized> Walk<'_, W> {
    /// A number of 1 to 8 bytes, aligned to its size.
    fn number(&self, byte: u32, bytes: u32) -> u64 {
        let place = byte as usize / 4;
        let word = self.words.word(place).to_ne_bytes();
        let at = byte as usize % 4;
        match bytes {
            8 => {
                let mut both = [0; 8];
                both[..4].copy_from_slice(&word);
                both[4..].copy_from_slice(&self.words.word(place + 1).to_ne_bytes());
                u64::from_ne_bytes(both)
            }
            4 => u32::from_ne_bytes(word).into(),
            2 => u16::from_ne_bytes([word[at], word[at + 1]]).into(),
            _ => word[at].into(),
        }
    }

    fn root(&self, root: u32, bits: u32, slots: RangeInclusive<u32>, each: Each<'_>) {
        for slot in slots {
            let word = self.number(root + 4 * slot, 4) as u32;
            self.word(word, Block::whole(u64::from(slot) << (64 - bits), bits), each);
        }
    }

    /// The ranges of a low half.
    fn low_half(&self, word: u32, each: Each<'_>) {
        for slot in 0..1_u32 << LOW_BITS {
            let at = (word << UNIT_SHIFT).wrapping_add(4 * slot) & (self.shape.capacity() - 4);
            let word = self.number(at, 4) as u32;
            self.word(word, Block::whole(u64::from(slot) << (64 - LOW_BITS), LOW_BITS), each);
        }
    }

    /// The ranges of the block that a word answers for.
    fn word(&self, word: u32, block: Block, each: Each<'_>) {
        if word & PAGE != 0 {
            self.page(word, block, each);
        } else if word & LOW != 0 {
            each(block.first, block.last, Cell::Low(word));
        } else {
            self.line(word, block, each);
        }
    }

    fn value_bytes(&self, word: u32) -> u32 {
        if word & WORDS == 0 { self.shape.value_bytes() } else { 4 }
    }

    fn page(&self, word: u32, block: Block, each: Each<'_>) {
        let (stride, bytes) = (32 - (word >> STRIDE_SHIFT), self.value_bytes(word));
        let bits = block.bits + stride;
        for entry in 0..1_u32 << stride {
            let start = block.start | u64::from(entry) << (64 - bits);
            let inner = Block::whole(start, bits);
            let Some(part) = inner.part(block.first, block.last) else { continue };
            let at = (word << UNIT_SHIFT).wrapping_add(entry * bytes);
            let value = self.number(at & (self.shape.capacity() - bytes), bytes) as u32;
            self.entry(word, value, part, each);
        }
    }

    fn line(&self, word: u32, block: Block, each: Each<'_>) {
        let LineForm { start_bytes, shift } = self.form;
        let (line, bytes) =
            ((word << UNIT_SHIFT) & (self.shape.capacity() - 8), self.value_bytes(word));
        let mut first = block.start;
        for entry in 0..=STARTS as u32 {
            // The start of the next entry; a start that is missing is greater than every key.
            let next = (entry < STARTS as u32)
                .then(|| self.number(line + entry * start_bytes, start_bytes))
                .filter(|start| *start < self.form.never())
                .map(|start| block.start + ((start << shift) >> block.bits));
            let last = next.map_or(block.last, |next| next.wrapping_sub(1));
            // Two equal starts have nothing between them.
            if next.is_none_or(|next| next > first)
                && let Some(part) = block.part(first, last)
            {
                let value = self.number(line + self.form.entries() + entry * bytes, bytes) as u32;
                self.entry(word, value, part, each);
            }
            match next {
                Some(next) => first = next,
                None => return,
            }
        }
    }

    /// The ranges of an entry of the page or line of a word.
    fn entry(&self, word: u32, entry: u32, block: Block, each: Each<'_>) {
        match word & WORDS {
            0 => each(block.first, block.last, Cell::Value(entry)),
            _ => self.word(entry, block, each),
        }
    }
}

#[cfg(test)]
mod tests {
    use longmatch::{NextHopId, Prefix, Rib};

    use super::*;

    fn expected<F: Family>(rib: &Rib<F>) -> ValueRanges<F> {
        let routed = rib
            .ranges()
            .coalesced()
            .filter_map(|range| Some((range.first, range.last, range.next_hop()?)));
        routed
            .map(|(first, last, id)| (AddressRange::from_bits(first, last).unwrap(), id.get()))
            .collect()
    }

    /// Random tables of prefixes near each other, of all lengths, read back as the RIB's own ranges.
    #[test]
    fn tables_are_read_back() {
        let mut state = 0x1357_9bdf_2468_ace1_u64;
        let mut next = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) % below
        };
        for round in 0..45 {
            let mut ribs = [(); 2].map(|()| (Rib::<Ipv4>::new(), Rib::<Ipv6>::new()));
            for (rib4, rib6) in &mut ribs {
                let values = if round % 3 == 0 { 70_000 } else { 5 };
                for _ in 0..next([10, 300, 4000][round % 3]) {
                    let id = NextHopId::new(1 + next(values) as u32).unwrap();
                    let spread = 8 + next(17);
                    let bits = (0x0a00_0000 + next(1 << spread)) as u32;
                    let length = [32, 32, 31, 24, 17, 16, 9, 0][next(8) as usize];
                    rib4.insert(Prefix::from_bits_masked(bits, length), id).unwrap();
                    let (spread, low_spread) = (1 + next(40), 1 + next(43));
                    let high = 0x2001_0db8_0000_0000 + next(1 << spread);
                    let low = if next(2) == 0 { next(1 << low_spread) << next(21) } else { 0 };
                    let bits = u128::from(high) << 64 | u128::from(low);
                    let length = [128, 128, 127, 65, 64, 64, 48, 32, 0][next(9) as usize];
                    rib6.insert(Prefix::from_bits_masked(bits, length), id).unwrap();
                }
            }
            let [(a4, a6), (b4, b6)] = &ribs;
            let table = KernelTable::build(&[(a4, a6), (b4, b6)]).unwrap();
            assert_eq!(table.ranges(0), (expected(a4), expected(a6)), "{round}");
            assert_eq!(table.ranges(1), (expected(b4), expected(b6)), "{round}");
        }
    }
}
