//! Input of routes: the embedded tables, files and standard input.

use std::io;
use std::path::Path;

use longmatch::file::FileTable;
use longmatch::{Change, Family, IpPrefix, Ipv4, Ipv6, NextHopId, Prefix, Rib, Route, Table};
use longmatch_feed::{Event, FeedError, Options, Report, SinkError, printable};

use crate::args::{FamilyArgs, ReadArgs, SourceArgs};
use crate::error::{Advice, CliError};
use crate::families::{CliFamily, Families};
use crate::output::{plural, warn};
use crate::paths::{display_name, is_stdin, one_stdin};
use crate::pipeline;
use crate::progress::Progress;
use crate::reports::{print_format, print_report};
use crate::table_file::{self, FileEngine};

/// An embedded table: name, compressed text and number of routes (for progress only).
struct Embedded {
    name: &'static str,
    bytes: &'static [u8],
    routes: u64,
}

const EMBEDDED_IPV4: Embedded = Embedded {
    name: "the embedded IPv4 table",
    bytes: include_bytes!("../data/ipv4.txt.zst"),
    routes: 886_116,
};

const EMBEDDED_IPV6: Embedded = Embedded {
    name: "the embedded IPv6 table",
    bytes: include_bytes!("../data/ipv6.txt.zst"),
    routes: 160_147,
};

/// The name of the embedded tables.
pub const EMBEDDED: &str = "embedded";

/// The changes of a table in the order of its text, as far as they were accepted.
#[derive(Default)]
pub struct Changes {
    /// The changes of IPv4 prefixes.
    pub ipv4: Vec<Change<Ipv4>>,
    /// The changes of IPv6 prefixes.
    pub ipv6: Vec<Change<Ipv6>>,
}

impl Changes {
    /// Adds an announcement of a next hop, or a withdrawal.
    fn push(&mut self, prefix: IpPrefix, next_hop: Option<NextHopId>) {
        fn change<F: Family>(prefix: Prefix<F>, next_hop: Option<NextHopId>) -> Change<F> {
            match next_hop {
                Some(next_hop) => Change::Announce(Route { prefix, next_hop }),
                None => Change::Withdraw(prefix),
            }
        }
        match prefix.unmapped() {
            IpPrefix::V4(prefix) => self.ipv4.push(change(prefix, next_hop)),
            IpPrefix::V6(prefix) => self.ipv6.push(change(prefix, next_hop)),
        }
    }
}

/// The routes that a command works on, and their source.
pub struct LoadedRoutes {
    /// The routes. Next hops are the texts of the input.
    pub table: Table<Box<str>>,
    /// Source, for headings: `embedded` or the names of the files.
    pub name: String,
    /// The file of `--table` with its own ids, if [`LoadedRoutes::use_ids`] was called.
    ids: Option<Ids>,
}

/// A table file, and its routes with the ids of its compiled form.
struct Ids {
    file: FileTable,
    ipv4: Rib<Ipv4>,
    ipv6: Rib<Ipv6>,
}

impl LoadedRoutes {
    /// Creates routes from their table and the name of their source.
    pub fn new(table: Table<Box<str>>, name: String) -> Self {
        Self { table, name, ids: None }
    }

    /// Loads the files of the command line in order, later routes replacing earlier ones, or the
    /// embedded tables. Prints the chosen peers and warnings on standard error.
    ///
    /// # Errors
    /// If an input cannot be read, is damaged (unless `--lenient`) or lacks the peer.
    pub fn load(source: &SourceArgs, families: Families) -> Result<Self, CliError> {
        Self::load_as(source, families, Some(families.named()))
    }

    /// Loads routes of the families to work on, which may differ from the families that the options
    /// name. The latter are `named`: they decide the family of a `default` route if its file does
    /// not. `named` is `None` if the command has no such options.
    ///
    /// # Errors
    /// As [`LoadedRoutes::load`].
    pub fn load_as(
        source: &SourceArgs,
        families: Families,
        named: Option<FamilyArgs>,
    ) -> Result<Self, CliError> {
        Self::load_with(source, families, named, None)
    }

    /// Loads routes as [`LoadedRoutes::load`] does, and keeps the changes in the order of the input.
    ///
    /// # Errors
    /// As [`LoadedRoutes::load`].
    pub fn load_with_changes(
        source: &SourceArgs,
        families: Families,
    ) -> Result<(Self, Changes), CliError> {
        let mut changes = Changes::default();
        let routes = Self::load_with(source, families, Some(families.named()), Some(&mut changes))?;
        Ok((routes, changes))
    }

