//! Damaged and hostile inputs: errors, never panics; and large ones.

use longmatch::file::FileSpec;
use longmatch_feed::{Format, Options, RouteValue};

use crate::cases;
use crate::common::{self, Random};
use crate::show::load_with;
use crate::writer::{Database, Value};

/// The inputs of all cases, a small MaxMind DB and a compiled table.
fn inputs() -> Vec<Vec<u8>> {
    let record = Value::Map(vec![
        ("a", Value::Map(vec![("b", Value::Text("x")), ("c", Value::F64(0.5))])),
        ("d", Value::Array(vec![Value::U32(7)])),
    ]);
    let mmdb = Database::new(6, 24)
        .network("10.0.0.0/8", &record)
        .network("2001:db8::/32", &Value::Map(vec![("a", Value::Bool(true))]))
        .alias("::ffff:0:0/96")
        .to_bytes();
    let (data, _) = load_with(b"10.0.0.0/8,1\n2001:db8::/32,x\n", &Options::default()).unwrap();
    let mut all = cases::inputs();
    all.extend([mmdb, FileSpec::default().to_bytes(&data).unwrap()]);
    all
}

/// Loads an input with columns and as routes, in one of four ways. Only panics can fail.
fn load(bytes: &[u8], way: usize) {
    let mut options = Options::default();
    options.lenient = way & 1 > 0;
    options.value = (way & 2 > 0).then_some(RouteValue::OriginAs);
    let _ = load_with(bytes, &options);
    let _ = common::load_with(bytes, &options);
}

#[test]
fn truncations_do_not_panic() {
    for bytes in inputs() {
        // A compiled table is of pages; the middle of them is zeros.
        let step = if bytes.len() > 20_000 { 997 } else { 1 };
        (0..bytes.len()).step_by(step).for_each(|end| load(&bytes[..end], end));
    }
}

/// Mutations of the inputs: bytes replaced, removed, doubled, and spliced with other inputs.
#[test]
fn mutations_do_not_panic() {
    mutations(12, 20_000);
}

#[test]
#[ignore = "takes a minute; run by cargo xtask prove"]
fn many_mutations_do_not_panic() {
    mutations(13, 500_000);
}

fn mutations(seed: u64, count: usize) {
    let (mut random, all) = (Random(seed), inputs());
    for _ in 0..count {
        let mut bytes = all[random.below(all.len())].clone();
        for _ in 0..1 + random.below(4) {
            mutate(&mut bytes, &mut random, &all);
        }
        load(&bytes, random.below(4));
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random, all: &[Vec<u8>]) {
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
            let other = &all[random.below(all.len() - 1)];
            let from = random.below(other.len() + 1);
            let part = other[from..(from + random.below(30)).min(other.len())].to_vec();
            drop(bytes.splice(at..at, part));
        }
    }
}

/// Every input as every format, by name.
#[test]
fn named_formats_do_not_panic() {
    for info in Format::all() {
        let format = info.format;
        let mut options = Options::default();
        options.format = format;
        let count = inputs().iter().filter(|bytes| load_with(bytes, &options).is_ok()).count();
        assert!(count > 0, "no input is {format}");
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
