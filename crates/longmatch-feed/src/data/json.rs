//! Prefix data in JSON: the objects of arrays, one document or several in sequence (NDJSON).
//!
//! A row is an object that is an element of an array, or a document of its own, and has a member with
//! a prefix; the columns are its other members with scalars, or arrays of scalars. A prefix that is itself the element
//! of an array is a row with the array's name; so is an address, if an array of that name has prefixes, if no other rows are
//! found, or if the options name the array. Prefixes and ranges of `nft -j` are objects. The scalars of the objects around a row are columns too, unless an inner
//! object has the same name. An object that is the whole file and has its rows in other objects describes the file, not
//! the rows: its scalars, such as the time of its publication, are left out. So this reads RIPEstat's answers, the lists of addresses that operators of clouds publish,
//! and exports of tables.
//!
//! There are two passes: the first one keeps the scalars of objects around rows, which may come after the rows. It is repeated
//! if it finds arrays of addresses that are rows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::net::IpAddr;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::key::{self, Kind};
use super::names::{Known, known};
use super::shape::Shape;
use super::store::Store;
use super::text::{Load, Row};
use crate::error::{FeedError, Place, Problem};
use crate::options::Options;
use crate::report::Report;
use crate::text::BOM;

/// The column of the array's name.
const LIST: &str = "list";
/// The column of the elements of arrays.
const PREFIX: &str = "prefix";
/// The member of `nft -j` with the elements of a set, or with an element that has options.
const NFT_ELEMENT: &str = "elem";
/// The column of the last system of an AS path.
const ORIGIN: &str = "origin_as";

/// Whether the first bytes are JSON with a string that is a prefix or an address, other than the output
/// of `ip -json route`.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    let is_json = matches!(head.trim_ascii_start(), [b'[' | b'{', ..]);
    let mut strings = head.split(|byte| *byte == b'"').filter_map(|text| str::from_utf8(text).ok());
    is_json
        && memchr::memmem::find(head, b"\"dst\"").is_none()
        && strings.any(|text| Kind::of(text).is_key())
}

/// Loads all rows of the documents in these bytes.
pub(crate) fn load(
    bytes: &[u8],
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), FeedError> {
    let whole = FeedError::whole;
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let names = match &*options.prefix {
        [] => Names::default(),
        [key] => Names { fixed: true, keys: HashSet::from([key.clone()]), ..Names::default() },
        more => return Err(whole(Problem::PrefixColumns { columns: more.len() })),
    };
    let taken = names.keys.clone();
    let walk = |names, taken| {
        let mut walk = Walk { names, taken, lenient: options.lenient, ..Walk::default() };
        match walk.documents(bytes) {
            // The second pass repeats the error after the rows before it.
            Err(_) if options.lenient => Ok(walk),
            other => other.map(|()| walk),
        }
    };
    let mut first = walk(names.clone(), taken)?;
    let taken = &first.taken | &first.names.taken();
    if taken.len() > first.taken.len() {
        first = walk(names, taken)?;
    }
    let lists = first
        .names
        .lists
        .iter()
        .filter(|(name, list)| list.addresses > 0 && !first.taken.contains(*name));
    report.left_out.extend(lists.map(|(name, list)| (format!("array '{name}'"), list.addresses)));
    if first.names.all.is_empty() {
        let columns = first.names.lists.into_keys().collect();
        return Err(whole(Problem::NoPrefixColumn { columns }));
    }
    let shape = Shape::json(&first.names.columns());
    let load = Load::new(&shape, options, store, report)?;
    let mut second = Walk { load: Some((load, &shape)), objects: 0, file: None, ..first };
    let end = second.documents(bytes);
    second.load.into_iter().for_each(|(load, _)| load.end());
    end
}

/// The members of an object that are columns: their names and values.
type Object = [(String, String)];

/// The members of an object that are arrays of addresses.
type Lists = [(String, Vec<String>)];

/// The names of the members of rows, and those of the members with prefixes.
#[derive(Clone, Default)]
struct Names {
    /// Whether the options name the key.
    fixed: bool,
    all: Vec<String>,
    seen: HashSet<String>,
    keys: HashSet<String>,
    /// Arrays with addresses, by their names.
    lists: BTreeMap<String, List>,
}

/// Arrays of one name.
#[derive(Clone, Default)]
struct List {
    /// The addresses of those without a prefix.
    addresses: u64,
    has_prefixes: bool,
}

