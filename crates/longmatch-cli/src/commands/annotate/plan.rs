//! What to do with each line: format, columns, names.

use std::ops::Range;
use std::path::Path;

use longmatch::table::Cell;
use longmatch_feed::scan::address::parse_cell;
use longmatch_feed::scan::csv::row;
use longmatch_feed::scan::ndjson::{self, MAX_PATHS};
use longmatch_feed::{Codec, Delimiter, printable};
use memchr::{memchr, memchr_iter};

use super::tables::Tables;
use crate::args::AnnotateArgs;
use crate::cells::{Style, write_cell};
use crate::error::CliError;

/// Characters that may separate the cells of a row, the likeliest first.
const DELIMITERS: [u8; 4] = *b",\t;|";

/// The format of the lines and where their addresses are.
pub enum Format {
    /// Delimited text.
    Csv(Csv),
    /// JSON objects with addresses at these paths; after these the keys of what is added, which no object
    /// may have.
    Json(Vec<ndjson::Path>),
    /// Text, with the first address on the line, or those that expressions find.
    Text(Vec<regex::bytes::Regex>),
}

/// The layout of delimited text.
pub struct Csv {
    /// What separates the cells.
    pub delimiter: u8,
    /// Numbers of the columns with addresses, from 0, ascending.
    pub columns: Vec<usize>,
    /// For each column of the command line its place in `columns`.
    pub order: Vec<usize>,
    /// The header without its line end, if there is one.
    pub header: Option<Box<[u8]>>,
    /// The number of cells of the first row.
    pub width: usize,
}

/// What to do with each line.
pub struct Plan {
    /// The format of the lines.
    pub format: Format,
    /// What the addresses of a line are called in messages, in order.
    pub sources: Vec<String>,
    /// The tables, and what they add.
    pub tables: Tables,
    /// What is written before each added cell: a separator, and in JSON the key.
    pub leads: Vec<Box<[u8]>>,
    /// What is added to the header.
    pub header: Vec<u8>,
    /// With `--match` true, with `--no-match` false.
    pub only_matching: Option<bool>,
    /// Whether a missing or bad address is an error.
    pub strict: bool,
    /// Compression of the output.
    pub codec: Option<Codec>,
}

impl Plan {
    /// What separates cells.
    pub fn separator(&self) -> u8 {
        match &self.format {
            Format::Csv(csv) => csv.delimiter,
            _ => b'\t',
        }
    }

    /// Makes the plan from the command line and the first rows of the input.
    ///
    /// # Errors
    /// If a column does not exist or has no clear name, an added name is taken, or there are too many fields.
    pub fn new(args: &AnnotateArgs, format: Format, tables: Tables) -> Result<Self, CliError> {
        let labels: &[String] = match format {
            Format::Csv(_) => &args.column,
            Format::Json(_) => &args.field,
            Format::Text(_) => &args.regex,
        };
        let kind = match format {
            Format::Csv(_) => "column",
            Format::Json(_) => "field",
            Format::Text(_) => "--regex",
        };
        let sources: Vec<_> = match labels.is_empty() {
            true => vec!["line".to_owned()],
            false => labels.iter().map(|label| format!("{kind} '{}'", printable(label))).collect(),
        };
        let unique = !matches!(format, Format::Text(_));
        let names = names(args, labels, unique, &tables)?;
        let only_matching = (args.matching || args.no_match).then_some(args.matching);
        let (strict, codec) = (args.strict, args.codec());
        let mut plan = Self {
            format,
            sources,
            tables,
            leads: Vec::new(),
            header: Vec::new(),
            only_matching,
            strict,
            codec,
        };
        plan.lead_with(&names)?;
        Ok(plan)
    }

