//! The follower against the kernel, in network namespaces of their own.
//!
//! The tests need the right to make namespaces, and `ip`. Without them they say so and pass.
#![cfg(target_os = "linux")]

mod random;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use longmatch::{EngineKind, IpPrefix, TableSpec};
use longmatch_forward::kernel::{Followed, Follower, ports};
use longmatch_forward::{Mac, Target};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Runs a test in a thread with its own network namespace, which has two links.
fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let run = || {
        if let Err(why) = namespace() {
            return eprintln!("skipped: {why}");
        }
        test();
    };
    if let Err(panic) = thread::spawn(run).join() {
        std::panic::resume_unwind(panic);
    }
}

/// Makes the links: `va` and `vb` are the ports, `pa` and `pb` their other ends.
fn namespace() -> Result<(), String> {
    // SAFETY: file descriptors stay shared with the other threads; only the network is new.
    let unshared = unsafe { unshare_unsafe(UnshareFlags::NEWNET) };
    unshared.map_err(|error| format!("the kernel forbids network namespaces: {error}"))?;
    if let Err(error) = Command::new("ip").arg("-V").stdout(Stdio::null()).status() {
        return Err(format!("cannot run `ip`: {error}"));
    }
    ip("link set lo up");
    for (port, peer, mac) in [("va", "pa", 0xa), ("vb", "pb", 0xb)] {
        let pair =
            format!("link add {port} address 02:00:00:00:00:{mac:02x} type veth peer name {peer}");
        if !try_ip(&pair) {
            return Err("the kernel has no veth interfaces".into());
        }
        ip(&format!("link set {peer} up"));
        ip(&format!("link set {port} up"));
    }
    addresses();
    Ok(())
}

/// Gives the ports their addresses.
fn addresses() {
    ip("addr replace 10.0.1.1/24 dev va");
    ip("addr replace 10.0.2.1/24 dev vb");
    ip("addr replace 2001:db8:1::1/64 dev va nodad");
    ip("addr replace 2001:db8:2::1/64 dev vb nodad");
}

fn try_ip(arguments: &str) -> bool {
    Command::new("ip").args(arguments.split_whitespace()).status().is_ok_and(|ip| ip.success())
}

fn ip(arguments: &str) {
    assert!(try_ip(arguments), "ip {arguments}");
}

/// Runs many commands of `ip` at once. Some may fail.
fn batch(commands: &str) {
    let mut child = Command::new("ip")
        .args(["-force", "-batch", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    child.wait().unwrap();
}

fn follower() -> Follower {
    Follower::new(&ports(&["va".into(), "vb".into()]).unwrap(), spec()).unwrap()
}

/// A follower of the same ports that reads the kernel's state now.
fn read_again(follower: &Follower) -> Follower {
    Follower::new(follower.ports(), spec()).unwrap()
}

fn spec() -> TableSpec {
    TableSpec::new(EngineKind::Folio)
}

/// Follows until nothing arrives any more.
fn settle(follower: &mut Follower) -> Followed {
    let mut sum = Followed::default();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let followed = follower.follow(Duration::from_millis(30)).unwrap();
        sum.add(&followed);
        if followed == Followed::default() && !follower.may_be_stale() {
            return sum;
        }
        assert!(Instant::now() < deadline, "the kernel does not come to rest");
    }
}

/// Follows until nothing arrives any more, and compares with the state read again.
fn settled(follower: &mut Follower) -> Followed {
    let followed = settle(follower);
    follower.check().unwrap();
    // A neighbour may change its state between the two.
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let (found, expected) = (table(follower), table(&read_again(follower)));
        if found == expected {
            return followed;
        }
        let differs = |(prefix, target): &(&IpPrefix, &String)| found.get(prefix) != Some(target);
        let difference = expected.iter().find(differs);
        let stray = found.iter().find(|(prefix, _)| !expected.contains_key(prefix));
        assert!(Instant::now() < deadline, "expected {difference:?}, stray {stray:?}");
        settle(follower);
    }
}

