//! `longmatch rov`: the state of routes by the VRPs of the RPKI.

use std::io::Write;
use std::path::PathBuf;

use longmatch::IpPrefix;
use longmatch::rov::{InvalidReason, Validity, VrpSet};
use longmatch_feed::{Duplicates, Options, Sink, SinkError};
use serde::Serialize;

use crate::args::{RovArgs, RovState};
use crate::cells::{Style, write_prefix};
use crate::error::{Advice, CliError, Outcome, Status};
use crate::families::Families;
use crate::input::load;
use crate::output::{Out, plural, thousands, warn};
use crate::paths::{display_name, one_stdin};
use crate::reports::{print_format, print_report};
use crate::vrps;

/// Runs the command.
///
/// # Errors
/// If the VRPs or the routes cannot be read, or standard output not be written.
pub fn run(args: &RovArgs) -> Outcome {
    let stdin = [PathBuf::from("-")];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    one_stdin(files.iter().chain(&args.vrps))?;
    let options = options(args)?;
    let vrps = vrps::load(&args.vrps)?;
    let counts = StateCounts::default();
    let mut states =
        States { vrps, args, out: Out::new(), text: Vec::new(), counts, failure: None };
    if args.csv {
        states.out.write_all(b"prefix,asn,state,reason\n")?;
    }
    for path in files {
        let result = load(path, &options, &mut states);
        if let Some(failure) = states.failure.take() {
            return Err(failure);
        }
        let advice = Advice { lenient: !options.lenient, families: true };
        let report = result.map_err(|error| CliError::load(&error, advice))?;
        let name = display_name(path);
        if !report.format.has_routes() {
            print_format(&name, &report);
        }
        print_report(&name, &report, args.families.into());
    }
    states.out.flush()?;
    states.summary();
    let failed = args.fail_on.is_some_and(|state| states.counts.of(state) > 0);
    Ok(Status::ok_if(!failed))
}

/// The options with which the routes are read.
fn options(args: &RovArgs) -> Result<Options, CliError> {
    let rows = &args.read.rows;
    if rows.value.is_some() || rows.duplicates.is_some() {
        let option = if rows.value.is_some() { "--value" } else { "--duplicates" };
        let problem = "every route is printed with its origin AS: leave it out";
        return Err(CliError::input(option, problem));
    }
    let mut options = args.read.options();
    options.prefer_origin = true;
    options.duplicates = Duplicates::All;
    options.default_family = args.families.only();
    options.columns = args.origin.as_ref().map(|name| {
        let Ok(column) = name.parse();
        vec![column]
    });
    Ok(options)
}

/// Numbers of routes.
#[derive(Clone, Copy, Default)]
struct StateCounts {
    valid: u64,
    invalid_asn: u64,
    invalid_length: u64,
    not_found: u64,
    /// Routes without an origin, in any state.
    without_origin: u64,
}

impl StateCounts {
    fn of(&self, state: RovState) -> u64 {
        match state {
            RovState::Valid => self.valid,
            RovState::Invalid => self.invalid_asn + self.invalid_length,
            RovState::NotFound => self.not_found,
        }
    }
}

/// Receives routes, and prints their states.
struct States<'a> {
    vrps: VrpSet,
    args: &'a RovArgs,
    out: Out,
    /// A line.
    text: Vec<u8>,
    counts: StateCounts,
    /// The error of writing, which ends the reading.
    failure: Option<CliError>,
}

/// A route as JSON.
#[derive(Serialize)]
struct RovLine {
    prefix: String,
    asn: Option<u32>,
    state: &'static str,
    reason: Option<&'static str>,
}

impl Sink for States<'_> {
    fn announce(&mut self, prefix: IpPrefix, origin: &str) -> Result<(), SinkError> {
        if !Families::from(self.args.families).keep(prefix) {
            return Ok(());
        }
        let origin = vrps::origin(origin)?;
        let state = self.vrps.validate(prefix, origin);
        let counts = &mut self.counts;
        let (kind, count) = match state {
            Validity::Valid => (RovState::Valid, &mut counts.valid),
            Validity::Invalid(InvalidReason::Asn) => (RovState::Invalid, &mut counts.invalid_asn),
            Validity::Invalid(InvalidReason::Length) => {
                (RovState::Invalid, &mut counts.invalid_length)
            }
            Validity::NotFound => (RovState::NotFound, &mut counts.not_found),
        };
        *count += 1;
        counts.without_origin += u64::from(origin.is_none());
        if self.args.only.is_some_and(|only| only != kind) {
            return Ok(());
        }
        self.print(prefix, origin, state).map_err(|failure| {
            self.failure = Some(failure);
            "standard output cannot be written".into()
        })
    }

    fn withdraw(&mut self, _: IpPrefix) -> Result<(), SinkError> {
        Ok(())
    }
}

impl States<'_> {
    /// Prints a route.
    fn print(
        &mut self,
        prefix: IpPrefix,
        asn: Option<u32>,
        validity: Validity,
    ) -> Result<(), CliError> {
        let (state, reason) = match validity {
            Validity::Valid => ("valid", None),
            Validity::Invalid(InvalidReason::Asn) => ("invalid", Some("asn")),
            Validity::Invalid(InvalidReason::Length) => ("invalid", Some("length")),
            Validity::NotFound => ("not-found", None),
        };
        if self.args.json {
            return self.out.json(&RovLine { prefix: prefix.to_string(), asn, state, reason });
        }
        self.text.clear();
        write_prefix(prefix, Style::Printable, &mut self.text);
        self.out.write_all(&self.text)?;
        match (self.args.csv, asn) {
            (true, Some(asn)) => writeln!(self.out, ",{asn},{state},{}", reason.unwrap_or(""))?,
            (true, None) => writeln!(self.out, ",,{state},{}", reason.unwrap_or(""))?,
            (false, Some(asn)) => writeln!(self.out, "\t{asn}\t{validity}")?,
            (false, None) => writeln!(self.out, "\t-\t{validity}")?,
        }
        Ok(())
    }

    /// Prints the numbers of routes on standard error.
    fn summary(&self) {
        let StateCounts { invalid_asn, invalid_length, without_origin, .. } = self.counts;
        let [valid, invalid, not_found] =
            [RovState::Valid, RovState::Invalid, RovState::NotFound].map(|it| self.counts.of(it));
        let (vrps, routes) = (self.vrps.len() as u64, valid + invalid + not_found);
        let [vrps, routes] = [(vrps, "VRP"), (routes, "route")].map(|(n, noun)| plural(n, noun));
        let [valid, invalid, not_found, asn, length] =
            [valid, invalid, not_found, invalid_asn, invalid_length].map(thousands);
        warn(format_args!(
            "{vrps}, {routes}: {valid} valid, {invalid} invalid ({asn} asn, {length} length), \
             {not_found} not found"
        ));
        if without_origin > 0 {
            let routes = plural(without_origin, "route");
            warn(format_args!(
                "{routes} without an origin: the AS path is empty or ends in a set or confederation"
            ));
        }
    }
}
