//! Elements common to all charts.

use crate::model::Axis;
use crate::page::number;

use super::form::Form;
use super::palette::Look;
use super::scale::Scale;
use super::svg::Svg;

/// A drawing of a chart.
#[derive(Debug)]
pub(super) struct Drawing {
    /// The height.
    pub height: f64,
    /// The elements.
    pub body: String,
}

/// An entry of a legend: a swatch and its meaning.
#[derive(Debug)]
pub(super) struct Key {
    /// The elements of the swatch.
    pub swatch: String,
    /// The meaning.
    pub text: String,
    /// Whether only narrow drawings need the entry.
    pub narrow_only: bool,
}

impl Key {
    /// Creates an entry for wide and narrow drawings.
    pub fn new(swatch: Svg, text: impl Into<String>) -> Self {
        Self { swatch: swatch.finish(), text: text.into(), narrow_only: false }
    }
}

/// A chart that can be drawn in each form.
pub(super) trait Draw {
    /// Draws the chart; `None` if no value can be drawn.
    fn draw(&self, form: Form) -> Option<Drawing>;

    /// Returns the entries of the legend.
    fn keys(&self) -> Vec<Key>;

    /// Describes the chart for screen readers.
    fn describe(&self) -> String;
}

/// Returns the title of an axis: its name, unit and kind of scale.
pub(super) fn named(axis: &Axis) -> String {
    let log = if axis.log { ", log scale" } else { "" };
    match (axis.name.is_empty(), axis.unit.is_empty()) {
        (false, false) => format!("{} [{}]{log}", axis.name, axis.unit),
        (true, false) => format!("{}{log}", axis.unit),
        (_, true) => format!("{}{log}", axis.name),
    }
}

/// Formats a value with the unit of its axis.
pub(super) fn with_unit(value: f64, axis: &Axis) -> String {
    format!("{} {}", number::short(value), axis.unit).trim_end().to_owned()
}

/// Builds the scale of an axis; see [`Scale::linear`] for `near` and `about`.
pub(super) fn scale(
    axis: &Axis,
    values: impl Iterator<Item = f64>,
    near: bool,
    about: usize,
) -> Scale {
    match axis.log {
        true => Scale::log(values, !near, about),
        false => Scale::linear(values, near, about),
    }
}

/// Returns `n` such that every `n`th label of an axis fits, at least `gap` apart.
///
/// `sizes` are the lengths of the labels along the axis, `step` the distance of their centres.
pub(super) fn every(sizes: &[f64], step: f64, gap: f64) -> usize {
    let fits = |every: &usize| {
        let shown: Vec<f64> = sizes.iter().copied().step_by(*every).collect();
        shown.windows(2).all(|pair| f64::midpoint(pair[0], pair[1]) + gap <= step * *every as f64)
    };
    [1, 2, 4, 5, 10, 20, 50].into_iter().find(fits).unwrap_or(sizes.len().max(1))
}

/// Draws the swatch of a line with its mark.
pub(super) fn line_swatch(look: &Look, dashed: bool) -> Svg {
    let mut svg = Svg::default();
    let kind = if dashed { " dashed" } else { "" };
    svg.group(&format!("{}{kind}", look.class), "", |svg| {
        svg.line("line", (1.0, 7.0), (27.0, 7.0));
        svg.mark(look.shape, "mark", (14.0, 7.0), 3.6);
    });
    svg
}

/// Draws the diamond that marks a paper's value.
pub(super) fn paper_mark(svg: &mut Svg, at: (f64, f64), radius: f64) {
    svg.mark(3, "paper", at, radius);
}
