//! Typed options of engines, as specs.

use alloc::string::{String, ToString};

use super::auto::{AutoGoal, Locality, Usage};
use super::{Batch, EngineKind, EngineSpec};

/// Collects the options of a spec.
struct Spec(EngineSpec);

impl Spec {
    fn new(kind: EngineKind) -> Self {
        Self(kind.into())
    }

    /// Adds an option, if there is one.
    fn option(mut self, option: Option<impl Into<String>>) -> Self {
        self.0.options.extend(option.map(Into::into));
        self
    }

    fn flag(self, flag: &str, set: bool) -> Self {
        self.option(set.then_some(flag))
    }

    fn value(self, key: &str, value: impl ToString) -> Self {
        self.option(Some([key, "=", &value.to_string()].concat()))
    }

    /// Adds a number that is not the default.
    ///
    /// Without options at their defaults a spec has all of its wider variants.
    fn number(self, key: &str, number: u8, default: u8) -> Self {
        if number == default { self } else { self.value(key, number) }
    }

    fn batch(self, batch: Batch) -> Self {
        if batch == Batch::Auto { self } else { self.value("batch", batch.name()) }
    }
}

#[cfg(feature = "radix")]
impl From<super::radix::Config> for EngineSpec {
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::radix;
    /// let spec = EngineSpec::from(radix::Config { path_compressed: true });
    /// assert_eq!(spec, "radix:path-compressed".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(config: super::radix::Config) -> Self {
        Spec::new(EngineKind::Radix).flag("path-compressed", config.path_compressed).0
    }
}

#[cfg(feature = "poptrie")]
impl From<super::poptrie::Config> for EngineSpec {
    /// Nodes are the default ones; leaves have 32 bits where next hops need them.
    ///
    /// ```
    /// use longmatch::engine::poptrie;
    /// use longmatch::{Fib, Ipv4, Rib};
    /// let fib = Fib::compile(&Rib::<Ipv4>::new(), poptrie::Config { s: 16, ..Default::default() })?;
    /// assert_eq!(fib.variant(), "s=16");
    /// # Ok::<(), longmatch::CompileError>(())
    /// ```
    fn from(config: super::poptrie::Config) -> Self {
        let default = super::poptrie::Config::default();
        let spec = Spec::new(EngineKind::Poptrie).number("s", config.s, default.s);
        spec.flag("unaggregated", !config.aggregate).batch(config.batch).0
    }
}

#[cfg(feature = "dxr")]
impl From<super::dxr::Config> for EngineSpec {
    /// The format is the default one, which [`EngineSpec::wider`] widens.
    ///
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::dxr;
    /// let spec = EngineSpec::from(dxr::Config { d: 16, hops_k: true, ..Default::default() });
    /// assert_eq!(spec, "dxr:d=16:hops=k".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(config: super::dxr::Config) -> Self {
        let default = super::dxr::Config::default();
        let spec = Spec::new(EngineKind::Dxr).number("d", config.d, default.d);
        let spec = spec.number("x", config.x, default.x);
        spec.flag("hops=k", config.hops_k).batch(config.batch).0
    }
}

#[cfg(feature = "folio")]
impl From<super::folio::v4::Config> for EngineSpec {
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::folio::v4::Config;
    /// let spec = EngineSpec::from(Config { root_bits: Some(16), ..Default::default() });
    /// assert_eq!(spec, "folio:s=16".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(config: super::folio::v4::Config) -> Self {
        let spec = Spec::new(EngineKind::Folio);
        config.options().fold(spec, |spec, (key, value)| spec.value(key, value)).0
    }
}

#[cfg(feature = "folio")]
impl From<super::folio::v6::Config> for EngineSpec {
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::folio::v6::Config;
    /// let spec = EngineSpec::from(Config { codes: Some("16"), ..Default::default() });
    /// assert_eq!(spec, "folio:codes=16".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(config: super::folio::v6::Config) -> Self {
        let spec = config.codes.into_iter();
        let spec = spec.fold(Spec::new(EngineKind::Folio), |spec, it| spec.value("codes", it));
        let spec = config.steps.into_iter().fold(spec, |spec, it| spec.value("steps", it));
        config.leaves.into_iter().fold(spec, |spec, it| spec.value("leaves", it)).0
    }
}

#[cfg(feature = "sail")]
impl From<super::sail::Config> for EngineSpec {
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::{Batch, sail};
    /// let spec = EngineSpec::from(sail::Config { batch: Batch::Each });
    /// assert_eq!(spec, "sail:batch=each".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(config: super::sail::Config) -> Self {
        Spec::new(EngineKind::Sail).batch(config.batch).0
    }
}

#[cfg(feature = "spider")]
impl From<super::spider::Config> for EngineSpec {
    /// Entries have 32 bits.
    ///
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::spider::{Config, Kernel};
    /// let spec = EngineSpec::from(Config { kernel: Some(Kernel::Lanes(16)) });
    /// assert_eq!(spec, "spider:lanes=16".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(config: super::spider::Config) -> Self {
        Spec::new(EngineKind::Spider).option(config.kernel.map(super::spider::Kernel::name)).0
    }
}

