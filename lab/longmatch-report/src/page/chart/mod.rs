//! Charts as inline SVG.
//!
//! Each chart is drawn in a wide and a narrow form, and the style sheet shows one of them: the font size is constant,
//! and no chart scrolls sideways. Colours are classes of the style sheet, so charts follow the page's colour scheme.

mod bars;
mod drawing;
mod html;
mod lines;
mod palette;
mod scale;
mod svg;
#[cfg(test)]
mod tests;

pub(crate) use html::{html, picture};
pub(in crate::page) use palette::engine_colours;
