//! Sequences of calls from bytes, compared with a linear scan. The fuzz target `capi` takes the same comparison further.
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::multiple_unsafe_ops_per_block,
    reason = "each block is a call by the rules of the header, with handles and memory of the test"
)]

use std::ptr::{null, null_mut};

use longmatch_capi::*;

/// A route as the oracle has it: the address in the upper bits, for both families.
type Key = (u8, u128, u8);

/// The routes, in no order.
#[derive(Clone, Default)]
struct Oracle(Vec<(Key, u32)>);

impl Oracle {
    fn add(&mut self, key: Key, id: u32) {
        self.remove(key);
        self.0.push((key, id));
    }

    fn remove(&mut self, key: Key) -> bool {
        let before = self.0.len();
        self.0.retain(|(found, _)| *found != key);
        self.0.len() < before
    }

    /// The longest match: length and id.
    fn longest(&self, family: u8, address: u128) -> Option<(u8, u32)> {
        let covers = |(_, bits, length): Key| {
            (bits ^ address).checked_shr(128 - u32::from(length)).unwrap_or(0) == 0
        };
        let found = self.0.iter().filter(|(key, _)| key.0 == family && covers(*key));
        found.map(|((_, _, length), id)| (*length, *id)).max()
    }
}

/// The bytes of a sequence, zeros after the last.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let (first, rest) =
            self.0.split_first().map_or((0, self.0), |(first, rest)| (*first, rest));
        self.0 = rest;
        first
    }

    /// An address of few different bytes, so that prefixes cover each other.
    fn address(&mut self, family: u8) -> u128 {
        let bytes: [u8; 16] = std::array::from_fn(|i| if i < 3 { self.next() & 0x83 } else { 0 });
        let low = self.next();
        let last = if family == LM_IPV4 { u128::from(low) << 96 } else { u128::from(low) };
        u128::from_be_bytes(bytes) | last
    }

    fn prefix(&mut self) -> Key {
        let family = if self.next() & 1 == 0 { LM_IPV4 } else { LM_IPV6 };
        let width = if family == LM_IPV4 { 32 } else { 128 };
        let length = self.next() % (width + 1);
        let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
        (family, self.address(family) & mask, length)
    }
}

/// A live table with its oracle and a reader.
struct Live {
    writer: *mut lm_writer,
    reader: *mut lm_reader,
    online: bool,
    /// As of the last commit, and with all changes.
    committed: Oracle,
    changed: Oracle,
}

/// Runs the calls of a sequence.
///
/// # Panics
/// When an answer or a status differs from that of the oracle.
pub fn run(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let flags = if bytes.next() & 1 == 0 { 0 } else { LM_PREFIXES };
    let (mut writer, mut reader) = (null_mut(), null_mut());
    let made = unsafe { lm_writer_new(null(), null(), size_of::<lm_routes>(), flags, &mut writer) };
    assert_eq!(made, LM_OK);
    assert_eq!(unsafe { lm_reader_new(writer, &mut reader) }, LM_OK);
    let (committed, changed) = (Oracle::default(), Oracle::default());
    let mut live = Live { writer, reader, online: false, committed, changed };
    while !bytes.0.is_empty() {
        live.step(&mut bytes, flags);
    }
    arrays(&live.changed, &mut bytes);
    let freed = unsafe { [lm_writer_free(writer), lm_reader_free(reader)] };
    assert_eq!(freed, [LM_OK; 2]);
}

impl Live {
    fn step(&mut self, bytes: &mut Bytes<'_>, flags: u32) {
        match bytes.next() % 8 {
            0..=2 => {
                let (key, id) = (bytes.prefix(), u32::from(bytes.next()) + 1);
                let (family, bits, length) = key;
                let at = bits.to_be_bytes();
                let added =
                    unsafe { lm_writer_add(self.writer, family, at.as_ptr().cast(), length, id) };
                assert_eq!(added, LM_OK);
                self.changed.add(key, id);
            }
            3 => {
                let key = bytes.prefix();
                let at = key.1.to_be_bytes();
                let removed =
                    unsafe { lm_writer_remove(self.writer, key.0, at.as_ptr().cast(), key.2) };
                assert_eq!(removed, if self.changed.remove(key) { LM_OK } else { LM_NO_MATCH });
            }
            4 => {
                assert_eq!(unsafe { lm_writer_commit(self.writer) }, LM_OK);
                self.committed = self.changed.clone();
            }
            5 => {
                assert_eq!(unsafe { lm_writer_roll_back(self.writer) }, LM_OK);
                self.changed = self.committed.clone();
            }
            6 => {
                let expected = |right| if self.online == right { LM_OK } else { LM_E_OFFLINE };
                let (status, right) = match bytes.next() % 3 {
                    0 => (unsafe { lm_reader_online(self.reader) }, false),
                    1 => (unsafe { lm_reader_offline(self.reader) }, true),
                    _ => {
                        return assert_eq!(
                            unsafe { lm_reader_quiescent(self.reader) },
                            expected(true)
                        );
                    }
                };
                assert_eq!(status, expected(right));
                self.online = !right || status != LM_OK && self.online;
            }
            _ => {
                let table = unsafe { lm_reader_table(self.reader) };
                match self.online {
                    true => compare(table, &self.committed, bytes, flags & LM_PREFIXES != 0),
                    false => assert_eq!(unsafe { lm_lookup4(table, 1) }, LM_ERROR),
                }
            }
        }
    }
}

