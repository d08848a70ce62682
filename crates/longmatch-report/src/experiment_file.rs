//! Reads the files that declare experiments.
//!
//! A file names its engines, run configurations and needs once; experiments refer to them by name.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::claim::{self, AllTables, Claim, Judge, Names, Need, Q};
use crate::declaration::{DeclaredEngine, Figure, PaperValue, Rates, RunSpec, Tables};
use crate::experiment::{Experiment, Work};

/// The factor by which the paper's range is widened, unless a claim has another.
const USUAL_BAND: f64 = 1.5;
/// The widest band that needs no reason.
const WIDEST_BAND: f64 = 2.0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: String,
    #[serde(default)]
    setting: String,
    /// Routes of a full table, by family: claims need so many unless they say otherwise.
    #[serde(default)]
    full: BTreeMap<String, u64>,
    #[serde(default)]
    engines: BTreeMap<String, EngineEntry>,
    runs: BTreeMap<String, RunSpec>,
    /// Conditions, each with the reason why a claim is not comparable without it.
    #[serde(default)]
    needs: BTreeMap<String, [String; 2]>,
    experiment: Vec<ExperimentEntry>,
}

/// An engine: its options, or more.
#[derive(Deserialize)]
#[serde(untagged)]
enum EngineEntry {
    Spec(String),
    Called(CalledEngine),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CalledEngine {
    spec: String,
    /// Keys in a batch.
    batch: Option<usize>,
    /// The paper's name for it, if it is not the name in this file.
    alias: Option<String>,
    /// The first and the last value of `{x}` in the spec; each is a variant, called in batches of `{x}`.
    x: Option<[u32; 2]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentEntry {
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    /// The tables, figures or sections of the source.
    #[serde(default)]
    source: String,
    title: String,
    about: String,
    setting: Option<String>,
    /// Whether only a full report measures it.
    #[serde(default)]
    full: bool,
    #[serde(default)]
    rates: Vec<RatesEntry>,
    /// The function that measures.
    measure: Option<String>,
    /// The engines of the function.
    #[serde(default)]
    engines: Vec<String>,
    /// The reason why nobody can measure it here.
    absent: Option<String>,
    #[serde(default)]
    figures: Vec<Figure>,
    #[serde(default)]
    papers: Vec<PapersEntry>,
    #[serde(default)]
    claims: Vec<ClaimEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RatesEntry {
    figure: Option<String>,
    tables: Tables,
    engines: Vec<String>,
    #[serde(default)]
    runs: Vec<String>,
    #[serde(default)]
    parts: Vec<(String, String)>,
    #[serde(default)]
    compile: bool,
    #[serde(default)]
    peers: bool,
    #[serde(default)]
    roofline: bool,
    #[serde(default)]
    routes: Vec<usize>,
    #[serde(default)]
    times: Vec<f64>,
}

/// A table of a paper.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PapersEntry {
    figure: Option<String>,
    #[serde(default = "ipv4")]
    family: String,
    /// Quantities, as in claims but without engines: `rate in 'just in time' at 4`.
    columns: Vec<String>,
    /// The rows: an engine, and a value for each column; `nan` where the paper has none.
    values: BTreeMap<String, Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimEntry {
    id: String,
    #[serde(default)]
    section: String,
    text: String,
    #[serde(default = "ipv4")]
    family: String,
    #[serde(default)]
    needs: Vec<String>,
    /// The least number of routes in the table, and the greatest.
    routes: Option<Vec<u64>>,
    without: Option<[String; 3]>,
    paper: Option<Range>,
    band: Option<f64>,
    /// The reason for a wide band.
    because: Option<String>,
    /// The number of tables that must be comparable, for a claim about all tables.
    tables: Option<usize>,
    /// The share of tables on which the sentence holds.
    share: Option<[f64; 2]>,
    direction: Option<String>,
    factor: Option<String>,
    number: Option<String>,
    /// A figure and an engine whose values are those of the paper, to so many decimals.
    exact: Option<(String, String, u8)>,
    rising: Option<(String, f64)>,
    linear: Option<(String, f64)>,
    /// A series, the levels, and the positions between which it crosses them.
    crossover: Option<(String, String, [f64; 2])>,
    refuses: Option<(String, String)>,
}

/// The paper's figures: one, a range, or a range for each element.
#[derive(Deserialize)]
#[serde(untagged)]
enum Range {
    One(f64),
    Ends([f64; 2]),
    Each(Vec<[f64; 2]>),
}

fn ipv4() -> String {
    "ipv4".into()
}

/// Reads the experiments of a file.
///
/// # Errors
/// If the file is malformed: what is wrong, and where.
pub(crate) fn experiments(text: &str) -> Result<Vec<Experiment>, String> {
    let mut file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    for (name, run) in &mut file.runs {
        if run.name.is_empty() {
            run.name.clone_from(name);
        }
    }
    let names = file.engines.iter().map(|(name, it)| (name.clone(), it.name(name)));
    let reader = Reader { names: names.collect(), file: &file };
    let within = |it: &ExperimentEntry| {
        reader.experiment(it).map_err(|error| format!("{}: {error}", it.name))
    };
    file.experiment.iter().map(within).collect()
}

impl EngineEntry {
    /// Returns the name in records: the spec, or the paper's name for variants that share one.
    fn name(&self, alias: &str) -> String {
        match self {
            Self::Called(CalledEngine { x: Some(_), .. }) => alias.to_lowercase(),
            Self::Spec(spec) | Self::Called(CalledEngine { spec, .. }) => spec.clone(),
        }
    }
}

struct Reader<'f> {
    file: &'f File,
    names: Names,
}

impl Reader<'_> {
    fn experiment(&self, it: &ExperimentEntry) -> Result<Experiment, String> {
        let sources = [&self.file.source, &it.source].into_iter().filter(|it| !it.is_empty());
        let papers = self.papers(it)?;
        let claims = it.claims.iter().map(|claim| {
            self.claim(claim, &papers).map_err(|error| format!("{}: {error}", claim.id))
        });
        Ok(Experiment {
            name: it.name.clone(),
            aliases: it.aliases.clone(),
            source: sources.map(String::as_str).collect::<Vec<_>>().join(", "),
            title: it.title.clone(),
            about: it.about.clone(),
            setting: it.setting.as_ref().unwrap_or(&self.file.setting).clone(),
            work: self.work(it)?,
            engines: self.engines(&it.engines),
            figures: it.figures.iter().map(|figure| with_id(figure, &it.name)).collect(),
            claims: claims.collect::<Result<_, _>>()?,
            papers,
        })
    }

    fn work(&self, it: &ExperimentEntry) -> Result<Work, String> {
        let rates = it.rates.iter().map(|rates| {
            let run = |name: &String| {
                self.file
                    .runs
                    .get(name)
                    .cloned()
                    .ok_or_else(|| format!("no run configuration {name}"))
            };
            Ok(Rates {
                figure: rates.figure.as_ref().unwrap_or(&it.name).clone(),
                tables: rates.tables,
                engines: self.engines(&rates.engines),
                runs: rates.runs.iter().map(run).collect::<Result<_, String>>()?,
                parts: rates.parts.clone(),
                compile: rates.compile || !rates.parts.is_empty(),
                peers: rates.peers,
                roofline: rates.roofline,
                routes: rates.routes.clone(),
                times: rates.times.clone(),
            })
        });
        let rates: Vec<Rates> = rates.collect::<Result<_, String>>()?;
        match (&it.measure, &it.absent, rates.is_empty()) {
            (None, None, false) if it.full => Ok(Work::FullRates(rates)),
            (None, None, false) => Ok(Work::Rates(rates)),
            (Some(name), None, true) => Ok(Work::Function(name.clone())),
            (None, Some(reason), true) => Ok(Work::Absent(reason.clone())),
            _ => Err("either `rates`, `measure` or `absent` is expected".into()),
        }
    }

    /// Returns engines by the paper's names; other names are specs.
    fn engines(&self, names: &[String]) -> Vec<DeclaredEngine> {
        names.iter().flat_map(|name| self.engine(name)).collect()
    }

    fn engine(&self, name: &str) -> Vec<DeclaredEngine> {
        let one = |spec: &str, alias: &str, batch| DeclaredEngine {
            spec: spec.into(),
            alias: alias.into(),
            name: spec.into(),
            batch,
            x: None,
        };
        match self.file.engines.get(name) {
            None => vec![one(name, "", None)],
            Some(EngineEntry::Spec(spec)) => vec![one(spec, name, None)],
            Some(EngineEntry::Called(CalledEngine { spec, batch, alias, x: None })) => {
                vec![one(spec, alias.as_deref().unwrap_or(name), *batch)]
            }
            Some(EngineEntry::Called(CalledEngine { spec, x: Some([first, last]), .. })) => {
                let variant = |x: u32| DeclaredEngine {
                    name: self.names[name].clone(),
                    x: Some(f64::from(x)),
                    ..one(&spec.replace("{x}", &x.to_string()), name, Some(x as usize))
                };
                (*first..=*last).map(variant).collect()
            }
        }
    }

    fn papers(&self, it: &ExperimentEntry) -> Result<Vec<PaperValue>, String> {
        let mut all: Vec<PaperValue> = Vec::new();
        for table in &it.papers {
            for (row, numbers) in &table.values {
                if numbers.len() != table.columns.len() {
                    return Err(format!("the row {row} has {} values", numbers.len()));
                }
                let (engine, at) = match row.strip_prefix("at ") {
                    Some(x) => ("", Some(x.parse().map_err(|_| format!("{row} is no position"))?)),
                    None => (self.names.get(row).unwrap_or(row).as_str(), None),
                };
                for (column, number) in table.columns.iter().zip(numbers) {
                    if number.is_nan() {
                        continue;
                    }
                    let pick = claim::pick(column, &self.names)?;
                    all.push(PaperValue {
                        figure: table.figure.as_ref().unwrap_or(&it.name).clone(),
                        family: table.family.clone(),
                        engine: engine.into(),
                        run: pick.run,
                        metric: pick.metric,
                        x: at.or(pick.xs.first().copied()),
                        value: *number,
                    });
                }
            }
        }
        Ok(all)
    }

    fn claim(&self, it: &ClaimEntry, papers: &[PaperValue]) -> Result<Claim, String> {
        let full = *self.file.full.get(&it.family).ok_or("no such family")?;
        let need = |name: &String| {
            let [condition, reason] =
                self.file.needs.get(name).ok_or_else(|| format!("no need {name}"))?;
            let relation = claim::relation(condition, &self.names)?;
            Ok(Need { relation, reason: reason.clone() })
        };
        let paper = match &it.paper {
            None => Vec::new(),
            Some(Range::One(value)) => vec![[*value; 2]],
            Some(Range::Ends(ends)) => vec![*ends],
            Some(Range::Each(all)) => all.clone(),
        };
        let band = it.band.unwrap_or(USUAL_BAND);
        if band > WIDEST_BAND && it.because.is_none() {
            return Err(format!("a band of {band} needs a reason, in `because`"));
        }
        let because = it.because.iter().map(|reason| format!(" {reason}"));
        let text = it.text.clone() + &because.collect::<String>();
        let tables =
            it.tables.map(|least| AllTables { least, share: it.share.unwrap_or([1.0; 2]) });
        Ok(Claim {
            id: it.id.clone(),
            section: it.section.clone(),
            text,
            family: it.family.clone(),
            routes: match it.routes.as_deref() {
                None => [full, u64::MAX],
                Some([least]) => [*least, u64::MAX],
                Some([least, most]) => [*least, *most],
                Some(_) => return Err("`routes` has one or two numbers".into()),
            },
            needs: it.needs.iter().map(need).collect::<Result<_, String>>()?,
            without: it.without.clone().map(|[engine, option, reason]| {
                [self.names.get(&engine).cloned().unwrap_or(engine), option, reason]
            }),
            judge: self.judge(it, papers)?,
            paper,
            band,
            tables,
        })
    }

    fn judge(&self, it: &ClaimEntry, papers: &[PaperValue]) -> Result<Judge, String> {
        let quantity = |text: &String| claim::quantity(text, &self.names);
        let pick = |text: &String| claim::pick(text, &self.names);
        let all = [
            it.direction
                .as_ref()
                .map(|text| Ok(Judge::Direction(claim::relation(text, &self.names)?))),
            it.factor.as_ref().map(|text| Ok(Judge::Factor(quantity(text)?))),
            it.number.as_ref().map(|text| Ok(Judge::Number(quantity(text)?))),
            it.exact.as_ref().map(|exact| Ok(self.exact(exact, papers))),
            it.rising.as_ref().map(|(text, fall)| Ok(Judge::Rising(pick(text)?, *fall))),
            it.linear.as_ref().map(|(text, least)| Ok(Judge::Linear(pick(text)?, *least))),
            it.crossover.as_ref().map(|(text, levels, ends)| {
                Ok(Judge::Crossover(pick(text)?, quantity(levels)?, *ends))
            }),
            it.refuses.as_ref().map(|(text, words)| Ok(Judge::Refuses(pick(text)?, words.clone()))),
        ];
        let mut all = all.into_iter().flatten();
        match (all.next(), all.next()) {
            (Some(judge), None) => judge,
            _ => Err("one rule is expected".into()),
        }
    }

    /// Returns the judge "the values are those that the paper prints".
    fn exact(
        &self,
        (figure, engine, decimals): &(String, String, u8),
        papers: &[PaperValue],
    ) -> Judge {
        let engine = self.names.get(engine).unwrap_or(engine);
        let own = papers.iter().filter(|it| it.figure == *figure && it.engine == *engine);
        let one = |it: &PaperValue| {
            let pick = claim::Pick {
                engines: vec![it.engine.clone()],
                run: it.run.clone(),
                metric: it.metric.clone(),
                xs: it.x.into_iter().collect(),
            };
            // The shortest text of a number has the printed digits, except for zeros at the end.
            let digits = it.value.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
            (Q::Of(pick), it.value, (digits as u8).max(*decimals))
        };
        Judge::Exact(own.map(one).collect())
    }
}

fn with_id(figure: &Figure, name: &str) -> Figure {
    let id = if figure.id.is_empty() { name } else { &figure.id };
    Figure { id: id.into(), ..figure.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        claims = [{ id = "C", text = "t.", needs = ["n"], number = "rate(A)", paper = [3, 4], band = 4, because = "So." }]
    "#;

    fn read(text: &str) -> Result<Experiment, String> {
        Ok(experiments(text)?.remove(0))
    }

    #[test]
    fn names_stand_for_engines_runs_and_needs() {
        let it = read(FILE).unwrap();
        assert_eq!((it.source.as_str(), it.figures[0].id.as_str()), ("S, Table 1", "e"));
        let Work::Rates(rates) = &it.work else { panic!("rates") };
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
        let papers = it
            .papers
            .iter()
            .map(|it| (&it.engine[..], &it.run[..], &it.metric[..], it.x, it.value));
        let wanted = [
            ("radix", "run", "rate", None, 1.0),
            ("radix", "", "memory", None, 2.0),
            ("", "run", "rate", Some(9.0), 3.0),
        ];
        assert!(papers.eq(wanted));
        let claim = &it.claims[0];
        assert_eq!(
            (&claim.text[..], claim.routes, claim.paper[0]),
            ("t. So.", [7, u64::MAX], [3.0, 4.0])
        );
        assert_eq!((&claim.needs[0].reason[..], claim.band), ("why", 4.0));
    }

    #[test]
    fn mistakes_are_errors_with_a_place() {
        for (right, wrong, wanted) in [
            (r#"runs = ["r"]"#, r#"runs = ["x"]"#, "e: no run configuration x"),
            (r#"needs = ["n"]"#, r#"needs = ["x"]"#, "e: C: no need x"),
            (r#", because = "So.""#, "", "e: C: a band of 4 needs a reason, in `because`"),
            (
                r#"number = "rate(A)""#,
                r#"number = "rate(A""#,
                "e: C: rate(A: ) is expected at character 7",
            ),
            (r#"number = "rate(A)","#, "", "e: C: one rule is expected"),
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
        for it in Experiment::all() {
            let Work::Rates(all) = &it.work else { continue };
            let runs = |rates: &Rates| {
                let names: Vec<_> = rates.runs.iter().map(|run| run.name.clone()).collect();
                let split = ["the table", "SYN1", "SYN2"];
                let split =
                    split.iter().flat_map(|it| names.iter().map(move |run| format!("{it}, {run}")));
                if rates.tables == Tables::Split { split.collect() } else { names }
            };
            let has = |engine: &str, run: &str| {
                all.iter().any(|rates| {
                    rates.engines.iter().any(|it| it.name == engine)
                        && (run.is_empty() || runs(rates).iter().any(|own| own == run))
                })
            };
            for value in &it.papers {
                assert!(has(&value.engine, &value.run), "{}: {value:?}", it.name);
            }
            for claim in &it.claims {
                let text = format!("{:?} {:?}", claim.judge, claim.needs);
                let picks = text.split("Pick { engines: [").skip(1);
                for pick in picks {
                    let (engines, rest) = pick.split_once("], run: \"").expect("a pick");
                    let run = rest.split('"').next().expect("a run");
                    for engine in engines.split(", ").map(|it| it.trim_matches('"')) {
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