#[cfg(feature = "dir24-8")]
impl From<super::dir24_8::Config> for EngineSpec {
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::dir24_8;
    /// let spec = EngineSpec::from(dir24_8::Config { entry: Some(32) });
    /// assert_eq!(spec, "dir24_8:entry=32".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(config: super::dir24_8::Config) -> Self {
        let spec = Spec::new(EngineKind::Dir24_8);
        config.entry.into_iter().fold(spec, |spec, bits| spec.value("entry", bits)).0
    }
}

#[cfg(feature = "tree-bitmap")]
impl From<super::tree_bitmap::Config> for EngineSpec {
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::tree_bitmap;
    /// let spec = EngineSpec::from(tree_bitmap::Config { stride: 4, ..Default::default() });
    /// assert_eq!(spec, "tree_bitmap:stride=4".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(config: super::tree_bitmap::Config) -> Self {
        let spec = Spec::new(EngineKind::TreeBitmap).number("stride", config.stride, 6);
        spec.flag("result=32", config.wide_results).0
    }
}

impl From<AutoGoal> for EngineSpec {
    /// ```
    /// use longmatch::EngineSpec;
    /// use longmatch::engine::auto::{AutoGoal, Trial, Usage};
    /// let trial = Trial { usage: Usage::One, ..Trial::default() };
    /// let spec = EngineSpec::from(AutoGoal { memory: None, trial: Some(trial) });
    /// assert_eq!(spec, "auto:try=50ms:use=one".parse()?);
    /// # Ok::<(), longmatch::ParseSpecError>(())
    /// ```
    fn from(goal: AutoGoal) -> Self {
        let spec = Spec::new(EngineKind::Auto);
        let spec = goal.memory.into_iter().fold(spec, |spec, bytes| spec.value("memory", bytes));
        let Some(trial) = goal.trial else { return spec.0 };
        let spec = spec.option(Some(alloc::format!("try={}ms", trial.time.as_millis())));
        let spec = spec.flag("use=one", trial.usage == Usage::One);
        let spec = spec.flag("traffic=few", trial.traffic == Locality::Few);
        trial.level.into_iter().fold(spec, |spec, level| spec.value("simd", level.name())).0
    }
}

#[cfg(test)]
mod tests {
    use super::super::auto::Trial;
    use super::super::{dir24_8, dxr, folio, poptrie, radix, sail, spider, tree_bitmap};
    use super::*;
    use crate::Fib;
    use crate::net::Ipv4;
    use crate::rib::Rib;
    use crate::simd::Level;

    /// The defaults of a config are those of the engine, and every option is understood.
    #[test]
    fn configs_are_specs() {
        let variant = |spec| Fib::compile(&Rib::<Ipv4>::new(), spec).unwrap().variant();
        for (config, text) in [
            (EngineSpec::from(poptrie::Config::default()), "poptrie"),
            (radix::Config::default().into(), "radix"),
            (dxr::Config::default().into(), "dxr"),
            (folio::v4::Config::default().into(), "folio"),
            (folio::v6::Config::default().into(), "folio"),
            (sail::Config::default().into(), "sail"),
            (spider::Config::default().into(), "spider"),
            (dir24_8::Config::default().into(), "dir24_8"),
            (tree_bitmap::Config::default().into(), "tree_bitmap"),
            (AutoGoal::default().into(), "auto"),
            (
                poptrie::Config { s: 9, aggregate: false, batch: Batch::Each }.into(),
                "poptrie:s=9:unaggregated:batch=each",
            ),
            (
                dxr::Config { d: 12, x: 5, hops_k: true, batch: Batch::Flight }.into(),
                "dxr:d=12:x=5:hops=k:batch=flight",
            ),
            (
                folio::v4::Config {
                    code_bytes: Some(3),
                    root_bits: Some(12),
                    spare: Some(4096),
                    lists: Some(4),
                    entries: Some(1_000_000),
                    flat: Some(true),
                    ahead: Some(false),
                }
                .into(),
                "folio:codes=24:s=12:spare=4096:lists=4:entries=none:flat=yes:ahead=no",
            ),
            (
                tree_bitmap::Config { stride: 4, wide_results: true }.into(),
                "tree_bitmap:stride=4:result=32",
            ),
            (dir24_8::Config { entry: Some(16) }.into(), "dir24_8:entry=16"),
            (radix::Config { path_compressed: true }.into(), "radix:path-compressed"),
        ] {
            let spec: EngineSpec = text.parse().unwrap();
            assert_eq!(config, spec);
            assert_eq!(variant(config), variant(spec), "{text}");
        }
        let trial = Trial {
            time: core::time::Duration::from_millis(1500),
            usage: Usage::One,
            traffic: Locality::Few,
            level: Some(Level::Portable),
        };
        let trial = cfg!(feature = "std").then_some(trial);
        for goal in [AutoGoal { memory: Some(5), trial }, AutoGoal { memory: None, trial: None }] {
            assert_eq!(AutoGoal::of(&goal.into()), Ok(goal));
        }
    }
}
