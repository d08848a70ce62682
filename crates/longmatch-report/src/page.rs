//! The whole report as a page: what stands above and around the sections.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::desk::SEED;
use super::disturbance;
use super::model::{Condition, Finding, Row};
use super::run::{Findings, Report};
use super::show::{condition, plural, remark};
use super::store::replace;
use super::surroundings::surroundings;
use super::write::{Absent, Page, csv, ndjson};

/// Our own engine.
const FLAGSHIP: &str = "folio";
/// Engines that are nothing but a trie, or a table with one entry for each /24.
const SIMPLE: [&str; 3] = ["radix", "tree_bitmap", "dir24_8"];

/// The files that a report is written to.
pub const FILES: [&str; 4] = ["report.html", "report.md", "records.ndjson", "records.csv"];

impl Report<'_> {
    /// The findings as a page.
    pub fn page(&self, findings: &Findings) -> Page {
        let absent = findings.absent.iter().map(|(experiment, why)| Absent {
            experiment: experiment.name.into(),
            source: experiment.source.into(),
            title: experiment.title.into(),
            why: why.0.clone(),
        });
        Page {
            title: format!("longmatch report: {}", self.table_names()),
            lead: lead(),
            machine: surroundings(),
            settings: self.settings_in_words(),
            summary: summary(findings),
            sections: findings.sections.clone(),
            absent: absent.collect(),
        }
    }

    /// Writes all [`FILES`] into a folder. A file that cannot be written stays as it was; the others
    /// are written.
    ///
    /// # Errors
    /// When files cannot be written: the error names each of them, and says why.
    pub fn write(&self, findings: &Findings, folder: &Path) -> io::Result<()> {
        let page = self.page(findings);
        let sections = &findings.sections;
        let texts = [page.html(), page.markdown(), ndjson(sections), csv(sections)];
        let files = FILES.iter().zip(texts);
        let errors: Vec<_> =
            files.filter_map(|(file, text)| replace(&folder.join(file), &text).err()).collect();
        let Some(first) = errors.first() else { return Ok(()) };
        let all: Vec<_> = errors.iter().map(io::Error::to_string).collect();
        Err(io::Error::new(first.kind(), all.join("; ")))
    }

    fn table_names(&self) -> String {
        let names: Vec<_> = self.inputs.tables.iter().map(|table| &table.name[..]).collect();
        names.join(", ")
    }

    fn settings_in_words(&self) -> Vec<Condition> {
        let mut all = Vec::new();
        for table in &self.inputs.tables {
            let four = plural(table.ipv4.len(), "IPv4 route");
            let six = plural(table.ipv6.len(), "IPv6 route");
            all.push(condition(&format!("table {}", table.name), format!("{four}, {six}")));
        }
        let updates = self.inputs.updates.as_ref().map(|updates| {
            let four = plural(updates.ipv4.len(), "IPv4 update");
            let six = plural(updates.ipv6.len(), "IPv6 update");
            format!("{}: {four}, {six}", updates.name)
        });
        let trace = self.inputs.trace.as_ref().map(|trace| {
            let four = plural(trace.ipv4.len(), "IPv4 destination");
            let six = plural(trace.ipv6.len(), "IPv6 destination");
            format!("{}: {four}, {six}", trace.name)
        });
        let effort = &self.effort;
        all.push(condition("updates", updates.unwrap_or_else(|| "none given".into())));
        all.push(condition("trace", trace.unwrap_or_else(|| "none given".into())));
        all.push(condition(
            "effort",
            format!(
                "{}: {} passes that count, {} s for each rate, one pass before that does not count",
                effort.name(),
                effort.passes,
                effort.seconds
            ),
        ));
        all.push(condition("seed", SEED.to_string()));
        all
    }
}

fn lead() -> Vec<String> {
    [
        "Every table and figure of three papers on longest-prefix match, measured again on this \
         machine with these tables: Poptrie (Asai, Ohara, SIGCOMM 2015), DXR (Zec, Rizzo, Mikuc, \
         CCR 2012, and its project page) and Spider (Ueno, Nakamura, Kuga, Esaki, IEEE Access \
         2020); and what the papers do not ask.",
        "Answers are checked before a rate is measured. Engines are measured in turn, pass by \
         pass; a pass during which the machine was disturbed is repeated. Rates are medians, with \
         the quartiles of the passes beside them. The papers' own values come from other machines \
         and other tables: what can be compared are the proportions.",
        "How this was measured is written down in METHODOLOGY.md, and what it favours in BIAS.md, \
         both in longmatch's repository.",
    ]
    .map(String::from)
    .into()
}