fn table(follower: &Follower) -> BTreeMap<IpPrefix, String> {
    follower.targets().map(|(prefix, target)| (prefix, text(target))).collect()
}

/// A target as text: `va 02:00:00:00:00:01 *3, vb ? *1`.
fn text(target: &Target) -> String {
    let Target::Group(group) = target else { return format!("{target:?}") };
    let hops = group.hops().iter().map(|hop| {
        let mac = hop.neighbour.mac().map_or("?".to_string(), |mac: Mac| mac.to_string());
        format!("{} {mac} *{}", hop.port.name, hop.weight)
    });
    hops.collect::<Vec<_>>().join(", ")
}

/// The target of an address, by a reader.
fn target(follower: &Follower, addr: &str) -> String {
    let addr: std::net::IpAddr = addr.parse().unwrap();
    follower.reader().pin().lookup(addr).map_or("none".into(), text)
}

#[test]
fn connected_networks_and_own_addresses() {
    in_namespace(|| {
        let mut follower = follower();
        settled(&mut follower);
        assert_eq!(target(&follower, "10.0.1.1"), "Local");
        assert_eq!(target(&follower, "2001:db8:1::1"), "Local");
        assert_eq!(target(&follower, "127.0.0.1"), "Local");
        assert_eq!(target(&follower, "10.0.1.255"), "Kernel");
        assert_eq!(target(&follower, "ff02::1"), "Kernel");
        assert_eq!(target(&follower, "10.0.1.9"), "OnLink");
        assert_eq!(target(&follower, "2001:db8:1::9"), "OnLink");
        assert_eq!(target(&follower, "10.9.9.9"), "none");
        let local: Vec<_> = follower.local_addresses().collect();
        for addr in ["10.0.1.1", "10.0.2.1", "127.0.0.1", "::1", "2001:db8:2::1"] {
            assert!(local.contains(&addr.parse().unwrap()), "{addr}");
        }
        assert!(follower.counts().ipv4 > 4 && follower.counts().ipv6 > 4);
        ip("addr add 10.0.7.1/24 dev va");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.0.7.7"), "OnLink");
        ip("link set va mtu 1400");
        settled(&mut follower);
        assert_eq!(follower.ports()[0].mtu(), 1400);
    });
}

#[test]
fn routes_come_change_and_go() {
    in_namespace(|| {
        let mut follower = follower();
        ip("neigh add 10.0.1.2 lladdr 02:00:00:00:01:02 dev va");
        ip("route add 10.10.0.0/16 via 10.0.1.2");
        ip("route add 10.11.0.0/16 via 10.0.2.2");
        ip("route add blackhole 10.12.0.0/16");
        ip("route add unreachable 10.13.0.0/16");
        ip("route add 10.14.0.0/16 dev lo");
        ip("route add 10.15.0.0/16 via 10.0.1.2 mtu 1300");
        ip("route add 10.16.0.0/16 nexthop via 10.0.1.2 weight 3 nexthop via 10.0.2.2");
        ip("route add 10.17.0.0/16 via inet6 2001:db8:1::2 dev va");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.10.1.1"), "va 02:00:00:00:01:02 *1");
        assert_eq!(target(&follower, "10.11.1.1"), "vb ? *1");
        assert_eq!(target(&follower, "10.12.1.1"), "Blackhole");
        assert_eq!(target(&follower, "10.13.1.1"), "Kernel");
        assert_eq!(target(&follower, "10.14.1.1"), "Kernel");
        assert_eq!(target(&follower, "10.15.1.1"), "Kernel");
        assert_eq!(target(&follower, "10.16.1.1"), "va 02:00:00:00:01:02 *3, vb ? *1");
        assert_eq!(target(&follower, "10.17.1.1"), "va ? *1");
        ip("route replace 10.10.0.0/16 via 10.0.2.2");
        ip("route add 10.11.0.0/16 via 10.0.1.2 metric 5");
        ip("route append 10.10.0.0/16 via 10.0.1.2");
        ip("route prepend 10.12.0.0/16 via 10.0.1.2");
        ip("route del 10.16.0.0/16");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.10.1.1"), "vb ? *1");
        // Metric 0 comes before metric 5.
        assert_eq!(target(&follower, "10.11.1.1"), "vb ? *1");
        assert_eq!(target(&follower, "10.12.1.1"), "va 02:00:00:00:01:02 *1");
        assert_eq!(target(&follower, "10.16.1.1"), "none");
        ip("route del 10.11.0.0/16 metric 0");
        ip("route del 10.10.0.0/16 via 10.0.2.2");
        ip("route add 10.10.0.0/16 tos 0x10 via 10.0.1.2");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.11.1.1"), "va 02:00:00:00:01:02 *1");
        assert_eq!(target(&follower, "10.10.1.1"), "Kernel");
    });
}

