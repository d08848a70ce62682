//! Reads the files that declare experiments.
//!
//! A file names its engines, run configurations and needs once; experiments refer to them by name.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::claim::{Claim, Names, Need};
use crate::declaration::{CalledEngine, RunSpec};
use crate::experiment::Experiment;

/// The widest band that needs no reason.
const WIDEST_BAND: f64 = 2.0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: String,
    #[serde(default)]
    setting: String,
    /// Routes of a full table, by family: claims need this number unless they state another.
    #[serde(default)]
    full: BTreeMap<String, u64>,
    #[serde(default)]
    engines: BTreeMap<String, Engine>,
    runs: BTreeMap<String, RunSpec>,
    /// Conditions, each with the reason why a claim is not comparable without it.
    #[serde(default)]
    needs: BTreeMap<String, Need>,
    experiment: Vec<Experiment>,
}

/// An engine by the paper's name: its options, or more.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Engine {
    Spec(String),
    Called {
        spec: String,
        /// Keys in a batch.
        batch: Option<usize>,
        /// The paper's name for it, if it is not the name in this file.
        alias: Option<String>,
        /// The first and the last value of `{x}` in the spec; each is a variant, called in batches of `{x}`.
        x: Option<[u32; 2]>,
    },
}

impl Engine {
    /// Returns the engine, or its variants, which share a name in records.
    fn variants(&self, name: &str) -> Vec<CalledEngine> {
        let one = |spec: &str, alias: &str| CalledEngine {
            alias: alias.into(),
            ..CalledEngine::new(spec)
        };
        match self {
            Self::Spec(spec) => vec![one(spec, name)],
            Self::Called { spec, batch, alias, x: None } => {
                let alias = alias.as_deref().unwrap_or(name);
                vec![CalledEngine { batch: *batch, ..one(spec, alias) }]
            }
            Self::Called { spec, x: Some([first, last]), .. } => {
                let variant = |x: u32| CalledEngine {
                    name: name.to_lowercase(),
                    batch: Some(x as usize),
                    x: Some(f64::from(x)),
                    ..one(&spec.replace("{x}", &x.to_string()), name)
                };
                (*first..=*last).map(variant).collect()
            }
        }
    }
}

/// Reads the experiments of a file.
///
/// # Errors
/// If the file is malformed: the error and its place.
pub(crate) fn experiments(text: &str) -> Result<Vec<Experiment>, String> {
    let mut file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    for (name, run) in file.runs.iter_mut().filter(|(_, run)| run.name.is_empty()) {
        run.name.clone_from(name);
    }
    let names = |(name, engine): (&String, &Engine)| {
        let own = engine.variants(name).into_iter().map(|it| (name.clone(), it.name));
        own.take(1).collect::<Vec<_>>()
    };
    let names: Names = file.engines.iter().flat_map(names).collect();
    let mut all = core::mem::take(&mut file.experiment);
    for it in &mut all {
        it.names.clone_from(&names);
        file.complete(it).map_err(|error| format!("{}: {error}", it.name))?;
    }
    Ok(all)
}

fn set_if_empty(text: &mut String, usual: &str) {
    if text.is_empty() {
        usual.clone_into(text);
    }
}

impl File {
    /// Replaces names by the values that they denote, and fills missing fields with defaults.
    fn complete(&self, it: &mut Experiment) -> Result<(), String> {
        let works = [!it.rates.is_empty(), it.measure.is_some(), it.absent.is_some()];
        if works.into_iter().filter(|it| *it).count() != 1 {
            return Err("either `rates`, `measure` or `absent` is expected".into());
        }
        let separator = if self.source.is_empty() || it.source.is_empty() { "" } else { ", " };
        it.source = [&self.source, separator, &it.source].concat();
        set_if_empty(&mut it.setting, &self.setting);
        it.figures.iter_mut().for_each(|figure| set_if_empty(&mut figure.id, &it.name));
        self.replace(&mut it.engines);
        for rates in &mut it.rates {
            set_if_empty(&mut rates.figure, &it.name);
            self.replace(&mut rates.engines);
            rates.runs = found(&self.runs, &rates.run_names, "run configuration")?;
            rates.compile |= !rates.parts.is_empty();
        }
        for table in &mut it.papers {
            set_if_empty(&mut table.figure, &it.name);
            for (row, numbers) in core::mem::take(&mut table.values) {
                if numbers.len() != table.columns.len() {
                    return Err(format!("the row {row} has {} values", numbers.len()));
                }
                table.values.insert(it.names.get(&row).cloned().unwrap_or(row), numbers);
            }
        }
        for claim in &mut it.claims {
            self.complete_claim(claim).map_err(|error| format!("{}: {error}", claim.id))?;
        }
        Ok(())
    }

