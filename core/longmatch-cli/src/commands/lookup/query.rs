//! Queries: the addresses and prefixes of lines and arguments.

use longmatch::{IpPrefix, ParsePrefixError, PrefixError};
use longmatch_feed::scan::address::parse_cell;
use longmatch_feed::scan::text::first_address;
use longmatch_feed::{IpFamily, Problem, parse_address};

use crate::args::{FamilyArgs, LookupArgs};
use crate::error::HOST_BITS;

/// The advice for a text that is neither an address nor a prefix.
const ADVICE: &str = " (--skip-invalid skips such text; 'longmatch annotate' reads logs and CSV)";

/// A query: its text, which the answer repeats, and its prefix, which of an address is that of the host.
pub type Query<'a> = (&'a [u8], IpPrefix);

/// The texts that are queries.
#[derive(Clone, Copy)]
pub struct Rules {
    /// The families whose addresses are queries.
    pub families: FamilyArgs,
    /// Whether the host bits of a prefix are cleared. Otherwise they are an error.
    pub mask: bool,
    /// Whether a text that is neither an address nor a prefix is searched for one, and skipped if it has none.
    pub skip_invalid: bool,
}

impl Rules {
    /// The rules of the command line.
    pub fn new(args: &LookupArgs) -> Self {
        let mask = args.routes.read.rows.mask;
        Self { families: args.families, mask, skip_invalid: args.skip_invalid }
    }

    /// Reads the address or prefix of a text without white space around it.
    ///
    /// The query's text is the text without quotes: with the port, brackets and zone id that it may
    /// have. If the text is searched for an address, it is the address alone.
    ///
    /// # Errors
    /// The problem, if there is neither, or one of a family that is excluded.
    #[inline]
    pub fn query(self, text: &[u8]) -> Result<Query<'_>, String> {
        let text = unquoted(text);
        let (shown, prefix) = match parse_cell(text) {
            Some(addr) => (text, addr.into()),
            None => match self.prefix(text)? {
                Some(prefix) => (text, prefix),
                None => match first_address(text).filter(|_| self.skip_invalid) {
                    Some((place, addr)) => (&text[place], addr.into()),
                    None => return Err(self.problem(text)),
                },
            },
        };
        match self.families.only() {
            None => Ok((shown, prefix)),
            Some(family) => included(shown, prefix, family),
        }
    }

    /// Reads a prefix; `None` if the text is not an address and a length.
    ///
    /// # Errors
    /// The problem of the length.
    fn prefix(self, text: &[u8]) -> Result<Option<IpPrefix>, String> {
        let Ok(text) = str::from_utf8(text) else { return Ok(None) };
        let parsed = if self.mask { IpPrefix::parse_masked(text) } else { text.parse() };
        match parsed {
            Ok(prefix) => Ok(Some(prefix)),
            Err(error @ ParsePrefixError::Prefix(problem)) => {
                let mut shown = Problem::Prefix { text: text.to_owned(), error }.to_string();
                if let PrefixError::HostBits { .. } = problem {
                    shown += HOST_BITS;
                }
                Err(shown)
            }
            Err(_) => Ok(None),
        }
    }

    /// Why a text is not a query, and the advice.
    fn problem(self, text: &[u8]) -> String {
        let problem = match str::from_utf8(text).map(parse_address) {
            Ok(Err(Problem::Address { text, advice })) => {
                let is_word = !text.contains(char::is_whitespace);
                let prefix = is_word && text.contains('/');
                let advice = if prefix { Some("write a prefix as 192.0.2.0/24") } else { advice };
                Problem::Address { text, advice }.to_string()
            }
            _ => "not text (UTF-8)".to_owned(),
        };
        if self.skip_invalid { problem } else { problem + ADVICE }
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

/// Refuses an address or prefix of the other family.
fn included(text: &[u8], prefix: IpPrefix, family: IpFamily) -> Result<Query<'_>, String> {
    let (is, option) = match (family, prefix.unmapped()) {
        (IpFamily::V4, IpPrefix::V6(_)) => ("IPv6", "-4"),
        (IpFamily::V6, IpPrefix::V4(_)) => ("IPv4", "-6"),
        _ => return Ok((text, prefix)),
    };
    let noun = if text.contains(&b'/') { "prefix" } else { "address" };
    let shown = String::from_utf8_lossy(text);
    Err(format!("'{shown}' is an {is} {noun}: leave out {option}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(skip_invalid: bool) -> Rules {
        Rules { families: FamilyArgs::default(), mask: false, skip_invalid }
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
        let host: IpPrefix = "192.0.2.7/32".parse().unwrap();
        assert_eq!(rules(true).query(line), Ok((&b"192.0.2.7"[..], host)));
        assert!(rules(true).query(b"no address").is_err());
        assert_eq!(rules(true).query(b"\xff").unwrap_err(), "not text (UTF-8)");
    }
}
