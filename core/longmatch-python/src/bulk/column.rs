//! Columns of addresses in the layouts of NumPy and Arrow.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;

use longmatch::{Family, IpPrefix, Ipv4, Ipv6, Keys};
use longmatch_feed::parse_ip;

use super::{BLOCK, Bad, Compiled, Id, Missing, in_blocks};

/// Bits of a bitmap in Arrow's order: bit `i` is bit `i % 8` of byte `i / 8`.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Bits<'a> {
    /// The bits from number `offset` on; `None` when the bytes do not hold `len` of them.
    pub fn new(bytes: &'a [u8], offset: usize, len: usize) -> Option<Self> {
        let end = offset.checked_add(len)?;
        (end.div_ceil(8) <= bytes.len()).then_some(Self { bytes, offset })
    }

    #[inline]
    pub fn get(self, i: usize) -> bool {
        let i = self.offset + i;
        self.bytes[i / 8] >> (i % 8) & 1 == 1
    }
}

/// Integers that are IPv4 addresses if they are in range.
#[derive(Clone, Copy, Debug)]
pub enum Integers<'a> {
    I8(&'a [i8]),
    U8(&'a [u8]),
    I16(&'a [i16]),
    U16(&'a [u16]),
    I32(&'a [i32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
    U64(&'a [u64]),
}

impl Integers<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::I8(values) => values.len(),
            Self::U8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::U64(values) => values.len(),
        }
    }

    #[inline]
    pub fn get(&self, i: usize) -> Option<u32> {
        match self {
            Self::I8(values) => u32::try_from(values[i]).ok(),
            Self::U8(values) => Some(u32::from(values[i])),
            Self::I16(values) => u32::try_from(values[i]).ok(),
            Self::U16(values) => Some(u32::from(values[i])),
            Self::I32(values) => u32::try_from(values[i]).ok(),
            Self::U32(values) => Some(values[i]),
            Self::I64(values) => u32::try_from(values[i]).ok(),
            Self::U64(values) => u32::try_from(values[i]).ok(),
        }
    }
}

/// The ends of the items of a column of variable length: one more than there are items.
#[derive(Clone, Copy, Debug)]
pub enum Offsets<'a> {
    I32(&'a [i32]),
    I64(&'a [i64]),
}

/// Text or bytes of variable length.
#[derive(Clone, Copy, Debug)]
pub struct Binary<'a> {
    pub offsets: Offsets<'a>,
    pub data: &'a [u8],
}

impl<'a> Binary<'a> {
    fn len(&self) -> usize {
        match self.offsets {
            Offsets::I32(offsets) => offsets.len().saturating_sub(1),
            Offsets::I64(offsets) => offsets.len().saturating_sub(1),
        }
    }

    /// Item `i`; `None` when its ends are not inside of the data.
    #[inline]
    fn get(&self, i: usize) -> Option<&'a [u8]> {
        let (start, end) = match self.offsets {
            Offsets::I32(offsets) => (offsets[i] as usize, offsets[i + 1] as usize),
            Offsets::I64(offsets) => {
                (usize::try_from(offsets[i]).ok()?, usize::try_from(offsets[i + 1]).ok()?)
            }
        };
        self.data.get(start..end)
    }
}

/// Items of 16 bytes each that hold their text or say where it is: Arrow's views.
#[derive(Clone, Debug)]
pub struct Views<'a> {
    pub views: &'a [[u8; 16]],
    pub buffers: Vec<&'a [u8]>,
}

impl<'a> Views<'a> {
    /// Item `i`; `None` when it does not lie inside of its buffer.
    #[inline]
    fn get(&self, i: usize) -> Option<&'a [u8]> {
        let view: &'a [u8; 16] = &self.views[i];
        let word = |at: usize| {
            let bytes = [view[at], view[at + 1], view[at + 2], view[at + 3]];
            i32::from_ne_bytes(bytes)
        };
        let len = usize::try_from(word(0)).ok()?;
        if len <= 12 {
            return view.get(4..4 + len);
        }
        let buffer = self.buffers.get(usize::try_from(word(8)).ok()?)?;
        let start = usize::try_from(word(12)).ok()?;
        buffer.get(start..start.checked_add(len)?)
    }
}

