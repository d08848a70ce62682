//! Mutants of Folio: its form for IPv4, and its form for IPv6.

use super::list::Mutant;
use super::list::Tests::{Loom, Own, Races, Shuttle};

const COMPILE: &str = "core/longmatch/src/engine/folio/v4/compile.rs";
const BLOCKS: &str = "core/longmatch/src/engine/folio/v4/blocks.rs";
const LOOKUP: &str = "core/longmatch/src/engine/folio/v4/lookup.rs";
const BATCH: &str = "core/longmatch/src/engine/folio/v4/batch/mod.rs";
const UPDATE: &str = "core/longmatch/src/engine/folio/v4/update.rs";
const CHECK: &str = "core/longmatch/src/engine/folio/v4/check.rs";

const COMPILE_IPV6: &str = "core/longmatch/src/engine/folio/v6/compile.rs";
const LOOKUP_IPV6: &str = "core/longmatch/src/engine/folio/v6/lookup.rs";
const BATCH_IPV6: &str = "core/longmatch/src/engine/folio/v6/batch/mod.rs";
const FRONT_IPV6: &str = "core/longmatch/src/engine/folio/v6/batch/front.rs";
const UPDATE_IPV6: &str = "core/longmatch/src/engine/folio/v6/update/mod.rs";
const BOUNDS_IPV6: &str = "core/longmatch/src/engine/folio/v6/bounds.rs";

/// Name filters of the tests of both forms.
const IPV4: &str = "folio::v4::tests";
const IPV4_CHANGES: &str = "folio::v4::tests::changes";
const IPV6: &str = "folio::v6::tests";
const IPV6_CHANGES: &str = "folio::v6::tests::changes";
const IPV6_DAMAGE: &str = "folio::v6::tests::damage";

