//! SVG elements of charts.

use std::fmt::Write as _;

use crate::page::text::{escape, shorten};

/// A form of a drawing, by the width of the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// For print, tablets and desktops.
    Wide,
    /// For phones.
    Narrow,
}

impl Form {
    /// Returns the value for this form.
    pub fn pick<T>(self, wide: T, narrow: T) -> T {
        if self == Self::Wide { wide } else { narrow }
    }

    /// Returns the width in SVG units.
    pub fn width(self) -> f64 {
        self.pick(720.0, 360.0)
    }

    /// Returns the font size; equals the one in the style sheet.
    pub fn letters(self) -> f64 {
        self.pick(12.0, 11.0)
    }
}

/// The part of a text that is at its coordinate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A sequence of elements.
#[derive(Debug)]
pub(super) struct Svg {
    out: String,
    pub form: Form,
}

impl Svg {
    /// Creates an empty drawing.
    pub fn of(form: Form) -> Self {
        Self { out: String::new(), form }
    }

    /// Returns the elements.
    pub fn finish(self) -> String {
        self.out
    }

    /// Adds the elements of `draw` as a group with a class and a title.
    ///
    /// Titles appear under a pointer, which phones lack, so narrow drawings omit them.
    pub fn group(&mut self, class: &str, title: &str, draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.out, "<g class=\"{class}\">");
        if self.form == Form::Wide && !title.is_empty() {
            let _ = write!(self.out, "<title>{}</title>", escape(title));
        }
        draw(self);
        self.out.push_str("</g>\n");
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(place);
        let _ = write!(
            self.out,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        );
    }

    /// Adds a rectangle with an upper left corner and a size.
    pub fn rect(&mut self, class: &str, corner: (f64, f64), size: (f64, f64)) {
        let [x, y, width, height] = [corner.0, corner.1, size.0, size.1].map(place);
        let _ = write!(
            self.out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }

    /// Adds a line of text; `at.1` is its baseline.
    pub fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let ([x, y], text) = ([at.0, at.1].map(place), escape(text));
        let _ =
            write!(self.out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>");
    }

    /// Adds a line of text that is shortened to a width.
    pub fn shortened(
        &mut self,
        class: &str,
        anchor: Anchor,
        at: (f64, f64),
        text: &str,
        wide: f64,
    ) {
        self.text(class, anchor, at, &shorten(text, wide, self.form.letters()));
    }

    /// Adds a line through points; nothing without points.
    pub fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        if !points.is_empty() {
            let _ = write!(self.out, "<path class=\"{class}\" d=\"{}\"/>", through(points));
        }
    }

    /// Adds a mark around a point; `shape` is less than [`super::palette::SHAPES`].
    pub fn mark(&mut self, shape: usize, class: &str, (x, y): (f64, f64), radius: f64) {
        if shape == 0 {
            let [x, y, r] = [x, y, radius].map(place);
            let _ = write!(self.out, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>");
            return;
        }
        let corner = |(dx, dy): &(f64, f64)| (x + dx * radius, y + dy * radius);
        let corners: Vec<_> = outline(shape).iter().map(corner).collect();
        let _ = write!(self.out, "<path class=\"{class}\" d=\"{}Z\"/>", through(&corners));
    }
}

/// Returns the data of a path through points.
fn through(points: &[(f64, f64)]) -> String {
    let mut data = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let letter = if at == 0 { "M" } else { "L" };
        let _ = write!(data, "{letter}{} {}", place(*x), place(*y));
    }
    data
}

/// Returns the corners of a mark of radius 1.
fn outline(shape: usize) -> &'static [(f64, f64)] {
    match shape {
        1 => &[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
        2 => &[(0.0, -1.15), (1.05, 0.75), (-1.05, 0.75)],
        3 => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
        4 => &[(0.0, 1.15), (1.05, -0.75), (-1.05, -0.75)],
        5 => &[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ],
        6 => &[(-1.15, 0.0), (0.75, -1.05), (0.75, 1.05)],
        _ => &[(1.15, 0.0), (-0.75, -1.05), (-0.75, 1.05)],
    }
}

/// Formats a coordinate with one decimal, which is finer than a pixel.
fn place(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_short() {
        assert_eq!([1.0, 1.25, -0.01, -3.46].map(place), ["1", "1.2", "0", "-3.5"]);
    }

    #[test]
    fn text_and_titles_are_escaped() {
        let mut svg = Svg::of(Form::Wide);
        svg.group("a", "<1>", |svg| svg.text("b", Anchor::End, (1.0, 2.0), "<&\"'"));
        let wanted = "<g class=\"a\"><title>&lt;1&gt;</title><text class=\"b\" x=\"1\" y=\"2\" \
                      text-anchor=\"end\">&lt;&amp;&quot;&#39;</text></g>\n";
        assert_eq!(svg.finish(), wanted);
    }
}
