//! The next hops of the kernel's `ip route get` beside the neighbours that really get the packets of the forwarder.

use std::collections::HashMap;
use std::env;
use std::io::Write;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use super::flow::{number, numbered};
use super::net::{Net, Space};
use super::wire::Wire;
use crate::forward::frames::Mac;

/// The longest time until the router follows changes of a large table.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a packet is sent before it counts as not forwarded: queues of a busy machine may be full.
const ATTEMPTS: usize = 3;

/// The number of the next packet: no two of a process are the same.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// An address whose packets do not go to the neighbour that the kernel names. `None` stands for no neighbour.
#[derive(Debug)]
#[expect(dead_code, reason = "printed in the message of a failed test")]
pub struct Difference {
    address: IpAddr,
    kernel: Option<Mac>,
    arrived: Option<Mac>,
}

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
    let mac = |text: &str| -> Option<Mac> {
        let bytes = text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok());
        bytes.collect::<Option<Vec<u8>>>()?.try_into().ok()
    };
    // ADDRESS dev DEVICE lladdr ETHERNET-ADDRESS STATE
    let shown = router.ip("neigh");
    let lines = shown.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let neighbours: HashMap<(IpAddr, String), Mac> = lines
        .filter(|words| words.get(3) == Some(&"lladdr"))
        .filter_map(|words| Some(((words[0].parse().ok()?, words[2].to_owned()), mac(words[4])?)))
        .collect();
    let question = |address: &IpAddr| {
        let from = if address.is_ipv4() { "10.0.1.2" } else { "2001:db8:1::2" };
        format!("route get {address} from {from} iif ra\n")
    };
    let answers = router.answers(&addresses.iter().map(question).collect::<String>());
    // ADDRESS from ADDRESS [via [inet6] ADDRESS] dev DEVICE ..., for unicast routes only.
    let hop = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let address: IpAddr = words.first()?.parse().ok()?;
        let after = |name| words.iter().position(|&word| word == name).map(|place| place + 1);
        let via = after("via").map(|at| words[at].parse().or_else(|_| words[at + 1].parse()));
        let key = (via.unwrap_or(Ok(address)).unwrap(), words[after("dev")?].to_owned());
        Some((address, neighbours.get(&key).copied()))
    };
    let text = String::from_utf8(answers.stdout).unwrap();
    let hops: HashMap<_, _> = text.lines().filter_map(hop).collect();
    addresses.iter().map(|address| hops.get(address).copied().flatten()).collect()
}

/// Receives all frames that are there; calls `take` with the receiver and the place among the packets from `first` on.
fn receive(wires: &[Wire; 2], first: u32, mut take: impl FnMut(Mac, usize)) {
    for wire in wires {
        while let Some(frame) = wire.receive() {
            if let Some((mac, number)) = number(&frame)
                && let Some(place) = number.checked_sub(first)
            {
                take(mac, place as usize);
            }
        }
    }
}

fn wires(net: &Net) -> [Wire; 2] {
    [net.a.wire("ea"), net.b.wire("eb")]
}

/// Sends a packet of host A to each address; returns the Ethernet address at which each arrives. Packets that should
/// arrive, but do not, are sent again.
pub fn arrivals(net: &Net, addresses: &[IpAddr], expected: &[Option<Mac>]) -> Vec<Option<Mac>> {
    let wires = wires(net);
    let mut arrived = vec![None; addresses.len()];
    let mut to_send: Vec<_> = (0..addresses.len()).collect();
    for _ in 0..ATTEMPTS {
        let first = NEXT.fetch_add(to_send.len() as u32, SeqCst);
        let mut take = |mac, place: usize| {
            let before = arrived[to_send[place]].replace(mac);
            assert_eq!(before, None, "a packet to {} arrived twice", addresses[to_send[place]]);
        };
        let numbers: Vec<_> = to_send.iter().zip(first..).collect();
        for some in numbers.chunks(16) {
            for (place, number) in some {
                // It is lost if the router's interface is down.
                let _ = wires[0].try_send(&numbered(addresses[**place], *number));
            }
            sleep(Duration::from_millis(1));
            receive(&wires, first, &mut take);
        }
        for _ in 0..30 {
            sleep(Duration::from_millis(10));
            receive(&wires, first, &mut take);
        }
        to_send.retain(|&place| arrived[place].is_none() && expected[place].is_some());
        if to_send.is_empty() {
            break;
        }
    }
    arrived
}

