//! Options of `longmatch annotate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use longmatch_feed::{Codec, Delimiter};

use super::candidates::{columns, delimiters};
use super::source::RowArgs;
use super::values::names;
use crate::paths::file;

/// `longmatch annotate`.
#[derive(Args, Clone, Debug)]
pub struct AnnotateArgs {
    /// Inputs: '-' or nothing for standard input
    ///
    /// Plain, or compressed with gzip, bzip2, zstd or xz. Several inputs make one output; they
    /// must have the same CSV header, which is printed once. Packet captures, Parquet and Arrow
    /// IPC are recognised by their first bytes; see below.
    #[arg(value_name = "FILE", verbatim_doc_comment)]
    pub files: Vec<PathBuf>,

    /// Prefix data of any format (CSV, MRT, mmdb, ranges); may be repeated
    ///
    /// 'NAME=FILE' is a list with a name; the column 'list' has the names of all lists that have
    /// the address. Files with the same columns are one table, in which rows of later files
    /// replace rows of earlier files. Each file with other columns is another table, and each
    /// address is looked up in all tables. Without --routes and --table the default table of
    /// lookup is used; its columns are 'asn', the autonomous system that originates the prefix,
    /// and 'name', the name of that system.
    #[arg(short = 'r', long = "routes", value_name = "FILE", verbatim_doc_comment)]
    pub routes: Vec<PathBuf>,

    /// Compiled tables, made by 'longmatch compile'; may be repeated
    ///
    /// They come after the files of --routes. A table alone needs no loading: it is mapped. To
    /// change it while it is used, rename another file to its name, as 'longmatch compile' does;
    /// a program that writes into it, such as cp, may crash its users.
    #[arg(long = "table", value_name = "FILE", verbatim_doc_comment)]
    pub tables: Vec<PathBuf>,

    /// Skip the checksums of --table, if it is the only table
    ///
    /// Opening is faster then. A damaged file may give wrong answers; it cannot crash the
    /// program.
    #[arg(long, requires = "tables", verbatim_doc_comment)]
    pub trust: bool,

    /// How the prefix data are read.
    #[command(flatten)]
    pub read: RowArgs,

    /// Column with addresses, by name or (CSV) number; may be repeated
    ///
    /// A name with a comma is in quotation marks: '"city, state"'.
    #[arg(short, long, value_name = "NAME|N", value_delimiter = ',', conflicts_with_all = ["field", "regex"], verbatim_doc_comment)]
    pub column: Vec<String>,

