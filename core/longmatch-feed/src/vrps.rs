//! VRPs as validators of the RPKI write them: the JSON and the CSV of Routinator, rpki-client and others.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::path::Path;

use longmatch::IpPrefix;
use longmatch::rov::{Vrp, VrpSet};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::archive::{Job, archive_member};
use crate::data::rows::{CellSyntax, RowError, Rows};
use crate::decompress::explain;
use crate::error::{FeedError, Location, Problem, shorten};
use crate::option_values::Delimiter;
use crate::options::Options;
use crate::source::{Opened, Source, open, whole};
use crate::text::BOM;

/// Bytes at the beginning of an input that show JSON.
const HEAD_LEN: usize = 512;
/// The names of the columns of CSV, in lower case without punctuation.
const COLUMNS: [&[&str]; 3] = [&["asn"], &["ipprefix", "prefix"], &["maxlength"]];

/// Reads the VRPs of a file into a set; returns their number, with duplicates.
///
/// The file may be compressed, or a member of an archive, `FILE:MEMBER`. See [`read_vrps`].
///
/// # Errors
/// As [`read_vrps`], or if the file cannot be opened.
pub fn read_vrps_path(
    path: impl AsRef<Path>,
    options: &Options,
    vrps: &mut VrpSet,
) -> Result<u64, FeedError> {
    let path = path.as_ref();
    let (file, member) =
        archive_member(path).map_or((path, None), |(file, member)| (file, Some(member)));
    let opened = Job::new(Source::Path(file), member, options).open();
    let read = opened.and_then(|opened| read(opened, options, vrps));
    read.map_err(|error| error.named(Some(&path.display().to_string())))
}

/// Reads the VRPs of a stream into a set; returns their number, with duplicates.
///
/// JSON has them in the member `roas`: objects with `asn` (a number, or a text such as `AS64500`), `prefix` and `maxLength`;
/// CSV has the columns `ASN`, `IP Prefix` and `Max Length`, by the names in its first row. Other members and columns are
/// ignored. Without a greatest length that of the prefix counts. Of `options` only the limits count: JSON
/// is in memory while it is read, at most [`Limits::spool`](crate::Limits::spool) bytes.
///
/// ```
/// use longmatch::rov::VrpSet;
/// use longmatch_feed::{Options, read_vrps};
///
/// let json = br#"{"roas": [{"asn": "AS64500", "prefix": "192.0.2.0/24", "maxLength": 24, "ta": "ripe"}]}"#;
/// let csv = b"ASN,IP Prefix,Max Length,Trust Anchor\nAS64500,192.0.2.0/24,24,ripe\n";
/// let mut vrps = VrpSet::new();
/// for file in [&json[..], csv] {
///     assert_eq!(read_vrps(file, None, &Options::default(), &mut vrps)?, 1);
/// }
/// assert_eq!(vrps.len(), 1);
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
///
/// # Errors
/// If the stream cannot be read, has another form, or any VRP is damaged; the error has its line, or its place in
/// `roas`. The set then has the VRPs before it: drop it, as without some of the VRPs valid routes are not.
pub fn read_vrps(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
    vrps: &mut VrpSet,
) -> Result<u64, FeedError> {
    let opened = open(Box::new(reader), options.limits);
    let read = opened.and_then(|opened| read(opened, options, vrps));
    read.map_err(|error| error.named(name))
}

