//! Lines through points, and step functions.

use crate::model::{Lines, Point, Series};
use crate::page::number;
use crate::page::text::width;
use crate::view::joined;

use super::drawing::{Draw, Drawing, Key, named, ticks, whisker, with_unit};
use super::palette::{Look, Palette};
use super::scale::Scale;
use super::svg::{Anchor, Form, Svg};

/// Distance of names at the ends of lines.
const APART: f64 = 15.0;
/// Maximum number of places that each have a tick.
const FEW: usize = 12;
/// Height above the area of the lines, with the name of the y axis.
const TOP: f64 = 26.0;
/// Half the length of a line at a quartile.
const CAP: (f64, f64) = (3.5, 0.0);

impl Draw for Lines {
    fn draw(&self, form: Form) -> Option<Drawing> {
        self.series.first()?;
        let layout = LineLayout::new(self, form);
        let palette = self.palette();
        let mut svg = Svg::of(form);
        layout.frame(&mut svg, self);
        for series in &self.series {
            let look = palette.look(&series.name);
            let class = class("series", look, series);
            svg.group(&class, &series.name, |svg| match self.steps {
                true => layout.steps(svg, series, look),
                false => layout.line(svg, series, look),
            });
        }
        if self.named_at_ends() && form == Form::Wide {
            layout.names(&mut svg, self, &palette);
        }
        Some(Drawing { height: layout.bottom + 42.0, body: svg.finish() })
    }

    fn keys(&self) -> Vec<Key> {
        let palette = self.palette();
        let key = |series: &Series| {
            let look = palette.look(&series.name);
            let key = Key::new(&series.name, |svg| {
                svg.group(&class("", look, series), "", |svg| {
                    svg.line("line", (1.0, 7.0), (27.0, 7.0));
                    svg.mark(look.shape, "mark", (14.0, 7.0), 3.6);
                });
            });
            Key { narrow_only: self.named_at_ends(), ..key }
        };
        let quartiles = self.points().any(|point| point.spread.is_some()).then(|| {
            Key::new("quartiles of the passes", |svg| {
                svg.group("series c-limit v3", "", |svg| {
                    whisker(svg, [(14.0, 1.0), (14.0, 13.0)], CAP);
                    svg.mark(0, "mark", (14.0, 7.0), 3.0);
                });
            })
        });
        self.series.iter().map(key).chain(quartiles).collect()
    }

    fn describe(&self) -> String {
        let kind = if self.steps { "Steps" } else { "Lines" };
        let mut text = format!("{kind} of {} over {}.", named(&self.y), named(&self.x));
        for Series { name, points, .. } in &self.series {
            let (first, last) = (points[0], points[points.len() - 1]);
            text += &format!(
                " {name}: from {} at {} to {} at {}.",
                number::short(first.y),
                with_unit(first.x, &self.x),
                with_unit(last.y, &self.y),
                with_unit(last.x, &self.x)
            );
        }
        text
    }
}

impl Lines {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }

    fn palette(&self) -> Palette {
        Palette::new(self.series.iter().map(|series| series.name.as_str()))
    }

    /// Returns whether wide drawings name the lines at their ends.
    ///
    /// Distributions all end at the same height, and the names of very many lines do not fit.
    fn named_at_ends(&self) -> bool {
        !self.steps && self.series.len() <= 16
    }

    /// Returns the places of all points if they are few enough for a tick each.
    fn few_places(&self) -> Option<Vec<f64>> {
        let mut places: Vec<f64> = self.points().map(|point| point.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        (!self.steps && places.len() > 1 && places.len() <= FEW).then_some(places)
    }
}

/// Returns the class of a group of elements of a line.
fn class(kind: &str, look: &Look, series: &Series) -> String {
    joined([kind, &look.class, if series.dashed { "dashed" } else { "" }], " ")
}

/// The layout of the drawing.
struct LineLayout {
    form: Form,
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    bottom: f64,
}

