//! The interface of engines, without what only tables of all engines need.

#[path = "../../../src/engine/kit/batch.rs"]
mod batch;
#[path = "../../../src/engine/kit/error.rs"]
mod error;
#[path = "../../../src/engine/kit/options.rs"]
mod options;
#[path = "../../../src/engine/kit/patch.rs"]
mod patch;

pub use batch::Batch;
pub use error::{CompileError, Corrupt, OptionError};
pub(crate) use options::Variant;
pub(crate) use patch::{CannotPatch, Patch, WriteSide};
pub use patch::{LiveEngine, Replaced};

use std::any::Any;

use crate::mem::MemoryUsage;
use crate::net::Family;
use crate::rib::Rib;

pub trait Lookup<F: Family>: Any + Send + Sync {
    fn memory_usage(&self) -> MemoryUsage {
        MemoryUsage::default()
    }
}

pub trait Compiled<F: Family>: Lookup<F> {}

pub trait Structure<F: Family>: Lookup<F> {}

impl<F: Family, S: Structure<F>> Compiled<F> for S {}

pub trait Checked<F: Family>: Compiled<F> {
    fn check(&self, _: &Rib<F>) -> Result<(), Corrupt> {
        Ok(())
    }
}

pub trait Engine<F: Family>: Structure<F> {}

impl<F: Family, E: Engine<F>> Checked<F> for E {}
