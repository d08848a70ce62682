//! Lookups: they allocate nothing, print nothing and do not panic.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use longmatch::{IpPrefix, Ipv6, Keys, NextHopId};

use crate::handle::{Arrays, Handle, Kind, lm_table};
use crate::live::LiveTable;
use crate::memory::{Read, Strided, answers, misuse, put};
use crate::status::{
    LM_E_ALIGN, LM_E_ID, LM_E_NULL, LM_E_UNSUPPORTED, LM_NO_MATCH, LM_OK, lm_status,
};

/// Answer of single lookups: no prefix covers the address.
pub const LM_NONE: u32 = 0;
/// Answer of single lookups: an error, which `lm_last_error` describes. No id has this number.
pub const LM_ERROR: u32 = u32::MAX;

/// The family of IPv4 addresses.
pub const LM_IPV4: u8 = 4;
/// The family of IPv6 addresses.
pub const LM_IPV6: u8 = 6;

/// The longest prefix that covers an address.
#[repr(C)]
pub struct lm_match {
    /// The prefix in network order; IPv4 takes the first four bytes.
    pub prefix: [u8; 16],
    /// The id, as lookups return it.
    pub id: u32,
    /// The length of the prefix in bits.
    pub length: u8,
    /// `LM_IPV4` or `LM_IPV6`. It is `LM_IPV4` for an IPv4-mapped IPv6 address that an IPv4 route covers.
    pub family: u8,
    /// Zero.
    pub reserved: [u8; 2],
}

/// Addresses that are gathered at a time, on the stack.
const BLOCK: usize = 256;

/// Looks up an IPv4 address in host order. Returns its id, `LM_NONE` or `LM_ERROR`.
///
/// Threads: any, at the same time; the table of a reader: the thread in which the reader is online.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_lookup4(table: *const lm_table, address: u32) -> u32 {
    // SAFETY: a handle, by the header.
    raw(unsafe { lm_table::borrow(table) }.and_then(|table| table.id4(address)))
}

/// Looks up an IPv6 address of 16 bytes in network order, such as a `struct in6_addr`. Returns its id, `LM_NONE` or
/// `LM_ERROR`.
///
/// Threads: as `lm_lookup4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_lookup6(table: *const lm_table, address: *const c_void) -> u32 {
    // SAFETY: the caller's memory, by the header.
    let Some(bytes) = (unsafe { address.cast::<[u8; 16]>().as_ref() }) else {
        return raw(Err(misuse!(LM_E_NULL, "the address is NULL")));
    };
    // SAFETY: a handle, by the header.
    raw(unsafe { lm_table::borrow(table) }.and_then(|table| table.id6(*bytes)))
}

#[inline(always)]
fn raw(id: Read<Option<NextHopId>>) -> u32 {
    match id {
        Ok(id) => NextHopId::to_raw(id),
        Err(misuse) => {
            misuse.status();
            LM_ERROR
        }
    }
}

/// Looks up `count` IPv4 addresses in host order, one each `stride` bytes: `ids[i]` answers address `i`, `LM_NONE` where
/// no prefix covers it. The addresses are read where they lie, which is aligned for `uint32_t`.
///
/// Threads: as `lm_lookup4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_lookup_bulk4(
    table: *const lm_table,
    addresses: *const u32,
    stride: usize,
    count: usize,
    ids: *mut u32,
) -> lm_status {
    let is_aligned = addresses.is_aligned();
    if stride == 4 && is_aligned & is_plain::<4>(addresses.cast(), count, ids) {
        // SAFETY: not NULL, aligned and apart; the caller's memory, by the header.
        let keys = unsafe { std::slice::from_raw_parts(addresses, count) };
        // SAFETY: as above.
        let out = NextHopId::slice_of_raw(unsafe { std::slice::from_raw_parts_mut(ids, count) });
        // SAFETY: a handle, by the header.
        return end(unsafe { lm_table::borrow(table) }.and_then(|table| table.bulk4(keys, out)));
    }
    // SAFETY: the caller's memory and handle, by the header.
    unsafe { bulk4_with_gaps(table, addresses, stride, count, ids) }
}

