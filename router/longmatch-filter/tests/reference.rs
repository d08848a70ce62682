//! The program in the kernel against a slow reference, on random packets of all forms, without an interface.
//!
//! The reference shares no code with the filter: it reads the headers byte by byte and goes through the lists one by one.
//! `LONGMATCH_PROVE=1` makes a million packets; the tests need root and say `skipped` without it.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use longmatch::IpPrefix;
use longmatch_filter::{
    Action, Addresses, Content, Filter, FilterError, Hook, List, Match, Policy, Setup, Total,
};

/// A generator of numbers, the same for every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next() as u8)
    }

    /// An address near others, so that lists have many of them.
    fn address(&mut self, is_ipv4: bool) -> IpAddr {
        if is_ipv4 {
            let address = [
                self.pick(&[10, 192]),
                self.pick(&[0, 168]),
                self.pick(&[0, 1, 255]),
                self.next() as u8,
            ];
            return if self.one_in(20) {
                Ipv4Addr::from(self.bytes()).into()
            } else {
                address.into()
            };
        }
        let mut address: [u8; 16] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for byte in [5, 7, 9, 15] {
            if self.one_in(2) {
                address[byte] = self.pick(&[0, 1, 0x80, 0xff]);
            }
        }
        if self.one_in(20) { Ipv6Addr::from(self.bytes::<16>()).into() } else { address.into() }
    }

    fn prefix(&mut self, is_ipv4: bool) -> IpPrefix {
        let address = self.address(is_ipv4);
        let lengths: &[u8] = if is_ipv4 {
            &[0, 8, 15, 16, 23, 24, 25, 29, 31, 32, 32, 32]
        } else {
            &[0, 32, 47, 48, 56, 64, 65, 96, 120, 127, 128, 128, 128]
        };
        let mut length = self.pick(lengths);
        if length == 0 && !self.one_in(10) {
            length = 24;
        }
        IpPrefix::parse_masked(&format!("{address}/{length}")).unwrap()
    }
}

/// The addresses of an IP packet; `Err(true)` if it is no IP packet, `Err(false)` if its headers cannot be read.
fn parse(frame: &[u8], ethernet: bool) -> Result<[IpAddr; 2], bool> {
    let mut at = 0;
    if ethernet {
        at = 14;
        let mut kind = number(frame, 12)?;
        let mut tags = 0;
        while kind == 0x8100 || kind == 0x88a8 {
            tags += 1;
            if tags > 2 {
                return Err(false);
            }
            kind = number(frame, at + 2)?;
            at += 4;
        }
        match kind {
            0x0800 if frame.get(at).ok_or(false)? >> 4 == 4 => {}
            0x86dd if frame.get(at).ok_or(false)? >> 4 == 6 => {}
            0x0800 | 0x86dd => return Err(false),
            _ => return Err(true),
        }
    }
    let packet = frame.get(at..).ok_or(false)?;
    match packet.first().ok_or(false)? >> 4 {
        4 => {
            let length = usize::from(packet[0] & 15) * 4;
            if length < 20 || packet.len() < length {
                return Err(false);
            }
            let address = |at: usize| <[u8; 4]>::try_from(&packet[at..at + 4]).unwrap().into();
            Ok([address(12), address(16)])
        }
        6 if packet.len() >= 40 => {
            let address = |at: usize| <[u8; 16]>::try_from(&packet[at..at + 16]).unwrap().into();
            Ok([address(8), address(24)])
        }
        _ => Err(false),
    }
}

