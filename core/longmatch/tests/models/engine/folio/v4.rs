//! A table of IPv4 that changes under readers: the library's lookup and the library's update. Commits
//! in turn copy a page at another grain, copy it at its own, store a code in place, and build a block.

#[path = "../../../../src/engine/folio/v4/account.rs"]
mod account;
#[path = "../../../../src/engine/folio/v4/blocks.rs"]
mod blocks;
#[path = "../../../../src/engine/folio/v4/compile.rs"]
mod compile;
#[path = "../../../../src/engine/folio/v4/layout.rs"]
mod layout;
#[path = "../../../../src/engine/folio/v4/lookup.rs"]
mod lookup;
#[path = "../../../../src/engine/folio/v4/update.rs"]
mod update;

use std::any::Any;
use std::sync::Arc as StdArc;

use self::layout::Folio4;
use crate::engine::kit::{Engine, Lookup, Patch, Structure, WriteSide};
use crate::mem::{FrozenMemory, LiveMemory, Memory};
use crate::models::reclaim::{Domain, HasDomain};
use crate::models::{ANSWERS, Model, Size, Versions, run};
use crate::net::{Ipv4, NextHopId, Prefix};
use crate::rib::Rib;
use crate::simd::lanes::NoLists;
use crate::sync::Arc;

/// What the included files import from the form's `mod.rs`, `check.rs`, `model.rs` and `plan.rs`.
#[derive(Default)]
pub struct Config {
    code_bytes: Option<u8>,
    root_bits: Option<u8>,
    spare: Option<u32>,
    lists: Option<u32>,
    entries: Option<u32>,
    flat: Option<bool>,
    ahead: Option<bool>,
}

const EXPECTED: &str = "";

mod check {
    use super::layout::Slices;
    use crate::engine::folio::pieces::Piece;
    use crate::engine::kit::Corrupt;
    use crate::net::Ipv4;
    use crate::rib::Rib;

    pub struct Known {
        pub pieces: Vec<(Piece, u32)>,
        pub others: Vec<Piece>,
    }

    pub fn check(_: Slices<'_>, _: Option<&[Known; 2]>, _: &Rib<Ipv4>) -> Result<(), Corrupt> {
        Ok(())
    }
}

mod model {
    pub struct Machine;

    impl Machine {
        pub fn here() -> Self {
            Self
        }
    }
}

mod plan {
    use super::blocks::{Copies, Ranges};
    use super::layout::{Fixed, Single};
    use super::model::Machine;

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Plan {
        pub root: u8,
        pub lists: u32,
        pub entries: u32,
        pub page: u8,
        pub single: Single,
        pub ahead: bool,
    }

    pub struct Request {
        pub root: Option<u8>,
        pub spare: Option<u32>,
        pub lists: Option<u32>,
        pub entries: Option<u32>,
        pub flat: Option<bool>,
        pub ahead: Option<bool>,
    }

    pub struct Planner<'a> {
        pub fixed: Fixed,
        pub all_coded: bool,
        pub copies: &'a Copies,
        pub machine: &'a Machine,
        pub identity_bytes: f64,
    }

    impl Planner<'_> {
        /// Pages of codes only.
        pub fn plan(&mut self, _: &Ranges, _: Request) -> (Plan, u64) {
            let (lists, entries) = (1_000_000, 1_000_000);
            let single = Single::Branches;
            (Plan { root: super::ROOT, lists, entries, page: 14, single, ahead: false }, 0)
        }
    }

    pub fn sizes() -> impl Iterator<Item = u8> {
        0..0
    }
}

impl<M: Memory> Lookup<Ipv4> for Folio4<M> {}
impl<M: Memory> Structure<Ipv4> for Folio4<M> {}
impl Engine<Ipv4> for Folio4<FrozenMemory> {}

/// Bits of the root: a page of the grain /24 has 2^10 codes.
const ROOT: u8 = 14;
/// The /24 of both answers, in one block of the root, and the address looked up in each.
const NETS: [u32; ANSWERS] = [0x0a00_0100, 0x0a00_0200];
const BELOW: u32 = 0xc8;

/// The version whose commit has made the answer of another version: each commit changes one answer.
fn changed(version: u32, answer: usize) -> u32 {
    version - u32::from(version > 0 && version as usize % ANSWERS != answer)
}

/// A next hop that identifies its version and answer.
fn hop(version: u32, answer: usize) -> u32 {
    1 + 2 * changed(version, answer) + answer as u32
}

/// The routes of a version. In every fourth the page has the grain /25: twice the codes.
fn routes(version: u32) -> Rib<Ipv4> {
    let mut starts = vec![(0, 0), (NETS[0], hop(version, 0))];
    match version % 4 {
        0 => starts.extend([(NETS[1], 200), (NETS[1] + 0x80, hop(version, 1))]),
        _ => starts.push((NETS[1], hop(version, 1))),
    }
    starts.push((NETS[1] + 0x100, 0));
    Rib(starts)
}

/// The prefixes that the commit of a version changes.
fn prefixes(version: u32) -> Vec<Prefix<Ipv4>> {
    let net = |answer: usize| Prefix::from_bits_masked(NETS[answer], 24);
    match version % 4 {
        0 => vec![net(0), net(1)],
        2 => vec![Prefix::from_bits_masked(NETS[0], 22)],
        _ => vec![net(1)],
    }
}

struct Table {
    folio: StdArc<Folio4<LiveMemory>>,
    domain: Domain,
}

impl HasDomain for Table {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

impl Model for Table {
    fn lookup_versions(&self, answer: usize) -> (u32, u32) {
        let got = lookup::lookup(NoLists, self.folio.view(), NETS[answer] + BELOW);
        let got = NextHopId::to_raw(got);
        let of = |version: &u32| hop(*version, answer) == got;
        let earliest = (0..100).find(of);
        let earliest = earliest.unwrap_or_else(|| panic!("{got} is no next hop of {answer}"));
        (earliest, (earliest..=earliest + 1).rfind(of).unwrap_or(earliest))
    }
}

/// Compiles version 0, and names the items that readers may load.
fn compile() -> (StdArc<Folio4<LiveMemory>>, Box<dyn Patch<Ipv4>>) {
    let config = Config::default();
    let folio =
        compile::compile(&model::Machine::here(), &routes(0), &config, &|_| Ok(())).unwrap();
    let live = update::live(folio);
    let WriteSide::Patched(patch) = live.write else { panic!("memory is short") };
    let engine: StdArc<dyn Any + Send + Sync> = live.engine;
    let folio: StdArc<Folio4<LiveMemory>> = engine.downcast().unwrap();
    folio.root.observe([(NETS[0] >> (32 - ROOT)) as usize]);
    (folio, patch)
}

/// Runs the model; returns the number of pages reused.
pub fn patched(size: Size) -> u32 {
    let (folio, mut patch) = compile();
    let domain = Domain::new();
    let table = Arc::new(Table { folio, domain });
    let versions = StdArc::<Versions>::default();
    let mut again = 0;
    run(size, table.clone(), &versions.clone(), || {
        for _ in 0..size.commits {
            let retired = patch.retired_bytes();
            patch.reclaim(table.domain.oldest());
            again += u32::from(patch.retired_bytes() < retired);
            let version = versions.begin();
            patch.patch(&routes(version), &prefixes(version)).unwrap();
            patch.seal(table.domain.advance());
            versions.end();
        }
    });
    again
}
