//! Heat maps of counts with logarithmic shades.

use crate::model::HeatMap;
use crate::page::number;
use crate::page::text::{shorten, width};

use super::drawing::{Draw, Drawing, Key, every, named};
use super::form::Form;
use super::svg::{Anchor, Svg};

/// Number of shades in the style sheet.
const SHADES: usize = 10;

impl Draw for HeatMap {
    fn draw(&self, form: Form) -> Option<Drawing> {
        let shades = Shades::of(self)?;
        let plan = Plan::new(self, form);
        let mut svg = Svg::of(form);
        plan.frame(&mut svg, self);
        svg.group("heat-map", "", |svg| {
            for (column, row, count) in self.filled() {
                let class = format!("h{}", shades.of_count(count));
                let title = format!(
                    "{} {}, {} {}: {} {}",
                    self.x.name,
                    self.columns[column],
                    self.y.name,
                    self.rows[row],
                    number::count(count),
                    self.unit
                );
                let (x, y) = plan.corner(column, row);
                svg.titled_rect(&class, (x, y), (plan.step.0, plan.step.1), &title);
            }
        });
        Some(Drawing { height: plan.bottom + 42.0, body: svg.finish() })
    }

    fn keys(&self) -> Vec<Key> {
        let Some(shades) = Shades::of(self) else { return Vec::new() };
        let key = |shade: usize| {
            let mut svg = Svg::default();
            svg.group("heat-map", "", |svg| {
                svg.rect(&format!("h{shade}"), (4.0, 1.0), (20.0, 12.0));
            });
            Key::new(svg, shades.range(shade))
        };
        let mut keys: Vec<Key> = (shades.first..=shades.last).map(key).collect();
        if let Some(first) = keys.first_mut() {
            first.text = format!("{} {}", first.text, self.unit).trim_end().to_owned();
        }
        keys
    }

    fn describe(&self) -> String {
        let mut text = format!(
            "A heat map of {} over {} and {}: {} cells are not empty.",
            self.unit,
            named(&self.x),
            named(&self.y),
            self.filled().count()
        );
        if let Some((column, row, count)) = self.filled().max_by_key(|cell| cell.2) {
            text += &format!(
                " The largest count, {}, is at {} {} and {} {}.",
                number::count(count),
                self.x.name,
                self.columns[column],
                self.y.name,
                self.rows[row]
            );
        }
        text
    }
}

impl HeatMap {
    /// Returns the non-zero cells within the rows and columns.
    fn filled(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        let (columns, rows) = (self.columns.len(), self.rows.len());
        let on = move |cell: &(usize, usize, u64)| cell.0 < columns && cell.1 < rows && cell.2 > 0;
        self.cells.iter().copied().filter(on)
    }
}

/// The assignment of counts to shades: one shade per power of ten, or steps of 1, 2, 5 and 10 for a small range.
struct Shades {
    fine: bool,
    /// The step of the first shade.
    start: u32,
    /// The shades in use; the last one of the style sheet is always used.
    first: usize,
    last: usize,
}

impl Shades {
    fn of(map: &HeatMap) -> Option<Self> {
        let least = map.filled().map(|cell| cell.2).min()?;
        let most = map.filled().map(|cell| cell.2).max()?;
        let steps = |fine| (step(least, fine), step(most, fine));
        let fine = { steps(true).1 - steps(true).0 < SHADES as u32 };
        let (low, high) = steps(fine);
        // If the counts span more steps than shades, the lowest shade covers all lower steps.
        let start = low.max((high + 1).saturating_sub(SHADES as u32));
        let first = SHADES - 1 - (high - start) as usize;
        Some(Self { fine, start, first, last: SHADES - 1 })
    }

    fn of_count(&self, count: u64) -> usize {
        self.first + step(count, self.fine).saturating_sub(self.start) as usize
    }

