//! Programs in C and C++ against the shared library, with warnings as errors and under AddressSanitizer and
//! UndefinedBehaviorSanitizer; the ABI; an installed copy.

mod abi;
mod install;
mod tools;

use std::path::PathBuf;

use longmatch::IpPrefix;
use longmatch::file::FileSpec;
use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
use tools::{Dir, SANITIZE, compile, compiler, run};

/// The rows of `columns.c` under the routes of `test.h`; without the second route for `reload.c`.
fn data(routes: &[&str]) -> PrefixData {
    let columns = [
        Column::new("site", ColumnType::String),
        Column::new("asn", ColumnType::U64),
        Column::new("balance", ColumnType::I64),
        Column::new("latitude", ColumnType::F64),
    ];
    let mut data = PrefixData::new(columns.into()).unwrap();
    for route in routes {
        let office: Row =
            [Cell::String("office".into()), Cell::U64(64500), Cell::I64(-5), Cell::F64(1.5)].into();
        let empty: Row = [Cell::Null, Cell::Null, Cell::Null, Cell::Null].into();
        let row = if *route == "10.9.0.0/16" { empty } else { office };
        data.insert(route.parse::<IpPrefix>().unwrap(), row).unwrap();
    }
    data
}

const ROUTES: [&str; 4] = ["10.0.0.0/8", "10.9.0.0/16", "2001:db8::/32", "2001:db8:9::/48"];

/// Writes the compiled file of the programs.
fn table(dir: &Dir, name: &str, routes: &[&str]) -> PathBuf {
    let path = dir.path(name);
    FileSpec::default().write(&data(routes), &path).unwrap();
    path
}

/// Compiles a program by both standards of C, and runs it with sanitizers.
fn program(name: &str, arguments: impl Fn(&Dir) -> Vec<PathBuf>) {
    let Some(compiler) = compiler("cc", name) else { return };
    let dir = Dir::new(name);
    for standard in ["-std=c99", "-std=c11"] {
        let source = tools::source(&format!("tests/c/{name}.c"));
        let program = compile(&dir, compiler, &source, &[&[standard], SANITIZE].concat());
        run(&dir, &program, &arguments(&dir));
    }
}

#[test]
fn lookups_in_files_memory_and_arrays() {
    program("read", |dir| vec![table(dir, "table.lm", &ROUTES)]);
}

#[test]
fn columns_and_rows() {
    program("columns", |dir| vec![table(dir, "table.lm", &ROUTES)]);
}

#[test]
fn wrong_calls_are_errors() {
    program("misuse", |_| Vec::new());
}

#[test]
fn writers_and_readers() {
    program("live", |_| Vec::new());
}

#[test]
fn files_are_replaced_under_lookups() {
    let without: Vec<&str> = ROUTES.into_iter().filter(|route| *route != "10.9.0.0/16").collect();
    program("reload", |dir| {
        vec![table(dir, "table.lm", &ROUTES), table(dir, "other.lm", &without)]
    });
}

#[test]
fn the_wrapper_for_cpp() {
    let Some(compiler) = compiler("c++", "wrapper") else { return };
    let dir = Dir::new("wrapper");
    let flags = [&["-std=c++17"], SANITIZE].concat();
    let program = compile(&dir, compiler, &tools::source("tests/c/wrapper.cpp"), &flags);
    run(&dir, &program, &[table(&dir, "table.lm", &ROUTES)]);
}

/// The examples of the guide are programs.
#[test]
fn the_examples_of_the_guide_run() {
    let Some(compiler) = compiler("cc", "guide") else { return };
    let dir = Dir::new("guide");
    let guide =
        std::fs::read_to_string(tools::source("../../docs/c.md")).expect("the guide is readable");
    let programs: Vec<&str> = guide
        .split("```c\n")
        .skip(1)
        .filter_map(|block| block.split_once("```"))
        .map(|(program, _)| program)
        .filter(|program| program.contains("int main"))
        .collect();
    assert!(programs.len() >= 2, "the guide has programs");
    for (i, text) in programs.iter().enumerate() {
        let source = dir.path(&format!("example{i}.c"));
        std::fs::write(&source, text).unwrap();
        let program = compile(&dir, compiler, &source, &[&["-std=c11"], SANITIZE].concat());
        run(&dir, &program, &[table(&dir, "sites.lm", &ROUTES)]);
    }
}
