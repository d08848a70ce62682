//! `longmatch rov`: the state of routes by the VRPs of the RPKI.

use std::io::Write;
use std::path::Path;

use longmatch::IpPrefix;
use longmatch::rov::{InvalidReason, Validity, VrpSet};
use longmatch_feed::{Duplicates, Options, Sink, SinkError};

use crate::args::{RovArgs, RovState};
use crate::cells::{Style, write_prefix};
use crate::error::{Advice, CliError, Outcome, Status};
use crate::families::Families;
use crate::input::load;
use crate::output::{Out, plural, thousands, warn};
use crate::paths::{display_name, one_stdin};
use crate::reports::{print_format, print_report};
use crate::vrps;

/// Bytes that are collected before they are written.
const BUFFER: usize = 32 << 10;

/// Runs the command.
///
/// # Errors
/// If the VRPs or the routes cannot be read, or standard output not be written.
pub fn run(args: &RovArgs) -> Outcome {
    let stdin = [Path::new("-")];
    let files: Vec<&Path> = match args.files.is_empty() {
        true => stdin.to_vec(),
        false => args.files.iter().map(|path| &**path).collect(),
    };
    one_stdin(files.iter().copied().chain(args.vrps.iter().map(|path| &**path)))?;
    let options = options(args)?;
    let mut states = States {
        vrps: vrps::load(&args.vrps)?,
        args,
        out: Out::new(),
        text: Vec::new(),
        counts: Counts::default(),
        failure: None,
    };
    if args.csv {
        states.text.extend_from_slice(b"prefix,asn,state,reason\n");
    }
    let families = Families::from(args.families);
    for path in files {
        let result = load(path, &options, &mut states);
        if let Some(failure) = states.failure.take() {
            return Err(failure);
        }
        let advice = Advice { lenient: !options.lenient, families: true };
        let report = result.map_err(|error| {
            // What was printed is true.
            let _ = states.write();
            CliError::load(&error, advice)
        })?;
        let name = display_name(path);
        if !report.format.has_routes() {
            print_format(&name, &report);
        }
        print_report(&name, &report, families);
    }
    states.write()?;
    states.out.flush()?;
    let States { counts, vrps, .. } = states;
    counts.print(&vrps);
    Ok(Status::ok_if(args.fail_on.is_none_or(|state| counts.of(state) == 0)))
}

/// The options with which the routes are read.
fn options(args: &RovArgs) -> Result<Options, CliError> {
    let rows = &args.read.rows;
    for (given, option) in
        [(rows.value.is_some(), "--value"), (rows.duplicates.is_some(), "--duplicates")]
    {
        if given {
            let problem = "every route is printed with its origin AS: leave it out";
            return Err(CliError::input(option, problem));
        }
    }
    let mut options = args.read.options();
    options.prefer_origin = true;
    options.duplicates = Duplicates::All;
    options.default_family = args.families.only();
    options.columns = match &args.origin {
        None => None,
        Some(name) => {
            let Ok(column) = name.parse();
            Some(vec![column])
        }
    };
    Ok(options)
}

/// Numbers of routes.
#[derive(Clone, Copy, Default)]
struct Counts {
    valid: u64,
    invalid_asn: u64,
    invalid_length: u64,
    not_found: u64,
    /// Routes without an origin, in any state.
    without_origin: u64,
}

impl Counts {
    fn add(&mut self, state: Validity) {
        *match state {
            Validity::Valid => &mut self.valid,
            Validity::Invalid(InvalidReason::Asn) => &mut self.invalid_asn,
            Validity::Invalid(InvalidReason::Length) => &mut self.invalid_length,
            Validity::NotFound => &mut self.not_found,
        } += 1;
    }

    fn of(&self, state: RovState) -> u64 {
        match state {
            RovState::Valid => self.valid,
            RovState::Invalid => self.invalid_asn + self.invalid_length,
            RovState::NotFound => self.not_found,
        }
    }

    /// Prints the numbers on standard error.
    fn print(&self, vrps: &VrpSet) {
        let [valid, invalid, not_found] =
            [RovState::Valid, RovState::Invalid, RovState::NotFound].map(|state| self.of(state));
        let routes = plural(valid + invalid + not_found, "route");
        let [valid, invalid, not_found, asn, length] =
            [valid, invalid, not_found, self.invalid_asn, self.invalid_length].map(thousands);
        warn(format_args!(
            "{}, {routes}: {valid} valid, {invalid} invalid ({asn} asn, {length} length), {not_found} not found",
            plural(vrps.len() as u64, "VRP"),
        ));
        if self.without_origin > 0 {
            let routes = plural(self.without_origin, "route");
            warn(format_args!(
                "{routes} without an origin: the AS path is empty or ends in a set or confederation"
            ));
        }
    }
}

/// Receives routes, and prints their states.
struct States<'a> {
    vrps: VrpSet,
    args: &'a RovArgs,
    out: Out,
    text: Vec<u8>,
    counts: Counts,
    /// The error of writing, which ends the reading.
    failure: Option<CliError>,
}

impl Sink for States<'_> {
    fn announce(&mut self, prefix: IpPrefix, origin: &str) -> Result<(), SinkError> {
        if !Families::from(self.args.families).keep(prefix) {
            return Ok(());
        }
        let origin = vrps::origin(origin)?;
        let state = self.vrps.validate(prefix, origin);
        self.counts.add(state);
        self.counts.without_origin += u64::from(origin.is_none());
        if self.args.only.is_none_or(|only| only == named(state).0) {
            self.print(prefix, origin, state);
        }
        if self.text.len() < BUFFER {
            return Ok(());
        }
        self.write().map_err(|failure| {
            self.failure = Some(failure);
            "standard output cannot be written".into()
        })
    }

    fn withdraw(&mut self, _: IpPrefix) -> Result<(), SinkError> {
        Ok(())
    }
}

impl States<'_> {
    /// Prints a route. Writing to memory does not fail.
    fn print(&mut self, prefix: IpPrefix, origin: Option<u32>, state: Validity) {
        let (text, (_, name, reason)) = (&mut self.text, named(state));
        if self.args.json {
            text.extend_from_slice(b"{\"prefix\":");
            write_prefix(prefix, Style::Json, text);
            let _ = match origin {
                Some(asn) => write!(text, ",\"asn\":{asn}"),
                None => write!(text, ",\"asn\":null"),
            };
            let _ = write!(text, ",\"state\":\"{name}\",\"reason\":");
            let _ = match reason {
                Some(reason) => writeln!(text, "\"{reason}\"}}"),
                None => writeln!(text, "null}}"),
            };
            return;
        }
        write_prefix(prefix, Style::Printable, text);
        let (delimiter, none) = if self.args.csv { (',', "") } else { ('\t', "-") };
        let _ = match origin {
            Some(asn) => write!(text, "{delimiter}{asn}{delimiter}"),
            None => write!(text, "{delimiter}{none}{delimiter}"),
        };
        let _ = match (self.args.csv, reason) {
            (false, _) => writeln!(text, "{state}"),
            (true, Some(reason)) => writeln!(text, "{name},{reason}"),
            (true, None) => writeln!(text, "{name},"),
        };
    }

    /// Writes the text.
    fn write(&mut self) -> Result<(), CliError> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

/// A state without its reason, its name, and the reason.
fn named(state: Validity) -> (RovState, &'static str, Option<InvalidReason>) {
    match state {
        Validity::Valid => (RovState::Valid, "valid", None),
        Validity::Invalid(reason) => (RovState::Invalid, "invalid", Some(reason)),
        Validity::NotFound => (RovState::NotFound, "not-found", None),
    }
}
