//! The block of the README: every engine once, on the embedded tables and on large ones; and its picture.

use core::fmt::Write as _;

use longmatch::EngineKind;

use crate::page::{Notes, count, picture as draw, rows, short};
use crate::record::Value;
use crate::records::{FAMILIES, family_name};
use crate::view::{self, distinct, grouped};

use super::published::{
    BATCH, ONE, Published, PublishedRun, PublishedTable, base_of, circumstances, code,
};

/// The traffic of the short tables.
pub(super) const TRAFFIC: [&str; 3] = ["random", "routed", "zipf"];
/// The figure of other implementations.
const PEERS: &str = "peers";
/// The run of lookups that wait for the answer before: their rate is the inverse of a latency.
const DEPENDENT: &str = "dependent";

/// Libraries of others that map prefixes to values.
const LIBRARIES: [&str; 4] = ["prefix-trie", "ip_network_table", "ts_bart", "bart"];
/// The run of lookups one after the other, as in the records of [`PEERS`].
const ONE_BY_ONE: &str = "one by one";

/// The values of a figure about one table.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub machine: &'a PublishedRun,
    pub figure: &'a str,
    pub table: &'a PublishedTable,
}

impl<'a> Shown<'a> {
    fn values(self) -> impl Iterator<Item = &'a Value> {
        self.machine.figure(self.figure).filter(move |it| self.table.has(it))
    }

    /// Returns the engines with their options, in the order of the records.
    pub fn engines(self) -> Vec<&'a str> {
        distinct(self.values().map(|it| it.engine.as_str()))
    }

    /// Formats the rates of an engine under [`TRAFFIC`] in one cell.
    pub fn rates(self, engine: &str, notes: &mut Notes) -> String {
        let rate = |run: &&str| {
            self.values().find(|it| it.engine == engine && it.run == **run && it.metric == "rate")
        };
        let cells: Vec<_> = TRAFFIC.iter().map(|run| cell(rate(run), notes)).collect();
        match cells.iter().all(|cell| *cell == cells[0] && cell.starts_with('–')) {
            true => cells[0].clone(),
            false => cells.join(" / "),
        }
    }

    /// Formats the memory of an engine in MiB, or the reason why it refuses the table.
    pub fn memory(self, engine: &str, notes: &mut Notes) -> String {
        let own = || self.values().filter(|it| it.engine == engine);
        let refused = || own().find(|it| it.value.is_none());
        cell(own().find(|it| it.metric == "memory").or_else(refused), notes)
    }

    /// Returns the reason why an engine has no values; `None` if it has one.
    fn refusal(self, engine: &str) -> Option<&'a str> {
        let mut own = self.values().filter(|it| it.engine == engine);
        let first = own.next()?;
        (first.value.is_none() && own.all(|it| it.value.is_none())).then_some(&first.refused)
    }

    /// Returns the variant that represents an engine, the first one with a value or the first one; and a note if it
    /// is not the default one.
    fn representative(self, base: &'a str) -> (&'a str, Option<String>) {
        let variants: Vec<_> =
            self.engines().into_iter().filter(|engine| base_of(engine) == base).collect();
        let holds = variants.iter().find(|engine| self.refusal(engine).is_none());
        let chosen = holds.or(variants.first()).copied().unwrap_or(base);
        let refusals = variants.iter().filter(|it| **it != chosen);
        let why = refusals.filter_map(|it| self.refusal(it)).next();
        (chosen, why.map(|why| format!("The values of `{chosen}`. {why}.")))
    }
}

/// Formats a value, or a dash and a note with the reason why there is none.
fn cell(value: Option<&Value>, notes: &mut Notes) -> String {
    match value.map(|it| (it.value, &it.refused)) {
        Some((Some(value), _)) => short(value),
        Some((None, reason)) => format!("–{}", notes.mark(&format!("No value: {reason}."))),
        None => format!("–{}", notes.mark("Not measured in this run.")),
    }
}

/// Returns the tables of a family in the README: the embedded one, and the largest other one.
///
/// # Errors
/// If the records lack the embedded table.
fn chosen(tables: &[PublishedTable], family: &str) -> Result<Vec<PublishedTable>, String> {
    let own = || tables.iter().filter(|table| table.family == family);
    let embedded = own().find(|table| table.is_embedded());
    let embedded = embedded.ok_or_else(|| format!("no rates on the embedded {family} table"))?;
    let large = own().filter(|table| !table.is_embedded()).max_by_key(|table| table.routes);
    Ok([embedded].into_iter().chain(large).cloned().collect())
}

