//! Questions to the kernel by rtnetlink.

use std::io;
use std::os::fd::OwnedFd;

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkLayerType, LinkMessage};
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// An interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interface {
    /// The kernel's number of it.
    pub index: u32,
    /// Whether its frames begin with an Ethernet header; `None` if they begin with neither that nor an IP header.
    pub ethernet: Option<bool>,
}

/// The interface of this name in the network namespace of the calling thread, if there is one.
pub(crate) fn interface(name: &str) -> io::Result<Option<Interface>> {
    let mut found = None;
    dump(RouteNetlinkMessage::GetLink(LinkMessage::default()), |message| {
        let RouteNetlinkMessage::NewLink(message) = message else { return };
        let is_it = |it: &LinkAttribute| matches!(it, LinkAttribute::IfName(it) if it == name);
        if message.attributes.iter().any(is_it) {
            let ethernet = match message.header.link_layer_type {
                LinkLayerType::Ether | LinkLayerType::Loopback => Some(true),
                LinkLayerType::None | LinkLayerType::Rawip | LinkLayerType::Ppp => Some(false),
                _ => None,
            };
            found = Some(Interface { index: message.header.index, ethernet });
        }
    })?;
    Ok(found)
}

/// Asks the kernel for all of a kind, and hands each message over.
pub(crate) fn dump(
    question: RouteNetlinkMessage,
    mut each: impl FnMut(RouteNetlinkMessage),
) -> io::Result<()> {
    let socket = open()?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::from(question));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    net::send(&socket, &bytes, SendFlags::empty())?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let (length, _) = net::recv(&socket, &mut buffer[..], RecvFlags::empty())?;
        let mut rest = &buffer[..length];
        while !rest.is_empty() {
            let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, format!("{error}"));
            let message =
                NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest).map_err(invalid)?;
            // Messages begin at multiples of 4 bytes.
            let length = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(length.max(16)..).unwrap_or_default();
            match message.payload {
                NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                NetlinkPayload::InnerMessage(message) => each(message),
                _ => {}
            }
        }
    }
}

fn open() -> io::Result<OwnedFd> {
    Ok(net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?)
}
