//! The meaning of ids in a live table.
//!
//! Readers go from a route to an id, and from the id to a cell: a value, or a route with its value.
//! So an id is retired in three steps, each a grace period after the one before: no route has the
//! id; its place is emptied and may get another cell; the cell is dropped. After the first grace
//! period no reader reaches the place through the table. After the second no reader that has the id
//! from another source still uses the cell.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::Hash;

use super::places::Places;
use crate::live::reclaim::Domain;
use crate::live::shared::Orphaned;
use crate::mem::RetireList;
use crate::net::{Bits, Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, NextHopsFull, Prefix};
use crate::rib::Rib;
use crate::table::lookups::IdValues;
use crate::table::route_ids::renamed;
use crate::table::{Answers, Table};

/// The cells of ids, for readers.
pub(super) struct SharedCells<C> {
    pub places: Places<C>,
    /// Cells that readers may have been using when the writer ended.
    orphaned: Orphaned<RetireList<Arc<C>>>,
}

/// Ids with references from routes, and a cell each.
pub(super) struct CountedCells<C> {
    ids: NextHops<Arc<C>>,
    shared: Arc<SharedCells<C>>,
    /// Ids that no route has had since an epoch, some of them several times.
    unused: RetireList<NextHopId>,
    /// Occurrences of each id in `unused`, by its number.
    times_unused: Vec<u32>,
    /// Cells that no place has had since an epoch.
    dropped: RetireList<Arc<C>>,
}

impl<C> CountedCells<C> {
    fn new(ids: NextHops<Arc<C>>) -> Self {
        let shared = SharedCells { places: Places::new(), orphaned: Orphaned::default() };
        for (id, cell) in ids.iter() {
            shared.places.set(id, Some(cell.clone()));
        }
        Self {
            ids,
            shared: Arc::new(shared),
            unused: RetireList::default(),
            times_unused: Vec::new(),
            dropped: RetireList::default(),
        }
    }

    /// Puts a new cell into its place, before any route has its id.
    fn place(&self, id: NextHopId) {
        if !self.shared.places.is_taken(id) {
            let before = self.shared.places.set(id, self.ids.get(id).cloned());
            debug_assert!(before.is_none());
        }
    }

    /// Releases ids that routes have lost, one per loss; calls `unused` for each without routes.
    fn lose(&mut self, ids: &[NextHopId], domain: &Domain, mut unused: impl FnMut(&C)) {
        if ids.is_empty() {
            return;
        }
        ids.iter().for_each(|id| self.ids.release(*id));
        let retired: Vec<NextHopId> = self.ids.drain_retired().collect();
        for id in retired {
            let at = id.get() as usize;
            if self.times_unused.len() <= at {
                self.times_unused.resize(at + 1, 0);
            }
            self.times_unused[at] += 1;
            self.unused.push(id, size_of::<C>());
            self.ids.get(id).into_iter().for_each(|cell| unused(cell));
        }
        self.seal(domain);
    }

    fn seal(&mut self, domain: &Domain) {
        let epoch = domain.advance();
        self.unused.seal(epoch);
        self.dropped.seal(epoch);
    }

    fn reclaim(&mut self, domain: &Domain) -> usize {
        let oldest = domain.oldest();
        let mut emptied = false;
        while let Some(id) = self.unused.pop(oldest) {
            let times = &mut self.times_unused[id.get() as usize];
            *times -= 1;
            // Routes may have gained the id again since, and lost it again.
            if *times == 0 && self.ids.free(id).is_some() {
                let cell = self.shared.places.set(id, None);
                cell.into_iter().for_each(|cell| self.dropped.push(cell, size_of::<C>()));
                emptied = true;
            }
        }
        if emptied {
            self.seal(domain);
        }
        let oldest = domain.oldest();
        while self.dropped.pop(oldest).is_some() {}
        self.unused.bytes() + self.dropped.bytes()
    }

    /// Hands the cells that readers may still use to the last reader.
    fn end(&mut self) {
        if self.dropped.bytes() > 0 {
            self.shared.orphaned.keep(core::mem::take(&mut self.dropped));
        }
    }
}

/// A route with its value: the cell of an id that identifies a route.
pub(super) struct RouteCell<T> {
    /// The prefix's address; an IPv4 one in the low bits.
    bits: [u64; 2],
    pub value: Arc<T>,
    /// The id of the value among the writer's, which readers never see.
    value_id: NextHopId,
    pub len: u8,
    ipv4: bool,
}

// Two cells a cache line; fewer bytes where pointers have 32 bits.
const _: () = assert!(size_of::<RouteCell<u8>>() <= 32);

impl<T> RouteCell<T> {
    fn new(prefix: IpPrefix, value: Arc<T>, value_id: NextHopId) -> Self {
        let (bits, len, ipv4) = match prefix {
            IpPrefix::V4(prefix) => (prefix.bits().to_u128(), prefix.len(), true),
            IpPrefix::V6(prefix) => (prefix.bits(), prefix.len(), false),
        };
        Self { bits: [bits.half(0), bits.half(1)], value, value_id, len, ipv4 }
    }

