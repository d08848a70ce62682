//! The shape of text: how rows are divided, which cells hold the prefix, and the columns' names.

use std::fmt;
use std::net::IpAddr;

use super::key::{self, Key, Kind};
use super::names::{self, Known, known};
use super::rows::Cells;
use crate::error::Problem;
use crate::formats::Format;
use crate::option_values::Delimiter;
use crate::options::Options;
use crate::text::is_length;

/// The shape of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) format: Format,
    pub(crate) cells: Cells,
    /// Whether lines that begin with a semicolon are comments.
    pub(crate) semicolons: bool,
    pub(crate) header: bool,
    pub(crate) key: Key,
    /// The names of all columns, those of the prefix included.
    pub(crate) names: Vec<String>,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.format, self.cells) {
            (Format::Csv, Cells::Delimited(delimiter)) => {
                let header = if self.header { "with" } else { "without" };
                let key = match self.key {
                    Key::Range(..) => " of ranges",
                    Key::Length(..) => " of addresses and lengths",
                    Key::One(_) => "",
                };
                write!(f, "text{key} with the delimiter {delimiter}, {header} a header")
            }
            (Format::List, _) => f.write_str("a list of prefixes"),
            (Format::Text, _) => f.write_str("prefixes with a text each"),
            (format, _) => format.fmt(f),
        }
    }
}

impl Shape {
    /// The shape of a list of prefixes.
    pub(crate) fn list(semicolons: bool) -> Self {
        let names = vec!["prefix".to_owned()];
        let key = Key::One(0);
        Self { format: Format::List, cells: Cells::One, semicolons, header: false, key, names }
    }

    /// Whether all rows are prefixes alone.
    pub(crate) fn is_list(&self) -> bool {
        self.cells == Cells::One
    }

