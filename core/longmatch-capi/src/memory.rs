//! Memory of the caller: arguments become references, or a misuse.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use crate::status::{
    LM_E_ALIGN, LM_E_LENGTH, LM_E_NULL, LM_E_OVERLAP, LM_E_SIZE, Misuse, lm_status,
};

/// A result of the read path, whose errors allocate nothing.
pub(crate) type Read<T> = Result<T, &'static Misuse>;

/// The misuse with this status and text.
macro_rules! misuse {
    ($status:expr, $text:expr) => {
        &$crate::status::Misuse { status: $status, text: $text }
    };
}
pub(crate) use misuse;

/// The largest count of addresses or routes.
const MAX_COUNT: usize = usize::MAX / 16;
/// The largest size of a struct that a later version may have.
const MAX_STRUCT: usize = 4096;

/// A place for a pointer or a number that a call returns.
///
/// # Safety
/// If the pointer is not NULL and aligned, it is valid for writes for as long as `'a`.
pub(crate) unsafe fn out<'a, T>(place: *mut T) -> Read<&'a mut T> {
    if !place.is_aligned() {
        return Err(misuse!(LM_E_ALIGN, "the place for the result is misaligned"));
    }
    // SAFETY: aligned, and the caller promises the rest.
    unsafe { place.as_mut() }.ok_or(misuse!(LM_E_NULL, "the place for the result is NULL"))
}

/// Writes a struct of the caller's size; what only a later version of it has becomes zero.
///
/// # Safety
/// If the pointer is not NULL and aligned, `size` bytes are valid for writes.
pub(crate) unsafe fn put<T>(place: *mut T, size: usize, value: T) -> Read<lm_status> {
    if !(size_of::<T>()..=MAX_STRUCT).contains(&size) {
        return Err(misuse!(
            LM_E_SIZE,
            "the size of the struct is none of a known version: pass sizeof"
        ));
    }
    // SAFETY: the caller promises it.
    let first = unsafe { out(place) }?;
    *first = value;
    // SAFETY: at most `size`, which the caller promises.
    let rest = unsafe { place.byte_add(size_of::<T>()) };
    // SAFETY: the bytes after the struct, up to `size`.
    unsafe { ptr::write_bytes(rest.cast::<u8>(), 0, size - size_of::<T>()) };
    Ok(crate::status::LM_OK)
}

/// An array of the caller; NULL where it has no items.
///
/// # Safety
/// If it is not NULL and aligned, `count` items are valid for reads, and nobody writes them, for as long as `'a`.
pub(crate) unsafe fn array<'a, T>(first: *const T, count: usize) -> Read<&'a [T]> {
    check_count(count)?;
    match (count, first.is_null(), first.is_aligned()) {
        (0, ..) => Ok(&[]),
        (_, true, _) => Err(misuse!(LM_E_NULL, "an array is NULL, and its count is not 0")),
        (_, _, false) => Err(misuse!(LM_E_ALIGN, "an array is misaligned for its items")),
        // SAFETY: not NULL, aligned, and the caller promises the rest.
        _ => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

/// An array for answers; NULL where it has no items.
///
/// # Safety
/// If it is not NULL and aligned, `count` items are valid for writes, and nobody else uses them, for as long as `'a`.
pub(crate) unsafe fn answers<'a>(first: *mut u32, count: usize) -> Read<&'a mut [u32]> {
    check_count(count)?;
    match (count, first.is_null(), first.is_aligned()) {
        (0, ..) => Ok(&mut []),
        (_, true, _) => Err(misuse!(LM_E_NULL, "the array for the ids is NULL")),
        (_, _, false) => Err(misuse!(LM_E_ALIGN, "the array for the ids is misaligned")),
        // SAFETY: not NULL, aligned, and the caller promises the rest.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(first, count) }),
    }
}

fn check_count(count: usize) -> Read<()> {
    match count <= MAX_COUNT {
        true => Ok(()),
        false => Err(misuse!(LM_E_LENGTH, "a count is greater than SIZE_MAX / 16")),
    }
}

/// Addresses in the caller's memory, one each `stride` bytes.
#[derive(Clone, Copy)]
pub(crate) struct Strided {
    first: *const u8,
    stride: usize,
    count: usize,
}

impl Strided {
    /// Checks all but the validity of the memory: `width` is the size of an address, and the answers lie elsewhere.
    pub fn new(
        first: *const c_void,
        (stride, width): (usize, usize),
        (count, ids): (usize, *mut u32),
    ) -> Read<Self> {
        check_count(count)?;
        if count > 0 && first.is_null() {
            return Err(misuse!(LM_E_NULL, "the addresses are NULL, and their count is not 0"));
        }
        if stride < width {
            return Err(misuse!(
                LM_E_LENGTH,
                "the stride is smaller than an address: 4 or 16 bytes"
            ));
        }
        let bytes = count.saturating_sub(1).checked_mul(stride);
        let bytes =
            bytes.and_then(|it| it.checked_add(width)).filter(|it| *it <= isize::MAX as usize);
        let Some(bytes) = bytes else {
            return Err(misuse!(
                LM_E_LENGTH,
                "the addresses reach beyond the end of the memory: count or stride"
            ));
        };
        let (start, answers) = (first.addr(), ids.addr());
        let overlap =
            start < answers.saturating_add(4 * count) && answers < start.saturating_add(bytes);
        if overlap && count > 0 {
            return Err(misuse!(LM_E_OVERLAP, "the array for the ids overlaps the addresses"));
        }
        Ok(Self { first: first.cast(), stride, count })
    }

    /// Whether an item of this alignment lies at each address.
    pub fn is_aligned(self, alignment: usize) -> bool {
        self.count == 0 || (self.first.addr() | self.stride).is_multiple_of(alignment)
    }

    /// An address as bytes.
    ///
    /// # Safety
    /// `i` is less than the count, and its address is valid for reads.
    #[inline(always)]
    pub unsafe fn get<const N: usize>(self, i: usize) -> [u8; N] {
        // SAFETY: inside of the memory of the addresses, which `new` has shown to be below `isize::MAX` bytes.
        let at = unsafe { self.first.add(i * self.stride) };
        // SAFETY: the caller promises it; an array of bytes has no alignment.
        unsafe { at.cast::<[u8; N]>().read() }
    }
}

/// A text of the caller.
///
/// # Safety
/// If it is not NULL, it ends with a NUL, and nobody writes it for as long as `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Read<&'a CStr> {
    match text.is_null() {
        true => Err(misuse!(LM_E_NULL, "a text is NULL")),
        // SAFETY: not NULL, and the caller promises the rest.
        false => Ok(unsafe { CStr::from_ptr(text) }),
    }
}
