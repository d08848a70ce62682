//! Measures filters of a list beside nftables, ipset and the kernel's LPM trie: loading, replacement, packets a second.
//!
//! usage (root): `cargo run --release -p longmatch-filter --example filters -- [ENTRIES...]`
//!
//! The list has random prefixes of /24 to /32. Packets of 60 bytes go through a pair of virtual interfaces, in a network
//! namespace of this process, from one thread; half of their sources are in the list, and all filters drop these. The rate
//! is that of sending: on such interfaces the sender's processor does the receiver's work. `nft` and `ipset` are left out
//! where they are not installed.

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn main() {}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[path = "../../longmatch-forward/tests/network/wire.rs"]
#[allow(dead_code, reason = "the tests of the forwarder need the other parts")]
mod wire;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn main() {
    let entries: Vec<usize> = std::env::args().skip(1).map(|it| it.parse().unwrap()).collect();
    let entries = if entries.is_empty() { vec![1_000, 100_000, 1_000_000] } else { entries };
    linux::measure(&entries);
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    use std::fmt::Write;
    use std::process::Command;
    use std::time::{Duration, Instant};

    use longmatch::{IpPrefix, Ipv4, Prefix};
    use longmatch_bpf::asm::{Assembler, If, R0, R1, R2, STACK, Width};
    use longmatch_bpf::sys::{Link, Map, MapKind, MapSpec, Program, ProgramKind};
    use longmatch_filter::{
        Action, Addresses, Content, Hook, List, Match, Policy, Running, Setup, Start, XdpMode,
    };

    use super::wire::{Wire, index, ip};

    const PACKETS: usize = 1 << 10;

