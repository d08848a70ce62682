//! The options of one run, resolved: format, address columns, added columns.

use std::sync::{Arc, PoisonError, RwLock};

use longmatch::table::Cell;
use longmatch_feed::scan::ndjson::{self, MAX_PATHS};
use longmatch_feed::{Codec, printable};

use super::csv::Csv;
use super::tables::{Added, AnnotationTables};
use crate::args::AnnotateArgs;
use crate::cells::{Style, write_cell};
use crate::error::CliError;
use crate::output::plural;

/// The source of addresses that may be anywhere on a line of text.
pub const ANY_PLACE: &str = "line";

impl Format {
    /// How cells are written in the format.
    pub fn style(&self) -> Style {
        match self {
            Self::Csv(csv) => Style::Csv(csv.delimiter),
            Self::Json(_) => Style::Json,
            Self::Text(_) => Style::Printable,
        }
    }

    /// The text of a cell without a value.
    pub fn empty_cell(&self) -> &'static [u8] {
        match self {
            Self::Csv(csv) => csv.empty_cell(),
            Self::Json(_) => b"null",
            Self::Text(_) => b"",
        }
    }
}

/// The format of the lines and where their addresses are.
pub enum Format {
    /// Delimited text.
    Csv(Csv),
    /// JSON objects with addresses at these paths; after these the added keys, which no object
    /// may have.
    Json(Vec<ndjson::Path>),
    /// Text, with the first address on the line, or the addresses that expressions find.
    Text(Vec<regex::bytes::Regex>),
}

/// The options of one run, resolved: format, address columns, added columns.
pub struct Plan {
    /// The format of the lines.
    pub format: Format,
    /// Names of the address sources of a line in messages, in order.
    pub sources: Vec<String>,
    /// The tables, which a reload replaces.
    tables: RwLock<Arc<AnnotationTables>>,
    /// The text before each added cell: a separator, and in JSON the key.
    pub leads: Vec<Box<[u8]>>,
    /// The names of the added columns.
    names: Vec<String>,
    /// The names added to the header, with delimiters.
    pub header: Vec<u8>,
    /// The types added to those of a log of Zeek.
    pub types: Vec<u8>,
    /// With `--match` true, with `--no-match` false.
    pub only_matching: Option<bool>,
    /// Whether lines are only counted.
    pub count: bool,
    /// Whether every address of a line of text is looked up, and the first that matches gives the answer.
    pub any: bool,
    /// Whether a missing or bad address is an error.
    pub strict: bool,
    /// Compression of the output.
    pub codec: Option<Codec>,
}

impl Plan {
    /// Makes the plan from the command line and the layout of the input.
    ///
    /// # Errors
    /// If an added name is taken, or there are too many fields.
    pub fn new(
        args: &AnnotateArgs,
        format: Format,
        tables: AnnotationTables,
    ) -> Result<Self, CliError> {
        let (labels, kind): (&[String], _) = match format {
            Format::Csv(_) => (&args.column, "column"),
            Format::Json(_) => (&args.field, "field"),
            Format::Text(_) => (&args.regex, "--regex"),
        };
        let sources: Vec<_> = match labels.is_empty() {
            true => vec![ANY_PLACE.to_owned()],
            false => labels.iter().map(|label| format!("{kind} '{}'", printable(label))).collect(),
        };
        let is_text = matches!(format, Format::Text(_));
        let names = names(args, labels, !is_text, &tables)?;
        let filters = args.filters();
        let mut plan = Self {
            format,
            sources,
            leads: Vec::new(),
            names,
            header: Vec::new(),
            types: Vec::new(),
            only_matching: filters.then_some(args.matching),
            count: args.count,
            any: args.any || filters && is_text && args.regex.is_empty(),
            strict: args.strict,
            codec: args.codec(),
            tables: RwLock::new(Arc::new(tables)),
        };
        plan.lead()?;
        Ok(plan)
    }

    /// Refuses another input whose rows do not fit those of the first.
    ///
    /// # Errors
    /// If its layout is another.
    pub fn check(&self, format: &Format, name: &str, first: &str) -> Result<(), CliError> {
        match (&self.format, format) {
            (Format::Csv(one), Format::Csv(two)) if one != two && !self.continues(two) => {
                let problem = "the header or the delimiter is not that of";
                Err(CliError::input(name, format_args!("{problem} {first}: annotate it by itself")))
            }
            (Format::Csv(_), Format::Csv(_))
            | (Format::Json(_), Format::Json(_))
            | (Format::Text(_), Format::Text(_)) => Ok(()),
            _ => Err(CliError::input(
                name,
                format_args!(
                    "a capture and other files are given ({first}): annotate them by themselves"
                ),
            )),
        }
    }

