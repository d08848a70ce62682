//! The content of each generated block.

use super::cells::{ALL, BATCH, ONE, SHORT, Shown, base_of, cell};
use super::headline;
use super::markdown::{Grid, Notes, code, count, wrap};
use super::records::{CIRCUMSTANCES, ROOFLINE, Records, Run, Table, Value};

/// Bytes in a MiB.
const MIB: f64 = (1 << 20) as f64;

/// Returns the content of a block; `root` is the path from the block's file to the root of the repository.
///
/// # Errors
/// If the block is unknown, or the records lack a value of it.
pub fn content(records: &Records, name: &str, root: &str) -> Result<String, String> {
    match name {
        "headline" => headline::content(records, root),
        "provenance" => provenance(records, root),
        "rates" => rates(records, root),
        "memory" => memory(records),
        "variants" => variants(records),
        "batch sizes" => batch_sizes(records),
        "roofline" => roofline(records),
        "tables" => tables(records),
        _ => match name.strip_prefix("engine ") {
            Some(engine) => of_engine(records, engine, root),
            None => Err(format!("unknown generated block `{name}`")),
        },
    }
}

/// Tabulates the circumstances of all published numbers.
fn provenance(records: &Records, root: &str) -> Result<String, String> {
    let mut grid = Grid::new(&["", ""]);
    for (name, heading) in CIRCUMSTANCES {
        let value = records.run.machine(name)?;
        let value = if name == "date" { value.to_owned() } else { code(value) };
        grid.row(&[heading.to_owned(), value]);
    }
    grid.row(&["effort", records.run.input("effort")?]);
    grid.row(&[
        "lookups",
        &format!("one address after the other, and batches of {}", count(records.batch(BATCH)?)),
    ]);
    grid.row(&["keys", &format!("from an array, seed {}", records.run.input("seed")?)]);
    grid.row(&["half the distance of the quartiles", &spread(&records.spreads(&[BATCH, ONE]))]);
    let tables = records.tables(BATCH)?;
    let tables: Vec<_> = tables.iter().map(|table| in_words(table, root)).collect();
    grid.row(&["tables", &tables.join("; ")]);
    Ok(grid.finish())
}

/// Describes the spreads of rates, which are in ascending order.
pub fn spread(spreads: &[f64]) -> String {
    let percent = |tenths: usize| match spreads.get(spreads.len() * tenths / 10) {
        Some(share) => format!("{:.0} %", share * 100.0),
        None => "unknown".into(),
    };
    format!(
        "below {} of the median for half of the rates, below {} for nine in ten",
        percent(5),
        percent(9)
    )
}

/// States name, size and provenance of a table.
pub fn in_words(table: &Table, root: &str) -> String {
    let Table { name, routes, next_hops, .. } = table;
    let (family, routes, next_hops) = (table.family_name(), count(*routes), count(*next_hops));
    format!(
        "[`{name}`]({root}docs/tables.md#{name}): {routes} {family} routes, {next_hops} next hops"
    )
}

/// Tabulates all rates: every table, engine, mode and kind of traffic.
fn rates(records: &Records, root: &str) -> Result<String, String> {
    let mut out = String::new();
    for table in &records.tables(BATCH)? {
        let batch = Shown { records, figure: BATCH, table };
        let mut about = format!("{}. Addresses with a route:", in_words(table, root));
        for (i, run) in ALL.iter().enumerate() {
            about += &format!("{} {run} {}", if i == 0 { "" } else { "," }, batch.routed(run)?);
        }
        out += &format!(
            "### {}: `{}`\n\n{}\n",
            table.family_name(),
            table.name,
            wrap(&(about + "."), "")
        );
        let mut notes = Notes::default();
        let size = count(records.batch(BATCH)?);
        let of_mode = |figure, heading: String, notes: &mut Notes| {
            let heads: Vec<_> = [&*heading].into_iter().chain(ALL).chain(["MiB"]).collect();
            let mut grid = Grid::new(&heads);
            let shown = Shown { records, figure, table };
            for engine in shown.engines() {
                let rates = ALL.map(|run| shown.rate(engine, run, notes));
                let cells =
                    [code(engine)].into_iter().chain(rates).chain([shown.memory(engine, notes)]);
                grid.row(&cells.collect::<Vec<_>>());
            }
            grid.finish()
        };
        out += &of_mode(BATCH, format!("batches of {size}, Mlps"), &mut notes);
        out += "\n";
        out += &of_mode(ONE, "one address, Mlps".into(), &mut notes);
        out += &format!("{}\n", notes.finish());
    }
    Ok(out)
}

