//! Changes of a structure under readers, from the writer's side.

use alloc::vec::Vec;
use core::fmt::Debug;

use super::{prefix, rib};
use crate::engine::kit::{CannotPatch, Patch, Replaced};
use crate::net::{Family, Ipv4, NextHopId, Prefix};
use crate::rib::Rib;

/// A write side whose readers' view can be tested.
pub(crate) trait TestedPatch<F: Family>: Patch<F> {
    /// Objects of two kinds that are neither free nor in the retire list.
    fn in_use(&self) -> [usize; 2];

    /// Looks up an address as readers do.
    fn lookup(&self, addr: F::Bits) -> Option<NextHopId>;
}

/// A prefix, or its text.
pub(crate) trait AsPrefix<F: Family>: Debug {
    fn prefix(&self) -> Prefix<F>;
}

impl<F: Family> AsPrefix<F> for Prefix<F> {
    fn prefix(&self) -> Self {
        *self
    }
}

impl<F: Family> AsPrefix<F> for &str {
    fn prefix(&self) -> Prefix<F> {
        prefix(self)
    }
}

/// A RIB and a live structure kept equal.
pub(crate) struct Changing<F: Family, P> {
    pub rib: Rib<F>,
    pub patcher: P,
    /// Whether each change is followed by [`Changing::check`].
    checks: bool,
    epoch: u64,
}

impl<F: Family, P: TestedPatch<F>> Changing<F, P> {
    pub fn new(rib: Rib<F>, patcher: P) -> Self {
        Self { rib, patcher, checks: true, epoch: 1 }
    }

    /// Leaves the checks to the tests, for a structure whose check takes long.
    pub fn without_checks(self) -> Self {
        Self { checks: false, ..self }
    }

    /// Changes some routes in one commit, where next hop 0 withdraws, and checks everything.
    pub fn set(&mut self, routes: &[(impl AsPrefix<F>, u32)]) -> Result<Replaced, CannotPatch> {
        let mut changed = Vec::new();
        for (prefix, raw) in routes {
            let prefix = prefix.prefix();
            match NextHopId::new(*raw) {
                Some(next_hop) => drop(self.rib.insert(prefix, next_hop)),
                None => drop(self.rib.remove(prefix)),
            }
            changed.push(prefix);
        }
        let replaced = self.patcher.patch(&self.rib, &changed)?;
        if self.checks {
            self.check();
        }
        Ok(replaced)
    }

    /// Changes one route in one commit and checks everything.
    pub fn step(&mut self, prefix: impl AsPrefix<F>, raw: u32) -> Replaced {
        let replaced = self.set(&[(prefix, raw)]).unwrap();
        self.check();
        replaced
    }

    /// Verifies that a commit is refused and has no effect.
    pub fn refuse(&mut self, routes: &[(impl AsPrefix<F>, u32)]) {
        let (rib, in_use) = (self.rib.clone(), self.in_use());
        assert_eq!(self.set(routes), Err(CannotPatch), "{routes:?}");
        self.rib = rib;
        self.check();
        assert_eq!(self.in_use(), in_use, "{routes:?}");
    }

    /// Verifies structure and accounts with removed objects in the retire list, and then free.
    pub fn check(&mut self) {
        self.patcher.check(&self.rib).unwrap();
        self.reclaim();
        self.patcher.check(&self.rib).unwrap();
    }

    /// Frees the removed objects.
    pub fn reclaim(&mut self) {
        self.patcher.seal(self.epoch);
        self.epoch += 1;
        self.patcher.reclaim(self.epoch);
        assert_eq!(self.patcher.retired_bytes(), 0);
    }

    /// Returns the next hop of a prefix's first address, 0 = no route.
    pub fn answer(&self, text: &str) -> u32 {
        NextHopId::to_raw(self.patcher.lookup(prefix::<F>(text).first()))
    }

    /// [`TestedPatch::in_use`].
    pub fn in_use(&self) -> [usize; 2] {
        self.patcher.in_use()
    }
}

/// D11, D12, V1: covers over specifics.
///
/// If the structure can change `outer`, which covers all routes, it is announced first, withdrawn,
/// and announced last.
pub(crate) fn covers_spare_their_specifics<P: TestedPatch<Ipv4>>(
    mut table: Changing<Ipv4, P>,
    outer: Option<&str>,
) {
    let set_outer = |table: &mut Changing<Ipv4, P>, raw| {
        if let Some(outer) = outer {
            table.step(outer, raw);
        }
    };
    set_outer(&mut table, 1);
    table.step("10.0.0.255/32", 2);
    table.step("10.0.0.0/8", 3);
    assert_eq!((table.answer("10.0.0.255/32"), table.answer("10.0.0.254/32")), (2, 3));
    set_outer(&mut table, 0);
    table.step("10.0.0.0/16", 4);
    set_outer(&mut table, 5);
    assert_eq!((table.answer("10.0.0.255/32"), table.answer("10.0.0.254/32")), (2, 4));
    table.step("10.0.0.0/24", 6);
    assert_eq!((table.answer("10.0.0.255/32"), table.answer("10.0.0.254/32")), (2, 6));
    let outside = if outer.is_some() { 5 } else { 0 };
    assert_eq!((table.answer("10.1.0.0/32"), table.answer("9.0.0.0/32")), (3, outside));
}

