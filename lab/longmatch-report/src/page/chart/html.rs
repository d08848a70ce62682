//! Charts as HTML.

use crate::model::{Bars, Chart};
use crate::page::table;
use crate::page::text::escape;

use super::drawing::{Draw, Drawing, Key};
use super::palette::engine_colours;
use super::svg::Form;

/// Style of a picture: that of the page's charts, with the page's ground and letters.
const STYLE: &str = concat!(
    include_str!("../colours.css"),
    include_str!("chart.css"),
    "svg { font-family: system-ui, sans-serif; }\n.ground { fill: var(--paper); }\n"
);

/// Renders a chart with its legend as HTML, or a message if there is no value.
///
/// `id` and `title` are those of the figure.
pub(crate) fn html(chart: &Chart, id: &str, title: &str) -> String {
    let (body, keys) = match chart {
        Chart::Bars(bars) => (drawings(bars, id, title), bars.keys()),
        Chart::Lines(lines) => (drawings(lines, id, title), lines.keys()),
        Chart::Grid(grid) => return table::html(grid, title),
    };
    match body {
        Some(body) => format!("<div class=\"chart\">\n{body}{}</div>\n", legend(&keys)),
        None => "<p class=\"nothing\">No value to draw.</p>\n".into(),
    }
}

/// Draws a chart in each form; `None` if there is no value.
fn drawings(chart: &impl Draw, id: &str, title: &str) -> Option<String> {
    let description = escape(&(chart.describe() + " The values are in the table below."));
    let title = escape(title);
    let mut out = String::new();
    for form in [Form::Wide, Form::Narrow] {
        let Drawing { height, body } = chart.draw(form)?;
        let (class, width, height) = (form.pick("wide", "narrow"), form.width(), height.ceil());
        out += &format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-{class}-title {id}-{class}-says\">\n\
             <title id=\"{id}-{class}-title\">{title}</title>\n\
             <desc id=\"{id}-{class}-says\">{description}</desc>\n{body}</svg>\n"
        );
    }
    Some(out)
}

/// Draws a chart as a picture by itself, in the reader's colour scheme.
pub(crate) fn picture(chart: &Bars) -> Option<String> {
    let Drawing { height, body } = chart.draw(Form::Wide)?;
    let (width, height) = (Form::Wide.width(), height.ceil());
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{}\">\n<style>\n{}</style>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n",
        escape(&chart.describe()),
        escape(&[STYLE, &engine_colours()].concat()),
    ))
}

fn legend(keys: &[Key]) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let mut out = String::from(match keys.iter().all(|key| key.narrow_only) {
        true => "<ul class=\"legend only-narrow\">\n",
        false => "<ul class=\"legend\">\n",
    });
    for key in keys {
        let class = if key.narrow_only { " class=\"only-narrow\"" } else { "" };
        out += &format!(
            "<li{class}><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"swatch\" \
             viewBox=\"0 0 28 14\" aria-hidden=\"true\">{}</svg> {}</li>\n",
            key.swatch,
            escape(&key.text)
        );
    }
    out + "</ul>\n"
}
