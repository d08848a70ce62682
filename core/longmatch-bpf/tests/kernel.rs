//! Answers in the kernel against those of the RIB.

#![cfg(target_os = "linux")]

mod harness;

use std::io::Write;

use harness::{Arrays, Lookup, Random, Tested, ends};
use longmatch::{Bits, Family, Ipv4, Ipv6, NextHopId, Prefix, Rib};
use longmatch_bpf::asm::{Assembler, R0, R1, R2, R6, Register};
use longmatch_bpf::sys::{Program, ProgramKind, Run};
use longmatch_bpf::{
    BuildError, KernelTable, Routes, Version, Versions, emit_lookup4, emit_lookup6,
};

/// The arrays, or a message that the test is skipped.
fn arrays(test: &str) -> Option<Arrays> {
    match Arrays::new() {
        Ok(arrays) => Some(arrays),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "skipped: {test}: {error}");
            None
        }
    }
}

/// Tables without routes.
#[derive(Default)]
struct Empty(Rib<Ipv4>, Rib<Ipv6>);

/// A table of one family beside an empty one of the other.
trait Single: Tested {
    fn routes<'r>(rib: &'r Rib<Self>, empty: &'r Empty) -> Routes<'r>
    where
        Self: Sized;
    fn ip(bits: Self::Bits) -> std::net::IpAddr;
}

impl Single for Ipv4 {
    fn routes<'r>(rib: &'r Rib<Self>, empty: &'r Empty) -> Routes<'r> {
        (rib, &empty.1)
    }

    fn ip(bits: u32) -> std::net::IpAddr {
        std::net::IpAddr::V4(bits.into())
    }
}

impl Single for Ipv6 {
    fn routes<'r>(rib: &'r Rib<Self>, empty: &'r Empty) -> Routes<'r> {
        (&empty.0, rib)
    }

    fn ip(bits: u128) -> std::net::IpAddr {
        std::net::IpAddr::V6(bits.into())
    }
}

fn build<F: Single>(rib: &Rib<F>) -> KernelTable {
    KernelTable::build(&[F::routes(rib, &Empty::default())]).unwrap()
}

/// The shapes of random tables.
const SHAPES: usize = 6;

/// A table of a shape: prefixes anywhere, near each other, hosts, nested, in one block of 64 bits, dense.
fn random<F: Family>(random: &mut Random, shape: usize) -> Rib<F> {
    let width = F::Bits::WIDTH;
    let most = [3, 40, 400, 2000][random.below(4)];
    let count = 1 + random.below(most);
    let values = [1, 3, 200, 255, 256, 60_000, 70_000][random.below(7)];
    let center = random.addr();
    let mut rib = Rib::new();
    for _ in 0..count {
        let any = random.below(usize::from(width) + 1) as u8;
        let (keep, len) = match shape {
            0 => (0, any),
            1 => (random.below(usize::from(width)) as u8, any),
            2 => (random.below(usize::from(width)) as u8, width),
            3 => (width, any),
            4 => (width / 2, width / 2 + any / 2),
            _ => (width - 12, width - any.min(10)),
        };
        // The first bits of the centre, at the high end of 128 bits.
        let free = u128::MAX.checked_shr(keep.into()).unwrap_or(0);
        let addr = center & !free | random.addr() & free;
        let bits = F::Bits::from_u128(addr >> (128 - width));
        let id = NextHopId::new(1 + random.below(values) as u32).unwrap();
        rib.insert(Prefix::from_bits_masked(bits, len), id).unwrap();
    }
    rib
}

/// Compares the reference over the words with the RIB.
fn words_agree<F: Single>(rib: &Rib<F>, table: &KernelTable) {
    for bits in ends(rib) {
        let right = NextHopId::to_raw(rib.lookup(F::addr(bits)));
        assert_eq!(table.lookup(0, F::ip(bits)), right, "{:?} of {rib:?}", F::addr(bits));
    }
}

