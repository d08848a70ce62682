//! Random tables of all shapes against the oracle.

use std::net::IpAddr;

use longmatch::IpPrefix;
use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
use longmatch_feed::mmdb::MmdbOptions;
use longmatch_feed::{Options, load_data_bytes};
use maxminddb::Reader;

use crate::common::Random;
use crate::oracle::{Oracle, decoded};
use crate::written;

/// A table: a few or many prefixes, near each other or not, of one or both families, with few or many rows.
pub fn table(random: &mut Random) -> PrefixData {
    let columns = vec![
        Column::new("country.names.en", ColumnType::String),
        Column::new("asn", ColumnType::U64),
        Column::new("country.score", ColumnType::F64),
    ];
    let mut data = PrefixData::new(columns).unwrap();
    let count = [0, 1, 3, 30, 300][random.below(5)];
    let families = random.below(4);
    let distinct = [1, 2, 5, 1000][random.below(4)];
    let spread = [2, 6, 20, 32][random.below(4)];
    for _ in 0..count {
        let is_ipv4 = families == 0 || families > 1 && random.below(2) == 0;
        let high = random.next();
        // Addresses of a few blocks, so that prefixes nest and stand side by side.
        let near = [0, 0x0a00_0000, 0xc000_0200, u32::MAX][random.below(4)];
        let near6 = [0, 0xffff << 32, 0x2001 << 112, 0x2001_0db8 << 96, 0x2002 << 112, u128::MAX];
        let addr: IpAddr = match is_ipv4 {
            true => IpAddr::V4((near ^ (high as u32) >> (32 - spread)).into()),
            false => {
                let near = near6[random.below(6)];
                IpAddr::V6((near ^ u128::from(high) << 64 >> random.below(120)).into())
            }
        };
        let len = match random.below(8) {
            0 => 0,
            1 => {
                if is_ipv4 {
                    32
                } else {
                    128
                }
            }
            _ => random.below(if is_ipv4 { 33 } else { 129 }),
        };
        let prefix = IpPrefix::masked(addr, len as u8).unwrap();
        data.insert(prefix, row(random, distinct)).unwrap();
    }
    data
}

fn row(random: &mut Random, distinct: usize) -> Row {
    let n = random.below(distinct);
    let text = ["", "DE", "a long name of a country", "\u{fc}"][n % 4];
    [
        if n % 5 == 4 { Cell::Null } else { Cell::String(text.into()) },
        if n % 7 == 6 {
            Cell::Null
        } else {
            Cell::U64([0, 1, 64500, u64::from(u32::MAX), u64::MAX][n % 5])
        },
        if n % 3 == 2 { Cell::Null } else { Cell::F64(n as f64 / 8.0) },
    ]
    .into()
}

/// Checks a file at every end of every range, and after it was loaded again.
pub fn check(data: &PrefixData, oracle: &Oracle<'_>, file: &[u8], networks: bool) {
    let reader = Reader::from_source(file).unwrap();
    let ends = oracle.ends();
    for addr in &ends {
        let (record, network) = decoded(&reader, *addr);
        assert_eq!(record, nested(oracle.record(*addr)), "{addr} {network}");
        if networks {
            oracle.check_network(*addr, network);
        }
    }
    let (again, _) = load_data_bytes(file, None, &Options::default()).unwrap();
    let column = |name: &str| again.columns().iter().position(|column| *column.name == *name);
    let positions: Vec<_> = data.columns().iter().map(|it| column(&it.name)).collect();
    for addr in ends {
        let row = oracle.id(addr).map(|id| data.table().next_hops().get(id).unwrap());
        let read = again.table().lookup(addr);
        let (Some(row), Some(read)) = (row, read) else {
            // IPv6 addresses that IPv4 stands for are IPv4 only after loading.
            assert!(row.is_none() && read.is_none() || addr.is_ipv6(), "{addr}: {row:?} {read:?}");
            continue;
        };
        for (cell, at) in row.iter().zip(&positions) {
            let found = at.map_or(Cell::Null, |at| read[at].clone());
            assert_eq!(found.to_string(), cell.to_string(), "{addr}");
        }
    }
}

/// A flat record with its dots as steps.
pub fn nested(record: Option<serde_json::Value>) -> Option<serde_json::Value> {
    let serde_json::Value::Object(flat) = record? else { unreachable!("a record is a map") };
    let mut root = serde_json::Map::new();
    for (path, value) in flat {
        let (above, key) = path.rsplit_once('.').unwrap_or(("", &path));
        let mut map = &mut root;
        for step in above.split('.').filter(|step| !step.is_empty()) {
            let below = map.entry(step).or_insert_with(|| serde_json::json!({}));
            map = below.as_object_mut().unwrap();
        }
        map.insert(key.to_owned(), value);
    }
    Some(root.into())
}

#[test]
fn random_tables_answer_as_the_oracle() {
    let count = if std::env::var_os("LONGMATCH_PROVE").is_some() { 20_000 } else { 500 };
    let (mut refused, mut with_aliases) = (0, 0);
    for seed in 0..count {
        let mut random = Random(seed);
        let data = table(&mut random);
        let mut options = MmdbOptions::default();
        options.build_time = Some(1);
        options.aliases = random.below(2) == 0;
        options.drop_compatible = true;
        let inside = |network: &str| {
            let network: IpPrefix = network.parse().unwrap();
            options.aliases && data.table().children(network).next().is_some()
        };
        if inside("2001::/32") || inside("2002::/16") {
            assert!(longmatch_feed::mmdb::write(&data, &options, Vec::new()).is_err(), "{seed}");
            refused += 1;
            continue;
        }
        with_aliases += usize::from(options.aliases && !data.table().ipv6().is_empty());
        let (file, _) = written(&data, &options);
        check(&data, &Oracle::new(&data, options.aliases), &file, true);
    }
    assert!(refused > count / 20 && with_aliases > 5, "{refused} {with_aliases}");
}
