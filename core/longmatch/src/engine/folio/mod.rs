//! Folio: pages in a form that suits each block, for IPv4 ([`v4`]) and for IPv6 ([`v6`]).
//!
//! See the README beside this file, and those of the forms.

mod admit;
mod cost;
mod numbers;
mod pieces;
mod survey;
pub mod v4;
pub mod v6;

use crate::engine::kit::{Builder, Built, Descriptor, EngineVisitor, Form, KernelVisitor, Request};
use crate::net::{Ipv4, Ipv6};

pub(super) const NAME: &str = "folio";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "Folio",
    summary: "a direct table, and pages in a form that suits each block; our own",
    hue: ["#cc4a00", "#ff7f3f"],
    order: Some(1),
    variants: [
        &["codes=32"],
        &[
            "s=8:lists=0",
            "s=12:codes=24:lists=none:entries=0:ahead=yes",
            "s=16:lists=4:entries=4:flat=yes:ahead=yes",
            "s=21:codes=32:lists=none:entries=none",
        ],
        &[
            "codes=8",
            "codes=book:leaves=minis",
            "codes=16:steps=1:leaves=minis",
            "codes=list:steps=2:leaves=codes",
            "codes=32:steps=3:leaves=lines",
        ],
    ],
    forms: &[
        Form {
            families: "IPv4",
            reads: "2 or 3",
            structure: "a direct table, and below each entry a page of codes, a list of ranges or a page of entries, whichever suits the block; equal pages once",
            changes: "the smallest block with an entry is built again, or a code is stored",
            limit: ["2^27 codes, 2^27 words of lists and pages of entries", "an error"],
            ..Form::NEW
        },
        Form {
            families: "IPv6",
            reads: "the root, up to 3 pages, a leaf",
            structure: "a direct table of at most 16 KiB, pages at any bits, leaves of five kinds",
            changes: "a leaf is built again, or a code is stored",
            limit: ["2^30 - 1 next hops; 2^24 each of entries, codes, lines and minis", "an error"],
            ..Form::NEW
        },
    ],
    ..Descriptor::NEW
};

/// Builds the form of the family.
pub(crate) struct Build;

impl Builder<Ipv4> for Build {
    fn build<V: EngineVisitor<Ipv4>>(request: &Request<'_, Ipv4>, visitor: V) -> Built<Ipv4, V> {
        v4::build(request, visitor)
    }

    fn kernels(visitor: &mut impl KernelVisitor<Ipv4>) {
        visitor.visit::<v4::Folio4>();
    }
}

impl Builder<Ipv6> for Build {
    fn build<V: EngineVisitor<Ipv6>>(request: &Request<'_, Ipv6>, visitor: V) -> Built<Ipv6, V> {
        v6::build(request, visitor)
    }

    fn kernels(visitor: &mut impl KernelVisitor<Ipv6>) {
        visitor.visit::<v6::Folio6>();
    }
}
