//! A kernel that reports a loss of messages before those that are queued still, and no other loss until then.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use longmatch::EngineKind;

use super::super::decode::Decoded;
use super::super::follower::Follower;
use super::super::socket::{Changes, Dump, DumpEnd, Dumps, Each, Received};
use super::*;
use crate::kernel::KernelError;

/// The datagrams that the queue takes.
const CAPACITY: usize = 8;
/// The messages of each, so that the follower makes a commit after two.
const MESSAGES: usize = 1 << 13;

struct Kernel {
    random: Random,
    /// The routers of routes.
    routes: BTreeMap<IpPrefix, RouteHop>,
    queue: VecDeque<Event>,
    /// Whether a loss is to be reported, and whether messages are dropped until the queue is empty.
    loss: bool,
    congested: bool,
    losses: u64,
}

impl Kernel {
    /// Makes changes, each with its message.
    fn change(&mut self, most: usize) {
        for _ in 0..self.random.below(most + 1) {
            let to = format!("10.{}.0.0/16", self.random.below(12));
            let hop = via(self.random.one_of(&["10.0.0.1", "10.0.0.2"]), 1);
            let event = match self.routes.remove(&prefix(&to)) {
                Some(old) if self.random.below(2) == 0 => Event::RouteGone(route(&to, &[old])),
                old => {
                    self.routes.insert(prefix(&to), hop);
                    let placing = old.map_or(Placing::Only, |_| Placing::Replace);
                    Event::Route(route(&to, &[hop]), placing)
                }
            };
            self.send(event);
        }
    }

    fn send(&mut self, event: Event) {
        if self.queue.len() == CAPACITY && !self.congested {
            (self.congested, self.loss) = (true, true);
        }
        match self.congested {
            true => self.losses += 1,
            false => self.queue.push_back(event),
        }
    }

    fn take(&mut self) -> Option<Event> {
        let event = self.queue.pop_front();
        self.congested &= !self.queue.is_empty();
        event
    }
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Kernel>>);

impl Shared {
    fn with<T>(&self, act: impl FnOnce(&mut Kernel) -> T) -> T {
        act(&mut self.0.lock().unwrap())
    }
}

impl Changes for Shared {
    fn wait(&self, _: Duration) -> Result<bool, KernelError> {
        Ok(self.with(|kernel| kernel.loss || !kernel.queue.is_empty()))
    }

    fn receive(&mut self) -> Result<Received, KernelError> {
        Ok(self.with(|kernel| match std::mem::take(&mut kernel.loss) {
            true => Received::Lost,
            false => kernel.take().map_or(Received::Nothing, |event| {
                Received::Messages(Decoded {
                    events: vec![event],
                    messages: MESSAGES,
                    ..Decoded::default()
                })
            }),
        }))
    }

    fn discard(&mut self) -> Result<bool, KernelError> {
        Ok(self.with(|kernel| std::mem::take(&mut kernel.loss) || kernel.take().is_some()))
    }
}

impl Dumps for Shared {
    fn dump(&mut self, dump: Dump, each: &mut Each<'_>) -> Result<DumpEnd, KernelError> {
        let events = self.with(|kernel| {
            kernel.change(3);
            let routes =
                kernel.routes.iter().map(|(to, hop)| added(route(&to.to_string(), &[*hop])));
            let neighbours =
                (1..3).map(|n| Event::Neighbour(key(&format!("10.0.0.{n}"), 1), mac(n).into()));
            let events = match dump {
                Dump::Ipv4Routes => routes.collect(),
                Dump::Neighbours => neighbours.collect(),
                _ => Vec::new(),
            };
            kernel.change(3);
            events
        });
        each(events)?;
        Ok(DumpEnd::Complete)
    }
}

#[test]
fn a_loss_before_queued_messages_leads_to_the_state_of_the_kernel() {
    let mut losses = 0;
    for seed in 0..1_000 {
        let (routes, queue) = (BTreeMap::new(), VecDeque::new());
        let (loss, congested, random) = (false, false, Random(seed));
        let kernel = Kernel { random, routes, queue, loss, congested, losses: 0 };
        let kernel = Shared(Arc::new(Mutex::new(kernel)));
        let (changes, dumps) = (Box::new(kernel.clone()), Box::new(kernel.clone()));
        let mut follower =
            Follower::of(&ports(), EngineKind::Folio.into(), changes, dumps).unwrap();
        let mut follow = || {
            follower.follow_at_once(Duration::ZERO).unwrap();
            let unread = kernel.with(|kernel| kernel.loss || !kernel.queue.is_empty());
            let found =
                follower.targets().map(|(prefix, target)| (prefix, text(Some(target.clone()))));
            (follower.may_be_stale() || unread, found.collect::<BTreeMap<_, _>>())
        };
        for _ in 0..6 {
            kernel.with(|kernel| kernel.change(3 * CAPACITY));
            follow();
        }
        let found = (0..50).find_map(|_| Some(follow()).filter(|(stale, _)| !stale));
        let (_, found) = found.unwrap_or_else(|| panic!("seed {seed}: no rest"));
        let expected = kernel.with(|kernel| {
            losses += kernel.losses;
            let by = |hop: &RouteHop| match hop.gateway {
                Some(router) if router == addr("10.0.0.1") => format!("p1 {}", mac(1)),
                _ => format!("p1 {}", mac(2)),
            };
            let routes = kernel.routes.iter().map(|(prefix, hop)| (*prefix, by(hop)));
            routes.collect::<BTreeMap<_, _>>()
        });
        let is_route = |prefix: &IpPrefix| prefix.len() == 16;
        let found: BTreeMap<_, _> = found.into_iter().filter(|(to, _)| is_route(to)).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
    assert!(losses > 5_000, "{losses}");
}