    /// The shape of words separated by white space.
    pub(crate) fn words(format: Format, key: Key, names: &[&str]) -> Self {
        Self {
            format,
            cells: Cells::Delimited(Delimiter::Whitespace),
            semicolons: true,
            header: false,
            key,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// The shape of prefixes with the rest of the line as their value.
    pub(crate) fn texts(semicolons: bool) -> Self {
        let names = vec!["prefix".to_owned(), "value".to_owned()];
        Self { cells: Cells::Rest, names, format: Format::Text, ..Self::list(semicolons) }
    }

    /// The shape of objects with a prefix and these columns.
    pub(crate) fn json(columns: &[String]) -> Self {
        let mut shape = Self { format: Format::Json, ..Self::list(false) };
        shape.names.extend_from_slice(columns);
        shape
    }

    /// The shape of a listing.
    pub(crate) fn listing(format: Format) -> Self {
        let columns = format.listing().map_or(&[][..], |listing| listing.columns);
        let names = columns.iter().map(|name| (*name).to_owned()).collect();
        Self { cells: Cells::Listing(format), names, format, ..Self::list(false) }
    }

    /// The shape of rows that are divided into cells already.
    pub(crate) fn of_rows(
        rows: &[Vec<String>],
        cells: Cells,
        semicolons: bool,
        options: &Options,
    ) -> Result<Self, Problem> {
        let Some(first) = rows.first() else {
            return Ok(Self::list(semicolons));
        };
        let kinds: Vec<Vec<Kind>> =
            rows.iter().map(|row| row.iter().map(|cell| Kind::of(cell)).collect()).collect();
        let header = options.header.unwrap_or_else(|| is_header(rows, &kinds));
        let names = if header {
            names::of_header(first)
        } else {
            (0..first.len()).map(names::numbered).collect()
        };
        let skip = usize::from(header);
        let sample = Sample { rows: &rows[skip..], kinds: &kinds[skip..], names: &names, header };
        let key = match &*options.prefix {
            [] => {
                sample.key()?.ok_or_else(|| Problem::NoPrefixColumn { columns: names.clone() })?
            }
            [one] => Key::One(names::resolve(one, &names)?),
            [one, two] => sample.pair(names::resolve(one, &names)?, names::resolve(two, &names)?),
            more => return Err(Problem::PrefixColumns { columns: more.len() }),
        };
        let mut shape = Self { format: Format::Csv, cells, semicolons, header, key, names };
        if !header {
            shape.name_known(rows, &kinds);
        }
        Ok(shape)
    }

    /// Names the columns of well-known files without a header.
    fn name_known(&mut self, rows: &[Vec<String>], kinds: &[Vec<Kind>]) {
        let width = self.names.len();
        let numbers = |at: usize| is_all(kinds, at, |kind| kind == Kind::Integer);
        let known: &[&str] = match (self.key, width) {
            (Key::Range(0, 1), 5) if numbers(2) => {
                &["start", "end", "asn", "country", "description"]
            }
            (Key::Length(0, 1), 3) => {
                self.format = Format::Pfx2As;
                &["address", "length", "asn"]
            }
            (Key::One(0), 4 | 5) if is_geofeed(rows) => {
                &["prefix", "country", "region", "city", "postal_code"][..width]
            }
            (Key::One(0), 2) if self.semicolons && numbers(1) => {
                self.format = Format::PyAsn;
                &["prefix", "asn"]
            }
            _ => return,
        };
        self.names = known.iter().map(|name| (*name).to_owned()).collect();
    }
}

/// Whether rows are a geofeed (RFC 8805): a country's code of two letters, and a region of it such as `US-AL`.
fn is_geofeed(rows: &[Vec<String>]) -> bool {
    let cell = |row: &'_ Vec<String>, at: usize| row.get(at).cloned().unwrap_or_default();
    let fits = |row: &Vec<String>| {
        let (country, region) = (cell(row, 1), cell(row, 2));
        let is_code = country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_within =
            region.split_once('-').is_some_and(|(of, _)| of.eq_ignore_ascii_case(&country));
        (country.is_empty() || is_code) && (region.is_empty() || is_within)
    };
    rows.iter().all(fits) && rows.iter().any(|row| !cell(row, 1).is_empty())
}

/// Whether the cells of a column are of a kind, empty ones aside.
fn is_all(kinds: &[Vec<Kind>], at: usize, is: impl Fn(Kind) -> bool) -> bool {
    let mut cells = kinds.iter().filter_map(|row| row.get(at)).filter(|kind| **kind != Kind::Empty);
    let first = cells.next();
    first.is_some_and(|kind| is(*kind)) && cells.all(|kind| is(*kind))
}

/// Whether more than half of the rows have a cell of a kind in a column.
fn is_most(kinds: &[Vec<Kind>], at: usize, is: impl Fn(Kind) -> bool) -> bool {
    let cells = kinds.iter().filter_map(|row| row.get(at));
    2 * cells.filter(|kind| is(**kind)).count() > kinds.len()
}

/// Whether the first row has names: whether a later row has addresses where it has other text, or, if
/// no row has addresses, whether it has no numbers.
fn is_header(rows: &[Vec<String>], kinds: &[Vec<Kind>]) -> bool {
    let (Some(row), Some((first, later))) = (rows.first(), kinds.split_first()) else {
        return false;
    };
    match key_column(later, first.len(), |_| true) {
        Some(at) => !first[at].is_key() && !row.iter().any(|cell| resembles_key(cell)),
        None if later.is_empty() => !first.iter().any(|kind| kind.is_key()),
        None => !first.iter().any(|kind| kind.is_key() || *kind == Kind::Integer),
    }
}

/// Whether a cell is meant to be an address or a prefix, right or not.
pub(crate) fn resembles_key(cell: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':' | b'/' | b'-');
    cell.bytes().all(known)
        && cell.contains(['.', ':', '/'])
        && cell.bytes().any(|byte| byte.is_ascii_digit())
}

/// The first of some columns whose cells are all prefixes, addresses or ranges; else the first where half of
/// them are, so that the others are errors with a place.
fn key_column(kinds: &[Vec<Kind>], width: usize, is: impl Fn(usize) -> bool) -> Option<usize> {
    let columns = || (0..width).filter(|at| is(*at));
    if let Some(all) = columns().find(|at| is_all(kinds, *at, Kind::is_key)) {
        return Some(all);
    }
    columns().find(|at| {
        let cells = kinds.iter().filter_map(|row| row.get(*at));
        let keys = cells.filter(|kind| kind.is_key()).count();
        keys > 0 && 2 * keys >= kinds.len()
    })
}

/// Whether two cells are an address and its prefix length or netmask.
fn length(addr: &str, length: &str, mask: bool) -> bool {
    key::with_length((addr, ""), (length, ""), mask).is_ok()
}

/// The first rows of a text, without the header.
struct Sample<'a> {
    rows: &'a [Vec<String>],
    kinds: &'a [Vec<Kind>],
    names: &'a [String],
    header: bool,
}

