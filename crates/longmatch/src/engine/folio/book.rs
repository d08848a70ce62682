//! The codebook of 8-bit codes.

/// The next hops of 256 codes, with the padding of [`crate::simd::lanes::Lanes::look_up_u16`].
#[repr(align(64))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Book([u16; 257]);

impl Book {
    /// Makes a book; codes without a next hop have 0.
    pub fn new(hops: [u16; 256]) -> Self {
        Self(core::array::from_fn(|code| hops.get(code).copied().unwrap_or(0)))
    }

    /// The next hop of a code.
    #[inline(always)]
    pub fn value(&self, code: u8) -> u16 {
        self.0[usize::from(code)]
    }

    /// The next hops as a table for vectors.
    #[inline(always)]
    pub fn table(&self) -> &[u16; 257] {
        &self.0
    }
}
