//! The records behind the published numbers, from a file that `longmatch report` writes.

use serde_json::Value as Json;

/// Names of the tables in the repository: embedded in the command, or loaded from their files.
const EMBEDDED: [&str; 3] = ["embedded", "ipv4", "ipv6"];

/// Circumstances of a run that must be recorded: the name in the records, and the heading in the pages.
pub const CIRCUMSTANCES: [(&str, &str); 10] = [
    ("CPU", "CPU"),
    ("microarchitecture", "microarchitecture"),
    ("CPUs for this process", "CPUs"),
    ("caches", "caches"),
    ("instructions", "best instructions"),
    ("system", "system"),
    ("compiler", "compiler"),
    ("longmatch", "longmatch"),
    ("commit", "commit"),
    ("date", "start of the run"),
];

/// Prefix of an engine's name in values of its roofline.
pub const ROOFLINE: &str = "roofline of ";

/// The circumstances of a run.
#[derive(Debug, Default)]
pub struct Run {
    /// Machine, system and build: pairs of name and value.
    machine: Vec<(String, String)>,
    /// Inputs and effort: pairs of name and value.
    inputs: Vec<(String, String)>,
}

impl Run {
    /// Reads the circumstances from the line about a run.
    pub fn new(json: &Json) -> Self {
        Self { machine: pairs(json, "machine"), inputs: pairs(json, "inputs") }
    }

    /// Checks that the run has every circumstance, and was made by a release build.
    ///
    /// # Errors
    /// If a circumstance is missing, or the build has debug assertions.
    pub fn check(&self) -> Result<(), String> {
        for (name, _) in CIRCUMSTANCES {
            self.machine(name)?;
        }
        match self.machine("longmatch")?.contains("DEBUG") {
            true => Err("a build with debug assertions: its rates are not meaningful".into()),
            false => Ok(()),
        }
    }

    /// Returns a circumstance: machine, system or build.
    ///
    /// # Errors
    /// If the records lack it.
    pub fn machine(&self, name: &str) -> Result<&str, String> {
        find(&self.machine, name)
            .ok_or_else(|| format!("the line about the run has no `{name}` in its `machine`"))
    }

    /// Returns an input, such as `effort`.
    ///
    /// # Errors
    /// If the records lack it.
    pub fn input(&self, name: &str) -> Result<&str, String> {
        find(&self.inputs, name)
            .ok_or_else(|| format!("the line about the run has no `{name}` in its `inputs`"))
    }
}

/// The records of one run.
#[derive(Debug, Default)]
pub struct Records {
    /// The run.
    pub run: Run,
    /// The values, in the order of the file.
    values: Vec<Value>,
    /// Conditions of the figures: anchor, name and value.
    conditions: Vec<[String; 3]>,
    /// Experiments without values, and the reasons.
    absent: Vec<(String, String)>,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The figure of the value.
    pub figure: String,
    /// The table of routes.
    pub table: String,
    /// `ipv4` or `ipv6`.
    pub family: String,
    /// Number of routes in the table, or in the measured part of it.
    pub routes: u64,
    /// The engine with its options.
    pub engine: String,
    /// The engine with all options, if it chose some itself; else empty.
    pub variant: String,
    /// The run configuration, such as `routed`.
    pub run: String,
    /// Keys in a batch; 0 for a count.
    pub batch: u64,
    /// The place on the axis.
    pub x: Option<f64>,
    /// The quantity, such as `rate`.
    pub metric: String,
    /// The number, or the reason why there is none.
    pub value: Result<f64, String>,
    /// The quartiles, if passes were timed.
    pub quartiles: Option<[f64; 2]>,
}

/// A table of routes, in one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The name, such as `ipv4-full`.
    pub name: String,
    /// `ipv4` or `ipv6`.
    pub family: String,
    /// Number of routes.
    pub routes: u64,
    /// Number of distinct next hops.
    pub next_hops: u64,
}

