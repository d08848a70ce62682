//! Routes as prefix data: next hops and origins.

use longmatch_feed::{DataLoader, Format, Options, RouteValue};

use crate::common::mrt;
use crate::show::{check, check_with, columns, error_with, load_with, rows};

fn with(value: RouteValue) -> Options {
    let mut options = Options::default();
    options.value = Some(value);
    options
}

fn origins() -> Options {
    with(RouteValue::OriginAs)
}

#[test]
fn routes_have_the_column_next_hop() {
    let text = "routes (routes)";
    check(
        "10.0.0.0/8 192.0.2.1\n10.1.0.0/16 eth0\n",
        text,
        "next_hop:string",
        &["10.0.0.0/8 192.0.2.1", "10.1.0.0/16 eth0"],
    );
    check("10.0.0.0/8 64500\n::/0 7\n", text, "next_hop:string", &["10.0.0.0/8 64500", "::/0 7"]);
    check(
        "10.0.0.0 255.0.0.0 a\n10.1.0.0 255.255.0.0 b\n",
        text,
        "next_hop:string",
        &["10.0.0.0/8 a", "10.1.0.0/16 b"],
    );
    check(
        "A 10.0.0.0/8 a\nA 10.1.0.0/16 b\nW 10.0.0.0/8\n",
        text,
        "next_hop:string",
        &["10.1.0.0/16 b"],
    );
    check(
        "default via 192.0.2.1 dev eth0\n10.0.0.0/8 dev eth1\n",
        text,
        "next_hop:string",
        &["0.0.0.0/0 192.0.2.1", "10.0.0.0/8 eth1"],
    );
    let json = r#"[{"dst":"10.0.0.0/8","gateway":"192.0.2.1"}]"#;
    check(json, "routes (ip-json)", "next_hop:string", &["10.0.0.0/8 192.0.2.1"]);
}

#[test]
fn options_rename_the_next_hop() {
    let mut options = Options::default();
    options.columns = Some(vec!["next_hop=asn".parse().unwrap()]);
    options.types = vec![("asn".into(), longmatch::table::ColumnType::U64)];
    check_with("10.0.0.0/8 AS7\n", &options, "asn:u64", &["10.0.0.0/8 7"]);
    let wrong = error_with("10.0.0.0/8 x\n", &options);
    assert!(wrong.contains("line 1: column 'asn': 'x' is not of the type u64"), "{wrong}");
    options.columns = Some(vec!["asn".parse().unwrap()]);
    let wrong = error_with("10.0.0.0/8 7\n", &options);
    assert!(
        wrong.contains("no column is named 'asn': the columns are prefix, next_hop"),
        "{wrong}"
    );
    options.format = Format::Routes;
    options.prefix = vec!["1".into()];
    assert!(error_with("10.0.0.0/8 7\n", &options).contains("no columns to choose"));
}

#[test]
fn bgpdump_has_origins() {
    let line = |prefix: &str, path: &str, peer: u8| {
        format!(
            "TABLE_DUMP2|1|B|192.0.2.{peer}|6450{peer}|{prefix}|{path}|IGP|192.0.2.{peer}|0|0||NAG||\n"
        )
    };
    let text = [
        line("10.0.0.0/8", "64501 64999", 1),
        line("10.0.0.0/8", "64502 65000", 2),
        line("10.1.0.0/16", "64501 4200000000", 1),
        line("10.2.0.0/16", "64501 {7,8}", 1),
        line("10.3.0.0/16", "", 1),
    ]
    .concat();
    let expected = ["10.0.0.0/8 64999", "10.1.0.0/16 4200000000", "10.2.0.0/16 ~", "10.3.0.0/16 ~"];
    check_with(&text, &origins(), "origin_as:u64", &expected);
    let mut other = origins();
    other.peer = Some("AS64502".parse().unwrap());
    check_with(&text, &other, "origin_as:u64", &["10.0.0.0/8 65000"]);
    let updates = "BGP4MP_AP|1|A|192.0.2.1|1|10.0.0.0/8|2|1 5|IGP|192.0.2.2|0|0||NAG||\n\
                   BGP4MP_AP|1|A|192.0.2.1|1|10.0.0.0/8|1|1 6|IGP|192.0.2.2|0|0||NAG||\n\
                   BGP4MP_AP|1|A|192.0.2.1|1|10.1.0.0/16|1|1 7|IGP|192.0.2.2|0|0||NAG||\n\
                   BGP4MP_AP|1|W|192.0.2.1|1|10.0.0.0/8|1\n";
    check_with(updates, &origins(), "origin_as:u64", &["10.0.0.0/8 5", "10.1.0.0/16 7"]);
}

