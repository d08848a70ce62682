//! `longmatch replay`, run as a process. No test depends on a measured time.

use std::path::PathBuf;

use longmatch_feed::{Event, Options, load_path};

use crate::common::{Dir, Ended, run, run_with};

const ROUTES: &str = "10.0.0.0/8 a\n10.1.0.0/16 b\n10.1.2.0/24 c\n192.0.2.0/24 a\n";

/// 2 new, 3 same, 2 changed, 2 withdrawn, 1 unknown; four routes before and after.
const UPDATES: &str = "\
A 10.0.0.0/8 a
A 10.0.0.0/8 d
A 10.2.0.0/16 b
# again
A 10.2.0.0/16 b
W 10.1.0.0/16
W 10.1.0.0/16
A 10.1.2.0/24 a
A 0.0.0.0/0 d
A 0.0.0.0/0 d
W 192.0.2.0/24
";

const KINDS: [(&str, u64); 6] =
    [("updates", 10), ("new", 2), ("same", 3), ("changed", 2), ("withdrawn", 2), ("unknown", 1)];

const KEYS: [&str; 40] = [
    "engine",
    "variant",
    "family",
    "routes",
    "routes_after",
    "updates",
    "new",
    "same",
    "changed",
    "withdrawn",
    "unknown",
    "batch",
    "mean_us",
    "mean_effective_us",
    "p50_us",
    "p99_us",
    "p999_us",
    "max_us",
    "entries_replaced",
    "nodes_replaced",
    "leaves_replaced",
    "recompiled",
    "bytes_before",
    "bytes_after",
    "bytes_fresh",
    "readers",
    "reader_batch",
    "simd",
    "reader_mlps_idle",
    "reader_mlps_churn",
    "reader_p50_ns_idle",
    "reader_p50_ns_churn",
    "reader_p9999_ns_idle",
    "reader_p9999_ns_churn",
    "guard_ns",
    "report_ns",
    "checkpoints",
    "checked",
    "mismatches",
    "check",
];

