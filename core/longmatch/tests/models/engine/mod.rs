//! What the included modules import from `crate::engine`.

pub mod folio;
pub mod kit;
