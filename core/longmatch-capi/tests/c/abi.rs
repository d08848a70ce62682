//! The ABI: the symbols of the shared library, and the layouts of structs.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::process::Command;

use super::tools::{Dir, compile, compiler, has, library, run, skipped, source, succeed};

fn header() -> String {
    fs::read_to_string(source("include/longmatch.h")).expect("the header is readable")
}

/// The functions that the header declares.
pub fn declared() -> BTreeSet<String> {
    let code: Vec<_> =
        header().lines().filter(|line| !line.starts_with("//")).map(String::from).collect();
    let names = code.iter().filter_map(|line| line.split_once('(')).filter_map(|(before, _)| {
        let name = before.rsplit([' ', '*']).next()?;
        name.starts_with("lm_").then(|| name.to_owned())
    });
    names.collect()
}

#[test]
fn exported_symbols_are_those_of_the_header() {
    if !cfg!(target_os = "linux") || !has("nm") {
        skipped("exported_symbols", "nm", "binutils");
        return;
    }
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only"]).arg(library());
    let text = String::from_utf8(succeed(&mut nm).stdout).expect("UTF-8");
    let symbols: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.rsplit(' ').next()?.strip_suffix("@@liblongmatch.so.0"))
        .filter(|name| *name != "liblongmatch.so.0")
        .map(String::from)
        .collect();
    assert_eq!(symbols, declared());
    // Each line is one of these symbols, or the version itself.
    let own = text.lines().filter(|line| !line.contains(" A ")).count();
    assert_eq!(own, symbols.len(), "{text}");
}

#[test]
fn the_library_needs_the_c_library_alone() {
    if !cfg!(target_os = "linux") || !has("readelf") {
        skipped("needed libraries", "readelf", "binutils");
        return;
    }
    let mut readelf = Command::new("readelf");
    readelf.arg("--dynamic").arg("--wide").arg(library());
    let text = String::from_utf8(succeed(&mut readelf).stdout).expect("UTF-8");
    let of = |tag: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains(tag));
        lines
            .filter_map(|line| Some(line.split_once('[')?.1.trim_end_matches(']').into()))
            .collect()
    };
    assert_eq!(of("(SONAME)"), ["liblongmatch.so.0"]);
    // The parts of glibc.
    let parts = ["libc.so.", "libm.so.", "ld-linux"];
    let is_part = |name: &&String| parts.iter().any(|part| name.starts_with(part));
    let needed = of("(NEEDED)");
    assert!(needed.iter().all(|name| is_part(&name)) && !needed.is_empty(), "{needed:?}");
}

/// The structs of the header with their fields.
fn structs() -> Vec<(String, Vec<String>)> {
    let header = header();
    let mut found = Vec::new();
    for block in header.split("typedef struct ").skip(1) {
        let Some((name, body)) = block.split_once(" {\n") else { continue };
        if name.contains(';') {
            continue;
        }
        let fields = body.lines().take_while(|line| !line.starts_with('}'));
        let fields =
            fields.filter(|line| !line.trim_start().starts_with("//")).filter_map(|line| {
                let name = line.trim().strip_suffix(';')?.rsplit([' ', '*']).next()?;
                Some(name.split('[').next()?.to_owned())
            });
        found.push((name.to_owned(), fields.collect()));
    }
    found
}

#[test]
fn the_abi_is_as_recorded() {
    if !cfg!(target_pointer_width = "64") {
        eprintln!("skipped: abi: abi.txt has the layouts of 64-bit machines");
        return;
    }
    let Some(compiler) = compiler("cc", "abi") else { return };
    let structs = structs();
    assert!(structs.len() >= 5, "{structs:?}");
    let mut program =
        String::from("#include <stdio.h>\n#include \"longmatch.h\"\nint main(void) {\n");
    let print =
        |text: &str, value: String| format!("printf(\"{text} %zu\\n\", (size_t){value});\n");
    for (name, fields) in &structs {
        program += &print(&format!("struct {name}: size"), format!("sizeof(struct {name})"));
        for field in fields {
            let at = format!("offsetof(struct {name}, {field})");
            program += &print(&format!("struct {name}: {field} at"), at);
        }
    }
    program += "return 0; }\n";
    let dir = Dir::new("abi");
    fs::write(dir.path("layouts.c"), program).unwrap();
    let program =
        compile(&dir, compiler, &dir.path("layouts.c"), &["-std=c11", "-Wall", "-Werror"]);
    let mut abi = String::new();
    declared().iter().for_each(|name| writeln!(abi, "symbol {name}@liblongmatch.so.0").unwrap());
    abi += &run(&dir, &program, &[]);
    for line in header().lines().filter(|line| line.starts_with("#define LM_")) {
        writeln!(abi, "{}", line.trim_start_matches('#')).unwrap();
    }
    let path = source("abi.txt");
    if std::env::var_os("LONGMATCH_WRITE").is_some() {
        return fs::write(path, abi).expect("writable");
    }
    let recorded = fs::read_to_string(path).unwrap_or_default();
    assert!(
        recorded == abi,
        "abi.txt differs from the header: a line that changes or ends breaks programs (docs/stability.md). If all \
         are new: LONGMATCH_WRITE=1 cargo test -p longmatch-capi --test c abi"
    );
}
