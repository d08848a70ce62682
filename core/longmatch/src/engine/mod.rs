//! The lookup engines and the interfaces that they share.
//!
//! An engine is derived from a RIB: addresses in, next-hop ids out. Most programs name one with
//! [`EngineKind`] or [`EngineSpec`] and use it through [`crate::Fib`], [`crate::Table`] or
//! [`crate::live`]. Its own type saves an indirect jump a call, and takes options with types:
//!
//! ```
//! use longmatch::engine::poptrie::{Config, Poptrie};
//! use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
//!
//! let mut rib = Rib::<Ipv4>::new();
//! rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
//! let config = Config { s: 16, ..Config::default() };
//! let poptrie: Poptrie<Ipv4> = Poptrie::compile(&rib, &config)?;
//! let mut hops = [None; 2];
//! poptrie.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
//! assert_eq!(hops, [NextHopId::new(1), None]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | trait | for |
//! |---|---|
//! | [`Lookup`] | lookups; object-safe |
//! | [`Structure`] | name and options of a compiled table |
//! | [`Engine`] | compiling, and checking against the routes |
//! | [`Engines`] | the families, with the engines that each has |
//!
//! Engines do not know each other, nor files, threads or user values; they meet in the registry, in
//! [`auto`], in [`crate::Fib`] and in the one test suite. A new engine is a directory beside the
//! others, its `mod` below and a line in `registry.rs`.

pub mod auto;
#[cfg(feature = "dir24-8")]
pub mod dir24_8;
#[cfg(feature = "dxr")]
pub mod dxr;
#[cfg(feature = "folio")]
pub mod folio;
#[cfg(feature = "file")]
pub(crate) mod images;
mod kit;
#[doc(hidden)]
pub mod linear;
#[cfg(feature = "poptrie")]
pub mod poptrie;
#[cfg(feature = "radix")]
pub mod radix;
mod registry;
#[cfg(feature = "sail")]
pub mod sail;
mod spec_text;
#[cfg(feature = "spider")]
pub mod spider;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
#[cfg(feature = "tree-bitmap")]
pub mod tree_bitmap;

use kit::Boxed;
#[cfg(feature = "file")]
pub(crate) use kit::image;
#[doc(hidden)]
pub use kit::{
    Batch, Checked, Compiled, Descriptor, EngineVisitor, Form, KernelVisitor, KeyLayout,
    LiveEngine, Replaced,
};
pub use kit::{CompileError, Corrupt, Engine, Keys, Lookup, OptionError, Structure};
pub(crate) use kit::{Patch, WriteSide};

#[doc(hidden)]
pub use registry::NamedEngines;
pub use registry::{EngineKind, EngineSpec, UnknownEngine};
pub use spec_text::ParseSpecError;

use alloc::sync::Arc;

use crate::net::{Ipv4, Ipv6};
use crate::rib::Rib;

/// An address family with its engines and [`EngineKind::Auto`]: [`Ipv4`] and [`Ipv6`]. Sealed.
///
/// ```
/// use longmatch::{CompileError, EngineKind, Engines, Fib, Ipv6, Rib};
///
/// /// Bytes of a table of either family, compiled by the engine that `auto` chooses.
/// fn bytes<F: Engines>(rib: &Rib<F>) -> Result<usize, CompileError> {
///     Ok(Fib::compile(rib, EngineKind::Auto)?.memory_usage().bytes())
/// }
/// assert!(bytes(&Rib::<Ipv6>::new())? > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Engines: NamedEngines {
    /// Whether the engine exists for this family; [`EngineKind::Auto`] exists for each.
    fn has(kind: EngineKind) -> bool {
        Self::has_named(kind)
    }

    /// Compiles the requested engine and hands it to the visitor.
    ///
    /// For [`EngineKind::Auto`] this is the engine that it chooses.
    ///
    /// # Errors
    /// When the family has no such engine, the engine no such option, or the table exceeds a limit
    /// of the engine.
    #[doc(hidden)]
    fn build<V: EngineVisitor<Self>>(
        spec: &EngineSpec,
        rib: &Rib<Self>,
        visitor: V,
    ) -> Result<V::Output, CompileError> {
        match spec.kind {
            EngineKind::Auto => auto::build(spec, rib, visitor),
            _ => Self::build_named(spec, rib, visitor),
        }
    }

    /// Compiles an engine and returns it behind a pointer.
    ///
    /// Not generic like [`Engines::build`], so that the engines' kernels are compiled once, with
    /// this crate, and not again in every crate that uses them.
    ///
    /// # Errors
    /// Those of [`Engines::build`].
    #[doc(hidden)]
    fn build_shared(
        spec: &EngineSpec,
        rib: &Rib<Self>,
    ) -> Result<Arc<dyn Checked<Self>>, CompileError>;

    /// Compiles an engine that can change while readers use it.
    ///
    /// # Errors
    /// Those of [`Engines::build`].
    #[doc(hidden)]
    fn build_live(spec: &EngineSpec, rib: &Rib<Self>) -> Result<LiveEngine<Self>, CompileError>;
}

/// Compiles the requested engine, for lookups only or for changes.
fn boxed<F: NamedEngines>(spec: &EngineSpec, rib: &Rib<F>, life: auto::Life) -> Boxed<F> {
    match spec.kind {
        EngineKind::Auto => auto::build_boxed(spec, rib, life),
        _ => F::build_boxed(spec, rib),
    }
}

/// Implements [`Engines`] family by family: a blanket implementation would compile the kernels again
/// in every crate that uses them.
macro_rules! engines_of {
    ($($family:ident)*) => {$(
        impl Engines for $family {
            fn build_shared(
                spec: &EngineSpec,
                rib: &Rib<Self>,
            ) -> Result<Arc<dyn Checked<Self>>, CompileError> {
                boxed(spec, rib, auto::Life::Frozen).map(Arc::from)
            }

            fn build_live(
                spec: &EngineSpec,
                rib: &Rib<Self>,
            ) -> Result<LiveEngine<Self>, CompileError> {
                boxed(spec, rib, auto::Life::Live).map(Checked::into_live)
            }
        }
    )*};
}

engines_of!(Ipv4 Ipv6);
