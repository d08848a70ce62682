//! The devices to open, and the arguments of DPDK's environment that follow from them.

use std::ffi::CString;

use super::error::DpdkError;

/// What [`Dpdk::open`](super::Dpdk::open) opens.
///
/// ```
/// use longmatch_forward::io::dpdk::DpdkOptions;
/// let mut options = DpdkOptions::new(["net_null0,size=64", "net_null1,size=64"]);
/// options.workers = 2;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DpdkOptions {
    /// The ports, each as DPDK's device arguments: a name, and arguments of its driver after
    /// commas.
    ///
    /// A name is that of a virtual device (a driver's name and a suffix, such as `net_null0`) or the
    /// address of a PCI device (such as `0000:03:00.0`).
    pub devices: Vec<String>,
    /// The ways to the kernel: none, or a device for each port in the order of `devices`, such as
    /// `net_tap0,iface=port0`.
    pub kernel: Vec<String>,
    /// Threads that receive and send; 1 unless it is set.
    pub workers: u16,
    /// Descriptors of each queue, which is the number of packets that it holds; 1024 unless it is
    /// set. Drivers may take more or fewer.
    pub descriptors: u16,
    /// Memory for packets in MiB; 256 unless it is set.
    pub memory_mib: u32,
    /// Whether the memory is huge pages, which the administrator must have reserved; otherwise
    /// ordinary pages. PCI devices without an IOMMU need huge pages.
    pub huge_pages: bool,
    /// More arguments of the environment (EAL), such as `--log-level=pmd:debug`.
    pub eal: Vec<String>,
}

impl DpdkOptions {
    /// These ports with one worker, on ordinary pages.
    pub fn new(devices: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            devices: devices.into_iter().map(Into::into).collect(),
            kernel: Vec::new(),
            workers: 1,
            descriptors: 1024,
            memory_mib: 256,
            huge_pages: false,
            eal: Vec::new(),
        }
    }

    /// Refuses what DPDK would not, or not with a clear message.
    pub(super) fn check(&self) -> Result<(), DpdkError> {
        let bad = |option, reason: String| Err(DpdkError::BadOption { option, reason });
        if self.devices.is_empty() {
            return bad("devices", "at least one is needed".into());
        }
        if !self.kernel.is_empty() && self.kernel.len() != self.devices.len() {
            let (kernel, ports) = (self.kernel.len(), self.devices.len());
            return bad("kernel", format!("{kernel} devices for {ports} ports; give one for each"));
        }
        if self.all_devices().count() > MAX_PORTS {
            return bad("devices", format!("DPDK has at most {MAX_PORTS} ports"));
        }
        for (place, device) in self.all_devices().enumerate() {
            let name = device_name(device);
            if name.is_empty() || name.contains(char::is_whitespace) {
                return bad("devices", format!("`{device}` does not start with a name"));
            }
            if self.all_devices().take(place).any(|before| device_name(before) == name) {
                return bad("devices", format!("`{name}` is there twice"));
            }
        }
        for (option, value, max) in [
            ("workers", self.workers, MAX_WORKERS),
            ("descriptors", self.descriptors, MAX_DESCRIPTORS),
        ] {
            if value == 0 || value > max {
                return bad(option, format!("{value} is not between 1 and {max}"));
            }
        }
        for (option, texts) in
            [("devices", &self.devices), ("kernel", &self.kernel), ("eal", &self.eal)]
        {
            if let Some(text) = texts.iter().find(|text| text.contains('\0')) {
                return bad(option, format!("`{}` contains a NUL character", text.escape_debug()));
            }
        }
        Ok(())
    }

    /// The ports, then the ways to the kernel.
    pub(super) fn all_devices(&self) -> impl Iterator<Item = &String> {
        self.devices.iter().chain(&self.kernel)
    }

    /// The command line of the environment, on this CPU.
    pub(super) fn arguments(&self, cpu: i32) -> Vec<CString> {
        let mut arguments = vec![
            "longmatch".into(),
            // One thread of DPDK's, which is the one that opens it; workers are the caller's.
            format!("--lcores=0@{cpu}"),
            "--no-telemetry".into(),
            "--log-level=error".into(),
            "-m".into(),
            self.memory_mib.to_string(),
        ];
        // Either way, DPDK leaves no files, and other processes that use it do not matter.
        if self.huge_pages {
            arguments.push("--in-memory".into());
        } else {
            // DPDK refuses `--in-memory` with `--no-huge`, which is in memory anyway.
            arguments.extend(["--no-huge", "--no-shconf"].map(String::from));
        }
        let pci: Vec<_> = self.all_devices().filter(|device| is_pci(device)).collect();
        if pci.is_empty() {
            arguments.push("--no-pci".into());
        }
        // Allowed devices are the only ones that DPDK takes from the kernel.
        arguments.extend(pci.into_iter().flat_map(|device| ["-a".into(), device.clone()]));
        arguments.extend(self.eal.iter().cloned());
        // `check` refused NUL characters, so that no argument is left out.
        arguments.into_iter().filter_map(|argument| CString::new(argument).ok()).collect()
    }
}