impl LineLayout {
    fn new(lines: &Lines, form: Form) -> Self {
        let size = form.letters();
        let bottom = TOP + form.pick(320.0, 230.0);
        let reach = lines.points().flat_map(|point| {
            let [low, high] = point.spread.unwrap_or([point.y; 2]);
            [point.y, low, high]
        });
        let y = Scale::of(&lines.y, reach, false, 6).between(bottom, TOP);
        let ticks = y.ticks.iter().map(|tick| width(&number::tick(*tick), size));
        let left = 12.0 + ticks.fold(0.0, f64::max);
        let names = lines.series.iter().map(|it| width(&it.name, size)).fold(0.0, f64::max);
        let right = match form == Form::Wide && lines.named_at_ends() {
            true => form.width() - names.clamp(20.0, 170.0) - 38.0,
            false => form.width() - 14.0,
        };
        let inset = if lines.steps { 0.0 } else { 10.0 };
        let x = match lines.few_places() {
            Some(places) => Scale::of_places(&lines.x, places),
            None => {
                let places = lines.points().map(|point| point.x);
                Scale::of(&lines.x, places, true, form.pick(8, 5))
            }
        };
        Self { form, x: x.between(left + inset, right - inset), y, left, right, bottom }
    }

    fn frame(&self, svg: &mut Svg, lines: &Lines) {
        let (across, bottom) = (self.form.width(), self.bottom);
        svg.shortened("axis-name", Anchor::Start, (4.0, 13.0), &named(&lines.y), across - 8.0);
        for tick in &self.y.ticks {
            let Some(y) = self.y.at(*tick) else { continue };
            svg.line("grid", (self.left, y), (self.right, y));
            svg.text("tick", Anchor::End, (self.left - 6.0, y + 4.0), &number::tick(*tick));
        }
        svg.line("axis", (self.left, bottom), (self.right, bottom));
        ticks(svg, &self.x, "axis", [bottom, bottom + 4.0], bottom + 17.0);
        let name = named(&lines.x);
        let half = width(&name, self.form.letters()) / 2.0 + 2.0;
        let middle = f64::midpoint(self.left, self.right).max(half).min(across - half);
        svg.text("axis-name", Anchor::Middle, (middle, bottom + 36.0), &name);
    }

    fn place(&self, point: &Point) -> Option<(f64, f64)> {
        Some((self.x.at(point.x)?, self.y.at(point.y)?))
    }

    fn places(&self, series: &Series) -> Vec<(f64, f64)> {
        series.points.iter().filter_map(|point| self.place(point)).collect()
    }

    fn line(&self, svg: &mut Svg, series: &Series, look: &Look) {
        for point in &series.points {
            let ends = point.spread.map(|ends| ends.map(|end| self.y.at(end)));
            if let (Some(x), Some([Some(low), Some(high)])) = (self.x.at(point.x), ends) {
                whisker(svg, [(x, high), (x, low)], CAP);
            }
        }
        let places = self.places(series);
        svg.path("line", &places);
        for at in places {
            svg.mark(look.shape, "mark", at, 4.0);
        }
    }

    fn steps(&self, svg: &mut Svg, series: &Series, look: &Look) {
        let steps = stairs(&thinned(&self.places(series)));
        svg.path("line", &steps);
        for at in self.few_marks(&steps) {
            svg.mark(look.shape, "mark", at, 4.0);
        }
    }

    /// Returns the points at which a distribution crosses a quarter, half and three quarters of the height.
    ///
    /// Marks there distinguish lines without colours.
    fn few_marks(&self, steps: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let heights = [0.25, 0.5, 0.75].map(|part| self.bottom + part * (TOP - self.bottom));
        let crossing = |height: f64| {
            let crosses = |it: &&[(f64, f64)]| (it[0].1 - height) * (it[1].1 - height) <= 0.0;
            steps.windows(2).find(crosses).map(|pair| (pair[0].0, height))
        };
        heights.into_iter().filter_map(crossing).collect()
    }