/// Compares the neighbours that get packets with those that the kernel names. The routes to the addresses must have one
/// next hop each, and must not change meanwhile.
pub fn compare(net: &Net, addresses: &[IpAddr]) -> Vec<Difference> {
    let kernels = kernels(&net.router, addresses);
    let arrived = arrivals(net, addresses, &kernels);
    let all = addresses.iter().zip(kernels).zip(arrived);
    let differences = all.filter(|((_, kernel), arrived)| kernel != arrived);
    let difference = |((&address, kernel), arrived)| Difference { address, kernel, arrived };
    differences.map(difference).collect()
}

/// Waits until there are no differences, and checks that there are none from then on. At least `least` of the addresses
/// must have a neighbour.
pub fn agree(net: &Net, addresses: &[IpAddr], least: usize, what: &str) {
    let known = kernels(&net.router, addresses).iter().flatten().count();
    assert!(known >= least, "{what}: the kernel forwards to {known} addresses only");
    let began = Instant::now();
    let mut first = compare(net, addresses);
    let (mut last, differed) = (None, first.len());
    while let Some(difference) = first.pop() {
        assert!(
            began.elapsed() < PATIENCE,
            "{what}: {} differ: {difference:02x?}",
            first.len() + 1
        );
        first = compare(net, addresses);
        last = Some(began.elapsed());
    }
    let differences = compare(net, addresses);
    assert!(
        differences.is_empty(),
        "{what}: {} differ again: {differences:02x?}",
        differences.len()
    );
    let count = addresses.len();
    say(&format!(
        "{what}: 0 of {count} differ, {known} are forwarded (at first {differed}; {last:.1?})"
    ));
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

/// Sends so many packets a second from host A to the addresses in turn, while other work is done; returns its result too.
pub fn during<T>(
    net: &Net,
    addresses: &[IpAddr],
    rate: usize,
    work: impl FnOnce() -> T,
) -> (T, Stream) {
    /// Ends the stream, also when the work panics.
    struct Done<'a>(&'a AtomicBool);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let flow = scope.spawn(|| stream(net, addresses, rate, &done));
        let end = Done(&done);
        let result = work();
        drop(end);
        (result, flow.join().unwrap())
    })
}

/// Sends until `done`.
fn stream(net: &Net, addresses: &[IpAddr], rate: usize, done: &AtomicBool) -> Stream {
    let wires = wires(net);
    let began = Instant::now();
    // The numbers of all that may be sent; other packets have none of these.
    let first = NEXT.fetch_add(1 << 24, SeqCst);
    let (mut sent, mut gap, mut last) = (0, Duration::ZERO, None);
    let mut arrived: Vec<bool> = Vec::new();
    let mut end = None;
    while end.is_none_or(|end| Instant::now() < end) {
        if end.is_none() {
            let due = began.elapsed().as_millis() as usize * rate / 1000;
            for number in sent..due {
                let address = addresses[number % addresses.len()];
                let _ = wires[0].try_send(&numbered(address, first + number as u32));
            }
            sent = sent.max(due);
            arrived.resize(sent, false);
            end = done.load(SeqCst).then(|| Instant::now() + Duration::from_millis(500));
        }
        sleep(Duration::from_millis(1));
        receive(&wires, first, |_, place| {
            assert!(!std::mem::replace(&mut arrived[place], true), "a packet arrived twice");
            let now = Instant::now();
            gap = last.map_or(gap, |last| gap.max(now - last));
            last = Some(now);
        });
    }
    let lost = arrived.split(|&arrived| arrived).map(<[bool]>::len).max().unwrap();
    Stream { sent, arrived: arrived.iter().filter(|&&arrived| arrived).count(), gap, lost }
}