/// RTE_MAX_ETHPORTS of DPDK's usual configuration.
const MAX_PORTS: usize = 32;

/// DPDK's usual limit of threads (RTE_MAX_LCORE), less the one that opens it.
const MAX_WORKERS: u16 = 127;

/// More descriptors than any driver takes; ports, workers and descriptors fit into 32 bits.
const MAX_DESCRIPTORS: u16 = 32768;

/// The name in device arguments.
pub(super) fn device_name(device: &str) -> &str {
    device.split_once(',').map_or(device, |(name, _)| name)
}

/// Whether the name is a PCI address: `[domain:]bus:device.function` in hexadecimal.
fn is_pci(device: &str) -> bool {
    let hexadecimal = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
    let Some((slot, function)) = device_name(device).rsplit_once('.') else { return false };
    slot.contains(':') && slot.split(':').all(hexadecimal) && hexadecimal(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(change: impl FnOnce(&mut DpdkOptions)) -> String {
        let mut options = DpdkOptions::new(["net_null0", "net_null1,size=64"]);
        assert!(options.check().is_ok());
        change(&mut options);
        options.check().unwrap_err().to_string()
    }

    #[test]
    fn bad_options_are_named() {
        assert_eq!(reason(|o| o.devices.clear()), "option `devices`: at least one is needed");
        assert_eq!(
            reason(|o| o.devices.push("net_null1".into())),
            "option `devices`: `net_null1` is there twice"
        );
        assert_eq!(
            reason(|o| o.devices.push(",size=64".into())),
            "option `devices`: `,size=64` does not start with a name"
        );
        assert_eq!(reason(|o| o.workers = 0), "option `workers`: 0 is not between 1 and 127");
        assert_eq!(
            reason(|o| o.descriptors = 40000),
            "option `descriptors`: 40000 is not between 1 and 32768"
        );
        assert_eq!(
            reason(|o| o.eal.push("a\0b".into())),
            "option `eal`: `a\\0b` contains a NUL character"
        );
        assert_eq!(
            reason(|o| o.kernel = vec!["net_tap0".into()]),
            "option `kernel`: 1 devices for 2 ports; give one for each"
        );
        assert_eq!(
            reason(|o| o.kernel = vec!["net_tap0".into(), "net_null1".into()]),
            "option `devices`: `net_null1` is there twice"
        );
        let many = || (0..33).map(|i| format!("net_null{i}")).collect();
        assert_eq!(reason(|o| o.devices = many()), "option `devices`: DPDK has at most 32 ports");
    }

    #[test]
    fn pci_is_scanned_only_for_pci_devices() {
        assert!(is_pci("0000:03:00.0") && is_pci("3:00.1,arg=1") && is_pci("af:1f.7"));
        assert!(!is_pci("net_null0") && !is_pci("net_pcap0,rx_pcap=a:b.c") && !is_pci("03.0"));
        let arguments = |device| {
            let arguments = DpdkOptions::new([device]).arguments(3);
            let arguments = arguments.iter().map(|a| a.to_str().unwrap());
            arguments.collect::<Vec<_>>().join(" ")
        };
        assert!(arguments("net_null0").ends_with("--no-huge --no-shconf --no-pci"));
        assert!(
            arguments("0000:03:00.0,a=1").ends_with("--no-huge --no-shconf -a 0000:03:00.0,a=1")
        );
        assert!(arguments("net_null0").starts_with("longmatch --lcores=0@3 --no-telemetry"));
    }
}
