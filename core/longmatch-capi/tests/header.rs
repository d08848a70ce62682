//! `longmatch.h` is what cbindgen makes of the sources.

use std::env;
use std::fs;
use std::path::Path;

#[test]
fn the_header_is_made_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    config.header = Some(fs::read_to_string(root.join("include/head.h")).unwrap());
    let mut builder = cbindgen::Builder::new().with_config(config);
    // The modules in the order of the header.
    for module in ["status", "handle", "open", "lookup", "columns", "writer"] {
        builder = builder.with_src(root.join(format!("src/{module}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().expect("the sources can be parsed").write(&mut made);
    let made = String::from_utf8(made).expect("sources are UTF-8");
    let path = root.join("include/longmatch.h");
    if env::var_os("LONGMATCH_WRITE").is_some() {
        return fs::write(path, made).expect("writable");
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == made,
        "longmatch.h differs from the sources: LONGMATCH_WRITE=1 cargo test -p longmatch-capi --test header"
    );
}
