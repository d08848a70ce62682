//! What all charts have in common.

use crate::model::Axis;
use crate::page::number;

use super::form::Form;
use super::palette::Look;
use super::scale::Scale;
use super::svg::Svg;

/// One drawing.
#[derive(Debug)]
pub(super) struct Drawing {
    /// Units from top to bottom.
    pub height: f64,
    /// The elements.
    pub body: String,
}

/// What stands in a legend: a swatch, and what it means.
#[derive(Debug)]
pub(super) struct Key {
    /// The elements of the swatch.
    pub swatch: String,
    /// Its meaning.
    pub text: String,
    /// Whether wide drawings say it themselves.
    pub narrow_only: bool,
}

impl Key {
    /// A key of all drawings.
    pub fn new(swatch: Svg, text: impl Into<String>) -> Self {
        Self { swatch: swatch.finish(), text: text.into(), narrow_only: false }
    }
}

/// A chart in its forms.
pub(super) trait Draw {
    /// Nothing when there is no value that could be drawn.
    fn draw(&self, form: Form) -> Option<Drawing>;

    /// What the legend says.
    fn keys(&self) -> Vec<Key>;

    /// The chart in a sentence or two, for who does not see it.
    fn describe(&self) -> String;
}

/// What an axis says: its name and its unit.
pub(super) fn named(axis: &Axis) -> String {
    let log = if axis.log { ", log scale" } else { "" };
    match (axis.name.is_empty(), axis.unit.is_empty()) {
        (false, false) => format!("{} [{}]{log}", axis.name, axis.unit),
        (true, false) => format!("{}{log}", axis.unit),
        (_, true) => format!("{}{log}", axis.name),
    }
}

/// A value with the unit of its axis, in a sentence.
pub(super) fn said(value: f64, axis: &Axis) -> String {
    format!("{} {}", number::short(value), axis.unit).trim_end().to_owned()
}

/// The scale of an axis, with its letter of what it needs: see [`Scale::linear`].
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

/// Which labels of an axis stand there: every first, second, fourth, fifth or tenth, so that none
/// is nearer to the next than `step` says; `sizes` are their lengths along the axis.
pub(super) fn every(sizes: &[f64], step: f64, gap: f64) -> usize {
    let fits = |every: &usize| {
        let shown: Vec<f64> = sizes.iter().copied().step_by(*every).collect();
        shown.windows(2).all(|pair| f64::midpoint(pair[0], pair[1]) + gap <= step * *every as f64)
    };
    [1, 2, 4, 5, 10, 20, 50].into_iter().find(fits).unwrap_or(sizes.len().max(1))
}

/// A swatch of a line with its mark.
pub(super) fn line_swatch(look: &Look, dashed: bool) -> Svg {
    let mut svg = Svg::default();
    let kind = if dashed { " dashed" } else { "" };
    svg.group(&format!("{}{kind}", look.class), "", |svg| {
        svg.line("line", (1.0, 7.0), (27.0, 7.0));
        svg.mark(look.shape, "mark", (14.0, 7.0), 3.6);
    });
    svg
}

/// The diamond that marks what a paper gives.
pub(super) fn paper_mark(svg: &mut Svg, at: (f64, f64), radius: f64) {
    svg.mark(3, "paper", at, radius);
}
