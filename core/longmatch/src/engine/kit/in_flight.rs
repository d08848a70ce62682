//! Drivers of the kernels that keep several lookups in flight.
//!
//! A kernel answers a group of addresses together, so that their reads are independent. A driver
//! divides a batch into groups: of a fixed number of addresses, the rest one by one, or of vectors,
//! down to a single one.
//!
//! Structures are passed as references. The CPU can load a struct by vectors, as its copies do,
//! right after it was stored by words only after all earlier instructions have retired, so the calls
//! of small batches would not overlap.

use crate::net::NextHopId;
use crate::simd::{Simd, Work};

/// A structure, as lookups read it, with a kernel for groups of `GROUP` addresses.
///
/// The methods are compiled for each SIMD level only if they are `#[inline(always)]`. A power of
/// two as `GROUP` lets kernels mask positions with it, which proves to the compiler that they are
/// in range.
pub(crate) trait InGroups<const GROUP: usize>: Copy {
    /// An address as an integer.
    type Addr: Copy;

    /// Looks up one address.
    fn one(self, addr: Self::Addr) -> Option<NextHopId>;

    /// Looks up the addresses of a group together.
    fn group(self, addrs: &[Self::Addr; GROUP], out: &mut [Option<NextHopId>; GROUP]);
}

/// Answers `addrs` into `out`, which has the same length, in groups.
#[inline(always)]
fn in_groups<S: InGroups<GROUP>, const GROUP: usize>(
    structure: S,
    addrs: &[S::Addr],
    out: &mut [Option<NextHopId>],
) {
    let (groups, rest) = addrs.as_chunks::<GROUP>();
    let (out_groups, out_rest) = out.as_chunks_mut::<GROUP>();
    for (addrs, out) in groups.iter().zip(out_groups) {
        structure.group(addrs, out);
    }
    for (addr, out) in rest.iter().zip(out_rest) {
        *out = structure.one(*addr);
    }
}

/// Runs [`in_groups`], compiled for a level.
#[inline]
pub(crate) fn run<S: InGroups<GROUP>, const GROUP: usize>(
    structure: S,
    simd: Simd,
    addrs: &[S::Addr],
    out: &mut [Option<NextHopId>],
) {
    simd.run(InFlight { structure, addrs, out });
}

/// [`in_groups`] as work for a level. `out` is as long as `addrs`.
struct InFlight<'a, S: InGroups<GROUP>, const GROUP: usize> {
    structure: S,
    addrs: &'a [S::Addr],
    out: &'a mut [Option<NextHopId>],
}

impl<S: InGroups<GROUP>, const GROUP: usize> Work for InFlight<'_, S, GROUP> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        in_groups(self.structure, self.addrs, self.out);
    }
}

/// A structure, as lookups read it, with a kernel for groups of vectors.
pub(crate) trait InVectors: Copy {
    /// An address as an integer.
    type Addr: Copy;
    /// Addresses in a vector.
    const LANES: usize;

    /// Looks up one address.
    fn one(self, addr: Self::Addr) -> Option<NextHopId>;

    /// Looks up the first `N` vectors of addresses together.
    ///
    /// # Panics
    /// When there are fewer addresses, or fewer answers.
    fn group<const N: usize>(self, addrs: &[Self::Addr], out: &mut [Option<NextHopId>]);
}

/// Answers `addrs` into `out`, which has the same length, in groups of `N` vectors, then of two,
/// then vector by vector.
///
/// Fewer addresses than a vector has lanes are looked up one by one, and so is a short rest. A
/// longer rest is a vector that answers some addresses again.
#[inline(always)]
pub(crate) fn in_vectors<S: InVectors, const N: usize>(
    structure: S,
    addrs: &[S::Addr],
    out: &mut [Option<NextHopId>],
) {
    let (mut at, len) = (0, addrs.len());
    let out = &mut out[..len];
    while len - at >= N * S::LANES {
        structure.group::<N>(&addrs[at..], &mut out[at..]);
        at += N * S::LANES;
    }
    if const { N > 2 } && len - at >= 2 * S::LANES {
        structure.group::<2>(&addrs[at..], &mut out[at..]);
        at += 2 * S::LANES;
    }
    while at < len {
        if len >= S::LANES && len - at > S::LANES / 4 {
            let start = at.min(len - S::LANES);
            structure.group::<1>(&addrs[start..], &mut out[start..]);
            at = start + S::LANES;
        } else {
            out[at] = structure.one(addrs[at]);
            at += 1;
        }
    }
}

/// [`in_vectors`] as work for a level. `out` is as long as `addrs`.
pub(crate) struct Vectors<'a, S: InVectors, const N: usize> {
    pub structure: S,
    pub addrs: &'a [S::Addr],
    pub out: &'a mut [Option<NextHopId>],
}

impl<S: InVectors, const N: usize> Work for Vectors<'_, S, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        in_vectors::<S, N>(self.structure, self.addrs, self.out);
    }
}

/// The lookups of a group that still descend, packed at the front of each array.
pub(crate) struct Lanes<const GROUP: usize> {
    /// Position of the address in the group.
    pub position: [u8; GROUP],
    /// Current node.
    pub node: [u32; GROUP],
    /// The next address bits, left-aligned.
    pub window: [u64; GROUP],
    /// Number of lanes.
    pub count: usize,
}

impl<const GROUP: usize> Lanes<GROUP> {
    /// Moves every lane down one level, without a branch on the lookups.
    ///
    /// Both functions take a lane's position, node and window. `visit` reads the node and returns
    /// whether the lane continues; then `child` returns the next node and window of those that do.
    #[inline(always)]
    pub fn descend(
        &mut self,
        mut visit: impl FnMut(usize, u32, u64) -> bool,
        child: impl Fn(usize, u32, u64) -> (u32, u64),
    ) {
        let mut continuing = [0u8; GROUP];
        let mut count = 0;
        for j in 0..self.count {
            let j = j % GROUP;
            let i = usize::from(self.position[j]) % GROUP;
            continuing[count % GROUP] = j as u8;
            count += usize::from(visit(i, self.node[j], self.window[j]));
        }
        // Continuing lanes move to the front, never past a lane that is still to be read.
        for to in 0..count {
            let to = to % GROUP;
            let from = usize::from(continuing[to]) % GROUP;
            let i = usize::from(self.position[from]) % GROUP;
            let (node, window) = child(i, self.node[from], self.window[from]);
            self.position[to] = self.position[from];
            self.node[to] = node;
            self.window[to] = window;
        }
        self.count = count;
    }
}
