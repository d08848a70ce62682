//! The engines that take part in most experiments.

use crate::desk::Entrant;

/// Every engine that a paper or we have, with the names that the Poptrie paper gives them.
pub(super) fn all_ipv4() -> Vec<Entrant> {
    [
        ("radix", "Radix"),
        ("tree_bitmap:stride=4", "Tree BitMap"),
        ("tree_bitmap:stride=6", "Tree BitMap (64-ary)"),
        ("dir24_8", "DIR-24-8"),
        ("sail", "SAIL"),
        ("dxr:d=16", "D16R"),
        ("dxr:d=18", "D18R"),
        ("poptrie:s=0", "Poptrie0"),
        ("poptrie:s=16", "Poptrie16"),
        ("poptrie:s=18", "Poptrie18"),
        ("spider:lanes=16", "Spider 16w"),
        ("folio", ""),
    ]
    .map(entrant)
    .into()
}

/// The same for IPv6, where SAIL has nothing.
pub(super) fn all_ipv6() -> Vec<Entrant> {
    let mut all = all_ipv4();
    all.retain(|it| it.spec != "sail");
    all
}

/// Those that the papers compare under traffic of their own, and ours.
pub(super) fn fast_ipv4() -> Vec<Entrant> {
    let slow = ["radix", "tree_bitmap:stride=4", "tree_bitmap:stride=6", "poptrie:s=0"];
    let mut all = all_ipv4();
    all.retain(|it| !slow.contains(&&it.spec[..]));
    all
}

/// Those of a list of specs and names.
pub(super) fn entrant((spec, alias): (&str, &str)) -> Entrant {
    Entrant::new(spec, alias)
}
