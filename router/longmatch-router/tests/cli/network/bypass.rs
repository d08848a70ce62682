//! What the kernel does with forwarded packets beside routing is never gone round without a word.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::child::Forwarder;
use super::flow::{number, numbered};
use super::net::{Net, Space, neighbour, neighbour4};
use super::wire::Wire;

/// The longest time until the router follows a change.
const PATIENCE: Duration = Duration::from_secs(8);

/// A way to make the kernel do more than route, and to end it.
struct Case {
    name: &'static str,
    begin: fn(&Space) -> bool,
    end: fn(&Space) -> bool,
    /// A part of the message.
    text: &'static str,
}

fn run(space: &Space, program: &str, words: &str) -> bool {
    let mut command = Command::new(program);
    command.args(words.split(' ')).stderr(Stdio::null()).stdout(Stdio::null());
    space.run(|| command.status()).is_ok_and(|status| status.success())
}

fn nft(space: &Space, rules: &str) -> bool {
    let mut command = Command::new("nft");
    command.args(["-f", "-"]).stdin(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = space.run(|| command.spawn()) else { return false };
    child.stdin.take().unwrap().write_all(rules.as_bytes()).unwrap();
    child.wait().unwrap().success()
}

const CASES: [Case; 6] = [
    Case {
        name: "firewall",
        begin: |router| {
            nft(
                router,
                "table inet f { chain c { type filter hook forward priority 0; policy drop; }\n}",
            )
        },
        end: |router| nft(router, "delete table inet f"),
        text: "firewall: nftables, table f, chain c (forward)",
    },
    Case {
        name: "nat",
        begin: |router| {
            let chain =
                "chain c { type nat hook postrouting priority 100; oifname \"rb\" masquerade; }\n";
            nft(router, &format!("table ip n {{ {chain} }}"))
        },
        end: |router| nft(router, "delete table ip n"),
        text: "nat: nftables, table n, chain c (postrouting)",
    },
    Case {
        name: "tc",
        begin: |router| {
            run(router, "tc", "qdisc add dev rb root tbf rate 1mbit burst 10kb latency 50ms")
        },
        end: |router| run(router, "tc", "qdisc del dev rb root"),
        text: "tc: tc qdisc tbf of rb",
    },
    Case {
        name: "rules",
        begin: |router| run(router, "ip", "rule add from 10.0.1.2 lookup 100 priority 50"),
        end: |router| run(router, "ip", "rule del priority 50"),
        text: "rules: ip rule 50",
    },
    Case {
        name: "rp_filter",
        begin: |router| {
            router.set("ipv4/conf/ra/rp_filter", "1");
            true
        },
        end: |router| {
            router.set("ipv4/conf/ra/rp_filter", "0");
            true
        },
        text: "rp_filter: net.ipv4.conf.ra.rp_filter is not 0",
    },
    Case {
        name: "multipath",
        begin: |router| {
            router.set("ipv4/fib_multipath_hash_policy", "2");
            true
        },
        end: |router| {
            router.set("ipv4/fib_multipath_hash_policy", "0");
            true
        },
        text: "multipath: net.ipv4.fib_multipath_hash_policy is above 1",
    },
];

#[test]
fn bypassed_parts_of_the_kernel_are_refused_or_accepted_by_name() {
    let test = "bypassed_parts_of_the_kernel_are_refused_or_accepted_by_name";
    let Some(net) = Net::new(test) else { return };
    let forward = ["-i", "ra", "rb", "--seconds", "0.01"];
    for Case { name, begin, end, text } in CASES {
        if !begin(&net.router) {
            let _ =
                writeln!(std::io::stderr(), "skipped: {test}: {name}: no program or kernel for it");
            continue;
        }
        let ended = net.program(&forward);
        assert_eq!((ended.code, &*ended.stdout), (2, ""), "{name}: {ended:?}");
        let advice = format!("accept that with --bypass {name})");
        assert!(ended.stderr.contains(text) && ended.stderr.contains(&advice), "{ended:?}");
        let accepted = net.program(&[&forward[..], &["--bypass", name]].concat());
        assert_eq!(accepted.code, 0, "{accepted:?}");
        assert!(end(&net.router), "{name}");
        assert_eq!(net.program(&forward).code, 0, "{name}");
    }
    // An empty chain that accepts does nothing.
    let empty = "table inet f { chain c { type filter hook forward priority 0; policy accept; }\n}";
    if nft(&net.router, empty) {
        assert_eq!(net.program(&forward).code, 0);
    }
}

/// Whether a packet from host A arrives at host B's link.
fn arrives(from: &Wire, to: &Wire, sent: &mut u32) -> bool {
    *sent += 1;
    from.send(&numbered([198, 18, 0, 1].into(), *sent));
    to.find(|frame| number(frame) == Some((neighbour(1, 0), *sent))).is_some()
}

#[test]
fn the_kernel_gets_all_packets_while_it_does_more_than_route() {
    let Some(net) = Net::new("the_kernel_gets_all_packets_while_it_does_more_than_route") else {
        return;
    };
    net.router.ip(&format!("route add 198.18.0.0/16 via {}", neighbour4(1, 0)));
    let (from, to, mut sent) = (net.a.wire("ea"), net.b.wire("eb"), 0);
    let mut forwarder = Forwarder::start(&net, &[]);
    let mut wait_for = |wanted: bool, what: &str| {
        let end = Instant::now() + PATIENCE;
        while arrives(&from, &to, &mut sent) != wanted {
            assert!(Instant::now() < end, "{what}");
            sleep(Duration::from_millis(20));
        }
    };
    wait_for(true, "at first");
    let Case { begin, end, text, .. } = &CASES[0];
    if !begin(&net.router) {
        let _ = writeln!(std::io::stderr(), "skipped: no nft");
        return;
    }
    wait_for(false, "the firewall drops packets");
    assert!(end(&net.router));
    wait_for(true, "without the firewall");
    let attached = || net.router.ip("-d link show ra").contains("prog/xdp");
    let until = Instant::now() + PATIENCE;
    while !attached() {
        assert!(Instant::now() < until, "the forwarder does not take the packets again");
        sleep(Duration::from_millis(50));
    }
    net.router.set("ipv4/ip_forward", "0");
    wait_for(false, "the kernel does not forward");
    net.router.set("ipv4/ip_forward", "1");
    wait_for(true, "the kernel forwards");
    let stopped = forwarder.finish();
    assert!(stopped.stderr.contains(text), "{}", stopped.stderr);
}
