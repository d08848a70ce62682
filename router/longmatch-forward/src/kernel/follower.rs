//! The follower: sockets, the kernel's state and the live table.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use longmatch::{Answers, IpPrefix, Table, TableReader, TableSpec, TableWriter};

use super::KernelError;
use super::event::Event;
use super::found::FoundRoute;
use super::socket::{Changes, Dump, DumpEnd, Dumps, Received, Socket};
use super::state::{KernelState, Origin, Snapshot};
use crate::target::{Port, Target};

/// Bytes of changes that the kernel keeps for us: those of some hundred thousand routes.
const RECEIVE_BUFFER: usize = 64 << 20;
/// Messages after which changes are committed, though more are there.
const BATCH: usize = 1 << 14;
/// The time between two packets of a stale neighbour that go to the kernel.
const ASK: Duration = Duration::from_secs(1);
/// Events kept during a dump. Beyond, they are dropped, and another resync follows.
const BACKLOG: usize = 1 << 20;

/// Follows the kernel's routes, next hops and neighbours, and keeps a live table equal to them.
///
/// The [module](super) describes the content of the table.
pub struct Follower {
    changes: Box<dyn Changes>,
    dumps: Box<dyn Dumps>,
    state: KernelState,
    writer: TableWriter<Target>,
    ports: Vec<Arc<Port>>,
    backoff: ResyncBackoff,
    /// Whether messages that were sent before the end of the last dump may be unread.
    late: bool,
    /// When stale neighbours are asked next.
    ask: Instant,
    /// If the table lacks changes that it refused: when to try again.
    behind: Option<Instant>,
}

/// What [`Follower::follow`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Followed {
    /// Messages of the kernel.
    pub messages: usize,
    /// Prefixes whose targets changed.
    pub changed: usize,
    /// Times that messages of the kernel were lost.
    pub losses: usize,
    /// Number of times that the whole state was read again.
    pub resyncs: usize,
}

impl Followed {
    /// Adds the counts of another call.
    pub fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.changed += other.changed;
        self.losses += other.losses;
        self.resyncs += other.resyncs;
    }
}

/// Numbers of routes, next hops and neighbours of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateCounts {
    /// IPv4 prefixes with routes.
    pub ipv4: usize,
    /// IPv6 prefixes with routes.
    pub ipv6: usize,
    /// Next-hop objects.
    pub next_hops: usize,
    /// Neighbours whose Ethernet addresses are known.
    pub neighbours: usize,
}

impl Follower {
    /// Reads the kernel's state and compiles the table.
    ///
    /// The sockets stay in the network namespace of the calling thread. Answers are values,
    /// whatever the spec says: full tables have few targets.
    ///
    /// # Errors
    /// If the kernel's state cannot be read, or the engine cannot hold it.
    pub fn new(ports: &[Arc<Port>], spec: TableSpec) -> Result<Self, KernelError> {
        Self::with_receive_buffer(ports, spec, RECEIVE_BUFFER)
    }

    /// As [`Follower::new`], with another size of the kernel's buffer for changes, in bytes.
    ///
    /// Changes that do not fit are lost, and a resync follows. The default is 64 MiB.
    ///
    /// # Errors
    /// Those of [`Follower::new`].
    pub fn with_receive_buffer(
        ports: &[Arc<Port>],
        spec: TableSpec,
        bytes: usize,
    ) -> Result<Self, KernelError> {
        // Open before the dump, so that no change is missed.
        let changes = Box::new(Socket::events(bytes)?);
        Self::of(ports, spec, changes, Box::new(Socket::requests()?))
    }

