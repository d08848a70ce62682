//! The pieces of an array: each a power of two of units that entries lead to, stored once for equal
//! contents, with the number of its references.

use alloc::vec::Vec;

use hashbrown::HashTable;

use crate::mem::{Frozen, OutOfMemory, Owner, Plain, bytes_of};

/// Units of an array that an entry leads to: `1 << log2` from unit `start` on.
///
/// A piece of at most as many units as the array's alignment is aligned to its size, a longer one
/// to the alignment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Piece {
    pub start: u32,
    pub log2: u8,
    /// Pieces of different kinds are different, whatever their contents.
    pub kind: u8,
}

impl Piece {
    pub fn units(self) -> usize {
        1 << self.log2
    }
}

/// A piece, and what an index knows of it.
#[derive(Clone, Copy, Debug)]
struct Known {
    piece: Piece,
    /// Number of entries that lead to it; 0 for a vacant position.
    references: u32,
    /// Hash of its kind and content.
    hash: u64,
}

/// Why a piece has no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Full {
    /// Entries cannot name more places.
    Places,
    /// The system has no memory.
    Memory,
}

/// An array that grows.
pub(super) trait Array<T: Plain> {
    /// The items in use.
    fn items(&self) -> &[T];

    /// Uses `count` more items.
    ///
    /// # Errors
    /// When memory runs out.
    fn grow(&mut self, count: usize) -> Result<(), Full>;

    /// Writes items that no entry leads to yet.
    fn write(&mut self, at: usize, items: &[T]);
}

impl<T: Plain + Default> Array<T> for Vec<T> {
    fn items(&self) -> &[T] {
        self
    }

    fn grow(&mut self, count: usize) -> Result<(), Full> {
        self.try_reserve(count).map_err(|_| Full::Memory)?;
        self.resize(self.len() + count, T::default());
        Ok(())
    }

    fn write(&mut self, at: usize, items: &[T]) {
        self[at..][..items.len()].copy_from_slice(items);
    }
}

impl<T: Plain> Array<T> for Owner<T> {
    fn items(&self) -> &[T] {
        self
    }

    fn grow(&mut self, count: usize) -> Result<(), Full> {
        self.extend(count).map(drop).ok_or(Full::Memory)
    }

    fn write(&mut self, at: usize, items: &[T]) {
        // SAFETY: no entry leads to these items: their place is new, or was freed after the last
        // reader that could reach it had ended.
        unsafe { Owner::write(self, at, items) };
    }
}

/// Arrays of at least this size in bytes are in huge pages.
const HUGE: usize = 4 << 20;

/// An array that never changes, in huge pages if it fills some.
///
/// # Errors
/// When memory is short.
pub(super) fn frozen<T: Plain>(items: &[T]) -> Result<Frozen<T>, OutOfMemory> {
    if size_of_val(items) < HUGE {
        return Frozen::of(items);
    }
    let mut array = Frozen::huge(items.len())?;
    array.copy_from_slice(items);
    Ok(array)
}

/// Fills a piece of a page with a code of `unit` bytes.
pub(super) fn fill_codes(bytes: &mut [u8], unit: usize, code: u32) {
    let code = code.to_le_bytes();
    match unit {
        1 => bytes.fill(code[0]),
        2 => bytes.as_chunks_mut().0.fill([code[0], code[1]]),
        3 => bytes.as_chunks_mut().0.fill([code[0], code[1], code[2]]),
        _ => bytes.as_chunks_mut().0.fill(code),
    }
}

/// Exclusive upper bound on the logarithms of sizes.
const SIZES: usize = 28;
/// Units freed since neighbours were last joined, on top of one part of the array in this many,
/// from which on they are joined again before the array grows.
const FREED: usize = 1 << 12;
const FREED_PART: usize = 32;

