//! Which of the routes that `ip route` prints are a table's: what Linux does with them.
//!
//! Routes of other tables and for a type of service are left out, and so are dead next hops. Of
//! several routes to one prefix the one with the lowest metric is taken. A `default` says nothing
//! of its family; where its line does not either, it waits for its neighbours.

use std::cmp::Ordering;
use std::collections::HashMap;

use longmatch::IpPrefix;

use super::error::LineError;
use super::output::Output;
use crate::error::{FeedError, Place, Problem};
use crate::options::{IpFamily, IpTable, Options};

/// `default` routes that may wait for their family, so that memory is bounded.
const MAX_WAITING: usize = 256;
/// The metric of IPv6 routes that are printed without one (`IP6_RT_PRIO_USER` of the kernel).
const IPV6_METRIC: u32 = 1024;

/// What a route leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Prefix(IpPrefix),
    /// All addresses of a family.
    Default,
}

/// The preference that an IPv6 router claims for itself (RFC 4191). Of equal metrics Linux takes
/// the highest; greater values are worse here, as with metrics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) enum Preference {
    High,
    #[default]
    Medium,
    Low,
}

impl Preference {
    /// Reads the value of `pref`; what is not known is medium, as the RFC says.
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "high" => Self::High,
            "low" => Self::Low,
            _ => Self::Medium,
        }
    }
}

/// One next hop, as far as it has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop<S> {
    pub(crate) gateway: Option<S>,
    pub(crate) device: Option<S>,
    pub(crate) weight: u32,
    pub(crate) dead: bool,
}

impl<S> Default for Hop<S> {
    fn default() -> Self {
        Self { gateway: None, device: None, weight: 1, dead: false }
    }
}

/// The next hops of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hops<S> {
    /// The first with the greatest weight that is not dead, and its weight.
    best: Option<(u32, S)>,
    /// How many there are.
    pub(crate) all: u32,
    /// How many of them are dead.
    pub(crate) dead: u32,
    /// The route's family, as far as next hops and attributes tell.
    pub(crate) family: Option<IpFamily>,
}

impl<S> Default for Hops<S> {
    fn default() -> Self {
        Self { best: None, all: 0, dead: 0, family: None }
    }
}

impl<S> Hops<S> {
    /// One that is always usable, of a route of this family.
    pub(crate) fn one(text: S, family: Option<IpFamily>) -> Self {
        Self { best: Some((1, text)), all: 1, dead: 0, family }
    }

    /// Adds a next hop, if it is one: its gateway, else its device.
    pub(crate) fn add(&mut self, hop: Hop<S>) {
        let Some(text) = hop.gateway.or(hop.device) else { return };
        let best = (!hop.dead).then_some((hop.weight, text));
        self.join(Self { best, all: 1, dead: u32::from(hop.dead), family: None });
    }

    /// Adds the next hops of a later line.
    fn join(&mut self, later: Self) {
        let better = match (&self.best, &later.best) {
            (Some((weight, _)), Some((other, _))) => other > weight,
            (best, _) => best.is_none(),
        };
        if better {
            self.best = later.best;
        }
        self.all = self.all.saturating_add(later.all);
        self.dead = self.dead.saturating_add(later.dead);
        self.family = self.family.or(later.family);
    }

    #[cfg(test)]
    pub(crate) fn best(self) -> Option<S> {
        self.best.map(|(_, text)| text)
    }
}

/// A route as `ip` prints it, with borrowed or with owned text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IpRoute<S> {
    pub(crate) target: Target,
    pub(crate) metric: Option<u32>,
    pub(crate) preference: Preference,
    pub(crate) table: Option<S>,
    /// Whether the route is for packets of one type of service only.
    pub(crate) service: bool,
    pub(crate) hops: Hops<S>,
}

/// A route that waits.
type OwnedRoute = IpRoute<Box<str>>;

