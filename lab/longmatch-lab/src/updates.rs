//! Loading of updates from files.

use std::path::{Path, PathBuf};

use longmatch::{Change, Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, Prefix, Route};
use longmatch_cli::args::ReadArgs;
use longmatch_cli::error::{Advice, CliError};
use longmatch_cli::families::Families;
use longmatch_cli::input::{LoadedRoutes, load};
use longmatch_cli::output::{plural, thousands, warn};
use longmatch_cli::paths::display_name;
use longmatch_cli::progress::Progress;
use longmatch_cli::reports::print_report;
use longmatch_feed::{Event, FeedError, Options, Report, SinkError, printable};

/// Maximum number of updates. All are kept in memory, so that no measured time includes reading. At
/// 48 bytes for IPv6 they take 1.5 GiB.
const ROOFLINE: usize = 1 << 25;
const _: () = assert!(size_of::<Change<Ipv6>>() == 48);

/// The updates of one run, in order.
pub struct Updates {
    pub ipv4: Vec<Change<Ipv4>>,
    pub ipv6: Vec<Change<Ipv6>>,
    /// The texts of the next hops of routes and updates, in one numbering.
    pub next_hops: NextHops<Box<str>>,
    /// Source, for headings.
    pub name: String,
    families: Families,
    /// Number of updates of the family that the options exclude.
    left_out: u64,
    limit: usize,
}

impl Updates {
    fn new(routes: &LoadedRoutes, families: Families) -> Self {
        Self {
            ipv4: Vec::new(),
            ipv6: Vec::new(),
            next_hops: routes.table.next_hops().clone(),
            name: String::new(),
            families,
            left_out: 0,
            limit: ROOFLINE,
        }
    }

    /// Creates an empty list with the next hops of the routes.
    pub fn empty(routes: &LoadedRoutes) -> Self {
        Self::new(routes, Families::default())
    }

    /// Reads all files, in order, with the options of the routes. Keeps updates of both families,
    /// if both are in `families`.
    ///
    /// # Errors
    /// If a file cannot be read, is damaged (unless `--lenient`) or lacks the peer, or if there are
    /// more updates than the limit.
    pub fn load(
        paths: &[PathBuf],
        args: &ReadArgs,
        routes: &LoadedRoutes,
        families: Families,
    ) -> Result<Self, CliError> {
        let mut updates = Self::new(routes, families);
        let options = args.options();
        for path in paths {
            updates.file(path, &options)?;
        }
        let names: Vec<_> = paths.iter().map(|path| display_name(path)).collect();
        updates.name = names.join(" + ");
        Ok(updates)
    }

    /// Returns the updates if all are of one family: times of two families cannot be combined.
    ///
    /// # Errors
    /// Without updates, or with updates of both families.
    pub fn of_one_family(self) -> Result<Self, CliError> {
        let Self { ipv4, ipv6, name, .. } = &self;
        match (ipv4.len(), ipv6.len()) {
            (0, 0) => Err(self.no_updates()),
            (0, _) | (_, 0) => {
                if self.left_out > 0 {
                    let left_out = plural(self.left_out, "update");
                    let name = printable(name);
                    warn(format_args!("{name}: {left_out} of the other address family left out"));
                }
                Ok(self)
            }
            (four, six) => {
                let (four, six) =
                    (plural(four as u64, "IPv4 update"), plural(six as u64, "IPv6 update"));
                let problem = format!("{four} and {six}: use -4 or -6");
                Err(CliError::input(name, problem))
            }
        }
    }

    /// Error for inputs without updates.
    pub fn no_updates(&self) -> CliError {
        if self.left_out > 0 {
            let other = if self.families.ipv4 { "-6" } else { "-4" };
            let left_out = plural(self.left_out, "update");
            let problem = format!("{left_out}, all of the other address family: use {other}");
            return CliError::input(&self.name, problem);
        }
        CliError::input(
            &self.name,
            "no updates: expected lines like 'A 192.0.2.0/24 next-hop' and 'W 192.0.2.0/24', \
             or MRT BGP4MP messages",
        )
    }

    fn file(&mut self, path: &Path, options: &Options) -> Result<(), CliError> {
        let name = display_name(path);
        let report = self.input(&name, options.lenient, |sink| load(path, options, sink))?;
        print_report(&name, &report, self.families);
        Ok(())
    }

