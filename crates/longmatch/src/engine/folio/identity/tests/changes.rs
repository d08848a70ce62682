//! Changes under readers, against the RIB.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::*;
use crate::engine::kit::{CannotPatch, Compiled, Patch, Replaced, WriteSide};
use crate::engine::testing::changes::Random;

/// A RIB and a live table kept equal.
struct Changing {
    rib: Rib<Ipv4>,
    table: Arc<dyn Compiled<Ipv4>>,
    patch: Box<dyn Patch<Ipv4>>,
    epoch: u64,
}

impl Changing {
    fn new(rib: Rib<Ipv4>, form: CodeForm) -> Self {
        let live = Pages::compile(&rib, &config(form, 12, Batch::Auto)).unwrap().live();
        let WriteSide::Patched(patch) = live.write else { panic!("memory is short") };
        Self { rib, table: live.engine, patch, epoch: 1 }
    }

    /// Changes some routes in one commit, where next hop 0 withdraws; checks everything with the
    /// removed pages in the retire list, then free.
    fn set(&mut self, routes: &[(Prefix<Ipv4>, u32)]) -> Result<Replaced, CannotPatch> {
        for (prefix, raw) in routes {
            match NextHopId::new(*raw) {
                Some(next_hop) => drop(self.rib.insert(*prefix, next_hop)),
                None => drop(self.rib.remove(*prefix)),
            }
        }
        let changed: Vec<_> = routes.iter().map(|(prefix, _)| *prefix).collect();
        let replaced = self.patch.patch(&self.rib, &changed)?;
        self.check();
        for (prefix, _) in routes {
            for addr in [prefix.first(), prefix.last()] {
                let right = self.rib.get_lpm(addr.into()).map(|route| route.next_hop);
                assert_eq!(self.table.lookup_bits(addr), right);
            }
        }
        Ok(replaced)
    }

    fn check(&mut self) {
        self.patch.check(&self.rib).unwrap();
        self.patch.seal(self.epoch);
        self.epoch += 1;
        self.patch.reclaim(self.epoch);
        assert_eq!(self.patch.retired_bytes(), 0);
        self.patch.check(&self.rib).unwrap();
    }

    fn step(&mut self, text: &str, raw: u32) -> Replaced {
        self.set(&[(text.parse().unwrap(), raw)]).unwrap()
    }

    /// Verifies that a commit is refused and has no effect.
    fn refuse(&mut self, routes: &[(Prefix<Ipv4>, u32)]) {
        let rib = self.rib.clone();
        assert_eq!(self.set(routes), Err(CannotPatch));
        self.rib = rib;
        self.check();
    }
}

#[test]
fn one_change_at_a_time() {
    let mut table = Changing::new(Rib::new(), CodeForm::Byte);
    for (text, raw) in [
        ("10.0.1.0/24", 1),
        ("10.0.1.0/26", 1),
        // The /26 is longer than the codes, and becomes visible.
        ("10.0.1.0/24", 2),
        ("10.0.1.0/26", 0),
        ("10.0.1.7/32", 300),
        ("10.0.0.0/16", 300),
        ("10.0.1.7/32", 0),
        ("10.0.0.0/8", 4),
        ("10.0.0.0/16", 0),
        ("0.0.0.0/0", 5),
    ] {
        table.step(text, raw);
    }
    // Nothing to change: the page that exists is used.
    let again = table.step("10.0.1.0/24", 2);
    assert_eq!((again.entries, again.leaves), (0, 0));
}

/// /24 in a number of blocks, whose next hops have no code.
fn escaping(block: u32) -> Vec<(Prefix<Ipv4>, u32)> {
    let prefix = |i: u32| Prefix::from_bits_masked(block << 20 | i << 8, 24);
    (0..600).map(|i| (prefix(i), 1000 + i % 2)).collect()
}

/// Slots of different pages are mixed: removed ones lie between those in use.
#[test]
fn escapes_are_removed_from_between_others() {
    let mut table = Changing::new(Rib::new(), CodeForm::Byte);
    for block in 0..12 {
        table.set(&escaping(block)).unwrap();
    }
    for block in (0..12).step_by(2).chain((1..12).step_by(2)) {
        let withdrawn: Vec<_> = escaping(block).iter().map(|(prefix, _)| (*prefix, 0)).collect();
        table.set(&withdrawn).unwrap();
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut table = Changing::new(rib4(&[("10.0.0.0/8", 1)]), CodeForm::Half);
    table.refuse(&[(Prefix::from_bits_masked(0x0a00_0100, 24), 1 << 31)]);
    // More escapes than the table has slots for: some blocks are prepared before.
    let all = |raw| (0..12).flat_map(escaping).map(move |(prefix, odd)| (prefix, raw + odd));
    table.set(&all(1).collect::<Vec<_>>()).unwrap();
    let most: Vec<_> = (0..16u32)
        .flat_map(|block| (0..4096).map(move |i| block << 20 | i << 8))
        .map(|bits| (Prefix::from_bits_masked(bits, 24), 70_000 + (bits >> 8) % 2))
        .collect();
    table.refuse(&most);
}

#[test]
fn random_changes_agree_with_the_rib() {
    let hops = [0, 1, 2, 3, 254, 255, 65_535, 70_000, 0];
    for form in CodeForm::ALL {
        let mut table = Changing::new(Rib::new(), form);
        let mut random = Random::default();
        for _ in 0..if cfg!(miri) { 5 } else { 150 } {
            let count = 1 + random.below(2) * random.below(4);
            let change = |_| {
                let bits = 0x0a00_0000 | (random.below(1 << 6) << random.below(12)) as u32;
                let len = [11, 13, 16, 20, 22, 24, 24, 25, 27, 30, 32][random.below(11) as usize];
                let raw = hops[random.below(hops.len() as u64) as usize];
                (Prefix::from_bits_masked(bits, len), raw)
            };
            let changes: Vec<_> = (0..count).map(change).collect();
            // An array may be full.
            if table.set(&changes).is_err() {
                table = Changing::new(table.rib, form);
            }
        }
    }
}
