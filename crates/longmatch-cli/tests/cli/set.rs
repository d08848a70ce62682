//! `longmatch set`, run as a process.

mod forms;

use std::io::{Read, Write};
use std::process::Stdio;

use crate::common::{Dir, Ended, longmatch, run, run_with};

const LIST: &str = "\
# both families, unsorted, overlapping, touching
10.0.1.0/24
2001:db8:8000::/33
10.0.0.0/24   # first
10.0.0.7
192.0.2.0 - 192.0.2.6
198.51.100.1-198.51.100.1
2001:db8::/33
";

/// The output of a run that succeeds without a message.
#[track_caller]
fn set(args: &[&str], stdin: &str) -> String {
    let ended = run_with(&[&["set"], args].concat(), stdin);
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""), "{args:?}: {ended:?}");
    ended.stdout
}

#[track_caller]
fn refused(args: &[&str], stdin: &str) -> String {
    let ended = run_with(&[&["set"], args].concat(), stdin);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{args:?}: {ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    ended.stderr
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn aggregate_prints_the_fewest_prefixes_of_both_families() {
    let expected = "10.0.0.0/23\n192.0.2.0/30\n192.0.2.4/31\n192.0.2.6/32\n198.51.100.1/32\n\
        2001:db8::/32\n";
    assert_eq!(set(&["aggregate"], LIST), expected);
    assert_eq!(set(&["aggregate", "-"], expected), expected, "aggregation is idempotent");
    let dir = Dir::new();
    let file = dir.file("list.txt", LIST);
    assert_eq!(set(&["aggregate", &file, &file], ""), expected);
    assert_eq!(set(&["aggregate", "-6", &file], ""), "2001:db8::/32\n");
    let ranges = "10.0.0.0-10.0.1.255\n192.0.2.0-192.0.2.6\n198.51.100.1-198.51.100.1\n\
        2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff\n";
    assert_eq!(set(&["aggregate", "--ranges", &file], ""), ranges);
    assert_eq!(set(&["aggregate"], ranges), expected, "ranges are read again");
    let json = set(&["aggregate", "--json"], "10.0.0.0/9\n10.128.0.0/9\n::/0\n");
    let lines = "{\"family\":\"ipv4\",\"prefix\":\"10.0.0.0/8\"}\n\
        {\"family\":\"ipv6\",\"prefix\":\"::/0\"}\n";
    assert_eq!(json, lines);
    let json = set(&["aggregate", "--json", "--ranges"], "10.0.0.0/8\n");
    assert_eq!(json, "{\"family\":\"ipv4\",\"first\":\"10.0.0.0\",\"last\":\"10.255.255.255\"}\n");
}

#[test]
fn the_ends_of_the_address_spaces() {
    for whole in ["0.0.0.0/0", "::/0", "255.255.255.255/32", "0.0.0.0/32", "::/128"] {
        assert_eq!(set(&["aggregate"], whole), format!("{whole}\n"));
    }
    let last = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128\n";
    assert_eq!(set(&["aggregate"], last), last);
    assert_eq!(set(&["aggregate"], "0.0.0.0-255.255.255.255\n"), "0.0.0.0/0\n");
    assert_eq!(set(&["aggregate"], "::/1\n8000::/1\n"), "::/0\n");
    assert_eq!(set(&["complement"], "0.0.0.0/0\n"), "");
    let rest = set(&["complement"], last);
    assert_eq!((rest.lines().count(), rest.lines().next()), (128, Some("::/1")));
    assert_eq!(set(&["complement"], &rest), last);
    assert_eq!(set(&["complement", "-4"], ""), "0.0.0.0/0\n");
}

#[test]
fn lengths_are_rounded_out() {
    let hosts = "192.0.2.7\n192.0.3.9\n2001:db8::1\n";
    let ended =
        run_with(&["set", "aggregate", "--max-length4", "24", "--max-length6", "48"], hosts);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "192.0.2.0/23\n2001:db8::/48\n"));
    let expected = "longmatch: --max-length adds 510 IPv4 addresses to those of the lists\n\
        longmatch: --max-length adds 1,208,925,819,614,629,174,706,175 IPv6 addresses to those of \
        the lists\n";
    assert_eq!(ended.stderr, expected);
    let ended = run_with(&["set", "aggregate", "--max-length", "31"], "10.0.0.2\n10.0.0.3\n");
    assert_eq!((&ended.stdout[..], &ended.stderr[..]), ("10.0.0.2/31\n", ""));
    let ended = run_with(&["set", "aggregate", "--max-length", "0"], "10.0.0.2\n");
    assert_eq!(ended.stdout, "0.0.0.0/0\n");
    assert!(refused_usage(&["aggregate", "--max-length4", "33"]).contains("--max-length4"));
}

