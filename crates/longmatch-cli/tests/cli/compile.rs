//! `longmatch compile` and `--table`, run as processes.

use std::process::Stdio;

use crate::common::{Dir, longmatch, run, run_with};

const SITES: &str = "\
network,asn,site,load
10.0.0.0/8,64500,office,0.5
10.9.0.0/16,64501,\"lab, \u{1b}[2J\",
2001:db8::/32,64500,office,0.5
::/0,,,-1
";

/// Compiles a file with these further options; returns the table's path.
#[track_caller]
fn compiled(dir: &Dir, content: &str, options: &[&str]) -> String {
    let (input, table) = (dir.file("input", content), dir.path("table.lm"));
    let ended = run(&[&["compile", "-r", &input, "-o", &table], options].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    table
}

#[test]
fn says_what_it_wrote() {
    let dir = Dir::new();
    let (input, table) = (dir.file("sites.csv", SITES), dir.path("sites.lm"));
    let ended = run(&["compile", "-r", &input, "-o", &table]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let read_as = "text with the delimiter comma, with a header";
    assert_eq!(ended.stderr, format!("longmatch: {input}: read as {read_as}: 4 rows\n"));
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert_eq!(lines[0], format!("{table}: 2 IPv4 routes, 2 IPv6 routes, 3 distinct rows"));
    assert!(lines[1].contains("loaded in 0."), "{lines:?}");
    let columns: Vec<Vec<_>> =
        lines[2..].iter().map(|line| line.split_whitespace().collect()).collect();
    let expected = [["column", "type"], ["asn", "u64"], ["site", "string"], ["load", "f64"]];
    assert_eq!(columns, expected);
    // The same bytes again, in JSON.
    let before = std::fs::read(&table).unwrap();
    let ended = run(&["compile", "-r", &input, "-o", &table, "--json"]);
    assert_eq!(std::fs::read(&table).unwrap(), before);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["ipv4_routes"], 2);
    assert_eq!(json["ipv6_routes"], 2);
    assert_eq!(json["rows"], 3);
    assert_eq!(json["bytes"], before.len());
    assert_eq!(json["answers"], "routes");
    assert_eq!(json["columns"][2], serde_json::json!({"name": "load", "type": "f64"}));
}

#[test]
fn lookups_print_columns() {
    let dir = Dir::new();
    for answers in ["routes", "values"] {
        let table = compiled(&dir, SITES, &["--answers", answers]);
        let addresses = ["10.1.2.3", "10.9.1.7", "::ffff:10.9.0.1", "2001:db8::1", "1::"];
        for trust in [&[][..], &["--trust"]] {
            let args = [&["lookup", "--table", &table], trust, &addresses].concat();
            let ended = run(&args);
            let expected = "10.1.2.3\t10.0.0.0/8\t64500\toffice\t0.5\n\
                10.9.1.7\t10.9.0.0/16\t64501\tlab, \\u{1b}[2J\t\n\
                ::ffff:10.9.0.1\t10.9.0.0/16\t64501\tlab, \\u{1b}[2J\t\n\
                2001:db8::1\t2001:db8::/32\t64500\toffice\t0.5\n\
                1::\t::/0\t\t\t-1\n";
            assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, expected, ""));
        }
        let ended = run(&["lookup", "--table", &table, "192.0.2.1", "--json", "10.9.0.0"]);
        let expected = "{\"address\":\"192.0.2.1\",\"prefix\":null,\"asn\":null,\"site\":null,\
            \"load\":null}\n{\"address\":\"10.9.0.0\",\"prefix\":\"10.9.0.0/16\",\"asn\":64501,\
            \"site\":\"lab, \\u001b[2J\",\"load\":null}\n";
        assert_eq!((ended.code, &*ended.stdout), (1, expected));
        let ended = run(&["lookup", "--table", &table, "192.0.2.1"]);
        assert_eq!((ended.code, &*ended.stdout), (1, "192.0.2.1\t-\t-\t-\t-\n"));
        let ended = run(&["lookup", "--table", &table, "--all", "10.9.0.0", "2001:db8::"]);
        let prefixes: Vec<_> =
            ended.stdout.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
        assert_eq!(prefixes, ["10.0.0.0/8", "10.9.0.0/16", "::/0", "2001:db8::/32"]);
        let ended = run_with(&["lookup", "--table", &table, "-"], "10.0.0.1\n\n2001:db8::9\n");
        assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2));
    }
}