impl Sample<'_> {
    /// The first column whose name is of this kind.
    fn named(&self, kind: Known) -> Option<usize> {
        let mut names = if self.header { self.names } else { &[] }.iter();
        names.position(|name| known(name) == Some(kind))
    }

    /// The cells that hold the prefix.
    fn key(&self) -> Result<Option<Key>, Problem> {
        let range = self.named(Known::First).zip(self.named(Known::Last));
        let length = self.named(Known::Length);
        let is_bound = |kind| matches!(kind, Kind::Address | Kind::Integer);
        let fits = range.is_some_and(|(first, last)| {
            is_most(self.kinds, first, is_bound) && is_most(self.kinds, last, is_bound)
        });
        let as_range = range.map(|(first, last)| Key::Range(first, last));
        let width = self.names.len();
        let is_other = |at: usize| {
            self.header && matches!(known(&self.names[at]), Some(Known::Length | Known::NextHop))
        };
        let at = key_column(self.kinds, width, |at| !is_other(at))
            .or_else(|| key_column(self.kinds, width, |_| true));
        let Some(at) = at else {
            // Without any row, or with integers for addresses, the names decide.
            let by_name = as_range.filter(|_| self.rows.is_empty() || fits);
            return Ok(by_name.or_else(|| self.named(Known::Prefix).map(Key::One)));
        };
        let is_prefix = |row: &Vec<Kind>| {
            row.get(at).is_some_and(|kind| matches!(kind, Kind::Prefix | Kind::Range))
        };
        let has_prefixes = self.kinds.iter().any(is_prefix);
        // Names decide, so that a damaged row is an error and does not give the others another meaning.
        let is_range =
            range.is_some_and(|(first, last)| at == first || at == last) || (fits && !has_prefixes);
        let named = match length.filter(|length| *length != at) {
            _ if is_range => as_range,
            length => length.map(|length| Key::Length(at, length)),
        };
        match named {
            Some(Key::Range(_, two) | Key::Length(_, two))
                if !has_prefixes || self.has_addresses_beside(at, two) =>
            {
                Ok(named)
            }
            _ if has_prefixes => Ok(Some(Key::One(at))),
            _ if self.header => self.pair_with_names(at).map(Some),
            _ => self.pair_without_names(at).map(Some),
        }
    }

    /// Whether an address without a length has a cell in the other column.
    fn has_addresses_beside(&self, at: usize, two: usize) -> bool {
        let mut cells = self.kinds.iter().filter_map(|row| row.get(at).zip(row.get(two)));
        cells.any(|(one, two)| *one == Kind::Address && *two != Kind::Empty)
    }

    /// The key whose first cells are addresses, in a column without a known partner.
    fn pair_with_names(&self, at: usize) -> Result<Key, Problem> {
        for two in (0..self.names.len()).filter(|two| *two != at) {
            if let Some(key) = self.netmasks(at, two, 50)? {
                return Ok(key);
            }
            let name = known(&self.names[two]);
            let integers = self.share(at, two, |_, cell| Kind::of(cell) == Kind::Integer) > 50;
            if integers && name == Some(Known::Prefix) {
                return Ok(Key::Length(at, two));
            }
            // A host with a small number has host bits under it, as a rule.
            let is_network = |addr: &str| addr.ends_with(".0") || addr.ends_with("::");
            let mut first = self.rows.iter().filter_map(|row| row.get(at));
            if integers
                && self.share(at, two, |one, two| length(one, two, false)) >= 50
                && first.any(|addr| is_network(addr))
            {
                return Err(self.unclear(at, two));
            }
            let is_range = |one: &str, two: &str| key::range(one, two).is_ok();
            if two == at + 1
                && name != Some(Known::NextHop)
                && self.share(at, two, |_, cell| Kind::of(cell) == Kind::Address) > 50
                && self.share(at, two, is_range) >= 90
                && self.rows.iter().any(|row| row.get(at) != row.get(two))
            {
                return Err(self.unclear(at, two));
            }
        }
        Ok(Key::One(at))
    }

    /// The key of addresses with netmasks in another column; `None` if fewer rows than this share have masks.
    fn netmasks(&self, at: usize, two: usize, least: usize) -> Result<Option<Key>, Problem> {
        let all = self.share(at, two, |_, mask| key::is_mask(mask));
        // The last address of a range may be that of hosts, too.
        let masks = self.share(at, two, |_, mask| mask != key::HOST && key::is_mask(mask));
        let wildcards = self.share(at, two, key::is_wildcard);
        match all {
            100 if masks > 0 && self.share(at, two, |one, two| length(one, two, false)) == 100 => {
                Ok(Some(Key::Length(at, two)))
            }
            // Without names host bits, or a damaged row among many, are errors of their lines.
            90.. if !self.header => Ok(Some(Key::Length(at, two))),
            _ if masks.max(wildcards) < least => Ok(None),
            _ if masks < wildcards => Err(Problem::Wildcard { text: self.text(at, two) }),
            _ => Err(self.unclear(at, two)),
        }
    }

    /// The error of two columns that may be a prefix.
    fn unclear(&self, one: usize, two: usize) -> Problem {
        let columns = match self.header {
            true => format!("{},{}", self.names[one], self.names[two]),
            false => format!("{},{}", one + 1, two + 1),
        };
        Problem::UnclearPair { text: self.text(one, two), columns }
    }

    /// The cells of the first row.
    fn text(&self, one: usize, two: usize) -> String {
        let cell = |at: usize| self.rows.first().and_then(|row| row.get(at)).map_or("", |it| it);
        format!("{} {}", cell(one), cell(two))
    }

    /// The rows whose cells fit together, in a hundred of those in which the second is not empty; 0 if nearly all
    /// are empty.
    fn share(&self, one: usize, two: usize, fit: impl Fn(&str, &str) -> bool) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(one).zip(row.get(two)));
        let cells: Vec<_> = cells.filter(|(_, two)| !two.is_empty()).collect();
        if 10 * cells.len() < self.rows.len() {
            return 0;
        }
        100 * cells.iter().filter(|(one, two)| fit(one, two)).count() / cells.len().max(1)
    }

    /// The key whose first cells are addresses, from the cells after them. A few rows may be damaged.
    fn pair_without_names(&self, at: usize) -> Result<Key, Problem> {
        let (one, two) = (at, at + 1);
        if two >= self.names.len() {
            return Ok(Key::One(at));
        }
        if self.share(one, two, |_, cell| Kind::of(cell) == Kind::Integer) > 50 {
            // A slash before a length shows that it is one.
            let mut cells = self.rows.iter().filter_map(|row| row.get(two));
            if cells.any(|cell| is_length(cell)) {
                return Ok(Key::Length(one, two));
            }
            return match self.share(one, two, |one, two| length(one, two, false)) {
                0..10 => Ok(Key::One(at)),
                90.. if self.names.len() > 2 || self.rows.len() > 1 => Ok(Key::Length(one, two)),
                _ => Err(Problem::LengthOrNextHop { text: self.text(one, two) }),
            };
        }
        if let Some(key) = self.netmasks(one, two, 10)? {
            return Ok(key);
        }
        if self.share(one, two, |_, cell| Kind::of(cell) == Kind::Address) <= 50 {
            return Ok(Key::One(at));
        }
        match self.share(one, two, |one, two| key::range(one, two).is_ok()) {
            0..40 => Ok(Key::One(at)),
            // Two columns alone may be hosts and their next hops.
            90.. if self.names.len() > 2 && (self.follow(one, two) || self.rows.len() >= 8) => {
                Ok(Key::Range(one, two))
            }
            _ => Err(Problem::RangeOrNextHop { text: self.text(one, two) }),
        }
    }

    /// Whether the ranges of all rows follow one another.
    fn follow(&self, one: usize, two: usize) -> bool {
        let mut last = None;
        self.rows.iter().all(|row| {
            let addr = |at: usize| row.get(at).and_then(|cell| cell.parse::<IpAddr>().ok());
            let (first, end) = (addr(one), addr(two));
            std::mem::replace(&mut last, end) < first && first <= end
        })
    }

    /// The key in two columns that the options name.
    fn pair(&self, one: usize, two: usize) -> Key {
        let addresses = is_most(self.kinds, one, |kind| kind == Kind::Address);
        let is_length = match known(&self.names[two]) {
            Some(Known::Length) => true,
            Some(Known::Last) => false,
            _ => {
                let is_host =
                    |row: &Vec<String>| row.get(two).is_some_and(|cell| cell == key::HOST);
                let masks = self.share(one, two, |_, mask| key::is_mask(mask)) > 50;
                self.share(one, two, |_, cell| Kind::of(cell) == Kind::Integer) > 50
                    || (masks && !self.rows.iter().all(is_host))
            }
        };
        match addresses && is_length {
            true => Key::Length(one, two),
            false => Key::Range(one, two),
        }
    }
}
