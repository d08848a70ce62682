//! The forms of sets, and files as text.

use super::{LIST, refused, refused_usage, set};
use crate::common::{Dir, Ended, run, run_with};

#[test]
fn each_form_is_the_input_of_its_program() {
    let text = "10.0.0.0/24\n10.0.1.7\n2001:db8::/32\n2001:db8:1::1\n2001:dba::1\n";
    let cases = [
        ("prefixes", "10.0.0.0/24\n10.0.1.7/32\n2001:db8::/32\n2001:dba::1/128\n"),
        ("hosts", "10.0.0.0/24\n10.0.1.7\n2001:db8::/32\n2001:dba::1\n"),
        (
            "ranges",
            "10.0.0.0-10.0.0.255\n10.0.1.7-10.0.1.7\n\
             2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff\n2001:dba::1-2001:dba::1\n",
        ),
        (
            "ipset",
            "create longmatch4 hash:net family inet maxelem 65536\nadd longmatch4 10.0.0.0/24\n\
             add longmatch4 10.0.1.7/32\ncreate longmatch6 hash:net family inet6 maxelem 65536\n\
             add longmatch6 2001:db8::/32\nadd longmatch6 2001:dba::1/128\n",
        ),
        (
            "nft",
            "table inet longmatch {\n\tset longmatch4 {\n\t\ttype ipv4_addr\n\t\tflags interval\n\
             \t\telements = { 10.0.0.0/24,\n\t\t\t     10.0.1.7 }\n\t}\n\
             \tset longmatch6 {\n\t\ttype ipv6_addr\n\t\tflags interval\n\
             \t\telements = { 2001:db8::/32,\n\t\t\t     2001:dba::1 }\n\t}\n}\n",
        ),
        (
            "iptables",
            "*filter\n:longmatch - [0:0]\n-4 -A longmatch -s 10.0.0.0/24 -j DROP\n\
             -4 -A longmatch -s 10.0.1.7/32 -j DROP\n-6 -A longmatch -s 2001:db8::/32 -j DROP\n\
             -6 -A longmatch -s 2001:dba::1/128 -j DROP\nCOMMIT\n",
        ),
        (
            "prefix-list",
            "ip prefix-list longmatch seq 5 permit 10.0.0.0/24\n\
             ip prefix-list longmatch seq 10 permit 10.0.1.7/32\n\
             ipv6 prefix-list longmatch seq 5 permit 2001:db8::/32\n\
             ipv6 prefix-list longmatch seq 10 permit 2001:dba::1/128\n",
        ),
    ];
    for (form, expected) in cases {
        assert_eq!(set(&["aggregate", "--form", form], text), expected, "{form}");
    }
    let four = set(&["aggregate", "-4", "--form", "iptables", "--name", "bad"], text);
    let expected = "*filter\n:bad - [0:0]\n-A bad -s 10.0.0.0/24 -j DROP\n\
        -A bad -s 10.0.1.7/32 -j DROP\nCOMMIT\n";
    assert_eq!(four, expected);
    let parts = set(&["split", "--length4", "32", "--form", "hosts"], "10.0.0.0/31\n");
    assert_eq!(parts, "10.0.0.0\n10.0.0.1\n");
    let parts = set(&["split", "--length4", "31", "--ranges"], "10.0.0.0/30\n");
    assert_eq!(parts, "10.0.0.0-10.0.0.1\n10.0.0.2-10.0.0.3\n");
}

/// All operations that print a set, in the forms that longmatch reads.
#[test]
fn forms_are_read_again_as_the_same_set() {
    let dir = Dir::new();
    let host = |n: u32| format!("{}\n", std::net::Ipv4Addr::from(0x0a00_0000 + 2 * n));
    let many: String = (0..70_000).map(host).collect();
    let lists = [LIST, "0.0.0.0/0\n", "::/0\n0.0.0.0/0\n", "255.255.255.255\n::1\n", &many];
    for list in lists {
        let file = dir.file("list.txt", list);
        for args in [&["aggregate", &file][..], &["union", &file], &["difference", &file, "-"]] {
            let expected = set(args, "192.0.2.1\n");
            for form in ["ipset", "nft", "iptables", "hosts", "ranges"] {
                let printed = set(&[args, &["--form", form]].concat(), "192.0.2.1\n");
                let again = run_with(&["set", "aggregate"], &printed);
                assert_eq!(
                    (again.code, &again.stdout),
                    (0, &expected),
                    "{args:?} {form}: {again:?}"
                );
            }
        }
    }
    // A set of type hash:net has no prefix of length 0, and its maxelem is at least the number of entries.
    let whole = set(&["aggregate", "-4", "--form", "ipset"], "0.0.0.0/0\n");
    assert!(whole.ends_with("add longmatch4 0.0.0.0/1\nadd longmatch4 128.0.0.0/1\n"), "{whole}");
    let large = set(&["aggregate", "--form", "ipset", "--name", "x"], &many);
    assert!(
        large.starts_with("create x4 hash:net family inet maxelem 70000\n"),
        "{}",
        &large[..60]
    );
    assert!(large.ends_with("create x6 hash:net family inet6 maxelem 65536\n"));
    let table = set(&["intersect", "--form", "nft", &dir.file("a", "10.0.0.0/8"), "-"], "::/0");
    assert!(!table.contains("elements") && table.matches("flags interval").count() == 2, "{table}");
}

