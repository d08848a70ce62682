//! Horizontal bars.

use crate::model::{Bar, Bars};
use crate::page::number;
use crate::page::text::{BOLD, shorten, width};

use super::drawing::{Draw, Drawing, Key, named, paper_mark, scale, with_unit};
use super::form::Form;
use super::palette::Palette;
use super::scale::{Scale, drawable};
use super::svg::{Anchor, Svg};

/// Height of a bar.
const THICK: f64 = 12.0;

impl Draw for Bars {
    fn draw(&self, form: Form) -> Option<Drawing> {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        if !bars().any(|bar| self.value(bar).is_some() || self.place(bar.paper).is_some()) {
            return None;
        }
        let plan = Plan::new(self, form);
        let mut svg = Svg::of(form);
        let foot = plan.grid(&mut svg, self);
        let palette = Palette::new(bars().map(|bar| bar.name.as_str()));
        let mut top = plan.head();
        for group in &self.groups {
            if !group.name.is_empty() {
                let name = shorten(&group.name, form.width() - 8.0, form.letters() * BOLD);
                svg.text("group", Anchor::Start, (4.0, top + 21.0), &name);
                top += Plan::GROUP;
            }
            for bar in &group.bars {
                let look = palette.look(&bar.name);
                let class = format!("bar-row {}", look.class);
                svg.group(&class, &self.describe_bar(bar), |svg| plan.bar(svg, self, bar, top));
                top += plan.row();
            }
        }
        Some(Drawing { height: foot, body: svg.finish() })
    }

    fn keys(&self) -> Vec<Key> {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let mut keys = Vec::new();
        if bars().any(|bar| self.value(bar).is_some() && self.spread(bar).is_some()) {
            let mut svg = Svg::default();
            whisker(&mut svg, 3.0, 25.0, 7.0);
            keys.push(Key::new(svg, "quartiles of the passes"));
        }
        if bars().any(|bar| self.place(bar.paper).is_some()) {
            let mut svg = Svg::default();
            paper_mark(&mut svg, (14.0, 7.0), 5.0);
            keys.push(Key::new(svg, "the paper's value"));
        }
        keys
    }

    fn describe(&self) -> String {
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        let mut with: Vec<(f64, &Bar)> =
            bars.filter_map(|bar| Some((self.value(bar)?, bar))).collect();
        with.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut text = format!("{} horizontal bars, {}.", with.len(), named(&self.value));
        if let (Some((low, least)), Some((high, most))) = (with.first(), with.last()) {
            text += &format!(
                " The longest is {} with {}, the shortest {} with {}.",
                most.name,
                with_unit(*high, &self.value),
                least.name,
                with_unit(*low, &self.value)
            );
        }
        text
    }
}

impl Bars {
    /// Returns the value of a bar if it can be drawn.
    fn value(&self, bar: &Bar) -> Option<f64> {
        self.place(bar.value)
    }

    fn place(&self, value: Option<f64>) -> Option<f64> {
        value.filter(|value| drawable(*value) && !(self.value.log && *value <= 0.0))
    }

    fn spread(&self, bar: &Bar) -> Option<[f64; 2]> {
        let [low, high] = bar.spread?;
        Some([self.place(Some(low))?, self.place(Some(high))?])
    }

    /// Returns all values that the scale must include.
    fn reach(&self) -> impl Iterator<Item = f64> {
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        bars.flat_map(|bar| {
            let [low, high] = self.spread(bar).map_or([None; 2], |spread| spread.map(Some));
            [self.value(bar), self.place(bar.paper), low, high].into_iter().flatten()
        })
    }

    /// Describes a bar in full, for its title.
    fn describe_bar(&self, bar: &Bar) -> String {
        let mut text = format!("{}:", bar.name);
        if let Some(value) = self.value(bar) {
            text += &format!(" {}", with_unit(value, &self.value));
        }
        if let Some([low, high]) = self.spread(bar) {
            text += &format!(" ({} – {})", number::short(low), number::short(high));
        }
        if let Some(paper) = self.place(bar.paper) {
            text += &format!(" paper: {}", with_unit(paper, &self.value));
        }
        format!("{text} {}", bar.note).trim_end().to_owned()
    }

    /// Returns the value and the note to the right of a bar. The note names the paper's value, so that ours is not taken
    /// for it where it stands behind the paper's mark.
    fn written(&self, bar: &Bar) -> (String, String) {
        let value = self.value(bar).map_or_else(String::new, number::short);
        let paper = self.place(bar.paper).map(|paper| format!("paper {}", number::short(paper)));
        let note = [paper.unwrap_or_default(), bar.note.clone()];
        (value, note.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("; "))
    }
}

/// The layout of the drawing.
struct Plan {
    form: Form,
    scale: Scale,
    left: f64,
}

impl Plan {
    /// Height of a group's heading.
    const GROUP: f64 = 30.0;

