//! The report as one page of HTML with its charts inside, which needs no other file; well-formed as XML is.
//!
//! The answers come first: a table of the fastest engines and the claims by verdict; then the experiments, then the
//! machine. Equal records make equal bytes. Text is escaped, numbers that are none are left out, and long words are
//! shortened or broken.

mod chart;
mod html;
mod markdown;
mod number;
mod section;
mod summary;
mod table;
mod text;

pub use html::html;
pub use markdown::markdown;
pub use section::claims;
