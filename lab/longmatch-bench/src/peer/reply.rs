//! Parsers of the answer lines, which compare them with the command.

use core::time::Duration;

use longmatch::{Family, Ipv4, Ipv6};

use crate::mode::Mode;
use crate::target::Timed;

/// The version of the protocol in `docs/peers.md`.
const VERSION: &str = "1";

/// Answer of a peer to `hello`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerHello {
    /// Names of the supported families, at least one of `ipv4` and `ipv6`.
    pub families: Vec<&'static str>,
    /// The supported modes, at least one.
    pub modes: Vec<Mode>,
    /// Name and version that the peer states.
    pub about: String,
}

/// Answer of a peer to `load`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerLoaded {
    /// Nanoseconds to build the structure, as the peer states them.
    pub build_ns: u64,
    /// Bytes of the structure; `None` if unknown.
    pub bytes: Option<u64>,
}

impl PeerHello {
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let rest = after(line, "longmatch-peer")?;
        let mut words = rest.splitn(4, ' ');
        let mut next = || words.next().unwrap_or_default();
        let version = next();
        if version != VERSION {
            return Err(format!("its protocol has version `{version}`, not {VERSION}"));
        }
        let family = |name: &str| [Ipv4::NAME, Ipv6::NAME].into_iter().find(|it| *it == name);
        let families = items(next(), family).ok_or("expected families such as `ipv4,ipv6`")?;
        let mode = |name: &str| name.parse::<Mode>().ok();
        let modes = items(next(), mode).ok_or("expected modes such as `one,batch`")?;
        let about = super::error::printable(next().trim());
        if about.is_empty() {
            return Err("expected a name and version at the end".to_owned());
        }
        Ok(Self { families, modes, about })
    }
}

/// The different items of a list with commas; `None` if an item is invalid.
fn items<T: PartialEq>(list: &str, item: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let mut items = Vec::new();
    for name in list.split(',') {
        let item = item(name)?;
        if !items.contains(&item) {
            items.push(item);
        }
    }
    Some(items)
}

impl PeerLoaded {
    pub(super) fn parse(line: &str, routes: usize) -> Result<Self, String> {
        let [count, ns, bytes] = words(after(line, "loaded")?, "ROUTES NANOSECONDS BYTES")?;
        let count: usize = number(count, "routes")?;
        if count != routes {
            return Err(format!("the table has {routes} routes, not {count}"));
        }
        let bytes = if bytes == "-" { None } else { Some(number(bytes, "bytes")?) };
        Ok(Self { build_ns: number(ns, "nanoseconds")?, bytes })
    }
}

/// Parses an answer to `time` that came `passed` after the command.
///
/// The stated time is above 0 and at most the passed time.
pub(super) fn timed(line: &str, passed: Duration) -> Result<Timed, String> {
    let [ns, sum] = words(after(line, "timed")?, "NANOSECONDS SUM")?;
    let took = Duration::from_nanos(number(ns, "nanoseconds")?);
    if took.is_zero() || took > passed {
        return Err(format!("{} ns have passed, not {ns}", passed.as_nanos()));
    }
    Ok(Timed { sum: number(sum, "the sum")?, took })
}

/// Checks a stated number of keys or answers.
pub(super) fn count(line: &str, word: &str, wanted: usize) -> Result<(), String> {
    let [count] = words(after(line, word)?, "COUNT")?;
    match number::<usize>(count, "the count")? {
        count if count == wanted => Ok(()),
        count => Err(format!("there are {wanted} keys, not {count}")),
    }
}

/// The text after the first word, which must be `word`.
fn after<'l>(line: &'l str, word: &str) -> Result<&'l str, String> {
    let rest = line.strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
    rest.ok_or_else(|| format!("expected `{word} ...`"))
}

fn words<'l, const N: usize>(text: &'l str, format: &str) -> Result<[&'l str; N], String> {
    let words: Vec<_> = text.split(' ').take(N + 1).collect();
    words.try_into().map_err(|_| format!("expected {format} after the first word"))
}

fn number<T: core::str::FromStr>(word: &str, what: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("expected a number for {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hello_is_parsed() {
        let hello =
            PeerHello::parse("longmatch-peer 1 ipv6,ipv4,ipv6 batch,dependent tree 1.2 (fast)");
        let hello = hello.unwrap();
        assert_eq!(hello.families, ["ipv6", "ipv4"]);
        assert_eq!(hello.modes, [Mode::Batch, Mode::Dependent]);
        assert_eq!(hello.about, "tree 1.2 (fast)");
    }

    #[test]
    fn invalid_hellos_are_rejected() {
        for line in [
            "",
            "hello",
            "longmatch-peer",
            "longmatch-peer 2 ipv4 one tree",
            "longmatch-peer 1 ipv5 one tree",
            "longmatch-peer 1  one tree",
            "longmatch-peer 1 ipv4 twice tree",
            "longmatch-peer 1 ipv4 one",
            "longmatch-peer 1 ipv4 one  ",
        ] {
            assert!(PeerHello::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn wrong_numbers_are_rejected() {
        let loaded = |line| PeerLoaded::parse(line, 3);
        assert_eq!(loaded("loaded 3 9 -"), Ok(PeerLoaded { build_ns: 9, bytes: None }));
        assert_eq!(loaded("loaded 3 9 64"), Ok(PeerLoaded { build_ns: 9, bytes: Some(64) }));
        for line in
            ["loaded 2 9 -", "loaded 3 -9 -", "loaded 3 9", "loaded 3 9 - -", "loaded 3 9 x"]
        {
            assert!(loaded(line).is_err(), "{line}");
        }
        assert_eq!(count("keys 4", "keys", 4), Ok(()));
        assert!(count("keys 5", "keys", 4).unwrap_err().contains("4 keys, not 5"));
        assert!(count("answered 4", "keys", 4).is_err());
    }

    #[test]
    fn impossible_times_are_rejected() {
        let passed = Duration::from_nanos(100);
        assert_eq!(timed("timed 100 7", passed), Ok(Timed { sum: 7, took: passed }));
        for line in ["timed 101 7", "timed 0 7", "timed 100 4294967296", "timed 100"] {
            assert!(timed(line, passed).is_err(), "{line}");
        }
    }
}
