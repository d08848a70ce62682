//! Lines of JSON: where fields are, and where the object ends, without a tree.
//!
//! Brackets and strings are checked, and the members of the objects that paths lead through; the
//! spelling of numbers and of other values is not. Of equal keys the last counts.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use memchr::memchr2;

/// The deepest nesting, the same as that of the crate `serde_json`.
const MAX_DEPTH: usize = 127;
/// The greatest number of paths that are looked for at once.
pub const MAX_PATHS: usize = 64;

/// The path of a field: the keys that lead to it.
///
/// A member whose key has the dots of a path, such as `"src.ip"`, is found by the path `src.ip` too.
///
/// ```
/// use longmatch_feed::scan::ndjson::Path;
/// assert_eq!(Path::new("src.ip").keys(), ["src", "ip"]);
/// assert_eq!(Path::new(r"src\.ip").keys(), ["src.ip"]);
/// assert_eq!(Path::new("answers[].ip").keys(), ["answers", "ip"]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    keys: Vec<String>,
    /// For each key, whether its value is an array whose elements count each.
    each: Vec<bool>,
    /// For each key, it and all after it with dots between them.
    rests: Vec<String>,
}

impl Path {
    /// Parses keys with dots between them. A key that ends with `[]` leads to each element of an array. A
    /// backslash makes the next character part of the key.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (mut keys, mut each) = (vec![String::new()], vec![false]);
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            let last = keys.len() - 1;
            let rest = chars.as_str();
            match char {
                '.' => {
                    keys.push(String::new());
                    each.push(false);
                }
                '[' if rest == "]" || rest.starts_with("].") => {
                    chars.next();
                    each[last] = true;
                }
                '\\' => keys[last].extend(chars.next()),
                char => keys[last].push(char),
            }
        }
        let rests = (0..keys.len()).map(|depth| keys[depth..].join(".")).collect();
        Self { keys, each, rests }
    }

    /// The path of one key of the outermost object, dots included.
    ///
    /// ```
    /// use longmatch_feed::scan::ndjson::Path;
    /// assert_eq!(Path::of_key("src.ip").keys(), ["src.ip"]);
    /// ```
    #[must_use]
    pub fn of_key(key: &str) -> Self {
        Self { keys: vec![key.to_owned()], each: vec![false], rests: vec![key.to_owned()] }
    }

    /// The keys, from the outermost object inwards.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }
}

/// The value at the end of a path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Field {
    /// Nothing, or null.
    #[default]
    Missing,
    /// A string: the range between its quotes, and whether it has escapes.
    Text(Range<usize>, bool),
    /// A number, an array, an object, true or false.
    Other(Range<usize>),
    /// The values of a path that leads through each element of an array.
    Each(Vec<Field>),
}

/// An object that is a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// Where members can be added: after the last one.
    pub end: usize,
    /// Whether the object has no member.
    pub is_empty: bool,
    /// The paths that lead to a member, null or not: bit `n` is that of path number `n`.
    pub present: u64,
}

/// A line that is no JSON object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The position of the byte that does not fit, or the length of the line.
    pub at: usize,
    /// The form that fits.
    pub expected: &'static str,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a JSON object: expected {} at byte {}", self.expected, self.at + 1)
    }
}

impl std::error::Error for Damage {}

/// Finds fields on a line.
///
/// ```
/// use longmatch_feed::scan::ndjson::{Field, Path, scan};
/// let paths = [Path::new("src.ip")];
/// let mut fields = [Field::Missing];
/// let object = scan(br#"{"src": {"ip": "192.0.2.1"}, "n": 1}"#, &paths, &mut fields)?;
/// assert_eq!((object.end, &fields[0]), (35, &Field::Text(16..25, false)));
/// # Ok::<(), longmatch_feed::scan::ndjson::Damage>(())
/// ```
///
/// # Errors
/// If the line is not one object. `fields` then has any values.
///
/// # Panics
/// If there are more than [`MAX_PATHS`] paths, or fewer fields than paths.
pub fn scan(line: &[u8], paths: &[Path], fields: &mut [Field]) -> Result<Object, Damage> {
    assert!(paths.len() <= MAX_PATHS, "{} paths", paths.len());
    fields[..paths.len()].fill(Field::Missing);
    let active = u64::MAX.checked_shr(64 - paths.len() as u32).unwrap_or(0);
    let (ends, earlier) = ([0; MAX_PATHS], Vec::new());
    let mut scanner = Scanner { line, at: 0, paths, fields, present: 0, ends, earlier };
    scanner.space();
    let object = scanner.object(0, active)?;
    scanner.space();
    match scanner.at == line.len() {
        true => Ok(Object { present: scanner.present, ..object }),
        false => Err(scanner.damage("nothing more on the line")),
    }
}

