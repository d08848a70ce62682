//! The sizes of the packet programs: a kernel refuses a program of which its verifier follows more than a million
//! instructions on all paths.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use std::io::Write;

use longmatch_filter::{Content, Filter, FilterError, Hook, Match, Policy, Setup};

#[test]
fn programs_are_far_below_the_limits_of_the_verifier() {
    for hook in [Hook::Xdp, Hook::Ingress, Hook::Egress] {
        for matched in [Match::Source, Match::Both] {
            let policy = Policy { lists: vec![], matched, scoped: false, drop_others: false };
            let setup = Setup { hook, ethernet: true, policy, drop_unknown: false, dry_run: false };
            let filter = match Filter::load(setup, &Content::default()) {
                Ok(filter) => filter,
                Err(FilterError::Bpf(error)) if error.is_permission() => {
                    let _ = writeln!(std::io::stderr(), "skipped: sizes of programs: {error}");
                    return;
                }
                Err(error) => panic!("{error}"),
            };
            let [instructions, verified] = filter.size().unwrap();
            // 3,230 and 4,620 with Linux 6.18; they depend on the kernel.
            assert!(
                instructions > 0 && instructions < 5_000,
                "{hook:?} {matched:?}: {instructions}"
            );
            assert!(verified < 20_000, "{hook:?} {matched:?}: {verified}");
        }
    }
}