/// The pieces of an array.
///
/// O(content) to insert, expected O(1) to find; O(n log n) for `n` free pieces when neighbours are
/// joined.
#[derive(Debug)]
pub(super) struct Pieces<T: Plain, A> {
    array: A,
    /// Items in a unit.
    unit: usize,
    /// log2 of the greatest alignment of a piece, in units.
    align: u8,
    /// The most units of the array.
    limit: usize,
    known: Vec<Known>,
    /// Vacant positions in `known`.
    vacant: Vec<u32>,
    /// Positions in `known`, by kind and content.
    by_content: HashTable<u32>,
    /// Positions in `known`, by start. Empty unless pieces are to be found by it.
    by_start: Option<HashTable<u32>>,
    /// Starts of free pieces of `1 << i` units.
    free: [Vec<u32>; SIZES],
    /// Units freed since neighbours were joined.
    freed: usize,
    item: core::marker::PhantomData<T>,
}

/// A piece with one more reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    /// Its position among the pieces.
    pub at: u32,
    pub piece: Piece,
    /// Whether it existed already.
    pub is_known: bool,
}

impl<T: Plain, A: Array<T>> Pieces<T, A> {
    /// No pieces, behind the items that the array has.
    ///
    /// Their number is a multiple of the alignment of `1 << align` units of `unit` items.
    pub fn new(array: A, unit: usize, align: u8, limit: usize) -> Self {
        debug_assert!(array.items().len().is_multiple_of(unit << align));
        Self {
            array,
            unit,
            align,
            limit,
            known: Vec::new(),
            vacant: Vec::new(),
            by_content: HashTable::new(),
            by_start: None,
            free: [const { Vec::new() }; SIZES],
            freed: 0,
            item: core::marker::PhantomData,
        }
    }

    /// Takes over the pieces of an array, with their numbers of references. All other units from
    /// `first` on are free. These pieces can be found by their starts.
    pub fn with(mut self, first: u32, mut pieces: Vec<(Piece, u32)>) -> Self {
        pieces.sort_unstable();
        let mut at = first;
        self.by_start = Some(HashTable::with_capacity(pieces.len()));
        for (piece, references) in pieces {
            self.free_units(at, piece.start);
            at = piece.start + piece.units() as u32;
            let hash = hash(piece.kind, self.content(piece));
            self.add(Known { piece, references, hash });
        }
        self.free_units(at, (self.array.items().len() / self.unit) as u32);
        self.freed = 0;
        self
    }

    /// Finds or adds a piece with this content, a power of two of units, and counts one more
    /// reference.
    ///
    /// # Errors
    /// When the array cannot grow any more.
    pub fn insert(&mut self, kind: u8, items: &[T]) -> Result<Stored, Full> {
        debug_assert!((items.len() / self.unit).is_power_of_two());
        let hash = hash(kind, items);
        let same = |at: &u32| {
            let piece = self.known[*at as usize].piece;
            piece.kind == kind
                && piece.units() * self.unit == items.len()
                && self.content(piece) == items
        };
        if let Some(at) = self.by_content.find(hash, same).copied() {
            let known = &mut self.known[at as usize];
            known.references += 1;
            return Ok(Stored { at, piece: known.piece, is_known: true });
        }
        let log2 = (items.len() / self.unit).ilog2() as u8;
        let start = self.place(log2)?;
        self.array.write(start as usize * self.unit, items);
        let piece = Piece { start, log2, kind };
        let at = self.add(Known { piece, references: 1, hash });
        Ok(Stored { at, piece, is_known: false })
    }

    /// Adds a piece that no other content is found equal to, and counts one reference. Its items are
    /// arbitrary until they are written, before an entry leads to the piece.
    ///
    /// # Errors
    /// When the array cannot grow any more.
    pub fn reserve(&mut self, kind: u8, log2: u8) -> Result<Stored, Full> {
        let piece = Piece { start: self.place(log2)?, log2, kind };
        let at = self.add(Known { piece, references: 1, hash: 0 });
        self.forget_content(at);
        Ok(Stored { at, piece, is_known: false })
    }

