//! The README's picture: the rate of every engine for routed traffic in batches, on the embedded tables.

use std::fmt::Write as _;

use super::cells::{BATCH, Shown, base_of};
use super::headline::{bases, embedded};
use super::markdown::{count, number};
use super::records::{Records, Table};

/// A colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// The part of the file name.
    pub name: &'static str,
    background: &'static str,
    text: &'static str,
    /// Secondary text; contrast to the background at least 4.5 to 1, like all text.
    muted: &'static str,
    bar: &'static str,
}

/// The picture's colour schemes.
pub const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        background: "#ffffff",
        text: "#1f2328",
        muted: "#59636e",
        bar: "#2f6fb7",
    },
    Theme {
        name: "dark",
        background: "#0d1117",
        text: "#e6edf3",
        muted: "#9198a1",
        bar: "#5b9be6",
    },
];

/// The kind of traffic.
const RUN: &str = "routed";
/// Width of the drawing. A phone shows it slightly smaller, so no font size is below 11.
const WIDTH: u32 = 400;
/// Left margin of the text.
const LEFT: u32 = 12;
/// Approximate width of a character.
const CHARACTER: u32 = 7;
/// Width of the number after the longest bar.
const NUMBER: u32 = 52;
/// Distance of rows.
const ROW: u32 = 24;
/// Fonts; every system has at least one of them.
const FONTS: &str =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/// A bar: the engine's name, and its rate or the reason why it has none.
type Bar<'a> = (&'a str, Result<f64, String>);

/// Draws the picture in a colour scheme.
///
/// # Errors
/// If the records lack a value of the picture.
pub fn draw(records: &Records, theme: Theme) -> Result<String, String> {
    let all = records.tables(BATCH)?;
    let tables = [embedded(&all, "ipv4")?, embedded(&all, "ipv6")?];
    let groups: Vec<_> = tables.iter().map(|table| (table, bars(records, table))).collect();
    let rates = groups.iter().flat_map(|(_, bars)| bars).filter_map(|bar| bar.1.as_ref().ok());
    let most = rates.copied().fold(f64::MIN_POSITIVE, f64::max);
    let names = groups.iter().flat_map(|(_, bars)| bars).map(|bar| bar.0.len());
    let bars_at = LEFT + CHARACTER * names.max().unwrap_or(0) as u32 + 12;
    let mut drawing = Drawing { out: String::new(), y: 26, bars_at, theme };
    let size = count(records.batch(BATCH)?);
    drawing.text("title", LEFT, &format!("Routed addresses in batches of {size}"));
    drawing.down(18);
    drawing.text("muted", LEFT, "million lookups a second, one core; more is better");
    for (table, bars) in &groups {
        drawing.group(table, bars, most);
    }
    drawing.down(24);
    // The full name is too long for a line.
    let cpu = records.run.machine("CPU")?.replace(" (a virtual machine)", ", virtual");
    drawing.text("muted", LEFT, &cpu);
    drawing.down(16);
    let build = ["instructions", "date", "commit"].map(|name| records.run.machine(name));
    let [instructions, date, commit] = build;
    // The first digits identify a commit; a mark of changes follows a space.
    let commit: String = commit?.chars().take(12).collect();
    drawing.text("muted", LEFT, &format!("{}; {}; commit {commit}", instructions?, date?));
    Ok(drawing.finish())
}

/// Maximum length of a name, so that bars fit; longer names omit their options.
const MAX_NAME: usize = 21;

/// Returns a bar for each engine on a table, the fastest first, engines without a rate last.
fn bars<'a>(records: &'a Records, table: &'a Table) -> Vec<Bar<'a>> {
    let shown = Shown { records, figure: BATCH, table };
    let own = |base| {
        let engine = shown.representative(base)?;
        let rate = shown.value(engine, RUN, "rate").map(|it| it.value.clone());
        let name = if engine.len() <= MAX_NAME { engine } else { base_of(engine) };
        Some((name, rate.unwrap_or_else(|| Err("not measured".into()))))
    };
    let bases = bases(records, BATCH, std::slice::from_ref(table));
    let mut bars: Vec<Bar<'a>> = bases.into_iter().filter_map(own).collect();
    let rate = |bar: &Bar<'_>| bar.1.as_ref().copied().unwrap_or(f64::NEG_INFINITY);
    bars.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    bars
}

/// A drawing.
struct Drawing {
    out: String,
    /// Baseline of the last text.
    y: u32,
    /// Left end of the bars; names are to the left of it.
    bars_at: u32,
    theme: Theme,
}

impl Drawing {
    fn down(&mut self, by: u32) {
        self.y += by;
    }

    /// Adds a text that begins at `x`.
    fn text(&mut self, class: &str, x: u32, text: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(
            self.out,
            "<text class=\"{class}\" x=\"{x}\" y=\"{}\">{}</text>",
            self.y,
            escape(text)
        );
    }

    /// Adds the bars of a table below a heading.
    fn group(&mut self, table: &Table, bars: &[Bar<'_>], most: f64) {
        let (at, longest) = (self.bars_at, f64::from(WIDTH - NUMBER - self.bars_at));
        self.down(32);
        let heading = format!("{}: {} routes", table.family_name(), count(table.routes));
        self.text("head", LEFT, &heading);
        for (engine, rate) in bars {
            self.down(ROW);
            self.text("name", LEFT, engine);
            match rate {
                Ok(rate) => {
                    let length = (rate / most * longest).max(1.0);
                    let top = self.y - 12;
                    let _ = writeln!(
                        self.out,
                        "<rect class=\"bar\" x=\"{at}\" y=\"{top}\" width=\"{length:.1}\" height=\"16\" rx=\"2\"/>"
                    );
                    self.text("rate", at + length.ceil() as u32 + 6, &number(*rate));
                }
                Err(reason) => self.text("muted", at, short(reason)),
            }
        }
        self.down(8);
    }

    /// Returns the whole file.
    fn finish(self) -> String {
        let Theme { background, text, muted, bar, .. } = self.theme;
        let height = self.y + 14;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{}\" height=\"{}\" \
             role=\"img\" aria-label=\"Rates of the engines\">\n\
             <style>\ntext {{ font: 13px {FONTS}; fill: {text} }}\n.title {{ font-size: 16px; font-weight: 600 }}\n\
             .head {{ font-weight: 600 }}\n.muted {{ font-size: 11px; fill: {muted} }}\n.bar {{ fill: {bar} }}\n</style>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"6\" fill=\"{background}\"/>\n{}</svg>\n",
            WIDTH * 5 / 4,
            height * 5 / 4,
            self.out,
        )
    }
}

/// Returns the first clause of a reason, without the engine's name.
fn short(reason: &str) -> &str {
    let reason = reason.split_once(": ").map_or(reason, |(_, rest)| rest);
    reason.split(',').next().unwrap_or(reason)
}

/// Escapes the special characters of XML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_short() {
        let reason = "sail: next-hop id 69938 does not fit, the greatest possible is 32767";
        assert_eq!(short(reason), "next-hop id 69938 does not fit");
        assert_eq!(short("not measured"), "not measured");
    }

    /// Returns the contrast of two colours by the Web Content Accessibility Guidelines.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |colour: &str| {
            let part = |at: usize| {
                let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn colours_have_contrast() {
        assert!((contrast("#ffffff", "#000000") - 21.0).abs() < 1e-9);
        for theme in THEMES {
            let of = |colour| contrast(colour, theme.background);
            assert!(
                of(theme.text) > 7.0 && of(theme.muted) > 4.5 && of(theme.bar) > 3.0,
                "{theme:?}"
            );
        }
    }
}