    /// Whether the rows of a log with other columns can follow those of the first one.
    pub fn continues(&self, other: &Csv) -> bool {
        let Format::Csv(csv) = &self.format else { return false };
        let kind = |csv: &Csv| {
            csv.comments.as_ref().map(|log| (log.directive, log.delimiter, csv.delimiter))
        };
        kind(csv).is_some()
            && kind(csv) == kind(other)
            && csv.sources().eq(other.sources())
            && self.names.iter().all(|name| other.name(name).is_none())
    }

    /// The tables.
    pub fn tables(&self) -> Arc<AnnotationTables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the tables by others that add the same columns.
    pub fn set_tables(&self, tables: AnnotationTables) {
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tables);
    }

    /// Writes a cell that a row lacks.
    pub fn missing_cell(&self, out: &mut Vec<u8>) {
        if let Format::Csv(csv) = &self.format {
            out.push(csv.delimiter);
            out.extend_from_slice(csv.empty_cell());
        }
    }

    /// Prepares the separators, keys and the header.
    fn lead(&mut self) -> Result<(), CliError> {
        let tables = self.tables();
        for (i, (name, added)) in self.names.iter().zip(tables.added.iter().cycle()).enumerate() {
            let lead = match &mut self.format {
                Format::Csv(csv) => {
                    if let Some(taken) = csv.name(name) {
                        return Err(taken_name(name, taken, added));
                    }
                    let delimiter =
                        csv.comments.as_ref().map_or(csv.delimiter, |log| log.delimiter);
                    self.header.push(delimiter);
                    write_cell(Cell::String(name), Style::Csv(delimiter), &mut self.header);
                    self.types.push(b'\t');
                    let ty = added.zeek_type();
                    let ty = match self.any {
                        true => ty.to_owned(),
                        false => csv.zeek_type(i / tables.added.len(), ty),
                    };
                    self.types.extend_from_slice(ty.as_bytes());
                    vec![csv.delimiter]
                }
                Format::Json(paths) => {
                    paths.push(ndjson::Path::of_key(name));
                    let mut lead = vec![b','];
                    write_cell(Cell::String(name), Style::Json, &mut lead);
                    lead.push(b':');
                    lead
                }
                Format::Text(_) => vec![b'\t'],
            };
            self.leads.push(lead.into());
        }
        if let Format::Json(paths) = &self.format
            && paths.len() > MAX_PATHS
        {
            let problem = format!("at most {MAX_PATHS} fields and added members are possible");
            return Err(CliError::input("--field", problem));
        }
        Ok(())
    }
}

/// The error of an added column whose name column number `taken` of the input has, from 0.
pub fn taken_name(name: &str, taken: usize, added: &Added) -> CliError {
    CliError::new(format!(
        "the input has a column '{}' already, number {}: name the added one otherwise with {}",
        printable(name),
        taken + 1,
        added.option()
    ))
}

/// The names of the added columns, address column by address column.
///
/// # Errors
/// If `--as` has too few or too many, or with `unique` two are the same.
pub fn names(
    args: &AnnotateArgs,
    labels: &[String],
    unique: bool,
    tables: &AnnotationTables,
) -> Result<Vec<String>, CliError> {
    let sources = labels.len().max(1);
    let added = tables.added.iter();
    let data = tables.added.iter().filter(|added| added.is_column()).count();
    if !args.names.is_empty() && args.names.len() != data * sources {
        let (given, needed) = (args.names.len(), data * sources);
        return Err(CliError::input(
            "--as",
            format_args!(
                "{} for {}: give a name for each, in the order of --column and --add",
                plural(given as u64, "name"),
                plural(needed as u64, "added column")
            ),
        ));
    }
    let mut names: Vec<String> = Vec::new();
    for source in 0..sources {
        let label = labels.get(source).map_or("", String::as_str);
        for (i, added) in added.clone().enumerate() {
            let given = if i < data { args.names.get(source * data + i) } else { None };
            let name = match given {
                Some(name) => name.clone(),
                None if sources == 1 => added.name.clone(),
                None => format!("{label}_{}", added.name),
            };
            if names.contains(&name) && unique {
                let problem = format!("two added columns are named '{}'", printable(&name));
                return Err(CliError::input(
                    added.option(),
                    format_args!("{problem}: name them otherwise"),
                ));
            }
            names.push(name);
        }
    }
    Ok(names)
}

/// Chooses the format of the input by the options. The layout of CSV is not known yet.
///
/// # Errors
/// If an expression is invalid.
pub fn format(args: &AnnotateArgs) -> Result<Format, CliError> {
    if !args.column.is_empty() {
        return Ok(Format::Csv(Csv::unknown()));
    }
    if !args.field.is_empty() {
        return Ok(Format::Json(args.field.iter().map(|path| ndjson::Path::new(path)).collect()));
    }
    let parse = |text: &String| {
        regex::bytes::Regex::new(text)
            .map_err(|error| CliError::input("--regex", error.to_string().replace('\n', " ")))
    };
    let regexes: Result<Vec<_>, _> = args.regex.iter().map(parse).collect();
    Ok(Format::Text(regexes?))
}
