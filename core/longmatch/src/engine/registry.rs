//! The registry of engines: their names and builders, one line of [`engines!`] an engine.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::engine::kit::{
    Builder, Checked, CompileError, Descriptor, Engine, EngineVisitor, KernelVisitor, Request,
    TypedOptions,
};
use crate::net::{Family, Ipv4, Ipv6};
use crate::rib::Rib;

/// Name of the engine choice.
pub(super) const AUTO: &str = "auto";

/// Generates [`EngineKind`] and the dispatch to the builders. One line an engine: its variant, its
/// module, when it is compiled in, and the type in its documentation. The module's name is the
/// engine's; that of its feature has `-` for `_`.
macro_rules! engines {
    ($($kind:ident $module:ident [$($compiled:tt)*] $about:literal;)*) => {
        /// The lookup engines, and the automatic choice among them.
        ///
        /// Every engine but the oracle has a feature of the crate. One that is not compiled in has
        /// its name, but cannot be built: [`CompileError::NotCompiled`].
        ///
        /// ```
        /// use longmatch::{EngineKind, Fib, Ipv4, NextHopId, Rib};
        /// let mut rib = Rib::<Ipv4>::new();
        /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
        /// for kind in EngineKind::ALL {
        ///     let fib = Fib::compile(&rib, kind)?;
        ///     assert_eq!(fib.lookup("10.1.2.3".parse()?), NextHopId::new(1), "{kind}");
        /// }
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum EngineKind {
            $(
                #[cfg_attr($($compiled)*, doc = $about)]
                #[cfg_attr(not($($compiled)*), doc = "Not compiled in.")]
                $kind,
            )*
            /// Folio, unless a memory limit refuses it; then the smallest engine that fits: see
            /// [`auto`](super::auto). The compiled structure has the chosen engine's name.
            Auto,
        }

        impl EngineKind {
            /// Every engine that is compiled in: the oracle, the baseline, the papers' engines by
            /// year, then our own. Without [`EngineKind::Auto`], which chooses one of them.
            pub const ALL: [Self; [$(cfg!($($compiled)*)),*].len() - MISSING.len()] =
                [$(#[cfg($($compiled)*)] Self::$kind),*];

            /// Returns the engine's descriptor; `None` for [`EngineKind::Auto`] and for an engine
            /// that is not compiled in.
            #[doc(hidden)]
            pub const fn descriptor(self) -> Option<&'static Descriptor> {
                match self {
                    $(
                        #[cfg($($compiled)*)]
                        Self::$kind => Some(&super::$module::DESCRIPTOR),
                    )*
                    _ => None,
                }
            }

            /// Name on the command line, in reports and in other languages.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($module),)*
                    Self::Auto => AUTO,
                }
            }
        }

        /// The engines that are not compiled in.
        const MISSING: &[EngineKind] = &[$(#[cfg(not($($compiled)*))] EngineKind::$kind),*];

        named_engines!(Ipv4 $($kind $module [$($compiled)*])*);
        named_engines!(Ipv6 $($kind $module [$($compiled)*])*);
    };
}

/// Implements [`NamedEngines`] for a family, with the engines' variants and modules.
macro_rules! named_engines {
    ($family:ident $($kind:ident $module:ident [$($compiled:tt)*])*) => {
        impl NamedEngines for $family {
            fn has_named(kind: EngineKind) -> bool {
                match kind {
                    $(
                        #[cfg($($compiled)*)]
                        EngineKind::$kind => <super::$module::Build as Builder<Self>>::EXISTS,
                    )*
                    other => other == EngineKind::Auto,
                }
            }

            fn kernels(visitor: &mut impl KernelVisitor<Self>) {
                $(
                    #[cfg($($compiled)*)]
                    <super::$module::Build as Builder<Self>>::kernels(visitor);
                )*
            }

            fn build_boxed(
                spec: &EngineSpec,
                rib: &Rib<Self>,
            ) -> Result<Box<dyn Checked<Self>>, CompileError> {
                Self::build_named(spec, rib, IntoBox)
            }

            fn build_named<V: EngineVisitor<Self>>(
                spec: &EngineSpec,
                rib: &Rib<Self>,
                visitor: V,
            ) -> Result<V::Output, CompileError> {
                let EngineSpec { kind, ref options, memory } = *spec;
                let engine = kind.name();
                let request = Request { engine, options, memory, rib, any_cpu: false };
                match kind {
                    $(
                        #[cfg($($compiled)*)]
                        EngineKind::$kind => super::$module::Build::build(&request, visitor),
                    )*
                    EngineKind::Auto => Err(CompileError::Family { engine, family: Self::NAME }),
                    $(
                        #[cfg(not($($compiled)*))]
                        EngineKind::$kind => Err(CompileError::NotCompiled { engine }),
                    )*
                }
            }
        }
    };
}

engines! {
    Linear linear [all()] "[`Linear`](super::linear::Linear).";
    Radix radix [feature = "radix"] "[`Radix`](super::radix::Radix), or [`PathCompressed`](super::radix::PathCompressed).";
    Dir24_8 dir24_8 [feature = "dir24-8"] "[`Dir24_8`](super::dir24_8::Dir24_8).";
    TreeBitmap tree_bitmap [feature = "tree-bitmap"] "[`TreeBitmap`](super::tree_bitmap::TreeBitmap).";
    Dxr dxr [feature = "dxr"] "[`Dxr`](super::dxr::Dxr).";
    Sail sail [feature = "sail"] "[`Sail`](super::sail::Sail), for IPv4.";
    Poptrie poptrie [feature = "poptrie"] "[`Poptrie`](super::poptrie::Poptrie).";
    Spider spider [feature = "spider"] "[`Spider`](super::spider::Spider).";
    Folio folio [feature = "folio"] "[`Folio4`](super::folio::v4::Folio4) for IPv4, [`Folio6`](super::folio::v6::Folio6) for IPv6.";
}

impl EngineKind {
    /// Every engine in the order of [`auto`](super::auto); those that it never chooses follow.
    #[doc(hidden)]
    #[must_use]
    pub fn in_order() -> Vec<Self> {
        let place = |kind: &Self| kind.descriptor().and_then(|engine| engine.order);
        let mut kinds = Self::ALL.to_vec();
        kinds.sort_by_key(|kind| place(kind).unwrap_or(u8::MAX));
        kinds
    }

    /// Whether a lookup takes time in proportion to the table. Such an engine is an oracle for
    /// small tables; do not measure it or use it on every address of a large table.
    #[doc(hidden)]
    pub const fn is_oracle(self) -> bool {
        matches!(self.descriptor(), Some(Descriptor { oracle: true, .. }))
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
        let mut known = Self::ALL.iter().chain(MISSING).chain(&[Self::Auto]).copied();
        let found = known.find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownEngine { name: name.into() })
    }
}

