//! The content of each generated block.

use core::fmt::Write as _;

use crate::experiment::Experiment;
use crate::model::{Cell, Column, Table as Grid};
use crate::page::{Notes, count, grid};
use crate::record::{Outcome, Value};
use crate::view;

use super::published::{
    BATCH, CIRCUMSTANCES, Machine, ONE, Published, Table, base_of, circumstances, family_name,
};
use super::{comparison, headline, kinds};

/// Prefix of an engine's name in values of its roofline.
const ROOFLINE: &str = "roofline of ";

/// Returns the content of a block; `up` is the path from the block's file to the root of the repository.
///
/// # Errors
/// If the block is unknown, or the records lack a value of it.
pub(super) fn content(
    published: &Published,
    machine: &Machine,
    name: &str,
    up: &str,
) -> Result<String, String> {
    match name.split(' ').collect::<Vec<_>>()[..] {
        ["headline"] => headline::content(published, machine, up),
        ["provenance"] => provenance(machine, up),
        ["figure", id] => Ok(figure(machine, id, None)),
        ["figure", id, metric] => Ok(figure(machine, id, Some(metric))),
        ["kinds"] => kinds::content(machine),
        ["tables"] => tables(machine),
        ["machines"] => machines(published),
        ["comparison", id] => comparison::content(published, id),
        ["engine", engine] => of_engine(machine, engine, up),
        _ => Err(format!("unknown generated block `{name}`")),
    }
}

/// Returns a column of text, or of numbers with their unit in its name.
pub(super) fn column(name: impl Into<String>) -> Column {
    Column { name: name.into(), unit: String::new(), paper: false }
}

/// Returns a table of text.
pub(super) fn text_table(heads: &[&str], rows: Vec<Vec<String>>) -> Grid {
    let rows = rows.into_iter().map(|row| row.into_iter().map(Cell::Text).collect());
    Grid { columns: heads.iter().map(|head| column(*head)).collect(), rows: rows.collect() }
}

/// Returns a name as code.
pub(super) fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Tabulates the circumstances of all published rates of a machine.
fn provenance(machine: &Machine, up: &str) -> Result<String, String> {
    let mut rows = Vec::new();
    for name in CIRCUMSTANCES.into_iter().chain(["effort", "seed"]) {
        rows.push(vec![name.to_owned(), machine.about(name)?.to_owned()]);
    }
    let tables = machine.tables()?;
    let mut out = grid(&text_table(&["", ""], rows), false, &mut Notes::default());
    let _ = writeln!(out, "\n{}\n", spread(machine));
    for table in &tables {
        let _ = writeln!(out, "- {}", in_words(table, up));
    }
    Ok(out)
}

/// Describes the spread of the rates of one traffic after the other.
fn spread(machine: &Machine) -> String {
    let spreads = machine.spreads();
    let percent = |tenths: usize| match spreads.get(spreads.len() * tenths / 10) {
        Some(share) => format!("{:.0} %", share * 100.0),
        None => "an unknown share".into(),
    };
    format!(
        "Half the distance of the quartiles is below {} of the median for half of the rates, below {} for nine in ten.",
        percent(5),
        percent(9)
    )
}

/// States name, size and provenance of a table.
fn in_words(table: &Table, up: &str) -> String {
    let Table { name, routes, next_hops, family } = table;
    format!(
        "[`{name}`]({up}docs/tables.md#{name}): {} {} routes, {} next hops",
        count(*routes),
        family_name(family),
        count(*next_hops)
    )
}

/// Renders the tables of a figure, of one metric or of all; a sentence if the records lack it.
fn figure(machine: &Machine, id: &str, metric: Option<&str>) -> String {
    let spec = Experiment::all().flat_map(|it| &it.figures).find(|it| it.id == id);
    let chosen = machine.figure(id).filter(|it| metric.is_none_or(|metric| it.metric == metric));
    let named: Vec<Value> = chosen.map(|it| with_options(machine, it)).collect();
    let (Some(spec), false) = (spec, named.is_empty()) else { return machine.why_absent(id) };
    let mut out = String::new();
    for group in view::groups(&named.iter().collect::<Vec<_>>()) {
        let first = group[0];
        let figure = view::figure(spec, &group, &Outcome::default());
        let mut notes = Notes::default();
        let table = grid(&figure.table, false, &mut notes);
        let traffic = traffic(machine, &view::anchor(first));
        let (family, name) = (family_name(&first.family), &first.table);
        let _ = writeln!(out, "**{family}, `{name}`**{traffic}\n\n{table}{}", notes.finish());
    }
    out
}

