//! The bits of a node: positions of routes, and the words of a block.
//!
//! A prefix that fixes `k` bits of a node's chunk has the *position* `2^k + v`, where `v` is the
//! value of these bits, as in a binary heap: the halves of position `p` have the positions `2p` and
//! `2p + 1`. Positions 2 to 63 are bits of `short`; 64 to 127 are bits 0 to 63 of `long`. Position
//! 1 is the node's own prefix: its route belongs to the node above.

use crate::net::Bits;

/// The number of bits that a node decides.
pub(super) const STRIDE: u8 = 6;
/// The number of 32-bit cells before the places of a node's children.
pub(super) const HEADER: usize = 6;
/// The number of cells in a unit of allocation.
pub(super) const UNIT: usize = 4;
/// The greatest number of routes and children of a node.
pub(super) const MAX_ENTRIES: usize = 62 + 64 + 64;

/// The number of units of a node with this many routes and children.
#[inline(always)]
pub(super) const fn units_for(entries: usize) -> usize {
    (HEADER + entries).div_ceil(UNIT)
}

/// The index of a node: the number of its first unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct NodeIndex(pub u32);

impl NodeIndex {
    /// The index of the node's first cell.
    #[inline(always)]
    pub fn cell(self) -> usize {
        self.0 as usize * UNIT
    }
}

/// A child of a node, in one cell: two bits of kind, then 30 bits of its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Child {
    /// A node at the next depth.
    Node(NodeIndex),
    /// The record of the subtree's only route.
    Leaf(u32),
    /// The record of the node that all routes of the subtree are in.
    Chain(u32),
}

/// Places and records are numbered below this.
pub(super) const MAX_PLACES: usize = 1 << 30;
const LEAF: u32 = 1 << 30;
const CHAIN: u32 = 2 << 30;

impl Child {
    #[inline(always)]
    pub fn encode(self) -> u32 {
        match self {
            Self::Node(place) => place.0,
            Self::Leaf(record) => LEAF | record,
            Self::Chain(record) => CHAIN | record,
        }
    }

    #[inline(always)]
    pub fn decode(cell: u32) -> Self {
        if cell < LEAF {
            Self::Node(NodeIndex(cell))
        } else if cell < CHAIN {
            Self::Leaf(cell & !LEAF)
        } else {
            Self::Chain(cell & !CHAIN)
        }
    }
}

/// The bitmaps of a node, or those of its entries that are in some prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Bitmaps {
    /// Routes that fix one to five bits, by position.
    pub short: u64,
    /// Routes that fix six bits, by chunk.
    pub long: u64,
    /// Children, by chunk.
    pub children: u64,
}

impl Bitmaps {
    #[inline(always)]
    pub fn load(header: &[u32; HEADER]) -> Self {
        let word = |i: usize| u64::from(header[i]) | u64::from(header[i + 1]) << 32;
        Self { short: word(0), long: word(2), children: word(4) }
    }

    pub fn store(self, header: &mut [u32]) {
        let words = [self.short, self.long, self.children];
        for (cells, word) in header.chunks_exact_mut(2).zip(words) {
            cells.copy_from_slice(&[word as u32, (word >> 32) as u32]);
        }
    }

    /// The number of routes and children.
    #[inline(always)]
    pub fn entries(&self) -> usize {
        (self.short.count_ones() + self.long.count_ones() + self.children.count_ones()) as usize
    }

    /// Whether there is a route at a position.
    #[inline(always)]
    pub fn has_route(&self, position: usize) -> bool {
        let (word, bit) =
            if position < 64 { (self.short, position) } else { (self.long, position - 64) };
        word >> bit & 1 == 1
    }

    /// Adds or removes the route at a position.
    pub fn flip_route(&mut self, position: usize) {
        if position < 64 {
            self.short ^= 1 << position;
        } else {
            self.long ^= 1 << (position - 64);
        }
    }

    /// Whether there is a child for a chunk.
    #[inline(always)]
    pub fn has_child(&self, c: usize) -> bool {
        self.children >> c & 1 == 1
    }

    /// The number of entries before the child for the chunk `c`.
    #[inline(always)]
    pub fn child_rank(&self, c: usize) -> usize {
        below(self.children, c)
    }

    /// The number of entries before the route at a position.
    #[inline(always)]
    pub fn route_rank(&self, position: usize) -> usize {
        let rank = self.children.count_ones() as usize;
        if position < 64 {
            rank + below(self.short, position)
        } else {
            rank + self.short.count_ones() as usize + below(self.long, position - 64)
        }
    }

    /// The entries in the prefix of a position, its own route included.
    #[inline(always)]
    pub fn within(&self, position: usize) -> Self {
        let short = if position < 64 { WITHIN[position] } else { 0 };
        let chunks = chunks_within(position);
        Self {
            short: self.short & short,
            long: self.long & chunks,
            children: self.children & chunks,
        }
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.short | self.long | self.children == 0
    }

    /// The chunks at which an entry begins.
    ///
    /// Routes of each length move to twice the width of their bitmap and join those one bit longer.
    pub fn starts(&self) -> u64 {
        let mut starts = 0;
        for k in 1..STRIDE {
            let routes = self.short >> (1u32 << k) & !(u64::MAX << (1u32 << k));
            starts = spread(starts | routes);
        }
        starts | self.long | self.children
    }

