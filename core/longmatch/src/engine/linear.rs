//! The oracle: scans all routes for each address, O(routes) a lookup. Never optimised, so that it
//! can be read at a glance and trusted.

use alloc::vec::Vec;

use crate::engine::kit::{
    Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Form, Lookup,
    Request, Structure,
};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Family, NextHopId, Route};
use crate::rib::Rib;

const NAME: &str = "linear";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "Linear scan",
    summary: "every route: the oracle of the tests",
    hue: ["#84888d", "#7d838c"],
    oracle: true,
    forms: &[Form {
        paper: "none: the oracle",
        reads: "every route",
        structure: "the routes",
        ..Form::NEW
    }],
    ..Descriptor::NEW
};

/// Every route; lookups do not rely on the order.
///
/// ```
/// use longmatch::engine::linear::Linear;
/// use longmatch::{Engine, EngineKind, Fib, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let (oracle, fib) = (Linear::compile(&rib, &())?, Fib::compile(&rib, EngineKind::Poptrie)?);
/// let addrs: Vec<u32> = (0..=255).map(|first| first << 24).collect();
/// let (mut expected, mut found) = ([None; 256], [None; 256]);
/// oracle.lookup_batch(&addrs, &mut expected);
/// fib.lookup_batch(&addrs, &mut found);
/// assert_eq!(found, expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Linear<F: Family> {
    routes: Vec<Route<F>>,
}

/// Estimated bytes of the routes.
pub(super) fn estimate<F: Family>(rib: &Rib<F>) -> u64 {
    (rib.len() * size_of::<Route<F>>()) as u64
}

impl<F: Family> Lookup<F> for Linear<F> {
    #[inline]
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        let covering = self.routes.iter().filter(|route| route.prefix.contains_bits(addr));
        covering.max_by_key(|route| route.prefix.len()).map(|route| route.next_hop)
    }

    fn memory_usage(&self) -> MemoryUsage {
        [MemoryPart::of_slice("routes", &self.routes)].into()
    }
}

impl<F: Family> Structure<F> for Linear<F> {
    const NAME: &'static str = NAME;
}

impl<F: Family> Engine<F> for Linear<F> {
    type Config = ();

    fn compile(rib: &Rib<F>, (): &()) -> Result<Self, CompileError> {
        let mut routes = Vec::new();
        if routes.try_reserve_exact(rib.len()).is_err() {
            return Err(CompileError::Allocation { engine: NAME, bytes: estimate(rib) });
        }
        routes.extend(rib.iter());
        Ok(Self { routes })
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        if self.routes.iter().copied().eq(rib.iter()) {
            Ok(())
        } else {
            Err(Corrupt { engine: NAME, what: "the routes are not the RIB's".into() })
        }
    }
}

/// Builder for the registry.
pub(crate) struct Build;

impl<F: Family> Builder<F> for Build {
    fn build<V: EngineVisitor<F>>(request: &Request<'_, F>, visitor: V) -> Built<F, V> {
        request.without_options()?;
        request.admit(|| estimate(request.rib))?;
        Ok(visitor.visit(Linear::compile(request.rib, &())?))
    }
}