#[test]
fn ipv6_routes_with_several_hops() {
    in_namespace(|| {
        let mut follower = follower();
        let (a, b) = ("2001:db8:1::2", "2001:db8:2::2");
        ip(&format!("-6 route add 2001:db8:10::/48 nexthop via {a} nexthop via {b} weight 2"));
        ip(&format!("-6 route add 2001:db8:11::/48 via {b}"));
        ip(&format!("-6 route append 2001:db8:11::/48 via {a}"));
        // An IPv4-mapped route stays an IPv6 route.
        ip(&format!("-6 route add ::ffff:0:0/96 via {a}"));
        settled(&mut follower);
        assert_eq!(target(&follower, "2001:db8:10::1"), "va ? *1, vb ? *2");
        assert_eq!(target(&follower, "2001:db8:11::1"), "va ? *1, vb ? *1");
        assert_eq!(target(&follower, "::ffff:10.99.0.1"), "va ? *1");
        assert_eq!(target(&follower, "10.99.0.1"), "none");
        ip(&format!("-6 route del 2001:db8:10::/48 via {a}"));
        ip(&format!("-6 route replace 2001:db8:11::/48 via {a}"));
        ip(&format!("neigh add {b} lladdr 02:00:00:00:02:02 dev vb"));
        settled(&mut follower);
        assert_eq!(target(&follower, "2001:db8:10::1"), "vb 02:00:00:00:02:02 *1");
        assert_eq!(target(&follower, "2001:db8:11::1"), "va ? *1");
        ip("-6 route del 2001:db8:11::/48");
        ip("-6 route add blackhole 2001:db8:10::/64");
        settled(&mut follower);
        assert_eq!(target(&follower, "2001:db8:11::1"), "none");
        assert_eq!(target(&follower, "2001:db8:10::1"), "Blackhole");
    });
}

#[test]
fn next_hop_objects_and_groups() {
    in_namespace(|| {
        let mut follower = follower();
        if !try_ip("nexthop add id 1 via 10.0.1.2 dev va") {
            return eprintln!("skipped: the kernel has no next-hop objects");
        }
        ip("nexthop add id 2 via 10.0.2.2 dev vb");
        ip("nexthop add id 3 blackhole");
        ip("nexthop add id 6 via 2001:db8:1::2 dev va");
        ip("nexthop add id 10 group 1,3/2,4");
        ip("route add 10.20.0.0/16 nhid 1");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.20.1.1"), "va ? *1");
        ip("route add 10.21.0.0/16 nhid 10");
        ip("route add 10.22.0.0/16 nhid 3");
        ip("-6 route add 2001:db8:20::/48 nhid 6");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.22.1.1"), "Blackhole");
        assert_eq!(target(&follower, "2001:db8:20::1"), "va ? *1");
        assert_eq!(target(&follower, "10.21.1.1"), "va ? *3, vb ? *4");
        // Changes of objects change their routes.
        ip("neigh add 10.0.2.3 lladdr 02:00:00:00:02:03 dev vb");
        ip("nexthop replace id 1 via 10.0.2.3 dev vb");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.20.1.1"), "vb 02:00:00:00:02:03 *1");
        assert_eq!(target(&follower, "10.21.1.1"), "vb 02:00:00:00:02:03 *3, vb ? *4");
        ip("nexthop replace id 10 group 2");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.21.1.1"), "vb ? *1");
        // Routes vanish silently with their object.
        ip("nexthop del id 1");
        ip("nexthop del id 6");
        let followed = settled(&mut follower);
        assert!(followed.resyncs > 0);
        assert_eq!(target(&follower, "10.20.1.1"), "none");
        assert_eq!(target(&follower, "2001:db8:20::1"), "none");
        ip("nexthop del id 2");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.21.1.1"), "none");
    });
}

