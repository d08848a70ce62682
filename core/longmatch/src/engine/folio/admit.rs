//! Limits of memory, before a table is compiled.

use crate::engine::kit::CompileError;

/// Refuses a structure of this size in bytes, or admits it.
pub(super) type SizeLimit<'a> = &'a dyn Fn(u64) -> Result<(), CompileError>;

/// Bytes that a table may take on top of twice its plan.
const MARGIN: u64 = 1 << 20;

/// Admits a planned table, whose bytes are an estimate. Close to the limit an upper bound decides,
/// which may take as long as to compile.
///
/// # Errors
/// The refusal of the bound.
pub(super) fn admit_plan(
    admit: SizeLimit<'_>,
    planned: u64,
    bound: impl FnOnce() -> u64,
) -> Result<(), CompileError> {
    let most = planned.saturating_mul(2).saturating_add(MARGIN);
    if admit(most).is_ok() { Ok(()) } else { admit(bound()) }
}
