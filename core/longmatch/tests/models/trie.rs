//! A patched table: a trie of strides of two bits in an arena of eight slots, changed in both ways
//! that engines use.
//!
//! A word leads to a node. Each of the node's four slots holds an answer, or refers to one of the
//! four leaves at the node's base. A change of leaves writes new leaves and replaces the base in
//! the node. A change of the node writes a new node with new leaves and replaces the word.

use crate::sync::{Arc, AtomicU32, Cell};

use super::mem::{RetireList, published};
use super::reclaim::{Domain, HasDomain};
use super::{FREE, Model, Size, Versions};

const SLOTS: usize = 8;
/// In a node: the answer is in a leaf.
const LEAF: u32 = u32::MAX;
/// The addresses looked up, of four bits: the node answers one, a leaf the other.
const ADDRS: [u32; super::ANSWERS] = [0b0110, 0b1001];
/// The slot of the node that has leaves.
const DEEP: usize = 0b10;

/// A node, or four leaves.
struct Slot {
    words: Cell<[u32; 4]>,
    base: AtomicU32,
}

struct Trie {
    root: AtomicU32,
    slots: [Slot; SLOTS],
    domain: Domain,
}

impl HasDomain for Trie {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

/// An answer that identifies its version and addresses.
fn answer(version: u32, addr: u32) -> u32 {
    version << 4 | addr
}

impl Trie {
    fn lookup(&self, addr: u32) -> u32 {
        let node = &self.slots[published::load(&self.root) as usize];
        match node.words.get()[addr as usize >> 2] {
            LEAF => self.slots[published::load(&node.base) as usize].words.get()[addr as usize & 3],
            answer => answer,
        }
    }
}

impl Model for Trie {
    fn lookup_versions(&self, number: usize) -> (u32, u32) {
        let addr = ADDRS[number];
        let got = self.lookup(addr);
        let version = got >> 4;
        // Leaves have their address, a node's answers the address of their slot.
        let right = if number == 0 { addr & 0b1100 } else { addr };
        assert_eq!(got, answer(version, right), "a mixture");
        // A version with changed leaves only keeps the node's answer.
        (version, if number == 0 { version + 1 } else { version })
    }
}

/// The write side.
struct Writer {
    trie: Arc<Trie>,
    versions: std::sync::Arc<Versions>,
    free: Vec<usize>,
    retired: RetireList<usize>,
    node: usize,
    leaves: usize,
    /// Number of slots reused.
    again: u32,
}

impl Writer {
    fn new() -> Self {
        let slot = || Slot { words: Cell::new([FREE; 4]), base: AtomicU32::new(FREE) };
        let trie = Trie {
            root: AtomicU32::new(0),
            slots: std::array::from_fn(|_| slot()),
            domain: Domain::new(),
        };
        let free: Vec<usize> = (0..SLOTS).collect();
        let mut writer = Self {
            trie: Arc::new(trie),
            versions: Default::default(),
            free,
            retired: RetireList::default(),
            node: 0,
            leaves: 0,
            again: 0,
        };
        let leaves = writer.new_leaves(0);
        writer.node = writer.new_node(0, leaves);
        writer.leaves = leaves;
        published::publish(&writer.trie.root, writer.node as u32);
        writer
    }

    fn take(&mut self) -> usize {
        self.free.pop().expect("counted before")
    }

    fn new_leaves(&mut self, version: u32) -> usize {
        let at = self.take();
        let leaves = std::array::from_fn(|i| answer(version, (DEEP << 2 | i) as u32));
        self.trie.slots[at].words.set(leaves);
        at
    }

    fn new_node(&mut self, version: u32, leaves: usize) -> usize {
        let at = self.take();
        let mut words = std::array::from_fn(|i| answer(version, (i << 2) as u32));
        words[DEEP] = LEAF;
        let slot = &self.trie.slots[at];
        slot.words.set(words);
        // The node is not published yet, so a relaxed store suffices.
        slot.base.store(leaves as u32, std::sync::atomic::Ordering::Relaxed);
        at
    }

    /// Changes the leaves, or node and leaves; returns whether enough slots were free.
    fn commit(&mut self) -> bool {
        let oldest = self.trie.domain.oldest();
        while let Some(slot) = self.retired.pop(oldest) {
            self.trie.slots[slot].words.set([FREE; 4]);
            self.free.push(slot);
            self.again += 1;
        }
        let version = self.versions.begin();
        let whole = version.is_multiple_of(2);
        if self.free.len() < 1 + usize::from(whole) {
            self.versions.undo();
            return false;
        }
        let leaves = self.new_leaves(version);
        if whole {
            let node = self.new_node(version, leaves);
            published::publish(&self.trie.root, node as u32);
            self.retired.push(std::mem::replace(&mut self.node, node), 1);
        } else {
            published::publish(&self.trie.slots[self.node].base, leaves as u32);
        }
        self.retired.push(std::mem::replace(&mut self.leaves, leaves), 1);
        self.retired.seal(self.trie.domain.advance());
        self.versions.end();
        true
    }

    /// Each slot is in the table, in the retire list or free.
    fn check(&self) {
        assert_eq!(self.retired.bytes(), self.retired.iter().count());
        let mut all: Vec<usize> = self.retired.iter().chain(&self.free).copied().collect();
        all.extend([self.node, self.leaves]);
        all.sort_unstable();
        assert!(all.into_iter().eq(0..SLOTS));
    }
}

/// Runs the model; returns the number of slots reused.
pub fn patched(size: Size) -> u32 {
    let mut writer = Writer::new();
    super::run(size, writer.trie.clone(), &writer.versions.clone(), || {
        for _ in 0..size.commits {
            writer.commit();
            writer.check();
        }
    });
    // All readers have ended.
    assert!(writer.commit());
    writer.check();
    writer.again
}
