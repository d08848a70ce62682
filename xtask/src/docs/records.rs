//! The records behind the published numbers: what the blocks need of a file that `longmatch report` writes.

use serde_json::Value as Json;

/// Names of the tables that are in the repository: as the command embeds them, and as their files are called.
const EMBEDDED: [&str; 3] = ["embedded", "ipv4", "ipv6"];

/// Circumstances of a run that must be recorded.
const CIRCUMSTANCES: [&str; 9] = [
    "CPU",
    "CPUs for this process",
    "caches",
    "instructions",
    "system",
    "longmatch",
    "compiler",
    "commit",
    "date",
];

/// What stands before an engine whose roofline a value is.
pub const ROOFLINE: &str = "roofline of ";

/// The records of one run.
#[derive(Debug, Default)]
pub struct Records {
    /// Machine, system and build: pairs of name and value.
    machine: Vec<(String, String)>,
    /// Inputs and effort: pairs of name and value.
    inputs: Vec<(String, String)>,
    /// The values, in the order of the file.
    values: Vec<Value>,
    /// Conditions of the figures: anchor, name, value.
    conditions: Vec<[String; 3]>,
    /// Experiments without values, and the reasons.
    absent: Vec<(String, String)>,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The figure that shows it.
    pub figure: String,
    /// The table of routes.
    pub table: String,
    /// `ipv4` or `ipv6`.
    pub family: String,
    /// Routes in the table, or in the part of it that was used.
    pub routes: u64,
    /// The engine with its options.
    pub engine: String,
    /// The engine with the options that it chose itself, if there are any.
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

/// A variant with its long list of numbers cut to the first and the last.
fn shortened(variant: &str) -> String {
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
    /// If a line is no record, if a value has neither a number nor a reason, if there is not exactly one run, or if the run
    /// lacks one of its circumstances: with the number of the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut records = Self::default();
        let mut runs = 0;
        for (i, line) in text.lines().enumerate() {
            let at = |problem: String| format!("line {}: {problem}", i + 1);
            let json: Json = serde_json::from_str(line).map_err(|error| at(error.to_string()))?;
            match text_of(&json, "record") {
                "run" => {
                    runs += 1;
                    records.machine = pairs(&json, "machine");
                    records.inputs = pairs(&json, "inputs");
                }
                "value" => records.values.push(value(&json).map_err(at)?),
                "experiment" => records.end(&json),
                other => return Err(at(format!("unknown kind of record `{other}`"))),
            }
        }
        if runs != 1 {
            return Err(format!(
                "{runs} lines about a run, but published numbers come from one run"
            ));
        }
        for name in CIRCUMSTANCES {
            records.machine(name)?;
        }
        records.name_variants();
        if records.machine("longmatch")?.contains("DEBUG") {
            return Err("a build with debug assertions: its rates are not meaningful".into());
        }
        Ok(records)
    }

    /// Names engines by all of their options, also those that they chose for the table and the CPU.
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

    /// Takes the end of an experiment.
    fn end(&mut self, json: &Json) {
        let absent = text_of(json, "absent");
        if !absent.is_empty() {
            self.absent.push((text_of(json, "experiment").into(), absent.into()));
        }
        for condition in json["conditions"].as_array().into_iter().flatten() {
            self.conditions
                .push([0, 1, 2].map(|i| condition[i].as_str().unwrap_or_default().into()));
        }
    }

    /// A circumstance of the run: machine, system or build.
    ///
    /// # Errors
    /// If it is not recorded.
    pub fn machine(&self, name: &str) -> Result<&str, String> {
        find(&self.machine, name)
            .ok_or_else(|| format!("the line about the run has no `{name}` in its `machine`"))
    }

    /// An input of the run, such as `effort`.
    ///
    /// # Errors
    /// If it is not recorded.
    pub fn input(&self, name: &str) -> Result<&str, String> {
        find(&self.inputs, name)
            .ok_or_else(|| format!("the line about the run has no `{name}` in its `inputs`"))
    }

    /// The values of a figure, in the order of the file.
    pub fn figure<'a>(&'a self, figure: &'a str) -> impl Iterator<Item = &'a Value> {
        self.values.iter().filter(move |value| value.figure == figure)
    }

    /// The reason why a figure has no values.
    pub fn why_absent(&self, experiment: &str) -> String {
        find(&self.absent, experiment).map_or_else(
            || format!("the run did not include the experiment `{experiment}`"),
            String::from,
        )
    }

    /// The tables that a figure of rates is about, in the order of the file.
    ///
    /// # Errors
    /// If the next hops of a table are not recorded.
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

    /// The next hops of the table of a figure: a condition, `NAME: N routes, N next hops`.
    fn next_hops(&self, anchor: &str) -> Result<u64, String> {
        let text = self.condition(anchor, "table")?;
        let count =
            text.strip_suffix(" next hops").and_then(|it| it.rsplit_once(' ')?.1.parse().ok());
        count.ok_or_else(|| format!("`{text}` of `{anchor}` states no next hops"))
    }

    /// A condition of a figure.
    ///
    /// # Errors
    /// If it is not recorded.
    pub fn condition(&self, anchor: &str, name: &str) -> Result<&str, String> {
        let mut own = self.conditions.iter().filter(|it| it[0] == anchor && it[1] == name);
        let found = own.next().map(|it| it[2].as_str());
        found.ok_or_else(|| format!("the conditions of `{anchor}` have no `{name}`"))
    }

    /// The number of keys in every batch of a figure.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn batch(&self, figure: &str) -> Result<u64, String> {
        let mut sizes = self.figure(figure).filter(|it| it.metric == "rate").map(|it| it.batch);
        let first = sizes.next().ok_or_else(|| format!("no rates of `{figure}`"))?;
        match sizes.find(|size| *size != first) {
            None => Ok(first),
            Some(other) => Err(format!("`{figure}` has batches of {first} and of {other}")),
        }
    }

    /// The half widths of the ranges between the quartiles, as shares of the medians, in ascending order.
    pub fn spreads(&self, figures: &[&str]) -> Vec<f64> {
        let of = |it: &Value| {
            Some((it.quartiles?[1] - it.quartiles?[0]) / 2.0 / it.value.as_ref().ok()?)
        };
        let chosen = self.values.iter().filter(|it| figures.contains(&it.figure.as_str()));
        let mut all: Vec<f64> = chosen.filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.as_str())
}

/// The text of a field, empty if the record does not have the field.
fn text_of<'a>(json: &'a Json, field: &str) -> &'a str {
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