/// A version and its program for each shape: the kernel takes tens of milliseconds to load a program.
type Programs = Vec<(Version, Program)>;

/// The program for a table, which is written over the one before: no program runs meanwhile.
fn program_for<'p, F: Single>(
    arrays: &Arrays,
    programs: &'p mut Programs,
    table: &KernelTable,
) -> &'p Program {
    let place = programs.iter().position(|(version, _)| version.shape() == table.shape());
    let place = place.unwrap_or_else(|| {
        let version = Version::load("random", table).unwrap();
        let program = arrays.program::<F>(Lookup::Direct(&version), false, true).unwrap();
        programs.push((version, program));
        programs.len() - 1
    });
    let memory = programs[place].0.map().memory().unwrap();
    let words = memory.words().iter().zip(table.words().0);
    words.for_each(|(to, from)| to.store(*from, std::sync::atomic::Ordering::Relaxed));
    &programs[place].1
}

fn random_tables<F: Single>(count: u64, kernel: u64) {
    let arrays = arrays("random tables in the kernel");
    let mut programs = Programs::new();
    for seed in 0..count {
        let mut numbers = Random(seed);
        let rib = random::<F>(&mut numbers, seed as usize % SHAPES);
        let table = build(&rib);
        words_agree(&rib, &table);
        let Some(arrays) = arrays.as_ref().filter(|_| seed % kernel == 0) else { continue };
        let program = program_for::<F>(arrays, &mut programs, &table);
        let more = (0..500).map(|_| F::Bits::from_u128(numbers.addr() >> (128 - F::Bits::WIDTH)));
        arrays.compare(program, &rib, ends(&rib).chain(more));
    }
}

#[test]
fn random_tables_answer_as_the_rib() {
    random_tables::<Ipv4>(120, 2);
    random_tables::<Ipv6>(120, 2);
}

#[test]
#[ignore = "10,000 tables of each family: minutes"]
fn ten_thousand_random_tables_answer_as_the_rib() {
    random_tables::<Ipv4>(10_000, 1);
    random_tables::<Ipv6>(10_000, 1);
}

/// A table that programs read.
struct Loaded {
    table: KernelTable,
    version: Version,
    versions: Versions,
    program: Program,
}

impl Loaded {
    fn new<F: Single>(arrays: &Arrays, table: KernelTable) -> Self {
        let version = Version::load("changes", &table).unwrap();
        let versions = Versions::new("versions", &version).unwrap();
        let program = arrays.program::<F>(Lookup::Replaced(&versions), false, true).unwrap();
        Self { table, version, versions, program }
    }

    /// Puts a new version in the place of the one without room, or begins again with a larger shape.
    fn build_again<F: Single>(&mut self, arrays: &Arrays, rib: &Rib<F>) {
        let empty = Empty::default();
        match KernelTable::build_for(self.table.shape(), &[F::routes(rib, &empty)]) {
            Ok(table) => {
                self.table = table;
                self.version = Version::load("changes", &self.table).unwrap();
                self.versions.replace(&self.version).unwrap();
            }
            Err(error) => {
                assert!(matches!(error, BuildError::Full { .. }), "{error}");
                *self = Self::new::<F>(arrays, build(rib));
            }
        }
    }
}

