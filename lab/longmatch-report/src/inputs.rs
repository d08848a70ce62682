//! The inputs of a report (tables, updates, trace, peers) and its effort.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longmatch::{Change, Ipv4, Ipv6, Rib, Route};
use longmatch_bench::{BenchFamily, Destinations, PeerCommand, known_peers};
use serde::{Deserialize, Serialize};

use crate::declaration::TableChoice;
use crate::scaled::{NEIGHBOURS, neighbour, with_neighbours};

/// The seed of all traffic, so that two reports look up the same addresses.
pub const SEED: u64 = 1;

/// The name of an IPv4 table of origin ASNs in the papers' experiments.
const FEW_NEXT_HOPS: &str = "ipv4-256-hops";

/// A table with a name.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The name in headings, anchors and records, such as `ipv4-full`.
    pub name: String,
    /// The IPv4 routes; may be empty.
    pub ipv4: Rib<Ipv4>,
    /// The IPv6 routes; may be empty.
    pub ipv6: Rib<Ipv6>,
}

/// Changes of the first table of each family.
#[derive(Clone, Debug)]
pub struct UpdateStream {
    /// The name, such as `ipv4-updates`.
    pub name: String,
    /// The IPv4 changes in order, with the next-hop ids of the table.
    pub ipv4: Vec<Change<Ipv4>>,
    /// The IPv6 changes in order, with the next-hop ids of the table.
    pub ipv6: Vec<Change<Ipv6>>,
}

/// The inputs of a report.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The tables, the most important one first.
    pub tables: Vec<Subject>,
    /// Whether the next hops of the tables are origin ASNs, as those of the embedded IPv4 one are.
    ///
    /// The papers' experiments then use the IPv4 routes with 256 next hops: the papers' tables have 9 to 530, and DXR,
    /// SAIL and Spider cannot hold tens of thousands.
    pub origins: bool,
    /// Updates of the first table of each family, if given.
    pub updates: Option<UpdateStream>,
    /// Destinations of real packets, if given.
    pub trace: Option<Arc<Destinations>>,
    /// Implementations of others.
    pub peers: Peers,
    /// The memory limit of an engine in bytes; an engine that may exceed it has no value.
    pub memory: Option<u64>,
}

/// Implementations of others.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// The peers that can be started.
    pub commands: Vec<PeerCommand>,
    /// The names of missing peers, each with the way to get it.
    pub missing: Vec<(String, String)>,
    /// An existing directory for the files passed to peers; removed afterwards.
    pub scratch: PathBuf,
}

impl Peers {
    /// Finds the adapters of [`known_peers`] in the directory of `cargo xtask peers`, and adds other commands.
    pub fn find(adapters: &Path, others: Vec<PeerCommand>, scratch: PathBuf) -> Self {
        let mut it = Self { commands: Vec::new(), missing: Vec::new(), scratch };
        for peer in known_peers() {
            match peer.find(adapters) {
                Ok(command) => it.commands.push(command),
                Err(how) => it.missing.push((peer.name.into(), how)),
            }
        }
        it.commands.extend(others);
        it
    }
}

/// The routes of one family of a subject.
pub(crate) struct Named<'a, F: BenchFamily> {
    pub name: &'a str,
    pub rib: &'a Rib<F>,
    /// [`Inputs::memory`].
    pub memory: Option<u64>,
    /// The name and the changes of [`Inputs::updates`].
    pub updates: Option<(&'a str, &'a [Change<F>])>,
}

// Not derived: a derive would require that the family is `Copy`.
impl<F: BenchFamily> Clone for Named<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: BenchFamily> Copy for Named<'_, F> {}

impl Inputs {
    /// Returns the chosen tables of each family, as far as they have routes of it.
    pub(crate) fn chosen(
        &self,
        tables: TableChoice,
    ) -> (Vec<Named<'_, Ipv4>>, Vec<Named<'_, Ipv6>>) {
        let [four, six] = tables.most();
        let four = self.named(|it| &it.ipv4, |it| &it.ipv4, four);
        (four, self.named(|it| &it.ipv6, |it| &it.ipv6, six))
    }

