//! `cargo xtask test`: every test, from a fresh clone, with nothing to install by hand.

use std::process::Command;

use crate::Outcome;
use crate::asm;
use crate::cpu;
use crate::page;
use crate::peers;
use crate::report::Report;
use crate::sanitize;
use crate::workspace::{cargo, longmatch};

/// Runs every test and returns whether all passed.
pub fn run() -> Outcome {
    cpu::print_levels();
    let mut report = Report::default();
    // Without `--no-fail-fast` the first test program that fails would hide the others.
    report.command("tests, workspace", &mut cargo("test --workspace --no-fail-fast"));
    build_without_std(&mut report);
    // The small universe takes minutes, and nothing that it proves depends on features.
    let once = "-- --skip every_ipv4_table_agrees --skip every_ipv6_table_agrees";
    for (name, features) in [
        ("tests, longmatch without default features", "--no-default-features"),
        ("tests, longmatch with all features", "--all-features"),
    ] {
        report.command(
            name,
            &mut cargo(&format!("test --package longmatch --no-fail-fast {features} {once}")),
        );
    }
    // The quick form of the slow proof; `cargo xtask prove` has the full one.
    report.command("all engines agree on both embedded tables", &mut longmatch("verify"));
    asm::step(&mut report, asm::Mode::Check);
    sanitize::steps(&mut report);
    page::sample(&mut report);
    page::made(&mut report);
    peers::steps(&mut report, &[]);
    // Again, because the first lines have long scrolled away.
    println!();
    cpu::print_levels();
    Ok(report.finish())
}

/// Builds the library as `no_std`, for this machine and for each bare-metal target that is installed.
///
/// The build for this machine would not notice a crate in the tree that quietly needs `std`; a target that has none does.
fn build_without_std(report: &mut Report) {
    let build = "build --package longmatch --no-default-features";
    report.command("no_std build, this machine", &mut cargo(build));
    match bare_metal_targets() {
        Ok(targets) if targets.is_empty() => report.skip(
            "no_std build, bare metal",
            "no bare-metal target is installed (`rustup target add x86_64-unknown-none`)",
        ),
        Ok(targets) => {
            for target in targets {
                let name = format!("no_std build, {target}");
                report.command(&name, &mut cargo(&format!("{build} --target {target}")));
            }
        }
        Err(why) => report.skip("no_std build, bare metal", &why),
    }
}

/// The installed targets that have no operating system, or why they cannot be listed.
fn bare_metal_targets() -> Result<Vec<String>, String> {
    let output = Command::new("rustup").args(["target", "list", "--installed"]).output().map_err(
        |error| format!("rustup does not run ({error}), so the installed targets are unknown"),
    )?;
    if !output.status.success() {
        return Err(format!("`rustup target list --installed` ended with {}", output.status));
    }
    let listing = String::from_utf8_lossy(&output.stdout);
    Ok(listing.lines().filter(|target| is_bare_metal(target)).map(str::to_owned).collect())
}

/// Whether a target triple names no operating system, as in `x86_64-unknown-none` and `thumbv7em-none-eabihf`.
fn is_bare_metal(target: &str) -> bool {
    target.split('-').skip(1).any(|part| part == "none")
}

#[cfg(test)]
mod tests {
    use super::is_bare_metal;

    #[test]
    fn bare_metal_targets_are_told_from_others() {
        assert!(is_bare_metal("x86_64-unknown-none"));
        assert!(is_bare_metal("thumbv7em-none-eabihf"));
        assert!(is_bare_metal("riscv64gc-unknown-none-elf"));
        assert!(!is_bare_metal("x86_64-unknown-linux-gnu"));
        assert!(!is_bare_metal("wasm32-unknown-unknown"));
        assert!(!is_bare_metal(""));
    }
}
