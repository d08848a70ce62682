//! Interfaces of the kernel as ports.

use std::sync::Arc;

use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};

use super::KernelError;
use super::event::{Event, Link};
use super::socket::{Dump, DumpEnd, Dumps, Socket};
use crate::target::{Port, PortId};

/// Finds interfaces by name.
///
/// The ports are numbered in the order of the names.
///
/// # Errors
/// If there is no such interface, or one is not an Ethernet interface that is up, or a name is
/// there twice.
pub fn ports(names: &[String]) -> Result<Vec<Arc<Port>>, KernelError> {
    let links = links()?;
    let find = |(place, name): (usize, &String)| {
        if names[..place].contains(name) {
            return Err(KernelError::Ports(format!("{name}: named twice; name each port once")));
        }
        let too_many = || KernelError::Ports("more than 65536 ports; name fewer".into());
        let id = PortId(place.try_into().map_err(|_| too_many())?);
        let link = links.iter().find(|link| link.name == *name);
        port(id, link.ok_or_else(|| KernelError::NoInterface(name.clone()))?)
    };
    names.iter().enumerate().map(find).collect()
}

/// The kernel's number of the interface of this name, in the network namespace of the calling thread; `None` if there is
/// none.
pub fn index(name: &str) -> Option<u32> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    netdevice::name_to_index(socket.ok()?, name).ok()
}

/// All interfaces.
fn links() -> Result<Vec<Link>, KernelError> {
    const TRIES: usize = 10;
    let mut socket = Socket::requests()?;
    for _ in 0..TRIES {
        let mut links = Vec::new();
        let end = socket.dump(Dump::Links, &mut |events| {
            links.extend(events.into_iter().filter_map(|event| match event {
                Event::Link(link) => Some(link),
                _ => None,
            }));
            Ok(())
        })?;
        if end == DumpEnd::Complete {
            return Ok(links);
        }
    }
    Err(KernelError::Interrupted)
}

fn port(id: PortId, link: &Link) -> Result<Arc<Port>, KernelError> {
    let unfit =
        |why: &str| Err(KernelError::Unfit { name: link.name.clone(), why: why.to_owned() });
    let mac = match link.mac {
        _ if link.flags & Link::LOOPBACK != 0 => {
            return unfit("the loopback interface carries no packets of others; name another one");
        }
        Some(mac) if link.hardware == Link::ETHERNET => mac,
        _ => return unfit("not an Ethernet interface; name another one"),
    };
    if link.flags & Link::UP == 0 {
        let why = format!("the interface is down; run `ip link set {} up` first", link.name);
        return unfit(&why);
    }
    Ok(Arc::new(Port::new(id, link.name.clone(), link.index, mac, link.mtu)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Mac;

    fn link() -> Link {
        let (name, mac) = ("eth0".to_string(), Some(Mac([2, 0, 0, 0, 0, 1])));
        Link { index: 7, name, hardware: Link::ETHERNET, flags: Link::STATE, mac, mtu: 1500 }
    }

    #[test]
    fn an_ethernet_interface_that_is_up_is_a_port() {
        let port = port(PortId(3), &link()).unwrap();
        assert_eq!((port.id, port.index, port.mtu()), (PortId(3), 7, 1500));
    }

    #[test]
    fn other_interfaces_are_refused_with_the_reason() {
        let why = |link: Link| port(PortId(0), &link).unwrap_err().to_string();
        assert!(why(Link { flags: 0, ..link() }).contains("eth0: the interface is down"));
        assert!(why(Link { mac: None, ..link() }).contains("not an Ethernet interface"));
        assert!(why(Link { hardware: 65534, ..link() }).contains("not an Ethernet interface"));
        let flags = Link::STATE | Link::LOOPBACK;
        assert!(why(Link { flags, ..link() }).contains("loopback"));
        let error = ports(&["no-such-interface".to_string()]).unwrap_err();
        assert!(error.to_string().contains("no-such-interface: no such interface"));
    }
}