/// Returns the content of the block.
///
/// # Errors
/// If the records lack a value of it.
pub(super) fn content(
    published: &Published,
    machine: &PublishedRun,
    up: &str,
) -> Result<String, String> {
    let mut out = format!(
        "Million lookups a second (Mlps) under {} traffic, one address after the other and in batches of 256. Engines \
         have their default options; [docs/engines.md]({up}docs/engines.md) has the options that each chose for a \
         table. {}{}\n",
        TRAFFIC.join(" / "),
        circumstances(&machine.records.run)?,
        others(published, machine, up)
    );
    let all = machine.tables()?;
    for family in FAMILIES {
        let tables = chosen(&all, family)?;
        let about = about_tables(machine, &tables, up)?;
        let _ =
            write!(out, "\n**{}.** {about}\n\n{}", family_name(family), engines(machine, &tables));
    }
    let _ = write!(
        out,
        "\n**The best implementation of others**, with routed addresses, beside `folio` in the same run \
         ([docs/peers.md]({up}docs/peers.md) names all):\n\n{}",
        peers(machine)
    );
    Ok(out)
}

/// Links the records of other machines.
fn others(published: &Published, machine: &PublishedRun, up: &str) -> String {
    let others = published.machines.iter().filter(|it| it.name != machine.name);
    let link =
        |it: &PublishedRun| format!("[`{0}`]({up}docs/results/published/{0}/report.html)", it.name);
    let links: Vec<_> = others.map(link).collect();
    if links.is_empty() { String::new() } else { format!(" Other machines: {}.", links.join(", ")) }
}

/// Routes of the embedded IPv4 table while it had `0.0.0.0/1`, which records of that time count.
const WITH_HALF: u64 = 886_117;

/// States the tables' names, sizes and provenance, and the share of random addresses with a route.
fn about_tables(
    machine: &PublishedRun,
    tables: &[PublishedTable],
    up: &str,
) -> Result<String, String> {
    let mut parts = Vec::new();
    for table in tables {
        let PublishedTable { name, routes, next_hops, family } = table;
        let from = match table.is_embedded() {
            true => {
                let now = if *routes == WITH_HALF { ", now without its `0.0.0.0/1`" } else { "" };
                format!("[embedded]({up}data/PROVENANCE.md) in the command{now}")
            }
            false => format!("[not in the repository]({up}docs/tables.md#{name})"),
        };
        let traffic = machine.condition(&format!("{BATCH}-{family}-{name}"), "traffic, random")?;
        let routed = traffic.split(", ").find_map(|it| it.strip_suffix(" with a route"));
        parts.push(format!(
            "`{name}` has {} routes and {} next hops, and is {from}; {} of its random addresses have a route.",
            count(*routes),
            count(*next_hops),
            routed.unwrap_or("an unknown share")
        ));
    }
    Ok(parts.join(" "))
}

/// Tabulates a family: a row for each engine, three columns for each table of routes.
fn engines(machine: &PublishedRun, tables: &[PublishedTable]) -> String {
    let of_table = |it: &PublishedTable| format!(" | `{}`: one | a batch | MiB", it.name);
    let heads = format!("engine{}", tables.iter().map(of_table).collect::<String>());
    let mut notes = Notes::default();
    let mut lines = Vec::new();
    for base in machine.engines(BATCH) {
        let mut row = vec![code(base)];
        for table in tables {
            let [one, batch] = [ONE, BATCH].map(|figure| Shown { machine, figure, table });
            let (variant, note) = batch.representative(base);
            let mark = note.map_or_else(String::new, |note| notes.mark(&note));
            row.push(one.rates(variant, &mut notes) + &mark);
            row.push(batch.rates(variant, &mut notes) + &mark);
            row.push(batch.memory(variant, &mut notes) + &mark);
        }
        lines.push(row);
    }
    rows(&heads, lines) + &notes.finish()
}

