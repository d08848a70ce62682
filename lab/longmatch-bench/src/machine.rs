//! The machine, the build and the date of a measurement.

use core::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use longmatch::simd::{Microarch, Simd};

/// A description of the machine, the build and the date.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The model of the CPU, or `unknown CPU`.
    pub cpu: String,
    /// The microarchitecture: the name of a [`Microarch`].
    pub microarch: &'static str,
    /// CPUs that this process may use.
    pub cpus: usize,
    /// Names of the SIMD levels of the CPU, lowest first.
    pub simd: Vec<&'static str>,
    /// Architecture and operating system, for example `x86_64 linux`.
    pub target: String,
    /// Instruction sets that the compiler could use everywhere, such as `avx2`.
    ///
    /// Empty in a default build, which selects them at run time.
    pub target_features: Vec<&'static str>,
    /// Whether debug assertions are enabled, so that rates are not meaningful.
    pub debug: bool,
    /// The date of [`now`].
    pub date: String,
}

impl Machine {
    /// Describes this machine and this build.
    pub fn here() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            cpu: cpu_model(&cpuinfo).unwrap_or("unknown CPU").to_owned(),
            microarch: Microarch::here().name(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            simd: Simd::available().map(|simd| simd.level().name()).collect(),
            target: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
            target_features: target_features(),
            debug: cfg!(debug_assertions),
            date: now(),
        }
    }

    /// The profile and the target of the build, as text.
    pub fn build(&self) -> String {
        let features = match &self.target_features[..] {
            [] => "baseline".to_owned(),
            some => some.join("+"),
        };
        let profile = if self.debug { "DEBUG build" } else { "release build" };
        format!("{profile} for {} ({features})", self.target)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, microarch, cpus, simd, date, .. } = self;
        let best = simd.last().unwrap_or(&"portable");
        let s = if *cpus == 1 { "" } else { "s" };
        let microarch = match *microarch {
            "other" => String::new(),
            known => format!(" ({known})"),
        };
        write!(f, "{cpu}{microarch}, {cpus} CPU{s}, {best}; {}; {date}", self.build())
    }
}

/// The CPU model in the text of `/proc/cpuinfo`.
fn cpu_model(cpuinfo: &str) -> Option<&str> {
    let value = |name| {
        let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(field, _)| field.trim() == name).map(|(_, value)| value.trim())
    };
    ["model name", "Model", "cpu model", "uarch"].into_iter().find_map(value)
}

/// The enabled features that affect lookups, beyond the architecture's baseline.
fn target_features() -> Vec<&'static str> {
    let all = [
        ("popcnt", cfg!(target_feature = "popcnt")),
        ("bmi2", cfg!(target_feature = "bmi2")),
        ("avx2", cfg!(target_feature = "avx2")),
        ("avx512f", cfg!(target_feature = "avx512f")),
        ("avx512vbmi", cfg!(target_feature = "avx512vbmi")),
        ("sve", cfg!(target_feature = "sve")),
    ];
    all.into_iter().filter_map(|(name, enabled)| enabled.then_some(name)).collect()
}

/// The time as `2026-01-31 12:00 UTC`; `unknown date` if the clock is before 1970.
pub fn now() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or_else(|_| "unknown date".to_owned(), |elapsed| date(elapsed.as_secs()))
}

/// Formats seconds since 1970 as `2026-01-31 12:00 UTC`.
fn date(seconds: u64) -> String {
    let (mut days, minutes) = (seconds / 86_400, seconds / 60 % 1440);
    let (mut year, mut month) = (1970_u64, 1);
    loop {
        let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
        let length = match month {
            2 => 28 + u64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        if days < length {
            break;
        }
        days -= length;
        (year, month) = (year + month / 12, month % 12 + 1);
    }
    let (day, hour, minute) = (days + 1, minutes / 60, minutes % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from `date -u -d @SECONDS`.
    #[test]
    fn dates_follow_the_gregorian_calendar() {
        let all = [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
            (1_735_689_600, "2025-01-01 00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ];
        for (seconds, text) in all {
            assert_eq!(date(seconds), text);
        }
    }

    #[test]
    fn cpuinfo_has_the_cpu_model() {
        let text = "processor\t: 0\nmodel\t\t: 2\nmodel name\t: Some CPU: fast\nflags\t: a b\n";
        assert_eq!(cpu_model(text), Some("Some CPU: fast"));
        assert_eq!(cpu_model("processor : 0\nModel : Some Board\n"), Some("Some Board"));
        assert_eq!(cpu_model(""), None);
    }

    #[test]
    fn display_has_cpu_build_and_date() {
        let machine = Machine {
            cpu: "Some CPU".into(),
            microarch: "zen4",
            cpus: 2,
            simd: vec!["portable", "avx2"],
            target: "x86_64 linux".into(),
            target_features: Vec::new(),
            debug: false,
            date: date(0),
        };
        let wanted = "Some CPU (zen4), 2 CPUs, avx2; release build for x86_64 linux (baseline); \
                      1970-01-01 00:00 UTC";
        assert_eq!(machine.to_string(), wanted);
        assert!(Machine::here().simd.contains(&"portable"));
    }
}
