//! Callers of the loops of all engines, compiled once for each family.
//!
//! A function that is generic over the family is compiled with all its callees in every crate that
//! calls it. The loops of the engines are most of this crate's machine code, so their callers go
//! through a trait whose implementations name the family.

use longmatch::{CompileError, EngineSpec, Engines, Ipv4, Ipv6, Rib};

use crate::comparison::{self, EngineUnderTest};
use crate::family::BenchFamily;
use crate::verdict::Verdict;
use crate::verify::{self, OnStep, Verifier, VerifyError};

/// Entry points to the loops of all engines.
pub trait EngineLoops: Engines {
    /// Compiles an engine for a comparison.
    fn compile_target(
        spec: &EngineSpec,
        rib: &Rib<Self>,
    ) -> Result<EngineUnderTest<Self>, CompileError>
    where
        Self: BenchFamily;

    /// Compiles an engine and verifies it.
    fn verify(
        verifier: &Verifier<'_, Self>,
        spec: &EngineSpec,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, VerifyError>
    where
        Self: BenchFamily;
}

macro_rules! engine_loops {
    ($($family:ty),*) => {$(
        impl EngineLoops for $family {
            fn compile_target(
                spec: &EngineSpec,
                rib: &Rib<Self>,
            ) -> Result<EngineUnderTest<Self>, CompileError> {
                comparison::compile(spec, rib)
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

engine_loops!(Ipv4, Ipv6);
