//! Thousands of changes a second for a long time, and the start with a large table, as a stream of packets sees them.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::agreement::{agree, during, is_full, say};
use super::child::Forwarder;
use super::churn::synthetic;
use super::net::Net;
use super::table::{Random, Routes};

/// Changes routes of a table, of which the first ones are permanent, at a pace and for some seconds.
fn change(net: &Net, (routes, permanent): (&mut Routes, usize), rate: usize, seconds: u64) {
    /// Commands after which a new `ip` runs: it keeps 4 KB for each.
    const COMMANDS: usize = 100_000;
    let (began, mut made, mut random) = (Instant::now(), 0, Random(9));
    let is_over = || began.elapsed() >= Duration::from_secs(seconds);
    while !is_over() {
        let mut ip = net.router.commands();
        let (mut pipe, first) = (ip.stdin.take().unwrap(), made);
        while made - first < COMMANDS && !is_over() {
            // Some of the changes are none: a route gets the next hop that it has.
            let text = routes.advance(rate / 10, permanent, &mut random);
            made += text.lines().count();
            if pipe.write_all(text.as_bytes()).is_err() {
                // It says why below.
                break;
            }
            let due = Duration::from_secs_f64(made as f64 / rate as f64);
            sleep(due.saturating_sub(began.elapsed()));
        }
        drop(pipe);
        let output = ip.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let reached = made as f64 / began.elapsed().as_secs_f64();
    say(&format!("steady change: {made} changes, {reached:.0} a second ({rate} wanted)"));
    assert!(made > rate);
}

/// Both families change, and packets flow all the time. `LONGMATCH_PROVE` is the number of seconds, if it is above 1.
#[test]
fn steady_change_leads_to_the_kernels_next_hops() {
    let Some(net) = Net::new("steady_change_leads_to_the_kernels_next_hops") else { return };
    let wanted = std::env::var("LONGMATCH_PROVE").ok().and_then(|text| text.parse().ok());
    let full = (10_000, wanted.filter(|&seconds| seconds > 1).unwrap_or(1800), 10_000);
    let (rate, seconds, count) = if is_full() { full } else { (2_000, 5, 400) };
    let (mut prefixes, permanent) = synthetic();
    if !is_full() {
        // The permanent ones, and some of IPv6.
        prefixes.retain(|&(_, len)| [16, 40, 48].contains(&len));
    }
    let mut random = Random(6);
    let mut routes = Routes::new(prefixes, &mut random);
    net.router.batch(&routes.commands(0, 0..routes.len()));
    net.router.batch(&routes.advance(routes.len(), permanent, &mut random));
    let addresses = routes.addresses(count, &mut random);
    let mut forwarder = Forwarder::start(&net, &["--seconds", "3600"]);
    agree((&net, &forwarder), &addresses, count, "before steady change");
    // Buffers grow at first.
    change(&net, (&mut routes, permanent), rate, 2);
    let before = forwarder.memory();
    // Memory rises and falls while routes change, so the peaks are compared.
    let work = || {
        change(&net, (&mut routes, permanent), rate, seconds / 2);
        let halfway = forwarder.memory();
        change(&net, (&mut routes, permanent), rate, seconds - seconds / 2);
        halfway
    };
    let (halfway, flow) = during(&net, &addresses, work);
    agree((&net, &forwarder), &addresses, count, "after steady change");
    let after = forwarder.memory();
    let memory = format!("resident MB, now and at most: {before:.1?}, {halfway:.1?}, {after:.1?}");
    say(&format!("steady change: {flow:?}, {memory}"));
    assert!(after[1] < halfway[1] * 1.3, "{memory}");
    assert!(flow.arrived > flow.sent / 2, "{flow:?}");
    assert!(forwarder.finish().counts["forwarded"].as_u64() > Some(count as u64));
}

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
        sleep(Duration::from_secs(1));
        (forwarder, started)
    };
    let ((mut forwarder, started), flow) = during(&net, &addresses, start);
    let memory = forwarder.memory();
    say(&format!("start with {count} routes: {started:.2?}, {flow:?}, resident MB {memory:.0?}"));
    agree((&net, &forwarder), &addresses, samples, "after the start");
    assert!(flow.arrived > flow.sent / 2, "{flow:?}");
    assert!(forwarder.finish().counts["forwarded"].as_u64() > Some(2 * samples as u64));
}
