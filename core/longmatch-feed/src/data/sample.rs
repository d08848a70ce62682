//! The choice of the cells that hold the prefix, from the first rows of a text.
//!
//! Every column that may hold prefixes is a reading. The names of a header rank the readings, then the form of the cells.
//! If several readings are equally good and differ, the text is refused: which prefixes it has cannot be known.

use std::net::IpAddr;

use super::key::{self, CellKind, Key};
use super::names::{Known, is_aside, known};
use crate::error::{Problem, shorten};
use crate::text::is_length;

/// The first rows of a text, without the header.
pub(super) struct Sample<'a> {
    pub(super) rows: &'a [Vec<String>],
    pub(super) kinds: &'a [Vec<CellKind>],
    pub(super) names: &'a [String],
    pub(super) header: bool,
}

/// The columns with prefixes, addresses or ranges in nine of ten cells, empty ones aside; if there are none, in half
/// of the rows, so that the others are errors with a place.
pub(super) fn key_columns(kinds: &[Vec<CellKind>], width: usize) -> Vec<usize> {
    let cells = |at: usize| kinds.iter().filter_map(move |row| row.get(at));
    let keys = |at: usize| cells(at).filter(|kind| kind.is_key()).count();
    let filled = |at: usize| cells(at).filter(|kind| **kind != CellKind::Empty).count();
    let columns = || (0..width).filter(|at| keys(*at) > 0);
    let whole: Vec<_> = columns().filter(|at| 10 * keys(*at) >= 9 * filled(*at)).collect();
    match whole.is_empty() {
        true => columns().filter(|at| 2 * keys(*at) >= kinds.len()).collect(),
        false => whole,
    }
}

/// Whether two cells are an address and its prefix length or netmask.
fn length(addr: &str, length: &str, mask: bool) -> bool {
    key::with_length((addr, ""), (length, ""), mask).is_ok()
}

/// Whether an address and a netmask are those of all addresses.
fn is_default(addr: &str, mask: &str) -> bool {
    matches!(addr, "0.0.0.0" | "::") && addr == mask
}

/// Whether a text has a prefix among its words.
fn has_prefix(text: &str) -> bool {
    let is_mark = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '/'));
    text.contains('/') && text.split(is_mark).any(|word| CellKind::of(word) == CellKind::Prefix)
}

