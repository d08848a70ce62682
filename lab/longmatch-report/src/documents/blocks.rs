//! The content of each generated block.

use core::fmt::Write as _;

use crate::experiment::Experiment;
use crate::page::{Notes, count, escaped, grid, rows};
use crate::record::{ExperimentEnd, Value};
use crate::records::family_name;
use crate::view::{self, distinct};

use super::published::{
    BATCH, CIRCUMSTANCES, ONE, Published, PublishedRun, PublishedTable, base_of, circumstances,
    code,
};
use super::{comparison, engines, headline, kinds};

/// Prefix of an engine's name in values of its roofline.
const ROOFLINE: &str = "roofline of ";

/// Returns the content of a block; `up` is the path from the block's file to the root of the repository.
///
/// # Errors
/// If the block is unknown, or the records lack a value of it.
pub(super) fn content(
    published: &Published,
    machine: &PublishedRun,
    name: &str,
    up: &str,
) -> Result<String, String> {
    match name.split(' ').collect::<Vec<_>>()[..] {
        ["engines", table] => engines::content(table, up),
        ["headline"] => headline::content(published, machine, up),
        ["libraries"] => headline::libraries(machine, up),
        ["provenance"] => provenance(machine, up),
        ["figure", id] => figure(machine, id, None),
        ["figure", id, metric] => figure(machine, id, Some(metric)),
        ["kinds"] => kinds::content(machine),
        ["tables"] => tables(machine),
        ["machines"] => machines(published),
        ["comparison", id] => comparison::content(published, id),
        ["engine", engine] => of_engine(machine, engine, up),
        _ => Err(format!("unknown generated block `{name}`")),
    }
}

/// Tabulates the circumstances of all published rates of a machine.
fn provenance(machine: &PublishedRun, up: &str) -> Result<String, String> {
    let mut pairs = Vec::new();
    for name in CIRCUMSTANCES.into_iter().chain(["effort", "seed"]) {
        pairs.push([name, machine.about(name)?].map(escaped).into());
    }
    let mut out = format!("{}\n{}\n\n", rows(" | ", pairs), spread(machine));
    for PublishedTable { name, routes, next_hops, family } in &machine.tables()? {
        let (routes, next_hops) = (count(*routes), count(*next_hops));
        let _ = writeln!(
            out,
            "- [`{name}`]({up}docs/tables.md#{name}): {routes} {} routes, {next_hops} next hops",
            family_name(family)
        );
    }
    Ok(out)
}

