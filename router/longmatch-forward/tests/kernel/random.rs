//! Random changes of the kernel.

use std::thread;
use std::time::Duration;

use longmatch_forward::kernel::{Followed, Follower, ports};

use super::{addresses, batch, follower, in_namespace, settled, spec};

#[test]
fn resyncs_while_the_kernel_changes() {
    in_namespace(|| {
        // Enough objects for dumps of several datagrams, which changes interrupt.
        let objects = (100..1500).map(|id| format!("nexthop add id {id} via 10.0.1.2 dev va\n"));
        batch(&objects.collect::<String>());
        let ports = ports(&["va".into(), "vb".into()]).unwrap();
        let mut follower = Follower::with_receive_buffer(&ports, spec(), 4096).unwrap();
        let mut random = Random(0x1234_5678_9abc_def1);
        let changes = (0..10_000).map(|i| match i % 20 {
            0 => format!("nexthop replace id {} via 10.0.2.2 dev vb\n", 100 + i % 1400),
            1 => format!("route replace 60.0.{}.0/24 nhid {}\n", i % 7, 100 + i % 1400),
            _ => command(&mut random, &REPORTED) + "\n",
        });
        let changes: String = changes.collect();
        thread::scope(|scope| {
            let changing = scope.spawn(|| batch(&changes));
            let mut sum = Followed::default();
            while !changing.is_finished() {
                sum.add(&follower.follow(Duration::from_millis(1)).unwrap());
            }
            assert!(sum.losses > 0 && sum.resyncs > 0 && sum.changed > 0, "{sum:?}");
        });
        settled(&mut follower);
    });
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn one_of<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        choices[(self.0 >> 20) as usize % choices.len()]
    }
}

/// Kinds of commands whose effects the kernel reports completely.
const REPORTED: [&str; 9] = ["4", "4", "4", "6", "6", "6", "several", "special", "neighbour"];
/// Other kinds.
const SILENT: [&str; 5] = ["4", "6", "several", "object", "link"];

/// A command of `ip` of one of these kinds, which the kernel may refuse.
fn command(random: &mut Random, kinds: &[&str]) -> String {
    let verb = random.one_of(&["add", "append", "prepend", "replace", "change", "del", "del"]);
    let metric = random.one_of(&["", "", "metric 7"]);
    let to4 = random.one_of(&["50.0.0.0/8", "50.1.0.0/16", "10.0.1.0/28", "10.0.1.2/32"]);
    let to6 = random.one_of(&["2001:db8:50::/48", "2001:db8:1::2/128"]);
    let via4 = random.one_of(&["via 10.0.1.2", "via 10.0.1.3", "via 10.0.2.2", "dev vb"]);
    // Not both for one prefix: where a route to a link is between the hops of another route of the
    // same metric, the kernel leaves it out of dumps.
    let link6 = random.one_of(&["dev va", "dev vb"]);
    let via6 = random.one_of(&["via 2001:db8:1::2", "via 2001:db8:2::2"]);
    let several4 = "nexthop via 10.0.1.2 weight 2 nexthop via 10.0.2.2";
    let several6 = "nexthop via 2001:db8:1::2 nexthop via 2001:db8:2::2";
    let id = random.one_of(&["1", "2", "3"]);
    let object = random.one_of(&["via 10.0.1.2 dev va", "via 10.0.2.2 dev vb", "blackhole"]);
    let port = random.one_of(&["va", "vb"]);
    let neighbour = random.one_of(&["10.0.1.2", "10.0.2.2", "2001:db8:1::2", "10.0.1.9"]);
    let mac = random.one_of(&["02:00:00:00:00:01", "02:00:00:00:00:02"]);
    match random.one_of(kinds) {
        "4" => format!("route {verb} {to4} {via4} {metric}"),
        "6" => match random.one_of(&["link", "via", "via"]) {
            "link" => format!("route {verb} 2001:db8:50:1::/64 {link6} {metric}"),
            _ => format!("route {verb} {to6} {via6} {metric}"),
        },
        "several" => match random.one_of(&["4", "6"]) {
            "4" => format!("route {verb} {to4} {metric} {several4}"),
            _ => format!("route {verb} {to6} {metric} {several6}"),
        },
        "special" => match random.one_of(&["4", "6", "object"]) {
            "4" => format!("route {verb} blackhole {to4} {metric}"),
            "6" => format!("route {verb} unreachable {to6} {metric}"),
            _ => format!("route {verb} {to4} nhid {id}"),
        },
        "object" => match random.one_of(&["one", "one", "group", "gone"]) {
            "one" => format!("nexthop replace id {id} {object}"),
            "gone" => format!("nexthop del id {id}"),
            _ => "nexthop replace id 4 group 1,2/2".into(),
        },
        "neighbour" => match random.one_of(&["add", "add", "del"]) {
            "add" => format!("neigh replace {neighbour} lladdr {mac} dev {port}"),
            // The batch would end if there was none.
            _ => {
                let neighbour = format!("{neighbour} dev {port}");
                format!("neigh replace {neighbour} lladdr {mac}\nneigh del {neighbour}")
            }
        },
        _ => match random.one_of(&["down", "address", "default"]) {
            "down" => format!("link set {port} down\nlink set {port} up"),
            "address" => "addr replace 10.0.1.1/24 dev va\naddr del 10.0.1.1/24 dev va".into(),
            _ => format!("route {verb} 0.0.0.0/0 nhid 4"),
        },
    }
}

#[test]
fn random_changes() {
    in_namespace(|| {
        let mut follower = follower();
        let mut random = Random(0x1234_5678_9abc_def1);
        let mut calm = 0;
        for round in 0..80 {
            let is_silent = round % 4 == 3;
            let kinds: &[&str] = if is_silent { &SILENT } else { &REPORTED };
            let commands: Vec<_> = (0..20).map(|_| command(&mut random, kinds)).collect();
            batch(&(commands.join("\n") + "\n"));
            if round % 12 == 0 {
                addresses();
            }
            let followed = settled(&mut follower);
            calm += usize::from(followed.changed > 0 && followed.resyncs == 0);
        }
        // An interface that came up reports its carrier late, so that some rounds have a resync.
        assert!(calm > 30, "{calm} rounds had changes and no resync");
    });
}