/// Parses an AS number, `AS64500` or `64500`.
///
/// ```
/// use longmatch_feed::parse_asn;
/// assert_eq!(parse_asn("AS64500"), Some(64500));
/// assert_eq!(parse_asn("4294967296"), None);
/// ```
#[must_use]
pub fn parse_asn(text: &str) -> Option<u32> {
    let digits = ["AS", "as"].into_iter().find_map(|prefix| text.strip_prefix(prefix));
    let digits = digits.unwrap_or(text);
    // The parser of the standard library takes a sign.
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn read(mut opened: Opened<'_>, options: &Options, vrps: &mut VrpSet) -> Result<u64, FeedError> {
    opened.input.fill(HEAD_LEN);
    let head = opened.input.window();
    let head = head.strip_prefix(BOM).unwrap_or(head);
    match head.trim_ascii_start().first() {
        Some(b'{') => json(&whole(&mut opened, options.limits.spool)?, vrps),
        _ => csv(opened, options, vrps),
    }
}

/// Parses the AS number of a VRP.
fn asn(text: &str) -> Result<u32, Problem> {
    parse_asn(text).ok_or_else(|| Problem::Asn { text: shorten(text) })
}

/// Adds a VRP.
fn add(asn: u32, prefix: &str, length: Option<u8>, vrps: &mut VrpSet) -> Result<(), Problem> {
    let parsed = prefix.parse::<IpPrefix>();
    let prefix = parsed.map_err(|error| Problem::Prefix { text: shorten(prefix), error })?;
    let vrp = Vrp::new(prefix, length.unwrap_or(prefix.len()), asn)
        .map_err(|error| Problem::Vrp(error.into()))?;
    vrps.insert(vrp).map_err(|full| Problem::Sink(full.into()))?;
    Ok(())
}

fn csv(opened: Opened<'_>, options: &Options, vrps: &mut VrpSet) -> Result<u64, FeedError> {
    let cells = CellSyntax::Delimited(Delimiter::Byte(b','));
    let mut rows = Rows::new(opened.input, cells, false, options.limits.row);
    let mut header: Option<([usize; 3], usize)> = None;
    let mut read = 0;
    loop {
        match rows.next() {
            Ok(true) => {}
            Ok(false) if header.is_none() => return Err(FeedError::whole(Problem::VrpColumns)),
            Ok(false) => return Ok(read),
            Err(RowError::Row(error)) => return Err(error),
            Err(RowError::Io(error)) => {
                let problem = explain(error, opened.codec);
                return Err(FeedError::byte(rows.lines().input().received(), problem));
            }
        }
        let Some((columns, width)) = header else {
            header = Some((columns_of(&rows).map_err(|error| rows.error(error))?, rows.len()));
            continue;
        };
        if rows.len() != width {
            let problem = Problem::Width { cells: rows.len(), columns: width };
            return Err(rows.error(problem));
        }
        row(columns.map(|at| rows.cell(at)), vrps).map_err(|error| rows.error(error))?;
        read += 1;
    }
}

/// The places of the columns in the first row.
fn columns_of(rows: &Rows<'_>) -> Result<[usize; 3], Problem> {
    let plain = |at| -> String {
        let name = rows.cell(at).chars().filter(char::is_ascii_alphanumeric);
        name.map(|c| c.to_ascii_lowercase()).collect()
    };
    let names: Vec<_> = (0..rows.len()).map(plain).collect();
    let place = |known: &[&str]| names.iter().position(|name| known.contains(&&**name));
    match COLUMNS.map(place) {
        [Some(asn), Some(prefix), Some(length)] => Ok([asn, prefix, length]),
        _ => Err(Problem::VrpColumns),
    }
}

/// Adds the VRP of a row.
fn row([system, prefix, length]: [&str; 3], vrps: &mut VrpSet) -> Result<(), Problem> {
    let system = asn(system)?;
    let parsed = length.parse().ok().filter(|_| !length.starts_with('+'));
    match (length, parsed) {
        ("", _) => add(system, prefix, None, vrps),
        (text, None) => Err(Problem::MaxLength { text: shorten(text) }),
        (_, length) => add(system, prefix, length, vrps),
    }
}

fn json(bytes: &[u8], vrps: &mut VrpSet) -> Result<u64, FeedError> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let mut document = Document { vrps, read: 0, place: Location::Whole, problem: None };
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let read = parser.deserialize_map(&mut document).and_then(|()| parser.end());
    let Document { read: count, place, problem, .. } = document;
    match (read, problem) {
        (Ok(()), _) => Ok(count),
        (Err(_), Some(problem)) => Err(FeedError::at(place, problem)),
        (Err(error), None) => Err(FeedError::at(place, Problem::Json { text: error.to_string() })),
    }
}

/// The document while it is read.
struct Document<'v> {
    vrps: &'v mut VrpSet,
    read: u64,
    /// The element that is read, while one is.
    place: Location,
    /// The problem of an element that is JSON of the right form.
    problem: Option<Problem>,
}

impl<'de> Visitor<'de> for &mut Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the array 'roas'")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut found = false;
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match (&*name, found) {
                ("roas", true) => return Err(A::Error::custom("two members 'roas'")),
                ("roas", false) => map.next_value_seed(Roas(self))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            found |= name == "roas";
        }
        found.then_some(()).ok_or_else(|| A::Error::custom("no member 'roas' has the VRPs"))
    }
}

/// Reads the array.
struct Roas<'d, 'v>(&'d mut Document<'v>);

impl<'de> DeserializeSeed<'de> for Roas<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, array: D) -> Result<(), D::Error> {
        array.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Roas<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of VRPs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self(document) = self;
        document.place = Location::Element(0);
        while let Some(roa) = seq.next_element::<Roa<'de>>()? {
            let asn = match &roa.asn {
                Asn::Number(asn) => Ok(*asn),
                Asn::Text(text) => asn(text),
            };
            let vrp = asn.and_then(|asn| add(asn, &roa.prefix, roa.max_length, document.vrps));
            if let Err(problem) = vrp {
                document.problem = Some(problem);
                return Err(A::Error::custom("an element is damaged"));
            }
            document.read += 1;
            document.place = Location::Element(document.read);
        }
        document.place = Location::Whole;
        Ok(())
    }
}

/// An element of the array.
#[derive(Deserialize)]
struct Roa<'a> {
    #[serde(borrow)]
    asn: Asn<'a>,
    prefix: Cow<'a, str>,
    #[serde(rename = "maxLength")]
    max_length: Option<u8>,
}

