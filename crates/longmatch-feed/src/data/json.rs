//! Prefix data in JSON: the objects of arrays, one document or several in sequence (NDJSON).
//!
//! A row is an object that is an element of an array, or a document of its own, and has a member with
//! a prefix; the columns are its other members with scalars, or arrays of scalars. So this reads
//! RIPEstat's answers, the lists of addresses that operators of clouds publish, and exports of tables. A
//! prefix that is itself the element of an array is a row with the array's name.

use std::collections::HashSet;
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
    let mut names = match &*options.prefix {
        [] => Names::default(),
        [key] => Names { fixed: true, keys: HashSet::from([key.clone()]), ..Names::default() },
        more => return Err(whole(DataError::PrefixColumns { columns: more.len() })),
    };
    let scanned = walk(bytes, &mut |object| {
        names.add(object);
        Ok(())
    });
    match scanned {
        // The second pass repeats the error after the rows before it.
        Err(_) if options.lenient => {}
        other => other?,
    }
    if names.all.is_empty() {
        return Err(whole(DataError::NoPrefixColumn { columns: names.all }));
    }
    let shape = Shape::json(&names.columns());
    let mut load = Load::new(&shape, options, store, report).map_err(whole)?;
    walk(bytes, &mut |object| {
        let Some(at) = names.key(object) else { return Ok(()) };
        match load.row(&JsonRow { object, key: at, names: &shape.names }) {
            Err(error) if options.lenient && error.is_local() => {
                load.note_damage(error);
                Ok(())
            }
            other => other,
        }
    })
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
    /// Adds the members of an object that is a row. The key is what is called a prefix; without such a
    /// name, the first member that is one.
    fn add(&mut self, object: &Object) {
        if self.key(object).is_none() {
            let is_key = |(_, value): &&(String, String)| Kind::of(value).is_key();
            let is_named = |(name, _): &&(String, String)| {
                known(name) == Some(Known::Prefix) || name.to_ascii_lowercase().contains("prefix")
            };
            let named = object.iter().filter(is_named).find(is_key);
            let found = named.or_else(|| object.iter().find(is_key));
            let Some((name, _)) = found.filter(|_| !self.fixed) else { return };
            self.keys.insert(name.clone());
        }
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
        let name = self.names.get(at);
        let member = self.object.iter().find(|(member, _)| Some(member) == name);
        member.map_or("", |(_, value)| value)
    }
}

/// Receives the objects that may be rows.
type OnObject<'a> = dyn FnMut(&Object) -> Result<(), DataError> + 'a;

/// Walks all documents. The place of an error is its line.
fn walk(bytes: &[u8], on: &mut OnObject<'_>) -> Result<(), FeedError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    while reader.end().is_err() {
        let mut failure = None;
        let seed = Seed { on, failure: &mut failure, is_row: true, list: "" };
        if let Err(error) = seed.deserialize(&mut reader) {
            let place = Place::Line(error.line() as u64);
            let error = failure.unwrap_or_else(|| DataError::Json { text: error.to_string() });
            return Err(FeedError::at(place, Problem::data(error)));
        }
    }
    Ok(())
}

/// Visits a value, and the objects in it.
struct Seed<'a, 'o> {
    on: &'a mut OnObject<'o>,
    /// The error of an object, which ends the walk.
    failure: &'a mut Option<DataError>,
    /// Whether an object here may be a row.
    is_row: bool,
    /// The name of the member that this value is.
    list: &'a str,
}

impl Seed<'_, '_> {
    fn object<E: serde::de::Error>(&mut self, object: &Object) -> Result<(), E> {
        (self.on)(object).map_err(|error| {
            *self.failure = Some(error);
            E::custom("the row is refused")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    /// The text of a scalar, or of an array of scalars.
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Option<String>, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Option<String>, E> {
        Ok(Some(String::new()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Option<String>, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Option<String>, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Option<String>, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Option<String>, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Option<String>, E> {
        Ok(Some(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Option<String>, A::Error> {
        let mut text = Some(String::new());
        loop {
            let list = self.list;
            let seed = Seed { on: self.on, failure: self.failure, is_row: true, list };
            match seq.next_element_seed(seed)? {
                None => return Ok(text),
                Some(Some(one)) if Kind::of(&one) == Kind::Prefix => {
                    let row = [("prefix".to_owned(), one), (LIST.to_owned(), list.to_owned())];
                    self.object(&row)?;
                    text = None;
                }
                Some(one) => {
                    if let (Some(text), Some(one)) = (&mut text, &one) {
                        let space = if text.is_empty() { "" } else { " " };
                        text.push_str(space);
                        text.push_str(one);
                    } else {
                        text = None;
                    }
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Option<String>, A::Error> {
        let mut object = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let seed = Seed { on: self.on, failure: self.failure, is_row: false, list: &name };
            if let Some(text) = map.next_value_seed(seed)? {
                object.push((name, text));
            }
        }
        if self.is_row {
            add_origin(&mut object);
            self.object(&object)?;
        }
        Ok(None)
    }
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
