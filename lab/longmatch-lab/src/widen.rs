//! Fallback to an engine's wider forms, and the report of engines without a result.

use longmatch::{CompileError, EngineSpec, Rib, UpdateError};
use longmatch_bench::record::Value;
use longmatch_bench::{ReplayError, ThreadError, VerifyError};
use longmatch_cli::families::CliFamily;
use longmatch_cli::output::{self, Grid, Out, thousands, warn};
use serde::Serialize;

/// An error that leaves an engine without a result.
pub trait Failure {
    /// Returns whether the table exceeds a limit of the engine, so that a wider form may hold it.
    fn is_limit(&self) -> bool;

    /// Returns the error if the system did not start all threads. Other engines would fail the same
    /// way, so the command ends.
    fn threads(&self) -> Option<&ThreadError> {
        None
    }

    /// Describes the problem and the remedy on the command line, without the engine's name.
    fn reason(&self) -> String;
}

impl Failure for CompileError {
    fn is_limit(&self) -> bool {
        matches!(self, Self::NextHopTooLarge { .. } | Self::TooMany { .. })
    }

    fn reason(&self) -> String {
        const OTHER: &str = "choose another engine with --engine";
        match self {
            Self::NextHopTooLarge { id, limit, .. } => {
                let (id, limit) = (thousands((*id).into()), thousands((*limit).into()));
                format!(
                    "the table has next-hop ids up to {id}; the engine supports ids up to {limit}: {OTHER}"
                )
            }
            Self::TooMany { what, limit, .. } => {
                format!("the table needs more than {} {what}: {OTHER}", thousands(*limit))
            }
            Self::Memory { limit, smallest, bytes } => format!(
                "no engine holds the table in {}; the smallest, {smallest}, may take {}: raise \
                 memory= of --engine auto, or --memory",
                output::bytes(*limit),
                output::bytes(*bytes),
            ),
            Self::TooLarge { bytes, limit, .. } => format!(
                "the table may take {}, and the limit is {}: choose another engine with --engine, or \
                 raise --memory",
                output::bytes(*bytes),
                output::bytes(*limit),
            ),
            Self::Allocation { bytes, .. } => {
                format!("the system has no memory for {}: {OTHER}", output::bytes(*bytes))
            }
            other => other.to_string(),
        }
    }
}

impl Failure for VerifyError {
    fn is_limit(&self) -> bool {
        matches!(self, Self::Compile(error) if error.is_limit())
    }

    fn threads(&self) -> Option<&ThreadError> {
        match self {
            Self::Threads(error) => Some(error),
            _ => None,
        }
    }

    fn reason(&self) -> String {
        match self {
            Self::Compile(error) => error.reason(),
            other => other.to_string(),
        }
    }
}

impl Failure for ReplayError {
    fn is_limit(&self) -> bool {
        match self {
            Self::Compile(error) | Self::Fresh(error) => error.is_limit(),
            Self::Update { error: UpdateError::Limit(error), .. } => error.is_limit(),
            _ => false,
        }
    }

    fn threads(&self) -> Option<&ThreadError> {
        match self {
            Self::Threads(error) => Some(error),
            _ => None,
        }
    }

    fn reason(&self) -> String {
        match self {
            Self::Compile(error) => error.reason(),
            Self::Update { number, error: UpdateError::Limit(error) } => {
                format!("update {}: {}", thousands(*number), error.reason())
            }
            Self::Update { number, error: UpdateError::Retired { bytes, limit } } => format!(
                "update {}: readers hold {} of retired memory; the limit is {}: use fewer --readers",
                thousands(*number),
                output::bytes(*bytes as u64),
                output::bytes(*limit as u64),
            ),
            Self::Fresh(error) => {
                format!("the routes after the last update: {}", error.reason())
            }
            other => other.to_string(),
        }
    }
}

/// A result, and a note if a wider form produced it.
#[derive(Debug)]
pub struct Widened<T> {
    /// The result.
    pub value: T,
    /// Message that names the wider form and the engine that it replaces.
    note: Option<String>,
}