/// An engine with options: `name` or `name:option:option`, for example `poptrie:s=16:basic`.
///
/// Each engine interprets its own options. Reading the text refuses one that the engine has for no
/// family; building the engine refuses one that it lacks for the family.
///
/// ```
/// use longmatch::{EngineKind, EngineSpec, Fib, Ipv4, Rib};
/// let spec: EngineSpec = "poptrie:s=16:basic".parse()?;
/// assert_eq!(spec.kind, EngineKind::Poptrie);
/// assert_eq!(spec.options, ["s=16", "basic"]);
/// let fib = Fib::compile(&Rib::<Ipv4>::new(), spec)?;
/// assert_eq!(fib.variant(), "s=16:basic");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EngineSpec {
    /// The engine.
    pub kind: EngineKind,
    /// Its options; empty for the engine's defaults.
    pub options: Vec<String>,
    /// Limit on the bytes of one family's structure; `None` for no limit.
    ///
    /// The size is estimated from the routes before anything is allocated. A table whose estimate
    /// exceeds the limit is refused with [`CompileError::TooLarge`]. Estimates are upper bounds, so
    /// a table that would just fit may be refused. Not part of the text form.
    pub memory: Option<u64>,
}

impl EngineSpec {
    /// The same engine with a limit on the memory of its structure.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// The same engine with one more option, in the form of the command line.
    ///
    /// Of options that exclude each other the last counts.
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Variants for tables beyond the limits of this one, narrowest first. Empty if the engine has no wider variant
    /// or widens automatically. The options of the spec keep their values. Some
    /// variants exist for one family only.
    ///
    /// ```
    /// use longmatch::{EngineKind, EngineSpec, Fib, Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(70_000).unwrap())?;
    /// let spec = EngineSpec::from(EngineKind::Spider);
    /// assert!(Fib::compile(&rib, spec.clone()).is_err(), "ids have 16 bits");
    /// let fib = spec.wider().into_iter().find_map(|wider| Fib::compile(&rib, wider).ok());
    /// assert_eq!(fib.and_then(|fib| fib.lookup([10, 1, 2, 3].into())), NextHopId::new(70_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn wider(&self) -> Vec<Self> {
        let wider = self.kind.descriptor().map_or(&[][..], |engine| engine.wider);
        let mut wider: Vec<_> = wider.iter().filter_map(|more| self.with(more)).collect();
        // Two may differ only by an option that the spec has.
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
        let memory = self.memory;
        (options.len() > self.options.len()).then_some(Self { kind: self.kind, options, memory })
    }
}

impl<C: TypedOptions> From<C> for EngineSpec {
    /// The options of an engine, with types.
    ///
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::{dxr, poptrie};
    /// let spec = EngineSpec::from(dxr::Config { d: 16, hops_k: true, ..Default::default() });
    /// assert_eq!(spec, "dxr:d=16:hops=k".parse()?);
    /// let spec = EngineSpec::from(poptrie::Config { s: 16, ..Default::default() });
    /// assert_eq!(spec, "poptrie:s=16".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(config: C) -> Self {
        let kind = C::ENGINE.parse().expect("an engine has its own name");
        let options = config.options().finish();
        let options = options.split(':').filter(|option| !option.is_empty());
        Self { kind, options: options.map(String::from).collect(), memory: None }
    }
}

