//! Helpers of the integration tests.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use longmatch::IpPrefix;
use longmatch_feed::{FeedError, Options, Report, Sink, SinkError, load_bytes};

/// A sink that keeps its routes.
#[derive(Default)]
pub struct Routes(pub BTreeMap<IpPrefix, String>);

impl Sink for Routes {
    fn announce(&mut self, prefix: IpPrefix, next_hop: &str) -> Result<(), SinkError> {
        self.0.insert(prefix, next_hop.to_owned());
        Ok(())
    }

    fn withdraw(&mut self, prefix: IpPrefix) -> Result<(), SinkError> {
        self.0.remove(&prefix);
        Ok(())
    }
}

impl Routes {
    /// `prefix next-hop` for each route, in order.
    pub fn lines(&self) -> Vec<String> {
        self.0.iter().map(|(prefix, next_hop)| format!("{prefix} {next_hop}")).collect()
    }
}

/// Loads bytes strictly with default options.
pub fn load(bytes: &[u8]) -> Result<(Routes, Report), FeedError> {
    load_with(bytes, &Options::default())
}

/// Loads bytes leniently with default options.
pub fn load_lenient(bytes: &[u8]) -> Result<(Routes, Report), FeedError> {
    load_with(bytes, &lenient())
}

/// Loads bytes with these options.
pub fn load_with(bytes: &[u8], options: &Options) -> Result<(Routes, Report), FeedError> {
    let mut routes = Routes::default();
    let report = load_bytes(bytes, None, options, &mut routes)?;
    Ok((routes, report))
}

/// The options of a lenient load.
pub fn lenient() -> Options {
    let mut options = Options::default();
    options.lenient = true;
    options
}

/// The options that choose a peer.
pub fn peer(name: &str) -> Options {
    let mut options = Options::default();
    options.peer = Some(name.parse().expect("a peer"));
    options
}

/// The error of a load that must fail, as text.
pub fn error_of(bytes: &[u8]) -> String {
    match load(bytes) {
        Ok((routes, _)) => panic!("loaded {:?}", routes.lines()),
        Err(error) => error.to_string(),
    }
}

/// The directory of real routing data: `LONGMATCH_DATA`, or `../shared/data` beside the workspace.
/// Prints a message if a test is skipped because the directory is missing.
pub fn data_dir(test: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let dir = std::env::var_os("LONGMATCH_DATA").map_or_else(|| beside.into(), PathBuf::from);
    if dir.is_dir() {
        return Some(dir);
    }
    eprintln!("skipped: {test}: no directory {}; set LONGMATCH_DATA", dir.display());
    None
}

/// Reproducible pseudo-random numbers for damaging files (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

pub mod capture;

