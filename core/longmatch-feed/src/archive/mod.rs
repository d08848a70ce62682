//! Archives, zip and tar: one member is read in their place.
//!
//! An archive often has a licence or a description beside its data. Where it has one file of data, this file is read;
//! where it has several, the path names one, as `FILE:MEMBER`. The members are known before the first one is read, so
//! that no other member is taken for the wanted one: from the directory of a zip file, and by a pass over a tar archive.
//! So an archive must be a file or be kept in memory: [`Job`], which opens all inputs, enters it.

mod tar;
mod zip;

use std::cell::OnceCell;
use std::io::{Cursor, Read};
use std::path::Path;

use crate::codec::{Codec, archive};
use crate::decompress::refuse_nested;
use crate::error::{FeedError, Problem};
use crate::input::Input;
use crate::options::Options;
use crate::printable::printable;
use crate::source::{Opened, ReadSeek, Source, open, open_input};

/// Bytes at the beginning of an input that show an archive.
const HEAD_LEN: usize = 512;
/// Greatest number of members in a message.
const MAX_NAMES: usize = 24;

/// An input and the options for reading it.
pub(crate) struct Job<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) options: &'a Options,
    /// The name of the member to read, of an archive.
    pub(crate) member: Option<&'a str>,
    /// Its number, once a tar archive has been walked.
    pub(crate) chosen: OnceCell<usize>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(source: Source<'a>, member: Option<&'a str>, options: &'a Options) -> Self {
        Self { source, options, member, chosen: OnceCell::new() }
    }

    /// Opens the input, or the member of an archive that is read in its place, positioned at its first byte.
    pub(crate) fn open(&self) -> Result<Opened<'a>, FeedError> {
        enter(self, self.decompressed()?)
    }

    /// The decompressed input, whether an archive or not.
    pub(crate) fn decompressed(&self) -> Result<Opened<'a>, FeedError> {
        let raw: Box<dyn Read + 'a> = match self.source {
            Source::Bytes(bytes) => Box::new(bytes),
            Source::Path(path) => Box::new(open_input(path)?),
        };
        open(raw, self.options.limits)
    }

    /// The bytes of the input, as compressed as they are.
    pub(crate) fn seekable(&self) -> Result<Box<dyn ReadSeek + 'a>, FeedError> {
        Ok(match self.source {
            Source::Bytes(bytes) => Box::new(Cursor::new(bytes)),
            Source::Path(path) => Box::new(open_input(path)?),
        })
    }
}

/// Whether an opened input is an archive.
pub(crate) fn is_archive(opened: &mut Opened<'_>) -> bool {
    opened.input.fill(HEAD_LEN);
    archive(opened.input.window()).is_some()
}

/// Divides a path `FILE:MEMBER` into the archive and the name of its member. `None` for the path of a file.
///
/// ```
/// use longmatch_feed::archive_member;
/// assert_eq!(archive_member("Cargo.toml".as_ref()), None);
/// let (file, member) = archive_member("Cargo.toml:a/b.csv".as_ref()).unwrap();
/// assert_eq!((file.to_str(), member), (Some("Cargo.toml"), "a/b.csv"));
/// ```
#[must_use]
pub fn archive_member(path: &Path) -> Option<(&Path, &str)> {
    if path.exists() {
        return None;
    }
    let text = path.to_str()?;
    let parts = text.match_indices(':').map(|(at, _)| (Path::new(&text[..at]), &text[at + 1..]));
    parts.into_iter().find(|(file, _)| file.exists() && !file.is_dir())
}

/// The member to read in place of an archive. Other inputs stay as they are.
fn enter<'a>(job: &Job<'a>, mut opened: Opened<'a>) -> Result<Opened<'a>, FeedError> {
    opened.input.fill(HEAD_LEN);
    let mut entered = match archive(opened.input.window()) {
        Some(Codec::Zip) => zip::enter(job)?,
        Some(_) => tar::enter(job, opened)?,
        None if job.member.is_some() => {
            return Err(refused("not an archive (zip or tar): it has no members".to_owned()));
        }
        None => return Ok(opened),
    };
    entered.input.fill(HEAD_LEN);
    refuse_nested(entered.codec.unwrap_or(Codec::Tar), entered.input.window())
        .map_err(FeedError::whole)?;
    Ok(entered)
}

/// An error of an archive that is undamaged.
fn refused(problem: String) -> FeedError {
    FeedError::whole(Problem::Archive { problem })
}

