//! The store of pages: each content once, with the number of entries that lead to it.

use alloc::vec::Vec;

use hashbrown::HashTable;

use super::layout::MAX_CODES;
use crate::mem::LINE;

/// Kind of a page. Pages of codes mean the same at every level; a branch page leads to pages whose
/// slots are numbered by the window of the level below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Codes,
    /// A page of codes of which some escape. Escapes belong to places, so the page is not shared by
    /// its content.
    Escaping,
    /// A branch page of this level.
    Branch(u8),
}

/// A page: `1 << log2_bytes` bytes from `start`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Page {
    pub start: u32,
    pub log2_bytes: u8,
    pub kind: Kind,
    /// Number of entries that lead to it.
    pub references: u32,
    /// Hash of kind and content.
    pub hash: u64,
}

impl Page {
    pub fn bytes(&self) -> usize {
        1 << self.log2_bytes
    }
}

/// The memory that holds the bytes of pages.
pub(super) trait Lines {
    /// Returns all bytes of a page.
    fn page(&self, page: &Page) -> &[u8];
    /// Writes a page that no entry leads to yet.
    fn write(&mut self, start: u32, page: &[u8]);
    /// Adds bytes and returns their start.
    ///
    /// # Errors
    /// When all bytes together would exceed the limit, or memory runs out.
    fn grow(&mut self, bytes: usize, limit: usize) -> Result<u32, Full>;
}

impl Lines for Vec<u8> {
    fn page(&self, page: &Page) -> &[u8] {
        &self[page.start as usize..][..page.bytes()]
    }

    fn write(&mut self, start: u32, page: &[u8]) {
        self[start as usize..][..page.len()].copy_from_slice(page);
    }

    fn grow(&mut self, bytes: usize, limit: usize) -> Result<u32, Full> {
        let start = u32::try_from(self.len()).map_err(|_| Full::Places)?;
        let end = self.len() + bytes;
        if end > limit || u32::try_from(end).is_err() {
            return Err(Full::Places);
        }
        self.try_reserve(bytes).map_err(|_| Full::Memory)?;
        self.resize(end, 0);
        Ok(start)
    }
}

/// Exclusive upper bound on the logarithms of page sizes.
const SIZES: usize = 3 + 24;

/// Pages under construction, and later their account.
///
/// Pages smaller than a cache line share one: a line is halved until it fits, and the free halves
/// go to the list of their size. So do the pieces of removed pages.
#[derive(Debug, Default)]
pub(super) struct Store<L = Vec<u8>> {
    /// All pages; those without an entry are removed.
    pages: Vec<Page>,
    /// Vacant positions in `pages`.
    vacant: Vec<u32>,
    /// Positions in `pages`, found by content.
    by_content: HashTable<u32>,
    /// Starts of unused pieces of `1 << i` bytes.
    free: [Vec<u32>; SIZES],
    /// The bytes of the pages, in whole cache lines.
    lines: L,
}

/// Positions of pages and unused pieces.
#[derive(Debug)]
pub(super) struct Account {
    pub pages: Vec<Page>,
    /// Starts and sizes of the pieces between pages.
    pub unused: Vec<(u32, usize)>,
}

/// An inserted page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    /// Its position among the pages.
    pub at: u32,
    /// Its first byte.
    pub start: u32,
    /// Whether it existed already.
    pub known: bool,
}

/// Why a page cannot be placed.
#[derive(Debug)]
pub(super) enum Full {
    /// Entries cannot name more places.
    Places,
    /// The system has no memory.
    Memory,
}

impl<L: Lines> Store<L> {
    /// Finds or adds a page with these bytes, and counts one more entry to it.
    ///
    /// The number of bytes is a power of two. `code_bytes` is the unit of places.
    pub fn insert(&mut self, kind: Kind, bytes: &[u8], code_bytes: usize) -> Result<Stored, Full> {
        self.insert_within(kind, bytes, MAX_CODES * code_bytes)
    }

    /// [`Store::insert`] with a limit on the bytes of all pages.
    pub fn insert_within(
        &mut self,
        kind: Kind,
        bytes: &[u8],
        limit: usize,
    ) -> Result<Stored, Full> {
        debug_assert!(bytes.len().is_power_of_two());
        debug_assert!(kind != Kind::Escaping);
        let hash = hash(kind, bytes);
        let Self { pages, by_content, lines, .. } = self;
        let same = |at: &u32| {
            let page = &pages[*at as usize];
            page.kind == kind && lines.page(page) == bytes
        };
        if let Some(at) = by_content.find(hash, same) {
            let page = &mut pages[*at as usize];
            page.references += 1;
            return Ok(Stored { at: *at, start: page.start, known: true });
        }
        self.add(kind, bytes, Some(hash), limit)
    }

