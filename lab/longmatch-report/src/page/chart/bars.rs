//! Horizontal bars.

use crate::model::{Bar, Bars};
use crate::page::number;
use crate::page::text::{BOLD, width};
use crate::view::joined;

use super::drawing::{Draw, Drawing, Key, named, ticks, whisker, with_unit};
use super::palette::Palette;
use super::scale::Scale;
use super::svg::{Anchor, Form, Svg};

/// Height of a bar.
const THICK: f64 = 12.0;
/// Height of a group's heading.
const HEADING: f64 = 30.0;
/// Height above the bars, with the name of the axis.
const HEAD: f64 = 26.0;
/// Half the length of a line at a quartile.
const CAP: (f64, f64) = (0.0, 3.0);

impl Draw for Bars {
    fn draw(&self, form: Form) -> Option<Drawing> {
        self.bars.iter().find(|bar| bar.value.or(bar.paper).is_some())?;
        let layout = BarLayout::new(self, form);
        let mut svg = Svg::of(form);
        let height = layout.grid(&mut svg, self);
        let palette = Palette::new(self.bars.iter().map(|bar| bar.name.as_str()));
        let mut top = HEAD;
        for group in self.groups() {
            let heading = &group[0].group;
            if !heading.is_empty() {
                let at = (4.0, top + 21.0);
                svg.shortened("group", Anchor::Start, at, heading, (form.width() - 8.0) / BOLD);
                top += HEADING;
            }
            for bar in group {
                let class = format!("bar-row {}", palette.look(&bar.name).class);
                svg.group(&class, &self.describe_bar(bar), |svg| layout.bar(svg, bar, top));
                top += layout.row;
            }
        }
        Some(Drawing { height, body: svg.finish() })
    }

    fn keys(&self) -> Vec<Key> {
        let any = |of: fn(&Bar) -> bool| self.bars.iter().any(of);
        let quartiles = any(|bar| bar.value.is_some() && bar.spread.is_some()).then(|| {
            Key::new("quartiles of the passes", |svg| whisker(svg, [(3.0, 7.0), (25.0, 7.0)], CAP))
        });
        let paper = any(|bar| bar.paper.is_some())
            .then(|| Key::new("the paper's value", |svg| paper_mark(svg, (14.0, 7.0))));
        quartiles.into_iter().chain(paper).collect()
    }

    fn describe(&self) -> String {
        let drawn = || self.bars.iter().filter_map(|bar| Some((bar.value?, &bar.name)));
        let mut text = format!("{} horizontal bars, {}.", drawn().count(), named(&self.value));
        let least = drawn().min_by(|a, b| a.0.total_cmp(&b.0));
        let most = drawn().max_by(|a, b| a.0.total_cmp(&b.0));
        if let (Some((low, least)), Some((high, most))) = (least, most) {
            let [low, high] = [low, high].map(|value| with_unit(value, &self.value));
            text +=
                &format!(" The longest is {most} with {high}, the shortest {least} with {low}.");
        }
        text
    }
}

impl Bars {
    fn groups(&self) -> impl Iterator<Item = &[Bar]> {
        self.bars.chunk_by(|a, b| a.group == b.group)
    }

    /// Describes a bar in full, for its title.
    fn describe_bar(&self, bar: &Bar) -> String {
        let mut text = format!("{}:", bar.name);
        if let Some(value) = bar.value {
            text += &format!(" {}", with_unit(value, &self.value));
        }
        if let Some([low, high]) = bar.spread {
            text += &format!(" ({} – {})", number::short(low), number::short(high));
        }
        if let Some(paper) = bar.paper {
            text += &format!(" paper: {}", with_unit(paper, &self.value));
        }
        format!("{text} {}", bar.note).trim_end().to_owned()
    }
}

/// The text to the right of a bar.
struct Beside {
    value: String,
    note: String,
    /// The distance of the note from the value's left end.
    indent: f64,
    width: f64,
}

impl Beside {
    /// The note names the paper's value, so that ours is not taken for it where it stands behind the paper's mark.
    fn new(bar: &Bar, size: f64) -> Self {
        let value = bar.value.map_or_else(String::new, number::short);
        let paper = bar.paper.map(|paper| format!("paper {}", number::short(paper)));
        let note = joined([&*paper.unwrap_or_default(), &bar.note], "; ");
        let own = width(&value, size * BOLD);
        let indent = if value.is_empty() { 0.0 } else { own + 8.0 };
        let width = if note.is_empty() { own } else { indent + width(&note, size) };
        Self { value, note, indent, width }
    }
}

