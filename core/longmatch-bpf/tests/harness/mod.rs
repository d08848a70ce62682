//! Lookups in the kernel over arrays of addresses, by runs of programs without an interface.

#![allow(dead_code, reason = "tests and the example use different parts")]

use std::sync::atomic::Ordering::Relaxed;

use longmatch::{Bits, Family, Ipv4, Ipv6, Rib};
use longmatch_bpf::asm::{Alu, Assembler, If, R0, R1, R2, R3, R6, R7, R8, R9, STACK, Width};
use longmatch_bpf::sys::{Error, Map, MapKind, MapSpec, Memory, Program, ProgramKind, Run};
use longmatch_bpf::{KernelFamily, Version, Versions, emit_lookup4, emit_lookup6};

/// The logarithm of the number of addresses of a batch.
pub const BATCH_BITS: u32 = 18;

/// A family, with the parts of programs that differ.
pub trait Tested: KernelFamily {
    /// Lookups in one run.
    const UNROLLED: u32;
    /// The logarithm of the bytes of an address in the array.
    const KEY_SHIFT: u32;
    /// Emits the load of the address at r1 to r1 and r2, and the lookup.
    fn emit(asm: &mut Assembler, shape: longmatch_bpf::Shape);
    /// Emits the load of the address at r1, and its storage for a trie at the stack's end.
    fn emit_trie_key(asm: &mut Assembler);
    /// The words of an address in the array.
    fn words(addr: Self::Bits) -> Vec<u32>;
}

impl Tested for Ipv4 {
    const UNROLLED: u32 = 16;
    const KEY_SHIFT: u32 = 2;

    fn emit(asm: &mut Assembler, shape: longmatch_bpf::Shape) {
        asm.load(R1, R1, 0, Width::Four);
        emit_lookup4(asm, shape, 0, R6);
    }

    fn emit_trie_key(asm: &mut Assembler) {
        asm.load(R3, R1, 0, Width::Four);
        asm.swap_network(R3, Width::Four);
        asm.store(STACK, -20, R3, Width::Four);
    }

    fn words(addr: u32) -> Vec<u32> {
        vec![addr]
    }
}

impl Tested for Ipv6 {
    const UNROLLED: u32 = 4;
    const KEY_SHIFT: u32 = 4;

    fn emit(asm: &mut Assembler, shape: longmatch_bpf::Shape) {
        asm.load(R2, R1, 8, Width::Eight);
        asm.load(R1, R1, 0, Width::Eight);
        emit_lookup6(asm, shape, 0, R6);
    }

    fn emit_trie_key(asm: &mut Assembler) {
        for half in [0, 8] {
            asm.load(R3, R1, half, Width::Eight);
            asm.swap_network(R3, Width::Eight);
            asm.store(STACK, -20 + half, R3, Width::Four);
            asm.alu_64_immediate(Alu::ShiftRight, R3, 32);
            asm.store(STACK, -16 + half, R3, Width::Four);
        }
    }

    fn words(addr: u128) -> Vec<u32> {
        let halves = [(addr >> 64) as u64, addr as u64].map(u64::to_ne_bytes);
        let halves = halves.as_flattened().chunks_exact(4);
        halves.map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
    }
}

