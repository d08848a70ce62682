use super::layout::Folio6;
use crate::engine::kit::LiveEngine;
use crate::net::Ipv6;
pub(super) fn live(table: Folio6) -> LiveEngine<Ipv6> {
    LiveEngine::recompiled(table)
}
