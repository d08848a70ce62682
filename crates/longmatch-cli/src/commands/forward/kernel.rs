//! The kernel's routes while others forward by them.

use std::sync::Arc;
use std::time::Duration;

use longmatch::TableReader;
use longmatch_forward::kernel::{Followed, Follower, KernelError};
use longmatch_forward::{Port, Target};

use super::{Supervise, print};
use crate::args::ForwardArgs;
use crate::error::CliError;
use crate::output::warn;

/// Reads and compiles the routes.
///
/// # Errors
/// If the kernel does not tell them, or the engine cannot hold them.
pub(super) fn read(args: &ForwardArgs, ports: &[Arc<Port>]) -> Result<Follower, CliError> {
    let follower = Follower::new(ports, args.table_spec()?);
    follower.map_err(|error| CliError::input("--interface", error))
}

/// Follows the kernel's routes; `changed` runs after changes, and returns a warning.
pub(super) struct KernelRoutes<C> {
    follower: Follower,
    changed: C,
    /// The last warning, which is not repeated.
    warned: Option<String>,
}

impl<C: FnMut(&Follower) -> Option<String>> KernelRoutes<C> {
    pub(super) fn new(follower: Follower, mut changed: C) -> Self {
        changed(&follower).iter().for_each(warn);
        Self { follower, changed, warned: None }
    }

    pub(super) fn reader(&self) -> TableReader<Target> {
        self.follower.reader()
    }
}

impl<C: FnMut(&Follower) -> Option<String>> Supervise for KernelRoutes<C> {
    fn follow(&mut self, timeout: Duration) -> Result<Option<String>, CliError> {
        match self.follower.follow(timeout) {
            Ok(Followed { messages: 0, resyncs: 0, .. }) => {}
            Ok(_) => {
                self.warned = None;
                return Ok((self.changed)(&self.follower));
            }
            // Packets are forwarded by the last table until the follower succeeds.
            Err(
                error @ (KernelError::Refused(_)
                | KernelError::Insert(_)
                | KernelError::Interrupted),
            ) => {
                let text = error.to_string();
                if self.warned.as_ref() != Some(&text) {
                    self.warned = Some(text.clone());
                    return Ok(Some(format!(
                        "routes of the kernel: {text}; the last routes stay in use"
                    )));
                }
            }
            Err(error) => return Err(CliError::input("routes of the kernel", error)),
        }
        Ok(None)
    }

    fn routes(&self) -> String {
        let counts = self.follower.counts();
        print::routes(counts.ipv4, counts.ipv6)
    }
}
