//! Sets of engines that are measured together.

use core::time::Duration;
use std::path::Path;

use longmatch::{CompileError, EngineKind, EngineSpec};
use longmatch_bench::{BenchFamily, BenchTarget, Comparison, Measurement, PeerCommand, PeerEngine};

use crate::declaration::CalledEngine;
use crate::inputs::Named;

/// Makes something of each engine. The first wider variant that holds the table follows an engine that refuses it.
///
/// # Panics
/// If a spec is malformed.
pub(crate) fn with_wider<T>(
    engines: &[CalledEngine],
    memory: Option<u64>,
    mut make: impl FnMut(&CalledEngine, &EngineSpec) -> Result<T, String>,
) -> Vec<(CalledEngine, Result<T, String>)> {
    let mut all = Vec::new();
    for engine in engines {
        let mut spec: EngineSpec = engine.spec.parse().expect("a valid engine spec");
        spec.memory = memory;
        let made = make(engine, &spec);
        let wider = if made.is_ok() { Vec::new() } else { spec.wider() };
        all.push((engine.clone(), made));
        let found = wider.iter().find_map(|spec| {
            let engine = engine.wider(spec);
            make(&engine, spec).ok().map(|made| (engine, Ok(made)))
        });
        all.extend(found);
    }
    all
}

/// The measurement of an engine.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub engine: CalledEngine,
    /// The record, or the reason why there is none.
    pub result: Result<Measurement, String>,
    /// The record of its roofline, if measured.
    pub roofline: Option<Measurement>,
}

impl Measured {
    /// Returns the record, if there is one.
    pub fn record(&self) -> Option<&Measurement> {
        self.result.as_ref().ok()
    }
}

/// Engines compiled from one table.
pub(crate) struct EngineSet<'r, F: BenchFamily> {
    pub table: Named<'r, F>,
    /// The engines that hold the table.
    pub comparison: Comparison<'r, F>,
    /// All engines, each with its index in the comparison or the reason why it has none.
    pub members: Vec<(CalledEngine, Result<usize, String>)>,
}

impl<'r, F: BenchFamily> EngineSet<'r, F> {
    /// Compiles each engine three times, and `auto` once: its choice may be in the set already.
    ///
    /// An engine that refuses the table stays in the set with its reason; the first wider variant that holds the table
    /// follows it.
    ///
    /// # Panics
    /// If a spec is malformed.
    pub fn new(table: Named<'r, F>, engines: &[CalledEngine]) -> Self {
        Self::with(table, engines, |comparison, _, spec| match spec.kind {
            EngineKind::Auto => comparison.add_duplicate(spec),
            _ => comparison.add(spec),
        })
    }

    /// Compiles each engine once, even if it is already in the set, for experiments that do not show compile time.
    ///
    /// # Panics
    /// If a spec is malformed.
    pub fn apart(table: Named<'r, F>, engines: &[CalledEngine]) -> Self {
        Self::with(table, engines, |comparison, _, spec| comparison.add_duplicate(spec))
    }

    /// Compiles engines with `add`, which adds one engine to the comparison.
    ///
    /// # Panics
    /// If a spec is malformed.
    pub fn with(
        table: Named<'r, F>,
        engines: &[CalledEngine],
        mut add: impl FnMut(
            &mut Comparison<'r, F>,
            &CalledEngine,
            &EngineSpec,
        ) -> Result<(), CompileError>,
    ) -> Self {
        let mut comparison = Comparison::new(table.rib);
        let members = with_wider(engines, table.memory, |engine, spec| {
            let place = comparison.len();
            add(&mut comparison, engine, spec).map_err(|error| error.to_string())?;
            assert!(comparison.len() > place, "{spec} is already in the set");
            Ok(place)
        });
        Self { table, comparison, members }
    }

    /// Starts a peer as the last engine; returns its self-description if it holds the table.
    pub fn add_peer(
        &mut self,
        command: &PeerCommand,
        dir: &Path,
        limit: Duration,
    ) -> Option<String> {
        let peer = PeerEngine::new(command, dir, limit, self.comparison.rib());
        let about = peer.as_ref().ok().map(|peer| peer.about().to_owned());
        let place = peer.map_err(|error| error.to_string()).map(|peer| {
            self.comparison.add_peer(peer);
            self.comparison.len() - 1
        });
        self.members.push((CalledEngine::new(&command.name[..]), place));
        about
    }

    /// Iterates over all engines, each with its benchmark target if it holds the table.
    pub fn targets(&self) -> impl Iterator<Item = (&CalledEngine, Option<&dyn BenchTarget<F>>)> {
        self.members.iter().map(|(engine, place)| {
            (engine, place.as_ref().ok().map(|place| self.comparison.engine(*place)))
        })
    }
}
