//! A session with `longmatch-filter`, in a network namespace with a file system of BPF of its own.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use crate::common::Dir;

const SESSION: &str = r#"
exec 2>&1
P="--interface f0 --pins bpf/filters"
echo 192.0.2.0/24 > drop.txt; echo 192.0.2.7 > pass.txt; echo 203.0.113.0/24 > other.txt
longmatch-filter start $P --drop drop.txt --pass pass.txt --confirm 60s --no-safety | grep -v 'drop.txt$\|pass.txt$\|seconds'
longmatch-filter start $P --drop drop.txt
longmatch-filter list $P
longmatch-filter get $P 192.0.2.7 192.0.2.8 203.0.113.1; echo "code $?"
longmatch-filter add $P drop 198.51.100.0/24 2001:db8::7
longmatch-filter remove $P drop 192.0.2.128/25
longmatch-filter list $P
longmatch-filter replace $P nothing=other.txt
longmatch-filter replace $P drop=other.txt
longmatch-filter list $P --json
longmatch-filter status $P --json | grep -o '"confirmed":[a-z]*\|other.txt'
longmatch-filter confirm $P
longmatch-filter confirm $P
longmatch-filter status $P --json | grep -o '"confirmed":[a-z]*'
longmatch-filter counters $P --json | grep -o '"name":"[a-z]*"'
longmatch-filter detach $P
ls bpf/filters
longmatch-filter start --interface f0 --pins elsewhere --drop drop.txt --no-safety > started 2>&1 &
for n in {1..600}; do grep -q 'mounts one' started && break; sleep 0.1; done
ip -d link show f0 | grep -c 'prog/xdp'
kill -TERM $!; wait $!; echo "code $?"
ip -d link show f0 | grep -c 'prog/xdp'
"#;

const EXPECTED: &str = r#"f0 (XDP, native): the lists have the source of packets
  list  action  file
other packets: pass, unreadable headers: pass
pinned in bpf/filters/f0-xdp
longmatch-filter: f0: there is a filter already, pinned in bpf/filters/f0-xdp: change it with 'longmatch-filter replace', or remove it with 'longmatch-filter detach'
192.0.2.0/30	drop
192.0.2.4/31	drop
192.0.2.6/32	drop
192.0.2.7/32	pass,drop
192.0.2.8/29	drop
192.0.2.16/28	drop
192.0.2.32/27	drop
192.0.2.64/26	drop
192.0.2.128/25	drop
from 192.0.2.7: pass (pass); in pass, drop
from 192.0.2.8: drop (drop); in drop
from 203.0.113.1: pass (no list decides); in no list
code 1
192.0.2.0/30	drop
192.0.2.4/31	drop
192.0.2.6/32	drop
192.0.2.7/32	pass,drop
192.0.2.8/29	drop
192.0.2.16/28	drop
192.0.2.32/27	drop
192.0.2.64/26	drop
198.51.100.0/24	drop
2001:db8::7/128	drop
longmatch-filter: nothing=other.txt: expected NAME=FILE; the lists are: pass, drop
{"lists":["pass"],"prefix":"192.0.2.7/32"}
{"lists":["drop"],"prefix":"203.0.113.0/24"}
"confirmed":false
other.txt
longmatch-filter: f0: the filter is confirmed already
"confirmed":true
"name":"pass"
"name":"drop"
1
code 0
0
"#;

#[test]
fn a_session_with_a_filter() {
    let dir = Dir::new();
    let script = format!(
        "mkdir bpf && mount -t bpf bpf bpf && ip link add f0 type veth peer name p0 && ip link set f0 up && \
         ip link set p0 up && echo ready || exit 9\n{SESSION}"
    );
    let program = Path::new(crate::PROGRAM).parent().unwrap().display();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap());
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", "--mount", "bash", "-c", &script]).current_dir(dir.path(""));
    let output = match unshare.env("PATH", path).output() {
        Ok(output) if output.stdout.starts_with(b"ready\n") => output,
        other => {
            let reason = "it needs root, `unshare`, `ip` and a file system of BPF";
            let _ = writeln!(io::stderr(), "skipped: a_session_with_a_filter: {reason}: {other:?}");
            return;
        }
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> =
        text.lines().filter(|line| !line.contains("debug assertions")).skip(1).collect();
    assert_eq!(lines.join("\n") + "\n", EXPECTED);
}
