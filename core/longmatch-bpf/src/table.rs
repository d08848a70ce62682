//! Tables as the words that programs in the kernel read.

use std::fmt;

use longmatch::{Bits, Family, Ipv4, Ipv6, Prefix, Ranges, Rib, Route};

use crate::build_error::BuildError;
use crate::layout::{
    LineForm, ROOT_BITS_4, ROOT_BITS_6, ROOT_WORDS, STEPS_4, STEPS_6, Search, Shape, TAIL,
};
use crate::pool::{Block, Cell, Pool, Run};

/// Tables of both families, laid out for programs in the kernel.
///
/// Values are the ids of next hops; 0 is no match. Building takes O(routes), and equal tables give equal words.
///
/// ```
/// use longmatch::{Ipv4, Ipv6, NextHopId, Rib};
/// use longmatch_bpf::KernelTable;
///
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(7).unwrap())?;
/// let table = KernelTable::build(&[(&rib, &Rib::<Ipv6>::new())])?;
/// assert_eq!(table.lookup(0, "10.1.2.3".parse()?), 7);
/// assert_eq!(table.lookup(0, "192.0.2.1".parse()?), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct KernelTable {
    shape: Shape,
    pool: Pool,
}

/// The routes of a table: IPv4 and IPv6.
pub type Routes<'r> = (&'r Rib<Ipv4>, &'r Rib<Ipv6>);

impl KernelTable {
    /// Builds tables, in the smallest shape with some room for changes.
    ///
    /// # Errors
    /// If they exceed a limit of the layout.
    pub fn build(tables: &[Routes<'_>]) -> Result<Self, BuildError> {
        let values = tables.iter().map(|(v4, v6)| v4.max_next_hop().max(v6.max_next_hop())).max();
        let value_bytes = match values.unwrap_or(0) {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        };
        let pool = build(tables, value_bytes, crate::layout::MAX_CAPACITY)?;
        let bytes = pool.words.len() * 4;
        let wanted = (bytes + bytes / 16 + (1 << 16)).next_power_of_two();
        let capacity = wanted.min(crate::layout::MAX_CAPACITY as usize);
        let shape = Shape::new(tables.len() as u32, value_bytes, capacity as u32);
        let shape = shape.map_err(|_| BuildError::Tables { tables: tables.len() })?;
        let mut pool = pool;
        pool.set_capacity(shape.capacity());
        Ok(Self { shape, pool })
    }

    /// Builds tables in a shape, to replace others of this shape.
    ///
    /// # Errors
    /// If they do not fit into it: their number, a value, or their size.
    pub fn build_for(shape: Shape, tables: &[Routes<'_>]) -> Result<Self, BuildError> {
        if tables.len() != shape.tables() as usize {
            return Err(BuildError::Tables { tables: tables.len() });
        }
        Ok(Self { shape, pool: build(tables, shape.value_bytes(), shape.capacity())? })
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Bytes in use; the map has [`Shape::value_size`].
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.pool.words.len() * 4
    }

    /// The value of an address in a table, as a program finds it: 0 for no match.
    ///
    /// An IPv4 address mapped into IPv6 is an IPv6 address here.
    #[must_use]
    pub fn lookup(&self, table: u32, addr: std::net::IpAddr) -> u32 {
        let search = Search { words: &*self.pool.words, shape: self.shape };
        match addr {
            _ if table >= self.shape.tables() => 0,
            std::net::IpAddr::V4(addr) => search.lookup4(table, addr.to_bits()),
            std::net::IpAddr::V6(addr) => search.lookup6(table, addr.to_bits()),
        }
    }

    /// The words of the map's value, but for its free middle: the first ones, and those of the header at the capacity.
    #[must_use]
    pub fn words(&self) -> (&[u32], [u32; 6]) {
        (&self.pool.words, self.shape.header(self.pool.words.len()))
    }

    /// The table that has these first words. Contents of its pages and lines are not known: changes store them again.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_words(shape: Shape, words: Vec<u32>) -> Self {
        let mut pool = Pool::new(0, shape.value_bytes(), shape.capacity());
        pool.words = words;
        Self { shape, pool }
    }

    /// The whole value of the map, in the host's byte order.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            self.pool.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.resize(self.shape.capacity() as usize, 0);
        bytes.extend(self.words().1.iter().flat_map(|word| word.to_ne_bytes()));
        bytes.resize((self.shape.capacity() + TAIL) as usize, 0);
        bytes
    }

