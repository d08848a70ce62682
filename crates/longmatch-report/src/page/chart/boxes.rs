//! Box plots: a panel for each series, so that many places and series do not overlap; all panels share the axes.

use crate::model::{BoxSeries, Boxes};
use crate::page::number;
use crate::page::text::{BOLD, shorten, width};

use super::drawing::{Draw, Drawing, Key, every, named, scale, with_unit};
use super::form::Form;
use super::palette::Palette;
use super::scale::{Scale, drawable};
use super::svg::{Anchor, Svg};

/// Height of the plot of a panel.
const PLOT: f64 = 150.0;
/// Height of the heading above a plot.
const ABOVE: f64 = 26.0;
/// Height of the labels below a plot.
const BELOW: f64 = 24.0;

impl Draw for Boxes {
    fn draw(&self, form: Form) -> Option<Drawing> {
        self.values().next()?;
        let shown: Vec<&BoxSeries> =
            self.series.iter().filter(|series| self.filled(series).next().is_some()).collect();
        let palette = Palette::new(self.series.iter().map(|series| series.name.as_str()));
        let plan = Plan::new(self, form, shown.len());
        let mut svg = Svg::of(form);
        let name = shorten(&named(&self.y), form.width() - 8.0, form.letters());
        svg.text("axis-name", Anchor::Start, (4.0, 14.0), &name);
        for (at, series) in shown.iter().enumerate() {
            let class = format!("panel {}", palette.look(&series.name).class);
            svg.group(&class, "", |svg| plan.panel(svg, self, series, at));
        }
        let rows = shown.len().div_ceil(plan.across);
        let bottom = 20.0 + rows as f64 * (ABOVE + PLOT + BELOW);
        let name = shorten(&named(&self.x), form.width() - 8.0, form.letters());
        let middle = form.width() / 2.0;
        svg.text("axis-name", Anchor::Middle, (middle, bottom + 10.0), &name);
        Some(Drawing { height: bottom + 18.0, body: svg.finish() })
    }

    fn keys(&self) -> Vec<Key> {
        let mut svg = Svg::default();
        svg.group("c-limit v3", "", |svg| {
            svg.line("whisker", (2.0, 7.0), (26.0, 7.0));
            svg.rect("box", (8.0, 3.0), (12.0, 8.0));
            svg.line("median", (13.0, 2.0), (13.0, 12.0));
        });
        vec![Key::new(svg, "5th, 25th, 50th, 75th and 95th percentile")]
    }

    fn describe(&self) -> String {
        let medians = self.series.iter().map(|series| {
            let all: Vec<f64> = self.filled(series).map(|(_, values)| values[2]).collect();
            let low = all.iter().copied().fold(f64::INFINITY, f64::min);
            let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            match all.is_empty() {
                true => format!("{}: no values", series.name),
                false => format!(
                    "{}: medians from {} to {}",
                    series.name,
                    number::short(low),
                    with_unit(high, &self.y)
                ),
            }
        });
        let medians = medians.collect::<Vec<_>>().join("; ");
        format!("Box plots of {} by {}. {medians}.", named(&self.y), named(&self.x))
    }
}

impl Boxes {
    /// Returns the boxes of a series that can be drawn, with the indices of their places.
    fn filled<'a>(&self, series: &'a BoxSeries) -> impl Iterator<Item = (usize, [f64; 5])> + 'a {
        let (places, log) = (self.places.len(), self.y.log);
        let fits = move |value: &f64| drawable(*value) && !(log && *value <= 0.0);
        let boxes = series.boxes.iter().take(places).enumerate();
        boxes.filter_map(move |(at, values)| {
            let values = (*values)?;
            values.iter().all(fits).then_some((at, values))
        })
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(|series| self.filled(series)).flat_map(|(_, values)| values)
    }
}

/// The layout of the drawing.
struct Plan {
    form: Form,
    scale: Scale,
    /// Number of panels side by side.
    across: usize,
    /// Width of a panel with its margins.
    panel: f64,
    /// Width of the labels left of a plot.
    left: f64,
}

impl Plan {
    fn new(boxes: &Boxes, form: Form, panels: usize) -> Self {
        let scale = scale(&boxes.y, boxes.values(), false, 5).between(PLOT, 0.0);
        let size = form.letters();
        let ticks = scale.ticks.iter().map(|tick| width(&number::tick(*tick), size));
        let left = 10.0 + ticks.fold(0.0, f64::max);
        let across = if form == Form::Wide && panels > 1 { 2 } else { 1 };
        Self { form, scale, across, panel: form.width() / across as f64, left }
    }

    fn panel(&self, svg: &mut Svg, boxes: &Boxes, series: &BoxSeries, at: usize) {
        let size = self.form.letters();
        let from = (at % self.across) as f64 * self.panel + self.left;
        let to = from - self.left + self.panel - 10.0;
        let top = 20.0 + (at / self.across) as f64 * (ABOVE + PLOT + BELOW) + ABOVE;
        let name = shorten(&series.name, to - from - 16.0, size * BOLD);
        svg.rect("swatch-box", (from, top - 15.0), (10.0, 10.0));
        svg.text("group", Anchor::Start, (from + 15.0, top - 6.0), &name);
        for tick in &self.scale.ticks {
            let Some(y) = self.scale.at(*tick) else { continue };
            svg.line("grid", (from, top + y), (to, top + y));
            let text = number::tick(*tick);
            svg.text("tick", Anchor::End, (from - 6.0, top + y + 4.0), &text);
        }
        svg.line("axis", (from, top + PLOT), (to, top + PLOT));
        let step = (to - from) / boxes.places.len() as f64;
        let middle = |at: usize| from + (at as f64 + 0.5) * step;
        let names = || boxes.places.iter().map(|place| shorten(place, step.max(44.0), size));
        let widths: Vec<f64> = names().map(|name| width(&name, size)).collect();
        for (at, name) in names().enumerate().step_by(every(&widths, step, 5.0)) {
            // The label must not cross the panel's edge.
            let x = middle(at).min(to + 9.0 - widths[at] / 2.0);
            svg.text("tick", Anchor::Middle, (x, top + PLOT + 15.0), &name);
        }
        let thick = (step * 0.62).clamp(2.0, 26.0);
        for (at, values) in boxes.filled(series) {
            let place = &boxes.places[at];
            let [least, low, half, high, most] = values.map(|value| with_unit(value, &boxes.y));
            let title = format!("{}, {place}: {least}, {low}, {half}, {high}, {most}", series.name);
            let values = values.map(|value| self.scale.at(value).map(|y| top + y));
            if let [Some(least), Some(low), Some(half), Some(high), Some(most)] = values {
                let places = [least, low, half, high, most];
                svg.group("one-box", &title, |svg| vertical_box(svg, middle(at), thick, places));
            }
        }
    }
}

/// Draws a vertical box; the heights of its percentiles are in ascending order of the values.
fn vertical_box(svg: &mut Svg, x: f64, thick: f64, [least, low, half, high, most]: [f64; 5]) {
    let side = thick / 2.0;
    svg.line("whisker", (x, least), (x, most));
    for y in [least, most] {
        svg.line("whisker", (x - side / 2.0, y), (x + side / 2.0, y));
    }
    svg.rect("box", (x - side, high.min(low)), (thick, (low - high).abs()));
    svg.line("median", (x - side, half), (x + side, half));
}
