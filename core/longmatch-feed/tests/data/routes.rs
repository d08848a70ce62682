//! The values of MRT's routes.

use longmatch_feed::{Format, Options, RouteValue};

use crate::common::mrt;
use crate::show::{columns, load_with, rows};

fn with(value: RouteValue) -> Options {
    let mut options = Options::default();
    options.value = Some(value);
    options
}

fn origins() -> Options {
    with(RouteValue::OriginAs)
}

/// The loaders of routes give the value to the sink in place of the next hop.
#[test]
fn sinks_get_the_value() {
    let large = mrt::attribute(0xc0, 32, &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]);
    let plain = mrt::attribute(0xc0, 8, &[0, 7, 0, 8]);
    let attributes = [attributes(&[2, 1, 0, 1, 0, 2]), large, plain].concat();
    let update = mrt::update(&[], &attributes, &mrt::prefix(8, &[10]));
    let mrt = mrt::message(false, 4, 1, 2, &update);
    for (value, expected) in [
        ("next-hop", "10.0.0.0/8 10.0.0.1"),
        ("origin-as", "10.0.0.0/8 65538"),
        ("as-path", "10.0.0.0/8 65538"),
        ("peer", "10.0.0.0/8 192.0.2.1"),
        ("communities", "10.0.0.0/8 7:8 1:2:3"),
    ] {
        let options = with(value.parse().unwrap());
        assert_eq!(options.value.unwrap().to_string(), value);
        let (routes, _) = crate::common::load_with(&mrt, &options).unwrap();
        assert_eq!(routes.lines(), [expected], "{value}");
    }
    assert!("as_set".parse::<RouteValue>().is_err());
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
