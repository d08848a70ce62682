//! Test tables with every kind of edge, and an engine with a wrong answer.

use longmatch::{
    CompileError, Corrupt, Engine, Family, Ipv4, Ipv6, Lookup, MemoryUsage, NextHopId, Prefix, Rib,
    Structure,
};

fn table<F: Family>(prefixes: &[&str]) -> Rib<F> {
    let mut rib = Rib::new();
    for (i, text) in prefixes.iter().enumerate() {
        let Ok(prefix) = text.parse::<Prefix<F>>() else { panic!("{text}") };
        // Next hops repeat, so that some adjacent ranges have the same one.
        rib.insert(prefix, NextHopId::new(1 + i as u32 % 5).unwrap()).unwrap();
    }
    rib
}

/// Nested, adjacent and host routes of IPv4, also at the ends of the address space.
pub fn table4() -> Rib<Ipv4> {
    table(&[
        "0.0.0.0/32",
        "10.0.0.0/8",
        "10.0.0.0/9",
        "10.1.0.0/16",
        "10.1.255.255/32",
        "128.0.0.0/2",
        "192.0.2.0/24",
        "192.0.2.0/25",
        "192.0.2.64/26",
        "192.0.3.0/24",
        "255.255.255.240/28",
        "255.255.255.254/32",
    ])
}

/// Nested, adjacent and host routes of IPv6, also at the ends of the address space.
pub fn table6() -> Rib<Ipv6> {
    table(&[
        "::/128",
        "2000::/3",
        "2001:db8::/32",
        "2001:db8::/48",
        "2001:db8:0:1::/64",
        "2001:db8:0:1::1/128",
        "2001:db8:8000::/33",
        "fe80::/10",
        "ffff:ffff:ffff:ffff::/64",
    ])
}

/// An engine with a wrong answer for one address.
pub struct WrongEngine<F: Family, E> {
    /// The engine with the right answers.
    pub engine: E,
    /// The address with the wrong answer.
    pub at: F::Bits,
    /// Whether only [`Lookup::lookup_batch_with`] is wrong.
    pub batch_only: bool,
}

impl<F: Family, E: Engine<F>> WrongEngine<F, E> {
    fn spoil(&self, addr: F::Bits, answer: Option<NextHopId>) -> Option<NextHopId> {
        if addr == self.at { NextHopId::new(NextHopId::to_raw(answer) + 1) } else { answer }
    }
}

impl<F: Family, E: Engine<F>> Lookup<F> for WrongEngine<F, E> {
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        let answer = self.engine.lookup_bits(addr);
        if self.batch_only { answer } else { self.spoil(addr, answer) }
    }

    fn lookup_batch_with(
        &self,
        simd: longmatch::simd::Simd,
        addrs: &[F::Bits],
        out: &mut [Option<NextHopId>],
    ) {
        self.engine.lookup_batch_with(simd, addrs, out);
        for (addr, out) in addrs.iter().zip(out) {
            *out = self.spoil(*addr, *out);
        }
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.engine.memory_usage()
    }
}

impl<F: Family, E: Engine<F>> Structure<F> for WrongEngine<F, E> {
    const NAME: &'static str = "wrong";
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        self.engine.variant()
    }
}

impl<F: Family, E: Engine<F>> Engine<F> for WrongEngine<F, E> {
    type Config = E::Config;

    fn compile(rib: &Rib<F>, config: &E::Config) -> Result<Self, CompileError> {
        Ok(Self { engine: E::compile(rib, config)?, at: F::Bits::default(), batch_only: false })
    }

    fn check(&self, _: &Rib<F>) -> Result<(), Corrupt> {
        // The structure is sound; only the answers are wrong.
        Ok(())
    }
}
