//! The frequency of the CPUs, where the system lets it be set (cpufreq of Linux).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the CPUs.
pub(crate) const CPUS: &str = "/sys/devices/system/cpu";
/// Frequencies at which rates are measured, at most.
const PLACES: usize = 5;
const GOVERNOR: &str = "userspace";

/// The CPUs with a frequency of our choice. Dropping it gives the choice back to the system.
pub(crate) struct Frequency {
    /// The folder of each CPU, and its governor before.
    cpus: Vec<(PathBuf, String)>,
    /// The frequencies to choose from, in kHz, ascending.
    pub choices: Vec<u64>,
}

impl Frequency {
    /// Takes over the frequency of all CPUs.
    ///
    /// # Errors
    /// If the system does not let it be set: the reason.
    pub fn take(cpus: &Path) -> Result<Self, String> {
        let folders = folders(cpus);
        let Some(first) = folders.first() else {
            return Err(format!(
                "the frequency of its CPUs cannot be set (there is no {}/cpu0/cpufreq, as in a virtual machine)",
                cpus.display()
            ));
        };
        let choices = choices(first)?;
        let mut it = Self { cpus: Vec::new(), choices };
        for folder in folders {
            let governor = folder.join("scaling_governor");
            let taken = fs::read_to_string(&governor).and_then(|before| {
                fs::write(&governor, GOVERNOR).map(|()| before.trim().to_owned())
            });
            match taken {
                Ok(before) => it.cpus.push((folder, before)),
                Err(error) => {
                    return Err(format!(
                        "{} cannot be set to {GOVERNOR}: {error} (run as root, with the driver acpi-cpufreq)",
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
    /// If the system refuses it.
    pub fn set(&self, khz: u64) -> io::Result<()> {
        self.cpus
            .iter()
            .try_for_each(|(cpu, _)| fs::write(cpu.join("scaling_setspeed"), khz.to_string()))
    }
}

impl Drop for Frequency {
    fn drop(&mut self) {
        for (cpu, before) in &self.cpus {
            // Nobody is left to whom a failure could be reported.
            let _ = fs::write(cpu.join("scaling_governor"), before);
        }
    }
}

fn folders(cpus: &Path) -> Vec<PathBuf> {
    let folder = |cpu: usize| cpus.join(format!("cpu{cpu}")).join("cpufreq");
    (0..).map(folder).take_while(|folder| folder.join("scaling_setspeed").exists()).collect()
}

/// The frequencies that the driver lists; otherwise evenly from the lowest to the highest.
fn choices(cpu: &Path) -> Result<Vec<u64>, String> {
    let read = |name: &str| fs::read_to_string(cpu.join(name)).unwrap_or_default();
    let listed = read("scaling_available_frequencies");
    let mut all: Vec<u64> = listed.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    if all.is_empty() {
        let ends =
            ["cpuinfo_min_freq", "cpuinfo_max_freq"].map(|name| read(name).trim().parse::<u64>());
        let [Ok(low), Ok(high)] = ends else {
            return Err(format!("{} states no frequencies", cpu.display()));
        };
        let steps = PLACES as u64 - 1;
        all = (0..=steps).map(|i| low + (high - low.min(high)) * i / steps).collect();
    }
    all.sort_unstable();
    all.dedup();
    let count = all.len().min(PLACES);
    Ok((0..count).map(|i| all[i * (all.len() - 1) / (count - 1).max(1)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder like that of the system, with two CPUs.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let path =
                std::env::temp_dir().join(format!("longmatch-{name}-{}", std::process::id()));
            for cpu in ["cpu0", "cpu1"] {
                let folder = path.join(cpu).join("cpufreq");
                fs::create_dir_all(&folder).unwrap();
                for (file, text) in files {
                    fs::write(folder.join(file), text).unwrap();
                }
            }
            Self(path)
        }

        fn read(&self, cpu: &str, file: &str) -> String {
            fs::read_to_string(self.0.join(cpu).join("cpufreq").join(file)).unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_frequency_is_set_and_given_back() {
        let folder = Folder::new(
            "cpufreq",
            &[
                ("scaling_governor", "ondemand\n"),
                ("scaling_setspeed", "<unsupported>\n"),
                (
                    "scaling_available_frequencies",
                    "2100000 1900000 1700000 1500000 1300000 1200000 1000000 \n",
                ),
            ],
        );
        let frequency = Frequency::take(&folder.0).unwrap();
        assert_eq!(frequency.choices, [1_000_000, 1_200_000, 1_500_000, 1_700_000, 2_100_000]);
        frequency.set(1_500_000).unwrap();
        for cpu in ["cpu0", "cpu1"] {
            assert_eq!(folder.read(cpu, "scaling_governor"), "userspace");
            assert_eq!(folder.read(cpu, "scaling_setspeed"), "1500000");
        }
        drop(frequency);
        assert_eq!(folder.read("cpu1", "scaling_governor"), "ondemand");
    }

    #[test]
    fn frequencies_that_are_not_listed_are_spread_evenly() {
        let ends = [("cpuinfo_min_freq", "800000\n"), ("cpuinfo_max_freq", "1600000\n")];
        let mut files = vec![("scaling_governor", "x"), ("scaling_setspeed", "0")];
        files.extend(ends);
        let folder = Folder::new("cpufreq-ends", &files);
        let choices = Frequency::take(&folder.0).unwrap().choices.clone();
        assert_eq!(choices, [800_000, 1_000_000, 1_200_000, 1_400_000, 1_600_000]);
    }

    #[test]
    fn a_machine_without_it_says_so() {
        let reason = Frequency::take(Path::new("/nonexistent")).err().unwrap();
        assert!(reason.contains("/nonexistent/cpu0/cpufreq"), "{reason}");
        let folder = Folder::new("cpufreq-none", &[("scaling_setspeed", "0")]);
        let reason = Frequency::take(&folder.0).err().unwrap();
        assert!(reason.contains("states no frequencies"), "{reason}");
    }
}