impl Names {
    /// The arrays whose addresses are rows: those of a name that has prefixes too; without any row the only ones.
    fn taken(&self) -> HashSet<String> {
        let all = self.lists.iter().filter(|(_, list)| list.addresses > 0);
        let is_only = self.all.is_empty() && !self.fixed && all.clone().count() == 1;
        let taken = all.filter(|(_, list)| list.has_prefixes || is_only);
        taken.map(|(name, _)| name.clone()).collect()
    }

    /// Adds the members of an object if it is a row. The key is the member that is called a prefix; without such a
    /// name, the first member that is one. An array is not a key.
    fn add(&mut self, object: &Object, lists: &Lists) -> bool {
        if self.key(object, lists).is_none() {
            let is_key = |(name, value): &&(String, String)| {
                Kind::of(value).is_key() && !has_list(lists, name)
            };
            let is_named = |(name, _): &&(String, String)| {
                known(name) == Some(Known::Prefix) || name.to_ascii_lowercase().contains("prefix")
            };
            let named = object.iter().filter(is_named).find(is_key);
            let found = named.or_else(|| object.iter().find(is_key));
            let Some((name, _)) = found.filter(|_| !self.fixed) else { return false };
            self.keys.insert(name.clone());
        }
        self.add_columns(object);
        true
    }

    fn add_columns(&mut self, object: &Object) {
        for (name, _) in object {
            if self.seen.insert(name.clone()) {
                self.all.push(name.clone());
            }
        }
    }

    /// The position of an object's key.
    fn key(&self, object: &Object, lists: &Lists) -> Option<usize> {
        let is_key = |name| self.keys.contains(name) && !has_list(lists, name);
        object.iter().position(|(name, _)| is_key(name))
    }

    /// The names other than those of the keys.
    fn columns(&self) -> Vec<String> {
        self.all.iter().filter(|name| !self.keys.contains(*name)).cloned().collect()
    }
}

/// Whether a member is an array of addresses.
fn has_list(lists: &Lists, name: &str) -> bool {
    lists.iter().any(|(list, _)| list == name)
}

/// An object as a row: its prefix, then its columns.
struct JsonRow<'a> {
    object: &'a Object,
    key: usize,
    /// The scalars of the objects around it, from the innermost outwards.
    around: Vec<&'a Object>,
    names: &'a [String],
}

impl JsonRow<'_> {
    /// The key and the member that has the length, the netmask or the end of its network.
    fn partner(&self) -> Option<String> {
        let (key, addr) = &self.object[self.key];
        let is_partner = |(name, value): &&(String, String)| match (known(name), Kind::of(value)) {
            (Some(Known::Length), Kind::Address) => true,
            (Some(Known::Length), _) => key::with_length((addr, ""), (value, ""), true).is_ok(),
            (Some(Known::Last), Kind::Address) => known(key) == Some(Known::First),
            _ => false,
        };
        let has_partner = Kind::of(addr) == Kind::Address;
        let (_, value) = self.object.iter().filter(|_| has_partner).find(is_partner)?;
        Some(format!("{addr} {value}"))
    }
}

impl Row for JsonRow<'_> {
    fn len(&self) -> usize {
        self.names.len()
    }

    fn cell(&self, at: usize) -> &str {
        if at == 0 {
            return &self.object[self.key].1;
        }
        let Some(name) = self.names.get(at) else { return "" };
        let mut members = self.object.iter().chain(self.around.iter().copied().flatten());
        members.find(|(member, _)| member == name).map_or("", |(_, value)| value)
    }
}

/// A pass over all documents.
#[derive(Default)]
struct Walk<'a> {
    /// The receiver of the rows, in the second pass.
    load: Option<(Load<'a>, &'a Shape)>,
    lenient: bool,
    names: Names,
    /// The names of arrays whose addresses are rows.
    taken: HashSet<String>,
    /// The number of objects so far, and those that are open, by their number.
    objects: u64,
    open: Vec<u64>,
    /// The rows of the first pass.
    rows: u64,
    /// The scalars of objects with rows in them.
    around: HashMap<u64, Vec<(String, String)>>,
    /// The first document and its scalars, as long as it may be the whole file.
    file: Option<(u64, Vec<(String, String)>)>,
    /// The members of objects whose name a later member has too: the last one counts.
    replaced: HashSet<(u64, usize)>,
    /// Whether the rows are those of such a member.
    muted: bool,
    /// The error of a row, which ends the walk.
    failure: Option<Problem>,
}

