//! The routes of the command line, which may be split into the synthetic tables of the Poptrie paper.

use longmatch::{IpPrefix, NextHopId, Table};
use longmatch_bench::{syn1, syn2};
use longmatch_cli::error::CliError;
use longmatch_cli::families::Families;
use longmatch_cli::input::{Changes, LoadedRoutes};
use longmatch_cli::output::warn;

use crate::args::{RoutesArgs, Split};

/// Loads the routes as [`LoadedRoutes::load`] does.
///
/// # Errors
/// As [`LoadedRoutes::load`].
pub fn load(args: &RoutesArgs, families: Families) -> Result<LoadedRoutes, CliError> {
    split(LoadedRoutes::load(&args.source, families)?, args.split)
}

/// Loads the routes as [`LoadedRoutes::load_with_changes`] does.
///
/// # Errors
/// As [`LoadedRoutes::load`].
pub fn load_with_changes(
    args: &RoutesArgs,
    families: Families,
) -> Result<(LoadedRoutes, Changes), CliError> {
    let (routes, changes) = LoadedRoutes::load_with_changes(&args.source, families)?;
    Ok((split(routes, args.split)?, changes))
}

/// Gives the routes the ids of the compiled form in `--table`, as [`LoadedRoutes::use_ids`] does. A split table has no such
/// form.
///
/// # Errors
/// If the file cannot be opened again.
pub fn use_ids(routes: &mut LoadedRoutes, args: &RoutesArgs) -> Result<(), CliError> {
    if args.source.table.is_some() && args.split.is_some() {
        warn("--split: the compiled form in the file is left out");
        return Ok(());
    }
    routes.use_ids(&args.source)
}

/// Splits the table's IPv4 prefixes, if `--split` was given. The name of a next hop that splitting adds
/// is its number, such as `#300`.
///
/// # Errors
/// If the table cannot hold all next hops.
pub fn split(routes: LoadedRoutes, split: Option<Split>) -> Result<LoadedRoutes, CliError> {
    let (ipv4, label) = match split {
        None => return Ok(routes),
        Some(Split::Syn1) => (syn1(routes.table.ipv4()), "SYN1"),
        Some(Split::Syn2) => (syn2(routes.table.ipv4()), "SYN2"),
    };
    let mut table = Table::<Box<str>>::new();
    let mut add = |prefix: IpPrefix, id: NextHopId| {
        let known = routes.table.next_hops().get(id);
        let name = known.map_or_else(|| format!("#{id}").into(), Clone::clone);
        let added = table.insert(prefix, name).map(|_| ());
        added.map_err(|error| CliError::input("--split", error))
    };
    for route in routes.table.ipv6() {
        add(route.prefix.into(), route.next_hop)?;
    }
    for route in &ipv4 {
        add(route.prefix.into(), route.next_hop)?;
    }
    Ok(LoadedRoutes::new(table, format!("{label} of {}", routes.name)))
}
