//! One leaf, changed in place or in a copy of its run.

use super::super::super::layout::Code;
use super::super::compile::Space;
use super::super::layout::{KEYS, Line, escape};
use super::path::Group;
use super::{NewCode, Patcher};

impl<C: Code> Patcher<C> {
    /// Prepares new codes of a leaf whose keys stay; returns whether single stores suffice.
    ///
    /// A code and an escape are not exchanged: readers load them before the entries of escapes.
    pub(super) fn change_codes(&mut self, leaf: usize, new: &(Line, Option<Line>)) -> bool {
        let (log2, lines) = (C::LOG2, &self.space.lines[..]);
        let (old, (new, new_escapes)) = (&lines[leaf], new);
        let keys = KEYS[log2 as usize];
        let used = old.used(keys);
        let is_escape = |line: &Line, i| log2 < 2 && line.code(log2, i) == escape(log2);
        let same_kind = |i| is_escape(old, i) == is_escape(new, i);
        if old.0[..keys] != new.0[..keys] || !(0..=used).all(same_kind) {
            return false;
        }
        for i in 0..=used {
            let code = new.code(log2, i);
            if code != old.code(log2, i) {
                self.prepared_codes.push(NewCode::Code { leaf, i, code });
            }
        }
        if let Some(new) = new_escapes {
            let number = leaf + old.distance(log2);
            let pairs = lines[number].0.iter().zip(&new.0).enumerate();
            let changed = pairs.filter(|(_, (old, new))| old != new);
            let entries =
                changed.map(|(i, (_, entry))| NewCode::Escape { line: number, i, entry: *entry });
            self.prepared_codes.extend(entries);
        }
        true
    }

    /// Places a copy of the leaves of a group, with one of them and its escapes replaced.
    pub(super) fn copy_leaves(
        &mut self,
        group: &Group,
        leaf: usize,
        (line, escapes): (Line, Option<Line>),
    ) -> Option<u32> {
        let run = &self.space.lines[group.run.start as usize..][..group.run.count as usize];
        self.copy.clear();
        self.copy.extend_from_slice(&run[..group.leaves()]);
        self.copy[leaf] = line;
        for at in 0..group.leaves() {
            let escapes = match run[at].distance(C::LOG2) {
                _ if at == leaf => escapes,
                0 => None,
                distance => Some(run[at + distance]),
            };
            if let Some(escapes) = escapes {
                let distance = self.copy.len() - at;
                self.copy[at].set_distance(distance);
                self.copy.push(escapes);
            }
        }
        self.space.place(&self.copy)
    }
}