fn lines(ended: &Ended) -> Vec<serde_json::Value> {
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn replay(args: &[&str]) -> Ended {
    run(&[&["replay"], args].concat())
}

#[track_caller]
fn has(line: &serde_json::Value, wanted: &[(&str, u64)]) {
    for (key, count) in wanted {
        assert_eq!(line[key], *count, "{key}: {line}");
    }
}

#[test]
fn json_has_counts_times_and_readers() {
    let dir = Dir::new();
    let (routes, updates) = (dir.file("routes.txt", ROUTES), dir.file("updates.txt", UPDATES));
    let ended = replay(&["-r", &routes, "-u", &updates, "--json", "--readers", "1"]);
    let lines = lines(&ended);
    let patched = ["folio", "poptrie", "dxr", "dir24_8", "tree_bitmap"];
    assert_eq!(lines.len(), patched.len(), "every engine that can be patched is the default");
    for (line, engine) in lines.iter().zip(patched) {
        assert!(KEYS.iter().all(|key| !line[key].is_null()), "{line}");
        assert_eq!((&line["engine"], &line["family"]), (&engine.into(), &"ipv4".into()));
        has(line, &KINDS);
        has(line, &[("routes", 4), ("routes_after", 4), ("batch", 1), ("readers", 1)]);
        has(line, &[("mismatches", 0), ("checkpoints", 1), ("reader_batch", 256)]);
        assert_eq!(line["check"], "ok");
        let positive = ["mean_us", "mean_effective_us", "p50_us", "bytes_before", "bytes_fresh"];
        assert!(positive.iter().all(|key| line[key].as_f64().unwrap() > 0.0), "{line}");
        assert!(line["reader_mlps_churn"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn batches_and_checkpoints() {
    let dir = Dir::new();
    let (routes, updates) = (dir.file("routes.txt", ROUTES), dir.file("updates.txt", UPDATES));
    let args = ["-r", &routes, "-u", &updates, "--json", "-e", "sail,folio:s=16"];
    let batch = ["--batch", "4", "--verify-every", "4"];
    for line in lines(&replay(&[&args[..], &batch].concat())) {
        has(&line, &KINDS);
        has(&line, &[("batch", 4), ("checkpoints", 3), ("mismatches", 0), ("readers", 0)]);
        assert!(line["reader_mlps_idle"].is_null());
        // Each of the three commits has changes.
        let recompiled = line["recompiled"].as_u64().unwrap();
        assert_eq!(recompiled == 3, line["engine"] == "sail", "{line}");
    }
}

#[test]
fn tables_are_printed_without_json() {
    let dir = Dir::new();
    let (routes, updates) = (dir.file("routes.txt", ROUTES), dir.file("updates.txt", UPDATES));
    let ended = replay(&["-r", &routes, "-u", &updates, "-e", "folio,radix"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let wanted = ["10 updates", "2 new, 3 same, 2 changed, 2 withdrawn, 1 unknown; 4 routes then"];
    assert!(wanted.iter().all(|wanted| ended.stdout.contains(wanted)), "{}", ended.stdout);
    let rows = |start: &str| ended.stdout.lines().filter(|l| l.trim().starts_with(start)).count();
    assert_eq!((rows("folio"), rows("radix")), (2, 2), "{}", ended.stdout);
    assert!(!ended.stdout.contains("Mlps"), "no readers, no rates");

    // Two variants of one engine are distinguishable in every table.
    let engines = "poptrie:s=16,poptrie:s=18";
    let ended = replay(&["-r", &routes, "-u", &updates, "-e", engines, "--readers", "1"]);
    for variant in ["poptrie s=16", "poptrie s=18"] {
        assert_eq!(ended.stdout.matches(variant).count(), 3, "{}", ended.stdout);
    }
}

#[test]
fn updates_from_files_and_standard_input() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let (begin, end) = UPDATES.split_at(UPDATES.find('#').unwrap());
    let (begin, end) = (dir.file("begin.txt", begin), dir.file("end.txt", end));
    let args = ["-r", &routes, "-e", "folio", "--json"];
    let two = replay(&[&args[..], &["-u", &begin, "-u", &end]].concat());
    has(&lines(&two)[0], &KINDS);
    let piped = run_with(&[&["replay", "-u", "-"], &args[..]].concat(), UPDATES);
    has(&lines(&piped)[0], &KINDS);
    // BGP4MP as bgpdump prints it; the peer with fewer announcements is not taken.
    let dump = "\
BGP4MP|1|A|192.0.2.1|64500|10.3.0.0/16|64500|IGP|192.0.2.9|0|0||NAG||
BGP4MP|1|W|192.0.2.1|64500|10.1.0.0/16
BGP4MP|1|W|192.0.2.2|64501|10.0.0.0/8
";
    let dump = dir.file("dump.txt", dump);
    let ended = replay(&[&args[..], &["-u", &dump]].concat());
    has(&lines(&ended)[0], &[("updates", 2), ("new", 1), ("withdrawn", 1), ("routes_after", 4)]);
    assert!(ended.stderr.contains("peer 192.0.2.1 AS64500"), "{}", ended.stderr);
}

/// An UPDATE message in an MRT record (BGP4MP, message of a 16-bit AS): 192.0.2.1 withdraws
/// 10.1.0.0/16 and announces 10.2.0.0/16 and 10.0.0.0/8 by way of 192.0.2.9.
fn mrt() -> Vec<u8> {
    let withdrawn = [16, 10, 1];
    let origin = [0x40, 1, 1, 0];
    let path = [0x40, 2, 4, 2, 1, 0xfd, 0xf4];
    let next_hop = [0x40, 3, 4, 192, 0, 2, 9];
    let announced = [16, 10, 2, 8, 10];
    let attributes = [&origin[..], &path, &next_hop].concat();
    let lengths = [withdrawn.len(), attributes.len()].map(|len| (len as u16).to_be_bytes());
    let body = [&lengths[0][..], &withdrawn, &lengths[1], &attributes, &announced].concat();
    let message_len = (19 + body.len() as u16).to_be_bytes();
    let message = [&[0xff; 16][..], &message_len, &[2], &body].concat();
    let peer = [0xfd, 0xf4, 0xfd, 0xf5, 0, 0, 0, 1, 192, 0, 2, 1, 192, 0, 2, 2];
    let len = ((peer.len() + message.len()) as u32).to_be_bytes();
    let header = [&[0, 0, 0, 1, 0, 16, 0, 1][..], &len].concat();
    [header, peer.to_vec(), message].concat()
}

/// Text and MRT share one numbering of next hops: equal texts are the same next hop.
#[test]
fn mrt_and_text_share_next_hops() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "10.0.0.0/8 192.0.2.9\n10.1.0.0/16 b\n");
    let updates = dir.file("updates.mrt", mrt());
    let ended = replay(&["-r", &routes, "-u", &updates, "-e", "folio", "--json"]);
    let wanted = [("updates", 3), ("new", 1), ("same", 1), ("withdrawn", 1), ("changed", 0)];
    has(&lines(&ended)[0], &wanted);
}

#[test]
fn a_table_is_filled_from_empty() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "2001:db8::/32 a\n2001:db8:1::/48 b\n::/0 c\n");
    let args = ["-r", &routes, "--from-empty", "-6", "--full"];
    for line in lines(&replay(&[&args[..], &["--json"]].concat())) {
        has(&line, &[("updates", 3), ("new", 3), ("routes", 0), ("routes_after", 3)]);
        assert_eq!((&line["family"], &line["mismatches"]), (&"ipv6".into(), &0.into()));
    }
    let ended = replay(&args);
    let wanted = "3 routes in random order, seed 1, into an empty table";
    assert!(ended.stdout.contains(wanted), "{}", ended.stdout);
}

#[test]
fn errors_name_the_place_and_the_remedy() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let bad = dir.file("bad.txt", "A 10.0.0.0/8 a\nW 10.0.0.0/33\n");
    let both = dir.file("both.txt", "A 10.0.0.0/8 a\nA 2001:db8::/32 a\n");
    let (empty, missing) = (dir.file("empty.txt", "# nothing\n"), dir.path("missing.txt"));
    let cases: [(&[&str], &str); 11] = [
        (&["-u", &bad], "bad.txt: line 2: '10.0.0.0/33' is not a prefix"),
        (&["-u", &missing], "missing.txt: cannot be opened"),
        (&["-u", &both], "both.txt: 1 IPv4 update and 1 IPv6 update: use -4 or -6"),
        (&["-u", &empty], "empty.txt: no updates: expected lines like"),
        (&["-u", &both, "-e", "foilo"], "no engine is called 'foilo'"),
        (&["-u", &both, "-e", "folio:s=99"], "s=99"),
        (&["-u", &both, "--from-empty"], "cannot be used with"),
        (&[], "--updates"),
        (&["-u", &both, "--batch", "0"], "at least 1"),
        (&["-u", &both, "--readers", "x"], "whole number"),
        (&["-u", &both, "-6", "-e", "sail"], "name others"),
    ];
    for (args, advice) in cases {
        let ended = replay(&[&["-r", &routes, "--json"], args].concat());
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(advice), "{args:?}: {}", ended.stderr);
    }
    let ended = replay(&["-r", "-", "-u", "-"]);
    assert!(ended.code == 2 && ended.stderr.contains("read twice"), "{}", ended.stderr);
    // With a family named, updates of the other one are left out, with a warning.
    let ended = replay(&["-r", &routes, "-u", &both, "-4", "-e", "folio", "--json"]);
    has(&lines(&ended)[0], &[("updates", 1), ("same", 1)]);
    assert!(ended.stderr.contains("1 update of the other address family left out"));
}

