//! A pass over all documents: which objects and elements are rows, and which addresses are left out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use serde::de::Error;

use super::super::key::CellKind;
use super::super::layout::TextLayout;
use super::super::text::{Load, Row};
use super::names::{Array, Key, Lists, Names, Object, has_addresses};
use super::{LIST, NFT_ELEMENT, PREFIX};
use crate::error::Problem;

/// An object as a row: its prefix, then its columns.
struct JsonRow<'a> {
    object: &'a Object,
    key: &'a Key,
    /// The scalars of the objects around it, from the innermost outwards.
    around: Vec<&'a Object>,
    names: &'a [String],
}

impl Row for JsonRow<'_> {
    fn len(&self) -> usize {
        self.names.len()
    }

    fn cell(&self, at: usize) -> &str {
        if at == 0 {
            return &self.key.text;
        }
        let Some(name) = self.names.get(at) else { return "" };
        let own = self.object.iter().enumerate().filter(|(at, _)| *at != self.key.at);
        let around = self.around.iter().copied().flatten();
        let mut members = own.map(|(_, member)| member).chain(around);
        members.find(|(member, _)| member == name).map_or("", |(_, value)| value)
    }
}

/// A member that is a row unless an object around it is one, or has rows.
pub(super) struct Pending {
    pub(super) object: Vec<(String, String)>,
    pub(super) lists: Vec<(String, Array)>,
    /// The scalars of the objects around it, from the innermost outwards.
    pub(super) around: Vec<Rc<Object>>,
}

/// A pass over all documents.
#[derive(Default)]
pub(super) struct JsonPass<'a> {
    /// The receiver of the rows, in the second pass.
    pub(super) load: Option<(Load<'a>, &'a TextLayout)>,
    pub(super) lenient: bool,
    pub(super) names: Names,
    /// The names of arrays whose addresses are rows.
    pub(super) taken: HashSet<String>,
    /// The number of objects so far, and those that are open, by their number.
    pub(super) objects: u64,
    pub(super) open: Vec<u64>,
    /// The rows of this pass, and the prefix of the last one.
    pub(super) rows: u64,
    pub(super) last: String,
    /// The addresses that are neither rows nor in columns, by their members and arrays.
    pub(super) left_out: BTreeMap<String, u64>,
    /// The scalars of objects with rows in them.
    pub(super) around: HashMap<u64, Vec<(String, String)>>,
    /// The addresses in those scalars that no row has as a column so far, because of an inner member of the same name.
    pub(super) hidden: HashMap<u64, Vec<String>>,
    /// The first document and its scalars, as long as it may be the whole file.
    pub(super) file: Option<(u64, Vec<(String, String)>)>,
    /// The members of objects whose name a later member has too: the last one counts.
    pub(super) replaced: HashSet<(u64, usize)>,
    /// Whether the rows are those of such a member.
    pub(super) muted: bool,
    /// Whether the objects are next hops of a row.
    pub(super) in_hops: bool,
    /// The error of a row, which ends the pass.
    pub(super) failure: Option<Problem>,
}

impl<'a> JsonPass<'a> {
    /// The second pass.
    pub(super) fn again<'b>(self, load: Load<'b>, layout: &'b TextLayout) -> JsonPass<'b> {
        let JsonPass { lenient, names, taken, around, replaced, .. } = self;
        let load = Some((load, layout));
        let address =
            |(name, value): &(String, String)| has_addresses(name, value).then(|| name.clone());
        let hidden = around.iter().map(|(number, scalars)| {
            (*number, scalars.iter().filter_map(address).collect::<Vec<_>>())
        });
        let hidden = hidden.filter(|(_, names)| !names.is_empty()).collect();
        JsonPass { load, lenient, names, taken, around, hidden, replaced, ..JsonPass::default() }
    }

