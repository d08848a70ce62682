//! The layout of tables in the kernel: all constants, and the lookup that programs make, in Rust.
//!
//! A version of the tables is the value of one array of one element. All words have 32 bits in the host's byte order.
//! Offsets into the pool count units of 8 bytes from the start of the value.
//!
//! ```text
//! bytes     0        512 KiB  768 KiB                        capacity (a power of two)    + 4 KiB
//!           | root 4 | root 6 | roots of further tables ... | pages and lines ... | free | header |
//!
//! a word    31   30        27  26   25                                                     0
//!           | 1  | 16 - stride | words |              offset of a page                     |
//!           | 0  |   0         | words |              offset of a line                     |
//!           | 0  |   1         |   1   |              offset of the page of a low half     |
//! ```
//!
//! The first 17 bits of an IPv4 address, 16 of an IPv6 address choose a word of a root. The next bits are the key, in the
//! high bits of 64 bits: all others of an IPv4 address, 48 of an IPv6 address.
//!
//! - A **page** has `2^stride` entries; the first `stride` bits of the key choose one, and the key is shifted by them.
//! - A **line** has 8 starts of ranges and 9 entries; as many starts as are not greater than the key precede the entry. Starts
//!   are the first 16 bits of the key for IPv4; for IPv6 all 64 without the last 2, which are 0 wherever lines occur. Missing
//!   starts are greater than every key.
//! - The **page of a low half** has 16 entries, words: the key becomes the last 64 bits of an IPv6 address, 4 of them used.
//!
//! The entries are words if bit 26 is set, and the search goes on; otherwise they are values of 1, 2 or 4 bytes, and 0 is
//! no match. A search has at most [`STEPS_4`] pages and lines for IPv4; [`STEPS_6`] for each half of an IPv6 address.

use std::fmt;

/// Bits of an IPv4 address that choose a word of the root.
pub(crate) const ROOT_BITS_4: u32 = 17;
/// Bits of an IPv6 address that choose a word of the root.
pub(crate) const ROOT_BITS_6: u32 = 16;
/// Bits that the page of a low half uses.
pub(crate) const LOW_BITS: u32 = 4;
/// The most pages and lines of a search for an IPv4 address.
pub(crate) const STEPS_4: u32 = 5;
/// The most pages and lines of a search for a half of an IPv6 address.
pub(crate) const STEPS_6: u32 = 7;
/// Words of the roots of a table.
pub(crate) const ROOT_WORDS: u32 = (1 << ROOT_BITS_4) + (1 << ROOT_BITS_6);
/// The starts of a line.
pub(crate) const STARTS: usize = 8;
/// A word leads to a page.
pub(crate) const PAGE: u32 = 1 << 31;
/// A word that leads to no page leads to the page of a low half.
pub(crate) const LOW: u32 = 1 << 27;
/// The entries are words.
pub(crate) const WORDS: u32 = 1 << 26;
/// The bits of an offset.
pub(crate) const OFFSET: u32 = WORDS - 1;
/// Shifts the field of the stride to the right; with [`PAGE`] it is 32 - stride.
pub(crate) const STRIDE_SHIFT: u32 = 27;
/// The widest page.
pub(crate) const MAX_STRIDE: u32 = 16;
/// The logarithm of the bytes of a unit of offsets.
pub(crate) const UNIT_SHIFT: u32 = 3;
/// Bytes after the capacity: a header, and the rest of a line that begins at the last unit.
pub(crate) const TAIL: u32 = 4096;
/// The greatest capacity in bytes: the kernel's verifier permits half a gigabyte.
pub(crate) const MAX_CAPACITY: u32 = 1 << 28;
/// The first words of the header: "longmatch" in a table of this layout.
pub(crate) const MAGIC: [u32; 2] = [0x6c6d_6270, 1];

/// The form of lines of a family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineForm {
    /// Bytes of a start.
    pub start_bytes: u32,
    /// The key's low bits that starts leave out; all are 0.
    pub shift: u32,
}

