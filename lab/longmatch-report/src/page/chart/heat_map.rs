//! Heat maps of counts: tables whose cells have a shade for each power of ten.

use core::fmt::Write as _;

use crate::model::HeatMap;
use crate::page::number;
use crate::page::text::escape;

use super::drawing::Key;

/// Renders a heat map as a table; `None` if all counts are zero.
pub(super) fn html(map: &HeatMap) -> Option<String> {
    let HeatMap { axes: [x, y], unit, columns, rows } = map;
    let cells = rows.iter().flat_map(|(row, counts)| {
        counts.iter().zip(columns).map(move |(count, column)| (*count, column, *row))
    });
    let about = |(count, column, row): (u64, &String, i64)| {
        escape(&format!("{x} {column}, {y} {row}: {} {unit}", number::count(count)))
    };
    let most = cells.max_by_key(|cell| cell.0).filter(|cell| cell.0 > 0)?;
    let mut out = format!(
        "<table class=\"heat-map\" role=\"img\" aria-label=\"A heat map. The largest count: {}.\">\n\
         <caption>{}</caption>\n<tbody>\n",
        about(most),
        escape(y)
    );
    for (row, counts) in rows.iter().rev() {
        let _ = write!(out, "<tr><th>{row}</th>");
        for (count, column) in counts.iter().zip(columns) {
            out += &shade(*count).map_or_else(
                || "<td></td>".into(),
                |shade| {
                    let title = about((*count, column, *row));
                    format!("<td class=\"h{shade}\" title=\"{title}\"></td>")
                },
            );
        }
        out += "</tr>\n";
    }
    let names: String = columns.iter().map(|name| format!("<th>{}</th>", escape(name))).collect();
    let _ = writeln!(
        out,
        "</tbody>\n<tfoot>\n<tr><th></th>{names}</tr>\n<tr><td></td><td colspan=\"{}\">{}</td></tr>\n</tfoot>\n</table>",
        columns.len(),
        escape(x)
    );
    Some(out)
}

/// Returns the shade of a count in the style sheet; `None` for zero.
fn shade(count: u64) -> Option<u32> {
    count.checked_ilog10().map(|power| power.min(9))
}

/// Returns the entries of the legend: the ranges of the shades.
pub(super) fn keys(map: &HeatMap) -> Vec<Key> {
    let counts = map.rows.iter().flat_map(|(_, counts)| counts);
    let shades: Vec<u32> = counts.filter_map(|count| shade(*count)).collect();
    let (Some(least), Some(most)) = (shades.iter().min(), shades.iter().max()) else {
        return Vec::new();
    };
    let key = |shade: u32| {
        let low = 10u64.pow(shade);
        let range = match shade {
            0..3 => format!("{low} – {}", 10 * low - 1),
            _ => format!("from {}", number::tick(low as f64)),
        };
        let unit = if shade == *least { map.unit.as_str() } else { "" };
        let text = format!("{range} {unit}").trim_end().to_owned();
        Key::new(text, |svg| svg.rect(&format!("h{shade}"), (4.0, 1.0), (20.0, 12.0)))
    };
    (*least..=*most).map(key).collect()
}
