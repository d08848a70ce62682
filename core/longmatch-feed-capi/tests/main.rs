//! The header, the symbols, and a program in C that makes tables and opens them.

#[path = "../../longmatch-capi/tests/c/tools.rs"]
mod tools;

use std::env;
use std::fs;
use std::process::Command;

use tools::{Dir, SANITIZE, built, compile, compiler, has, run, skipped, source, succeed};

const LIBRARY: &str = "liblongmatch_feed_capi.so";

#[test]
fn the_header_is_made_of_the_sources() {
    let mut config = cbindgen::Config::from_file(source("cbindgen.toml")).unwrap();
    config.header = Some(fs::read_to_string(source("include/head.h")).unwrap());
    let builder = cbindgen::Builder::new().with_config(config).with_src(source("src/lib.rs"));
    let mut made = Vec::new();
    builder.generate().expect("the sources can be parsed").write(&mut made);
    let path = source("include/longmatch-feed.h");
    if env::var_os("LONGMATCH_WRITE").is_some() {
        return fs::write(path, made).expect("writable");
    }
    assert!(
        fs::read(path).unwrap_or_default() == made,
        "longmatch-feed.h differs from the sources: LONGMATCH_WRITE=1 cargo test -p longmatch-feed-capi"
    );
}

#[test]
fn tables_of_text_are_opened() {
    let Some(compiler) = compiler("cc", "feed") else { return };
    let dir = Dir::new("feed");
    for name in ["liblongmatch-feed.so.0", "liblongmatch-feed.so"] {
        fs::copy(built(LIBRARY), dir.path(name)).expect("cargo has built the shared library");
    }
    let reader = source("../longmatch-capi/include");
    let include = format!("-I{}", reader.display());
    let from = format!("-L{}", dir.path("").display());
    for standard in ["-std=c99", "-std=c11"] {
        let flags =
            [&[standard, &include, &from, "-Wl,--no-as-needed", "-llongmatch-feed"], SANITIZE]
                .concat();
        let program = compile(&dir, compiler, &source("tests/program.c"), &flags);
        run(&dir, &program, &[dir.path("")]);
    }
}

/// No symbol of the reader is here, so a program can link both.
#[test]
fn exported_symbols_are_those_of_the_header() {
    if !cfg!(target_os = "linux") || !has("nm") {
        skipped("exported_symbols", "nm", "binutils");
        return;
    }
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only"]).arg(built(LIBRARY));
    let text = String::from_utf8(succeed(&mut nm).stdout).expect("UTF-8");
    let names = text
        .lines()
        .filter(|line| !line.contains(" A "))
        .filter_map(|line| line.rsplit(' ').next());
    let names: Vec<&str> = names.collect();
    let expected = ["lm_feed_compile_file", "lm_feed_compile_memory", "lm_feed_free"];
    assert_eq!(names, expected.map(|name| format!("{name}@@liblongmatch-feed.so.0")));
}
