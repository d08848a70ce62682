//! Mutants of Folio's second forms: identity pages and ranked lines.

use super::list::Mutant;
use super::list::Tests::{Loom, Own, Races, Shuttle};

const COMPILE: &str = "crates/longmatch/src/engine/folio/identity/compile.rs";
const LOOKUP: &str = "crates/longmatch/src/engine/folio/identity/lookup.rs";
const CHUNKS: &str = "crates/longmatch/src/engine/folio/identity/batch/chunks.rs";
const FLIGHT: &str = "crates/longmatch/src/engine/folio/identity/batch/mod.rs";
const UPDATE: &str = "crates/longmatch/src/engine/folio/identity/update.rs";
const CHECK: &str = "crates/longmatch/src/engine/folio/identity/check.rs";

const LINES_COMPILE: &str = "crates/longmatch/src/engine/folio/lines/compile.rs";
const LINES_LOOKUP: &str = "crates/longmatch/src/engine/folio/lines/lookup.rs";
const LINES_BATCH: &str = "crates/longmatch/src/engine/folio/lines/batch/mod.rs";
const LINES_KERNEL: &str = "crates/longmatch/src/engine/folio/lines/batch/kernel.rs";
const LINES_UPDATE: &str = "crates/longmatch/src/engine/folio/lines/update/mod.rs";
const LINES_PATH: &str = "crates/longmatch/src/engine/folio/lines/update/path.rs";
const LINES_LEAF: &str = "crates/longmatch/src/engine/folio/lines/update/leaf.rs";
const LINES_CHECK: &str = "crates/longmatch/src/engine/folio/lines/check.rs";

/// Name filters of the tests of both forms.
const IDENTITY: &str = "folio::identity::tests";
const IDENTITY_DAMAGE: &str = "folio::identity::tests::damage";
const LINES: &str = "folio::lines::tests";
const LINES_CHANGES: &str = "folio::lines::tests::changes";
const LINES_DAMAGE: &str = "folio::lines::tests::damage";

