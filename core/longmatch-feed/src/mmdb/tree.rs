//! The search tree of a MaxMind DB, built from sorted routes in one pass.

use std::iter::Peekable;

use longmatch::table::PrefixData;
use longmatch::{IpPrefix, Ipv6, Prefix, Rib};

use super::{MmdbError, MmdbOptions};

/// The record of addresses without an answer.
pub(super) const NOTHING: u32 = 0;
/// The code of an alias before the tree of IPv4 is known.
const ALIAS: u32 = u32::MAX;
/// Below these bits of `::`, the tree has IPv4.
const IPV4_DEPTH: u8 = 96;
/// IPv4-mapped addresses, Teredo and 6to4: networks whose addresses begin with, or embed, an IPv4 address.
const ALIASES: [(u128, u8); 3] = [(0xffff << 32, 96), (0x2001 << 112, 32), (0x2002 << 112, 16)];

/// The nodes, the root first, each before its children.
///
/// A child is [`NOTHING`], the id of a row, or `base` and the number of a node.
pub(super) struct Tree {
    pub(super) nodes: Vec<[u32; 2]>,
    pub(super) base: u32,
    /// 4 or 6.
    pub(super) ip_version: u16,
    /// Prefixes that were left out.
    pub(super) dropped: usize,
    /// The child at `::/96`.
    ipv4: u32,
}

/// A prefix with the code of its record; its bits begin at the highest.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    bits: u128,
    len: u8,
    code: u32,
}

impl Tree {
    pub(super) fn new(data: &PrefixData, options: &MmdbOptions) -> Result<Self, MmdbError> {
        let (ipv4, ipv6) = (data.table().ipv4(), data.table().ipv6());
        let base = ipv4.max_next_hop().max(ipv6.max_next_hop()) + 1;
        let ip_version = if ipv6.is_empty() { 4 } else { 6 };
        let mut tree = Self { nodes: Vec::new(), base, ip_version, dropped: 0, ipv4: NOTHING };
        let shift = if ip_version == 4 { IPV4_DEPTH } else { 0 };
        let routes4 = ipv4.iter().map(|route| Entry {
            bits: u128::from(route.prefix.bits()) << shift,
            len: route.prefix.len() + IPV4_DEPTH - shift,
            code: route.next_hop.get(),
        });
        let root = if ip_version == 4 {
            tree.build(&mut routes4.peekable(), 0, 0, NOTHING)?
        } else {
            let aliases = &ALIASES[..if options.aliases { 3 } else { 1 }];
            let (above, below) = tree.routes6(ipv6, aliases, options.drop_compatible)?;
            // An IPv6 prefix that covers `::/96` does not answer for IPv4.
            let cut = Entry { bits: 0, len: IPV4_DEPTH, code: NOTHING };
            let entries = above.into_iter().chain([cut]).chain(routes4).chain(below);
            tree.build(&mut entries.peekable(), 0, 0, NOTHING)?
        };
        if tree.nodes.is_empty() {
            // One answer for all addresses: the format needs a node.
            tree.nodes.push([root; 2]);
        }
        Ok(tree)
    }

    /// The IPv6 routes: those that cover `::/96`, and those behind it, merged with the aliases.
    fn routes6<'r>(
        &mut self,
        rib: &'r Rib<Ipv6>,
        aliases: &'static [(u128, u8)],
        drop_compatible: bool,
    ) -> Result<(Vec<Entry>, impl Iterator<Item = Entry> + 'r), MmdbError> {
        let compatible = Prefix::<Ipv6>::from_bits_masked(0, IPV4_DEPTH);
        // The prefix of all mapped addresses answers for none of them in a table: they are IPv4.
        let mapped = Prefix::<Ipv6>::from_bits_masked(ALIASES[0].0, ALIASES[0].1);
        let own = |prefix| rib.children(prefix).find(|route| route.prefix != mapped);
        for (bits, len) in aliases {
            let network = Prefix::from_bits_masked(*bits, *len);
            if let Some(route) = own(network) {
                let (prefix, network) = (route.prefix.into(), network.into());
                return Err(MmdbError::Aliased { prefix, network });
            }
        }
        self.dropped = rib.children(compatible).count();
        if let Some(route) = own(compatible).filter(|_| !drop_compatible) {
            return Err(MmdbError::Compatible { prefix: route.prefix.into() });
        }
        let covers = move |prefix: Prefix<Ipv6>| prefix.covers(compatible) && prefix != compatible;
        let entry = |route: longmatch::Route<Ipv6>| Entry {
            bits: route.prefix.bits(),
            len: route.prefix.len(),
            code: route.next_hop.get(),
        };
        let above = rib.iter().take_while(|route| covers(route.prefix)).map(entry).collect();
        let is_below = move |route: &longmatch::Route<Ipv6>| {
            let prefix = route.prefix;
            !covers(prefix) && !compatible.covers(prefix) && prefix != mapped
        };
        let mut below = rib.iter().filter(is_below).map(entry).peekable();
        let alias = |(bits, len): &(u128, u8)| Entry { bits: *bits, len: *len, code: ALIAS };
        let mut aliases = aliases.iter().map(alias).peekable();
        let merged = std::iter::from_fn(move || match (aliases.peek(), below.peek()) {
            (Some(alias), Some(route)) if (route.bits, route.len) < (alias.bits, alias.len) => {
                below.next()
            }
            (Some(_), _) => aliases.next(),
            (None, _) => below.next(),
        });
        Ok((above, merged))
    }

    /// The child for the addresses that begin with the `depth` highest bits of `at`.
    ///
    /// `above` is the record of the longest prefix before. Nodes whose halves have one record are not made.
    fn build(
        &mut self,
        entries: &mut Peekable<impl Iterator<Item = Entry>>,
        at: u128,
        depth: u8,
        above: u32,
    ) -> Result<u32, MmdbError> {
        let mut code = above;
        while let Some(own) = entries.next_if(|entry| entry.bits == at && entry.len == depth) {
            code = own.code;
        }
        if code == ALIAS {
            return Ok(self.ipv4);
        }
        let is_inside = |entry: &Entry| {
            let other = u32::from(depth);
            (entry.bits ^ at).checked_shr(128 - other).unwrap_or(0) == 0
        };
        if entries.peek().is_some_and(is_inside) {
            let node = self.nodes.len();
            let number = u32::try_from(node).ok().and_then(|node| node.checked_add(self.base));
            let number = number.filter(|number| *number < ALIAS).ok_or(MmdbError::TooLarge)?;
            self.nodes.push([NOTHING; 2]);
            let left = self.build(entries, at, depth + 1, code)?;
            let right = self.build(entries, at | 1 << (127 - depth), depth + 1, code)?;
            self.nodes[node] = [left, right];
            code = number;
            // The way to IPv4 stays, so that readers report its networks as those of IPv4.
            let is_above_ipv4 = self.ip_version == 6 && at == 0 && depth < IPV4_DEPTH;
            if left == right && left < self.base && !is_above_ipv4 {
                self.nodes.truncate(node);
                code = left;
            }
        }
        if self.ip_version == 6 && (at, depth) == (0, IPV4_DEPTH) {
            self.ipv4 = code;
        }
        Ok(code)
    }
}

/// The first prefix with a row.
pub(super) fn first_with(data: &PrefixData, id: u32) -> Option<IpPrefix> {
    let ipv4 = data.table().ipv4().iter().find(|route| route.next_hop.get() == id);
    let ipv6 = || data.table().ipv6().iter().find(|route| route.next_hop.get() == id);
    ipv4.map(|route| route.prefix.into()).or_else(|| ipv6().map(|route| route.prefix.into()))
}
