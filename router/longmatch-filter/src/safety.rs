//! The addresses that a person needs for reaching this machine, from the kernel and from the session.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteVia};
use serde::{Deserialize, Serialize};

use longmatch::IpPrefix;

use crate::content::Addresses;
use crate::netlink::dump;

/// The port of SSH servers.
const SSH: u16 = 22;

/// The addresses that [`safety`] finds.
///
/// ```no_run
/// let safety = longmatch_filter::safety()?;
/// println!("gateways: {:?}", safety.gateways);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Safety {
    /// Peers of SSH sessions: of this process and those before it, and of connections to port 22.
    pub peers: Vec<IpAddr>,
    /// The next hops of default routes.
    pub gateways: Vec<IpAddr>,
    /// The addresses of this machine.
    pub own: Vec<IpAddr>,
}

impl Safety {
    /// The addresses whose packets always pass: peers, gateways, and those of the link, by which hosts of IPv6 find each
    /// other (`fe80::/10`, `ff02::/16`).
    pub fn safe(&self) -> Addresses {
        let link = ["fe80::/10", "ff02::/16"].iter().filter_map(|text| text.parse().ok());
        let hosts = self.peers.iter().chain(&self.gateways).copied().map(IpPrefix::host);
        hosts.chain(link).collect()
    }

    /// The addresses of this machine.
    pub fn local(&self) -> Addresses {
        self.own.iter().copied().map(IpPrefix::host).collect()
    }

    /// Adds the addresses that another search found.
    pub fn add(&mut self, other: Self) {
        for (list, more) in [
            (&mut self.peers, other.peers),
            (&mut self.gateways, other.gateways),
            (&mut self.own, other.own),
        ] {
            list.extend(more);
            list.sort_unstable();
            list.dedup();
        }
    }
}

/// Finds the addresses of SSH peers, gateways and this machine, in the network namespace of the calling thread.
///
/// # Errors
/// If the kernel does not tell its addresses or routes.
pub fn safety() -> io::Result<Safety> {
    let mut found = Safety { peers: session_peers(), ..Safety::default() };
    for (file, is_ipv6) in [("tcp", false), ("tcp6", true)] {
        // A kernel without IPv6 has no file of it.
        let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
        found.peers.extend(text.lines().filter_map(|line| ssh_connection(line, is_ipv6)));
    }
    dump(RouteNetlinkMessage::GetAddress(AddressMessage::default()), |message| {
        if let RouteNetlinkMessage::NewAddress(message) = message {
            found.own.extend(local_address(&message));
        }
    })?;
    dump(RouteNetlinkMessage::GetRoute(RouteMessage::default()), |message| {
        if let RouteNetlinkMessage::NewRoute(message) = message
            && message.header.destination_prefix_length == 0
        {
            found.gateways.extend(gateways(&message.attributes));
        }
    })?;
    for list in [&mut found.peers, &mut found.gateways, &mut found.own] {
        list.iter_mut().for_each(|address| *address = address.to_canonical());
        list.retain(|address| !address.is_unspecified());
        list.sort_unstable();
        list.dedup();
    }
    Ok(found)
}

/// The peers in the environments of this process and of the processes that started it: `sudo` removes the variables from
/// those that it starts.
fn session_peers() -> Vec<IpAddr> {
    let mut peers = Vec::new();
    let mut process = "self".to_owned();
    // The processes end at number 1, but a loop must end in any case.
    for _ in 0..64 {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        peers.extend(environment.split(|byte| *byte == 0).filter_map(session_peer));
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        match parent.map(str::trim) {
            Some(parent) if parent != "0" => process = parent.to_owned(),
            _ => break,
        }
    }
    peers
}

/// The peer of a variable of SSH, whose value begins with its address.
fn session_peer(variable: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(variable).ok()?;
    let (name, value) = text.split_once('=')?;
    let is_session = ["SSH_CONNECTION", "SSH_CLIENT"].contains(&name);
    // A link-local address has its interface behind it.
    let address = value.split([' ', '%']).next()?;
    is_session.then(|| address.parse().ok()).flatten()
}

