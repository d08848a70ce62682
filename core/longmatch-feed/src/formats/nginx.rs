//! Addresses in nginx's configuration: `geo`, `allow`, `deny` and `set_real_ip_from`.

use std::collections::BTreeMap;

use super::first_match::FirstMatch;
use super::{Emitted, Listing, Parser, unexpected, words};
use crate::data::key::CellKind;
use crate::error::Problem;

/// The format.
pub(super) const LISTING: Listing = Listing {
    columns: &["prefix", "variable", "value"],
    begins,
    parser: || Box::new(Nginx::default()),
};

/// All addresses.
const ALL: [&str; 2] = ["0.0.0.0/0", "::/0"];

/// Whether the lines begin with such a block or directive.
fn begins(lines: &[&str]) -> bool {
    let Some(first) = lines.first() else { return false };
    match *words(first.split('#').next().unwrap_or("")).collect::<Vec<_>>().as_slice() {
        ["geo", .., variable, "{"] => variable.starts_with('$'),
        ["allow" | "deny" | "set_real_ip_from", value] => value.ends_with(';'),
        // The file of an `include` in a block.
        [key, value] => {
            CellKind::of(key).is_key()
                && value.find(';').is_some_and(|at| at > 0)
                && lines.iter().all(|line| line.find(';') == Some(line.len() - 1))
        }
        _ => false,
    }
}

#[derive(Default)]
struct Nginx {
    /// The variable of the block, if the lines are in one.
    variable: String,
    /// The entries `allow` and `deny`.
    access: FirstMatch,
}

impl Parser for Nginx {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        let code = match line.find(" #").or(line.find("\t#")).or(line.find(";#")) {
            Some(at) => &line[..=at],
            None => line,
        };
        for statement in code.split_inclusive([';', '{', '}']) {
            let statement = statement.trim_ascii();
            if !statement.is_empty() {
                self.statement(statement, rows).ok_or_else(|| {
                    unexpected(
                        line,
                        "'geo $variable {', 'PREFIX VALUE;', 'allow PREFIX;' or 'deny PREFIX;'",
                    )
                })?;
            }
        }
        Ok(())
    }

    fn left_out(&mut self) -> BTreeMap<String, u64> {
        self.access.left_out()
    }
}

impl Nginx {
    fn statement(&mut self, statement: &str, rows: &mut Emitted) -> Option<()> {
        if statement == "}" {
            self.variable.clear();
            return Some(());
        }
        let last = statement.chars().next_back().map_or(0, char::len_utf8);
        let (text, end) = statement.split_at(statement.len() - last);
        let words: Vec<_> = words(text).chain([end]).collect();
        match *words.as_slice() {
            ["geo", .., variable, "{"] => self.variable = variable.to_owned(),
            ["ranges" | "proxy_recursive", ";"] | ["proxy", _, ";"] => {}
            ["default", value, ";"] => {
                ALL.iter().for_each(|all| rows.row(&[all, &self.variable, value]));
            }
            [action @ ("allow" | "deny"), "all", ";"] => {
                ALL.iter().for_each(|all| self.access.entry("", &[all, "", action], rows));
            }
            // Their content is not here.
            ["include" | "delete", _, _] => return None,
            [action @ ("allow" | "deny"), prefix, ";"] => {
                self.access.entry("", &[prefix, "", action], rows);
            }
            ["set_real_ip_from", prefix, ";"] => rows.row(&[prefix, "", "set_real_ip_from"]),
            [prefix, value, ";"] => rows.row(&[prefix, &self.variable, value]),
            _ => return None,
        }
        Some(())
    }
}
