//! The machine, the system and the build, as the page states them.

use std::fs;
use std::path::Path;

use longmatch_bench::gigahertz;
use longmatch_bench::machine::Machine;
use longmatch_bench::ticks::Counter;

use crate::claim::Facts;
use crate::inputs::Inputs;

/// The system's directory of the caches of a CPU.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// CPU flags of instructions that lookups can use.
const FLAGS: [&str; 12] = [
    "popcnt",
    "bmi1",
    "bmi2",
    "avx2",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512_vbmi",
    "avx512vbmi",
    "avx512_vpopcntdq",
    "gfni",
    "rdtscp",
];

/// Describes the machine, its system and this build as pairs of name and value. Takes some milliseconds.
pub(crate) fn environment() -> Vec<(String, String)> {
    let machine = Machine::here();
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let unknown = || "unknown".to_owned();
    let virtual_machine = match flags(&cpuinfo).any(|flag| flag == "hypervisor") {
        true => " (a virtual machine)",
        false => "",
    };
    let best = (0..5).map(|_| gigahertz()).fold(0.0, f64::max);
    let simd = machine.simd.last().copied().unwrap_or("portable");
    vec![
        pair("CPU", format!("{}{}{virtual_machine}", machine.cpu, model(&cpuinfo))),
        pair("microarchitecture", machine.microarch),
        pair("CPUs for this process", machine.cpus.to_string()),
        pair("frequency", format!("about {best:.2} GHz, measured")),
        pair("caches", in_words(&caches(Path::new(CACHES)))),
        pair("flags", known_flags(&cpuinfo)),
        pair("instructions", simd),
        pair("transparent huge pages", huge_pages().unwrap_or_else(unknown)),
        pair("memory", memory().unwrap_or_else(unknown)),
        pair("system", system().unwrap_or_else(|| machine.target.clone())),
        pair("longmatch", format!("{}, {}", env!("CARGO_PKG_VERSION"), machine.build())),
        pair("compiler", env!("LONGMATCH_COMPILER")),
        pair("commit", env!("LONGMATCH_COMMIT")),
        pair("date", machine.date),
    ]
}

/// Returns the facts of the machine and the inputs on which claims depend.
pub(crate) fn facts(inputs: &Inputs) -> Facts {
    let mut facts = Facts::new();
    let mut note =
        |name: &str, value: Option<f64>| facts.extend(value.map(|value| (name.to_owned(), value)));
    let caches = caches(Path::new(CACHES));
    note("cores", cores().map(|cores| cores as f64));
    note("L2", bytes(&caches, "2"));
    note("L3", bytes(&caches, "3"));
    note("GHz", Some((0..5).map(|_| gigahertz()).fold(0.0, f64::max)));
    note("AVX2", Some(if Machine::here().simd.contains(&"avx2") { 1.0 } else { 0.0 }));
    let counter = Counter::here();
    note("clock step", Some(counter.step as f64 * counter.cycles_per_tick));
    if let Some(trace) = &inputs.trace {
        note("ipv4 packets", Some(trace.ipv4.len() as f64));
        note("ipv6 packets", Some(trace.ipv6.len() as f64));
    }
    note("real updates", inputs.updates.as_ref().map(|_| 1.0));
    facts
}

/// Returns the number of physical cores; hardware threads of one core count once.
fn cores() -> Option<usize> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let siblings = |cpu: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        fs::read_to_string(path).ok()
    };
    let mut all = (0..cpus).map(siblings).collect::<Option<Vec<_>>>()?;
    all.sort_unstable();
    all.dedup();
    Some(all.len())
}

fn pair(name: &str, value: impl Into<String>) -> (String, String) {
    (name.into(), value.into())
}

/// Returns family and model number of the CPU: a virtual machine may shorten the model's name.
fn model(cpuinfo: &str) -> String {
    let field = |name: &str| {
        let mut pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(own, _)| own.trim() == name).map(|(_, value)| value.trim())
    };
    let numbers = field("cpu family").zip(field("model"));
    numbers.map_or_else(String::new, |(family, model)| format!(", family {family}, model {model}"))
}

