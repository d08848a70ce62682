//! Unpacks the default table, which commands read where it lies in the program.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use ruzstd::decoding::StreamingDecoder;

fn main() -> Result<(), Box<dyn Error>> {
    let data = Path::new("data");
    let [table, version] = ["asn.lm.zst", "asn.version"].map(|name| data.join(name));
    let mut packed = &fs::read(&table)?[..];
    let out = Path::new(&env::var("OUT_DIR")?).join("asn.lm");
    std::io::copy(&mut StreamingDecoder::new(&mut packed)?, &mut fs::File::create(out)?)?;
    let words = fs::read_to_string(&version)?;
    let (words, date) = words.trim_end().split_once(' ').ok_or("data/asn.version has no date")?;
    println!("cargo:rustc-env=LONGMATCH_TABLE_VERSION={words}");
    println!("cargo:rustc-env=LONGMATCH_TABLE_DATE={date}");
    for path in [table, version, "build.rs".into()] {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    Ok(())
}
