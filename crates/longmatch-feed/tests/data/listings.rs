//! Listings of tools, values of several words, and prefix data for the loaders of routes.

use longmatch_feed::{Codec, Format, Options, compress};

use crate::common;
use crate::show::{check, check_with, error};

/// A small input of each listing: its name, its text, its columns and its rows.
pub const LISTINGS: [(&str, &str, &str, &[&str]); 15] = [
    (
        "netstat",
        "Kernel IP routing table\n\
         Destination     Gateway         Genmask         Flags   MSS Window  irtt Iface\n\
         0.0.0.0         192.0.2.1       0.0.0.0         UG        0 0          0 eth0\n\
         default         192.0.2.9       0.0.0.0         UG        0 0          0 eth1\n\
         198.51.100.0    *               255.255.255.0   U         0 0          0 eth1\n\
         Kernel IPv6 routing table\n\
         Destination                    Next Hop                   Flag Met Ref Use If\n\
         2001:db8::/32                  [::]                       U    256 1     0 eth0\n\
         [::]/0                         fe80::1                    UG   1024 2     0 eth0\n",
        "next_hop:string",
        &["0.0.0.0/0 192.0.2.1", "198.51.100.0/24 eth1", "::/0 fe80::1", "2001:db8::/32 eth0"],
    ),
    (
        "netstat",
        "Routing tables\n\nInternet:\n\
         Destination        Gateway            Flags               Netif Expire\n\
         default            192.0.2.1          UGScg                 en0\n\
         127                127.0.0.1          UCS                   lo0\n\
         169.254            link#6             UCS                   en0      !\n\
         203.0.113.128/25   192.0.2.7          UGSc                  en0\n\
         192.0.2.1/32       link#6             UCS                   en0      !\n\n\
         Internet6:\n\
         Destination                Gateway                 Flags    Netif Expire\n\
         default                    fe80::%utun0            UGcIg    utun0\n\
         fe80::%lo0/64              fe80::1%lo0             UcI        lo0\n\
         2001:db8::1                link#6                  UHL        lo0\n",
        "next_hop:string",
        &[
            "0.0.0.0/0 192.0.2.1",
            "127.0.0.0/8 127.0.0.1",
            "169.254.0.0/16 en0",
            "192.0.2.1/32 en0",
            "203.0.113.128/25 192.0.2.7",
            "::/0 fe80::%utun0",
            "2001:db8::1/128 lo0",
            "fe80::/64 fe80::1%lo0",
        ],
    ),
    (
        "ipset",
        "create bad hash:net family inet hashsize 1024 maxelem 65536 comment\n\
         add bad 192.0.2.0/24 timeout 300 comment \"two words\"\n\
         create six hash:ip family inet6\n\
         add six 2001:db8::1\n\
         add bad 198.51.100.0-198.51.100.2\n",
        "set:string comment:string",
        &[
            "192.0.2.0/24 bad|two words",
            "198.51.100.0/31 bad|~",
            "198.51.100.2/32 bad|~",
            "2001:db8::1/128 six|~",
        ],
    ),
    (
        "ipset",
        "Name: bad\nType: hash:net\nRevision: 7\nHeader: family inet hashsize 1024\n\
         Size in memory: 568\nReferences: 0\nNumber of entries: 2\nMembers:\n\
         192.0.2.0/24 timeout 9\n198.51.100.0/24 comment \"x\"\n\n\
         Name: good\nType: hash:ip\nMembers:\n203.0.113.1\n",
        "set:string comment:string",
        &["192.0.2.0/24 bad|~", "198.51.100.0/24 bad|x", "203.0.113.1/32 good|~"],
    ),
    (
        "iptables",
        "*filter\n:INPUT ACCEPT [0:0]\n[1:2] -A INPUT -s 192.0.2.0/24 -j DROP\n\
         -A INPUT ! -s 10.0.0.0/8 -d 198.51.100.7/32 -m comment --comment \"-s x -j y\" -j LOG\n\
         -A INPUT -s 192.0.2.0/24 -j ACCEPT\n-A INPUT -i lo -j ACCEPT\n\
         -A FORWARD -m iprange --src-range 203.0.113.0-203.0.113.1 -g other\nCOMMIT\n",
        "chain:string target:string",
        &["192.0.2.0/24 INPUT|DROP", "198.51.100.7/32 INPUT|LOG", "203.0.113.0/31 FORWARD|other"],
    ),
    (
        "nft",
        "table inet filter {\n\tset bad {\n\t\ttype ipv4_addr\n\t\tflags interval,timeout\n\
         \t\telements = { 192.0.2.0/24, 198.51.100.1-198.51.100.2 timeout 1h expires 5m,\n\
         \t\t\t     203.0.113.7 comment \"a, b }\" }\n\t}\n\
         \tset ports {\n\t\ttype inet_service\n\t\telements = { 22, 80 }\n\t}\n\
         \tmap jumps {\n\t\ttype ipv6_addr : verdict\n\
         \t\telements = { 2001:db8::/32 comment \"c\" : jump one, 2001:db8::1 : accept }\n\t}\n\
         \tchain input {\n\t\tip saddr { 10.0.0.0/8 } drop\n\t}\n}\n",
        "set:string value:string comment:string",
        &[
            "192.0.2.0/24 bad|~|~",
            "198.51.100.1/32 bad|~|~",
            "198.51.100.2/32 bad|~|~",
            "203.0.113.7/32 bad|~|a, b }",
            "2001:db8::/32 jumps|jump one|c",
            "2001:db8::1/128 jumps|accept|~",
        ],
    ),
    (
        "ris-whois",
        "% This is a dump\n%\n64496\t192.0.2.0/24\t300\n{64496,64497}\t198.51.100.0/24\t5\n\
         % end\n64498\t2001:db8::/32\t7\n",
        "asn:u64 peers:u64",
        &["192.0.2.0/24 64496|300", "198.51.100.0/24 ~|5", "2001:db8::/32 64498|7"],
    ),
    (
        "prefixes with a text each",
        "192.0.2.0/24 Example Corp London\n198.51.100.0/24 Example # a comment\n\
         2001:db8::/32  Two Words\n",
        "value:string",
        &["192.0.2.0/24 Example Corp London", "198.51.100.0/24 Example", "2001:db8::/32 Two Words"],
    ),
    (
        "json",
        "{\"status\": \"ok\", \"data\": {\"resource\": \"64496\", \"prefixes\": [\n\
         {\"prefix\": \"192.0.2.0/24\", \"timelines\": [{\"starttime\": \"2026-01-01\"}]},\n\
         {\"prefix\": \"2001:db8::/32\", \"peers\": 7}]}}\n",
        "peers:u64 resource:u64 status:string",
        &["192.0.2.0/24 ~|64496|ok", "2001:db8::/32 7|64496|ok"],
    ),
    (
        "json",
        "{\"data\": {\"bgp_state\": [{\"target_prefix\": \"192.0.2.0/24\", \"source_id\": \"x\",\n\
         \"path\": [64497, 64496], \"community\": [\"64497:1\", \"64497:2\"]}]}}\n",
        "source_id:string path:string community:string origin_as:u64",
        &["192.0.2.0/24 x|64497 64496|64497:1 64497:2|64496"],
    ),
    (
        "json",
        "{\"data\": {\"prefixes\": {\"v4\": {\"originating\": [\"192.0.2.0/24\"], \"transiting\": []}}}}\n",
        "list:string",
        &["192.0.2.0/24 originating"],
    ),
    (
        "json",
        "{\"net\": \"192.0.2.0/24\", \"up\": true, \"gw\": \"192.0.2.1\"}\n{\"net\": \"198.51.100.7\", \"n\": -1}\n",
        "up:string gw:string n:i64",
        &["192.0.2.0/24 true|192.0.2.1|~", "198.51.100.7/32 ~|~|-1"],
    ),
    (
        "a list of prefixes",
        "192.0.2.0/24\n2001:db8::1 ; x\n",
        "",
        &["192.0.2.0/24 ", "2001:db8::1/128 "],
    ),
    (
        "pfx2as",
        "192.0.2.0\t24\t64496\n198.51.100.0\t24\t64497_64498\n",
        "asn:string",
        &["192.0.2.0/24 64496", "198.51.100.0/24 64497_64498"],
    ),
    (
        "text with the delimiter comma, with a header",
        "network,asn,name\n192.0.2.0/24,64496,a\n198.51.100.0/24,64497,b\n",
        "asn:u64 name:string",
        &["192.0.2.0/24 64496|a", "198.51.100.0/24 64497|b"],
    ),
];