/// The loaders of routes give the value to the sink in place of the next hop.
#[test]
fn sinks_get_the_value() {
    let dump = "TABLE_DUMP2|1|B|192.0.2.1|64501|10.0.0.0/8|64501 64999|IGP|192.0.2.9|0|0|64501:1 64501:2|NAG||\n\
                BGP4MP|2|A|192.0.2.1|64501|10.1.0.0/16|1 {2}|IGP|192.0.2.9|0|0||NAG||\n";
    let large = mrt::attribute(0xc0, 32, &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]);
    let plain = mrt::attribute(0xc0, 8, &[0, 7, 0, 8]);
    let attributes = [attributes(&[2, 1, 0, 1, 0, 2]), large, plain].concat();
    let update = mrt::update(&[], &attributes, &mrt::prefix(8, &[10]));
    let mrt = mrt::message(false, 4, 1, 2, &update);
    for (value, of_dump, of_mrt) in [
        ("next-hop", ["10.0.0.0/8 192.0.2.9", "10.1.0.0/16 192.0.2.9"], "10.0.0.0/8 10.0.0.1"),
        ("origin-as", ["10.0.0.0/8 64999", "10.1.0.0/16 "], "10.0.0.0/8 65538"),
        ("as-path", ["10.0.0.0/8 64501 64999", "10.1.0.0/16 1 {2}"], "10.0.0.0/8 65538"),
        ("peer", ["10.0.0.0/8 192.0.2.1", "10.1.0.0/16 192.0.2.1"], "10.0.0.0/8 192.0.2.1"),
        ("communities", ["10.0.0.0/8 64501:1 64501:2", "10.1.0.0/16 "], "10.0.0.0/8 7:8 1:2:3"),
    ] {
        let mut options = longmatch_feed::Options::default();
        options.value = Some(value.parse().unwrap());
        assert_eq!(options.value.unwrap().to_string(), value);
        let (routes, _) = crate::common::load_with(dump.as_bytes(), &options).unwrap();
        assert_eq!(routes.lines(), of_dump, "{value}");
        let (routes, _) = crate::common::load_with(&mrt, &options).unwrap();
        assert_eq!(routes.lines()[0], of_mrt, "{value}");
        let error = crate::common::load_with(b"10.0.0.0/8 a\n", &options).err();
        assert_eq!(error.is_some(), value != "next-hop", "{value}");
        if let Some(error) = error {
            let expected = format!("line 1: the routes have no AS paths: {value} is for MRT");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }
    assert!("as_set".parse::<RouteValue>().is_err());
}

#[test]
fn routes_without_paths_have_no_origins() {
    for text in ["10.0.0.0/8 192.0.2.1\n", "default via 192.0.2.1 dev eth0\n"] {
        let wrong = error_with(text, &origins());
        assert!(wrong.contains("the routes have no AS paths: origin-as is for MRT"), "{wrong}");
    }
}

/// NEXT_HOP 10.0.0.1 and an AS path.
fn attributes(path: &[u8]) -> Vec<u8> {
    let mut list = mrt::attribute(0x40, 2, path);
    list.extend(mrt::attribute(0x40, 3, &[10, 0, 0, 1]));
    list
}

