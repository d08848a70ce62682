//! Options of reading prefixes: the same for all commands.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};
use longmatch_feed::{
    Delimiter, Duplicates, Format, IpFamily, IpTable, Join, Options, PeerSelector, RouteValue,
};

use super::candidates::{delimiters, names};
use super::values::names as names_of;

/// Names of [`RouteValue`].
const ROUTE_VALUES: [&str; 5] = ["next-hop", "origin-as", "as-path", "peer", "communities"];
/// Names of [`Duplicates`].
const DUPLICATES: [&str; 4] = ["last", "first", "join", "error"];

/// The source of prefixes.
#[derive(Args, Clone, Debug, Default)]
pub struct SourceArgs {
    /// Load prefixes from FILE, '-' for standard input; may be repeated
    ///
    /// The format is detected (see --format), and so is compression with gzip, bzip2, zstd or xz.
    /// A zip or tar archive is read if it has one file of data; 'FILE:MEMBER' names one of
    /// several. Rows of later files replace rows of earlier files. By default lookup, annotate
    /// and compile take the default table (AS and name), longmatch-forward takes the routes of
    /// the kernel, and longmatch-lab takes the embedded routing tables.
    #[arg(short = 'r', long = "routes", value_name = "FILE", verbatim_doc_comment)]
    pub files: Vec<PathBuf>,

    /// Use this compiled table, which 'longmatch compile' has written
    ///
    /// The file is mapped, not read: it is ready at once, and processes share its memory. To
    /// change it while it is used, rename another file to its name, as 'longmatch compile' does;
    /// a program that writes into it, such as cp, may crash its users.
    #[arg(long, value_name = "FILE", conflicts_with = "files", verbatim_doc_comment)]
    pub table: Option<PathBuf>,

    /// Skip the checksums of --table
    ///
    /// Opening is faster then. A damaged file may give wrong answers; it cannot crash the
    /// program.
    #[arg(long, requires = "table", verbatim_doc_comment)]
    pub trust: bool,

    /// How the files are read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// How files of prefixes are read.
#[derive(Args, Clone, Debug, Default)]
pub struct ReadArgs {
    /// What separates the cells of text.
    #[command(flatten)]
    pub cells: CellArgs,

    /// How all formats are read.
    #[command(flatten)]
    pub rows: RowArgs,
}

/// How the cells of text are divided.
#[derive(Args, Clone, Debug, Default)]
pub struct CellArgs {
    /// Separator of cells: comma, tab, semicolon, bar, space, a character
    #[arg(long, value_name = "CHAR", add = delimiters())]
    pub delimiter: Option<Delimiter>,

    /// Content of the first row: names, data [default: detected]
    #[arg(long, value_name = "CONTENT", hide_possible_values = true)]
    pub first_row: Option<FirstRow>,
}

/// How rows and routes are read, whatever their format.
#[derive(Args, Clone, Debug, Default)]
pub struct RowArgs {
    #[arg(
        long,
        help = "The format of the files, such as csv [default: detected]",
        long_help = format_help(),
        value_name = "FORMAT",
        value_parser = format_parser(),
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub format: Format,

    /// The column of the prefixes, by name or number [default: detected]
    ///
    /// Two columns, 'start,end', are the first and the last address of ranges, or an address and
    /// its prefix length or netmask. In every list of columns a name with a comma is in quotation
    /// marks: '"start, first",end'.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', verbatim_doc_comment)]
    pub prefix_column: Vec<String>,

    /// Add columns of another file, by the cell of COLUMN; may be repeated
    ///
    /// 'geoname_id=GeoLite2-City-Locations-en.csv' adds the names of countries and cities to
    /// Blocks. The first row of FILE has the names of its columns; 'COLUMN:KEY=FILE' if the two
    /// files name the column differently. --where, later --join and all options that name
    /// columns can name the new columns. They are empty in rows whose cell of COLUMN is not in
    /// FILE; the number of such cells is reported.
    #[arg(long = "join", value_name = "COLUMN=FILE", verbatim_doc_comment)]
    pub joins: Vec<Join>,

    /// Keep only rows with this cell: 'country=NL'; may be repeated
    #[arg(long = "where", value_name = "COLUMN=CELL", value_parser = cell)]
    pub filters: Vec<(String, String)>,

    /// Value of routes: next-hop, origin-as, as-path, peer, communities
    ///
    /// For MRT and 'bgpdump -m'; other routes have the next hop only. By default lookup,
    /// annotate, compile and 'set dump' take the origin AS, the last AS of the path; commands on
    /// whole tables take the next hop.
    #[arg(long, value_name = "VALUE", add = names(ROUTE_VALUES), verbatim_doc_comment)]
    pub value: Option<RouteValue>,

    /// Take the routes of this peer: its address, AS64500, or its index
    ///
    /// For MRT and 'bgpdump -m', which hold the routes of many peers. By default the peer
    /// with the most routes is taken, separately for each address family.
    #[arg(long, value_name = "IP|ASn|INDEX", verbatim_doc_comment)]
    pub peer: Option<PeerSelector>,