/// Describes the spread of the rates of one traffic after the other.
fn spread(machine: &PublishedRun) -> String {
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

/// Renders the tables of a figure, of one metric or of all, and the conditions of its run if that is a separate one; a
/// sentence if the records lack it.
fn figure(machine: &PublishedRun, id: &str, metric: Option<&str>) -> Result<String, String> {
    let spec = Experiment::all().flat_map(|it| &it.figures).find(|it| it.id == id);
    let chosen = machine.figure(id).filter(|it| metric.is_none_or(|metric| it.metric == metric));
    let named: Vec<Value> = chosen.map(|it| with_options(machine, it)).collect();
    let (Some(spec), Some(first)) = (spec, named.first()) else {
        return Ok(machine.why_absent(id));
    };
    let mut out = String::new();
    if machine.apart.iter().any(|(name, _)| *name == first.experiment) {
        let _ = writeln!(out, "{}\n", circumstances(machine.run_of(&first.experiment))?);
    }
    for group in view::groups(&named.iter().collect::<Vec<_>>()) {
        let first = group[0];
        let figure = view::figure(spec, &group, &ExperimentEnd::default());
        let mut notes = Notes::default();
        let table = grid(&figure.table, false, &mut notes);
        let traffic = traffic(machine, &view::anchor(first));
        let (family, name) = (family_name(&first.family), &first.table);
        let _ = writeln!(out, "**{family}, `{name}`**{traffic}\n\n{table}{}", notes.finish());
    }
    Ok(out)
}

/// States the traffic of a figure, with the shares of addresses that have a route.
fn traffic(machine: &PublishedRun, anchor: &str) -> String {
    let own = machine.conditions(anchor).filter(|it| it[1].starts_with("traffic"));
    let texts = distinct(own.filter_map(|it| it[2].split(", seed").next()));
    if texts.is_empty() { String::new() } else { format!(". Addresses: {}", texts.join("; ")) }
}

/// Names the engine of a value by all of its options, including those chosen for the table and the CPU.
fn with_options(machine: &PublishedRun, value: &Value) -> Value {
    let (prefix, engine) = match value.engine.strip_prefix(ROOFLINE) {
        Some(engine) => (ROOFLINE, engine),
        None => ("", value.engine.as_str()),
    };
    let named = |it: &&Value| {
        it.engine == engine
            && !it.variant.is_empty()
            && (&it.table, &it.family) == (&value.table, &value.family)
    };
    let variant = machine.records.values().find(named).map_or(engine, |it| &it.variant);
    Value { engine: format!("{prefix}`{}`", shortened(variant)), ..value.clone() }
}

/// Shortens a variant: a long list of numbers becomes its first and last one.
fn shortened(variant: &str) -> String {
    let option = |option: &str| match option.split_once('=') {
        Some((name, list)) if list.matches('-').count() > 2 => {
            let numbers: Vec<&str> = list.split('-').collect();
            format!("{name}={}-…-{}", numbers[0], numbers[numbers.len() - 1])
        }
        _ => option.to_owned(),
    };
    variant.split(':').map(option).collect::<Vec<_>>().join(":")
}

/// Lists the tables of the run.
fn tables(machine: &PublishedRun) -> Result<String, String> {
    let row = |table: PublishedTable| {
        let name = format!("[`{0}`](#{0})", table.name);
        let embedded = if table.is_embedded() { "yes" } else { "no" };
        let [family, embedded] = [family_name(&table.family), embedded].map(str::to_owned);
        vec![name, family, count(table.routes), count(table.next_hops), embedded]
    };
    let heads = "table | family | routes | next hops | in the repository";
    Ok(rows(heads, machine.tables()?.into_iter().map(row)))
}

/// Lists the machines with published records.
fn machines(published: &Published) -> Result<String, String> {
    let mut lines = Vec::new();
    for machine in &published.machines {
        let PublishedRun { name, records, .. } = machine;
        let [holds, fails, rest] = crate::claims(records);
        lines.push(vec![
            code(name),
            format!("{}, {}", machine.about("CPU")?, machine.about("instructions")?),
            machine.table_names().into_iter().map(code).collect::<Vec<_>>().join(", "),
            format!("{holds} hold, {fails} do not, {rest} not comparable"),
            machine.about("date")?.to_owned(),
            format!(
                "[page](published/{name}/report.html), [records](published/{name}/records.ndjson)"
            ),
        ]);
    }
    Ok(rows("microarchitecture | CPU | tables of rates | claims | date | files", lines))
}

/// Tabulates the rates and the memory of an engine.
fn of_engine(machine: &PublishedRun, engine: &str, up: &str) -> Result<String, String> {
    let mut notes = Notes::default();
    let mut lines = Vec::new();
    for table in &machine.tables()? {
        let [one, batch] = [ONE, BATCH].map(|figure| headline::Shown { machine, figure, table });
        for variant in batch.engines().into_iter().filter(|it| base_of(it) == engine) {
            lines.push(vec![
                code(&table.name),
                code(variant),
                one.rates(variant, &mut notes),
                batch.rates(variant, &mut notes),
                batch.memory(variant, &mut notes),
            ]);
        }
    }
    if lines.is_empty() {
        return Err(format!("the records have no rates of the engine `{engine}`"));
    }
    Ok(format!(
        "Million lookups a second under {} traffic, one address after the other and in batches. {} \
         [docs/engines.md]({up}docs/engines.md) has the conditions, the other engines and other variants.\n\n{}{}",
        headline::TRAFFIC.join(" / "),
        circumstances(&machine.records.run)?,
        rows("table | variant | one address, Mlps | a batch, Mlps | MiB", lines),
        notes.finish()
    ))
}