/// F1, R3, R1: withdrawals in a chain of covers, of all but one route, of host routes at both ends.
pub(crate) fn withdrawals_show_the_right_cover<P: TestedPatch<Ipv4>>(
    table: impl Fn(Rib<Ipv4>) -> Changing<Ipv4, P>,
) {
    let routes = [
        ("10.0.0.0/22", 1),
        ("10.0.0.0/23", 2),
        ("10.0.0.0/24", 3),
        ("10.0.0.0/28", 3),
        ("10.0.0.0/31", 4),
        ("0.0.0.0/32", 5),
        ("255.255.255.255/32", 6),
    ];
    let one_route = table(rib(&routes[..1])).in_use();
    let mut table = table(rib(&routes));
    table.step("10.0.0.0/23", 0);
    assert_eq!((table.answer("10.0.1.0/32"), table.answer("10.0.0.16/32")), (1, 3));
    table.step("10.0.0.0/23", 0);
    table.step("10.0.0.0/28", 0);
    assert_eq!((table.answer("10.0.0.1/32"), table.answer("10.0.0.2/32")), (4, 3));
    table.step("10.0.0.0/24", 0);
    assert_eq!((table.answer("10.0.0.0/32"), table.answer("10.0.0.2/32")), (4, 1));
    table.step("0.0.0.0/32", 0);
    table.step("255.255.255.255/32", 0);
    table.step("10.0.0.0/31", 0);
    assert_eq!((table.answer("10.0.0.0/32"), table.in_use()), (1, one_route));
    table.step("10.0.0.0/22", 0);
    table.step("10.9.0.0/22", 0);
}

/// D1, D3, R2: repeated adding and deleting takes no more memory.
///
/// Returns the objects in use with all routes, of each round.
pub(crate) fn memory_is_used_again<F: Family, P: TestedPatch<F>>(
    table: &mut Changing<F, P>,
    prefixes: &[Prefix<F>],
) -> Vec<[usize; 2]> {
    let before = table.in_use();
    let (mut full, mut sizes) = (Vec::new(), Vec::new());
    for round in 0..50 {
        for prefix in prefixes {
            table.set(&[(*prefix, 1 + round % 2)]).unwrap();
        }
        full.push(table.in_use());
        let withdrawn: Vec<_> = prefixes.iter().map(|prefix| (*prefix, 0)).collect();
        // One by one, or all in one commit.
        let commit = if round % 4 < 2 { 1 } else { withdrawn.len() };
        for withdrawn in withdrawn.chunks(commit) {
            table.set(withdrawn).unwrap();
        }
        assert_eq!(table.in_use(), before);
        table.reclaim();
        sizes.push(table.patcher.used_and_unused().0);
    }
    // The first rounds split free runs until there are some of each size.
    assert!(sizes[24] == sizes[49], "memory grows: {sizes:?}");
    full
}

/// Pseudo-random numbers, the same in each run.
pub(crate) struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// Random announcements and withdrawals in commits of several sizes; drained in the end.
///
/// Each change takes one of `hops`, where 0 withdraws, for one of `prefixes`. `verify` is called
/// after each commit. Returns the greatest number of objects of the first kind in use.
pub(crate) fn random_changes<F: Family, P: TestedPatch<F>>(
    table: &mut Changing<F, P>,
    commits: u32,
    hops: &[u32],
    prefixes: impl Fn(&mut Random) -> Prefix<F>,
    verify: impl Fn(&mut Changing<F, P>),
) -> usize {
    let mut random = Random::default();
    let empty = table.in_use();
    let mut most = 0;
    for commit in 0..commits {
        let count = 1 + random.below(4) * random.below(4);
        let change = |_| {
            let raw = hops[random.below(hops.len() as u64) as usize];
            let withdrawn = commit > commits - commits / 8;
            (prefixes(&mut random), if withdrawn { 0 } else { raw })
        };
        let changes: Vec<_> = (0..count).map(change).collect();
        table.set(&changes).unwrap();
        verify(table);
        most = most.max(table.in_use()[0]);
    }
    let all: Vec<_> = table.rib.iter().map(|route| (route.prefix, 0)).collect();
    let (some, rest) = all.split_at(all.len() / 2);
    for few in some.chunks(3) {
        table.set(few).unwrap();
    }
    table.set(rest).unwrap();
    table.check();
    assert_eq!((table.rib.len(), table.in_use()), (0, empty));
    most
}
