//! The setup of the paper (Figure 7) and ours.

use crate::declaration::{Diagram, Flow, Stage};

pub(super) const FIGURE: &str = "spider-fig7";

pub(super) const SETUP: Diagram = Diagram {
    flows: &[
        Flow {
            name: "the paper",
            stages: &[
                Stage {
                    name: "generator",
                    lines: &["16 cores", "8 send, 8 receive", "Netmap"],
                    forth: "64-byte packets",
                    back: "forwarded packets",
                },
                Stage {
                    name: "forwarder",
                    lines: &[
                        "16 cores, 1 or 2 forward",
                        "lptest in user space",
                        "parse, look up, rewrite",
                    ],
                    forth: "",
                    back: "",
                },
            ],
        },
        Flow {
            name: "here",
            stages: &[
                Stage {
                    name: "generated frames",
                    lines: &["a pool in memory", "or a capture in memory"],
                    forth: "a batch",
                    back: "",
                },
                Stage {
                    name: "forwarder",
                    lines: &["1 or 2 threads", "parse, look up, rewrite"],
                    forth: "the same batch",
                    back: "",
                },
                Stage {
                    name: "nothing",
                    lines: &["frames are used again", "or their bytes counted"],
                    forth: "",
                    back: "",
                },
            ],
        },
    ],
    facts: &[
        ("generator", &["a machine of its own, 16 cores", "the same thread"]),
        ("link", &["40 Gbit/s Ethernet, Intel XL710", "none: frames stay in memory"]),
        ("packets", &["64 bytes", "IPv4: 64 bytes, IPv6: 66 bytes, with the frame check sequence"]),
        ("destinations", &["random", "random; those that no router forwards are left out"]),
        ("packet I/O", &["a driver in user space", "none, or captures in memory"]),
        ("threads", &["1 and 2, run to completion", "1 and 2, run to completion"]),
        (
            "routes",
            &[
                "followed from the kernel (Netlink)",
                "given; two ports, at most 256 next hops, each a neighbour",
            ],
        ),
        (
            "tables",
            &[
                "a default route; a full table",
                "a default route; the first table of each family with one",
            ],
        ),
    ],
};
