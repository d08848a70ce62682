//! The published records, and the queries of the blocks.

use std::fs;
use std::path::Path;

use crate::record::{Line, Run, Value, read_ndjson};
use crate::records::{FAMILIES, FILES, Records};
use crate::view::{distinct, grouped};

/// The figure of rates in batches, which decides the published tables.
pub(super) const BATCH: &str = "traffic-batch";
/// The figure of rates of single addresses.
pub(super) const ONE: &str = "traffic-one";
/// Names of the tables in the repository: embedded in the command, or loaded from their files.
const EMBEDDED: [&str; 3] = ["embedded", "ipv4", "ipv6"];
/// The experiments whose records may be of a separate run, in `NAME.ndjson`: `kinds` has many tables, and of `peers` one may
/// take minutes to build its table.
const APART: [&str; 2] = ["kinds", "peers"];
/// Records of comparisons with other packages and programs, beside the directories of machines.
const COMPARISONS: [&str; 3] = ["python.ndjson", "spark.ndjson", "pipes.ndjson"];
/// Circumstances that a published run must state.
pub(super) const CIRCUMSTANCES: [&str; 10] = [
    "CPU",
    "microarchitecture",
    "CPUs for this process",
    "caches",
    "instructions",
    "system",
    "compiler",
    "longmatch",
    "commit",
    "date",
];

/// All published records.
pub(super) struct Published {
    /// The reports, by the name of their microarchitecture.
    pub machines: Vec<PublishedRun>,
    /// The comparisons with other packages and programs.
    pub comparisons: Vec<PublishedRun>,
}

/// The records of one run.
#[derive(Debug)]
pub(super) struct PublishedRun {
    /// The name of its directory: the microarchitecture.
    pub name: String,
    /// The records, with those of the experiments [`APART`].
    pub records: Records,
    /// The experiments with a separate run, and that run.
    pub apart: Vec<(String, Run)>,
}

/// A table of routes, in one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PublishedTable {
    pub name: String,
    pub family: String,
    pub routes: u64,
    pub next_hops: u64,
}

impl PublishedTable {
    /// Whether the table is in the repository.
    pub fn is_embedded(&self) -> bool {
        EMBEDDED.contains(&self.name.as_str())
    }

    /// Whether a value is about this table.
    pub fn has(&self, value: &Value) -> bool {
        value.table == self.name && value.family == self.family
    }
}

/// Returns the engine of a variant: `dxr` of `dxr:xl`.
pub(super) fn base_of(engine: &str) -> &str {
    engine.split(':').next().unwrap_or(engine)
}

impl Published {
    /// Reads the records of all machines and comparisons.
    ///
    /// # Errors
    /// If a file cannot be read, or its records cannot be published; the message names the file.
    pub fn read(dir: &Path) -> Result<Self, String> {
        let at = |path: &Path, problem: String| format!("{}: {problem}", path.display());
        let parse = |name: String, path: &Path, checked: bool| {
            let text = fs::read(path).map_err(|error| at(path, error.to_string()))?;
            let machine = PublishedRun::parse(name, &text).map_err(|problem| at(path, problem))?;
            if checked {
                machine.check().map_err(|problem| at(path, problem))?;
            }
            Ok::<_, String>(machine)
        };
        let mut machines = Vec::new();
        for entry in fs::read_dir(dir).map_err(|error| at(dir, error.to_string()))? {
            let entry = entry.map_err(|error| at(dir, error.to_string()))?.path();
            if !entry.is_dir() {
                continue;
            }
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut machine = parse(name.clone(), &entry.join(FILES[1]), true)?;
            for experiment in APART {
                let path = entry.join(format!("{experiment}.ndjson"));
                if path.exists() {
                    machine.add(parse(name.clone(), &path, true)?);
                }
            }
            machines.push(machine);
        }
        machines.sort_by(|a, b| a.name.cmp(&b.name));
        let comparisons = COMPARISONS.map(|name| parse(name.into(), &dir.join(name), false));
        Ok(Self { machines, comparisons: comparisons.into_iter().collect::<Result<_, _>>()? })
    }