#[test]
fn neighbours_on_a_link_have_routes() {
    in_namespace(|| {
        let mut follower = follower();
        ip("route add 10.30.0.0/16 via 10.0.1.2");
        ip("neigh add 10.0.1.2 lladdr 02:00:00:00:01:02 dev va");
        ip("neigh add 2001:db8:1::2 lladdr 02:00:00:00:01:06 dev va");
        // A neighbour on another link than the route's has none.
        ip("neigh add 10.0.1.3 lladdr 02:00:00:00:01:03 dev vb");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.0.1.2"), "va 02:00:00:00:01:02 *1");
        assert_eq!(target(&follower, "10.30.0.1"), "va 02:00:00:00:01:02 *1");
        assert_eq!(target(&follower, "2001:db8:1::2"), "va 02:00:00:00:01:06 *1");
        assert_eq!(target(&follower, "10.0.1.3"), "OnLink");
        assert_eq!(follower.counts().neighbours, 3);
        // A new address is a store: no prefix changes.
        ip("neigh replace 10.0.1.2 lladdr 02:00:00:00:01:22 dev va");
        assert_eq!(settled(&mut follower).changed, 0);
        assert_eq!(target(&follower, "10.0.1.2"), "va 02:00:00:00:01:22 *1");
        assert_eq!(target(&follower, "10.30.0.1"), "va 02:00:00:00:01:22 *1");
        ip("neigh del 10.0.1.2 dev va");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.0.1.2"), "OnLink");
        assert_eq!(target(&follower, "10.30.0.1"), "va ? *1");
        // The host routes follow the route to the link.
        ip("neigh add 10.0.1.2 lladdr 02:00:00:00:01:02 dev va");
        ip("route add 10.0.1.0/28 via 10.0.2.2");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.0.1.2"), "vb ? *1");
        ip("route del 10.0.1.0/28");
        ip("route add blackhole 10.0.1.2/32");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.0.1.2"), "Blackhole");
        ip("route del blackhole 10.0.1.2/32");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.0.1.2"), "va 02:00:00:00:01:02 *1");
    });
}