    /// Replaces the paper's names by the engines; other names are specs.
    fn replace(&self, engines: &mut Vec<CalledEngine>) {
        let named = |it: CalledEngine| match self.engines.get(&it.spec) {
            Some(engine) => engine.variants(&it.spec),
            None => vec![it],
        };
        *engines = core::mem::take(engines).into_iter().flat_map(named).collect();
    }

    fn complete_claim(&self, it: &mut Claim) -> Result<(), String> {
        let full = *self.full.get(&it.family).ok_or("no such family")?;
        match it.routes.len() {
            0 => it.routes.push(full),
            1 | 2 => {}
            _ => return Err("`routes` has one or two numbers".into()),
        }
        if it.band > WIDEST_BAND && it.because.is_empty() {
            return Err(format!("a band of {} needs a reason, in `because`", it.band));
        }
        it.text = format!("{} {}", it.text, it.because).trim_end().to_owned();
        it.needs = found(&self.needs, &it.need_names, "need")?;
        Ok(())
    }
}

/// Returns the values that names denote.
fn found<T: Clone>(
    all: &BTreeMap<String, T>,
    names: &[String],
    kind: &str,
) -> Result<Vec<T>, String> {
    let one = |name: &String| all.get(name).cloned().ok_or_else(|| format!("no {kind} {name}"));
    names.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::{Rates, TableChoice, paper};
    use crate::record::Value;

    const FILE: &str = r#"
        source = "S"
        full = { ipv4 = 7 }
        [engines]
        A = "radix"
        B = { spec = "spider:lanes={x}", x = [2, 3] }
        [runs]
        r = { name = "run", traffic = "random", mode = "one" }
        [needs]
        n = ["fact(cores) >= 2", "why"]
        [[experiment]]
        name = "e"
        source = "Table 1"
        title = "t"
        about = "a"
        rates = [{ tables = "all", engines = ["A", "B", "sail"], runs = ["r"] }]
        figures = [{ title = "t", caption = "c" }]
        papers = [{ columns = ["rate() in run", "memory()"], values = { A = [1, 2], "at 9" = [3, nan] } }]
        claims = [{ id = "C", text = "t.", needs = ["n"], judge.number = "rate(A)", paper = [3, 4], band = 4, because = "So." }]
    "#;

    fn read(text: &str) -> Result<Experiment, String> {
        Ok(experiments(text)?.remove(0))
    }

    #[test]
    fn names_stand_for_engines_runs_and_needs() {
        let it = read(FILE).unwrap();
        assert_eq!((it.source.as_str(), it.figures[0].id.as_str()), ("S, Table 1", "e"));
        let rates = &it.rates;
        let engines = rates[0].engines.iter().map(|it| (&it.spec[..], &it.name[..], &it.alias[..]));
        let lanes = [2, 3].map(|x| format!("spider:lanes={x}"));
        let wanted = [
            ("radix", "radix", "A"),
            (&lanes[0], "b", "B"),
            (&lanes[1], "b", "B"),
            ("sail", "sail", ""),
        ];
        assert!(engines.eq(wanted));
        let called = rates[0].engines.iter().map(|it| (it.x, it.batch));
        assert!(called.eq([
            (None, None),
            (Some(2.0), Some(2)),
            (Some(3.0), Some(3)),
            (None, None)
        ]));
        assert_eq!((rates[0].runs[0].name.as_str(), rates[0].figure.as_str()), ("run", "e"));
        let of = |engine: &str, run: &str, metric: &str, x| {
            let [figure, family, engine, run, metric] =
                ["e", "ipv4", engine, run, metric].map(String::from);
            paper(&it.papers, &Value { figure, family, engine, run, metric, x, ..Value::default() })
        };
        assert_eq!(of("radix", "run", "rate", None), Some(1.0));
        assert_eq!(of("radix", "", "memory", None), Some(2.0));
        assert_eq!(of("", "run", "rate", Some(9.0)), Some(3.0));
        let none = [("", "", "memory", Some(9.0)), ("sail", "run", "rate", Some(9.0))];
        assert!(none.iter().all(|(engine, run, metric, x)| of(engine, run, metric, *x).is_none()));
        let claim = &it.claims[0];
        assert_eq!(
            (&claim.text[..], &claim.routes[..], claim.paper[0]),
            ("t. So.", &[7][..], [3.0, 4.0])
        );
        assert_eq!((&claim.needs[0].reason[..], claim.band), ("why", 4.0));
    }

    #[test]
    fn mistakes_are_errors_with_a_place() {
        for (right, wrong, wanted) in [
            (r#"runs = ["r"]"#, r#"runs = ["x"]"#, "e: no run configuration x"),
            (r#"needs = ["n"]"#, r#"needs = ["x"]"#, "e: C: no need x"),
            (r#", because = "So.""#, "", "e: C: a band of 4 needs a reason, in `because`"),
            (r#""rate(A)""#, r#""rate(A""#, "rate(A: ) is expected at character 7"),
            (r#"judge.number = "rate(A)","#, "", "missing field `judge`"),
            ("judge.number", "judge.figure", "unknown variant `figure`"),
            (r#"traffic = "random""#, r#"traffic = "many""#, "no traffic many"),
            ("A = [1, 2]", "A = [1]", "e: the row A has 1 values"),
            ("[2, 3]", "[2]", "line 6"),
            ("band", "bond", "unknown field `bond`"),
        ] {
            let error = read(&FILE.replace(right, wrong)).map(drop).unwrap_err();
            assert!(error.contains(wanted), "{wrong}: {error}");
        }
    }

    /// Detects a name that was copied wrongly: each value of a paper, and of a claim about rates, is one that the
    /// experiment measures.
    #[test]
    fn names_are_those_of_measured_values() {
        for it in Experiment::all().filter(|it| !it.full && !it.rates.is_empty()) {
            let all = &it.rates;
            let runs = |rates: &Rates| {
                let names: Vec<_> = rates.runs.iter().map(|run| run.name.clone()).collect();
                let split = ["the table", "SYN1", "SYN2"];
                let split =
                    split.iter().flat_map(|it| names.iter().map(move |run| format!("{it}, {run}")));
                if rates.tables == TableChoice::Split { split.collect() } else { names }
            };
            let has = |engine: &str, run: &str| {
                all.iter().any(|rates| {
                    rates.engines.iter().any(|it| it.name == engine)
                        && (run.is_empty() || runs(rates).iter().any(|own| own == run))
                })
            };
            for table in &it.papers {
                for pick in &table.columns {
                    let measured = table.values.keys().all(|engine| has(engine, &pick.run));
                    assert!(measured, "{}: {table:?}", it.name);
                }
            }
            for claim in &it.claims {
                let text = format!("{:?} {:?}", claim.judge, claim.needs);
                let picks = text.split("ValueRef { engines: [").skip(1);
                for pick in picks {
                    let (engines, rest) = pick.split_once("], run: \"").expect("a pick");
                    let run = rest.split('"').next().expect("a run");
                    for engine in engines.split("\", \"").map(|it| it.trim_matches('"')) {
                        let engine = it.names.get(engine).map_or(engine, String::as_str);
                        assert!(has(engine, run), "{}: {engine} in {run}", claim.id);
                    }
                }
            }
            for engine in all.iter().flat_map(|rates| &rates.engines) {
                assert!(engine.spec.parse::<longmatch::EngineSpec>().is_ok(), "{}", engine.spec);
            }
        }
    }
}
