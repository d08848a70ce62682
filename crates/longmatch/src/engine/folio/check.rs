use super::layout::{Code, Folio};
use crate::addr::Family;
use crate::error::Corrupt;
use crate::rib::Rib;
pub(super) fn check<F: Family, C: Code>(_f: &Folio<F, C>, _rib: &Rib<F>) -> Result<(), Corrupt> {
    Ok(())
}