    fn random(state: &mut u64) -> u32 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 24) as u32
    }

    pub fn measure(entries: &[usize]) {
        // SAFETY: a system call without pointers; the process has one thread.
        assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNET) }, 0, "no network namespace");
        ip("link add f0 type veth peer name p0");
        ip("link set p0 up");
        ip("link set f0 up");
        let wire = Wire::open("p0");
        println!("entries\tfilter\tload, CPU ms\treplace, CPU ms\tMpps");
        for count in entries {
            let mut state = 0x9e37_79b9_7f4a_7c15;
            let prefixes: Vec<Prefix<Ipv4>> = (0..*count)
                .map(|_| {
                    let (bits, length) = (random(&mut state), 24 + random(&mut state) % 9);
                    // 1.0.0.0 to 223.255.255.255: ipset refuses others.
                    Prefix::from_bits_masked(bits % 0xdf00_0000 + 0x0100_0000, length as u8)
                })
                .collect();
            let frames: Vec<Vec<u8>> = (0..PACKETS)
                .map(|n| {
                    let listed = prefixes[random(&mut state) as usize % count].first();
                    frame(if n % 2 == 0 { listed } else { random(&mut state) })
                })
                .collect();
            let rate = || rate(&wire, &frames);
            let line = |name: &str, load: Duration, replace: Option<Duration>, rate: f64| {
                let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
                let replace = replace.map_or("-".to_owned(), ms);
                println!("{count}\t{name}\t{}\t{replace}\t{rate:.3}", ms(load));
            };
            line("none", Duration::ZERO, None, rate());
            for mode in [XdpMode::Native, XdpMode::Generic] {
                let (running, load, replace) = longmatch(&prefixes, mode);
                line(&format!("longmatch, XDP {mode:?}"), load, Some(replace), rate());
                println!("\t\t{:?}", running.filter().counts().unwrap().dropped);
            }
            let (trie, load) = trie(&prefixes);
            line("LPM trie, XDP Native", load, None, rate());
            drop(trie);
            if let Some([load, replace]) = nft(&prefixes) {
                line("nft set, netdev ingress", load, Some(replace), rate());
                run("nft", &["delete", "table", "netdev", "t"]);
            }
            if let Some([load, replace]) = ipset(&prefixes) {
                // Sets of ipset have no hook before iptables: no rate beside the others.
                line("ipset hash:net", load, Some(replace), f64::NAN);
                run("ipset", &["destroy", "t"]);
            }
        }
    }

    fn frame(source: u32) -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[..15].copy_from_slice(&[2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0, 0x45]);
        frame[16..18].copy_from_slice(&46_u16.to_be_bytes());
        frame[22..24].copy_from_slice(&[64, 17]);
        frame[26..30].copy_from_slice(&source.to_be_bytes());
        frame
    }

    /// The processor time of this process and of those that it has waited for. Other processes of the machine matter little.
    fn cpu() -> Duration {
        let time = |who| {
            // SAFETY: the structure has only numbers, for which 0 is a value.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            // SAFETY: the structure is that of the call, and alive.
            assert_eq!(unsafe { libc::getrusage(who, &raw mut usage) }, 0);
            let [user, system] = [usage.ru_utime, usage.ru_stime]
                .map(|it| Duration::new(it.tv_sec as u64, it.tv_usec as u32 * 1000));
            user + system
        };
        time(libc::RUSAGE_SELF) + time(libc::RUSAGE_CHILDREN)
    }

    /// Millions of packets a second: the fastest of the passes over all frames in two seconds, so that other processes of the
    /// machine matter little.
    fn rate(wire: &Wire, frames: &[Vec<u8>]) -> f64 {
        let (begin, mut fastest) = (Instant::now(), 0.0_f64);
        while begin.elapsed() < Duration::from_secs(2) {
            let pass = Instant::now();
            let sent = frames.iter().filter(|frame| wire.try_send(frame).is_ok()).count();
            fastest = fastest.max(sent as f64 / pass.elapsed().as_secs_f64() / 1e6);
        }
        fastest
    }

    fn longmatch(prefixes: &[Prefix<Ipv4>], mode: XdpMode) -> (Running, Duration, Duration) {
        let lists = vec![List { name: "listed".to_owned(), action: Action::Drop }];
        let policy = Policy { lists, matched: Match::Source, scoped: false, drop_others: false };
        let start = Start {
            interface: "f0".to_owned(),
            setup: Setup {
                hook: Hook::Xdp,
                ethernet: true,
                policy,
                drop_unknown: false,
                dry_run: false,
            },
            mode,
            files: vec![String::new()],
            scope_file: None,
            safety: None,
            confirm: None,
            pins: None,
        };
        let content = || {
            let all = prefixes.iter().copied().map(IpPrefix::V4).collect::<Addresses>();
            Content { lists: vec![all], ..Content::default() }
        };
        let begin = cpu();
        let mut running = Running::start(start, &content()).unwrap();
        let (load, begin) = (cpu() - begin, cpu());
        running.replace(&content()).unwrap();
        (running, load, cpu() - begin)
    }

    /// The same decision by an LPM trie, in a program without anything else.
    fn trie(prefixes: &[Prefix<Ipv4>]) -> ((Map, Link), Duration) {
        let begin = cpu();
        let spec = MapSpec::new(MapKind::LpmTrie, "trie", 4, prefixes.len() as u32);
        let map = Map::create(&MapSpec { key_size: 8, ..spec }).unwrap();
        for prefix in prefixes {
            let (length, address) =
                (u32::from(prefix.len()).to_ne_bytes(), prefix.first().to_be_bytes());
            map.insert(&[length, address].concat(), &[1; 4]).unwrap();
        }
        let load = cpu() - begin;
        let mut asm = Assembler::default();
        let pass = asm.label();
        asm.load(R2, R1, 0, Width::Four);
        asm.load(R1, R1, 4, Width::Four);
        asm.copy(R0, R2);
        asm.add(R0, 34);
        asm.jump_if_register(R0, If::Greater, R1, pass);
        asm.load(R2, R2, 26, Width::Four);
        asm.store_immediate(STACK, -8, 32, Width::Four);
        asm.store(STACK, -4, R2, Width::Four);
        asm.look_up(map.descriptor(), -8);
        asm.jump_by_null(If::Equal, pass);
        asm.set(R0, 1);
        asm.exit();
        asm.place(pass);
        asm.set(R0, 2);
        asm.exit();
        let program = Program::load(ProgramKind::Xdp, "trie", &asm.finish().unwrap()).unwrap();
        ((map, Link::attach_xdp(&program, index("f0"), true).unwrap()), load)
    }

    fn run(program: &str, words: &[&str]) -> Option<()> {
        let output = Command::new(program).args(words).output().ok()?;
        let error = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            eprintln!("{program}: {}", error.lines().next().unwrap_or_default());
        }
        output.status.success().then_some(())
    }

    /// Runs a file of commands twice: the times of the first load and of the replacement.
    fn twice(program: &str, words: &[&str], [first, second]: [String; 2]) -> Option<[Duration; 2]> {
        let path = std::env::temp_dir().join(format!("longmatch-filters-{}", std::process::id()));
        let name = path.to_str()?.to_owned();
        let mut times = [Duration::ZERO; 2];
        for (time, text) in times.iter_mut().zip([first, second]) {
            std::fs::write(&path, text).ok()?;
            let begin = cpu();
            let ran = run(program, &[words, &[&name]].concat());
            *time = cpu() - begin;
            ran?;
        }
        std::fs::remove_file(&path).ok()?;
        Some(times)
    }

    fn nft(prefixes: &[Prefix<Ipv4>]) -> Option<[Duration; 2]> {
        let mut elements = String::new();
        for prefix in prefixes {
            let _ = write!(elements, "{prefix},");
        }
        let add = format!("add element netdev t s {{ {elements} }}\n");
        let first = "add table netdev t\nadd set netdev t s { type ipv4_addr; flags interval; auto-merge; }\n\
                     add chain netdev t c { type filter hook ingress device f0 priority 0; }\n\
                     add rule netdev t c ip saddr @s drop\n";
        twice("nft", &["-f"], [format!("{first}{add}"), format!("flush set netdev t s\n{add}")])
    }

    fn ipset(prefixes: &[Prefix<Ipv4>]) -> Option<[Duration; 2]> {
        let [first, second] = ["t", "u"].map(|name| {
            let mut text = format!("create {name} hash:net maxelem {}\n", prefixes.len());
            for prefix in prefixes {
                let _ = writeln!(text, "add {name} {prefix} -exist");
            }
            text
        });
        let second = second + "swap t u\ndestroy u\n";
        twice("sh", &["-c", "ipset restore < \"$0\""], [first, second])
    }
}
