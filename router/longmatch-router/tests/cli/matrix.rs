//! Every file of the corpus as the routes of captures: they are read, or there is the error of the library.

use std::fs;

use crate::common::{Dir, corpus, error, prefixes, run};

#[test]
fn every_file_is_read_or_refused() {
    let dir = Dir::new();
    // A capture without packets.
    let header = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    fs::write(dir.path("in.pcap"), header).unwrap();
    let capture = format!("{}={}", dir.path("in.pcap"), dir.path("out.pcap"));
    for path in corpus() {
        let file = path.to_str().unwrap();
        let source = ["--value", "next-hop", "--json", "-r", file];
        let ended = run(&[&["--io", "pcap", "-i", &capture], &source[..]].concat());
        match prefixes(file) {
            Err(problem) => assert_eq!(error(&ended), problem, "{file}"),
            Ok(rows) if rows.is_empty() => assert_eq!(ended.code, 2, "{file}: {ended:?}"),
            Ok(_) => assert_eq!(ended.code, 0, "{file}: {ended:?}"),
        }
    }
}
