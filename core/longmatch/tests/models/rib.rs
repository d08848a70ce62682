//! The items that the included modules import from `crate::rib`.

use crate::net::Family;

/// Routes as the addresses at which the next hop changes, ascending from the lowest address.
pub struct Rib<F: Family>(pub Vec<(F::Bits, u32)>);
