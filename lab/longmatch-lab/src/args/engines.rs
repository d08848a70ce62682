//! Options of commands that compile engines.

use std::str::FromStr;

use clap::Args;
use longmatch::{EngineKind, EngineSpec, Engines, Ipv4, Ipv6};
use longmatch_cli::args::{size, unsupported};
use longmatch_cli::error::CliError;

/// The engines: common to commands that compile.
#[derive(Args, Clone, Debug, Default)]
pub struct EngineArgs {
    /// Engines, separated by commas: 'all', 'name' or 'name:option:option'
    ///
    /// Default: all engines except the oracle, which scans the table at each lookup.
    /// 'auto' is 'folio', unless a limit on memory refuses it ('auto:memory=4M'): then it is
    /// the smallest engine that fits. 'auto:try=50ms' measures three engines and takes the
    /// fastest, with ':use=one' one address at a time. 'all' does not include 'auto'.
    /// 'none', for 'longmatch-lab stat' only, compiles no engine.
    #[arg(
        short = 'e',
        long = "engine",
        value_name = "SPEC",
        value_delimiter = ',',
        verbatim_doc_comment
    )]
    pub engines: Vec<EngineChoice>,

    /// Memory limit of an engine [default: half of the available memory]
    ///
    /// A number of bytes such as 500M or 4G. Each engine estimates its size from the routes
    /// before it allocates. An engine whose estimate exceeds the limit is left out with an error.
    #[arg(long, value_name = "SIZE", value_parser = size, verbatim_doc_comment)]
    pub memory: Option<u64>,
}

/// Default of `--memory`: half of the available memory, as compiling needs about as much again
/// temporarily.
pub fn default_memory() -> Option<u64> {
    longmatch_bench::available_memory().map(|bytes| bytes / 2)
}

impl EngineArgs {
    /// Returns the engines to compile for a family, in the order given, without duplicates. `all`,
    /// or no option, means every engine of the family except oracles.
    ///
    /// # Errors
    /// If an engine lacks a given option, or there is `none`. This is checked before any work starts.
    pub fn specs<F: Engines>(&self) -> Result<Vec<EngineSpec>, CliError> {
        let all = [EngineChoice::All];
        let chosen = if self.engines.is_empty() { &all[..] } else { &self.engines };
        let mut specs = Vec::new();
        for choice in chosen {
            let named = match choice {
                EngineChoice::None => {
                    let problem =
                        "'none' compiles no engine: only 'longmatch-lab stat' takes it, alone";
                    return Err(CliError::input("--engine", problem));
                }
                EngineChoice::Spec(spec) => vec![spec.clone()],
                EngineChoice::All => {
                    let fit = |kind: &EngineKind| F::has(*kind) && !kind.is_oracle();
                    EngineKind::ALL.into_iter().filter(fit).map(EngineSpec::from).collect()
                }
            };
            for spec in named {
                if !specs.contains(&spec) {
                    specs.push(spec);
                }
            }
        }
        for spec in &specs {
            // An option or an engine that only the other family has is not an error.
            if let (Some(error), Some(_)) = (unsupported::<Ipv4>(spec), unsupported::<Ipv6>(spec)) {
                return Err(CliError::input("--engine", error));
            }
        }
        specs.retain(|spec| unsupported::<F>(spec).is_none());
        let memory = self.memory.or_else(default_memory);
        specs.iter_mut().for_each(|spec| spec.memory = memory);
        Ok(specs)
    }

    /// Returns the engines as [`EngineArgs::specs`] does, or none if `none` is all that is given.
    ///
    /// # Errors
    /// As [`EngineArgs::specs`].
    pub fn specs_or_none<F: Engines>(&self) -> Result<Vec<EngineSpec>, CliError> {
        if self.engines == [EngineChoice::None] { Ok(Vec::new()) } else { self.specs::<F>() }
    }

    /// Returns whether an engine was named. A named engine without a result makes the exit status
    /// negative; others are only reported.
    pub fn named(&self, spec: &EngineSpec) -> bool {
        self.engines.contains(&EngineChoice::Spec(EngineSpec { memory: None, ..spec.clone() }))
    }
}

/// One element of `--engine`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EngineChoice {
    /// All engines but oracles.
    All,
    /// No engine, for numbers of the table alone.
    None,
    /// One engine.
    Spec(EngineSpec),
}

impl FromStr for EngineChoice {
    type Err = longmatch::ParseSpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            "none" => Ok(Self::None),
            text => text.parse().map(Self::Spec),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specs(list: &str) -> Result<Vec<String>, CliError> {
        let engines: Result<_, _> = list.split_terminator(',').map(str::parse).collect();
        let engines = engines.map_err(|error| CliError::input("--engine", error))?;
        let specs = EngineArgs { engines, memory: None }.specs::<Ipv4>()?;
        Ok(specs.iter().map(EngineSpec::to_string).collect())
    }

    #[test]
    fn oracles_run_only_when_named() {
        let all = specs("all").unwrap();
        assert!(all.contains(&"poptrie".into()) && !all.contains(&"linear".into()));
        assert_eq!(specs("").unwrap(), all);
        assert_eq!(specs("linear").unwrap(), ["linear"]);
        assert!(!all.contains(&"auto".into()));
        assert_eq!(specs("all,auto").unwrap().last().unwrap(), "auto");
        assert!(specs("auto:use=one").is_err() && specs("auto:memory=1").is_ok());
    }

    #[test]
    fn engines_come_in_order_and_once() {
        let some = specs("poptrie:s=16,radix,poptrie:s=16").unwrap();
        assert_eq!(some, ["poptrie:s=16", "radix"]);
        assert_eq!(specs("radix,all").unwrap()[0], "radix");
        assert!(specs("radix:s=16").is_err() && specs("poptrie:s=99").is_err());
        assert!(specs("none").is_err() && specs("radix,none").is_err());
    }

    #[test]
    fn engines_and_options_of_the_other_family_are_left_out() {
        assert_eq!(specs("sail,dxr:xl,dxr:wide").unwrap(), ["sail", "dxr:wide"]);
        let engines = vec!["sail".parse().unwrap(), "dxr:xl".parse().unwrap()];
        let ipv6 = EngineArgs { engines, memory: Some(5) }.specs::<Ipv6>().unwrap();
        assert_eq!(ipv6, ["dxr:xl".parse::<EngineSpec>().unwrap().with_memory(5)]);
    }
}
