//! Loads prefix data and prints a summary:
//! `cargo run --release --example data -- sites.csv`.

use std::time::Instant;

use longmatch_feed::{DataLoader, FeedError, Options};

fn main() -> Result<(), FeedError> {
    let mut loader = DataLoader::new(Options::default());
    let start = Instant::now();
    for path in std::env::args_os().skip(1) {
        let report = loader.path(&path)?;
        println!("{}: {} rows, {}", path.display(), report.rows, report.read_as);
        report.warnings().iter().for_each(|warning| println!("  {warning}"));
    }
    let data = loader.finish()?;
    println!("{} prefixes in {:.2} s", data.table().len(), start.elapsed().as_secs_f64());
    for column in data.columns() {
        println!("  {}: {}", column.name, column.ty);
    }
    Ok(())
}