impl LineForm {
    pub(crate) const V4: Self = Self { start_bytes: 2, shift: 48 };
    pub(crate) const V6: Self = Self { start_bytes: 8, shift: 2 };

    /// The offset of the entries in a line, in bytes.
    pub(crate) const fn entries(self) -> u32 {
        STARTS as u32 * self.start_bytes
    }

    /// A start that is greater than every key.
    pub(crate) const fn never(self) -> u64 {
        u64::MAX >> if self.start_bytes == 2 { 48 } else { 1 }
    }
}

/// The sizes of the tables that a program is made for.
///
/// ```
/// use longmatch_bpf::Shape;
/// let shape = Shape::new(1, 1, 1 << 20)?;
/// assert_eq!(shape.value_size(), (1 << 20) + 4096);
/// # Ok::<(), longmatch_bpf::ShapeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    tables: u32,
    value_bytes: u32,
    capacity: u32,
}

impl Shape {
    /// `tables` tables of both families, with values of 1, 2 or 4 bytes, in `capacity` bytes: a power of two, at least
    /// 768 KiB for each table and at most 256 MiB.
    ///
    /// # Errors
    /// If a number is not as stated.
    pub fn new(tables: u32, value_bytes: u32, capacity: u32) -> Result<Self, ShapeError> {
        let shape = Self { tables, value_bytes, capacity };
        let roots = u64::from(tables) * u64::from(ROOT_WORDS) * 4;
        let fits = capacity.is_power_of_two() && capacity <= MAX_CAPACITY;
        let valid = tables > 0 && [1, 2, 4].contains(&value_bytes);
        if fits && valid && roots < capacity.into() { Ok(shape) } else { Err(ShapeError(shape)) }
    }

    /// The number of tables.
    #[must_use]
    pub fn tables(self) -> u32 {
        self.tables
    }

    /// Bytes of a value.
    #[must_use]
    pub fn value_bytes(self) -> u32 {
        self.value_bytes
    }

    /// Bytes of roots, pages and lines.
    #[must_use]
    pub fn capacity(self) -> u32 {
        self.capacity
    }

    /// Bytes of the value of the map.
    #[must_use]
    pub fn value_size(self) -> u32 {
        self.capacity + TAIL
    }

    /// The greatest value.
    #[must_use]
    pub fn max_value(self) -> u32 {
        u32::MAX >> (32 - 8 * self.value_bytes)
    }

    /// The byte at which the root of a table begins: IPv4, IPv6.
    pub(crate) fn roots(self, table: u32) -> [u32; 2] {
        let first = table * ROOT_WORDS * 4;
        [first, first + (4 << ROOT_BITS_4)]
    }

    /// The words of the header. The last one is the number of the first words that are in use.
    pub(crate) fn header(self, used: usize) -> [u32; 6] {
        [MAGIC[0], MAGIC[1], self.tables, self.value_bytes, self.capacity, used as u32]
    }

    /// The place of the header's last word.
    #[cfg(target_os = "linux")]
    pub(crate) fn used(self) -> usize {
        self.capacity as usize / 4 + 5
    }

    /// The shape that a header states.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_header(header: [u32; 5]) -> Option<Self> {
        let [one, two, tables, value_bytes, capacity] = header;
        let shape = Self::new(tables, value_bytes, capacity).ok()?;
        ([one, two] == MAGIC).then_some(shape)
    }
}

/// Tables cannot have this shape.
///
/// ```
/// use longmatch_bpf::Shape;
/// let error = Shape::new(1, 3, 1 << 20).unwrap_err();
/// assert!(error.to_string().contains("values of 3 bytes"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShapeError(Shape);

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { tables, value_bytes, capacity } = self.0;
        write!(
            f,
            "{tables} tables with values of {value_bytes} bytes in {capacity} bytes: there is at least one table, values have \
             1, 2 or 4 bytes, and the size is a power of two of at most 256 MiB with more than 768 KiB for each table"
        )
    }
}