#[test]
fn every_format_has_its_columns() {
    for (format, text, columns, rows) in LISTINGS {
        check(text, format, columns, rows);
    }
}

/// Each sample is recognised as itself: with a byte-order mark, with line ends of Windows, after
/// comments, and compressed; by the loaders of routes too.
#[test]
fn formats_are_recognised_in_any_dress() {
    // JSON has no comments.
    for (format, text, _, rows) in LISTINGS.into_iter().filter(|(format, ..)| *format != "json") {
        let dressed = [
            text.to_owned(),
            format!("\u{feff}{text}"),
            text.replace('\n', "\r\n"),
            format!("# made\n\n# today\n{text}"),
        ];
        for text in dressed {
            let mut files = vec![text.as_bytes().to_vec()];
            for codec in [Codec::Gzip, Codec::Xz] {
                files.push(compress(codec, text.as_bytes()).unwrap());
            }
            for file in files {
                let (routes, report) = common::load(&file).unwrap();
                assert_eq!(report.read_as, format, "{text:?}");
                assert_eq!(routes.0.len(), rows.len(), "{text:?}");
            }
        }
    }
}

#[test]
fn json_is_recognised_by_a_prefix_in_it() {
    for (_, text, _, rows) in LISTINGS.into_iter().filter(|(format, ..)| *format == "json") {
        for text in [text.to_owned(), format!("\u{feff}{text}"), text.replace('\n', "\r\n")] {
            let (routes, report) = common::load(text.as_bytes()).unwrap();
            assert_eq!(report.format, Format::Json);
            assert_eq!(routes.0.len(), rows.len());
        }
    }
    let wrong = error("[{\"prefix\": \"192.0.2.0/24\"},\n {\"prefix\": \"192.0.2.1/24\"}]");
    let expected =
        "input: line 2: column 'prefix': '192.0.2.1/24' is not a prefix, an address or a range";
    assert!(wrong.starts_with(expected) && wrong.ends_with("(read as json)"), "{wrong}");
    let cut = error("[{\"prefix\": \"192.0.2.0/24\"}, {\"prefix\": ");
    assert!(cut.contains("line 1: the JSON cannot be read: EOF while parsing"), "{cut}");
    let deep = format!("[\"192.0.2.0/24\",{}", "[".repeat(100_000));
    assert!(error(&deep).contains("recursion limit exceeded"));
    let mut options = Options::default();
    options.lenient = true;
    let text = "[{\"prefix\": \"192.0.2.0/24\"}, {\"prefix\": \"x\"}, {\"prefix\": ";
    let (routes, report) = common::load_with(text.as_bytes(), &options).unwrap();
    assert_eq!((routes.0.len(), report.damaged, report.cut_off), (1, 2, true));
    let routes = "[{\"dst\": \"192.0.2.0/24\", \"gateway\": \"192.0.2.1\"}]";
    assert_eq!(common::load(routes.as_bytes()).unwrap().1.format, Format::IpJson);
}

