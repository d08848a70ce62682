//! Data for files: rows of every type of column, under prefixes of all kinds.

use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
use longmatch::{Bits, Family, IpPrefix, Ipv4, Ipv6, Prefix};

/// A sequence of numbers that is the same in every run: xorshift.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Columns of every type.
pub fn columns() -> Vec<Column> {
    let column = |(name, ty)| Column::new(name, ty);
    [
        ("site", ColumnType::String),
        ("asn", ColumnType::U64),
        ("balance", ColumnType::I64),
        ("latitude", ColumnType::F64),
        ("Straße", ColumnType::String),
    ]
    .map(column)
    .into()
}

/// A row, one of about `kinds`; some cells are null.
pub fn row(numbers: &mut Numbers, kinds: u64) -> Row {
    let kind = numbers.below(kinds);
    let text = |text: String| Cell::String(text.into());
    let asn = if kind % 7 == 3 { Cell::Null } else { Cell::U64(u64::MAX - kind) };
    let balance = if kind % 5 == 4 { Cell::Null } else { Cell::I64(-(kind.cast_signed())) };
    let latitude = match kind % 4 {
        0 => Cell::Null,
        1 => Cell::F64(f64::NAN),
        _ => Cell::F64(kind as f64 / -3.0),
    };
    let street = match kind % 3 {
        0 => Cell::Null,
        1 => text(String::new()),
        _ => text(format!("straße {}", kind % 11)),
    };
    [text(format!("site {kind}")), asn, balance, latitude, street].into()
}

/// A random prefix: of any length, near others or not.
pub fn prefix(numbers: &mut Numbers) -> IpPrefix {
    let high = [0x0a00_0000, 0x0a01_0000, 0xc000_0200, 0][numbers.below(4) as usize];
    if numbers.below(5) < 3 {
        let low = [numbers.below(1 << 12), numbers.below(1 << 20), numbers.next()];
        let bits = high ^ low[numbers.below(3) as usize] as u32;
        let len = [8 + numbers.below(25), 24, 32, numbers.below(33)][numbers.below(4) as usize];
        Prefix::<Ipv4>::from_bits_masked(bits, len as u8).into()
    } else {
        let block = 0x2001_0db8_u128 << 96 | u128::from(numbers.below(200)) << 84;
        let low = [0, numbers.next().into(), u128::from(numbers.next()) << 44];
        let bits = block ^ low[numbers.below(3) as usize];
        let len = [20 + numbers.below(109), 48, 128, numbers.below(129)][numbers.below(4) as usize];
        Prefix::<Ipv6>::from_bits_masked(bits, len as u8).into()
    }
}

/// Random prefixes with random rows.
pub fn random(seed: u64, routes: usize, kinds: u64) -> PrefixData {
    let mut numbers = Numbers::new(seed);
    let mut data = PrefixData::new(columns()).unwrap();
    for _ in 0..routes {
        let prefix = prefix(&mut numbers);
        data.insert(prefix, row(&mut numbers, kinds)).unwrap();
    }
    data
}

/// Prefixes without columns.
pub fn set(prefixes: &[&str]) -> PrefixData {
    let mut data = PrefixData::default();
    for text in prefixes {
        data.insert(text.parse::<IpPrefix>().unwrap(), [].into()).unwrap();
    }
    data
}

/// The routes of the tables of `testdata/lpm`, with their next hops as a column.
pub fn tables() -> Vec<(String, PrefixData)> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/lpm");
    let mut tables = Vec::new();
    for name in ["basics.toml", "edges.toml"] {
        let text = std::fs::read_to_string(format!("{dir}/{name}")).unwrap();
        let file: toml::Table = text.parse().unwrap();
        for case in file["case"].as_array().unwrap() {
            let mut data = PrefixData::new(vec![Column::new("hop", ColumnType::U64)]).unwrap();
            for route in case["routes"].as_array().unwrap() {
                let route = route.as_str().unwrap();
                let (prefix, hop) = route.split_once(' ').unwrap();
                let hop = Cell::U64(hop.trim().parse().unwrap());
                data.insert(prefix.parse::<IpPrefix>().unwrap(), [hop].into()).unwrap();
            }
            tables.push((format!("{name}: {}", case["name"].as_str().unwrap()), data));
        }
    }
    tables
}

/// The ends of every route and their neighbours.
pub fn ends<F: Family>(rib: &longmatch::Rib<F>) -> Vec<F::Bits> {
    let ends = rib.iter().flat_map(|route| {
        let (first, last) = (route.prefix.first(), route.prefix.last());
        [first.predecessor(), Some(first), Some(last), last.successor()].into_iter().flatten()
    });
    let mut addrs: Vec<F::Bits> = ends.chain([F::Bits::ZERO, F::Bits::MAX]).collect();
    // So that neighbours in a batch are far apart.
    let len = addrs.len();
    (0..len).for_each(|i| addrs.swap(i, i * 7919 % len));
    addrs
}