fn flags(cpuinfo: &str) -> impl Iterator<Item = &str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("flags"));
    line.and_then(|line| line.split_once(':')).map_or("", |(_, flags)| flags).split_whitespace()
}

fn known_flags(cpuinfo: &str) -> String {
    let known: Vec<_> = flags(cpuinfo).filter(|flag| FLAGS.contains(flag)).collect();
    if known.is_empty() { "none known".into() } else { known.join(" ") }
}

/// Reads the level, the kind, the size and the CPUs of each cache from the system's directory of them.
fn caches(dir: &Path) -> Vec<[String; 4]> {
    let cache = |i: usize| {
        let read = |name: &str| {
            let text = fs::read_to_string(dir.join(format!("index{i}")).join(name)).ok()?;
            Some(text.trim().to_owned())
        };
        let cpus = read("shared_cpu_list").unwrap_or_default();
        Some([read("level")?, read("type")?, read("size")?, cpus])
    };
    (0..).map_while(cache).collect()
}

/// Returns the size of the cache of a level, in bytes.
fn bytes(caches: &[[String; 4]], level: &str) -> Option<f64> {
    let [_, _, size, _] = caches.iter().find(|it| it[0] == level)?;
    Some(size.strip_suffix('K')?.parse::<f64>().ok()? * 1024.0)
}

/// Lists caches, such as `L1d 48 KiB, L2 1 MiB`.
fn in_words(caches: &[[String; 4]]) -> String {
    let cache = |[level, kind, size, cpus]: &[String; 4]| {
        let kind = match &kind[..] {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        let size = size.replace('K', " KiB").replace('M', " MiB");
        let shared = match cpus.contains([',', '-']) {
            true => format!(" shared by CPUs {cpus}"),
            false => String::new(),
        };
        format!("L{level}{kind} {size}{shared}")
    };
    match caches.is_empty() {
        true => "unknown".into(),
        false => caches.iter().map(cache).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the mode of transparent huge pages: `madvise` of `always [madvise] never`.
fn huge_pages() -> Option<String> {
    let text = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn memory() -> Option<String> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(format!("{:.1} GiB", kib / (1 << 20) as f64))
}

fn system() -> Option<String> {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    Some(format!("Linux {}", kernel.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_flags_are_listed() {
        let text = "processor : 0\nflags\t\t: fpu popcnt avx2 hypervisor other\nbugs: x\n";
        assert_eq!(known_flags(text), "popcnt avx2");
        assert!(flags(text).any(|flag| flag == "hypervisor"));
        assert_eq!(known_flags("nothing"), "none known");
    }

    #[test]
    fn models_have_numbers() {
        let text = "processor : 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: X\n";
        assert_eq!(model(text), ", family 6, model 207");
        assert_eq!(model("nothing"), "");
    }

    #[test]
    fn caches_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        for (i, (level, kind, size, cpus)) in
            [("1", "Data", "48K", "0"), ("3", "Unified", "32768K", "0-1")].iter().enumerate()
        {
            let index = dir.path().join(format!("index{i}"));
            fs::create_dir_all(&index).unwrap();
            let files =
                [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", cpus)];
            for (name, text) in files {
                fs::write(index.join(name), format!("{text}\n")).unwrap();
            }
        }
        let caches = caches(dir.path());
        assert_eq!(in_words(&caches), "L1d 48 KiB, L3 32768 KiB shared by CPUs 0-1");
        assert_eq!((bytes(&caches, "3"), bytes(&caches, "2")), (Some(f64::from(32 << 20)), None));
        assert_eq!(in_words(&[]), "unknown");
    }

    #[test]
    fn every_circumstance_has_a_value() {
        let all = environment();
        assert!(all.iter().all(|(_, value)| !value.is_empty()), "{all:?}");
        assert!(all.iter().any(|it| it.0 == "longmatch"));
    }
}
