//! An installed copy: found by pkg-config and by CMake, linked by an example, with a manual page of each call.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::tools::{Dir, built, compiler, has, skipped, source, succeed};

/// A program of each way to link.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <longmatch.h>

int main(void) {
    const unsigned char prefix[4] = {10, 0, 0, 0}, length = 8;
    const uint32_t id = 7;
    const lm_routes routes = {prefix, &length, &id, 1};
    lm_table *table;
    if (lm_build(&routes, NULL, sizeof routes, 0, &table) != LM_OK)
        return 1;
    printf("%u %u\n", lm_lookup4(table, 0x0a010203), lm_lookup4(table, 1));
    return lm_free(table) != LM_OK;
}
"#;

/// Installs what cargo has built for the tests.
fn installed(dir: &Dir) -> PathBuf {
    let prefix = dir.path("usr");
    let mut install = Command::new("sh");
    install.arg(source("install.sh")).arg(built("").as_path()).arg(&prefix).env_remove("DESTDIR");
    succeed(&mut install);
    fs::write(dir.path("main.c"), PROGRAM).unwrap();
    prefix
}

fn answers(program: &Path, libraries: &Path) {
    let output = succeed(Command::new(program).env("LD_LIBRARY_PATH", libraries));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "7 0\n");
}

#[test]
fn pkg_config_finds_it() {
    let Some(compiler) = compiler("cc", "pkg-config") else { return };
    if !has("pkg-config") {
        skipped("pkg-config", "pkg-config", "pkg-config");
        return;
    }
    let dir = Dir::new("pkg-config");
    let prefix = installed(&dir);
    let lib = prefix.join("lib");
    let flags = |words: &[&str]| -> Vec<String> {
        let mut find = Command::new("pkg-config");
        let output = succeed(find.args(words).env("PKG_CONFIG_PATH", lib.join("pkgconfig")));
        String::from_utf8_lossy(&output.stdout).split_whitespace().map(String::from).collect()
    };
    assert_eq!(flags(&["--modversion", "longmatch"]), [env!("CARGO_PKG_VERSION")]);
    let program = dir.path("shared");
    let link = flags(&["--cflags", "--libs", "longmatch"]);
    succeed(Command::new(compiler).arg(dir.path("main.c")).args(link).arg("-o").arg(&program));
    answers(&program, &lib);
    // Without the shared library the same flags and the private ones take the static one.
    fs::remove_file(lib.join("liblongmatch.so")).unwrap();
    let program = dir.path("static");
    let link = flags(&["--static", "--cflags", "--libs", "longmatch"]);
    let mut link_static = Command::new(compiler);
    link_static.arg(dir.path("main.c")).args(link).arg("-o").arg(&program);
    succeed(&mut link_static);
    answers(&program, Path::new("/nonexistent"));
}

#[test]
fn cmake_finds_it() {
    if compiler("cc", "cmake").is_none() {
        return;
    }
    if !has("cmake") {
        skipped("cmake", "cmake", "cmake");
        return;
    }
    let file = fs::read_to_string(source("cmake/longmatch-config-version.cmake")).unwrap();
    assert!(file.contains(concat!("\"", env!("CARGO_PKG_VERSION"), "\"")), "{file}");
    let dir = Dir::new("cmake");
    let prefix = installed(&dir);
    let project = "cmake_minimum_required(VERSION 3.13)\nproject(example C)\nfind_package(longmatch 0.1 REQUIRED)\n\
        foreach(kind longmatch longmatch-static)\n  add_executable(with-${kind} main.c)\n  \
        target_link_libraries(with-${kind} longmatch::${kind})\nendforeach()\n";
    fs::write(dir.path("CMakeLists.txt"), project).unwrap();
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(dir.path("")).arg("-B").arg(dir.path("build"));
    succeed(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
    succeed(Command::new("cmake").arg("--build").arg(dir.path("build")));
    for kind in ["longmatch", "longmatch-static"] {
        answers(&dir.path("build").join(format!("with-{kind}")), &prefix.join("lib"));
    }
}

#[test]
fn each_call_has_a_manual_page() {
    if !has("awk") && Command::new("awk").arg("1").arg("/dev/null").status().is_err() {
        skipped("manual pages", "awk", "mawk");
        return;
    }
    let dir = Dir::new("manual");
    let pages = installed(&dir).join("share/man/man3");
    let names = super::abi::declared();
    assert!(names.len() > 40, "{names:?}");
    for name in &names {
        let page = fs::read_to_string(pages.join(format!("{name}.3"))).expect("the page exists");
        assert!(page.contains(&format!("{name}(")) && page.contains("Threads:"), "{page}");
    }
    let other = |name: &str| !name.starts_with("lm_feed_");
    let pages = fs::read_dir(&pages).unwrap().filter_map(Result::ok);
    assert_eq!(
        pages.filter(|page| other(&page.file_name().to_string_lossy())).count(),
        names.len()
    );
}