/// Decodes the string in a range of a line that has escapes; `None` if an escape is invalid.
#[must_use]
pub fn unescape(line: &[u8], text: Range<usize>) -> Option<String> {
    serde_json::from_slice(line.get(text.start.checked_sub(1)?..=text.end)?).ok()
}

struct Scanner<'a> {
    line: &'a [u8],
    at: usize,
    paths: &'a [Path],
    fields: &'a mut [Field],
    /// As in [`Object`].
    present: u64,
    /// The depth of the key of each path's field. A key with dots means several keys, and has the depth of the first.
    ends: [u8; MAX_PATHS],
    /// Replaced fields, with their paths and depths. A field counts again when the one that replaced it is dropped.
    earlier: Vec<(usize, u8, Field)>,
}

/// Sets of paths that a key matches, as bits.
#[derive(Clone, Copy)]
struct Matching {
    /// The key is the last one.
    leaves: u64,
    /// More keys follow.
    deeper: u64,
    /// Of both, the paths that lead through each element of an array.
    each: u64,
}

impl Matching {
    const NONE: Self = Self { leaves: 0, deeper: 0, each: 0 };

    fn is_empty(self) -> bool {
        self.leaves | self.deeper == 0
    }
}

/// The numbers of the bits of a set.
#[inline]
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