    /// Returns the newest run with rates of both families.
    ///
    /// # Errors
    /// If there is none.
    pub fn newest(&self) -> Result<&PublishedRun, String> {
        let complete = |it: &&PublishedRun| {
            FAMILIES.iter().all(|family| it.figure(BATCH).any(|value| value.family == *family))
        };
        let newest = self.machines.iter().filter(complete).max_by_key(|it| &it.records.run.date);
        newest.ok_or_else(|| "no published run has rates of both families".into())
    }
}

impl PublishedRun {
    /// Parses the records of one run.
    ///
    /// # Errors
    /// If a line is not a record, a value has neither a number nor a reason, or there is not exactly one run.
    pub fn parse(name: String, text: &[u8]) -> Result<Self, String> {
        let lines = read_ndjson(text).map_err(|error| error.to_string())?;
        let runs = lines.iter().filter(|line| matches!(line, Line::Run(_))).count();
        if runs != 1 {
            return Err(format!(
                "{runs} lines about a run, but published numbers come from one run"
            ));
        }
        let bad = |line: &Line| matches!(line, Line::Value(it) if it.value.is_some() != it.refused.is_empty());
        match lines.iter().position(bad) {
            Some(i) => Err(format!("line {}: neither a value nor the reason, or both", i + 1)),
            None => Ok(Self { name, records: Records::of(lines), apart: Vec::new() }),
        }
    }

    /// Adds the experiments of another run, which replace those of the same names.
    pub fn add(&mut self, other: Self) {
        let Records { run, experiments } = other.records;
        let again = |name: &str| experiments.iter().any(|it| it.0.experiment == name);
        self.records.experiments.retain(|it| !again(&it.0.experiment));
        let names = experiments.iter().map(|it| it.0.experiment.clone());
        self.apart.extend(names.map(|name| (name, run.clone())));
        self.records.experiments.extend(experiments);
    }

    /// Returns the run of an experiment.
    pub fn run_of(&self, experiment: &str) -> &Run {
        let apart = self.apart.iter().find(|(name, _)| name == experiment);
        apart.map_or(&self.records.run, |(_, run)| run)
    }

    /// Checks that the run states every circumstance, that a release build made it, and that its directory has the
    /// name of its microarchitecture.
    pub fn check(&self) -> Result<(), String> {
        for name in CIRCUMSTANCES {
            self.about(name)?;
        }
        let microarch = self.about("microarchitecture")?;
        match self.about("longmatch")?.contains("DEBUG") {
            true => Err("a build with debug assertions: its rates are not meaningful".into()),
            false if microarch != self.name => {
                Err(format!("the records of `{microarch}` are in the directory `{}`", self.name))
            }
            false => Ok(()),
        }
    }

    /// Returns a circumstance of the run, or one of its inputs.
    ///
    /// # Errors
    /// If the records lack it.
    pub fn about(&self, name: &str) -> Result<&str, String> {
        about(&self.records.run, name)
    }

    /// Returns the values of a figure, in the order of the file.
    pub fn figure<'a>(&'a self, figure: &'a str) -> impl Iterator<Item = &'a Value> {
        self.records.values().filter(move |value| value.figure == figure)
    }

    /// Returns the reason why a figure has no values.
    pub fn why_absent(&self, figure: &str) -> String {
        let of = |experiment: &str| figure.strip_prefix(experiment).is_some();
        let all = self.records.experiments.iter();
        let mut absent = all.filter(|(it, _)| of(&it.experiment) && !it.absent.is_empty());
        match absent.next() {
            Some((outcome, _)) => format!("Not measured in this run: {}.", outcome.absent),
            None => "Not measured in this run.".into(),
        }
    }

