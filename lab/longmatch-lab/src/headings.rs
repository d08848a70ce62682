//! The columns of printed tables.

use longmatch_cli::output::Align;

/// Returns the columns of a grid: their names between ` | `, with `>` before those that are aligned to the right.
pub fn headings(names: &str) -> impl Iterator<Item = (&str, Align)> {
    names.split(" | ").map(|name| match name.strip_prefix('>') {
        Some(name) => (name, Align::Right),
        None => (name, Align::Left),
    })
}
