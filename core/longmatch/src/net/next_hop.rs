//! The ids of next hops, and slices of them as answers.

use core::fmt;
use core::num::NonZeroU32;

/// The id of a next hop, as engines store it and lookups return it.
///
/// Never zero. It has the layout of [`NonZeroU32`], and `Option<NextHopId>` that of `u32` with 0 for
/// `None`, which will not change: a batch of answers is an array of `u32`, in other languages too
/// ([`NextHopId::slice_of_raw`], [`NextHopId::raw_slice`]).
///
/// ```
/// use longmatch::NextHopId;
/// let id = NextHopId::new(7).unwrap();
/// assert_eq!((id.get(), id.to_string().as_str()), (7, "7"));
/// assert_eq!(size_of::<Option<NextHopId>>(), 4);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct NextHopId(NonZeroU32);

const _: () = assert!(size_of::<Option<NextHopId>>() == 4);

impl NextHopId {
    /// The id with this number; `None` for 0.
    #[inline(always)]
    pub const fn new(id: u32) -> Option<Self> {
        match NonZeroU32::new(id) {
            Some(id) => Some(Self(id)),
            None => None,
        }
    }

    /// The number, at least 1.
    ///
    /// ```
    /// use longmatch::NextHopId;
    /// assert_eq!(NextHopId::new(7).map(NextHopId::get), Some(7));
    /// ```
    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// The number of an id, or 0 for `None`: the form in which engines store answers.
    ///
    /// ```
    /// use longmatch::NextHopId;
    /// assert_eq!(NextHopId::to_raw(NextHopId::new(7)), 7);
    /// assert_eq!(NextHopId::to_raw(None), 0);
    /// ```
    #[inline(always)]
    pub const fn to_raw(id: Option<Self>) -> u32 {
        match id {
            Some(id) => id.get(),
            None => 0,
        }
    }

    /// Answers in the memory of numbers, 0 for `None`: the output of a batch of lookups.
    ///
    /// ```
    /// use longmatch::{EngineKind, Fib, Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(7).unwrap())?;
    /// let mut numbers = [0_u32; 2];
    /// let out = NextHopId::slice_of_raw(&mut numbers);
    /// Fib::compile(&rib, EngineKind::Folio)?.lookup_batch(&[0x0a00_0001, 0], out);
    /// assert_eq!(numbers, [7, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn slice_of_raw(numbers: &mut [u32]) -> &mut [Option<Self>] {
        let (first, len) = (numbers.as_mut_ptr().cast(), numbers.len());
        // SAFETY: `Option<NextHopId>` has the layout of `u32`, and every number is one; the
        // result borrows `numbers`.
        unsafe { core::slice::from_raw_parts_mut(first, len) }
    }

    /// Answers as numbers, 0 for `None`, in the same memory.
    ///
    /// ```
    /// use longmatch::NextHopId;
    /// assert_eq!(NextHopId::raw_slice(&[NextHopId::new(7), None]), [7, 0]);
    /// ```
    pub const fn raw_slice(answers: &[Option<Self>]) -> &[u32] {
        let (first, len) = (answers.as_ptr().cast(), answers.len());
        // SAFETY: `Option<NextHopId>` has the layout of `u32`; the result borrows `answers`.
        unsafe { core::slice::from_raw_parts(first, len) }
    }

    pub(super) fn index(self) -> usize {
        self.get() as usize - 1
    }
}

impl fmt::Debug for NextHopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.get())
    }
}

impl fmt::Display for NextHopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// Cuts `out` to the length of `addrs`.
///
/// # Panics
/// When it is shorter.
pub(crate) fn answers_for<'o, A, B>(addrs: &[A], out: &'o mut [B]) -> &'o mut [B] {
    capacity_for(addrs.len(), out)
}

/// Cuts `out` to as many answers as are needed.
///
/// # Panics
/// When it is shorter.
pub(crate) fn capacity_for<B>(need: usize, out: &mut [B]) -> &mut [B] {
    let have = out.len();
    assert!(have >= need, "the output holds {have} answers, but there are {need} addresses");
    &mut out[..need]
}