impl From<EngineKind> for EngineSpec {
    fn from(kind: EngineKind) -> Self {
        Self { kind, options: Vec::new(), memory: None }
    }
}

impl fmt::Display for EngineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.kind, f)?;
        self.options.iter().try_for_each(|option| write!(f, ":{option}"))
    }
}

/// An address family with its engines. Sealed.
///
/// [`Engines`](super::Engines) adds [`EngineKind::Auto`], which chooses among them.
pub trait NamedEngines: Family {
    /// Whether the engine exists for this family.
    fn has_named(kind: EngineKind) -> bool;

    /// Compiles an engine other than [`EngineKind::Auto`] and hands it to the visitor.
    ///
    /// # Errors
    /// When the family has no such engine, the engine no such option, or the table exceeds a limit
    /// of the engine.
    fn build_named<V: EngineVisitor<Self>>(
        spec: &EngineSpec,
        rib: &Rib<Self>,
        visitor: V,
    ) -> Result<V::Output, CompileError>;

    /// Like [`NamedEngines::build_named`], behind a pointer.
    ///
    /// Not generic, so that the builders are compiled once, with this crate.
    #[doc(hidden)]
    fn build_boxed(
        spec: &EngineSpec,
        rib: &Rib<Self>,
    ) -> Result<Box<dyn Checked<Self>>, CompileError>;

    /// Shows the structures whose machine code `cargo xtask asm` counts.
    #[doc(hidden)]
    fn kernels(visitor: &mut impl KernelVisitor<Self>);
}

/// Visitor that puts the engine behind a pointer, from which either of its uses is made.
struct IntoBox;

impl<F: NamedEngines> EngineVisitor<F> for IntoBox {
    type Output = Box<dyn Checked<F>>;

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        Box::new(engine)
    }
}

/// Error: unknown engine name.
///
/// ```
/// use longmatch::EngineKind;
/// let error = "popetrie".parse::<EngineKind>().unwrap_err();
/// assert_eq!(error.name, "popetrie");
/// assert!(error.to_string().contains("there are: linear"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnknownEngine {
    /// The name as given.
    pub name: String,
}

impl fmt::Display for UnknownEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no engine is called '{}'; there are:", self.name)?;
        for kind in EngineKind::ALL {
            write!(f, " {kind}")?;
        }
        write!(f, " {}", EngineKind::Auto)?;
        let mut before = "; not compiled in:";
        for kind in MISSING {
            write!(f, "{before} {kind}")?;
            before = "";
        }
        Ok(())
    }
}

impl core::error::Error for UnknownEngine {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// A mode that an engine lacks is refused also where it is not text.
    #[test]
    fn modes_of_batches_that_an_engine_lacks_are_errors() {
        use crate::engine::{Batch, Engine, poptrie, sail};
        let rib = Rib::<Ipv4>::new();
        let poptrie = |batch| {
            let config = poptrie::Config { batch, ..Default::default() };
            poptrie::Poptrie::<Ipv4, poptrie::LeafvecNode, u16>::compile(&rib, &config).map(drop)
        };
        let sail = |batch| sail::Sail::compile(&rib, &sail::Config { batch }).map(drop);
        for (text, refused) in [
            ("poptrie:batch=line", poptrie(Batch::Line)),
            ("sail:batch=gather", sail(Batch::Gather)),
            ("sail:batch=line", sail(Batch::Line)),
        ] {
            let (name, option) = text.split_once(':').unwrap();
            let spec = EngineSpec::from(name.parse::<EngineKind>().unwrap()).option(option);
            let parsed = text.parse::<EngineSpec>().unwrap_err();
            assert!(parsed.to_string().contains(option), "{parsed}");
            let error = crate::Fib::compile(&rib, spec.clone()).map(drop).unwrap_err();
            let CompileError::Option(option) = &error else { panic!("{error}") };
            assert_eq!((option.engine, &option.option), (spec.kind.name(), &spec.options[0]));
            assert_eq!(refused, Err(error));
        }
        for batch in [Batch::Auto, Batch::Each, Batch::Flight] {
            assert_eq!((poptrie(batch), sail(batch)), (Ok(()), Ok(())));
        }
    }

    /// A name that is known is an engine, compiled in or not; the error names the others.
    #[test]
    fn every_engine_has_a_name() {
        assert!(MISSING.is_empty(), "tests have the feature `all-engines`");
        for kind in EngineKind::ALL.into_iter().chain([EngineKind::Auto]) {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let unknown = "folios".parse::<EngineKind>().unwrap_err().to_string();
        assert!(unknown.contains(": linear ") && unknown.ends_with(" auto"), "{unknown}");
        let missing = CompileError::NotCompiled { engine: "dir24_8" }.to_string();
        assert!(missing.contains("enable the feature 'dir24-8'"), "{missing}");
        let none = CompileError::NoEngine { family: Ipv6::NAME }.to_string();
        assert!(none.contains("auto: no engine for ipv6"), "{none}");
    }

    #[test]
    fn wider_variants_keep_the_options_of_a_spec() {
        let wider = |spec: &str| -> Vec<String> {
            let spec = crate::engine::testing::unread_spec(spec);
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