    /// Follows a change of the routes of a prefix: what the RIB has for it now.
    ///
    /// New pages and lines take free space; what they replace is not used again in this version. So programs that are in the
    /// middle of a search find either answer. [`Patch`] has what to store. A prefix shorter than the root's bits (17 and 16)
    /// changes several words, one after the other. O(routes of the slots of the root that the prefix overlaps).
    ///
    /// # Errors
    /// If there is no room, or a value is too great; the table answers as before. Build it again then.
    ///
    /// # Panics
    /// If there is no such table.
    pub fn change<F: KernelFamily>(
        &mut self,
        table: u32,
        rib: &Rib<F>,
        prefix: Prefix<F>,
    ) -> Result<Patch, BuildError> {
        assert!(table < self.shape.tables(), "there is no table {table}");
        let bits = F::ROOT_BITS as u8;
        let first_new = self.pool.words.len();
        let mut builder = Builder::<F>::new(&mut self.pool, self.shape.max_value());
        let (first, last) = (slot_of::<F>(prefix.first()), slot_of::<F>(prefix.last()));
        for slot in first..=last {
            let start = F::Bits::from_u128(u128::from(slot) << (F::Bits::WIDTH - bits));
            builder.ranges(slot_ranges(rib, Prefix::from_bits_masked(start, bits)))?;
        }
        builder.flush()?;
        let root = self.shape.roots(table)[F::ROOT] as usize / 4;
        let roots: Vec<_> = builder.roots.iter().map(|(slot, word)| (root + slot, *word)).collect();
        roots.iter().for_each(|(place, word)| self.pool.words[*place] = *word);
        let new = self.pool.words[first_new..].to_vec();
        Ok(Patch { first_new, new, roots })
    }
}

impl fmt::Debug for KernelTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelTable")
            .field("shape", &self.shape)
            .field("used_bytes", &self.used_bytes())
            .finish()
    }
}

/// What a change stores: new words in free space first, then words of the root.
///
/// ```
/// use longmatch::{Ipv4, Ipv6, NextHopId, Rib};
/// use longmatch_bpf::KernelTable;
///
/// let mut rib = Rib::<Ipv4>::new();
/// let mut table = KernelTable::build(&[(&rib, &Rib::<Ipv6>::new())])?;
/// let host = "192.0.2.1/32".parse()?;
/// rib.insert(host, NextHopId::new(3).unwrap())?;
/// let patch = table.change(0, &rib, host)?;
/// assert_eq!(patch.roots.len(), 1);
/// assert_eq!(table.lookup(0, "192.0.2.1".parse()?), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Patch {
    /// The place of the first new word.
    pub first_new: usize,
    /// The new words.
    pub new: Vec<u32>,
    /// The places of words of the root, and the words; they are stored last.
    pub roots: Vec<(usize, u32)>,
}

fn build(tables: &[Routes<'_>], value_bytes: u32, capacity: u32) -> Result<Pool, BuildError> {
    let mut pool = Pool::new(ROOT_WORDS as usize * tables.len(), value_bytes, capacity);
    let max_value = u32::MAX >> (32 - 8 * value_bytes);
    for (number, (v4, v6)) in tables.iter().enumerate() {
        let root = number * ROOT_WORDS as usize;
        whole(&mut pool, max_value, v4, root)?;
        whole(&mut pool, max_value, v6, root + (1 << ROOT_BITS_4))?;
    }
    Ok(pool)
}

/// Builds the root of a family, and all below it.
fn whole<F: KernelFamily>(
    pool: &mut Pool,
    max_value: u32,
    rib: &Rib<F>,
    root: usize,
) -> Result<(), BuildError> {
    let mut builder = Builder::<F>::new(pool, max_value);
    let value = |range: longmatch::Range<F>| range.next_hop().map_or(0, |id| id.get());
    builder
        .ranges(rib.ranges().coalesced().map(|range| (range.first, range.last, value(range))))?;
    builder.flush()?;
    let roots = builder.roots;
    roots.into_iter().for_each(|(slot, word)| pool.words[root + slot] = word);
    Ok(())
}

/// The slot of the root that an address is in.
pub(crate) fn slot_of<F: KernelFamily>(addr: F::Bits) -> u64 {
    (addr.to_u128() >> (u32::from(F::Bits::WIDTH) - F::ROOT_BITS)) as u64
}

/// The ranges of a slot: first and last address, value.
fn slot_ranges<F: Family>(
    rib: &Rib<F>,
    slot: Prefix<F>,
) -> impl Iterator<Item = (F::Bits, F::Bits, u32)> {
    let cover = rib.get_lpm_prefix(slot).filter(|route| route.prefix != slot);
    let cover = cover.map(|route| Route { prefix: slot, next_hop: route.next_hop });
    let routes = cover.into_iter().chain(rib.children(slot));
    Ranges::new(routes).coalesced().filter_map(move |range| {
        let (first, last) = (range.first.max(slot.first()), range.last.min(slot.last()));
        let value = range.next_hop().map_or(0, |id| id.get());
        (first <= last).then_some((first, last, value))
    })
}

/// A family of addresses in the kernel: IPv4 or IPv6.
///
/// ```
/// use longmatch::{Ipv4, Ipv6};
/// use longmatch_bpf::KernelFamily;
/// fn both<A: KernelFamily, B: KernelFamily>() {}
/// both::<Ipv4, Ipv6>();
/// ```
pub trait KernelFamily: Family + sealed::Parts {}

impl KernelFamily for Ipv4 {}
impl KernelFamily for Ipv6 {}

mod sealed {
    use crate::layout::LineForm;

    /// The constants of a family.
    pub trait Parts {
        /// The place of the family's root among the two.
        const ROOT: usize;
        const ROOT_BITS: u32;
        const STEPS: u32;
        #[allow(private_interfaces)]
        const FORM: LineForm;
    }
}

impl sealed::Parts for Ipv4 {
    const ROOT: usize = 0;
    const ROOT_BITS: u32 = ROOT_BITS_4;
    const STEPS: u32 = STEPS_4;
    #[allow(private_interfaces)]
    const FORM: LineForm = LineForm::V4;
}

impl sealed::Parts for Ipv6 {
    const ROOT: usize = 1;
    const ROOT_BITS: u32 = ROOT_BITS_6;
    const STEPS: u32 = STEPS_6;
    #[allow(private_interfaces)]
    const FORM: LineForm = LineForm::V6;
}

/// Words of a root from ranges in order.
struct Builder<'p, F> {
    pool: &'p mut Pool,
    max_value: u32,
    /// The slot of the runs.
    slot: u64,
    runs: Vec<Run>,
    /// The runs of the low half of `at`, while its end has not come.
    low: Vec<Run>,
    /// The slots, and their words.
    roots: Vec<(usize, u32)>,
    family: std::marker::PhantomData<F>,
}