impl Walk<'_> {
    /// Walks all documents. The place of an error is its line.
    fn documents(&mut self, bytes: &[u8]) -> Result<(), FeedError> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        while reader.end().is_err() {
            self.keep_file();
            let seed = Seed { walk: &mut *self, at: At::Document, list: "" };
            let read = seed.deserialize(&mut reader).and_then(|value| match value {
                Value::Addresses(all) => self.addresses("", all),
                _ => Ok(()),
            });
            if let Err(error) = read {
                let place = Place::Line(error.line() as u64);
                let failure = self.failure.take();
                let error = failure.unwrap_or_else(|| Problem::Json { text: error.to_string() });
                return Err(FeedError::at(place, error));
            }
        }
        Ok(())
    }

    /// Takes an object that may be a row; returns whether it is.
    fn row<E: serde::de::Error>(&mut self, object: &Object, lists: &Lists) -> Result<bool, E> {
        if self.muted {
            return Ok(false);
        }
        let Some((load, shape)) = &mut self.load else {
            let is_row = self.names.add(object, lists);
            self.rows += u64::from(is_row);
            return Ok(is_row);
        };
        let Some(key) = self.names.key(object, lists) else { return Ok(false) };
        let around = self.open.iter().rev().filter_map(|number| self.around.get(number));
        let around = around.map(Vec::as_slice).collect();
        let row = JsonRow { object, key, around, names: &shape.names };
        let partner = if self.names.fixed { None } else { row.partner() };
        let result = match partner {
            Some(text) => Err(Problem::TwoMembers { text }),
            None => load.row(&row),
        };
        match result {
            Err(error) if self.lenient && error.is_local() => load.note_damage(error),
            Err(error) => {
                self.failure = Some(error);
                return Err(E::custom("the row is refused"));
            }
            Ok(()) => {}
        }
        Ok(true)
    }

    /// Takes an element of an array.
    fn element<E: serde::de::Error>(&mut self, list: &str, text: String) -> Result<(), E> {
        let is_named = self.names.fixed && self.names.keys.contains(list);
        let key = if is_named { list } else { PREFIX };
        self.row(&[(key.to_owned(), text), (LIST.to_owned(), list.to_owned())], &[]).map(drop)
    }

    /// Takes an array of addresses, if those are rows.
    fn addresses<E: serde::de::Error>(&mut self, list: &str, all: Vec<String>) -> Result<(), E> {
        if self.taken.contains(list) {
            return all.into_iter().try_for_each(|addr| self.element(list, addr));
        }
        if self.load.is_none() && !self.muted {
            self.names.lists.entry(list.to_owned()).or_default().addresses += all.len() as u64;
        }
        Ok(())
    }

    /// Whether the first pass has found rows since a count of them.
    fn has_rows_since(&self, rows: u64) -> bool {
        self.load.is_none() && self.rows > rows
    }

    /// Keeps the scalars of the first document, which is not the whole file, or is a row.
    fn keep_file(&mut self) {
        if let Some((number, scalars)) = self.file.take() {
            self.keep(number, scalars);
        }
    }

    /// Keeps the scalars of an object with rows in it.
    fn keep(&mut self, number: u64, scalars: Vec<(String, String)>) {
        self.names.add_columns(&scalars);
        if !scalars.is_empty() {
            self.around.insert(number, scalars);
        }
    }
}

/// The text of a value.
enum Value {
    Scalar(String),
    /// An array of scalars.
    Array(String),
    /// An array of addresses.
    Addresses(Vec<String>),
    /// A prefix or range that is an object.
    Element(String),
    /// An array of rows that are prefixes or addresses.
    List,
    Other,
}

impl Value {
    /// The text of a cell.
    fn into_cell(self) -> Option<String> {
        match self {
            Self::Scalar(text) | Self::Array(text) | Self::Element(text) => Some(text),
            Self::Addresses(all) => Some(all.join(" ")),
            Self::List | Self::Other => None,
        }
    }
}

/// The place of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Document,
    Element,
    Member,
}