/// What a reader should know who reads nothing else.
fn summary(findings: &Findings) -> Vec<Finding> {
    let mut all = Vec::new();
    let sections = &findings.sections;
    let claims = sections.iter().flat_map(|section| {
        let findings = section
            .figures
            .iter()
            .flat_map(|figure| figure.findings.iter().map(move |finding| (&figure.title, finding)));
        findings.filter(|(_, it)| it.holds.is_some()).map(move |(title, it)| (section, title, it))
    });
    let claims: Vec<_> = claims.collect();
    if !claims.is_empty() {
        let hold = claims.iter().filter(|(.., it)| it.holds == Some(true)).count();
        all.push(remark(format!(
            "Of {} of the papers, each on each table, {hold} hold here.",
            plural(claims.len(), "claim")
        )));
    }
    let rows: Vec<_> = sections.iter().flat_map(|section| &section.records).collect();
    all.extend(flagship(&rows));
    all.extend(simple(&rows));
    all.extend(disturbance::in_a_sentence(&rows).map(remark));
    for (section, title, finding) in claims.iter().filter(|(.., it)| it.holds == Some(false)) {
        let text = format!("{} ({title}): {}", section.source, finding.text);
        all.push(Finding { holds: Some(false), text });
    }
    all
}

/// Rates of the same kind: table, family, traffic, keys, mode.
type Kind<'r> = (&'r str, &'r str, &'r str, &'r str, &'r str);

/// The rates of all engines under the same conditions, on one thread, from the experiment that has
/// every kind of traffic.
fn contests<'r>(rows: &[&'r Row]) -> BTreeMap<Kind<'r>, Vec<(f64, &'r str)>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.experiment == "traffic" && row.metric == "rate") {
        let Some(value) = row.value else { continue };
        let kind =
            (&row.table[..], &row.family[..], &row.traffic[..], &row.keys[..], &row.mode[..]);
        all.entry(kind).or_default().push((value, &row.engine[..]));
    }
    all.values_mut().for_each(|rates| rates.sort_by(|a, b| b.0.total_cmp(&a.0)));
    all
}

fn in_words((table, family, traffic, _, mode): &Kind<'_>) -> String {
    format!("{traffic} traffic, mode {mode}, {family} of {table}")
}

/// How often our own engine is the fastest, and where it is not.
fn flagship(rows: &[&Row]) -> Vec<Finding> {
    let contests = contests(rows);
    let takes_part =
        contests.iter().filter(|(_, rates)| rates.iter().any(|(_, it)| *it == FLAGSHIP));
    let (won, lost): (Vec<_>, Vec<_>) = takes_part.partition(|(_, rates)| rates[0].1 == FLAGSHIP);
    let total = won.len() + lost.len();
    if total == 0 {
        return Vec::new();
    }
    let mut all = vec![remark(format!(
        "{FLAGSHIP} is the fastest engine in {} of {} of table, traffic and mode.",
        won.len(),
        plural(total, "combination")
    ))];
    for (kind, rates) in lost {
        let (best, name) = rates[0];
        let own = rates.iter().find(|(_, it)| *it == FLAGSHIP).map_or(0.0, |(rate, _)| *rate);
        all.push(remark(format!(
            "{name} is faster than {FLAGSHIP} under {}: {best:.0} against {own:.0} Mlps.",
            in_words(kind)
        )));
    }
    all
}

/// Where a simple structure wins.
fn simple(rows: &[&Row]) -> Vec<Finding> {
    let contests = contests(rows);
    let wins = contests
        .iter()
        .filter(|(_, rates)| SIMPLE.iter().any(|name| rates[0].1.split(':').next() == Some(name)));
    let wins: Vec<_> =
        wins.map(|(kind, rates)| format!("{} ({})", in_words(kind), rates[0].1)).collect();
    match wins.is_empty() {
        true if contests.is_empty() => Vec::new(),
        true => vec![remark("No simple structure has the highest rate in any of them.")],
        false => vec![remark(format!("A simple structure wins under {}.", wins.join("; ")))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &str, traffic: &str, value: f64) -> Row {
        Row {
            experiment: "traffic".into(),
            table: "t".into(),
            family: "ipv4".into(),
            engine: engine.into(),
            traffic: traffic.into(),
            mode: "one".into(),
            metric: "rate".into(),
            value: Some(value),
            ..Row::default()
        }
    }

    #[test]
    fn the_summary_says_who_wins_and_who_does_not() {
        let rows = [
            row("folio", "random", 3.0),
            row("radix", "random", 1.0),
            row("folio", "routed", 3.0),
            row("dir24_8", "routed", 4.0),
        ];
        let rows: Vec<_> = rows.iter().collect();
        let texts: Vec<_> =
            flagship(&rows).into_iter().chain(simple(&rows)).map(|it| it.text).collect();
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert!(texts[0].contains("in 1 of 2 combinations"), "{}", texts[0]);
        assert!(texts[1].starts_with("dir24_8 is faster than folio under routed"), "{}", texts[1]);
        assert!(texts[2].contains("routed traffic, mode one, ipv4 of t (dir24_8)"), "{}", texts[2]);
        assert!(flagship(&[]).is_empty() && simple(&[]).is_empty());
    }
}