#[test]
fn sets_have_no_fields() {
    let dir = Dir::new();
    let table = compiled(&dir, "10.0.0.0/8\n192.0.2.1 # x\n", &[]);
    let ended = run(&["lookup", "--table", &table, "10.0.0.1", "192.0.2.2"]);
    assert_eq!((ended.code, &*ended.stdout), (1, "10.0.0.1\t10.0.0.0/8\n192.0.2.2\t-\n"));
    // Columns whose names are those of other fields.
    let names = "net,prefix,address\n10.0.0.0/8,a,b\n";
    let table = compiled(&dir, names, &["--prefix-column", "net"]);
    let ended = run(&["lookup", "--table", &table, "--json", "10.0.0.1"]);
    let expected = "{\"address\":\"10.0.0.1\",\"prefix\":\"10.0.0.0/8\",\"prefix_\":\"a\",\
        \"address_\":\"b\"}\n";
    assert_eq!(ended.stdout, expected);
}

#[test]
fn options_choose_columns() {
    let dir = Dir::new();
    let lookup = |options: &[&str], content: &str| {
        let table = compiled(&dir, content, options);
        run(&["lookup", "--table", &table, "10.9.0.1"]).stdout
    };
    assert_eq!(
        lookup(&["--columns", "load,1=as written,asn"], SITES),
        "10.9.0.1\t10.9.0.0/16\t\t10.9.0.0/16\t64501\n"
    );
    assert_eq!(lookup(&["--columns", ""], SITES), "10.9.0.1\t10.9.0.0/16\n");
    assert_eq!(lookup(&["-6"], SITES), "10.9.0.1\t-\t-\t-\t-\n");
    let ranges = "10.9.0.0;10.9.0.255;AS7\n10.9.1.0;10.9.1.255;AS8\n";
    let options = ["--prefix-column", "1,2", "--columns", "3=asn", "--types", "asn=u64"];
    assert_eq!(lookup(&options, ranges), "10.9.0.1\t10.9.0.0/24\t7\n");
    let options = ["--delimiter", "space", "--first-row", "data", "--columns", "2=a"];
    assert_eq!(lookup(&options, "10.9.0.0/16 x\n"), "10.9.0.1\t10.9.0.0/16\tx\n");
    assert_eq!(lookup(&["--mask"], "a,b\n10.9.0.1/16,2\n"), "10.9.0.1\t10.9.0.0/16\t2\n");
    let dump = "TABLE_DUMP2|1|B|192.0.2.1|1|10.9.0.0/16|1 7|IGP|192.0.2.1|0|0||NAG||\n";
    assert_eq!(lookup(&["--value", "origin-as"], dump), "10.9.0.1\t10.9.0.0/16\t7\n");
    assert_eq!(lookup(&[], dump), "10.9.0.1\t10.9.0.0/16\t7\n");
    let next_hop = lookup(&["--value", "next-hop"], dump);
    assert_eq!(next_hop, "10.9.0.1\t10.9.0.0/16\t192.0.2.1\n");
}

#[test]
fn inputs_merge_and_tables_are_inputs() {
    let dir = Dir::new();
    let first = compiled(&dir, SITES, &[]);
    let (second, table) = (dir.file("b.csv", "network,owner\n10.9.0.0/16,me\n"), dir.path("b.lm"));
    let ended = run(&["compile", "-r", &first, "-r", &second, "-o", &table, "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let ended = run(&["lookup", "--table", &table, "10.9.0.1", "10.0.0.1"]);
    let expected = "10.9.0.1\t10.9.0.0/16\t\t\t\tme\n10.0.0.1\t10.0.0.0/8\t64500\toffice\t0.5\t\n";
    assert_eq!(ended.stdout, expected);
    // From standard input, over the file that is read.
    let ended = run_with(&["compile", "-r", "-", "-o", &table], SITES);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.starts_with("longmatch: standard input: read as text"), "{ended:?}");
}

#[test]
fn whole_tables_are_described_measured_and_verified() {
    let dir = Dir::new();
    for answers in ["routes", "values"] {
        let table = compiled(&dir, SITES, &["--answers", answers]);
        let ended = run(&["stat", "--table", &table, "--engine", "radix", "--json"]);
        assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2), "{ended:?}");
        let ended =
            run(&["verify", "--quick", "--table", &table, "--engine", "folio,radix", "--json"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let lines = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<serde_json::Value> = lines.collect();
        for engine in ["file", "folio", "radix"] {
            let of: Vec<_> = lines.iter().filter(|line| line["engine"] == engine).collect();
            assert!(!of.is_empty(), "{engine}");
            assert!(
                of.iter().all(|line| line["mismatches"] == 0 && line["check"] == "ok"),
                "{of:?}"
            );
        }
        let bench =
            ["bench", "--table", &table, "--engine", "folio", "--seconds", "0.001", "--json"];
        let ended = run(&bench);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.contains("\"engine\":\"file"), "{}", ended.stdout);
        assert!(ended.stdout.contains("\"engine\":\"folio"), "{}", ended.stdout);
    }
    let table = compiled(&dir, SITES, &[]);
    let updates = dir.file("updates.txt", "A 10.9.0.0/16 x\nW 10.0.0.0/8\n");
    let ended = run(&["replay", "-4", "--table", &table, "-u", &updates, "--engine", "folio"]);
    assert_eq!(ended.code, 0, "{ended:?}");
}