#[test]
fn forms_and_names_that_do_not_fit_are_refused() {
    let long = "a".repeat(29);
    for name in ["", "1a", "a b", "a;b", "ü", "_a", &*long] {
        let message = refused_usage(&["aggregate", "--form", "nft", "--name", name]);
        assert!(message.contains("expected a letter and at most 27"), "{name}: {message}");
    }
    let message = refused(&["aggregate", "--form", "hosts", "--name", "a"], "10.0.0.0/8\n");
    assert!(message.contains("--name names the set of --form ipset"), "{message}");
    for args in
        [&["--name", "a"][..], &["--form", "hosts", "--json"], &["--form", "nft", "--ranges"]]
    {
        assert!(refused_usage(&[&["aggregate"], args].concat()).contains("--form"), "{args:?}");
    }
}

#[test]
fn coverage_is_full_partial_or_none() {
    let dir = Dir::new();
    let a =
        dir.file("a", "10.0.0.0/8\n10.0.0.0/24\n10.0.0.0/24\n192.0.2.0-192.0.2.2\n2001:db8::/32\n");
    let b = dir.file("b", "10.0.0.0/25\n10.0.0.128/25\n2001:db8::/33\n2001:db8:8000::/33\n");
    let all = "10.0.0.0/8\tpartly\n10.0.0.0/24\tfull\n192.0.2.0/31\tnot\n192.0.2.2/32\tnot\n\
        2001:db8::/32\tfull\n";
    assert_eq!(set(&["covered", &a, &b], ""), all);
    for how in ["full", "partly", "not"] {
        let only: String = all.split_inclusive('\n').filter(|line| line.contains(how)).collect();
        assert_eq!(set(&["covered", "--only", how, &a, &b], ""), only);
    }
    let json = set(&["covered", "--json", "-6", &a, &b], "");
    assert_eq!(json, "{\"prefix\":\"2001:db8::/32\",\"covered\":\"full\"}\n");
    let none = run(&["set", "covered", "--only", "not", &b, &a]);
    assert_eq!(none, Ended { code: 1, stdout: String::new(), stderr: String::new() });
    assert!(refused_usage(&["covered", "--only", "some", &a, &b]).contains("full, partly, not"));
}

#[test]
fn a_matrix_has_the_addresses_of_each_pair() {
    let dir = Dir::new();
    let a = dir.file("a", "10.0.0.0/24\n");
    let b = dir.file("b", "10.0.0.0/26\n10.9.0.0/26\n2001:db8::/64\n");
    let c = dir.file("c", "::/0\n");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let expected = format!(
        "IPv4 1 2 3\n1 {a} 256 (100.0 %) 64 (25.0 %) 0 (0.0 %)\n\
         2 {b} 64 (50.0 %) 128 (100.0 %) 0 (0.0 %)\n3 {c} 0 (-) 0 (-) 0 (-)\n\
         IPv6 1 2 3\n1 {a} 0 (-) 0 (-) 0 (-)\n2 {b} 0 (0.0 %) 1.84e19 (100.0 %) 1.84e19 (100.0 %)\n\
         3 {c} 0 (0.0 %) 1.84e19 (0.0 %) 3.40e38 (100.0 %)\n"
    );
    assert_eq!(words(&set(&["matrix", &a, &b, &c], "")), words(&expected));
    let json = set(&["matrix", "--json", &b, "-"], "10.0.0.0/27\n");
    let line = |family: &str, [a, b]: [&str; 2], addresses: &str, share: &str| {
        format!(
            "{{\"family\":\"{family}\",\"a\":\"{a}\",\"b\":\"{b}\",\"addresses\":\"{addresses}\",\
             \"share\":{share}}}\n"
        )
    };
    let stdin = "standard input";
    let expected = [
        line("ipv4", [&b, &b], "128", "1.0"),
        line("ipv4", [&b, stdin], "32", "0.25"),
        line("ipv4", [stdin, &b], "32", "1.0"),
        line("ipv4", [stdin, stdin], "32", "1.0"),
        line("ipv6", [&b, &b], "18446744073709551616", "1.0"),
        line("ipv6", [&b, stdin], "0", "0.0"),
        line("ipv6", [stdin, &b], "0", "null"),
        line("ipv6", [stdin, stdin], "0", "null"),
    ];
    assert_eq!(json, expected.concat());
    assert!(refused_usage(&["matrix", &a]).contains("FILE"));
}

const AWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/aws.json");

/// A file as text, CSV and JSON; the CSV and a compiled table of it give the same again.
#[test]
fn dumps_have_all_columns() {
    let dir = Dir::new();
    let csv = "network,asn,site\n2001:db8::/32,64501,\"a, \"\"b\"\"\"\n192.0.2.0/24,,x\n\
        10.0.0.0/8,64500,\n";
    let file = dir.file("sites.csv", csv);
    let dump = |args: &[&str]| {
        let ended = run(&[&["set", "dump"], args].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.stdout
    };
    let text = "10.0.0.0/8\t64500\t\n192.0.2.0/24\t\tx\n2001:db8::/32\t64501\ta, \"b\"\n";
    assert_eq!(dump(&[&file]), text);
    let rows = "prefix,asn,site\n10.0.0.0/8,64500,\n192.0.2.0/24,,x\n\
        2001:db8::/32,64501,\"a, \"\"b\"\"\"\n";
    assert_eq!(dump(&["--csv", &file]), rows);
    let table = dir.path("sites.lm");
    assert_eq!(run(&["compile", "-r", &file, "-o", &table]).code, 0);
    for source in [&dir.file("again.csv", rows), &table] {
        assert_eq!(dump(&["--csv", source]), rows);
        let json = "{\"prefix\":\"192.0.2.0/24\",\"asn\":null,\"site\":\"x\"}\n";
        assert_eq!(dump(&["--json", source]).lines().nth(1), Some(json.trim_end()));
    }
    let six = dump(&["-6", "--json", "--columns", "site=name,asn", "--types", "asn=string", &file]);
    assert_eq!(six, "{\"prefix\":\"2001:db8::/32\",\"name\":\"a, \\\"b\\\"\",\"asn\":\"64501\"}\n");
    assert_eq!(dump(&["--columns", "", &file]), "10.0.0.0/8\n192.0.2.0/24\n2001:db8::/32\n");
    let routes = run_with(&["set", "dump", "--csv"], "10.0.0.0/8 via 192.0.2.1 dev eth0\n");
    assert_eq!(routes.stdout, "prefix,next_hop\n10.0.0.0/8,192.0.2.1\n", "{routes:?}");
    let joined = dump(&["--duplicates", "join", "--columns", "service", AWS]);
    assert_eq!(joined, "3.5.140.0/22\tAMAZON;S3;EC2\n2600:1ff2:4000::/40\tAMAZON\n");
    assert!(refused(&["dump", "-", "-"], "").contains("'-' may be given only once"));
    assert!(refused_usage(&["dump", "--csv", "--json"]).contains("--json"));
}

/// Rows of a prefix that do not count are reported; joined, all of them are compared.
#[test]
fn differences_in_any_row_of_a_prefix_are_found() {
    let dir = Dir::new();
    let old = std::fs::read_to_string(AWS).unwrap();
    let new = dir.file("new.json", old.replace("\"S3\"", "\"S4\""));
    let order = dir.file(
        "order.json",
        old.replace("\"S3\"", "\"X\"").replace("\"EC2\"", "\"S3\"").replace("\"X\"", "\"EC2\""),
    );
    let diff = |new: &str, more: &[&str]| run(&[&["set", "diff", AWS, new][..], more].concat());
    let last = diff(&new, &["--stat", "--json"]);
    assert!(
        last.stdout.starts_with(
            "{\"family\":\"ipv4\",\"added\":0,\"removed\":0,\"changed\":0,\"same\":1}"
        )
    );
    let warning = "1 prefix has several different rows: 2 rows do not count (duplicates)\n";
    assert_eq!((last.code, last.stderr.matches(warning).count()), (0, 2), "{}", last.stderr);
    let joined = diff(&new, &["--duplicates", "join", "--json"]);
    assert_eq!((joined.code, &*joined.stderr), (1, ""));
    assert!(joined.stdout.contains("AMAZON;S3;EC2") && joined.stdout.contains("AMAZON;S4;EC2"));
    assert_eq!(joined.stdout.lines().count(), 1, "{}", joined.stdout);
    assert_eq!(
        diff(&order, &["--duplicates", "join"]),
        Ended { code: 0, stdout: String::new(), stderr: String::new() }
    );
    assert_eq!(diff(&order, &[]).code, 1, "another row is the last");
    let refused = diff(&new, &["--duplicates", "error"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}
