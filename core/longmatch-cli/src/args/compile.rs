//! Options of `longmatch compile`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use longmatch::Answers;
use longmatch::table::ColumnType;
use longmatch_feed::{KeptColumn, Options};

use super::candidates::{column_types, columns};
use super::export::{MmdbArgs, RangeArgs};
use super::source::{FamilyArgs, ReadArgs};
use super::values::names;

/// `longmatch compile`.
#[derive(Args, Debug)]
pub struct CompileArgs {
    /// Load prefixes from FILE, '-' for standard input; may be repeated
    ///
    /// The format is detected (see --format), and so is compression with gzip, bzip2, zstd or xz.
    /// A zip or tar archive is read if it has one file of data; 'FILE:MEMBER' names one of
    /// several. The table has the columns of all files; rows of later files replace rows of
    /// earlier files. If each file is given as NAME=FILE, the table has the column 'list' only:
    /// the names of all files that have the address. Without --routes the default table of
    /// lookup is compiled.
    #[arg(short = 'r', long = "routes", value_name = "FILE", verbatim_doc_comment)]
    pub files: Vec<PathBuf>,

    /// How the files are read.
    #[command(flatten)]
    pub read: ReadArgs,

    /// Write the table to FILE, which it replaces at once
    ///
    /// A name that ends in .mmdb makes a MaxMind DB, which many other programs read.
    #[arg(short, long, value_name = "FILE", verbatim_doc_comment)]
    pub output: PathBuf,

    /// The columns.
    #[command(flatten)]
    pub columns: ColumnArgs,

    /// What lookups answer: routes, values
    ///
    /// routes  the prefix and its values
    /// values  the values; lookups are faster, except lookups that print the prefix
    #[arg(
        long,
        value_enum,
        value_name = "ANSWERS",
        default_value = "routes",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub answers: AnswersArg,

    /// The options of MaxMind DBs.
    #[command(flatten, next_help_heading = "MaxMind DB (-o FILE.mmdb)")]
    pub mmdb: MmdbArgs,

    /// The options of ranges.
    #[command(flatten, next_help_heading = "Ranges (-o FILE.csv, -o FILE.parquet)")]
    pub ranges: RangeArgs,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The columns of prefix data.
#[derive(Args, Clone, Debug, Default)]
pub struct ColumnArgs {
    /// Columns to keep, by name or number: 'asn,country' [default: all]
    ///
    /// The result has them in this order. 'column=name' renames a column: '3=asn'. An empty list
    /// keeps the prefixes only. A name with a comma is in quotation marks: '"city, state",asn'.
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 1, add = columns(), verbatim_doc_comment)]
    pub columns: Option<Vec<String>>,

    /// Types of columns: 'asn=u64,score=f64' [default: the narrowest]
    ///
    /// string, u64, i64 or f64. Columns of integers also take AS numbers such as AS64500.
    #[arg(
        long = "types",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = column_type,
        add = column_types(),
        verbatim_doc_comment
    )]
    pub types: Vec<(String, ColumnType)>,
}

impl ColumnArgs {
    /// Returns the options with which files are read.
    pub fn options(&self, read: &ReadArgs, families: FamilyArgs) -> Options {
        let mut options = read.options();
        let kept = |columns: &Vec<String>| {
            let columns = names(columns).into_iter().filter(|column| !column.is_empty());
            let kept = |column: String| {
                let Ok(kept) = column.parse::<KeptColumn>();
                kept
            };
            columns.map(kept).collect()
        };
        options.columns = self.columns.as_ref().map(kept);
        options.types = self.types.clone();
        options.default_family = families.only();
        options
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
