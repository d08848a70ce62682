//! How an engine is built by name.

use alloc::string::String;

use super::{CompileError, Engine, OptionError};
use crate::net::Family;
use crate::rib::Rib;

/// An engine's entry in the registry, without its builder.
pub struct Descriptor {
    /// Name on the command line, in reports and in other languages.
    pub name: &'static str,
    /// Whether a lookup takes time in proportion to the table.
    pub oracle: bool,
    /// Options of variants with wider limits than the default, narrowest first.
    pub wider: &'static [&'static str],
}

/// Builds the variants of an engine for a family.
pub trait Builder<F: Family> {
    /// Whether the engine exists for the family.
    const EXISTS: bool = true;

    /// Builds the variant that a request names and hands it to the visitor.
    ///
    /// # Errors
    /// When the engine does not exist for the family or has no such option, or the table exceeds a
    /// limit of the engine.
    fn build<V: EngineVisitor<F>>(
        request: &Request<'_>,
        rib: &Rib<F>,
        visitor: V,
    ) -> Result<V::Output, CompileError>;
}

/// Receives a compiled engine as its own type. Loops around its lookup are compiled for that type
/// alone.
pub trait EngineVisitor<F: Family> {
    /// Result of the visit.
    type Output;

    /// Takes the engine.
    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output;
}

/// A request for an engine: options in text form, and a memory limit.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The engine's name.
    pub engine: &'static str,
    /// The options, such as `s=18`.
    pub options: &'a [String],
    /// Limit on the bytes of the structure.
    pub memory: Option<u64>,
}

impl Request<'_> {
    /// Refuses a structure larger than the limit. Calls `bytes` only if there is one.
    ///
    /// # Errors
    /// [`CompileError::TooLarge`].
    pub fn admit(&self, bytes: impl FnOnce() -> u64) -> Result<(), CompileError> {
        let Some(limit) = self.memory else { return Ok(()) };
        let bytes = bytes();
        if bytes <= limit {
            return Ok(());
        }
        Err(CompileError::TooLarge { engine: self.engine, bytes, limit })
    }

    /// Refuses any option.
    ///
    /// # Errors
    /// Names the first option.
    pub fn without_options(&self) -> Result<(), OptionError> {
        let expected = "none: this engine has no options";
        let wrong =
            |option: &String| OptionError { engine: self.engine, option: option.clone(), expected };
        self.options.first().map_or(Ok(()), |option| Err(wrong(option)))
    }
}
