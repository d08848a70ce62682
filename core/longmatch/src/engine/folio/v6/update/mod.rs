//! A table that changes under readers.
//!
//! Leaves are never changed: new content is a new piece, or an existing equal one, and one store
//! replaces the entry that leads to it. A change of one prefix replaces the leaf below the deepest
//! entry that covers it; only the codes of hosts in runs are replaced in place. A piece that no
//! entry leads to waits until no reader can be in it.
//!
//! The arrays have capacity to grow in place. When one is used up, or a prefix exceeds the root, the
//! table cannot be patched, and is compiled again.

mod path;
#[cfg(test)]
pub(super) mod tests;

use alloc::sync::Arc;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::super::pieces::{Array, Piece, Pieces};
use super::super::survey::Start;
use super::check::{self, Account};
use super::codes::{Codes, Form};
use super::compile::{SHARED, Store};
use super::layout::{self, Block, Entry, Fixed, Folio6, PLACES, Slices};
use super::leaf::{LINE_WORDS, MINI_WORDS};
use super::walk::{CODES, Damage, LINES, MINIS, PAGES, Reached, VisitingWalk, Visitor};
use crate::engine::kit::image::ArrayName;
use crate::engine::kit::{CannotPatch, Corrupt, LiveEngine, Lookup, Patch, Replaced};
use crate::mem::{Live, LiveMemory, MemoryUsage, Owner, Plain, Readable, RetireList};
use crate::net::{Ipv6, Prefix};
use crate::rib::Rib;

/// Spare units of each array, on top of twice those in use.
const SPARE: usize = 1 << 17;

type LiveStore = Store<Owner<u32>, Owner<u8>>;

/// The place of an entry that one store replaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slot {
    Root(usize),
    Page(usize),
    /// A word of the lines: an entry of a fork.
    Fork(usize),
}

/// A store, and what it has replaced.
#[derive(Clone, Copy, Debug)]
enum Change {
    Entry(Slot, Reached),
    /// The code at a byte of a word of the lines.
    Code(usize, usize, u32),
}

struct Patcher {
    table: Arc<Folio6<LiveMemory>>,
    root: Owner<u32>,
    store: LiveStore,
    codes: Codes,
    /// The next hop of each code.
    hops: Vec<u32>,
    fixed: Fixed,
    retire_list: RetireList<(ArrayName, Piece)>,
    /// The stores of the current commit.
    changes: Vec<Change>,
    starts: Vec<Start<u128>>,
}

/// Moves a table into arrays with capacity to grow, and makes its write side.
pub(super) fn live(table: Folio6) -> LiveEngine<Ipv6> {
    match patcher(&table) {
        Some(patcher) => LiveEngine::patched(patcher.table.clone(), patcher),
        None => LiveEngine::recompiled(table),
    }
}

/// `None` when memory is short.
fn patcher(table: &Folio6) -> Option<Patcher> {
    fn spare<T: Plain>(items: &[T], unit: usize, huge: bool) -> Option<(Live<T>, Owner<T>)> {
        let capacity = (2 * items.len() + unit * SPARE).min(unit * PLACES);
        if huge { Live::huge(items, capacity) } else { Live::with_capacity(items, capacity) }
    }
    let fixed = table.fixed;
    let (root, root_owner) = Live::with_capacity(&table.root, 0)?;
    let (pages, page_owner) = spare(&table.pages, 1, table.pages.is_huge())?;
    let (codes, code_owner) = spare(&table.codes, 1 << fixed.log2, table.codes.is_huge())?;
    let (lines, line_owner) = spare(&table.lines, LINE_WORDS, table.lines.is_huge())?;
    let (minis, mini_owner) = spare(&table.minis, MINI_WORDS, table.minis.is_huge())?;
    let (hops, _) = Live::with_capacity(&table.hops, 0)?;
    let form = Form::of(fixed.log2, fixed.is_list)?;
    let mut patcher = Patcher {
        table: Arc::new(Folio6 {
            root,
            pages,
            codes,
            lines,
            minis,
            hops,
            fixed,
            leaves: table.leaves,
        }),
        root: root_owner,
        store: Store::new(fixed.log2, [page_owner, line_owner, mini_owner], code_owner),
        codes: Codes::of_list(form, &table.hops),
        hops: table.hops.to_vec(),
        fixed,
        retire_list: RetireList::default(),
        changes: Vec::new(),
        starts: Vec::new(),
    };
    patcher.count()?;
    Some(patcher)
}

