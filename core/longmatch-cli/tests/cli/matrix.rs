//! Every file of the corpus through every command that reads prefixes: the same prefixes and values, or the same error.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use longmatch::IpPrefix;
use longmatch::set::{AddressRange, AddressSet};
use longmatch::{Ipv4, Ipv6};

use crate::common::{Dir, corpus, error, run};

/// `prefix value` of each row, as a command prints them.
type Rows = BTreeMap<IpPrefix, String>;

fn rows_of_diff(file: &str) -> Result<Rows, String> {
    let ended = run(&[
        "set",
        "diff",
        "--json",
        "--value",
        "next-hop",
        "--duplicates",
        "last",
        "/dev/null",
        file,
    ]);
    if ended.code == 2 {
        return Err(error(&ended));
    }
    let row = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let prefix: IpPrefix = line["prefix"].as_str().unwrap().parse().unwrap();
        (prefix, line["new"].as_str().unwrap_or_default().to_owned())
    };
    Ok(ended.stdout.lines().map(row).collect())
}

/// The cells of a compiled table, joined as those of routes are.
fn rows_of_table(file: &str, table: &str) -> Result<Rows, String> {
    let ended = run(&["compile", "--value", "next-hop", "-r", file, "-o", table]);
    if ended.code == 2 {
        return Err(error(&ended));
    }
    let table = longmatch::file::FileTable::open(table).unwrap();
    let row = |(prefix, row): (IpPrefix, longmatch::file::FileRow<'_>)| {
        let cells: Vec<_> = row.iter().map(|cell| cell.to_string()).collect();
        let quoted = |cell: &String| match cells.len() > 1 && cell.contains([',', '"']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.clone(),
        };
        (prefix, cells.iter().map(quoted).collect::<Vec<_>>().join(","))
    };
    Ok(table.iter().map(row).collect())
}

fn addresses(prefixes: impl IntoIterator<Item = IpPrefix>) -> (AddressSet<Ipv4>, AddressSet<Ipv6>) {
    let (mut ipv4, mut ipv6) = (Vec::<AddressRange<Ipv4>>::new(), Vec::<AddressRange<Ipv6>>::new());
    for prefix in prefixes {
        match prefix {
            IpPrefix::V4(prefix) => ipv4.push(prefix.into()),
            IpPrefix::V6(prefix) => ipv6.push(prefix.into()),
        }
    }
    (ipv4.into(), ipv6.into())
}

#[test]
fn every_command_reads_every_file_alike() {
    let dir = Dir::new();
    let table = dir.path("table.lm");
    let mut answered = 0;
    for path in corpus() {
        let file = path.to_str().unwrap();
        let rows = rows_of_diff(file);
        let compiled = rows_of_table(file, &table);
        match (&rows, &compiled) {
            // A compiled table is never empty.
            (Ok(rows), Err(error)) => {
                assert!(rows.is_empty() && error.contains("no prefixes"), "{file}: {error}")
            }
            (rows, compiled) => {
                let typed =
                    |rows: &Rows| rows.iter().map(|(p, v)| (*p, numbers(v))).collect::<Vec<_>>();
                assert_eq!(rows.as_ref().map(typed), compiled.as_ref().map(typed), "{file}");
            }
        }
        whole_tables(file, &rows);
        if let (Ok(rows), Ok(_)) = (&rows, &compiled) {
            // A compiled table is a format, too.
            assert_eq!(rows_of_diff(&table).as_ref(), compiled.as_ref(), "{file}, compiled");
            answered += addresses_of(file, &table, rows);
        }
    }
    assert!(answered > 100, "{answered} addresses");
}

/// Numbers in cells without what a narrower type drops: `0.50` is `0.5`.
fn numbers(value: &str) -> String {
    let cell =
        |cell: &str| cell.parse::<f64>().map_or(cell.to_owned(), |number| number.to_string());
    value.split(',').map(cell).collect::<Vec<_>>().join(",")
}

