//! Reading of an input: open it, recognise its format, and pass its prefixes on.
//!
//! Routes need more than one pass: the peer is known only after the whole input was read. So a stream that cannot be
//! opened twice, such as standard input, is kept in memory, as compressed as it came, if it turns out to have routes or
//! a format that must be in memory anyway. Rows of text are read as they come.

use std::cell::RefCell;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use longmatch::IpPrefix;

use crate::archive::{self, Job};
use crate::data::join::Joins;
use crate::data::{self, Store, names};
use crate::error::{FeedError, Problem};
use crate::formats::Format;
use crate::list;
use crate::mrt;
use crate::options::Options;
use crate::recognise::{Found, recognise, recognise_text};
use crate::report::Report;
use crate::route_value::RouteValue;
use crate::sink::{Sink, SinkError};
use crate::source::{Opened, Source, open, open_input, whole};
use crate::text;

/// Receiver of the prefixes of an input.
pub(crate) enum To<'a> {
    /// Routes one after the other.
    Sink(&'a mut dyn Sink),
    /// Rows, or a set of addresses.
    Store(&'a mut Store),
}

/// Reads a file, which may be a pipe, or a member of an archive, `FILE:MEMBER`.
pub(crate) fn path(path: &Path, options: &Options, to: To<'_>) -> Result<Report, FeedError> {
    let name = path.display().to_string();
    let open = |error| FeedError::whole(Problem::Open(error)).named(Some(&name));
    let (path, member) =
        archive::archive_member(path).map_or((path, None), |(file, name)| (file, Some(name)));
    let file = open_input(path).map_err(|error| error.named(Some(&name)))?;
    // The bytes of a pipe can be read only once.
    match file.metadata().map_err(open)?.is_file() {
        true => source(Source::Path(path), member, Some(&name), options, to),
        false => stream(file, member, Some(&name), options, to),
    }
}

/// Reads a source that can be opened again.
pub(crate) fn source(
    source: Source<'_>,
    member: Option<&str>,
    name: Option<&str>,
    options: &Options,
    to: To<'_>,
) -> Result<Report, FeedError> {
    reported(name, options, |report| {
        let job = Job::new(source, member, options);
        let mut opened = job.open()?;
        report.codec = opened.codec;
        match recognise(&mut opened, &job)? {
            Found::Routes(format, has_paths) => {
                routes(&job, opened, (format, has_paths), to, report)
            }
            found => rows(opened, found, options, to, report),
        }
    })
}

/// Reads a stream.
pub(crate) fn reader(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
    to: To<'_>,
) -> Result<Report, FeedError> {
    stream(reader, None, name, options, to)
}

/// Reads a stream; an archive is kept in memory.
fn stream(
    reader: impl Read,
    member: Option<&str>,
    name: Option<&str>,
    options: &Options,
    to: To<'_>,
) -> Result<Report, FeedError> {
    let recording = Recording(Rc::new(RefCell::new((reader, Some(Vec::new())))));
    let limits = options.limits;
    let failed = |error: FeedError| match options.lenient && error.is_damage() {
        true => FeedError::nothing_read(1, error).named(name),
        false => error.named(name),
    };
    let mut opened = open(Box::new(recording.clone()), limits).map_err(failed)?;
    let found = match archive::is_archive(&mut opened) || member.is_some() {
        true => None,
        false => recognise_text(&mut opened, options).map_err(failed)?,
    };
    if let Some(found @ (Found::TextLayout(_) | Found::Whole(_))) = found {
        recording.0.borrow_mut().1 = None;
        return reported(name, options, |report| {
            report.codec = opened.codec;
            rows(opened, found, options, to, report)
        });
    }
    drop(opened);
    let (bytes, failure) = recording.rest(limits.spool);
    if bytes.len() as u64 > limits.spool {
        let problem = Problem::TooLarge { limit: limits.spool };
        return Err(FeedError::whole(problem).named(name));
    }
    let failure =
        failure.map(|error| FeedError::byte(bytes.len() as u64, Problem::Read(error)).named(name));
    if let Some(error) = failure {
        if !options.lenient {
            return Err(error);
        }
        let mut report = source(Source::Bytes(&bytes), member, name, options, to)?;
        report.cut_off = true;
        report.note_damage(error);
        report.refuse_damage_alone()?;
        return Ok(report);
    }
    source(Source::Bytes(&bytes), member, name, options, to)
}

/// A stream and the bytes that were read of it, as long as they may be needed again.
struct Recording<R>(Rc<RefCell<(R, Option<Vec<u8>>)>>);

impl<R> Clone for Recording<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: Read> Read for Recording<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let (reader, bytes) = &mut *self.0.borrow_mut();
        let n = reader.read(buf)?;
        if let Some(bytes) = bytes {
            bytes.extend_from_slice(&buf[..n]);
        }
        Ok(n)
    }
}