    fn new(bars: &Bars, form: Form) -> Self {
        let all = || bars.groups.iter().flat_map(|group| &group.bars);
        let size = form.letters();
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let left = match form {
            Form::Wide => {
                12.0 + widest(&mut all().map(|bar| width(&bar.name, size))).clamp(40.0, 210.0)
            }
            Form::Narrow => 4.0,
        };
        let texts = &mut all().map(|bar| {
            let (value, note) = bars.written(bar);
            // Without a bar, the note may take the whole width.
            let note = if value.is_empty() { 0.0 } else { width(&note, size) };
            width(&value, size * BOLD) + note + if note > 0.0 { 8.0 } else { 0.0 }
        });
        let right = widest(texts).clamp(30.0, form.width() * 0.3) + 14.0;
        let about = if form == Form::Wide { 6 } else { 4 };
        let scale =
            scale(&bars.value, bars.reach(), false, about).between(left, form.width() - right);
        Self { form, scale, left }
    }

    const fn head(&self) -> f64 {
        26.0
    }

    /// Height of a row.
    const fn row(&self) -> f64 {
        match self.form {
            Form::Wide => 20.0,
            Form::Narrow => 38.0,
        }
    }

    /// Draws the grid and its labels, and returns the height of the drawing.
    fn grid(&self, svg: &mut Svg, bars: &Bars) -> f64 {
        let size = self.form.letters();
        let heights = bars.groups.iter().map(|group| {
            let name = if group.name.is_empty() { 0.0 } else { Self::GROUP };
            name + group.bars.len() as f64 * self.row()
        });
        let bottom = self.head() + heights.sum::<f64>() + 4.0;
        let name = shorten(&named(&bars.value), self.form.width() - self.left, size);
        svg.text("axis-name", Anchor::Start, (self.left, 14.0), &name);
        let mut free = 0.0;
        for tick in &self.scale.ticks {
            let Some(x) = self.scale.at(*tick) else { continue };
            svg.line("grid", (x, self.head() - 4.0), (x, bottom));
            let text = number::tick(*tick);
            let half = width(&text, size) / 2.0;
            let middle = x.max(half + 1.0);
            if middle - half >= free {
                svg.text("tick", Anchor::Middle, (middle, bottom + 15.0), &text);
                free = middle + half + 6.0;
            }
        }
        let base = self.scale.base();
        svg.line("axis", (base, self.head() - 4.0), (base, bottom));
        bottom + 22.0
    }

    fn bar(&self, svg: &mut Svg, bars: &Bars, bar: &Bar, top: f64) {
        let size = self.form.letters();
        let middle = match self.form {
            Form::Wide => {
                let name = shorten(&bar.name, self.left - 10.0, size);
                svg.text("label", Anchor::End, (self.left - 8.0, top + 14.0), &name);
                top + 10.0
            }
            Form::Narrow => {
                let name = shorten(&bar.name, self.form.width() - 8.0, size);
                svg.text("label", Anchor::Start, (self.left, top + 15.0), &name);
                top + 25.0
            }
        };
        let base = self.scale.base();
        let mut end = base;
        if let Some(x) = bars.value(bar).and_then(|value| self.scale.at(value)) {
            let (from, to) = (base.min(x), base.max(x));
            svg.rect("bar", (from, middle - THICK / 2.0), (to - from, THICK));
            end = to;
            let ends = bars.spread(bar).map(|spread| spread.map(|value| self.scale.at(value)));
            if let Some([Some(low), Some(high)]) = ends {
                whisker(svg, low, high, middle);
                end = end.max(high);
            }
        }
        let paper = bars.place(bar.paper).and_then(|paper| self.scale.at(paper));
        self.write(svg, bars, bar, (end + 5.0, middle + 4.0), paper);
        if let Some(x) = paper {
            paper_mark(svg, (x, middle), 5.0);
        }
    }

    /// Writes value and note to the right of a bar, beyond the paper's mark if they would overlap it.
    fn write(
        &self,
        svg: &mut Svg,
        bars: &Bars,
        bar: &Bar,
        (mut x, y): (f64, f64),
        paper: Option<f64>,
    ) {
        let size = self.form.letters();
        let (value, note) = bars.written(bar);
        let gap = if value.is_empty() { 0.0 } else { 8.0 };
        let wide = width(&value, size * BOLD)
            + if note.is_empty() { 0.0 } else { gap + width(&note, size) };
        if let Some(paper) = paper
            && paper > x - 7.0
            && paper < x + wide + 7.0
        {
            x = paper + 9.0;
        }
        if !value.is_empty() {
            svg.text("value", Anchor::Start, (x, y), &value);
            x += width(&value, size * BOLD) + gap;
        }
        if !note.is_empty() {
            let note = shorten(&note, (self.form.width() - x - 2.0).max(0.0), size);
            svg.text("note", Anchor::Start, (x, y), &note);
        }
    }
}

fn whisker(svg: &mut Svg, low: f64, high: f64, y: f64) {
    svg.line("whisker", (low, y), (high, y));
    for x in [low, high] {
        svg.line("whisker", (x, y - 3.0), (x, y + 3.0));
    }
}