fn number(frame: &[u8], at: usize) -> Result<u16, bool> {
    let bytes = frame.get(at..at + 2).ok_or(false)?;
    Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// A filter as the reference sees it: prefixes.
#[derive(Clone)]
struct Case {
    setup: Setup,
    /// Prefixes that were added to each list, or removed from it: the last one that has an address counts.
    lists: Vec<Vec<(IpPrefix, bool)>>,
    scope: Vec<IpPrefix>,
    safe: Vec<IpPrefix>,
    own: Vec<IpPrefix>,
}

/// The fate of a packet, and the counts that it adds to.
struct Fate {
    passes: bool,
    /// The lists that have it.
    matched: Vec<usize>,
    /// The list that decides.
    decided: Option<usize>,
    /// Another count: safe, outside the scope, default, other, unknown.
    other: Option<usize>,
}

fn has(prefixes: &[IpPrefix], address: IpAddr) -> bool {
    prefixes.iter().any(|prefix| prefix.covers(IpPrefix::host(address)))
}

fn is_listed(changes: &[(IpPrefix, bool)], address: IpAddr) -> bool {
    let mut latest = changes.iter().rev();
    latest.find(|(prefix, _)| prefix.covers(IpPrefix::host(address))).is_some_and(|it| it.1)
}

/// The addresses after changes of a list.
fn addresses(changes: &[(IpPrefix, bool)]) -> Addresses {
    changes.iter().fold(Addresses::default(), |addresses, (prefix, is_added)| {
        let prefix: Addresses = [*prefix].into_iter().collect();
        if *is_added { addresses.union(&prefix) } else { addresses.difference(&prefix) }
    })
}

/// Whether a change was made; a filter refuses it once its lists have had as many combinations as there is room for.
fn is_made(result: Result<(), FilterError>) -> bool {
    match result {
        Ok(()) => true,
        Err(FilterError::Classes(full)) if full.limit == 64 => false,
        Err(error) => panic!("{error}"),
    }
}

/// Adds a prefix to a list or removes one, by a word of the kernel's table where the filter can. Returns whether it could.
fn change(random: &mut Random, case: &mut Case, filter: &mut Filter) -> bool {
    let is_ipv4 = random.one_in(2);
    let (prefix, is_added) = (random.prefix(is_ipv4), !random.one_in(3));
    let list = random.below(case.lists.len() as u64) as usize;
    case.lists[list].push((prefix, is_added));
    let content = case.content();
    let other: Addresses = [prefix].into_iter().collect();
    let patched = filter.patch(prefix, |near| {
        (near.safe, near.own) = (content.safe.clone(), content.own.clone());
        let before = &near.lists[list];
        near.lists[list] = if is_added { before.union(&other) } else { before.difference(&other) };
    });
    let mut patched_word = false;
    let made = is_made(patched.and_then(|patched| {
        patched_word = patched;
        if patched { Ok(()) } else { filter.replace(&content, |_| Ok(())) }
    }));
    if !made {
        case.lists[list].pop();
    }
    patched_word
}

impl Case {
    fn random(random: &mut Random, hook: Hook) -> Self {
        let count = 1 + random.below(5) as usize;
        let mut actions = vec![Action::Pass, Action::Drop, Action::Drop, Action::Count];
        if hook != Hook::Xdp {
            actions.push(Action::Mark(7));
        }
        let lists = (0..count).map(|n| List { name: n.to_string(), action: random.pick(&actions) });
        let policy = Policy {
            lists: lists.collect(),
            matched: random.pick(&[Match::Source, Match::Destination, Match::Both]),
            scoped: random.one_in(3),
            drop_others: random.one_in(3),
        };
        let setup = Setup {
            hook,
            // Without Ethernet header `run` takes frames for Ethernet in XDP alone.
            ethernet: hook != Hook::Xdp || !random.one_in(4),
            policy,
            drop_unknown: random.one_in(2),
            dry_run: random.one_in(6),
        };
        let mut prefixes = |most: u64| {
            let count = random.below(most + 1);
            (0..count)
                .map(|_| {
                    let is_ipv4 = random.one_in(2);
                    random.prefix(is_ipv4)
                })
                .collect::<Vec<_>>()
        };
        let mut list = || prefixes(40).into_iter().map(|prefix| (prefix, true)).collect();
        let lists = (0..count).map(|_| list()).collect();
        let (scope, mut safe, mut own) = (prefixes(12), prefixes(2), prefixes(2));
        for list in [&mut safe, &mut own] {
            list.retain(|prefix| prefix.len() > 16);
        }
        Self { setup, lists, scope, safe, own }
    }

    fn content(&self) -> Content {
        let all = |prefixes: &Vec<IpPrefix>| prefixes.iter().copied().collect::<Addresses>();
        Content {
            lists: self.lists.iter().map(|changes| addresses(changes)).collect(),
            scope: all(&self.scope),
            safe: all(&self.safe),
            own: all(&self.own),
        }
    }

    fn fate(&self, frame: &[u8]) -> Fate {
        let Setup { policy, drop_unknown, dry_run, .. } = &self.setup;
        let [source, destination] = match parse(frame, self.setup.ethernet) {
            Ok(addresses) => addresses,
            Err(other) => {
                let passes = other || !drop_unknown || *dry_run;
                let other = Some(if other { 3 } else { 4 });
                return Fate { passes, matched: Vec::new(), decided: None, other };
            }
        };
        let addresses = match policy.matched {
            Match::Source => vec![source],
            Match::Destination => vec![destination],
            Match::Both => vec![source, destination],
        };
        let in_list = |list: usize| {
            addresses.iter().any(|it| is_listed(&self.lists[list], *it) && !has(&self.own, *it))
        };
        let matched: Vec<_> = (0..self.lists.len()).filter(|list| in_list(*list)).collect();
        let is_own = policy.matched != Match::Both && has(&self.own, addresses[0]);
        let mut fate = Fate { passes: true, matched, decided: None, other: None };
        if is_own || addresses.iter().any(|it| has(&self.safe, *it)) {
            fate.other = Some(0);
        } else if policy.scoped && !has(&self.scope, destination) {
            fate.other = Some(1);
        } else {
            let first = |is: fn(Action) -> bool| {
                fate.matched.iter().copied().find(|list| is(policy.lists[*list].action))
            };
            let (pass, drop) = (first(|it| it == Action::Pass), first(|it| it == Action::Drop));
            let mark = first(|it| matches!(it, Action::Mark(_)));
            fate.decided = pass.or(drop).or(mark);
            fate.passes = match (pass, drop, mark) {
                (None, Some(_), _) => false,
                (None, None, None) => !policy.drop_others,
                _ => true,
            };
            if fate.decided.is_none() {
                fate.other = Some(2);
            }
        }
        fate.passes |= *dry_run;
        fate
    }
}

/// A frame: mostly whole, sometimes damaged.
fn frame(random: &mut Random, ethernet: bool) -> Vec<u8> {
    let mut frame = Vec::new();
    let is_ipv4 = random.one_in(2);
    let mut kind: u16 = if is_ipv4 { 0x0800 } else { 0x86dd };
    if random.one_in(25) {
        kind = random.pick(&[0x0806, 0x0800, 0x86dd, 0x8847, 0x88cc, 0x0000, 0x0008, 0x9100]);
    }
    if ethernet {
        frame.extend(random.bytes::<12>());
        let tags = if random.one_in(3) { random.below(4) } else { 0 };
        for _ in 0..tags {
            let [a, b] = random.pick(&[0x8100_u16, 0x88a8]).to_be_bytes();
            frame.extend([a, b, random.next() as u8, random.next() as u8]);
        }
        frame.extend(kind.to_be_bytes());
    }
    if is_ipv4 {
        let words = if random.one_in(4) { random.below(16) as u8 } else { 5 };
        let version = if random.one_in(40) { random.below(16) as u8 } else { 4 };
        let mut header = random.bytes::<20>();
        header[0] = version << 4 | words;
        for at in [12, 16] {
            let IpAddr::V4(address) = random.address(true) else { unreachable!("IPv4") };
            header[at..at + 4].copy_from_slice(&address.octets());
        }
        frame.extend(header);
        frame.extend((20..usize::from(words) * 4).map(|_| random.next() as u8));
    } else {
        let mut header = random.bytes::<40>();
        let version = if random.one_in(40) { random.below(16) as u8 } else { 6 };
        header[0] = version << 4 | header[0] & 15;
        // Next headers: hop-by-hop, TCP, UDP, routing, fragment, ICMPv6, none, destination options.
        header[6] = random.pick(&[0, 6, 17, 43, 44, 58, 59, 60]);
        for at in [8, 24] {
            let IpAddr::V6(address) = random.address(false) else { unreachable!("IPv6") };
            header[at..at + 16].copy_from_slice(&address.octets());
        }
        frame.extend(header);
    }
    let payload = random.below(80);
    frame.extend((0..payload).map(|_| random.next() as u8));
    if random.one_in(8) {
        frame.truncate(random.below(frame.len() as u64 + 1) as usize);
    }
    // The kernel runs programs on 14 bytes and more, of tc on 15.
    frame.resize(frame.len().max(15), 0);
    frame
}

/// `None`, after saying why aloud, if this process may not load programs.
fn load(case: &Case) -> Option<Filter> {
    match Filter::load(case.setup.clone(), &case.content()) {
        Ok(filter) => Some(filter),
        Err(FilterError::Bpf(error)) if error.is_permission() => {
            let _ = writeln!(std::io::stderr(), "skipped: runs of the packet program: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Runs packets through filters of a hook, with a replacement of all lists in the middle and changes of single prefixes.
fn check(hook: Hook, seed: u64) {
    let proving = std::env::var_os("LONGMATCH_PROVE").is_some();
    let (filters, packets) = if proving { (500, 2000) } else { (40, 500) };
    let mut random = Random(seed);
    let mut patched = 0;
    for _ in 0..filters {
        let mut case = Case::random(&mut random, hook);
        let Some(mut filter) = load(&case) else { return };
        let (mut lists, mut others) =
            (vec![[Total::default(); 2]; case.lists.len()], [Total::default(); 5]);
        let mut passed = [Total::default(); 2];
        for n in 0..packets {
            if n == packets / 2 {
                let other = Case::random(&mut random, hook);
                let mut next = case.clone();
                next.lists.iter_mut().zip(other.lists).for_each(|(list, other)| *list = other);
                (next.scope, next.own) = (other.scope, other.own);
                if is_made(filter.replace(&next.content(), |_| Ok(()))) {
                    case = next;
                }
            }
            if n % 20 == 19 {
                patched += u32::from(change(&mut random, &mut case, &mut filter));
            }
            let mut frame = frame(&mut random, case.setup.ethernet);
            // For programs of tc, the kernel itself refuses runs on IP packets that are shorter than a header.
            if hook != Hook::Xdp && matches!(number(&frame, 12), Ok(0x0800 | 0x86dd)) {
                frame.resize(frame.len().max(14 + 40), 0);
            }
            let fate = case.fate(&frame);
            assert_eq!(filter.run(&frame).unwrap(), fate.passes, "{:?} {frame:02x?}", case.setup);
            let one = Total { packets: 1, bytes: frame.len() as u64 };
            fate.matched.iter().for_each(|list| lists[*list][0] += one);
            fate.decided.into_iter().for_each(|list| lists[list][1] += one);
            fate.other.into_iter().for_each(|other| others[other] += one);
            passed[usize::from(fate.passes)] += one;
        }
        // Everything that the kernel has, without this machine's addresses, can be read back.
        let (content, written) = (filter.content().unwrap(), case.content());
        for (read, written) in content.lists.iter().zip(&written.lists) {
            let ipv4 = written.ipv4.difference(&case.content().own.ipv4);
            let ipv6 = written.ipv6.difference(&case.content().own.ipv6);
            assert_eq!((&read.ipv4, &read.ipv6), (&ipv4, &ipv6));
        }
        if case.setup.policy.scoped {
            assert_eq!(content.scope, written.scope);
        }
        let counts = filter.counts().unwrap();
        let counted: Vec<_> = counts.lists.iter().map(|it| [it.matched, it.decided]).collect();
        assert_eq!(counted, lists, "{:?}", case.setup);
        let counted =
            [counts.safe, counts.outside_scope, counts.default, counts.other, counts.unknown];
        assert_eq!(counted, others, "{:?}", case.setup);
        // A dry run counts as if packets were dropped.
        if !case.setup.dry_run {
            assert_eq!([counts.dropped, counts.passed], passed, "{:?}", case.setup);
        }
    }
    assert!(patched > filters, "{patched}");
}

#[test]
fn xdp_decides_and_counts_as_the_reference() {
    check(Hook::Xdp, 0x5eed_0001);
}

#[test]
fn tc_decides_and_counts_as_the_reference() {
    check(Hook::Ingress, 0x5eed_0002);
}

/// The clock of the program cannot be set: the bounds hold whatever the time between two packets.
#[test]
fn a_limit_passes_its_rate_and_a_tenth_of_a_second_at_once() {
    const RATE: u32 = 100;
    let lists = [Action::Limit(RATE), Action::Limit(1_000_000_000)];
    let lists = lists.map(|action| List { name: format!("{action:?}"), action });
    let policy =
        Policy { lists: lists.to_vec(), matched: Match::Source, scoped: false, drop_others: false };
    let (ethernet, drop_unknown, dry_run) = (true, false, false);
    let setup = Setup { hook: Hook::Xdp, ethernet, policy, drop_unknown, dry_run };
    let list = |text: &str| vec![(IpPrefix::parse_or_host(text).unwrap(), true)];
    let lists = vec![list("10.0.0.1"), list("10.0.0.2")];
    let case = Case { setup, lists, scope: Vec::new(), safe: Vec::new(), own: Vec::new() };
    let Some(filter) = load(&case) else { return };
    let packet = |source: u8| {
        let mut frame = vec![0; 14 + 20];
        frame[12..15].copy_from_slice(&[8, 0, 0x45]);
        frame[26..30].copy_from_slice(&[10, 0, 0, source]);
        frame
    };
    let mut sent = 0;
    for _ in 0..3 {
        let start = std::time::Instant::now();
        let passed = (0..500).filter(|_| filter.run(&packet(1)).unwrap()).count() as f64;
        sent += 500;
        let allowed = f64::from(RATE) * start.elapsed().as_secs_f64();
        // Each CPU has a bucket, and the test may move from one to another.
        let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        assert!(passed >= 11.0 && passed <= cpus * (allowed + 12.0), "{passed} of {allowed}");
        // The buckets are full again.
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    assert!((0..100).all(|_| filter.run(&packet(2)).unwrap()), "a rate that no packets exceed");
    assert!((0..100).all(|_| filter.run(&packet(3)).unwrap()), "no list");
    let counts = filter.counts().unwrap();
    let [slow, fast] = [counts.lists[0], counts.lists[1]];
    assert_eq!(
        (slow.matched.packets, slow.decided.packets, fast.decided.packets),
        (sent, sent, 100)
    );
    assert_eq!((counts.dropped, fast.over.packets), (slow.over, 0));
    assert_eq!(counts.passed.packets, sent - slow.over.packets + 200);
}
