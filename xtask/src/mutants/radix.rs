//! Mutants of the path-compressed radix tree: each must fail the engine's own tests.

use super::list::{Mutant, Tests::Own};

const CHECK: &str = "core/longmatch/src/engine/radix/path_compressed/check.rs";
const COMPILE: &str = "core/longmatch/src/engine/radix/path_compressed/compile.rs";
const LOOKUP: &str = "core/longmatch/src/engine/radix/path_compressed/lookup.rs";

/// The tests of the engine.
const TESTS: super::list::Tests = Own("engine::radix::");

/// The mutants.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "the masks of a key are in ascending order",
        file: COMPILE,
        find: "        chain.reverse();
",
        replace: "",
        tests: TESTS,
    },
    Mutant {
        name: "a mask list has the masks of the node above too",
        file: COMPILE,
        find: "above.is_none_or(|above| leaf.len > above)",
        replace: "above.is_none_or(|above| leaf.len >= above)",
        tests: TESTS,
    },
    Mutant {
        name: "a mask as long as the bits before the tested one is not listed",
        file: COMPILE,
        find: "take_while(|leaf| leaf.len > bit)",
        replace: "take_while(|leaf| leaf.len >= bit)",
        tests: TESTS,
    },
    Mutant {
        name: "the way up ends after one node",
        file: LOOKUP,
        find: "        at = node.parent;
",
        replace: "        at = u32::MAX | node.parent;
",
        tests: TESTS,
    },
    Mutant {
        name: "a leaf is not compared with the address",
        file: LOOKUP,
        find: "        if leaf.len <= shared {
",
        replace: "        if leaf.len <= shared || !leaf.more {
",
        tests: TESTS,
    },
    Mutant {
        name: "a tested bit that divides other keys is not found",
        file: CHECK,
        find: "shared != node.bit || ",
        replace: "",
        tests: TESTS,
    },
];
