//! The kernel's routes while others forward by them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use longmatch::TableReader;
use longmatch_forward::kernel::{Followed, Follower, KernelError, index, ports};
use longmatch_forward::{Port, Target};

use super::{News, Supervise, print};
use crate::args::ForwardArgs;
use crate::error::CliError;
use crate::output::warn;

/// Looks whether interfaces come and go.
pub(super) struct Interfaces {
    /// Their names, and the numbers of those that are open.
    names: Vec<(String, Option<u32>)>,
    next: Instant,
}

impl Interfaces {
    /// The time between two looks.
    const INTERVAL: Duration = Duration::from_secs(1);

    /// The interfaces of these names, of which `ports` are open.
    pub(super) fn new(names: &[String], ports: &[Arc<Port>]) -> Self {
        let number = |name: &String| {
            let port = ports.iter().find(|port| port.name == *name);
            (name.clone(), port.map(|port| port.index))
        };
        Self { names: names.iter().map(number).collect(), next: Instant::now() + Self::INTERVAL }
    }

    /// An interface that is gone, or that can be opened.
    fn news(&mut self) -> Option<News> {
        if Instant::now() < self.next {
            return None;
        }
        self.next = Instant::now() + Self::INTERVAL;
        self.names.iter_mut().find_map(|(name, number)| match (*number, index(name)) {
            (Some(before), Some(now)) if before == now => None,
            (_, Some(_)) if ports(&[name.clone()]).is_ok() => {
                Some(News::Interfaces(format!("{name}: a new interface: all are opened anew")))
            }
            (Some(_), None) => {
                *number = None;
                Some(News::Warning(format!(
                    "{name}: the interface is gone; it is taken again when it returns and is up"
                )))
            }
            _ => None,
        })
    }
}

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
    /// The interfaces, if they may come and go.
    interfaces: Option<Interfaces>,
    /// The last warning, which is not repeated.
    warned: Option<String>,
}

impl<C: FnMut(&Follower) -> Option<String>> KernelRoutes<C> {
    pub(super) fn new(follower: Follower, interfaces: Option<Interfaces>, mut changed: C) -> Self {
        changed(&follower).iter().for_each(warn);
        Self { follower, changed, interfaces, warned: None }
    }

    pub(super) fn reader(&self) -> TableReader<Target> {
        self.follower.reader()
    }
}

impl<C: FnMut(&Follower) -> Option<String>> Supervise for KernelRoutes<C> {
    fn follow(&mut self, timeout: Duration) -> Result<News, CliError> {
        match self.follower.follow(timeout) {
            Ok(Followed { messages: 0, resyncs: 0, .. }) => {}
            Ok(_) => {
                self.warned = None;
                return Ok((self.changed)(&self.follower).map_or(News::None, News::Warning));
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
                    return Ok(News::Warning(format!(
                        "routes of the kernel: {text}; the last routes stay in use"
                    )));
                }
            }
            Err(error) => return Err(CliError::input("routes of the kernel", error)),
        }
        Ok(self.interfaces.as_mut().and_then(Interfaces::news).unwrap_or(News::None))
    }

    fn routes(&self) -> String {
        let counts = self.follower.counts();
        print::routes(counts.ipv4, counts.ipv6)
    }
}
