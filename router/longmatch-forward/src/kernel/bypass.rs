//! The kernel's treatment of forwarded packets beside routing, which a forwarder on the interfaces goes round.

use std::fmt;
use std::fs;
use std::io;
use std::sync::Arc;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkBuffer, NlasIterator};
use rustix::io::Errno;
use rustix::net::{Protocol, netlink};

use super::KernelError;
use super::decode::{AF_INET, AF_INET6, AF_UNSPEC, message};
use super::socket::Raw;
use crate::packet::FlowFields;
use crate::sysctl;
use crate::target::Port;

/// A part of the kernel that packets of a forwarder do not reach.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bypass {
    /// Netfilter: rules on the way of forwarded packets.
    Firewall,
    /// Netfilter: translation of addresses.
    Nat,
    /// Queueing disciplines that shape, and filters of `tc`.
    Tc,
    /// Rules of `ip rule`, and with them VRFs.
    Rules,
    /// The reverse path filter.
    RpFilter,
    /// Policies of the multipath hash other than 0 (addresses) and 1 (ports).
    Multipath,
}

impl Bypass {
    /// All, with their names.
    pub const ALL: [(Self, &str); 6] = [
        (Self::Firewall, "firewall"),
        (Self::Nat, "nat"),
        (Self::Tc, "tc"),
        (Self::Rules, "rules"),
        (Self::RpFilter, "rp_filter"),
        (Self::Multipath, "multipath"),
    ];
}

impl fmt::Display for Bypass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(bypass, _)| bypass == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

/// Finds the kernel's functions for packets between these ports beside routing, each with a description.
///
/// # Errors
/// If the kernel cannot be asked.
pub fn bypassed(ports: &[Arc<Port>]) -> Result<Vec<(Bypass, String)>, KernelError> {
    let mut found = netfilter(ports)?;
    found.extend(legacy_tables());
    found.extend(queues(ports)?);
    found.extend(rules()?);
    found.extend(settings(ports));
    Ok(found)
}

/// Base chains of nftables that forwarded packets pass, unless they are empty and accept.
fn netfilter(ports: &[Arc<Port>]) -> Result<Vec<(Bypass, String)>, KernelError> {
    /// `NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN`.
    const GET_CHAIN: u16 = 10 << 8 | 4;
    let mut found = Vec::new();
    let asked =
        dump(Some(netlink::NETFILTER), GET_CHAIN, &[0; 4], "list the chains of nftables", |body| {
            found.extend(chain(body, ports));
        });
    match asked {
        // A kernel without nftables.
        Err(KernelError::Io { source, .. })
            if [Errno::PROTONOSUPPORT, Errno::OPNOTSUPP, Errno::INVAL]
                .iter()
                .any(|code| source.raw_os_error() == Some(code.raw_os_error())) => {}
        other => other?,
    }
    Ok(found)
}

/// A chain of nftables, by `linux/netfilter/nf_tables.h`; `None` if it does nothing with forwarded packets.
fn chain(body: &[u8], ports: &[Arc<Port>]) -> Option<(Bypass, String)> {
    const TABLE: u16 = 1;
    const NAME: u16 = 3;
    const HOOK: u16 = 4;
    const POLICY: u16 = 5;
    const USE: u16 = 6;
    const TYPE: u16 = 7;
    const HOOK_NUMBER: u16 = 1;
    const HOOK_DEVICE: u16 = 3;
    const NETDEV: u8 = 5;
    const ACCEPT: u32 = 1;
    let (family, rest) = (*body.first()?, body.get(4..)?);
    let attribute = |kind| find(rest, kind);
    let hook = attribute(HOOK)?;
    let number = big_endian(find(hook, HOOK_NUMBER)?)?;
    let place = match (family, number) {
        // NFPROTO_INET, NFPROTO_IPV4, NFPROTO_IPV6.
        (1 | 2 | 10, 0) => "prerouting",
        (1 | 2 | 10, 2) => "forward",
        (1 | 2 | 10, 4) => "postrouting",
        (1, 5) | (NETDEV, 0) => "ingress",
        (NETDEV, 1) => "egress",
        _ => return None,
    };
    let device = find(hook, HOOK_DEVICE).map(string);
    let is_elsewhere = |device: &String| ports.iter().all(|port| port.name != *device);
    let is_empty = attribute(USE).and_then(big_endian) == Some(0);
    let accepts = attribute(POLICY).and_then(big_endian).is_none_or(|policy| policy == ACCEPT);
    if device.as_ref().is_some_and(is_elsewhere) || (is_empty && accepts) {
        return None;
    }
    let kind = attribute(TYPE).map(string).unwrap_or_default();
    let bypass = if kind == "nat" { Bypass::Nat } else { Bypass::Firewall };
    let (table, name) = (string(attribute(TABLE)?), string(attribute(NAME)?));
    Some((bypass, format!("nftables, table {table}, chain {name} ({place})")))
}

