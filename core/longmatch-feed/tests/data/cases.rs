//! Inputs, and the results of each way to read them: the files of `testdata/read`, whose README describes their form.
//! `LONGMATCH_WRITE=1` writes the results again.

use std::fs;
use std::path::{Path, PathBuf};

use longmatch::table::ColumnType;
use longmatch_feed::{
    Codec, FeedError, IpFamily, ListEntries, Options, Report, compress, read_list,
};

use crate::{common, show};

const FILES: [&str; 10] = [
    "text", "ip_route", "list", "listings", "formats", "columns", "ranges", "routes", "unclear",
    "json",
];

/// An input and its results: the lines of a file, as they are.
#[derive(Default)]
pub struct Case {
    head: String,
    input: String,
    /// Commands, each with its result.
    runs: Vec<[String; 2]>,
}

fn testdata(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata")).join(path)
}

fn cases_of(name: &str) -> Vec<Case> {
    let path = testdata(&format!("read/{name}.txt"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut cases = Vec::<Case>::new();
    for line in text.split_inclusive('\n') {
        if let Some(head) = line.strip_prefix("==== ") {
            cases.push(Case { head: head.to_owned(), ..Case::default() });
            continue;
        }
        let case = cases.last_mut().expect("a file begins with a case");
        match (line.strip_prefix("---- "), case.runs.last_mut()) {
            (Some(command), _) => case.runs.push([command.to_owned(), String::new()]),
            (None, Some([_, result])) => result.push_str(line),
            (None, None) => case.input.push_str(line),
        }
    }
    cases
}

/// The inputs of all cases.
pub fn inputs() -> Vec<Vec<u8>> {
    FILES.iter().flat_map(|name| cases_of(name)).map(|case| case.bytes()).collect()
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        if let Some((_, path)) = self.head.split_once(" < ") {
            assert!(self.input.is_empty(), "{}", self.head);
            return fs::read(testdata(path.trim_end())).unwrap();
        }
        unescape(&self.input)
    }

    fn result(&self, command: &str) -> String {
        let (bytes, mut words) = (self.bytes(), command.split_ascii_whitespace());
        let reader = words.next().unwrap();
        let (flags, words): (Vec<_>, Vec<_>) =
            words.partition(|word| matches!(*word, "each" | "dressed"));
        let options = options(words.into_iter());
        if flags.contains(&"each") {
            let result = |line| {
                let (rows, report) = read(reader, line, &options);
                let said = report.lines().filter(|line| !line.starts_with('='));
                rows.lines().chain(said).collect::<Vec<_>>().join(" | ") + "\n"
            };
            return bytes.split_inclusive(|byte| *byte == b'\n').map(result).collect();
        }
        let (rows, report) = read(reader, &bytes, &options);
        for bytes in if flags.contains(&"dressed") { dresses(&bytes) } else { Vec::new() } {
            assert_eq!(read(reader, &bytes, &options).0, rows, "{}", bytes.escape_ascii());
        }
        rows + &report
    }
}

#[test]
fn inputs_have_their_results() {
    assert_eq!(
        fs::read_dir(testdata("read")).unwrap().count(),
        FILES.len() + 1,
        "files and README"
    );
    let write = std::env::var_os("LONGMATCH_WRITE").is_some();
    for name in FILES {
        let (mut cases, mut file) = (cases_of(name), String::new());
        for case in &mut cases {
            assert!(!case.runs.is_empty(), "{name}: {}", case.head);
            file += &format!("==== {}{}", case.head, case.input);
            for [command, expected] in &case.runs {
                let result = case.result(command);
                assert!(write || result == *expected, "{name}: {}{command}{result}", case.head);
                file += &format!("---- {command}{result}");
            }
        }
        if write {
            fs::write(testdata(&format!("read/{name}.txt")), file).unwrap();
        }
    }
}

/// The same text with a byte-order mark, line ends of Windows and comments before it, and compressed. JSON has no comments.
fn dresses(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text = str::from_utf8(bytes).unwrap();
    let mut all =
        vec![format!("\u{feff}{text}"), format!("\u{feff}{}", text.replace('\n', "\r\n"))];
    if !text.starts_with(['{', '[']) {
        all.push(format!("# made\n\n# today\n{text}"));
    }
    let mut all: Vec<_> = all.into_iter().map(String::into_bytes).collect();
    all.extend([Codec::Gzip, Codec::Xz].map(|codec| compress(codec, bytes).unwrap()));
    all
}

fn options<'a>(words: impl Iterator<Item = &'a str>) -> Options {
    let mut options = Options::default();
    let list =
        |text: &str| text.split(',').map(str::to_owned).filter(|it| !it.is_empty()).collect();
    for word in words {
        let word = String::from_utf8(unescape(word)).unwrap();
        let (key, value) = word.split_once('=').unwrap_or((&word, ""));
        match key {
            "lenient" => options.lenient = true,
            "mask" => options.mask_host_bits = true,
            "format" => options.format = value.parse().unwrap(),
            "delimiter" => options.delimiter = Some(value.parse().unwrap()),
            "header" => options.header = Some(value == "true"),
            "prefix" => options.prefix = list(value),
            "columns" => {
                let columns: Vec<String> = list(value);
                options.columns = Some(columns.iter().map(|it| it.parse().unwrap()).collect());
            }
            "type" => {
                let (column, ty) = value.split_once(':').unwrap();
                let types = [ColumnType::U64, ColumnType::String];
                let ty = types.into_iter().find(|it| it.to_string() == ty).unwrap();
                options.types.push((column.to_owned(), ty));
            }
            "value" => options.value = Some(value.parse().unwrap()),
            "peer" => options.peer = Some(value.parse().unwrap()),
            "table" => options.ip_table = value.parse().unwrap(),
            "family" => {
                options.default_family =
                    Some(if value == "4" { IpFamily::V4 } else { IpFamily::V6 });
            }
            "limit-record" => options.limits.record = value.parse().unwrap(),
            "limit-row" => options.limits.row = value.parse().unwrap(),
            "limit-rows" => options.limits.rows = value.parse().unwrap(),
            "limit-columns" => options.limits.columns = value.parse().unwrap(),
            _ => panic!("no option {word}"),
        }
    }
    options
}

