//! Inputs of a report; each file of routes is a separate table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longmatch_bench::Destinations;
use longmatch_cli::error::CliError;
use longmatch_cli::families::Families;
use longmatch_cli::input::{EMBEDDED, LoadedRoutes};
use longmatch_cli::paths::{is_stdin, one_stdin};
use longmatch_report::{Inputs, Peers, Subject, UpdateStream};

use crate::args::{ReportArgs, RoutesArgs, default_memory};
use crate::destinations;
use crate::routes::split;
use crate::updates::Updates;

/// File name extensions of formats, which a table's name omits.
const EXTENSIONS: [&str; 10] =
    ["lm", "zst", "gz", "bz2", "txt", "mrt", "csv", "mmdb", "pcap", "pcapng"];

/// Loads all inputs of the command line.
///
/// # Errors
/// If an input cannot be read or is empty.
pub fn load(args: &ReportArgs) -> Result<Inputs, CliError> {
    one_stdin(args.routes.source.files.iter().chain(&args.updates))?;
    let routes = tables(&args.routes)?;
    let updates = match args.updates.is_empty() {
        true => None,
        false => Some(updates(args, &routes)?),
    };
    let tables = routes.into_iter().map(|(name, routes)| {
        let (ipv4, ipv6) = (routes.table.ipv4().clone(), routes.table.ipv6().clone());
        Subject { name, ipv4, ipv6 }
    });
    let trace = args
        .trace
        .as_ref()
        .map(|path| trace(path, args.routes.source.read.rows.lenient))
        .transpose()?;
    let peers = Peers::find(&adapters(args), args.peer_commands.clone(), args.out.clone());
    let memory = args.memory.or_else(default_memory);
    let origins = args.routes.source.files.is_empty() && args.routes.source.table.is_none();
    Ok(Inputs { tables: tables.collect(), origins, updates, trace, peers, memory })
}

/// Returns the directory of the peers' adapters: `target/peers` for `target/release/longmatch-lab`.
fn adapters(args: &ReportArgs) -> PathBuf {
    args.peers.clone().unwrap_or_else(|| {
        let program = std::env::current_exe().unwrap_or_default();
        program.parent().and_then(Path::parent).unwrap_or(Path::new("")).join("peers")
    })
}

/// Loads the destinations of a trace, under a short name.
fn trace(path: &Path, lenient: bool) -> Result<Arc<Destinations>, CliError> {
    let destinations = destinations::read(path, lenient)?;
    Ok(Arc::new(Destinations { name: name(path), ..destinations }))
}

/// The routes of one of the files.
fn one(args: &RoutesArgs, path: &Path) -> RoutesArgs {
    let mut one = args.clone();
    one.source.files = vec![path.to_owned()];
    one
}

/// Loads each file as a table with a unique name.
fn tables(args: &RoutesArgs) -> Result<Vec<(String, LoadedRoutes)>, CliError> {
    let files: Vec<_> = match &args.source.files[..] {
        [] => {
            let table = args.source.table.as_ref().map(|path| name(path));
            vec![(table.unwrap_or_else(|| EMBEDDED.to_owned()), args.clone())]
        }
        files => {
            let own = |path: &PathBuf| (name(path), one(args, path));
            files.iter().map(own).collect()
        }
    };
    let mut all: Vec<(String, LoadedRoutes)> = Vec::new();
    for (name, args) in files {
        let routes = LoadedRoutes::load_as(&args.source, Families::BOTH, None)?;
        let routes = split(routes, args.split)?;
        if routes.table.is_empty() {
            return Err(CliError::input(&routes.name, "no routes"));
        }
        let names = core::iter::once(name.clone()).chain((2..).map(|i| format!("{name}-{i}")));
        let free = |name: &String| all.iter().all(|(other, _)| other != name);
        let name = names.into_iter().find(free).unwrap_or(name);
        all.push((name, routes));
    }
    Ok(all)
}

/// Shortens a file's path to a name for anchors and files: no directories or extensions; letters, digits, `-`, `_`.
fn name(path: &Path) -> String {
    let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let mut stem = &file[..];
    while let Some((before, extension)) = stem.rsplit_once('.')
        && EXTENSIONS.contains(&extension)
    {
        stem = before;
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = stem.chars().map(plain).collect();
    match name.trim_matches('-') {
        "" => "routes".to_owned(),
        name => name.to_owned(),
    }
}

/// Loads the updates. Each family uses the next-hop ids of the first table with routes of that family.
fn updates(args: &ReportArgs, tables: &[(String, LoadedRoutes)]) -> Result<UpdateStream, CliError> {
    let ipv4 = tables.iter().position(|(_, routes)| !routes.table.ipv4().is_empty());
    let ipv6 = tables.iter().position(|(_, routes)| !routes.table.ipv6().is_empty());
    let read = |table: usize, families| {
        Updates::load(&args.updates, &args.routes.source.read, &tables[table].1, families)
    };
    let all: Vec<Updates> = match (ipv4, ipv6) {
        (Some(four), Some(six)) if four == six => vec![read(four, Families::BOTH)?],
        (Some(_), Some(_)) if args.updates.iter().any(|path| is_stdin(path)) => {
            let problem = "is read once, but the IPv4 and IPv6 tables have separate next-hop ids; \
                           give --updates a file";
            return Err(CliError::input("standard input", problem));
        }
        _ => {
            let four = ipv4.map(|table| read(table, Families { ipv4: true, ipv6: false }));
            let six = ipv6.map(|table| read(table, Families { ipv4: false, ipv6: true }));
            four.into_iter().chain(six).collect::<Result<_, _>>()?
        }
    };
    if let Some(first) = all.first()
        && all.iter().all(|updates| updates.ipv4.is_empty() && updates.ipv6.is_empty())
    {
        return Err(first.no_updates());
    }
    let names: Vec<_> = args.updates.iter().map(|path| name(path)).collect();
    let mut stream = UpdateStream { name: names.join("+"), ipv4: Vec::new(), ipv6: Vec::new() };
    for mut updates in all {
        stream.ipv4.append(&mut updates.ipv4);
        stream.ipv6.append(&mut updates.ipv6);
    }
    Ok(stream)
}