/// Applies changes to a table that programs read, and compares.
fn changes<F: Single>(steps: usize) {
    let mut numbers = Random(7);
    let mut rib = random::<F>(&mut numbers, 1);
    let Some(arrays) = arrays("changes in the kernel") else { return };
    let mut loaded = Loaded::new::<F>(&arrays, build(&rib));
    let (mut patches, mut versions) = (0, 1);
    for step in 0..steps {
        let source = random::<F>(&mut numbers, step % SHAPES);
        for route in source.iter().filter(|route| route.prefix.len() > 8).take(40) {
            let prefix = route.prefix;
            let id = NextHopId::new(route.next_hop.get() % 255 + 1).unwrap();
            match numbers.below(3) {
                0 => drop(rib.remove(prefix)),
                _ => drop(rib.insert(prefix, id)),
            }
            match loaded.table.change(0, &rib, prefix) {
                Ok(patch) => {
                    loaded.version.publish(&patch);
                    patches += 1;
                }
                Err(_) => {
                    loaded.build_again(&arrays, &rib);
                    versions += 1;
                }
            }
        }
        // Few routes remain, so that the time goes into changes.
        while rib.len() > 3_000 {
            let prefix = rib.iter().nth(numbers.below(3_000)).unwrap().prefix;
            rib.remove(prefix);
            match loaded.table.change(0, &rib, prefix) {
                Ok(patch) => loaded.version.publish(&patch),
                Err(_) => loaded.build_again(&arrays, &rib),
            }
        }
        arrays.compare(&loaded.program, &rib, ends(&rib));
        for bits in ends(&rib).take(50) {
            assert_eq!(loaded.version.lookup(0, F::ip(bits)), loaded.table.lookup(0, F::ip(bits)));
        }
    }
    println!("{patches} changes were stored, in {versions} versions");
}

#[test]
fn programs_find_changes() {
    changes::<Ipv4>(40);
    changes::<Ipv6>(40);
}

#[test]
#[ignore = "10^5 changes: minutes"]
fn programs_find_a_hundred_thousand_changes() {
    changes::<Ipv4>(2_500);
    changes::<Ipv6>(2_500);
}

/// Compares a table of the data directory: every range end and, for IPv4, every /24.
fn real<F: Single>(name: &str, blocks: bool) {
    let Some(dir) = std::env::var_os("LONGMATCH_DATA").map(std::path::PathBuf::from) else {
        return println!("skipped: {name} in the kernel: set LONGMATCH_DATA");
    };
    let file = ["txt.zst", "txt"].map(|end| dir.join(format!("{name}.{end}")));
    let Some(file) = file.into_iter().find(|file| file.exists()) else {
        return println!("skipped: no {name} in {}", dir.display());
    };
    let Some(arrays) = arrays(name) else { return };
    let rib = harness::read::<F>(&file, 255);
    let table = build(&rib);
    let version = Version::load("real", &table).unwrap();
    let program = arrays.program::<F>(Lookup::Direct(&version), false, true).unwrap();
    let mut count = arrays.compare(&program, &rib, ends(&rib));
    if blocks {
        let firsts = (0..1_u128 << 24).map(|block| F::Bits::from_u128(block << 8));
        count += arrays.compare(&program, &rib, firsts);
    }
    println!("{name}: {} routes, {} bytes, {count} answers", rib.len(), table.used_bytes());
}

#[test]
#[ignore = "whole tables: a minute"]
fn whole_tables_answer_as_the_rib() {
    for name in ["ipv4-full", "ipv4-pch2015-truenh", "ipv4-wide2010-neighbour-as"] {
        real::<Ipv4>(name, true);
    }
    for name in ["ipv4-linx2017-truenh", "ipv4-hosts", "ipv4-bgp-and-hosts"] {
        real::<Ipv4>(name, true);
    }
    for name in ["ipv4-blocklist", "ipv4-subscribers", "ipv4-firewall-10000"] {
        real::<Ipv4>(name, false);
    }
    for name in ["ipv6-full", "ipv6-linx2017-truenh", "ipv6-hosts", "ipv6-subscribers-64"] {
        real::<Ipv6>(name, false);
    }
    for name in ["ipv6-delegations-56", "ipv6-firewall-10000"] {
        real::<Ipv6>(name, false);
    }
}

