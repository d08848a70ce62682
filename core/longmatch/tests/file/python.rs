//! A reader of little more than a hundred lines of Python, written from docs/format.md, reads what this program writes.

use std::io::Write;
use std::net::IpAddr;
use std::process::{Command, Stdio};

use longmatch::file::FileSpec;
use longmatch::table::{Cell, PrefixData};
use longmatch::{Answers, EngineSpec, Family, IpPrefix, Ipv4, Ipv6};

use crate::data::{ends, random, set};
use crate::same::tempdir;

const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format.py");

/// Runs the reader; `None` without Python.
fn python(args: &[&str], input: &str) -> Option<String> {
    let mut command = Command::new("python3");
    command.arg(READER).args(args).env("PYTHONIOENCODING", "utf-8");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("skipped: the reader in Python: no python3: {error}");
            return None;
        }
    };
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input.as_bytes()).ok());
        child.wait_with_output().unwrap()
    });
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// A line of the reader: the prefix, and the row as JSON.
fn line(prefix: IpPrefix, columns: &[&str], cells: &[Cell]) -> String {
    let cell = |cell: &Cell| match cell {
        Cell::Null => "null".to_owned(),
        Cell::String(text) => serde_json::to_string(text).unwrap(),
        // As Python prints them.
        Cell::F64(number) if number.is_nan() => "NaN".to_owned(),
        Cell::F64(number) => format!("{number:?}"),
        number => number.to_string(),
    };
    let cells =
        columns.iter().zip(cells).map(|(name, value)| format!("\"{name}\": {}", cell(value)));
    format!("{prefix} {{{}}}", cells.collect::<Vec<_>>().join(", "))
}

fn same(data: &PrefixData, spec: &FileSpec, name: &str) {
    let dir = tempdir(name);
    let path = dir.join("table.lm");
    spec.write(data, &path).unwrap();
    let path = path.to_str().unwrap();
    let columns: Vec<&str> = data.columns().iter().map(|column| &*column.name).collect();
    let Some(all) = python(&[path], "") else { return };
    let right = data.table().iter().map(|(prefix, row)| line(prefix, &columns, row));
    assert!(all.lines().eq(right), "{name}: {all}");

    let ipv4 = ends(data.table().ipv4()).into_iter().map(|addr| IpAddr::from(Ipv4::addr(addr)));
    let ipv6 = ends(data.table().ipv6()).into_iter().map(|addr| IpAddr::from(Ipv6::addr(addr)));
    let mut addrs: Vec<IpAddr> = ipv4.chain(ipv6).collect();
    addrs.push("::ffff:10.0.0.1".parse().unwrap());
    let input = addrs.iter().map(|addr| format!("{addr}\n")).collect::<String>();
    let Some(found) = python(&[path, "-"], &input) else { return };
    let mut found = found.lines();
    for addr in &addrs {
        let right = data.table().get_lpm(*addr);
        let right = right.map_or("-".into(), |(prefix, row)| line(prefix, &columns, row));
        assert_eq!(found.next(), Some(&*right), "{name}: {addr}");
    }
    assert_eq!(found.next(), None);
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn the_reader_in_python_reads_all() {
    let lines = std::fs::read_to_string(READER).unwrap().lines().count();
    assert!(lines <= 115, "{lines} lines");
    let codes = |ipv4: &str| FileSpec::default().ipv4(ipv4.parse::<EngineSpec>().unwrap());
    same(&random(1, 700, 60), &FileSpec::default(), "python-default");
    same(&random(2, 500, 300), &codes("folio:s=8:lists=none:entries=none"), "python-pages");
    let values = Answers::Values;
    same(&random(3, 500, 300), &codes("folio:s=9:lists=0").answers(values), "python-lists");
    same(&random(4, 400, 90), &codes("folio:s=9:codes=8").answers(values), "python-8");
    same(&random(5, 400, 9), &codes("folio:s=12:codes=24:lists=none:entries=0"), "python-24");
    same(&set(&["0.0.0.0/0", "10.0.0.0/31", "::/0"]), &FileSpec::default(), "python-set");
}

/// It verifies checksums, and every byte between sections.
#[test]
fn the_reader_in_python_refuses_damage() {
    let dir = tempdir("python-damage");
    let path = dir.join("table.lm");
    let bytes = crate::damage::small();
    for at in (0..bytes.len()).step_by(bytes.len() / 12 + 1).chain([bytes.len() - 1]) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, damaged).unwrap();
        let run = Command::new("python3").arg(READER).arg(&path).output();
        match run {
            Ok(run) => assert!(!run.status.success(), "byte {at}"),
            Err(error) => eprintln!("skipped: the reader in Python: no python3: {error}"),
        }
    }
    std::fs::remove_dir_all(dir).unwrap();
}
