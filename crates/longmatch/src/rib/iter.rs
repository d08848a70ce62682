//! Iterators over the routes of a RIB.

use alloc::vec::Vec;
use core::iter::FusedIterator;

use super::trie::{Index, NONE, ROOT, Trie};
use crate::net::{Family, Prefix, Route};

/// Routes in order, from [`super::Rib::iter`] and [`super::Rib::subtree`].
#[derive(Clone)]
pub struct Iter<'r, F: Family> {
    trie: &'r Trie<F>,
    /// Subtrees still to visit, the next one last; at most one per level.
    pending: Vec<Index>,
}

impl<'r, F: Family> Iter<'r, F> {
    pub(super) fn new(trie: &'r Trie<F>, top: Option<Index>) -> Self {
        Self { trie, pending: top.into_iter().collect() }
    }
}

impl<F: Family> Iterator for Iter<'_, F> {
    type Item = Route<F>;

    fn next(&mut self) -> Option<Route<F>> {
        loop {
            let node = self.trie.node(self.pending.pop()?);
            let [low, high] = node.children;
            self.pending.extend([high, low].into_iter().filter(|child| *child != NONE));
            if let Some(route) = node.route() {
                return Some(route);
            }
        }
    }
}

impl<F: Family> FusedIterator for Iter<'_, F> {}

/// Routes that cover a prefix, shortest first, from [`super::Rib::covering`].
#[derive(Clone)]
pub struct Covering<'r, F: Family> {
    trie: &'r Trie<F>,
    prefix: Prefix<F>,
    next: Option<Index>,
}

impl<'r, F: Family> Covering<'r, F> {
    pub(super) fn new(trie: &'r Trie<F>, prefix: Prefix<F>) -> Self {
        Self { trie, prefix, next: Some(ROOT) }
    }
}

impl<F: Family> Iterator for Covering<'_, F> {
    type Item = Route<F>;

    fn next(&mut self) -> Option<Route<F>> {
        loop {
            let at = self.next?;
            self.next = self.trie.next_covering(at, self.prefix);
            if let Some(route) = self.trie.node(at).route() {
                return Some(route);
            }
        }
    }
}

impl<F: Family> FusedIterator for Covering<'_, F> {}
