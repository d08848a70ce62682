//! The block of the README: every engine once, on the embedded tables and on large ones.

use super::blocks::circumstances;
use super::cells::{BATCH, ONE, SHORT, Shown, base_of};
use super::markdown::{Grid, Notes, code, count, wrap};
use super::records::{Records, Table};

/// The families of the headline.
const FAMILIES: [&str; 2] = ["ipv4", "ipv6"];

/// Returns the embedded table of a family.
///
/// # Errors
/// If the records lack it.
pub fn embedded(tables: &[Table], family: &str) -> Result<Table, String> {
    let mut own = tables.iter().filter(|table| table.family == family && table.is_embedded());
    own.next()
        .cloned()
        .ok_or_else(|| format!("the records have no rates on the embedded {family} table"))
}

/// Returns the tables of a family in the README: the embedded one, and the largest other one.
fn chosen(tables: &[Table], family: &str) -> Result<Vec<Table>, String> {
    let others = tables.iter().filter(|table| table.family == family && !table.is_embedded());
    let large = others.max_by_key(|table| table.routes);
    Ok([embedded(tables, family)?].into_iter().chain(large.cloned()).collect())
}

/// Returns the engines of a figure on these tables, without options, in the order of the records.
pub fn bases<'a>(records: &'a Records, figure: &'a str, tables: &[Table]) -> Vec<&'a str> {
    let mut bases: Vec<&str> = Vec::new();
    for value in records.figure(figure) {
        let own = |table: &Table| table.name == value.table && table.family == value.family;
        let base = base_of(&value.engine);
        if tables.iter().any(own) && !bases.contains(&base) {
            bases.push(base);
        }
    }
    bases
}

/// Returns the content of the block.
///
/// # Errors
/// If the records lack a value of it.
pub fn content(records: &Records, root: &str) -> Result<String, String> {
    let size = count(records.batch(BATCH)?);
    let about = format!(
        "Million lookups a second (Mlps) under {} traffic, one address after the other and in batches of {size}. \
         Engines have their default options; [docs/engines.md]({root}docs/engines.md) has the options that each chose \
         for a table. {}",
        SHORT.join(" / "),
        circumstances(&records.run)?
    );
    let mut out = wrap(&about, "");
    let all = records.tables(BATCH)?;
    for family in FAMILIES {
        let tables = chosen(&all, family)?;
        out += &format!(
            "\n{}\n{}",
            wrap(&about_tables(records, &tables, root)?, ""),
            grid(records, &tables)
        );
    }
    Ok(out)
}

/// States the tables' names, sizes and provenance, and the share of random addresses with a route.
fn about_tables(records: &Records, tables: &[Table], root: &str) -> Result<String, String> {
    let mut parts = Vec::new();
    for table in tables {
        let Table { name, routes, next_hops, .. } = table;
        let from = match table.is_embedded() {
            true => format!("[embedded]({root}data/PROVENANCE.md) in the command"),
            false => format!("[not in the repository]({root}docs/tables.md#{name})"),
        };
        let routed = Shown { records, figure: BATCH, table }.routed(SHORT[0])?;
        parts.push(format!(
            "`{name}` has {} routes and {} next hops, and is {from}; {routed} of its random addresses have a route",
            count(*routes),
            count(*next_hops)
        ));
    }
    let family = tables.first().map_or("", Table::family_name);
    Ok(format!("**{family}.** {}.", parts.join(". ")))
}

/// Builds the grid of a family: a row for each engine, three columns for each table of routes.
fn grid(records: &Records, tables: &[Table]) -> String {
    let mut heads = vec!["engine".to_owned()];
    for Table { name, .. } in tables {
        heads.extend([format!("`{name}`: one"), "a batch".into(), "MiB".into()]);
    }
    let (mut grid, mut notes) = (Grid::new(&heads), Notes::default());
    for base in bases(records, BATCH, tables) {
        let shown = |figure| tables.iter().map(move |table| Shown { records, figure, table });
        let variants: Vec<_> =
            shown(BATCH).map(|it| it.representative(base).unwrap_or(base)).collect();
        let mut cells = vec![code(base)];
        for ((one, batch), variant) in shown(ONE).zip(shown(BATCH)).zip(&variants) {
            let mark = match variant_note(batch, variant) {
                Some(note) => notes.mark(note),
                None => String::new(),
            };
            cells.push(one.rates(variant, &SHORT, &mut notes) + &mark);
            cells.push(batch.rates(variant, &SHORT, &mut notes) + &mark);
            cells.push(batch.memory(variant, &mut notes) + &mark);
        }
        grid.row(&cells);
    }
    grid.finish() + &notes.finish()
}

/// Names the variant of a row and the reason; `None` if the engine's default holds the table.
fn variant_note(shown: Shown<'_>, variant: &str) -> Option<String> {
    let own = |it: &&str| base_of(it) == base_of(variant) && *it != variant;
    let reason = shown.engines().into_iter().filter(own).find_map(|other| shown.refusal(other));
    reason.map(|reason| format!("The values of `{variant}`. {reason}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, routes: u64) -> Table {
        Table { name: name.into(), family: "ipv4".into(), routes, next_hops: 1 }
    }

    #[test]
    fn the_largest_table_stands_beside_the_embedded_one() {
        let all = [table("small", 1), table("ipv4", 2), table("large", 4), table("middle", 3)];
        let chosen = chosen(&all, "ipv4").unwrap();
        assert_eq!(chosen, [all[1].clone(), all[2].clone()]);
        assert!(embedded(&all, "ipv6").unwrap_err().contains("ipv6"));
        assert!(embedded(&all[2..], "ipv4").is_err());
    }
}
