//! The kernels whose machine code `cargo xtask asm` counts.
//!
//! The engines are generic, so their machine code is generated where they are used. Here each structure that an engine
//! shows is used with both methods for many addresses, at every SIMD level. Nothing calls these functions: they are only
//! compiled, and `cargo xtask asm` follows their calls and lists each under the names of its engine and family.

use std::hint::black_box;
use std::net::IpAddr;

use longmatch::engine::KernelVisitor;
use longmatch::simd::Simd;
use longmatch::{Engine, Family, FrozenTable, Ipv4, Ipv6, Lookup, NamedEngines, NextHopId, Table};

/// All kernels of a structure.
///
/// # Panics
/// If `out` is shorter than `addrs`.
#[inline(never)]
pub fn kernel<F: Family, E: Lookup<F>>(
    engine: &E,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    Lookup::<F>::lookup_each(engine, simd, addrs, out);
    Lookup::<F>::lookup_batch_with(engine, simd, addrs, out);
}

/// Has the kernels of every structure compiled.
pub struct Compile;

impl<F: Family> KernelVisitor<F> for Compile {
    fn visit<E: Engine<F>>(&mut self) {
        black_box(kernel::<F, E> as fn(&E, Simd, &[F::Bits], &mut [Option<NextHopId>]));
    }
}

/// Names every kernel, so that all are compiled.
pub fn kernels() {
    Ipv4::kernels(&mut Compile);
    Ipv6::kernels(&mut Compile);
}

/// Looks addresses up one by one in tables of both kinds.
#[inline(never)]
pub fn addresses(frozen: &FrozenTable<u32>, table: &Table<u32>, addrs: &[IpAddr]) -> u64 {
    let frozen =
        addrs.iter().filter_map(|addr| frozen.lookup(*addr)).map(|value| u64::from(*value));
    let table = addrs.iter().filter_map(|addr| table.lookup(*addr)).map(|value| u64::from(*value));
    frozen.sum::<u64>() + table.sum::<u64>()
}
