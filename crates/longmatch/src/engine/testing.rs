//! Helpers shared by the tests of several engines.

use alloc::sync::Arc;

use super::{Checked, Engines};
use crate::engine::kit::CompileError;
use crate::rib::Rib;

/// Builds the engine that a text such as `poptrie:s=16` names.
pub(crate) fn built<F: Engines>(
    spec: &str,
    rib: &Rib<F>,
) -> Result<Arc<dyn Checked<F>>, CompileError> {
    F::build_shared(&spec.parse().expect("the name of an engine"), rib)
}
