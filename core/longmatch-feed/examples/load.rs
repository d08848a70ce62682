//! Loads files into a table and prints the report and the rate. With `--no-table`, the sink discards
//! the routes.
//!
//! `cargo run --release --example load -- [--lenient] [--peer PEER] [--no-table] FILE...`

use std::time::Instant;

use longmatch::Table;
use longmatch_feed::{Event, Options, Sink, SinkError, load_path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::default();
    let mut table = Table::<Box<str>>::new();
    let mut nothing = |_: Event<'_>| -> Result<(), SinkError> { Ok(()) };
    let mut sink: &mut dyn Sink = &mut table;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--lenient" => options.lenient = true,
            "--peer" => options.peer = Some(args.next().unwrap_or_default().parse()?),
            "--no-table" => sink = &mut nothing,
            path => load(path, &options, sink)?,
        }
    }
    println!("{} routes in the table", table.len());
    Ok(())
}

fn load(
    path: &str,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let report = load_path(path, options, sink)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{report:#?}");
    for warning in report.warnings() {
        println!("{warning}");
    }
    let rate = report.bytes as f64 / seconds / 1e6;
    let routes = report.announced;
    println!("{path}: {routes} routes in {seconds:.3} s, {rate:.0} MB/s decompressed");
    Ok(())
}
