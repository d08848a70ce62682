//! Parser of `ip -json route` output.
//!
//! The output is one array of routes, or several in sequence, such as one per family. The parser
//! reads one route at a time, which bounds the memory.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::Value;

use super::ip_route::{family_by_attribute, family_of, is_any_service, is_final, type_name};
use super::line::{Rules, target};
use super::lines::BOM;
use super::linux::{Hop, Hops, IpRoute, Linux, Preference, Target};
use super::output::Output;
use crate::archive::Job;
use crate::codec::Codec;
use crate::decompress::explain;
use crate::error::{FeedError, Location, Problem};
use crate::input::Input;
use crate::options::IpFamily;
use crate::report::Report;
use crate::sink::Sink;
use crate::source::Opened;

/// Loads all routes of an input.
pub(crate) fn load(
    job: &Job<'_>,
    opened: Opened<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    let options = job.options;
    let named = Linux::needs_named_tables(options) && tables_are_named(job)?;
    let mut linux = Linux::new(options, named);
    let rules =
        Rules { mask_host_bits: options.mask_host_bits, default_family: options.default_family };
    let mut out = Output::new(sink, report, options);
    let read = read(opened.input, options.limits.record, |value, offset| {
        let place = Location::Byte(offset);
        let wrong = |error| FeedError::at(place, error);
        let taken = JsonRoute::deserialize(value)
            .map_err(|error| wrong(Problem::JsonRoute { text: error.to_string() }))
            .and_then(|mut json| {
                let route = json.route(rules).map_err(wrong)?;
                linux.route(route, place, &mut out)
            });
        out.pass(taken)?;
        Ok(true)
    });
    let bytes = read.bytes;
    // No later line can reveal the family of the pending `default` routes, even if the input ends in damage.
    let settled = linux.end(&mut out);
    out.report.bytes = bytes;
    out.report.input_bytes = opened.taken.get();
    read.end(opened.codec)?;
    settled
}

/// Whether any route of the input names its table.
fn tables_are_named(job: &Job<'_>) -> Result<bool, FeedError> {
    let mut named = false;
    let opened = job.open()?;
    // The load repeats and reports any damage.
    let _ = read(opened.input, job.options.limits.record, |value, _| {
        named |= value.get("table").is_some();
        Ok(!named)
    });
    Ok(named)
}

/// A route in JSON. Unknown fields are ignored, as are unknown words of a line.
#[derive(Deserialize)]
struct JsonRoute {
    dst: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(flatten)]
    hop: JsonHop,
    #[serde(default)]
    nexthops: Vec<JsonHop>,
    metric: Option<u32>,
    table: Option<Value>,
    tos: Option<Value>,
    from: Option<Value>,
    pref: Option<String>,
    scope: Option<Value>,
    protocol: Option<Value>,
    prefsrc: Option<String>,
    expires: Option<Value>,
    error: Option<Value>,
    /// Text of [`JsonRoute::table`], which the [`IpRoute`] borrows.
    #[serde(skip)]
    table_text: Option<String>,
}

/// A next hop in JSON, of the route itself or in its `nexthops`.
#[derive(Deserialize)]
struct JsonHop {
    gateway: Option<String>,
    via: Option<JsonVia>,
    dev: Option<String>,
    #[serde(default = "one")]
    weight: u32,
    #[serde(default)]
    flags: Vec<String>,
}

fn one() -> u32 {
    1
}

/// A gateway of the other family.
#[derive(Deserialize)]
struct JsonVia {
    family: String,
    host: String,
}

/// Text of a string or a number.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl JsonHop {
    fn add_to<'a>(&'a self, hops: &mut Hops<&'a str>) {
        let gateway = self.gateway.as_deref().or(self.via.as_ref().map(|via| &*via.host));
        let dead = self.flags.iter().any(|flag| flag == "dead");
        hops.add(Hop { gateway, device: self.dev.as_deref(), weight: self.weight, dead });
        let family = match &self.via {
            Some(via) if via.family == "inet" => Some(IpFamily::V6),
            Some(via) if via.family == "inet6" => Some(IpFamily::V4),
            _ => self.gateway.as_deref().and_then(family_of),
        };
        hops.family = hops.family.or(family);
    }
}

impl JsonRoute {
    fn route(&mut self, rules: Rules) -> Result<IpRoute<&str>, Problem> {
        if self.from.is_some() {
            return Err(Problem::SourceRoute);
        }
        self.table_text = self.table.as_ref().map(text);
        let this = &*self;
        let target = match &*this.dst {
            "default" => Target::Default,
            text => Target::Prefix(target(text, rules)?),
        };
        let mut hops = Hops::default();
        this.hop.add_to(&mut hops);
        this.nexthops.iter().for_each(|hop| hop.add_to(&mut hops));
        let attributes = [
            ("pref", this.pref.clone()),
            ("src", this.prefsrc.clone()),
            ("scope", this.scope.as_ref().map(text)),
            ("proto", this.protocol.as_ref().map(text)),
            ("expires", this.expires.as_ref().map(text)),
            ("error", this.error.as_ref().map(text)),
        ];
        let shown = |(name, value): &(&str, Option<String>)| {
            value.as_ref().and_then(|value| family_by_attribute(name, value))
        };
        hops.family = hops.family.or_else(|| attributes.iter().find_map(shown));
        if let Some(kind) = this.kind.as_deref().map(type_name).filter(|kind| is_final(kind)) {
            hops = Hops::one(kind, hops.family);
        }
        if hops.all == 0 {
            return Err(Problem::MissingNextHop);
        }
        Ok(IpRoute {
            metric: this.metric,
            preference: Preference::parse(this.pref.as_deref().unwrap_or("")),
            table: this.table_text.as_deref(),
            service: this.tos.as_ref().is_some_and(|tos| !is_any_service(&text(tos))),
            hops,
            ..IpRoute::new(target)
        })
    }
}

