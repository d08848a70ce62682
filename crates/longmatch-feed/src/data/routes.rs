//! Routes as rows: the store as a sink.

use longmatch::table::ColumnType;
use longmatch::{IpPrefix, NextHopId};

use super::key::Found;
use super::names;
use super::store::{Raw, Store};
use super::types;
use crate::error::{FeedError, Problem};
use crate::options::{Limits, Options};
use crate::route_value::RouteValue;
use crate::sink::{Sink, SinkError};

/// A column of the store.
struct Value {
    /// Whether the column has the prefix itself.
    is_prefix: bool,
    number: u16,
    name: String,
    ty: Option<ColumnType>,
}

/// The columns to keep, by their numbers.
fn columns(store: &mut Store, options: &Options, value: RouteValue) -> Result<Vec<Value>, Problem> {
    let known = ["prefix".to_owned(), value.column().to_owned()];
    let mut columns = Vec::new();
    for (at, name) in names::keep(options.columns.as_deref(), &known, |at| at == 1)? {
        // A next hop stays as it is written, also if all are numbers.
        let own = match value {
            RouteValue::OriginAs => ColumnType::U64,
            _ => ColumnType::String,
        };
        let ty = options.type_of(&name).or(Some(own).filter(|_| at == 1));
        let number = store.column(&name, ty, options.limits)?;
        if columns.iter().any(|column: &Value| column.number == number) {
            return Err(longmatch::table::ColumnError::Name { name }.into());
        }
        columns.push(Value { is_prefix: at == 0, number, name, ty });
    }
    columns.sort_unstable_by_key(|column| column.number);
    Ok(columns)
}

/// Keeps routes as rows.
pub(crate) struct Routes<'a> {
    store: &'a mut Store,
    value: RouteValue,
    columns: Vec<Value>,
    /// The last value and its row: adjacent routes often share it.
    last: Option<(Box<str>, NextHopId)>,
    limits: Limits,
}

impl<'a> Routes<'a> {
    /// Routes that may have AS paths.
    pub(crate) fn new(
        store: &'a mut Store,
        options: &Options,
        has_paths: bool,
    ) -> Result<Self, FeedError> {
        let default = if has_paths { RouteValue::OriginAs } else { RouteValue::NextHop };
        let value = options.value.unwrap_or(default);
        let columns = columns(store, options, value).map_err(FeedError::whole)?;
        Ok(Self { store, value, columns, last: None, limits: options.limits })
    }

    /// The value of the routes.
    pub(crate) fn value(&self) -> RouteValue {
        self.value
    }

    fn route(&mut self, prefix: IpPrefix, value: &str) -> Result<(), Problem> {
        if self.store.is_set() {
            self.store.add(Found::Prefix(prefix));
            return Ok(());
        }
        let id = match &self.last {
            Some((last, id)) if **last == *value => *id,
            _ => self.row(prefix, value)?,
        };
        self.store.replace(prefix, id)
    }

    fn row(&mut self, prefix: IpPrefix, value: &str) -> Result<NextHopId, Problem> {
        self.store.begin();
        let mut has_prefix = false;
        for Value { is_prefix, number, name, ty } in &self.columns {
            has_prefix |= is_prefix;
            let text = if *is_prefix { &*prefix.to_string() } else { "" };
            let cell = match ty {
                _ if *is_prefix => Raw::String(text),
                _ if value.is_empty() => continue,
                None => Raw::Text(value),
                Some(ty) => {
                    types::of_type(value, *ty).ok_or_else(|| Problem::of_type(name, value, *ty))?
                }
            };
            self.store.cell(*number, cell);
        }
        let id = self.store.end(self.limits)?;
        self.last = (!has_prefix).then(|| (value.into(), id));
        Ok(id)
    }
}

impl Sink for Routes<'_> {
    fn announce(&mut self, prefix: IpPrefix, next_hop: &str) -> Result<(), SinkError> {
        Ok(self.route(prefix, next_hop)?)
    }

    fn withdraw(&mut self, prefix: IpPrefix) -> Result<(), SinkError> {
        if self.store.is_set() {
            return Err(Problem::Updates.into());
        }
        self.store.remove(prefix);
        Ok(())
    }
}