/// The message of a usage error, which may have several lines.
fn refused_usage(args: &[&str]) -> String {
    let ended = run(&[&["set"], args].concat());
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{args:?}: {ended:?}");
    ended.stderr
}

#[test]
fn union_intersection_and_difference() {
    let dir = Dir::new();
    let a = dir.file("a.txt", "10.0.0.0/8\n2001:db8::/32\n");
    let b = dir.file("b.txt", "10.0.0.0/9\n11.0.0.0/8\n2001:db8::/128\n");
    let c = dir.file("c.txt", "10.192.0.0/10\n");
    assert_eq!(set(&["union", &a, &b], ""), "10.0.0.0/7\n2001:db8::/32\n");
    assert_eq!(set(&["intersect", &a, &b], ""), "10.0.0.0/9\n2001:db8::/128\n");
    assert_eq!(set(&["intersect", &a, &b, &c], ""), "");
    assert_eq!(set(&["difference", "-4", &a, &b], ""), "10.128.0.0/9\n");
    assert_eq!(set(&["difference", "-4", &a, &b, &c], ""), "10.128.0.0/10\n");
    assert_eq!(set(&["difference", &c, &a], ""), "");
    assert_eq!(set(&["union", &c, "-"], "10.128.0.0/10\n"), "10.128.0.0/9\n");
    for operation in ["intersect", "difference"] {
        assert!(refused_usage(&[operation, &a]).contains("FILE"));
    }
    assert!(refused(&["union", "-", "-"], "").contains("'-' may be given only once"));
}

/// A without B, united with A and B, is A: on lists in the last byte of a network of each family.
#[test]
fn the_operations_agree() {
    let mut state = 3u64;
    let mut list = || {
        let mut text = String::new();
        for _ in 0..30 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(7);
            let (at, more, len) = (state >> 56, state >> 40 & 7, state >> 33 & 3);
            let at4 = at >> len << len;
            text += &format!("192.0.2.{at4}/{}\n", 32 - len);
            let last = (at + more).min(255);
            text += &format!("2001:db8::{at:x}-2001:db8::{last:x}\n");
        }
        text
    };
    let dir = Dir::new();
    for round in 0..4 {
        let (a_text, b_text) = (list(), list());
        let (a, b) = (dir.file("a", &a_text), dir.file("b", &b_text));
        let whole = set(&["aggregate", &a], "");
        let only = dir.file("only", set(&["difference", &a, &b], ""));
        let both = dir.file("both", set(&["intersect", &a, &b], ""));
        assert_eq!(set(&["union", &only, &both], ""), whole, "round {round}: {a_text} {b_text}");
        assert_eq!(set(&["intersect", &only, &b], ""), "");
        let within = ["--within", "192.0.2.0/24", "--within", "2001:db8::/120"];
        let outside = set(&[&["complement", &a][..], &within].concat(), "");
        let all = set(&["union", &a, "-"], &outside);
        assert_eq!(all, "192.0.2.0/24\n2001:db8::/120\n");
        assert_eq!(set(&["intersect", &a, "-"], &outside), "");
    }
}

#[test]
fn complements_need_a_space() {
    assert_eq!(set(&["complement"], "128.0.0.0/1\n"), "0.0.0.0/1\n");
    assert_eq!(set(&["complement", "--within", "10.0.0.0/8"], "10.0.0.0/9\n"), "10.128.0.0/9\n");
    assert_eq!(set(&["complement", "--within", "::/0"], "::/1\n10.0.0.0/8\n"), "8000::/1\n");
    let message = refused_with_warning(&["complement"], "# nothing\n");
    assert!(message.contains("give --within, -4 or -6"), "{message}");
    let message = refused(&["complement", "-4", "--within", "::/0"], "10.0.0.0/8\n");
    assert!(message.contains("exclude each other"), "{message}");
    assert!(refused_usage(&["complement", "--within", "10.0.0.1/8"]).contains("host bits"));
}

fn refused_with_warning(args: &[&str], stdin: &str) -> String {
    let ended = run_with(&[&["set"], args].concat(), stdin);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{args:?}: {ended:?}");
    ended.stderr
}