    /// Adds a page of [`Kind::Escaping`] with one entry, whatever its bytes.
    pub fn insert_escaping(&mut self, bytes: &[u8], limit: usize) -> Result<Stored, Full> {
        self.add(Kind::Escaping, bytes, None, limit)
    }

    fn add(
        &mut self,
        kind: Kind,
        bytes: &[u8],
        hash: Option<u64>,
        limit: usize,
    ) -> Result<Stored, Full> {
        let log2_bytes = bytes.len().ilog2() as u8;
        let vacant = self.vacant.last().copied();
        let at =
            vacant.map_or_else(|| u32::try_from(self.pages.len()), Ok).map_err(|_| Full::Places)?;
        let start = self.place(log2_bytes, limit)?;
        let hash = hash.unwrap_or_else(|| hash_of_place(start));
        let page = Page { start, log2_bytes, kind, references: 1, hash };
        self.lines.write(start, bytes);
        match self.vacant.pop() {
            Some(at) => self.pages[at as usize] = page,
            None => self.pages.push(page),
        }
        let Self { pages, by_content, .. } = self;
        by_content.insert_unique(hash, at, |at| pages[*at as usize].hash);
        Ok(Stored { at, start, known: false })
    }

    /// Removes a reference to a page, given by position; another one remains.
    pub fn release(&mut self, at: u32) {
        let page = &mut self.pages[at as usize];
        debug_assert!(page.references > 1);
        page.references -= 1;
    }

    /// Adds references to a page, given by position.
    pub fn retain(&mut self, at: u32, count: u32) {
        self.pages[at as usize].references += count;
    }

    /// Returns a page by position.
    pub fn page(&self, at: u32) -> &Page {
        &self.pages[at as usize]
    }

    /// Removes a reference to a page; the last one removes and returns the page.
    ///
    /// Its content is no longer found, but its bytes remain until the page is freed.
    pub fn release_or_remove(&mut self, at: u32) -> Option<Page> {
        let Self { pages, by_content, .. } = self;
        let page = &mut pages[at as usize];
        page.references -= 1;
        if page.references > 0 {
            return None;
        }
        let gone = *page;
        let found = by_content.find_entry(gone.hash, |other| *other == at);
        if let Ok(entry) = found {
            entry.remove();
        }
        self.vacant.push(at);
        Some(gone)
    }

    /// Finds the position of a page by kind, size and start.
    pub fn find(&self, kind: Kind, start: u32, log2_bytes: u8) -> Option<u32> {
        let page = Page { start, log2_bytes, kind, references: 0, hash: 0 };
        let hash = match kind {
            Kind::Escaping => hash_of_place(start),
            kind => hash(kind, self.lines.page(&page)),
        };
        let same = |at: &&u32| {
            let other = &self.pages[**at as usize];
            (other.start, other.kind) == (start, kind)
        };
        self.by_content.iter_hash(hash).find(same).copied()
    }

    /// Returns the content of a page.
    pub fn content(&self, page: &Page) -> &[u8] {
        self.lines.page(page)
    }

    /// Makes the bytes of a removed page reusable.
    pub fn free(&mut self, page: &Page) {
        self.free[usize::from(page.log2_bytes)].push(page.start);
    }

    /// Finds a place for a page of `1 << log2_bytes` bytes.
    fn place(&mut self, log2_bytes: u8, limit: usize) -> Result<u32, Full> {
        let size = usize::from(log2_bytes);
        let larger = (size..SIZES).find_map(|larger| Some((larger, self.free[larger].pop()?)));
        let (larger, start) = match larger {
            Some(found) => found,
            None => {
                let fresh = size.max(LINE.ilog2() as usize);
                (fresh, self.lines.grow(1 << fresh, limit)?)
            }
        };
        for half in (size..larger).rev() {
            self.free[half].push(start + (1 << half));
        }
        Ok(start)
    }

    /// All pages, in no order.
    pub fn pages(&self) -> impl Iterator<Item = &Page> {
        self.pages.iter().filter(|page| page.references > 0)
    }

    /// Starts and sizes of the unused pieces between pages.
    pub fn unused(&self) -> impl Iterator<Item = (u32, usize)> {
        let sized = self.free.iter().enumerate();
        sized.flat_map(|(log2, list)| list.iter().map(move |start| (*start, 1 << log2)))
    }

