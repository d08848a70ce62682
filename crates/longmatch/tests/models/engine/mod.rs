//! What the included modules import from `crate::engine`.

pub mod kit;
