//! The values of a document, as a pass meets them.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;
use std::rc::Rc;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::super::key::CellKind;
use super::names::{Array, has_keys, is_hop, is_named, is_wrong_key};
use super::pass::{JsonPass, Pending};
use super::{NFT_CONCAT, ORIGIN, PREFIX, VALUE};
use crate::error::{FeedError, Location, Problem};

/// A value.
pub(super) enum JsonValue {
    Scalar(String),
    /// An array without a prefix.
    Array(Array),
    /// A prefix or range that is an object.
    Element(String),
    /// An array of rows that are prefixes or addresses.
    List,
    /// An object that is not a row, and its members that may be rows.
    Members(Vec<Pending>),
    Other,
}

/// The place of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Document,
    Element,
    Member,
}

/// Visits a value, and the objects in it.
pub(super) struct Seed<'w, 'a, 'n> {
    pub(super) pass: &'w mut JsonPass<'a>,
    pub(super) at: At,
    /// The name of the member that this value is.
    pub(super) list: &'n str,
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_, '_> {
    type Value = JsonValue;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<JsonValue, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_> {
    type Value = JsonValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<JsonValue, E> {
        Ok(JsonValue::Scalar(String::new()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonValue, E> {
        Ok(JsonValue::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsonValue, E> {
        Ok(JsonValue::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsonValue, E> {
        Ok(JsonValue::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsonValue, E> {
        Ok(JsonValue::Scalar(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<JsonValue, E> {
        Ok(JsonValue::Scalar(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonValue, A::Error> {
        let Self { pass, at, list } = self;
        let (is_nft, rows) = (JsonPass::is_nft(list), pass.rows);
        let may_be_row = (at == At::Element && !is_nft) || list == NFT_CONCAT;
        let (mut array, mut is_list, mut held) = (Array::default(), is_nft, Vec::new());
        while let Some(value) =
            seq.next_element_seed(Seed { pass: &mut *pass, at: At::Element, list })?
        {
            let (kind, one) = match value {
                JsonValue::Scalar(one) => (CellKind::of(&one), one),
                JsonValue::Element(one) => (CellKind::Prefix, one),
                JsonValue::Array(inner) => {
                    array.append(inner);
                    continue;
                }
                JsonValue::List | JsonValue::Members(_) | JsonValue::Other => {
                    array.text = None;
                    continue;
                }
            };
            array.push(&one);
            match kind {
                CellKind::Prefix | CellKind::Range if may_be_row => held.push(one),
                CellKind::Prefix | CellKind::Range => {
                    pass.element(list, one)?;
                    is_list = true;
                }
                CellKind::Address => array.hosts.push(one),
                CellKind::Empty => {}
                _ if is_wrong_key(&one) => array.hosts.push(one),
                _ => array.others += 1,
            }
        }
        let others = array.hosts.len() as u64 + array.others;
        if may_be_row && others > 0 && !held.is_empty() {
            pass.refuse_array(&array.text.unwrap_or_default())?;
            return Ok(JsonValue::List);
        }
        is_list |= !held.is_empty();
        held.into_iter().try_for_each(|one| pass.element(list, one))?;
        if !is_list && pass.rows > rows && array.hosts.is_empty() {
            return Ok(JsonValue::Other);
        }
        if !is_list {
            array.is_row |= may_be_row && others > 1 && !array.hosts.is_empty();
            return Ok(JsonValue::Array(array));
        }
        pass.names.lists.entry(list.to_owned()).or_default().has_prefixes |= !pass.muted;
        if array.is_row {
            pass.refuse_array(&array.hosts.join(" "))?;
            return Ok(JsonValue::List);
        }
        if !is_nft {
            pass.lose("array", list, array.others);
        }
        array.hosts.into_iter().try_for_each(|addr| pass.element(list, addr))?;
        Ok(JsonValue::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonValue, A::Error> {
        let Self { pass, at, list } = self;
        let (number, rows, muted, in_hops) = (pass.objects, pass.rows, pass.muted, pass.in_hops);
        pass.objects += 1;
        pass.open.push(number);
        let mut members = Vec::new();
        let end = loop {
            let name = match map.next_key::<String>() {
                Ok(Some(name)) => name,
                end => break end.map(drop),
            };
            pass.muted = muted || pass.replaced.contains(&(number, members.len()));
            pass.in_hops = in_hops || (is_hop(&name) && pass.names.fixed.is_empty());
            match map.next_value_seed(Seed { pass: &mut *pass, at: At::Member, list: &name }) {
                Ok(value) => members.push((name, value)),
                Err(error) => break Err(error),
            }
            // The prefix that names a member may be that of the rows in it.
            if let Some((name, JsonValue::Other)) = members.last()
                && is_key(name)
                && *name != pass.last
            {
                pass.lose("names of members in", list, 1);
            }
        };
        (pass.muted, pass.in_hops) = (muted, in_hops);
        pass.open.pop();
        last_of_each_name(&mut members, |at| pass.replaced.extend([(number, at)]));
        if end.is_err() && pass.load.is_none() && pass.rows > rows {
            // A lenient load takes the rows before the damage, with the scalars before it.
            pass.keep(number, scalars(&members));
        }
        end?;
        if let Some(element) = nft_element(&members) {
            return Ok(JsonValue::Element(element));
        }
        ObjectAt { number, at, list, rows }.take(pass, members)
    }
}

/// An object at its end.
struct ObjectAt<'n> {
    number: u64,
    at: At,
    /// The name of the member that this object is.
    list: &'n str,
    /// The rows before it.
    rows: u64,
}

/// The members of an object, by their possible use.
#[derive(Default)]
struct Parts {
    cells: Vec<(String, String)>,
    lists: Vec<(String, Array)>,
    /// Objects that may be rows, and members whose names are prefixes.
    inner: Vec<Pending>,
    named: Vec<Pending>,
    /// The cells for rows inside: the scalars.
    around: Vec<(String, String)>,
}

impl Parts {
    fn of(members: Vec<(String, JsonValue)>, has_rows: bool) -> Self {
        let is_around = |(name, value): &(String, JsonValue)| match value {
            JsonValue::Members(_) => true,
            JsonValue::Array(all) => !all.hosts.is_empty() || is_key(name),
            _ => is_key(name),
        };
        let mut parts = Self::default();
        if has_rows || members.iter().any(is_around) {
            parts.around = scalars(&members);
        }
        for (name, value) in members {
            let is_key = is_key(&name);
            // The value of a member that its prefix names is a cell.
            let array = match &value {
                JsonValue::Array(all) if is_key && all.text.is_some() => Some(all.clone()),
                _ => None,
            };
            let text = match value {
                JsonValue::Scalar(text) | JsonValue::Element(text) => Some(text),
                JsonValue::Array(all) if array.is_some() || all.hosts.is_empty() => {
                    all.text.or_else(|| is_key.then(String::new))
                }
                JsonValue::Array(all) => {
                    let text = all.text.clone().or_else(|| is_key.then(String::new));
                    parts.lists.push((name.clone(), all));
                    text
                }
                JsonValue::Members(all) => {
                    parts.inner.extend(all);
                    None
                }
                JsonValue::List | JsonValue::Other => None,
            };
            let Some(text) = text else { continue };
            if is_key {
                parts.named.push(Pending::named(&name, &text, array));
            }
            parts.cells.push((name, text));
        }
        add_origin(&mut parts.cells);
        parts
    }
}

impl ObjectAt<'_> {
    /// Takes the object as a row, or as a member that may be one, or takes its members.
    fn take<E: Error>(
        self,
        pass: &mut JsonPass<'_>,
        members: Vec<(String, JsonValue)>,
    ) -> Result<JsonValue, E> {
        let Self { number, at, list, rows } = self;
        let has_lists = has_rows(&members, &pass.taken);
        let has_rows = pass.rows > rows || has_lists;
        let has_elements = members.iter().any(|(_, value)| matches!(value, JsonValue::Element(_)));
        let mut parts = Parts::of(members, has_rows);
        let has_prefix_name = at == At::Member && is_key(list);
        if has_prefix_name {
            parts.cells.retain(|(name, value)| value != list || !is_named(name));
            parts.cells.insert(0, (PREFIX.to_owned(), list.to_owned()));
        }
        let object = (&*parts.cells, &*parts.lists);
        if (at != At::Member || JsonPass::is_nft(list)) && pass.row(object, &[], has_rows)? {
            if has_rows && pass.load.is_none() {
                pass.keep_of_row(number, parts.around, object);
            }
            pass.lose_pending(&parts.inner);
            return Ok(JsonValue::Other);
        }
        let may_be_row = at == At::Member && !has_rows && !has_elements && !pass.in_hops;
        if may_be_row && pass.may_be_row(object, has_prefix_name) {
            pass.lose_pending(&parts.inner);
            let Parts { cells: object, lists, .. } = parts;
            return Ok(JsonValue::Members(vec![Pending { object, lists, around: Vec::new() }]));
        }
        self.take_inside(pass, parts, [has_rows, has_lists])
    }

    /// Takes the members of an object that is not a row.
    fn take_inside<E: Error>(
        self,
        pass: &mut JsonPass<'_>,
        parts: Parts,
        [has_rows, has_lists]: [bool; 2],
    ) -> Result<JsonValue, E> {
        let Self { number, at, rows, .. } = self;
        let Parts { mut cells, lists, mut inner, named, around } = parts;
        cells.retain(|(name, _)| !is_key(name) && !lists.iter().any(|(list, _)| list == name));
        // Two members with prefixes and no name are, as a rule, the ends of one thing.
        let is_unclear = at == At::Element && inner.len() > 1 && pass.names.fixed.is_empty();
        inner.extend(named);
        if has_rows || is_unclear {
            pass.lose_pending(&std::mem::take(&mut inner));
        }
        pass.open.push(number);
        lists.into_iter().try_for_each(|(name, all)| pass.addresses(&name, all))?;
        if at == At::Member && !inner.is_empty() {
            pass.open.pop();
            let around: Rc<[(String, String)]> = around.into();
            inner.iter_mut().for_each(|one| one.around.push(around.clone()));
            return Ok(JsonValue::Members(inner));
        }
        pass.members(inner)?;
        pass.open.pop();
        // An object that is the whole file and has its rows in other objects describes the file.
        let has_addresses = || around.iter().any(|(_, value)| has_keys(value));
        let is_file = number == 0 && at == At::Document && !has_lists && !has_addresses();
        if pass.rows == rows {
            pass.lose_members(&cells, &[]);
            cells.iter().for_each(|(name, _)| pass.names.add_other(name));
        } else if pass.load.is_none() && is_file {
            pass.file = Some((number, around));
        } else if pass.load.is_none() {
            pass.keep(number, around);
        }
        Ok(JsonValue::Other)
    }
}

impl Pending {
    /// A member whose name is its prefix.
    fn named(name: &str, value: &str, array: Option<Array>) -> Self {
        let object = [(PREFIX, name), (VALUE, value)];
        let object = object.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
        let lists = array.map(|all| (VALUE.to_owned(), all)).into_iter().collect();
        Self { object, lists, around: Vec::new() }
    }
}

/// Whether the name of a member is a prefix, an address or a range.
fn is_key(name: &str) -> bool {
    CellKind::of(name).is_key()
}

/// The members that are scalars, other than those whose names are prefixes.
fn scalars(members: &[(String, JsonValue)]) -> Vec<(String, String)> {
    let scalar = |(name, value): &(String, JsonValue)| match value {
        JsonValue::Scalar(text) if !is_key(name) => Some((name.clone(), text.clone())),
        _ => None,
    };
    members.iter().filter_map(scalar).collect()
}

/// Whether a member is an array of prefixes or addresses that are rows.
fn has_rows(members: &[(String, JsonValue)], taken: &HashSet<String>) -> bool {
    members.iter().any(|(name, value)| match value {
        JsonValue::List => true,
        JsonValue::Array(all) => !all.hosts.is_empty() && taken.contains(name),
        _ => false,
    })
}

/// A prefix or a range of `nft -j`: `{"prefix": {"addr": ADDR, "len": N}}` or `{"range": [ADDR, ADDR]}`.
fn nft_element(members: &[(String, JsonValue)]) -> Option<String> {
    match members {
        [(addr, JsonValue::Scalar(bits)), (len, JsonValue::Scalar(length))]
            if addr == "addr" && len == "len" && bits.parse::<IpAddr>().is_ok() =>
        {
            Some(format!("{bits}/{length}"))
        }
        [(prefix, JsonValue::Element(text))] if prefix == "prefix" => Some(text.clone()),
        [(range, JsonValue::Array(ends))] if range == "range" => match &ends.hosts[..] {
            [first, last] if ends.others == 0 => Some(format!("{first}-{last}")),
            _ => None,
        },
        _ => None,
    }
}

/// Removes the members whose name a later one has too, and passes on their positions.
fn last_of_each_name(members: &mut Vec<(String, JsonValue)>, mut replaced: impl FnMut(usize)) {
    let mut seen = HashSet::with_capacity(members.len());
    let repeated: HashSet<usize> =
        (0..members.len()).rev().filter(|at| !seen.insert(&*members[*at].0)).collect();
    if repeated.is_empty() {
        return;
    }
    let mut at = 0..;
    members.retain(|_| at.next().is_none_or(|at| !repeated.contains(&at)));
    repeated.into_iter().for_each(&mut replaced);
}

/// Adds the autonomous system in which an AS path ends, unless the object says it.
fn add_origin(object: &mut Vec<(String, String)>) {
    let path = object.iter().find(|(name, _)| matches!(&**name, "path" | "as_path"));
    let origin = path.and_then(|(_, path)| path.split_ascii_whitespace().next_back());
    let origin = origin.filter(|origin| origin.parse::<u32>().is_ok()).map(str::to_owned);
    let is_known = object.iter().any(|(name, _)| name.contains("origin"));
    if let Some(origin) = origin.filter(|_| !is_known) {
        object.push((ORIGIN.to_owned(), origin));
    }
}

/// Walks all documents. The place of an error is its line.
pub(super) fn documents(pass: &mut JsonPass<'_>, bytes: &[u8]) -> Result<(), FeedError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    while reader.end().is_err() {
        pass.keep_file();
        let seed = Seed { pass: &mut *pass, at: At::Document, list: "" };
        let read = seed.deserialize(&mut reader).and_then(|value| match value {
            JsonValue::Array(all) => pass.addresses("", all),
            JsonValue::Scalar(one) if CellKind::of(&one).is_key() => pass.element("", one),
            _ => Ok(()),
        });
        if let Err(error) = read {
            // An array that is the document has no line at its end.
            let place = match error.line() as u64 {
                0 => Location::Whole,
                line => Location::Line(line),
            };
            let failure = pass.failure.take();
            let error = failure.unwrap_or_else(|| Problem::Json { text: error.to_string() });
            return Err(FeedError::at(place, error));
        }
    }
    Ok(())
}
