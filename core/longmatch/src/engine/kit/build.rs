//! How an engine is built by name.

use alloc::string::String;

use super::{CompileError, Engine, OptionError, Options, Variant};
use crate::net::Family;
use crate::rib::Rib;

/// The result of building an engine: what the visitor returns.
pub type Built<F, V> = Result<<V as EngineVisitor<F>>::Output, CompileError>;

/// Builds the variants of an engine for a family.
pub trait Builder<F: Family> {
    /// Whether the engine exists for the family.
    const EXISTS: bool = true;

    /// Builds the variant that a request names and hands it to the visitor. The default is for a
    /// family without the engine.
    ///
    /// # Errors
    /// When the engine does not exist for the family or has no such option, or the table exceeds a
    /// limit of the engine.
    fn build<V: EngineVisitor<F>>(request: &Request<'_, F>, _visitor: V) -> Built<F, V> {
        Err(CompileError::Family { engine: request.engine, family: F::NAME })
    }

    /// Shows the structures whose machine code `cargo xtask asm` counts. The default has none.
    fn kernels(_visitor: &mut impl KernelVisitor<F>) {}
}

/// Receives engines as types, without compiled tables.
pub trait KernelVisitor<F: Family> {
    /// Takes an engine.
    fn visit<E: Engine<F>>(&mut self);
}

/// Options of an engine with types, which are a spec.
pub trait TypedOptions {
    /// The engine's name.
    const ENGINE: &'static str;

    /// The options that differ from the engine's defaults, as text. Without those at their defaults
    /// a spec has all of its wider variants.
    fn options(&self) -> Variant;
}

/// Receives a compiled engine as its own type. Loops around its lookup are compiled for that type
/// alone.
pub trait EngineVisitor<F: Family> {
    /// Result of the visit.
    type Output;

    /// Takes the engine.
    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output;
}

/// A request for an engine: options in text form, a memory limit, and the routes.
pub struct Request<'a, F: Family> {
    /// The engine's name.
    pub engine: &'static str,
    /// The options, such as `s=18`.
    pub options: &'a [String],
    /// Limit on the bytes of the structure.
    pub memory: Option<u64>,
    /// The routes.
    pub rib: &'a Rib<F>,
    /// Whether the structure is for any CPU, as in a file: it depends only on the other fields.
    pub any_cpu: bool,
}

impl<F: Family> Request<'_, F> {
    /// Starts reading the options. Errors name those that the engine expects.
    pub fn parse(&self, expected: &'static str) -> Options<'_> {
        Options::new(self.engine, self.options, expected)
    }

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
        self.parse("none: this engine has no options").finish()
    }
}
