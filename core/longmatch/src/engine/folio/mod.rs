//! Folio: pages of the grain that each part of a table needs, with a form for IPv4 ([`v4`]) and one for
//! IPv6 ([`v6`]).
//!
//! See the README beside this file, and those of the forms.

mod admit;
mod cost;
mod numbers;
mod pieces;
mod survey;
pub mod v4;
pub mod v6;

use crate::engine::kit::{Builder, Built, Descriptor, EngineVisitor, Request};
use crate::net::{Ipv4, Ipv6};

pub(super) const NAME: &str = "folio";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor { oracle: false, wider: &[] };

/// Builds the form of the family.
pub(crate) struct Build;

impl Builder<Ipv4> for Build {
    fn build<V: EngineVisitor<Ipv4>>(request: &Request<'_, Ipv4>, visitor: V) -> Built<Ipv4, V> {
        v4::build(request, visitor)
    }
}

impl Builder<Ipv6> for Build {
    fn build<V: EngineVisitor<Ipv6>>(request: &Request<'_, Ipv6>, visitor: V) -> Built<Ipv6, V> {
        v6::build(request, visitor)
    }
}