    fn add(&mut self, known: Known) -> u32 {
        let at = self.vacant.pop().unwrap_or(self.known.len() as u32);
        match self.known.get_mut(at as usize) {
            Some(vacant) => *vacant = known,
            None => self.known.push(known),
        }
        let all = &self.known;
        self.by_content.insert_unique(known.hash, at, |at| all[*at as usize].hash);
        if let Some(by_start) = &mut self.by_start {
            let hash = |at: &u32| hash_of(all[*at as usize].piece.start);
            by_start.insert_unique(hash_of(known.piece.start), at, hash);
        }
        at
    }

    /// The position of the piece that begins at `start`. Only for pieces that were taken over, and
    /// those inserted since.
    pub fn find(&self, start: u32) -> Option<u32> {
        let same = |at: &u32| self.known[*at as usize].piece.start == start;
        self.by_start.as_ref()?.find(hash_of(start), same).copied()
    }

    /// A piece by its position.
    pub fn piece(&self, at: u32) -> Piece {
        self.known[at as usize].piece
    }

    /// The number of references of a piece by its position.
    pub fn references(&self, at: u32) -> u32 {
        self.known[at as usize].references
    }

    /// Adds references.
    pub fn retain(&mut self, at: u32, count: u32) {
        self.known[at as usize].references += count;
    }

    /// Removes a reference. The last one removes and returns the piece, whose content remains until
    /// it is freed.
    pub fn release(&mut self, at: u32) -> Option<Piece> {
        let known = &mut self.known[at as usize];
        known.references -= 1;
        if known.references > 0 {
            return None;
        }
        let piece = known.piece;
        self.forget_content(at);
        if let Some(by_start) = &mut self.by_start
            && let Ok(entry) = by_start.find_entry(hash_of(piece.start), |other| *other == at)
        {
            entry.remove();
        }
        self.vacant.push(at);
        Some(piece)
    }

    /// Lets no other content be found equal to that of a piece, which is about to change in place.
    pub fn forget_content(&mut self, at: u32) {
        let hash = self.known[at as usize].hash;
        if let Ok(entry) = self.by_content.find_entry(hash, |other| *other == at) {
            entry.remove();
        }
    }

    /// Makes the units of a removed piece usable again.
    pub fn free(&mut self, piece: Piece) {
        self.free[usize::from(piece.log2)].push(piece.start);
        self.freed += piece.units();
    }

    /// The content of a piece.
    pub fn content(&self, piece: Piece) -> &[T] {
        &self.array.items()[piece.start as usize * self.unit..][..piece.units() * self.unit]
    }

    /// The array.
    pub fn array(&self) -> &A {
        &self.array
    }

    /// The array, to change the content of pieces in place.
    pub fn array_mut(&mut self) -> &mut A {
        &mut self.array
    }

    /// The array without the account.
    pub fn into_array(self) -> A {
        self.array
    }

    /// All pieces with their numbers of references.
    pub fn iter(&self) -> impl Iterator<Item = (Piece, u32)> {
        let live = self.known.iter().filter(|known| known.references > 0);
        live.map(|known| (known.piece, known.references))
    }

    /// The free pieces.
    pub fn unused(&self) -> impl Iterator<Item = Piece> {
        let sized = self.free.iter().zip(0..);
        let piece = |log2| move |start: &u32| Piece { start: *start, log2, kind: 0 };
        sized.flat_map(move |(starts, log2)| starts.iter().map(piece(log2)))
    }