/// The error of a run that must fail, without the program's name.
#[track_caller]
fn error(args: &[&str]) -> String {
    let ended = run(args);
    assert_eq!((ended.code, &*ended.stdout), (2, ""), "{ended:?}");
    let message = ended.stderr.strip_prefix("longmatch: ").unwrap().trim_end().to_owned();
    assert!(!message.contains('\u{1b}'), "{message}");
    message
}

#[test]
fn files_that_cannot_be_opened_are_errors() {
    let dir = Dir::new();
    let lookup = |path: &str| error(&["lookup", "--table", path, "10.0.0.1"]);
    let missing = lookup(&dir.path("missing.lm"));
    assert!(missing.contains("missing.lm") && missing.contains("No such file"), "{missing}");
    let text = lookup(&dir.file("text.lm", SITES));
    assert!(
        text.contains("text.lm") && text.contains("magic bytes of a longmatch table"),
        "{text}"
    );
    let escaped = lookup(&dir.path("\u{1b}[2J.lm"));
    assert!(escaped.contains("\\u{1b}"), "{escaped}");
    assert!(lookup(&dir.file("empty.lm", "")).contains("empty.lm"));
    lookup(&dir.path(""));
    let table = compiled(&dir, SITES, &[]);
    let bytes = std::fs::read(&table).unwrap();
    for end in [1, 8, 100, bytes.len() / 2, bytes.len() - 1] {
        let cut = dir.file("cut.lm", &bytes[..end]);
        assert!(lookup(&cut).contains("cut.lm"));
        let trusted = run(&["lookup", "--table", &cut, "--trust", "10.0.0.1"]);
        assert_eq!(trusted.code, 2, "{trusted:?}");
    }
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let damaged = lookup(&dir.file("damaged.lm", damaged));
    assert!(damaged.contains("damaged.lm: damaged: "), "{damaged}");
}

#[test]
fn options_that_do_not_fit_are_errors() {
    let dir = Dir::new();
    let table = compiled(&dir, SITES, &[]);
    let lookup = |args: &[&str]| error(&[&["lookup"], args, &["10.0.0.1"]].concat());
    assert!(lookup(&["--table", &table, "--routes", "x"]).contains("cannot be used with"));
    assert!(lookup(&["--trust"]).contains("--table"));
    assert!(lookup(&["--table", "-"]).contains("--table does not accept '-'"));
    assert!(lookup(&["--table", &table, "--peer", "AS1"]).contains("--peer needs --routes"));
    let forward = ["forward", "--interface", "lo", "--table", &table];
    assert!(error(&forward).contains("--table: --io xdp forwards by the routes of the kernel"));
    let (input, out) = (dir.file("sites.csv", SITES), dir.path("out.lm"));
    let compile = |args: &[&str]| error(&[&["compile", "-r", &input, "-o", &out], args].concat());
    let column = compile(&["--columns", "nothing"]);
    assert!(
        column.contains("no column is named 'nothing': the columns are network, asn"),
        "{column}"
    );
    let prefix = compile(&["--prefix-column", "site"]);
    assert!(prefix.contains("line 2: column 'site': 'office' is not a prefix"), "{prefix}");
    assert!(compile(&["--types", "site=u64"]).contains("'office' is not of the type u64"));
    assert!(compile(&["--types", "site"]).contains("expected 'column=type'"));
    assert!(compile(&["--format", "x"]).contains("possible values: auto, csv, list"));
    assert!(compile(&["--value", "origin-as", "--format", "routes"]).contains("line 1"));
    assert!(compile(&["-r", &dir.path("missing")]).contains("missing: cannot be opened"));
    assert!(!std::fs::exists(&out).unwrap(), "nothing was written");
    let host = dir.file("host.csv", "a,b\n10.0.0.1/8,1\n");
    let bits = error(&["compile", "-r", &host, "-o", &out]);
    assert!(bits.ends_with("(--mask drops host bits)"), "{bits}");
    let none = error(&["compile", "-r", &dir.file("none.csv", "network,a\n"), "-o", &out]);
    assert!(none.ends_with("no prefixes to compile: give others with --routes"), "{none}");
    assert!(error(&["compile", "-r", &input, "-o", "-"]).contains("--output does not accept '-'"));
}

