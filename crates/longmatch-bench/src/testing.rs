//! Small tables with every kind of edge, and an engine that is wrong on purpose: a check that
//! cannot fail is worth nothing.

use longmatch::{
    CompileError, Corrupt, Engine, Family, Ipv4, Ipv6, Lookup, MemoryUsage, NextHopId, Prefix, Rib,
    Structure,
};

fn table<F: Family>(prefixes: &[&str]) -> Rib<F> {
    let mut rib = Rib::new();
    for (i, text) in prefixes.iter().enumerate() {
        let Ok(prefix) = text.parse::<Prefix<F>>() else { panic!("{text}") };
        // Next hops repeat, so that some neighbouring ranges have the same.
        rib.insert(prefix, NextHopId::new(1 + i as u32 % 5).unwrap()).unwrap();
    }
    rib
}

/// Nested, adjacent and host routes, at both ends of the address space too.
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

/// The same for IPv6.
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

/// An engine that answers everything but one address as it should.
pub struct Wrong<F: Family, E> {
    /// The engine whose answers are right.
    pub engine: E,
    /// The address with the wrong answer.
    pub at: F::Bits,
    /// Whether only the kernel for batches is wrong.
    pub batch_only: bool,
}

impl<F: Family, E: Engine<F>> Wrong<F, E> {
    fn spoil(&self, addr: F::Bits, answer: Option<NextHopId>) -> Option<NextHopId> {
        if addr == self.at { NextHopId::new(NextHopId::to_raw(answer) + 1) } else { answer }
    }
}

impl<F: Family, E: Engine<F>> Lookup<F> for Wrong<F, E> {
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

impl<F: Family, E: Engine<F>> Structure<F> for Wrong<F, E> {
    const NAME: &'static str = "wrong";
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        self.engine.variant()
    }
}

impl<F: Family, E: Engine<F>> Engine<F> for Wrong<F, E> {
    type Config = E::Config;

    fn compile(rib: &Rib<F>, config: &E::Config) -> Result<Self, CompileError> {
        Ok(Self { engine: E::compile(rib, config)?, at: F::Bits::default(), batch_only: false })
    }

    fn check(&self, _: &Rib<F>) -> Result<(), Corrupt> {
        // `Corrupt` cannot be made outside the core; what is wrong here shows in the answers.
        Ok(())
    }
}
