//! `netstat -rn` of Linux, the BSDs and macOS, and `route -n`.

use std::collections::HashSet;

use super::{Emitted, Listing, Parser, unexpected, words};
use crate::error::Problem;

/// The format.
pub(super) const LISTING: Listing =
    Listing { columns: &["prefix", "next_hop"], begins, parser: || Box::new(Netstat::default()) };

/// The first words of the line that names the columns.
const DESTINATION: &str = "Destination";
/// Names of the interface's column.
const INTERFACES: [&str; 4] = ["Iface", "Netif", "If", "Interface"];

/// Whether one of the first lines names the columns.
fn begins(lines: &[&str]) -> bool {
    lines.iter().take(4).any(|line| is_header(line))
}

fn is_header(line: &str) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(DESTINATION) && (line.contains("Gateway") || line.contains("Next Hop"))
}

#[derive(Default)]
struct Netstat {
    ipv6: bool,
    /// Positions of the netmask, the interface and the flags; the destination and the gateway come first.
    mask: Option<usize>,
    interface: Option<usize>,
    flags: Option<usize>,
    /// Whether the table is Linux's: its flags have other letters.
    linux: bool,
    /// The destinations so far: the first of several routes to one destination counts, as it has the lowest metric.
    seen: HashSet<String>,
}

impl Parser for Netstat {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        if is_header(line) {
            let next_hop = line.contains("Next Hop");
            let line = line.replace("Next Hop", "Gateway");
            let position = |names: &[&str]| words(&line).position(|word| names.contains(&word));
            (self.mask, self.interface) = (position(&["Genmask"]), position(&INTERFACES));
            self.flags = position(&["Flags", "Flag"]);
            self.linux = self.mask.is_some() || next_hop;
            return Ok(());
        }
        let cells: Vec<_> = words(line).collect();
        match *cells.as_slice() {
            ["Internet6:"] | ["Kernel", "IPv6", ..] => self.ipv6 = true,
            ["Internet:"] | ["Kernel", "IP", ..] => self.ipv6 = false,
            ["Routing", "tables" | "table:" | "table", ..] => {}
            [destination, gateway, ..] if self.interface.is_some() => {
                return self.route(line, (destination, gateway), &cells, rows);
            }
            _ => return Err(unexpected(line, "the columns Destination, Gateway ...")),
        }
        Ok(())
    }
}

impl Netstat {
    fn route(
        &mut self,
        line: &str,
        (destination, gateway): (&str, &str),
        cells: &[&str],
        rows: &mut Emitted,
    ) -> Result<(), Problem> {
        let at = |position: Option<usize>| position.and_then(|at| cells.get(at)).copied();
        let prefix = match at(self.mask) {
            Some(mask) => match mask.parse::<std::net::Ipv4Addr>().map(|mask| mask.to_bits()) {
                Ok(bits) if bits.leading_ones() + bits.trailing_zeros() >= 32 => {
                    let network = if destination == "default" { "0.0.0.0" } else { destination };
                    format!("{network}/{}", bits.leading_ones())
                }
                _ => return Err(unexpected(line, "a netmask in the column Genmask")),
            },
            None => prefix(destination, self.ipv6),
        };
        let interface = at(self.interface);
        let flags = at(self.flags).unwrap_or("");
        let next_hop = match gateway {
            // The flag of Linux does not distinguish unreachable routes from prohibited ones. A blackhole has no interface.
            _ if self.linux && flags.contains('!') => "unreachable",
            _ if self.linux && interface == Some("*") => "blackhole",
            _ if !self.linux && flags.contains('R') => "reject",
            _ if !self.linux && flags.contains('B') => "blackhole",
            // The destination is on the link: the interface is the next hop.
            "0.0.0.0" | "*" | "::" | "[::]" => interface.unwrap_or(gateway),
            link if link.starts_with("link#") => interface.unwrap_or(gateway),
            _ => gateway,
        };
        if !self.seen.contains(&prefix) {
            rows.row(&[&prefix, next_hop]);
            self.seen.insert(prefix);
        }
        Ok(())
    }
}

/// The prefix of a destination: `default`, `[::]/0`, `fe80::%lo0/64`, or with fewer than four numbers
/// `127` and `192.0.2/25`. Other text stays as it is.
fn prefix(destination: &str, ipv6: bool) -> String {
    if destination == "default" {
        return if ipv6 { "::/0" } else { "0.0.0.0/0" }.to_owned();
    }
    let (network, len) = match destination.split_once('/') {
        Some((network, len)) => (network, Some(len)),
        None => (destination, None),
    };
    let network = network.trim_start_matches('[').trim_end_matches(']');
    let network = network.split_once('%').map_or(network, |(network, _)| network);
    let number = |part: &str| part.parse::<u8>().is_ok();
    let parts = network.split('.').count();
    if network.split('.').all(number) && parts < 4 {
        let zeros = ".0".repeat(4 - parts);
        let classful = (8 * parts).to_string();
        return format!("{network}{zeros}/{}", len.unwrap_or(&classful));
    }
    match len {
        Some(len) => format!("{network}/{len}"),
        None => network.to_owned(),
    }
}
