//! Options of `longmatch compile`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use longmatch::Answers;
use longmatch::table::ColumnType;
use longmatch_feed::{
    DataFormat, DataOptions, Delimiter, IpTable, KeptColumn, PeerSelector, RouteValue,
};

use super::FamilyArgs;

/// `longmatch compile`.
#[derive(Args, Debug)]
pub struct CompileArgs {
    /// Load prefixes from FILE, '-' for standard input; may be repeated
    ///
    /// CSV, TSV or other text with columns, JSON, lists of prefixes, address ranges, MaxMind DB,
    /// and all other formats of 'lookup --routes'; plain or compressed with gzip, bzip2, zstd or
    /// xz. The format is detected from the content. Later rows replace earlier ones; the table
    /// has the columns of all files. By default the default table of lookup is taken.
    #[arg(short = 'r', long = "routes", value_name = "FILE", verbatim_doc_comment)]
    pub files: Vec<PathBuf>,

    /// Write the table to FILE, which it replaces at once
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Columns to keep, by name or number: 'asn,country' [default: all]
    ///
    /// The table has them in this order. 'column=name' renames a column: '3=asn'. An empty
    /// list makes a set of prefixes.
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 1, verbatim_doc_comment)]
    pub columns: Option<Vec<String>>,

    /// Types of columns: 'asn=u64,score=f64' [default: the narrowest]
    ///
    /// string, u64, i64 or f64. Columns of integers also take AS numbers such as AS64500.
    #[arg(
        long = "types",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = column_type,
        verbatim_doc_comment
    )]
    pub types: Vec<(String, ColumnType)>,

    /// The column of the prefixes, by name or number [default: detected]
    ///
    /// Two columns, 'start,end', are the first and the last address of ranges, or an address and
    /// its prefix length or netmask.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', verbatim_doc_comment)]
    pub prefix_column: Vec<String>,

    /// The format of the files, such as csv [default: detected]
    ///
    /// csv, tsv, list, pyasn, pfx2as, texts, listing, json, routes, mmdb or lm
    #[arg(long, value_name = "FORMAT", default_value = "auto", hide_default_value = true)]
    pub format: DataFormat,

    /// comma, tab, semicolon, bar, space or a character
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<Delimiter>,

    /// Whether the first row has names: yes, no [default: detected]
    #[arg(long, value_name = "WHETHER", hide_possible_values = true)]
    pub header: Option<YesNo>,

    /// The value of routes: next-hop, origin-as, as-path, peer, communities
    ///
    /// By default the origin AS, the autonomous system in which the AS path ends, of MRT and
    /// 'bgpdump -m'; of other routes the next hop, which is all they have.
    #[arg(long, value_name = "VALUE", verbatim_doc_comment)]
    pub value: Option<RouteValue>,

    /// What lookups answer: routes, values
    ///
    /// routes  the prefix and its values
    /// values  the values; lookups are faster, those that print the prefix are slower
    #[arg(
        long,
        value_enum,
        value_name = "ANSWERS",
        default_value = "routes",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub answers: AnswersArg,

    /// Take the routes of this peer: its address, AS64500, or its index
    #[arg(long, value_name = "IP|ASn|INDEX")]
    pub peer: Option<PeerSelector>,

    /// Take this table, by name or number, of 'ip route' [default: main]
    #[arg(long, value_name = "TABLE")]
    pub ip_table: Option<IpTable>,

    /// Load the undamaged part of damaged files, instead of refusing them
    #[arg(long)]
    pub lenient: bool,

    /// Clear the host bits of prefixes, instead of refusing such prefixes
    #[arg(long)]
    pub mask: bool,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl CompileArgs {
    /// Returns the options with which files are read.
    pub fn data_options(&self) -> DataOptions {
        let mut options = DataOptions::default();
        options.format = self.format;
        options.delimiter = self.delimiter;
        options.header = self.header.map(|header| header == YesNo::Yes);
        options.prefix = self.prefix_column.clone();
        let kept = |columns: &Vec<String>| {
            let columns = columns.iter().filter(|column| !column.is_empty());
            columns.map(|column| kept_column(column)).collect()
        };
        options.columns = self.columns.as_ref().map(kept);
        options.types = self.types.clone();
        options.value = self.value;
        options.input.peer = self.peer;
        options.input.ip_table = self.ip_table.clone().unwrap_or_default();
        options.input.lenient = self.lenient;
        options.input.mask_host_bits = self.mask;
        options.input.default_family = self.families.only();
        options
    }
}

fn kept_column(text: &str) -> KeptColumn {
    match text.parse() {
        Ok(column) => column,
        Err(never) => match never {},
    }
}

/// Parses `column=type`.
fn column_type(text: &str) -> Result<(String, ColumnType), &'static str> {
    let (name, ty) = text.rsplit_once('=').ok_or("expected 'column=type'")?;
    let ty = match ty {
        "string" => ColumnType::String,
        "u64" => ColumnType::U64,
        "i64" => ColumnType::I64,
        "f64" => ColumnType::F64,
        _ => return Err("the type is string, u64, i64 or f64"),
    };
    Ok((name.to_owned(), ty))
}

/// `--header`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum YesNo {
    /// There is a header.
    Yes,
    /// There is none.
    No,
}

/// `--answers`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswersArg {
    /// Routes.
    Routes,
    /// Values.
    Values,
}

impl From<AnswersArg> for Answers {
    fn from(answers: AnswersArg) -> Self {
        match answers {
            AnswersArg::Routes => Self::Routes,
            AnswersArg::Values => Self::Values,
        }
    }
}