/// Tables of iptables-legacy and ip6tables-legacy: the kernel has each that was used once.
fn legacy_tables() -> Vec<(Bypass, String)> {
    let mut found = Vec::new();
    for (program, file) in [("iptables", "ip_tables_names"), ("ip6tables", "ip6_tables_names")] {
        // The tables of this thread's namespace.
        let path = format!("/proc/thread-self/net/{file}");
        match fs::read_to_string(&path) {
            Ok(text) => found.extend(text.lines().map(|table| {
                let bypass = if table == "nat" { Bypass::Nat } else { Bypass::Firewall };
                (bypass, format!("{program}-legacy, table {table} (rmmod removes it)"))
            })),
            // The kernel has none.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let text = format!(
                    "{program}-legacy: its tables are unknown, {path}: {error} (the group root may read it)"
                );
                found.extend([Bypass::Firewall, Bypass::Nat].map(|part| (part, text.clone())));
            }
        }
    }
    found
}

/// Queueing disciplines of the ports that do more than queue, and places of filters.
fn queues(ports: &[Arc<Port>]) -> Result<Vec<(Bypass, String)>, KernelError> {
    const GET_QDISC: u16 = 38;
    const TCA_KIND: u16 = 1;
    const PLAIN: [&str; 9] = [
        "noqueue",
        "pfifo_fast",
        "mq",
        "fq",
        "fq_codel",
        "pfifo",
        "bfifo",
        "pfifo_head_drop",
        "codel",
    ];
    let mut found = Vec::new();
    // struct tcmsg: family, - (3 bytes), index, handle, parent, info.
    dump(None, GET_QDISC, &[0; 20], "list the queueing disciplines", |body| {
        let index = body.get(4..8).and_then(|index| index.try_into().ok()).map(u32::from_ne_bytes);
        let port = ports.iter().find(|port| Some(port.index) == index);
        let kind = body.get(20..).and_then(|rest| find(rest, TCA_KIND)).map(string);
        if let (Some(port), Some(kind)) = (port, kind)
            && !PLAIN.contains(&&*kind)
        {
            found.push((Bypass::Tc, format!("tc qdisc {kind} of {}", port.name)));
        }
    })?;
    Ok(found)
}

