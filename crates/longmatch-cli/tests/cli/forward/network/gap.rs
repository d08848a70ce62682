//! The start of the forwarder with a large table, as a stream of packets sees it.

use std::net::{IpAddr, Ipv4Addr};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::agreement::{agree, during, is_full, say};
use super::child::Forwarder;
use super::net::Net;
use super::table::{Random, Routes};

/// The kernel forwards, then the forwarder takes over. Times and memory are printed only: machines differ.
#[test]
fn a_start_with_a_large_table_interrupts_no_stream_for_long() {
    let test = "a_start_with_a_large_table_interrupts_no_stream_for_long";
    let Some(net) = Net::new(test) else { return };
    let (count, samples) = if is_full() { (1_000_000, 10_000) } else { (5_000, 400) };
    let first = u32::from(Ipv4Addr::new(20, 0, 0, 0));
    let network = |number: u32| (IpAddr::V4((first + (number << 8)).into()), 24);
    let mut random = Random(7);
    let mut routes = Routes::new((0..count).map(network).collect(), &mut random);
    net.router.batch(&routes.commands(0, 0..routes.len()));
    routes.change_all();
    let addresses = routes.addresses(samples, &mut random);
    let start = || {
        // The kernel forwards.
        sleep(Duration::from_secs(1));
        let began = Instant::now();
        let forwarder = Forwarder::start(&net, &["--seconds", "3600"]);
        let started = began.elapsed();
        sleep(Duration::from_secs(2));
        (forwarder, started)
    };
    let ((mut forwarder, started), flow) = during(&net, &addresses, 1000, start);
    let [now, most] = forwarder.memory();
    say(&format!(
        "start with {count} routes: {started:.2?}, {flow:?}, resident {now:.0} MB, at most {most:.0} MB"
    ));
    agree(&net, &addresses, samples, "after the start");
    assert!(flow.arrived > flow.sent / 2, "{flow:?}");
    let stopped = forwarder.finish();
    assert!(stopped.counts["forwarded"].as_u64() > Some(2 * samples as u64), "{stopped:?}");
}