/// Whether addresses without gaps and answers need no other checks: neither is NULL, they are apart, and answers are
/// aligned. Few instructions: those between two small batches keep the CPU from overlapping their reads.
#[inline(always)]
fn is_plain<const WIDTH: usize>(addresses: *const c_void, count: usize, ids: *mut u32) -> bool {
    let (from, to) = (addresses.addr(), ids.addr());
    let apart = (to.wrapping_sub(from) >= count.wrapping_mul(WIDTH))
        & (from.wrapping_sub(to) >= count.wrapping_mul(4));
    apart & (from != 0) & (to != 0) & ids.is_aligned() & (count <= usize::MAX / 32)
}

/// The cases of `lm_lookup_bulk4` with gaps or misuse.
///
/// # Safety
/// That of `lm_lookup_bulk4`.
#[inline(never)]
unsafe fn bulk4_with_gaps(
    table: *const lm_table,
    addresses: *const u32,
    stride: usize,
    count: usize,
    ids: *mut u32,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let table = unsafe { lm_table::borrow(table) }?;
        let addresses = Strided::new(addresses.cast(), (stride, 4), (count, ids))?;
        if !addresses.is_aligned(4) {
            return Err(misuse!(
                LM_E_ALIGN,
                "addresses in host order, or their stride, are misaligned"
            ));
        }
        // SAFETY: the caller's memory, by the header.
        let ids = NextHopId::slice_of_raw(unsafe { answers(ids, count) }?);
        // SAFETY: the caller's memory, by the header.
        let read = |i| u32::from_ne_bytes(unsafe { addresses.get(i) });
        gather(ids, read, |addresses, ids| table.bulk4(addresses, ids))
    };
    end(call())
}

/// Looks up `count` IPv4 addresses in network order, one each `stride` bytes, at any alignment: fields of headers in a
/// ring, or an array of `struct in_addr` with a stride of 4.
///
/// Threads: as `lm_lookup4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_lookup_bulk4n(
    table: *const lm_table,
    addresses: *const c_void,
    stride: usize,
    count: usize,
    ids: *mut u32,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let table = unsafe { lm_table::borrow(table) }?;
        let addresses = Strided::new(addresses, (stride, 4), (count, ids))?;
        // SAFETY: the caller's memory, by the header.
        let ids = NextHopId::slice_of_raw(unsafe { answers(ids, count) }?);
        // SAFETY: the caller's memory, by the header.
        let read = |i| u32::from_be_bytes(unsafe { addresses.get(i) });
        gather(ids, read, |addresses, ids| table.bulk4(addresses, ids))
    };
    end(call())
}

/// Looks up `count` IPv6 addresses of 16 bytes in network order, one each `stride` bytes, at any alignment.
///
/// Threads: as `lm_lookup4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_lookup_bulk6(
    table: *const lm_table,
    addresses: *const c_void,
    stride: usize,
    count: usize,
    ids: *mut u32,
) -> lm_status {
    if stride == 16 && is_plain::<16>(addresses, count, ids) {
        // SAFETY: not NULL and apart; the caller's memory, by the header.
        let keys = unsafe { std::slice::from_raw_parts(addresses.cast::<[u8; 16]>(), count) };
        // SAFETY: as above, and aligned.
        let out = NextHopId::slice_of_raw(unsafe { std::slice::from_raw_parts_mut(ids, count) });
        // SAFETY: a handle, by the header.
        let table = unsafe { lm_table::borrow(table) };
        return end(table.and_then(|table| table.bulk6(Keys::from(keys), out)));
    }
    // SAFETY: the caller's memory and handle, by the header.
    unsafe { bulk6_with_gaps(table, addresses, stride, count, ids) }
}

/// The cases of `lm_lookup_bulk6` with gaps or misuse.
///
/// # Safety
/// That of `lm_lookup_bulk6`.
#[inline(never)]
unsafe fn bulk6_with_gaps(
    table: *const lm_table,
    addresses: *const c_void,
    stride: usize,
    count: usize,
    ids: *mut u32,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let table = unsafe { lm_table::borrow(table) }?;
        let addresses = Strided::new(addresses, (stride, 16), (count, ids))?;
        // SAFETY: the caller's memory, by the header.
        let ids = NextHopId::slice_of_raw(unsafe { answers(ids, count) }?);
        // SAFETY: the caller's memory, by the header.
        let read = |i| u128::from_be_bytes(unsafe { addresses.get(i) });
        gather(ids, read, |addresses, ids| table.bulk6(Keys::host(addresses), ids))
    };
    end(call())
}

