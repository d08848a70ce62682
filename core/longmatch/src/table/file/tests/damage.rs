//! Trusted files may be damaged anywhere, and no lookup reads outside of them: the file ends at a
//! page that nothing may touch.

use alloc::sync::Arc;
use core::net::Ipv6Addr;
use core::ptr::{NonNull, null_mut};
use core::slice;

use super::super::FileTable;
use super::super::layout::{ENTRY, HEADER};
use super::{data, file};
use crate::engine::Keys;
use crate::mem::Lender;
use crate::net::{IpPrefix, Ipv4, Ipv6, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;
use crate::table::Answers;

/// Memory between two pages that nothing may touch; the bytes end at the second one.
struct Guarded {
    start: NonNull<u8>,
    page: usize,
    capacity: usize,
    len: usize,
}

// SAFETY: the mapping is the value's own.
unsafe impl Send for Guarded {}
// SAFETY: only `&mut self` writes.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn new(len: usize) -> Self {
        // SAFETY: the call reads a constant of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let capacity = len.next_multiple_of(page);
        let (bytes, flags) = (capacity + 2 * page, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the system's choice touches no other memory.
        let start = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        assert!(start != libc::MAP_FAILED);
        let start = NonNull::new(start.cast::<u8>()).unwrap();
        let inner = start.as_ptr().wrapping_add(page);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the pages between the first and the last one of the mapping above.
        assert_eq!(unsafe { libc::mprotect(inner.cast(), capacity, access) }, 0);
        Self { start, page, capacity, len }
    }

    fn first(&self) -> *mut u8 {
        self.start.as_ptr().wrapping_add(self.page + self.capacity - self.len)
    }

    fn fill(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.len);
        // SAFETY: as many writable bytes lie before the last page.
        unsafe { self.first().copy_from_nonoverlapping(bytes.as_ptr(), self.len) };
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`; no slice of it is borrowed any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.capacity + 2 * self.page) };
    }
}

// SAFETY: the bytes stay at their place, and only `&mut self` writes them, which an `Arc` has while
// no array borrows them.
unsafe impl Lender for Guarded {
    fn bytes(&self) -> &[u8] {
        // SAFETY: as many readable bytes lie before the last page; zero at first.
        unsafe { slice::from_raw_parts(self.first(), self.len) }
    }
}

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Addresses in and around the routes, and anywhere.
struct Addresses {
    ipv4: Vec<u32>,
    ipv6: Vec<u128>,
}

impl Addresses {
    fn new(numbers: &mut Numbers) -> Self {
        let mut ipv4: Vec<u32> = (0..100).map(|_| numbers.next() as u32).collect();
        ipv4.extend((0..133).map(|_| 0x0a00_0000 | numbers.next() as u32 >> 12));
        let mut random = || u128::from(numbers.next()) << 72 ^ u128::from(numbers.next());
        let mut ipv6: Vec<u128> = (0..40).map(|_| random()).collect();
        for i in 1..200_u32 {
            let spread = i.wrapping_mul(0x9e37_79b9);
            let bits = u128::from(spread) << 62 | u128::from(spread) << 30 | u128::from(i);
            ipv6.push(0x2001_0db8_u128 << 96 | bits | random() >> (90 + i % 38));
        }
        ipv6.extend([0, u128::MAX]);
        ipv4.extend([0, u32::MAX]);
        Self { ipv4, ipv6 }
    }

    /// Looks up all in every way, at one level of instructions; the answers may be any.
    fn look_up(&self, table: &FileTable, simd: Simd) {
        let mut out = [NextHopId::new(1); 600];
        for addr in &self.ipv4[..40] {
            table.get_lpm(core::net::Ipv4Addr::from(*addr));
        }
        for addr in &self.ipv6[..80] {
            table.get_lpm(Ipv6Addr::from(*addr));
        }
        let network: Vec<[u8; 16]> = self.ipv6.iter().map(|addr| addr.to_be_bytes()).collect();
        for count in [self.ipv4.len(), 70, 20] {
            table.ipv4().lookup_batch_with(simd, &self.ipv4[..count], &mut out);
        }
        for count in [self.ipv6.len(), 30, 9] {
            table.ipv6().lookup_batch_with(simd, &self.ipv6[..count], &mut out);
            let keys = Keys::<Ipv6>::from(&network[..count]);
            table.ipv6().lookup_keys_with(simd, keys, &mut out);
        }
        table.ipv4().lookup_each(simd, &self.ipv4, &mut out);
        table.ipv6().lookup_each(simd, &self.ipv6, &mut out);
        for id in out.into_iter().flatten().take(50) {
            if let Some((_, row)) = table.route(id) {
                assert_eq!(row.iter().count(), table.columns().len());
            }
        }
        let mut rows = [None; 64];
        table.get_lpm_batch(&self.ipv4[..64], &mut rows);
        let office: IpPrefix = "10.0.0.0/9".parse().unwrap();
        assert!(table.children(office).count() <= table.len());
        assert!(table.cover(office).count() <= 33);
    }
}

/// Damages a copy of a file: bits, words, pieces of it elsewhere, mostly in the engines' arrays.
fn damage(numbers: &mut Numbers, original: &[u8], damaged: &mut Vec<u8>) {
    damaged.clear();
    damaged.extend(original);
    let entries = original[HEADER..].as_chunks::<ENTRY>().0;
    let count = u32::from_le_bytes(original[12..16].try_into().unwrap()) as usize;
    let word = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    for _ in 0..=numbers.below(4) {
        let entry = &entries[numbers.below(count)];
        let (offset, len) = (word(entry, 8), word(entry, 16).max(1));
        let at = match numbers.below(12) {
            0 => numbers.below(HEADER + count * ENTRY),
            1 => numbers.below(original.len()),
            _ => offset + numbers.below(len),
        };
        let aligned = at & !3;
        let mut set = |word: u32| {
            if let Some(at) = damaged.get_mut(aligned..aligned + 4) {
                at.copy_from_slice(&word.to_le_bytes());
            }
        };
        match numbers.below(6) {
            0 => damaged[at] ^= 1 << numbers.below(8),
            1 => set(numbers.next() as u32),
            2 => set([0, 1, u32::MAX, 1 << 31, u32::MAX >> 1][numbers.below(5)]),
            3 => damaged[at] = numbers.next() as u8,
            4 => {
                // Words that differ from sound ones by little.
                let old = original[aligned..aligned + 4].try_into().map_or(0, u32::from_le_bytes);
                set(old.wrapping_add(numbers.below(129) as u32).wrapping_sub(64));
            }
            _ => {
                let other = &entries[numbers.below(count)];
                let from = word(other, 8) + (numbers.below(word(other, 16).max(1)) & !3);
                let most = (original.len() - from).min(original.len() - aligned);
                let piece = most.min(4 << numbers.below(9));
                damaged[aligned..aligned + piece].copy_from_slice(&original[from..from + piece]);
            }
        }
    }
}

#[test]
fn damaged_trusted_files_are_never_left() {
    let quick = std::env::var_os("LONGMATCH_QUICK").is_some();
    let full = std::env::var_os("LONGMATCH_DAMAGES").and_then(|count| count.to_str()?.parse().ok());
    let damages = full.unwrap_or(if quick { 100 } else { 3600 });
    let data = data(400);
    let mut numbers = Numbers(77);
    let addrs = Addresses::new(&mut numbers);
    let levels: Vec<Simd> = Simd::available().collect();
    for (ipv4, ipv6, answers) in [
        ("s=8:lists=0", "codes=8", Answers::Routes),
        ("s=10:lists=4:entries=4:flat=yes", "codes=book:leaves=minis", Answers::Values),
        (
            "s=12:codes=24:lists=none:entries=0:ahead=yes",
            "codes=list:leaves=codes",
            Answers::Routes,
        ),
        ("s=11:codes=32:lists=none:entries=none", "codes=16:leaves=lines", Answers::Routes),
        ("s=16", "codes=32:leaves=lines:steps=2", Answers::Values),
    ] {
        let original = file(&data, ipv4, ipv6, answers);
        let mut memory = Arc::new(Guarded::new(original.len()));
        let mut damaged = Vec::new();
        let mut opened = 0;
        for round in 0..=damages {
            match round {
                0 => damaged.extend(&original),
                _ => damage(&mut numbers, &original, &mut damaged),
            }
            Arc::get_mut(&mut memory).expect("no table is open").fill(&damaged);
            let lender: Arc<dyn Lender> = memory.clone();
            let Ok(table) = FileTable::over(&lender, false) else { continue };
            opened += 1;
            addrs.look_up(&table, levels[opened % levels.len()]);
            if opened % 16 == 1 {
                let copy = table.to_data();
                assert!(copy.table().len() <= table.len());
                let (ipv4, ipv6) = (Rib::<Ipv4>::new(), Rib::<Ipv6>::new());
                assert!(table.ipv4().check(&ipv4).is_err() || table.ipv6().check(&ipv6).is_err());
            }
        }
        // Damage is seldom found without checksums.
        assert!(opened > damages / 5, "{opened} of {damages} files are open");
    }
}

/// Sizes of arrays, at the very end of a file, that a lookup needs.
#[test]
fn arrays_without_slack_are_refused() {
    let bytes = file(&data(100), "s=8:codes=8", "codes=8", Answers::Routes);
    for cut in (64..1024).step_by(64) {
        let mut memory = Guarded::new(bytes.len() - cut);
        memory.fill(&bytes[..bytes.len() - cut]);
        let lender: Arc<dyn Lender> = Arc::new(memory);
        assert!(FileTable::over(&lender, false).is_err());
    }
}