/// Builders of MRT records.
pub mod mrt {
    /// A record with its header.
    pub fn record(kind: u16, subtype: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x55, 0x66, 0x77, 0x88];
        bytes.extend(kind.to_be_bytes());
        bytes.extend(subtype.to_be_bytes());
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend(body);
        bytes
    }

    /// A peer index table of IPv4 peers `192.0.2.N` with 4-byte AS number `64500 + N`, from 0.
    pub fn peer_index(peers: u8) -> Vec<u8> {
        let mut body = vec![10, 0, 0, 1, 0, 4];
        body.extend(b"view");
        body.extend([0, peers]);
        for n in 0..peers {
            body.extend([2, 9, 9, 9, n, 192, 0, 2, n]);
            body.extend((64500 + u32::from(n)).to_be_bytes());
        }
        record(13, 1, &body)
    }

    /// A path attribute.
    pub fn attribute(flags: u8, code: u8, value: &[u8]) -> Vec<u8> {
        let mut bytes = vec![flags, code];
        if flags & 0x10 != 0 {
            bytes.extend((value.len() as u16).to_be_bytes());
        } else {
            bytes.push(value.len() as u8);
        }
        bytes.extend(value);
        bytes
    }

    /// ORIGIN, AS_PATH and NEXT_HOP `10.0.0.N`.
    pub fn ipv4_attributes(n: u8) -> Vec<u8> {
        let mut bytes = attribute(0x40, 1, &[0]);
        bytes.extend(attribute(0x50, 2, &[2, 1, 0, 0, 0xfb, 0xf4]));
        bytes.extend(attribute(0x40, 3, &[10, 0, 0, n]));
        bytes
    }

    /// The address `2001:db8::N`.
    pub fn ipv6_addr(n: u8) -> [u8; 16] {
        [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n]
    }

    /// ORIGIN and an abbreviated MP_REACH_NLRI with next hop `2001:db8::N`.
    pub fn ipv6_attributes(n: u8) -> Vec<u8> {
        let mut value = vec![16];
        value.extend(ipv6_addr(n));
        let mut bytes = attribute(0x40, 1, &[0]);
        bytes.extend(attribute(0x80, 14, &value));
        bytes
    }

    /// A prefix in BGP encoding.
    pub fn prefix(len: u8, octets: &[u8]) -> Vec<u8> {
        let mut bytes = vec![len];
        bytes.extend(octets);
        bytes
    }

    /// A RIB record with a prefix, and with the peer index and the attributes of each entry.
    pub fn rib(subtype: u16, prefix: &[u8], entries: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let add_path = subtype >= 8;
        let mut body = vec![0, 0, 0, 7];
        body.extend(prefix);
        body.extend((entries.len() as u16).to_be_bytes());
        for (n, (peer, attributes)) in entries.iter().enumerate() {
            body.extend(peer.to_be_bytes());
            body.extend([0x55, 0x66, 0x77, 0x88]);
            if add_path {
                body.extend((n as u32 + 1).to_be_bytes());
            }
            body.extend((attributes.len() as u16).to_be_bytes());
            body.extend(attributes);
        }
        record(13, subtype, &body)
    }

    /// A TABLE_DUMP record of the IPv4 peer `192.0.2.N` in AS `64500 + N`.
    pub fn table_dump(n: u8, addr: [u8; 4], len: u8, attributes: &[u8]) -> Vec<u8> {
        let mut body = vec![0, 0, 0, 1];
        body.extend(addr);
        body.extend([len, 1, 0x55, 0x66, 0x77, 0x88, 192, 0, 2, n]);
        body.extend((64500 + u16::from(n)).to_be_bytes());
        body.extend((attributes.len() as u16).to_be_bytes());
        body.extend(attributes);
        record(12, 1, &body)
    }

    /// The body of a BGP UPDATE message.
    pub fn update(withdrawn: &[u8], attributes: &[u8], routes: &[u8]) -> Vec<u8> {
        let mut body = (withdrawn.len() as u16).to_be_bytes().to_vec();
        body.extend(withdrawn);
        body.extend((attributes.len() as u16).to_be_bytes());
        body.extend(attributes);
        body.extend(routes);
        body
    }

    /// A BGP4MP record (subtype 4 or 9, 4-byte ASes) of the peer `192.0.2.N` with a BGP message.
    pub fn message(et: bool, subtype: u16, n: u8, kind: u8, message: &[u8]) -> Vec<u8> {
        let mut body = if et { vec![0, 0, 0, 5] } else { vec![] };
        body.extend((64500 + u32::from(n)).to_be_bytes());
        body.extend(64000u32.to_be_bytes());
        body.extend([0, 0, 0, 1, 192, 0, 2, n, 192, 0, 2, 254]);
        body.extend([0xff; 16]);
        body.extend((message.len() as u16 + 19).to_be_bytes());
        body.push(kind);
        body.extend(message);
        record(if et { 17 } else { 16 }, subtype, &body)
    }

    /// One file with a record of every supported kind.
    pub fn everything() -> Vec<u8> {
        let mut file = peer_index(3);
        file.extend(rib(2, &prefix(8, &[10]), &[(0, ipv4_attributes(1)), (1, ipv4_attributes(2))]));
        file.extend(rib(4, &prefix(32, &[0x20, 1, 0x0d, 0xb8]), &[(2, ipv6_attributes(3))]));
        file.extend(rib(
            8,
            &prefix(16, &[10, 1]),
            &[(1, ipv4_attributes(4)), (1, ipv4_attributes(5))],
        ));
        file.extend(rib(10, &prefix(0, &[]), &[(2, ipv6_attributes(6))]));
        file.extend(table_dump(1, [10, 2, 0, 0], 16, &ipv4_attributes(7)));
        let routes = [prefix(24, &[10, 3, 0]), prefix(0, &[])].concat();
        file.extend(message(
            false,
            4,
            1,
            2,
            &update(&prefix(16, &[10, 9]), &ipv4_attributes(8), &routes),
        ));
        let mut reach = vec![0, 2, 1, 32];
        reach.extend([ipv6_addr(9), [0xfe; 16]].concat());
        reach.extend([0, 48, 0x20, 1, 0x0d, 0xb8, 0, 1]);
        let unreach = attribute(0x80, 15, &[0, 2, 1, 16, 0x20, 2]);
        let list = [attribute(0x90, 14, &reach), unreach].concat();
        file.extend(message(true, 4, 1, 2, &update(&[], &list, &[])));
        let with_path = [vec![0, 0, 0, 1], prefix(24, &[10, 4, 0])].concat();
        file.extend(message(false, 9, 1, 2, &update(&[], &ipv4_attributes(10), &with_path)));
        file.extend(message(false, 4, 1, 4, &[]));
        file.extend(record(13, 6, &[1, 2, 3]));
        file
    }
}
