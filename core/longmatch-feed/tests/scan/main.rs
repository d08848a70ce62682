//! The parsers of addresses and the scanners of rows and lines against slow references: on the corpora of the fuzz targets, on
//! mutations of these and on random text.

mod address_text;
#[path = "../common/mod.rs"]
mod common;
mod reference;

use std::fs;
use std::path::PathBuf;

use common::Random;
use longmatch_feed::scan::ndjson::{Field, Path, scan};
use reference::{check_words, compare_csv, compare_ndjson, compare_text};

/// The files of a corpus; there are some.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scan").join(target);
    let mut paths: Vec<_> =
        fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no corpus in {}", root.display());
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// The number of mutations and of random texts: more with `LONGMATCH_PROVE`.
fn cases() -> usize {
    if std::env::var_os("LONGMATCH_PROVE").is_some() { 2_000_000 } else { 20_000 }
}

/// The words of a text, separated by bars.
fn words(text: &str) -> Vec<&str> {
    text.split('|').collect()
}

impl Random {
    /// A text of some of the words.
    fn text(&mut self, words: &[&str], most: usize) -> Vec<u8> {
        let count = self.below(most);
        (0..count).flat_map(|_| words[self.below(words.len())].bytes()).collect()
    }

    /// A text with one byte or word changed, added or removed.
    fn mutated(&mut self, text: &[u8], words: &[&str]) -> Vec<u8> {
        let mut text = text.to_vec();
        let at = self.below(text.len() + 1);
        let until = (at + self.below(4)).min(text.len());
        let word = words[self.below(words.len())].bytes();
        match self.below(3) {
            0 => drop(text.splice(at..until, word)),
            1 => drop(text.splice(at..at, word)),
            _ => drop(text.drain(at..until)),
        }
        text
    }
}

/// Compares the corpus, its mutations and random texts of the words.
fn compare(target: &str, words: &[&str], most: usize, compare: impl Fn(&[u8])) {
    let mut random = Random(1);
    let corpus = corpus(target);
    corpus.iter().for_each(|text| compare(text));
    for _ in 0..cases() {
        let mut text = corpus[random.below(corpus.len())].clone();
        for _ in 0..=random.below(3) {
            text = random.mutated(&text, words);
        }
        compare(&text);
        compare(&random.text(words, most));
    }
}

#[test]
fn rows_of_delimited_text() {
    let words = words("\"|,|\n|\r\n|\r|\"\"|a|1.2.3.4|\t|;|,\"|\",|\"\n|\u{feff}| ");
    compare("csv", &words, 12, |text| {
        check_words(text);
        compare_csv(text, b',');
        compare_csv(text, b'\t');
    });
}

#[test]
fn fields_of_json_lines() {
    let words = words(concat!(
        r#"{|}|[|]|"|:|,| |\"|\\|\u0061|"a"|"b":|"ip":"::1"|"a":{|null|true|-1.5e3|{}|[1,{}]|"":|"\u0061.b":1|"#,
        r#""é":"\ud83d\ude00"|\|"#,
        "\t|\u{1}",
    ));
    compare("ndjson", &words, 14, compare_ndjson);
}

