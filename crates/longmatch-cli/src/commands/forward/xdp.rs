//! Forwarding between interfaces of the kernel.

use crate::args::ForwardArgs;
use crate::error::CliError;

pub(super) fn run(_: &ForwardArgs) -> Result<(), CliError> {
    Err(CliError::new("--io xdp: not yet"))
}
