//! Prefix data in JSON: the objects of arrays, one document or several in sequence (NDJSON).
//!
//! A row is an object that is an element of an array, or a document of its own, and has a member with
//! a prefix; the columns are its other members with scalars, or arrays of scalars. A prefix that is itself the element
//! of an array is a row with the array's name. The scalars of the objects around a row are columns too, unless an inner
//! object has the same name. So this reads RIPEstat's answers, the lists of addresses that operators of clouds publish,
//! and exports of tables.
//!
//! There are two passes: the first one keeps the scalars of objects around rows, which may come after the rows.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::DataError;
use super::key::Kind;
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
    let whole = |error| FeedError::at(Place::Whole, Problem::data(error));
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let names = match &*options.prefix {
        [] => Names::default(),
        [key] => Names { fixed: true, keys: HashSet::from([key.clone()]), ..Names::default() },
        more => return Err(whole(DataError::PrefixColumns { columns: more.len() })),
    };
    let mut first = Walk { names, lenient: options.lenient, ..Walk::default() };
    match first.documents(bytes) {
        // The second pass repeats the error after the rows before it.
        Err(_) if options.lenient => {}
        other => other?,
    }
    if first.names.all.is_empty() {
        return Err(whole(DataError::NoPrefixColumn { columns: first.names.all }));
    }
    let shape = Shape::json(&first.names.columns());
    let load = Load::new(&shape, options, store, report)?;
    let mut second = Walk { load: Some((load, &shape)), objects: 0, ..first };
    let end = second.documents(bytes);
    second.load.into_iter().for_each(|(load, _)| load.end());
    end
}

/// The members of an object that are columns: their names and values.
type Object = [(String, String)];

/// The names of the members of rows, and those of the members with prefixes.
#[derive(Default)]
struct Names {
    /// Whether the options name the key.
    fixed: bool,
    all: Vec<String>,
    seen: HashSet<String>,
    keys: HashSet<String>,
}

impl Names {
    /// Adds the members of an object if it is a row. The key is the member that is called a prefix; without such a
    /// name, the first member that is one.
    fn add(&mut self, object: &Object) -> bool {
        if self.key(object).is_none() {
            let is_key = |(_, value): &&(String, String)| Kind::of(value).is_key();
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
    fn key(&self, object: &Object) -> Option<usize> {
        object.iter().position(|(name, _)| self.keys.contains(name))
    }

    /// The names other than those of the keys.
    fn columns(&self) -> Vec<String> {
        self.all.iter().filter(|name| !self.keys.contains(*name)).cloned().collect()
    }
}

/// An object as a row: its prefix, then its columns.
struct JsonRow<'a> {
    object: &'a Object,
    key: usize,
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
    /// The number of objects so far, and those that are open, by their number.
    objects: u64,
    open: Vec<u64>,
    /// The rows of the first pass.
    rows: u64,
    /// The scalars of objects with rows in them.
    around: HashMap<u64, Vec<(String, String)>>,
    /// The members of objects whose name a later member has too: the last one counts.
    replaced: HashSet<(u64, usize)>,
    /// Whether the rows are those of such a member.
    muted: bool,
    /// The error of a row, which ends the walk.
    failure: Option<DataError>,
}

impl Walk<'_> {
    /// Walks all documents. The place of an error is its line.
    fn documents(&mut self, bytes: &[u8]) -> Result<(), FeedError> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        while reader.end().is_err() {
            let seed = Seed { walk: &mut *self, is_row: true, list: "" };
            if let Err(error) = seed.deserialize(&mut reader) {
                let place = Place::Line(error.line() as u64);
                let failure = self.failure.take();
                let error = failure.unwrap_or_else(|| DataError::Json { text: error.to_string() });
                return Err(FeedError::at(place, Problem::data(error)));
            }
        }
        Ok(())
    }

    /// Takes an object that may be a row.
    fn row<E: serde::de::Error>(&mut self, object: &Object) -> Result<(), E> {
        if self.muted {
            return Ok(());
        }
        let Some((load, shape)) = &mut self.load else {
            self.rows += u64::from(self.names.add(object));
            return Ok(());
        };
        let Some(key) = self.names.key(object) else { return Ok(()) };
        let around = self.open.iter().rev().filter_map(|number| self.around.get(number));
        let around = around.map(Vec::as_slice).collect();
        match load.row(&JsonRow { object, key, around, names: &shape.names }) {
            Err(error) if self.lenient && error.is_local() => load.note_damage(error),
            Err(error) => {
                self.failure = Some(error);
                return Err(E::custom("the row is refused"));
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Keeps the scalars of an object if it has rows in it, since a count of rows.
    fn keep(&mut self, number: u64, members: &[(String, Value)], rows: u64) {
        if self.load.is_some() || self.rows == rows {
            return;
        }
        let scalar = |(name, value): &(String, Value)| match value {
            Value::Scalar(text) => Some((name.clone(), text.clone())),
            Value::Array(_) | Value::Other => None,
        };
        let scalars: Vec<_> = members.iter().filter_map(scalar).collect();
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
    Other,
}

/// Visits a value, and the objects in it.
struct Seed<'w, 'a, 'n> {
    walk: &'w mut Walk<'a>,
    /// Whether an object here may be a row.
    is_row: bool,
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
        let mut text = Some(String::new());
        loop {
            let seed = Seed { walk: &mut *self.walk, is_row: true, list: self.list };
            match (seq.next_element_seed(seed)?, &mut text) {
                (None, _) => return Ok(text.map_or(Value::Other, Value::Array)),
                (Some(Value::Scalar(one)), _) if Kind::of(&one) == Kind::Prefix => {
                    let row = [("prefix".to_owned(), one), (LIST.to_owned(), self.list.to_owned())];
                    self.walk.row(&row)?;
                    text = None;
                }
                (Some(Value::Scalar(one) | Value::Array(one)), Some(text)) => {
                    text.push_str(if text.is_empty() { "" } else { " " });
                    text.push_str(&one);
                }
                _ => text = None,
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let walk = self.walk;
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
            match map.next_value_seed(Seed { walk: &mut *walk, is_row: false, list: &name }) {
                Ok(value) => members.push((name, value)),
                Err(error) => break Err(error),
            }
        };
        walk.muted = muted;
        walk.open.pop();
        last_of_each_name(&mut members, |at| walk.replaced.extend([(number, at)]));
        // A lenient load takes the rows before the damage, with the scalars before it.
        walk.keep(number, &members, rows);
        end?;
        if self.is_row {
            let text = |(name, value)| match value {
                Value::Scalar(text) | Value::Array(text) => Some((name, text)),
                Value::Other => None,
            };
            let mut object: Vec<_> = members.into_iter().filter_map(text).collect();
            add_origin(&mut object);
            walk.row(&object)?;
        }
        Ok(Value::Other)
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