/// Compiles the routes as arrays, and compares their answers.
fn arrays(oracle: &Oracle, bytes: &mut Bytes<'_>) {
    let of = |family: u8, width: usize| {
        let own: Vec<_> = oracle.0.iter().filter(|(key, _)| key.0 == family).collect();
        let prefixes: Vec<u8> =
            own.iter().flat_map(|(key, _)| key.1.to_be_bytes()[..width].to_vec()).collect();
        let lengths: Vec<u8> = own.iter().map(|(key, _)| key.2).collect();
        let ids: Vec<u32> = own.iter().map(|(_, id)| *id).collect();
        (prefixes, lengths, ids)
    };
    let (four, six) = (of(LM_IPV4, 4), of(LM_IPV6, 16));
    let routes = [&four, &six].map(|(prefixes, lengths, ids)| lm_routes {
        prefixes: prefixes.as_ptr().cast(),
        lengths: lengths.as_ptr(),
        ids: ids.as_ptr(),
        count: ids.len(),
    });
    let mut table = null_mut();
    let built = unsafe { lm_build(&routes[0], &routes[1], size_of::<lm_routes>(), 0, &mut table) };
    assert_eq!(built, LM_OK);
    compare(table, oracle, bytes, true);
    assert_eq!(unsafe { lm_free(table) }, LM_OK);
}

/// Compares single lookups, batches and prefixes.
fn compare(table: *const lm_table, oracle: &Oracle, bytes: &mut Bytes<'_>, has_prefixes: bool) {
    // More than a block of the library, now and then.
    let count = usize::from(bytes.next() % 40) * if bytes.next() & 7 == 0 { 10 } else { 1 };
    let stride = 16 + usize::from(bytes.next() % 9);
    // Routes' own addresses, and others.
    let seed = bytes.address(LM_IPV6);
    for family in [LM_IPV4, LM_IPV6] {
        let addresses: Vec<u128> = (0..count)
            .map(|i| match oracle.0.get(i % (oracle.0.len() + 1)) {
                Some((key, _)) => key.1 ^ (i as u128 & 3),
                None => seed.rotate_left(i as u32),
            })
            .collect();
        let expected: Vec<_> =
            addresses.iter().map(|address| oracle.longest(family, *address)).collect();
        let mut memory = vec![0_u8; count * stride + 16];
        for (slot, address) in memory.chunks_mut(stride).zip(&addresses) {
            slot[..16].copy_from_slice(&address.to_be_bytes());
        }
        let (from, mut ids) = (memory.as_ptr().cast(), vec![7_u32; count]);
        let status = match family {
            LM_IPV4 => unsafe { lm_lookup_bulk4n(table, from, stride, count, ids.as_mut_ptr()) },
            _ => unsafe { lm_lookup_bulk6(table, from, stride, count, ids.as_mut_ptr()) },
        };
        assert_eq!(status, LM_OK);
        for ((address, id), expected) in addresses.iter().zip(ids).zip(expected) {
            assert_eq!(id, expected.map_or(LM_NONE, |(_, id)| id), "{family} {address:#x}");
            single(table, family, *address, expected, has_prefixes);
        }
    }
}

fn single(
    table: *const lm_table,
    family: u8,
    address: u128,
    expected: Option<(u8, u32)>,
    has_prefixes: bool,
) {
    let (host, network) = ((address >> 96) as u32, address.to_be_bytes());
    let at = network.as_ptr().cast();
    let id = if family == LM_IPV4 {
        unsafe { lm_lookup4(table, host) }
    } else {
        unsafe { lm_lookup6(table, at) }
    };
    assert_eq!(id, expected.map_or(LM_NONE, |(_, id)| id), "{family} {address:#x}");
    if !has_prefixes {
        return;
    }
    let mut found = lm_match { prefix: [0; 16], id: 0, length: 0, family: 0, reserved: [0; 2] };
    let size = size_of::<lm_match>();
    let status = match family {
        LM_IPV4 => unsafe { lm_lookup_prefix4(table, host, &mut found, size) },
        _ => unsafe { lm_lookup_prefix6(table, at, &mut found, size) },
    };
    assert_eq!(status, if expected.is_some() { LM_OK } else { LM_NO_MATCH });
    if let Some((length, id)) = expected {
        assert_eq!((found.length, found.id, found.family), (length, id, family));
        let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
        assert_eq!(u128::from_be_bytes(found.prefix), address & mask);
    }
}
