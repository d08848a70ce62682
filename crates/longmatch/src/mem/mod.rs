//! Memory that lookups read: arrays, and the words in them that a writer replaces under readers.

mod array;
pub(crate) mod buffer;
mod growing;
pub(crate) mod published;
mod retired;
mod runs;
pub(crate) mod sync;
mod usage;

pub use array::Plain;
pub(crate) use array::{Array, Single};
pub(crate) use buffer::{Buffer, LINE};
pub(crate) use growing::Growing;
pub(crate) use published::Published;
pub(crate) use retired::RetireList;
pub(crate) use runs::{FreeRuns, Run, tile};
pub use usage::{MemoryPart, MemoryUsage, parse_bytes};

/// The system has no memory for an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OutOfMemory {
    /// Bytes of the array.
    pub bytes: u64,
}
