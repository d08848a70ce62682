//! Damaged and hostile inputs: errors, never panics; and large ones.

use longmatch::file::FileSpec;
use longmatch_feed::{Format, Options, RouteValue, load_data_bytes};

use crate::common::{self, Random, mrt};
use crate::listings::LISTINGS;
use crate::show::load_with;
use crate::writer::{Database, Value};

/// A small input of each format.
fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let csv = "network,asn,name\n10.0.0.0/8,1,\"a, \"\"b\"\"\nc\"\n2001:db8::/32,2,\u{e9}\n";
    let ranges = "start;end;n\n1.0.0.0;1.0.0.255;1\n16777472;16777727;2.5\n";
    let toasn =
        "1.0.0.0\t1.0.0.255\t13335\tUS\tX Y\n2001:db8::\t2001:db8::9\t0\tNone\tNot routed\n";
    let list = "; c\n10.0.0.0/8 ; x\n192.0.2.1\n10.0.0.0 - 10.0.0.9\n";
    let pyasn = "; c\n1.0.0.0/24\t13335\n1.0.4.0/22\t56203\n";
    let caida = "1.0.0.0\t24\t13335\n1.0.4.0\t22\t1_2,3\n";
    let dump = "TABLE_DUMP2|1|B|192.0.2.1|1|10.0.0.0/8|1 {2}|IGP|192.0.2.1|0|0||NAG||\n";
    let record = Value::Map(vec![
        ("a", Value::Map(vec![("b", Value::Text("x")), ("c", Value::F64(0.5))])),
        ("d", Value::Array(vec![Value::U32(7)])),
    ]);
    let mmdb = Database::new(6, 24)
        .network("10.0.0.0/8", &record)
        .network("2001:db8::/32", &Value::Map(vec![("a", Value::Bool(true))]))
        .alias("::ffff:0:0/96")
        .to_bytes();
    let (data, _) = load_data_bytes(csv.as_bytes(), None, &Options::default()).unwrap();
    let compiled = FileSpec::default().to_bytes(&data).unwrap();
    let mut all: Vec<(&str, Vec<u8>)> = LISTINGS[..12]
        .iter()
        .map(|(format, text, ..)| (*format, text.as_bytes().to_vec()))
        .collect();
    all.extend([
        ("csv", csv.into()),
        ("ranges", ranges.into()),
        ("iptoasn", toasn.into()),
        ("list", list.into()),
        ("pyasn", pyasn.into()),
        ("pfx2as", caida.into()),
        ("routes", b"10.0.0.0/8 192.0.2.1\nA ::/0 x\nW 10.0.0.0/8\n".to_vec()),
        ("bgpdump", dump.repeat(2).into()),
        ("mrt", mrt::everything()),
        ("mmdb", mmdb),
        ("compiled", compiled),
    ]);
    all
}

/// Loads an input in all ways that read it differently. Only panics can fail.
fn try_all(bytes: &[u8]) {
    for lenient in [false, true] {
        let mut options = Options::default();
        options.lenient = lenient;
        let _ = load_with(bytes, &options);
        options.value = Some(RouteValue::OriginAs);
        let _ = load_with(bytes, &options);
        let _ = common::load_with(bytes, &options);
    }
}

#[test]
fn the_inputs_load() {
    for (name, bytes) in inputs() {
        let loaded = load_with(&bytes, &Options::default());
        let (data, _) = loaded.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!data.table().is_empty(), "{name}");
    }
}

#[test]
fn truncations_do_not_panic() {
    for (_, bytes) in inputs() {
        // A compiled table is of pages; the middle of them is zeros.
        let step = if bytes.len() > 20_000 { 997 } else { 1 };
        (0..bytes.len()).step_by(step).for_each(|end| try_all(&bytes[..end]));
    }
}

/// Mutations of each format: bytes replaced, removed, doubled, and spliced with other formats.
#[test]
fn mutations_do_not_panic() {
    mutations(12, 1_000);
}

#[test]
#[ignore = "takes a minute; run by cargo xtask prove"]
fn many_mutations_do_not_panic() {
    mutations(13, 20_000);
}

