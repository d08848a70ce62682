//! Queries: the addresses of lines and arguments.

use std::net::IpAddr;

use longmatch_feed::scan::address::parse_cell;
use longmatch_feed::scan::text::first_address;
use longmatch_feed::{IpFamily, parse_address};

use crate::args::{FamilyArgs, LookupArgs};

/// What is advised for a text that is no address.
const ADVICE: &str = " (--skip-invalid skips such text; 'longmatch annotate' reads logs and CSV)";

/// A query: its text, which the answer repeats, and its address.
pub type Query<'a> = (&'a [u8], IpAddr);

/// What a text may be to be a query.
#[derive(Clone, Copy)]
pub struct Rules {
    /// The families whose addresses are queries.
    pub families: FamilyArgs,
    /// Whether a text that is no address is searched for one, and skipped if it has none.
    pub skip_invalid: bool,
}

impl Rules {
    /// The rules of the command line.
    pub fn new(args: &LookupArgs) -> Self {
        Self { families: args.families, skip_invalid: args.skip_invalid }
    }

    /// Reads the address of a text without white space around it.
    ///
    /// The query's text is the text without quotes: with the port, brackets and zone id that it may
    /// have. If the text is searched for an address, it is the address alone.
    ///
    /// # Errors
    /// The problem, if there is no address, or one of a family that is excluded.
    #[inline]
    pub fn query(self, text: &[u8]) -> Result<Query<'_>, String> {
        let text = unquoted(text);
        let (shown, addr) = match parse_cell(text) {
            Some(addr) => (text, addr),
            None => match first_address(text).filter(|_| self.skip_invalid) {
                Some((place, addr)) => (&text[place], addr),
                None => (text, self.parse(text)?),
            },
        };
        match self.families.only() {
            None => Ok((shown, addr)),
            Some(family) => included(shown, addr, family),
        }
    }

    /// Parses a text that is no address: the error says why, and what to do.
    fn parse(self, text: &[u8]) -> Result<IpAddr, String> {
        let parsed = match str::from_utf8(text) {
            Ok(text) => parse_address(text).map_err(|error| error.to_string()),
            Err(_) => Err("not text (UTF-8)".to_owned()),
        };
        parsed.map_err(|problem| if self.skip_invalid { problem } else { problem + ADVICE })
    }
}

/// The text inside quotes, if there are any.
#[inline]
fn unquoted(mut text: &[u8]) -> &[u8] {
    while let [open @ (b'"' | b'\''), inner @ .., close] = text
        && open == close
    {
        text = inner.trim_ascii();
    }
    text
}

/// Refuses an address of the other family.
fn included(text: &[u8], addr: IpAddr, family: IpFamily) -> Result<Query<'_>, String> {
    let shown = String::from_utf8_lossy(text);
    match (family, addr.to_canonical()) {
        (IpFamily::V4, IpAddr::V6(_)) => Err(format!("'{shown}' is an IPv6 address: leave out -4")),
        (IpFamily::V6, IpAddr::V4(_)) => Err(format!("'{shown}' is an IPv4 address: leave out -6")),
        _ => Ok((text, addr)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(skip_invalid: bool) -> Rules {
        Rules { families: FamilyArgs::default(), skip_invalid }
    }

    #[test]
    fn addresses_keep_their_ports_and_lose_their_quotes() {
        let all = [
            ("192.0.2.1", "192.0.2.1"),
            ("192.0.2.1:443", "192.0.2.1:443"),
            ("[2001:db8::1%eth0]:443", "[2001:db8::1%eth0]:443"),
            ("\"192.0.2.1\"", "192.0.2.1"),
            ("\"'\t192.0.2.1 '\"", "192.0.2.1"),
        ];
        for (text, shown) in all {
            for skip_invalid in [false, true] {
                let (query, _) = rules(skip_invalid).query(text.as_bytes()).unwrap();
                assert_eq!(query, shown.as_bytes(), "{text}");
            }
        }
    }

    #[test]
    fn other_texts_are_searched_only_if_they_may_be_skipped() {
        let line = b"192.0.2.7 - - \"GET / HTTP/1.1\" 200";
        assert!(rules(false).query(line).unwrap_err().contains("one address per line"));
        assert_eq!(rules(true).query(line), Ok((&b"192.0.2.7"[..], [192, 0, 2, 7].into())));
        assert!(rules(true).query(b"no address").is_err());
        assert_eq!(rules(true).query(b"\xff").unwrap_err(), "not text (UTF-8)");
    }
}