#[test]
fn mrt_tables_have_origins() {
    let wide = |asn: u32| {
        let [a, b, c, d] = asn.to_be_bytes();
        attributes(&[2, 2, 0, 0, 0, 9, a, b, c, d])
    };
    let mut file = mrt::peer_index(2);
    let entries = [(0, wide(4_200_000_000)), (1, wide(5))];
    file.extend(mrt::rib(2, &mrt::prefix(8, &[10]), &entries));
    file.extend(mrt::rib(2, &mrt::prefix(16, &[10, 1]), &[(0, wide(7))]));
    let set = attributes(&[2, 1, 0, 0, 0, 9, 1, 1, 0, 0, 0, 7]);
    file.extend(mrt::rib(2, &mrt::prefix(16, &[10, 2]), &[(0, set)]));
    file.extend(mrt::rib(2, &mrt::prefix(16, &[10, 3]), &[(0, attributes(&[]))]));
    let damaged = attributes(&[2, 9, 0, 0]);
    file.extend(mrt::rib(2, &mrt::prefix(16, &[10, 4]), &[(0, damaged)]));
    let (data, report) = load_with(&file, &origins()).unwrap();
    assert_eq!(columns(&data), "origin_as:u64");
    let expected = [
        "10.0.0.0/8 4200000000",
        "10.1.0.0/16 7",
        "10.2.0.0/16 ~",
        "10.3.0.0/16 ~",
        "10.4.0.0/16 ~",
    ];
    assert_eq!(rows(&data), expected);
    assert_eq!((report.format, report.peers.len()), (Format::Mrt, 2));
    let (data, _) = load_with(&file, &Options::default()).unwrap();
    assert_eq!((columns(&data), rows(&data).len()), ("origin_as:u64".to_owned(), 5), "by default");
    let (data, _) = load_with(&file, &with(RouteValue::NextHop)).unwrap();
    assert_eq!((columns(&data), rows(&data).len()), ("next_hop:string".to_owned(), 5));
    let (data, _) = load_with(&file, &with(RouteValue::AsPath)).unwrap();
    assert_eq!(columns(&data), "as_path:string");
    let expected = [
        "10.0.0.0/8 9 4200000000",
        "10.1.0.0/16 9 7",
        "10.2.0.0/16 9 {7}",
        "10.3.0.0/16 ~",
        "10.4.0.0/16 ~",
    ];
    assert_eq!(rows(&data), expected);
    let (data, _) = load_with(&file, &with(RouteValue::Peer)).unwrap();
    assert_eq!((columns(&data), &*rows(&data)[0]), ("peer:string".into(), "10.0.0.0/8 192.0.2.0"));
}

#[test]
fn old_mrt_tables_have_paths_of_2_bytes() {
    let mut file = mrt::table_dump(1, [10, 0, 0, 0], 8, &attributes(&[2, 2, 0, 9, 0, 7]));
    let mut trans = attributes(&[2, 1, 0x5b, 0xa0]);
    trans.extend(mrt::attribute(0xc0, 17, &[2, 1, 0, 1, 0, 2]));
    file.extend(mrt::table_dump(1, [11, 0, 0, 0], 8, &trans));
    let (data, _) = load_with(&file, &origins()).unwrap();
    assert_eq!(rows(&data), ["10.0.0.0/8 7", "11.0.0.0/8 65538"]);
}

#[test]
fn mrt_updates_have_origins() {
    let path = attributes(&[2, 1, 0, 1, 0, 2]);
    let announced =
        mrt::update(&[], &path, &[mrt::prefix(8, &[10]), mrt::prefix(8, &[11])].concat());
    let mut file = mrt::message(false, 4, 1, 2, &announced);
    file.extend(mrt::message(true, 4, 1, 2, &mrt::update(&mrt::prefix(8, &[11]), &[], &[])));
    let (data, _) = load_with(&file, &origins()).unwrap();
    assert_eq!(rows(&data), ["10.0.0.0/8 65538"]);
}

#[test]
fn routes_merge_with_other_data() {
    let mut loader = DataLoader::new(Options::default());
    loader.bytes(b"10.0.0.0/8 1\n10.1.0.0/16 2\n", None).unwrap();
    loader.bytes(b"W 10.0.0.0/8\n", None).unwrap();
    loader.bytes(b"network,next_hop\n10.2.0.0/16,3\n", None).unwrap();
    let data = loader.finish().unwrap();
    assert_eq!(
        (columns(&data), rows(&data)),
        ("next_hop:string".into(), vec!["10.1.0.0/16 2".into(), "10.2.0.0/16 3".into()])
    );
}