/// Result of reading all arrays.
struct Ended {
    /// Bytes received from the stream.
    bytes: u64,
    end: Result<(), Failure>,
}

/// Reason for stopping before the end of the input.
enum Failure {
    /// The callback returned an error.
    Caller(FeedError),
    /// The stream failed.
    Stream(io::Error),
    /// The JSON is malformed.
    Json(FeedError),
}

impl Ended {
    fn end(self, codec: Option<Codec>) -> Result<(), FeedError> {
        match self.end {
            Ok(()) => Ok(()),
            Err(Failure::Caller(error) | Failure::Json(error)) => Err(error),
            Err(Failure::Stream(error)) => Err(FeedError::byte(self.bytes, explain(error, codec))),
        }
    }
}

/// Passes the elements of all arrays, each of at most `limit` bytes, to a callback.
///
/// The callback receives each element with its position in the stream, and stops the reading by
/// returning `false`.
fn read(
    mut input: Input<'_>,
    limit: usize,
    mut each: impl FnMut(Value, u64) -> Result<bool, FeedError>,
) -> Ended {
    if input.fill(BOM.len()) >= BOM.len() && input.window().starts_with(BOM) {
        input.consume(BOM.len());
    }
    let stream = Stream { limit, left: Cell::new(limit), offset: Cell::new(input.offset()) };
    let mut stop = None;
    let mut json = serde_json::Deserializer::from_reader(Window { input, stream: &stream });
    let end = loop {
        match json.end() {
            Ok(()) => break Ok(()),
            Err(error) if error.is_io() => break Err(error),
            // Another array follows.
            Err(_) => {}
        }
        let routes = RouteElements { stream: &stream, each: &mut each, stop: &mut stop };
        if let Err(error) = routes.deserialize(&mut json) {
            break Err(error);
        }
    };
    let end = match (stop, end) {
        (Some(Ok(())), _) | (None, Ok(())) => Ok(()),
        (Some(Err(error)), _) => Err(Failure::Caller(error)),
        (None, Err(error)) => Err(stream.failure(error)),
    };
    Ended { bytes: stream.offset.get(), end }
}

/// Position of the parser, and the bytes it may still read.
struct Stream {
    limit: usize,
    /// Bytes left to the current element.
    left: Cell<usize>,
    offset: Cell<u64>,
}

impl Stream {
    fn failure(&self, error: serde_json::Error) -> Failure {
        let line = Location::Line(error.line() as u64);
        let json = |text| Failure::Json(FeedError::at(line, Problem::Json { text }));
        if self.left.get() == 0 {
            return json(format!("a route is longer than {} bytes", self.limit));
        }
        if error.is_io() {
            return Failure::Stream(error.into());
        }
        let place = format!(" at line {} column {}", error.line(), error.column());
        let text = error.to_string();
        let text = text.strip_suffix(&place).unwrap_or(&text);
        json(format!("{text} (column {})", error.column()))
    }
}

/// Reader of an input for the JSON parser, with the limit on an element.
struct Window<'a, 's> {
    input: Input<'a>,
    stream: &'s Stream,
}

impl Read for Window<'_, '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.stream.left.get();
        if left == 0 {
            return Err(io::Error::other("too long"));
        }
        if self.input.fill(1) == 0 {
            return self.input.take_error().map_or(Ok(0), Err);
        }
        let window = self.input.window();
        let n = window.len().min(buf.len()).min(left);
        buf[..n].copy_from_slice(&window[..n]);
        self.input.consume(n);
        self.stream.left.set(left - n);
        self.stream.offset.set(self.input.offset());
        Ok(n)
    }
}

/// Visitor that passes the elements of one array to the callback.
struct RouteElements<'s, E> {
    stream: &'s Stream,
    each: &'s mut E,
    /// Set when the callback stops the reading.
    stop: &'s mut Option<Result<(), FeedError>>,
}

impl<'de, E: FnMut(Value, u64) -> Result<bool, FeedError>> DeserializeSeed<'de>
    for RouteElements<'_, E>
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de, E: FnMut(Value, u64) -> Result<bool, FeedError>> Visitor<'de> for RouteElements<'_, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of routes, as 'ip -json route' prints it")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        loop {
            let start = self.stream.offset.get();
            self.stream.left.set(self.stream.limit);
            let Some(element) = elements.next_element::<Value>()? else { return Ok(()) };
            let stop = match (self.each)(element, start) {
                Ok(true) => continue,
                Ok(false) => Ok(()),
                Err(error) => Err(error),
            };
            *self.stop = Some(stop);
            return Err(A::Error::custom("stopped"));
        }
    }
}
