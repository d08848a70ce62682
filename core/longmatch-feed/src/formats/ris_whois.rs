//! RIS whois dumps: the origin of a prefix, the prefix, and the number of peers that see it.

use super::{Emitted, Listing, Parser, unexpected};
use crate::data::key::CellKind;
use crate::error::Problem;

/// The format.
pub(super) const LISTING: Listing =
    Listing { columns: &["prefix", "asn", "peers"], begins, parser: || Box::new(Ris) };

const EXPECTED: &str = "'AS prefix peers', separated by tabs";

/// The origin, the prefix and the peers of a line.
fn fields(line: &str) -> Option<[&str; 3]> {
    let mut fields = line.trim_ascii().split('\t').map(str::trim_ascii);
    let all = [fields.next()?, fields.next()?, fields.next()?];
    let is_number = |text: &str| CellKind::of(text) == CellKind::Integer;
    let is_origin = is_number(all[0]) || (all[0].starts_with('{') && all[0].ends_with('}'));
    (is_origin && is_number(all[2]) && fields.next().is_none()).then_some(all)
}

/// Whether more than half of the lines have these fields.
fn begins(lines: &[&str]) -> bool {
    let fits =
        |line: &str| fields(line).is_some_and(|all| CellKind::of(all[1]) == CellKind::Prefix);
    let lines = lines.iter().filter(|line| !line.starts_with('%'));
    let (all, fit) =
        lines.fold((0, 0), |(all, fit), line| (all + 1, fit + usize::from(fits(line))));
    2 * fit > all
}

struct Ris;

impl Parser for Ris {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        // A comment.
        if line.starts_with('%') {
            return Ok(());
        }
        let [origin, prefix, peers] = fields(line).ok_or_else(|| unexpected(line, EXPECTED))?;
        // A set of systems has no single number.
        let origin = if origin.starts_with('{') { "" } else { origin };
        rows.row(&[prefix, origin, peers]);
        Ok(())
    }
}
