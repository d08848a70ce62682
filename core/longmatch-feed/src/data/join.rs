//! Rows of other files that are joined to those of an input: the columns of the row whose key is the cell of a column.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::names;
use super::rows::{CellSyntax, RowError, Rows, check_width};
use crate::archive::{Job, archive_member};
use crate::decompress::explain;
use crate::error::{FeedError, Problem, shorten};
use crate::option_values::{Delimiter, Join};
use crate::options::Options;
use crate::source::Source;

/// The joined files of an input, and their rows for the current row of it.
#[derive(Clone)]
pub(crate) struct Joins {
    /// The number of the input's own columns; those of the files follow.
    own: usize,
    files: Vec<Joined>,
    /// Where the cells of each file's row begin.
    found: Vec<Option<usize>>,
}

#[derive(Clone)]
struct Joined {
    /// The column with the key, and the first one of the file.
    at: usize,
    first: usize,
    rows: Rc<Side>,
    /// The cells of the column that no row of the file has.
    missing: HashSet<Box<str>>,
}

impl Joins {
    /// Reads the files that the options name, and adds their columns, other than the keys, to the names of the input's.
    /// A name that there is already gets a number.
    pub(crate) fn new(options: &Options, names: &mut Vec<String>) -> Result<Self, FeedError> {
        let whole = FeedError::whole;
        let own = names.len();
        let mut files = Vec::new();
        for join in &options.joins {
            let at = names::resolve(&join.column, names).map_err(whole)?;
            let name = join.path.display().to_string();
            // A lenient load needs the whole file, too: otherwise cells would be empty without a word.
            let refused = |FeedError { place, problem, .. }| {
                FeedError::at(place, Problem::Join(Box::new(problem))).named(Some(&name))
            };
            let rows = Side::read(join, options).map_err(refused)?;
            let first = names.len();
            names.extend_from_slice(&rows.names);
            *names = names::of_header(names);
            files.push(Joined { at, first, rows: Rc::new(rows), missing: HashSet::new() });
        }
        if names.len() > options.limits.columns {
            return Err(whole(Problem::TooManyColumns { limit: options.limits.columns }));
        }
        Ok(Self { own, files, found: Vec::new() })
    }

    /// Whether a column has the keys of a file.
    pub(crate) fn has(&self, at: usize) -> bool {
        self.files.iter().any(|file| file.at == at)
    }

    /// Finds the rows for a row of the input with these cells.
    #[inline]
    pub(crate) fn find<S: AsRef<str>>(&mut self, cell: impl Fn(usize) -> S) {
        self.found.clear();
        for number in 0..self.files.len() {
            let file = &self.files[number];
            let own;
            let key = if self.is_joined(file.at) {
                self.cell(file.at)
            } else {
                own = cell(file.at);
                own.as_ref()
            };
            let found = file.rows.starts.get(key).map(|(start, _)| *start);
            if found.is_none() && !key.is_empty() && !file.missing.contains(key) {
                let key = key.into();
                self.files[number].missing.insert(key);
            }
            self.found.push(found);
        }
    }

    /// The number of distinct cells that no row of a file has.
    pub(crate) fn missing(&self) -> u64 {
        self.files.iter().map(|file| file.missing.len() as u64).sum()
    }

    /// The cell of a file's column, for the row that was found last; empty without one.
    pub(crate) fn cell(&self, at: usize) -> &str {
        let mut files = self.files.iter().zip(&self.found);
        let file = files.rfind(|(file, _)| file.first <= at);
        let start = file.and_then(|(file, start)| Some((file, (*start)? + at - file.first)));
        start.map_or("", |(file, cell)| file.rows.cell(cell))
    }

    /// Whether a column is that of a file.
    #[inline]
    pub(crate) fn is_joined(&self, at: usize) -> bool {
        at >= self.own
    }
}

/// The rows of a joined file.
struct Side {
    /// The columns other than the key.
    names: Vec<String>,
    /// The cells of all rows in sequence, and their ends.
    text: String,
    ends: Vec<usize>,
    /// The first cell of the row with a key, and the row's line.
    starts: HashMap<Box<str>, (usize, u64)>,
}

impl Side {
    fn read(join: &Join, options: &Options) -> Result<Self, FeedError> {
        let whole = FeedError::whole;
        let limits = options.limits;
        let path = &*join.path;
        let (path, member) =
            archive_member(path).map_or((path, None), |(file, member)| (file, Some(member)));
        let plain = Options { limits, ..Options::default() };
        let mut opened = Job::new(Source::Path(path), member, &plain).open()?;
        opened.input.fill(limits.line);
        let cells = CellSyntax::Delimited(delimiter(opened.input.window()));
        let mut rows = Rows::new(opened.input, cells, false, limits.row);
        let mut side = Self {
            names: Vec::new(),
            text: String::new(),
            ends: Vec::new(),
            starts: HashMap::new(),
        };
        let mut key = None;
        loop {
            match rows.next() {
                Ok(true) => {}
                Ok(false) if key.is_some() => return Ok(side),
                Ok(false) => return Err(whole(no_key(join, Vec::new()))),
                Err(RowError::Row(error)) => return Err(error),
                Err(RowError::Io(error)) => {
                    let received = rows.lines().input().received();
                    return Err(FeedError::byte(received, explain(error, opened.codec)));
                }
            }
            let Some(key) = key else {
                let header: Vec<_> = (0..rows.len()).map(|at| rows.cell(at).to_owned()).collect();
                side.names = names::of_header(&header);
                let at = side.names.iter().position(|name| *name == join.key);
                let at = at.ok_or_else(|| whole(no_key(join, side.names.clone())))?;
                side.names.remove(at);
                key = Some(at);
                continue;
            };
            side.add(&rows, key).map_err(|error| rows.error(error))?;
            let bytes = side.text.len() + 8 * side.ends.len() + 64 * side.starts.len();
            if bytes as u64 > limits.rows {
                return Err(whole(Problem::TooManyRows { limit: limits.rows }));
            }
        }
    }

    /// Adds a row. One without a key joins nothing.
    fn add(&mut self, rows: &Rows<'_>, key: usize) -> Result<(), Problem> {
        let columns = self.names.len() + 1;
        check_width(rows.len(), columns, |at| rows.cell(at))?;
        let (text, line) = (rows.cell(key), rows.number());
        if text.is_empty() {
            return Ok(());
        }
        match self.starts.entry(text.into()) {
            Entry::Occupied(first) => {
                let first = first.get().1;
                return Err(Problem::JoinKey { text: shorten(text), first });
            }
            Entry::Vacant(new) => new.insert((self.ends.len(), line)),
        };
        for at in (0..columns).filter(|at| *at != key) {
            self.text.push_str(rows.cell(at));
            self.ends.push(self.text.len());
        }
        Ok(())
    }

    fn cell(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }
}

/// The error of a file whose header does not name the key.
fn no_key(join: &Join, columns: Vec<String>) -> Problem {
    Problem::NoJoinKey { key: join.key.clone(), columns }
}

/// The delimiter that the first line has most of.
fn delimiter(head: &[u8]) -> Delimiter {
    let lines = head.split(|byte| *byte == b'\n');
    let first = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with(b"#"));
    let count = |byte: u8| memchr::memchr_iter(byte, first.unwrap_or_default()).count();
    let all = [b'|', b';', b'\t', b','];
    Delimiter::Byte(all.into_iter().max_by_key(|byte| count(*byte)).unwrap_or(b','))
}
