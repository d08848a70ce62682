//! Images: compiled structures as arrays of bytes, which other memory can lend to a structure again.
//!
//! An image has the same bytes on every machine: all numbers are little-endian. A structure is built
//! over an image where it lies, so only on a little-endian machine.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::mem::{Frozen, Lender, Plain, bytes_of};

/// The name of an array of an image, unique in it.
pub(crate) type ArrayName = [u8; 3];

/// The array of the words that describe the others. Every image has it.
pub(crate) const PARAMETERS: ArrayName = *b"par";

/// Zero bytes that follow every array: kernels read more than the last item.
///
/// Each form states how much of it they need.
pub(crate) const SLACK: usize = 1024;

/// An array of an image.
pub(crate) struct ImageArray<'a> {
    pub name: ArrayName,
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> ImageArray<'a> {
    /// An array of words.
    pub fn of_words(name: ArrayName, words: &'a [u32]) -> Self {
        let bytes = match cfg!(target_endian = "little") {
            true => Cow::Borrowed(bytes_of(words)),
            false => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
        };
        Self { name, bytes }
    }

    /// The words that describe the other arrays.
    pub fn of_parameters(words: &[u32]) -> Self {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self { name: PARAMETERS, bytes }
    }
}

/// A structure that has images.
pub(crate) trait Image: Sized {
    /// Name of the form of the structure: the engine.
    const FORM: &'static str;

    /// The structure as arrays.
    fn arrays(&self) -> Vec<ImageArray<'_>>;

    /// The structure over the arrays of an image.
    ///
    /// Whatever the bytes are, no lookup in the result reads outside of the lent memory or fails to
    /// end. Only an undamaged image gives right answers.
    fn over(arrays: &LentArrays<'_>) -> Result<Self, DamagedImage>;
}

/// The arrays of an image, in memory that is lent.
pub(crate) struct LentArrays<'a> {
    lender: &'a Arc<dyn Lender>,
    /// Names, offsets and lengths, in bytes.
    places: Vec<(ArrayName, usize, usize)>,
}

impl<'a> LentArrays<'a> {
    /// The arrays at these places: names, offsets and lengths, in bytes.
    pub fn new(
        lender: &'a Arc<dyn Lender>,
        places: impl IntoIterator<Item = (ArrayName, usize, usize)>,
    ) -> Self {
        Self { lender, places: places.into_iter().collect() }
    }

    /// An array with [`SLACK`] behind it.
    pub fn array<T: Plain>(&self, name: ArrayName) -> Result<Frozen<T>, DamagedImage> {
        let damaged = |what| DamagedImage { array: name, what };
        let place = self.places.iter().find(|place| place.0 == name);
        let Some((_, offset, bytes)) = place.copied() else {
            return Err(damaged("is missing"));
        };
        if !bytes.is_multiple_of(size_of::<T>()) {
            return Err(damaged("is not a whole number of items"));
        }
        let end = offset.checked_add(bytes).and_then(|end| end.checked_add(SLACK));
        if end.is_none_or(|end| end > self.lender.bytes().len()) {
            return Err(damaged("is too near the end of the file"));
        }
        Frozen::lent(self.lender, offset, bytes / size_of::<T>())
            .ok_or(damaged("begins at no multiple of 64"))
    }

    /// The words that describe the other arrays: the first `N`, and the rest.
    pub fn parameters<const N: usize>(&self) -> Result<([u32; N], Vec<u32>), DamagedImage> {
        let words: Frozen<u32> = self.array(PARAMETERS)?;
        match words.split_first_chunk::<N>() {
            Some((first, rest)) => Ok((*first, rest.into())),
            None => Err(DamagedImage { array: PARAMETERS, what: "has too few words" }),
        }
    }
}

/// An image that no lookup may read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DamagedImage {
    pub array: ArrayName,
    /// What is wrong with the array.
    pub what: &'static str,
}

impl DamagedImage {
    /// Parameters that no structure has.
    pub fn parameters(what: &'static str) -> Self {
        Self { array: PARAMETERS, what }
    }
}

impl fmt::Display for DamagedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the array '{}' {}", self.array.escape_ascii(), self.what)
    }
}