impl<S> IpRoute<S> {
    /// A route without attributes.
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            metric: None,
            preference: Preference::default(),
            table: None,
            service: false,
            hops: Hops::default(),
        }
    }

    fn map<'a, T>(&'a self, text: impl Fn(&'a S) -> T) -> IpRoute<T> {
        let Hops { all, dead, family, .. } = self.hops;
        let best = self.hops.best.as_ref().map(|(weight, hop)| (*weight, text(hop)));
        IpRoute {
            target: self.target,
            metric: self.metric,
            preference: self.preference,
            table: self.table.as_ref().map(&text),
            service: self.service,
            hops: Hops { best, all, dead, family },
        }
    }
}

impl IpRoute<&str> {
    fn to_owned(self) -> OwnedRoute {
        self.map(|text| Box::from(*text))
    }
}

/// The routes of one input, and which of them are taken.
pub(crate) struct Linux {
    table: IpTable,
    /// Whether routes that are printed without a table are of the wanted one.
    unmarked: bool,
    default_family: Option<IpFamily>,
    /// How good the route is that each prefix has: lower is better.
    ranks: HashMap<IpPrefix, (u32, Preference)>,
    /// The family of the last route that tells.
    previous: Option<IpFamily>,
    /// `default` routes since then, whose family is not known.
    waiting: Vec<(Place, OwnedRoute)>,
    /// A route whose next hops are on the lines that follow.
    open: Option<(Place, OwnedRoute)>,
}

impl Linux {
    /// Nothing yet. `tables_are_named` says whether any route of the input names its table; it
    /// matters only for [`Linux::must_know_tables`].
    pub(crate) fn new(options: &Options, tables_are_named: bool) -> Self {
        Self {
            table: options.ip_table.clone(),
            unmarked: options.ip_table.is_main() || !tables_are_named,
            default_family: options.default_family,
            ranks: HashMap::new(),
            previous: None,
            waiting: Vec::new(),
            open: None,
        }
    }

    /// Whether it matters if any route of the input names its table. `ip route show table X` names
    /// none; the output for all tables names all but the main one.
    pub(crate) fn must_know_tables(options: &Options) -> bool {
        !options.ip_table.is_main()
    }

    /// Takes a line with a route. If it has no next hop, those of the lines that follow are its.
    pub(crate) fn route(
        &mut self,
        route: IpRoute<&str>,
        place: Place,
        out: &mut Output<'_>,
    ) -> Result<(), FeedError> {
        self.close(out)?;
        if route.hops.all == 0 {
            self.open = Some((place, route.to_owned()));
            return Ok(());
        }
        self.complete(route, place, out)
    }

    /// Takes a line with a next hop.
    pub(crate) fn next_hops(&mut self, hops: Hops<&str>) -> Result<(), LineError> {
        let Some((_, route)) = &mut self.open else { return Err(LineError::StrayNextHop) };
        let Hops { best, all, dead, family } = hops;
        let best = best.map(|(weight, text)| (weight, Box::from(text)));
        route.hops.join(Hops { best, all, dead, family });
        Ok(())
    }

    /// Takes note of a route that is not from `ip route`: it replaces what the prefix had.
    #[inline]
    pub(crate) fn other(
        &mut self,
        prefix: IpPrefix,
        out: &mut Output<'_>,
    ) -> Result<(), FeedError> {
        if self.open.is_some() {
            self.close(out)?;
        }
        self.neighbour(IpFamily::of(prefix), out)?;
        if !self.ranks.is_empty() {
            self.ranks.remove(&prefix);
        }
        Ok(())
    }

    /// Ends the input.
    pub(crate) fn end(&mut self, out: &mut Output<'_>) -> Result<(), FeedError> {
        self.close(out)?;
        self.settle(None, out)
    }

    /// Ends a route whose next hops were on lines of their own.
    fn close(&mut self, out: &mut Output<'_>) -> Result<(), FeedError> {
        match self.open.take() {
            None => Ok(()),
            Some((place, route)) if route.hops.all == 0 => {
                out.pass(Err(error(place, LineError::MissingNextHop)))
            }
            Some((place, route)) => self.complete(route.map(|text| &**text), place, out),
        }
    }

