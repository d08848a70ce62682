//! The layout of delimited text: CSV, TSV, words with white space between them, and the logs of Zeek and of
//! W3C programs such as IIS, where the header is a line that begins with `#fields` or `#Fields:`.

use std::ops::Range;
use std::path::Path;

use longmatch_feed::scan::address::parse_cell;
use longmatch_feed::scan::csv::{self, Row};
use longmatch_feed::scan::words;
use longmatch_feed::{Delimiter, printable};
use memchr::memchr_iter;

use crate::args::AnnotateArgs;
use crate::error::CliError;
use crate::lines::{BOM, lines};
use crate::name_list::quoted;

/// Characters that may separate the cells of a row, the likeliest first.
pub const DELIMITERS: [u8; 5] = *b",\t;| ";
/// Those of them that are not white space.
const CHARACTERS: [u8; 4] = *b",\t;|";
/// Beginnings of the line with the names of a log's columns: of Zeek, and of W3C programs.
const DIRECTIVES: [&[u8]; 2] = [b"#fields\t", b"#Fields:"];

/// The layout of delimited text.
#[derive(PartialEq, Eq)]
pub struct Csv {
    /// The delimiter of the cells; a space means white space.
    pub delimiter: u8,
    /// Numbers of the columns with addresses, from 0, ascending.
    pub columns: Vec<usize>,
    /// For each column of the command line its place in `columns`.
    pub order: Vec<usize>,
    /// The header without its line end, if there is one.
    pub header: Option<Box<[u8]>>,
    /// The names in the header.
    names: Vec<String>,
    /// The number of cells of the first row.
    pub width: usize,
    /// The lines of a log that begin with `#`.
    pub comments: Option<Comments>,
}

/// The lines of a log that begin with `#`.
#[derive(Clone, PartialEq, Eq)]
pub struct Comments {
    /// The line with the names, without its line end.
    pub fields: Box<[u8]>,
    /// The beginning of the line with the names.
    pub directive: &'static [u8],
    /// The delimiter of the names.
    pub delimiter: u8,
    /// The types of the columns, if the log has them.
    pub types: Vec<String>,
}

/// The line `sep=;` with which a file for Excel may begin: its length with the line end, and the delimiter.
pub fn separator(bytes: &[u8]) -> Option<(usize, u8)> {
    let (_, end, next) = lines(bytes).next()?;
    match bytes[..end] {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] => Some((next, delimiter)),
        _ => None,
    }
}

/// Whether the first bytes of an input are enough for [`Csv::new`]: the first line, or of a log the first
/// line of data.
pub fn is_enough(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let bytes = &bytes[separator(bytes).map_or(0, |(len, _)| len)..];
    let mut whole = lines(bytes).filter(|(.., next)| bytes[next - 1] == b'\n');
    match may_be_log(bytes) {
        true => whole.any(|(start, end, _)| start < end && bytes[start] != b'#'),
        false => whole.next().is_some(),
    }
}

impl Csv {
    /// A layout of nothing, until the first rows are read.
    pub fn unknown() -> Self {
        Self {
            delimiter: b',',
            columns: Vec::new(),
            order: Vec::new(),
            header: None,
            names: Vec::new(),
            width: 0,
            comments: None,
        }
    }

    /// Reads the layout from the first rows of an input of this [`shape`].
    ///
    /// # Errors
    /// If a column does not exist, or has a name that is not unique.
    pub fn new(
        args: &AnnotateArgs,
        delimiter: u8,
        comments: Option<Comments>,
        row: &[u8],
    ) -> Result<Self, CliError> {
        let first = match &comments {
            Some(comments) => comments.names(),
            None => cells(row, delimiter),
        };
        let mut order = Vec::new();
        for name in &args.column {
            order.push(column(name, &first, args.no_header).map_err(|problem| {
                let has_words = args.delimiter.is_none()
                    && matches!(&first[..], [cell] if delimiter != b' ' && cell.contains([' ', '\t']));
                let advice = if has_words { " (--delimiter space: its words are cells)" } else { "" };
                CliError::input("--column", problem + advice)
            })?);
        }
        let mut columns = order.clone();
        columns.sort_unstable();
        let mut pairs = columns.windows(2).filter(|_| !first.is_empty());
        if let Some(twice) = pairs.find(|pair| pair[0] == pair[1]) {
            let problem = format!("column {} is named twice", twice[0] + 1);
            return Err(CliError::input("--column", problem));
        }
        let is_address = |column: &usize| {
            first.get(*column).is_some_and(|cell| parse_cell(cell.as_bytes()).is_some())
        };
        let place = |column: &usize| columns.partition_point(|other| other < column);
        let order = order.iter().map(place).collect();
        let mut csv = Self { delimiter, order, width: first.len(), comments, ..Self::unknown() };
        if csv.comments.is_none()
            && !args.no_header
            && !first.is_empty()
            && !columns.iter().any(is_address)
        {
            csv.header = Some(row[..csv.row(row, 0, &mut []).end].into());
            csv.names = first;
        } else if csv.comments.is_some() {
            csv.names = first;
        }
        Ok(Self { columns, ..csv })
    }