    /// Field of NDJSON with addresses, such as src.ip; may be repeated
    ///
    /// 'answers[].ip' takes each element of an array. A key with dots, 'src.ip', is found too; in
    /// 'src\.ip' the dot is only a part of the key.
    #[arg(
        short,
        long,
        value_name = "PATH",
        value_delimiter = ',',
        conflicts_with = "regex",
        verbatim_doc_comment
    )]
    pub field: Vec<String>,

    /// Regular expression that finds the address in text; may be repeated
    ///
    /// The address is the text of the first group; if REGEX has no group, the whole match.
    /// Without --column, --field and --regex the first address of the line is looked up.
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true, verbatim_doc_comment)]
    pub regex: Vec<String>,

    /// Take every address; add the values of the first that matches
    ///
    /// All addresses of a line, cell or array are looked up, or all matches of --regex; the line
    /// gets the values of the first one that has a matching prefix. For lines of text without
    /// --regex, --match and --no-match imply --any. Without --any only the first address of a
    /// line of text is looked up, and each address of a list 'a, b' in a cell or array gets its
    /// own values.
    #[arg(long, verbatim_doc_comment)]
    pub any: bool,

    /// Columns of the prefix data to add [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = columns())]
    pub add: Vec<String>,

    /// Names of the added columns, in order
    ///
    /// By default an added column has its name in the prefix data. If several columns have
    /// addresses, the name of the address column comes first: 'src_asn'.
    #[arg(long = "as", value_name = "NAME", value_delimiter = ',', verbatim_doc_comment)]
    pub names: Vec<String>,

    /// Add the matched prefix under this name
    #[arg(long, value_name = "NAME")]
    pub prefix_as: Option<String>,

    /// Add a column with this name: true if a prefix matches, else false
    #[arg(long, value_name = "NAME")]
    pub flag: Option<String>,

    /// Add the state of the matched route by these VRPs; may be repeated
    ///
    /// The state is 'valid', 'invalid (asn)', 'invalid (length)' or 'not found', of the matched
    /// prefix with the origin in the column --origin. See 'longmatch rov --help'.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub vrps: Vec<PathBuf>,

    /// The column with the origin AS [default: origin_as or asn]
    #[arg(long, value_name = "COLUMN", requires = "vrps", add = columns())]
    pub origin: Option<String>,

    /// The name of the added state
    #[arg(long, value_name = "NAME", requires = "vrps", default_value = "rov")]
    pub rov_as: String,

    /// Add VALUE in place of an empty cell (in JSON of null)
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub default: Option<String>,

    /// Print only lines with an address that matches
    ///
    /// Columns are added only with --add, --as, --prefix-as, --vrps or --flag.
    #[arg(long = "match", conflicts_with = "no_match")]
    pub matching: bool,

    /// Print only lines without an address that matches
    #[arg(long)]
    pub no_match: bool,

    /// With --match or --no-match, print only the number of lines
    #[arg(long, conflicts_with = "output")]
    pub count: bool,

    /// Stop at the first missing or bad address
    #[arg(long)]
    pub strict: bool,

    /// Delimiter of cells: comma, tab, semicolon, bar, space or a character
    ///
    /// By default the delimiter that a first line 'sep=;' gives, or else the delimiter that
    /// divides the header into the columns of --column. With 'space', several spaces count as
    /// one. If tabs separate the cells, quotation marks are ordinary characters.
    #[arg(short, long, value_name = "DELIMITER", requires = "column", add = delimiters(), verbatim_doc_comment)]
    pub delimiter: Option<Delimiter>,

    /// The first row of CSV is data
    ///
    /// Give columns by number. By default the first row is a header if its cells in these
    /// columns are not addresses.
    #[arg(long, requires = "column", verbatim_doc_comment)]
    pub no_header: bool,

    /// Write to FILE, compressed by its name (.gz, .bz2, .zst, .xz)
    ///
    /// Lines stay text under any other name. For input in Parquet or Arrow the name gives the
    /// format: .parquet, .arrow or .arrows (a stream). FILE appears, or is replaced, when the
    /// output is complete. If the input never ends, write '> FILE' instead.
    #[arg(short, long, value_name = "FILE", verbatim_doc_comment)]
    pub output: Option<PathBuf>,

    /// Compress the output: none, gzip, bzip2, zstd, xz
    ///
    /// Parquet keeps the compression of the input, or has none, gzip or zstd; Arrow has none or
    /// zstd.
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub compress: Option<Compression>,

    /// Threads [default: one for each CPU]
    #[arg(long, value_name = "N", value_parser = super::values::threads)]
    pub threads: Option<usize>,

    /// Bytes of a block; for tests.
    #[arg(long, hide = true, default_value_t = 1 << 20)]
    pub block: usize,
}

/// Compression of the output.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// None
    None,
    /// gzip
    #[value(alias = "gz")]
    Gzip,
    /// bzip2
    #[value(alias = "bz2")]
    Bzip2,
    /// Zstandard
    #[value(alias = "zst")]
    Zstd,
    /// xz
    Xz,
}

impl AnnotateArgs {
    /// Returns the inputs: the files, else standard input.
    pub fn inputs(&self) -> Vec<PathBuf> {
        if self.files.is_empty() { vec!["-".into()] } else { self.files.clone() }
    }

    /// Returns the options with the names of their lists.
    pub fn with_names(mut self) -> Self {
        for list in [&mut self.column, &mut self.field, &mut self.add, &mut self.names] {
            *list = names(list);
        }
        self
    }

    /// Returns whether only some lines are printed.
    pub fn filters(&self) -> bool {
        self.matching || self.no_match
    }

    /// Returns whether anything is added to lines.
    pub fn adds(&self) -> bool {
        let some = self.prefix_as.is_some() || self.flag.is_some() || !self.vrps.is_empty();
        !self.filters() || some || !self.add.is_empty() || !self.names.is_empty()
    }

    /// Returns whether the tables are files that can be read again.
    pub fn can_reload(&self) -> bool {
        let mut tables = self.routes.iter().chain(&self.tables).chain(&self.vrps).peekable();
        tables.peek().is_some()
            && tables.all(|path| file(path).is_file())
            && self.read.joined().all(|path| file(path).is_file())
    }

    /// Returns how to compress the output: by the option, else by the file's name.
    pub fn codec(&self) -> Option<Codec> {
        match self.compress {
            Some(Compression::None) => None,
            Some(Compression::Gzip) => Some(Codec::Gzip),
            Some(Compression::Bzip2) => Some(Codec::Bzip2),
            Some(Compression::Zstd) => Some(Codec::Zstd),
            Some(Compression::Xz) => Some(Codec::Xz),
            None => self.codec_of_name(),
        }
    }

    /// Returns the compression that the output's name means.
    pub fn codec_of_name(&self) -> Option<Codec> {
        match self.output.as_ref()?.extension()?.to_str()? {
            "gz" => Some(Codec::Gzip),
            "bz2" => Some(Codec::Bzip2),
            "zst" | "zstd" => Some(Codec::Zstd),
            "xz" => Some(Codec::Xz),
            _ => None,
        }
    }
}
