//! Answer lines, taken apart and compared with what was asked.

use core::time::Duration;

use crate::target::Mode;

/// The version of the protocol in `docs/peers.md`.
const VERSION: &str = "1";

/// What a peer says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerHello {
    /// Names of families whose tables it takes: `ipv4`, `ipv6`; at least one.
    pub families: Vec<&'static str>,
    /// How it looks up: [`Mode::One`], [`Mode::Batch`] or both.
    pub modes: Vec<Mode>,
    /// Its own name and version.
    pub about: String,
}

/// A structure that a peer has built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerLoaded {
    /// Nanoseconds that building took, as the peer says.
    pub build_ns: u64,
    /// Bytes that the structure takes, if the peer can tell.
    pub bytes: Option<u64>,
}

/// A loop that a peer has timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerTime {
    /// Nanoseconds that it took, as the peer says; not 0, and no more than have passed here.
    pub ns: u64,
    /// The exclusive or of the answers that were read: see [`pass_sum`](crate::pass_sum).
    pub sum: u32,
}

impl PeerHello {
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let rest = after(line, "longmatch-peer")?;
        let mut words = rest.splitn(4, ' ');
        match words.next() {
            Some(VERSION) => {}
            version => {
                let version = version.unwrap_or_default();
                return Err(format!("it speaks version `{version}`, and this is {VERSION}"));
            }
        }
        let list = words.next().unwrap_or_default();
        let families = items(list, |name| ["ipv4", "ipv6"].into_iter().find(|it| *it == name));
        let families = families.ok_or("expected families such as `ipv4,ipv6`")?;
        let list = words.next().unwrap_or_default();
        let modes =
            items(list, |name| [Mode::One, Mode::Batch].into_iter().find(|it| it.name() == name));
        let modes = modes.ok_or("expected modes such as `one,batch`")?;
        let about = super::error::shown(words.next().unwrap_or_default().trim());
        if about.is_empty() {
            return Err("expected its name and version at the end".to_owned());
        }
        Ok(Self { families, modes, about })
    }
}

/// The items of a list with commas, each once, at least one.
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

impl PeerTime {
    /// `passed` is the time since it was asked.
    pub(super) fn parse(line: &str, passed: Duration) -> Result<Self, String> {
        let [ns, sum] = words(after(line, "timed")?, "NANOSECONDS SUM")?;
        let (ns, sum) = (number(ns, "nanoseconds")?, number(sum, "the sum")?);
        if ns == 0 || u128::from(ns) > passed.as_nanos() {
            return Err(format!("{} ns have passed, not {ns}", passed.as_nanos()));
        }
        Ok(Self { ns, sum })
    }
}

/// A number of keys or answers, which must be this one.
pub(super) fn count(line: &str, word: &str, wanted: usize) -> Result<(), String> {
    let [count] = words(after(line, word)?, "COUNT")?;
    match number::<usize>(count, "the count")? {
        count if count == wanted => Ok(()),
        count => Err(format!("there are {wanted} keys, not {count}")),
    }
}

/// What follows the first word, which must be this one.
fn after<'l>(line: &'l str, word: &str) -> Result<&'l str, String> {
    let rest = line.strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
    rest.ok_or_else(|| format!("expected `{word} ...`"))
}

fn words<'l, const N: usize>(text: &'l str, form: &str) -> Result<[&'l str; N], String> {
    let words: Vec<_> = text.split(' ').take(N + 1).collect();
    words.try_into().map_err(|_| format!("expected {form} after the first word"))
}

fn number<T: core::str::FromStr>(word: &str, what: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("expected a number for {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hello_is_taken_apart() {
        let hello = PeerHello::parse("longmatch-peer 1 ipv6,ipv4,ipv6 batch tree 1.2 (fast)");
        let hello = hello.unwrap();
        assert_eq!(hello.families, ["ipv6", "ipv4"]);
        assert_eq!(hello.modes, [Mode::Batch]);
        assert_eq!(hello.about, "tree 1.2 (fast)");
    }

    #[test]
    fn other_greetings_are_not_taken() {
        for line in [
            "",
            "hello",
            "longmatch-peer",
            "longmatch-peer 2 ipv4 one tree",
            "longmatch-peer 1 ipv5 one tree",
            "longmatch-peer 1  one tree",
            "longmatch-peer 1 ipv4 dependent tree",
            "longmatch-peer 1 ipv4 one",
            "longmatch-peer 1 ipv4 one  ",
        ] {
            assert!(PeerHello::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn numbers_must_be_the_right_ones() {
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
    fn no_more_time_than_has_passed() {
        let timed = |line| PeerTime::parse(line, Duration::from_nanos(100));
        assert_eq!(timed("timed 100 7"), Ok(PeerTime { ns: 100, sum: 7 }));
        for line in ["timed 101 7", "timed 0 7", "timed 100 4294967296", "timed 100"] {
            assert!(timed(line).is_err(), "{line}");
        }
    }
}
