//! The forwarder as a service: its control socket, its metrics, a process that takes over, and the service manager.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::child::Forwarder;
use super::flow::numbered;
use super::net::{HOSTS, Net, ROUTER, neighbour, neighbour4, text};
use super::stalls::Flow;
use crate::common::{Dir, program};
use crate::frames::{Ipv4, ethernet, udp};

/// The loopback is where metrics are without an address.
const METRICS: &str = "127.0.0.1:9470";

/// The answer of the metrics' server to these bytes.
fn request(net: &Net, bytes: &str) -> String {
    let exchange = || {
        let mut stream = TcpStream::connect(METRICS)?;
        stream.write_all(bytes.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    net.router.run(exchange).unwrap()
}

/// The value of a metric.
fn metric(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("{name}: {metrics}"))
}

#[test]
#[allow(clippy::too_many_lines, reason = "one forwarder is asked for all that it tells")]
fn a_running_forwarder_tells_its_routes_and_counts() {
    let Some(net) = Net::new("a_running_forwarder_tells_its_routes_and_counts") else { return };
    net.router.ip(&format!("route add 198.18.0.0/16 via {}", neighbour4(1, 0)));
    net.router.ip("route add blackhole 198.19.0.0/16");
    let mut forwarder = Forwarder::start(&net, &["--metrics", "9470"]);
    let (from, to) = (net.a.wire("ea"), net.b.wire("eb"));
    (0..50).for_each(|number| from.send(&numbered([198, 18, 0, 1].into(), number)));
    (0..7).for_each(|number| from.send(&numbered([198, 19, 0, 1].into(), number)));
    let expired = Ipv4 { ttl: 1, ..Ipv4::new([10, 0, 1, 2].into(), Ipv4Addr::new(198, 18, 0, 1)) };
    let expired = expired.checked(&udp([4000, 9], &[0; 4]), 6);
    (0..3).for_each(|_| from.send(&ethernet(ROUTER[0], HOSTS[0], 0x0800, &expired)));
    assert!(to.find(|frame| frame[..6] == neighbour(1, 0)).is_some());
    // A client that says nothing does not keep others waiting for long.
    let _silent = net.router.run(|| TcpStream::connect(METRICS)).unwrap();
    let end = Instant::now() + Duration::from_secs(10);
    let metrics = loop {
        let metrics = request(&net, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        if metric(&metrics, "longmatch_received_packets_total{port=\"ra\"}") == 60 {
            break metrics;
        }
        assert!(Instant::now() < end, "{metrics}");
        sleep(Duration::from_millis(20));
    };
    assert!(metrics.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"));
    for (name, value) in [
        ("sent_packets_total{port=\"rb\"}", 50),
        // Of 46 bytes with the Ethernet header.
        ("sent_bytes_total{port=\"rb\"}", 50 * 46),
        ("received_bytes_total{port=\"ra\"}", 60 * 46),
        ("missed_packets_total{port=\"ra\"}", 0),
        ("stopped_packets_total{cause=\"blackhole\",outcome=\"dropped\"}", 7),
        ("stopped_bytes_total{cause=\"ttl_expired\",outcome=\"kernel\"}", 3 * 46),
        ("forwarded_packets_total", 50),
        ("route_losses_total", 0),
    ] {
        assert_eq!(metric(&metrics, &format!("longmatch_{name}")), value, "{metrics}");
    }
    for (bytes, status) in [
        ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"),
        ("POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"),
        ("nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"),
    ] {
        assert!(request(&net, bytes).starts_with(status), "{bytes}");
    }
    let ended = net.program(&["route", "get", "198.18.0.1", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let hop = json!({
        "gateway": neighbour4(1, 0), "port": "rb", "ethernet_address": text(neighbour(1, 0)), "state": "known",
        "weight": 1, "packets": 50, "bytes": 50 * 46,
    });
    let route = json!({
        "address": "198.18.0.1", "prefix": "198.18.0.0/16", "target": "next hops", "next_hops": [hop],
    });
    assert_eq!(serde_json::from_str::<Value>(&ended.stdout).unwrap(), route);
    let addresses = ["198.18.0.1", "10.0.1.1", "198.19.0.1", "2001:db8:1::1", "203.0.113.1"];
    let ended = net.program(&[&["route", "get"], &addresses[..]].concat());
    let expected = format!(
        "198.18.0.1: 198.18.0.0/16: next hops\n  via {} dev rb lladdr {} (known) weight 1: 50 packets, 2,300 bytes\n\
         10.0.1.1: 10.0.1.1/32: an address of this machine\n198.19.0.1: 198.19.0.0/16: blackhole\n\
         2001:db8:1::1: 2001:db8:1::1/128: an address of this machine\n\
         203.0.113.1: no route: the kernel gets the packets\n",
        neighbour4(1, 0),
        text(neighbour(1, 0)),
    );
    assert_eq!((ended.code, &*ended.stdout), (1, &*expected), "{ended:?}");
    let ended = net.program(&["-i", "ra", "rb"]);
    assert!(ended.code == 2 && ended.stderr.contains("start this one with --take-over"));
    forwarder.finish();
    let ended = net.program(&["route", "get", "198.18.0.1"]);
    assert!(ended.code == 2 && ended.stderr.contains("no 'longmatch-forward'"), "{ended:?}");
}

#[test]
fn a_new_process_takes_the_interfaces_over() {
    let Some(net) = Net::new("a_new_process_takes_the_interfaces_over") else { return };
    let mut flow = Flow::new(&net, Duration::from_millis(2));
    // Without a running one the option changes nothing.
    let mut running = Forwarder::start(&net, &["--take-over"]);
    let mut alone = flow.send_for(200);
    for mode in ["auto", "native", "generic", "generic", "auto"] {
        let next = std::thread::scope(|scope| {
            let next = scope.spawn(|| Forwarder::start(&net, &["--take-over", "--xdp-mode", mode]));
            flow.send_until(|_| next.is_finished());
            next.join().unwrap()
        });
        let mut before = std::mem::replace(&mut running, next);
        flow.send_until(|_| before.has_ended());
        let stopped = before.stop(Signal::TERM);
        assert_eq!((stopped.status.code(), &stopped.counts["end"]), (Some(0), &true.into()));
        has_forwarded(&stopped.counts, &alone);
        let links = net.router.ip("-d link");
        assert_eq!((links.matches("prog/xdp").count(), links.contains("longmatch0")), (2, true));
        let start = alone.start;
        alone = flow.send_for(200);
        assert_eq!(flow.lost(start..alone.end), [0; 0], "{mode}");
    }
    has_forwarded(&running.finish().counts, &alone);
    let by_kernel = flow.send_for(1);
    assert_eq!(flow.lost(alone.start..by_kernel.end), [0; 0]);
}

/// Checks that a forwarder took the packets that were sent while it alone had the interfaces.
fn has_forwarded(counts: &Value, alone: &std::ops::Range<u32>) {
    assert!(counts["forwarded"].as_u64().unwrap() >= alone.len() as u64, "{alone:?}: {counts}");
}

#[test]
fn the_service_manager_knows_that_it_lives() {
    let Some(net) = Net::new("the_service_manager_knows_that_it_lives") else { return };
    let dir = Dir::new();
    let path = dir.path("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let news = || {
        let mut buffer = [0; 1024];
        let len = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..len]).into_owned()
    };
    let mut command = program(&["-i", "ra", "rb", "--seconds", "60"]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = net.router.run(|| command.spawn()).unwrap();
    let first = news();
    assert!(first.starts_with("STATUS=forwarding by ") && first.ends_with("READY=1\n"), "{first}");
    (0..3).for_each(|_| assert_eq!(news(), "WATCHDOG=1\n"));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    while news() != "STOPPING=1\n" {}
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The unit of systemd in the repository.
const UNIT: &str = include_str!("../../../../../docs/longmatch-forward.service");

/// With the capabilities of the unit, an ordinary user can forward; with fewer the error names them.
#[test]
fn the_unit_has_the_capabilities_that_forwarding_needs() {
    let Some(net) = Net::new("the_unit_has_the_capabilities_that_forwarding_needs") else { return };
    let line = UNIT.lines().find_map(|line| line.strip_prefix("AmbientCapabilities=")).unwrap();
    let names: Vec<_> = line.split(' ').map(|name| name.strip_prefix("CAP_").unwrap()).collect();
    assert!(UNIT.contains("\nSupplementaryGroups=root\n"));
    let run = |names: &[&str], group: &str| {
        let capabilities: String =
            names.iter().map(|name| format!(",+{}", name.to_lowercase())).collect();
        let capabilities = format!("-all{capabilities}");
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--no-new-privs", group]);
        command.args(["--inh-caps", &capabilities, "--ambient-caps", &capabilities]);
        command.arg(program(&[]).get_program());
        command.args(["-i", "ra", "rb", "--seconds", "0.1"]);
        net.router.run(|| command.output())
    };
    let mode = std::fs::metadata("/dev/net/tun").unwrap().permissions().mode();
    match run(&names, "--groups=0") {
        // The process has the group of the file, root.
        Ok(output) if mode & 0o006 != 0o006 && mode & 0o060 != 0o060 => {
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(2) && text.contains("chmod 0666"), "{output:?}");
            let _ = writeln!(
                std::io::stderr(),
                "skipped: capabilities of the unit: only root may open /dev/net/tun here"
            );
            return;
        }
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => {
            let _ =
                writeln!(std::io::stderr(), "skipped: capabilities of the unit: setpriv: {error}");
            return;
        }
    }
    for left_out in ["NET_ADMIN", "NET_RAW", "BPF"] {
        let fewer: Vec<_> = names.iter().copied().filter(|name| *name != left_out).collect();
        let output = run(&fewer, "--groups=0").unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && text.contains("CAP_"), "{left_out}: {output:?}");
    }
    // The names of these tables would be unknown.
    if std::fs::exists("/proc/net/ip_tables_names").unwrap() {
        let output = run(&names, "--clear-groups").unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("--bypass firewall,nat") && text.contains("group root"), "{text}");
    }
}

#[test]
fn systemd_understands_the_unit() {
    let dir = Dir::new();
    let path = dir.path("longmatch-forward.service");
    let program = program(&[]).get_program().to_str().unwrap().to_owned();
    std::fs::write(&path, UNIT.replace("/usr/local/bin/longmatch-forward", &program)).unwrap();
    match Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path).output() {
        Ok(output) => assert!(output.status.success() && output.stderr.is_empty(), "{output:?}"),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "skipped: the unit: systemd-analyze: {error}");
        }
    }
}