#[test]
fn overlaps_are_pairs() {
    let dir = Dir::new();
    let a = dir.file("a.txt", "10.0.0.0/8\n10.9.0.0/16\n2001:db8::/48\n192.0.2.0/24\n");
    let b = dir.file("b.txt", "10.9.0.0/16\n10.9.1.1\n2001:db8::/32\n198.51.100.0/24\n");
    let expected = "10.0.0.0/8\tcovers\t10.9.0.0/16\n10.9.0.0/16\tequals\t10.9.0.0/16\n\
        10.0.0.0/8\tcovers\t10.9.1.1/32\n10.9.0.0/16\tcovers\t10.9.1.1/32\n\
        2001:db8::/48\tinside\t2001:db8::/32\n";
    assert_eq!(set(&["overlaps", &a, &b], ""), expected);
    let json = set(&["overlaps", "--json", "-6", &a, &b], "");
    let line = "{\"a\":\"2001:db8::/48\",\"relation\":\"inside\",\"b\":\"2001:db8::/32\"}\n";
    assert_eq!(json, line);
    let none = run_with(&["set", "overlaps", "-", &b], "203.0.113.0/24\n");
    assert_eq!(none, Ended { code: 1, stdout: String::new(), stderr: String::new() });
}

#[test]
fn diff_compares_tables_with_their_values() {
    let dir = Dir::new();
    let old = dir.file("old.txt", "10.0.0.0/8 a\n11.0.0.0/8 b\n::/0 x\n12.0.0.0/8 same\n");
    let new =
        dir.file("new.txt", "::/0 y\n13.0.0.0/8 c\n10.0.0.0/8 z\n10.0.0.0/8 a\n12.0.0.0/8 same\n");
    let ended = run(&["set", "diff", &old, &new]);
    let expected =
        format!("--- {old}\n+++ {new}\n-11.0.0.0/8 b\n+13.0.0.0/8 c\n-::/0 x\n+::/0 y\n");
    assert_eq!((ended.code, &ended.stdout, &ended.stderr[..]), (1, &expected, ""));
    let ended = run(&["set", "diff", &old, &old]);
    assert_eq!(ended, Ended { code: 0, stdout: String::new(), stderr: String::new() });
    let ended = run(&["set", "diff", "--json", &old, &new]);
    let expected = "{\"change\":\"removed\",\"prefix\":\"11.0.0.0/8\",\"old\":\"b\"}\n\
        {\"change\":\"added\",\"prefix\":\"13.0.0.0/8\",\"new\":\"c\"}\n\
        {\"change\":\"changed\",\"prefix\":\"::/0\",\"old\":\"x\",\"new\":\"y\"}\n";
    assert_eq!((ended.code, &ended.stdout[..]), (1, expected));
    let ended = run(&["set", "diff", "--stat", "--json", &old, &new]);
    let expected = "{\"family\":\"ipv4\",\"added\":1,\"removed\":1,\"changed\":0,\"same\":2}\n\
        {\"family\":\"ipv6\",\"added\":0,\"removed\":0,\"changed\":1,\"same\":0}\n";
    assert_eq!((ended.code, &ended.stdout[..]), (1, expected));
    let ended = run(&["set", "diff", "--stat", &old, &new]);
    let expected = "        added  removed  changed  same\n  IPv4      1        1        0     2\n  \
        IPv6      0        0        1     0\n";
    assert_eq!((ended.code, &ended.stdout[..]), (1, expected));
    let four = run_with(
        &["set", "diff", "-4", "-", &new],
        "10.0.0.0/8 a\n12.0.0.0/8 same\n13.0.0.0/8 c\n",
    );
    assert_eq!((four.code, &four.stdout[..]), (0, ""), "{four:?}");
}

#[test]
fn diff_of_lists_without_values() {
    let dir = Dir::new();
    let old = dir.file("old.txt", "10.0.0.0/8\n10.0.0.7\n");
    let new = dir.file("new.txt", "10.0.0.7\n10.0.0.0-10.0.0.1\n");
    for prefixes in [&[][..], &["--prefixes"]] {
        let ended = run(&[&["set", "diff", &old, &new][..], prefixes].concat());
        let expected = format!("--- {old}\n+++ {new}\n-10.0.0.0/8\n+10.0.0.0/31\n");
        assert_eq!((ended.code, &ended.stdout, &*ended.stderr), (1, &expected, ""));
        let ended = run(&[&["set", "diff", "--json", &old, &new][..], prefixes].concat());
        let expected = "{\"change\":\"removed\",\"prefix\":\"10.0.0.0/8\"}\n\
            {\"change\":\"added\",\"prefix\":\"10.0.0.0/31\"}\n";
        assert_eq!((ended.code, &ended.stdout[..]), (1, expected));
    }
    let table = dir.file("table.txt", "10.0.0.0/8 a\n");
    let message = refused(&["diff", &old, &table], "");
    assert!(message.contains("old.txt: it has no values, but the other table has"), "{message}");
    let half = dir.file("half.txt", "10.0.0.0/8 a\n11.0.0.0/8\n");
    let message = refused(&["diff", &half, &table], "");
    assert!(message.ends_with("(--prefixes compares lists without next hops)\n"), "{message}");
}

