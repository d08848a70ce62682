//! Messages that were sent before a dump and are applied after it lead to the state of the dump.

use super::super::KernelState;
use super::super::event::*;
use super::super::state::{Origin, Snapshot};
use super::*;

/// The kernel's routes of one prefix and metric.
#[derive(Clone)]
struct Kernel {
    to: &'static str,
    hops: Vec<RouteHop>,
}

impl Kernel {
    /// Makes a change as `ip route` does; returns its message.
    fn change(&mut self, random: &mut Random) -> Option<Event> {
        if self.to.contains(':') { self.change_ipv6(random) } else { self.change_ipv4(random) }
    }

    fn hop(&self, random: &mut Random) -> RouteHop {
        via(random.one_of(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]), 1)
    }

    /// A list of routes with one hop each.
    fn change_ipv4(&mut self, random: &mut Random) -> Option<Event> {
        let hop = self.hop(random);
        let known = self.hops.iter().position(|other| *other == hop);
        let route = route(self.to, &[hop]);
        match (random.below(5), known) {
            (0, Some(place)) => {
                self.hops.remove(place);
                Some(Event::RouteGone(route))
            }
            (_, Some(_)) | (0, None) => None,
            (_, None) if self.hops.is_empty() => {
                self.hops.push(hop);
                Some(Event::Route(route, Placing::Only))
            }
            (1, None) => {
                self.hops.insert(0, hop);
                Some(Event::Route(route, Placing::First))
            }
            (2, None) => {
                self.hops.push(hop);
                Some(Event::Route(route, Placing::Last))
            }
            (_, None) => {
                self.hops[0] = hop;
                Some(Event::Route(route, Placing::Replace))
            }
        }
    }

    /// One route with several hops.
    fn change_ipv6(&mut self, random: &mut Random) -> Option<Event> {
        let hop = self.hop(random);
        let known = self.hops.iter().position(|other| *other == hop);
        match (random.below(3), known) {
            (0, Some(place)) => {
                self.hops.remove(place);
                Some(Event::RouteGone(route(self.to, &[hop])))
            }
            (1, _) => {
                self.hops = vec![hop];
                Some(Event::Route(route(self.to, &[hop]), Placing::Replace))
            }
            (_, None) => {
                // The message begins with the new hop.
                let hops: Vec<_> = [hop].into_iter().chain(self.hops.iter().copied()).collect();
                self.hops.push(hop);
                Some(Event::Route(route(self.to, &hops), Placing::Last))
            }
            _ => None,
        }
    }

    /// The messages of a dump.
    fn dump(&self) -> Vec<Event> {
        match self.to.contains(':') {
            _ if self.hops.is_empty() => Vec::new(),
            true => vec![added(route(self.to, &self.hops))],
            false => self.hops.iter().map(|hop| added(route(self.to, &[*hop]))).collect(),
        }
    }
}

fn snapshot(kernel: &Kernel) -> Snapshot {
    let mut snapshot = Snapshot::default();
    kernel.dump().into_iter().for_each(|event| snapshot.record(event));
    snapshot
}

#[test]
fn late_messages_change_nothing_in_the_end() {
    let (mut sure, mut changed) = (0, 0);
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let to = random.one_of(&["10.0.0.0/8", "fd00::/8"]);
        let mut kernel = Kernel { to, hops: Vec::new() };
        let mut state = KernelState::new(&ports());
        // Some are applied as they happen, the next ones are late, and the last ones are not.
        let mut change = |kernel: &mut Kernel| {
            let changes = 0..random.below(8);
            changes.filter_map(|_| kernel.change(&mut random)).collect::<Vec<_>>()
        };
        change(&mut kernel).into_iter().for_each(|event| state.apply(event));
        assert!(state.snapshot.routes.iter().eq(snapshot(&kernel).routes.iter()), "seed {seed}");
        assert!(!state.may_be_stale());
        let late = change(&mut kernel);
        changed += usize::from(late.len() > 1);
        state.adopt(snapshot(&kernel));
        late.into_iter().for_each(|event| state.apply_at(event, Origin::DuringDump));
        if state.may_be_stale() {
            // Another dump follows.
            continue;
        }
        sure += 1;
        assert!(
            state.snapshot.routes.iter().eq(snapshot(&kernel).routes.iter()),
            "seed {seed}: late"
        );
        change(&mut kernel).into_iter().for_each(|event| state.apply(event));
        assert!(
            state.snapshot.routes.iter().eq(snapshot(&kernel).routes.iter()),
            "seed {seed}: live"
        );
    }
    assert!(sure > 10_000 && changed > 10_000, "{sure} {changed}");
}