/// The layout of the drawing.
struct BarLayout {
    form: Form,
    scale: Scale,
    left: f64,
    /// The coordinate of zero.
    base: f64,
    /// Height of a row.
    row: f64,
}

impl BarLayout {
    fn new(bars: &Bars, form: Form) -> Self {
        let size = form.letters();
        let widest = |of: &dyn Fn(&Bar) -> f64| bars.bars.iter().map(of).fold(0.0, f64::max);
        let left = match form {
            Form::Wide => 12.0 + widest(&|bar| width(&bar.name, size)).clamp(40.0, 210.0),
            Form::Narrow => 4.0,
        };
        // Without a bar, the note may take the whole width.
        let beside = widest(&|bar| bar.value.map_or(0.0, |_| Beside::new(bar, size).width));
        let right = beside.clamp(30.0, form.width() * 0.3) + 14.0;
        let reach = bars.bars.iter().flat_map(|bar| {
            let [low, high] = bar.spread.map_or([None; 2], |ends| ends.map(Some));
            [bar.value, bar.paper, low, high].into_iter().flatten()
        });
        let scale = Scale::of(&bars.value, reach, false, form.pick(6, 4));
        let scale = scale.between(left, form.width() - right);
        let base = scale.at(0.0).unwrap_or(left);
        Self { form, scale, left, base, row: form.pick(20.0, 38.0) }
    }

    /// Draws the grid and its labels, and returns the height of the drawing.
    fn grid(&self, svg: &mut Svg, bars: &Bars) -> f64 {
        let headings = bars.groups().filter(|group| !group[0].group.is_empty()).count();
        let heights = headings as f64 * HEADING + bars.bars.len() as f64 * self.row;
        let (top, bottom) = (HEAD - 4.0, HEAD + heights + 4.0);
        let (name, wide) = (named(&bars.value), self.form.width() - self.left);
        svg.shortened("axis-name", Anchor::Start, (self.left, 14.0), &name, wide);
        ticks(svg, &self.scale, "grid", [top, bottom], bottom + 15.0);
        svg.line("axis", (self.base, top), (self.base, bottom));
        bottom + 22.0
    }

    fn bar(&self, svg: &mut Svg, bar: &Bar, top: f64) {
        let (left, across) = (self.left, self.form.width());
        let (anchor, at, wide) = match self.form {
            Form::Wide => (Anchor::End, (left - 8.0, top + 14.0), left - 10.0),
            Form::Narrow => (Anchor::Start, (left, top + 15.0), across - 8.0),
        };
        svg.shortened("label", anchor, at, &bar.name, wide);
        let middle = top + self.form.pick(10.0, 25.0);
        let place = |value| self.scale.at(value);
        let mut end = self.base;
        if let Some(x) = bar.value.and_then(place) {
            let size = ((x - self.base).abs(), THICK);
            svg.rect("bar", (self.base.min(x), middle - THICK / 2.0), size);
            end = end.max(x);
            if let Some([Some(low), Some(high)]) = bar.spread.map(|ends| ends.map(place)) {
                whisker(svg, [(low, middle), (high, middle)], CAP);
                end = end.max(high);
            }
        }
        let Beside { value, note, indent, width } = Beside::new(bar, self.form.letters());
        let (mut x, y) = (end + 5.0, middle + 4.0);
        let paper = bar.paper.and_then(place);
        // The text stands beyond the paper's mark if it would overlap the mark.
        if let Some(paper) = paper
            && paper > x - 7.0
            && paper < x + width + 7.0
        {
            x = paper + 9.0;
        }
        if !value.is_empty() {
            svg.text("value", Anchor::Start, (x, y), &value);
        }
        if !note.is_empty() {
            let (x, wide) = (x + indent, (across - x - indent - 2.0).max(0.0));
            svg.shortened("note", Anchor::Start, (x, y), &note, wide);
        }
        if let Some(x) = paper {
            paper_mark(svg, (x, middle));
        }
    }
}

/// Draws the diamond that marks a paper's value.
fn paper_mark(svg: &mut Svg, at: (f64, f64)) {
    svg.mark(3, "paper", at, 5.0);
}