/// Looks up one IPv4 address in network order of each of `count` packets: that `offset` bytes after `packets[i]`.
///
/// Threads: as `lm_lookup4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_lookup_bulk4p(
    table: *const lm_table,
    packets: *const *const c_void,
    offset: usize,
    count: usize,
    ids: *mut u32,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let table = unsafe { lm_table::borrow(table) }?;
        // SAFETY: the caller's memory, by the header.
        let (packets, ids) = unsafe { pointers(packets, count, ids) }?;
        // SAFETY: none of the pointers is NULL; the caller's memory, by the header.
        let read = |i: usize| u32::from_be_bytes(unsafe { field(packets[i], offset) });
        gather(ids, read, |addresses, ids| table.bulk4(addresses, ids))
    };
    end(call())
}

/// Looks up one IPv6 address of each of `count` packets: that `offset` bytes after `packets[i]`.
///
/// Threads: as `lm_lookup4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_lookup_bulk6p(
    table: *const lm_table,
    packets: *const *const c_void,
    offset: usize,
    count: usize,
    ids: *mut u32,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let table = unsafe { lm_table::borrow(table) }?;
        // SAFETY: the caller's memory, by the header.
        let (packets, ids) = unsafe { pointers(packets, count, ids) }?;
        // SAFETY: none of the pointers is NULL; the caller's memory, by the header.
        let read = |i: usize| u128::from_be_bytes(unsafe { field(packets[i], offset) });
        gather(ids, read, |addresses, ids| table.bulk6(Keys::host(addresses), ids))
    };
    end(call())
}

/// The pointers to packets, none of them NULL, and the array for the ids.
///
/// # Safety
/// The arrays are the caller's: valid, and apart from each other.
unsafe fn pointers<'a>(
    packets: *const *const c_void,
    count: usize,
    ids: *mut u32,
) -> Read<(&'a [*const c_void], &'a mut [Option<NextHopId>])> {
    Strided::new(packets.cast(), (size_of::<usize>(), size_of::<usize>()), (count, ids))?;
    // SAFETY: the caller promises it.
    let packets = unsafe { crate::memory::array(packets, count) }?;
    if packets.iter().fold(false, |any, packet| any | packet.is_null()) {
        return Err(misuse!(LM_E_NULL, "a pointer to a packet is NULL"));
    }
    // SAFETY: the caller promises it.
    let ids = unsafe { answers(ids, count) }?;
    Ok((packets, NextHopId::slice_of_raw(ids)))
}

/// Bytes of a packet.
///
/// # Safety
/// They are valid for reads.
#[inline(always)]
unsafe fn field<const N: usize>(packet: *const c_void, offset: usize) -> [u8; N] {
    // SAFETY: the caller promises it.
    let at = unsafe { packet.byte_add(offset) };
    // SAFETY: as above; an array of bytes has no alignment.
    unsafe { at.cast::<[u8; N]>().read() }
}

#[inline(always)]
fn end(result: Read<()>) -> lm_status {
    match result {
        Ok(()) => LM_OK,
        Err(misuse) => misuse.status(),
    }
}

/// Reads addresses into blocks on the stack, and looks up each block.
///
/// Not inlined, as all that a batch without gaps does not need: each instruction between two small batches keeps the CPU
/// from overlapping their reads.
#[inline(never)]
fn gather<T: Copy>(
    ids: &mut [Option<NextHopId>],
    read: impl Fn(usize) -> T,
    look_up: impl Fn(&[T], &mut [Option<NextHopId>]) -> Read<()>,
) -> Read<()> {
    // Not zeros first: they would cost as much as a small batch.
    let mut block = [const { MaybeUninit::<T>::uninit() }; BLOCK];
    for (number, ids) in ids.chunks_mut(BLOCK).enumerate() {
        for (i, address) in block[..ids.len()].iter_mut().enumerate() {
            address.write(read(number * BLOCK + i));
        }
        // SAFETY: as many addresses as ids are written.
        let addresses = unsafe { std::slice::from_raw_parts(block.as_ptr().cast(), ids.len()) };
        look_up(addresses, ids)?;
    }
    Ok(())
}

/// Whether an IPv6 address is IPv4-mapped.
#[inline(always)]
fn is_mapped(address: u128) -> bool {
    address >> 32 == 0xffff
}

impl lm_table {
    #[inline(always)]
    fn id4(&self, address: u32) -> Read<Option<NextHopId>> {
        Ok(match self.kind() {
            Kind::File { table, .. } => table.ipv4().lookup_bits(address),
            Kind::Arrays(arrays) => arrays.ipv4.lookup_bits(address),
            Kind::Live(live) => live.view()?.lookup(Ipv4Addr::from_bits(address)).copied(),
        })
    }

