//! Statistics of the regional internet registries: `delegated` and `delegated-extended` files.

use std::net::{IpAddr, Ipv4Addr};

use super::{Emitted, Listing, Parser, unexpected};
use crate::error::Problem;

/// The format.
pub(super) const LISTING: Listing = Listing {
    columns: &["prefix", "registry", "country", "date", "status"],
    begins,
    parser: || Box::new(Delegated),
};

const EXPECTED: &str = "'registry|country|ipv4|address|count|date|status', or ipv6 and a length";

/// The registry, country, type, start, value, date and status of a record.
fn fields(line: &str) -> Option<[&str; 7]> {
    let mut fields = line.trim_ascii().split('|');
    let mut all = [""; 7];
    for field in &mut all {
        *field = fields.next()?;
    }
    let is_registry = !all[0].is_empty() && all[0].bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_registry && matches!(all[2], "ipv4" | "ipv6" | "asn")).then_some(all)
}

/// Whether the line gives the number of records of a type: `registry|*|type|*|count|summary`.
fn is_summary(line: &str) -> bool {
    line.ends_with("|summary")
}

/// Whether the line is the first one: `version|registry|serial|records|start|end|offset`.
fn is_header(line: &str) -> bool {
    line.starts_with(|first: char| first.is_ascii_digit()) && line.split('|').count() >= 6
}

/// Whether a line is a record. Read as columns, counts of addresses would be lost.
fn begins(lines: &[&str]) -> bool {
    lines.iter().any(|line| fields(line).is_some())
}

struct Delegated;

impl Parser for Delegated {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        if is_summary(line.trim_ascii()) || is_header(line) {
            return Ok(());
        }
        let [registry, country, kind, start, value, date, status] =
            fields(line).ok_or_else(|| unexpected(line, EXPECTED))?;
        let prefix = match (kind, start.parse()) {
            ("asn", _) => return Ok(()),
            ("ipv4", Ok(IpAddr::V4(start))) => block(start, value),
            ("ipv6", Ok(IpAddr::V6(_))) => Some(format!("{start}/{value}")),
            _ => None,
        };
        let prefix = prefix.ok_or_else(|| unexpected(line, EXPECTED))?;
        rows.row(&[&prefix, registry, country, date, status]);
        Ok(())
    }
}

/// The prefix of a number of addresses, or the range if they are none.
fn block(start: Ipv4Addr, count: &str) -> Option<String> {
    let count: u64 = count.parse().ok().filter(|count| *count > 0)?;
    let first = u64::from(start.to_bits());
    let last = u32::try_from(first.checked_add(count)? - 1).ok()?;
    Some(match count.is_power_of_two() && first % count == 0 {
        true => format!("{start}/{}", 32 - count.trailing_zeros()),
        false => format!("{start}-{}", Ipv4Addr::from_bits(last)),
    })
}
