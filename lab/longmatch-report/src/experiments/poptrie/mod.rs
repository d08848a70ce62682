//! Functions that measure for the Poptrie paper (SIGCOMM 2015), section 4.

pub(super) mod structure;
pub(super) mod updates;
