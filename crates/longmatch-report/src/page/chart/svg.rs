//! SVG elements of charts.

use std::fmt::Write as _;

use crate::page::text::escape;

use super::form::Form;

/// The part of a text that is at its coordinate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    /// The start.
    Start,
    /// The middle.
    Middle,
    /// The end.
    End,
}

/// A sequence of elements.
#[derive(Debug, Default)]
pub(super) struct Svg {
    out: String,
    titles: bool,
}

impl Svg {
    /// Creates an empty drawing. Titles appear under a pointer, which phones lack, so narrow drawings omit them.
    pub fn of(form: Form) -> Self {
        Self { out: String::new(), titles: form == Form::Wide }
    }

    /// Returns the elements.
    pub fn finish(self) -> String {
        self.out
    }

    /// Adds the elements of `draw` as a group with a class and a title.
    pub fn group(&mut self, class: &str, title: &str, draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.out, "<g class=\"{class}\">");
        self.title(title);
        draw(self);
        self.out.push_str("</g>\n");
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = write!(
            self.out,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            place(from.0),
            place(from.1),
            place(to.0),
            place(to.1)
        );
    }

    /// Adds a rectangle with an upper left corner and a size.
    pub fn rect(&mut self, class: &str, corner: (f64, f64), size: (f64, f64)) {
        self.titled_rect(class, corner, size, "");
    }

    /// Adds a rectangle with a title.
    pub fn titled_rect(&mut self, class: &str, corner: (f64, f64), size: (f64, f64), title: &str) {
        let _ = write!(
            self.out,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            place(corner.0),
            place(corner.1),
            place(size.0),
            place(size.1)
        );
        if title.is_empty() || !self.titles {
            self.out.push_str("/>");
        } else {
            self.out.push('>');
            self.title(title);
            self.out.push_str("</rect>");
        }
    }

    /// Adds a line of text; `at.1` is its baseline.
    pub fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = write!(
            self.out,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\"{anchor}>{}</text>",
            place(at.0),
            place(at.1),
            escape(text)
        );
    }

    /// Adds a line through points; nothing without points.
    pub fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut d = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if at == 0 { "M" } else { "L" }, place(*x), place(*y));
        }
        if !d.is_empty() {
            let _ = write!(self.out, "<path class=\"{class}\" d=\"{d}\"/>");
        }
    }

    /// Adds a mark around a point; `shape` is less than [`super::palette::SHAPES`].
    pub fn mark(&mut self, shape: usize, class: &str, (x, y): (f64, f64), radius: f64) {
        if shape == 0 {
            let (x, y, r) = (place(x), place(y), place(radius));
            let _ = write!(self.out, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>");
            return;
        }
        let mut d = String::new();
        for (at, (dx, dy)) in outline(shape).iter().enumerate() {
            let letter = if at == 0 { "M" } else { "L" };
            let _ = write!(d, "{letter}{} {}", place(x + dx * radius), place(y + dy * radius));
        }
        let _ = write!(self.out, "<path class=\"{class}\" d=\"{d}Z\"/>");
    }

    fn title(&mut self, title: &str) {
        if self.titles && !title.is_empty() {
            let _ = write!(self.out, "<title>{}</title>", escape(title));
        }
    }
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
        assert_eq!(place(1.0), "1");
        assert_eq!(place(1.25), "1.2");
        assert_eq!(place(-0.01), "0");
        assert_eq!(place(-3.46), "-3.5");
    }

    #[test]
    fn text_and_titles_are_escaped() {
        let mut svg = Svg::of(Form::Wide);
        svg.group("a", "<1>", |svg| {
            svg.text("b", Anchor::End, (1.0, 2.0), "<&\"'");
            svg.titled_rect("c", (0.0, 0.0), (1.0, 1.0), "x & y");
        });
        let wanted = "<g class=\"a\"><title>&lt;1&gt;</title>\
                      <text class=\"b\" x=\"1\" y=\"2\" text-anchor=\"end\">&lt;&amp;&quot;&#39;</text>\
                      <rect class=\"c\" x=\"0\" y=\"0\" width=\"1\" height=\"1\">\
                      <title>x &amp; y</title></rect></g>\n";
        assert_eq!(svg.finish(), wanted);
    }
}
