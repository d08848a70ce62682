//! Options of the linker for the shared library of Linux.

use std::env;
use std::fs;
use std::path::PathBuf;

/// The number of the ABI; docs/stability.md says when it rises.
const ABI: u32 = 0;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name, value| env::var(name).is_ok_and(|found| found == value);
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        return;
    }
    // `longmatch-capi` and `longmatch-feed-capi`.
    let package = env::var("CARGO_PKG_NAME").expect("cargo sets it");
    let name = format!("lib{}.so.{ABI}", package.trim_end_matches("-capi"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    // The unwinder, linked statically: the standard library asks for the shared one, which would be a dependency beside
    // the C library. The linker finds this file first, and reads it as a script.
    fs::write(out.join("libgcc_s.so"), "INPUT(-lgcc_eh -lgcc -lc)\n").expect("OUT_DIR is writable");
    for option in [
        format!("-L{}", out.display()),
        format!("-Wl,-soname,{name}"),
        // The linker that gives each symbol a version: the soname. rustc's own list of symbols excludes a second list.
        "-fuse-ld=bfd".into(),
        "-Wl,--default-symver".into(),
    ] {
        println!("cargo:rustc-cdylib-link-arg={option}");
    }
}
