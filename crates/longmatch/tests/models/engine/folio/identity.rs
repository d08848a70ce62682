//! Identity pages that change under readers: the library's lookup and the library's update, with
//! an escape that each commit adds, moves or removes.

#[path = "../../../../src/engine/folio/identity/codes.rs"]
mod codes;
#[path = "../../../../src/engine/folio/identity/compile.rs"]
mod compile;
#[path = "../../../../src/engine/folio/identity/layout.rs"]
mod layout;
#[path = "../../../../src/engine/folio/identity/lookup.rs"]
mod lookup;
#[path = "../../../../src/engine/folio/identity/update.rs"]
mod update;

use std::any::Any;
use std::sync::Arc as StdArc;

use self::codes::CodeForm;
use self::layout::{Pages, escape_slot, next_slot};
use super::survey::Survey;
use crate::engine::kit::{Batch, Engine, Lookup, Patch, Structure, WriteSide};
use crate::mem::{FrozenMemory, LiveMemory, Memory};
use crate::models::reclaim::{Domain, HasDomain};
use crate::models::{ANSWERS, Model, Size, Versions, run};
use crate::net::{Ipv4, NextHopId, Prefix};
use crate::rib::Rib;
use crate::sync::Arc;

/// What the included files import from the form's `mod.rs`, `check.rs` and `plan.rs`.
pub struct Config {
    codes: Option<CodeForm>,
    root_bits: Option<u8>,
    batch: Batch,
    huge: bool,
}

const EXPECTED: &str = "";

mod check {
    use super::layout::Slices;
    use crate::engine::folio::store::{Account, Page};
    use crate::engine::kit::Corrupt;
    use crate::mem::Run;
    use crate::net::Ipv4;
    use crate::rib::Rib;

    pub const REMOVED: u32 = u32::MAX;

    pub struct Spare {
        pub retired: Vec<Page>,
        pub free: Vec<Run>,
    }

    pub fn check(_: Slices<'_>, _: &Account, _: Spare, _: &Rib<Ipv4>) -> Result<(), Corrupt> {
        Ok(())
    }
}

mod plan {
    use crate::engine::folio::survey::Survey;

    pub fn root_bits(_: &Survey<u32>, _: u8) -> u8 {
        super::ROOT
    }

    pub fn estimate(_: &Survey<u32>, _: u8, _: u8) -> u64 {
        0
    }
}

impl<M: Memory> Lookup<Ipv4> for Pages<M> {}
impl<M: Memory> Structure<Ipv4> for Pages<M> {}
impl Engine<Ipv4> for Pages<FrozenMemory> {}

/// Bits of the root: a page has 2^10 codes of /24.
const ROOT: u8 = 14;
/// The /24 of both answers, in one block of the root, and the address looked up in each.
const NETS: [u32; ANSWERS] = [0x0a00_0100, 0x0a00_0200];
const BELOW: u32 = 0xc8;

/// A next hop that identifies its version and address. Those of some versions have no code.
fn hop(version: u32, answer: usize) -> u32 {
    let above = if version % 3 == 2 { 1000 } else { 0 };
    1 + above + 2 * version + answer as u32
}

/// The routes of a version: one of the two /24 has a route of /25, or a next hop without a code.
fn routes(version: u32) -> Rib<Ipv4> {
    let mut starts = vec![(0, 0)];
    for (answer, net) in NETS.into_iter().enumerate() {
        let whole = hop(version, answer);
        match version as usize % 2 == answer {
            true => starts.extend([(net, 200), (net + 0x80, whole)]),
            false => starts.push((net, whole)),
        }
    }
    starts.push((NETS[1] + 0x100, 0));
    Rib(starts)
}

struct Table {
    pages: StdArc<Pages<LiveMemory>>,
    domain: Domain,
}

impl HasDomain for Table {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

impl Model for Table {
    fn lookup_versions(&self, answer: usize) -> (u32, u32) {
        let got = lookup::lookup(self.pages.view(), NETS[answer] + BELOW);
        let got = NextHopId::to_raw(got);
        let version = (0..100).find(|version| hop(*version, answer) == got);
        let version = version.unwrap_or_else(|| panic!("{got} is no next hop of {answer}"));
        (version, version)
    }
}

/// Compiles version 0, and names the items that readers may load until the last version.
fn compile(last: u32) -> (StdArc<Pages<LiveMemory>>, Box<dyn Patch<Ipv4>>) {
    let codes = Some(CodeForm::Byte);
    let config = Config { codes, root_bits: Some(ROOT), batch: Batch::Auto, huge: false };
    let pages = compile::compile(&Survey::of(&routes(0)), &config, &|_| Ok(())).unwrap();
    let first = pages.codes.len() as u32 - (1 << (24 - ROOT));
    let live = update::live(pages);
    let WriteSide::Patched(patch) = live.write else { panic!("memory is short") };
    let engine: StdArc<dyn Any + Send + Sync> = live.engine;
    let pages: StdArc<Pages<LiveMemory>> = engine.downcast().unwrap();
    pages.root.observe([(NETS[0] >> (32 - ROOT)) as usize]);
    pages.deep.observe(0..2 * (last as usize + 1));
    for page in 0..=last {
        for net in NETS {
            let position = first + (page << (24 - ROOT)) + (net >> 8 & 0x3ff);
            let bits = pages.fixed.escape_bits;
            let slot = escape_slot(bits, position);
            let slots = [slot, next_slot(bits, slot)];
            pages.escapes.observe(slots.into_iter().flat_map(|slot| [2 * slot, 2 * slot + 1]));
        }
    }
    (pages, patch)
}

/// Runs the model; returns the number of pages reused.
pub fn patched(size: Size) -> u32 {
    let (pages, mut patch) = compile(size.commits);
    let domain = Domain::new();
    let table = Arc::new(Table { pages, domain });
    let versions = StdArc::<Versions>::default();
    let mut again = 0;
    run(size, table.clone(), &versions.clone(), || {
        let both = [Prefix::from_bits_masked(NETS[0], 22)];
        let each = NETS.map(|net| Prefix::from_bits_masked(net, 24));
        for _ in 0..size.commits {
            let retired = patch.retired_bytes();
            patch.reclaim(table.domain.oldest());
            again += u32::from(patch.retired_bytes() < retired);
            let version = versions.begin();
            let changed = if version % 2 == 0 { &each[..] } else { &both };
            patch.patch(&routes(version), changed).unwrap();
            patch.seal(table.domain.advance());
            versions.end();
        }
    });
    again
}
