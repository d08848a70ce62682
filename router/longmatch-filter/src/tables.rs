//! The tables of classes in the kernel: one for each end of packets that is looked up, all in one version.

use std::net::IpAddr;

use longmatch::{Family, IpPrefix, Ipv4, Ipv6, NextHopId, Prefix, Rib};
use longmatch_bpf::asm::{Alu, Assembler, Label, R1, R2, R8, STACK, Width};
use longmatch_bpf::sys::{self, Map};
use longmatch_bpf::{
    BuildError, KernelFamily, KernelTable, Shape, ValueRanges, Version, Versions, emit_lookup4,
    emit_lookup6,
};

use crate::content::{Classes, Content, Parts};
use crate::error::FilterError;
use crate::layout::ends;
use crate::policy::Policy;
use crate::state::BothClasses;

/// The name of the array of versions.
pub(crate) const VERSIONS: &str = "filter_tables";
const VERSION: &str = "filter_version";
/// Four bytes of the stack, from its end, that the choice of the version uses.
const KEY: i16 = -40;
/// The pointer to the version during lookups.
const BASE: longmatch_bpf::asm::Register = R8;

/// A family of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IpFamily {
    V4,
    V6,
}

/// A lookup: the class of an address in r0. It keeps r6, r7 and r9.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lookup {
    pub family: IpFamily,
    /// The number of the table, in the order of the ends.
    pub table: u32,
    /// The place of the address, in network order, from the end of the stack.
    pub key: i16,
}

/// The routes of one end: prefixes with classes.
#[derive(Default)]
struct Routes {
    ipv4: Rib<Ipv4>,
    ipv6: Rib<Ipv6>,
}

/// The addresses of lists as prefixes with classes, which are new if no list had them before. O(n log n).
pub(crate) struct Merged(Vec<Routes>);

impl Merged {
    /// # Errors
    /// If there are too many classes.
    pub(crate) fn of(
        content: &Content,
        policy: &Policy,
        classes: &mut BothClasses,
    ) -> Result<Self, FilterError> {
        let routes = ends(policy).iter().map(|end| {
            let classes = &mut classes[*end as usize];
            let mut routes = Routes::default();
            fill(&mut routes.ipv4, content.parts(policy, *end, |it| &it.ipv4), classes)?;
            fill(&mut routes.ipv6, content.parts(policy, *end, |it| &it.ipv6), classes)?;
            Ok(routes)
        });
        routes.collect::<Result<_, FilterError>>().map(Self)
    }

    fn ribs(&self) -> Vec<longmatch_bpf::Routes<'_>> {
        self.0.iter().map(|routes| (&routes.ipv4, &routes.ipv6)).collect()
    }
}

/// Inserts parts as prefixes with the numbers of their classes.
pub(crate) fn fill<F: Family>(
    rib: &mut Rib<F>,
    parts: Parts<F>,
    classes: &mut Classes,
) -> Result<(), FilterError> {
    for part in parts {
        // The class of no list, 0, has no parts.
        let Some(class) = NextHopId::new(classes.number(part.lists)?) else { continue };
        for prefix in part.range.prefixes() {
            rib.insert(prefix, class).map_err(|_| BuildError::Tables { tables: 1 })?;
        }
    }
    Ok(())
}

/// The versions, of which packets see one.
#[derive(Debug)]
pub(crate) struct Tables(Versions);

impl Tables {
    /// Tables in a shape that they choose.
    pub(crate) fn create(merged: &Merged) -> Result<Self, FilterError> {
        let table = KernelTable::build(&merged.ribs())?;
        let first = Version::load(VERSION, &table)?;
        Ok(Self(Versions::new(VERSIONS, &first)?))
    }

    pub(crate) fn open(map: Map) -> Result<Self, sys::Error> {
        Ok(Self(Versions::open(map)?))
    }

    /// Loads a version; `None` if it needs another shape.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn load(&self, merged: &Merged) -> Result<Option<Version>, FilterError> {
        match KernelTable::build_for(self.0.shape(), &merged.ribs()) {
            Ok(table) => Ok(Some(Version::load(VERSION, &table)?)),
            Err(BuildError::Full { .. } | BuildError::Value { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Shows packets a version. The one before is freed.
    pub(crate) fn publish(&self, version: &Version) -> Result<(), sys::Error> {
        self.0.replace(version)
    }

    /// The classes of an address at the ends, in their order.
    pub(crate) fn find(&self, policy: &Policy, address: IpAddr) -> Result<Vec<u32>, sys::Error> {
        let version = self.0.current()?;
        Ok((0..ends(policy).len() as u32).map(|table| version.lookup(table, address)).collect())
    }

    /// The classes of all addresses of a table, or of those that share a word of a root with a prefix: both families.
    pub(crate) fn ranges(
        &self,
        table: u32,
        near: Option<IpPrefix>,
    ) -> Result<(ValueRanges<Ipv4>, ValueRanges<Ipv6>), sys::Error> {
        self.0.current()?.ranges_near(table, near)
    }

    /// Replaces the classes of the addresses that one word of the first table's root covers, by a store of that word.
    /// Returns `false`, and changes nothing, if the table is full.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn patch<F: KernelFamily>(
        &self,
        slot: Prefix<F>,
        classes: &Rib<F>,
    ) -> Result<bool, FilterError> {
        let version = self.0.current()?;
        match version.table().change(0, classes, slot) {
            Ok(patch) => version.publish(&patch),
            Err(BuildError::Full { .. } | BuildError::Value { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// Emits the choice of the version.
    pub(crate) fn emit_version(&self, asm: &mut Assembler, pass: Label) {
        self.0.emit(asm, BASE, KEY, pass);
    }

    /// Emits a lookup.
    pub(crate) fn emit_lookup(&self, asm: &mut Assembler, lookup: Lookup) {
        let shape: Shape = self.0.shape();
        let Lookup { family, table, key } = lookup;
        match family {
            IpFamily::V4 => {
                asm.load(R1, STACK, key, Width::Four);
                asm.swap_network(R1, Width::Four);
                emit_lookup4(asm, shape, table, BASE);
            }
            IpFamily::V6 => {
                for (register, offset) in [(R1, 0), (R2, 8)] {
                    asm.load(register, STACK, key + offset, Width::Eight);
                    asm.swap_network(register, Width::Eight);
                }
                emit_lookup6(asm, shape, table, BASE);
            }
        }
        // Values have no more bits than this, but without a bound the verifier follows more paths.
        asm.alu_32_immediate(Alu::And, longmatch_bpf::asm::R0, 0xffff);
    }
}
