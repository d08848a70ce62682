//! The cycles of reads, by microarchitecture.

use crate::simd::Microarch;

/// The cycles of reads on a CPU.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct CpuCosts {
    /// Of a read that the next read depends on, where it hits L1d, L2 or L3.
    pub dependent: [f64; 3],
    /// Of one of many independent reads, gathered if the CPU can.
    pub overlapped: [f64; 3],
}

impl CpuCosts {
    /// Dependent reads: estimates near the latencies that vendors state, and one cycle for the index;
    /// on Zen 4 a chase of pointers took 6, 16 to 22 and 51 to 57 cycles. Independent reads: gathers of random
    /// words, measured on Zen 4 and Zen 5, and estimates between these for the others.
    pub const fn of(microarch: Microarch) -> Self {
        let (dependent, overlapped) = match microarch {
            Microarch::Zen3 => ([5.0, 13.0, 47.0], [1.4, 2.2, 4.0]),
            Microarch::Zen4 => ([5.0, 15.0, 51.0], [1.25, 2.0, 3.5]),
            Microarch::Zen5 => ([5.0, 15.0, 48.0], [1.25, 1.45, 2.2]),
            Microarch::IntelServer => ([6.0, 16.0, 90.0], [0.9, 2.0, 6.0]),
            Microarch::Other => ([6.0, 16.0, 60.0], [1.5, 2.5, 5.0]),
        };
        Self { dependent, overlapped }
    }
}