    /// Follows any source of changes and dumps.
    pub(super) fn of(
        ports: &[Arc<Port>],
        spec: TableSpec,
        mut changes: Box<dyn Changes>,
        mut dumps: Box<dyn Dumps>,
    ) -> Result<Self, KernelError> {
        const TRIES: usize = 20;
        let mut state = KernelState::new(ports);
        let (mut tries, mut backlog) = (0, Backlog::default());
        let snapshot = loop {
            if let Some(snapshot) = read_all(&mut *dumps, &mut *changes, &state, &mut backlog)? {
                break snapshot;
            }
            tries += 1;
            if tries == TRIES {
                return Err(KernelError::Interrupted);
            }
            std::thread::sleep(ResyncBackoff::LEAST);
        };
        state.adopt(snapshot);
        backlog.apply(&mut state);
        state.take_dirty();
        let writer = table(&state)?.live(spec.answers(Answers::Values))?;
        let (ports, backoff) = (ports.to_vec(), ResyncBackoff::new());
        Ok(Self {
            changes,
            dumps,
            state,
            writer,
            ports,
            backoff,
            late: true,
            ask: Instant::now(),
            behind: None,
        })
    }

    /// Makes a reader of the table.
    pub fn reader(&self) -> TableReader<Target> {
        self.writer.reader()
    }

    /// The prefixes of the table and their targets, in order.
    pub fn targets(&self) -> impl Iterator<Item = (IpPrefix, &Target)> {
        self.writer.iter()
    }

    /// The route by which the table forwards packets to an address; `None` if it has none. O(neighbours) for each hop.
    pub fn route(&self, addr: IpAddr) -> Option<FoundRoute> {
        let (prefix, target) = self.writer.cover(IpPrefix::host(addr)).last()?;
        Some(self.state.found(prefix, target))
    }

    /// Whether the table may differ from the kernel's state until the next resync.
    ///
    /// It also differs if it refused changes, until it takes them.
    pub fn may_be_stale(&self) -> bool {
        self.state.may_be_stale() || self.behind.is_some()
    }

    /// The ports.
    pub fn ports(&self) -> &[Arc<Port>] {
        &self.ports
    }

