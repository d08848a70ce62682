//! Archives, and files that are joined.

use std::fs;

use crate::common::{Dir, run, run_with};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/");

/// Runs a command whose words have `@` for the folder of GeoLite2's files.
#[track_caller]
fn check(command: &str, code: i32, stdout: &str, stderr: &str) {
    let words = command.replace('@', &format!("{DATA}geolite2/GeoLite2-Country"));
    let ended = run(&words.split(' ').collect::<Vec<_>>());
    assert_eq!((ended.code, &*ended.stdout), (code, stdout), "{command}: {}", ended.stderr);
    assert!(ended.stderr.contains(stderr), "{command}: {}", ended.stderr);
}

#[test]
fn members_of_archives_are_read_by_every_command() {
    let several = "has 3 files of data: name one, as FILE:MEMBER";
    let zip = "@-CSV.zip:GeoLite2-Country-Blocks-IPv6.csv";
    let set = "2001:db8::/32\n";
    for command in ["set aggregate", "lookup 2001:db8::1 -r", "compile -o /dev/null -r"] {
        check(&format!("{command} @-CSV.zip"), 2, "", several);
    }
    check(&format!("set aggregate {zip}"), 0, set, "");
    let row = "2001:db8::1\t2001:db8::/33\t2750405\n";
    check(&format!("lookup --add geoname_id 2001:db8::1 -r {zip}"), 0, row, "--join geoname_id=");
    check(
        &format!("set aggregate {zip}x"),
        2,
        "",
        "has no member 'GeoLite2-Country-Blocks-IPv6.csvx'",
    );
    let bytes = fs::read(format!("{DATA}formats/list.tar.gz")).unwrap();
    assert_eq!(run_with(&["set", "aggregate"], bytes).stdout, "192.0.2.0/24\n2001:db8::/32\n");
}

#[test]
fn archives_of_addresses_are_refused_with_advice() {
    let zip = format!("{DATA}formats/ip2location.zip");
    let bytes = fs::read(&zip).unwrap();
    for args in
        [&["annotate", "--regex", ".*", &zip][..], &["bench", "--traffic", &zip, "-r", "/dev/null"]]
    {
        let ended = run(args);
        assert!(ended.code == 2 && ended.stderr.contains("a zip archive: unpack it"), "{ended:?}");
    }
    let ended = run_with(&["lookup", "-"], bytes);
    assert!(ended.code == 2 && ended.stderr.contains("(unzip -p)"), "{ended:?}");
}

#[test]
fn an_archive_is_not_overwritten() {
    let dir = Dir::new();
    let zip = dir.path("a.zip");
    fs::copy(format!("{DATA}formats/ip2location.zip"), &zip).unwrap();
    let link = dir.path("a.lm");
    fs::hard_link(&zip, &link).unwrap();
    let member = format!("{zip}:IP2LOCATION-LITE-DB1.CSV");
    let blocks = format!("{DATA}geolite2/GeoLite2-Country-Blocks-IPv4.csv");
    let join = format!("geoname_id={zip}");
    let sources: [&[&str]; 2] =
        [&["-r", &member, "--prefix-column", "1,2"], &["-r", &blocks, "--join", &join]];
    for source in sources {
        let ended = run(&[&["compile", "-o", &link], source].concat());
        assert!(ended.stderr.contains("the output is the input"), "{ended:?}");
        let ended = run(&[&["compile", "-o", &dir.path("b.lm")], source].concat());
        assert!(!ended.stderr.contains("the output is the input"), "{ended:?}");
    }
}

#[test]
fn files_are_joined_in_every_command() {
    let source = "-r @-Blocks-IPv4.csv --join geoname_id=@-Locations-en.csv";
    let missing = "1 key has no row in the joined file: the cells are empty (--join)";
    let (names, nl) =
        ("--add geoname_id,country_name", "192.0.2.1\t192.0.2.0/24\t2750405\tThe Netherlands\n");
    check(&format!("lookup {names} 192.0.2.1 {source}"), 0, nl, missing);
    let empty = "198.51.100.129\t198.51.100.128/25\t\t\n203.0.113.1\t203.0.113.0/24\t6252001\t\n";
    check(&format!("lookup {names} 198.51.100.129 203.0.113.1 {source}"), 0, empty, missing);
    let france = "198.51.100.0/25\n";
    let files = source.replace("-r ", "");
    check(&format!("set aggregate --where country_iso_code=FR {files}"), 0, france, missing);
    check(
        &format!("set dump --columns country_iso_code --where geoname_id=3017382 {files}"),
        0,
        "198.51.100.0/25\tFR\n",
        "",
    );
    // An archive has both files; names that come twice are numbered.
    let zip = "--join registered_country_geoname_id:geoname_id=@-CSV.zip:GeoLite2-Country-Locations-en.csv";
    let both = "192.0.2.1\t192.0.2.0/24\tNL\tNL\n";
    check(
        &format!("lookup --add country_iso_code,country_iso_code_2 192.0.2.1 {source} {zip}"),
        0,
        both,
        "",
    );
    check(
        "lookup --add geoname_id 192.0.2.1 -r @-Blocks-IPv4.csv",
        0,
        "192.0.2.1\t192.0.2.0/24\t2750405\n",
        "-Locations-en.csv adds the names of its places",
    );
    check(
        &format!("stat -e none --json --where country_iso_code=ZZ {source}"),
        0,
        "",
        "no row has the cells that are asked for (--where)",
    );
    check("lookup 192.0.2.1 --join a=b", 2, "", "--join");
}

#[test]
fn files_that_cannot_be_joined_are_refused() {
    let dir = Dir::new();
    let blocks = "-r @-Blocks-IPv4.csv";
    for (content, join, error) in [
        (
            "id,name\n1,a\n2,b\n1,c\n",
            "geoname_id:id",
            "side.csv: line 4: the key '1' has a row in line 2 already",
        ),
        (
            "id,name\n1,a,b\n",
            "geoname_id:id",
            "side.csv: line 2: the row has 3 cells for 2 columns",
        ),
        (
            "id,name\n",
            "geoname_id",
            "side.csv: the first row must name the column of the keys, and has no 'geoname_id': the columns are id, name",
        ),
        ("", "geoname_id", "the first row must name"),
        (
            "id,name\n",
            "place:id",
            "no column is named 'place': the columns are network, geoname_id",
        ),
    ] {
        let side = dir.file("side.csv", content);
        let command = format!("lookup 192.0.2.1 {blocks} --join {join}={side}");
        check(&command, 2, "", error);
        check(&format!("{command} --lenient"), 2, "", ".csv: ");
    }
    for join in ["geoname_id", "=x", "a=", ":a=x", "a=-"] {
        check(&format!("lookup 192.0.2.1 {blocks} --join {join}"), 2, "", "expected COLUMN=FILE");
    }
}