impl<R: Read> Recording<R> {
    /// All bytes of the stream, at most one more than the limit, and the error that ended it.
    fn rest(self, limit: u64) -> (Vec<u8>, Option<io::Error>) {
        let (reader, bytes) = &mut *self.0.borrow_mut();
        let mut bytes = bytes.take().unwrap_or_default();
        let more = limit.saturating_add(1).saturating_sub(bytes.len() as u64);
        let error = reader.take(more).read_to_end(&mut bytes).err();
        (bytes, error)
    }
}

/// Runs a load with an empty report, and returns the report. A lenient load ends where damage ends the
/// input.
fn reported(
    name: Option<&str>,
    options: &Options,
    load: impl FnOnce(&mut Report) -> Result<(), FeedError>,
) -> Result<Report, FeedError> {
    let mut report = Report { is_filtered: !options.filters.is_empty(), ..Report::default() };
    match load(&mut report) {
        Ok(()) => {}
        Err(error) if options.lenient && error.is_damage() => {
            report.cut_off = true;
            report.note_damage(error);
        }
        Err(error) => return Err(read_as(error, &report).named(name)),
    }
    let first = report.first_damage.take();
    report.first_damage = first.map(|error| read_as(error, &report).named(name));
    report.refuse_damage_alone()?;
    Ok(report)
}

/// Adds the recognised format to an error of rows.
fn read_as(error: FeedError, report: &Report) -> FeedError {
    use Problem::{Bomb, Compressed, Open, Read, Sink, TooLarge};
    let of_stream = matches!(
        error.problem,
        Open(_) | Read(_) | Compressed { .. } | Bomb { .. } | TooLarge { .. }
    );
    let of_rows = !of_stream
        && !matches!(error.problem, Sink(_))
        && !report.read_as.is_empty()
        && !report.format.has_routes();
    FeedError { read_as: of_rows.then(|| report.read_as.clone()), ..error }
}

/// Loads routes.
fn routes(
    job: &Job<'_>,
    opened: Opened<'_>,
    (format, has_paths): (Format, bool),
    to: To<'_>,
    report: &mut Report,
) -> Result<(), FeedError> {
    report.format = format;
    report.read_as = format!("routes ({format})");
    if !job.options.prefix.is_empty() {
        let error = Problem::FixedPrefix;
        return Err(FeedError::whole(error));
    }
    let default = match &to {
        To::Store(_) if has_paths => RouteValue::OriginAs,
        To::Sink(_) if has_paths && job.options.prefer_origin => RouteValue::OriginAs,
        _ => RouteValue::NextHop,
    };
    let value = job.options.value.unwrap_or(default);
    let mut names = data::routes::names(value);
    let joins = Joins::new(job.options, &mut names)?;
    // Routes of a sink have their next hop where no value is asked for; asking for one can be an error.
    let asked = match &to {
        To::Sink(_) if default == RouteValue::NextHop => job.options.value,
        _ => Some(value),
    };
    let options = Options { value: asked, ..job.options.clone() };
    let job = Job { options: &options, chosen: job.chosen.clone(), ..*job };
    let end = match to {
        To::Sink(sink) => {
            let mut sink = Filtered::new(sink, &names, joins, &options)?;
            pass(&job, opened, &mut sink, report)
        }
        To::Store(store) => {
            let mut routes =
                data::routes::RouteRows::new(store, &options, value, &names, joins.clone())?;
            let mut sink = Filtered::new(&mut routes, &names, joins, &options)?;
            let end = pass(&job, opened, &mut sink, report);
            report.unjoined = routes.unjoined();
            end
        }
    };
    report.rows = report.announced;
    report.rows_ipv6 = report.announced_ipv6;
    end.map_err(of_data)
}

