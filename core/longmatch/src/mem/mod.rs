//! Memory that lookups read: arrays, and the words in them that a writer replaces for readers.

mod buffer;
mod gaps;
mod growing;
mod items;
pub(crate) mod published;
mod retired;
mod runs;
pub(crate) mod sync;
#[cfg(test)]
mod tests;
mod usage;

pub use buffer::Buffer;
pub(crate) use buffer::{LINE, Lender};
pub(crate) use gaps::Gaps;
pub(crate) use growing::FallibleVec;
pub(crate) use items::bytes_of;
pub use items::{
    Frozen, FrozenMemory, Items, Live, LiveMemory, Memory, Owner, Plain, Readable, Single,
};
pub(crate) use retired::RetireList;
pub(crate) use runs::{FreeRuns, Run, tile};
pub use usage::{MemoryPart, MemoryUsage, parse_bytes};

/// The system has not enough memory for an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OutOfMemory {
    /// Bytes of the array.
    pub bytes: u64,
}