    /// Number of pages.
    pub fn page_count(&self) -> usize {
        self.pages.len() - self.vacant.len()
    }

    /// Bytes between pages.
    pub fn unused_bytes(&self) -> usize {
        self.free.iter().enumerate().map(|(log2, list)| list.len() << log2).sum()
    }

    /// Returns the bytes of the pages.
    pub fn lines(&self) -> &L {
        &self.lines
    }

    /// Returns the account.
    pub fn account(&self) -> Account {
        Account { pages: self.pages().copied().collect(), unused: self.unused().collect() }
    }

    /// Moves the account to a copy of the bytes elsewhere, with the same positions.
    pub fn moved<M>(self, lines: M) -> Store<M> {
        let Self { pages, vacant, by_content, free, .. } = self;
        Store { pages, vacant, by_content, free, lines }
    }
}

impl Store {
    /// Takes the bytes of all pages out of the store, which keeps the account.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.lines)
    }

    /// The account, for tests that falsify it.
    #[cfg(test)]
    pub fn account_mut(&mut self) -> (&mut Vec<Page>, &mut [Vec<u32>]) {
        (&mut self.pages, &mut self.free)
    }
}

/// The hash of a page that is found by its place.
fn hash_of_place(start: u32) -> u64 {
    hash(Kind::Escaping, &start.to_le_bytes())
}

/// Hashes 8 bytes at a time. Pages with the same hash are compared, so distribution suffices.
fn hash(kind: Kind, bytes: &[u8]) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let kind = match kind {
        Kind::Codes => 0,
        Kind::Escaping => u64::MAX,
        Kind::Branch(level) => 1 + u64::from(level),
    };
    let mix = |hash: u64, word: u64| ((hash ^ word).wrapping_mul(K)).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = mix(kind, bytes.len() as u64);
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    for byte in rest {
        hash = mix(hash, (*byte).into());
    }
    // The table uses the top bits and the bottom ones.
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn starts(store: &Store) -> Vec<u32> {
        store.pages().map(|page| page.start).collect()
    }

    #[test]
    fn equal_pages_of_a_kind_are_one() {
        let mut store = Store::default();
        let (a, b) = ([1; 64], [2; 64]);
        for kind in [Kind::Codes, Kind::Branch(0), Kind::Branch(1)] {
            let first = store.insert(kind, &a, 1).unwrap();
            assert!(!first.known);
            for (bytes, same) in [(&a, true), (&b, false), (&a, true)] {
                let next = store.insert(kind, bytes, 1).unwrap();
                assert_eq!(
                    (next.known, next.at == first.at, next.start == first.start),
                    (same, same, same)
                );
            }
        }
        let references: Vec<u32> = store.pages().map(|page| page.references).collect();
        assert_eq!(references, [3, 1, 3, 1, 3, 1]);
        store.release(2);
        assert_eq!(store.pages[2].references, 2);
        assert_eq!(store.take_bytes(), [a, b, a, b, a, b].concat());
    }

    /// A page is not found by its beginning alone.
    #[test]
    fn pages_of_two_sizes_differ() {
        let mut store = Store::default();
        store.insert(Kind::Codes, &[7; 32], 1).unwrap();
        store.insert(Kind::Codes, &[7; 16], 1).unwrap();
        assert_eq!(starts(&store), [0, 32]);
    }

    #[test]
    fn pieces_of_lines_are_reused() {
        let mut store = Store::default();
        let sizes = [16, 32, 128, 16, 16, 64];
        for (i, bytes) in sizes.into_iter().enumerate() {
            store.insert(Kind::Codes, &vec![i as u8; bytes], 1).unwrap();
        }
        assert_eq!(starts(&store), [0, 32, 64, 16, 192, 256]);
        let unused: Vec<_> = store.unused().collect();
        assert_eq!(unused, [(208, 16), (224, 32)]);
        assert_eq!(store.take_bytes().len(), 320);
    }

    /// D5: the last place is usable; a refused page has no effect.
    #[test]
    fn a_full_store_refuses() {
        let mut store = Store::<Vec<u8>>::default();
        assert_eq!(store.place(6, 128).unwrap(), 0);
        assert_eq!(store.place(5, 128).unwrap(), 64);
        for log2_bytes in [6, 7, 13] {
            assert!(store.place(log2_bytes, 128).is_err());
        }
        assert_eq!(store.place(4, 128).unwrap(), 96);
        assert_eq!(store.place(4, 128).unwrap(), 112);
        assert!(store.place(4, 128).is_err());
        assert_eq!((store.unused().count(), store.lines.len()), (0, 128));
    }
}
