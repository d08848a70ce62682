//! `nft list ruleset`, `nft list set`: the elements of sets and maps of addresses.

use super::{Emitted, Listing, Parser, unexpected, word, words};
use crate::error::Problem;

/// The format.
pub(super) const LISTING: Listing = Listing {
    columns: &["prefix", "set", "value", "comment"],
    begins,
    parser: || Box::new(Nft::default()),
};

/// Greatest length of an element in bytes.
const MAX_ELEMENT: usize = 4 << 10;

/// Whether the lines begin with a table.
fn begins(lines: &[&str]) -> bool {
    let Some(first) = lines.first() else { return false };
    words(first).next() == Some("table") && first.ends_with('{')
}

#[derive(Default)]
struct Nft {
    /// The set, and whether its elements are addresses.
    set: String,
    addresses: bool,
    /// Whether the elements go on, and the part of an element on earlier lines.
    inside: bool,
    element: String,
    quoted: bool,
}

impl Parser for Nft {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        if self.inside {
            return self.elements(line, rows);
        }
        let (first, rest) = word(line);
        match first {
            "set" | "map" if rest.ends_with('{') => {
                self.set = word(rest).0.to_owned();
                self.addresses = false;
            }
            "type" | "typeof" => {
                // Of a map the type before the colon; a concatenation has a dot.
                let keys = rest.split(" : ").next().unwrap_or("");
                let of_addresses =
                    |word| matches!(word, "ipv4_addr" | "ipv6_addr" | "saddr" | "daddr");
                self.addresses = words(keys).any(of_addresses) && !keys.contains(" . ");
            }
            "elements" => {
                let Some((_, elements)) = rest.split_once('{') else {
                    return Err(unexpected(line, "'elements = { PREFIX, PREFIX }'"));
                };
                self.inside = true;
                self.element.clear();
                return self.elements(elements, rows);
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _rows: &mut Emitted) -> Result<(), Problem> {
        match self.inside {
            true => Err(unexpected(&self.element, "'}' after the elements: the text is cut off")),
            false => Ok(()),
        }
    }
}

impl Nft {
    /// Parses elements up to the end of the line or of the set.
    fn elements(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        for character in line.chars() {
            match character {
                '"' => self.quoted = !self.quoted,
                ',' | '}' if !self.quoted => {
                    self.emit(rows);
                    self.element.clear();
                    if character == '}' {
                        self.inside = false;
                        return Ok(());
                    }
                    continue;
                }
                _ => {}
            }
            if self.element.len() >= MAX_ELEMENT {
                let error = unexpected(&self.element, "elements of at most 4096 bytes");
                self.element.clear();
                self.quoted = false;
                return Err(error);
            }
            self.element.push(character);
        }
        // A line end separates words; a quotation mark does not reach over it.
        self.element.push(' ');
        self.quoted = false;
        Ok(())
    }

    /// Emits the element: `PREFIX [OPTIONS] [: VALUE]`.
    fn emit(&self, rows: &mut Emitted) {
        let (prefix, mut rest) = word(&self.element);
        if prefix.is_empty() || !self.addresses {
            return;
        }
        let (mut comment, mut value) = ("", "");
        while !rest.trim_ascii_start().is_empty() {
            let (option, after) = word(rest);
            rest = after;
            match option {
                ":" => {
                    value = rest.trim_ascii();
                    break;
                }
                "comment" => (comment, rest) = word(rest),
                _ => {}
            }
        }
        rows.row(&[prefix, &self.set, value, comment]);
    }
}