    /// Draws names at the right, as close to the ends of their lines as possible.
    fn names(&self, svg: &mut Svg, lines: &Lines, palette: &Palette) {
        let end = |series: &Series| self.place(series.points.last()?);
        let mut ends: Vec<(&Series, (f64, f64))> =
            lines.series.iter().filter_map(|series| Some((series, end(series)?))).collect();
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let wanted: Vec<f64> = ends.iter().map(|(_, end)| end.1).collect();
        let heights = spread_out(&wanted, TOP, self.bottom);
        let x = self.right + 12.0;
        for ((series, end), y) in ends.into_iter().zip(heights) {
            let look = palette.look(&series.name);
            svg.group(&class("end", look, series), &series.name, |svg| {
                if (y - end.1).abs() > 3.0 || x - end.0 > 26.0 {
                    svg.line("leader", (end.0 + 6.0, end.1), (x - 2.0, y));
                }
                svg.mark(look.shape, "mark", (x + 4.0, y), 3.6);
                let (at, wide) = ((x + 12.0, y + 4.0), self.form.width() - x - 16.0);
                svg.shortened("label", Anchor::Start, at, &series.name, wide);
            });
        }
    }
}

/// Removes places that are indistinguishable from the one before; the last stays.
///
/// A distribution may have many thousands of places.
fn thinned(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let far = kept.last().is_none_or(|(x, y)| (place.0 - x).abs() + (place.1 - y).abs() >= 0.4);
        if far || at + 1 == places.len() {
            kept.push(*place);
        }
    }
    kept
}

/// Returns the corners of a step function through points.
fn stairs(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::with_capacity(places.len() * 2);
    for (x, y) in places {
        if let Some(before) = corners.last().copied()
            && before.1 != *y
        {
            corners.push((*x, before.1));
        }
        corners.push((*x, *y));
    }
    corners
}

/// Moves sorted heights apart as little as necessary, between top and bottom if they fit.
fn spread_out(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let apart = APART.min((bottom - top) / wanted.len().max(2) as f64);
    let mut heights = wanted.to_vec();
    let mut least = f64::NEG_INFINITY;
    for height in &mut heights {
        *height = height.max(least);
        least = *height + apart;
    }
    let mut most = bottom;
    for height in heights.iter_mut().rev() {
        *height = height.min(most);
        most = *height - apart;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_distance_and_their_order() {
        assert_eq!(spread_out(&[50.0, 100.0], 0.0, 300.0), [50.0, 100.0]);
        assert_eq!(spread_out(&[50.0, 52.0, 54.0], 0.0, 300.0), [50.0, 65.0, 80.0]);
        assert_eq!(spread_out(&[298.0, 299.0], 0.0, 300.0), [285.0, 300.0]);
        let many = spread_out(&[10.0; 40], 0.0, 300.0);
        assert!(many.is_sorted() && many.iter().all(|y| (0.0..=310.0).contains(y)), "{many:?}");
        assert!(spread_out(&[], 0.0, 300.0).is_empty());
    }

    #[test]
    fn indistinguishable_points_are_removed() {
        let many: Vec<(f64, f64)> = (0..=100_000)
            .map(|at| (f64::from(at) / 200.0, 300.0 - f64::from(at) / 400.0))
            .collect();
        let kept = thinned(&many);
        assert!(kept.len() > 500 && kept.len() < 2_100, "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (many.first(), many.last()));
        assert_eq!(thinned(&[(1.0, 1.0)]), [(1.0, 1.0)]);
    }

    #[test]
    fn stairs_go_along_and_then_up() {
        let wanted = [(0.0, 9.0), (1.0, 9.0), (1.0, 5.0), (2.0, 5.0)];
        assert_eq!(stairs(&[(0.0, 9.0), (1.0, 5.0), (2.0, 5.0)]), wanted);
    }
}
