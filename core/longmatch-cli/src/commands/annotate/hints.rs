//! Inputs that are not what the options say, and rows without addresses: errors, and hints that say what to
//! write.

use longmatch_feed::printable;
use longmatch_feed::scan::address::parse_cell;
use longmatch_feed::scan::ndjson;

use super::block::RowCounts;
use super::csv::{DELIMITERS, cells, log, separator};
use super::plan::{ANY_PLACE, Format};
use crate::args::AnnotateArgs;
use crate::error::CliError;
use crate::lines::lines;
use crate::output::{plural, thousands, warn};

/// Checks the first lines of an input.
///
/// # Errors
/// If the input is JSON but not one object a line, or is read as text but is NDJSON or a log with a header.
pub fn check(
    args: &AnnotateArgs,
    name: &str,
    format: &Format,
    bytes: &[u8],
) -> Result<(), CliError> {
    let failed = |problem: &str| Err(CliError::input(name, problem));
    let first = lines(bytes)
        .map(|(start, end, _)| &bytes[start..end])
        .find(|line| !line.trim_ascii().is_empty());
    let Some(first) = first else { return Ok(()) };
    let is_whole = bytes.contains(&b'\n');
    let scanned = || ndjson::scan(first, &[], &mut []);
    match format {
        Format::Json(_) if first.trim_ascii_start().starts_with(b"[") => failed(
            "the input is a JSON array, not one object a line: write its elements with jq -c '.[]'",
        ),
        Format::Json(_)
            if is_whole
                && first.trim_ascii_start().starts_with(b"{")
                && scanned().is_err_and(|damage| damage.at == first.len()) =>
        {
            failed(
                "the first line is a part of a JSON object: write each object on one line with jq -c . (the elements of an array in it: jq -c '.Records[]')",
            )
        }
        Format::Text(regexes) if args.adds() => {
            let is_object = first.starts_with(b"{") && scanned().is_ok();
            let (is_sure, advice) = if is_object {
                let keys = keys(first).join(", ");
                (
                    true,
                    format!(
                        "is NDJSON: name the field with the address with --field; the first line has: {keys}"
                    ),
                )
            } else if let Some(comments) = log(bytes) {
                let names = comments.names().join(", ");
                (
                    true,
                    format!(
                        "is a log with a header: name the column with the address with --column; it has: {names}"
                    ),
                )
            } else if let Some((kind, column)) = csv_column(bytes) {
                (false, format!("looks like {kind}: --column {column} adds cells to its rows"))
            } else {
                return Ok(());
            };
            if is_sure && regexes.is_empty() {
                return failed(&format!("the input {advice}"));
            }
            let name = printable(name);
            warn(format_args!("{name}: the input {advice}; now each line gets cells after a TAB"));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The keys of an object.
fn keys(line: &[u8]) -> Vec<String> {
    let object = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line);
    object.unwrap_or_default().keys().map(|key| printable(key).into_owned()).collect()
}

/// The kind of the delimited text that the first two lines look like, and the number of the column with addresses, from 1;
/// of words its name.
fn csv_column(bytes: &[u8]) -> Option<(&'static str, String)> {
    let bytes = &bytes[separator(bytes).map_or(0, |(len, _)| len)..];
    let mut lines = lines(bytes).map(|(start, end, _)| &bytes[start..end]);
    let (first, second) = (lines.next()?, lines.next()?);
    DELIMITERS.into_iter().find_map(|delimiter| {
        let [first, second] = [first, second].map(|line| cells(line, delimiter));
        let is_address = |cell: &String| parse_cell(cell.as_bytes()).is_some();
        let column = second.iter().position(is_address)?;
        let has_header = !first.iter().any(is_address);
        let same = first.len() == second.len() && second.len() > 1;
        if delimiter == b' ' {
            // Any two lines of a log may have as many words; a header has only names.
            let is_name = |cell: &String| {
                let mut bytes = cell.bytes();
                bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
                    && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_.()".contains(&byte))
            };
            let is_header = has_header && first.iter().all(is_name);
            return (same && is_header)
                .then(|| ("words in columns", printable(&first[column]).into_owned()));
        }
        (same && (has_header || is_address(&first[column])))
            .then(|| ("CSV", (column + 1).to_string()))
    })
}

/// Prints on standard error the number of rows of an input that could not be annotated.
///
/// # Errors
/// If no row has an address, and a cell has something else.
pub fn counts(
    args: &AnnotateArgs,
    name: &str,
    sources: &[String],
    counts: RowCounts,
) -> Result<(), CliError> {
    let filters = args.filters();
    let is_text = sources == [ANY_PLACE];
    let shown = printable(name);
    let RowCounts { rows, missing, bad, addresses, ragged, .. } = counts;
    let all = plural(rows, "row");
    if rows > 0 && addresses == 0 && bad > 0 && !is_text {
        let sources = sources.join(", ");
        return Err(CliError::input(
            name,
            format_args!(
                "no address in {sources} of {all}: {bad} bad, {missing} missing (--strict shows the first)"
            ),
        ));
    }
    if missing + bad > 0 && !(filters && is_text) {
        let hint = match addresses {
            0 => "is there an address in another column, field or place of the line?",
            _ => "nothing was added for them (--strict stops at the first)",
        };
        let es = if missing == 1 { "" } else { "es" };
        let (missing, bad) = (thousands(missing), thousands(bad));
        let missing = format!("{missing} missing address{es}");
        warn(format_args!("{shown}: {missing}, {bad} bad, in {all}: {hint}"));
    }
    if ragged > 0 {
        let ragged = plural(ragged, "row");
        warn(format_args!("{shown}: {ragged} with more or fewer cells than the first row"));
    }
    Ok(())
}
