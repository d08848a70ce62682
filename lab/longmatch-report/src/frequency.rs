//! Setting the frequency of the CPUs (cpufreq of Linux).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The system's directory of CPUs.
pub(crate) const CPUS: &str = "/sys/devices/system/cpu";
/// Maximum number of frequencies at which rates are measured.
const MAX_CHOICES: usize = 5;
const GOVERNOR: &str = "userspace";

/// Control of the CPUs' frequency; returned to the system when dropped.
pub(crate) struct Frequency {
    /// The cpufreq directory of each CPU, and its previous governor.
    cpus: Vec<(PathBuf, String)>,
    /// The frequencies to measure at, in kHz, in ascending order.
    pub choices: Vec<u64>,
}

impl Frequency {
    /// Takes control of the frequency of all CPUs.
    ///
    /// # Errors
    /// If the frequency cannot be set; the message states the reason.
    pub fn take(cpus: &Path) -> Result<Self, String> {
        let dirs = cpufreq_dirs(cpus);
        let Some(first) = dirs.first() else {
            return Err(format!(
                "the frequency of its CPUs cannot be set (no {}/cpu0/cpufreq, as in a virtual machine)",
                cpus.display()
            ));
        };
        let choices = choices(first)?;
        let mut it = Self { cpus: Vec::new(), choices };
        for dir in dirs {
            let governor = dir.join("scaling_governor");
            let taken = fs::read_to_string(&governor).and_then(|before| {
                fs::write(&governor, GOVERNOR).map(|()| before.trim().to_owned())
            });
            match taken {
                Ok(before) => it.cpus.push((dir, before)),
                Err(error) => {
                    return Err(format!(
                        "{} cannot be set to {GOVERNOR}: {error}; run as root, with the driver acpi-cpufreq",
                        governor.display()
                    ));
                }
            }
        }
        Ok(it)
    }

    /// Sets the frequency of all CPUs, in kHz.
    ///
    /// # Errors
    /// If the system refuses the frequency.
    pub fn set(&self, khz: u64) -> io::Result<()> {
        self.cpus
            .iter()
            .try_for_each(|(cpu, _)| fs::write(cpu.join("scaling_setspeed"), khz.to_string()))
    }
}

impl Drop for Frequency {
    fn drop(&mut self) {
        for (cpu, before) in &self.cpus {
            // Best effort: drop cannot report an error.
            let _ = fs::write(cpu.join("scaling_governor"), before);
        }
    }
}

fn cpufreq_dirs(cpus: &Path) -> Vec<PathBuf> {
    let dir = |cpu: usize| cpus.join(format!("cpu{cpu}")).join("cpufreq");
    (0..).map(dir).take_while(|dir| dir.join("scaling_setspeed").exists()).collect()
}

/// Chooses from the frequencies that the driver lists, or evenly between the lowest and the highest.
fn choices(cpu: &Path) -> Result<Vec<u64>, String> {
    let read = |name: &str| fs::read_to_string(cpu.join(name)).unwrap_or_default();
    let listed = read("scaling_available_frequencies");
    let mut all: Vec<u64> = listed.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    if all.is_empty() {
        let ends =
            ["cpuinfo_min_freq", "cpuinfo_max_freq"].map(|name| read(name).trim().parse::<u64>());
        let [Ok(low), Ok(high)] = ends else {
            return Err(format!("{} lists no frequencies", cpu.display()));
        };
        let steps = MAX_CHOICES as u64 - 1;
        all = (0..=steps).map(|i| low + (high - low.min(high)) * i / steps).collect();
    }
    all.sort_unstable();
    all.dedup();
    let count = all.len().min(MAX_CHOICES);
    Ok((0..count).map(|i| all[i * (all.len() - 1) / (count - 1).max(1)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a directory like the system's, with two CPUs.
    fn cpus(files: &[(&str, &str)]) -> tempfile::TempDir {
        let cpus = tempfile::tempdir().unwrap();
        for cpu in ["cpu0", "cpu1"] {
            let dir = cpus.path().join(cpu).join("cpufreq");
            fs::create_dir_all(&dir).unwrap();
            files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
        }
        cpus
    }

    #[test]
    fn the_frequency_is_set_and_returned() {
        let listed = "2100000 1900000 1700000 1500000 1300000 1200000 1000000 \n";
        let cpus = cpus(&[
            ("scaling_governor", "ondemand\n"),
            ("scaling_setspeed", "<unsupported>\n"),
            ("scaling_available_frequencies", listed),
        ]);
        let read = |cpu: &str, file: &str| {
            fs::read_to_string(cpus.path().join(cpu).join("cpufreq").join(file)).unwrap()
        };
        let frequency = Frequency::take(cpus.path()).unwrap();
        assert_eq!(frequency.choices, [1_000_000, 1_200_000, 1_500_000, 1_700_000, 2_100_000]);
        frequency.set(1_500_000).unwrap();
        for cpu in ["cpu0", "cpu1"] {
            assert_eq!(read(cpu, "scaling_governor"), "userspace");
            assert_eq!(read(cpu, "scaling_setspeed"), "1500000");
        }
        drop(frequency);
        assert_eq!(read("cpu1", "scaling_governor"), "ondemand");
    }

    #[test]
    fn unlisted_frequencies_are_spread_evenly() {
        let cpus = cpus(&[
            ("scaling_governor", "x"),
            ("scaling_setspeed", "0"),
            ("cpuinfo_min_freq", "800000\n"),
            ("cpuinfo_max_freq", "1600000\n"),
        ]);
        let choices = Frequency::take(cpus.path()).unwrap().choices.clone();
        assert_eq!(choices, [800_000, 1_000_000, 1_200_000, 1_400_000, 1_600_000]);
    }

    #[test]
    fn a_missing_cpufreq_is_an_error() {
        let reason = Frequency::take(Path::new("/nonexistent")).err().unwrap();
        assert!(reason.contains("/nonexistent/cpu0/cpufreq"), "{reason}");
        let cpus = cpus(&[("scaling_setspeed", "0")]);
        let reason = Frequency::take(cpus.path()).err().unwrap();
        assert!(reason.contains("lists no frequencies"), "{reason}");
    }
}