    /// Takes an object that may be a row; returns whether it is. An object with rows inside is one if its prefix is
    /// certain.
    pub(super) fn row<E: Error>(
        &mut self,
        (object, lists): (&Object, &Lists),
        near: &[Rc<Object>],
        has_rows: bool,
    ) -> Result<bool, E> {
        if self.muted || self.in_hops {
            return Ok(false);
        }
        let Some(key) = self.names.key(object, lists) else { return Ok(false) };
        if has_rows && self.names.fixed.is_empty() && !key.is_certain(object) {
            return Ok(false);
        }
        self.rows += 1;
        self.last.clone_from(&key.text);
        // An array with objects is not a cell.
        for (name, all) in lists.iter().filter(|(_, all)| all.text.is_none()) {
            self.lose("array", name, all.hosts.len() as u64);
        }
        self.mark_columns(object, near);
        let Some((load, layout)) = &mut self.load else {
            self.names.add(object, &key);
            near.iter().for_each(|around| self.names.add_columns(around));
            return Ok(true);
        };
        let result = self.names.check(object, &key).and_then(|()| {
            let around = self.open.iter().rev().filter_map(|number| self.around.get(number));
            let near = near.iter().map(|object| &**object);
            let around = near.chain(around.map(Vec::as_slice)).collect();
            load.row(&JsonRow { object, key: &key, around, names: &layout.names })
        });
        result.or_else(|error| self.fail(error)).map(|()| true)
    }

    /// Marks the addresses around a row that are its columns.
    fn mark_columns(&mut self, object: &Object, near: &[Rc<Object>]) {
        if self.hidden.is_empty() {
            return;
        }
        let has = |object: &Object, name: &String| object.iter().any(|(inner, _)| inner == name);
        for (at, number) in self.open.iter().enumerate() {
            let Some(names) = self.hidden.get_mut(number) else { continue };
            let between = self.open[at + 1..].iter().filter_map(|number| self.around.get(number));
            let between = between.map(Vec::as_slice).chain(near.iter().map(|object| &**object));
            let inner: Vec<_> = between.chain([object]).collect();
            names.retain(|name| inner.iter().any(|object| has(object, name)));
            if names.is_empty() {
                self.hidden.remove(number);
            }
        }
    }

    /// Counts the addresses that are in no column, at the end of the second pass.
    pub(super) fn end(&mut self) {
        for name in std::mem::take(&mut self.hidden).into_values().flatten() {
            self.lose("member", &name, 1);
        }
    }

    /// Refuses a row.
    fn fail<E: Error>(&mut self, error: Problem) -> Result<(), E> {
        match &mut self.load {
            Some((load, _)) if self.lenient && error.is_local() => load.note_damage(error),
            _ => {
                self.failure = Some(error);
                return Err(E::custom("the row is refused"));
            }
        }
        Ok(())
    }

    /// Refuses an array with values without names; the first pass counts it as a row.
    pub(super) fn refuse_array<E: Error>(&mut self, text: &str) -> Result<(), E> {
        if self.muted {
            return Ok(());
        }
        self.rows += 1;
        match self.load {
            Some(_) => self.fail(Problem::ArrayRow { text: crate::error::shorten(text) }),
            None => Ok(()),
        }
    }

    /// Takes an element of an array.
    pub(super) fn element<E: Error>(&mut self, list: &str, text: String) -> Result<(), E> {
        let key = if self.names.fixed.iter().any(|name| name == list) { list } else { PREFIX };
        // The options may name another member; the elements of arrays are rows all the same.
        let object = [(key.to_owned(), text), (LIST.to_owned(), list.to_owned())];
        if !self.row((&object, &[]), &[], false)? {
            self.lose("array", list, 1);
        }
        Ok(())
    }

    /// Takes an array of addresses, if those are rows.
    pub(super) fn addresses<E: Error>(&mut self, list: &str, all: Array) -> Result<(), E> {
        let count = all.hosts.len() as u64;
        if count > 0 && self.taken.contains(list) {
            if all.is_row {
                return self.refuse_array(&all.text.unwrap_or_else(|| all.hosts.join(" ")));
            }
            self.lose("array", list, all.others);
            return all.hosts.into_iter().try_for_each(|addr| self.element(list, addr));
        }
        if count > 0 && self.load.is_none() && !self.muted {
            let known = self.names.lists.entry(list.to_owned()).or_default();
            known.addresses += count;
            known.is_mixed |= all.others > 0 && !all.is_row;
        }
        self.lose("array", list, count);
        Ok(())
    }