/// Mutants with the same test program are adjacent, so that only the changed file is built again.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "an entry is published before the escapes of its page",
        file: UPDATE,
        find: "self.root.publish(index, new.entry.0);",
        replace: "let place = new.entry.place();
        let keys = self.escapes.slots.iter().copied().enumerate().step_by(2);
        let keys = keys.filter(|(_, key)| (place + 1..=place + 1024).contains(key));
        let keys: Vec<_> = keys.collect();
        keys.iter().for_each(|(slot, _)| self.escapes.slots.publish(*slot, 0));
        self.root.publish(index, new.entry.0);
        keys.iter().for_each(|(slot, key)| self.escapes.slots.publish(*slot, *key));",
        tests: Loom,
    },
    Mutant {
        name: "replaced identity pages are freed at once",
        file: UPDATE,
        find: "self.retire_list.push(page, page.bytes());",
        replace: "self.free(&page);",
        tests: Loom,
    },
    Mutant {
        name: "the retire list of identity pages does not wait",
        file: UPDATE,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Loom,
    },
    Mutant {
        name: "retired identity pages get the previous epoch",
        file: UPDATE,
        find: "self.retire_list.seal(epoch);",
        replace: "self.retire_list.seal(epoch - 1);",
        tests: Loom,
    },
    Mutant {
        name: "the bytes of a retired page are free at once",
        file: UPDATE,
        find: "self.retire_list.push(page, page.bytes());",
        replace: "self.store.free(&page);\n            self.retire_list.push(page, page.bytes());",
        tests: Loom,
    },
    Mutant {
        name: "the retire list of identity pages does not wait, long schedules",
        file: UPDATE,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Shuttle,
    },
    Mutant {
        name: "the last answer of a block is no route",
        file: COMPILE,
        find: "self.answers.resize(1 << (deepest - depth), raw);",
        replace: "self.answers.resize(1 << (deepest - depth), 0);",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "the table of escapes has no empty slot",
        file: COMPILE,
        find: "(2 * escapes + 2).next_power_of_two()",
        replace: "escapes.max(2).next_power_of_two()",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "pages that escape are shared",
        file: COMPILE,
        find: "self.store.insert_escaping(&self.page, MAX_CODES << log2)?",
        replace: "self.store.insert_within(Kind::Codes, &self.page, MAX_CODES << log2)?",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "a lookup takes the first escape that it meets",
        file: LOOKUP,
        find: "if key == position + 1 {",
        replace: "if key != 0 {",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "a block's answers all have the length of a host route",
        file: LOOKUP,
        find: "escape.place() + (below >> escape.drop())",
        replace: "escape.place() + below",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "the last part of a chunk is not answered",
        file: CHUNKS,
        find: "if !self.len.is_multiple_of(L::COUNT) {",
        replace: "if self.len.is_multiple_of(L::COUNT) {",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "few collected escapes are not answered",
        file: CHUNKS,
        find: "if escaped.count > 0 {",
        replace: "if escaped.count >= ESCAPED {",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "more escapes are collected than there is space for",
        file: CHUNKS,
        find: "if escaped.count >= ESCAPED {",
        replace: "if escaped.count >= 8 * ESCAPED {",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "escapes of all vectors of a group have the numbers of the first",
        file: CHUNKS,
        find: "l.splat((at + v * L::COUNT) as u32)",
        replace: "l.splat(at as u32)",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "the ring is shorter than the distance between its reads",
        file: CHUNKS,
        find: "vector % RING_VECTORS * L::COUNT",
        replace: "vector % (RING_VECTORS / 4) * L::COUNT",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "the second chunk has the addresses of the first",
        file: CHUNKS,
        find: "keys.from.wrapping_add(4 * first)",
        replace: "keys.from.wrapping_add(4 * (first % CHUNK))",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "an address in flight keeps its position",
        file: FLIGHT,
        find: "if i + FLIGHT_AHEAD < len {",
        replace: "if i + FLIGHT_AHEAD + 1 < len {",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "the check of identity pages accepts too many references",
        file: CHECK,
        find: "if page.references != *met {",
        replace: "if page.references < *met {",
        tests: Own(IDENTITY_DAMAGE),
    },
    Mutant {
        name: "the check accepts a table of escapes without an empty slot",
        file: CHECK,
        find: "match slots.iter().any(|[key, _]| *key == 0) {",
        replace: "match slots.len() > 1 {",
        tests: Own(IDENTITY_DAMAGE),
    },
    Mutant {
        name: "the check accepts two next hops of a code",
        file: CHECK,
        find: "if let Some(code) = (0..escape).find(|code| !agrees(*code)) {",
        replace: "if let Some(code) = (1..1).find(|code| !agrees(*code)) {",
        tests: Own(IDENTITY_DAMAGE),
    },
    Mutant {
        name: "a removed slot ends the search for the escapes after it",
        file: UPDATE,
        find: "self.slots.publish(2 * slot, REMOVED);",
        replace: "self.slots.publish(2 * slot, 0);",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "the escapes of a freed page remain",
        file: UPDATE,
        find: "if page.kind == Kind::Escaping {",
        replace: "if page.kind == Kind::Escaping && log2 > 2 {",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "an unchanged page has a reference too many",
        file: UPDATE,
        find: "            self.store.release(new.page);\n            return false;",
        replace: "            return false;",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "a copied page hides routes longer than its codes",
        file: UPDATE,
        find: "if start.depth() > depth || !write(from..to, raw) {",
        replace: "if !write(from..to, raw) {",
        tests: Own(IDENTITY),
    },
    Mutant {
        name: "what a longer route leaves of its block is lost",
        file: LINES_COMPILE,
        find: "if word < last {",
        replace: "if word < last && stage > 0 {",
        tests: Own(LINES),
    },
    Mutant {
        name: "a key is the first word of its segment",
        file: LINES_COMPILE,
        find: "leaf.0[key] = segment.start - 1;",
        replace: "leaf.0[key] = segment.start;",
        tests: Own(LINES),
    },
    Mutant {
        name: "the escapes of a leaf lie one line further",
        file: LINES_COMPILE,
        find: ".set_distance(at - leaf);",
        replace: ".set_distance(at - leaf + 1);",
        tests: Own(LINES),
    },
    Mutant {
        name: "the last key of a leaf is not compared",
        file: LINES_LOOKUP,
        find: "lanes.rank::<{ KEYS[1] }>(line, word)",
        replace: "lanes.rank::<{ KEYS[1] - 1 }>(line, word)",
        tests: Own(LINES),
    },
    Mutant {
        name: "an escape is that of the code before",
        file: LINES_LOOKUP,
        find: "u32::load(escapes.cast::<u32>().wrapping_add(i))",
        replace: "u32::load(escapes.cast::<u32>().wrapping_add(i - i % 2))",
        tests: Own(LINES),
    },
    Mutant {
        name: "deep trees descend one line only",
        file: LINES_KERNEL,
        find: "self.inner_lines(starts[depth]..count);",
        replace: "self.inner_lines(starts[depth]..starts[depth + 1]);",
        tests: Own(LINES),
    },
    Mutant {
        name: "the later stages of a batch are not looked up",
        file: LINES_KERNEL,
        find: "        Entry(all).depth() > 0\n",
        replace: "        Entry(all).depth() > 1\n",
        tests: Own(LINES),
    },
    Mutant {
        name: "the last part of a batch is left out",
        file: LINES_BATCH,
        find: "while at < len {",
        replace: "while at + L::COUNT <= len {",
        tests: Own(LINES),
    },
    Mutant {
        name: "trees that replaced segments lead to are leaked",
        file: LINES_PATH,
        find: "gone.iter().for_each(",
        replace: "gone.iter().take(0).for_each(",
        tests: Own(LINES_CHANGES),
    },
    Mutant {
        name: "a change keeps the end of the segment that it cuts",
        file: LINES_PATH,
        find: "(next > *high).then",
        replace: "(next > *high + 1).then",
        tests: Own(LINES_CHANGES),
    },
    Mutant {
        name: "a code and an escape are exchanged in place",
        file: LINES_LEAF,
        find: "!(0..=used).all(same_kind)",
        replace: "!(0..=used).any(same_kind)",
        tests: Own(LINES_CHANGES),
    },
    Mutant {
        name: "codes are replaced in place below other keys",
        file: LINES_LEAF,
        find: "old.0[..keys] != new.0[..keys] ||",
        replace: "used != new.used(keys) ||",
        tests: Own(LINES_CHANGES),
    },
    Mutant {
        name: "a copied run loses the escapes of the other leaves",
        file: LINES_LEAF,
        find: "distance => Some(run[at + distance]),",
        replace: "_ => None,",
        tests: Own(LINES_CHANGES),
    },
    Mutant {
        name: "escapes of a leaf are not replaced in place",
        file: LINES_LEAF,
        find: "changed.map(|(i, (_, entry))|",
        replace: "changed.take(0).map(|(i, (_, entry))|",
        tests: Own(LINES_CHANGES),
    },
    Mutant {
        name: "a refused change keeps the lines that it placed",
        file: LINES_UPDATE,
        find: "for run in self.space.placed.drain(..) {",
        replace: "for run in self.space.placed.drain(..).take(0) {",
        tests: Own(LINES_CHANGES),
    },
    Mutant {
        name: "the check of lines accepts any distance",
        file: LINES_CHECK,
        find: "if leaf.distance(log2) != distance {",
        replace: "if leaf.distance(log2) < distance {",
        tests: Own(LINES_DAMAGE),
    },
    Mutant {
        name: "the check of lines accepts a tree for more than one word",
        file: LINES_CHECK,
        find: "if entry.depth() > 0 && start != last {",
        replace: "if entry.depth() > 7 && start != last {",
        tests: Own(LINES_DAMAGE),
    },
    Mutant {
        name: "the check of lines accepts lines in no run",
        file: LINES_CHECK,
        find: "    tile(walk.runs, table.lines.len())\n        .or_else",
        replace: "    tile(walk.runs, 0)\n        .or(Ok::<_, usize>(()))\n        .or_else",
        tests: Own(LINES_DAMAGE),
    },
    Mutant {
        name: "replaced lines are free at once",
        file: LINES_UPDATE,
        find: "self.retire_list.push(run, LINE * run.count as usize);",
        replace: "self.space.free.free(run);",
        tests: Races("ranked_lines_change_under_readers"),
    },
    Mutant {
        name: "the retire list of lines does not wait",
        file: LINES_UPDATE,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Races("ranked_lines_change_under_readers"),
    },
    Mutant {
        name: "the retire list of identity pages does not wait, on this machine",
        file: UPDATE,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Races("identity_pages_change_under_readers"),
    },
];
