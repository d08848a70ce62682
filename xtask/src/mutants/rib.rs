//! Mutants of the RIB, from which every engine is compiled: each must fail the RIB's own tests.

use super::list::{Mutant, Tests::Own};

const CHANGE: &str = "core/longmatch/src/rib/trie/change.rs";
const CURSOR: &str = "core/longmatch/src/rib/trie/cursor.rs";
const ITER: &str = "core/longmatch/src/rib/iter.rs";
const LOOKUP: &str = "core/longmatch/src/rib/trie/lookup.rs";
const POSITION: &str = "core/longmatch/src/rib/trie/position.rs";
const RIB: &str = "core/longmatch/src/rib/mod.rs";
const STORE: &str = "core/longmatch/src/rib/trie/store.rs";
const STRIDES: &str = "core/longmatch/src/rib/trie/strides.rs";
const TRIE: &str = "core/longmatch/src/rib/trie/mod.rs";

/// The tests of the RIB.
const TESTS: super::list::Tests = Own("rib::tests::");

/// The mutants.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a full block is not copied when it grows",
        file: STORE,
        find: "            self.cells_mut().copy_within(from..from + rank, to);
",
        replace: "",
        tests: TESTS,
    },
    Mutant {
        name: "a block that moved is not freed",
        file: STORE,
        find: "            self.free(node, units_for(old));
",
        replace: "",
        tests: TESTS,
    },
    Mutant {
        name: "a freed node keeps its block",
        file: CHANGE,
        find: "        self.blocks.free_node(node, 2);
",
        replace: "",
        tests: TESTS,
    },
    Mutant {
        name: "a removed leaf keeps its record",
        file: CHANGE,
        find: "                self.records.remove(record);
                let c = prefix.bits()",
        replace: "                let c = prefix.bits()",
        tests: TESTS,
    },
    Mutant {
        name: "a chain to a removed node keeps its record",
        file: CHANGE,
        find: "        if let Some(record) = slot.chain {
            self.records.remove(record);
        }
",
        replace: "",
        tests: TESTS,
    },
    Mutant {
        name: "a node with one entry stays",
        file: CHANGE,
        find: "if maps.entries() > 1 || slot.cell.is_none() {",
        replace: "if maps.entries() > 0 || slot.cell.is_none() {",
        tests: TESTS,
    },
    Mutant {
        name: "a moved node below a chain is not stored",
        file: CHANGE,
        find: "            self.records.get_mut(record).set_node(node);",
        replace: "            let _ = record;",
        tests: TESTS,
    },
    Mutant {
        name: "a split ignores the length of the new prefix",
        file: CHANGE,
        find: ".min(prefix.len() - 1) / STRIDE",
        replace: ".min(F::WIDTH - 1) / STRIDE",
        tests: TESTS,
    },
    Mutant {
        name: "a split ignores the length of the leaf",
        file: CHANGE,
        find: "existing.len() - u8::from(matches!(old, Child::Leaf(_)))",
        replace: "existing.len()",
        tests: TESTS,
    },
    Mutant {
        name: "a chain of no length stays",
        file: CHANGE,
        find: "if existing.len() == split + STRIDE {",
        replace: "if existing.len() < split + STRIDE {",
        tests: TESTS,
    },
    Mutant {
        name: "a node is lifted without a chain",
        file: CHANGE,
        find: "                self.hang(depth, prefix, below)",
        replace: "                self.hang(prefix.len(), prefix, below)",
        tests: TESTS,
    },
    Mutant {
        name: "a leaf matches every address of its slot",
        file: LOOKUP,
        find: "if self.records.get(record).prefix().contains_bits(bits) {",
        replace: "if self.records.get(record).len() > 0 {",
        tests: TESTS,
    },
    Mutant {
        name: "a chain is followed without a comparison",
        file: LOOKUP,
        find: "                chain.prefix().contains_bits(bits)
",
        replace: "                true
",
        tests: TESTS,
    },
    Mutant {
        name: "a longer match does not replace a shorter one",
        file: LOOKUP,
        find: "        if let Some(position) = maps.longest(c) {",
        replace: "        if let (Match::None, Some(position)) = (lane.found, maps.longest(c)) {",
        tests: TESTS,
    },
    Mutant {
        name: "a batch stops with its first lane",
        file: LOOKUP,
        find: "                        active ^= 1 << i;",
        replace: "                        active = 0;",
        tests: TESTS,
    },
    Mutant {
        name: "routes longer than the prefix cover it",
        file: LOOKUP,
        find: "        self.long = longer && maps.long",
        replace: "        self.long = maps.long",
        tests: TESTS,
    },
    Mutant {
        name: "the end of a chain is not compared with the prefix",
        file: LOOKUP,
        find: "prefix.len() > record.len() && record.prefix().covers(prefix)",
        replace: "record.prefix().covers(prefix)",
        tests: TESTS,
    },
    Mutant {
        name: "iteration from both ends does not stop in the middle",
        file: ITER,
        find: "Excluded(last) => route.prefix < last",
        replace: "Excluded(last) => route.prefix <= last",
        tests: TESTS,
    },
    Mutant {
        name: "children come before the routes that cover them",
        file: CURSOR,
        find: "            if self.maps.long & bit != 0 {
                self.maps.long ^= bit;
                return Some(Entry::Route(64 + c));
            }
            self.chunks ^= bit;",
        replace: "            self.chunks ^= bit;",
        tests: TESTS,
    },
    Mutant {
        name: "a slot ignores routes that end in it",
        file: STRIDES,
        find: "                    } else if first >= self.at {
                        self.deeper(first, inside(first));",
        replace: "                    } else if first > self.at {
                        self.deeper(first, inside(first));",
        tests: TESTS,
    },
    Mutant {
        name: "a route stays open after its last slot",
        file: STRIDES,
        find: "self.open[self.opened - 1].0 <= self.at",
        replace: "self.open[self.opened - 1].0 < self.at",
        tests: TESTS,
    },
    Mutant {
        name: "slots covered by longer routes are visited",
        file: STRIDES,
        find: "if len >= self.covered_from {",
        replace: "if len > self.covered_from {",
        tests: TESTS,
    },
    Mutant {
        name: "the route of a region covers more than it",
        file: POSITION,
        find: "shorter.short &= u64::MAX >> (64 - end.min(64));",
        replace: "let _ = end;",
        tests: TESTS,
    },
    Mutant {
        name: "the default route is not above a region",
        file: POSITION,
        find: "            if at.len() == 0 {
                above = self.default_route();
            }
",
        replace: "",
        tests: TESTS,
    },
    Mutant {
        name: "free memory is never returned",
        file: RIB,
        find: "        if self.trie.is_sparse() {
            self.trie = self.trie.compacted();
        }
",
        replace: "",
        tests: TESTS,
    },
    Mutant {
        name: "compaction forgets the default route",
        file: TRIE,
        find: "default: self.default, root: NodeIndex::default()",
        replace: "default: None, root: NodeIndex::default()",
        tests: TESTS,
    },
];
