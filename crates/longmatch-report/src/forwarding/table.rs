//! Forwarding tables, one for each engine.

use std::sync::{Arc, Mutex, PoisonError};

use longmatch::{EngineSpec, NextHopId, Prefix, Rib, Table, TableReader};
use longmatch_forward::{Port, Target};

use crate::engine_set::EngineUnderTest;
use crate::inputs::Named;

use super::family::ForwardFamily;

/// Ports of the forwarder.
pub(crate) const PORTS: u16 = 2;

/// Returns the routes with a default route, so that no packet lacks a route.
///
/// A default route that is not in the table gets a next hop of its own.
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

/// A forwarding table of one engine.
pub(crate) struct ForwardingTable {
    /// The engine.
    pub engine: EngineUnderTest,
    /// The compiled table, or the reason why the engine refuses it.
    pub compiled: Result<Compiled, String>,
}

/// A compiled forwarding table. It does not change, so its writer has ended.
pub(crate) struct Compiled(Mutex<TableReader<Target>>);

impl Compiled {
    /// Returns a reader of its own for a thread.
    pub fn reader(&self) -> TableReader<Target> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ForwardingTable {
    /// Compiles a table for each engine.
    ///
    /// An engine that refuses the table stays in the list with its reason; the first wider variant that holds the table
    /// follows it.
    ///
    /// # Panics
    /// If a spec is malformed.
    pub fn all<F: ForwardFamily>(
        named: Named<'_, F>,
        ports: &[Arc<Port>],
        engines: &[(&str, &str)],
    ) -> Vec<Self> {
        let table = F::spread(named.rib, ports).map_err(|error| error.to_string());
        let mut all = Vec::new();
        for engine in engines
            .iter()
            .map(|it| EngineUnderTest { alias: it.1.into(), ..EngineUnderTest::new(it.0) })
        {
            let mut spec: EngineSpec = engine.spec.parse().expect("a valid engine spec");
            spec.memory = named.memory;
            let compiled = table.clone().and_then(|table| compile::<F>(table, &spec));
            let refused = compiled.is_err();
            all.push(Self { engine: engine.clone(), compiled });
            let Ok(table) = &table else { continue };
            for wider in spec.wider().into_iter().filter(|_| refused) {
                if let Ok(compiled) = compile::<F>(table.clone(), &wider) {
                    all.push(Self { engine: engine.wider(&wider), compiled: Ok(compiled) });
                    break;
                }
            }
        }
        all
    }
}

fn compile<F: ForwardFamily>(table: Table<Target>, spec: &EngineSpec) -> Result<Compiled, String> {
    let writer = table.live(F::table_spec(spec.clone())).map_err(|error| error.to_string())?;
    Ok(Compiled(Mutex::new(writer.reader())))
}
