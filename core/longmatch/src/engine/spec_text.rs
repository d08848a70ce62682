//! Engine specs from text.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use super::auto::AutoGoal;
use super::kit::{CompileError, OptionError};
use super::registry::{EngineKind, EngineSpec, NamedEngines, UnknownEngine};
use crate::net::{Ipv4, Ipv6};
use crate::rib::Rib;

/// Why a text is no [`EngineSpec`].
///
/// ```
/// use longmatch::{EngineSpec, ParseSpecError};
/// let error = "poptrie:s=99".parse::<EngineSpec>().unwrap_err();
/// assert!(matches!(&error, ParseSpecError::Option(it) if it.option == "s=99"));
/// assert!(error.to_string().contains("poptrie: no option 's=99'; expected s=0 to s=24"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParseSpecError {
    /// No engine has the name.
    Engine(UnknownEngine),
    /// The engine has no such option for either family, or does not accept this value of it.
    Option(OptionError),
}

impl fmt::Display for ParseSpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Option(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ParseSpecError {}

impl From<UnknownEngine> for ParseSpecError {
    fn from(error: UnknownEngine) -> Self {
        Self::Engine(error)
    }
}

impl From<OptionError> for ParseSpecError {
    fn from(error: OptionError) -> Self {
        Self::Option(error)
    }
}

impl FromStr for EngineSpec {
    type Err = ParseSpecError;

    fn from_str(text: &str) -> Result<Self, ParseSpecError> {
        let mut parts = text.split(':');
        let kind = parts.next().unwrap_or_default().parse()?;
        let spec = Self { kind, options: parts.map(String::from).collect(), memory: None };
        match &spec {
            spec if spec.options.is_empty() => {}
            spec if kind == EngineKind::Auto => drop(AutoGoal::of(spec)?),
            // An option of one family is enough.
            spec => match (options_of::<Ipv4>(spec), options_of::<Ipv6>(spec)) {
                (Some(Err(error)), None | Some(Err(_))) | (None, Some(Err(error))) => {
                    return Err(error.into());
                }
                _ => {}
            },
        }
        Ok(spec)
    }
}

/// Compiles a table without routes, which reads the options: milliseconds, where the direct table is
/// large. `None` where the family has no such engine, and so no options.
fn options_of<F: NamedEngines>(spec: &EngineSpec) -> Option<Result<(), OptionError>> {
    match F::build_boxed(spec, &Rib::new()) {
        Err(CompileError::Option(error)) => Some(Err(error)),
        Err(CompileError::Family { .. } | CompileError::NotCompiled { .. }) => None,
        _ => Some(Ok(())),
    }
}
