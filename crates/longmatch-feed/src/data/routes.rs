//! Loading of routes: their parsers with the store as the sink.

use longmatch::table::ColumnType;
use longmatch::{IpPrefix, NextHopId};

use super::error::{DataError, shorten};
use super::names;
use super::options::DataOptions;
use super::report::DataReport;
use super::store::{Inserted, Raw, Store};
use super::types;
use crate::error::{FeedError, Place, Problem};
use crate::options::{Format, Limits, Options};
use crate::route_value::RouteValue;
use crate::routes;
use crate::sink::{Sink, SinkError};
use crate::source::Source;

/// Loads the routes of an input of this format, which may have AS paths.
pub(crate) fn load(
    source: Source<'_>,
    (format, has_paths): (Format, bool),
    options: &DataOptions,
    store: &mut Store,
    report: &mut DataReport,
) -> Result<(), FeedError> {
    let whole = |error| FeedError::at(Place::Whole, Problem::data(error));
    if !options.prefix.is_empty() {
        return Err(whole(DataError::FixedPrefix));
    }
    let default = if has_paths { RouteValue::OriginAs } else { RouteValue::NextHop };
    let value = options.value.unwrap_or(default);
    let name = value.column();
    let known = ["prefix".to_owned(), name.to_owned()];
    let kept = names::keep(options.columns.as_deref(), &known, |at| at == 1).map_err(whole)?;
    let mut columns = Vec::new();
    for (at, name) in kept {
        let own = match value {
            RouteValue::NextHop => None,
            RouteValue::OriginAs => Some(ColumnType::U64),
            _ => Some(ColumnType::String),
        };
        let ty = options.type_of(&name).or(own.filter(|_| at == 1));
        let number = store.column(&name, ty, options.input.limits).map_err(whole)?;
        if columns.iter().any(|column: &Value| column.number == number) {
            return Err(whole(longmatch::table::ColumnError::Name { name }.into()));
        }
        columns.push(Value { is_prefix: at == 0, number, name, ty });
    }
    columns.sort_unstable_by_key(|column| column.number);
    let mut sink = Rows { store, report, columns, last: None, limits: options.input.limits };
    let job = Options { format, value, ..options.input.clone() };
    let mut routes = match routes::load_source(source, &job, &mut sink) {
        Ok(routes) => routes,
        Err(FeedError { input, place, problem: Problem::Sink(error) }) => {
            let problem = match error.downcast::<DataError>() {
                Ok(error) => Problem::data(*error),
                Err(error) => Problem::Sink(error),
            };
            return Err(FeedError { input, place, problem });
        }
        Err(error) => return Err(error),
    };
    report.lines = routes.lines;
    report.bytes = routes.bytes;
    report.input_bytes = routes.input_bytes;
    report.damaged = routes.damaged;
    report.first_damage = routes.first_damage.take();
    report.cut_off = routes.cut_off;
    report.read_as = format!("routes in {}", routes.format);
    report.routes = Some(routes);
    Ok(())
}

/// A column of the store.
struct Value {
    /// Whether the column has the prefix itself.
    is_prefix: bool,
    number: u16,
    name: String,
    ty: Option<ColumnType>,
}

/// Keeps routes as rows.
struct Rows<'a> {
    store: &'a mut Store,
    report: &'a mut DataReport,
    columns: Vec<Value>,
    /// The last value and its row: adjacent routes often share it.
    last: Option<(Box<str>, NextHopId)>,
    limits: Limits,
}

impl Rows<'_> {
    fn route(&mut self, prefix: IpPrefix, value: &str) -> Result<(), DataError> {
        let id = match &self.last {
            Some((last, id)) if **last == *value => *id,
            _ => self.row(prefix, value)?,
        };
        self.report.rows += 1;
        self.report.prefixes += 1;
        self.report.replaced += u64::from(self.store.insert(prefix, id)? == Inserted::Replaced);
        Ok(())
    }

    fn row(&mut self, prefix: IpPrefix, value: &str) -> Result<NextHopId, DataError> {
        self.store.begin();
        let mut has_prefix = false;
        for Value { is_prefix, number, name, ty } in &self.columns {
            has_prefix |= is_prefix;
            let text = if *is_prefix { &*prefix.to_string() } else { "" };
            let cell = match ty {
                _ if *is_prefix => Raw::String(text),
                _ if value.is_empty() => continue,
                None => Raw::Text(value),
                Some(ty) => types::of_type(value, *ty).ok_or_else(|| DataError::Type {
                    column: name.clone(),
                    text: shorten(value),
                    ty: *ty,
                })?,
            };
            self.store.cell(*number, cell);
        }
        let id = self.store.end(self.limits)?;
        self.last = (!has_prefix).then(|| (value.into(), id));
        Ok(id)
    }
}

impl Sink for Rows<'_> {
    fn announce(&mut self, prefix: IpPrefix, next_hop: &str) -> Result<(), SinkError> {
        Ok(self.route(prefix, next_hop)?)
    }

    fn withdraw(&mut self, prefix: IpPrefix) -> Result<(), SinkError> {
        self.store.remove(prefix);
        Ok(())
    }
}