    /// Number of pieces.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.known.len() - self.vacant.len()
    }

    /// Bytes of the array in use, and of the free pieces among them.
    pub fn used_and_unused(&self) -> (usize, usize) {
        let units: usize = self.free.iter().zip(0..).map(|(list, log2)| list.len() << log2).sum();
        (size_of_val(self.array.items()), units * self.unit * size_of::<T>())
    }

    /// Finds a place for `1 << log2` units.
    fn place(&mut self, log2: u8) -> Result<u32, Full> {
        let many = FREED + self.array.items().len() / self.unit / FREED_PART;
        let mut found = self.take(log2);
        if found.is_none() && self.freed > many {
            self.join();
            found = self.take(log2);
        }
        let (larger, start) = match found {
            Some(found) => found,
            None => match self.grow(log2) {
                Ok(grown) => grown,
                Err(full) => {
                    self.join();
                    self.take(log2).ok_or(full)?
                }
            },
        };
        for half in (usize::from(log2)..larger).rev() {
            self.free[half].push(start + (1 << half));
        }
        Ok(start)
    }

    /// Takes the least free piece of at least `1 << log2` units: its size and its start.
    fn take(&mut self, log2: u8) -> Option<(usize, u32)> {
        (usize::from(log2)..SIZES).find_map(|size| Some((size, self.free[size].pop()?)))
    }

    /// Adds a piece of at least `1 << log2` units to the array: its size and its start.
    fn grow(&mut self, log2: u8) -> Result<(usize, u32), Full> {
        let size = usize::from(log2.max(self.align));
        let start = self.array.items().len() / self.unit;
        if start + (1 << size) > self.limit {
            return Err(Full::Places);
        }
        self.array.grow(self.unit << size)?;
        Ok((size, start as u32))
    }

    /// Joins free neighbours.
    fn join(&mut self) {
        let mut free: Vec<Piece> = self.unused().collect();
        self.free.iter_mut().for_each(Vec::clear);
        free.sort_unstable();
        let end = |piece: &Piece| piece.start + piece.units() as u32;
        for run in free.chunk_by(|a, b| end(a) == b.start) {
            self.free_units(run[0].start, end(&run[run.len() - 1]));
        }
        self.freed = 0;
    }

    /// Frees units in the largest pieces that are aligned.
    fn free_units(&mut self, mut from: u32, to: u32) {
        while from < to {
            let most = (to - from).ilog2() as u8;
            let aligned = from.trailing_zeros() as u8;
            let log2 = if aligned >= self.align { most } else { most.min(aligned) };
            let log2 = log2.min(SIZES as u8 - 1);
            self.free(Piece { start: from, log2, kind: 0 });
            from += 1 << log2;
        }
    }
}

fn hash_of(start: u32) -> u64 {
    mix(0, start.into())
}

fn mix(hash: u64, word: u64) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let hash = (hash ^ word).wrapping_mul(K);
    // The table uses the top bits and the bottom ones.
    hash ^ hash >> 32
}

