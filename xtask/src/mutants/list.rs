//! The mutants that tests must catch. Each states a text of a file, its replacement, and the tests to run.
//!
//! No mutant weakens the load of the epoch on entering: the fence after it orders as much as `Acquire`.

/// A mutant.
pub struct Mutant {
    /// Its name: the effect of the defect.
    pub name: &'static str,
    /// The file, relative to the repository's root.
    pub file: &'static str,
    /// The text to replace, which the file has exactly once.
    pub find: &'static str,
    /// The replacement.
    pub replace: &'static str,
    /// The tests that must fail.
    pub tests: Tests,
}

/// A selection of tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tests {
    /// All of `tests/loom.rs`.
    Loom,
    /// All of `tests/shuttle.rs`.
    Shuttle,
    /// The library's own tests whose names contain this text.
    Own(&'static str),
    /// The tests of `tests/live.rs` whose names contain this text.
    Races(&'static str),
    /// The rule of `cargo xtask asm` for the timed loops of the benchmarks, which are compiled for it.
    TimedLoops,
}

use Tests::{Loom, Own, Races, Shuttle, TimedLoops};

const RECLAIM: &str = "core/longmatch/src/live/reclaim.rs";
const RETIRED: &str = "core/longmatch/src/mem/retired.rs";
const SHARED: &str = "core/longmatch/src/live/shared.rs";
const PUBLISHED: &str = "core/longmatch/src/mem/published.rs";
const ITEMS: &str = "core/longmatch/src/mem/items.rs";
const READER: &str = "core/longmatch/src/live/reader.rs";
const WRITER: &str = "core/longmatch/src/live/writer.rs";
const RUNS: &str = "core/longmatch/src/mem/runs.rs";
const POPTRIE: &str = "core/longmatch/src/engine/poptrie/update.rs";
const VALUES: &str = "core/longmatch/src/table/live/mod.rs";
const VALUE_IDS: &str = "core/longmatch/src/table/live/ids.rs";
const PLACES: &str = "core/longmatch/src/table/live/places.rs";
const VALUE_MUT: &str = "core/longmatch/src/table/value_mut.rs";
const NEXT_HOPS: &str = "core/longmatch/src/net/next_hops.rs";
const SETS: &str = "core/longmatch/src/table/sets.rs";
const BATCHER: &str = "core/longmatch/src/live/batcher.rs";
const DXR: &str = "core/longmatch/src/engine/dxr/update/mod.rs";
const TREE_BITMAP: &str = "core/longmatch/src/engine/tree_bitmap/update.rs";
const DIR24_8: &str = "core/longmatch/src/engine/dir24_8/update.rs";
const SPIDER: &str = "core/longmatch/src/engine/spider/batch/avx2.rs";
const MODEL_OF_VALUES: &str = "core/longmatch/tests/models/values.rs";

/// Name filters of the library's tests: live tables, live tables with values, tables as maps, live arrays, batches,
/// and Spider.
const LIVE: &str = "live::tests::";
const LIVE_VALUES: &str = "table::live::";
const MAPS: &str = "table::tests::";
const ARRAYS: &str = "mem::items::";
const BATCHES: &str = "live::batcher::";
const SPIDERS: &str = "engine::spider::";

/// Mutants with the same test program are adjacent, so that only the changed file is built again.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "no fence on entering",
        file: RECLAIM,
        find: "self.slot().epoch.store(epoch, Release);\n        fence(SeqCst);",
        replace: "self.slot().epoch.store(epoch, Release);",
        tests: Loom,
    },
    Mutant {
        name: "entering is relaxed",
        file: RECLAIM,
        find: "self.slot().epoch.store(epoch, Release);\n        fence(SeqCst);",
        replace: "self.slot().epoch.store(epoch, Relaxed);\n        fence(SeqCst);",
        tests: Loom,
    },
    Mutant {
        name: "leaving is relaxed",
        file: RECLAIM,
        find: "self.slot().epoch.store(OFFLINE, Release);",
        replace: "self.slot().epoch.store(OFFLINE, Relaxed);",
        tests: Loom,
    },
    Mutant {
        name: "a report is relaxed",
        file: RECLAIM,
        find: "self.slot().epoch.store(epoch, Release);\n    }",
        replace: "self.slot().epoch.store(epoch, Relaxed);\n    }",
        tests: Loom,
    },
    Mutant {
        name: "a report loads its epoch relaxed",
        file: RECLAIM,
        find: "pub fn quiescent(&self) {\n        let epoch = self.shared.domain().epoch.load(Acquire);",
        replace: "pub fn quiescent(&self) {\n        let epoch = self.shared.domain().epoch.load(Relaxed);",
        tests: Loom,
    },
    Mutant {
        name: "a report also ends the reader's protection",
        file: RECLAIM,
        find: "self.slot().epoch.store(epoch, Release);\n    }",
        replace: "self.slot().epoch.store(epoch - epoch + OFFLINE, Release);\n    }",
        tests: Loom,
    },
    Mutant {
        name: "no fence after an epoch",
        file: RECLAIM,
        find: "self.epoch.store(next, Release);\n        fence(SeqCst);",
        replace: "self.epoch.store(next, Release);",
        tests: Loom,
    },
    Mutant {
        name: "an epoch is published relaxed",
        file: RECLAIM,
        find: "self.epoch.store(next, Release);",
        replace: "self.epoch.store(next, Relaxed);",
        tests: Loom,
    },
    Mutant {
        name: "retired memory gets the previous epoch",
        file: RECLAIM,
        find: "        ended\n    }",
        replace: "        ended - 1\n    }",
        tests: Loom,
    },
    Mutant {
        name: "slots are read relaxed",
        file: RECLAIM,
        find: "match slot.epoch.load(Acquire) {",
        replace: "match slot.epoch.load(Relaxed) {",
        tests: Loom,
    },
    Mutant {
        name: "slots are not read",
        file: RECLAIM,
        find: "epoch => oldest = oldest.min(epoch),",
        replace: "_ => {}",
        tests: Loom,
    },
    Mutant {
        name: "slots are listed relaxed",
        file: RECLAIM,
        find: "compare_exchange_weak(first, slot, AcqRel, Acquire)",
        replace: "compare_exchange_weak(first, slot, Relaxed, Relaxed)",
        tests: Loom,
    },
    Mutant {
        name: "two readers take one slot",
        file: RECLAIM,
        find: "if free && slot.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok() {",
        replace: "if free && { slot.taken.store(true, Relaxed); true } {",
        tests: Loom,
    },
    Mutant {
        name: "an ended reader keeps its epoch",
        file: RECLAIM,
        find: "        self.leave();\n        self.slot().taken",
        replace: "        self.slot().taken",
        tests: Loom,
    },
    Mutant {
        name: "words are published relaxed",
        file: PUBLISHED,
        find: "word.store(value, Release);",
        replace: "word.store(value, core::sync::atomic::Ordering::Relaxed);",
        tests: Loom,
    },
    Mutant {
        name: "published words are loaded relaxed",
        file: PUBLISHED,
        find: "word.load(Acquire)",
        replace: "word.load(core::sync::atomic::Ordering::Relaxed)",
        tests: Loom,
    },
    Mutant {
        name: "a live array grows past its capacity",
        file: ITEMS,
        find: "if end > self.capacity() {",
        replace: "if end > self.capacity() + 1 {",
        tests: Own(ARRAYS),
    },
    Mutant {
        name: "an item is published beside its place",
        file: ITEMS,
        find: "unsafe { T::publish(self.address(i), item) };",
        replace: "unsafe { T::publish(self.address(i / 2), item) };",
        tests: Own(ARRAYS),
    },
    Mutant {
        name: "tables are swapped relaxed",
        file: SHARED,
        find: "self.current.swap(Box::into_raw(table), Release)",
        replace: "self.current.swap(Box::into_raw(table), core::sync::atomic::Ordering::Relaxed)",
        tests: Loom,
    },
    Mutant {
        name: "the table is loaded relaxed",
        file: SHARED,
        find: "&*self.current.load(Acquire)",
        replace: "&*self.current.load(core::sync::atomic::Ordering::Relaxed)",
        tests: Loom,
    },
    Mutant {
        name: "memory orphaned by the writer is leaked",
        file: SHARED,
        find: "if !left.is_null() {",
        replace: "if !left.is_null() && left.is_null() {",
        tests: Loom,
    },
    Mutant {
        name: "the retire list ends an epoch too early",
        file: RETIRED,
        find: "if *epoch >= oldest {",
        replace: "if *epoch > oldest {",
        tests: Loom,
    },
    Mutant {
        name: "the retire list forgets its epoch",
        file: RETIRED,
        find: "self.epochs.push_back((epoch, core::mem::take(&mut self.open)));",
        replace: "self.epochs.push_back((epoch - epoch, core::mem::take(&mut self.open)));",
        tests: Loom,
    },
    Mutant {
        name: "an id is reused at once",
        file: MODEL_OF_VALUES,
        find: "self.retired.push(before, 1);",
        replace: "self.free.push(before);",
        tests: Loom,
    },
    Mutant {
        name: "slots are not read, long schedules",
        file: RECLAIM,
        find: "epoch => oldest = oldest.min(epoch),",
        replace: "_ => {}",
        tests: Shuttle,
    },
    Mutant {
        name: "the retire list ends an epoch too early, long schedules",
        file: RETIRED,
        find: "if *epoch >= oldest {",
        replace: "if *epoch > oldest {",
        tests: Shuttle,
    },
    Mutant {
        name: "readers do not enter",
        file: READER,
        find: "        self.slot.enter();\n        // SAFETY: entered; the guard",
        replace: "        // SAFETY: entered; the guard",
        tests: Own(LIVE),
    },
    Mutant {
        name: "the limit of retired memory is ignored",
        file: WRITER,
        find: "if retired > self.retired_limit {",
        replace: "if retired > self.retired_limit.max(usize::MAX) {",
        tests: Own(LIVE),
    },
    Mutant {
        name: "a failed commit is not reverted",
        file: WRITER,
        find: "for (prefix, before) in self.changed.drain(..).rev() {",
        replace: "for (prefix, before) in self.changed.drain(..).rev().take(0) {",
        tests: Own(LIVE),
    },
    Mutant {
        name: "a failed commit is reverted in the wrong order",
        file: WRITER,
        find: "for (prefix, before) in self.changed.drain(..).rev() {",
        replace: "for (prefix, before) in self.changed.drain(..) {",
        tests: Own(LIVE),
    },
    Mutant {
        name: "a commit drops its first change",
        file: WRITER,
        find: "self.prefixes.extend(self.changed.iter().map(|(prefix, _)| *prefix));",
        replace: "self.prefixes.extend(self.changed.iter().skip(1).map(|(prefix, _)| *prefix));",
        tests: Own(LIVE),
    },
    Mutant {
        name: "an ended writer drops memory that readers use",
        file: WRITER,
        find: "if self.reclaim() > 0 {",
        replace: "if self.reclaim() > usize::MAX - 1 {",
        tests: Own(LIVE),
    },
    Mutant {
        name: "the rest of a run that was split is lost",
        file: RUNS,
        find: "self.put(start + count as u32, have - count);",
        replace: "self.put(start + count as u32, (have - count).min(1));",
        tests: Own(LIVE),
    },
    Mutant {
        name: "retired leaves are forgotten",
        file: POPTRIE,
        find: "            self.retired.push(Items::Leaves(run));\n        }\n        self.compiler",
        replace: "        }\n        self.compiler",
        tests: Own(LIVE),
    },
    Mutant {
        name: "retired runs are freed twice",
        file: POPTRIE,
        find: "            self.compiler.place.free(items);\n        }\n    }\n\n    fn retired_bytes",
        replace: "            self.compiler.place.free(items);\n            self.compiler.place.free(items);\n        }\n    }\n\n    fn retired_bytes",
        tests: Own(LIVE),
    },
    Mutant {
        name: "a node keeps pointing to its old children",
        file: POPTRIE,
        find: "if base1 != node.base1() {",
        replace: "if base1 != node.base1() && base1 == node.base1() {",
        tests: Own(LIVE),
    },
    Mutant {
        name: "an id is reused while readers may hold it",
        file: VALUE_IDS,
        find: "self.unused.pop(oldest)",
        replace: "self.unused.pop(oldest + u64::MAX / 2)",
        tests: Own(LIVE_VALUES),
    },
    Mutant {
        name: "an id is freed at the first release, not the last",
        file: VALUE_IDS,
        find: "if *times == 0 && self.ids.free(id).is_some() {",
        replace: "if self.ids.free(id).is_some() {",
        tests: Own(LIVE_VALUES),
    },
    Mutant {
        name: "a value is dropped as soon as its place is empty",
        file: VALUE_IDS,
        find: "while self.dropped.pop(oldest).is_some() {}",
        replace: "while self.dropped.pop(oldest + u64::MAX / 2).is_some() {}",
        tests: Own(LIVE_VALUES),
    },
    Mutant {
        name: "a route with another value keeps its id",
        file: VALUE_IDS,
        find: "is_some_and(|cell| cell.value_id == value)",
        replace: "is_some()",
        tests: Own(LIVE_VALUES),
    },
    Mutant {
        name: "a lost route keeps its value",
        file: VALUE_IDS,
        find: "|cell| values.release(cell.value_id)",
        replace: "|_| ()",
        tests: Own(LIVE_VALUES),
    },
    Mutant {
        name: "a refused commit keeps the ids that it acquired",
        file: VALUES,
        find: "Err(_) => (&mut self.gained, &mut self.lost),",
        replace: "Err(_) => (&mut Vec::new(), &mut self.lost),",
        tests: Own(LIVE_VALUES),
    },
    Mutant {
        name: "the values of a dropped table are leaked",
        file: PLACES,
        find: "drop(unsafe { Arc::from_raw(value) });",
        replace: "core::mem::forget(unsafe { Arc::from_raw(value) });",
        tests: Own(LIVE_VALUES),
    },
    Mutant {
        name: "a changed value is not shared again",
        file: VALUE_MUT,
        find: "if !self.was_shared {",
        replace: "if true {",
        tests: Own(MAPS),
    },
    Mutant {
        name: "a distinct value becomes a shared one when it is changed",
        file: VALUE_MUT,
        find: "if table.values.is_shared(*id) {",
        replace: "if !*was_shared {",
        tests: Own(MAPS),
    },
    Mutant {
        name: "a value is changed where equal ones are looked up",
        file: NEXT_HOPS,
        find: "if core::mem::take(&mut entry.shared) {",
        replace: "if core::mem::take(&mut entry.shared) && false {",
        tests: Own(MAPS),
    },
    Mutant {
        name: "a route with a copied value keeps its reference to the original",
        file: NEXT_HOPS,
        find: "self.release(id);\n            return Ok(own);",
        replace: "return Ok(own);",
        tests: Own(MAPS),
    },
    Mutant {
        name: "a table's covering prefix is replaced by one that it covers",
        file: SETS,
        find: "if !covers(*cover, prefix) {",
        replace: "if true {",
        tests: Own(MAPS),
    },
    Mutant {
        name: "a refused batch is not tried again",
        file: BATCHER,
        find: "state.batch.merge_after(batch);",
        replace: "drop(batch);",
        tests: Own(BATCHES),
    },
    Mutant {
        name: "a refused batch overwrites later changes",
        file: BATCHER,
        find: "self.changes.entry(prefix).or_insert(change);",
        replace: "self.changes.insert(prefix, change);",
        tests: Own(BATCHES),
    },
    Mutant {
        name: "retired groups are used again at once",
        file: DIR24_8,
        find: "self.retire_list.push(group, GROUP_SLOTS * size_of::<E>());",
        replace: "self.groups.free.push(group);",
        tests: Races("dir24_8_changes_under_readers"),
    },
    Mutant {
        name: "the retire list of a DXR does not wait",
        file: DXR,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Races("a_dxr_changes_under_readers"),
    },
    Mutant {
        name: "the retire list of a Tree Bitmap does not wait",
        file: TREE_BITMAP,
        find: "self.retire_list.pop(oldest)",
        replace: "self.retire_list.pop(oldest + u64::MAX / 2)",
        tests: Races("a_tree_bitmap_changes_under_readers"),
    },
    Mutant {
        name: "retired runs are freed at once",
        file: POPTRIE,
        find: "self.retire_list.push(items, bytes);",
        replace: "let _ = bytes; self.compiler.place.free(items);",
        tests: Races("a_poptrie_changes_under_readers"),
    },
    Mutant {
        name: "a direct entry points to an unwritten node",
        file: POPTRIE,
        find: "Change::Node(node) => self.compiler.place.nodes(&[node]),",
        replace: "Change::Node(node) => {
                    let nodes = &mut self.compiler.place.nodes;
                    let start = nodes.extend(1).expect(\"capacity\") as u32;
                    self.direct.publish(index as usize, start);
                    (0..1000).for_each(|_| core::hint::spin_loop());
                    // SAFETY: none.
                    unsafe { nodes.write(start as usize, &[node]) };
                    start
                }",
        tests: Races("a_poptrie_changes_under_readers"),
    },
    Mutant {
        name: "a patch is sealed with no epoch",
        file: WRITER,
        find: "patch.seal(self.shared.domain().advance());",
        replace: "self.shared.domain().advance();\n        patch.seal(0);",
        tests: Races("folio_of_ipv4_changes_under_readers"),
    },
    Mutant {
        name: "a swapped table is dropped at once",
        file: WRITER,
        find: "self.tables.seal(self.shared.domain().advance());",
        replace: "self.shared.domain().advance();\n        self.tables.seal(0);",
        tests: Own(LIVE),
    },
    Mutant {
        name: "unused lanes of Spider look addresses up",
        file: SPIDER,
        find: "if i == N - 1 { l.and(idx, used) } else { idx }",
        replace: "l.or(idx, l.and(used, l.splat(0)))",
        tests: Own(SPIDERS),
    },
    Mutant {
        name: "unused lanes of Spider are those of IPv4 for both families",
        file: SPIDER,
        find: "_ => _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7),",
        replace: "_ => _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),",
        tests: Own(SPIDERS),
    },
    Mutant {
        name: "Spider passes over the addresses of unused lanes",
        file: SPIDER,
        find: "(from, to) = (&from[ways..], &mut to[ways..]);",
        replace: "(from, to) = (&from[N * LANES..], &mut to[N * LANES..]);",
        tests: Own(SPIDERS),
    },
    Mutant {
        name: "the last iteration of Spider is left out",
        file: SPIDER,
        find: "let last = (rest.len() - 1) / ways * ways;",
        replace: "let last = rest.len() - rest.len().min(ways);",
        tests: Own(SPIDERS),
    },
    Mutant {
        name: "single lookups of the benchmarks are passed as an item",
        file: "lab/longmatch-bench/src/single.rs",
        find: "            #[inline(always)]\n            |engine, addr| engine.lookup_bits(addr),",
        replace: "            E::lookup_bits,",
        tests: TimedLoops,
    },
];
