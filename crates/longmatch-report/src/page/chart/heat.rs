//! A map of counts, in steps of lightness that multiply.

use crate::model::Heat;
use crate::page::number;
use crate::page::text::{shorten, width};

use super::drawing::{Draw, Drawing, Key, every, named};
use super::form::Form;
use super::svg::{Anchor, Svg};

/// The style sheet has so many steps of lightness.
const SHADES: usize = 10;

impl Draw for Heat {
    fn draw(&self, form: Form) -> Option<Drawing> {
        let shades = Shades::of(self)?;
        let plan = Plan::new(self, form);
        let mut svg = Svg::of(form);
        plan.frame(&mut svg, self);
        svg.group("heat", "", |svg| {
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
            svg.group("heat", "", |svg| {
                svg.rect(&format!("h{shade}"), (4.0, 1.0), (20.0, 12.0));
            });
            Key::new(svg, shades.says(shade))
        };
        let mut keys: Vec<Key> = (shades.first..=shades.last).map(key).collect();
        if let Some(first) = keys.first_mut() {
            first.text = format!("{} {}", first.text, self.unit).trim_end().to_owned();
        }
        keys
    }

    fn describe(&self) -> String {
        let mut text = format!(
            "A map of {} over {} and {}: {} fields are not empty.",
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

impl Heat {
    /// The fields that are on the map and not zero.
    fn filled(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        let (columns, rows) = (self.columns.len(), self.rows.len());
        let on = move |cell: &(usize, usize, u64)| cell.0 < columns && cell.1 < rows && cell.2 > 0;
        self.cells.iter().copied().filter(on)
    }
}

/// Which counts have which shade: each shade reaches over a factor of ten, or where all counts are
/// near each other over 1, 2, 5 and 10.
struct Shades {
    fine: bool,
    /// The step that the first shade stands for.
    start: u32,
    /// The shades in use: the darkest, or brightest, is always among them.
    first: usize,
    last: usize,
}

impl Shades {
    fn of(heat: &Heat) -> Option<Self> {
        let least = heat.filled().map(|cell| cell.2).min()?;
        let most = heat.filled().map(|cell| cell.2).max()?;
        let steps = |fine| (step(least, fine), step(most, fine));
        let fine = { steps(true).1 - steps(true).0 < SHADES as u32 };
        let (low, high) = steps(fine);
        // Counts of more than ten powers of ten: the lowest shade reaches over the rest.
        let start = low.max((high + 1).saturating_sub(SHADES as u32));
        let first = SHADES - 1 - (high - start) as usize;
        Some(Self { fine, start, first, last: SHADES - 1 })
    }

    fn of_count(&self, count: u64) -> usize {
        self.first + step(count, self.fine).saturating_sub(self.start) as usize
    }

    /// Which counts a shade stands for.
    fn says(&self, shade: usize) -> String {
        let at = self.start + (shade - self.first) as u32;
        let (low, next) = (floor(at, self.fine), floor(at + 1, self.fine));
        match next.checked_sub(1) {
            Some(high) if high == low => number::count(low),
            Some(high) if high < 1000 => format!("{low} – {high}"),
            _ => format!("from {}", number::tick(low as f64)),
        }
    }
}

/// On which step a count is: its digits less one, or three steps for each digit.
fn step(count: u64, fine: bool) -> u32 {
    let power = count.max(1).ilog10();
    if !fine {
        return power;
    }
    let first = count / 10u64.pow(power);
    3 * power + u32::from(first >= 2) + u32::from(first >= 5)
}

/// The least count of a step; the greatest number where it is beyond all.
fn floor(step: u32, fine: bool) -> u64 {
    let (power, times) = if fine { (step / 3, [1, 2, 5][(step % 3) as usize]) } else { (step, 1) };
    10u64.checked_pow(power).and_then(|floor| floor.checked_mul(times)).unwrap_or(u64::MAX)
}

/// What is where.
struct Plan {
    form: Form,
    left: f64,
    top: f64,
    bottom: f64,
    right: f64,
    step: (f64, f64),
}

impl Plan {
    fn new(heat: &Heat, form: Form) -> Self {
        let size = form.letters();
        let names = heat.rows.iter().map(|row| width(row, size)).fold(0.0, f64::max);
        let left = names.min(90.0) + 10.0;
        let across = (form.width() - left - 8.0) / heat.columns.len() as f64;
        let across = across.min(34.0);
        // A little lower than wide: the map of a book's page fits on a screen.
        let up = (across * 0.8).min(300.0 * 2.0 / heat.rows.len() as f64).max(2.0);
        let top = 24.0;
        let bottom = top + up * heat.rows.len() as f64;
        let right = left + across * heat.columns.len() as f64;
        Self { form, left, top, bottom, right, step: (across, up) }
    }

    /// The left upper corner of a field.
    fn corner(&self, column: usize, row: usize) -> (f64, f64) {
        (self.left + column as f64 * self.step.0, self.bottom - (row + 1) as f64 * self.step.1)
    }

    fn frame(&self, svg: &mut Svg, heat: &Heat) {
        let size = self.form.letters();
        let across = self.form.width();
        let name = shorten(&named(&heat.y), across - 8.0, size);
        svg.text("axis-name", Anchor::Start, (4.0, 13.0), &name);
        let (left, right) = (self.left, self.right);
        svg.rect("frame", (left, self.top), (right - left, self.bottom - self.top));
        let heights = vec![size; heat.rows.len()];
        for at in (0..heat.rows.len()).step_by(every(&heights, self.step.1, 1.0)) {
            let y = self.corner(0, at).1 + self.step.1 / 2.0;
            let row = shorten(&heat.rows[at], left - 8.0, size);
            svg.text("tick", Anchor::End, (left - 5.0, y + size / 3.0), &row);
            svg.line("guide", (left, y), (right, y));
        }
        let columns = || heat.columns.iter().map(|name| shorten(name, self.step.0.max(44.0), size));
        let widths: Vec<f64> = columns().map(|name| width(&name, size)).collect();
        for (at, name) in columns().enumerate().step_by(every(&widths, self.step.0, 5.0)) {
            let x = self.corner(at, 0).0 + self.step.0 / 2.0;
            svg.line("guide", (x, self.top), (x, self.bottom));
            let x = x.min(across - widths[at] / 2.0);
            svg.text("tick", Anchor::Middle, (x, self.bottom + 15.0), &name);
        }
        let name = shorten(&named(&heat.x), across - 8.0, size);
        let half = width(&name, size) / 2.0 + 2.0;
        let middle = f64::midpoint(left, right).max(half).min(across - half);
        svg.text("axis-name", Anchor::Middle, (middle, self.bottom + 34.0), &name);
    }
}
