//! What a report is about: tables, updates, a trace; and how thorough it is.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longmatch::{Change, Ipv4, Ipv6, Rib};
use serde::{Deserialize, Serialize};

use super::experiment::Absence;
use crate::family::LabFamily;
use crate::peer::{Availability, PeerCommand, known_peers};
use crate::traffic::Destinations;

/// A table under a name.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Such as `ipv4-full`: it stands in headings, anchors and records.
    pub name: String,
    /// Its IPv4 routes; may be none.
    pub ipv4: Rib<Ipv4>,
    /// Its IPv6 routes; may be none.
    pub ipv6: Rib<Ipv6>,
}

/// Changes of the first table of a family.
#[derive(Clone, Debug)]
pub struct UpdateStream {
    /// Such as `ipv4-updates`.
    pub name: String,
    /// Those of IPv4, in order, with the next-hop ids of the table.
    pub ipv4: Vec<Change<Ipv4>>,
    /// Those of IPv6.
    pub ipv6: Vec<Change<Ipv6>>,
}

/// All that a report is about.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The tables, the most important one first.
    pub tables: Vec<Subject>,
    /// Updates of the first table of each family, if there are any.
    pub updates: Option<UpdateStream>,
    /// Destinations of real packets, if there are any.
    pub trace: Option<Arc<Destinations>>,
    /// Other people's implementations.
    pub peers: Peers,
}

/// Other people's implementations.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// Those that can be started.
    pub commands: Vec<PeerCommand>,
    /// The names of those that are not there, and how to get them.
    pub missing: Vec<(String, String)>,
    /// A folder that is there, for what is passed to them; it is removed afterwards.
    pub scratch: PathBuf,
}

impl Peers {
    /// Those of [`known_peers`] whose adapters are in a folder that `cargo xtask peers` has filled,
    /// and others by their commands.
    pub fn find(adapters: &Path, others: Vec<PeerCommand>, scratch: PathBuf) -> Self {
        let mut it = Self { commands: Vec::new(), missing: Vec::new(), scratch };
        for peer in known_peers() {
            match peer.find(adapters) {
                Availability::Found(command) => it.commands.push(command),
                Availability::Missing(how) => it.missing.push((peer.name.into(), how)),
            }
        }
        it.commands.extend(others);
        it
    }
}

/// A family's part of a subject.
pub(crate) struct Named<'a, F: LabFamily> {
    pub name: &'a str,
    pub rib: &'a Rib<F>,
}

// Not derived: no family can be copied, a reference to its routes can.
impl<F: LabFamily> Clone for Named<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: LabFamily> Copy for Named<'_, F> {}

impl Inputs {
    /// The tables with routes of IPv4.
    pub(crate) fn ipv4(&self) -> Vec<Named<'_, Ipv4>> {
        let named = |it: &'_ Subject| !it.ipv4.is_empty();
        let tables = self.tables.iter().filter(|it| named(it));
        tables.map(|it| Named { name: &it.name, rib: &it.ipv4 }).collect()
    }

    /// The tables with routes of IPv6.
    pub(crate) fn ipv6(&self) -> Vec<Named<'_, Ipv6>> {
        let tables = self.tables.iter().filter(|it| !it.ipv6.is_empty());
        tables.map(|it| Named { name: &it.name, rib: &it.ipv6 }).collect()
    }

    /// The tables with routes of IPv4, if there is one.
    pub(crate) fn some_ipv4(&self) -> Result<Vec<Named<'_, Ipv4>>, Absence> {
        some(self.ipv4())
    }

    /// The tables with routes of IPv6, if there is one.
    pub(crate) fn some_ipv6(&self) -> Result<Vec<Named<'_, Ipv6>>, Absence> {
        some(self.ipv6())
    }

    /// A number that other inputs hardly have, peers aside. O(routes + updates + destinations).
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for table in &self.tables {
            table.name.hash(&mut hasher);
            table.ipv4.iter().for_each(|route| (route.prefix, route.next_hop).hash(&mut hasher));
            table.ipv6.iter().for_each(|route| (route.prefix, route.next_hop).hash(&mut hasher));
        }
        if let Some(updates) = &self.updates {
            updates.name.hash(&mut hasher);
            format!("{:?}", (updates.ipv4.len(), updates.ipv4.last())).hash(&mut hasher);
            format!("{:?}", (updates.ipv6.len(), updates.ipv6.last())).hash(&mut hasher);
        }
        if let Some(trace) = &self.trace {
            (&trace.name, &trace.ipv4, &trace.ipv6).hash(&mut hasher);
        }
        hasher.finish()
    }
}

fn some<F: LabFamily>(tables: Vec<Named<'_, F>>) -> Result<Vec<Named<'_, F>>, Absence> {
    match tables.is_empty() {
        true => Err(Absence(format!("needs a table with {} routes", F::NAME))),
        false => Ok(tables),
    }
}

/// How thorough a report is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Effort {
    /// Whether larger series are measured too: more sizes, more variants, all tables.
    pub full: bool,
    /// Seconds for each figure, all passes together.
    pub seconds: f64,
    /// Passes that count.
    pub passes: usize,
    /// Addresses whose cycles are measured one by one.
    pub cycles: usize,
    /// Keys in an array of traffic, if fewer than usual.
    pub keys: usize,
    /// Answers of each engine that are checked before it is measured.
    pub checked: usize,
    /// Updates that are replayed at most.
    pub updates: usize,
}

impl Effort {
    /// Under three minutes with the embedded tables on two CPUs.
    pub const QUICK: Self = Self {
        full: false,
        seconds: 0.07,
        passes: 5,
        cycles: 1 << 20,
        keys: 1 << 22,
        checked: 1 << 16,
        updates: 100_000,
    };

    /// Under forty minutes with two full tables of IPv4 and one of IPv6 on two CPUs.
    pub const FULL: Self = Self {
        full: true,
        seconds: 0.8,
        passes: 10,
        cycles: 1 << 24,
        keys: usize::MAX,
        checked: 1 << 20,
        updates: usize::MAX,
    };

    /// As little as there can be, for tests of what is no rate.
    #[cfg(test)]
    pub(crate) const TEST: Self = Self {
        full: false,
        seconds: 1e-4,
        passes: 2,
        cycles: 1 << 10,
        keys: 1 << 12,
        checked: 1 << 10,
        updates: 100,
    };

    /// `quick` or `full`.
    pub fn name(&self) -> &'static str {
        if self.full { "full" } else { "quick" }
    }
}