/// The pieces that entries lead to, and the number of these entries.
#[derive(Default)]
struct Met(HashMap<(ArrayName, Piece), u32>);

impl Visitor for Met {
    fn piece(&mut self, array: ArrayName, piece: Piece, _block: Block) -> Result<bool, Damage> {
        *self.0.entry((array, piece)).or_default() += 1;
        Ok(piece.kind != SHARED)
    }

    fn answer(&mut self, _first: u128, _raw: u32) -> Result<(), Damage> {
        Ok(())
    }
}

impl Patcher {
    fn slices(&self) -> Slices<'_> {
        Slices {
            root: &self.root,
            pages: self.store.pages.array(),
            codes: self.store.codes.array(),
            lines: self.store.lines.array(),
            minis: self.store.minis.array(),
            hops: &self.hops,
            fixed: &self.fixed,
        }
    }

    /// Counts the references of all pieces again. `None` if the table is damaged.
    fn count(&mut self) -> Option<()> {
        let mut walk = VisitingWalk { table: self.slices(), visitor: Met::default() };
        walk.root().ok()?;
        let mut met = walk.visitor.0;
        met.extend(self.retire_list.iter().map(|piece| (*piece, 1)));
        let of = |array| -> Vec<(Piece, u32)> {
            let of_array = met.iter().filter(|((of, _), _)| *of == array);
            of_array.map(|((_, piece), references)| (*piece, *references)).collect()
        };
        let retired: Vec<(ArrayName, Piece)> = self.retire_list.iter().copied().collect();
        let store = core::mem::replace(&mut self.store, empty(self.fixed.log2)?);
        let arrays = [store.pages.into_array(), store.lines.into_array(), store.minis.into_array()];
        let Store { pages, codes, lines, minis } =
            Store::new(self.fixed.log2, arrays, store.codes.into_array());
        self.store = Store {
            pages: counted(pages, of(PAGES)),
            codes: counted(codes, of(CODES)),
            lines: counted(lines, of(LINES)),
            minis: counted(minis, of(MINIS)),
        };
        for (array, piece) in retired {
            self.release_piece(array, piece);
        }
        Some(())
    }

    /// Counts one reference less; returns whether it was the last one.
    fn release_piece(&mut self, array: ArrayName, piece: Piece) -> bool {
        fn of<T: Plain, A: Array<T>>(pieces: &mut Pieces<T, A>, piece: Piece) -> bool {
            let at = pieces.find(piece.start);
            debug_assert!(at.is_some_and(|at| pieces.piece(at) == piece), "{piece:?}");
            at.is_some_and(|at| pieces.release(at).is_some())
        }
        match array {
            PAGES => of(&mut self.store.pages, piece),
            CODES => of(&mut self.store.codes, piece),
            LINES => of(&mut self.store.lines, piece),
            _ => of(&mut self.store.minis, piece),
        }
    }

    /// Bytes of a unit of an array.
    fn unit(&self, array: ArrayName) -> usize {
        match array {
            PAGES => size_of::<u32>(),
            CODES => 1 << self.fixed.log2,
            LINES => size_of::<u32>() * LINE_WORDS,
            _ => size_of::<u32>() * MINI_WORDS,
        }
    }

    /// Removes all that an entry leads to, which no slot has any more.
    fn release(&mut self, at: Reached) {
        if at.entry.0 < layout::CODES {
            return;
        }
        let mut walk = VisitingWalk { table: self.slices(), visitor: Met::default() };
        let walked = walk.entry(at);
        debug_assert!(walked.is_ok(), "{walked:?}");
        for ((array, piece), references) in walk.visitor.0 {
            for _ in 0..references {
                if self.release_piece(array, piece) {
                    let bytes = self.unit(array) << piece.log2;
                    self.retire_list.push((array, piece), bytes);
                }
            }
        }
    }

    fn entry(&self, slot: Slot) -> Entry {
        Entry(match slot {
            Slot::Root(at) => self.root[at],
            Slot::Page(at) => self.store.pages.array()[at],
            Slot::Fork(at) => u32::from_le(self.store.lines.array()[at]),
        })
    }

    fn publish(&mut self, slot: Slot, entry: Entry) {
        match slot {
            Slot::Root(at) => self.root.publish(at, entry.0),
            Slot::Page(at) => self.store.pages.array_mut().publish(at, entry.0),
            Slot::Fork(at) => self.store.lines.array_mut().publish(at, entry.0.to_le()),
        }
    }

    /// Publishes an entry in the slot of another.
    fn replace(&mut self, slot: Slot, old: Reached, new: Entry) {
        self.publish(slot, new);
        self.changes.push(Change::Entry(slot, old));
    }

    /// Publishes a code at a byte of a word of the lines.
    fn publish_code(&mut self, word: usize, byte: usize, code: u32) {
        let lines = self.store.lines.array_mut();
        match self.fixed.log2 {
            0 => lines.publish_inside(word, byte, code as u8),
            1 => lines.publish_inside(word, byte, (code as u16).to_le()),
            _ => lines.publish_inside(word, byte, code.to_le()),
        }
    }

    /// Takes the stores of the current commit back.
    fn undo(&mut self) {
        while let Some(change) = self.changes.pop() {
            match change {
                Change::Code(word, byte, code) => self.publish_code(word, byte, code),
                Change::Entry(slot, old) => {
                    let new = Reached { entry: self.entry(slot), ..old };
                    self.publish(slot, old.entry);
                    self.release(new);
                }
            }
        }
        // Pieces of what could not be finished have no entry.
        let counted = self.count();
        debug_assert!(counted.is_some());
    }

    fn accounts(&self) -> [Account; 4] {
        fn of<T: Plain, A: Array<T>>(array: ArrayName, pieces: &Pieces<T, A>) -> Account {
            let all = pieces.iter().collect();
            Account { array, pieces: all, unused: pieces.unused().collect() }
        }
        let Store { pages, codes, lines, minis } = &self.store;
        [of(PAGES, pages), of(CODES, codes), of(LINES, lines), of(MINIS, minis)]
    }
}

