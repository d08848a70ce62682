//! `iptables-save`, `ip6tables-save` and `iptables -S`: the sources and destinations of rules.

use std::collections::HashSet;

use super::{Emitted, Listing, Parser, unexpected, words};
use crate::error::Problem;

/// The format.
pub(super) const LISTING: Listing = Listing {
    columns: &["prefix", "chain", "target"],
    begins,
    parser: || Box::new(Iptables::default()),
};

/// Whether the lines begin with a table.
fn begins(lines: &[&str]) -> bool {
    let is_rule = |line: &&str| of_family(line).starts_with("-A ") || line.starts_with(':');
    match lines.first() {
        Some(table) if table.starts_with('*') => lines.iter().any(is_rule),
        // The policies and chains of `iptables -S`.
        Some(first) if first.starts_with("-P ") || first.starts_with("-N ") => true,
        Some(rule) => of_family(rule).starts_with("-A ") && words(rule).count() > 2,
        None => false,
    }
}

/// A rule without the mark `-4` or `-6` of files for both programs: each ignores the rules of the other.
fn of_family(rule: &str) -> &str {
    let marks = ["-4 ", "-6 ", "--ipv4 ", "--ipv6 "];
    let unmarked = marks.iter().find_map(|mark| rule.strip_prefix(mark));
    unmarked.map_or(rule, str::trim_ascii_start)
}

/// The prefixes so far: the first of several rules for a prefix decides.
#[derive(Default)]
struct Iptables {
    seen: HashSet<String>,
}

impl Parser for Iptables {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        // `iptables-save -c` begins with counters.
        let rule = match line.trim_ascii_start().strip_prefix('[') {
            Some(counted) => counted.split_once(']').map_or("", |(_, rule)| rule),
            None => line.trim_ascii_start(),
        };
        let rule = of_family(rule.trim_ascii_start());
        match rule.as_bytes() {
            [b'*' | b':', ..] | [b'-', b'P' | b'N', b' ', ..] | b"COMMIT" => return Ok(()),
            [b'-', b'A' | b'I', b' ', ..] => {}
            _ => return Err(unexpected(line, "a rule such as '-A CHAIN -s PREFIX -j TARGET'")),
        }
        let (mut chain, mut target, mut negated) = ("", "", false);
        let mut found = Vec::new();
        let mut words = words(rule);
        while let Some(option) = words.next() {
            match option {
                "-A" | "-I" => chain = words.next().unwrap_or(""),
                "-j" | "-g" | "--jump" | "--goto" => target = words.next().unwrap_or(""),
                // A comment may be any text, also that of an option.
                "--comment" => drop(words.next()),
                "-s" | "-d" | "--source" | "--destination" | "--src-range" | "--dst-range" => {
                    let prefix = words.next().unwrap_or("");
                    if !negated {
                        found.push(prefix);
                    }
                }
                _ => {}
            }
            negated = option == "!";
        }
        for prefix in found {
            if self.seen.insert(prefix.to_owned()) {
                rows.row(&[prefix, chain, target]);
            }
        }
        Ok(())
    }
}