    #[inline(always)]
    fn id6(&self, address: [u8; 16]) -> Read<Option<NextHopId>> {
        Ok(match self.kind() {
            Kind::File { table, .. } => table.lookup_id(address),
            Kind::Arrays(arrays) => arrays.id6(u128::from_be_bytes(address)),
            Kind::Live(live) => live.view()?.lookup(address).copied(),
        })
    }

    #[inline(always)]
    fn bulk4(&self, addresses: &[u32], ids: &mut [Option<NextHopId>]) -> Read<()> {
        match self.kind() {
            Kind::File { table, .. } => table.ipv4().lookup_batch(addresses, ids),
            Kind::Arrays(arrays) => arrays.ipv4.lookup_batch(addresses, ids),
            Kind::Live(live) => return live.bulk4(addresses, ids),
        }
        Ok(())
    }

    #[inline(always)]
    fn bulk6(&self, addresses: Keys<'_, Ipv6>, ids: &mut [Option<NextHopId>]) -> Read<()> {
        match self.kind() {
            Kind::File { table, .. } => table.lookup_ids(addresses, ids),
            Kind::Arrays(arrays) => arrays.bulk6(addresses, ids),
            Kind::Live(live) => return live.bulk6(addresses, ids),
        }
        Ok(())
    }
}

impl LiveTable {
    #[inline(never)]
    fn bulk4(&self, addresses: &[u32], ids: &mut [Option<NextHopId>]) -> Read<()> {
        let view = self.view()?;
        view.ipv4().lookup_batch(addresses, ids);
        ids.iter_mut().for_each(|id| *id = id.and_then(|id| view.value(id)).copied());
        Ok(())
    }

    #[inline(never)]
    fn bulk6(&self, addresses: Keys<'_, Ipv6>, ids: &mut [Option<NextHopId>]) -> Read<()> {
        let view = self.view()?;
        view.lookup_ids(addresses, ids);
        ids.iter_mut().for_each(|id| *id = id.and_then(|id| view.value(id)).copied());
        Ok(())
    }
}

impl Arrays {
    fn id6(&self, address: u128) -> Option<NextHopId> {
        match is_mapped(address) && !self.keep_mapped {
            true => self.ipv4.lookup_bits(address as u32),
            false => self.ipv6.lookup_bits(address),
        }
    }

    #[inline(never)]
    fn bulk6(&self, addresses: Keys<'_, Ipv6>, ids: &mut [Option<NextHopId>]) {
        // Without an early end, so that the loop has no branches.
        let any = (0..addresses.len()).fold(false, |any, i| any | is_mapped(addresses.get(i)));
        self.ipv6.lookup_keys(addresses, ids);
        if !any || self.keep_mapped {
            return;
        }
        // The answers of mapped addresses are those of IPv4, in their order.
        let mut at = 0;
        let mut next = || {
            while at < addresses.len() && !is_mapped(addresses.get(at)) {
                at += 1;
            }
            let found = (at < addresses.len()).then_some(at);
            at += 1;
            found
        };
        let (mut places, mut hosts, mut found) = ([0; BLOCK], [0; BLOCK], [None; BLOCK]);
        loop {
            let mut count = 0;
            while let Some(place) = (count < BLOCK).then(&mut next).flatten() {
                (places[count], hosts[count]) = (place, addresses.get(place) as u32);
                count += 1;
            }
            if count == 0 {
                return;
            }
            self.ipv4.lookup_batch(&hosts[..count], &mut found);
            (0..count).for_each(|i| ids[places[i]] = found[i]);
        }
    }
}