/// Hashes 8 bytes at a time. Pieces with the same hash are compared, so distribution suffices.
fn hash<T: Plain>(kind: u8, items: &[T]) -> u64 {
    let (words, rest) = bytes_of(items).as_chunks::<8>();
    let mut hash = mix(kind.into(), size_of_val(items) as u64);
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    rest.iter().fold(hash, |hash, byte| mix(hash, (*byte).into()))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn pieces(limit: usize) -> Pieces<u8, Vec<u8>> {
        Pieces::new(Vec::new(), 1, 6, limit)
    }

    #[test]
    fn equal_contents_of_a_kind_are_one() {
        let mut pieces = pieces(1 << 20);
        for kind in 0..3 {
            let first = pieces.insert(kind, &[1; 64]).unwrap();
            assert!(!first.is_known);
            for (byte, is_known) in [(1, true), (2, false), (1, true)] {
                let next = pieces.insert(kind, &[byte; 64]).unwrap();
                assert_eq!((next.is_known, next.at == first.at), (is_known, is_known));
            }
        }
        let references: Vec<u32> = pieces.iter().map(|it| it.1).collect();
        assert_eq!(references, [3, 1, 3, 1, 3, 1]);
        assert!(pieces.release(0).is_none() && pieces.release(1).is_some());
        pieces.insert(0, &[7; 32]).unwrap();
        assert!(!pieces.insert(0, &[7; 16]).unwrap().is_known, "the beginning of another piece");
    }

    /// Pieces of a fresh line, of a freed one, and of joined neighbours.
    #[test]
    fn places_are_used_again() {
        let mut pieces = Pieces::new(Vec::<u8>::new(), 3, 2, 1 << 20);
        let starts = [2, 1, 4, 1, 8].map(|units| {
            let content: Vec<u8> = (0..3 * units).map(|i| units * 16 + i).collect();
            pieces.insert(units, &content).unwrap().piece.start
        });
        // The second of one unit is the first.
        assert_eq!(starts, [0, 2, 4, 2, 8]);
        assert_eq!(pieces.used_and_unused(), (3 * 16, 3));
        for at in [0, 1, 1, 2, 3] {
            if let Some(piece) = pieces.release(at) {
                pieces.free(piece);
            }
        }
        pieces.join();
        assert_eq!(pieces.unused().collect::<Vec<_>>(), [Piece { start: 0, log2: 4, kind: 0 }]);
        assert_eq!((pieces.count(), pieces.insert(0, &[0; 3]).unwrap().piece.start), (0, 0));
    }

    #[test]
    fn pieces_are_taken_over() {
        let array: Vec<u32> = (0..64).collect();
        let taken = vec![
            (Piece { start: 40, log2: 3, kind: 1 }, 2),
            (Piece { start: 32, log2: 1, kind: 2 }, 1),
        ];
        let mut pieces = Pieces::new(array, 1, 5, 1 << 20).with(32, taken);
        assert_eq!(pieces.find(40).map(|at| pieces.references(at)), Some(2));
        assert_eq!(pieces.find(32).map(|at| pieces.piece(at).log2), Some(1));
        assert_eq!(pieces.find(33), None);
        let unused: Vec<(u32, u8)> = pieces.unused().map(|it| (it.start, it.log2)).collect();
        assert_eq!(unused, [(34, 1), (36, 2), (48, 4)]);
        let equal: Vec<u32> = (40..48).collect();
        assert!(pieces.insert(1, &equal).unwrap().is_known);
        let at = pieces.find(40).unwrap();
        pieces.forget_content(at);
        assert!(!pieces.insert(1, &equal).unwrap().is_known);
        assert_eq!((0..3).find_map(|_| pieces.release(at)).map(|it| it.start), Some(40));
        assert_eq!(pieces.find(40), None);
    }

    #[test]
    fn reserved_pieces_are_equal_to_no_other() {
        let mut pieces = pieces(1 << 20);
        let first = pieces.reserve(0, 2).unwrap().piece;
        pieces.array_mut()[first.start as usize..][..4].fill(7);
        let second = pieces.reserve(0, 2).unwrap().piece;
        assert_ne!(first.start, second.start);
        assert!(!pieces.insert(0, &[7; 4]).unwrap().is_known);
        assert_eq!(pieces.iter().map(|it| it.1).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(pieces.release(0), Some(first));
        pieces.free(first);
        assert_eq!(pieces.reserve(1, 2).unwrap().piece.start, first.start);
    }

    /// D5: the last place is usable; a refused piece has no effect.
    #[test]
    fn a_full_array_refuses() {
        let mut pieces = pieces(128);
        pieces.insert(0, &[1; 64]).unwrap();
        pieces.insert(0, &[1; 32]).unwrap();
        for size in [64, 128] {
            assert_eq!(pieces.insert(0, &vec![2; size]).err(), Some(Full::Places));
        }
        pieces.insert(0, &[2; 32]).unwrap();
        assert_eq!(pieces.insert(0, &[2; 1]).err(), Some(Full::Places));
        assert_eq!(pieces.used_and_unused(), (128, 0));
    }
}
