//! Address ranges.

use std::net::IpAddr;

use longmatch::table::Cell;
use longmatch_feed::Options;

use crate::common::Random;
use crate::show::{check, error, load_with, rows};

#[test]
fn tables_of_iptoasn() {
    check(
        "0.0.0.0\t0.255.255.255\t0\tNone\tNot routed\n1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET\n\
         224.0.0.0\t255.255.255.255\t0\tNone\tNot routed\n2001:db8::\t2001:db8::2\t7\tDE\tX\n",
        "text of ranges with the delimiter tab, without a header",
        "asn:u64 country:string description:string",
        &[
            "0.0.0.0/8 0|None|Not routed",
            "1.0.0.0/24 13335|US|CLOUDFLARENET",
            "224.0.0.0/3 0|None|Not routed",
            "2001:db8::/127 7|DE|X",
            "2001:db8::2/128 7|DE|X",
        ],
    );
    let country = "1.0.0.0\t1.0.0.255\tAU\n1.0.1.0\t1.0.3.255\tCN\n";
    let expected = ["1.0.0.0/24 AU", "1.0.1.0/24 CN", "1.0.2.0/23 CN"];
    let tab = "text of ranges with the delimiter tab, without a header";
    check(country, tab, "column3:string", &expected);
    let words = "1.0.0.0 1.0.0.255 5\n1.0.1.0 1.0.3.255 7\n";
    let expected = ["1.0.0.0/24 5", "1.0.1.0/24 7", "1.0.2.0/23 7"];
    let space = "text of ranges with the delimiter white space, without a header";
    check(words, space, "column3:u64", &expected);
}

#[test]
fn names_show_ranges() {
    let comma = "text of ranges with the delimiter comma, with a header";
    let expected = ["1.0.0.0/24 AU", "1.0.1.0/24 CN"];
    for (first, last) in
        [("start_ip", "end_ip"), ("Start", "End"), ("network_start_ip", "network_last_ip")]
    {
        let text = format!("{first},{last},country\n1.0.0.0,1.0.0.255,AU\n1.0.1.0,1.0.1.255,CN\n");
        check(&text, comma, "country:string", &expected);
    }
    check(
        "ip_from,ip_to,country\n16777216,16777471,AU\n16777472,16777727,CN\n",
        comma,
        "country:string",
        &expected,
    );
    // IP2Location's IPv6 tables have all IPv4 addresses as mapped ones.
    check(
        "\"ip_from\",\"ip_to\",\"country\"\n\"281470681743360\",\"281470698520575\",\"-\"\n\
         \"42540766411282592856903984951653826560\",\"42540766411282592856903984951653826561\",\"X\"\n",
        comma,
        "country:string",
        &["0.0.0.0/8 -", "2001:db8::/127 X"],
    );
    // The other pair of columns is kept.
    check(
        "network,start_integer,end_integer\n1.0.0.0/24,16777216,16777471\n",
        "text with the delimiter comma, with a header",
        "start_integer:u64 end_integer:u64",
        &["1.0.0.0/24 16777216|16777471"],
    );
}

#[test]
fn ranges_touch_the_ends() {
    let max = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    let text = format!(
        "start,end,v\n255.255.255.255,255.255.255.255,1\n0.0.0.0,0.0.0.0,2\n{max},{max},3\n::,::,4\n"
    );
    let (data, _) = load_with(text.as_bytes(), &Options::default()).unwrap();
    let last = format!("{max}/128 3");
    assert_eq!(rows(&data), ["0.0.0.0/32 2", "255.255.255.255/32 1", "::/128 4", &last]);
    let all = format!("start,end,v\n0.0.0.0,255.255.255.255,1\n::,{max},2\n");
    let (data, _) = load_with(all.as_bytes(), &Options::default()).unwrap();
    assert_eq!(rows(&data), ["0.0.0.0/0 1", "::/0 2"]);
}

#[test]
fn what_is_no_range_is_an_error() {
    let lines = |line: &str| {
        error(&format!("start,end,v\n1.0.0.0,1.0.0.255,1\n{line},2\n1.1.0.0,1.1.0.1,3\n"))
    };
    assert!(lines("1.0.2.0,1.0.1.0").contains("line 3: '1.0.2.0 - 1.0.1.0' is not a range"));
    assert!(lines("1.0.2.0,::1").contains("the addresses are of different families"));
    assert!(lines("1.0.2.0,x").contains("expected two addresses, or two integers"));
    let tab = error("1.0.0.0\t1.0.0.255\t1\n1.0.1.0\t1.0.1.255\t1\n1.0.3.0\t1.0.2.0\t2\n");
    assert!(tab.contains("'1.0.0.0 1.0.0.255' is a range or a host with its next hop"), "{tab}");
    assert!(lines("1.0.2.0,").contains("expected two addresses, or two integers"));
}

#[test]
fn later_ranges_replace_what_they_overlap() {
    let text = "start,end,v\n10.0.0.0,10.0.0.7,1\n10.0.0.2,10.0.0.3,2\n10.0.0.0,10.0.0.3,3\n";
    let (data, report) = load_with(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(rows(&data), ["10.0.0.0/29 1", "10.0.0.0/30 3"]);
    assert_eq!(report.warnings(), ["ranges overlap: 1 prefix is replaced by a later range"]);
}

/// Random overlapping ranges in a universe of 64 addresses, against an array, at both ends of both
/// address spaces.
#[test]
fn overlapping_ranges_against_a_naive_model() {
    let mut random = Random(19);
    for base in [0u128, 0xffff_ffc0, 1 << 64, u128::MAX - 63] {
        let addr = |n: usize| match u32::try_from(base) {
            Ok(base) => IpAddr::V4((base + n as u32).into()),
            Err(_) => IpAddr::V6((base + n as u128).into()),
        };
        for _ in 0..200 {
            let mut model = [None; 64];
            let mut text = "start,end,v\n".to_owned();
            for value in 0..1 + random.below(12) {
                let first = random.below(64);
                let last = first + random.below(64 - first);
                model[first..=last].fill(Some(value as u64));
                text += &format!("{},{},{value}\n", addr(first), addr(last));
            }
            let (data, _) = load_with(text.as_bytes(), &Options::default()).unwrap();
            for (n, expected) in model.iter().enumerate() {
                let found = data.table().lookup(addr(n)).map(|row| row[0].clone());
                assert_eq!(found, expected.map(Cell::U64), "{text}{}", addr(n));
            }
        }
    }
}