    pub fn prefix(&self) -> IpPrefix {
        let [high, low] = self.bits;
        let bits = u128::from(high) << 64 | u128::from(low);
        if self.ipv4 {
            Prefix::<Ipv4>::truncated(bits as u32, self.len).into()
        } else {
            Prefix::<Ipv6>::truncated(bits, self.len).into()
        }
    }
}

/// The cells of ids as readers see them.
pub(super) enum SharedIds<T> {
    Values(Arc<SharedCells<T>>),
    Routes(Arc<SharedCells<RouteCell<T>>>),
}

/// The ids as the writer counts them.
pub(super) enum Ids<T> {
    /// Values; each route with a value has a reference to its id.
    Values(CountedCells<T>),
    /// Routes: their ids have one reference; each has a reference to the id of its value.
    Routes { routes: CountedCells<RouteCell<T>>, values: NextHops<Arc<T>> },
}

impl<T> Ids<T> {
    /// Takes over the values of a table; returns its routes with the ids that readers see.
    pub fn new(
        (ipv4, ipv6): (Rib<Ipv4>, Rib<Ipv6>),
        values: NextHops<T>,
        answers: Answers,
    ) -> (Self, Rib<Ipv4>, Rib<Ipv6>) {
        let mut values = values.map(|_, value| Arc::new(value));
        values.reclaim();
        match answers {
            Answers::Values => (Self::Values(CountedCells::new(values)), ipv4, ipv6),
            Answers::Routes => {
                let mut ids = NextHops::new();
                let ipv4 = with_route_ids(&ipv4, &mut ids, &values);
                let ipv6 = with_route_ids(&ipv6, &mut ids, &values);
                (Self::Routes { routes: CountedCells::new(ids), values }, ipv4, ipv6)
            }
        }
    }

    /// The readers' part.
    pub fn shared(&self) -> SharedIds<T> {
        match self {
            Self::Values(values) => SharedIds::Values(values.shared.clone()),
            Self::Routes { routes, .. } => SharedIds::Routes(routes.shared.clone()),
        }
    }

    pub fn answers(&self) -> Answers {
        match self {
            Self::Values(_) => Answers::Values,
            Self::Routes { .. } => Answers::Routes,
        }
    }

    /// The values, by ids that readers may not know.
    pub fn values(&self) -> &NextHops<Arc<T>> {
        match self {
            Self::Values(CountedCells { ids, .. }) => ids,
            Self::Routes { values, .. } => values,
        }
    }

    /// The route that an id identifies, if ids identify routes.
    pub fn route(&self, id: NextHopId) -> Option<(IpPrefix, &T)> {
        let Self::Routes { routes, .. } = self else { return None };
        let cell = routes.ids.get(id)?;
        Some((cell.prefix(), &cell.value))
    }

    /// Gives a route an id for the value that `acquire` gets.
    ///
    /// Adds a reference to the id. A route with the same value keeps its `current` id.
    pub fn acquire(
        &mut self,
        prefix: IpPrefix,
        current: Option<NextHopId>,
        acquire: impl FnOnce(&mut NextHops<Arc<T>>) -> Result<NextHopId, NextHopsFull>,
    ) -> Result<NextHopId, NextHopsFull> {
        match self {
            Self::Values(values) => {
                let id = acquire(&mut values.ids)?;
                values.place(id);
                Ok(id)
            }
            Self::Routes { routes, values } => {
                let value = acquire(values)?;
                let same =
                    |id: &NextHopId| routes.ids.get(*id).is_some_and(|cell| cell.value_id == value);
                let id = match current.filter(same) {
                    Some(current) => {
                        values.release(value);
                        routes.ids.retain(current);
                        return Ok(current);
                    }
                    None => route_id(prefix, value, &mut routes.ids, values),
                };
                match id {
                    Ok(id) => routes.place(id),
                    Err(_) => values.release(value),
                }
                values.reclaim();
                id
            }
        }
    }

    /// Releases ids that routes have lost, one per loss.
    pub fn lose(&mut self, ids: &[NextHopId], domain: &Domain) {
        match self {
            Self::Values(values) => values.lose(ids, domain, |_| {}),
            Self::Routes { routes, values } => {
                routes.lose(ids, domain, |cell| values.release(cell.value_id));
                // The cells keep the values for readers.
                values.reclaim();
            }
        }
    }

    /// Frees ids and drops cells that no reader can reach; returns the retired bytes that remain.
    pub fn reclaim(&mut self, domain: &Domain) -> usize {
        match self {
            Self::Values(values) => values.reclaim(domain),
            Self::Routes { routes, .. } => routes.reclaim(domain),
        }
    }

    /// Hands the cells that readers may still use to the last reader.
    pub fn end(&mut self) {
        match self {
            Self::Values(values) => values.end(),
            Self::Routes { routes, .. } => routes.end(),
        }
    }