impl Table {
    /// Whether the table is in the repository.
    pub fn is_embedded(&self) -> bool {
        EMBEDDED.contains(&self.name.as_str())
    }

    /// `IPv4` or `IPv6`.
    pub fn family_name(&self) -> &'static str {
        if self.family == "ipv6" { "IPv6" } else { "IPv4" }
    }
}

/// Shortens a variant: a long list of numbers becomes its first and last one.
pub fn shortened(variant: &str) -> String {
    let option = |option: &str| match option.split_once('=') {
        Some((name, list)) if list.matches('-').count() > 2 => {
            let numbers: Vec<_> = list.split('-').collect();
            format!("{name}={}-…-{}", numbers[0], numbers[numbers.len() - 1])
        }
        _ => option.to_owned(),
    };
    variant.split(':').map(option).collect::<Vec<_>>().join(":")
}

impl Records {
    /// Parses the lines of a file of records.
    ///
    /// # Errors
    /// If a line is not a record, a value has neither a number nor a reason, there is not exactly one run, or the run
    /// lacks a circumstance.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut records = Self::default();
        let mut runs = 0;
        for (i, line) in text.lines().enumerate() {
            let at = |problem: String| format!("line {}: {problem}", i + 1);
            let json: Json = serde_json::from_str(line).map_err(|error| at(error.to_string()))?;
            match text_of(&json, "record") {
                "run" => {
                    runs += 1;
                    records.run = Run::new(&json);
                }
                "value" => records.values.push(value(&json).map_err(at)?),
                "experiment" => records.add_outcome(&json),
                other => return Err(at(format!("unknown kind of record `{other}`"))),
            }
        }
        if runs != 1 {
            return Err(format!(
                "{runs} lines about a run, but published numbers come from one run"
            ));
        }
        records.run.check()?;
        records.name_variants();
        Ok(records)
    }

    /// Names engines by all of their options, including those chosen for the table and the CPU.
    fn name_variants(&mut self) {
        let named = self.values.iter().filter(|it| !it.variant.is_empty());
        let variants: Vec<_> = named
            .map(|it| {
                (it.table.clone(), it.family.clone(), it.engine.clone(), shortened(&it.variant))
            })
            .collect();
        for value in &mut self.values {
            let roofline = value.engine.strip_prefix(ROOFLINE).map(str::to_owned);
            let engine = roofline.as_ref().unwrap_or(&value.engine);
            let same = |it: &&(String, String, String, String)| {
                it.0 == value.table && it.1 == value.family && it.2 == *engine
            };
            if let Some((.., variant)) = variants.iter().find(same) {
                let prefix = if roofline.is_some() { ROOFLINE } else { "" };
                value.engine = format!("{prefix}{variant}");
            }
        }
    }

    /// Adds the outcome of an experiment.
    fn add_outcome(&mut self, json: &Json) {
        let absent = text_of(json, "absent");
        if !absent.is_empty() {
            self.absent.push((text_of(json, "experiment").into(), absent.into()));
        }
        for condition in json["conditions"].as_array().into_iter().flatten() {
            self.conditions
                .push([0, 1, 2].map(|i| condition[i].as_str().unwrap_or_default().into()));
        }
    }

    /// Returns the values of a figure, in the order of the file.
    pub fn figure<'a>(&'a self, figure: &'a str) -> impl Iterator<Item = &'a Value> {
        self.values.iter().filter(move |value| value.figure == figure)
    }

    /// Returns the reason why an experiment has no values.
    pub fn why_absent(&self, experiment: &str) -> String {
        find(&self.absent, experiment).map_or_else(
            || format!("the run did not include the experiment `{experiment}`"),
            String::from,
        )
    }

    /// Returns the tables of a figure of rates, in the order of the file.
    ///
    /// # Errors
    /// If the records lack the next hops of a table.
    pub fn tables(&self, figure: &str) -> Result<Vec<Table>, String> {
        let mut tables: Vec<Table> = Vec::new();
        for value in self.figure(figure) {
            let known = |it: &Table| it.name == value.table && it.family == value.family;
            if tables.iter().any(known) {
                continue;
            }
            let (name, family) = (value.table.clone(), value.family.clone());
            let next_hops = self.next_hops(&format!("{figure}-{family}-{name}"))?;
            tables.push(Table { name, family, routes: value.routes, next_hops });
        }
        Ok(tables)
    }

    /// Parses the number of next hops from the condition `NAME: N routes, N next hops`.
    fn next_hops(&self, anchor: &str) -> Result<u64, String> {
        let text = self.condition(anchor, "table")?;
        let count =
            text.strip_suffix(" next hops").and_then(|it| it.rsplit_once(' ')?.1.parse().ok());
        count.ok_or_else(|| format!("`{text}` of `{anchor}` states no next hops"))
    }

    /// Returns a condition of a figure.
    ///
    /// # Errors
    /// If the records lack it.
    pub fn condition(&self, anchor: &str, name: &str) -> Result<&str, String> {
        let mut own = self.conditions.iter().filter(|it| it[0] == anchor && it[1] == name);
        let found = own.next().map(|it| it[2].as_str());
        found.ok_or_else(|| format!("the conditions of `{anchor}` have no `{name}`"))
    }

    /// Returns the batch size of a figure.
    ///
    /// # Errors
    /// If the figure has no rates or several batch sizes.
    pub fn batch(&self, figure: &str) -> Result<u64, String> {
        let mut sizes = self.figure(figure).filter(|it| it.metric == "rate").map(|it| it.batch);
        let first = sizes.next().ok_or_else(|| format!("no rates of `{figure}`"))?;
        match sizes.find(|size| *size != first) {
            None => Ok(first),
            Some(other) => Err(format!("`{figure}` has batches of {first} and of {other}")),
        }
    }

    /// Returns half the interquartile ranges of figures as shares of the medians, in ascending order.
    pub fn spreads(&self, figures: &[&str]) -> Vec<f64> {
        let of = |it: &Value| Some(half_spread(it.quartiles?, *it.value.as_ref().ok()?));
        let chosen = self.values.iter().filter(|it| figures.contains(&it.figure.as_str()));
        let mut all: Vec<f64> = chosen.filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Returns half the interquartile range as a share of the median.
pub fn half_spread(quartiles: [f64; 2], median: f64) -> f64 {
    (quartiles[1] - quartiles[0]) / 2.0 / median
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.as_str())
}

