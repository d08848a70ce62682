//! The table of engines: their names, and how each is built for a family.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::{
    Compiled, Engine, auto, dir24_8, dxr, folio, linear, poptrie, radix, sail, spider, tree_bitmap,
};
use crate::addr::{Family, Ipv4, Ipv6};
use crate::error::{CompileError, OptionError, UnknownEngine};
use crate::live::LiveEngine;
use crate::rib::Rib;

/// The engines there are, and the choice among them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum EngineKind {
    /// [`linear::Linear`].
    Linear,
    /// [`radix::Radix`].
    Radix,
    /// [`dir24_8::Dir24_8`].
    Dir24_8,
    /// [`tree_bitmap::TreeBitmap`].
    TreeBitmap,
    /// [`dxr::Dxr`].
    Dxr,
    /// [`sail::Sail`], for IPv4.
    Sail,
    /// [`poptrie::Poptrie`].
    Poptrie,
    /// [`spider::Spider`].
    Spider,
    /// [`folio::Folio`].
    Folio,
    /// The engine that suits the table, the CPU and the use best: see [`auto`]. What is compiled
    /// has the chosen engine's name.
    Auto,
}

impl EngineKind {
    /// Every engine: the oracle, the baseline, then by the year of their papers, ours last. Not
    /// [`EngineKind::Auto`], which is one of them again.
    pub const ALL: [Self; 9] = [
        Self::Linear,
        Self::Radix,
        Self::Dir24_8,
        Self::TreeBitmap,
        Self::Dxr,
        Self::Sail,
        Self::Poptrie,
        Self::Spider,
        Self::Folio,
    ];

    /// The name in the command line, the reports and the other languages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => linear::NAME,
            Self::Radix => radix::NAME,
            Self::Poptrie => poptrie::NAME,
            Self::Spider => spider::NAME,
            Self::TreeBitmap => tree_bitmap::NAME,
            Self::Dir24_8 => dir24_8::NAME,
            Self::Dxr => dxr::NAME,
            Self::Sail => sail::NAME,
            Self::Folio => folio::NAME,
            Self::Auto => auto::NAME,
        }
    }

    /// Whether a lookup takes time in proportion to the table. Such an engine is an oracle for
    /// small tables, not something to measure or to sweep a large table with.
    pub const fn is_oracle(self) -> bool {
        matches!(self, Self::Linear)
    }
}

impl EngineSpec {
    /// Variants of the engine for tables beyond the limits of this one, narrowest first; none where
    /// the engine widens by itself, or has no wider form. Options that the spec has keep their
    /// values. Not each variant exists for each family.
    pub fn wider(&self) -> Vec<Self> {
        let options: &[&str] = match self.kind {
            EngineKind::Dxr => {
                &["xl", "hops=k", "hops=k:xl", "wide", "d=22:wide", "d=22:hops=k:wide"]
            }
            EngineKind::Spider => &["entry=64"],
            _ => &[],
        };
        let mut wider: Vec<_> = options.iter().filter_map(|more| self.with(more)).collect();
        // Two differ by nothing but an option that the spec has.
        wider.dedup();
        wider
    }

    /// The engine with more options; `None` when it has all of them, or has one with another value.
    fn with(&self, more: &str) -> Option<Self> {
        let mut options = self.options.clone();
        for option in more.split(':').filter(|option| !self.options.iter().any(|own| own == option))
        {
            let key = |option: &str| option.split_once('=').map(|(key, _)| String::from(key));
            if key(option).is_some() && self.options.iter().any(|own| key(own) == key(option)) {
                return None;
            }
            options.push(option.into());
        }
        (options.len() > self.options.len()).then_some(Self { kind: self.kind, options })
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for EngineKind {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Self, UnknownEngine> {
        let mut known = Self::ALL.into_iter().chain([Self::Auto]);
        let found = known.find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownEngine { name: name.into() })
    }
}

/// An engine with options: `name` or `name:option:option`, for example `poptrie:s=16:basic`.
///
/// What the options mean is the engine's business; an unknown one shows when it is built.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EngineSpec {
    /// The engine.
    pub kind: EngineKind,
    /// Its options; none means the engine's defaults.
    pub options: Vec<String>,
}

