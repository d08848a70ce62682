//! Printed tables of the statistics.

use std::io::Write;

use longmatch_cli::error::CliError;
use longmatch_cli::families::CliFamily;
use longmatch_cli::output::{Align, Grid, Out, bar, bytes, percent, plural, short, thousands};
use longmatch_feed::printable;

use super::engines::EngineNumbers;
use super::numbers::Numbers;
use crate::headings::headings;

/// Length of the longest bar.
const BAR: usize = 32;

/// Prints the statistics of a family.
pub fn family<F: CliFamily>(
    out: &mut Out,
    numbers: &Numbers<'_>,
    engines: &[EngineNumbers],
) -> Result<(), CliError> {
    let heading = format!("{}: {}", F::LABEL, plural(numbers.routes, "route"));
    writeln!(out, "\n{}", out.bold(heading))?;
    if numbers.routes > 0 {
        lengths(out, numbers)?;
        next_hops(out, numbers)?;
        structure(out, numbers)?;
    }
    memory(out, numbers, engines)?;
    statistics(out, engines)
}

fn section(out: &mut Out, title: &str) -> Result<(), CliError> {
    writeln!(out, "\n{}", out.bold(title))?;
    Ok(())
}

fn lengths(out: &mut Out, numbers: &Numbers<'_>) -> Result<(), CliError> {
    section(out, "Prefix lengths")?;
    let most = numbers.lengths.iter().map(|length| length.routes).max().unwrap_or(0);
    let columns = [("", Align::Right), ("", Align::Right), ("", Align::Right), ("", Align::Left)];
    let mut grid = Grid::new(columns);
    for length in &numbers.lengths {
        grid.row([
            format!("/{}", length.len),
            thousands(length.routes),
            percent(length.routes as f64, numbers.routes as f64),
            bar(length.routes as f64, most as f64, BAR),
        ]);
    }
    grid.print(out)
}

fn next_hops(out: &mut Out, numbers: &Numbers<'_>) -> Result<(), CliError> {
    let hops = &numbers.next_hops;
    section(out, "Next hops")?;
    let possible = (hops.distinct as f64).log2();
    writeln!(
        out,
        "  {} distinct; entropy {:.2} bits of {possible:.2} possible",
        thousands(hops.distinct),
        hops.entropy_bits,
    )?;
    let most = hops.top.first().map_or(0, |top| top.routes);
    let columns = [("", Align::Left), ("", Align::Right), ("", Align::Right), ("", Align::Left)];
    let mut grid = Grid::new(columns);
    for top in &hops.top {
        grid.row([
            printable(top.next_hop).into_owned(),
            thousands(top.routes),
            percent(top.routes as f64, numbers.routes as f64),
            bar(top.routes as f64, most as f64, BAR),
        ]);
    }
    let rest = hops.distinct - hops.top.len() as u64;
    if rest > 0 {
        let named: u64 = hops.top.iter().map(|top| top.routes).sum();
        let routes = numbers.routes - named;
        grid.row([
            out.dim(plural(rest, "other")),
            thousands(routes),
            percent(routes as f64, numbers.routes as f64),
            String::new(),
        ]);
    }
    grid.print(out)
}

fn structure(out: &mut Out, numbers: &Numbers<'_>) -> Result<(), CliError> {
    section(out, "Structure")?;
    let all = numbers.routes as f64;
    let of_all = |part: u64| percent(part as f64, all);
    let blocks = match numbers.space.block_len {
        32 => format!("{} addresses", thousands_wide(numbers.space.blocks)),
        len => format!("{} blocks of /{len}", thousands_wide(numbers.space.blocks)),
    };
    let rows = [
        ("default route", String::new(), if numbers.default_route { "yes" } else { "no" }.into()),
        (
            "covered by another route",
            of_all(numbers.covered_routes),
            plural(numbers.covered_routes, "route"),
        ),
        (
            "  with the next hop of the route above",
            of_all(numbers.same_as_parent),
            plural(numbers.same_as_parent, "route"),
        ),
        ("deepest nesting", String::new(), plural(numbers.depth, "route")),
        ("address space covered", share(numbers.space.share), blocks),
        ("disjoint ranges of one next hop", String::new(), thousands(numbers.ranges)),
        (
            "left by lossless aggregation",
            of_all(numbers.aggregated_routes),
            plural(numbers.aggregated_routes, "route"),
        ),
    ];
    let mut grid = Grid::new([("", Align::Left), ("", Align::Right), ("", Align::Left)]);
    for (property, share, count) in rows {
        grid.row([property.to_owned(), share, count]);
    }
    grid.print(out)
}

fn memory(out: &mut Out, numbers: &Numbers<'_>, engines: &[EngineNumbers]) -> Result<(), CliError> {
    section(out, "Memory")?;
    let mut grid = Grid::new(headings("engine | >size | >bytes/route | >compiled in | parts"));
    let per_route = |bytes: u64| match numbers.routes {
        0 => "-".to_owned(),
        routes => short(bytes as f64 / routes as f64),
    };
    grid.row([
        out.dim("(the routes)"),
        bytes(numbers.rib_bytes),
        per_route(numbers.rib_bytes),
        String::new(),
        String::new(),
    ]);
    for engine in engines {
        let name = match &engine.variant {
            // A form that the user named is not repeated.
            Some(variant) if !engine.engine.ends_with(&format!(":{variant}")) => {
                format!("{} {}", engine.engine, out.dim(format_args!("({variant})")))
            }
            _ if engine.oracle => format!("{} {}", engine.engine, out.dim("(oracle: slow)")),
            _ => engine.engine.clone(),
        };
        let size = engine.bytes.map_or("-".to_owned(), bytes);
        let each = engine.bytes.map_or("-".to_owned(), per_route);
        let time = engine.compile_seconds.map_or("-".to_owned(), |s| format!("{s:.2} s"));
        let parts = engine.parts.iter().map(|part| {
            format!("{} {} in {}", thousands(part.count), part.name, bytes(part.bytes))
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        let parts = engine.error.as_ref().map_or(parts, |error| out.red(error));
        grid.row([name, size, each, time, parts]);
    }
    grid.print(out)
}

/// Prints the statistics that the engines' authors report, in their units.
fn statistics(out: &mut Out, engines: &[EngineNumbers]) -> Result<(), CliError> {
    for engine in engines.iter().filter(|engine| !engine.statistics.is_empty()) {
        section(out, &engine.engine)?;
        for line in &engine.statistics {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

/// Formats a share in percent, with enough digits for a small one.
fn share(share: f64) -> String {
    if share > 0.0 && share < 0.001 {
        format!("{:.5} %", share * 100.0)
    } else {
        percent(share, 1.0)
    }
}

/// [`thousands`] for counts of blocks, which never exceed 2^48.
fn thousands_wide(n: u128) -> String {
    thousands(u64::try_from(n).unwrap_or(u64::MAX))
}