/// Mutants with the same test program are adjacent, so that only the changed file is built again.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "replaced pages are freed at once",
        file: UPDATE,
        find: "self.retire_list.push(piece, piece.units() * unit);",
        replace:
            "if piece.kind == CODES { self.codes.free(piece) } else { self.words.free(piece) };
        let _ = unit;",
        tests: Loom,
    },
    Mutant {
        name: "the retire list of pages does not wait",
        file: UPDATE,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Loom,
    },
    Mutant {
        name: "retired pages get the previous epoch",
        file: UPDATE,
        find: "self.retire_list.seal(epoch);",
        replace: "self.retire_list.seal(epoch - 1);",
        tests: Loom,
    },
    Mutant {
        name: "the retire list of pages does not wait, long schedules",
        file: UPDATE,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Shuttle,
    },
    Mutant {
        name: "the last codes of a page are those of no route",
        file: COMPILE,
        find: "fill(&mut self.page, unit, 1 << (block.bits - drop), code(hop)?);",
        replace: "fill(&mut self.page, unit, 1 << (block.bits - drop), 0);",
        tests: Own(IPV4),
    },
    Mutant {
        name: "a list lacks the next hop of its lowest address",
        file: COMPILE,
        find: "list.push(block.first);",
        replace: "list.push(0);",
        tests: Own(IPV4),
    },
    Mutant {
        name: "the slots of a page of entries have no references",
        file: COMPILE,
        find: "self.retain(entry, more as u32 - 1);",
        replace: "self.retain(entry, 0);",
        tests: Own(IPV4_CHANGES),
    },
    Mutant {
        name: "the grain of a page is that of its last change",
        file: BLOCKS,
        find: "fold(0, |all, start| all | start.at);",
        replace: "fold(0, |_, start| start.at);",
        tests: Own(IPV4),
    },
    Mutant {
        name: "a page of entries keeps the address bits above its blocks",
        file: LOOKUP,
        find: "(Entry(unsafe { table.words.load(at as usize) }), below & ((1 << cut) - 1))",
        replace: "(Entry(unsafe { table.words.load(at as usize) }), below & ((2 << cut) - 1))",
        tests: Own(IPV4),
    },
    Mutant {
        name: "the key of a list has no next hop",
        file: LOOKUP,
        find: "((u64::from(below) << table.hop_bits) as u32) | low.wrapping_sub(1);",
        replace: "(u64::from(below) << table.hop_bits) as u32;",
        tests: Own(IPV4),
    },
    Mutant {
        name: "addresses in network order are not swapped",
        file: BATCH,
        find: "if self.swap { key.swap_bytes() } else { key }",
        replace: "key",
        tests: Own(IPV4),
    },
    Mutant {
        name: "codes of a shared page are stored in place",
        file: UPDATE,
        find: "if alike || self.codes.references(at) > 1 || width == 3 {",
        replace: "if alike || width == 3 {",
        tests: Own(IPV4_CHANGES),
    },
    Mutant {
        name: "a copied page hides routes longer than its codes",
        file: UPDATE,
        find: "fits &= next.is_none() || at.trailing_zeros() >= u32::from(drop);",
        replace: "fits &= next.is_none() || at.trailing_zeros() + 1 >= u32::from(drop);",
        tests: Own(IPV4_CHANGES),
    },
    Mutant {
        name: "what a removed page of entries leads to is leaked",
        file: UPDATE,
        find: "if piece.kind == ENTRIES {",
        replace: "if piece.kind == ENTRIES && piece.log2 > 20 {",
        tests: Own(IPV4_CHANGES),
    },
    Mutant {
        name: "the check accepts too few references",
        file: CHECK,
        find: "if pieces.get(&piece.start) != Some(&(*piece, *references)) {",
        replace: "if pieces.get(&piece.start).is_none_or(|it| it.0 != *piece || it.1 > *references + 1) {",
        tests: Own(IPV4),
    },
    Mutant {
        name: "a fork is a run",
        file: LOOKUP_IPV6,
        find: "LOWER..FORK => (entry.place(), true),",
        replace: "LOWER..FORK => (entry.place(), is_lower),",
        tests: Own(IPV6),
    },
    Mutant {
        name: "a mini compares the first key twice",
        file: LOOKUP_IPV6,
        find: "if second < word { 2 }",
        replace: "if first < word { 2 }",
        tests: Own(IPV6),
    },
    Mutant {
        name: "a run ends at its first line",
        file: LOOKUP_IPV6,
        find: "at = (at + 1) & ((1 << log2_lines) - 1);",
        replace: "at &= (1 << log2_lines) - 1;",
        tests: Own(IPV6),
    },
    Mutant {
        name: "the last part of a batch is left out",
        file: BATCH_IPV6,
        find: "while at < len {",
        replace: "while at + G::VECTOR <= len {",
        tests: Own(IPV6),
    },
    Mutant {
        name: "the words of addresses in network order are exchanged",
        file: FRONT_IPV6,
        find: "NETWORK => [l.swap_bytes(even), l.swap_bytes(odd)],",
        replace: "NETWORK => [l.swap_bytes(odd), l.swap_bytes(even)],",
        tests: Own(IPV6),
    },
    Mutant {
        name: "a line has one reference for all of its blocks",
        file: COMPILE_IPV6,
        find: "self.store.lines.retain(stored.at, slots.len() as u32 - 1);",
        replace: "self.store.lines.retain(stored.at, 0);",
        tests: Own(IPV6_CHANGES),
    },
    Mutant {
        name: "a line takes segments of blocks that its keys cannot tell apart",
        file: COMPILE_IPV6,
        find: "&& window(self.shared.first) == window(block.last());",
        replace: "&& self.shared.first <= block.last();",
        tests: Own(IPV6),
    },
    Mutant {
        name: "pieces that nothing leads to are forgotten",
        file: UPDATE_IPV6,
        find: "self.retire_list.push((array, piece), bytes);",
        replace: "let _ = bytes;",
        tests: Own(IPV6_CHANGES),
    },
    Mutant {
        name: "the check accepts two entries to one page",
        file: BOUNDS_IPV6,
        find: "units.all(|unit| self.met.insert((array, unit)))",
        replace: "units.all(|unit| self.met.insert((array, unit)) || array == PAGES)",
        tests: Own(IPV6_DAMAGE),
    },
    Mutant {
        name: "replaced pieces are free at once",
        file: UPDATE_IPV6,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Races("folio_of_ipv6_changes_under_readers"),
    },
    Mutant {
        name: "the retire list of pages does not wait, on this machine",
        file: UPDATE,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Races("folio_of_ipv4_changes_under_readers"),
    },
];
