//! `longmatch-lab stat`: statistics of a table, and the memory of each engine for it.

mod engines;
mod numbers;
mod print;

use std::io::Write;

use longmatch::{EngineSpec, Ipv4, Ipv6};
use longmatch_cli::error::{CliError, Outcome, Status};
use longmatch_cli::families::{CliFamily, Families};
use longmatch_cli::input::LoadedRoutes;
use longmatch_cli::output::{Out, warn};
use serde::Serialize;

use self::engines::EngineNumbers;
use self::numbers::Numbers;
use crate::args::{EngineArgs, StatArgs};
use crate::routes;

/// Runs the command. Families without routes are left out, unless an option names them.
///
/// # Errors
/// If the routes cannot be loaded, or an engine lacks a given option.
pub fn run(args: &StatArgs) -> Outcome {
    let families = Families::from(args.families);
    let ipv4 = args.engines.specs_or_none::<Ipv4>()?;
    let ipv6 = args.engines.specs_or_none::<Ipv6>()?;
    let routes = routes::load(&args.routes, families)?;
    // An empty table has statistics too, but is rarely intended.
    if let Err(none) = routes.require_routes(families) {
        warn(none);
    }
    let mut stat =
        Stat { routes: &routes, engines: &args.engines, json: args.json, out: Out::new() };
    if !args.json {
        writeln!(stat.out, "{}", routes.describe())?;
    }
    if families.ipv4 && (!families.ipv6 || !routes.table.ipv4().is_empty()) {
        stat.family::<Ipv4>(&ipv4)?;
    }
    if families.ipv6 && (!families.ipv4 || !routes.table.ipv6().is_empty()) {
        stat.family::<Ipv6>(&ipv6)?;
    }
    stat.out.flush()?;
    Ok(Status::Ok)
}

/// All statistics of a family, as `--json` prints them.
#[derive(Serialize)]
struct Family<'a> {
    table: &'a str,
    #[serde(flatten)]
    numbers: Numbers<'a>,
    engines: Vec<EngineNumbers>,
}

struct Stat<'r> {
    routes: &'r LoadedRoutes,
    engines: &'r EngineArgs,
    json: bool,
    out: Out,
}

impl Stat<'_> {
    fn family<F: CliFamily>(&mut self, specs: &[EngineSpec]) -> Result<(), CliError> {
        let rib = self.routes.rib::<F>();
        let numbers = Numbers::new::<F>(rib, |id| self.routes.next_hop(id));
        let engines = engines::measure::<F>(rib, specs, |spec| self.engines.named(spec));
        if self.json {
            return self.out.json(&Family { table: &self.routes.name, numbers, engines });
        }
        print::family::<F>(&mut self.out, &numbers, &engines)
    }
}