    /// Takes the members that may be rows.
    pub(super) fn members<E: Error>(&mut self, all: Vec<Pending>) -> Result<(), E> {
        let (mut rows, mut lost) = (Vec::new(), Vec::new());
        for one in all {
            match self.row((&one.object, &one.lists), &one.around, false)? {
                true => rows.push(one),
                false => lost.push(one),
            }
        }
        // The scalars around a row are its columns, unless they have the name of an inner one.
        let mut hidden = BTreeMap::new();
        for Pending { object, around, .. } in &rows {
            for (at, outer) in around.iter().enumerate() {
                for (name, _) in outer.iter().filter(|(name, value)| has_addresses(name, value)) {
                    let mut inner = around[..at].iter().map(|object| &**object).chain([&**object]);
                    let is_hidden = inner.any(|object| object.iter().any(|(own, _)| own == name));
                    *hidden.entry((Rc::as_ptr(outer).cast::<()>(), name)).or_insert(true) &=
                        is_hidden;
                }
            }
        }
        let hidden: Vec<_> = hidden.into_iter().filter(|(_, is_hidden)| *is_hidden).collect();
        hidden.iter().for_each(|((_, name), _)| self.lose("member", name, 1));
        if !rows.is_empty() {
            lost.iter_mut().for_each(|one| one.around.clear());
        }
        self.lose_pending(&lost);
        Ok(())
    }

    /// Counts addresses that are left out.
    pub(super) fn lose(&mut self, kind: &str, name: &str, count: u64) {
        if count > 0 && !self.muted {
            *self.left_out.entry(format!("{kind} '{name}'")).or_default() += count;
            self.names.add_other(name);
        }
    }

    /// Counts the addresses of an object that is not a row.
    pub(super) fn lose_members(&mut self, object: &Object, lists: &Lists) {
        let is_list = |name: &String| lists.iter().any(|(list, _)| list == name);
        for (name, value) in object {
            let has_addresses = !is_list(name) && has_addresses(name, value);
            let is_key = CellKind::of(name).is_key();
            self.lose("member", name, u64::from(has_addresses) + u64::from(is_key));
        }
        lists.iter().for_each(|(name, all)| self.lose("array", name, all.hosts.len() as u64));
    }

    /// Counts the addresses of members that are not rows, and those around them.
    pub(super) fn lose_pending(&mut self, all: &[Pending]) {
        let mut seen = HashSet::new();
        for Pending { object, lists, around } in all {
            self.lose_members(object, lists);
            for object in around.iter().filter(|object| seen.insert(Rc::as_ptr(object))) {
                self.lose_members(object, &[]);
            }
        }
    }

    /// Keeps the scalars of the first document, which is not the whole file, or is a row.
    pub(super) fn keep_file(&mut self) {
        if let Some((number, scalars)) = self.file.take() {
            self.keep(number, scalars);
        }
    }

    /// Keeps the scalars of a row with rows in it, other than its prefix.
    pub(super) fn keep_of_row(
        &mut self,
        number: u64,
        mut scalars: Vec<(String, String)>,
        (object, lists): (&Object, &Lists),
    ) {
        let key = self.names.key(object, lists);
        scalars.retain(|(name, _)| key.as_ref().is_none_or(|key| object[key.at].0 != *name));
        self.keep(number, scalars);
    }

    /// Keeps the scalars of an object with rows in it.
    pub(super) fn keep(&mut self, number: u64, scalars: Vec<(String, String)>) {
        self.names.add_columns(&scalars);
        if !scalars.is_empty() {
            self.around.insert(number, scalars);
        }
    }

    /// Whether an object that is a member may be a row: its prefix has a length or is its name, or the options name it.
    pub(super) fn may_be_row(&self, (object, lists): (&Object, &Lists), is_named: bool) -> bool {
        self.names.key(object, lists).is_some_and(|key| {
            is_named
                || !self.names.fixed.is_empty()
                || matches!(CellKind::of(&key.text), CellKind::Prefix | CellKind::Range)
        })
    }

    /// Whether the elements of an array are rows of `nft -j`.
    pub(super) fn is_nft(list: &str) -> bool {
        list == NFT_ELEMENT
    }
}
