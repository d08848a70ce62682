//! Lookups of whole columns of addresses, without the interpreter.

mod column;
mod reread;

use std::net::IpAddr;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

pub use column::{Binary, Bits, Column, Data, Integers, Item, Offsets, Views};
pub use reread::{MATCH, NO_MATCH, NOT_AN_ADDRESS, Reread};

use longmatch::{FrozenTable, Ipv4, Ipv6, Keys, NextHopId};

/// The answer to an address: 0 in memory for no match.
pub type Id = Option<NextHopId>;

const _: () = assert!(size_of::<Id>() == size_of::<u32>());

/// A compiled table of any kind, as columns see it.
pub trait Compiled: Send + Sync {
    /// The id of the longest match of one address.
    fn id(&self, addr: IpAddr) -> Id;

    /// The ids of IPv4 addresses.
    fn ids_ipv4(&self, keys: Keys<'_, Ipv4>, out: &mut [Id]);

    /// The ids of IPv6 addresses, among them IPv4-mapped ones.
    fn ids_ipv6(&self, keys: Keys<'_, Ipv6>, out: &mut [Id]);
}

impl<T: Send + Sync> Compiled for FrozenTable<T> {
    fn id(&self, addr: IpAddr) -> Id {
        self.lookup_id(addr)
    }

    fn ids_ipv4(&self, keys: Keys<'_, Ipv4>, out: &mut [Id]) {
        self.lookup_ids(keys, out);
    }

    fn ids_ipv6(&self, keys: Keys<'_, Ipv6>, out: &mut [Id]) {
        self.lookup_ids(keys, out);
    }
}

/// Addresses in a column that are not addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bad {
    /// The index of the first, if there is one.
    pub first: Option<usize>,
}

impl Bad {
    #[inline]
    fn note(&mut self, index: usize) {
        self.first = Some(self.first.map_or(index, |first| first.min(index)));
    }

    /// Adds those of a part that begins at `start`.
    pub fn include(&mut self, start: usize, part: Self) {
        part.first.into_iter().for_each(|index| self.note(start + index));
    }
}

/// A column smaller than this is not worth its own thread.
const MIN_PER_THREAD: usize = 16_384;

/// Looks up a range of a column on some threads; addresses that are null or bad get no match.
///
/// # Panics
/// When `out` is shorter than the range.
pub fn look_up(
    table: &dyn Compiled,
    column: &Column<'_>,
    range: Range<usize>,
    threads: usize,
    out: &mut [Id],
) -> Bad {
    let (first, len) = (range.start, range.len());
    let out = &mut out[..len];
    let threads = threads.min(len / MIN_PER_THREAD).max(1);
    if threads == 1 {
        return column.look_up(table, range, out);
    }
    let each = len.div_ceil(threads);
    thread::scope(|scope| {
        let parts: Vec<_> = out
            .chunks_mut(each)
            .enumerate()
            .map(|(i, out)| {
                let range = first + i * each..first + i * each + out.len();
                scope.spawn(move || column.look_up(table, range, out))
            })
            .collect();
        let mut bad = Bad::default();
        for part in parts {
            match part.join() {
                Ok(its) => its.first.into_iter().for_each(|index| bad.note(index)),
                Err(panic) => resume_unwind(panic),
            }
        }
        bad
    })
}

/// Addresses gathered for one batch.
const BLOCK: usize = 256;

/// A block of addresses of both families, and their places in the block.
struct Block {
    ipv4: [u32; BLOCK],
    at4: [u8; BLOCK],
    count4: usize,
    ipv6: [u128; BLOCK],
    at6: [u8; BLOCK],
    count6: usize,
}

/// A cell of a column that is not an address.
enum Missing {
    Null,
    Bad,
}

/// Looks up the addresses that `read` returns, block by block.
fn in_blocks(
    table: &dyn Compiled,
    range: Range<usize>,
    out: &mut [Id],
    read: impl Fn(usize) -> Result<IpAddr, Missing>,
) -> Bad {
    let mut bad = Bad::default();
    let mut block = Block {
        ipv4: [0; BLOCK],
        at4: [0; BLOCK],
        count4: 0,
        ipv6: [0; BLOCK],
        at6: [0; BLOCK],
        count6: 0,
    };
    for (start, out) in range.step_by(BLOCK).zip(out.chunks_mut(BLOCK)) {
        (block.count4, block.count6) = (0, 0);
        for i in 0..out.len() {
            match read(start + i) {
                Ok(IpAddr::V4(addr)) => {
                    block.ipv4[block.count4] = addr.to_bits();
                    block.at4[block.count4] = i as u8;
                    block.count4 += 1;
                }
                Ok(IpAddr::V6(addr)) => {
                    block.ipv6[block.count6] = addr.to_bits();
                    block.at6[block.count6] = i as u8;
                    block.count6 += 1;
                }
                Err(Missing::Null) => {}
                Err(Missing::Bad) => bad.note(start + i),
            }
        }
        block.look_up(table, out);
    }
    bad
}

impl Block {
    fn look_up(&self, table: &dyn Compiled, out: &mut [Id]) {
        let ipv4 = Keys::<Ipv4>::host(&self.ipv4[..self.count4]);
        if self.count4 == out.len() {
            return table.ids_ipv4(ipv4, out);
        }
        let mut ids = [None; BLOCK];
        out.fill(None);
        if self.count4 > 0 {
            table.ids_ipv4(ipv4, &mut ids[..self.count4]);
            for (at, id) in self.at4.iter().zip(&ids[..self.count4]) {
                out[usize::from(*at)] = *id;
            }
        }
        if self.count6 > 0 {
            let ipv6 = Keys::<Ipv6>::host(&self.ipv6[..self.count6]);
            table.ids_ipv6(ipv6, &mut ids[..self.count6]);
            for (at, id) in self.at6.iter().zip(&ids[..self.count6]) {
                out[usize::from(*at)] = *id;
            }
        }
    }
}