    fn named<F: BenchFamily>(
        &self,
        rib: fn(&Subject) -> &Rib<F>,
        changes: fn(&UpdateStream) -> &[Change<F>],
        most: usize,
    ) -> Vec<Named<'_, F>> {
        let updates = self.updates.as_ref().map(|it| (&it.name[..], changes(it)));
        let memory = self.memory;
        let own = self.tables.iter().filter(|it| !rib(it).is_empty()).take(most);
        own.map(|it| Named { name: &it.name, rib: rib(it), memory, updates }).collect()
    }

    /// Returns the inputs of the papers' experiments: see [`Inputs::origins`]. O(routes + updates) if they differ.
    pub(crate) fn of_papers(&self) -> Cow<'_, Self> {
        if !self.origins {
            return Cow::Borrowed(self);
        }
        let mut own = self.clone();
        own.tables.clear();
        for table in &self.tables {
            let ipv4 = with_neighbours(&table.ipv4);
            own.tables.push(Subject { name: FEW_NEXT_HOPS.into(), ipv4, ipv6: Rib::new() });
            own.tables.push(Subject { ipv4: Rib::new(), ..table.clone() });
        }
        for change in own.updates.iter_mut().flat_map(|it| &mut it.ipv4) {
            if let Change::Announce(Route { next_hop, .. }) = change {
                *next_hop = neighbour(*next_hop);
            }
        }
        Cow::Owned(own)
    }

    /// Describes tables, updates, trace and effort as pairs of name and value.
    pub(crate) fn in_words(&self, effort: &Effort) -> Vec<(String, String)> {
        let counts =
            |four: usize, six: usize, of: &str| format!("{four} IPv4 {of}, {six} IPv6 {of}");
        let mut all: Vec<(String, String)> = Vec::new();
        for Subject { name, ipv4, ipv6 } in &self.tables {
            all.push((format!("table {name}"), counts(ipv4.len(), ipv6.len(), "routes")));
        }
        if self.origins {
            let routes = format!(
                "the same IPv4 routes, their origin ASNs folded to {NEIGHBOURS} next hops, for the papers' experiments"
            );
            all.push((format!("table {FEW_NEXT_HOPS}"), routes));
        }
        let given = |name: &str, four, six, of| format!("{name}: {}", counts(four, six, of));
        let updates = self.updates.as_ref();
        let updates = updates.map(|it| given(&it.name, it.ipv4.len(), it.ipv6.len(), "updates"));
        let trace = self.trace.as_ref();
        let trace = trace.map(|it| given(&it.name, it.ipv4.len(), it.ipv6.len(), "destinations"));
        let Effort { passes, seconds, .. } = effort;
        let name = effort.name();
        let none = || "none given".to_owned();
        let others = [
            ("updates", updates.unwrap_or_else(none)),
            ("trace", trace.unwrap_or_else(none)),
            (
                "effort",
                format!("{name}: {passes} passes after a warm-up pass, {seconds} s for each rate"),
            ),
            ("seed", SEED.to_string()),
        ];
        all.extend(others.map(|(name, value)| (name.to_owned(), value)));
        all
    }

    /// Returns a hash of all routes, updates and destinations in order, and of their names.
    ///
    /// The hash does not cover peers. O(routes + updates + destinations).
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.tables.len(), self.origins).hash(&mut hasher);
        for table in &self.tables {
            table.name.hash(&mut hasher);
            hash_routes(&table.ipv4, &mut hasher);
            hash_routes(&table.ipv6, &mut hasher);
        }
        // All updates, not only their number: a corrected file often has as many.
        let updates = self.updates.as_ref();
        updates.map(|it| (&it.name, &it.ipv4, &it.ipv6)).hash(&mut hasher);
        let trace = self.trace.as_ref();
        trace.map(|it| (&it.name, &it.ipv4, &it.ipv6)).hash(&mut hasher);
        hasher.finish()
    }
}

/// Hashes the number of routes first, so that a route in another table or family changes the hash.
fn hash_routes<F: BenchFamily>(rib: &Rib<F>, hasher: &mut DefaultHasher) {
    rib.len().hash(hasher);
    rib.iter().for_each(|route| route.hash(hasher));
}

/// The effort of a report.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Effort {
    /// Whether to measure larger series too: more sizes, more variants, all tables.
    pub full: bool,
    /// Seconds for each rate, all passes together.
    pub seconds: f64,
    /// Passes that count.
    pub passes: usize,
    /// Lookups whose cycles are measured one by one.
    pub cycles: usize,
    /// The most keys in an array of traffic.
    pub keys: usize,
    /// Answers of each engine that are checked before its measurement.
    pub checked: usize,
    /// The most updates to replay.
    pub updates: usize,
}

impl Effort {
    /// Takes about four minutes with the embedded tables on two CPUs.
    pub const QUICK: Self = Self {
        full: false,
        seconds: 0.07,
        passes: 5,
        cycles: 1 << 20,
        keys: 1 << 22,
        checked: 1 << 16,
        updates: 100_000,
    };

    /// Takes under forty minutes with two full tables of IPv4 and one of IPv6 on two CPUs.
    pub const FULL: Self = Self {
        full: true,
        seconds: 0.4,
        passes: 7,
        cycles: 1 << 24,
        keys: usize::MAX,
        checked: 1 << 20,
        updates: usize::MAX,
    };