/// The peer of a line of `/proc/net/tcp` or `tcp6`, if it is an established connection to the port of SSH.
fn ssh_connection(line: &str, is_ipv6: bool) -> Option<IpAddr> {
    const ESTABLISHED: &str = "01";
    let mut words = line.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (words.next()?, words.next()?, words.next()?);
    let port = u16::from_str_radix(local.split_once(':')?.1, 16).ok()?;
    if port != SSH || state != ESTABLISHED {
        return None;
    }
    let (address, _) = remote.split_once(':')?;
    // Words of 32 bits in the order of the host's bytes.
    let words = address
        .as_bytes()
        .chunks(8)
        .map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok());
    let bytes: Vec<u8> =
        words.collect::<Option<Vec<_>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    match is_ipv6 {
        true => Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into()),
        false => Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into()),
    }
}

fn local_address(message: &AddressMessage) -> Option<IpAddr> {
    // `Local` differs from `Address`, the peer, at interfaces between two points.
    let local = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Local(address) => Some(*address),
        _ => None,
    });
    local.or_else(|| {
        message.attributes.iter().find_map(|attribute| match attribute {
            AddressAttribute::Address(address) => Some(*address),
            _ => None,
        })
    })
}

fn gateways(attributes: &[RouteAttribute]) -> Vec<IpAddr> {
    let address = |address: &RouteAddress| match address {
        RouteAddress::Inet(address) => Some(IpAddr::V4(*address)),
        RouteAddress::Inet6(address) => Some(IpAddr::V6(*address)),
        _ => None,
    };
    let mut found = Vec::new();
    for attribute in attributes {
        match attribute {
            RouteAttribute::Gateway(gateway) => found.extend(address(gateway)),
            RouteAttribute::Via(RouteVia::Inet(gateway)) => found.push((*gateway).into()),
            RouteAttribute::Via(RouteVia::Inet6(gateway)) => found.push((*gateway).into()),
            RouteAttribute::MultiPath(hops) => {
                hops.iter().for_each(|hop| found.extend(gateways(&hop.attributes)));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_of_sessions() {
        let peer = |text: &str| session_peer(text.as_bytes()).map(|it| it.to_string());
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(peer("SSH_CONNECTION=192.0.2.7 50022 198.51.100.1 22"), some("192.0.2.7"));
        assert_eq!(peer("SSH_CLIENT=2001:db8::7 50022 22"), some("2001:db8::7"));
        assert_eq!(peer("SSH_CLIENT=fe80::7%eth0 50022 22"), some("fe80::7"));
        assert_eq!(peer("SSH_CLIENT="), None);
        assert_eq!(peer("OTHER=192.0.2.7"), None);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn connections_to_ssh() {
        let line =
            |local: &str, remote: &str, state: &str| format!("   1: {local} {remote} {state} 0:0");
        let four = |text: String| ssh_connection(&text, false).map(|it| it.to_string());
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(four(line("0100007F:0016", "070200C0:C350", "01")), some("192.0.2.7"));
        assert_eq!(four(line("0100007F:0016", "070200C0:C350", "0A")), None);
        assert_eq!(four(line("0100007F:0017", "070200C0:C350", "01")), None);
        assert_eq!(four("  sl  local_address rem_address   st".to_owned()), None);
        let six = line(
            "B80D0120000000000000000001000000:0016",
            "B80D0120000000000000000007000000:C350",
            "01",
        );
        assert_eq!(ssh_connection(&six, true).unwrap().to_string(), "2001:db8::7");
    }

    /// Whatever this machine has: the loopback at least, unless it is down.
    #[test]
    fn addresses_of_this_machine() {
        let found = safety().unwrap();
        let loopback = fs::read_to_string("/sys/class/net/lo/operstate").unwrap_or_default();
        let has_loopback = found.own.iter().any(IpAddr::is_loopback);
        assert!(has_loopback || loopback.trim() == "down", "{found:?}");
        assert!(found.gateways.iter().all(|address| !address.is_unspecified()));
    }
}