impl<T> Widened<T> {
    /// Prints the note on standard error and returns the result.
    pub fn report(self) -> T {
        self.note.iter().for_each(warn);
        self.value
    }
}

/// Tries an engine, then its wider forms if the table exceeds a limit of it. All commands do so.
/// Options that the user gave stay as they are. The error is that of the engine itself.
///
/// # Errors
/// If neither the engine nor a wider form has a result.
pub fn try_wider<F: CliFamily, T, E: Failure>(
    spec: &EngineSpec,
    named: bool,
    mut attempt: impl FnMut(&EngineSpec) -> Result<T, E>,
) -> Result<Widened<T>, E> {
    let error = match attempt(spec) {
        Ok(value) => return Ok(Widened { value, note: None }),
        Err(error) if !error.is_limit() => return Err(error),
        Err(error) => error,
    };
    for wider in spec.wider() {
        match attempt(&wider) {
            Ok(value) => {
                // The table of results shows the form, but not the engine that it replaced.
                let note = || format!("{}: {wider} replaces {spec}: {}", F::LABEL, cause(&error));
                return Ok(Widened { value, note: named.then(note) });
            }
            Err(other) if other.threads().is_some() => return Err(other),
            // The form fails too, or the family lacks it: the next one may succeed.
            Err(_) => {}
        }
    }
    Err(error)
}

/// The reason of an error without its advice.
fn cause(error: &impl Failure) -> String {
    let reason = error.reason();
    reason.rsplit_once(": ").map(|(cause, _)| cause.to_owned()).unwrap_or(reason)
}

/// An engine without a result: a row of the printed table, or a line of NDJSON.
#[derive(Clone, Serialize, Debug)]
pub struct Failed {
    /// The name of the engine.
    engine: &'static str,
    /// The engine with its options, as `--engine` takes it.
    spec: String,
    /// `ipv4` or `ipv6`.
    family: &'static str,
    /// Routes in the table.
    routes: usize,
    /// The reason.
    error: String,
    /// Whether `--engine` names it, which makes the exit status negative.
    #[serde(skip)]
    pub named: bool,
}

impl Failed {
    /// Creates the entry from an error.
    pub fn new<F: CliFamily>(
        rib: &Rib<F>,
        spec: &EngineSpec,
        named: bool,
        error: &impl Failure,
    ) -> Self {
        let (engine, spec) = (spec.kind.name(), spec.to_string());
        // If all engines were tried, there is none left to choose.
        let error = if error.is_limit() && !named { cause(error) } else { error.reason() };
        Self { engine, spec, family: F::NAME, routes: rib.len(), error, named }
    }

    /// Returns the record of a rate that is missing.
    pub fn value(&self) -> Value {
        let (engine, refused) = (self.spec.clone(), self.error.clone());
        let (family, routes) = (self.family.into(), self.routes as u64);
        Value { engine, refused, family, routes, metric: "rate".into(), ..Value::default() }
    }

    /// Adds the row to a table whose first column has the engines.
    pub fn row(&self, grid: &mut Grid, out: &Out) {
        let error = format!("no result: {}", self.error);
        let error = if self.named { out.red(error) } else { out.dim(error) };
        grid.span(self.spec.clone(), error);
    }
}