    /// Scans the row that begins at `start`; `found` gets the ranges of the columns with addresses.
    #[inline]
    pub fn row(&self, bytes: &[u8], start: usize, found: &mut [Option<Range<usize>>]) -> Row {
        row(bytes, start, self.delimiter, &self.columns, found)
    }

    /// The number of the column of the input with a name.
    pub fn name(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|cell| cell == name)
    }

    /// The layout after another line with names, with which the bytes begin; `None` if it lacks a column with addresses.
    pub fn with_fields(&self, args: &AnnotateArgs, bytes: &[u8]) -> Option<Self> {
        let comments = self.comments.clone()?;
        let fields = comments.fields_of(bytes).into();
        Self::new(args, self.delimiter, Some(Comments { fields, ..comments }), &[]).ok()
    }

    /// The names of the columns with addresses, in the order of the command line.
    pub fn sources(&self) -> impl Iterator<Item = Option<&String>> {
        self.order.iter().map(|place| self.names.get(self.columns[*place]))
    }

    /// The type in the header of a log of Zeek of a column that is added for a column with addresses, by its place on the
    /// command line: a vector if that one may have several.
    pub fn zeek_type(&self, source: usize, added: &str) -> String {
        let types = self.comments.as_ref().map_or(&[][..], |comments| &comments.types);
        match types.get(self.columns[self.order[source]]) {
            Some(list) if list.ends_with(']') => format!("vector[{added}]"),
            _ => added.to_owned(),
        }
    }

    /// The text of a cell without a value.
    pub fn empty_cell(&self) -> &'static [u8] {
        if self.delimiter == b' ' || self.comments.is_some() { b"-" } else { b"" }
    }
}

impl Comments {
    /// The line with names at the beginning of the bytes, as `fields` has it.
    pub fn fields_of<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        lines(bytes).next().map_or(&[][..], |(_, end, _)| bytes[..end].trim_ascii_end())
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<String> {
        let names = String::from_utf8_lossy(&self.fields[self.directive.len()..]).into_owned();
        match self.delimiter {
            b' ' => names.split_ascii_whitespace().map(str::to_owned).collect(),
            delimiter => names.split(char::from(delimiter)).map(str::to_owned).collect(),
        }
    }
}

/// Whether a first line can be that of a log: of Zeek, or of a W3C program.
fn may_be_log(bytes: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 7] = [
        b"#separator",
        b"#fields\t",
        b"#Fields:",
        b"#Software:",
        b"#Version:",
        b"#Date:",
        b"#Start-Date:",
    ];
    BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning))
}

/// The header of a log.
pub fn log(bytes: &[u8]) -> Option<Comments> {
    let header = || lines(bytes).take_while(|(start, ..)| bytes[*start] == b'#');
    for directive in DIRECTIVES.iter().filter(|_| may_be_log(bytes)) {
        let mut found = header().map(|(start, end, _)| &bytes[start..end]);
        if let Some(fields) = found.find(|line| line.starts_with(directive)) {
            let delimiter = if directive.ends_with(b"\t") { b'\t' } else { b' ' };
            let types = header().find_map(|(start, end, _)| {
                let types = bytes[start..end].strip_prefix(b"#types\t")?;
                Some(String::from_utf8_lossy(types).split('\t').map(str::to_owned).collect())
            });
            let (fields, types) = (fields.trim_ascii_end().into(), types.unwrap_or_default());
            return Some(Comments { fields, directive, delimiter, types });
        }
    }
    None
}