/// An AS number.
#[derive(Deserialize)]
#[serde(untagged, expecting = "'asn' is not an AS number: expected 64500 or \"AS64500\"")]
enum Asn<'a> {
    Number(u32),
    #[serde(borrow)]
    Text(Cow<'a, str>),
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"metadata": {"roas": [1], "generated": 1}, "roas": [
        {"asn": "AS64500", "prefix": "192.0.2.0/24", "maxLength": 25, "ta": "ripe"},
        {"asn": 64501, "prefix": "2001:db8::\/32", "maxLength": 48, "ta": "arin", "expires": 7},
        {"ta": "apnic", "prefix": "10.0.0.0/8", "asn": "64502"}
    ], "bgpsec_keys": []}"#;
    const CSV: &str = "ASN,IP Prefix,Max Length,Trust Anchor,Expires\nAS64500,192.0.2.0/24,25,ripe,1\n\
        AS64501,2001:db8::/32,48,\"ri\npe\",2\nAS64502,10.0.0.0/8,,apnic,3\n";
    /// Routinator's `csvext` and `csvcompat`.
    const QUOTED: &str = "\"URI\",\"ASN\",\"IP Prefix\",\"Max Length\"\r\n\"N/A\",\"AS64502\",\"10.0.0.0/8\",\"8\"\r\n\
        \"N/A\",\"AS64500\",\"192.0.2.0/24\",\"25\"\r\n\"N/A\",\"AS64501\",\"2001:db8::/32\",\"48\"\r\n";

    fn read(file: &[u8]) -> Result<(u64, VrpSet), FeedError> {
        let mut vrps = VrpSet::new();
        let read = read_vrps(file, Some("vrps"), &Options::default(), &mut vrps)?;
        Ok((read, vrps))
    }

    #[test]
    fn files_of_the_validators_have_the_same_vrps() {
        let expected =
            ["10.0.0.0/8-8 AS64502", "192.0.2.0/24-25 AS64500", "2001:db8::/32-48 AS64501"];
        for file in [JSON, CSV, QUOTED, &format!("\u{feff}{JSON}"), &format!("\u{feff}{CSV}")] {
            let (read, vrps) = read(file.as_bytes()).unwrap();
            assert_eq!(read, 3);
            assert!(vrps.iter().map(|vrp| vrp.to_string()).eq(expected), "{file}");
        }
    }

    #[test]
    fn no_beginning_of_json_passes_for_the_whole() {
        for len in 0..JSON.len() {
            assert!(read(&JSON.as_bytes()[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn damage_has_its_place() {
        let header = "ASN,IP Prefix,Max Length\n";
        let roas =
            |roa: &str| format!("{{\"roas\":[{{\"asn\":1,\"prefix\":\"10.0.0.0/8\"}},{roa}]}}");
        let lines = [
            (
                "AS1,10.0.0.0/8,7",
                "line 2: the max length 7 of 10.0.0.0/8 is not in the range 8 to 32",
            ),
            ("AS1,10.0.0.0/8,256", "line 2: '256' is not a max length"),
            ("AS+1,10.0.0.0/8,8", "line 2: 'AS+1' is not an AS number"),
            ("AS1,10.0.0.1/8,8", "line 2: '10.0.0.1/8' is not a prefix"),
            ("\nAS1,10.0.0.0/8", "line 3: the row has 2 cells for 3 columns"),
        ];
        let elements = [
            (
                r#"{"asn":1,"prefix":"10.0.0.0/8","maxLength":33}"#,
                "the max length 33 of 10.0.0.0/8",
            ),
            (r#"{"asn":1,"prefix":"10.0.0.0/33"}"#, "'10.0.0.0/33' is not a prefix"),
            (r#"{"asn":"ASx","prefix":"10.0.0.0/8"}"#, "'ASx' is not an AS number"),
            (
                r#"{"asn":4294967296,"prefix":"::/0"}"#,
                "the JSON cannot be read: 'asn' is not an AS",
            ),
            (r#"{"prefix":"10.0.0.0/8"}"#, "the JSON cannot be read: missing field `asn`"),
            ("7", "the JSON cannot be read: invalid type: integer `7`"),
        ];
        let documents = [
            ("AS1,10.0.0.0/8,8\n", "line 1: these are no VRPs"),
            ("", "these are no VRPs"),
            (r#"{"roas":[],"roas":[]}"#, "the JSON cannot be read: two members 'roas'"),
            (r#"{"routes":[]}"#, "the JSON cannot be read: no member 'roas'"),
            (r#"{"roas":[]} x"#, "the JSON cannot be read: trailing characters"),
        ];
        let lines = lines.map(|(line, text)| (format!("{header}{line}\n"), text.to_owned()));
        let elements = elements.map(|(roa, text)| (roas(roa), format!("roas[1]: {text}")));
        let documents = documents.map(|(file, text)| (file.to_owned(), text.to_owned()));
        for (file, expected) in lines.into_iter().chain(elements).chain(documents) {
            let error = read(file.as_bytes()).map(drop).unwrap_err().to_string();
            assert!(error.starts_with(&format!("vrps: {expected}")), "{error}\n{expected}");
        }
    }
}