fn mutations(seed: u64, count: usize) {
    let mut random = Random(seed);
    let all = inputs();
    for (name, bytes) in &all {
        // The library's own tests damage compiled tables, whose checksums refuse nearly all of it.
        let count = if *name == "compiled" { count / 50 } else { count };
        for _ in 0..count {
            let mut bytes = bytes.clone();
            for _ in 0..1 + random.below(4) {
                mutate(&mut bytes, &mut random, &all);
            }
            let mut options = Options::default();
            options.lenient = random.below(2) == 0;
            if random.below(4) == 0 {
                options.value = Some(RouteValue::OriginAs);
            }
            let _ = load_with(&bytes, &options);
            let _ = common::load_with(&bytes, &options);
        }
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random, all: &[(&str, Vec<u8>)]) {
    const BYTES: &[u8] = b"\"\"\n\n,;\t|#-/.:0129 \0\xff\xef";
    let at = random.below(bytes.len() + 1);
    match random.below(6) {
        0 if at < bytes.len() => bytes[at] = random.next() as u8,
        1 if at < bytes.len() => bytes[at] = BYTES[random.below(BYTES.len())],
        2 => bytes.insert(at, BYTES[random.below(BYTES.len())]),
        3 => drop(bytes.drain(at..(at + random.below(9)).min(bytes.len()))),
        4 => {
            let again = bytes[at..(at + random.below(20)).min(bytes.len())].to_vec();
            drop(bytes.splice(at..at, again));
        }
        _ => {
            let other = &all[random.below(all.len() - 1)].1;
            let from = random.below(other.len());
            let part = other[from..(from + random.below(30)).min(other.len())].to_vec();
            drop(bytes.splice(at..at, part));
        }
    }
}

/// Every format as every other one, by name.
#[test]
fn named_formats_do_not_panic() {
    use Format::{Compiled, Csv, List, Mmdb, Pfx2As, PyAsn, Routes};
    for format in [Csv, List, PyAsn, Pfx2As, Routes, Mmdb, Compiled] {
        for (name, bytes) in inputs() {
            let mut options = Options::default();
            options.format = format;
            let right = matches!(
                (name, format),
                ("mmdb", Mmdb)
                    | ("compiled", Compiled)
                    | ("csv", Csv)
                    | ("list", List)
                    | ("pyasn", PyAsn)
                    | ("pfx2as", Pfx2As)
                    | ("routes" | "bgpdump" | "mrt", Routes)
            );
            let loaded = load_with(&bytes, &options);
            assert!(loaded.is_ok() || !right, "{name} as {format}: {}", loaded.unwrap_err());
        }
    }
}

#[test]
fn trees_with_many_paths_are_refused() {
    // Nodes whose both children are the next node: 2^32 paths.
    let mut file = Database::new(4, 24).network("255.255.255.255/32", &Value::U32(1)).to_bytes();
    for node in 0..31 {
        let next = u32::to_be_bytes(node as u32 + 1);
        file[6 * node..][..3].copy_from_slice(&next[1..]);
        file[6 * node + 3..][..3].copy_from_slice(&next[1..]);
    }
    let error = load_with(&file, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("a node of the search tree has several parents"), "{error}");
}

#[test]
fn endless_rows_are_refused_in_bounded_memory() {
    let mut text = b"network,a\n10.0.0.0/8,\"".to_vec();
    text.resize(8 << 20, b'x');
    let error = load_with(&text, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("line 2: the line is longer than 1048576 bytes"), "{error}");
}

/// Many rows: 20,000, or a million in release builds.
#[test]
fn many_rows() {
    let count: u32 = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
    let mut text = "network,asn,name\n".to_owned();
    for n in 0..count {
        let [_, a, b, c] = (n << 4).to_be_bytes();
        text += &format!("10.{a}.{b}.{c}/28,{},site {}\n", n % 1000, n % 1000);
    }
    let (data, report) = load_with(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!((data.table().len(), report.rows), (count as usize, u64::from(count)));
    assert_eq!(data.table().next_hops().len(), 1000, "equal rows are stored once");
}