/// Returns the delimiter of an input, and the header of a log, by its first bytes and the delimiter of the line [`separator`].
pub fn shape(
    args: &AnnotateArgs,
    path: &Path,
    bytes: &[u8],
    separator: Option<u8>,
) -> (u8, Option<Comments>) {
    let comments = log(bytes);
    let data = lines(bytes).find(|(start, ..)| comments.is_none() || bytes[*start] != b'#');
    let row = data.map_or(&[][..], |(start, ..)| &bytes[start..]);
    let delimiter = match args.delimiter {
        Some(Delimiter::Byte(byte)) => byte,
        Some(_) => b' ',
        None => separator.unwrap_or_else(|| delimiter(args, path, row, comments.as_ref())),
    };
    (delimiter, comments)
}

/// Scans a row.
#[inline]
fn row(
    bytes: &[u8],
    start: usize,
    delimiter: u8,
    wanted: &[usize],
    found: &mut [Option<Range<usize>>],
) -> Row {
    match delimiter {
        b' ' => words::row(bytes, start, wanted, found),
        _ => csv::row(bytes, start, delimiter, wanted, found),
    }
}

/// The delimiter with which the first row has the columns, else that of the file's name, else the most
/// frequent one. In logs it is a TAB, or else white space.
fn delimiter(args: &AnnotateArgs, path: &Path, first: &[u8], comments: Option<&Comments>) -> u8 {
    let line = lines(first).next().map_or(&[][..], |(start, end, _)| &first[start..end]);
    if let Some(comments) = comments {
        return if line.contains(&b'\t') { b'\t' } else { comments.delimiter };
    }
    let has_names = |delimiter: &u8| {
        let cells = cells(line, *delimiter);
        !args.no_header
            && args.column.iter().all(|name| cells.iter().any(|cell| cell == name.trim()))
    };
    // Spaces are a part of names where another delimiter is between them.
    let only_spaces = !line.iter().any(|byte| CHARACTERS.contains(byte));
    let possible = if only_spaces { &DELIMITERS[..] } else { &CHARACTERS };
    if let Some(delimiter) = possible.iter().copied().find(has_names) {
        return delimiter;
    }
    if path.file_name().is_some_and(|name| name.to_string_lossy().contains(".tsv")) {
        return b'\t';
    }
    let count = |delimiter: &u8| memchr_iter(*delimiter, line).count();
    // Words have spaces: only --delimiter or a name makes them cells.
    CHARACTERS.iter().copied().rev().max_by_key(count).unwrap_or(b',')
}

/// The cells of the first row, without quotes and the blanks around.
pub fn cells(bytes: &[u8], delimiter: u8) -> Vec<String> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let count = row(bytes, 0, delimiter, &[], &mut []).cells;
    let all: Vec<usize> = (0..count).collect();
    let mut found = vec![None::<Range<usize>>; count];
    row(bytes, 0, delimiter, &all, &mut found);
    let text = |cell: Range<usize>| {
        let text = String::from_utf8_lossy(&bytes[cell]);
        let text = text.trim();
        match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(inner) if delimiter != b'\t' => inner.trim().replace("\"\"", "\""),
            _ => text.to_owned(),
        }
    };
    found.into_iter().flatten().map(text).collect()
}

/// The number of a column, from 0, by its name or number.
///
/// # Errors
/// The problem, if there is none.
fn column(name: &str, first: &[String], no_header: bool) -> Result<usize, String> {
    let name = name.trim();
    let named = |(i, cell): (usize, &String)| (!no_header && cell == name).then_some(i);
    let places: Vec<_> = first.iter().enumerate().filter_map(named).collect();
    let shown = printable(name);
    match (&places[..], name.parse::<usize>()) {
        ([place], _) => Ok(*place),
        ([one, two, ..], _) => Err(format!(
            "columns {} and {} are both named '{shown}': give the number of one",
            one + 1,
            two + 1
        )),
        // Without a row there is nothing to annotate.
        ([], _) if first.is_empty() => Ok(0),
        ([], Ok(number)) if (1..=first.len()).contains(&number) => Ok(number - 1),
        ([], Ok(number)) if number > 0 => {
            Err(format!("column {number} does not exist: the first row has {}", first.len()))
        }
        _ if no_header => Err(format!("'{shown}' is not a number, which --no-header needs")),
        _ => {
            let columns: Vec<_> =
                first.iter().map(|cell| printable(&quoted(cell)).into_owned()).collect();
            Err(format!("no column is named '{shown}'; the first row has: {}", columns.join(", ")))
        }
    }
}
