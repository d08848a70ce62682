//! The next hops of the kernel's `ip route get` beside the neighbours that really get the packets of the forwarder.

use std::collections::HashMap;
use std::io::Write;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use std::{env, iter};

use super::child::Forwarder;
use super::flow::{number, numbered};
use super::net::{Net, Space};
use super::wire::Wire;
use crate::frames::Mac;

/// The longest time until the router follows changes of a large table.
const PATIENCE: Duration = Duration::from_secs(120);

/// The number of the next packet: no two of a process are the same.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Whether the tests are to run in their full form, which takes minutes.
pub fn is_full() -> bool {
    env::var_os("LONGMATCH_PROVE").is_some()
}

/// Prints a line, which the test harness would hide if `println!` wrote it.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The Ethernet addresses that the router's kernel would send packets of host A to.
fn kernels(router: &Space, addresses: &[IpAddr]) -> Vec<Option<Mac>> {
    let shown = router.ip("neigh");
    // ADDRESS dev DEVICE lladdr ETHERNET-ADDRESS STATE
    let neighbours = shown.lines().filter_map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        let bytes = words.get(4)?.split(':').map(|byte| u8::from_str_radix(byte, 16).ok());
        Some(([words[0], words[2]], bytes.collect::<Option<Vec<_>>>()?.try_into().ok()?))
    });
    let neighbours: HashMap<[&str; 2], Mac> = neighbours.collect();
    let question = |address: &IpAddr| {
        let from = if address.is_ipv4() { "10.0.1.2" } else { "2001:db8:1::2" };
        format!("route get {address} from {from} iif ra\n")
    };
    let answers = router.answers(&addresses.iter().map(question).collect::<String>());
    let answers = String::from_utf8(answers.stdout).unwrap();
    // ADDRESS from ADDRESS [via ADDRESS] dev DEVICE ..., for unicast routes only.
    let hops = answers.lines().filter_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let address: IpAddr = words.first()?.parse().ok()?;
        let after = |name| words.iter().skip_while(|&&word| word != name).nth(1).copied();
        let hop = [after("via").unwrap_or(words[0]), after("dev")?];
        Some((address, *neighbours.get(&hop)?))
    });
    let hops: HashMap<_, _> = hops.collect();
    addresses.iter().map(|address| hops.get(address).copied()).collect()
}

/// Receives all frames that are there; calls `take` with the receiver and the place among the packets from `first` on.
/// Returns the number of packets.
fn receive(wires: &[Wire; 2], first: u32, mut take: impl FnMut(Mac, usize)) -> usize {
    let mut count = 0;
    for frame in wires.iter().flat_map(|wire| iter::from_fn(|| wire.receive())) {
        if let Some((mac, number)) = number(&frame).filter(|&(_, number)| number >= first) {
            take(mac, (number - first) as usize);
            count += 1;
        }
    }
    count
}

/// Sends a packet of host A to each address; returns the Ethernet address at which each arrives. Packets that should
/// arrive, but do not, are sent again: queues of a busy machine may be full.
pub fn arrivals(net: &Net, addresses: &[IpAddr], expected: &[Option<Mac>]) -> Vec<Option<Mac>> {
    let wires = [net.a.wire("ea"), net.b.wire("eb")];
    let mut arrived = vec![None; addresses.len()];
    let mut to_send: Vec<_> = (0..addresses.len()).collect();
    for _ in 0..3 {
        let mut missing = to_send.len();
        let first = NEXT.fetch_add(to_send.len() as u32, SeqCst);
        let mut take = |mac, place: usize| {
            let before = arrived[to_send[place]].replace(mac);
            assert_eq!(before, None, "a packet to {} arrived twice", addresses[to_send[place]]);
        };
        let numbers: Vec<_> = to_send.iter().zip(first..).collect();
        for some in numbers.chunks(16) {
            for &(&place, number) in some {
                // It is lost if the router's interface is down.
                let _ = wires[0].try_send(&numbered(addresses[place], number));
            }
            sleep(Duration::from_millis(1));
            missing -= receive(&wires, first, &mut take);
        }
        let end = Instant::now() + Duration::from_millis(300);
        while missing > 0 && Instant::now() < end {
            sleep(Duration::from_millis(1));
            missing -= receive(&wires, first, &mut take);
        }
        to_send.retain(|&place| arrived[place].is_none() && expected[place].is_some());
    }
    arrived
}

