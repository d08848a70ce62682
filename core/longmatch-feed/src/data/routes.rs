//! Routes as rows: the store as a sink.

use std::borrow::Cow;

use longmatch::table::ColumnType;
use longmatch::{IpPrefix, NextHopId};

use super::join::Joins;
use super::key::Found;
use super::names;
use super::store::Store;
use super::types;
use crate::error::{FeedError, Problem};
use crate::options::{Limits, Options};
use crate::route_value::RouteValue;
use crate::sink::{Sink, SinkError};

/// A column of the store.
struct KeptColumn {
    /// The position among the prefix, the value and the columns of joined files.
    at: usize,
    number: u16,
    name: String,
    ty: Option<ColumnType>,
}

/// The names of the columns of routes with this value.
pub(crate) fn names(value: RouteValue) -> Vec<String> {
    vec!["prefix".to_owned(), value.column().to_owned()]
}

/// The cell of one of these columns.
pub(crate) fn cell(at: usize, prefix: IpPrefix, value: &str) -> Cow<'_, str> {
    if at == 0 { prefix.to_string().into() } else { value.into() }
}

/// The columns to keep, by their numbers.
fn columns(
    store: &mut Store,
    options: &Options,
    value: RouteValue,
    known: &[String],
) -> Result<Vec<KeptColumn>, Problem> {
    let mut columns = Vec::new();
    for (at, name) in names::keep(options.columns.as_deref(), known, |at| at > 0)? {
        // A next hop stays as it is written, also if all are numbers.
        let own = match (at, value) {
            (1, RouteValue::OriginAs) => Some(ColumnType::U64),
            (0 | 1, _) => Some(ColumnType::String),
            _ => None,
        };
        let ty = options.type_of(&name).or(own);
        let number = store.column(&name, ty, options.limits)?;
        if columns.iter().any(|column: &KeptColumn| column.number == number) {
            return Err(longmatch::table::ColumnError::Name { name }.into());
        }
        columns.push(KeptColumn { at, number, name, ty });
    }
    columns.sort_unstable_by_key(|column| column.number);
    Ok(columns)
}

/// Keeps routes as rows.
pub(crate) struct RouteRows<'a> {
    store: &'a mut Store,
    joins: Joins,
    columns: Vec<KeptColumn>,
    /// Whether the row of a value depends on its prefix.
    has_prefix: bool,
    /// The last value and its row: adjacent routes often share it.
    last: Option<(Box<str>, NextHopId)>,
    limits: Limits,
}

impl<'a> RouteRows<'a> {
    /// Routes with a value, and the columns of joined files.
    pub(crate) fn new(
        store: &'a mut Store,
        options: &Options,
        value: RouteValue,
        names: &[String],
        joins: Joins,
    ) -> Result<Self, FeedError> {
        let columns = columns(store, options, value, names).map_err(FeedError::whole)?;
        let has_prefix = joins.has(0) || columns.iter().any(|column| column.at == 0);
        Ok(Self { store, joins, columns, has_prefix, last: None, limits: options.limits })
    }

    /// Distinct keys that no joined file has.
    pub(crate) fn unjoined(&self) -> u64 {
        self.joins.missing()
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
        self.joins.find(|at| cell(at, prefix, value));
        self.store.begin();
        for KeptColumn { at, number, name, ty } in &self.columns {
            let text = match self.joins.is_joined(*at) {
                true => self.joins.cell(*at).into(),
                false => cell(*at, prefix, value),
            };
            if let Some(cell) = types::cell(&text, *ty, name)? {
                self.store.cell(*number, cell);
            }
        }
        let id = self.store.end(self.limits)?;
        self.last = (!self.has_prefix).then(|| (value.into(), id));
        Ok(id)
    }
}

impl Sink for RouteRows<'_> {
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