impl<'p, F: KernelFamily> Builder<'p, F> {
    fn new(pool: &'p mut Pool, max_value: u32) -> Self {
        let (runs, low, roots) = (Vec::new(), Vec::new(), Vec::new());
        Self { pool, max_value, slot: 0, runs, low, roots, family: std::marker::PhantomData }
    }

    /// Takes ranges: first and last address, value.
    fn ranges(
        &mut self,
        ranges: impl Iterator<Item = (F::Bits, F::Bits, u32)>,
    ) -> Result<(), BuildError> {
        for (first, last, value) in ranges {
            if value > self.max_value {
                return Err(BuildError::Value { value, max: self.max_value });
            }
            // The high 64 bits and the others, of addresses at the high end of 128 bits.
            let shift = 128 - u32::from(F::Bits::WIDTH);
            let (first, last) = (first.to_u128() << shift, last.to_u128() << shift);
            let last = last | ((1_u128 << shift) - 1);
            self.range(first, last, value)?;
        }
        Ok(())
    }

    fn range(&mut self, first: u128, last: u128, value: u32) -> Result<(), BuildError> {
        let (mut high, low) = ((first >> 64) as u64, first as u64);
        let (last_high, last_low) = ((last >> 64) as u64, last as u64);
        if low != 0 {
            self.low.push(Run { start: low, cell: Cell::Value(value) });
            if last_high == high && last_low != u64::MAX {
                return Ok(());
            }
            let runs = std::mem::take(&mut self.low);
            let cell = self.pool.low_half(&runs)?;
            self.push(high, high, cell)?;
            if last_high == high {
                return Ok(());
            }
            high += 1;
        }
        // Whole high halves.
        let whole = last_low == u64::MAX;
        if whole || last_high > high {
            self.push(high, if whole { last_high } else { last_high - 1 }, Cell::Value(value))?;
        }
        if !whole {
            self.low = vec![Run { start: 0, cell: Cell::Value(value) }];
        }
        Ok(())
    }

    /// Takes a range of high halves with one answer.
    fn push(&mut self, first: u64, last: u64, cell: Cell) -> Result<(), BuildError> {
        let shift = 64 - F::ROOT_BITS;
        let mut word = None;
        for slot in first >> shift..=last >> shift {
            if slot != self.slot {
                self.flush()?;
                self.slot = slot;
            }
            let start = slot << shift;
            if first <= start && last - start >= (1 << shift) - 1 {
                let uniform = match word {
                    Some(word) => word,
                    None => self.pool.uniform(cell)?,
                };
                word = Some(uniform);
                self.roots.push((slot as usize, uniform));
            } else if self.runs.last().is_none_or(|run| run.cell != cell) {
                self.runs.push(Run { start: first.max(start), cell });
            }
        }
        Ok(())
    }

    /// Builds the slot of the runs.
    fn flush(&mut self) -> Result<(), BuildError> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let first = self.slot << (64 - F::ROOT_BITS);
        let block = Block { first, depth: F::ROOT_BITS, form: F::FORM };
        let word = self.pool.block(&self.runs, block, F::STEPS)?;
        self.roots.push((self.slot as usize, word));
        self.runs.clear();
        Ok(())
    }
}