    /// The least effort, for tests that do not depend on rates.
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

    /// Returns `quick` or `full`.
    pub fn name(&self) -> &'static str {
        if self.full { "full" } else { "quick" }
    }
}

#[cfg(test)]
mod tests {
    use longmatch::{NextHopId, Route};

    use super::*;
    use longmatch_bench::testing::{table4, table6};

    type ChangeInputs = fn(&mut Inputs);

    /// Inputs of every kind.
    fn inputs() -> Inputs {
        let announce = |prefix: &str, id| {
            let next_hop = NextHopId::new(id).expect("an id");
            Change::Announce(Route { prefix: prefix.parse().expect("a prefix"), next_hop })
        };
        let ipv4 = [("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("10.2.0.0/16", 1)];
        let ipv4 = ipv4.map(|(prefix, id)| announce(prefix, id)).to_vec();
        let ipv6 = vec![Change::Withdraw("2001:db8::/32".parse().expect("a prefix"))];
        let trace = Destinations::new(
            "trace",
            ["10.0.0.1", "10.0.0.2", "::1"].map(|it| it.parse().expect("an address")),
        );
        Inputs {
            tables: vec![Subject { name: "t".into(), ipv4: table4(), ipv6: table6() }],
            updates: Some(UpdateStream { name: "u".into(), ipv4, ipv6 }),
            trace: Some(Arc::new(trace)),
            ..Inputs::default()
        }
    }

    /// Most changes keep the number of updates, the last update and all names.
    #[test]
    fn any_change_of_the_inputs_changes_the_fingerprint() {
        let changes: [(&str, ChangeInputs); 10] = [
            ("next hop of an update", |it| {
                let Change::Announce(route) = &mut updates(it).ipv4[1] else { panic!() };
                route.next_hop = NextHopId::new(7).expect("an id");
            }),
            ("kind of an update", |it| {
                let Change::Announce(Route { prefix, .. }) = updates(it).ipv4[1] else { panic!() };
                updates(it).ipv4[1] = Change::Withdraw(prefix);
            }),
            ("order of updates", |it| updates(it).ipv4.swap(0, 1)),
            ("no updates", |it| it.updates = None),
            ("a destination", |it| trace(it).ipv4[0] ^= 1),
            ("order of destinations", |it| trace(it).ipv4.swap(0, 1)),
            ("no trace", |it| it.trace = None),
            ("next hop of a route", |it| {
                let route = it.tables[0].ipv6.iter().next().expect("a route");
                let other = NextHopId::new(route.next_hop.get() + 1).expect("an id");
                it.tables[0].ipv6.insert(route.prefix, other).expect("capacity");
            }),
            ("origin ASNs", |it| it.origins = true),
            ("the same table twice", |it| it.tables.push(it.tables[0].clone())),
        ];
        let usual = inputs().fingerprint();
        assert_eq!(inputs().fingerprint(), usual);
        let mut seen = vec![usual];
        for (what, change) in changes {
            let mut changed = inputs();
            change(&mut changed);
            let fingerprint = changed.fingerprint();
            assert!(!seen.contains(&fingerprint), "{what}");
            seen.push(fingerprint);
        }
    }

    #[test]
    fn the_papers_experiments_have_few_next_hops() {
        let (far, near) = (NextHopId::new(70_001), NextHopId::new(70_000 % 256 + 1));
        let route = |next_hop| Route {
            prefix: "10.3.0.0/16".parse().expect("a prefix"),
            next_hop: Option::expect(next_hop, "an id"),
        };
        let mut all = inputs();
        all.tables[0].ipv4 = [route(far)].into_iter().collect();
        updates(&mut all).ipv4.push(Change::Announce(route(far)));
        assert_eq!(all.of_papers().fingerprint(), all.fingerprint());
        all.origins = true;
        let papers = all.of_papers();
        let (ipv4, ipv6) = papers.chosen(TableChoice::All);
        assert_eq!((ipv4.len(), ipv4[0].name), (1, FEW_NEXT_HOPS));
        assert!(ipv4[0].rib.iter().eq([route(near)]));
        assert_eq!((ipv6.len(), ipv6[0].name), (1, "t"));
        assert!(ipv6[0].rib.iter().eq(table6().iter()));
        let last = papers.updates.as_ref().and_then(|it| it.ipv4.last());
        assert_eq!(last, Some(&Change::Announce(route(near))));
    }

    fn updates(it: &mut Inputs) -> &mut UpdateStream {
        it.updates.as_mut().expect("updates")
    }

    fn trace(it: &mut Inputs) -> &mut Destinations {
        Arc::get_mut(it.trace.as_mut().expect("a trace")).expect("no other reference")
    }
}