/// The number of the member to read, of all files of an archive.
fn choose(names: &[String], wanted: Option<&str>) -> Result<usize, FeedError> {
    let is_wanted = |name: &str| match wanted {
        Some(wanted) => {
            let folder = name.strip_suffix(wanted);
            folder.is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        }
        None => is_data(name),
    };
    let numbers: Vec<_> = (0..names.len()).filter(|at| is_wanted(&names[*at])).collect();
    let exact = numbers.iter().copied().filter(|at| Some(&*names[*at]) == wanted);
    let exact: Vec<_> = exact.collect();
    match if exact.is_empty() { &*numbers } else { &exact } {
        [one] => return Ok(*one),
        [one, others @ ..] if others.iter().all(|other| names[*other] == names[*one]) => {
            let (n, name) = (others.len() + 1, printable(&names[*one]));
            let problem = format!("the archive has {n} members with the name '{name}': unpack it");
            return Err(refused(problem));
        }
        _ => {}
    }
    let possible = if numbers.is_empty() { (0..names.len()).collect() } else { numbers.clone() };
    let all = possible.iter().take(MAX_NAMES).map(|at| printable(&names[*at]).into_owned());
    let more = possible.len().checked_sub(MAX_NAMES + 1).map(|n| format!("{} more", n + 1));
    let all = all.chain(more).collect::<Vec<_>>().join(", ");
    let name_one = "name one, as FILE:MEMBER, or unpack it";
    Err(refused(match (wanted, numbers.len()) {
        _ if names.is_empty() => "the archive has no files".to_owned(),
        (Some(wanted), 0) => {
            format!("the archive has no member '{}'; it has: {all}", printable(wanted))
        }
        (Some(wanted), n) => {
            format!("the archive has {n} members '{}': {name_one}: {all}", printable(wanted))
        }
        (None, 0) => format!("the archive has no file of data: {name_one}: {all}"),
        (None, n) => format!("the archive has {n} files of data: {name_one}: {all}"),
    }))
}

/// Whether a member may be data: no text that describes or licenses the data, and nothing that a system adds.
fn is_data(path: &str) -> bool {
    const BESIDE: [&str; 9] = [
        "readme",
        "license",
        "licence",
        "copyright",
        "copying",
        "notice",
        "terms",
        "change",
        "attribution",
    ];
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let is_text = matches!(suffix, "" | "txt" | "rst" | "rtf");
    let sum = |name: &str| {
        let name = name.trim_end_matches('s').trim_end_matches("sum");
        matches!(name, "md5" | "sha1" | "sha224" | "sha256" | "sha384" | "sha512" | "b2" | "check")
    };
    let is_other = matches!(suffix, "md" | "pdf" | "html" | "htm" | "asc" | "sig") || sum(suffix);
    let stem = name.split('.').next().unwrap_or_default();
    let is_about = sum(stem) || matches!(stem, "manifest" | "index");
    let is_system = name.starts_with('.') || path.starts_with("__MACOSX/");
    !(is_other
        || is_system
        || is_text && (is_about || BESIDE.iter().any(|word| name.starts_with(word))))
}

/// An input of a member, in the place of its archive.
fn member<'a>(opened: Opened<'a>, reader: Box<dyn Read + 'a>, codec: Codec) -> Opened<'a> {
    let codec = opened.codec.or(Some(codec));
    Opened { input: Input::new(reader), codec, ..opened }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_beside_the_data_are_no_data() {
        let beside = [
            "README_LITE.TXT",
            "LICENSE-CC-BY-SA-4.0.TXT",
            "GeoLite2-Country_20250101/COPYRIGHT.txt",
            "a/LICENSE",
            "manual.pdf",
            "x.csv.sha256",
            "__MACOSX/._a.csv",
            ".DS_Store",
            "CHANGELOG.txt",
            "sha256sums.txt",
            "a/SHA256SUMS",
            "checksums.txt",
            "a.csv.md5sum",
            "MANIFEST",
            "INDEX",
        ];
        let data = [
            "IP2LOCATION-LITE-DB1.CSV",
            "a/b.mmdb",
            "changes.csv",
            "drop.txt",
            "routes",
            "index.csv",
        ];
        assert!(!beside.into_iter().any(is_data) && data.into_iter().all(is_data));
    }

    #[test]
    fn members_are_chosen_by_their_names() {
        let names = ["d/a.csv", "d/b.csv", "a.csv", "README"].map(str::to_owned);
        for (wanted, at) in [("d/a.csv", 0), ("b.csv", 1), ("a.csv", 2), ("README", 3)] {
            assert_eq!(choose(&names, Some(wanted)).ok(), Some(at), "{wanted}");
        }
        assert_eq!(choose(&names[2..], None).ok(), Some(0));
        let twice = ["d/a.csv", "d/a.csv", "README"].map(str::to_owned);
        let errors = [
            (&names[..], None, "3 files of data: name one"),
            (&names, Some(".csv"), "no member '.csv'; it has: d/a.csv, d/b.csv"),
            (&names[..2], Some("c"), "no member 'c'"),
            (&names[3..], None, "no file of data"),
            (&[], None, "no files"),
            (&twice, Some("d/a.csv"), "2 members with the name 'd/a.csv': unpack it"),
            (&twice, Some("a.csv"), "2 members with the name 'd/a.csv': unpack it"),
        ];
        for (names, wanted, text) in errors {
            let error = choose(names, wanted).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