/// Where a program looks.
#[derive(Clone, Copy)]
pub enum Lookup<'m> {
    /// Nowhere: the loop alone, and the address as the answer.
    Nothing,
    /// In a version that stays.
    Direct(&'m Version),
    /// In the current version of an array of versions.
    Replaced(&'m Versions),
    /// In the kernel's own trie.
    Trie(&'m Map),
}

/// Arrays of addresses and of answers.
pub struct Arrays {
    keys: Map,
    key_memory: Memory,
    answers: Map,
    answer_memory: Memory,
    state: Map,
}

impl Arrays {
    pub fn new() -> Result<Self, Error> {
        let array = |name, bytes: u32| {
            Map::create(&MapSpec::new(MapKind::MappableArray, name, bytes << BATCH_BITS, 1))
        };
        let (keys, answers) = (array("keys", 16)?, array("answers", 4)?);
        let (key_memory, answer_memory) = (keys.memory()?, answers.memory()?);
        let state = Map::create(&MapSpec::new(MapKind::Array, "state", 16, 1))?;
        Ok(Self { keys, key_memory, answers, answer_memory, state })
    }

    /// Makes the program for lookups of these arrays' addresses. Each waits for the answer before, or not; it stores the
    /// answers, or only adds them up.
    pub fn program<F: Tested>(
        &self,
        lookup: Lookup<'_>,
        waits: bool,
        stores: bool,
    ) -> Result<Program, Error> {
        let mut asm = Assembler::default();
        let none = asm.label();
        match lookup {
            Lookup::Direct(version) => asm.map_value(R6, version.map().descriptor(), 0),
            Lookup::Replaced(versions) => versions.emit(&mut asm, R6, -4, none),
            _ => asm.set(R6, 0),
        }
        asm.map_value(R9, self.state.descriptor(), 0);
        asm.load(R7, R9, 0, Width::Eight);
        asm.set(R8, 0);
        asm.set(R0, 0);
        for number in 0..F::UNROLLED as i32 {
            self.element(&mut asm, &self.keys, number, F::KEY_SHIFT as i32, waits);
            match lookup {
                Lookup::Nothing => asm.load(R0, R1, 0, Width::Four),
                Lookup::Direct(version) => F::emit(&mut asm, version.shape()),
                Lookup::Replaced(versions) => F::emit(&mut asm, versions.shape()),
                Lookup::Trie(map) => {
                    let missing = asm.label();
                    F::emit_trie_key(&mut asm);
                    asm.store_immediate(STACK, -24, F::Bits::WIDTH.into(), Width::Four);
                    asm.look_up(map.descriptor(), -24);
                    asm.jump_by_null(If::Equal, missing);
                    asm.load(R0, R0, 0, Width::Four);
                    asm.place(missing);
                }
            }
            asm.alu_64(Alu::Add, R8, R0);
            if stores {
                self.element(&mut asm, &self.answers, number, 2, false);
                asm.store(R1, 0, R0, Width::Four);
            }
        }
        asm.add(R7, F::UNROLLED as i32);
        asm.store(R9, 0, R7, Width::Eight);
        asm.load(R1, R9, 8, Width::Eight);
        asm.alu_64(Alu::Add, R1, R8);
        asm.store(R9, 8, R1, Width::Eight);
        asm.place(none);
        asm.set(R0, 2);
        asm.exit();
        // Each run of an XDP program waits for a grace period of RCU before and after, which takes tests minutes.
        let kind = if stores { ProgramKind::Classifier } else { ProgramKind::Xdp };
        Program::load(kind, "lookups", &asm.finish().unwrap())
    }

    /// r1 becomes the address of an element.
    fn element(&self, asm: &mut Assembler, map: &Map, number: i32, shift: i32, waits: bool) {
        asm.copy(R2, R7);
        asm.add(R2, number);
        if waits {
            asm.copy(R3, R0);
            asm.and(R3, 0);
            asm.alu_64(Alu::Add, R2, R3);
        }
        asm.and(R2, (1 << BATCH_BITS) - 1);
        asm.alu_64_immediate(Alu::ShiftLeft, R2, shift);
        asm.map_value(R1, map.descriptor(), 0);
        asm.alu_64(Alu::Add, R1, R2);
    }

    /// Sets the addresses, at most `2^BATCH_BITS`.
    pub fn set_keys<F: Tested>(&self, keys: &[F::Bits]) {
        let words = keys.iter().flat_map(|key| F::words(*key));
        self.key_memory.words().iter().zip(words).for_each(|(to, from)| to.store(from, Relaxed));
    }

    /// Runs a program over `count` addresses: the mean nanoseconds of a lookup, and the sum of the answers.
    pub fn run<F: Tested>(&self, program: &Program, count: usize) -> (f64, u64) {
        self.state.insert(&[0; 4], &[0; 16]).unwrap();
        let repeat = (count as u32).div_ceil(F::UNROLLED);
        let run = Run { repeat, packet_bytes: 0 };
        let outcome = program.run(&[0; 64], run).unwrap();
        let state = self.state.look_up(&[0; 4]).unwrap().unwrap();
        let sum = u64::from_ne_bytes(state[8..].try_into().unwrap());
        (outcome.duration.as_nanos() as f64 / f64::from(F::UNROLLED), sum)
    }

    /// The answers of the last run of a program that stores them.
    pub fn answer(&self, number: usize) -> u32 {
        self.answer_memory.words()[number].load(Relaxed)
    }

    /// Compares the answers of a program for addresses with those of the RIB; returns their number.
    pub fn compare<F: Tested>(
        &self,
        program: &Program,
        rib: &Rib<F>,
        keys: impl Iterator<Item = F::Bits>,
    ) -> usize {
        let (mut count, mut batch) = (0, Vec::with_capacity(1 << BATCH_BITS));
        let mut keys = keys.peekable();
        let mut right = vec![None; 1 << BATCH_BITS];
        while keys.peek().is_some() {
            batch.clear();
            batch.extend(keys.by_ref().take(1 << BATCH_BITS));
            self.set_keys::<F>(&batch);
            self.run::<F>(program, batch.len());
            rib.lookup_batch(&batch, &mut right);
            for (number, (key, right)) in batch.iter().zip(&right).enumerate() {
                let right = right.map_or(0, |id| id.get());
                assert_eq!(self.answer(number), right, "{:?}", F::addr(*key));
            }
            count += batch.len();
        }
        count
    }
}

/// The first and last address of every range of a table, and their neighbours.
pub fn ends<F: Family>(rib: &Rib<F>) -> impl Iterator<Item = F::Bits> {
    rib.ranges().flat_map(|range| [range.first, range.last])
}

/// A sequence of numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn addr(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// Reads a table of the data directory: a file of `prefix id` lines, or such a file compressed by zstd. Next hops that are
/// not numbers get numbers in the order of their appearance, from 1 to `most`.
pub fn read<F: Family>(path: &std::path::Path, most: u32) -> Rib<F> {
    let text = if path.extension().is_some_and(|it| it == "zst") {
        let output = std::process::Command::new("zstdcat").arg(path).output().expect("zstdcat");
        String::from_utf8(output.stdout).unwrap()
    } else {
        std::fs::read_to_string(path).unwrap()
    };
    let mut hops = std::collections::HashMap::new();
    let mut rib = Rib::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split_ascii_whitespace();
        let (Some(prefix), hop) = (fields.next(), fields.next().unwrap_or("1")) else { continue };
        let next = hops.len() as u32 % most + 1;
        let id = *hops.entry(hop.to_owned()).or_insert(next);
        let Ok(prefix) = prefix.parse() else { continue };
        rib.insert(prefix, longmatch::NextHopId::new(id).unwrap()).unwrap();
    }
    rib
}

/// The kernel's trie with the routes of a table.
pub fn trie<F: Family>(rib: &Rib<F>) -> Result<Map, Error> {
    let address = usize::from(F::Bits::WIDTH / 8);
    let spec = MapSpec::new(MapKind::LpmTrie, "trie", 4, rib.len() as u32 + 1);
    let map = Map::create(&MapSpec { key_size: address as u32 + 4, ..spec })?;
    for route in rib.iter() {
        let mut key = u32::from(route.prefix.len()).to_ne_bytes().to_vec();
        key.extend(route.prefix.bits().to_network().as_ref());
        map.insert(&key, &route.next_hop.get().to_ne_bytes())?;
    }
    Ok(map)
}