/// An item of a list of Python, or of a dictionary of Arrow.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    Text(&'a [u8]),
    Address(IpAddr),
    /// A prefix, which is not an address.
    Prefix(IpPrefix),
    Null,
    Bad,
}

impl Item<'_> {
    #[inline]
    fn read(self) -> Result<IpAddr, Missing> {
        match self {
            Self::Text(text) => parse_ip(text).ok_or(Missing::Bad),
            Self::Address(addr) => Ok(addr),
            Self::Null => Err(Missing::Null),
            Self::Prefix(_) | Self::Bad => Err(Missing::Bad),
        }
    }
}

/// The content of a cell that is not an address.
pub(super) enum Raw<'a> {
    Text(Cow<'a, [u8]>),
    /// A negative integer of 32 bits, whose bits may be an address.
    Bits(u32),
    Prefix(IpPrefix),
    Other,
}

/// The addresses of a column.
#[derive(Clone, Debug)]
pub enum Data<'a> {
    /// IPv4 as native integers.
    U32(&'a [u32]),
    /// IPv4 in network order, 4 bytes an address.
    Network4(&'a [u8]),
    /// IPv6 in network order, 16 bytes an address.
    Network16(&'a [u8]),
    /// IPv6 as two native integers, the high half first.
    U64Pairs(&'a [[u64; 2]]),
    /// IPv4 as integers of other types.
    Integers(Integers<'a>),
    /// Text.
    Text(Binary<'a>),
    TextViews(Views<'a>),
    /// 4 or 16 bytes in network order, of either family.
    Binary(Binary<'a>),
    BinaryViews(Views<'a>),
    /// Fixed-width UCS-4 of NumPy, `width` characters an item, the rest zeros; `swapped` if of the other byte order.
    Ucs4 {
        chars: &'a [u32],
        width: usize,
        swapped: bool,
    },
    /// Items of a list.
    Items(&'a [Item<'a>]),
    /// Indices into distinct addresses, each read once.
    Dictionary {
        indices: Integers<'a>,
        values: Vec<Item<'static>>,
        /// The same values before they were read.
        column: Box<Column<'a>>,
    },
    /// Runs of equal addresses, each read once.
    Runs {
        /// The ends of the runs, in order.
        ends: Vec<usize>,
        values: Vec<Item<'static>>,
        /// The same values before they were read.
        column: Box<Column<'a>>,
    },
    /// No addresses: all null.
    Nulls(usize),
    /// No addresses: empty text.
    Bad(usize),
}

impl<'a> Data<'a> {
    /// Indices into a column.
    pub fn dictionary(values: Column<'a>, indices: Integers<'a>) -> Self {
        Self::Dictionary { indices, values: values.items(), column: Box::new(values) }
    }

    /// Runs of the items of a column; as many ends as items, or fewer.
    pub fn runs(values: Column<'a>, ends: Vec<usize>) -> Self {
        Self::Runs { ends, values: values.items(), column: Box::new(values) }
    }
}

/// A column of addresses and nulls.
#[derive(Clone, Debug)]
pub struct Column<'a> {
    pub data: Data<'a>,
    /// A bit for each address: 0 for null.
    pub valid: Option<Bits<'a>>,
}

impl<'a> Column<'a> {
    /// A column without nulls.
    pub fn new(data: Data<'a>) -> Self {
        Self { data, valid: None }
    }

    /// The addresses, read.
    fn items(&self) -> Vec<Item<'static>> {
        let item = |i| match self.get(i) {
            Ok(addr) => Item::Address(addr),
            Err(Missing::Null) => Item::Null,
            Err(Missing::Bad) => Item::Bad,
        };
        (0..self.len()).map(item).collect()
    }

    pub fn len(&self) -> usize {
        match &self.data {
            Data::U32(values) => values.len(),
            Data::Network4(bytes) => bytes.len() / 4,
            Data::Network16(bytes) => bytes.len() / 16,
            Data::U64Pairs(pairs) => pairs.len(),
            Data::Integers(integers) => integers.len(),
            Data::Text(binary) | Data::Binary(binary) => binary.len(),
            Data::TextViews(views) | Data::BinaryViews(views) => views.views.len(),
            Data::Ucs4 { chars, width, .. } => chars.len().checked_div(*width).unwrap_or(0),
            Data::Items(items) => items.len(),
            Data::Dictionary { indices, .. } => indices.len(),
            Data::Runs { ends, .. } => ends.last().copied().unwrap_or(0),
            Data::Nulls(len) | Data::Bad(len) => *len,
        }
    }

    /// Looks up a range of the addresses; returns the bad ones.
    pub(super) fn look_up(&self, table: &dyn Compiled, range: Range<usize>, out: &mut [Id]) -> Bad {
        match &self.data {
            Data::U32(values) => self.ipv4(table, Keys::host(values), range, out),
            Data::Network4(bytes) => self.ipv4(table, whole(Keys::network(bytes)), range, out),
            Data::Network16(bytes) => self.ipv6(table, whole(Keys::network(bytes)), range, out),
            Data::U64Pairs(pairs) => self.ipv6(table, Keys::from(*pairs), range, out),
            // Each loop has its own copy of the code that reads an item.
            Data::Text(texts) => self.each(table, range, out, |i| texts.get(i).and_then(parse_ip)),
            Data::TextViews(views) => {
                self.each(table, range, out, |i| views.get(i).and_then(parse_ip))
            }
            Data::Integers(integers) => self.each(table, range, out, |i| {
                integers.get(i).map(|addr| IpAddr::V4(Ipv4Addr::from(addr)))
            }),
            Data::Items(items) => in_blocks(table, range, out, |i| items[i].read()),
            Data::Nulls(_) => {
                out.fill(None);
                Bad::default()
            }
            Data::Binary(_)
            | Data::BinaryViews(_)
            | Data::Ucs4 { .. }
            | Data::Dictionary { .. }
            | Data::Runs { .. }
            | Data::Bad(_) => in_blocks(table, range, out, |i| self.get(i)),
        }
    }

    /// What a cell has that is not an address, to be read once more.
    pub(super) fn raw(&self, i: usize) -> Raw<'_> {
        match &self.data {
            Data::Text(texts) => texts.get(i).map_or(Raw::Other, |text| Raw::Text(text.into())),
            Data::TextViews(views) => {
                views.get(i).map_or(Raw::Other, |text| Raw::Text(text.into()))
            }
            Data::Integers(Integers::I32(values)) => Raw::Bits(values[i] as u32),
            Data::Items(items) => match items[i] {
                Item::Text(text) => Raw::Text(text.into()),
                Item::Prefix(prefix) => Raw::Prefix(prefix),
                _ => Raw::Other,
            },
            Data::Ucs4 { chars, width, swapped } => {
                let chars = chars[i * width..(i + 1) * width].iter();
                let chars = chars.map(|char| if *swapped { char.swap_bytes() } else { *char });
                let text: String = chars.map(|c| char::from_u32(c).unwrap_or('\u{fffd}')).collect();
                Raw::Text(text.trim_end_matches('\0').as_bytes().to_vec().into())
            }
            Data::Dictionary { indices, column, .. } => {
                let index = indices.get(i).map(|index| index as usize);
                index.filter(|i| *i < column.len()).map_or(Raw::Other, |index| column.raw(index))
            }
            Data::Runs { ends, column, .. } => column.raw(run(ends, i)),
            _ => Raw::Other,
        }
    }

    /// Reads address `i`.
    #[inline]
    pub(super) fn get(&self, i: usize) -> Result<IpAddr, Missing> {
        if self.valid.is_some_and(|valid| !valid.get(i)) {
            return Err(Missing::Null);
        }
        let addr = match &self.data {
            Data::U32(values) => Some(IpAddr::V4(values[i].into())),
            Data::Network4(bytes) => of_bytes(&bytes[i * 4..i * 4 + 4]),
            Data::Network16(bytes) => of_bytes(&bytes[i * 16..i * 16 + 16]),
            Data::U64Pairs(pairs) => {
                let [high, low] = pairs[i];
                Some(IpAddr::V6((u128::from(high) << 64 | u128::from(low)).into()))
            }
            Data::Integers(integers) => integers.get(i).map(|addr| IpAddr::V4(addr.into())),
            Data::Text(texts) => texts.get(i).and_then(parse_ip),
            Data::TextViews(views) => views.get(i).and_then(parse_ip),
            Data::Binary(items) => items.get(i).and_then(of_bytes),
            Data::BinaryViews(views) => views.get(i).and_then(of_bytes),
            Data::Ucs4 { chars, width, swapped } => {
                of_ucs4(&chars[i * width..(i + 1) * width], *swapped)
            }
            Data::Items(items) => return items[i].read(),
            Data::Dictionary { indices, values, .. } => {
                let index = indices.get(i).and_then(|index| values.get(index as usize));
                return index.map_or(Err(Missing::Bad), |item| item.read());
            }
            Data::Runs { ends, values, .. } => return values[run(ends, i)].read(),
            Data::Nulls(_) => return Err(Missing::Null),
            Data::Bad(_) => None,
        };
        addr.ok_or(Missing::Bad)
    }

    /// Looks up the addresses that `read` returns; `None` is a bad one.
    #[inline(always)]
    fn each(
        &self,
        table: &dyn Compiled,
        range: Range<usize>,
        out: &mut [Id],
        read: impl Fn(usize) -> Option<IpAddr>,
    ) -> Bad {
        match self.valid {
            None => in_blocks(table, range, out, |i| read(i).ok_or(Missing::Bad)),
            Some(valid) => in_blocks(table, range, out, |i| {
                if valid.get(i) { read(i).ok_or(Missing::Bad) } else { Err(Missing::Null) }
            }),
        }
    }

    fn ipv4(
        &self,
        table: &dyn Compiled,
        keys: Keys<'_, Ipv4>,
        range: Range<usize>,
        out: &mut [Id],
    ) -> Bad {
        table.ids_ipv4(keys.range(range.clone()), out);
        self.clear_nulls(range.start, out);
        Bad::default()
    }

    fn ipv6(
        &self,
        table: &dyn Compiled,
        keys: Keys<'_, Ipv6>,
        range: Range<usize>,
        out: &mut [Id],
    ) -> Bad {
        table.ids_ipv6(keys.range(range.clone()), out);
        self.clear_nulls(range.start, out);
        Bad::default()
    }

    /// Takes back the answers to nulls, which are addresses as good as any in memory.
    fn clear_nulls(&self, start: usize, out: &mut [Id]) {
        if let Some(valid) = self.valid {
            for (i, id) in out.iter_mut().enumerate() {
                if !valid.get(start + i) {
                    *id = None;
                }
            }
        }
    }
}

/// The run of item `i`.
fn run(ends: &[usize], i: usize) -> usize {
    ends.partition_point(|end| *end <= i)
}

/// Keys of bytes that are whole addresses.
///
/// # Panics
/// When they are not; the readers of columns make sure of it.
fn whole<F: Family>(keys: Option<Keys<'_, F>>) -> Keys<'_, F> {
    keys.expect("the readers of columns take whole addresses only")
}

fn of_bytes(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    }
}

/// Parses UCS-4 text that ends with zeros.
fn of_ucs4(chars: &[u32], swapped: bool) -> Option<IpAddr> {
    // No address is longer than 45 characters.
    let mut text = [0; 64];
    let mut len = 0;
    let mut zeros = false;
    for &char in chars {
        let char = if swapped { char.swap_bytes() } else { char };
        if char == 0 {
            zeros = true;
            continue;
        }
        let byte = u8::try_from(char).ok().filter(u8::is_ascii)?;
        if zeros || len == text.len() {
            return None;
        }
        text[len] = byte;
        len += 1;
    }
    parse_ip(&text[..len])
}

const _: () = assert!(BLOCK <= 256, "the places in a block are bytes");
