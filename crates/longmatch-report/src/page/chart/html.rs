//! Charts as HTML.

use crate::model::{Bars, Chart};
use crate::page::text::escape;

use super::drawing::{Draw, Key};
use super::form::Form;

/// Style of a picture: that of the page's charts, with the page's ground and letters.
const STYLE: &str = concat!(
    include_str!("../colours.css"),
    include_str!("chart.css"),
    "svg { font-family: system-ui, sans-serif; }\n.ground { fill: var(--paper); }\n"
);

/// Renders a chart with its legend as HTML, or a message if no value can be drawn.
///
/// `id` and `title` are those of the figure.
pub(crate) fn html(chart: &Chart, id: &str, title: &str) -> String {
    let chart: &dyn Draw = match chart {
        Chart::Bars(bars) => bars,
        Chart::Lines(lines) => lines,
        Chart::HeatMap(map) => map,
    };
    let Some((wide, narrow)) = chart.draw(Form::Wide).zip(chart.draw(Form::Narrow)) else {
        return "<p class=\"nothing\">No value to draw.</p>\n".into();
    };
    let description = chart.describe() + " The values are in the table below.";
    let mut out = String::from("<div class=\"chart\">\n");
    for (form, drawing) in [(Form::Wide, wide), (Form::Narrow, narrow)] {
        let (class, width, height) = (form.class(), form.width(), drawing.height.ceil());
        let (title, description) = (escape(title), escape(&description));
        out += &format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-{class}-title {id}-{class}-says\">\n\
             <title id=\"{id}-{class}-title\">{title}</title>\n\
             <desc id=\"{id}-{class}-says\">{description}</desc>\n{}</svg>\n",
            drawing.body
        );
    }
    out + &legend(&chart.keys()) + "</div>\n"
}

/// Draws a chart as a picture by itself, in the reader's colour scheme.
pub(crate) fn picture(chart: &Bars) -> Option<String> {
    let drawing = chart.draw(Form::Wide)?;
    let (width, height, about) = (Form::Wide.width(), drawing.height.ceil(), chart.describe());
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{}\">\n<style>\n{}</style>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
        escape(&about),
        escape(STYLE),
        drawing.body
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