/// Random objects are valid, so that every one is compared.
#[test]
fn fields_of_valid_objects() {
    fn value(random: &mut Random, depth: usize, out: &mut String) {
        let spaces = ["", "", " ", "\t "];
        match random.below(if depth > 4 { 6 } else { 9 }) {
            0 => out.push_str("null"),
            1 => out.push_str("-12.5e-3"),
            2 => out.push_str("\"192.0.2.1\""),
            3 => out.push_str(r#""\u0031\"\\ } ] \n""#),
            4 => out.push_str("[]"),
            5 => out.push_str("false"),
            6 => {
                out.push('[');
                value(random, depth + 1, out);
                out.push_str(" ,");
                value(random, depth + 1, out);
                out.push(']');
            }
            _ => {
                out.push('{');
                let members = random.below(4);
                for i in 0..members {
                    out.push_str(if i > 0 { "," } else { "" });
                    out.push_str(spaces[random.below(4)]);
                    let keys = words(r#""a"|"b"|"c"|"ip"|"\u0061"|"a.b"|""|"\u00e9"|"é""#);
                    out.push_str(keys[random.below(keys.len())]);
                    out.push_str(spaces[random.below(4)]);
                    out.push(':');
                    out.push_str(spaces[random.below(4)]);
                    value(random, depth + 1, out);
                    out.push_str(spaces[random.below(4)]);
                }
                out.push('}');
            }
        }
    }
    let mut random = Random(7);
    let mut objects = 0;
    for _ in 0..cases() {
        let mut line = String::new();
        value(&mut random, 0, &mut line);
        compare_ndjson(line.as_bytes());
        objects += usize::from(line.starts_with('{'));
    }
    assert!(objects > cases() / 10);
}

/// Of equal keys the last counts, at every depth. So does the last of a key with dots and the nested objects of its path.
#[test]
fn fields_of_repeated_keys() {
    for (path, line, expected) in [
        ("a.b", r#"{"a":{"b":1},"a":{}}"#, ""),
        ("a.b", r#"{"a":{"b":1},"a":2}"#, ""),
        ("a.b", r#"{"a.b":1,"a":{}}"#, "1"),
        ("a.b", r#"{"a.b":1,"a":{"b":2}}"#, "2"),
        ("a.b", r#"{"a":{"b":2},"a.b":1}"#, "1"),
        ("a.b", r#"{"a.b":1,"a":{"b":2},"a":{}}"#, "1"),
        ("a.b", r#"{"a.b":1,"a":{"b":null},"a":3}"#, "1"),
        ("a.b", r#"{"a.b":1,"a":{"b":2},"a.b":null,"a":{}}"#, ""),
        ("a.b.c", r#"{"a":{"b.c":1},"a":{"d":2}}"#, ""),
        ("a.b.c", r#"{"a":{"b.c":1,"b":{"c":2}},"a":{"d":2}}"#, ""),
        ("a.b.c", r#"{"a":{"b.c":1,"b":{"c":2},"b":{}}}"#, "1"),
        ("a.b.c", r#"{"a.b.c":0,"a":{"b.c":1,"b":{"c":2}},"a":{}}"#, "0"),
        ("a.b.c", r#"{"a":{"b":{"c":2}},"a":{"b.c":1},"a":{"b":{}}}"#, ""),
        ("a[].b", r#"{"a.b":1,"a":[{},{"b":2}]}"#, "[-,2]"),
        ("a[].b", r#"{"a.b":1,"a":[{"b":2}],"a":{}}"#, "1"),
        ("a[].b", r#"{"a":[{"b":2}],"a":[{"c":1}]}"#, "[-]"),
        ("a[].b.c", r#"{"a.b.c":0,"a":[{"b.c":1},{"b":{"c":2},"b":{}}]}"#, "[1,-]"),
    ] {
        let mut fields = [Field::Missing];
        scan(line.as_bytes(), &[Path::new(path)], &mut fields).unwrap();
        let shown = |field: &Field| match field {
            Field::Other(range) => line[range.clone()].to_owned(),
            _ => "-".to_owned(),
        };
        let found = match &fields[0] {
            Field::Missing => String::new(),
            Field::Each(each) => {
                format!("[{}]", each.iter().map(shown).collect::<Vec<_>>().join(","))
            }
            field => shown(field),
        };
        assert_eq!(found, expected, "{path} in {line}");
    }
}

#[test]
fn addresses_on_lines() {
    let words = words(
        ".|:|::|1|255|0|1.2.3.4|8.8.8.8:443|fe80::1|\
         2001:db8::|a|g| |_|[|]|%eth0|/|é|12:30:01|,|256|\u{0}|::ffff:1.2.3.4|1:2:3:4:5:6:7:8|:53|Chrome|x/",
    );
    compare("text", &words, 12, compare_text);
}