#[test]
fn split_is_bounded() {
    let args = ["split", "--length4", "24", "--length6", "33"];
    let text = "10.0.0.0/23\n192.0.2.128/25\n2001:db8::/32\n";
    let expected = "10.0.0.0/24\n10.0.1.0/24\n192.0.2.128/25\n2001:db8::/33\n2001:db8:8000::/33\n";
    assert_eq!(set(&args, text), expected);
    assert_eq!(
        set(&["split", "--length4", "9"], "10.0.0.0/8\n::/0\n"),
        "10.0.0.0/9\n10.128.0.0/9\n::/0\n"
    );
    let json = set(&["split", "--json", "--length4", "9", "-4"], "10.0.0.0/9\n");
    assert_eq!(json, "{\"family\":\"ipv4\",\"prefix\":\"10.0.0.0/9\"}\n");
    let message = refused(&["split", "--length6", "128"], "::/0\n");
    let wanted = "longmatch: --length6: the lists have \
        340,282,366,920,938,463,463,374,607,431,768,211,456 parts, more than --limit 16,777,216: ";
    assert!(message.starts_with(wanted), "{message}");
    let message = refused(&["split", "--length4", "32", "--limit", "255"], "10.0.0.0/24\n");
    assert!(message.contains("--length4: the lists have 256 parts"), "{message}");
    assert_eq!(
        set(&["split", "--length4", "32", "--limit", "256"], "10.0.0.0/24\n").lines().count(),
        256
    );
    assert!(refused_usage(&["split"]).contains("--length4"));
}

#[test]
fn counts_are_exact() {
    let expected = "3 entries\n                                              addresses   of all  prefixes  ranges\n  \
        IPv4                                              512    0.0 %         1       1\n  \
        IPv6  340,282,366,920,938,463,463,374,607,431,768,211,456  100.0 %         1       1\n";
    let found = set(&["count"], "10.0.0.0/24\n10.0.1.0/24\n::/0\n");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&found), words(expected), "{found}");
    let json = set(&["count", "--json"], "0.0.0.0/0\n");
    let expected = "{\"family\":\"ipv4\",\"addresses\":\"4294967296\",\"share\":1.0,\"prefixes\":1,\"ranges\":1}\n\
        {\"family\":\"ipv6\",\"addresses\":\"0\",\"share\":0.0,\"prefixes\":0,\"ranges\":0}\n";
    assert_eq!(json, expected);
}

#[test]
fn errors_name_the_file_the_line_and_the_remedy() {
    let dir = Dir::new();
    let bad = dir.file("bad.txt", "10.0.0.0/8\n10.9.0.1/16\n");
    let message = refused(&["aggregate", &bad], "");
    let wanted = format!(
        "longmatch: {bad}: line 2: column 'prefix': '10.9.0.1/16' is not a prefix, an address or a range: host bits are \
         set after /16: mask the prefix, or use a longer length (read as a list of prefixes) (--mask drops host bits)\n"
    );
    assert_eq!(message, wanted);
    assert_eq!(set(&["aggregate", "--mask", &bad], ""), "10.0.0.0/8\n");
    let message = refused(&["aggregate"], "10.0.0\n");
    assert!(message.starts_with("longmatch: standard input: "));
    assert!(message.ends_with("(--lenient keeps the undamaged part)\n"), "{message}");
    let ended = run_with(&["set", "aggregate", "--lenient"], "10.0.0\n10.0.0.0/8\nx.y\n");
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.0.0.0/8\n"));
    assert!(ended.stderr.contains("2 damaged lines or records were left out"), "{}", ended.stderr);
    assert!(ended.stderr.contains("'10.0.0'"), "{}", ended.stderr);
    assert!(refused_usage(&["union"]).contains("FILE"));
    let pair = "10.0.0.1 10.0.0.9\n";
    let message = refused(&["aggregate"], pair);
    assert!(message.contains("(--prefix-column 1,2 or --format routes)"), "{message}");
    assert_eq!(set(&["aggregate", "--format", "routes"], pair), "10.0.0.1/32\n");
    let ended = run_with(&["set", "aggregate", "--prefix-column", "1,2"], pair);
    assert_eq!(ended.stdout, "10.0.0.1/32\n10.0.0.2/31\n10.0.0.4/30\n10.0.0.8/31\n");
    assert!(ended.stderr.contains("read as text of ranges"), "{}", ended.stderr);
    let missing = dir.path("missing.txt");
    assert!(refused(&["count", &missing], "").contains("missing.txt: cannot be opened"));
    assert!(refused(&["diff", &missing, &bad], "").contains("missing.txt"));
    assert!(refused(&["aggregate"], "a\0\0b\n").contains("not a known format"));
    assert!(refused_usage(&["agregate"]).contains("aggregate"));
}

