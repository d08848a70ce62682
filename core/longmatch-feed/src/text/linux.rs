//! Selection of `ip route` routes, as Linux selects them.
//!
//! The selection skips routes of other tables, routes for one type of service and dead next hops.
//! Among several routes to one prefix it chooses the one with the lowest metric. The word `default`
//! does not show a family; if its line does not show one either, the route waits until the
//! neighbouring lines are known.

use std::cmp::Ordering;
use std::collections::HashMap;

use longmatch::IpPrefix;

use super::output::Output;
use crate::error::{FeedError, Location, Problem};
use crate::option_values::IpTable;
use crate::options::{IpFamily, Options};

/// Greatest number of `default` routes that wait for their family, to bound the memory.
const MAX_WAITING: usize = 256;
/// Metric of IPv6 routes printed without a metric (`IP6_RT_PRIO_USER` in the kernel).
const IPV6_METRIC: u32 = 1024;

/// Destination of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Prefix(IpPrefix),
    /// All addresses of a family that the word `default` does not show.
    Default,
}

/// Router preference of IPv6 (RFC 4191). Linux prefers the highest among equal metrics; here greater
/// values are worse, as for metrics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) enum Preference {
    High,
    #[default]
    Medium,
    Low,
}

impl Preference {
    /// Parses the value of `pref`. Unknown values mean medium, as in the RFC.
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "high" => Self::High,
            "low" => Self::Low,
            _ => Self::Medium,
        }
    }
}

/// One next hop, possibly incomplete.
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
    /// The first usable next hop with the greatest weight, and its weight.
    best: Option<(u32, S)>,
    /// Number of next hops.
    pub(crate) all: u32,
    /// Number of dead next hops.
    pub(crate) dead: u32,
    /// Family of the route, if the next hops or attributes show it.
    pub(crate) family: Option<IpFamily>,
}

impl<S> Default for Hops<S> {
    fn default() -> Self {
        Self { best: None, all: 0, dead: 0, family: None }
    }
}

impl<S> Hops<S> {
    /// A single usable next hop of a route of this family.
    pub(crate) fn one(text: S, family: Option<IpFamily>) -> Self {
        Self { best: Some((1, text)), all: 1, dead: 0, family }
    }

    /// Adds a next hop: its gateway, else its device. Ignores a next hop with neither.
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
}

/// A route as `ip` prints it, with borrowed or owned text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IpRoute<S> {
    pub(crate) target: Target,
    pub(crate) metric: Option<u32>,
    pub(crate) preference: Preference,
    pub(crate) table: Option<S>,
    /// Whether the route applies only to packets of one type of service.
    pub(crate) service: bool,
    pub(crate) hops: Hops<S>,
}

/// A route kept beyond its line.
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

/// State of the selection in one input.
pub(crate) struct Linux {
    table: IpTable,
    /// Whether routes without a table belong to the requested table.
    unmarked: bool,
    default_family: Option<IpFamily>,
    /// Rank of the selected route of each prefix; lower is better.
    ranks: HashMap<IpPrefix, (u32, Preference)>,
    /// Family of the last route with a known family.
    previous: Option<IpFamily>,
    /// `default` routes of unknown family after that route.
    waiting: Vec<(Location, OwnedRoute)>,
    /// A route whose next hops are on the following lines.
    open: Option<(Location, OwnedRoute)>,
}

impl Linux {
    /// Starts an input. `tables_are_named` states whether any of its routes names a table; only
    /// options for which [`Linux::needs_named_tables`] holds need it.
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

    /// Whether the selection depends on named tables. The output of `ip route show table X` names no
    /// table; the output for all tables names every table except the main one.
    pub(crate) fn needs_named_tables(options: &Options) -> bool {
        !options.ip_table.is_main()
    }

    /// Handles a line with a route. A route without next hops gets those of the following lines.
    pub(crate) fn route(
        &mut self,
        route: IpRoute<&str>,
        place: Location,
        out: &mut Output<'_>,
    ) -> Result<(), FeedError> {
        self.close(out)?;
        if route.hops.all == 0 {
            self.open = Some((place, route.to_owned()));
            return Ok(());
        }
        self.complete(route, place, out)
    }

    /// Handles a line with a next hop.
    pub(crate) fn next_hops(&mut self, hops: Hops<&str>) -> Result<(), Problem> {
        let Some((_, route)) = &mut self.open else { return Err(Problem::StrayNextHop) };
        let Hops { best, all, dead, family } = hops;
        let best = best.map(|(weight, text)| (weight, Box::from(text)));
        route.hops.join(Hops { best, all, dead, family });
        Ok(())
    }

    /// Handles a route of another format, which replaces the selected route of its prefix.
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

    /// Completes all routes at the end of the input.
    pub(crate) fn end(&mut self, out: &mut Output<'_>) -> Result<(), FeedError> {
        self.close(out)?;
        self.settle(None, out)
    }

    /// Completes a route whose next hops are on separate lines.
    fn close(&mut self, out: &mut Output<'_>) -> Result<(), FeedError> {
        match self.open.take() {
            None => Ok(()),
            Some((place, route)) if route.hops.all == 0 => {
                out.pass(Err(error(place, Problem::MissingNextHop)))
            }
            Some((place, route)) => self.complete(route.map(|text| &**text), place, out),
        }
    }

    /// Handles a route with all its next hops.
    fn complete(
        &mut self,
        route: IpRoute<&str>,
        place: Location,
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
            None => out.pass(Err(error(place, Problem::DefaultFamily))),
        }
    }

    /// Whether Linux uses the route for packets of the requested table. Counts skipped routes.
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

    /// Sends a route to the sink if it is the best one to its prefix so far.
    fn choose(
        &mut self,
        prefix: IpPrefix,
        route: &IpRoute<&str>,
        place: Location,
        out: &mut Output<'_>,
    ) -> Result<(), FeedError> {
        let Some((_, next_hop)) = route.hops.best else { return Ok(()) };
        let unstated = if IpFamily::of(prefix) == IpFamily::V6 { IPV6_METRIC } else { 0 };
        let rank = (route.metric.unwrap_or(unstated), route.preference);
        let known = self.ranks.get(&prefix).map(|known| rank.cmp(known));
        let usable = u64::from(route.hops.all - route.hops.dead);
        match known {
            // The first of equal routes wins; the others are further next hops of it.
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

    /// Records a route of known family, and settles the waiting routes before it.
    #[inline]
    fn neighbour(&mut self, family: IpFamily, out: &mut Output<'_>) -> Result<(), FeedError> {
        if !self.waiting.is_empty() {
            self.settle(Some(family), out)?;
        }
        self.previous = Some(family);
        Ok(())
    }

    /// Sets the family of the waiting routes from their neighbours; `next` is the family of the
    /// following route.
    fn settle(&mut self, next: Option<IpFamily>, out: &mut Output<'_>) -> Result<(), FeedError> {
        let family = match (self.previous, next) {
            (Some(before), Some(after)) if before != after => self.default_family,
            (before, after) => before.or(after).or(self.default_family),
        };
        for (place, route) in std::mem::take(&mut self.waiting) {
            match family.map(IpFamily::default_prefix) {
                Some(prefix) => self.choose(prefix, &route.map(|text| &**text), place, out)?,
                None => out.pass(Err(error(place, Problem::DefaultFamily)))?,
            }
        }
        Ok(())
    }
}

fn error(place: Location, error: Problem) -> FeedError {
    FeedError::at(place, error)
}