impl From<EngineKind> for EngineSpec {
    fn from(kind: EngineKind) -> Self {
        Self { kind, options: Vec::new() }
    }
}

impl FromStr for EngineSpec {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<Self, UnknownEngine> {
        let mut parts = text.split(':');
        let kind = parts.next().unwrap_or_default().parse()?;
        Ok(Self { kind, options: parts.map(String::from).collect() })
    }
}

impl fmt::Display for EngineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.kind, f)?;
        self.options.iter().try_for_each(|option| write!(f, ":{option}"))
    }
}

/// Receives a compiled engine as its own type, so that loops around its lookup are compiled
/// for it alone.
pub trait EngineVisitor<F: Family> {
    /// What comes out.
    type Output;

    /// Takes the engine.
    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output;
}

/// A family with its engines: the table of engines.
pub trait Engines: named::Named {
    /// Whether the engine exists for this family.
    fn has(kind: EngineKind) -> bool;

    /// Compiles the engine that is asked for and hands it to the visitor: of
    /// [`EngineKind::Auto`], the engine that it chooses.
    ///
    /// # Errors
    /// When the family has no such engine, the engine no such option, or the table exceeds a limit
    /// of it.
    fn build<V: EngineVisitor<Self>>(
        spec: &EngineSpec,
        rib: &Rib<Self>,
        visitor: V,
    ) -> Result<V::Output, CompileError> {
        match spec.kind {
            EngineKind::Auto => auto::build(&spec.options, rib, visitor),
            _ => Self::build_named(spec, rib, visitor),
        }
    }

    /// [`Engines::build`] for whoever does not name the engine's type. Not generic, so that the
    /// engines' kernels are compiled once, with this crate, and not again in every crate that
    /// uses them.
    ///
    /// # Errors
    /// Those of [`Engines::build`].
    fn build_shared(
        spec: &EngineSpec,
        rib: &Rib<Self>,
    ) -> Result<Arc<dyn Compiled<Self>>, CompileError>;

    /// The same, to be changed under readers.
    ///
    /// # Errors
    /// Those of [`Engines::build`].
    fn build_live(spec: &EngineSpec, rib: &Rib<Self>) -> Result<LiveEngine<Self>, CompileError>;
}

/// Takes the engine behind a pointer.
struct Share;

impl<F: Family> EngineVisitor<F> for Share {
    type Output = Arc<dyn Compiled<F>>;

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        Arc::new(engine)
    }
}

/// Takes the engine to be changed under readers.
struct GoLive;

impl<F: Family> EngineVisitor<F> for GoLive {
    type Output = LiveEngine<F>;

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        engine.live()
    }
}

mod named {
    use super::{CompileError, EngineSpec, EngineVisitor, Family, Rib};

    /// What [`auto`](super::auto) chooses from. Apart from [`Engines`](super::Engines), or a choice
    /// would be compiled that chooses a choice, without end.
    pub trait Named: Family {
        /// Compiles an engine other than `auto` and hands it to the visitor.
        ///
        /// # Errors
        /// Those of [`Engines::build`](super::Engines::build).
        fn build_named<V: EngineVisitor<Self>>(
            spec: &EngineSpec,
            rib: &Rib<Self>,
            visitor: V,
        ) -> Result<V::Output, CompileError>;
    }
}

