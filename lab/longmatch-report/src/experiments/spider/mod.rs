//! Functions that measure for the Spider paper (IEEE Access 2020), sections III and V.

pub(super) mod batched;
pub(super) mod forwarding;
pub(super) mod frequency;
