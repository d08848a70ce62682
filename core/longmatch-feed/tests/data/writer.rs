//! A writer of the MaxMind DB format, as its specification describes it.

use std::collections::BTreeMap;

use longmatch::IpPrefix;

/// A value of a record.
#[derive(Clone, Debug)]
pub enum Value {
    Text(&'static str),
    Bytes(&'static [u8]),
    Bool(bool),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    I32(i32),
    F32(f32),
    F64(f64),
    Array(Vec<Value>),
    Map(Vec<(&'static str, Value)>),
}

impl Value {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => {
                control(out, 2, text.len());
                out.extend(text.as_bytes());
            }
            Self::F64(number) => {
                control(out, 3, 8);
                out.extend(number.to_be_bytes());
            }
            Self::Bytes(bytes) => {
                control(out, 4, bytes.len());
                out.extend(*bytes);
            }
            Self::U16(number) => integer(out, 5, &number.to_be_bytes()),
            Self::U32(number) => integer(out, 6, &number.to_be_bytes()),
            Self::I32(number) => integer(out, 8, &number.to_be_bytes()),
            Self::U64(number) => integer(out, 9, &number.to_be_bytes()),
            Self::U128(number) => integer(out, 10, &number.to_be_bytes()),
            Self::Bool(bit) => control(out, 14, usize::from(*bit)),
            Self::F32(number) => {
                control(out, 15, 4);
                out.extend(number.to_be_bytes());
            }
            Self::Array(values) => {
                control(out, 11, values.len());
                values.iter().for_each(|value| value.write(out));
            }
            Self::Map(entries) => {
                control(out, 7, entries.len());
                for (key, value) in entries {
                    Self::Text(key).write(out);
                    value.write(out);
                }
            }
        }
    }
}

/// The control byte of a type and a size below 285, and the bytes that extend it.
fn control(out: &mut Vec<u8>, kind: u8, size: usize) {
    let (bits, more) = if size < 29 { (size as u8, None) } else { (29, Some((size - 29) as u8)) };
    if kind < 8 {
        out.push(kind << 5 | bits);
    } else {
        out.extend([bits, kind - 7]);
    }
    out.extend(more);
}

/// An integer without its leading zeros.
fn integer(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    control(out, kind, bytes.len() - zeros);
    out.extend(&bytes[zeros..]);
}

/// A node's child.
#[derive(Clone, Copy)]
enum Child {
    Nothing,
    Node(usize),
    Record(usize),
}

/// A database that is written.
pub struct Database {
    /// 4 or 6.
    pub version: u16,
    /// Bits of a record of the search tree: 24, 28 or 32.
    pub size: u16,
    nodes: Vec<[Child; 2]>,
    records: Vec<u8>,
    offsets: BTreeMap<String, usize>,
}

impl Database {
    pub fn new(version: u16, size: u16) -> Self {
        let (nodes, records) = (vec![[Child::Nothing; 2]], Vec::new());
        Self { version, size, nodes, records, offsets: BTreeMap::new() }
    }

    /// Adds a network. In a database of version 6, IPv4 lies below `::/96`.
    pub fn network(mut self, prefix: &str, record: &Value) -> Self {
        let (bits, len) = match prefix.parse::<IpPrefix>().unwrap() {
            IpPrefix::V4(p) if self.version == 6 => (u128::from(p.bits()), 96 + p.len()),
            IpPrefix::V4(p) => (u128::from(p.bits()) << 96, p.len()),
            IpPrefix::V6(p) => (p.bits(), p.len()),
        };
        let key = format!("{record:?}");
        let offset = match self.offsets.get(&key) {
            Some(offset) => *offset,
            None => {
                let offset = self.records.len();
                record.write(&mut self.records);
                self.offsets.insert(key, offset);
                offset
            }
        };
        self.set(bits, len, Child::Record(offset));
        self
    }

    /// Makes a prefix an alias of the IPv4 tree.
    pub fn alias(mut self, prefix: &str) -> Self {
        let IpPrefix::V6(prefix) = prefix.parse().unwrap() else { panic!("an IPv6 prefix") };
        let ipv4 = (0..96).fold(0, |node, _| match self.nodes[node][0] {
            Child::Node(next) => next,
            _ => panic!("no IPv4 tree yet"),
        });
        self.set(prefix.bits(), prefix.len(), Child::Node(ipv4));
        self
    }

    fn set(&mut self, bits: u128, len: u8, child: Child) {
        let mut node = 0;
        for depth in 0..len {
            let side = (bits >> (127 - depth) & 1) as usize;
            if depth + 1 == len {
                self.nodes[node][side] = child;
                return;
            }
            node = match self.nodes[node][side] {
                Child::Node(next) => next,
                _ => {
                    self.nodes.push([Child::Nothing; 2]);
                    let next = self.nodes.len() - 1;
                    self.nodes[node][side] = Child::Node(next);
                    next
                }
            };
        }
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let count = self.nodes.len();
        let number = |child: Child| match child {
            Child::Nothing => count as u32,
            Child::Node(node) => node as u32,
            Child::Record(offset) => (count + 16 + offset) as u32,
        };
        let mut file = Vec::new();
        for [left, right] in self.nodes.iter().map(|node| node.map(number)) {
            let [[_, left3 @ ..], [_, right3 @ ..]] = [left.to_be_bytes(), right.to_be_bytes()];
            match self.size {
                24 => file.extend([left3, right3].concat()),
                28 => {
                    let middle = (left >> 24 << 4 | right >> 24) as u8;
                    file.extend([&left3[..], &[middle], &right3].concat());
                }
                _ => file.extend([left.to_be_bytes(), right.to_be_bytes()].concat()),
            }
        }
        file.extend([0; 16]);
        file.extend(&self.records);
        file.extend(b"\xab\xcd\xefMaxMind.com");
        let metadata = Value::Map(vec![
            ("binary_format_major_version", Value::U16(2)),
            ("binary_format_minor_version", Value::U16(0)),
            ("build_epoch", Value::U64(1_700_000_000)),
            ("database_type", Value::Text("Test")),
            ("description", Value::Map(vec![("en", Value::Text("a test"))])),
            ("ip_version", Value::U16(self.version)),
            ("languages", Value::Array(vec![Value::Text("en")])),
            ("node_count", Value::U32(count as u32)),
            ("record_size", Value::U16(self.size)),
        ]);
        metadata.write(&mut file);
        file
    }
}
