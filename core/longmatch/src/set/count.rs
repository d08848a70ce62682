//! Numbers of addresses: 128 bits do not hold that of all IPv6 addresses.

use core::fmt;
use core::iter::Sum;

/// A number of addresses of one family: 0 to 2^128.
///
/// ```
/// use longmatch::set::{AddressCount, AddressSet};
/// use longmatch::{Ipv6, Prefix};
/// let all = AddressSet::<Ipv6>::from(Prefix::DEFAULT).count();
/// let half = AddressSet::<Ipv6>::from("8000::/1".parse::<Prefix<_>>()?).count();
/// assert_eq!((all.get(), half.get()), (None, Some(1 << 127)));
/// assert_eq!(all, AddressCount::MAX);
/// assert_eq!(all.checked_sub(half), Some(half));
/// assert!(half < all);
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct AddressCount {
    /// Whether the number is 2^128; `low` is then 0.
    all: bool,
    low: u128,
}

impl AddressCount {
    /// The number of all IPv6 addresses, 2^128.
    ///
    /// ```
    /// use longmatch::set::AddressCount;
    /// assert!(AddressCount::from(u128::MAX) < AddressCount::MAX);
    /// ```
    pub const MAX: Self = Self { all: true, low: 0 };

    /// The number after `n`.
    pub(super) fn after(n: u128) -> Self {
        n.checked_add(1).map_or(Self::MAX, Self::from)
    }

    /// The number, `None` for 2^128.
    #[must_use]
    pub fn get(self) -> Option<u128> {
        (!self.all).then_some(self.low)
    }

    /// The difference, `None` if it is negative.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        if self < other {
            return None;
        }
        // The low 128 bits of 2^128 are 0.
        let all = self.all && other == Self::from(0);
        Some(Self { all, low: self.low.wrapping_sub(other.low) })
    }

    /// The nearest floating-point number, for shares.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.get().map_or(2.0 * (1u128 << 127) as f64, |low| low as f64)
    }
}

impl From<u128> for AddressCount {
    fn from(n: u128) -> Self {
        Self { all: false, low: n }
    }
}

impl Sum for AddressCount {
    /// Adds numbers, up to [`AddressCount::MAX`].
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), |sum, n| match sum.low.checked_add(n.low) {
            Some(low) if !sum.all && !n.all => low.into(),
            _ => Self::MAX,
        })
    }
}

impl fmt::Display for AddressCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(low) => low.fmt(f),
            None => f.pad_integral(true, "", "340282366920938463463374607431768211456"),
        }
    }
}

impl fmt::Debug for AddressCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
