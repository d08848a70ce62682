//! `longmatch set dump`: the prefixes of files of any format and all their columns.

use std::io::Write;
use std::path::Path;

use longmatch::table::Cell;

use crate::args::DumpArgs;
use crate::cells::{Style, write_cell, write_prefix};
use crate::error::{Outcome, Status};
use crate::families::Families;
use crate::output::Out;
use crate::prefix_data;

/// Runs the operation.
///
/// # Errors
/// If an input cannot be read or does not fit the options, or standard output not be written.
pub fn run(args: &DumpArgs) -> Outcome {
    let families = args.lists.read.families;
    let options = args.columns.options(&args.lists.read.source, families);
    let data = match args.lists.files.is_empty() {
        true => prefix_data::load_all(&[Path::new("-")], options)?,
        false => prefix_data::load_all(&args.lists.files, options)?,
    };
    let (style, separator) = match (args.json, args.csv) {
        (true, _) => (Style::Json, b','),
        (_, true) => (Style::Csv(b','), b','),
        _ => (Style::Printable, b'\t'),
    };
    // What precedes each cell; the name of the prefixes is taken.
    let (mut header, mut leads) = (b"prefix".to_vec(), Vec::new());
    for column in data.columns() {
        let name: &str = if &*column.name == "prefix" { "prefix_" } else { &column.name };
        header.push(separator);
        write_cell(Cell::String(name), style, &mut header);
        let mut lead = vec![separator];
        if args.json {
            write_cell(Cell::String(name), style, &mut lead);
            lead.push(b':');
        }
        leads.push(lead);
    }
    let (start, end) = if args.json { ("{\"prefix\":", "}\n") } else { ("", "\n") };
    let mut out = Out::new();
    if args.csv {
        header.push(b'\n');
        out.write_all(&header)?;
    }
    let (families, mut line) = (Families::from(families), Vec::new());
    for (prefix, row) in data.table().iter().filter(|(prefix, _)| families.keep(*prefix)) {
        line.clear();
        line.extend_from_slice(start.as_bytes());
        write_prefix(prefix, style, &mut line);
        for (lead, cell) in leads.iter().zip(row) {
            line.extend_from_slice(lead);
            write_cell(cell.borrowed(), style, &mut line);
        }
        line.extend_from_slice(end.as_bytes());
        out.write_all(&line)?;
    }
    out.flush()?;
    Ok(Status::Ok)
}