#[test]
fn interfaces_go_down_and_up() {
    in_namespace(|| {
        let mut follower = follower();
        let routes = || {
            addresses();
            ip("route replace 10.40.0.0/16 via 10.0.1.2");
            ip("route replace 10.41.0.0/16 nexthop via 10.0.1.2 nexthop via 10.0.2.2");
            ip("-6 route replace 2001:db8:40::/48 via 2001:db8:1::2");
            let hops = "nexthop via 2001:db8:1::2 nexthop via 2001:db8:2::2";
            ip(&format!("-6 route replace 2001:db8:41::/48 {hops}"));
        };
        routes();
        settled(&mut follower);
        assert_eq!(target(&follower, "10.41.0.1"), "va ? *1, vb ? *1");
        for _ in 0..3 {
            ip("link set va down");
            let followed = settled(&mut follower);
            assert!(followed.resyncs > 0, "the IPv4 route vanished silently");
            assert_eq!(target(&follower, "10.40.0.1"), "none");
            assert_eq!(target(&follower, "10.41.0.1"), "vb ? *1");
            assert_eq!(target(&follower, "2001:db8:40::1"), "none");
            assert_eq!(target(&follower, "2001:db8:41::1"), "vb ? *1");
            ip("link set va up");
            settled(&mut follower);
            routes();
            settled(&mut follower);
            assert_eq!(target(&follower, "10.40.0.1"), "va ? *1");
            assert_eq!(target(&follower, "10.41.0.1"), "va ? *1, vb ? *1");
            assert_eq!(target(&follower, "2001:db8:41::1"), "va ? *1, vb ? *1");
        }
        // Without a carrier.
        ip("link set pb down");
        settled(&mut follower);
        ip("link set pb up");
        settled(&mut follower);
        // A port that is removed, and with it the routes that have a hop there.
        ip("link del vb");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.41.0.1"), "none");
        assert_eq!(target(&follower, "10.0.2.1"), "none");
    });
}

#[test]
fn addresses_are_removed() {
    in_namespace(|| {
        ip("addr add 10.0.1.7/24 dev va");
        ip("route add 10.50.0.0/16 via 10.0.1.2 src 10.0.1.7");
        ip("route add 10.51.0.0/16 via 10.0.1.2");
        let mut follower = follower();
        assert_eq!(target(&follower, "10.50.0.1"), "va ? *1");
        ip("addr del 10.0.1.7/24 dev va");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.50.0.1"), "none");
        assert_eq!(target(&follower, "10.51.0.1"), "va ? *1");
        assert_eq!(target(&follower, "10.0.1.7"), "OnLink");
        ip("addr flush dev va");
        settled(&mut follower);
        assert_eq!(target(&follower, "10.51.0.1"), "none");
        assert_eq!(target(&follower, "10.0.1.1"), "none");
    });
}

/// Commands on 10,000 routes.
fn many(verb: &str, hop: &str) -> String {
    many_of(10_000, verb, hop)
}

fn many_of(count: u32, verb: &str, hop: &str) -> String {
    let routes = (0..count).map(|i| {
        format!("route {verb} {}.{}.{}.0/24 {hop}\n", 20 + (i >> 16), (i >> 8) & 255, i & 255)
    });
    routes.collect()
}

#[test]
fn lost_messages_are_repaired_without_a_gap() {
    in_namespace(|| {
        let ports = ports(&["va".into(), "vb".into()]).unwrap();
        let mut follower = Follower::with_receive_buffer(&ports, spec(), 4096).unwrap();
        ip("route add 10.60.0.0/16 via 10.0.1.2");
        batch(&many("add", "via 10.0.1.2"));
        let followed = settled(&mut follower);
        assert!(followed.losses > 0 && followed.resyncs > 0, "{followed:?}");
        assert!(follower.counts().ipv4 > 10_000);
        assert_eq!(target(&follower, "20.1.2.3"), "va ? *1");

        // A reader never misses the route that stays, nor those that change their hop.
        let stop = Arc::new(AtomicBool::new(false));
        let (mut reader, stopped) = (follower.reader(), stop.clone());
        let reading = thread::spawn(move || {
            let mut lookups = 0;
            while !stopped.load(Ordering::Relaxed) {
                let table = reader.pin();
                for addr in [[10, 60, 0, 1], [20, 1, 2, 3], [20, 39, 15, 1]] {
                    assert!(table.lookup(addr).is_some(), "{addr:?} has no route");
                }
                lookups += 1;
            }
            lookups
        });
        batch(&many("replace", "via 10.0.2.2"));
        let followed = settled(&mut follower);
        assert!(followed.losses > 0 && followed.resyncs > 0, "{followed:?}");
        assert_eq!(target(&follower, "20.1.2.3"), "vb ? *1");
        stop.store(true, Ordering::Relaxed);
        assert!(reading.join().unwrap() > 0);

        batch(&many("del", ""));
        settled(&mut follower);
        assert_eq!(target(&follower, "20.1.2.3"), "none");
    });
}

