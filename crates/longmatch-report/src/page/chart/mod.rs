//! The charts, as SVG inside the page.
//!
//! Each is drawn twice, once for wide pages and paper and once for phones, and the style sheet
//! shows one of them: letters keep their size, and nobody has to scroll sideways. All colours are
//! classes of the style sheet, so that a chart follows the page from light to dark.

mod bars;
mod boxes;
mod heat;
mod lines;
mod palette;
mod scale;
mod svg;
#[cfg(test)]
mod tests;

use crate::model::{Axis, Chart};

use super::number;
use super::text::escape;
use palette::Look;
use scale::Scale;
use svg::Svg;

/// For which width a chart is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// A page of a book, a tablet and more.
    Wide,
    /// A phone.
    Narrow,
}

impl Form {
    /// Units from left to right.
    const fn width(self) -> f64 {
        match self {
            Self::Wide => 720.0,
            Self::Narrow => 360.0,
        }
    }

    /// The size of the letters: the style sheet has the same.
    const fn letters(self) -> f64 {
        match self {
            Self::Wide => 12.0,
            Self::Narrow => 11.0,
        }
    }

    /// The class in the style sheet.
    const fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }
}

/// One drawing.
#[derive(Debug)]
struct Drawing {
    height: f64,
    body: String,
}

/// What stands in a legend: a swatch, and what it means.
#[derive(Debug)]
struct Key {
    swatch: String,
    text: String,
    /// Whether wide drawings say it themselves.
    narrow_only: bool,
}

impl Key {
    fn new(swatch: Svg, text: impl Into<String>) -> Self {
        Self { swatch: swatch.finish(), text: text.into(), narrow_only: false }
    }
}

/// A chart in its forms.
trait Draw {
    /// Nothing when there is no value that could be drawn.
    fn draw(&self, form: Form) -> Option<Drawing>;

    /// What the legend says.
    fn keys(&self) -> Vec<Key>;

    /// The chart in a sentence or two, for who does not see it.
    fn describe(&self) -> String;
}

/// The chart with its legend as HTML, or a word that there is nothing to draw. `id` is that of
/// its figure and `title` what the figure is called.
pub(super) fn html(chart: &Chart, id: &str, title: &str) -> String {
    let chart: &dyn Draw = match chart {
        Chart::Bars(bars) => bars,
        Chart::Lines(lines) => lines,
        Chart::Boxes(boxes) => boxes,
        Chart::Heat(heat) => heat,
    };
    let Some((wide, narrow)) = chart.draw(Form::Wide).zip(chart.draw(Form::Narrow)) else {
        return "<p class=\"nothing\">There is no value to draw.</p>\n".into();
    };
    let says = format!("{} The values are in the table below.", chart.describe());
    let mut out = String::from("<div class=\"chart\">\n");
    for (form, drawing) in [(Form::Wide, wide), (Form::Narrow, narrow)] {
        let (class, width, height) = (form.class(), form.width(), drawing.height.ceil());
        let (title, says) = (escape(title), escape(&says));
        out += &format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-{class}-title {id}-{class}-says\">\n\
             <title id=\"{id}-{class}-title\">{title}</title>\n\
             <desc id=\"{id}-{class}-says\">{says}</desc>\n{}</svg>\n",
            drawing.body
        );
    }
    out + &legend(&chart.keys()) + "</div>\n"
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

/// What an axis says: its name and its unit.
fn named(axis: &Axis) -> String {
    let log = if axis.log { ", log scale" } else { "" };
    match (axis.name.is_empty(), axis.unit.is_empty()) {
        (false, false) => format!("{} [{}]{log}", axis.name, axis.unit),
        (true, false) => format!("{}{log}", axis.unit),
        (_, true) => format!("{}{log}", axis.name),
    }
}

/// A value with the unit of its axis, in a sentence.
fn said(value: f64, axis: &Axis) -> String {
    format!("{} {}", number::short(value), axis.unit).trim_end().to_owned()
}

/// The scale of an axis, with its letter of what it needs: see [`Scale::linear`].
fn scale(axis: &Axis, values: impl Iterator<Item = f64>, near: bool, about: usize) -> Scale {
    match axis.log {
        true => Scale::log(values, !near, about),
        false => Scale::linear(values, near, about),
    }
}

/// Which labels of an axis stand there: every first, second, fourth, fifth or tenth, so that none
/// is nearer to the next than `step` says; `sizes` are their lengths along the axis.
fn every(sizes: &[f64], step: f64, gap: f64) -> usize {
    let fits = |every: &usize| {
        let shown: Vec<f64> = sizes.iter().copied().step_by(*every).collect();
        shown.windows(2).all(|pair| f64::midpoint(pair[0], pair[1]) + gap <= step * *every as f64)
    };
    [1, 2, 4, 5, 10, 20, 50].into_iter().find(fits).unwrap_or(sizes.len().max(1))
}

/// A swatch of a line with its mark.
fn line_swatch(look: &Look, dashed: bool) -> Svg {
    let mut svg = Svg::default();
    let kind = if dashed { " dashed" } else { "" };
    svg.group(&format!("{}{kind}", look.class), "", |svg| {
        svg.line("line", (1.0, 7.0), (27.0, 7.0));
        svg.mark(look.shape, "mark", (14.0, 7.0), 3.6);
    });
    svg
}

/// The diamond that marks what a paper gives.
fn paper_mark(svg: &mut Svg, at: (f64, f64), radius: f64) {
    svg.mark(3, "paper", at, radius);
}
