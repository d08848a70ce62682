//! Thousands of changes a second, for a long time.

use std::io::Write;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::agreement::{agree, during, is_full, say};
use super::child::Forwarder;
use super::churn::synthetic;
use super::net::Net;
use super::table::{Random, Routes};

/// Changes the routes at a pace, for some seconds; returns the number of changes made.
fn change(
    net: &Net,
    routes: &mut Routes,
    permanent: usize,
    random: &mut Random,
    [rate, seconds]: [usize; 2],
) -> usize {
    let mut ip = net.router.commands();
    let mut pipe = ip.stdin.take().unwrap();
    let (began, mut made) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(seconds as u64) {
        // Some of the changes are none: a route gets the next hop that it has.
        let text = routes.advance(rate / 10, permanent, random);
        pipe.write_all(text.as_bytes()).unwrap();
        made += text.lines().count();
        let due = Duration::from_secs_f64(made as f64 / rate as f64);
        sleep(due.saturating_sub(began.elapsed()));
    }
    drop(pipe);
    let output = ip.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let reached = made as f64 / began.elapsed().as_secs_f64();
    say(&format!("steady change: {made} changes, {reached:.0} a second ({rate} wanted)"));
    made
}

/// Both families change, and packets flow all the time. `LONGMATCH_PROVE` is the number of seconds, if it is above 1.
#[test]
fn steady_change_leads_to_the_kernels_next_hops() {
    let Some(net) = Net::new("steady_change_leads_to_the_kernels_next_hops") else { return };
    let wanted = std::env::var("LONGMATCH_PROVE").ok().and_then(|text| text.parse().ok());
    let full = [10_000, wanted.filter(|&seconds| seconds > 1).unwrap_or(1800)];
    let [rate, seconds] = if is_full() { full } else { [2_000, 5] };
    let (mut prefixes, mut permanent) = synthetic();
    if !is_full() {
        // Without the longest prefixes of IPv4.
        prefixes.retain(|&(_, len)| [16, 40, 48].contains(&len));
        permanent = permanent.min(prefixes.len());
    }
    let mut random = Random(6);
    let mut routes = Routes::new(prefixes, &mut random);
    net.router.batch(&routes.commands(0, 0..routes.len()));
    routes.change_all();
    net.router.batch(&routes.changes(1, 0..routes.len()));
    let addresses = routes.addresses(if is_full() { 10_000 } else { 400 }, &mut random);
    let mut forwarder = Forwarder::start(&net, &["--seconds", "3600"]);
    agree(&net, &addresses, addresses.len(), "before steady change");
    // Vectors and pools grow at first.
    let warm = [rate, seconds.min(20) / 5];
    change(&net, &mut routes, permanent, &mut random, warm);
    let before = forwarder.memory();
    let pace = [rate, seconds];
    let change = || change(&net, &mut routes, permanent, &mut random, pace);
    let (made, flow) = during(&net, &addresses, 1000, change);
    agree(&net, &addresses, addresses.len(), "after steady change");
    let after = forwarder.memory();
    say(&format!("steady change: {flow:?}, resident MB {before:.1?} -> {after:.1?}"));
    assert!(after[0] < before[0] * 1.3, "{before:?} {after:?}");
    assert!(made > rate && flow.arrived > flow.sent / 2, "{made} {flow:?}");
    let stopped = forwarder.finish();
    assert!(stopped.counts["forwarded"].as_u64() > Some(addresses.len() as u64), "{stopped:?}");
}