/// Lookups in one table of a version, of addresses that are constants of the program: the results of IPv4 and IPv6.
fn constant(versions: &Versions, number: u32, v4: u32, v6: u128) -> [u32; 2] {
    [false, true].map(|is_6| {
        let mut asm = Assembler::default();
        let none = asm.label();
        versions.emit(&mut asm, R6, -4, none);
        if is_6 {
            asm.set_64(R1, (v6 >> 64) as u64);
            asm.set_64(R2, v6 as u64);
            emit_lookup6(&mut asm, versions.shape(), number, R6);
        } else {
            asm.set_64(R1, v4.into());
            emit_lookup4(&mut asm, versions.shape(), number, R6);
        }
        asm.exit();
        asm.place(none);
        asm.set(R0, -1);
        asm.exit();
        let code = asm.finish().unwrap();
        let program = Program::load(ProgramKind::Classifier, "constant", &code).unwrap();
        program.run(&[0; 64], Run::default()).unwrap().result
    })
}

#[test]
fn the_tables_of_a_version_are_apart() {
    let mut numbers = Random(11);
    let ribs: Vec<(Rib<Ipv4>, Rib<Ipv6>)> =
        (0..3).map(|shape| (random(&mut numbers, shape), random(&mut numbers, shape))).collect();
    let tables: Vec<Routes<'_>> = ribs.iter().map(|(v4, v6)| (v4, v6)).collect();
    let table = KernelTable::build(&tables).unwrap();
    let version = match Version::load("tables", &table) {
        Ok(version) => version,
        Err(error) => return println!("skipped: several tables in the kernel: {error}"),
    };
    let versions = Versions::new("tables", &version).unwrap();
    for (number, (v4, v6)) in (0..).zip(&ribs) {
        let addresses = [0, 1].map(|other| {
            // Addresses of another table too.
            let (v4, v6) = &ribs[(number as usize + other) % 3];
            (
                v4.iter().next_back().unwrap().prefix.last(),
                v6.iter().next_back().unwrap().prefix.last(),
            )
        });
        for (addr4, addr6) in addresses {
            let right = [v4.lookup(addr4.into()), v6.lookup(addr6.into())].map(NextHopId::to_raw);
            assert_eq!(constant(&versions, number, addr4, addr6), right, "table {number}");
        }
        for addr in ends(v4) {
            let right = NextHopId::to_raw(v4.lookup(addr.into()));
            assert_eq!(table.lookup(number, Ipv4::ip(addr)), right, "table {number}");
        }
        for addr in ends(v6) {
            let right = NextHopId::to_raw(v6.lookup(addr.into()));
            assert_eq!(table.lookup(number, Ipv6::ip(addr)), right, "table {number}");
        }
    }
    let current = versions.current().unwrap();
    assert_eq!(current.shape(), version.shape());
    let other = KernelTable::build(&tables[..1]).unwrap();
    let error = versions.replace(&Version::load("other", &other).unwrap()).unwrap_err();
    assert!(error.to_string().contains("shapes differ"), "{error}");
}

/// The lookups have as many instructions as reviewed, and the verifier follows few: it gives up after a million. Its own
/// number depends on the kernel, so that it has a limit here.
#[test]
fn lookups_have_as_many_instructions_as_before() {
    let mut counts = Vec::new();
    for value_bytes in [1, 2, 4] {
        let shape = longmatch_bpf::Shape::new(1, value_bytes, 1 << 20).unwrap();
        let count = |emit: fn(&mut Assembler, longmatch_bpf::Shape, u32, Register)| {
            let mut asm = Assembler::default();
            emit(&mut asm, shape, 0, R6);
            asm.len()
        };
        counts.push([count(emit_lookup4), count(emit_lookup6)]);
    }
    assert_eq!(counts, [[379, 1066], [389, 1094], [389, 1094]]);
    let Some(arrays) = arrays("the verifier's count") else { return };
    let table = build(&Rib::<Ipv6>::new());
    let version = Version::load("count", &table).unwrap();
    for (program, most) in [
        (arrays.program::<Ipv4>(Lookup::Direct(&version), false, true), 20_000),
        (arrays.program::<Ipv6>(Lookup::Direct(&version), false, true), 20_000),
    ] {
        let count = program.unwrap().info().unwrap().verified_instructions;
        println!("the verifier followed {count} instructions");
        assert!(count < most, "{count}");
    }
}