    fn input(
        &mut self,
        name: &str,
        lenient: bool,
        load: impl FnOnce(&mut dyn longmatch_feed::Sink) -> Result<Report, FeedError>,
    ) -> Result<Report, CliError> {
        let mut progress = Progress::new(format!("loading {}", printable(name)), None, "updates");
        let mut events = 0u64;
        let mut sink = |event: Event<'_>| -> Result<(), SinkError> {
            events += 1;
            if events.is_multiple_of(4096) {
                progress.set(events);
            }
            self.take(event)
        };
        load(&mut sink)
            .map_err(|error| CliError::load(&error, Advice { lenient: !lenient, families: false }))
    }

    fn take(&mut self, event: Event<'_>) -> Result<(), SinkError> {
        let (Event::Announce(prefix, _) | Event::Withdraw(prefix)) = event;
        if !self.families.keep(prefix) {
            self.left_out += 1;
            return Ok(());
        }
        if self.ipv4.len() + self.ipv6.len() >= self.limit {
            let limit = thousands(self.limit as u64);
            return Err(format!("the limit of updates is {limit}: use fewer files").into());
        }
        let next_hop = match event {
            Event::Announce(_, next_hop) => Some(self.next_hops.acquire_borrowed(next_hop)?),
            Event::Withdraw(_) => None,
        };
        // As in a table, so that updates and routes name the same prefix.
        match prefix.unmapped() {
            IpPrefix::V4(prefix) => self.ipv4.push(change(prefix, next_hop)),
            IpPrefix::V6(prefix) => self.ipv6.push(change(prefix, next_hop)),
        }
        Ok(())
    }
}

fn change<F: Family>(prefix: Prefix<F>, next_hop: Option<NextHopId>) -> Change<F> {
    match next_hop {
        Some(next_hop) => Change::Announce(Route { prefix, next_hop }),
        None => Change::Withdraw(prefix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::Table;

    fn read(text: &str, families: Families, limit: usize) -> Result<Updates, CliError> {
        let mut table = Table::<Box<str>>::new();
        table.insert_borrowed("10.0.0.0/8".parse::<IpPrefix>().unwrap(), "first").unwrap();
        let routes = LoadedRoutes::new(table, String::new());
        let mut updates = Updates { limit, name: "u".into(), ..Updates::new(&routes, families) };
        updates.input("u", false, |sink| {
            longmatch_feed::load_bytes(text.as_bytes(), Some("u"), &Options::default(), sink)
        })?;
        updates.of_one_family()
    }

    #[test]
    fn next_hops_are_numbered_with_those_of_the_routes() {
        let text = "A 10.1.0.0/16 new\n# x\nW 10.0.0.0/8\nA 10.2.0.0/16 first\n";
        let updates = read(text, Families::BOTH, ROOFLINE).unwrap();
        let hop = |n| NextHopId::new(n);
        let wanted = [
            change("10.1.0.0/16".parse().unwrap(), hop(2)),
            change("10.0.0.0/8".parse().unwrap(), None),
            change("10.2.0.0/16".parse().unwrap(), hop(1)),
        ];
        assert_eq!(updates.ipv4, wanted);
        assert_eq!(updates.next_hops.find("new"), hop(2));
        assert!(updates.ipv6.is_empty());
    }

    #[test]
    fn mapped_prefixes_are_ipv4() {
        let updates = read("A ::ffff:10.0.0.0/104 a\n", Families::BOTH, ROOFLINE).unwrap();
        assert_eq!(updates.ipv4, [change("10.0.0.0/8".parse().unwrap(), NextHopId::new(2))]);
    }

    #[test]
    fn one_family_and_at_most_the_limit() {
        let error = |text, families, limit| read(text, families, limit).err().unwrap().to_string();
        let both = "W 10.0.0.0/8\nW 2001:db8::/32\nW ::/0\n";
        let (ipv4, ipv6) =
            (Families { ipv4: true, ipv6: false }, Families { ipv4: false, ipv6: true });
        assert_eq!(
            error(both, Families::BOTH, 9),
            "u: 1 IPv4 update and 2 IPv6 updates: use -4 or -6"
        );
        assert_eq!(read(both, ipv4, 9).unwrap().ipv4.len(), 1);
        assert_eq!(read(both, ipv6, 2).unwrap().ipv6.len(), 2);
        assert!(error("W 10.0.0.0/8\n", ipv6, 9).ends_with("address family: use -4"));
        assert!(error("", ipv6, 9).starts_with("u: no updates: expected lines like"));
        let error = error("W 10.0.0.0/8\nW 10.0.0.0/8\n", ipv4, 1);
        assert!(
            error.starts_with("u: line 2: ") && error.contains("limit of updates is 1"),
            "{error}"
        );
    }
}