/// Compares the neighbours that get packets with those that the kernel names: the addresses where they differ, the
/// kernel's neighbour and the real one, `None` for no neighbour. Each of the routes to the addresses must have one next
/// hop, and must not change meanwhile.
pub fn compare(net: &Net, addresses: &[IpAddr]) -> Vec<(IpAddr, [Option<Mac>; 2])> {
    let kernels = kernels(&net.router, addresses);
    let arrived = arrivals(net, addresses, &kernels);
    let hops = kernels.into_iter().zip(arrived).map(<[_; 2]>::from);
    let all = addresses.iter().copied().zip(hops);
    all.filter(|(_, [kernel, arrived])| kernel != arrived).collect()
}

/// Waits until there are no differences, and checks that there are none from then on, and that the forwarder left no
/// packets to the kernel but those for addresses without a neighbour, of which `least` have one.
pub fn agree((net, forwarder): (&Net, &Forwarder), addresses: &[IpAddr], least: usize, what: &str) {
    let (began, count) = (Instant::now(), addresses.len());
    let mut found = compare(net, addresses);
    let first = found.len();
    while !found.is_empty() {
        assert!(began.elapsed() < PATIENCE, "{what}: {} differ: {:02x?}", found.len(), found[0]);
        found = compare(net, addresses);
    }
    let (took, before) = (began.elapsed(), forwarder.passed_on());
    let found = compare(net, addresses);
    assert!(found.is_empty(), "{what}: {} differ again: {:02x?}", found.len(), found[0]);
    let known = kernels(&net.router, addresses).iter().flatten().count();
    let passed_on = forwarder.passed_on() - before;
    say(&format!(
        "{what}: 0 of {count} differ ({first} at first, compared for {took:.1?}), {known} are forwarded"
    ));
    assert!(known >= least && passed_on <= (count - known) as u64, "{what}: {known} {passed_on}");
}

/// What became of a stream of packets.
#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
pub struct Stream {
    pub sent: usize,
    pub arrived: usize,
    /// The longest time without an arrival, and the largest number of consecutive packets that did not arrive.
    pub gap: Duration,
    pub lost: usize,
}

/// Sends 1,000 packets a second from host A to the addresses in turn, while other work is done; returns its result too.
pub fn during<T>(net: &Net, addresses: &[IpAddr], work: impl FnOnce() -> T) -> (T, Stream) {
    thread::scope(|scope| {
        // Ends also when the work panics.
        let (working, ended) = channel();
        let flow = scope.spawn(move || stream(net, addresses, &ended));
        let result = work();
        drop(working);
        (result, flow.join().unwrap())
    })
}

/// Sends until the other end of the channel is gone.
fn stream(net: &Net, addresses: &[IpAddr], ended: &Receiver<()>) -> Stream {
    let wires = [net.a.wire("ea"), net.b.wire("eb")];
    // No other packets have the numbers from here on, for hours.
    let first = NEXT.fetch_add(1 << 24, SeqCst);
    let (began, mut gap, mut last) = (Instant::now(), Duration::ZERO, None);
    let (mut arrived, mut end) = (Vec::new(), None);
    while end.is_none_or(|end| Instant::now() < end) {
        while end.is_none() && arrived.len() < began.elapsed().as_millis() as usize {
            let address = addresses[arrived.len() % addresses.len()];
            let _ = wires[0].try_send(&numbered(address, first + arrived.len() as u32));
            arrived.push(false);
        }
        let is_last = end.is_none() && ended.try_recv() == Err(TryRecvError::Disconnected);
        end = if is_last { Some(Instant::now() + Duration::from_millis(500)) } else { end };
        sleep(Duration::from_millis(1));
        receive(&wires, first, |_, place| {
            assert!(!std::mem::replace(&mut arrived[place], true), "a packet arrived twice");
            let now = Instant::now();
            gap = last.replace(now).map_or(gap, |last| gap.max(now - last));
        });
    }
    let lost = arrived.split(|&arrived| arrived).map(<[bool]>::len).max().unwrap();
    Stream { sent: arrived.len(), arrived: arrived.iter().filter(|&&it| it).count(), gap, lost }
}
