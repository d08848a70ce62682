//! Lines through points, and step functions.

use crate::model::{Axis, Lines, Point, Series};
use crate::page::number;
use crate::page::text::{shorten, width};

use super::drawing::{Draw, Drawing, Key, line_swatch, named, scale, with_unit};
use super::form::Form;
use super::palette::{Look, Palette};
use super::scale::{Scale, drawable};
use super::svg::{Anchor, Svg};

/// Distance of names at the ends of lines.
const APART: f64 = 15.0;
/// Maximum number of places that each have a tick.
const FEW: usize = 12;

impl Draw for Lines {
    fn draw(&self, form: Form) -> Option<Drawing> {
        self.shown().next()?;
        let plan = Plan::new(self, form);
        let palette = self.palette();
        let mut svg = Svg::of(form);
        plan.frame(&mut svg, self);
        for series in self.shown() {
            let look = palette.look(&series.name);
            let dashed = if series.dashed { " dashed" } else { "" };
            let class = format!("series {}{dashed}", look.class);
            svg.group(&class, &series.name, |svg| plan.series(svg, self, series, look));
        }
        if self.named_at_ends() && form == Form::Wide {
            plan.names(&mut svg, self, &palette);
        }
        Some(Drawing { height: plan.bottom + 42.0, body: svg.finish() })
    }

    fn keys(&self) -> Vec<Key> {
        let palette = self.palette();
        let at_ends = self.named_at_ends();
        let mut keys: Vec<Key> = self
            .shown()
            .map(|series| Key {
                narrow_only: at_ends,
                ..Key::new(line_swatch(palette.look(&series.name), series.dashed), &series.name)
            })
            .collect();
        if self.shown().any(|series| self.points(series).any(|point| point.spread.is_some())) {
            let mut svg = Svg::default();
            svg.group("series c-limit v3", "", |svg| {
                whisker(svg, (14.0, 1.0), (14.0, 13.0));
                svg.mark(0, "mark", (14.0, 7.0), 3.0);
            });
            keys.push(Key::new(svg, "quartiles of the passes"));
        }
        keys
    }

    fn describe(&self) -> String {
        let kind = if self.steps { "Steps" } else { "Lines" };
        let mut text = format!("{kind} of {} over {}.", named(&self.y), named(&self.x));
        for series in self.shown() {
            let points: Vec<Point> = self.points(series).collect();
            if let (Some(first), Some(last)) = (points.first(), points.last()) {
                text += &format!(
                    " {}: from {} at {} to {} at {}.",
                    series.name,
                    number::short(first.y),
                    with_unit(first.x, &self.x),
                    with_unit(last.y, &self.y),
                    with_unit(last.x, &self.x)
                );
            }
        }
        text
    }
}

impl Lines {
    /// Returns the series with points that can be drawn.
    fn shown(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|series| self.points(series).next().is_some())
    }

    /// Returns the points of a series that can be drawn.
    fn points<'a>(&'a self, series: &'a Series) -> impl Iterator<Item = Point> + 'a {
        let fits = |value: f64, axis: &Axis| drawable(value) && !(axis.log && value <= 0.0);
        let points = series.points.iter().copied();
        points.filter(move |point| fits(point.x, &self.x) && fits(point.y, &self.y)).map(
            move |point| {
                let spread = point.spread.filter(|ends| ends.iter().all(|end| fits(*end, &self.y)));
                Point { spread, ..point }
            },
        )
    }

    fn all(&self) -> impl Iterator<Item = Point> {
        self.series.iter().flat_map(|series| self.points(series))
    }

    fn palette(&self) -> Palette {
        Palette::new(self.series.iter().map(|series| series.name.as_str()))
    }

    /// Returns whether wide drawings name the lines at their ends.
    ///
    /// Distributions all end at the same height, and the names of very many lines do not fit.
    fn named_at_ends(&self) -> bool {
        !self.steps && self.shown().count() <= 16
    }

    /// Returns the places of all points if they are few enough for a tick each.
    fn few_places(&self) -> Option<Vec<f64>> {
        let mut places: Vec<f64> = self.all().map(|point| point.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        (!self.steps && places.len() > 1 && places.len() <= FEW).then_some(places)
    }
}

/// The layout of the drawing.
struct Plan {
    form: Form,
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    bottom: f64,
}

impl Plan {
    const TOP: f64 = 26.0;

    fn new(lines: &Lines, form: Form) -> Self {
        let size = form.letters();
        let high = if form == Form::Wide { 320.0 } else { 230.0 };
        let bottom = Self::TOP + high;
        let reach = lines.all().flat_map(|point| {
            let [low, high] = point.spread.unwrap_or([point.y; 2]);
            [point.y, low, high]
        });
        let y = scale(&lines.y, reach, false, 6).between(bottom, Self::TOP);
        let ticks = y.ticks.iter().map(|tick| width(&number::tick(*tick), size));
        let left = 12.0 + ticks.fold(0.0, f64::max);
        let names = lines.shown().map(|series| width(&series.name, size)).fold(0.0, f64::max);
        let right = match form == Form::Wide && lines.named_at_ends() {
            true => form.width() - names.clamp(20.0, 170.0) - 38.0,
            false => form.width() - 14.0,
        };
        let about = if form == Form::Wide { 8 } else { 5 };
        let inset = if lines.steps { 0.0 } else { 10.0 };
        let places = lines.all().map(|point| point.x);
        let x = scale(&lines.x, places, true, about).between(left + inset, right - inset);
        let x = match lines.few_places() {
            Some(places) => tight(&x, lines, places, left + inset, right - inset),
            None => x,
        };
        Self { form, x, y, left, right, bottom }
    }