/// Rules of `ip rule` other than the three that every system has.
fn rules() -> Result<Vec<(Bypass, String)>, KernelError> {
    const GET_RULE: u16 = 34;
    const PRIORITY: u16 = 6;
    const SUPPRESS: u16 = 14;
    const TABLE: u16 = 15;
    const PROTOCOL: u16 = 21;
    const USUAL: [(u32, u32); 3] = [(0, 255), (32766, 254), (32767, 253)];
    let mut found = Vec::new();
    for (family, option) in [(AF_INET, ""), (AF_INET6, " -6")] {
        let mut header = [0; 12];
        header[0] = family;
        // struct fib_rule_hdr: family, lengths of destination and source, service, table, - (2 bytes), action, flags.
        dump(None, GET_RULE, &header, "list the rules", |body| {
            let Some((header, rest)) = body.split_first_chunk::<12>() else { return };
            let number = |kind| find(rest, kind)?.try_into().ok().map(u32::from_ne_bytes);
            let (priority, table) = (number(PRIORITY).unwrap_or(0), number(TABLE).unwrap_or(0));
            let is_plain = header[1..4] == [0; 3]
                && kinds(rest).all(|kind| [PRIORITY, SUPPRESS, TABLE, PROTOCOL].contains(&kind));
            if header[0] == family && !(is_plain && USUAL.contains(&(priority, table))) {
                found.push((Bypass::Rules, format!("ip{option} rule {priority}")));
            }
        })?;
    }
    Ok(found)
}

/// Settings below `/proc/sys/net`.
fn settings(ports: &[Arc<Port>]) -> Vec<(Bypass, String)> {
    let mut found = Vec::new();
    for name in ["all"].into_iter().chain(ports.iter().map(|port| &*port.name)) {
        if sysctl::number(&format!("ipv4/conf/{name}/rp_filter")).is_some_and(|value| value > 0) {
            found.push((Bypass::RpFilter, format!("net.ipv4.conf.{name}.rp_filter is not 0")));
        }
    }
    for family in ["ipv4", "ipv6"] {
        if sysctl::number(&format!("{family}/fib_multipath_hash_policy"))
            .is_some_and(|policy| policy > 1)
        {
            let text = format!("net.{family}.fib_multipath_hash_policy is above 1");
            found.push((Bypass::Multipath, text));
        }
    }
    found
}

/// The fields by which the kernel divides the flows of multipath routes.
pub fn flow_fields() -> FlowFields {
    let has_ports =
        |family: &str| sysctl::number(&format!("{family}/fib_multipath_hash_policy")) == Some(1);
    FlowFields { ipv4_ports: has_ports("ipv4"), ipv6_ports: has_ports("ipv6") }
}

/// Asks for a dump, and hands each message's body to `each`.
fn dump(
    protocol: Option<Protocol>,
    kind: u16,
    body: &[u8],
    what: &'static str,
    mut each: impl FnMut(&[u8]),
) -> Result<(), KernelError> {
    /// The length of `struct nlmsghdr`.
    const HEADER: usize = 16;
    let mut request = vec![AF_UNSPEC; HEADER];
    request.extend_from_slice(body);
    let len = request.len() as u32;
    let mut header = NetlinkBuffer::new(&mut request);
    header.set_length(len);
    header.set_message_type(kind);
    header.set_flags(NLM_F_REQUEST | NLM_F_DUMP);
    header.set_sequence_number(1);
    let mut socket = Raw::open(protocol, what)?;
    socket.send(&request)?;
    loop {
        let mut rest = socket.receive()?;
        while let Ok(message) = NetlinkBuffer::new_checked(rest) {
            let body = message.payload();
            match message.message_type() {
                message::DONE => return Ok(()),
                message::ERROR => {
                    let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
                    return match code {
                        0 => Ok(()),
                        code => Err(KernelError::io(what, Errno::from_raw_os_error(-code))),
                    };
                }
                _ => each(body),
            }
            let len = (message.length() as usize).next_multiple_of(4);
            rest = rest.get(len..).unwrap_or_default();
        }
    }
}

/// The value of the first attribute of a kind.
fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    let attribute =
        NlasIterator::new(bytes).flatten().find(|attribute| attribute.kind() == kind)?;
    let len = attribute.length().into();
    attribute.into_inner().get(4..len)
}

fn kinds(bytes: &[u8]) -> impl Iterator<Item = u16> {
    NlasIterator::new(bytes).flatten().map(|attribute| attribute.kind())
}

fn big_endian(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_be_bytes)
}

/// A text that ends with a zero byte.
fn string(value: &[u8]) -> String {
    let text = value.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}