    /// Addresses of this machine, of all its interfaces, each once.
    pub fn local_addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.state.local_addresses()
    }

    /// The broadcast addresses of IPv4 links, some more than once.
    pub fn broadcast_addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.state.broadcast_addresses()
    }

    /// Numbers of routes, next-hop objects and neighbours.
    pub fn counts(&self) -> StateCounts {
        let Snapshot { next_hops, neighbours, routes, .. } = &self.state.snapshot;
        let [ipv4, ipv6] = routes.len();
        StateCounts { ipv4, ipv6, next_hops: next_hops.len(), neighbours: neighbours.len() }
    }

    /// Applies the changes that have arrived, and commits them.
    ///
    /// Waits for the first one, for `timeout` at most. If many have arrived, a part of them is
    /// applied. A resync, if one is due, is made as a whole, which takes seconds with a full table;
    /// readers do not wait for it.
    ///
    /// # Errors
    /// If the sockets fail, or the table refuses the changes. Readers see the last state then, and
    /// calls after a second or more try again.
    pub fn follow(&mut self, timeout: Duration) -> Result<Followed, KernelError> {
        let mut followed = Followed::default();
        let until_resync = self.state.may_be_stale().then(|| self.backoff.until_due());
        if self.changes.wait(until_resync.map_or(timeout, |due| due.min(timeout)))? {
            self.receive(&mut followed)?;
        } else {
            self.late = false;
        }
        if self.state.may_be_stale() && self.backoff.until_due().is_zero() {
            self.resync(&mut followed)?;
        }
        self.publish(&mut followed)?;
        if Instant::now() >= self.ask {
            self.state.ask_stale();
            self.ask = Instant::now() + ASK;
        }
        Ok(followed)
    }

    /// As [`Follower::follow`], but a resync waits for nothing.
    #[cfg(test)]
    pub(super) fn follow_at_once(&mut self, timeout: Duration) -> Result<Followed, KernelError> {
        self.backoff = ResyncBackoff::new();
        self.follow(timeout)
    }

    /// Compares the table with the state. For tests: O(routes).
    ///
    /// # Errors
    /// The first difference.
    pub fn check(&self) -> Result<(), String> {
        self.writer.check().map_err(|corrupt| corrupt.to_string())?;
        let table = &self.writer;
        for prefix in self.state.prefixes() {
            let (expected, found) = (self.state.target(prefix), table.get(prefix));
            if expected.as_ref() != found {
                return Err(format!("{prefix}: {found:?} in the table, not {expected:?}"));
            }
        }
        let stray = table.iter().find(|&(prefix, _)| self.state.target(prefix).is_none());
        stray.map_or(Ok(()), |(prefix, _)| Err(format!("{prefix} is in the table only")))
    }

    /// Applies changes that have arrived.
    fn receive(&mut self, followed: &mut Followed) -> Result<(), KernelError> {
        let before = followed.messages;
        while followed.messages - before < BATCH {
            match self.changes.receive()? {
                Received::Messages(decoded) => {
                    followed.messages += decoded.messages;
                    let origin = if self.late { Origin::DuringDump } else { Origin::Event };
                    for event in decoded.events {
                        self.state.apply_at(event, origin);
                    }
                }
                Received::Nothing => {
                    self.late = false;
                    break;
                }
                Received::Lost => {
                    followed.losses += 1;
                    self.backoff.failed = true;
                    self.state.set_stale(true);
                }
            }
        }
        Ok(())
    }

    /// Drops the changes that have arrived, which are older than the dump that follows. False if more arrive all the time.
    ///
    /// Linux reports a loss once, before the messages that are queued still, and reports no other loss until the
    /// queue is empty (`netlink_overrun` in `net/netlink/af_netlink.c`). So no queue but an empty one shows whether
    /// messages are lost after the beginning of the dump.
    fn empty(&mut self) -> Result<bool, KernelError> {
        const PATIENCE: Duration = Duration::from_secs(1);
        let began = Instant::now();
        // Without the dropped changes, only a dump leads to the kernel's state.
        self.state.set_stale(true);
        while began.elapsed() < PATIENCE {
            if !self.changes.discard()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the whole state again.
    fn resync(&mut self, followed: &mut Followed) -> Result<(), KernelError> {
        self.backoff.begin();
        if !self.empty()? {
            self.backoff.failed = true;
            self.backoff.end();
            return Ok(());
        }
        let mut backlog = Backlog::default();
        let (dumps, changes) = (&mut *self.dumps, &mut *self.changes);
        let snapshot = read_all(dumps, changes, &self.state, &mut backlog);
        self.backoff.end();
        followed.resyncs += 1;
        let failed = match snapshot {
            Ok(Some(snapshot)) => {
                // Before the backlog, which may make it stale again.
                self.state.set_stale(false);
                self.state.adopt(snapshot);
                self.late = true;
                None
            }
            Ok(None) => {
                self.backoff.failed = true;
                None
            }
            Err(error) => Some(error),
        };
        followed.messages += backlog.messages;
        followed.losses += usize::from(backlog.lost);
        self.backoff.failed |= failed.is_some() || backlog.lost;
        backlog.apply(&mut self.state);
        failed.map_or(Ok(()), Err)
    }

    /// Commits the changes to the table.
    fn publish(&mut self, followed: &mut Followed) -> Result<(), KernelError> {
        let dirty = self.state.take_dirty();
        match self.behind {
            Some(next) if Instant::now() < next => return Ok(()),
            Some(_) => return self.rebuild(followed),
            None => {}
        }
        if dirty.is_empty() {
            return Ok(());
        }
        let mut inserted = Ok(());
        for prefix in dirty {
            match self.state.target(prefix) {
                Some(target) if self.writer.get(prefix) == Some(&target) => continue,
                Some(target) => match self.writer.insert(prefix, target) {
                    Ok(_) => {}
                    Err(error) => inserted = Err(error),
                },
                None if self.writer.remove(prefix).is_none() => continue,
                None => {}
            }
            followed.changed += 1;
        }
        let committed = self.writer.commit();
        if inserted.is_err() || committed.is_err() {
            // A table that no longer fits after many changes may fit when it is compiled again.
            return self.rebuild(followed);
        }
        Ok(())
    }

    /// Compiles the table again.
    fn rebuild(&mut self, followed: &mut Followed) -> Result<(), KernelError> {
        /// The time between two attempts, which load the machine.
        const PAUSE: Duration = Duration::from_secs(1);
        let rebuilt = table(&self.state).and_then(|table| {
            let len = table.len();
            self.writer.replace(table).map_err(KernelError::Refused)?;
            Ok(len)
        });
        self.behind = rebuilt.is_err().then(|| Instant::now() + PAUSE);
        followed.changed += rebuilt?;
        Ok(())
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Follower");
        debug.field("ports", &self.ports).field("counts", &self.counts()).finish()
    }
}

/// The table of the state, in which IPv4-mapped IPv6 prefixes stay IPv6.
fn table(state: &KernelState) -> Result<Table<Target>, KernelError> {
    let mut table = Table::new().keep_mapped();
    for prefix in state.prefixes() {
        if let Some(target) = state.target(prefix) {
            table.insert(prefix, target)?;
        }
    }
    Ok(table)
}

/// Reads the kernel's state; keeps the changes that arrive meanwhile in `backlog`.
///
/// `None` if the state changed so often that a dump may lack something that exists.
fn read_all(
    dumps: &mut dyn Dumps,
    changes: &mut dyn Changes,
    state: &KernelState,
    backlog: &mut Backlog,
) -> Result<Option<Snapshot>, KernelError> {
    /// A dump that was interrupted is repeated so often.
    const TRIES: usize = 4;
    let mut fresh = Snapshot::after(&state.snapshot);
    for dump in Dump::ALL {
        let mut tries = 0;
        loop {
            let end = dumps.dump(dump, &mut |found| {
                found.into_iter().for_each(|event| fresh.record(event));
                backlog.receive(changes)
            })?;
            match end {
                DumpEnd::Complete => break,
                DumpEnd::Interrupted => fresh.clear(dump),
            }
            tries += 1;
            if tries == TRIES {
                return Ok(None);
            }
        }
    }
    backlog.receive_all(changes)?;
    Ok(Some(fresh))
}

impl Snapshot {
    /// Removes the results of an interrupted dump.
    fn clear(&mut self, dump: Dump) {
        match dump {
            Dump::Links => self.links.clear(),
            Dump::Addresses => self.addresses.clear(),
            Dump::NextHops => self.next_hops.clear(),
            Dump::Neighbours => self.neighbours.clear(),
            Dump::Ipv4Routes => self.routes.retain(|prefix| prefix.addr().is_ipv6()),
            Dump::Ipv6Routes => self.routes.retain(|prefix| prefix.addr().is_ipv4()),
        }
    }
}

/// Changes that arrived during a dump. Some are older than the dump's report on their prefixes; all together lead
/// to the kernel's state at the arrival of the last one.
#[derive(Default)]
struct Backlog {
    events: Vec<Event>,
    messages: usize,
    lost: bool,
}

impl Backlog {
    /// Receives the waiting messages, without blocking.
    fn receive(&mut self, changes: &mut dyn Changes) -> Result<(), KernelError> {
        /// Datagrams between two of a dump, so that the dump goes on.
        const MOST: usize = 1024;
        for _ in 0..MOST {
            match changes.receive()? {
                Received::Messages(decoded) => {
                    self.messages += decoded.messages;
                    self.events.extend(decoded.events);
                }
                Received::Nothing => return Ok(()),
                Received::Lost => self.lost = true,
            }
            if self.events.len() > BACKLOG {
                // A resync is faster than this number of changes.
                self.events.clear();
                self.lost = true;
            }
        }
        Ok(())
    }

    /// Receives until there is nothing more, so that no change that is older than the dump is committed alone.
    fn receive_all(&mut self, changes: &mut dyn Changes) -> Result<(), KernelError> {
        const PATIENCE: Duration = Duration::from_secs(1);
        let began = Instant::now();
        loop {
            let before = self.messages;
            self.receive(changes)?;
            if self.messages == before {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                self.lost = true;
                return Ok(());
            }
        }
    }

    fn apply(self, state: &mut KernelState) {
        if self.lost {
            // The others lead to no state of the kernel.
            return state.set_stale(true);
        }
        for event in self.events {
            state.apply_at(event, Origin::DuringDump);
        }
    }
}

/// The intervals of resyncs, which load the kernel and delay changes.
struct ResyncBackoff {
    began: Instant,
    ended: Option<Instant>,
    interval: Duration,
    /// Whether the last resync failed or was followed by lost messages.
    failed: bool,
}

impl ResyncBackoff {
    const LEAST: Duration = Duration::from_millis(200);
    const MOST: Duration = Duration::from_secs(5);

    fn new() -> Self {
        Self { began: Instant::now(), ended: None, interval: Self::LEAST, failed: false }
    }

    /// How long the next resync must wait.
    fn until_due(&self) -> Duration {
        self.ended.map_or(Duration::ZERO, |ended| self.interval.saturating_sub(ended.elapsed()))
    }

    fn begin(&mut self) {
        self.began = Instant::now();
        let soon = self.ended.is_some_and(|ended| ended.elapsed() < 2 * self.interval);
        let longer = (2 * self.interval).min(Self::MOST);
        self.interval = if soon && self.failed { longer } else { Self::LEAST };
        self.failed = false;
    }

    fn end(&mut self) {
        // At most half of the time is spent with resyncs.
        self.interval = self.interval.max(self.began.elapsed());
        self.ended = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use longmatch::EngineKind;

    use super::super::{Path, Placing, Route, RouteKind};
    use super::*;

    /// A thread of its own may follow the kernel.
    #[test]
    fn a_follower_can_be_sent() {
        fn is_send<T: Send>() {}
        is_send::<Follower>();
    }

    fn blackhole() -> Route {
        let path =
            Path { kind: RouteKind::Blackhole, next_hop: None, hops: Vec::new(), special: false };
        let (prefix, table) = ("198.51.100.0/32".parse().unwrap(), Route::MAIN);
        Route { prefix, table, metric: 0, tos: 0, source: None, protocol: 0, path }
    }

    /// The routes of this machine, and one that it does not have.
    #[test]
    fn refused_changes_are_made_later() {
        let mut follower = match Follower::new(&[], EngineKind::Folio.into()) {
            Ok(follower) => follower,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let mut reader = follower.reader();
        {
            // A reader that stalls keeps the memory of the first change from reuse.
            let stalled = reader.pin();
            follower.writer.set_retired_limit(0);
            let mut followed = Followed::default();
            let mut publish = |event| {
                follower.state.apply(event);
                follower.publish(&mut followed).err()
            };
            let added = || Event::Route(blackhole(), Placing::Only);
            let mut changes = (0..100).flat_map(|_| [added(), Event::RouteGone(blackhole())]);
            let error = changes.find_map(&mut publish).unwrap().to_string();
            assert!(publish(added()).is_none(), "not again at once");
            assert!(error.contains("the table does not take the changes"), "{error}");
            assert!(follower.may_be_stale());
            drop(stalled);
        }
        follower.behind = Some(Instant::now());
        follower.publish(&mut Followed::default()).unwrap();
        follower.check().unwrap();
        assert_eq!(reader.pin().lookup([198, 51, 100, 0]), Some(&Target::Blackhole));
    }

    #[test]
    fn resyncs_in_vain_slow_down() {
        let mut backoff = ResyncBackoff::new();
        assert_eq!(backoff.until_due(), Duration::ZERO);
        let mut intervals = Vec::new();
        for failed in [false, true, true, true, true, true, true, false] {
            backoff.failed = failed;
            backoff.begin();
            backoff.end();
            intervals.push(backoff.interval.as_millis());
        }
        assert_eq!(intervals, [200, 400, 800, 1600, 3200, 5000, 5000, 200]);
        assert!(backoff.until_due() > Duration::from_millis(50));
    }
}
