//! The two arrays of DIR-24-8 and the bits of their entries.

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::mem::{FrozenMemory, Items, Memory, Readable, Single};
use crate::net::{Family, Ipv4, Ipv6};

/// Bits of the address that the first table consumes.
pub(super) const FIRST_BITS: u8 = 24;
/// Entries of `tbl24`.
pub(super) const FIRST_SLOTS: usize = 1 << FIRST_BITS;
/// Bits that a group consumes.
pub(super) const GROUP_BITS: u8 = 8;
/// Entries of a group.
pub(super) const GROUP_SLOTS: usize = 1 << GROUP_BITS;

/// An entry of either table. Sealed: `u16` as in the paper, and `u32` for larger tables.
///
/// ```text
///   15  14                      0              31  30                                  0
///  +---+-------------------------+            +---+-------------------------------------+
///  | 0 | next hop, 0 = no route  |            | 0 | next hop, 0 = no route              |
///  +---+-------------------------+            +---+-------------------------------------+
///  | 1 | number of a tbl8 group  |            | 1 | number of a tbl8 group              |
///  +---+-------------------------+            +---+-------------------------------------+
/// ```
///
/// So 15 bits hold 32,767 next hops and 32,768 groups, 31 bits 2^31 - 1 and 2^31. An array of zeros
/// is a table without routes.
pub trait Entry: sealed::Sealed + Single + Debug + Default + Send + Sync + 'static {
    /// Bits of an entry.
    const BITS: u32;
    /// The greatest next hop that fits beside the top bit.
    const MAX_NEXT_HOP: u32 = (1 << (Self::BITS - 1)) - 1;
    /// Number of groups that can be numbered, from 0 on.
    const MAX_GROUPS: usize = 1 << (Self::BITS - 1);

    /// Builds an entry that answers: a raw next hop up to [`Entry::MAX_NEXT_HOP`].
    fn answer(raw: u32) -> Self;

    /// Builds an entry that names a group, below [`Entry::MAX_GROUPS`].
    fn group(group: u32) -> Self;

    /// Returns the entry, widened.
    fn to_bits(self) -> u32;

    /// Whether the entry names a group.
    #[inline(always)]
    fn is_group(self) -> bool {
        self.to_bits() >> (Self::BITS - 1) != 0
    }

    /// Returns the group or the raw next hop.
    #[inline(always)]
    fn value(self) -> u32 {
        self.to_bits() & Self::MAX_NEXT_HOP
    }
}

macro_rules! impl_entry {
    ($int:ty) => {
        impl Entry for $int {
            const BITS: u32 = <$int>::BITS;

            #[inline]
            fn answer(raw: u32) -> Self {
                debug_assert!(raw <= Self::MAX_NEXT_HOP);
                raw as Self
            }

            #[inline]
            fn group(group: u32) -> Self {
                debug_assert!((group as usize) < Self::MAX_GROUPS);
                group as Self | 1 << (Self::BITS - 1)
            }

            #[inline(always)]
            fn to_bits(self) -> u32 {
                self.into()
            }
        }
    };
}

impl_entry!(u16);
impl_entry!(u32);

/// Whether the flag and the greatest value fill an entry without overlap, and the numbers of groups
/// are such values.
const fn fills<E: Entry>() -> bool {
    let flag = 1 << (E::BITS - 1);
    size_of::<E>() * 8 == E::BITS as usize
        && E::MAX_NEXT_HOP & flag == 0
        && E::MAX_NEXT_HOP | flag == u32::MAX >> (u32::BITS - E::BITS)
        && E::MAX_GROUPS - 1 == E::MAX_NEXT_HOP as usize
}

const _: () = assert!(fills::<u16>() && fills::<u32>());
// `tbl24` and one group consume an IPv4 address, and more groups of 8 bits an IPv6 address. Both
// tables have even lengths, as vector kernels load 16-bit entries in pairs.
const _: () = assert!(
    FIRST_BITS + GROUP_BITS == Ipv4::WIDTH
        && (Ipv6::WIDTH - Ipv4::WIDTH) & (GROUP_BITS - 1) == 0
        && GROUP_BITS.is_power_of_two()
        && (FIRST_SLOTS | GROUP_SLOTS) & 1 == 0
);

