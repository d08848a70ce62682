//! Elements common to all charts.

use crate::model::Axis;
use crate::page::number;
use crate::page::text::width;

use super::scale::Scale;
use super::svg::{Anchor, Form, Svg};

/// A drawing of a chart: its height and its elements.
#[derive(Debug)]
pub(super) struct Drawing {
    pub height: f64,
    pub body: String,
}

/// An entry of a legend: a swatch and its meaning.
#[derive(Debug)]
pub(super) struct Key {
    pub swatch: String,
    pub text: String,
    /// Whether only narrow drawings need the entry.
    pub narrow_only: bool,
}

impl Key {
    /// Creates an entry for wide and narrow drawings.
    pub fn new(text: impl Into<String>, swatch: impl FnOnce(&mut Svg)) -> Self {
        let mut svg = Svg::of(Form::Narrow);
        swatch(&mut svg);
        Self { swatch: svg.finish(), text: text.into(), narrow_only: false }
    }
}

/// A chart that can be drawn in each form.
pub(super) trait Draw {
    /// Draws the chart; `None` if there is no value.
    fn draw(&self, form: Form) -> Option<Drawing>;

    /// Returns the entries of the legend.
    fn keys(&self) -> Vec<Key>;

    /// Describes the chart for screen readers.
    fn describe(&self) -> String;
}

/// Returns the title of an axis: its name, unit and kind of scale.
pub(super) fn named(axis: &Axis) -> String {
    let unit = if axis.unit.is_empty() { String::new() } else { format!(" [{}]", axis.unit) };
    format!("{}{unit}{}", axis.name, if axis.log { ", log scale" } else { "" })
}

/// Formats a value with the unit of its axis.
pub(super) fn with_unit(value: f64, axis: &Axis) -> String {
    format!("{} {}", number::short(value), axis.unit).trim_end().to_owned()
}

/// Draws the ticks of a horizontal axis from height to height, and at `baseline` the labels that have space.
pub(super) fn ticks(
    svg: &mut Svg,
    scale: &Scale,
    class: &str,
    [from, to]: [f64; 2],
    baseline: f64,
) {
    let (size, across) = (svg.form.letters(), svg.form.width());
    let mut free = 0.0;
    for tick in &scale.ticks {
        let Some(x) = scale.at(*tick) else { continue };
        svg.line(class, (x, from), (x, to));
        let text = number::tick(*tick);
        let half = width(&text, size) / 2.0;
        let middle = x.clamp(half + 1.0, across - half - 1.0);
        if middle - half >= free {
            svg.text("tick", Anchor::Middle, (middle, baseline), &text);
            free = middle + half + 5.0;
        }
    }
}

/// Draws a line between quartiles, with a cap of half a length at each.
pub(super) fn whisker(svg: &mut Svg, ends: [(f64, f64); 2], (dx, dy): (f64, f64)) {
    svg.line("whisker", ends[0], ends[1]);
    for (x, y) in ends {
        svg.line("whisker", (x - dx, y - dy), (x + dx, y + dy));
    }
}
