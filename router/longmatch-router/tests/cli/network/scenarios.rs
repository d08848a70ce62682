//! After each event the packets of many addresses go where the kernel would send them.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::agreement::{agree, is_full, say};
use super::child::Forwarder;
use super::churn::{data, read, synthetic};
use super::net::{Net, neighbour4, neighbour6};
use super::table::{Prefix, Random, Routes};

/// Both full tables of the Internet, or a part of a synthetic table.
fn prefixes(test: &str) -> Vec<Prefix> {
    if !is_full() {
        // Of all its depths and both families.
        return synthetic().0.into_iter().step_by(17).collect();
    }
    let files = ["ipv4-full", "ipv6-full"].map(|table| data(test, table));
    match files {
        [Some(ipv4), Some(ipv6)] => [read(&ipv4), read(&ipv6)].concat(),
        _ => synthetic().0,
    }
}

#[test]
fn packets_go_where_the_kernel_says_after_each_event() {
    let name = "packets_go_where_the_kernel_says_after_each_event";
    let Some(net) = Net::new(name) else { return };
    let full = [10_000, 100_000, 3];
    let [count, flapping, flaps] = if is_full() { full } else { [400, 2_000, 3] };
    let mut random = Random(5);
    let mut routes = Routes::new(prefixes(name), &mut random);
    routes.change_all();
    let addresses = routes.addresses(count, &mut random);
    let all = 0..routes.len();
    say(&format!("{name}: {} routes", all.end));
    let mut forwarder = Forwarder::start(&net, &["--seconds", "3600"]);
    let check = |least, what: &str| agree((&net, &forwarder), &addresses, least, what);
    check(0, "without routes");
    for (version, what) in [(0, "a table is loaded"), (1, "all next hops have changed")] {
        net.router.batch(&routes.commands(version, all.clone()));
        check(count, what);
    }
    net.router.ip("link set rb down");
    // Routes by the other link remain.
    check(count / 10, "a link is down");
    net.router.ip("link set rb up");
    net.addresses(1);
    net.router.batch(&routes.commands(1, all.clone()));
    check(count, "the link is up again");
    forwarder.signal(Signal::STOP);
    // Of both families.
    let some = all.clone().step_by((all.end / flapping).max(1));
    for flap in 0..flaps {
        let versions = [flap + 1, flap].map(|version| routes.commands(version % 2, some.clone()));
        net.router.batch(&versions[0].replace("replace", "del"));
        net.router.batch(&versions[1]);
    }
    sleep(Duration::from_secs(1));
    forwarder.signal(Signal::CONT);
    check(count, &format!("{} routes flapped {flaps} times, the process stood still", some.len()));
    for address in [neighbour4(1, 0), neighbour6(1, 0)] {
        net.router.ip(&format!("neigh replace {address} lladdr 02:00:00:00:02:c8 dev rb"));
    }
    check(count, "a neighbour has another address");
    net.addresses(1);
    check(count, "the neighbour has its address again");
    say(&format!("{name}: resident MB, now and at most: {:.0?}", forwarder.memory()));
    // Not by the kernel.
    assert!(forwarder.finish().counts["forwarded"].as_u64() > Some(6 * count as u64));
}

/// The router's namespace lives as long as the process in it, but nobody else has it then, and its links are gone with
/// the hosts.
#[test]
fn it_ends_without_links_and_without_others_in_its_namespace() {
    for what in ["no links", "no namespace"] {
        let test = "it_ends_without_links_and_without_others_in_its_namespace";
        let Some(net) = Net::new(test) else { return };
        net.router.ip(&format!("route add 198.18.0.0/16 via {}", neighbour4(1, 0)));
        let mut forwarder = Forwarder::start(&net, &[]);
        agree((&net, &forwarder), &[[198, 18, 0, 1].into()], 1, what);
        if what == "no links" {
            net.router.ip("link del rb");
            net.router.ip("link del ra");
        } else {
            let Net { a, router, b, .. } = net;
            [a, router, b].into_iter().for_each(drop);
        }
        // For it to notice.
        sleep(Duration::from_secs(1));
        let began = Instant::now();
        let stopped = forwarder.stop(Signal::INT);
        assert!(began.elapsed() < Duration::from_secs(5), "{what}: {:?}", began.elapsed());
        let has_panicked = stopped.stderr.contains("panicked");
        assert!(stopped.status.success() && !has_panicked, "{what}: {stopped:?}");
    }
}
