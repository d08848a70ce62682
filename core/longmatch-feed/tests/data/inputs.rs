//! Inputs that are long, many or random.

use std::net::IpAddr;

use longmatch::table::Cell;
use longmatch_feed::{DataLoader, Duplicates, Options};

use crate::common::Random;
use crate::show::{columns, error, load_with, rows};

#[test]
fn long_cells_elements_and_nests() {
    let wide = "x".repeat(100_000);
    let text = format!("network,a,b\n10.0.0.0/8,{wide},1\n");
    let (data, _) = load_with(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(rows(&data), [format!("10.0.0.0/8 {wide}|1")]);
    let text = format!("table ip x {{\nset a {{\ntype ipv4_addr\nelements = {{ \"{wide}\" }}\n");
    assert!(error(&text).contains("expected elements of at most 4096 bytes"));
    let deep = format!("[\"192.0.2.0/24\",{}", "[".repeat(100_000));
    assert!(error(&deep).contains("recursion limit exceeded"));
}

#[test]
fn several_inputs_have_the_columns_of_all() {
    let mut loader = DataLoader::new(Options::default());
    loader.bytes(b"network,a,b\n10.0.0.0/8,1,x\n10.1.0.0/16,2,y\n", Some("one")).unwrap();
    loader.bytes(b"c;a;net\nz;-7;10.1.0.0/16\n", Some("two")).unwrap();
    loader.bytes(b"10.2.0.0/16\n", Some("three")).unwrap();
    loader.bytes(b"10.3.0.0/16 192.0.2.1\n10.4.0.0/16 192.0.2.1\n", Some("four")).unwrap();
    loader.bytes(b"W 10.4.0.0/16\n", Some("routes leave too")).unwrap();
    assert_eq!((loader.len(), loader.is_empty()), (4, false));
    // The options of each input are its own.
    loader.options_mut().duplicates = Duplicates::First;
    loader.bytes(b"network,a\n10.0.0.0/8,9\n", Some("five")).unwrap();
    let data = loader.finish().unwrap();
    assert_eq!(columns(&data), "a:i64 b:string c:string next_hop:string");
    let expected = [
        "10.0.0.0/8 1|x|~|~",
        "10.1.0.0/16 -7|~|z|~",
        "10.2.0.0/16 ~|~|~|~",
        "10.3.0.0/16 ~|~|~|192.0.2.1",
    ];
    assert_eq!(rows(&data), expected);
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