impl Scanner<'_> {
    fn damage(&self, expected: &'static str) -> Damage {
        Damage { at: self.at, expected }
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.line.get(self.at) {
            self.at += 1;
        }
    }

    #[inline]
    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Damage> {
        if self.line.get(self.at) != Some(&byte) {
            return Err(self.damage(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Scans an object at a depth of the paths in the set `active`.
    fn object(&mut self, depth: usize, active: u64) -> Result<Object, Damage> {
        self.take(b'{', "'{'")?;
        let mut end = self.at;
        self.space();
        if self.line.get(self.at) == Some(&b'}') {
            self.at += 1;
            return Ok(Object { end, is_empty: true, present: 0 });
        }
        loop {
            self.space();
            let (key, escaped) = self.string()?;
            let matching = self.matching(&key, escaped, depth, active);
            self.space();
            self.take(b':', "':'")?;
            self.space();
            self.member(depth, matching)?;
            end = self.at;
            self.space();
            match self.line.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Object { end, is_empty: false, present: 0 });
                }
                _ => return Err(self.damage("',' or '}'")),
            }
        }
    }

    /// The paths of a set whose key at a depth is that of a member.
    #[inline]
    fn matching(&self, key: &Range<usize>, escaped: bool, depth: usize, active: u64) -> Matching {
        let (line, paths) = (self.line, self.paths);
        let decoded = if escaped { unescape(line, key.clone()) } else { None };
        let key = match (&decoded, escaped) {
            (Some(decoded), _) => decoded.as_bytes(),
            (None, true) => return Matching::NONE,
            (None, false) => &line[key.clone()],
        };
        let mut matching = Matching::NONE;
        for path in bits(active) {
            let Path { keys, each, rests } = &paths[path];
            let bit = 1 << path;
            if keys.get(depth).is_some_and(|wanted| wanted.as_bytes() == key) {
                let is_leaf = keys.len() == depth + 1;
                *(if is_leaf { &mut matching.leaves } else { &mut matching.deeper }) |= bit;
                matching.each |= bit * u64::from(each[depth]);
            } else if rests.get(depth).is_some_and(|rest| rest.as_bytes() == key) {
                matching.leaves |= bit;
                matching.each |= bit * u64::from(each.ends_with(&[true]));
            }
        }
        matching
    }

    /// Scans the value of a member whose key matches some paths.
    #[inline]
    fn member(&mut self, depth: usize, matching: Matching) -> Result<(), Damage> {
        if matching.is_empty() {
            return self.value().map(drop);
        }
        let end = depth as u8;
        for path in bits(matching.deeper) {
            self.forget(path, end + 1..=u8::MAX);
        }
        for path in bits(matching.leaves) {
            self.forget(path, end..=end);
            self.replace(path);
            self.ends[path] = end;
        }
        self.present |= matching.leaves;
        match self.line.get(self.at) {
            Some(b'[') if matching.each != 0 => self.elements(depth, matching),
            _ => self.found(depth, matching),
        }
    }

    /// Drops the fields of a path at these depths: an earlier member of the same key has them, and does not count.
    #[inline]
    fn forget(&mut self, path: usize, depths: RangeInclusive<u8>) {
        if self.fields[path] == Field::Missing && self.earlier.is_empty() {
            return;
        }
        self.earlier.retain(|(other, end, _)| *other != path || !depths.contains(end));
        if depths.contains(&self.ends[path]) {
            let last = self.earlier.iter().rposition(|(other, ..)| *other == path);
            let before = last.map(|place| self.earlier.remove(place));
            (_, self.ends[path], self.fields[path]) = before.unwrap_or((path, 0, Field::Missing));
        }
    }

    /// Keeps the field of a path, which another one replaces.
    #[inline]
    fn replace(&mut self, path: usize) {
        if self.fields[path] != Field::Missing {
            let field = std::mem::take(&mut self.fields[path]);
            self.earlier.push((path, self.ends[path], field));
        }
    }

    /// Scans a value that is the field of some paths, and leads to that of others.
    fn found(&mut self, depth: usize, matching: Matching) -> Result<(), Damage> {
        let start = self.at;
        let field = if self.line.get(self.at) == Some(&b'{') && matching.deeper != 0 {
            if depth + 1 >= MAX_DEPTH {
                return Err(self.damage("less nesting"));
            }
            self.object(depth + 1, matching.deeper)?;
            Field::Other(start..self.at)
        } else {
            self.value()?
        };
        for path in bits(matching.leaves) {
            self.fields[path] = field.clone();
        }
        Ok(())
    }

    /// Scans an array whose elements count each for some paths.
    fn elements(&mut self, depth: usize, matching: Matching) -> Result<(), Damage> {
        let Matching { leaves, deeper, each } = matching;
        let start = self.at;
        let mut found: Vec<(usize, Vec<Field>)> =
            bits(each).map(|path| (path, Vec::new())).collect();
        bits(each).for_each(|path| self.replace(path));
        let earlier = std::mem::take(&mut self.earlier);
        self.at += 1;
        self.space();
        let mut more = self.line.get(self.at) != Some(&b']');
        while more {
            self.space();
            self.found(depth, Matching { leaves: leaves & each, deeper: deeper & each, each })?;
            // No other element has these fields.
            self.earlier.clear();
            for (path, found) in &mut found {
                match std::mem::take(&mut self.fields[*path]) {
                    Field::Each(inner) => found.extend(inner),
                    field => found.push(field),
                }
            }
            self.space();
            more = self.line.get(self.at) == Some(&b',');
            self.at += usize::from(more);
        }
        self.take(b']', "',' or ']'")?;
        self.earlier = earlier;
        for (path, found) in found {
            self.fields[path] = Field::Each(found);
            self.ends[path] = depth as u8 + u8::from(deeper & 1 << path != 0);
        }
        for path in bits(leaves & !each) {
            self.fields[path] = Field::Other(start..self.at);
        }
        Ok(())
    }

    /// Scans a string; returns the range between its quotes and whether it has escapes.
    #[inline]
    fn string(&mut self) -> Result<(Range<usize>, bool), Damage> {
        self.take(b'"', "'\"'")?;
        let (start, mut escaped) = (self.at, false);
        loop {
            let Some(i) = memchr2(b'"', b'\\', &self.line[self.at..]) else {
                self.at = self.line.len();
                return Err(self.damage("the end of the string"));
            };
            self.at += i + 1;
            if self.line[self.at - 1] == b'"' {
                return Ok((start..self.at - 1, escaped));
            }
            escaped = true;
            // The byte after the backslash, which may be a quote.
            self.at = (self.at + 1).min(self.line.len());
        }
    }

    /// Skips a value.
    fn value(&mut self) -> Result<Field, Damage> {
        let start = self.at;
        match self.line.get(self.at) {
            Some(b'"') => {
                let (text, escaped) = self.string()?;
                return Ok(Field::Text(text, escaped));
            }
            Some(b'{' | b'[') => self.nested()?,
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => self.word(),
            _ => return Err(self.damage("a value")),
        }
        match &self.line[start..self.at] {
            b"null" => Ok(Field::Missing),
            _ => Ok(Field::Other(start..self.at)),
        }
    }

    /// Skips a number, true, false or null.
    #[inline]
    fn word(&mut self) {
        let is_end = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte);
        let rest = &self.line[self.at..];
        self.at += rest.iter().position(is_end).unwrap_or(rest.len());
    }

    /// Skips an object or an array.
    fn nested(&mut self) -> Result<(), Damage> {
        // A bit for each open bracket, the innermost lowest: 1 for an object.
        let (mut open, mut depth) = (0u128, 0);
        loop {
            match self.line.get(self.at) {
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(bracket @ (b'{' | b'[')) => {
                    if depth == MAX_DEPTH {
                        return Err(self.damage("less nesting"));
                    }
                    open = open << 1 | u128::from(*bracket == b'{');
                    depth += 1;
                }
                Some(bracket @ (b'}' | b']')) => {
                    if (open & 1 == 1) != (*bracket == b'}') {
                        return Err(self.damage("the bracket that was opened"));
                    }
                    open >>= 1;
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                Some(_) => {}
                None => return Err(self.damage("the end of an object or array")),
            }
            self.at += 1;
        }
    }
}