/// The first 20,000 updates of a real day; counted with a few lines of awk.
#[test]
fn the_beginning_of_a_real_day() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let data = std::env::var_os("LONGMATCH_DATA").map_or_else(|| beside.into(), PathBuf::from);
    if !data.is_dir() {
        eprintln!(
            "skipped: the_beginning_of_a_real_day: no directory {}; set LONGMATCH_DATA",
            data.display()
        );
        return;
    }
    let days = [
        ("ipv4", [1_230, 15_550, 2_729, 491, 0, 1_043_064]),
        ("ipv6", [292, 16_527, 2_936, 243, 2, 246_224]),
    ];
    let dir = Dir::new();
    for (family, counts) in days {
        let mut text = String::new();
        let mut left = 20_000;
        let mut sink = |event: Event<'_>| {
            if left == 0 {
                return Err("enough".into());
            }
            left -= 1;
            text += &match event {
                Event::Announce(prefix, next_hop) => format!("A {prefix} {next_hop}\n"),
                Event::Withdraw(prefix) => format!("W {prefix}\n"),
            };
            Ok(())
        };
        let path = data.join(format!("{family}-updates.txt.zst"));
        load_path(path, &Options::default(), &mut sink).unwrap_err();
        let updates = dir.file(family, text);
        let routes = data.join(format!("{family}-full.txt.zst"));
        let args = ["-r", routes.to_str().unwrap(), "-u", &updates, "-e", "folio", "--json"];
        let line = &lines(&replay(&[&args[..], &["--verify-every", "10000"]].concat()))[0];
        let keys = ["new", "same", "changed", "withdrawn", "unknown", "routes_after"];
        let wanted: Vec<_> = keys.into_iter().zip(counts).collect();
        has(line, &wanted);
        has(line, &[("updates", 20_000), ("mismatches", 0), ("checkpoints", 2)]);
        assert_eq!(line["check"], "ok");
    }
}