    fn frame(&self, svg: &mut Svg, lines: &Lines) {
        let size = self.form.letters();
        let name = shorten(&named(&lines.y), self.form.width() - 8.0, size);
        svg.text("axis-name", Anchor::Start, (4.0, 13.0), &name);
        for tick in &self.y.ticks {
            let Some(y) = self.y.at(*tick) else { continue };
            svg.line("grid", (self.left, y), (self.right, y));
            svg.text("tick", Anchor::End, (self.left - 6.0, y + 4.0), &number::tick(*tick));
        }
        svg.line("axis", (self.left, self.bottom), (self.right, self.bottom));
        let mut free = 0.0;
        for tick in &self.x.ticks {
            let Some(x) = self.x.at(*tick) else { continue };
            svg.line("axis", (x, self.bottom), (x, self.bottom + 4.0));
            let text = number::tick(*tick);
            let half = width(&text, size) / 2.0;
            let middle = x.min(self.form.width() - half - 1.0).max(half);
            if middle - half >= free {
                svg.text("tick", Anchor::Middle, (middle, self.bottom + 17.0), &text);
                free = middle + half + 5.0;
            }
        }
        let name = shorten(&named(&lines.x), self.form.width() - 8.0, size);
        let half = width(&name, size) / 2.0 + 2.0;
        let middle = f64::midpoint(self.left, self.right).max(half).min(self.form.width() - half);
        svg.text("axis-name", Anchor::Middle, (middle, self.bottom + 36.0), &name);
    }

    fn place(&self, point: &Point) -> Option<(f64, f64)> {
        Some((self.x.at(point.x)?, self.y.at(point.y)?))
    }

    fn series(&self, svg: &mut Svg, lines: &Lines, series: &Series, look: &Look) {
        let points: Vec<Point> = lines.points(series).collect();
        let places: Vec<(f64, f64)> = points.iter().filter_map(|point| self.place(point)).collect();
        if lines.steps {
            let steps = stairs(&thinned(&places));
            svg.path("line", &steps);
            for at in self.few_marks(&steps) {
                svg.mark(look.shape, "mark", at, 4.0);
            }
            return;
        }
        for point in &points {
            let ends = point.spread.map(|ends| ends.map(|end| self.y.at(end)));
            if let (Some(x), Some([Some(low), Some(high)])) = (self.x.at(point.x), ends) {
                whisker(svg, (x, high), (x, low));
            }
        }
        svg.path("line", &places);
        for at in places {
            svg.mark(look.shape, "mark", at, 4.0);
        }
    }

    /// Returns the points at which a distribution crosses a quarter, half and three quarters of the height.
    ///
    /// Marks there distinguish lines without colours.
    fn few_marks(&self, steps: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let heights = [0.25, 0.5, 0.75].map(|part| self.bottom + part * (Self::TOP - self.bottom));
        let crossing = |height: f64| {
            let pairs = steps.iter().zip(steps.iter().skip(1));
            let mut crossed = pairs.filter(|(a, b)| (a.1 - height) * (b.1 - height) <= 0.0);
            crossed.next().map(|(a, _)| (a.0, height))
        };
        heights.into_iter().filter_map(crossing).collect()
    }

    /// Draws names at the right, as close to the ends of their lines as possible.
    fn names(&self, svg: &mut Svg, lines: &Lines, palette: &Palette) {
        let size = self.form.letters();
        let mut ends: Vec<(&Series, (f64, f64))> = lines
            .shown()
            .filter_map(|series| Some((series, self.place(&lines.points(series).last()?)?)))
            .collect();
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let wanted: Vec<f64> = ends.iter().map(|(_, end)| end.1).collect();
        let heights = spread_out(&wanted, Self::TOP, self.bottom);
        let x = self.right + 12.0;
        for ((series, end), y) in ends.iter().zip(heights) {
            let look = palette.look(&series.name);
            let dashed = if series.dashed { " dashed" } else { "" };
            svg.group(&format!("end {}{dashed}", look.class), &series.name, |svg| {
                let far = (y - end.1).abs() > 3.0 || x - end.0 > 26.0;
                if far {
                    svg.line("leader", (end.0 + 6.0, end.1), (x - 2.0, y));
                }
                svg.mark(look.shape, "mark", (x + 4.0, y), 3.6);
                let name = shorten(&series.name, self.form.width() - x - 16.0, size);
                svg.text("label", Anchor::Start, (x + 12.0, y + 4.0), &name);
            });
        }
    }
}

/// Builds a scale that ends at the outermost of a few places, with a tick at each.
fn tight(scale: &Scale, lines: &Lines, places: Vec<f64>, from: f64, to: f64) -> Scale {
    let ends = (places.first().copied(), places.last().copied());
    let (Some(low), Some(high)) = ends else { return scale.clone() };
    Scale::exact(lines.x.log, low, high).between(from, to).with_ticks(places)
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

fn whisker(svg: &mut Svg, high: (f64, f64), low: (f64, f64)) {
    svg.line("whisker", high, low);
    for (x, y) in [high, low] {
        svg.line("whisker", (x - 3.5, y), (x + 3.5, y));
    }
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