/// Returns the error message for a command without any result.
pub fn no_results(done: &str, failed: &[Failed]) -> Option<String> {
    let Failed { spec, error, .. } = failed.first()?;
    Some(format!("no engine was {done}: {spec}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv4, Ipv6};

    const TOO_LARGE: CompileError =
        CompileError::NextHopTooLarge { engine: "dxr", id: 69_938, limit: 65_535 };

    fn widened(
        spec: &str,
        named: bool,
        holds: &str,
    ) -> (Result<Widened<String>, CompileError>, usize) {
        let mut attempts = 0;
        let widened = try_wider::<Ipv4, _, _>(&spec.parse().unwrap(), named, |spec| {
            attempts += 1;
            if spec.to_string() == holds { Ok(spec.to_string()) } else { Err(TOO_LARGE) }
        });
        (widened, attempts)
    }

    #[test]
    fn wider_forms_replace_an_engine() {
        for named in [false, true] {
            let (found, attempts) = widened("dxr", named, "dxr:hops=k");
            let found = found.unwrap();
            assert_eq!((&found.value[..], attempts), ("dxr:hops=k", 3));
            let wanted = "IPv4: dxr:hops=k replaces dxr: \
                          the table has next-hop ids up to 69,938; the engine supports ids up to 65,535";
            assert_eq!(found.note, named.then(|| wanted.to_owned()));
        }
        assert_eq!(widened("dxr:d=18", true, "dxr:d=18:wide").0.unwrap().value, "dxr:d=18:wide");
        assert!(widened("dxr", true, "dxr").0.unwrap().note.is_none());
        let (refused, attempts) = widened("dxr", false, "nothing");
        assert_eq!((refused.unwrap_err(), attempts), (TOO_LARGE, 7));
    }

    /// Wider forms are not tried for errors that they cannot fix.
    #[test]
    fn only_limits_are_widened() {
        let mut attempts = 0;
        let error = ThreadError { started: 1, wanted: 2, reason: "none left".into() };
        let widened = try_wider::<Ipv6, (), _>(&"dxr".parse().unwrap(), true, |_| {
            attempts += 1;
            Err(match attempts {
                1 => VerifyError::Compile(TOO_LARGE),
                _ => VerifyError::Threads(error.clone()),
            })
        });
        assert_eq!((widened.unwrap_err(), attempts), (VerifyError::Threads(error), 2));
    }

    /// Advice names options of the command, not items of the library.
    #[test]
    fn reasons_name_options_of_the_command_line() {
        let update = UpdateError::Limit(TOO_LARGE);
        let reasons = [
            TOO_LARGE.reason(),
            CompileError::TooMany { engine: "dxr", what: "chunks", limit: 1 << 20 }.reason(),
            CompileError::Memory { limit: 7, smallest: "folio", bytes: 9 }.reason(),
            ReplayError::Update { number: 1234, error: update.clone() }.reason(),
            ReplayError::Fresh(TOO_LARGE).reason(),
        ];
        assert!(reasons.iter().all(|it| it.contains("--engine")), "{reasons:?}");
        assert!(reasons[3].starts_with("update 1,234: the table has"), "{}", reasons[3]);
        let retired = UpdateError::Retired { bytes: 70 << 20, limit: 64 << 20 };
        let retired = ReplayError::Update { number: 5, error: retired }.reason();
        assert!(retired.contains("70.0 MiB") && retired.ends_with("--readers"), "{retired}");
        let library = [TOO_LARGE.to_string(), update.to_string()];
        assert!(!library.iter().any(|it| it.contains("NextHops") || it.contains("--")));
    }

    #[test]
    fn lines_name_the_engine_and_the_error() {
        let rib = Rib::<Ipv4>::new();
        let failed = Failed::new(&rib, &"dxr:d=18".parse().unwrap(), true, &TOO_LARGE);
        let line = serde_json::to_value(&failed).unwrap();
        assert_eq!((&line["engine"], &line["spec"]), (&"dxr".into(), &"dxr:d=18".into()));
        assert_eq!((&line["family"], &line["routes"]), (&"ipv4".into(), &0.into()));
        assert!(line["error"].as_str().unwrap().contains("65,535") && line["named"].is_null());
        let unnamed = Failed::new(&rib, &"dxr".parse().unwrap(), false, &TOO_LARGE);
        assert!(unnamed.error.ends_with("supports ids up to 65,535"), "{}", unnamed.error);
        let problem = no_results("measured", &[failed]).unwrap();
        assert!(problem.starts_with("no engine was measured: dxr:d=18: the table"), "{problem}");
        assert!(no_results("measured", &[]).is_none());
    }
}