    /// Takes a route with all its next hops.
    fn complete(
        &mut self,
        route: IpRoute<&str>,
        place: Place,
        out: &mut Output<'_>,
    ) -> Result<(), FeedError> {
        let prefix = match (route.target, route.hops.family) {
            (Target::Prefix(prefix), _) => Some(prefix),
            (Target::Default, Some(family)) => Some(family.default_prefix()),
            (Target::Default, None) => None,
        };
        if let Some(prefix) = prefix {
            self.neighbour(IpFamily::of(prefix), out)?;
        }
        if !self.is_wanted(&route, out) {
            return Ok(());
        }
        match prefix {
            Some(prefix) => self.choose(prefix, &route, place, out),
            None if self.waiting.len() < MAX_WAITING => {
                self.waiting.push((place, route.to_owned()));
                Ok(())
            }
            None => out.pass(Err(error(place, LineError::DefaultFamily))),
        }
    }

    /// Whether a route is one that packets take. Counts those that are not.
    fn is_wanted(&self, route: &IpRoute<&str>, out: &mut Output<'_>) -> bool {
        let in_table = route.table.map_or(self.unmarked, |table| self.table.is(table));
        if !in_table {
            out.report.count_other_table(route.table.map_or("main", IpTable::name));
        } else if route.service {
            out.report.type_of_service += 1;
        } else {
            out.report.dead_next_hops += u64::from(route.hops.dead);
            return route.hops.best.is_some();
        }
        false
    }

    /// Takes a route if it is the best to its prefix so far.
    fn choose(
        &mut self,
        prefix: IpPrefix,
        route: &IpRoute<&str>,
        place: Place,
        out: &mut Output<'_>,
    ) -> Result<(), FeedError> {
        let Some((_, next_hop)) = route.hops.best else { return Ok(()) };
        let unstated = if IpFamily::of(prefix) == IpFamily::V6 { IPV6_METRIC } else { 0 };
        let rank = (route.metric.unwrap_or(unstated), route.preference);
        let known = self.ranks.get(&prefix).map(|known| rank.cmp(known));
        let usable = u64::from(route.hops.all - route.hops.dead);
        match known {
            // Of equal routes the first is taken, and their next hops are several of one route.
            Some(Ordering::Equal) => {
                out.report.extra_next_hops += usable;
                return Ok(());
            }
            Some(Ordering::Greater) => {
                out.report.less_preferred += 1;
                return Ok(());
            }
            Some(Ordering::Less) => out.report.less_preferred += 1,
            None => {}
        }
        out.report.extra_next_hops += usable - 1;
        self.ranks.insert(prefix, rank);
        out.announce(prefix, next_hop, place)
    }

    /// Takes note of a route whose family is known.
    #[inline]
    fn neighbour(&mut self, family: IpFamily, out: &mut Output<'_>) -> Result<(), FeedError> {
        if !self.waiting.is_empty() {
            self.settle(Some(family), out)?;
        }
        self.previous = Some(family);
        Ok(())
    }

    /// Gives the waiting routes the family of their neighbours, `next` being that of the one
    /// behind them.
    fn settle(&mut self, next: Option<IpFamily>, out: &mut Output<'_>) -> Result<(), FeedError> {
        let family = match (self.previous, next) {
            (Some(before), Some(after)) if before != after => self.default_family,
            (before, after) => before.or(after).or(self.default_family),
        };
        for (place, route) in std::mem::take(&mut self.waiting) {
            match family.map(IpFamily::default_prefix) {
                Some(prefix) => self.choose(prefix, &route.map(|text| &**text), place, out)?,
                None => out.pass(Err(error(place, LineError::DefaultFamily)))?,
            }
        }
        Ok(())
    }
}

fn error(place: Place, error: LineError) -> FeedError {
    FeedError::at(place, Problem::Line(error))
}