/// Visits a value, and the objects in it.
struct Seed<'w, 'a, 'n> {
    walk: &'w mut Walk<'a>,
    at: At,
    /// The name of the member that this value is.
    list: &'n str,
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Value, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Scalar(String::new()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let Self { walk, list, .. } = self;
        let mut text = Some(String::new());
        let (mut addresses, mut is_list, mut has_others) = (Vec::new(), list == NFT_ELEMENT, false);
        while let Some(value) =
            seq.next_element_seed(Seed { walk: &mut *walk, at: At::Element, list })?
        {
            let kind = match &value {
                Value::Element(_) => Kind::Prefix,
                Value::Scalar(one) => Kind::of(one),
                _ => Kind::Other,
            };
            let is_element = matches!(kind, Kind::Prefix | Kind::Range);
            is_list |= is_element;
            has_others |= !is_element && kind != Kind::Address;
            match (value.into_cell(), &mut text) {
                (Some(one), _) if is_element => {
                    walk.element(list, one)?;
                    text = None;
                }
                (Some(one), text) => {
                    if let Some(text) = text {
                        text.push_str(if text.is_empty() { "" } else { " " });
                        text.push_str(&one);
                    }
                    if kind == Kind::Address {
                        addresses.push(one);
                    }
                }
                (None, _) => text = None,
            }
        }
        if is_list {
            walk.names.lists.entry(list.to_owned()).or_default().has_prefixes |= !walk.muted;
            addresses.into_iter().try_for_each(|addr| walk.element(list, addr))?;
            return Ok(Value::List);
        }
        Ok(match text {
            _ if !has_others && !addresses.is_empty() => Value::Addresses(addresses),
            Some(text) => Value::Array(text),
            None => Value::Other,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Self { walk, at, list } = self;
        let (number, rows, muted) = (walk.objects, walk.rows, walk.muted);
        walk.objects += 1;
        walk.open.push(number);
        let mut members = Vec::new();
        let end = loop {
            let name = match map.next_key::<String>() {
                Ok(Some(name)) => name,
                end => break end.map(drop),
            };
            walk.muted = muted || walk.replaced.contains(&(number, members.len()));
            match map.next_value_seed(Seed { walk: &mut *walk, at: At::Member, list: &name }) {
                Ok(value) => members.push((name, value)),
                Err(error) => break Err(error),
            }
        };
        walk.muted = muted;
        walk.open.pop();
        last_of_each_name(&mut members, |at| walk.replaced.extend([(number, at)]));
        // A lenient load takes the rows before the damage, with the scalars before it.
        if walk.has_rows_since(rows) {
            let is_whole = number == 0 && at == At::Document && end.is_ok();
            let is_file = is_whole && !has_rows(&members, &walk.taken);
            match is_file {
                true => walk.file = Some((number, scalars(&members))),
                false => walk.keep(number, scalars(&members)),
            }
        }
        end?;
        if let Some(element) = nft_element(&members) {
            return Ok(Value::Element(element));
        }
        let lists: Vec<_> = members.iter().filter_map(addresses).collect();
        let has_rows = has_rows(&members, &walk.taken);
        let around = if has_rows { scalars(&members) } else { Vec::new() };
        let cell = |(name, value): (String, Value)| Some((name, value.into_cell()?));
        let mut object: Vec<_> = members.into_iter().filter_map(cell).collect();
        add_origin(&mut object);
        let is_row = at != At::Member || list == NFT_ELEMENT;
        if is_row && walk.row(&object, &lists)? {
            walk.keep_file();
            return Ok(Value::Other);
        }
        walk.open.push(number);
        lists.into_iter().try_for_each(|(name, all)| walk.addresses(&name, all))?;
        walk.open.pop();
        if walk.has_rows_since(rows) {
            walk.keep(number, around);
        }
        Ok(Value::Other)
    }
}

/// The members that are scalars.
fn scalars(members: &[(String, Value)]) -> Vec<(String, String)> {
    let scalar = |(name, value): &(String, Value)| match value {
        Value::Scalar(text) => Some((name.clone(), text.clone())),
        _ => None,
    };
    members.iter().filter_map(scalar).collect()
}

/// Whether a member is an array of prefixes or addresses that are rows.
fn has_rows(members: &[(String, Value)], taken: &HashSet<String>) -> bool {
    members.iter().any(|(name, value)| match value {
        Value::List => true,
        Value::Addresses(_) => taken.contains(name),
        _ => false,
    })
}

/// The addresses of a member that is an array of them.
fn addresses((name, value): &(String, Value)) -> Option<(String, Vec<String>)> {
    match value {
        Value::Addresses(all) => Some((name.clone(), all.clone())),
        _ => None,
    }
}

/// A prefix or a range of `nft -j`: `{"prefix": {"addr": ADDR, "len": N}}` or `{"range": [ADDR, ADDR]}`.
fn nft_element(members: &[(String, Value)]) -> Option<String> {
    match members {
        [(addr, Value::Scalar(bits)), (len, Value::Scalar(length))]
            if addr == "addr" && len == "len" && bits.parse::<IpAddr>().is_ok() =>
        {
            Some(format!("{bits}/{length}"))
        }
        [(prefix, Value::Element(text))] if prefix == "prefix" => Some(text.clone()),
        [(range, Value::Addresses(ends))] if range == "range" => match &ends[..] {
            [first, last] => Some(format!("{first}-{last}")),
            _ => None,
        },
        _ => None,
    }
}

/// Removes the members whose name a later one has too, and passes on their positions.
fn last_of_each_name(members: &mut Vec<(String, Value)>, mut replaced: impl FnMut(usize)) {
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