impl std::error::Error for ShapeError {}

/// The words of a version, wherever they are.
pub(crate) trait Words {
    /// A word, by its place.
    fn word(&self, place: usize) -> u32;
}

impl Words for [u32] {
    fn word(&self, place: usize) -> u32 {
        self.get(place).copied().unwrap_or(0)
    }
}

/// The lookup as the programs make it, over the same words.
pub(crate) struct Search<'w, W: ?Sized> {
    pub words: &'w W,
    pub shape: Shape,
}

impl<W: Words + ?Sized> Search<'_, W> {
    /// A number of up to 8 bytes, aligned to its size.
    fn number(&self, byte: u32, bytes: u32) -> u64 {
        let word = |byte: u32| self.words.word(byte as usize / 4);
        match bytes {
            8 => {
                let [a, b, c, d] = word(byte).to_ne_bytes();
                let [e, f, g, h] = word(byte + 4).to_ne_bytes();
                u64::from_ne_bytes([a, b, c, d, e, f, g, h])
            }
            4 => word(byte).into(),
            2 => {
                let [a, b, c, d] = word(byte).to_ne_bytes();
                u16::from_ne_bytes(if byte.is_multiple_of(4) { [a, b] } else { [c, d] }).into()
            }
            _ => word(byte).to_ne_bytes()[byte as usize % 4].into(),
        }
    }

    /// The value of an IPv4 address, 0 for none.
    pub(crate) fn lookup4(&self, table: u32, addr: u32) -> u32 {
        let root = self.shape.roots(table)[0] + ((addr >> (32 - ROOT_BITS_4)) << 2);
        let word = self.number(root, 4) as u32;
        self.steps(word, u64::from(addr) << (32 + ROOT_BITS_4), STEPS_4, LineForm::V4).unwrap_or(0)
    }

    /// The value of an IPv6 address, 0 for none.
    pub(crate) fn lookup6(&self, table: u32, addr: u128) -> u32 {
        let (high, low) = ((addr >> 64) as u64, addr as u64);
        let root = self.shape.roots(table)[1] + (((high >> (64 - ROOT_BITS_6)) as u32) << 2);
        let word = self.number(root, 4) as u32;
        let word = match self.steps(word, high << ROOT_BITS_6, STEPS_6, LineForm::V6) {
            Ok(value) => return value,
            Err(low) => low,
        };
        let at = (word << UNIT_SHIFT) + ((low >> (64 - LOW_BITS)) as u32) * 4;
        let word = self.number(at & (self.shape.capacity - 4), 4) as u32;
        self.steps(word, low << LOW_BITS, STEPS_6, LineForm::V6).unwrap_or(0)
    }

    /// The value, or the word that leads to the low half.
    fn steps(&self, mut word: u32, mut key: u64, steps: u32, form: LineForm) -> Result<u32, u32> {
        let capacity = self.shape.capacity;
        for _ in 0..steps {
            if word & (PAGE | LOW) == LOW {
                return Err(word);
            }
            let bytes = if word & WORDS == 0 { self.shape.value_bytes } else { 4 };
            let at = if word & PAGE != 0 {
                let shift = word >> STRIDE_SHIFT;
                let entry = ((key >> 32) >> shift) as u32;
                key <<= 32 - shift;
                (word << UNIT_SHIFT).wrapping_add(entry * bytes) & (capacity - bytes)
            } else {
                let line = (word << UNIT_SHIFT) & (capacity - 8);
                let starts = (0..STARTS as u32).map(|i| line + i * form.start_bytes);
                let starts = starts.map(|at| self.number(at, form.start_bytes));
                let entry = starts.filter(|start| *start <= key >> form.shift).count() as u32;
                line + form.entries() + entry * bytes
            };
            let entry = self.number(at, bytes) as u32;
            if word & WORDS == 0 {
                return Ok(entry);
            }
            word = entry;
        }
        Ok(0)
    }
}