/// Tabulates the memory of every engine for each table and its parts.
fn memory(records: &Records) -> Result<String, String> {
    let of = |table: &Table| {
        let shown = Shown { records, figure: "memory", table };
        let places = places(shown);
        let mut heads = vec![format!("`{}`, MiB", table.name)];
        heads.extend(places.iter().map(|routes| format!("{} routes", count(*routes as u64))));
        let mut grid = Grid::new(&heads);
        let mut notes = Notes::default();
        for engine in shown.engines() {
            let at = |x: &f64| {
                let own =
                    |it: &&Value| it.engine == engine && it.x == Some(*x) && it.metric == "bytes";
                let mib =
                    |it: &Value| Value { value: it.value.clone().map(|it| it / MIB), ..it.clone() };
                match shown.values().find(own) {
                    None => {
                        let why =
                            "Not counted: the engine holds these routes without these options.";
                        format!("–{}", notes.mark(why.into()))
                    }
                    found => cell(found.map(mib).as_ref(), &mut notes),
                }
            };
            let cells: Vec<_> = [code(engine)].into_iter().chain(places.iter().map(at)).collect();
            grid.row(&cells);
        }
        grid.finish() + &notes.finish()
    };
    each_table(records, "memory", &of)
}

/// Returns the places of a figure's values on the x axis, in ascending order.
fn places(shown: Shown<'_>) -> Vec<f64> {
    let mut places: Vec<f64> = shown.values().filter_map(|it| it.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// Returns the text of each table of a figure, or the reason why the records lack the figure.
fn each_table(
    records: &Records,
    figure: &str,
    of: &dyn Fn(&Table) -> String,
) -> Result<String, String> {
    let own = |table: &Table| Shown { records, figure, table }.values().next().is_some();
    let texts: Vec<_> = records.tables(BATCH)?.iter().filter(|table| own(table)).map(of).collect();
    match texts.is_empty() {
        true => Ok(format!("No values: {}.", records.why_absent(figure))),
        false => Ok(texts.join("\n")),
    }
}

/// Tabulates the rates of engines with options.
fn variants(records: &Records) -> Result<String, String> {
    let (size, own) = (records.batch(BATCH)?, records.batch("variants").unwrap_or_default());
    if own != size && own != 0 {
        return Err(format!("`variants` has batches of {own}, `{BATCH}` of {size}"));
    }
    each_table(records, "variants", &|table| {
        let shown = Shown { records, figure: "variants", table };
        let (mut grid, mut notes) =
            (variants_grid(&format!("`{}`, Mlps", table.name)), Notes::default());
        for engine in shown.engines() {
            let rates = SHORT.map(|run| shown.rate(engine, run, &mut notes));
            grid.row(&[code(engine)].into_iter().chain(rates).collect::<Vec<_>>());
        }
        grid.finish() + &notes.finish()
    })
}

fn variants_grid(first: &str) -> Grid {
    Grid::new(&[first].into_iter().chain(SHORT).collect::<Vec<_>>())
}

/// Tabulates the rates of routed traffic by batch size.
fn batch_sizes(records: &Records) -> Result<String, String> {
    each_table(records, "batch-size", &|table| {
        let shown = Shown { records, figure: "batch-size", table };
        let places = places(shown);
        let mut heads = vec![format!("`{}`, Mlps", table.name)];
        heads.extend(places.iter().map(|size| count(*size as u64)));
        let (mut grid, mut notes) = (Grid::new(&heads), Notes::default());
        for engine in shown.engines() {
            let at = |x: &f64| {
                cell(shown.values().find(|it| it.engine == engine && it.x == Some(*x)), &mut notes)
            };
            let cells: Vec<_> = [code(engine)].into_iter().chain(places.iter().map(at)).collect();
            grid.row(&cells);
        }
        grid.finish() + &notes.finish()
    })
}

/// Tabulates engines and their rooflines.
fn roofline(records: &Records) -> Result<String, String> {
    each_table(records, "roofline", &|table| {
        let shown = Shown { records, figure: "roofline", table };
        let heads =
            ["random, Mlps", "its roofline", "share", "routed, Mlps", "its roofline", "share"];
        let first = format!("`{}`", table.name);
        let mut grid = Grid::new(&[&*first].into_iter().chain(heads).collect::<Vec<_>>());
        let mut notes = Notes::default();
        for engine in shown.engines().into_iter().filter(|it| !it.starts_with(ROOFLINE)) {
            let mut cells = vec![code(engine)];
            for run in ["random", "routed"] {
                cells.push(shown.rate(engine, run, &mut notes));
                let own = shown.value(&format!("{ROOFLINE}{engine}"), run, "rate");
                let share = shown.value(engine, run, "share of the roofline");
                match (own, share.map(|it| &it.value)) {
                    (Some(own), Some(Ok(share))) => {
                        cells.push(cell(Some(own), &mut notes));
                        cells.push(format!("{share:.0} %"));
                    }
                    _ if shown.refusal(engine).is_some() => {
                        let refused = shown.rate(engine, run, &mut notes);
                        cells.extend([refused.clone(), refused]);
                    }
                    _ => {
                        let why = "No roofline: for this family the engine states no fixed number of reads.";
                        let dash = format!("–{}", notes.mark(why.into()));
                        cells.extend([dash.clone(), dash]);
                    }
                }
            }
            grid.row(&cells);
        }
        grid.finish() + &notes.finish()
    })
}

/// Lists the tables of the run.
fn tables(records: &Records) -> Result<String, String> {
    let mut grid = Grid::new(&["table", "family", "routes", "next hops", "in the repository"]);
    for table in &records.tables(BATCH)? {
        let name = format!("[`{0}`](#{0})", table.name);
        let embedded = if table.is_embedded() { "yes" } else { "no" };
        let (routes, next_hops) = (count(table.routes), count(table.next_hops));
        grid.row(&[&name, table.family_name(), &routes, &next_hops, embedded]);
    }
    Ok(grid.finish())
}

/// Tabulates the rates and the memory of an engine and its variants.
fn of_engine(records: &Records, engine: &str, root: &str) -> Result<String, String> {
    let mut notes = Notes::default();
    let mut grid = Grid::new(&["table", "variant", "one address, Mlps", "a batch, Mlps", "MiB"]);
    let mut variants = variants_grid("variant, a batch, Mlps");
    let (mut rows, mut variant_rows) = (0, 0);
    for table in &records.tables(BATCH)? {
        let [one, batch] = [ONE, BATCH].map(|figure| Shown { records, figure, table });
        for variant in batch.engines().into_iter().filter(|it| base_of(it) == engine) {
            rows += 1;
            grid.row(&[
                code(&table.name),
                code(variant),
                one.rates(variant, &SHORT, &mut notes),
                batch.rates(variant, &SHORT, &mut notes),
                batch.memory(variant, &mut notes),
            ]);
        }
        let shown = Shown { records, figure: "variants", table };
        for variant in shown.engines().into_iter().filter(|it| base_of(it) == engine) {
            variant_rows += 1;
            let name = format!("`{variant}` on `{}`", table.name);
            let rates = SHORT.map(|run| shown.rate(variant, run, &mut notes));
            variants.row(&[name].into_iter().chain(rates).collect::<Vec<_>>());
        }
    }
    if rows == 0 {
        return Err(format!("the records have no rates of the engine `{engine}`"));
    }
    let size = count(records.batch(BATCH)?);
    let about = format!(
        "Million lookups a second under {} traffic, one address after the other and in batches of {size}. {} \
         [docs/engines.md]({root}docs/engines.md) has the conditions and the other engines.",
        SHORT.join(" / "),
        circumstances(&records.run)?,
    );
    let variants =
        if variant_rows == 0 { String::new() } else { format!("\n{}", variants.finish()) };
    Ok(format!("{}\n{}{variants}{}", wrap(&about, ""), grid.finish(), notes.finish()))
}

/// States the circumstances of a run in a sentence.
pub fn circumstances(run: &Run) -> Result<String, String> {
    let machine = |name| run.machine(name);
    Ok(format!(
        "Medians of one run on one core of: {}; best instructions {}; {}; {}; longmatch {}, commit {}; {}; effort {}.",
        machine("CPU")?,
        machine("instructions")?,
        machine("system")?,
        machine("compiler")?,
        machine("longmatch")?,
        machine("commit")?,
        machine("date")?,
        run.input("effort")?,
    ))
}
