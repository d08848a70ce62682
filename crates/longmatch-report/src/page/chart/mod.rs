//! The charts, as SVG inside the page.
//!
//! Each is drawn twice, once for wide pages and paper and once for phones, and the style sheet
//! shows one of them: letters keep their size, and nobody has to scroll sideways. All colours are
//! classes of the style sheet, so that a chart follows the page from light to dark.

mod bars;
mod boxes;
mod drawing;
mod form;
mod heat;
mod html;
mod lines;
mod palette;
mod scale;
mod svg;
#[cfg(test)]
mod tests;

pub(crate) use html::html;