    /// The position of the longest route that covers the chunk `c`.
    #[inline(always)]
    pub fn longest(&self, c: usize) -> Option<usize> {
        if self.long >> c & 1 == 1 {
            return Some(64 + c);
        }
        (self.short & PATH[c]).checked_ilog2().map(|position| position as usize)
    }
}

/// The number of ones below bit `bit`.
#[inline(always)]
fn below(word: u64, bit: usize) -> usize {
    (word & !(u64::MAX << bit)).count_ones() as usize
}

/// Moves bit `i` of the low half of a word to bit `2 i`.
fn spread(word: u64) -> u64 {
    let mut word = word & 0xffff_ffff;
    word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
    word = (word | word << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    word = (word | word << 2) & 0x3333_3333_3333_3333;
    (word | word << 1) & 0x5555_5555_5555_5555
}

/// The position of the first `k` bits after `depth`.
#[inline(always)]
pub(super) fn position<B: Bits>(bits: B, depth: u8, k: u8) -> usize {
    1 << k | bits.extract(depth, k)
}

/// The number of bits that a position fixes.
#[inline(always)]
pub(super) fn fixed_bits(position: usize) -> u8 {
    position.ilog2() as u8
}

/// The first chunk in the prefix of a position.
#[inline(always)]
pub(super) fn first_chunk(position: usize) -> usize {
    (position << (STRIDE - fixed_bits(position))) - 64
}

/// The chunks in the prefix of a position.
#[inline(always)]
fn chunks_within(position: usize) -> u64 {
    u64::MAX >> (64 - (64 >> fixed_bits(position))) << first_chunk(position)
}

/// The short positions in the prefix of a short position, itself included.
const WITHIN: [u64; 64] = {
    let mut masks = [0; 64];
    let mut i = 64;
    while i > 1 {
        i -= 1;
        masks[i] = 1 << i;
        if i < 32 {
            masks[i] |= masks[2 * i] | masks[2 * i + 1];
        }
    }
    masks
};

/// The short positions whose prefixes cover a chunk.
pub(super) const PATH: [u64; 64] = {
    let mut masks = [0; 64];
    let mut c = 0;
    while c < 64 {
        let mut k = 1;
        while k < STRIDE {
            masks[c] |= 1 << (1 << k | c >> (STRIDE - k));
            k += 1;
        }
        c += 1;
    }
    masks
};

/// The short positions whose prefixes begin at a chunk.
pub(super) const STARTS: [u64; 64] = {
    let mut masks = [0; 64];
    let mut c: usize = 0;
    while c < 64 {
        let mut k = 1;
        while k < STRIDE {
            if c.trailing_zeros() >= (STRIDE - k) as u32 {
                masks[c] |= 1 << (1 << k | c >> (STRIDE - k));
            }
            k += 1;
        }
        c += 1;
    }
    masks
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits that a position fixes, as text.
    fn text(position: usize) -> alloc::string::String {
        alloc::format!("{:b}", position)[1..].into()
    }

    #[test]
    fn masks_agree_with_the_text_of_positions() {
        for position in 2..128 {
            let all = Bitmaps { short: u64::MAX << 2, long: u64::MAX, children: u64::MAX };
            let within = all.within(position);
            for other in 2..128 {
                let inside = text(other).starts_with(&text(position));
                assert_eq!(within.has_route(other), inside, "{other} in {position}");
            }
            assert_eq!(within.long, within.children);
            assert_eq!(first_chunk(position), within.children.trailing_zeros() as usize);
        }
        for c in 0..64 {
            for position in 2..64 {
                let covers = text(64 + c).starts_with(&text(position));
                assert_eq!(PATH[c] >> position & 1 == 1, covers);
                let starts = covers && first_chunk(position) == c;
                assert_eq!(STARTS[c] >> position & 1 == 1, starts);
            }
        }
    }

    #[test]
    fn starts_are_the_first_chunks_of_all_entries() {
        for position in 2..64 {
            let maps = Bitmaps { short: 1 << position, long: 0, children: 0 };
            assert_eq!(maps.starts(), 1 << first_chunk(position), "{position}");
        }
        let maps = Bitmaps { short: 1 << 2 | 1 << 63, long: 2, children: 1 << 63 };
        assert_eq!(maps.starts(), 1 | 2 | 1 << 62 | 1 << 63);
    }

    #[test]
    fn ranks_follow_the_order_of_cells() {
        let maps = Bitmaps { short: 0b1100, long: 1 << 5 | 1 << 7, children: 1 | 1 << 63 };
        assert_eq!(maps.entries(), 6);
        assert_eq!([0, 63].map(|c| maps.child_rank(c)), [0, 1]);
        assert_eq!([2, 3, 64 + 5, 64 + 7].map(|p| maps.route_rank(p)), [2, 3, 4, 5]);
        assert_eq!(maps.longest(0), Some(2));
        assert_eq!(maps.longest(5), Some(69));
        assert_eq!(maps.longest(40), Some(3));
    }
}
