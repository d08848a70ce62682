//! One engine or peer of a comparison, and the compilation of engines.

use std::time::Instant;

use longmatch::engine::auto::{self, AutoGoal};
use longmatch::{CompileError, Engine, EngineKind, EngineSpec, EngineVisitor, Rib};

use crate::family::TrafficFamily;
use crate::measurement::AutoChoice;
use crate::target::{BenchTarget, EngineTarget};

/// One engine or peer of a comparison.
pub struct EngineUnderTest<F: TrafficFamily> {
    pub(crate) target: Box<dyn BenchTarget<F>>,
    pub(crate) build_ms: f64,
    /// The choices of `auto` that led to this engine.
    pub(crate) choices: Vec<AutoChoice>,
    /// Whether the caller also named this engine.
    pub(crate) named: bool,
}

impl<F: TrafficFamily> EngineUnderTest<F> {
    pub(crate) fn named(target: Box<dyn BenchTarget<F>>, build_ms: f64) -> Self {
        Self { target, build_ms, choices: Vec::new(), named: true }
    }

    /// The engine's name with its variant.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.target.name(), self.target.variant()).trim_end().to_owned()
    }
}

/// Takes the time from its creation until the engine is compiled.
struct BuildTimer(Instant);

impl<F: TrafficFamily> EngineVisitor<F> for BuildTimer {
    type Output = EngineUnderTest<F>;

    fn visit<E: Engine<F>>(self, engine: E) -> EngineUnderTest<F> {
        let build_ms = self.0.elapsed().as_secs_f64() * 1e3;
        EngineUnderTest::named(Box::new(EngineTarget(engine)), build_ms)
    }
}

/// Compiles the named engine, or the one that `auto` chooses.
pub(crate) fn compile<F: TrafficFamily>(
    spec: &EngineSpec,
    rib: &Rib<F>,
) -> Result<EngineUnderTest<F>, CompileError> {
    let timer = BuildTimer(Instant::now());
    if spec.kind != EngineKind::Auto {
        return F::build(spec, rib, timer);
    }
    let (choice, engine) = auto::compile(rib, &AutoGoal::of(spec)?, timer)?;
    let choices = vec![AutoChoice { spec: spec.to_string(), choice, best: None }];
    Ok(EngineUnderTest { choices, named: false, ..engine })
}