    fn load_with(
        source: &SourceArgs,
        families: Families,
        named: Option<FamilyArgs>,
        changes: Option<&mut Changes>,
    ) -> Result<Self, CliError> {
        if let Some(path) = &source.table {
            let table = table_file::texts(
                &table_file::open(path, source.trust, source.read.of_files())?,
                families,
            )?;
            if let Some(changes) = changes {
                changes.ipv4 = table.ipv4().iter().map(Change::Announce).collect();
                changes.ipv6 = table.ipv6().iter().map(Change::Announce).collect();
            }
            return Ok(Self::new(table, display_name(path)));
        }
        let advice = Advice { lenient: !source.read.rows.lenient, families: named.is_some() };
        let mut loader = Loader { table: Table::new(), families, advice, refused: 0, changes };
        if source.files.is_empty() {
            loader.embedded(&source.read)?;
            return Ok(Self::new(loader.table, EMBEDDED.to_owned()));
        }
        one_stdin(&source.files)?;
        let mut options = source.read.options();
        options.default_family = named.and_then(FamilyArgs::only);
        for path in &source.files {
            loader.file(path, &options)?;
        }
        let names: Vec<_> = source.files.iter().map(|path| display_name(path)).collect();
        Ok(Self::new(loader.table, names.join(" + ")))
    }

    /// Refuses a table without routes: a command on a whole table would do nothing.
    ///
    /// # Errors
    /// If no route is of the families to work on.
    pub fn require_routes(&self, families: Families) -> Result<(), CliError> {
        let Families { ipv4, ipv6 } = families;
        if ipv4 && !self.table.ipv4().is_empty() || ipv6 && !self.table.ipv6().is_empty() {
            return Ok(());
        }
        Err(CliError::input(
            &self.name,
            match (ipv4, ipv6) {
                (true, false) => "no IPv4 routes: leave out -4, or give others with --routes",
                (false, true) => "no IPv6 routes: leave out -6, or give others with --routes",
                _ => "no routes: give others with --routes",
            },
        ))
    }

    /// Gives the routes of `--table` the ids of its compiled form, so that this form can be compared
    /// with engines.
    ///
    /// # Errors
    /// If the file cannot be opened again.
    pub fn use_ids(&mut self, source: &SourceArgs) -> Result<(), CliError> {
        let Some(path) = &source.table else { return Ok(()) };
        let file = table_file::open(path, source.trust, source.read.of_files())?;
        let (ipv4, ipv6) = (table_file::ids(&file)?, table_file::ids(&file)?);
        self.ids = Some(Ids { file, ipv4, ipv6 });
        Ok(())
    }

    /// The compiled form of `--table`, after [`LoadedRoutes::use_ids`].
    pub fn compiled(&self) -> Option<FileEngine> {
        self.ids.as_ref().map(|ids| FileEngine::new(ids.file.clone()))
    }

    /// Returns the routes of a family.
    pub fn rib<F: CliFamily>(&self) -> &Rib<F> {
        match &self.ids {
            Some(ids) => F::pick(&ids.ipv4, &ids.ipv6),
            None => F::pick(self.table.ipv4(), self.table.ipv6()),
        }
    }

    /// Returns the text of a next hop of [`LoadedRoutes::table`].
    pub fn next_hop(&self, id: NextHopId) -> &str {
        self.table.next_hops().get(id).map_or("?", |value| value)
    }

    /// Returns the text of an id of [`LoadedRoutes::rib`].
    pub fn text(&self, id: NextHopId) -> String {
        match &self.ids {
            Some(ids) => table_file::next_hop(&ids.file, id),
            None => self.next_hop(id).to_owned(),
        }
    }

    /// Counts the distinct next hops of the routes. O(routes).
    pub fn next_hops(&self) -> usize {
        let (ipv4, ipv6) = (self.table.ipv4(), self.table.ipv6());
        // The table may still hold values of replaced routes.
        let greatest = ipv4.max_next_hop().max(ipv6.max_next_hop());
        let mut used = vec![false; greatest as usize];
        let hops = ipv4.iter().map(|r| r.next_hop).chain(ipv6.iter().map(|r| r.next_hop));
        hops.for_each(|hop| used[hop.get() as usize - 1] = true);
        used.into_iter().filter(|used| *used).count()
    }