/// Scalars of the objects around a row are columns, before and after it; inner names come first, arrays do not count.
#[test]
fn json_has_the_scalars_of_outer_objects() {
    let file = |name: &str| {
        let path = format!("{}/../../testdata/formats/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    for (text, columns, rows) in [
        (
            &*file("azure.json"),
            "list:string region:string platform:string systemService:string name:string id:string \
             changeNumber:u64 cloud:string",
            &[
                "4.145.74.52/30 addressPrefixes|~|Azure|ActionGroup|ActionGroup|ActionGroup|1|Public",
                "13.69.40.16/28 addressPrefixes|westeurope|Azure|AzureStorage|Storage.WestEurope|\
                 Storage.WestEurope|1|Public",
                "2603:1000:4:402::178/125 addressPrefixes|~|Azure|ActionGroup|ActionGroup|ActionGroup|1|Public",
            ][..],
        ),
        (
            "{\"regions\": [{\"cidrs\": [{\"cidr\": \"192.0.2.0/24\", \"tags\": [\"A\", \"B\"]}], \
             \"region\": \"us\"}, {\"region\": \"eu\", \"x\": 1}], \"at\": 7}",
            "tags:string region:string at:u64",
            &["192.0.2.0/24 A B|us|7"],
        ),
        (
            "[{\"cidrs\": [\"192.0.2.0/24\", \"2001:db8::/32\"], \"name\": \"a\", \"keys\": [\"k\"]},\n\
             {\"name\": \"b\", \"cidrs\": [\"198.51.100.0/24\"]}]",
            "list:string name:string",
            &["192.0.2.0/24 cidrs|a", "198.51.100.0/24 cidrs|b", "2001:db8::/32 cidrs|a"],
        ),
        // One document a line; a prefix around a row is not a column.
        (
            "{\"prefix\": \"10.0.0.0/8\", \"n\": 1, \"more\": [{\"prefix\": \"10.1.0.0/16\", \"n\": 2}], \"up\": true}\n\
             {\"prefix\": \"10.2.0.0/16\"}\n",
            "n:u64 up:string",
            &["10.0.0.0/8 1|true", "10.1.0.0/16 2|true", "10.2.0.0/16 ~|~"],
        ),
        // Of a key that is there twice the last counts.
        (
            "{\"a\": [\"192.0.2.0/24\"], \"n\": 1, \"a\": [\"198.51.100.0/24\"], \"n\": 2}",
            "list:string n:u64",
            &["198.51.100.0/24 a|2"],
        ),
        (
            "[{\"net\": \"192.0.2.0/24\", \"n\": 1, \"net\": \"198.51.100.0/24\", \"n\": {}, \"m\": 3}]",
            "m:u64",
            &["198.51.100.0/24 3"],
        ),
        (
            "{\"metadata\": {\"n\": 1}, \"roas\": [{\"asn\": \"AS64496\", \"prefix\": \"192.0.2.0/24\", \
             \"maxLength\": 25, \"ta\": \"ripe\"}]}",
            "asn:string maxLength:u64 ta:string",
            &["192.0.2.0/24 AS64496|25|ripe"],
        ),
    ] {
        check(text, "json", columns, rows);
    }
    // A lenient load has the rows before the end, with the scalars before it.
    let mut options = Options::default();
    options.lenient = true;
    let cut = "{\"name\": \"a\", \"cidrs\": [\"192.0.2.0/24\", \"198.51.";
    check_with(cut, &options, "list:string name:string", &["192.0.2.0/24 cidrs|a"]);
}

#[test]
fn cells_are_the_next_hop() {
    let lines = |text: &str| common::load(text.as_bytes()).unwrap().0.lines();
    assert_eq!(
        lines("network,asn,name\n192.0.2.0/24,64496,a b\n198.51.100.0/24,,c\n"),
        ["192.0.2.0/24 64496,a b", "198.51.100.0/24 ,c"]
    );
    assert_eq!(lines("192.0.2.0/24\n"), ["192.0.2.0/24 192.0.2.0/24"]);
    assert_eq!(lines("; made by hand\n192.0.2.0/24 64496\n"), ["192.0.2.0/24 64496"]);
    let ranges = "start,end,x\n192.0.2.0,192.0.2.127,a\n192.0.2.64,192.0.2.191,b\n";
    let (routes, report) = common::load(ranges.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["192.0.2.0/25 a", "192.0.2.64/26 b", "192.0.2.128/26 b"]);
    assert_eq!(report.warnings(), [""; 0]);
}

/// Damage in a file of routes does not make it another format.
#[test]
fn routes_stay_routes() {
    for text in [
        "10.0.0.0/8 a\nx\ny\n",
        "10.0.0.0/8 a\n10.1.0.0/16 b c\n",
        "10.0.0.0/8\n11.0.0.0/8 a\n",
        "default\n",
        "A 10.0.0.0/8\n",
    ] {
        let error = common::error_of(text.as_bytes());
        assert!(error.starts_with("line ") && !error.contains("read as"), "{text:?}: {error}");
    }
}

#[test]
fn errors_name_the_format_and_the_line() {
    let netstat = LISTINGS[0].1;
    for (text, expected) in [
        (netstat.replace("255.255.255.0", "255.0.255.0"), "line 5: unexpected '198.51.100.0"),
        (
            "create a hash:ip,port\nadd a 192.0.2.1,tcp:80\n".into(),
            "unexpected 'a hash:ip,port': expected a set of type hash:ip",
        ),
        (
            "add a 192.0.2.0/24\nadd a 192.0.2.7 nomatch\n".into(),
            "line 2: unexpected 'add a 192.0.2.7 nomatch': expected no exceptions (nomatch)",
        ),
        ("add a 192.0.2.0/33\n".into(), "line 1: column 'prefix': '192.0.2.0/33' is not a prefix"),
        (
            "add a 192.0.2.0/24\nremove a\n".into(),
            "line 2: unexpected 'remove a': expected 'create",
        ),
        ("*filter\n:I ACCEPT\nx\n".into(), "line 3: unexpected 'x': expected a rule such as"),
        ("*filter\n:I ACCEPT\n-A I -s 192.0.2.1/24 -j X\n".into(), "line 3: column 'prefix'"),
        (
            "table ip x {\nset a {\ntype ipv4_addr\nelements = { 192.0.2.1,\n".into(),
            "expected '}' after the elements: the text is cut off",
        ),
        ("table ip x {\nelements = x\n".into(), "line 2: unexpected 'elements = x'"),
        ("64496\t192.0.2.0/24\t1\n64496\t192.0.2.0/24\t1\nx\n".into(), "line 3: unexpected 'x'"),
    ] {
        let wrong = error(&text);
        assert!(wrong.contains(expected) && wrong.contains("(read as "), "{text:?}: {wrong}");
        let routes = common::error_of(text.as_bytes());
        assert_eq!(format!("input: {routes}"), wrong, "{text:?}");
    }
}

/// Routes that drop packets have words as next hops, as in `ip route`. `R` means something else on Linux.
#[test]
fn reject_routes_of_netstat() {
    let linux = "Kernel IP routing table\n\
        Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n\
        10.0.0.0        -               255.0.0.0       !     0      -        0 -\n\
        10.1.0.0        *               255.255.0.0     U     0      0        0 *\n\
        10.2.0.0        192.0.2.1       255.255.0.0     UGR   0      0        0 eth0\n\
        Kernel IPv6 routing table\n\
        Destination                    Next Hop                   Flag Met Ref Use If\n\
        2001:db8::/32                  [::]                       !n   1024 1  0 lo\n";
    let bsd = "Routing tables\n\nInternet:\nDestination Gateway Flags Netif Expire\n\
        10.0.0.0/8 127.0.0.1 UGRS lo0\n10.1.0.0/16 link#1 USB lo0\n10.2.0.0/16 192.0.2.1 UGSb em0\n";
    for (text, rows) in [
        (
            linux,
            &[
                "10.0.0.0/8 unreachable",
                "10.1.0.0/16 blackhole",
                "10.2.0.0/16 192.0.2.1",
                "2001:db8::/32 unreachable",
            ][..],
        ),
        (bsd, &["10.0.0.0/8 reject", "10.1.0.0/16 blackhole", "10.2.0.0/16 192.0.2.1"]),
    ] {
        check(text, "netstat", "next_hop:string", rows);
    }
}

#[test]
fn sets_of_other_types_are_left_out() {
    let save = "create a hash:ip,port family inet\nadd a 192.0.2.1,tcp:80\nadd a 192.0.2.2,tcp:80\n\
                create b hash:net\nadd b 192.0.2.0/24\ncreate c list:set size 8\nadd c b\n\
                create d hash:net,iface\n";
    let list = "Name: a\nType: hash:ip,port\nMembers:\n192.0.2.1,tcp:80\n192.0.2.2,tcp:80\n\n\
                Name: b\nType: hash:net\nMembers:\n192.0.2.0/24\n\nName: c\nType: list:set\nMembers:\nb\n";
    for text in [save, list] {
        let (routes, report) = common::load(text.as_bytes()).unwrap();
        assert_eq!(routes.lines(), ["192.0.2.0/24 b,"]);
        let warning = "3 entries were left out (hash:ip,port a: 2, list:set c: 1)";
        assert_eq!(report.warnings(), [warning], "{text}");
    }
}

#[test]
fn elements_are_bounded() {
    let long = "x".repeat(5000);
    let text = format!("table ip x {{\nset a {{\ntype ipv4_addr\nelements = {{ \"{long}\" }}\n");
    assert!(error(&text).contains("expected elements of at most 4096 bytes"));
}

#[test]
fn lenient_loads_skip_damaged_lines() {
    let mut options = Options::default();
    options.lenient = true;
    let text = "add a 192.0.2.0/24\nadd a x\nadd a 198.51.100.0/24\n";
    let (routes, report) = common::load_with(text.as_bytes(), &options).unwrap();
    assert_eq!((routes.0.len(), report.damaged), (2, 1));
    let first = report.first_damage.unwrap().to_string();
    assert!(first.starts_with("line 2: ") && first.ends_with("(read as ipset)"), "{first}");
}