/// Returns the text of a field, or an empty text if the record lacks the field.
pub fn text_of<'a>(json: &'a Json, field: &str) -> &'a str {
    json[field].as_str().unwrap_or_default()
}

fn pairs(json: &Json, field: &str) -> Vec<(String, String)> {
    let pair = |it: &Json| Some((it[0].as_str()?.into(), it[1].as_str()?.into()));
    json[field].as_array().into_iter().flatten().filter_map(pair).collect()
}

fn value(json: &Json) -> Result<Value, String> {
    let text = |field| text_of(json, field).to_owned();
    let whole = |field: &str| json[field].as_u64().unwrap_or(0);
    let (metric, refused) = (text("metric"), text("refused"));
    if metric.is_empty() {
        return Err("a value without a metric".into());
    }
    let value = match json["value"].as_f64() {
        Some(value) if refused.is_empty() => Ok(value),
        None if !refused.is_empty() => Err(refused),
        Some(_) => return Err("a value that is refused".into()),
        None => return Err("neither a value nor the reason why there is none".into()),
    };
    let quartiles = json["q1"].as_f64().zip(json["q3"].as_f64());
    Ok(Value {
        figure: text("figure"),
        table: text("table"),
        family: text("family"),
        routes: whole("routes"),
        engine: text("engine"),
        variant: text("variant"),
        run: text("run"),
        batch: whole("batch"),
        x: json["x"].as_f64(),
        metric,
        value,
        quartiles: quartiles.map(|(q1, q3)| [q1, q3]),
    })
}