/// Tabulates the best implementation of others for each family and mode.
fn peers(machine: &PublishedRun) -> String {
    let mut lines = Vec::new();
    for family in FAMILIES {
        let own = machine.figure(PEERS).filter(|it| it.family == family && it.metric == "rate");
        for (run, own) in grouped(own, |it| it.run.as_str()) {
            let table = &own[0].table;
            // Records may have options that the engine has no more.
            let (ours, others): (Vec<&Value>, Vec<&Value>) =
                own.into_iter().partition(|it| base_of(&it.engine).parse::<EngineKind>().is_ok());
            let rates = others.iter().filter_map(|it| Some((it.value?, &it.engine)));
            let best = rates.max_by(|a, b| a.0.total_cmp(&b.0));
            let folio = ours.iter().find(|it| base_of(&it.engine) == "folio");
            let (theirs, ours) = (best.map(|it| it.0), folio.and_then(|it| it.value));
            let number = |value: Option<f64>| value.map_or_else(|| "–".into(), short);
            let speed = |rate: Option<f64>| match rate {
                Some(rate) if run == DEPENDENT => format!("{} ns", short(1e3 / rate)),
                rate => number(rate),
            };
            let name = best.map_or_else(|| absent(&others), |(_, engine)| code(engine));
            let place = format!("{}, `{table}`, {run}", family_name(family));
            let ratio = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
            lines.push(vec![place, name, speed(theirs), speed(ours), number(ratio)]);
        }
    }
    if lines.is_empty() {
        return machine.why_absent(PEERS) + "\n";
    }
    rows("lookups | the best of others | Mlps | `folio`, Mlps | ratio", lines)
}

/// States how many times as fast as the fastest library Folio is, and tabulates the libraries.
///
/// # Errors
/// If the records lack a rate.
pub(super) fn libraries(machine: &PublishedRun, up: &str) -> Result<String, String> {
    let rate = |family: &str, engine: &str| {
        let mut own = machine.figure(PEERS).filter(|it| it.family == family && it.metric == "rate");
        let own = own.find(|it| it.run == ONE_BY_ONE && base_of(&it.engine) == engine);
        let value = own.and_then(|it| it.value);
        value.ok_or_else(|| format!("no {family} rate of `{engine}`, {ONE_BY_ONE}, in `{PEERS}`"))
    };
    let mut lines = Vec::new();
    for engine in ["folio"].into_iter().chain(LIBRARIES) {
        let rates = FAMILIES.map(|family| rate(family, engine));
        let cells: Result<Vec<_>, _> = rates.into_iter().map(|rate| rate.map(short)).collect();
        lines.push([vec![code(engine)], cells?].concat());
    }
    let mut times = Vec::new();
    for family in FAMILIES {
        let others: Result<Vec<_>, _> = LIBRARIES.iter().map(|it| rate(family, it)).collect();
        let best = others?.into_iter().fold(0.0, f64::max);
        times.push(format!("{} ({})", short(rate(family, "folio")? / best), family_name(family)));
    }
    let heads = format!("library | {}", FAMILIES.map(family_name).join(" | "));
    Ok(format!(
        "On full Internet tables the default engine looks up **{} times** as many routed addresses a second as the fastest \
         of these libraries. Million lookups a second, one by one. {}\n\n{}\n[Other modes, engines and implementations]\
         ({up}docs/engines.md#other-implementations).\n",
        times.join(" and "),
        circumstances(machine.run_of(PEERS))?,
        rows(&heads, lines)
    ))
}

/// States why no implementation of others has a rate. Behind the first colon of the reason stands advice.
fn absent(peers: &[&Value]) -> String {
    match peers.first().and_then(|first| first.refused.split(':').next()) {
        Some(reason) => format!("none of {} was measured: {reason}", peers.len()),
        None => "not measured in this run".into(),
    }
}

/// Draws the rates of routed addresses in batches on the embedded tables, for the README.
///
/// # Errors
/// If the records lack them.
pub(super) fn picture(machine: &PublishedRun) -> Result<String, String> {
    let all = machine.tables()?;
    let mut values = Vec::new();
    for family in FAMILIES {
        let table = chosen(&all, family)?.remove(0);
        let shown = Shown { machine, figure: BATCH, table: &table };
        for base in machine.engines(BATCH) {
            let (variant, _) = shown.representative(base);
            let run = format!("{}, {} routes", family_name(family), count(table.routes));
            let rates = machine.figure(BATCH).filter(|it| table.has(it) && it.metric == "rate");
            let own = rates.filter(|it| it.engine == variant && it.run == TRAFFIC[1]);
            values.extend(own.map(|it| Value { run: run.clone(), ..it.clone() }));
        }
    }
    let bars = view::bars("rate", &values.iter().collect::<Vec<_>>());
    draw(&bars).ok_or_else(|| format!("no rates of `{BATCH}` to draw"))
}
