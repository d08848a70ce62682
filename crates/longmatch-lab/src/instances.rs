//! The engines' loops, compiled once for each family, in this crate.
//!
//! A function that is generic over the family is compiled in every crate that calls it, with everything that it calls.
//! The loops of all engines are most of this crate's machine code, so what reaches them goes through a trait whose
//! implementations name the family.

use longmatch::{CompileError, EngineSpec, Ipv4, Ipv6, Engines, Rib};

use crate::family::LabFamily;
use crate::race::{self, Entry};
use crate::verdict::Verdict;
use crate::verify::{self, OnStep, Verifier, VerifyError};

/// What reaches the loops of all engines.
pub trait Instances: Engines {
    /// Compiles an engine for a comparison.
    fn enter(spec: &EngineSpec, rib: &Rib<Self>) -> Result<Entry<Self>, CompileError>
    where
        Self: LabFamily;

    /// Compiles an engine and verifies it.
    fn verify(
        verifier: &Verifier<'_, Self>,
        spec: &EngineSpec,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, VerifyError>
    where
        Self: LabFamily;
}

macro_rules! instances {
    ($($family:ty),*) => {$(
        impl Instances for $family {
            fn enter(spec: &EngineSpec, rib: &Rib<Self>) -> Result<Entry<Self>, CompileError> {
                race::compile(spec, rib)
            }

            fn verify(
                verifier: &Verifier<'_, Self>,
                spec: &EngineSpec,
                on_step: OnStep<'_>,
            ) -> Result<Verdict, VerifyError> {
                verify::compile(verifier, spec, on_step)
            }
        }
    )*};
}

instances!(Ipv4, Ipv6);