/// Commands on whole tables and sets.
fn whole_tables(file: &str, rows: &Result<Rows, String>) {
    let set = run(&["set", "aggregate", file]);
    for (operation, other) in
        [("union", file), ("intersect", file), ("difference", "/dev/null"), ("count", "")]
    {
        let files = [file, other].into_iter().filter(|file| !file.is_empty());
        let ended = run(&["set", operation].into_iter().chain(files).collect::<Vec<_>>());
        assert_eq!(ended.code, set.code, "{file} {operation}: {}", ended.stderr);
        assert!(operation == "count" || ended.stdout == set.stdout, "{file} {operation}");
    }
    let dump = run(&["set", "dump", "--csv", file]);
    let is_update = set.stderr.contains("updates of routes");
    match rows {
        Err(problem) => {
            for ended in [&set, &dump] {
                assert!(
                    is_update || error(ended) == *problem,
                    "{file}: {} and {problem}",
                    ended.stderr
                );
            }
        }
        Ok(rows) => {
            if !is_update {
                let dumped =
                    dump.stdout.lines().skip(1).map(|line| line.split(',').next().unwrap());
                let dumped: BTreeSet<IpPrefix> =
                    dumped.filter_map(|prefix| prefix.parse().ok()).collect();
                assert!(rows.keys().all(|prefix| dumped.contains(prefix)), "{file}, dumped");
                assert_eq!(dumped.len(), rows.len(), "{file}, dumped");
                let printed = set.stdout.lines().map(|line| line.parse::<IpPrefix>().unwrap());
                assert_eq!(addresses(printed), addresses(rows.keys().copied()), "{file}");
                operations(file, rows);
            }
        }
    }
}

/// Whether the operations on two sets agree about a file with these rows.
fn operations(file: &str, rows: &Rows) {
    let (ipv4, ipv6) = addresses(rows.keys().copied());
    let prefixes = |stdout: &str| -> BTreeSet<IpPrefix> {
        // Pairs of different prefixes are left out.
        let lines = stdout
            .lines()
            .filter(|line| !line.contains("\tcovers\t") && !line.contains("\tinside\t"));
        lines.map(|line| line.split('\t').next().unwrap().parse().unwrap()).collect()
    };
    let of = |args: &[&str]| run(&[&["set"], args].concat());
    let whole = ["complement", "--within", "0.0.0.0/0", "--within", "::/0", file];
    let (rest4, rest6) = addresses(prefixes(&of(&whole).stdout));
    let (all4, all6) = addresses(["0.0.0.0/0", "::/0"].map(|all| all.parse().unwrap()));
    assert_eq!((rest4, rest6), (all4.difference(&ipv4), all6.difference(&ipv6)), "{file}");
    let split = of(&["split", "--length4", "0", "--length6", "0", file]).stdout;
    assert_eq!(split, of(&["aggregate", file]).stdout, "{file}");
    let covered = prefixes(&of(&["covered", "--only", "full", file, file]).stdout);
    assert_eq!(covered, prefixes(&of(&["overlaps", file, file]).stdout), "{file}");
    assert_eq!(addresses(covered), (ipv4.clone(), ipv6.clone()), "{file}");
    let matrix = of(&["matrix", "--json", file, "/dev/null"]).stdout;
    for (family, count) in [("ipv4", ipv4.count()), ("ipv6", ipv6.count())] {
        let start = format!("{{\"family\":\"{family}\",\"a\":\"{file}\",\"b\":\"{file}\",");
        let expected = format!("{start}\"addresses\":\"{count}\",\"share\":1.0}}");
        assert!(count.get() == Some(0) || matrix.contains(&expected), "{file}: {matrix}");
    }
}

/// Commands that answer addresses: the first of each prefix. Returns their number.
fn addresses_of(file: &str, table: &str, rows: &Rows) -> usize {
    let firsts: BTreeSet<IpAddr> = rows.keys().map(|prefix| prefix.first()).collect();
    // A mapped address is looked up in IPv4.
    let firsts: Vec<_> =
        firsts.iter().filter(|addr| addr.to_canonical() == **addr).map(IpAddr::to_string).collect();
    let lines = firsts.join("\n") + "\n";
    let dir = Dir::new();
    let log = dir.file("log", &lines);
    let asked: Vec<&str> = firsts.iter().map(String::as_str).collect();
    let lookup =
        |source: &[&str]| run(&[&["lookup", "--exit-zero"], source, &asked[..]].concat()).stdout;
    let (of_file, of_table) =
        (lookup(&["--value", "next-hop", "-r", file]), lookup(&["--table", table]));
    assert_eq!(of_file, of_table, "{file}");
    for line in of_file.lines() {
        let mut words = line.split('\t');
        let addr: IpAddr = words.next().unwrap().parse().unwrap();
        let longest =
            rows.keys().filter(|prefix| prefix.contains(addr)).max_by_key(|prefix| prefix.len());
        assert_eq!(
            words.next(),
            longest.map(|prefix| prefix.to_string()).as_deref(),
            "{file}: {addr}"
        );
    }
    let annotate = |source: &[&str]| {
        run(&[
            &["annotate", "--prefix-as", "p", "-c", "1", "--no-header", "-d", "tab"],
            source,
            &[&*log],
        ]
        .concat())
    };
    let (of_file, of_table) =
        (annotate(&["--value", "next-hop", "-r", file]), annotate(&["--table", table]));
    assert_eq!(
        (of_file.code, &of_file.stdout),
        (of_table.code, &of_table.stdout),
        "{file}: {}",
        of_file.stderr
    );
    firsts.len()
}