    /// Counts the references of routes that were adopted; `gained` keeps those to lose.
    pub fn settle(&mut self, ipv4: &Rib<Ipv4>, ipv6: &Rib<Ipv6>, gained: &mut Vec<NextHopId>) {
        match self {
            Self::Values(CountedCells { ids, .. }) => {
                ipv4.iter().for_each(|route| ids.retain(route.next_hop));
                ipv6.iter().for_each(|route| ids.retain(route.next_hop));
            }
            Self::Routes { .. } => gained.clear(),
        }
    }
}

impl<T: Hash + Eq> Ids<T> {
    /// Takes over the values of another table; returns its routes with the ids that readers see.
    ///
    /// Each acquired reference is added to `gained`, also if there are too many values.
    pub fn adopt(
        &mut self,
        table: Table<T>,
        gained: &mut Vec<NextHopId>,
    ) -> Result<(Rib<Ipv4>, Rib<Ipv6>), NextHopsFull> {
        let (ipv4, ipv6, others) = table.into_parts();
        match self {
            Self::Values(values) => {
                let mut own = OwnIds::default();
                for (id, value, shared) in others.into_values() {
                    let new = adopt_value(&mut values.ids, value, shared)?;
                    gained.push(new);
                    values.place(new);
                    own.set(id, new);
                }
                Ok((own.rename(&ipv4), own.rename(&ipv6)))
            }
            Self::Routes { routes, values } => {
                let mut own = OwnIds::default();
                let adopted = others.into_values().try_for_each(|(id, value, shared)| {
                    own.set(id, adopt_value(values, value, shared)?);
                    Ok(())
                });
                let ribs = adopted.map(|()| {
                    let (ipv4, ipv6) = (own.rename(&ipv4), own.rename(&ipv6));
                    for route in &ipv4 {
                        values.retain(route.next_hop);
                    }
                    for route in &ipv6 {
                        values.retain(route.next_hop);
                    }
                    let ipv4 = with_route_ids(&ipv4, &mut routes.ids, values);
                    let ipv6 = with_route_ids(&ipv6, &mut routes.ids, values);
                    gained.extend(ipv4.iter().map(|route| route.next_hop));
                    gained.extend(ipv6.iter().map(|route| route.next_hop));
                    gained.iter().for_each(|id| routes.place(*id));
                    (ipv4, ipv6)
                });
                own.0.into_iter().flatten().for_each(|id| values.release(id));
                values.reclaim();
                ribs
            }
        }
    }
}

/// The writer's ids for the values of another table, by their ids there.
#[derive(Default)]
struct OwnIds(Vec<Option<NextHopId>>);

impl OwnIds {
    fn set(&mut self, id: NextHopId, own: NextHopId) {
        self.0.resize(self.0.len().max(id.get() as usize), None);
        self.0[id.get() as usize - 1] = Some(own);
    }

    fn rename<F: Family>(&self, rib: &Rib<F>) -> Rib<F> {
        let own = |id: NextHopId| self.0[id.get() as usize - 1].unwrap_or(id);
        renamed(rib, |route| own(route.next_hop))
    }
}

/// Acquires a value of another table, which equal values share there or not.
fn adopt_value<T: Hash + Eq>(
    values: &mut NextHops<Arc<T>>,
    value: T,
    shared: bool,
) -> Result<NextHopId, NextHopsFull> {
    match shared {
        true => acquire(values, value),
        false => values.acquire_distinct(Arc::new(value)),
    }
}

/// Adds a reference to the value's id, giving a new value an id first.
pub(super) fn acquire<T: Hash + Eq>(
    values: &mut NextHops<Arc<T>>,
    value: T,
) -> Result<NextHopId, NextHopsFull> {
    match values.find::<T>(&value) {
        Some(id) => {
            values.retain(id);
            Ok(id)
        }
        None => values.acquire(Arc::new(value)),
    }
}

/// Gives a route with a value its own id.
fn route_id<T>(
    prefix: IpPrefix,
    value: NextHopId,
    ids: &mut NextHops<Arc<RouteCell<T>>>,
    values: &NextHops<Arc<T>>,
) -> Result<NextHopId, NextHopsFull> {
    let shared = values.get(value).expect("the id of a route's value has a value");
    ids.acquire_distinct(Arc::new(RouteCell::new(prefix, shared.clone(), value)))
}

/// Gives each route its own id; `rib` has the ids of their values.
fn with_route_ids<F: Family, T>(
    rib: &Rib<F>,
    ids: &mut NextHops<Arc<RouteCell<T>>>,
    values: &NextHops<Arc<T>>,
) -> Rib<F>
where
    Prefix<F>: Into<IpPrefix>,
{
    renamed(rib, |route| {
        let id = route_id(route.prefix.into(), route.next_hop, ids, values);
        id.expect("two families of 500 million routes are fewer than the ids")
    })
}

impl<T> IdValues for Ids<T> {
    type Value = T;

    fn value(&self, id: NextHopId) -> Option<&T> {
        match self {
            Self::Values(values) => values.ids.get(id).map(Arc::as_ref),
            Self::Routes { routes, .. } => routes.ids.get(id).map(|cell| cell.value.as_ref()),
        }
    }
}
