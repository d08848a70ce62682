//! Compiled tables are described, measured and verified.

use std::collections::BTreeSet;

use longmatch::Answers;
use longmatch::file::FileSpec;
use longmatch_feed::{DataLoader, Options};

use crate::common::{Dir, run};

/// The engines of the lines of JSON that a command prints, of which all answers are right.
fn engines(args: &[&str]) -> BTreeSet<String> {
    let ended = run(args);
    assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
    let lines = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let right = |line: serde_json::Value| {
        let checked =
            line.get("check").is_none_or(|check| check == "ok" && line["mismatches"] == 0);
        assert!(checked, "{args:?}: {line}");
        Some(line["engine"].as_str()?.split(':').next()?.to_owned())
    };
    lines.filter_map(right).collect()
}

#[test]
fn compiled_tables_are_measured_and_verified() {
    let dir = Dir::new();
    let rows = "network,asn,site,load\n10.0.0.0/8,64500,office,0.5\n10.9.0.0/16,64501,\"lab, \u{1b}[2J\",\n\
                2001:db8::/32,64500,office,0.5\n::/0,,,-1\n";
    let (sites, table) = (dir.file("sites.csv", rows), dir.path("sites.lm"));
    let updates = dir.file("updates", "A 10.9.0.0/16 x\nW 10.0.0.0/8\n");
    for answers in [Answers::Routes, Answers::Values] {
        let mut loader = DataLoader::new(Options::default());
        loader.path(&sites).unwrap();
        FileSpec::default().answers(answers).write(&loader.finish().unwrap(), &table).unwrap();
        let stat = run(&["stat", "--table", &table, "--engine", "radix", "--json"]);
        assert_eq!((stat.code, stat.stdout.lines().count()), (0, 2), "{}", stat.stderr);
        let verify = ["verify", "--quick", "--table", &table, "--engine", "folio,radix", "--json"];
        let all = ["file", "folio", "radix", "rib"];
        assert!(engines(&verify).iter().eq(all), "{answers:?}");
        let bench = [
            "bench",
            "--table",
            &table,
            "--engine",
            "folio",
            "--traffic",
            "routed",
            "--seconds",
            "0.001",
            "--json",
        ];
        assert!(engines(&bench).iter().eq(["file", "folio"]), "{answers:?}");
    }
    let ended = run(&["replay", "-4", "--table", &table, "-u", &updates, "--engine", "folio"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}