/// Passes on the routes that have the cells that the options ask for.
struct Filtered<'a> {
    sink: &'a mut dyn Sink,
    joins: Joins,
    filters: Vec<(usize, String)>,
}

impl<'a> Filtered<'a> {
    fn new(
        sink: &'a mut dyn Sink,
        names: &[String],
        joins: Joins,
        options: &Options,
    ) -> Result<Self, FeedError> {
        let filters = names::positions(&options.filters, names).map_err(FeedError::whole)?;
        Ok(Self { sink, joins, filters })
    }

    /// Whether a route has the cells.
    fn has(&mut self, prefix: IpPrefix, next_hop: &str) -> bool {
        let own = |at| data::routes::cell(at, prefix, next_hop);
        self.joins.find(own);
        self.filters.iter().all(|(at, cell)| match self.joins.is_joined(*at) {
            true => self.joins.cell(*at) == cell,
            false => own(*at) == **cell,
        })
    }
}

impl Sink for Filtered<'_> {
    #[inline]
    fn announce(&mut self, prefix: IpPrefix, next_hop: &str) -> Result<(), SinkError> {
        if !self.filters.is_empty() && !self.has(prefix, next_hop) {
            return Ok(());
        }
        self.sink.announce(prefix, next_hop)
    }

    fn withdraw(&mut self, prefix: IpPrefix) -> Result<(), SinkError> {
        self.sink.withdraw(prefix)
    }
}

/// The error of the store, if a sink has passed one on.
fn of_data(error: FeedError) -> FeedError {
    let FeedError { problem: Problem::Sink(problem), .. } = error else { return error };
    let problem = problem.downcast().map_or_else(Problem::Sink, |problem| *problem);
    FeedError { problem, ..error }
}

fn pass(
    job: &Job<'_>,
    opened: Opened<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    match report.format {
        Format::Mrt => mrt::load(job, opened, sink, report),
        Format::IpJson => text::load_json(job, opened, sink, report),
        _ => text::load(job, opened, sink, report),
    }
}

/// Loads rows, for a sink of routes through a store.
fn rows(
    opened: Opened<'_>,
    found: Found,
    options: &Options,
    to: To<'_>,
    report: &mut Report,
) -> Result<(), FeedError> {
    match to {
        To::Store(store) => into_store(opened, found, options, store, report),
        To::Sink(sink) => {
            let mut store = Store::default();
            let end = into_store(opened, found, options, &mut store, report);
            match end {
                // The rows before the damage count.
                Err(error) if !(options.lenient && error.is_damage()) => return Err(error),
                _ => {}
            }
            report.columns = store.columns().iter().map(|column| column.name.clone()).collect();
            report.is_list = report.columns.is_empty();
            store.announce(sink, report)?;
            end
        }
    }
}

fn into_store(
    mut opened: Opened<'_>,
    found: Found,
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), FeedError> {
    store.begin_input(options.duplicates);
    let whole_format = match found {
        Found::TextLayout(layout) => {
            report.format = layout.format;
            report.read_as = layout.to_string();
            report.is_list = (0..layout.names.len()).all(|at| layout.key.has(at));
            // The fast path has no columns.
            let plain = options.filters.is_empty() && options.joins.is_empty();
            if store.is_set() && layout.is_list() && plain {
                return list::load(opened, layout.semicolons, options, store, report);
            }
            return data::text::load(opened, &layout, options, store, report);
        }
        Found::Whole(format) | Found::Routes(format, _) => format,
    };
    report.format = whole_format;
    report.read_as = whole_format.to_string();
    let bytes = whole(&mut opened, options.limits.spool)?;
    report.bytes = bytes.len() as u64;
    report.input_bytes = opened.taken.get();
    match whole_format {
        Format::Json => data::json::load(&bytes, options, store, report),
        Format::Mmdb => data::mmdb::load(&bytes, options, store, report),
        _ => data::compiled::load(bytes, options, store, report),
    }
}
