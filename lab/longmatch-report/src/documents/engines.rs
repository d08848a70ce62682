//! Tables of the engines, from their descriptors.

use longmatch::EngineKind;
use longmatch::engine::{Descriptor, Form};

use super::ENGINES;
use super::published::code;
use crate::page::rows;

/// Returns a table of all engines.
///
/// # Errors
/// If there is no such table.
pub(super) fn content(table: &str, up: &str) -> Result<String, String> {
    match table {
        "library" => Ok(library()),
        "papers" => Ok(papers(up)),
        "compared" => Ok(compared(up)),
        "limits" => Ok(limits()),
        _ => Err(format!("unknown table of engines `{table}`")),
    }
}

/// The engines by year, with their descriptors.
fn engines() -> impl Iterator<Item = (EngineKind, &'static Descriptor)> {
    EngineKind::ALL.into_iter().filter_map(|kind| Some((kind, kind.descriptor()?)))
}

/// The engines in the order of `auto`.
fn in_order() -> impl Iterator<Item = (EngineKind, &'static Descriptor)> {
    EngineKind::in_order().into_iter().filter_map(|kind| Some((kind, kind.descriptor()?)))
}

/// The engine's name, which links its description.
fn link(kind: EngineKind, engine: &Descriptor, up: &str) -> String {
    let file = if engine.oracle { format!("{kind}.rs") } else { format!("{kind}/README.md") };
    format!("[`{kind}`]({up}{ENGINES}/{file})")
}

/// The table of the library's page.
fn library() -> String {
    let row = |(kind, engine): (EngineKind, &Descriptor)| {
        let year = if engine.year.is_empty() { "" } else { &format!(" ({})", engine.year) };
        let changes = if engine.is_patched() { "patched" } else { "compiled again" };
        vec![
            format!("[`{kind}`](EngineKind::{kind:?})"),
            format!("{}{year}", engine.summary),
            changes.to_owned(),
        ]
    };
    rows("engine | structure | changes under readers", in_order().map(row))
}

/// The table of the README.
fn papers(up: &str) -> String {
    let row = |(kind, engine): (EngineKind, &Descriptor)| {
        let paper = engine.forms.first().map_or("", |form| form.paper);
        vec![link(kind, engine, up), paper.to_owned()]
    };
    let engines = in_order().filter(|(_, engine)| !engine.oracle);
    rows("engine | paper", engines.map(row))
}

/// The table that compares the engines.
fn compared(up: &str) -> String {
    let row = |kind: EngineKind, engine: &Descriptor, form: &Form| {
        let name = match form.name {
            "" => link(kind, engine, up),
            name => code(&format!("{kind}:{name}")),
        };
        let changes = match form.changes {
            "" => "compile again".to_owned(),
            changes => format!("under readers (`live`): {changes}"),
        };
        let texts = [form.paper, form.families, form.reads, form.structure].map(str::to_owned);
        [name].into_iter().chain(texts).chain([changes]).collect()
    };
    let all = engines()
        .flat_map(|(kind, engine)| engine.forms.iter().map(move |form| row(kind, engine, form)));
    rows("engine | paper | families | memory reads of a lookup | structure | changes", all)
}

/// The table of limits.
fn limits() -> String {
    let row = |kind: EngineKind, engine: &Descriptor, form: &Form| {
        let family = if engine.forms.len() > 1 { &format!(", {}", form.families) } else { "" };
        let [limit, beyond] = form.limit.map(str::to_owned);
        vec![code(kind.name()) + family, limit, beyond]
    };
    let all = engines().flat_map(|(kind, engine)| {
        let limited = engine.forms.iter().filter(|form| !form.limit[0].is_empty());
        limited.map(move |form| row(kind, engine, form))
    });
    rows("engine | limit | beyond the limit", all)
}
