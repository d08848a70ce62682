//! Which SIMD levels this machine can exercise.

/// The library's levels, each with the CPU features that it has beyond the level before it.
///
/// A copy of the list in the library's module `simd`: these commands must run even if the library does not compile.
const LEVELS: [(&str, &[&str]); 4] = [
    ("portable", &[]),
    ("scalar", &["popcnt", "lzcnt", "bmi1", "bmi2"]),
    ("avx2", &["avx2"]),
    (
        "avx512",
        &[
            "avx512f",
            "avx512bw",
            "avx512cd",
            "avx512dq",
            "avx512vl",
            "avx512vbmi",
            "avx512vpopcntdq",
        ],
    ),
];

/// Prints each SIMD level and whether this machine can exercise it, so that a passed run does not claim too much.
pub fn print_levels() {
    println!("SIMD levels of this machine ({}):", std::env::consts::ARCH);
    for line in describe(has) {
        println!("  {line}");
    }
}

/// Returns one line for each level: exercised, or the missing features.
fn describe(has: impl Fn(&str) -> bool) -> Vec<String> {
    let mut missing: Vec<&str> = Vec::new();
    let describe = |(name, features): (&str, &[&'static str])| {
        // A level includes the levels before it, so it also lacks their missing features.
        missing.extend(features.iter().filter(|feature| !has(feature)));
        if missing.is_empty() {
            format!("{name:<8}  exercised")
        } else {
            format!("{name:<8}  NOT EXERCISED: this CPU has no {}", missing.join(", "))
        }
    };
    LEVELS.into_iter().map(describe).collect()
}

/// Returns whether this CPU has a feature of [`LEVELS`].
#[cfg(target_arch = "x86_64")]
fn has(feature: &str) -> bool {
    // The detecting macro takes only literals.
    macro_rules! detect {
        ($($name:tt)*) => {
            match feature {
                $($name => std::is_x86_feature_detected!($name),)*
                // A test queries every feature of `LEVELS`.
                _ => unreachable!("{feature} is in LEVELS but is not detected here"),
            }
        };
    }
    detect!("popcnt" "lzcnt" "bmi1" "bmi2" "avx2" "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"
        "avx512vbmi" "avx512vpopcntdq")
}

/// Elsewhere the level `scalar` is the same as `portable`, and the others have no kernels.
#[cfg(not(target_arch = "x86_64"))]
fn has(feature: &str) -> bool {
    LEVELS[1].1.contains(&feature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_needs_its_own_features_and_those_before_it() {
        let lines = describe(|feature| feature != "bmi2");
        assert_eq!(lines[0], "portable  exercised");
        assert_eq!(lines[1], "scalar    NOT EXERCISED: this CPU has no bmi2");
        assert_eq!(lines[3], "avx512    NOT EXERCISED: this CPU has no bmi2");
        assert!(describe(|_| true).iter().all(|line| line.ends_with(" exercised")));
    }

    #[test]
    fn every_feature_has_its_detection() {
        for feature in LEVELS.iter().flat_map(|(_, features)| *features) {
            // Must not panic; the answer depends on the machine.
            has(feature);
        }
    }
}
