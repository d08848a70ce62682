//! The items that the included modules import from `crate::simd`.

pub mod lanes {
    /// Vectors, as lookups of one address use them.
    pub trait Lanes: Copy {
        /// # Safety
        /// As in the library.
        unsafe fn first_at_most(self, words: *const u32, start: u32, count: u32, word: u32) -> u32;
    }

    /// The tables of models have no lists.
    #[derive(Clone, Copy)]
    pub struct NoLists;

    impl Lanes for NoLists {
        unsafe fn first_at_most(self, _: *const u32, start: u32, _: u32, _: u32) -> u32 {
            panic!("a list at word {start}")
        }
    }
}
