//! Forwarding tables, one for each engine.

use std::sync::{Arc, Mutex, PoisonError};

use longmatch::{NextHopId, Prefix, Rib, TableReader};
use longmatch_forward::{Port, Target};

use crate::declaration::CalledEngine;
use crate::engine_set::with_wider;
use crate::inputs::Named;

use super::family::ForwardFamily;

/// Ports of the forwarder.
pub(crate) const PORTS: u16 = 2;

/// Returns the routes with a default route, so that no packet lacks a route.
///
/// A default route that is not in the table gets its own next hop.
pub(crate) fn with_default<F: ForwardFamily>(rib: &Rib<F>) -> Rib<F> {
    let mut rib = rib.clone();
    if rib.get(Prefix::DEFAULT).is_none() {
        let highest = rib.iter().map(|route| route.next_hop.get()).max().unwrap_or(0);
        let own = NextHopId::new(highest.saturating_add(1)).expect("above 0");
        // A full table keeps its routes, and then some packets have none.
        let _ = rib.insert(Prefix::DEFAULT, own);
    }
    rib
}

/// An engine with its forwarding table, or the reason why it refuses the routes.
pub(crate) type ForwardingTable = (CalledEngine, Result<Compiled, String>);

/// A compiled forwarding table. It does not change, so its writer has ended.
pub(crate) struct Compiled(Mutex<TableReader<Target>>);

impl Compiled {
    /// Returns a reader for one thread.
    pub fn reader(&self) -> TableReader<Target> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Compiles a table for each engine, as [`with_wider`] does.
///
/// # Panics
/// If a spec is malformed.
pub(crate) fn forwarding_tables<F: ForwardFamily>(
    named: Named<'_, F>,
    ports: &[Arc<Port>],
    engines: &[CalledEngine],
) -> Vec<ForwardingTable> {
    let table = F::spread(named.rib, ports).map_err(|error| error.to_string());
    with_wider(engines, named.memory, |_, spec| {
        let writer = table.clone()?.live(F::table_spec(spec.clone()));
        Ok(Compiled(Mutex::new(writer.map_err(|error| error.to_string())?.reader())))
    })
}