#[test]
fn compressed_lists_and_standard_input() {
    let dir = Dir::new();
    let packed = dir.file("list.gz", gzip(LIST));
    assert_eq!(set(&["aggregate", "-6", &packed], ""), "2001:db8::/32\n");
    let ended = run_with(&["set", "aggregate", "-6", "-"], gzip(LIST));
    assert_eq!((ended.code, &ended.stdout[..]), (0, "2001:db8::/32\n"));
    let ended = run_with(&["set", "diff", "-", &packed, "--prefixes"], gzip(LIST));
    assert_eq!((ended.code, &ended.stdout[..]), (0, ""));
    let table = dir.file("table.gz", gzip("10.0.0.0/8 a\n"));
    let ended = run_with(&["set", "diff", "-", &table], gzip("10.0.0.0/8 b\n"));
    assert_eq!(ended.code, 1, "{ended:?}");
    let ended = run_with(&["set", "aggregate"], &gzip(LIST)[..30]);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{ended:?}");
    assert!(ended.stderr.contains("gzip"), "{}", ended.stderr);
}

#[test]
fn tables_of_routes_are_lists() {
    let dump = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/feed/bgpdump.txt");
    let ended = run(&["set", "aggregate", dump]);
    let expected = "198.51.100.0/24\n203.0.113.0/24\n2001:db8:5::/48\n";
    assert_eq!((ended.code, &ended.stdout[..]), (0, expected), "{ended:?}");
    assert!(ended.stderr.contains("of peer"), "the chosen peer is named: {}", ended.stderr);
}

#[test]
fn a_closed_pipe_ends_the_program_silently() {
    let dir = Dir::new();
    let list = dir.file("list.txt", "10.0.0.0/8\n");
    let mut command = longmatch(&["set", "split", "--length4", "30", &list]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut start = [0; 9];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(&start, b"10.0.0.0/");
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let dir = Dir::new();
    let list = dir.file("list.txt", "10.0.0.0/8 a\n");
    let none = dir.file("none.txt", "11.0.0.0/8 a\n");
    for args in [&["aggregate", &list][..], &["count", &list], &["diff", &list, &none]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = longmatch(&[&["set"], args].concat()).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.starts_with("longmatch: cannot write to standard output: "), "{stderr}");
    }
}

/// Six thousand hosts in random order, in several files.
#[test]
fn order_and_files_do_not_matter() {
    let dir = Dir::new();
    let mut files: Vec<String> = vec![String::new(); 5];
    for i in 0..6_000u32 {
        let host = i * 2_221 % 6_000;
        files[(i % 5) as usize] += &format!("10.0.{}.{}\n", host >> 8, host & 255);
    }
    let paths: Vec<_> =
        files.iter().enumerate().map(|(i, text)| dir.file(&i.to_string(), text)).collect();
    let args: Vec<&str> =
        ["aggregate", "--ranges"].into_iter().chain(paths.iter().map(|it| &it[..])).collect();
    assert_eq!(set(&args, ""), "10.0.0.0-10.0.23.111\n");
}

#[test]
fn help_has_examples_for_every_operation() {
    let all = [
        "aggregate",
        "union",
        "intersect",
        "difference",
        "complement",
        "overlaps",
        "covered",
        "matrix",
        "dump",
        "diff",
        "split",
        "count",
    ];
    let top = run(&["set", "--help"]).stdout;
    for operation in all {
        assert!(top.contains(&format!("\n  {operation} ")), "{top}");
        for flag in ["-h", "--help"] {
            let ended = run(&["set", operation, flag]);
            assert_eq!((ended.code, &ended.stderr[..]), (0, ""), "{operation}");
            assert!(ended.stdout.contains(&format!("longmatch set {operation} ")), "{operation}");
            let longest = ended.stdout.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= 100, "{operation} {flag}: a line of {longest} characters");
        }
    }
}