/// States the traffic of a figure, with the shares of addresses that have a route.
fn traffic(machine: &Machine, anchor: &str) -> String {
    let all = machine.records.experiments.iter().flat_map(|(outcome, _)| &outcome.conditions);
    let own = all.filter(|it| it[0] == anchor && it[1].starts_with("traffic"));
    let mut texts: Vec<_> =
        own.map(|it| it[2].split(", seed").next().unwrap_or_default()).collect();
    texts.dedup();
    if texts.is_empty() { String::new() } else { format!(". Addresses: {}", texts.join("; ")) }
}

/// Names the engine of a value by all of its options, including those chosen for the table and the CPU.
fn with_options(machine: &Machine, value: &Value) -> Value {
    let (prefix, engine) = match value.engine.strip_prefix(ROOFLINE) {
        Some(engine) => (ROOFLINE, engine),
        None => ("", value.engine.as_str()),
    };
    let place = |it: &Value| (it.table.clone(), it.family.clone());
    let values = machine.records.experiments.iter().flat_map(|(_, values)| values);
    let mut named = values.filter(|it| it.engine == engine && !it.variant.is_empty());
    let variant = named.find(|it| place(it) == place(value)).map_or(engine, |it| &it.variant);
    Value { engine: format!("{prefix}`{}`", shortened(variant)), ..value.clone() }
}

/// Shortens a variant: a long list of numbers becomes its first and last one.
fn shortened(variant: &str) -> String {
    let option = |option: &str| match option.split_once('=') {
        Some((name, list)) if list.matches('-').count() > 2 => {
            let (first, last) = (list.split('-').next(), list.rsplit('-').next());
            format!("{name}={}-…-{}", first.unwrap_or_default(), last.unwrap_or_default())
        }
        _ => option.to_owned(),
    };
    variant.split(':').map(option).collect::<Vec<_>>().join(":")
}

/// Lists the tables of the run.
fn tables(machine: &Machine) -> Result<String, String> {
    let row = |table: &Table| {
        let name = format!("[`{0}`](#{0})", table.name);
        let embedded = if table.is_embedded() { "yes" } else { "no" };
        let family = family_name(&table.family).to_owned();
        vec![name, family, count(table.routes), count(table.next_hops), embedded.to_owned()]
    };
    let rows = machine.tables()?.iter().map(row).collect();
    Ok(links(&["table", "family", "routes", "next hops", "in the repository"], rows))
}

/// Renders a table whose cells are Markdown, such as links.
pub(super) fn links(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}|{}\n{rows}", line(&heads), "---|".repeat(heads.len()))
}

/// Lists the machines with published records.
fn machines(published: &Published) -> Result<String, String> {
    let mut rows = Vec::new();
    for machine in &published.machines {
        let Machine { name, records, .. } = machine;
        let [holds, fails, rest] = crate::claims(records);
        rows.push(vec![
            code(name),
            format!("{}, {}", machine.about("CPU")?, machine.about("instructions")?),
            machine.table_names().iter().map(|it| code(it)).collect::<Vec<_>>().join(", "),
            format!("{holds} hold, {fails} do not, {rest} not comparable"),
            machine.about("date")?.to_owned(),
            format!(
                "[page](published/{name}/report.html), [records](published/{name}/records.ndjson)"
            ),
        ]);
    }
    let heads = ["microarchitecture", "CPU", "tables of rates", "claims", "date", "files"];
    Ok(links(&heads, rows))
}

/// Tabulates the rates and the memory of an engine.
fn of_engine(machine: &Machine, engine: &str, up: &str) -> Result<String, String> {
    let mut notes = Notes::default();
    let mut rows = Vec::new();
    for table in &machine.tables()? {
        let [one, batch] = [ONE, BATCH].map(|figure| headline::Shown { machine, figure, table });
        for variant in batch.engines().into_iter().filter(|it| base_of(it) == engine) {
            rows.push(vec![
                code(&table.name),
                code(variant),
                one.rates(variant, &mut notes),
                batch.rates(variant, &mut notes),
                batch.memory(variant, &mut notes),
            ]);
        }
    }
    if rows.is_empty() {
        return Err(format!("the records have no rates of the engine `{engine}`"));
    }
    let heads = ["table", "variant", "one address, Mlps", "a batch, Mlps", "MiB"];
    Ok(format!(
        "Million lookups a second under {} traffic, one address after the other and in batches. {} \
         [docs/engines.md]({up}docs/engines.md) has the conditions, the other engines and other variants.\n\n{}{}",
        headline::TRAFFIC.join(" / "),
        circumstances(&machine.records.run)?,
        links(&heads, rows),
        notes.finish()
    ))
}
