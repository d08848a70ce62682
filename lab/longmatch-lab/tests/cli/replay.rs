//! `longmatch-lab replay` of a real day of updates.

use std::path::PathBuf;

use longmatch_feed::{Event, Options, load_path};

use crate::common::{Dir, run};

/// The first 20,000 updates of a real day; counted with a few lines of awk.
#[test]
fn the_beginning_of_a_real_day() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let data = std::env::var_os("LONGMATCH_DATA").map_or_else(|| beside.into(), PathBuf::from);
    if !data.is_dir() {
        return eprintln!("skipped: no directory {}; set LONGMATCH_DATA", data.display());
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
        let ended = run(&[&["replay", "--verify-every", "10000"], &args[..]].concat());
        let line: serde_json::Value = serde_json::from_str(&ended.stdout).expect(&ended.stderr);
        let keys = ["new", "same", "changed", "withdrawn", "unknown", "routes_after"];
        assert_eq!(keys.map(|key| line[key].as_u64().unwrap()), counts, "{line}");
        let rest = ["updates", "mismatches", "checkpoints"].map(|key| line[key].as_u64().unwrap());
        assert_eq!((rest, &line["check"]), ([20_000, 0, 2], &"ok".into()), "{line}");
    }
}