impl Sample<'_> {
    /// The cells that hold the prefix.
    pub(super) fn key(&self) -> Result<Option<Key>, Problem> {
        let whole = key_columns(self.kinds, self.names.len());
        // A name or a part of the cells shows the column; the other cells are errors with a place.
        let is_meant = |at: &usize| match self.known(*at) {
            Some(Known::Prefix | Known::First | Known::Last) => self.mentions(*at) > 0,
            _ => self.has_prefixes(*at),
        };
        let mut all: Vec<_> = (0..self.names.len()).filter(is_meant).chain(whole).collect();
        all.sort_unstable();
        all.dedup();
        let is_value = |at: &usize| {
            self.is_masks(*at) || matches!(self.known(*at), Some(Known::Length | Known::NextHop))
        };
        let mut columns = all.clone();
        columns.retain(|at| !is_value(at));
        let columns = if columns.is_empty() { all } else { columns };
        match &*columns {
            // Without any row, or with integers for addresses, the names decide.
            [] => {
                let fits = |(first, last): &(usize, usize)| {
                    self.rows.is_empty() || (self.has_ends(*first) && self.has_ends(*last))
                };
                let range = self.named_range(&columns).filter(fits);
                let key = range.map(|(first, last)| Key::Range(first, last));
                Ok(key.or_else(|| self.named(Known::Prefix, &columns).map(Key::One)))
            }
            _ if self.header => self.by_names(&columns).map(Some),
            _ => self.by_cells(&columns).map(Some),
        }
    }

    /// The kind of a column that the header shows.
    fn known(&self, at: usize) -> Option<Known> {
        self.names.get(at).filter(|_| self.header).and_then(|name| known(name))
    }

    /// The first column whose name is of this kind, if possible one of these.
    fn named(&self, kind: Known, columns: &[usize]) -> Option<usize> {
        let is_named = |at: &usize| self.known(*at) == Some(kind);
        columns.iter().copied().chain(0..self.names.len()).find(is_named)
    }

    /// The columns that the header names as the first and the last address.
    fn named_range(&self, columns: &[usize]) -> Option<(usize, usize)> {
        self.named(Known::First, columns).zip(self.named(Known::Last, columns))
    }

    /// Whether more than half of the rows have an address or an integer in a column.
    fn has_ends(&self, at: usize) -> bool {
        let cells = self.kinds.iter().filter_map(|row| row.get(at));
        let ends = cells.filter(|kind| matches!(kind, CellKind::Address | CellKind::Integer));
        2 * ends.count() > self.kinds.len()
    }

    /// Whether a tenth of the rows have a prefix with its length, or a range, in a column.
    fn has_prefixes(&self, at: usize) -> bool {
        let cells = self.kinds.iter().filter_map(|row| row.get(at));
        let prefixes =
            cells.filter(|kind| matches!(kind, CellKind::Prefix | CellKind::Range)).count();
        prefixes > 0 && 10 * prefixes >= self.kinds.len()
    }

    /// The share of the rows, in a hundred, with something like an address in a column.
    fn mentions(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        let mentions = cells.filter(|cell| key::mentions_address(cell)).count();
        (100 * mentions).div_ceil(self.rows.len().max(1))
    }

    /// Refuses hosts beside other columns with something like addresses, unless the names show another use.
    fn alone(&self, key: Key) -> Result<Key, Problem> {
        let Key::One(at) = key else { return Ok(key) };
        let is_rival = |other: &usize| {
            *other != at
                && (self.known(*other) != Some(Known::NextHop)
                    || self.known(at) == Some(Known::NextHop))
                && self.mentions(*other) >= 10
        };
        match (0..self.names.len()).find(is_rival) {
            Some(other) => Err(self.several(&[at.min(other), at.max(other)])),
            None => Ok(key),
        }
    }

    /// Whether the cells of a column are netmasks.
    fn is_masks(&self, at: usize) -> bool {
        let before = at.saturating_sub(1);
        let is_mask = |one: &str, two: &str| key::is_mask(two) || is_default(one, two);
        self.share(before, at, |one, two| at > 0 && is_mask(one, two)) >= 90
            || self.share(at, at, |_, mask| key::is_lone_mask(mask)) >= 90
    }

    /// The key by the names of the columns, of these with prefixes or addresses.
    fn by_names(&self, columns: &[usize]) -> Result<Key, Problem> {
        let is_column = |at: &usize| columns.contains(at);
        let range = self.named_range(columns);
        // Names decide, so that a damaged row is an error and does not give the others another meaning.
        let range = range.filter(|(first, last)| is_column(first) || is_column(last));
        let free = |at: &usize| range.is_none_or(|(first, last)| *at != first && *at != last);
        let columns: Vec<_> = columns.iter().copied().filter(free).collect();
        let length = (0..self.names.len()).find_map(|two| self.named_length(&columns, two));
        let mut readings: Vec<(u8, Key)> =
            range.map(|(first, last)| (2, Key::Range(first, last))).into_iter().collect();
        for at in columns {
            let name = self.known(at);
            let has_prefixes = self.has_prefixes(at);
            let by_name = u8::from(name == Some(Known::Prefix));
            match length {
                Some((one, two))
                    if one == at && (!has_prefixes || self.has_addresses_beside(at, two)) =>
                {
                    readings.push((2 + by_name, Key::Length(at, two)));
                }
                // One end of a range is not a host.
                _ if !has_prefixes && matches!(name, Some(Known::First | Known::Last)) => {}
                _ => readings.push((2 * by_name + u8::from(has_prefixes), Key::One(at))),
            }
        }
        self.best(&readings)
    }

    /// The reading of the highest rank, unless another one may be meant.
    fn best(&self, readings: &[(u8, Key)]) -> Result<Key, Problem> {
        let Some((rank, key)) = readings.iter().rev().max_by_key(|(rank, _)| *rank).copied() else {
            let end = (0..self.names.len())
                .find(|at| matches!(self.known(*at), Some(Known::First | Known::Last)));
            let column = end.map_or(String::new(), |at| self.names[at].clone());
            return Err(Problem::LoneEnd { column });
        };
        let has_prefixes = |key: Key| !matches!(key, Key::One(at) if !self.has_prefixes(at));
        let is_rival = |(other_rank, other): &&(u8, Key)| {
            *other != key
                && !self.agree(key, *other)
                && (*other_rank == rank
                    || (has_prefixes(*other) && !has_prefixes(key))
                    || (has_prefixes(*other) == has_prefixes(key)
                        && self.families(*other) ^ self.families(key) == 0b11))
        };
        if readings.iter().any(|reading| is_rival(&reading)) {
            let mut columns: Vec<_> = readings.iter().map(|(_, key)| key.first()).collect();
            columns.sort_unstable();
            return Err(self.several(&columns));
        }
        match key {
            Key::One(at) if !has_prefixes(key) => {
                let key = self.pair_with_names(at)?;
                if self.known(at) == Some(Known::Prefix) { Ok(key) } else { self.alone(key) }
            }
            // Senders and receivers.
            Key::Range(one, two) if self.names[one].eq_ignore_ascii_case("from") => {
                let is_text = self.are_addresses(one, two) && self.rows.len() > 1;
                let are_hosts = is_text && !self.are_ranges(one, two);
                if are_hosts { Err(self.several(&[one, two])) } else { Ok(key) }
            }
            key => Ok(key),
        }
    }

    /// Whether two readings have the same prefixes.
    fn agree(&self, one: Key, other: Key) -> bool {
        let find = |row: &Vec<String>, key| {
            let cell = |at: usize| row.get(at).map_or("", |cell| cell);
            key::find(key, cell, self.names, true).ok().map(|found| key::prefixes(found).collect())
        };
        let same = |row| {
            let (one, other): (Option<Vec<_>>, _) = (find(row, one), find(row, other));
            one.is_some() && one == other
        };
        self.rows.iter().all(same)
    }

    /// The families of the addresses in the first column of a key: IPv4 is bit 0, IPv6 bit 1.
    fn families(&self, key: Key) -> u8 {
        let cells = self.rows.iter().zip(self.kinds).filter_map(|(row, kinds)| {
            row.get(key.first()).filter(|_| kinds[key.first()].is_key())
        });
        cells.fold(0, |all, cell| all | if cell.contains(':') { 2 } else { 1 })
    }

    /// The column of lengths or netmasks, by its name, and that of its addresses: the nearest one before it.
    fn named_length(&self, columns: &[usize], two: usize) -> Option<(usize, usize)> {
        if self.known(two) != Some(Known::Length) {
            return None;
        }
        let before = columns.iter().rev().find(|at| **at < two);
        let one = *before.or_else(|| columns.iter().find(|at| **at > two))?;
        let fits = self.share(one, two, |one, two| length(one, two, true));
        // The length of packets and a mask as a word are values.
        let is_word =
            |cell: &str| !cell.bytes().any(|byte| byte.is_ascii_hexdigit() || byte == b'.');
        let is_value = |cell: &str| is_word(cell) || cell.parse::<u16>().is_ok_and(|len| len > 32);
        let are_values = self.share(one, two, |_, cell| is_value(cell)) == 100
            && self.share(one, two, |_, cell| cell.parse::<u8>().is_ok_and(|len| len <= 128)) < 100;
        let is_empty = self.rows.iter().all(|row| row.get(two).is_none_or(String::is_empty));
        (fits > 0 || !(are_values || is_empty)).then_some((one, two))
    }

    /// Whether an address without a length has a cell in the other column.
    fn has_addresses_beside(&self, at: usize, two: usize) -> bool {
        let mut cells = self.kinds.iter().filter_map(|row| row.get(at).zip(row.get(two)));
        cells.any(|(one, two)| *one == CellKind::Address && *two != CellKind::Empty)
    }

    /// The key whose first cells are addresses, in a column without a known partner.
    fn pair_with_names(&self, at: usize) -> Result<Key, Problem> {
        for two in (0..self.names.len()).filter(|two| *two != at) {
            if let Some(key) = self.netmasks(at, two, 50)? {
                return Ok(key);
            }
            let name = self.known(two);
            let are_integers = self.are_integers(at, two);
            let fits = self.share(at, two, |one, two| length(one, two, false));
            // A host with a small number has host bits under it, as a rule.
            let is_network = |addr: &String| addr.ends_with(".0") || addr.ends_with("::");
            let has_networks = self.rows.iter().filter_map(|row| row.get(at)).any(is_network);
            let fits_with_host_bits =
                || self.share(at, two, |one, two| length(one, two, true)) >= 90;
            if are_integers
                && name == Some(Known::Prefix)
                && (fits > 0 || has_networks || fits_with_host_bits())
            {
                return Ok(Key::Length(at, two));
            }
            let may_be_length = fits >= 50 && has_networks;
            if are_integers
                && !is_aside(&self.names[two])
                && (may_be_length || self.share(at, two, key::is_count) >= 50)
            {
                return Err(self.unclear(at, two));
            }
            let is_range = |one: &str, two: &str| key::range(one, two).is_ok();
            if two == at + 1
                && name != Some(Known::NextHop)
                && self.are_addresses(at, two)
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
        let all = self.share(at, two, |one, mask| key::is_mask(mask) || is_default(one, mask));
        // The last address of a range may be that of hosts, too; the addresses of any host may be 0.0.0.0.
        let is_alone = self.names.len() < 3;
        let masks = self.share(at, two, |one, mask| {
            key::is_lone_mask(mask) || (is_default(one, mask) && !is_alone)
        });
        let hosts = self.share(at, two, |_, mask| mask == key::HOST);
        let wildcards = self.share(at, two, key::is_wildcard);
        // `0xffffff00`, `(/24)`
        let is_mark = |c: char| c.is_ascii_punctuation() && c != '/';
        let is_hidden = |cell: &str| {
            let length = cell.trim_matches(is_mark);
            key::is_hex_mask(cell) || (length.len() < cell.len() && is_length(length))
        };
        if self.share(at, two, |_, cell| is_hidden(cell)) >= 50 {
            return Err(self.unclear(at, two));
        }
        let is_certain = masks > 0 || (self.header && hosts == 100);
        match all {
            100 if is_certain && self.share(at, two, |one, two| length(one, two, false)) == 100 => {
                Ok(Some(Key::Length(at, two)))
            }
            // Without names host bits, or a damaged row among many, are errors of their lines.
            90.. if !self.header && masks.max(hosts) > 0 => Ok(Some(Key::Length(at, two))),
            _ if masks.max(wildcards) < least => Ok(None),
            _ if masks < wildcards => Err(Problem::Wildcard { text: self.text(&[at, two]) }),
            _ => Err(self.unclear(at, two)),
        }
    }

    /// The error of two columns that may be a prefix.
    fn unclear(&self, one: usize, two: usize) -> Problem {
        let (text, columns) = self.two(one, two);
        Problem::UnclearPair { text, columns }
    }

    /// The first cells of two columns, and the columns as an option names them.
    fn two(&self, one: usize, two: usize) -> (String, String) {
        (self.text(&[one, two]), self.columns(&[one, two]).join(","))
    }

    /// The error of several columns that may have the prefixes.
    fn several(&self, columns: &[usize]) -> Problem {
        Problem::SeveralColumns { text: self.text(columns), columns: self.columns(columns) }
    }

    /// The names of columns; without a header their numbers.
    fn columns(&self, columns: &[usize]) -> Vec<String> {
        let name = |at: &usize| match self.header {
            true => self.names[*at].clone(),
            false => (at + 1).to_string(),
        };
        columns.iter().map(name).collect()
    }

    /// The cells of the first row that has the first of them.
    fn text(&self, columns: &[usize]) -> String {
        let is_full = |row: &&Vec<String>| row.get(columns[0]).is_some_and(|it| !it.is_empty());
        let row = self.rows.iter().find(is_full);
        let cells = columns.iter().filter_map(|at| row?.get(*at));
        shorten(&cells.map(|cell| &**cell).collect::<Vec<_>>().join(" "))
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

    fn are_integers(&self, one: usize, two: usize) -> bool {
        self.share(one, two, |_, cell| CellKind::of(cell) == CellKind::Integer) > 50
    }

    fn are_addresses(&self, one: usize, two: usize) -> bool {
        self.share(one, two, |_, cell| CellKind::of(cell) == CellKind::Address) > 50
    }

    /// The key without names, by the cells of these columns with prefixes or addresses.
    fn by_cells(&self, columns: &[usize]) -> Result<Key, Problem> {
        let at = columns[0];
        let is_before =
            |other: usize| other < at && self.share(at, other, |_, text| has_prefix(text)) >= 10;
        let has_prefixes = |other: &usize| self.has_prefixes(*other) || is_before(*other);
        let prefixes: Vec<_> = (0..self.names.len()).filter(has_prefixes).collect();
        match &*prefixes {
            [] => {}
            [one] if *one == at => return Ok(Key::One(at)),
            // A host before its prefix.
            [one] => return Err(self.several(&[at.min(*one), at.max(*one)])),
            several => return Err(self.several(several)),
        }
        let is_pair = columns.get(1) == Some(&(at + 1));
        match columns.len() {
            1 => self.pair_without_names(at).and_then(|key| self.alone(key)),
            2 if is_pair => self.pair_without_names(at).and_then(|key| self.alone(key)),
            _ if is_pair => Err(self.several(columns)),
            _ => match self.pair_without_names(at)? {
                key @ Key::Length(..) => Ok(key),
                _ => Err(self.several(columns)),
            },
        }
    }

    /// The key whose first cells are addresses, from the cells after them. A few rows may be damaged.
    fn pair_without_names(&self, at: usize) -> Result<Key, Problem> {
        for two in (0..self.names.len()).filter(|two| *two != at && self.is_masks(*two)) {
            if let Some(key) = self.netmasks(at, two, 10)? {
                return Ok(key);
            }
        }
        let (one, two) = (at, at + 1);
        if two >= self.names.len() {
            return Ok(Key::One(at));
        }
        if self.are_integers(one, two) {
            return self.length_without_names(one, two);
        }
        if let Some(key) = self.netmasks(one, two, 10)? {
            return Ok(key);
        }
        // A slash between white space.
        if self.share(one, two, |_, cell| cell == "/") > 0 {
            return Err(self.unclear(one, two));
        }
        if !self.are_addresses(one, two) {
            return Ok(Key::One(at));
        }
        match self.share(one, two, |one, two| key::range(one, two).is_ok()) {
            0..40 => Ok(Key::One(at)),
            // Two columns alone may be hosts and their next hops.
            90.. if self.names.len() > 2 && self.are_ranges(one, two) => Ok(Key::Range(one, two)),
            _ => {
                let (text, columns) = self.two(one, two);
                Err(Problem::RangeOrNextHop { text, columns })
            }
        }
    }

    /// The key of addresses before integers.
    fn length_without_names(&self, one: usize, two: usize) -> Result<Key, Problem> {
        // A slash before a length shows that it is one.
        let mut cells = self.rows.iter().filter_map(|row| row.get(two));
        if cells.any(|cell| is_length(cell)) {
            return Ok(Key::Length(one, two));
        }
        match self.share(one, two, |one, two| length(one, two, false)) {
            0..10 if self.share(one, two, key::is_count) >= 50 => Err(self.unclear(one, two)),
            0..10 => Ok(Key::One(one)),
            90.. if self.names.len() > 2 || self.rows.len() > 1 => Ok(Key::Length(one, two)),
            _ => {
                let (text, columns) = self.two(one, two);
                Err(Problem::LengthOrNextHop { text, columns })
            }
        }
    }

    /// Whether pairs of addresses are ranges: some follow one another, nine of ten among many; one alone is a prefix.
    fn are_ranges(&self, one: usize, two: usize) -> bool {
        let addr = |row: &Vec<String>, at: usize| row.get(at)?.parse::<IpAddr>().ok();
        let ends = self.rows.iter().filter_map(|row| addr(row, one).zip(addr(row, two)));
        let mut ends: Vec<_> = ends.collect();
        match *ends {
            [(first, last)] => super::split::prefixes(first, last).count() == 1 && first != last,
            _ if ends.len() < 8 => {
                ends.iter().all(|(first, last)| first <= last)
                    && ends.windows(2).all(|pair| pair[0].1 < pair[1].0)
            }
            _ => {
                ends.sort_unstable();
                let apart = ends.windows(2).filter(|pair| pair[0].1 < pair[1].0).count();
                10 * apart >= 9 * (ends.len() - 1)
            }
        }
    }

    /// The key in two columns that the options name.
    pub(super) fn pair(&self, one: usize, two: usize) -> Key {
        let addresses = self.kinds.iter().filter_map(|row| row.get(one));
        let addresses = addresses.filter(|kind| **kind == CellKind::Address).count();
        let is_length = match known(&self.names[two]) {
            Some(Known::Length) => true,
            Some(Known::Last) => false,
            _ => {
                let is_host =
                    |row: &Vec<String>| row.get(two).is_some_and(|cell| cell == key::HOST);
                let masks = self.share(one, two, |_, mask| key::is_mask(mask)) > 50;
                self.are_integers(one, two) || (masks && !self.rows.iter().all(is_host))
            }
        };
        match 2 * addresses > self.kinds.len() && is_length {
            true => Key::Length(one, two),
            false => Key::Range(one, two),
        }
    }
}
