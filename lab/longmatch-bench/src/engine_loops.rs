//! Callers of the loops of all engines, compiled once for each family.
//!
//! A function that is generic over the family is compiled with all its callees in every crate that
//! calls it. The loops of the engines are most of this crate's machine code, so their callers go
//! through a trait whose implementations name the family.

use longmatch::{CompileError, EngineSpec, Ipv4, Ipv6, Rib};

use crate::engine_under_test::{self, EngineUnderTest};
use crate::family::TrafficFamily;
use crate::verifier::{self, EngineResult, OnStep, Verifier, VerifyError};

/// An address family whose engines this crate compiles, measures and verifies by name.
///
/// Its functions are the entry points to the loops of all engines.
pub trait BenchFamily: TrafficFamily {
    /// Compiles an engine for a comparison.
    fn compile_target(
        spec: &EngineSpec,
        rib: &Rib<Self>,
    ) -> Result<EngineUnderTest<Self>, CompileError>;

    /// Compiles an engine and verifies it.
    ///
    /// # Errors
    /// If the engine does not exist with these options or cannot hold the table, or if the system
    /// does not start all threads.
    fn verify(
        verifier: &Verifier<'_, Self>,
        spec: &EngineSpec,
        on_step: OnStep<'_>,
    ) -> Result<EngineResult, VerifyError>;
}

macro_rules! engine_loops {
    ($($family:ty),*) => {$(
        impl BenchFamily for $family {
            fn compile_target(
                spec: &EngineSpec,
                rib: &Rib<Self>,
            ) -> Result<EngineUnderTest<Self>, CompileError> {
                engine_under_test::compile(spec, rib)
            }

            fn verify(
                verifier: &Verifier<'_, Self>,
                spec: &EngineSpec,
                on_step: OnStep<'_>,
            ) -> Result<EngineResult, VerifyError> {
                verifier::compile(verifier, spec, on_step)
            }
        }
    )*};
}

engine_loops!(Ipv4, Ipv6);