/// Looks up the longest prefix that covers an IPv4 address in host order: `LM_OK`, or `LM_NO_MATCH`, which leaves
/// `*match` unchanged. `size` is `sizeof(lm_match)`.
///
/// A compiled file finds it in a few loads where its ids are those of routes, else, as tables of arrays, by a search. A
/// live table needs `LM_PREFIXES`.
///
/// Threads: as `lm_lookup4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_lookup_prefix4(
    table: *const lm_table,
    address: u32,
    r#match: *mut lm_match,
    size: usize,
) -> lm_status {
    // SAFETY: the caller's memory and handle, by the header.
    unsafe { longest(table, Ipv4Addr::from_bits(address).into(), r#match, size) }
}

/// Looks up the longest prefix that covers an IPv6 address of 16 bytes in network order; see `lm_lookup_prefix4`.
///
/// Threads: as `lm_lookup4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_lookup_prefix6(
    table: *const lm_table,
    address: *const c_void,
    r#match: *mut lm_match,
    size: usize,
) -> lm_status {
    // SAFETY: the caller's memory, by the header.
    let Some(bytes) = (unsafe { address.cast::<[u8; 16]>().as_ref() }) else {
        return misuse!(LM_E_NULL, "the address is NULL").status();
    };
    // SAFETY: the caller's memory and handle, by the header.
    unsafe { longest(table, Ipv6Addr::from(*bytes).into(), r#match, size) }
}

/// # Safety
/// The handle and the memory are the caller's, by the header.
unsafe fn longest(
    table: *const lm_table,
    address: IpAddr,
    place: *mut lm_match,
    size: usize,
) -> lm_status {
    let call = || {
        // SAFETY: the caller promises it.
        match unsafe { lm_table::borrow(table) }?.longest(address)? {
            // SAFETY: the caller promises it.
            Some((prefix, id)) => unsafe { put(place, size, lm_match::new(prefix, id)) },
            None => Ok(LM_NO_MATCH),
        }
    };
    call().unwrap_or_else(crate::status::Misuse::status)
}

/// Returns the prefix of a route by its id, where `lm_info.answers` is `LM_ANSWERS_ROUTES`: in a few loads, for the ids
/// of a batch. `size` is `sizeof(lm_match)`.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_route(
    table: *const lm_table,
    id: u32,
    r#match: *mut lm_match,
    size: usize,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let Kind::File { table, .. } = unsafe { lm_table::borrow(table) }?.kind() else {
            return Err(misuse!(
                LM_E_UNSUPPORTED,
                "ids of arrays and live tables are not those of routes"
            ));
        };
        if table.answers() != longmatch::Answers::Routes {
            return Err(misuse!(LM_E_UNSUPPORTED, "the file was compiled with --answers values"));
        }
        let route = NextHopId::new(id).and_then(|id| Some((table.route(id)?.0, id)));
        let (prefix, id) = route.ok_or(misuse!(LM_E_ID, "the id is of no route of the table"))?;
        // SAFETY: the caller's memory, by the header.
        unsafe { put(r#match, size, lm_match::new(prefix, id)) }
    };
    call().unwrap_or_else(crate::status::Misuse::status)
}

impl lm_table {
    fn longest(&self, address: IpAddr) -> Read<Option<(IpPrefix, NextHopId)>> {
        Ok(match self.kind() {
            Kind::File { table, .. } => {
                let id = table.lookup_id(address);
                match (id, table.answers()) {
                    (None, _) => None,
                    (Some(id), longmatch::Answers::Routes) => {
                        table.route(id).map(|(prefix, _)| (prefix, id))
                    }
                    (Some(id), longmatch::Answers::Values) => {
                        table.get_lpm(address).map(|(prefix, _)| (prefix, id))
                    }
                }
            }
            Kind::Arrays(arrays) => arrays.longest(address),
            Kind::Live(live) => {
                live.has_prefixes()?;
                live.view()?.get_lpm(address).map(|(prefix, id)| (prefix, *id))
            }
        })
    }
}

impl Arrays {
    fn longest(&self, address: IpAddr) -> Option<(IpPrefix, NextHopId)> {
        match if self.keep_mapped { address } else { address.to_canonical() } {
            IpAddr::V4(address) => {
                self.routes.0.get_lpm(address).map(|route| (route.prefix.into(), route.next_hop))
            }
            IpAddr::V6(address) => {
                self.routes.1.get_lpm(address).map(|route| (route.prefix.into(), route.next_hop))
            }
        }
    }
}

impl lm_match {
    fn new(prefix: IpPrefix, id: NextHopId) -> Self {
        let (mut bytes, length) = ([0; 16], prefix.len());
        let family = match prefix.addr() {
            IpAddr::V4(address) => {
                bytes[..4].copy_from_slice(&address.octets());
                LM_IPV4
            }
            IpAddr::V6(address) => {
                bytes = address.octets();
                LM_IPV6
            }
        };
        Self { prefix: bytes, id: id.get(), length, family, reserved: [0; 2] }
    }
}
