//! Objects of routing registries in RPSL: `route` and `route6`, with their origin and first description.

use std::collections::BTreeMap;

use super::{Emitted, Listing, Parser, unexpected};
use crate::error::Problem;

/// The format.
pub(super) const LISTING: Listing = Listing {
    columns: &["prefix", "origin_as", "descr"],
    begins,
    parser: || Box::new(Rpsl::default()),
};

/// Whether there is a route among the first objects.
fn begins(lines: &[&str]) -> bool {
    let mut lines = lines.iter().filter(|line| !line.starts_with('%'));
    let is_attribute = |line: &&&str| attribute(line).is_some();
    lines.clone().take(1).any(|line| is_attribute(&line))
        && lines.any(|line| attribute(line).is_some_and(|(name, _)| is_route(name)))
}

/// The name and the value of a line `name: value`, without its comment.
fn attribute(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic());
    let value = value.split_once('#').map_or(value, |(value, _)| value).trim_ascii();
    (is_name && name.bytes().all(known)).then_some((name, value))
}

fn is_route(name: &str) -> bool {
    name.eq_ignore_ascii_case("route") || name.eq_ignore_ascii_case("route6")
}

/// Classes of other objects with addresses, which are left out.
const OTHERS: [&str; 3] = ["inetnum", "inet6num", "route-set"];

#[derive(Default)]
struct Rpsl {
    /// Other objects with addresses, by their class.
    left_out: BTreeMap<String, u64>,
    /// The prefix of the object, if it is a route, its origin and its description.
    prefix: String,
    origin: String,
    descr: String,
}

impl Parser for Rpsl {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        // Comments of servers, and lines that continue the one before.
        if line.starts_with(['%', ' ', '\t', '+']) {
            return Ok(());
        }
        let (name, value) = attribute(line)
            .ok_or_else(|| unexpected(line, "attributes such as 'route: PREFIX'"))?;
        if is_route(name) {
            self.blank(rows);
            value.clone_into(&mut self.prefix);
        } else if let Some(class) = OTHERS.iter().find(|class| name.eq_ignore_ascii_case(class)) {
            *self.left_out.entry(format!("objects {class}")).or_default() += 1;
        } else if name.eq_ignore_ascii_case("origin") && self.origin.is_empty() {
            value.trim_start_matches(['A', 'a', 'S', 's']).clone_into(&mut self.origin);
        } else if name.eq_ignore_ascii_case("descr") && self.descr.is_empty() {
            value.clone_into(&mut self.descr);
        }
        Ok(())
    }

    /// A blank line ends an object.
    fn blank(&mut self, rows: &mut Emitted) {
        let Self { prefix, origin, descr, .. } = self;
        let [prefix, origin, descr] = [prefix, origin, descr].map(std::mem::take);
        if !prefix.is_empty() {
            rows.row(&[&prefix, &origin, &descr]);
        }
    }

    fn end(&mut self, rows: &mut Emitted) -> Result<(), Problem> {
        self.blank(rows);
        Ok(())
    }

    fn left_out(&mut self) -> BTreeMap<String, u64> {
        std::mem::take(&mut self.left_out)
    }
}
