//! Rows of the files in `testdata/formats`, and errors of the same formats.

use crate::common;
use crate::show::{check, error};

#[test]
fn files_have_their_rows() {
    let csv = "text with the delimiter comma, with";
    for (name, format, columns, rows) in [
        (
            "delegated.txt",
            "delegated",
            "registry:string country:string date:u64 status:string",
            &[
                "192.0.2.0/24 ripencc|FR|20100712|allocated",
                "198.51.100.0/23 ripencc|DE|20110203|assigned",
                "198.51.102.0/24 ripencc|DE|20110203|assigned",
                "203.0.113.0/24 ripencc|~|~|available",
                "2001:db8::/32 ripencc|NL|20050101|allocated",
            ][..],
        ),
        (
            "rpsl.txt",
            "rpsl",
            "origin_as:u64 descr:string",
            &["192.0.2.0/24 64496|Example network", "2001:db8::/32 64497|~"],
        ),
        (
            "cisco.txt",
            "cisco",
            "list:string action:string ge:u64 le:u64",
            &[
                "0.0.0.0/0 NAMED|deny|~|~",
                "10.0.0.0/8 IN|deny|9|24",
                "172.16.0.0/12 10|deny|~|~",
                "192.0.2.0/24 IN|permit|~|~",
                "198.51.100.7/32 10|permit|~|~",
                "203.0.113.0/24 NAMED|permit|~|~",
                "2001:db8::/32 IN6|permit|~|48",
            ],
        ),
        (
            "mikrotik.rsc",
            "mikrotik",
            "list:string comment:string",
            &[
                "192.0.2.0/24 block|two words",
                "198.51.100.1/32 block|~",
                "198.51.100.2/32 block|~",
                "203.0.113.9/32 allow|one",
                "2001:db8::/32 six|~",
            ],
        ),
        (
            "nginx.conf",
            "nginx",
            "variable:string value:string",
            &[
                "0.0.0.0/0 $country|ZZ",
                "192.0.2.0/24 $country|FR",
                "198.51.100.0/24 ~|set_real_ip_from",
                "203.0.113.0/24 ~|allow",
                "203.0.113.7/32 ~|deny",
                "::/0 $country|ZZ",
                "2001:db8::/32 $country|DE",
            ],
        ),
        (
            "geofeed.csv",
            &format!("{csv}out a header"),
            "country:string region:string city:string postal_code:u64",
            &[
                "192.0.2.0/24 US|US-AL|Alabaster|~",
                "198.51.100.0/24 FR|~|~|75001",
                "2001:db8::/32 ~|~|~|~",
            ],
        ),
        (
            "vrps.csv",
            &format!("{csv} a header"),
            "ASN:string Max Length:u64 Trust Anchor:string Expires:u64",
            &[
                "192.0.2.0/24 AS64496|25|ripe|1767225600",
                "2001:db8::/32 AS64497|32|arin|1767225600",
            ],
        ),
        (
            "vrps.json",
            "json",
            "asn:u64 maxLength:u64 ta:string",
            &["192.0.2.0/24 64496|25|ripe", "2001:db8::/32 64497|32|arin"],
        ),
    ] {
        let path = format!("{}/../../testdata/formats/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        check(&text, format, columns, rows);
        check(&format!("\u{feff}{}", text.replace('\n', "\r\n")), format, columns, rows);
    }
    // Parts of files, and near relatives.
    let grep = "ripencc|FR|ipv4|2.0.0.0|1048576|20100712|allocated\n";
    let columns = "registry:string country:string date:u64 status:string";
    check(grep, "delegated", columns, &["2.0.0.0/12 ripencc|FR|20100712|allocated"]);
    let rules = "-P INPUT ACCEPT\n-N own\n-A INPUT -s 192.0.2.0/24 -j own\n";
    check(rules, "iptables", "chain:string target:string", &["192.0.2.0/24 INPUT|own"]);
    let script = "/ip firewall address-list\nremove [find list=a]\n\
                  :do { add address=192.0.2.0/24 list=a } on-error={}\n";
    check(script, "mikrotik", "list:string comment:string", &["192.0.2.0/24 a|~"]);
    let include = "192.0.2.0/24 FR;\n198.51.100.0/24 DE;\n";
    let rows = ["192.0.2.0/24 ~|FR", "198.51.100.0/24 ~|DE"];
    check(include, "nginx", "variable:string value:string", &rows);
}

/// In an access list the first entry that matches decides, in a table the longest.
#[test]
fn entries_of_access_lists_that_never_match_are_left_out() {
    let cisco = "access-list 1 permit 10.1.0.0 0.0.255.255\naccess-list 1 deny 10.0.0.0 0.255.255.255\n\
                 access-list 1 permit host 10.2.0.1\naccess-list 2 permit 10.2.0.2\n\
                 access-list 1 permit any\naccess-list 1 deny 192.0.2.0 0.0.0.255\n";
    let nginx = "allow 10.1.0.0/16;\ndeny 10.0.0.0/8;\nallow 10.2.0.1;\nallow 192.0.2.1;\ndeny all;\n\
                 deny 2001:db8::/32;\n";
    let of_cisco = [
        "0.0.0.0/0 1,permit,,",
        "10.0.0.0/8 1,deny,,",
        "10.1.0.0/16 1,permit,,",
        "10.2.0.2/32 2,permit,,",
    ];
    let of_nginx = [
        "0.0.0.0/0 ,deny",
        "10.0.0.0/8 ,deny",
        "10.1.0.0/16 ,allow",
        "192.0.2.1/32 ,allow",
        "::/0 ,deny",
    ];
    for (text, rows) in [(cisco, &of_cisco[..]), (nginx, &of_nginx[..])] {
        let (routes, report) = common::load(text.as_bytes()).unwrap();
        assert_eq!(routes.lines(), rows);
        assert_eq!(report.warnings(), ["2 entries were left out (covered by an earlier one: 2)"]);
    }
}

#[test]
fn wrong_lines_are_errors() {
    let delegated = "ripencc|FR|ipv4|192.0.2.0|256|20100712|allocated\n";
    for (text, expected) in [
        (
            format!("{delegated}ripencc|FR|ipv4|192.0.2.0|0|2010|allocated\n"),
            "line 2: unexpected 'ripencc|FR",
        ),
        (format!("{delegated}ripencc|FR|ipv4|255.0.0.0|33554432|2010|x\n"), "line 2: unexpected"),
        (format!("{delegated}ripencc|FR|ipv6|2001:db8::1|32|2010|x\n"), "line 2: column 'prefix'"),
        (format!("{delegated}x\n"), "line 2: unexpected 'x'"),
        ("route: 192.0.2.0/24\norigin: AS1\nx\n".into(), "line 3: unexpected 'x'"),
        (
            "access-list 10 permit 10.0.0.0 0.255.0.255\n".into(),
            "line 1: unexpected 'access-list 10",
        ),
        (
            "access-list 10 permit any\naccess-list 101 permit ip host 192.0.2.1 any\n".into(),
            "line 2: unexpected 'access-list 101",
        ),
        (
            "ip access-list extended X\n permit ip any any\n".into(),
            "line 1: unexpected 'ip access-list extended X'",
        ),
        (
            "ip prefix-list X seq 5 permit 10.0.0.0/8 eq 9\n".into(),
            "line 1: unexpected 'ip prefix-list",
        ),
        (
            "/ip firewall address-list\nadd address=192.0.2.1 list=a\nset x\n".into(),
            "line 3: unexpected 'set x'",
        ),
        ("add address=192.0.2.1 list=a\nadd address=192.0.2.2 \\\n".into(), "the text is cut off"),
        (
            "geo $x {\n192.0.2.0/24 a;\ninclude more.conf;\n}\n".into(),
            "line 3: unexpected 'include more.conf;'",
        ),
        (
            "deny 192.0.2.0/24;\ndeny 192.0.2.0/25\n".into(),
            "line 2: unexpected 'deny 192.0.2.0/25'",
        ),
    ] {
        let wrong = error(&text);
        assert!(wrong.contains(expected), "{text:?}: {wrong}");
    }
}
