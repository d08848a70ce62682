//! Sets of engines that are measured together.

use core::time::Duration;
use std::path::Path;

use longmatch::{CompileError, EngineKind, EngineSpec};
use longmatch_bench::{
    BenchFamily, BenchTarget, Comparison, Measurement, Mode, PeerCommand, PeerEngine, RunConfig,
};

use crate::declaration::DeclaredEngine;
use crate::inputs::Named;

/// An engine under test.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineUnderTest {
    /// The engine with its options, or the name of a peer.
    pub spec: String,
    /// The paper's name for it; empty if it has none.
    pub alias: String,
    /// Its name in the records: the spec, or a name that several variants share.
    pub name: String,
    /// Keys in a batch, if it is called in batches whatever the mode of the others.
    pub batch: Option<usize>,
    /// The position of its values on the axis, if it is a variant with a varied option.
    pub x: Option<f64>,
    /// The position in words of its values, unless they have another, such as `huge pages`.
    pub at: &'static str,
}

impl EngineUnderTest {
    /// Returns an engine without a name in a paper.
    pub fn new(spec: impl Into<String>) -> Self {
        let spec = spec.into();
        Self { name: spec.clone(), spec, ..Self::default() }
    }

    /// Returns declared engines.
    pub fn declared(engines: &[DeclaredEngine]) -> Vec<Self> {
        let own = |it: &DeclaredEngine| {
            let DeclaredEngine { spec, alias, name, batch, x } = it.clone();
            Self { spec, alias, name, batch, x, at: "" }
        };
        engines.iter().map(own).collect()
    }

    /// Returns a wider variant, which stands in for an engine that refuses the table.
    pub fn wider(&self, spec: &EngineSpec) -> Self {
        let alias = if self.alias.is_empty() { "" } else { ", modified" };
        let name = if self.name == self.spec { spec.to_string() } else { self.name.clone() };
        Self {
            spec: spec.to_string(),
            alias: format!("{}{alias}", self.alias),
            name,
            ..self.clone()
        }
    }

    /// Returns whether the engine has the family at all.
    pub fn exists_for<F: BenchFamily>(&self) -> bool {
        has::<F>(&self.spec)
    }

    /// Returns the settings of its lookups.
    pub fn config(&self, usual: &RunConfig) -> RunConfig {
        match self.batch {
            Some(batch) => RunConfig { mode: Mode::Batch, batch, ..*usual },
            None => *usual,
        }
    }
}

/// Returns whether an engine with these options has the family at all.
pub(crate) fn has<F: BenchFamily>(spec: &str) -> bool {
    let kind = spec.split(':').next().and_then(|name| name.parse().ok());
    kind.is_some_and(F::has)
}

/// The measurement of an engine.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// The engine.
    pub engine: EngineUnderTest,
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
    /// The name of the table.
    pub table: &'r str,
    /// The engines that hold the table.
    pub comparison: Comparison<'r, F>,
    /// All engines, each with its index in the comparison or the reason why it has none.
    pub members: Vec<(EngineUnderTest, Result<usize, String>)>,
}

type Add<'a, 'r, F> = &'a mut dyn FnMut(
    &mut Comparison<'r, F>,
    &EngineUnderTest,
    &EngineSpec,
) -> Result<(), CompileError>;

impl<'r, F: BenchFamily> EngineSet<'r, F> {
    /// Compiles each engine three times, and `auto` once: its choice may be in the set already.
    ///
    /// An engine that refuses the table stays in the set with its reason; the first wider variant that holds the table
    /// follows it.
    ///
    /// # Panics
    /// If a spec is malformed.
    pub fn new(table: Named<'r, F>, engines: &[EngineUnderTest]) -> Self {
        Self::with(table, engines, &mut |comparison, _, spec| match spec.kind {
            EngineKind::Auto => comparison.add_duplicate(spec),
            _ => comparison.add(spec),
        })
    }

    /// Compiles each engine once, even if it is already in the set, for experiments that do not show compile time.
    ///
    /// # Panics
    /// If a spec is malformed.
    pub fn apart(table: Named<'r, F>, engines: &[EngineUnderTest]) -> Self {
        Self::with(table, engines, &mut |comparison, _, spec| comparison.add_duplicate(spec))
    }

    /// Compiles engines with `add`, which adds one engine to the comparison.
    ///
    /// # Panics
    /// If a spec is malformed.
    pub fn with(table: Named<'r, F>, engines: &[EngineUnderTest], add: Add<'_, 'r, F>) -> Self {
        let comparison = Comparison::new(table.rib);
        let mut set = Self { table: table.name, comparison, members: Vec::new() };
        for engine in engines {
            let mut spec: EngineSpec = engine.spec.parse().expect("a valid engine spec");
            spec.memory = table.memory;
            let Err(reason) = set.add(engine, &spec, add) else { continue };
            set.members.push((engine.clone(), Err(reason)));
            for wider in spec.wider() {
                if set.add(&engine.wider(&wider), &wider, add).is_ok() {
                    break;
                }
            }
        }
        set
    }

    fn add(
        &mut self,
        engine: &EngineUnderTest,
        spec: &EngineSpec,
        add: Add<'_, 'r, F>,
    ) -> Result<(), String> {
        let place = self.comparison.len();
        add(&mut self.comparison, engine, spec).map_err(|error| error.to_string())?;
        assert!(self.comparison.len() > place, "{spec} is already in the set");
        self.members.push((engine.clone(), Ok(place)));
        Ok(())
    }

    /// Starts a peer as the last engine; returns its self-description if it holds the table.
    pub fn add_peer(
        &mut self,
        command: &PeerCommand,
        dir: &Path,
        limit: Duration,
    ) -> Option<String> {
        let engine = EngineUnderTest::new(&command.name[..]);
        match PeerEngine::new(command, dir, limit, self.comparison.rib()) {
            Ok(peer) => {
                let about = peer.about().to_owned();
                self.members.push((engine, Ok(self.comparison.len())));
                self.comparison.add_peer(peer);
                Some(about)
            }
            Err(error) => {
                self.members.push((engine, Err(error.to_string())));
                None
            }
        }
    }

    /// Iterates over all engines, each with its benchmark target if it holds the table.
    pub fn targets(&self) -> impl Iterator<Item = (&EngineUnderTest, Option<&dyn BenchTarget<F>>)> {
        self.members.iter().map(|(engine, place)| {
            (engine, place.as_ref().ok().map(|place| self.comparison.engine(*place)))
        })
    }
}
