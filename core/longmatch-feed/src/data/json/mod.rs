//! Prefix data in JSON: the objects of arrays, one document or several in sequence (NDJSON).
//!
//! A row is an object with a prefix that is an element of an array, a document by itself, or, if nothing around it is a
//! row, a member. Its columns are its other members with scalars or arrays of scalars, and the scalars of the objects
//! around it that have other names. A prefix that is an element of an array is a row with the array's name; so is an
//! address, if an array of that name has prefixes, if no other rows are found, or if the options name the array. A
//! prefix that is the name of a member is a row with the member's value. Prefixes and ranges of `nft -j` are objects.
//!
//! An object that is the whole file and has its rows in other objects describes the file, not the rows: its scalars,
//! such as the time of its publication, are left out. So this reads RIPEstat's and RDAP's answers, the lists of
//! addresses that operators of clouds publish, and exports of tables. Addresses that are neither rows nor in a column
//! are counted.
//!
//! There are two passes: the first one keeps the scalars of objects around rows, which may come after the rows. It is
//! repeated if it finds arrays of addresses that are rows.

mod names;
mod pass;
mod value;

use std::collections::HashSet;

use super::layout::TextLayout;
use super::store::Store;
use super::text::Load;
use crate::error::{FeedError, Problem};
use crate::options::Options;
use crate::report::Report;
use crate::text::BOM;
use names::Names;
use pass::JsonPass;
use value::documents;

/// The column of the array's name.
const LIST: &str = "list";
/// The column of the elements of arrays, and of the names of members.
const PREFIX: &str = "prefix";
/// The column of the values of members whose names are prefixes.
const VALUE: &str = "value";
/// The member of `nft -j` with the elements of a set, or with an element that has options.
const NFT_ELEMENT: &str = "elem";
/// The member of `nft -j` with an address, a port and more.
const NFT_CONCAT: &str = "concat";
/// The column of the last system of an AS path.
const ORIGIN: &str = "origin_as";

/// Whether the first bytes are JSON with a name, a string or an array inside, other than the output of
/// `ip -json route`.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    let [start @ (b'[' | b'{'), rest @ ..] = head.trim_ascii_start() else { return false };
    let has = |name: &str| memchr::memmem::find(head, name.as_bytes()).is_some();
    let of_routes = ["\"dev\"", "\"gateway\"", "\"flags\"", "\"nexthops\"", "\"via\""];
    match (start, rest.trim_ascii_start()) {
        (b'[', [b'{', ..]) => !(has("\"dst\"") && of_routes.into_iter().any(has)),
        (_, [b'"', ..]) => true,
        (b'[', [b'[' | b'n' | b't' | b'f', ..]) => true,
        _ => false,
    }
}

/// Loads all rows of the documents in these bytes.
pub(crate) fn load(
    bytes: &[u8],
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), FeedError> {
    let whole = FeedError::whole;
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    if options.prefix.len() > 2 {
        return Err(whole(Problem::PrefixColumns { columns: options.prefix.len() }));
    }
    let names = Names { fixed: options.prefix.clone(), ..Names::default() };
    let taken: HashSet<_> = options.prefix.iter().cloned().collect();
    let pass = |names, taken| {
        let mut pass = JsonPass { names, taken, lenient: options.lenient, ..JsonPass::default() };
        match documents(&mut pass, bytes) {
            // The second pass repeats the error after the rows before it.
            Err(_) if options.lenient => Ok(pass),
            other => other.map(|()| pass),
        }
    };
    let mut first = pass(names.clone(), taken)?;
    let taken = &first.taken | &first.names.taken(first.rows == 0);
    if taken.len() > first.taken.len() {
        first = pass(names, taken)?;
    }
    if first.rows == 0 {
        let columns = first.names.others.into_iter().collect();
        return Err(whole(Problem::NoPrefixColumn { columns }));
    }
    let layout = TextLayout::json(&first.names.columns);
    let load = Load::new(&layout, options, store, report)?;
    let mut second = first.again(load, &layout);
    let end = documents(&mut second, bytes);
    second.end();
    let JsonPass { load, left_out, .. } = second;
    load.into_iter().for_each(|(load, _)| load.end());
    report.left_out.extend(left_out);
    end
}
