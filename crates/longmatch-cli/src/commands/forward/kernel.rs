//! The kernel's routes while others forward by them.

use std::sync::Arc;
use std::time::Duration;

use longmatch::TableReader;
use longmatch_forward::kernel::Follower;
use longmatch_forward::{Port, Target};

use super::{Supervise, print};
use crate::args::ForwardArgs;
use crate::error::CliError;

/// Follows the kernel's routes; `changed` runs after changes.
pub(super) struct KernelRoutes<C> {
    follower: Follower,
    changed: C,
}

impl<C: FnMut(&Follower)> KernelRoutes<C> {
    /// Reads and compiles the routes.
    ///
    /// # Errors
    /// If the kernel does not tell them, or the engine cannot hold them.
    pub(super) fn new(
        args: &ForwardArgs,
        ports: &[Arc<Port>],
        mut changed: C,
    ) -> Result<Self, CliError> {
        let follower = Follower::new(ports, args.table_spec()?);
        let follower = follower.map_err(|error| CliError::input("--interface", error))?;
        changed(&follower);
        Ok(Self { follower, changed })
    }

    pub(super) fn reader(&self) -> TableReader<Target> {
        self.follower.reader()
    }
}

impl<C: FnMut(&Follower)> Supervise for KernelRoutes<C> {
    fn follow(&mut self, timeout: Duration) -> Result<(), CliError> {
        let followed = self.follower.follow(timeout);
        let followed = followed.map_err(|error| CliError::input("routes of the kernel", error))?;
        if followed.messages > 0 || followed.resyncs > 0 {
            (self.changed)(&self.follower);
        }
        Ok(())
    }

    fn routes(&self) -> String {
        let routes = self.follower.routes();
        print::routes(routes.ipv4, routes.ipv6)
    }
}
