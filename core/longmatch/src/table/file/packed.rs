//! Arrays of numbers in few bits: `docs/format.md` describes their words.
//!
//! Prefixes in order, rows that neighbours share and offsets that rise differ little within 64 neighbours. A frame of so
//! many numbers stores their differences from the least one, or the distinct differences and a position for each number.

use alloc::vec::Vec;

use crate::mem::Frozen;

/// Numbers of a frame: so many numbers of `b` bits take `b` words.
const FRAME: usize = 64;

/// The low bits of a frame's second word: the place of its first word.
const PLACE_BITS: u32 = 40;

/// The place of a frame's first word, from the frame's second word.
#[inline]
fn place(head: u64) -> usize {
    (head & ((1 << PLACE_BITS) - 1)) as usize
}

/// A packed array over the memory of a file.
///
/// Nothing of it is verified when the file is opened: each access checks the places that it reads.
#[derive(Debug)]
pub(super) struct Packed {
    words: Frozen<u64>,
    len: usize,
}

impl Packed {
    /// An array of `len` numbers in these words; `None` where the words have another number of frames.
    pub fn new(words: Frozen<u64>, len: usize) -> Option<Self> {
        let heads = len.div_ceil(FRAME).checked_mul(2)?;
        // The first frame's words follow the heads of all frames.
        let found = words.get(1).map_or(0, |head| place(*head));
        (words.len() >= heads && found == heads).then_some(Self { words, len })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// A number. `None` behind the last one, and where a damaged file leads outside of the array.
    #[inline]
    pub fn get(&self, at: usize) -> Option<u64> {
        if at >= self.len {
            return None;
        }
        let frame = at / FRAME * 2;
        let (least, head) = (*self.words.get(frame)?, *self.words.get(frame + 1)?);
        let place = place(head);
        let [.., shift, width, index] = head.to_le_bytes();
        let difference = match index {
            0 => self.bits(place, at % FRAME, width)?,
            _ => {
                let position = self.bits(place, at % FRAME, index)? as usize;
                self.bits(place.checked_add(index.into())?, position, width)?
            }
        };
        Some(least.wrapping_add(difference.unbounded_shl(shift.into())))
    }

    /// Item `at` of those with `width` bits, from the word at `place` on.
    #[inline]
    fn bits(&self, place: usize, at: usize, width: u8) -> Option<u64> {
        if width == 0 {
            return Some(0);
        }
        let above = 64_u32.checked_sub(width.into())?;
        let bit = at.checked_mul(width.into())?;
        let (word, offset) = (place.checked_add(bit / 64)?, (bit % 64) as u32);
        let mut bits = *self.words.get(word)? >> offset;
        if offset > above {
            bits |= *self.words.get(word + 1)? << (64 - offset);
        }
        Some(bits & u64::MAX >> above)
    }

    pub fn iter(&self) -> impl Iterator<Item = Option<u64>> {
        (0..self.len).map(|at| self.get(at))
    }
}

/// The words of a packed array with these numbers, little-endian.
pub(super) fn pack(numbers: &[u64]) -> Vec<u8> {
    let frames = numbers.chunks(FRAME);
    let mut words = alloc::vec![0; 2 * frames.len()];
    for (frame, numbers) in frames.enumerate() {
        let least = numbers.iter().copied().min().unwrap_or(0);
        let place = words.len() as u64;
        let [shift, width, index] = pack_frame(numbers, least, &mut words);
        words[2 * frame] = least;
        words[2 * frame + 1] = place
            | u64::from(shift) << PLACE_BITS
            | u64::from(width) << (PLACE_BITS + 8)
            | u64::from(index) << (PLACE_BITS + 16);
    }
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Appends a frame's words; returns the shift, the width of a difference, and the width of a position, 0 without positions.
fn pack_frame(numbers: &[u64], least: u64, words: &mut Vec<u64>) -> [u8; 3] {
    let different = numbers.iter().fold(0, |all, number| all | (number - least));
    let shift = if different == 0 { 0 } else { different.trailing_zeros() };
    let width = 64 - (different >> shift).leading_zeros();
    let differences: Vec<u64> = numbers.iter().map(|number| (number - least) >> shift).collect();
    let mut distinct = differences.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let index = (distinct.len() - 1).checked_ilog2().map_or(0, |log| log + 1);
    let with_positions = index + (distinct.len() as u32 * width).div_ceil(64);
    if with_positions < width {
        let position = |number| distinct.partition_point(|it| it < number) as u64;
        let positions: Vec<u64> = differences.iter().map(position).collect();
        append(&positions, index, FRAME, words);
        append(&distinct, width, distinct.len(), words);
        return [shift as u8, width as u8, index as u8];
    }
    append(&differences, width, FRAME, words);
    [shift as u8, width as u8, 0]
}

/// Appends numbers of `width` bits, in the words that `count` of them take.
fn append(numbers: &[u64], width: u32, count: usize, words: &mut Vec<u64>) {
    if width == 0 {
        return;
    }
    let place = words.len();
    words.resize(place + (count * width as usize).div_ceil(64), 0);
    for (i, number) in numbers.iter().enumerate() {
        let bit = i * width as usize;
        let (word, offset) = (place + bit / 64, (bit % 64) as u32);
        words[word] |= number << offset;
        if offset + width > 64 {
            words[word + 1] |= number >> (64 - offset);
        }
    }
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;
    use crate::table::file::memory;

    fn packed(bytes: &[u8], len: usize) -> Option<Packed> {
        // A lent array has a word behind it.
        let lender = memory::copied(&[bytes, &[0; 8]].concat()).ok()?;
        Packed::new(Frozen::lent(&lender, 0, bytes.len() / 8)?, len)
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let mut random = 1_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for count in [0, 1, 2, 63, 64, 65, 128, 500] {
            for bits in 0..=64 {
                for distinct in [1_u64, 2, 5, 40, u64::MAX] {
                    let mask = u64::MAX.unbounded_shr(64 - bits);
                    let number = next().wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    let mut value = || (next() % distinct).wrapping_mul(number) & mask;
                    let numbers: Vec<u64> = (0..count).map(|_| value() << (bits % 3)).collect();
                    let array = packed(&pack(&numbers), count).unwrap();
                    assert!(array.iter().eq(numbers.iter().copied().map(Some)), "{numbers:?}");
                    assert_eq!(array.get(count), None);
                }
            }
        }
    }

    #[test]
    fn equal_and_rising_numbers_take_few_words() {
        // A head of two words a frame, and nothing else.
        assert_eq!(pack(&[7; 6400]).len(), 6400 / 64 * 16);
        let rising: Vec<u64> = (0..6400).map(|i| i << 12).collect();
        assert_eq!(pack(&rising).len(), 6400 / 64 * (16 + 6 * 8));
        // Two values of 30 bits: a bit a number, and a word for both.
        let two: Vec<u64> = (0..6400).map(|i| (i & 1) * 0x3fff_ffff).collect();
        assert_eq!(pack(&two).len(), 6400 / 64 * (16 + 2 * 8));
    }

    #[test]
    fn damaged_words_lead_nowhere_or_to_other_numbers() {
        let numbers: Vec<u64> = (0..200).map(|i| i * i * 77 % 1000).collect();
        let bytes = pack(&numbers);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let Some(array) = packed(&damaged, numbers.len()) else { continue };
                assert_eq!(array.iter().count(), numbers.len());
            }
        }
        assert!(packed(&bytes[..48], 200).is_none());
        assert!(packed(&bytes, 192).is_none() && packed(&bytes, 257).is_none());
    }
}
