//! Tables whose next hops no kernel knows.

use std::sync::Arc;

use longmatch::{InsertError, IpPrefix, Ipv4, Ipv6, NextHopId, Rib, Table};

use crate::target::{Group, Hop, Mac, Neighbour, Port, Target};

/// A forwarding table of these routes, in which each next hop is a separate neighbour.
///
/// Next hop `n` is the neighbour with the Ethernet address `02:00:` and `n` in 4 bytes, at port
/// `(n - 1)` modulo the number of ports. `named` may give another target to a next hop, such as
/// [`Target::Blackhole`]. O(routes).
///
/// # Errors
/// If a limit of the table is reached.
///
/// ```
/// use std::sync::Arc;
/// use longmatch::{IpPrefix, NextHopId, Rib};
/// use longmatch_forward::{Mac, Port, PortId, Target, spread};
///
/// let port = |id| Arc::new(Port::new(PortId(id), "port", 0, Mac([2, 0, 0, 0, 0, 1]), 1500));
/// let mut routes = Rib::new();
/// routes.insert("10.0.0.0/8".parse()?, NextHopId::new(2).unwrap())?;
/// let table = spread(&routes, &Rib::new(), &[port(0), port(1)], |_| None)?;
/// let Some(Target::Group(group)) = table.get("10.0.0.0/8".parse::<IpPrefix>()?) else { panic!() };
/// assert_eq!(group.hops()[0].port.id, PortId(1));
/// assert_eq!(group.hops()[0].neighbour.mac(), Some(Mac([2, 0, 0, 0, 0, 2])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn spread(
    ipv4: &Rib<Ipv4>,
    ipv6: &Rib<Ipv6>,
    ports: &[Arc<Port>],
    named: impl Fn(NextHopId) -> Option<Target>,
) -> Result<Table<Target>, InsertError> {
    let mut targets: Vec<Option<Target>> = Vec::new();
    let mut target_of = |id: NextHopId| {
        let place = id.get() as usize - 1;
        if targets.len() <= place {
            targets.resize(place + 1, None);
        }
        let made = || named(id).unwrap_or_else(|| neighbour(id, ports));
        targets[place].get_or_insert_with(made).clone()
    };
    let mut table = Table::new().keep_mapped();
    for route in ipv4 {
        table.insert(IpPrefix::from(route.prefix), target_of(route.next_hop))?;
    }
    for route in ipv6 {
        table.insert(IpPrefix::from(route.prefix), target_of(route.next_hop))?;
    }
    Ok(table)
}

fn neighbour(id: NextHopId, ports: &[Arc<Port>]) -> Target {
    let [a, b, c, d] = id.get().to_be_bytes();
    let neighbour = Arc::new(Neighbour::new(Some(Mac([2, 0, a, b, c, d]))));
    let port = ports.get((id.get() as usize - 1) % ports.len().max(1));
    let hop = port.map(|port| Hop { port: port.clone(), neighbour, weight: 1 });
    // Without a port there is no hop.
    Group::new(hop.into_iter().collect())
        .map_or(Target::Kernel, |group| Target::Group(Arc::new(group)))
}