/// Arrays without items.
fn empty(log2: u8) -> Option<LiveStore> {
    let none = || Some(Live::<u32>::with_capacity(&[], 0)?.1);
    Some(Store::new(log2, [none()?, none()?, none()?], Live::<u8>::with_capacity(&[], 0)?.1))
}

/// The account of an array with these pieces.
fn counted<T: Plain, A: Array<T>>(pieces: Pieces<T, A>, met: Vec<(Piece, u32)>) -> Pieces<T, A> {
    let own: Vec<Piece> = met.iter().map(|it| it.0).filter(|it| it.kind != SHARED).collect();
    let mut pieces = pieces.with(0, met);
    for piece in own {
        if let Some(at) = pieces.find(piece.start) {
            pieces.forget_content(at);
        }
    }
    pieces
}

impl Patch<Ipv6> for Patcher {
    fn patch(
        &mut self,
        rib: &Rib<Ipv6>,
        changed: &[Prefix<Ipv6>],
    ) -> Result<Replaced, CannotPatch> {
        let mut replaced = Replaced::default();
        if changed.iter().try_for_each(|prefix| self.change(rib, *prefix, &mut replaced)).is_err() {
            self.undo();
            return Err(CannotPatch);
        }
        replaced.entries = self.changes.len() as u64;
        let mut changes = core::mem::take(&mut self.changes);
        for change in changes.drain(..) {
            if let Change::Entry(_, old) = change {
                self.release(old);
            }
        }
        self.changes = changes;
        Ok(replaced)
    }

    fn seal(&mut self, epoch: u64) {
        self.retire_list.seal(epoch);
    }

    fn reclaim(&mut self, oldest: u64) {
        while let Some((array, piece)) = self.retire_list.pop(oldest) {
            match array {
                PAGES => self.store.pages.free(piece),
                CODES => self.store.codes.free(piece),
                LINES => self.store.lines.free(piece),
                _ => self.store.minis.free(piece),
            }
        }
    }

    fn retired_bytes(&self) -> usize {
        self.retire_list.bytes()
    }

    fn used_and_unused(&self) -> (usize, usize) {
        let Store { pages, codes, lines, minis } = &self.store;
        let all = [
            pages.used_and_unused(),
            codes.used_and_unused(),
            lines.used_and_unused(),
            minis.used_and_unused(),
        ];
        all.into_iter().fold((0, 0), |sum, (used, unused)| (sum.0 + used, sum.1 + unused))
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.table.memory_usage()
    }

    fn check(&self, rib: &Rib<Ipv6>) -> Result<(), Corrupt> {
        let mut accounts = self.accounts();
        for account in &mut accounts {
            let retired = self.retire_list.iter().filter(|(array, _)| *array == account.array);
            account.unused.extend(retired.map(|(_, piece)| *piece));
        }
        check::check(self.slices(), Some(&accounts), rib)
    }
}
