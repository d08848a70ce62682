//! Lossless route aggregation (Poptrie paper, section 3): fewer routes, the same answers.
//!
//! Two rules, applied bottom up. A region whose addresses all have one next hop needs at most one
//! route. A route whose covering route has the same next hop is redundant.

use super::Rib;
use super::trie::{Position, Trie};
use crate::net::{Family, NextHopId, Prefix};

/// The next hops of the addresses of a region.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    /// All addresses have this next hop, or none; no route has been emitted for them.
    Uniform(Option<NextHopId>),
    /// Several next hops; the routes still needed inside have been emitted.
    Mixed,
}

impl<F: Family> Rib<F> {
    /// Removes the routes that the Poptrie paper's aggregation makes redundant.
    ///
    /// Every address keeps its next hop, and the table its limit. O(routes).
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// for prefix in ["10.0.0.0/9", "10.128.0.0/9", "10.1.0.0/16"] {
    ///     rib.insert(prefix.parse()?, NextHopId::new(7).unwrap())?;
    /// }
    /// let routes: Vec<_> = rib.aggregated().iter().map(|route| route.prefix.to_string()).collect();
    /// assert_eq!(routes, ["10.0.0.0/8"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn aggregated(&self) -> Self {
        let mut aggregation =
            Aggregation { trie: &self.trie, out: Self::with_route_limit(self.limit) };
        if let Region::Uniform(Some(next_hop)) = aggregation.region(self.trie.top(), None) {
            aggregation.emit(Prefix::DEFAULT, next_hop);
        }
        aggregation.out
    }
}

struct Aggregation<'r, F: Family> {
    trie: &'r Trie<F>,
    out: Rib<F>,
}

impl<F: Family> Aggregation<'_, F> {
    fn emit(&mut self, prefix: Prefix<F>, next_hop: NextHopId) {
        self.out.trie.insert(prefix, next_hop);
        self.out.routes += 1;
    }

    /// The region of a position's prefix, below routes that give `inherited`.
    ///
    /// The recursion is as deep as prefixes are long: at most the address's width.
    fn region(&mut self, at: Position<F>, inherited: Option<NextHopId>) -> Region {
        let own = self.trie.next_hop_at(&at).or(inherited);
        let Some(halves) = at.prefix().halves() else { return Region::Uniform(own) };
        let tops = self.trie.halves(&at);
        let regions = [0, 1].map(|side| self.half(tops[side], halves[side], own));
        if regions[0] == regions[1] && regions[0] != Region::Mixed {
            return regions[0];
        }
        for (region, prefix) in regions.into_iter().zip(halves) {
            if let Region::Uniform(Some(next_hop)) = region
                && region != Region::Uniform(own)
            {
                self.emit(prefix, next_hop);
            }
        }
        if let Some(next_hop) = own.filter(|_| own != inherited) {
            self.emit(at.prefix(), next_hop);
        }
        Region::Mixed
    }

    /// The region of one half of a prefix, in which `top` may lie anywhere.
    fn half(
        &mut self,
        top: Option<Position<F>>,
        half: Prefix<F>,
        own: Option<NextHopId>,
    ) -> Region {
        let Some(top) = top else { return Region::Uniform(own) };
        let prefix = top.prefix();
        match self.region(top, own) {
            Region::Uniform(next_hop) if prefix == half || next_hop == own => {
                Region::Uniform(next_hop)
            }
            // The rest of this half inherits `own`, which differs from the next hop inside.
            Region::Uniform(Some(next_hop)) => {
                self.emit(prefix, next_hop);
                Region::Mixed
            }
            _ => Region::Mixed,
        }
    }
}