/// The rows, and the report.
fn read(reader: &str, bytes: &[u8], options: &Options) -> (String, String) {
    let result = match reader {
        "routes" => common::load_with(bytes, options).map(|(routes, it)| (routes.lines(), it)),
        "data" => show::load_with(bytes, options).map(|(data, report)| {
            let mut lines = vec![format!("({})", show::columns(&data))];
            lines.extend(show::rows(&data));
            (lines, report)
        }),
        "set" => read_list(bytes, None, options, ListEntries::default()).map(|(set, report)| {
            let ipv4 = set.ipv4.iter().map(ToString::to_string);
            (ipv4.chain(set.ipv6.iter().map(ToString::to_string)).collect(), report)
        }),
        _ => panic!("no reader {reader}"),
    };
    let lines = |lines: Vec<String>| lines.iter().map(|line| escape(line) + "\n").collect();
    match result.map_err(|error: FeedError| vec![format!("error: {error}")]) {
        Ok((rows, report)) => (lines(rows), lines(said(&report))),
        Err(error) => (lines(error), String::new()),
    }
}

/// The format, the counts that are not 0, the peers, the warnings and the first damage.
fn said(report: &Report) -> Vec<String> {
    let debug = format!("{report:#?}");
    let fields = debug.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
    let counts = fields.filter(|(name, value)| {
        let count = value.trim_end_matches(',').parse::<u64>();
        !name.starts_with(' ') && !name.ends_with("bytes") && count.is_ok_and(|it| it > 0)
    });
    let counts: String = counts.map(|(name, count)| format!(" {name}: {count}")).collect();
    let mut lines = vec![format!("= {}:{}", report.read_as, counts.trim_end_matches(','))];
    for (at, peer) in report.peers.iter().enumerate() {
        let chosen = [report.chosen.ipv4, report.chosen.ipv6].map(|it| u8::from(it == Some(at)));
        let routes = [peer.ipv4_routes, peer.ipv6_routes];
        lines.push(format!("= peer {} AS{} {routes:?} {chosen:?}", peer.addr, peer.asn));
    }
    lines.extend(report.warnings().iter().map(|warning| format!("! {warning}")));
    lines.extend(report.first_damage.iter().map(|error| format!("! first: {error}")));
    lines
}

/// A line as it is in the files: with `\` before control characters, and before a space at the end.
fn escape(line: &str) -> String {
    let mut text = String::new();
    for c in line.chars() {
        match c {
            '\\' => text += r"\\",
            c if c.is_control() => text.extend(c.escape_default()),
            c => text.push(c),
        }
    }
    text.strip_suffix(' ').map_or(text.clone(), |start| format!(r"{start}\x20"))
}

/// The bytes of a text with `\t`, `\r`, `\xNN` and `\\`; `\` at the end of a line takes its line end away.
fn unescape(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        match if byte == b'\\' { rest.next() } else { None } {
            None => bytes.push(byte),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'x') => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            Some(b'\n') => {}
            Some(other) => bytes.push(other),
        }
    }
    bytes
}