#[test]
fn failures_leave_the_old_file() {
    let dir = Dir::new();
    let table = compiled(&dir, SITES, &[]);
    let before = std::fs::read(&table).unwrap();
    let bad = dir.file("bad.csv", "network,a\n10.0.0.0/8,1\n10.0.0.0/99,2\n10.1.0.0/16,3\n");
    assert!(error(&["compile", "-r", &bad, "-o", &table]).contains("bad.csv: line 3"));
    assert_eq!(std::fs::read(&table).unwrap(), before);
    let ended = run(&["compile", "-r", &bad, "-o", &table, "--lenient"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("1 damaged line or record was left out"), "{ended:?}");
    let nowhere = dir.path("nowhere/table.lm");
    let input = dir.file("sites.csv", SITES);
    let ended = run(&["compile", "-r", &input, "-o", &nowhere]);
    assert_eq!((ended.code, &*ended.stdout), (2, ""));
    assert!(ended.stderr.contains("nowhere/table.lm"), "{ended:?}");
    let directory = dir.path("");
    assert_eq!(run(&["compile", "-r", &input, "-o", &directory]).code, 2);
}

#[test]
fn a_closed_pipe_ends_lookups() {
    let dir = Dir::new();
    let table = compiled(&dir, SITES, &[]);
    let addresses = dir.file("addresses", "10.0.0.1\n".repeat(200_000));
    let mut child = longmatch(&["lookup", "--table", &table, "-"])
        .stdin(std::fs::File::open(addresses).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

/// Processes look up in one path while it is replaced: each answer is of one version.
#[test]
fn processes_read_a_file_that_is_replaced() {
    let dir = Dir::new();
    let version = |n: u32| format!("network,version,again\n10.0.0.0/8,{n},{n}\n::/0,{n},{n}\n");
    let table = compiled(&dir, &version(0), &[]);
    let spawn = || {
        let mut command = longmatch(&["lookup", "--table", &table, "10.0.0.1", "::1"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut readers = Vec::new();
    for n in 1..8 {
        readers.extend((0..4).map(|_| spawn()));
        compiled(&dir, &version(n), &[]);
    }
    for reader in readers {
        let ended = crate::common::Ended::from(reader.wait_with_output().unwrap());
        assert_eq!((ended.code, &*ended.stderr), (0, ""));
        let values: Vec<_> =
            ended.stdout.lines().flat_map(|line| line.split('\t').skip(2)).collect();
        assert!(values.len() == 4 && values.iter().all(|value| *value == values[0]), "{ended:?}");
    }
    let ended = run(&["lookup", "--table", &table, "10.0.0.1"]);
    assert_eq!(ended.stdout, "10.0.0.1\t10.0.0.0/8\t7\t7\n");
}

#[test]
fn the_default_table_compiles() {
    let dir = Dir::new();
    let table = dir.path("asn.lm");
    let ended = run(&["compile", "-o", &table, "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let args = ["8.8.8.8", "2001:4860:4860::8888", "::", "10.1.2.3"];
    let of_file = run(&[&["lookup", "--table", &table], &args[..]].concat());
    let of_routes = run(&[&["lookup"], &args[..]].concat());
    assert_eq!((of_file.code, of_file.stdout), (of_routes.code, of_routes.stdout));
}
