//! The kernel's routes while others forward by them.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use longmatch::TableReader;
use longmatch_cli::error::CliError;
use longmatch_cli::output::warn;
use longmatch_forward::kernel::{
    Followed, Follower, FoundHop, KernelError, bypassed, flow_fields, index, ports,
};
use longmatch_forward::packet::FlowFields;
use longmatch_forward::{Port, Target};
use serde_json::{Value, json};

use super::counts::RouteCounts;
use super::supervise::{News, Supervise};
use crate::args::{Bypass, ForwardArgs};

/// Looks whether interfaces come and go.
pub(super) struct Interfaces {
    /// Their names, and the numbers of those that are open.
    names: Vec<(String, Option<u32>)>,
    ports: Vec<Arc<Port>>,
    accepted: Vec<Bypass>,
    next: Instant,
}

/// The kernel's functions that packets between these ports would bypass, unless the options accept it.
///
/// # Errors
/// If the kernel cannot be asked.
pub(super) fn objection(
    ports: &[Arc<Port>],
    accepted: &[Bypass],
) -> Result<Option<String>, CliError> {
    let found = bypassed(ports).map_err(|error| CliError::input("--bypass", error))?;
    let name =
        |bypass: &Bypass| bypass.to_possible_value().map(|value| value.get_name().to_owned());
    let accepted: Vec<_> = accepted.iter().filter_map(name).collect();
    let is_new = |(bypass, _): &(_, String)| !accepted.contains(&ToString::to_string(bypass));
    let lines: Vec<_> = { found }.into_iter().filter(is_new).collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let mut names: Vec<_> = lines.iter().map(|(bypass, _)| bypass.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    let lines: Vec<_> =
        lines.into_iter().map(|(bypass, text)| format!("{bypass}: {text}")).collect();
    Ok(Some(format!(
        "the kernel does more with forwarded packets than route them, which a forwarder goes round: {} (remove it, or \
         accept that with --bypass {})",
        lines.join("; "),
        names.join(",")
    )))
}

impl Interfaces {
    /// The time between two looks.
    const INTERVAL: Duration = Duration::from_secs(1);

    /// The interfaces of these names; `ports` are those that are open.
    pub(super) fn new(args: &ForwardArgs, ports: &[Arc<Port>]) -> Self {
        let number = |name: &String| {
            let port = ports.iter().find(|port| port.name == *name);
            (name.clone(), port.map(|port| port.index))
        };
        let names = args.interfaces.iter().map(number).collect();
        let (ports, accepted) = (ports.to_vec(), args.bypass.clone());
        Self { names, ports, accepted, next: Instant::now() + Self::INTERVAL }
    }

    fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// An interface that is gone, or that can be opened; more that the kernel does.
    fn news(&mut self) -> Result<Option<News>, CliError> {
        self.next = Instant::now() + Self::INTERVAL;
        if let Some(text) = objection(&self.ports, &self.accepted)? {
            return Ok(Some(News::Close(format!("{text}; it gets all packets until then"))));
        }
        let news = self.names.iter_mut().find_map(|(name, number)| match (*number, index(name)) {
            (Some(before), Some(now)) if before == now => None,
            (_, Some(_)) if ports(std::slice::from_ref(name)).is_ok() => {
                Some(News::Close(format!("{name}: a new interface: all are opened again")))
            }
            (Some(_), None) => {
                *number = None;
                Some(News::Warning(format!(
                    "{name}: the interface is gone; it is taken again when it returns and is up"
                )))
            }
            _ => None,
        });
        Ok(news)
    }
}

/// Reads and compiles the routes.
///
/// # Errors
/// If the kernel does not report them, or the engine cannot hold them.
pub(super) fn read(args: &ForwardArgs, ports: &[Arc<Port>]) -> Result<Follower, CliError> {
    let follower = Follower::new(ports, args.table_spec()?);
    follower.map_err(|error| CliError::input("--interface", error))
}

/// The interfaces that follow the kernel's state beside the table.
pub(super) trait Attached {
    /// Follows a change, and returns a warning.
    fn follow(&mut self, _: &Follower) -> Option<String> {
        None
    }

    /// Leaves all packets that arrive from now on to the kernel.
    fn close(&mut self) {}
}

/// Follows the kernel's routes.
pub(super) struct KernelRoutes<A> {
    follower: Follower,
    attached: A,
    /// The interfaces, if they may come and go.
    interfaces: Option<Interfaces>,
    fields: FlowFields,
    /// The work so far.
    followed: Followed,
    /// The last warning, which is not repeated.
    warned: Option<String>,
}

impl<A: Attached> KernelRoutes<A> {
    pub(super) fn new(follower: Follower, interfaces: Option<Interfaces>, mut attached: A) -> Self {
        attached.follow(&follower).iter().for_each(warn);
        let followed = Followed::default();
        Self { follower, attached, interfaces, fields: flow_fields(), followed, warned: None }
    }

    pub(super) fn reader(&self) -> TableReader<Target> {
        self.follower.reader()
    }

    /// The interfaces; the kernel's routes are no longer followed.
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    pub(super) fn into_attached(self) -> A {
        self.attached
    }
}

impl<A: Attached> Supervise for KernelRoutes<A> {
    fn follow(&mut self, timeout: Duration) -> Result<News, CliError> {
        match self.follower.follow(timeout) {
            Ok(Followed { messages: 0, resyncs: 0, .. }) => {}
            Ok(followed) => {
                self.followed.add(&followed);
                self.warned = None;
                return Ok(self.attached.follow(&self.follower).map_or(News::None, News::Warning));
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
        let news = match &mut self.interfaces {
            Some(interfaces) if interfaces.is_due() => interfaces.news()?,
            _ => return Ok(News::None),
        };
        // Settings have no messages.
        self.fields = flow_fields();
        Ok(news
            .or_else(|| self.attached.follow(&self.follower).map(News::Warning))
            .unwrap_or(News::None))
    }

    fn flow_fields(&self) -> FlowFields {
        self.fields
    }

    fn close(&mut self) {
        self.attached.close();
    }

    fn routes(&self) -> RouteCounts {
        let counts = self.follower.counts();
        let Followed { messages, losses, resyncs, .. } = self.followed;
        RouteCounts {
            ipv4: counts.ipv4,
            ipv6: counts.ipv6,
            next_hops: counts.next_hops,
            neighbours: counts.neighbours,
            messages,
            losses,
            resyncs,
        }
    }

    fn route(&self, addr: IpAddr) -> Value {
        let Some(route) = self.follower.route(addr) else {
            return json!({ "address": addr, "prefix": null, "target": "none", "next_hops": [] });
        };
        let target = match route.target {
            Target::Group(_) => "next hops",
            Target::OnLink => "on a link; the kernel asks for the Ethernet address",
            Target::Local => "an address of this machine",
            Target::Kernel => "the kernel",
            Target::Blackhole => "blackhole",
        };
        let next_hops: Vec<_> = route.hops.iter().map(next_hop).collect();
        json!({
            "address": addr,
            "prefix": route.prefix.to_string(),
            "target": target,
            "next_hops": next_hops,
        })
    }
}

fn next_hop(FoundHop { gateway, is_stale, hop }: &FoundHop) -> Value {
    let (mac, sent) = (hop.neighbour.mac(), hop.neighbour.sent());
    let state = match (mac, is_stale) {
        (None, _) => "unresolved",
        (Some(_), true) => "stale",
        (Some(_), false) => "known",
    };
    json!({
        "gateway": gateway,
        "port": hop.port.name,
        "ethernet_address": mac.map(|mac| mac.to_string()),
        "state": state,
        "weight": hop.weight,
        "packets": sent.packets,
        "bytes": sent.bytes,
    })
}