    /// Prepares the separators, keys and the header.
    fn lead_with(&mut self, names: &[String]) -> Result<(), CliError> {
        for name in names {
            let mut lead = vec![self.separator()];
            match &mut self.format {
                Format::Csv(csv) => {
                    if let Some(taken) = csv.name(name) {
                        return Err(taken_name(name, taken));
                    }
                    self.header.push(csv.delimiter);
                    let style = Style::Csv(csv.delimiter);
                    write_cell(Cell::String(name), style, &mut self.header);
                }
                Format::Json(paths) => {
                    paths.push(ndjson::Path::of_key(name));
                    lead = vec![b','];
                    write_cell(Cell::String(name), Style::Json, &mut lead);
                    lead.push(b':');
                }
                Format::Text(_) => {}
            }
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
pub fn taken_name(name: &str, taken: usize) -> CliError {
    CliError::new(format!(
        "the input has a column '{}' already, number {}: name what is added with --as or --prefix-as",
        printable(name),
        taken + 1
    ))
}

/// The names of what is added to each source, in order.
///
/// # Errors
/// If `--as` has too few or too many, or with `unique` two are the same.
pub fn names(
    args: &AnnotateArgs,
    labels: &[String],
    unique: bool,
    tables: &Tables,
) -> Result<Vec<String>, CliError> {
    let sources = labels.len().max(1);
    let added = tables.added.iter();
    let prefix = usize::from(args.prefix_as.is_some());
    let data = tables.added.len() - prefix;
    if !args.names.is_empty() && args.names.len() != data * sources {
        let (given, needed) = (args.names.len(), data * sources);
        return Err(CliError::input(
            "--as",
            format_args!(
                "{given} names for {needed} added columns: give a name for each, in the order of --column and --add"
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
                    "--as",
                    format_args!("{problem}: name them otherwise"),
                ));
            }
            names.push(name);
        }
    }
    Ok(names)
}

/// Chooses the format of the input by the options. That of CSV lacks what the first rows tell.
///
/// # Errors
/// If an expression is invalid.
pub fn format(args: &AnnotateArgs) -> Result<(Format, Style), CliError> {
    if !args.column.is_empty() {
        let delimiter = b',';
        let csv = Csv { delimiter, columns: Vec::new(), order: Vec::new(), header: None, width: 0 };
        return Ok((Format::Csv(csv), Style::Csv(delimiter)));
    }
    if !args.field.is_empty() {
        let paths = args.field.iter().map(|path| ndjson::Path::new(path)).collect();
        return Ok((Format::Json(paths), Style::Json));
    }
    let parse = |text: &String| {
        regex::bytes::Regex::new(text)
            .map_err(|error| CliError::input("--regex", error.to_string().replace('\n', " ")))
    };
    let regexes: Result<Vec<_>, _> = args.regex.iter().map(parse).collect();
    Ok((Format::Text(regexes?), Style::Text))
}

/// Returns the delimiter: that of the option, else the one with which the first line has the columns,
/// else that of the file's name, else the most frequent one.
///
/// # Errors
/// If the option names white space, which is no delimiter of CSV.
pub fn delimiter(args: &AnnotateArgs, first: &[u8]) -> Result<u8, CliError> {
    match args.delimiter {
        Some(Delimiter::Byte(byte)) => return Ok(byte),
        None => {}
        Some(_) => {
            let problem =
                "white space cannot separate the cells of CSV: use --regex for such lines";
            return Err(CliError::input("--delimiter", problem));
        }
    }
    let line = &first[..memchr(b'\n', first).unwrap_or(first.len())];
    let has_names = |delimiter: &u8| {
        let cells = cells(line, *delimiter);
        args.column.iter().all(|name| cells.contains(name))
    };
    if let Some(delimiter) = DELIMITERS.iter().copied().find(has_names) {
        return Ok(delimiter);
    }
    let name = args.input.to_string_lossy();
    if Path::new(&*name).file_name().is_some_and(|name| name.to_string_lossy().contains(".tsv")) {
        return Ok(b'\t');
    }
    let count = |delimiter: &u8| memchr_iter(*delimiter, line).count();
    Ok(DELIMITERS.iter().copied().rev().max_by_key(count).unwrap_or(b','))
}

/// The cells of the first row, without quotes.
fn cells(bytes: &[u8], delimiter: u8) -> Vec<String> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let count = row(bytes, 0, delimiter, &[], &mut []).cells;
    let all: Vec<usize> = (0..count).collect();
    let mut found = vec![None::<Range<usize>>; count];
    row(bytes, 0, delimiter, &all, &mut found);
    let text = |cell: Range<usize>| {
        let text = String::from_utf8_lossy(&bytes[cell]).into_owned();
        match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(inner) => inner.replace("\"\"", "\""),
            None => text,
        }
    };
    found.into_iter().flatten().map(text).collect()
}

impl Csv {
    /// Reads the layout from the first row of a block.
    ///
    /// # Errors
    /// If a column does not exist, or has a name that is not unique.
    pub fn new(args: &AnnotateArgs, delimiter: u8, block: &[u8]) -> Result<Self, CliError> {
        let first = cells(block, delimiter);
        let mut order = Vec::new();
        for name in &args.column {
            order.push(column(name, &first, args.no_header)?);
        }
        let mut columns = order.clone();
        columns.sort_unstable();
        if let Some(twice) = columns.windows(2).find(|pair| pair[0] == pair[1]) {
            let problem = format!("column {} is named twice", twice[0] + 1);
            return Err(CliError::input("--column", problem));
        }
        let is_address = |column: &usize| {
            first.get(*column).is_some_and(|cell| parse_cell(cell.as_bytes()).is_some())
        };
        let has_header = !args.no_header && !first.is_empty() && !columns.iter().any(is_address);
        let header = has_header.then(|| {
            let row = row(block, 0, delimiter, &[], &mut []);
            block[..row.end].into()
        });
        let place = |column: &usize| columns.partition_point(|other| other < column);
        let order = order.iter().map(place).collect();
        Ok(Self { delimiter, columns, order, header, width: first.len() })
    }

    /// The number of the column of the input with a name.
    fn name(&self, name: &str) -> Option<usize> {
        let header = self.header.as_ref()?;
        cells(header, self.delimiter).iter().position(|cell| cell == name)
    }
}

/// The number of a column, from 0, by its name or number.
fn column(name: &str, first: &[String], no_header: bool) -> Result<usize, CliError> {
    let named = |(i, cell): (usize, &String)| (!no_header && cell == name).then_some(i);
    let places: Vec<_> = first.iter().enumerate().filter_map(named).collect();
    let failed = |problem: String| Err(CliError::input("--column", problem));
    let shown = printable(name);
    match (&places[..], name.parse::<usize>()) {
        ([place], _) => Ok(*place),
        ([one, two, ..], _) => failed(format!(
            "columns {} and {} are both named '{shown}': give the number of one",
            one + 1,
            two + 1
        )),
        // Without a row there is nothing to annotate.
        ([], _) if first.is_empty() => Ok(0),
        ([], Ok(number)) if (1..=first.len()).contains(&number) => Ok(number - 1),
        ([], Ok(number)) if number > 0 => {
            failed(format!("column {number} does not exist: the first row has {}", first.len()))
        }
        _ if no_header => failed(format!("'{shown}' is no number, which --no-header needs")),
        _ => {
            let columns: Vec<_> = first.iter().map(|cell| printable(cell)).collect();
            failed(format!(
                "no column is named '{shown}'; the first row has: {}",
                columns.join(", ")
            ))
        }
    }
}
