//! The report as one self-contained HTML page with inline charts; well-formed XML.
//!
//! The page begins with the fastest engines and the claims by verdict; experiments and machine follow. Equal records
//! produce equal bytes. Text is escaped, non-finite numbers are omitted, and long words are shortened or broken.

mod chart;
mod html;
mod markdown;
mod number;
mod section;
mod summary;
mod table;
mod text;

pub(crate) use chart::picture;
pub use html::html;
pub use markdown::markdown;
pub(crate) use markdown::{Notes, grid, rows};
pub(crate) use number::{count, short};
pub use section::claims;
pub(crate) use text::markdown as escaped;
