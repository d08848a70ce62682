//! How an engine is built by name.

use alloc::string::String;

use super::{CompileError, Engine, OptionError};
use crate::net::Family;
use crate::rib::Rib;

/// What the registry knows of an engine beside how it is built: every engine exports one.
pub struct Descriptor {
    /// The name in the command line, the reports and the other languages.
    pub name: &'static str,
    /// Whether a lookup takes time in proportion to the table.
    pub oracle: bool,
    /// Options of variants for tables beyond the limits of the default one, narrowest first.
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
    /// limit of it.
    fn build<V: EngineVisitor<F>>(
        request: &Request<'_>,
        rib: &Rib<F>,
        visitor: V,
    ) -> Result<V::Output, CompileError>;
}

/// Receives a compiled engine as its own type, so that loops around its lookup are compiled
/// for it alone.
pub trait EngineVisitor<F: Family> {
    /// What comes out.
    type Output;

    /// Takes the engine.
    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output;
}

/// What is asked of an engine: options in text form, and a limit on its memory.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The engine's name.
    pub engine: &'static str,
    /// The options, such as `s=18`.
    pub options: &'a [String],
    /// The most bytes that the structure may take.
    pub memory: Option<u64>,
}

impl Request<'_> {
    /// Refuses a structure of more bytes than the limit. They are estimated only if there is one.
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

    /// Accepts no option at all.
    ///
    /// # Errors
    /// The first option.
    pub fn without_options(&self) -> Result<(), OptionError> {
        let expected = "none: this engine has no options";
        let wrong =
            |option: &String| OptionError { engine: self.engine, option: option.clone(), expected };
        self.options.first().map_or(Ok(()), |option| Err(wrong(option)))
    }
}