mod sealed {
    pub trait Sealed {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
}

/// DIR-24-8 with entries `E`; for IPv6, with groups below groups.
///
/// ```text
///  tbl24   2^24 entries, indexed by the first 24 bits of the address
///  tbl8    groups of 256 entries, indexed by the next 8 bits:  | group 0 | group 1 | group 2 | ...
/// ```
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. `tbl24` has 2^24 entries, `tbl8` a multiple of 256 and at most `E::MAX_GROUPS` groups.
/// 2. An entry with its top bit set names a group inside `tbl8`.
/// 3. A group stands at a depth less than the address's width: at depth 24 for IPv4, and at 24, 32,
///    ... 120 for IPv6; so the entries of the deepest groups are answers.
///
/// Invariants of the accounting:
/// 4. Exactly one entry names a group. In a live table the remaining groups are free, or in the
///    retire list.
/// 5. A block of addresses has a group exactly where the RIB has a longer route inside it. So the
///    number of groups depends on the RIB alone, not on its history.
/// 6. In a live table one store replaces each entry that readers can reach, and a group that an
///    entry has named is reused only when no reader can be in it.
///
/// The vector kernels load 32 bits at a time. Of 16-bit entries they load an aligned pair and pick
/// one, which never reaches past the end as both arrays have even lengths.
///
/// ```
/// use longmatch::engine::dir24_8::Dir24_8;
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let table: Dir24_8<Ipv4> = Dir24_8::compile(&rib, &())?;
/// let mut hops = [None; 2];
/// table.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// assert_eq!(table.memory_usage().bytes(), 32 << 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Dir24_8<F, E: Entry = u16, M: Memory = FrozenMemory> {
    pub(super) tbl24: M::Array<E>,
    pub(super) tbl8: M::Array<E>,
    pub(super) family: PhantomData<F>,
}

impl<F, E: Entry> Clone for Dir24_8<F, E> {
    fn clone(&self) -> Self {
        let Self { tbl24, tbl8, family } = self;
        Self { tbl24: tbl24.clone(), tbl8: tbl8.clone(), family: *family }
    }
}

impl<F, E: Entry, M: Memory> Dir24_8<F, E, M> {
    /// Number of groups that have ever been used.
    pub(super) fn groups(&self) -> usize {
        self.tbl8.count() / GROUP_SLOTS
    }

    /// Returns the view that lookups read.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, F, E> {
        View {
            tbl24: self.tbl24.items().shared(),
            tbl8: self.tbl8.items().shared(),
            tbl8_capacity: self.tbl8.capacity(),
            family: PhantomData,
        }
    }
}

/// The tables as lookups read them, in either kind of memory. Passed by value, so that loops keep
/// the arrays' addresses in registers.
#[derive(Clone, Copy)]
pub(super) struct View<'a, F, E: Entry> {
    pub tbl24: Items<'a, E>,
    pub tbl8: Items<'a, E>,
    /// Exclusive upper bound on indices into `tbl8`.
    pub tbl8_capacity: usize,
    family: PhantomData<F>,
}

/// Position of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum EntryPosition {
    First(usize),
    Below(usize),
}

/// One of the tables, and the bits of the address that index it.
#[derive(Clone, Copy)]
pub(super) struct Level {
    /// The group; `None` means `tbl24`.
    pub group: Option<u32>,
    /// Bits of the address before this table.
    pub depth: u8,
}

impl Level {
    pub const FIRST: Self = Self { group: None, depth: 0 };

    /// Bits that the table consumes.
    pub fn bits(self) -> u8 {
        if self.group.is_none() { FIRST_BITS } else { GROUP_BITS }
    }

    /// Bits of the address up to the end of this table.
    pub fn end(self) -> u8 {
        self.depth + self.bits()
    }

    /// The group that an entry of this table names.
    pub fn below(self, group: u32) -> Self {
        Self { group: Some(group), depth: self.end() }
    }

    /// Position of an entry of this table.
    pub fn place(self, slot: usize) -> EntryPosition {
        match self.group {
            None => EntryPosition::First(slot),
            Some(group) => EntryPosition::Below(group as usize * GROUP_SLOTS + slot),
        }
    }
}
