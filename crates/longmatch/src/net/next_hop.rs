//! The ids of next hops, and slices of them as answers.

use core::fmt;
use core::num::NonZeroU32;

/// The id of a next hop, as engines store it and lookups return it.
///
/// Never zero, so that `Option<NextHopId>` is one `u32` in memory with 0 for "no route": a batch of
/// answers is a plain array of `u32`.
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
    ///
    /// ```
    /// use longmatch::NextHopId;
    /// assert!(NextHopId::new(1).is_some() && NextHopId::new(0).is_none());
    /// ```
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