/// Lets routes come and go while a follower stands still, so that the kernel has more messages than it keeps; compares
/// with the state read again.
fn stand_still(routes: u32, rounds: usize, buffer: usize) {
    let ports = ports(&["va".into(), "vb".into()]).unwrap();
    let mut follower = Follower::with_receive_buffer(&ports, spec(), buffer).unwrap();
    let flaps = (0..3)
        .map(|_| many_of(routes, "replace", "via 10.0.1.2") + &many_of(routes / 2, "del", ""));
    let flaps = flaps.collect::<String>();
    let mut sum = Followed::default();
    for round in 0..rounds {
        batch(&flaps);
        let last = if round % 2 == 0 { "via 10.0.2.2" } else { "via 10.0.1.2" };
        batch(&many_of(routes, "replace", last));
        sum.add(&settled(&mut follower));
    }
    println!("{rounds} rounds with {routes} routes: {sum:?}");
    assert!(sum.losses >= rounds && follower.counts().ipv4 > routes as usize);
}

#[test]
fn losses_of_a_follower_that_stood_still_are_repaired() {
    in_namespace(|| stand_still(20_000, 3, 24 << 20));
}

/// Takes minutes.
#[test]
#[ignore = "slow"]
fn losses_of_full_buffers_are_repaired() {
    in_namespace(|| stand_still(100_000, 20, 64 << 20));
}

/// Takes half a minute and much memory of the kernel.
#[test]
#[ignore = "slow"]
fn a_large_table_is_loaded_and_read_again() {
    in_namespace(|| {
        let routes = (0..300_000).map(|i| {
            let [_, a, b, c] = u32::to_be_bytes(i);
            let hop = if c % 2 == 0 { "via 10.0.1.2" } else { "via 10.0.2.2" };
            format!("route add {}.{b}.{c}.0/24 {hop}\n", a + 20)
        });
        batch(&routes.collect::<String>());
        let start = Instant::now();
        let mut follower = follower();
        println!("loaded after {:?}", start.elapsed());
        assert!(follower.counts().ipv4 > 300_000);
        // Half of the routes vanish silently.
        ip("link set va down");
        let start = Instant::now();
        let mut followed = Followed::default();
        while followed.resyncs == 0 {
            followed.add(&follower.follow(Duration::from_millis(30)).unwrap());
        }
        println!("read again after {:?}: {followed:?}", start.elapsed());
        settled(&mut follower);
        assert_eq!(target(&follower, "20.1.2.3"), "none");
        assert_eq!(target(&follower, "20.1.3.3"), "vb ? *1");
    });
}

#[test]
fn routes_flap() {
    in_namespace(|| {
        let mut follower = follower();
        let flap = (0..2000).flat_map(|i| {
            let prefix = format!("30.0.{}.0/24", i % 50);
            let hop = if i % 3 == 0 { "via 10.0.1.2" } else { "via 10.0.2.2" };
            let verb = if i % 7 == 0 { "append" } else { "replace" };
            let delete = if i % 2 == 0 { format!("route del {prefix}\n") } else { String::new() };
            [format!("route {verb} {prefix} {hop}\n"), delete]
        });
        let flap: String = flap.collect();
        // The kernel changes while the follower follows.
        thread::scope(|scope| {
            // A thread that a thread starts is in the same namespace.
            let flapping = scope.spawn(|| batch(&flap));
            let mut changed = 0;
            while !flapping.is_finished() {
                changed += follower.follow(Duration::from_millis(1)).unwrap().changed;
            }
            assert!(changed > 0);
        });
        settled(&mut follower);
    });
}