    /// Take this table, by name or number, of 'ip route' [default: main]
    ///
    /// Routes of other tables are left out and counted. Lines without a table belong to the
    /// main table; but if no line names a table, as 'ip route show table' prints them, all
    /// belong to the table given here.
    #[arg(long, value_name = "TABLE", verbatim_doc_comment)]
    pub ip_table: Option<IpTable>,

    /// Which row of a prefix counts: last, first, join, error
    ///
    /// By default the last row counts; 'set diff' compares all rows. 'join' joins the cells of
    /// all rows with semicolons: 'S3;EC2'. A route always replaces an earlier one.
    #[arg(long, value_name = "WHICH", add = names(DUPLICATES), verbatim_doc_comment)]
    pub duplicates: Option<Duplicates>,

    /// Skip and count damaged lines, instead of refusing the file
    ///
    /// A file without any readable part is still an error.
    #[arg(long)]
    pub lenient: bool,

    /// Clear the host bits of prefixes, instead of refusing such prefixes
    #[arg(long)]
    pub mask: bool,
}

impl RowArgs {
    /// The options with which files are read.
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        options.format = self.format;
        options.prefix = names_of(&self.prefix_column);
        options.joins = self.joins.clone();
        options.filters = self.filters.clone();
        options.value = self.value;
        options.peer = self.peer;
        options.ip_table = self.ip_table.clone().unwrap_or_default();
        options.duplicates = self.duplicates.unwrap_or_default();
        options.lenient = self.lenient;
        options.mask_host_bits = self.mask;
        options
    }

    /// The files that are joined.
    pub fn joined(&self) -> impl Iterator<Item = &Path> {
        self.joins.iter().map(|join| &*join.path)
    }

    /// The options that only a file to be read can have.
    pub fn of_files(&self) -> impl Iterator<Item = FileOption> {
        let given = [
            (self.format != Format::Auto, "--format", "other format"),
            (!self.prefix_column.is_empty(), "--prefix-column", "column of prefixes"),
            (!self.joins.is_empty(), "--join", "other columns"),
            (!self.filters.is_empty(), "--where", "rows to leave out"),
            (self.peer.is_some(), "--peer", "peers"),
            (self.ip_table.is_some(), "--ip-table", "tables of 'ip route'"),
            (self.value.is_some(), "--value", "AS paths"),
            (self.duplicates.is_some(), "--duplicates", "duplicates"),
            (self.mask, "--mask", "host bits"),
        ];
        given.into_iter().filter(|(given, ..)| *given).map(|(_, option, noun)| (option, noun))
    }
}

/// An option of files, and the noun of what a compiled table lacks.
pub type FileOption = (&'static str, &'static str);

impl ReadArgs {
    /// The options with which files are read.
    pub fn options(&self) -> Options {
        let mut options = self.rows.options();
        options.delimiter = self.cells.delimiter;
        options.header = self.cells.first_row.map(|row| row == FirstRow::Names);
        options
    }

    /// The options that only a file to be read can have.
    pub fn of_files(&self) -> impl Iterator<Item = FileOption> {
        let delimiter = self.cells.delimiter.is_some().then_some(("--delimiter", "text"));
        let first_row = self.cells.first_row.is_some().then_some(("--first-row", "first row"));
        self.rows.of_files().chain(delimiter).chain(first_row)
    }
}

/// The formats and their names, in lines that fit a help text.
fn format_help() -> String {
    const WIDTH: usize = 90;
    let mut help = "The format of the files [default: detected]\n".to_owned();
    for info in Format::all() {
        let mut line = format!("{:<10}", info.names[0]);
        for word in info.content.split(' ') {
            if line.len() + 1 + word.len() > WIDTH {
                help = help + "\n" + &line;
                line = " ".repeat(10);
            }
            line = line + " " + word;
        }
        help = help + "\n" + &line;
    }
    help
}

/// Parser of the name of a format, which knows all names for completions.
fn format_parser() -> impl TypedValueParser<Value = Format> {
    let names = Format::all()
        .map(|info| PossibleValue::new(info.names[0]).aliases(&info.names[1..]).help(info.content));
    let all = [PossibleValue::new("auto")].into_iter().chain(names);
    clap::builder::PossibleValuesParser::new(all).try_map(|name| name.parse::<Format>())
}

/// Parses `column=cell`.
fn cell(text: &str) -> Result<(String, String), &'static str> {
    let (column, cell) = text.split_once('=').ok_or("expected 'column=cell'")?;
    Ok((column.to_owned(), cell.to_owned()))
}

/// `--first-row`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstRow {
    /// The names of the columns.
    Names,
    /// Cells as in other rows.
    Data,
}

/// The address families: common to commands on whole tables.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct FamilyArgs {
    /// Only IPv4
    ///
    /// A 'default' route of unknown family counts as IPv4.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,

    /// Only IPv6
    ///
    /// A 'default' route of unknown family counts as IPv6.
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

impl FamilyArgs {
    /// Returns the family that an option names, if one does.
    pub fn only(self) -> Option<IpFamily> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(IpFamily::V4),
            (_, true) => Some(IpFamily::V6),
            _ => None,
        }
    }
}
