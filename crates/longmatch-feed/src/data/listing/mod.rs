//! Listings: the output of tools that print addresses among other text.
//!
//! Each format is a parser of lines that keeps what earlier lines say, such as the name of the set,
//! and emits a row for each prefix.

mod ipset;
mod iptables;
mod netstat;
mod nft;
mod ris;

use std::fmt;

use super::error::{DataError, shorten};

/// A format of listings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Listing {
    Netstat,
    Ipset,
    Iptables,
    Nft,
    Ris,
}

impl Listing {
    const ALL: [Self; 5] = [Self::Netstat, Self::Ipset, Self::Iptables, Self::Nft, Self::Ris];

    /// Recognises a listing by its first lines, which are neither blank nor comments.
    pub(crate) fn of(lines: &[&str]) -> Option<Self> {
        Self::ALL.into_iter().find(|listing| match listing {
            Self::Netstat => netstat::begins(lines),
            Self::Ipset => ipset::begins(lines),
            Self::Iptables => iptables::begins(lines),
            Self::Nft => nft::begins(lines),
            Self::Ris => ris::begins(lines),
        })
    }

    /// The names of the columns; the prefix is the first.
    pub(crate) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Netstat => &["prefix", "next_hop"],
            Self::Ipset => &["prefix", "set", "comment"],
            Self::Iptables => &["prefix", "chain", "target"],
            Self::Nft => &["prefix", "set", "value", "comment"],
            Self::Ris => &["prefix", "asn", "peers"],
        }
    }

    /// A parser at the first line.
    pub(crate) fn parser(self) -> Box<dyn Parser> {
        match self {
            Self::Netstat => Box::new(netstat::Netstat::default()),
            Self::Ipset => Box::new(ipset::Ipset::default()),
            Self::Iptables => Box::new(iptables::Iptables::default()),
            Self::Nft => Box::new(nft::Nft::default()),
            Self::Ris => Box::new(ris::Ris),
        }
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Netstat => "netstat -rn",
            Self::Ipset => "ipset",
            Self::Iptables => "iptables-save",
            Self::Nft => "nft list",
            Self::Ris => "a RIS whois dump",
        })
    }
}

/// Parser of the lines of a listing.
pub(crate) trait Parser {
    /// Parses a line that is neither blank nor a comment.
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), DataError>;

    /// Checks that the listing may end here.
    fn end(&self) -> Result<(), DataError> {
        Ok(())
    }
}

/// The rows that a line emits.
#[derive(Default)]
pub(crate) struct Emitted {
    /// The cells in sequence, and the start and end of each.
    pub(super) text: String,
    pub(super) bounds: Vec<(u32, u32)>,
}

impl Emitted {
    /// Adds a row: a cell for each of the format's columns, empty for null.
    fn row(&mut self, cells: &[&str]) {
        for cell in cells {
            let start = self.text.len() as u32;
            self.text.push_str(cell);
            self.bounds.push((start, self.text.len() as u32));
        }
    }
}

/// The error of a line that the format does not have.
fn unexpected(line: &str, expected: &'static str) -> DataError {
    DataError::Listing { text: shorten(line.trim_ascii()), expected }
}

/// Splits a text after its first word, or after the closing quotation mark of a quoted one, which may
/// contain quotation marks after backslashes. Returns the word without its quotation marks.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
        return text.split_at(end);
    };
    let mut escaped = false;
    for (at, byte) in quoted.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return (&quoted[..at], &quoted[at + 1..]),
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    (quoted, "")
}

/// The words of a text.
fn words(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        text = text.trim_ascii_start();
        if text.is_empty() {
            return None;
        }
        let (first, rest) = word(text);
        text = rest;
        Some(first)
    })
}
