//! The VRPs of one family: the prefixes in a RIB, and for each a set of origins and lengths.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{InvalidReason, Validity, Vrp};
use crate::net::{Family, IpPrefix, NextHopId, Prefix};
use crate::rib::{Rib, RibFull};

/// The autonomous systems that may originate a prefix, each with its greatest lengths.
type Origins = BTreeSet<(u32, u8)>;

/// The VRPs of one family.
#[derive(Clone, Debug)]
pub struct Authorized<F: Family> {
    /// The id of a prefix is the position of its origins, counted from 1.
    prefixes: Rib<F>,
    /// Empty at the positions that are free.
    origins: Vec<Origins>,
    free: Vec<NextHopId>,
    len: usize,
}

impl<F: Family> Default for Authorized<F> {
    fn default() -> Self {
        Self { prefixes: Rib::new(), origins: Vec::new(), free: Vec::new(), len: 0 }
    }
}

impl<F: Family> Authorized<F>
where
    IpPrefix: From<Prefix<F>>,
{
    /// Number of VRPs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a VRP; returns whether it is new.
    pub fn insert(&mut self, prefix: Prefix<F>, asn: u32, max: u8) -> Result<bool, RibFull> {
        let id = match self.prefixes.get(prefix) {
            Some(id) => id,
            None => {
                // A RIB refuses routes long before their number exceeds 32 bits.
                let next = || NextHopId::new(u32::try_from(self.origins.len() + 1).ok()?);
                let id = self.free.last().copied().or_else(next);
                let id = id.ok_or(RibFull { limit: self.prefixes.len() })?;
                self.prefixes.insert(prefix, id)?;
                if self.free.pop().is_none() {
                    self.origins.push(Origins::new());
                }
                id
            }
        };
        let is_new = self.origins[position(id)].insert((asn, max));
        self.len += usize::from(is_new);
        Ok(is_new)
    }

    /// Removes a VRP; returns whether it was there.
    pub fn remove(&mut self, prefix: Prefix<F>, asn: u32, max: u8) -> bool {
        let Some(id) = self.prefixes.get(prefix) else { return false };
        let origins = &mut self.origins[position(id)];
        let was_there = origins.remove(&(asn, max));
        if origins.is_empty() {
            self.prefixes.remove(prefix);
            self.free.push(id);
        }
        self.len -= usize::from(was_there);
        was_there
    }

    /// The state of a route.
    pub fn validate(&self, prefix: Prefix<F>, origin: Option<u32>) -> Validity {
        let mut state = Validity::NotFound;
        for route in self.prefixes.cover(prefix) {
            let of = |asn| self.origins[position(route.next_hop)].range((asn, 0)..=(asn, u8::MAX));
            // Nobody has AS 0.
            let greatest = origin.filter(|asn| *asn != 0).and_then(|asn| of(asn).next_back());
            match greatest {
                Some((_, max)) if prefix.len() <= *max => return Validity::Valid,
                Some(_) => state = Validity::Invalid(InvalidReason::Length),
                None if state == Validity::NotFound => {
                    state = Validity::Invalid(InvalidReason::Asn);
                }
                None => {}
            }
        }
        state
    }

    /// The VRPs that cover a prefix.
    pub fn cover(&self, prefix: Prefix<F>) -> impl Iterator<Item = Vrp> + '_ {
        self.prefixes.cover(prefix).flat_map(|route| self.at(route.prefix, route.next_hop))
    }

    /// Every VRP, in order.
    pub fn iter(&self) -> impl Iterator<Item = Vrp> + '_ {
        self.prefixes.iter().flat_map(|route| self.at(route.prefix, route.next_hop))
    }

    /// The VRPs of a prefix.
    fn at(&self, prefix: Prefix<F>, id: NextHopId) -> impl Iterator<Item = Vrp> + '_ {
        let origins = self.origins[position(id)].iter();
        origins.filter_map(move |(asn, max)| Vrp::new(prefix.into(), *max, *asn).ok())
    }
}

/// The position of the origins of the prefix with an id.
fn position(id: NextHopId) -> usize {
    id.get() as usize - 1
}
