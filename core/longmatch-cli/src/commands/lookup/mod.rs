//! `longmatch lookup`: the matching prefixes of addresses and prefixes, with their values.
//!
//! Addresses are answered from the routes, and after many of them from a compiled table
//! ([`routes`]); with `--table` from the mapped file, without either from the default table. Standard
//! input is answered block by block in threads ([`stream`]).

mod answer;
mod query;
mod routes;
mod stream;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use longmatch::IpPrefix;
use longmatch::table::PrefixData;
use longmatch_feed::{DataLoader, printable};

use self::answer::{Answered, Answerer, QueryCounts, Source};
use self::query::{Query, Rules};
use crate::args::LookupArgs;
use crate::error::{Advice, CliError, Outcome, Status};
use crate::families::Families;
use crate::output::{Out, plural, warn};
use crate::paths::{display_name, one_stdin};
use crate::reports::print_report;
use crate::{default_table, lists, prefix_data, table_file};

/// What to answer: an argument of the command.
enum ParsedArgument<'a> {
    One(Query<'a>),
    Stdin,
}

/// Runs the command.
///
/// # Errors
/// If a query is invalid and not skipped, or the prefixes cannot be loaded. Earlier queries have
/// been answered.
pub fn run(args: &LookupArgs) -> Outcome {
    let rules = Rules::new(args);
    let mut arguments = QueryCounts::default();
    let parsed = parsed(args, rules, &mut arguments)?;
    let families = families(&parsed, args);
    let answerer = Arc::new(Answerer::new(source(args, families)?, args)?);
    if args.routes.files.is_empty() && args.routes.table.is_none() {
        default_table::notice();
    }
    let mut out = Out::new();
    if args.header || args.csv {
        out.write_all(&answerer.header())?;
    }
    let mut lines = QueryCounts::default();
    for parsed in &parsed {
        match parsed {
            ParsedArgument::One(query) => {
                let mut answered = Answered::default();
                answerer.answer(&[*query], &mut answered);
                out.write_all(&answered.text)?;
                arguments.add(answered.counts);
            }
            ParsedArgument::Stdin => lines = stream::answer(&answerer, &mut out)?,
        }
    }
    out.flush()?;
    print_skipped("arguments", "argument", &arguments);
    print_skipped("standard input", "line", &lines);
    Ok(Status::ok_if(args.exit_zero || arguments.unmatched + lines.unmatched == 0))
}

/// Prints the number of skipped texts on standard error.
fn print_skipped(place: &str, noun: &str, counts: &QueryCounts) {
    if let Some((number, problem)) = &counts.first_skipped {
        let skipped = plural(counts.skipped, noun);
        let first = printable(problem);
        warn(format_args!("{place}: {skipped} skipped, first {noun} {number}: {first}"));
    }
}

/// Parses the arguments. All queries are checked before the routes are loaded.
fn parsed<'a>(
    args: &'a LookupArgs,
    rules: Rules,
    counts: &mut QueryCounts,
) -> Result<Vec<ParsedArgument<'a>>, CliError> {
    one_stdin(args.queries.iter().map(Path::new).chain(args.routes.files.iter().map(|it| &**it)))?;
    let mut parsed = Vec::new();
    for (number, text) in (1..).zip(&args.queries) {
        match rules.query(text.trim_ascii().as_bytes()) {
            _ if text == "-" => parsed.push(ParsedArgument::Stdin),
            Ok(query) => parsed.push(ParsedArgument::One(query)),
            Err(problem) if rules.skip_invalid => counts.skip(number, problem),
            Err(problem) => return Err(CliError::new(printable(&problem))),
        }
    }
    Ok(parsed)
}

/// Returns the families of the parsed queries: no others need to be loaded.
fn families(parsed: &[ParsedArgument<'_>], args: &LookupArgs) -> Families {
    let mut families = Families::default();
    for parsed in parsed {
        match parsed {
            ParsedArgument::Stdin => return args.families.into(),
            ParsedArgument::One((_, prefix)) => match prefix.unmapped() {
                IpPrefix::V4(_) => families.ipv4 = true,
                IpPrefix::V6(_) => families.ipv6 = true,
            },
        }
    }
    families
}

/// Loads what queries are answered from.
fn source(args: &LookupArgs, families: Families) -> Result<Source, CliError> {
    let mut options = args.routes.clone();
    if options.files.is_empty() {
        // It is for the queries: tables have no host bits.
        options.read.rows.mask = false;
    }
    if let Some(path) = &options.table {
        return Ok(Source::File(table_file::open(path, options.trust, options.read.of_files())?));
    }
    if options.files.is_empty() {
        table_file::require_routes(options.read.of_files(), default_table::NAME)?;
        return Ok(Source::File(default_table::open()?));
    }
    let data = match lists::of(&options.files)? {
        Some(lists) => lists::load(&lists, &options.read.options())?,
        None => load(args, families)?,
    };
    let columns = data.columns().to_vec();
    Ok(Source::Data(routes::RouteAnswers::new(data.into_table()), columns))
}

/// Loads the files of the command line. Prints the chosen peers and warnings on standard error.
fn load(args: &LookupArgs, families: Families) -> Result<PrefixData, CliError> {
    let mut options = args.routes.read.options();
    options.default_family = args.families.only();
    let advice = Advice { lenient: !options.lenient, families: true };
    let mut loader = DataLoader::new(options);
    for path in &args.routes.files {
        let report = prefix_data::load(&mut loader, path, advice)?;
        print_report(&display_name(path), &report, families);
    }
    let data = prefix_data::finish(loader, advice)?;
    let (ipv4, ipv6) = (data.table().ipv4(), data.table().ipv6());
    let usable = families.ipv4 && !ipv4.is_empty() || families.ipv6 && !ipv6.is_empty();
    if !data.table().is_empty() && !usable {
        warn("--routes: all prefixes are of the other address family");
    }
    Ok(data)
}