    /// Returns the range of counts of a shade, as text.
    fn range(&self, shade: usize) -> String {
        let at = self.start + (shade - self.first) as u32;
        let (low, next) = (floor(at, self.fine), floor(at + 1, self.fine));
        match next.checked_sub(1) {
            Some(high) if high == low => number::count(low),
            Some(high) if high < 1000 => format!("{low} – {high}"),
            _ => format!("from {}", number::tick(low as f64)),
        }
    }
}

/// Returns the step of a count: one step per power of ten, or three if `fine`.
fn step(count: u64, fine: bool) -> u32 {
    let power = count.max(1).ilog10();
    if !fine {
        return power;
    }
    let first = count / 10u64.pow(power);
    3 * power + u32::from(first >= 2) + u32::from(first >= 5)
}

/// Returns the least count of a step; saturates at the greatest number.
fn floor(step: u32, fine: bool) -> u64 {
    let (power, times) = if fine { (step / 3, [1, 2, 5][(step % 3) as usize]) } else { (step, 1) };
    10u64.checked_pow(power).and_then(|floor| floor.checked_mul(times)).unwrap_or(u64::MAX)
}

/// The layout of the drawing.
struct Plan {
    form: Form,
    left: f64,
    top: f64,
    bottom: f64,
    right: f64,
    step: (f64, f64),
}

impl Plan {
    fn new(map: &HeatMap, form: Form) -> Self {
        let size = form.letters();
        let names = map.rows.iter().map(|row| width(row, size)).fold(0.0, f64::max);
        let left = names.min(90.0) + 10.0;
        let across = (form.width() - left - 8.0) / map.columns.len() as f64;
        let across = across.min(34.0);
        // Cells are lower than wide, so that the map fits on a screen.
        let up = (across * 0.8).min(300.0 * 2.0 / map.rows.len() as f64).max(2.0);
        let top = 24.0;
        let bottom = top + up * map.rows.len() as f64;
        let right = left + across * map.columns.len() as f64;
        Self { form, left, top, bottom, right, step: (across, up) }
    }

    /// Returns the upper left corner of a cell.
    fn corner(&self, column: usize, row: usize) -> (f64, f64) {
        (self.left + column as f64 * self.step.0, self.bottom - (row + 1) as f64 * self.step.1)
    }

    fn frame(&self, svg: &mut Svg, map: &HeatMap) {
        let size = self.form.letters();
        let across = self.form.width();
        let name = shorten(&named(&map.y), across - 8.0, size);
        svg.text("axis-name", Anchor::Start, (4.0, 13.0), &name);
        let (left, right) = (self.left, self.right);
        svg.rect("frame", (left, self.top), (right - left, self.bottom - self.top));
        let heights = vec![size; map.rows.len()];
        for at in (0..map.rows.len()).step_by(every(&heights, self.step.1, 1.0)) {
            let y = self.corner(0, at).1 + self.step.1 / 2.0;
            let row = shorten(&map.rows[at], left - 8.0, size);
            svg.text("tick", Anchor::End, (left - 5.0, y + size / 3.0), &row);
            svg.line("guide", (left, y), (right, y));
        }
        let columns = || map.columns.iter().map(|name| shorten(name, self.step.0.max(44.0), size));
        let widths: Vec<f64> = columns().map(|name| width(&name, size)).collect();
        for (at, name) in columns().enumerate().step_by(every(&widths, self.step.0, 5.0)) {
            let x = self.corner(at, 0).0 + self.step.0 / 2.0;
            svg.line("guide", (x, self.top), (x, self.bottom));
            let x = x.min(across - widths[at] / 2.0);
            svg.text("tick", Anchor::Middle, (x, self.bottom + 15.0), &name);
        }
        let name = shorten(&named(&map.x), across - 8.0, size);
        let half = width(&name, size) / 2.0 + 2.0;
        let middle = f64::midpoint(left, right).max(half).min(across - half);
        svg.text("axis-name", Anchor::Middle, (middle, self.bottom + 34.0), &name);
    }
}
