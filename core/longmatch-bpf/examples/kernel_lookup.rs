//! Lookups in the kernel: tables of this crate against BPF's LPM trie, in one run.
//!
//! ```text
//! kernel_lookup FILE [ROUTES...]     FILE: lines of a prefix and a next hop, all IPv4 or all IPv6
//!                                    ROUTES: sizes of random samples of them, 0 for all
//! ```
//!
//! Addresses are random, inside random routes, or inside routes by Zipf's law; each lookup waits for the answer before, or not.
//! The programs take turns; the figures are medians of 7 with their extremes, in nanoseconds with the loop, whose own time
//! is the first. Sums of all answers are compared. Building, loading and filling are processor times.

#[cfg(target_os = "linux")]
#[path = "../tests/harness/mod.rs"]
mod harness;

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("the example needs Linux");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::path::Path;
    use std::time::Duration;

    use super::harness::{Arrays, BATCH_BITS, Lookup, Random, Tested, read, trie};
    use longmatch::{Bits, Ipv4, Ipv6, Rib, Route};
    use longmatch_bpf::{BuildError, KernelTable, Version, Versions};

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let mut args = std::env::args().skip(1);
        let file = args.next().ok_or("usage: kernel_lookup FILE [ROUTES...]")?;
        let mut sizes: Vec<usize> = args.map(|size| size.parse()).collect::<Result<_, _>>()?;
        if sizes.is_empty() {
            sizes.push(0);
        }
        let path = Path::new(&file);
        let started = cpu();
        let v4 = read::<Ipv4>(path, 255);
        if v4.is_empty() {
            let v6 = read::<Ipv6>(path, 255);
            println!("{}: {} routes, read in {:.0?}", file, v6.len(), (cpu() - started));
            let empty = Rib::new();
            return sizes.iter().try_for_each(|size| {
                measure(&v6, *size, |rib| KernelTable::build(&[(&empty, rib)]))
            });
        }
        println!("{}: {} routes, read in {:.0?}", file, v4.len(), (cpu() - started));
        let empty = Rib::new();
        sizes
            .iter()
            .try_for_each(|size| measure(&v4, *size, |rib| KernelTable::build(&[(rib, &empty)])))
    }

    /// Measures a sample of a table.
    fn measure<F: Tested>(
        all: &Rib<F>,
        size: usize,
        build: impl Fn(&Rib<F>) -> Result<KernelTable, BuildError>,
    ) -> Result<(), Box<dyn Error>> {
        let mut random = Random(3);
        let rib: Rib<F> = match size {
            0 => all.clone(),
            _ => {
                let mut sample: Vec<Route<F>> = all.iter().collect();
                while sample.len() > size {
                    sample.swap_remove(random.below(sample.len()));
                }
                sample.into_iter().collect()
            }
        };
        let started = cpu();
        let table = build(&rib)?;
        let built = cpu() - started;
        let version = Version::load("example", &table)?;
        let loaded = cpu() - started - built;
        let versions = Versions::new("examples", &version)?;
        let before = free();
        let started = cpu();
        let trie = trie(&rib)?;
        let filled = cpu() - started;
        println!(
            "{} routes: built in {built:.1?}, loaded in {loaded:.1?}, {:.2} MiB in use of {}; trie filled in {filled:.1?}, about {} MiB",
            rib.len(),
            table.used_bytes() as f64 / f64::from(1 << 20),
            table.shape().value_size() >> 20,
            before.saturating_sub(free()) >> 10,
        );
        let arrays = Arrays::new()?;
        let lookups = [
            Lookup::Nothing,
            Lookup::Direct(&version),
            Lookup::Replaced(&versions),
            Lookup::Trie(&trie),
        ];
        for (traffic, keys) in traffic(&rib, &mut random) {
            arrays.set_keys::<F>(&keys);
            for waits in [false, true] {
                let line = compare::<F>(&arrays, &lookups, waits, keys.len())?;
                println!(
                    "{traffic:7} {:11} {line}",
                    if waits { "each waits" } else { "independent" }
                );
            }
        }
        Ok(())
    }

    /// Runs the programs in turn: their times in words.
    fn compare<F: Tested>(
        arrays: &Arrays,
        lookups: &[Lookup<'_>],
        waits: bool,
        count: usize,
    ) -> Result<String, Box<dyn Error>> {
        let programs: Vec<_> = lookups
            .iter()
            .map(|lookup| arrays.program::<F>(*lookup, waits, false))
            .collect::<Result<_, _>>()?;
        // The first runs warm the caches up.
        let sums: Vec<_> = programs[1..].iter().map(|it| arrays.run::<F>(it, count).1).collect();
        if sums.iter().any(|sum| *sum != sums[0]) {
            return Err(format!("the answers differ: {sums:?}").into());
        }
        let mut times = vec![Vec::new(); programs.len()];
        for _ in 0..7 {
            for (program, times) in programs.iter().zip(&mut times) {
                times.push(arrays.run::<F>(program, count).0);
            }
        }
        times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        let names = ["loop", "direct", "replaced", "trie"];
        let words = names.iter().zip(&times).map(|(name, times)| {
            format!("{name} {:.1} ({:.1}-{:.1})", times[3], times[0], times[6])
        });
        let words: Vec<_> = words.collect();
        Ok(format!("{}; trie / direct {:.1}", words.join(", "), times[3][3] / times[1][3]))
    }

    /// The kinds of traffic, with their addresses.
    fn traffic<F: Tested>(rib: &Rib<F>, random: &mut Random) -> [(&'static str, Vec<F::Bits>); 3] {
        let routes: Vec<Route<F>> = rib.iter().collect();
        let count = 1 << BATCH_BITS;
        let mut any = || F::Bits::from_u128(random.addr() >> (128 - u32::from(F::Bits::WIDTH)));
        let anywhere: Vec<_> = (0..count).map(|_| any()).collect();
        let mut inside =
            |route: Route<F>| route.prefix.first() | any() & !F::Bits::mask(route.prefix.len());
        let mut numbers = Random(7);
        let routed: Vec<_> =
            (0..count).map(|_| inside(routes[numbers.below(routes.len())])).collect();
        // The ranks of Zipf's law with exponent 1, by the inverse of its continuous form.
        let zipf = (0..count).map(|_| {
            let uniform = numbers.next() as f64 / u64::MAX as f64;
            routed[((routed.len() as f64).powf(uniform) - 1.0) as usize % routed.len()]
        });
        let zipf = zipf.collect();
        [("random", anywhere), ("routed", routed), ("zipf", zipf)]
    }

    /// The processor time of this thread, which is not longer on a busy machine.
    fn cpu() -> Duration {
        // The kernel then counts up to now.
        std::thread::yield_now();
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let first = text.split_whitespace().next().and_then(|first| first.parse().ok());
        Duration::from_nanos(first.unwrap_or(0))
    }

    /// Free memory of the machine in KiB.
    fn free() -> u64 {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("MemFree"));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }
}