/// Builds an engine that is written once for every family; says that any other does not exist for
/// this one.
fn build_common<F: Family, V: EngineVisitor<F>>(
    spec: &EngineSpec,
    rib: &Rib<F>,
    visitor: V,
) -> Result<V::Output, CompileError> {
    match spec.kind {
        EngineKind::Linear => build_plain::<F, linear::Linear<F>, V>(spec, rib, visitor),
        EngineKind::Radix => build_plain::<F, radix::Radix<F>, V>(spec, rib, visitor),
        EngineKind::Poptrie => poptrie::build(&spec.options, rib, visitor),
        EngineKind::Spider => spider::build(&spec.options, rib, visitor),
        EngineKind::TreeBitmap => tree_bitmap::build(&spec.options, rib, visitor),
        EngineKind::Folio => folio::build(&spec.options, rib, visitor),
        EngineKind::Dir24_8 => dir24_8::build(&spec.options, rib, visitor),
        EngineKind::Dxr | EngineKind::Sail | EngineKind::Auto => {
            Err(CompileError::Family { engine: spec.kind.name(), family: F::NAME })
        }
    }
}

impl Engines for Ipv4 {
    fn has(_: EngineKind) -> bool {
        true
    }

    fn build_shared(
        spec: &EngineSpec,
        rib: &Rib<Self>,
    ) -> Result<Arc<dyn Compiled<Self>>, CompileError> {
        Self::build(spec, rib, Share)
    }

    fn build_live(spec: &EngineSpec, rib: &Rib<Self>) -> Result<LiveEngine<Self>, CompileError> {
        Self::build(spec, rib, GoLive)
    }
}

impl named::Named for Ipv4 {
    fn build_named<V: EngineVisitor<Self>>(
        spec: &EngineSpec,
        rib: &Rib<Self>,
        visitor: V,
    ) -> Result<V::Output, CompileError> {
        match spec.kind {
            EngineKind::Dxr => dxr::build_ipv4(&spec.options, rib, visitor),
            EngineKind::Sail => sail::build(&spec.options, rib, visitor),
            _ => build_common(spec, rib, visitor),
        }
    }
}

impl Engines for Ipv6 {
    fn has(kind: EngineKind) -> bool {
        !matches!(kind, EngineKind::Sail)
    }

    fn build_shared(
        spec: &EngineSpec,
        rib: &Rib<Self>,
    ) -> Result<Arc<dyn Compiled<Self>>, CompileError> {
        Self::build(spec, rib, Share)
    }

    fn build_live(spec: &EngineSpec, rib: &Rib<Self>) -> Result<LiveEngine<Self>, CompileError> {
        Self::build(spec, rib, GoLive)
    }
}

impl named::Named for Ipv6 {
    fn build_named<V: EngineVisitor<Self>>(
        spec: &EngineSpec,
        rib: &Rib<Self>,
        visitor: V,
    ) -> Result<V::Output, CompileError> {
        match spec.kind {
            EngineKind::Dxr => dxr::build_ipv6(&spec.options, rib, visitor),
            _ => build_common(spec, rib, visitor),
        }
    }
}

/// Builds an engine that has no options.
fn build_plain<F: Family, E: Engine<F>, V: EngineVisitor<F>>(
    spec: &EngineSpec,
    rib: &Rib<F>,
    visitor: V,
) -> Result<V::Output, CompileError> {
    if let Some(option) = spec.options.first() {
        let expected = "none: this engine has no options";
        return Err(OptionError { engine: E::NAME, option: option.clone(), expected }.into());
    }
    Ok(visitor.visit(E::compile(rib, &E::Config::default())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn wider_variants_keep_the_options_of_a_spec() {
        let wider = |spec: &str| -> Vec<String> {
            let spec: EngineSpec = spec.parse().unwrap();
            spec.wider().iter().map(EngineSpec::to_string).collect()
        };
        assert_eq!(wider("dxr")[..2], ["dxr:xl", "dxr:hops=k"]);
        assert_eq!(wider("dxr").len(), 6);
        assert_eq!(wider("dxr:d=18")[3..], ["dxr:d=18:wide"]);
        assert_eq!(wider("dxr:xl")[..2], ["dxr:xl:hops=k", "dxr:xl:wide"]);
        assert_eq!(wider("dxr:hops=2")[..2], ["dxr:hops=2:xl", "dxr:hops=2:wide"]);
        assert_eq!(wider("spider"), ["spider:entry=64"]);
        assert!(wider("spider:entry=64").is_empty() && wider("radix").is_empty());
    }
}