    /// Whether the next hops of a family are invented: the source of the embedded IPv6 prefixes has none.
    pub fn invented<F: CliFamily>(&self) -> bool {
        self.name == EMBEDDED && F::LABEL == Ipv6::LABEL && !self.table.ipv6().is_empty()
    }

    /// Summary of the routes in one line, for headings: `embedded: 886,116 IPv4 routes, ...`.
    pub fn describe(&self) -> String {
        let count = |n: usize, label: &str| (n > 0).then(|| plural(n as u64, label));
        let counts = [
            count(self.table.ipv4().len(), "IPv4 route"),
            count(self.table.ipv6().len(), "IPv6 route"),
            count(self.next_hops(), "next hop"),
        ];
        let invented = self.invented::<Ipv6>().then(|| "those of IPv6 invented".to_owned());
        let counts: Vec<_> = counts.into_iter().chain([invented]).flatten().collect();
        let name = printable(&self.name);
        match counts.is_empty() {
            true => format!("{name}: no routes"),
            false => format!("{name}: {}", counts.join(", ")),
        }
    }
}

/// Loads one input after the other into a table.
struct Loader<'c> {
    table: Table<Box<str>>,
    families: Families,
    advice: Advice,
    /// Routes of the current input that are not of the families to work on.
    refused: u64,
    /// The changes so far, if they are wanted.
    changes: Option<&'c mut Changes>,
}

/// Loads a file, or standard input for `-`.
pub fn load(
    path: &Path,
    options: &Options,
    sink: &mut dyn longmatch_feed::Sink,
) -> Result<Report, FeedError> {
    if is_stdin(path) {
        longmatch_feed::load_reader(io::stdin().lock(), Some(&display_name(path)), options, sink)
    } else {
        longmatch_feed::load_path(path, options, sink)
    }
}

impl Loader<'_> {
    /// Loads the embedded tables that are needed.
    fn embedded(&mut self, read: &ReadArgs) -> Result<(), CliError> {
        table_file::require_routes(read.of_files(), "an embedded table")?;
        // The tables share one numbering of next hops. IPv6 comes first, so that its few next hops
        // get numbers of 16 bits, which more engines can store.
        let wanted = [(self.families.ipv6, EMBEDDED_IPV6), (self.families.ipv4, EMBEDDED_IPV4)];
        for (_, embedded) in wanted.into_iter().filter(|(wanted, _)| *wanted) {
            let (bytes, name) = (embedded.bytes, embedded.name);
            self.input(name, Some(embedded.routes), |sink| {
                longmatch_feed::load_bytes(bytes, Some(name), &Options::default(), sink)
            })?;
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, options: &Options) -> Result<(), CliError> {
        let name = display_name(path);
        let report = self.input(&name, None, |sink| load(path, options, sink))?;
        if !report.format.has_routes() {
            print_format(&name, &report);
        }
        print_report(&name, &report, self.families);
        let kept = report.announced - self.refused.min(report.announced);
        if self.refused > 0 && kept == 0 {
            let name = printable(&name);
            warn(format_args!("{name}: all its routes are of the other address family"));
        }
        Ok(())
    }

    /// Runs one load and fills the table.
    fn input(
        &mut self,
        name: &str,
        expected: Option<u64>,
        load: impl Fn(&mut dyn longmatch_feed::Sink) -> Result<Report, FeedError> + Sync,
    ) -> Result<Report, CliError> {
        let Self { table, families, advice, refused, changes } = self;
        let mut progress =
            Progress::new(format!("loading {}", printable(name)), expected, "routes");
        let mut events = 0u64;
        *refused = 0;
        let keep = |event: Event<'_>| -> Result<(), SinkError> {
            events += 1;
            if events.is_multiple_of(4096) {
                progress.set(events);
            }
            match event {
                Event::Announce(prefix, _) if !families.keep(prefix) => *refused += 1,
                Event::Announce(prefix, next_hop) => {
                    table.insert_borrowed(prefix, next_hop)?;
                    if let Some(changes) = changes.as_deref_mut() {
                        // The id by its text: the RIB that is to be verified has no part in it.
                        changes.push(prefix, table.next_hops().find(next_hop));
                    }
                }
                Event::Withdraw(prefix) => {
                    table.remove(prefix);
                    if let Some(changes) = changes.as_deref_mut() {
                        changes.push(prefix, None);
                    }
                }
            }
            Ok(())
        };
        let report = pipeline::load(load, keep).map_err(|error| CliError::input(name, error))?;
        report.map_err(|error| CliError::load(&error, *advice))
    }
}
