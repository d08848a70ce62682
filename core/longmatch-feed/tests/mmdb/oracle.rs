//! The answers that a written file must have: those of the RIBs, and the largest block with one answer.

use std::net::{IpAddr, Ipv6Addr};

use longmatch::table::{Cell, PrefixData};
use longmatch::{IpPrefix, NextHopId};
use maxminddb::Reader;
use serde_json::{Map, Value, json};

/// The record and the network of an address; bytes as hexadecimal text, integers beyond 64 bits as decimal text.
pub fn decoded(reader: &Reader<&[u8]>, addr: IpAddr) -> (Option<Value>, IpPrefix) {
    let result = reader.lookup(addr).unwrap();
    let network = result.network().unwrap();
    let network = IpPrefix::new(network.ip(), network.prefix()).unwrap();
    let record = result.decode::<Json>().unwrap();
    (record.map(|json| json.0), network)
}

/// A value as JSON, which `serde_json` alone does not make of bytes and of 128 bits.
struct Json(Value);

impl<'de> serde::Deserialize<'de> for Json {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor).map(Self)
    }
}

struct JsonVisitor;

impl<'de> serde::de::Visitor<'de> for JsonVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_i32<E>(self, value: i32) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(json!(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(json!(value.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = map.next_entry::<String, Json>()? {
            object.insert(key, value.0);
        }
        Ok(Value::Object(object))
    }
}

/// Networks of IPv6 that have IPv4 addresses in a file: always the first two.
const EMBEDDED: [(u128, u8); 4] =
    [(0, 96), (0xffff << 32, 96), (0x2001 << 112, 32), (0x2002 << 112, 16)];

/// The right answers for data whose columns are strings, `u64` or `f64`, without fields.
pub struct Oracle<'a> {
    data: &'a PrefixData,
    embedded: &'static [(u128, u8)],
    /// The first addresses of ranges of the file, as IPv6 addresses, and the ids of their rows.
    starts: Vec<(u128, Option<NextHopId>)>,
}

impl<'a> Oracle<'a> {
    pub fn new(data: &'a PrefixData, aliases: bool) -> Self {
        let mut oracle =
            Self { data, embedded: &EMBEDDED[..if aliases { 4 } else { 2 }], starts: Vec::new() };
        let mut firsts: Vec<u128> = data.table().ipv6().ranges().map(|range| range.first).collect();
        for (bits, len) in oracle.embedded {
            let shift = 96 - len;
            let ipv4 = data.table().ipv4().ranges();
            firsts.extend(ipv4.map(|range| bits | u128::from(range.first) << shift));
            firsts.push(bits + (1 << (128 - len)));
        }
        firsts.sort_unstable();
        firsts.dedup();
        let ids = firsts.iter().map(|first| oracle.id(IpAddr::V6(Ipv6Addr::from(*first))));
        oracle.starts = firsts.iter().copied().zip(ids.collect::<Vec<_>>()).collect();
        oracle
    }

    /// The id of the row that answers for an address.
    pub fn id(&self, addr: IpAddr) -> Option<NextHopId> {
        let table = self.data.table();
        let addr = match addr {
            IpAddr::V4(addr) => return table.ipv4().lookup(addr),
            IpAddr::V6(addr) => addr,
        };
        let bits = addr.to_bits();
        let within = |(network, len): &&(u128, u8)| (bits ^ network) >> (128 - len) == 0;
        match self.embedded.iter().find(within) {
            Some((_, len)) => table.ipv4().lookup(((bits >> (96 - len)) as u32).into()),
            None => table.ipv6().lookup(addr),
        }
    }

    /// The record of an address.
    pub fn record(&self, addr: IpAddr) -> Option<Value> {
        let row = self.data.table().next_hops().get(self.id(addr)?).unwrap();
        let columns = self.data.columns().iter().zip(row);
        let cells = columns.filter_map(|(column, cell)| {
            let value = match cell {
                Cell::Null => return None,
                Cell::String(text) => json!(text),
                Cell::U64(number) => json!(number),
                Cell::I64(number) => json!(number),
                Cell::F64(number) => json!(number),
            };
            Some((column.name.to_string(), value))
        });
        Some(Value::Object(cells.collect()))
    }

    /// The first and the last address of every range of the families that the file has.
    pub fn ends(&self) -> Vec<IpAddr> {
        let table = self.data.table();
        let ipv4 = table.ipv4().ranges().flat_map(|range| [range.first, range.last]);
        let mut ends: Vec<IpAddr> = ipv4.map(|bits| IpAddr::V4(bits.into())).collect();
        if !table.ipv6().is_empty() {
            let starts = self.starts.iter().map(|(start, _)| *start);
            let last = starts.clone().filter(|start| *start > 0).map(|start| start - 1);
            let all = starts.chain(last).chain([u128::MAX]);
            ends.extend(all.map(|bits| IpAddr::V6(bits.into())));
        }
        ends
    }

    /// Checks that all addresses of a network have one answer, and that those of its parent have not, unless IPv4 is
    /// in the parent.
    pub fn check_network(&self, addr: IpAddr, network: IpPrefix) {
        assert!(self.is_one(network), "{addr}: {network} has several answers");
        let ipv4 = IpPrefix::new(Ipv6Addr::UNSPECIFIED.into(), 96).unwrap();
        // The reader's form of 0.0.0.0/0 in a file of both families.
        let is_all = addr.is_ipv4() && network == ipv4;
        assert!(network.contains(addr) || is_all, "{addr} {network}");
        if let Some(parent) =
            network.parent().filter(|parent| parent.len() > 0 && !parent.covers(ipv4))
        {
            assert!(!self.is_one(parent), "{addr}: {network}, but {parent} has one answer too");
        }
    }

    /// Whether all addresses of a prefix have one answer.
    fn is_one(&self, prefix: IpPrefix) -> bool {
        let bits = |addr| match addr {
            IpAddr::V4(addr) => u128::from(addr.to_bits()),
            IpAddr::V6(addr) => addr.to_bits(),
        };
        let (first, last) = (bits(prefix.first()), bits(prefix.last()));
        let from = self.starts.partition_point(|(start, _)| *start <= first);
        let id = self.starts[from - 1].1;
        self.starts[from..].iter().take_while(|(start, _)| *start <= last).all(|(_, it)| *it == id)
    }
}
