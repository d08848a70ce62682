//! Real routing daemons beside the forwarder: BIRD, and FRR's OSPF. Tests without them are skipped aloud.

use std::collections::HashSet;
use std::fs::{self, File};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::agreement::{agree, arrivals, say};
use super::child::Forwarder;
use super::churn::synthetic;
use super::net::{HOSTS, Net, Space};
use super::table::{Random, Routes};
use crate::common::Dir;

/// The longest time until daemons know each other, and until they notice a change.
const PATIENCE: Duration = Duration::from_secs(40);

/// A daemon in the foreground, which is killed with the value.
struct Daemon(Child);

impl Daemon {
    fn start(space: &Space, program: &str, words: &str, log: &str) -> Self {
        let mut command = Command::new(program);
        let log = File::create(log).unwrap();
        command.args(words.split(' ')).stdout(log.try_clone().unwrap()).stderr(log);
        Self(space.run(|| command.spawn()).unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn are_there(test: &str, programs: &[&str]) -> bool {
    let absent = programs.iter().find(|program| !fs::exists(program).unwrap_or(false));
    absent.inspect(|program| say(&format!("skipped: {test}: no {program}"))).is_none()
}

/// Waits until something is true; `text` tells the state.
fn wait_for(what: &str, text: impl Fn() -> String, mut is_true: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_true() {
        assert!(Instant::now() < end, "{what}: {}", text());
        sleep(Duration::from_millis(100));
    }
}

const BIRD: [&str; 2] = ["/usr/sbin/bird", "/usr/sbin/birdc"];

/// Static routes of two versions, of which the second is preferred when it is enabled.
fn bird_configuration(routes: &Routes) -> String {
    let mut text = "router id 10.0.1.1;\nprotocol device {}\n".to_owned();
    for family in ["ipv4", "ipv6"] {
        text += &format!("protocol kernel {{ {family} {{ import none; export all; }}; }}\n");
        for (version, state) in [(0, ""), (1, "disabled;")] {
            text += &format!("protocol static v{version}_{family} {{ {state}\n");
            text += &format!("{family} {{ preference {}; }};\n", 200 + version);
            let commands = routes.commands(version, 0..routes.len());
            let of = |line: &&str| line.contains("::") == (family == "ipv6");
            let lines: Vec<_> = commands.lines().filter(of).collect();
            text += &lines.join(";\n").replace("route replace", "route");
            text += ";\n}\n";
        }
    }
    text
}

#[test]
fn routes_of_bird_come_change_and_go() {
    let test = "routes_of_bird_come_change_and_go";
    let Some(net) = Net::new(test).filter(|_| are_there(test, &BIRD)) else { return };
    let mut random = Random(8);
    let prefixes = synthetic().0.into_iter().step_by(29).collect();
    let mut routes = Routes::new(prefixes, &mut random);
    routes.change_all();
    let addresses = routes.addresses(300, &mut random);
    let dir = Dir::new();
    let configuration = dir.file("bird.conf", bird_configuration(&routes));
    let [control, log] = ["bird.ctl", "bird.log"].map(|name| dir.path(name));
    let mut forwarder = Forwarder::start(&net, &[]);
    let words = format!("-f -c {configuration} -s {control}");
    let _bird = Daemon::start(&net.router, BIRD[0], &words, &log);
    let shown =
        || net.router.ip("route show proto bird") + &net.router.ip("-6 route show proto bird");
    let said = || fs::read_to_string(&log).unwrap();
    let order = |words: &str| {
        let mut command = Command::new(BIRD[1]);
        let output = command.args(["-s", &control]).args(words.split(' ')).output().unwrap();
        assert!(output.status.success(), "{words}: {output:?}");
    };
    // PREFIX via ADDRESS
    let are_of = |version| {
        let shown = shown();
        let of = |line: &str| line.splitn(4, ' ').take(3).collect::<Vec<_>>().join(" ");
        let found: HashSet<_> = shown.lines().map(of).collect();
        let commands = routes.commands(version, 0..routes.len());
        let mut wanted = commands.lines().map(|line| line.trim_start_matches("route replace "));
        found.len() == routes.len() && wanted.all(|route| found.contains(route))
    };
    wait_for("BIRD's routes", said, || are_of(0));
    agree((&net, &forwarder), &addresses, 300, "BIRD's routes");
    order("enable \"v1_*\"");
    wait_for("BIRD's other next hops", said, || are_of(1));
    agree((&net, &forwarder), &addresses, 300, "BIRD's other next hops");
    order("disable \"v*\"");
    wait_for("no routes of BIRD", said, || shown().is_empty());
    agree((&net, &forwarder), &addresses, 0, "no routes of BIRD");
    assert!(forwarder.finish().counts["forwarded"].as_u64() > Some(1000));
}

const FRR: [&str; 2] = ["/usr/lib/frr/zebra", "/usr/lib/frr/ospfd"];

/// Starts OSPF on a machine with these interfaces. A host announces the network of all hosts.
fn ospf(space: &Space, dir: &Dir, number: usize, interfaces: &[&str]) -> [Daemon; 2] {
    let run = dir.path(&format!("ospf{number}"));
    fs::create_dir(&run).unwrap();
    let mut text = format!("router ospf\n ospf router-id {number}.{number}.{number}.{number}\n");
    text += " timers throttle spf 0 50 100\n network 10.0.0.0/8 area 0\n";
    for interface in interfaces {
        text += &format!("interface {interface}\n ip ospf hello-interval 1\n");
        text += " ip ospf dead-interval 4\n ip ospf network point-to-point\n";
    }
    if interfaces.len() == 1 {
        space.ip("route add blackhole 10.50.0.0/24");
        text = text.replacen(" network", " redistribute kernel\n network", 1);
    }
    fs::write(format!("{run}/frr.conf"), text).unwrap();
    let owned = Command::new("chown").args(["-R", "frr:frr", &run]).status().unwrap();
    assert!(owned.success());
    FRR.map(|program| {
        let name = program.rsplit('/').next().unwrap();
        let words = format!(
            "-f {run}/frr.conf -i {run}/{name}.pid -z {run}/api --vty_socket {run} -u frr -g frr"
        );
        let daemon = Daemon::start(space, program, &words, &format!("{run}/{name}.log"));
        // The second one connects to the first.
        wait_for(name, String::new, || fs::exists(format!("{run}/api")).unwrap());
        daemon
    })
}

/// Both hosts announce a network, so that the router has two paths to it, of which it loses one with a link.
#[test]
fn flows_follow_ospf() {
    let test = "flows_follow_ospf";
    let Some(net) = Net::new(test).filter(|_| are_there(test, &FRR)) else { return };
    let dir = Dir::new();
    let forwarder = Forwarder::start(&net, &["--seconds", "300"]);
    let spaces = [(&net.router, &["ra", "rb"][..]), (&net.a, &["ea"]), (&net.b, &["eb"])];
    let start = |(number, (space, interfaces))| ospf(space, &dir, number, interfaces);
    let _daemons: Vec<_> = (1..).zip(spaces).map(start).collect();
    let flows: Vec<_> = (1..=200).map(|last| [10, 50, 0, last].into()).collect();
    let shares = || {
        let arrived = arrivals(&net, &flows, &[Some(HOSTS[0]); 200]);
        HOSTS.map(|mac| arrived.iter().filter(|&&receiver| receiver == Some(mac)).count())
    };
    let route = || net.router.ip("route show 10.50.0.0/24");
    let state = || format!("{}{}{:?}", route(), net.router.ip("nexthop"), shares());
    // The paths of the kernel, each of which has flows.
    let paths = || {
        let paths = ["via 10.0.1.2 ", "via 10.0.2.2 "].map(|via| route().contains(via));
        let has_flows = |(share, path)| if path { share > 50 } else { share == 0 };
        shares().into_iter().zip(paths).all(has_flows).then_some(paths)
    };
    wait_for("two paths", state, || paths() == Some([true; 2]));
    // More than the time after which a silent neighbour is given up.
    sleep(Duration::from_secs(5));
    assert_eq!(paths(), Some([true; 2]), "{}", state());
    net.b.ip("link set eb down");
    wait_for("one path", state, || paths() == Some([true, false]));
    assert_eq!(shares(), [200, 0], "{}", state());
    net.b.ip("link set eb up");
    // The kernel's paths count: FRR 8.4 does not put the next hop into the kernel's group again.
    sleep(Duration::from_secs(6));
    wait_for("the kernel's paths", state, || paths().is_some());
    say(&format!("{test}: paths by the hosts when the link is up again: {:?}", paths().unwrap()));
    assert!(forwarder.end()["forwarded"].as_u64() > Some(1000));
}