    /// Returns the conditions of a figure.
    pub fn conditions<'a>(&'a self, anchor: &'a str) -> impl Iterator<Item = &'a [String; 3]> {
        let all = self.records.experiments.iter().flat_map(|(outcome, _)| &outcome.conditions);
        all.filter(move |it| it[0] == anchor)
    }

    /// Returns a condition of a figure.
    ///
    /// # Errors
    /// If the records lack it.
    pub fn condition(&self, anchor: &str, name: &str) -> Result<&str, String> {
        let all = self.records.experiments.iter().flat_map(|(outcome, _)| &outcome.conditions);
        let found = all.filter(|it| it[0] == anchor).find(|it| it[1] == name);
        let missing = || format!("the conditions of `{anchor}` have no `{name}`");
        found.map(|it| it[2].as_str()).ok_or_else(missing)
    }

    /// Returns the names of all tables with a rate, each once.
    pub fn table_names(&self) -> Vec<&str> {
        let measured = self.records.values().filter(|it| it.metric == "rate" && it.value.is_some());
        let named = measured.filter(|it| it.figure == BATCH || it.figure.starts_with("kinds"));
        let mut names: Vec<_> = named.map(|it| it.table.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the tables of the rates in batches, in the order of the file.
    ///
    /// # Errors
    /// If the records lack the next hops of a table.
    pub fn tables(&self) -> Result<Vec<PublishedTable>, String> {
        let tables = grouped(self.figure(BATCH), |it| (&it.table, &it.family)).into_iter();
        let table = |((name, family), values): ((&String, &String), Vec<&Value>)| {
            // `NAME: N routes, N next hops`
            let text = self.condition(&format!("{BATCH}-{family}-{name}"), "table")?;
            let count = text.strip_suffix(" next hops").and_then(|it| it.rsplit_once(' '));
            let next_hops = count
                .and_then(|(_, count)| count.parse().ok())
                .ok_or_else(|| format!("`{text}` states no next hops"))?;
            let (name, family, routes) = (name.clone(), family.clone(), values[0].routes);
            Ok::<_, String>(PublishedTable { name, family, routes, next_hops })
        };
        tables.map(table).collect()
    }

    /// Returns the engines of a figure without their options, in the order of the records.
    pub fn engines<'a>(&'a self, figure: &'a str) -> Vec<&'a str> {
        distinct(self.figure(figure).map(|it| base_of(&it.engine)))
    }

    /// Returns half the distances of the quartiles of rates as shares of the medians, in ascending order.
    pub fn spreads(&self) -> Vec<f64> {
        let all = self.figure(BATCH).chain(self.figure(ONE));
        let of = |it: &Value| {
            let [low, high] = it.quartiles()?;
            Some((high - low) / 2.0 / it.value?)
        };
        let mut all: Vec<f64> = all.filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Returns a circumstance of a run, or one of its inputs.
///
/// # Errors
/// If the run lacks it.
fn about<'r>(run: &'r Run, name: &str) -> Result<&'r str, String> {
    let found = run.machine.iter().chain(&run.inputs).find(|pair| pair.0 == name);
    let missing = || format!("the line about the run has no `{name}`");
    found.map(|pair| pair.1.as_str()).ok_or_else(missing)
}

/// States the circumstances of a run in a sentence.
///
/// # Errors
/// If the run lacks one.
pub(super) fn circumstances(run: &Run) -> Result<String, String> {
    let of = |name| about(run, name);
    Ok(format!(
        "Medians of one run on one core of: {}; best instructions {}; {}; {}; longmatch {}, commit {}; {}; effort {}.",
        of("CPU")?,
        of("instructions")?,
        of("system")?,
        of("compiler")?,
        of("longmatch")?,
        of("commit")?,
        of("date")?,
        of("effort")?,
    ))
}

/// Returns a name as code.
pub(super) fn code(name: &str) -> String {
    format!("`{name}`")
}
