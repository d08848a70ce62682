//! Help texts printed after the options: examples, notes and exit codes.

use longmatch_cli::{completions_help, licences_help, man_help};

/// Text after the options of `longmatch-forward`.
pub const TOP: &str = "\
The output has one line of rates each interval, and at the end the counts of all packets by cause.
A packet is forwarded, goes to the kernel (local addresses, ARP, neighbour discovery, IP options,
expired TTLs, packets above the MTU, unknown neighbours), or is dropped (damaged headers, impossible
addresses, blackhole routes). Ctrl-C ends the forwarding and leaves the interfaces as they were.

With --io pcap and dpdk, next hop n of the routes is a neighbour of interface n modulo their number,
with the Ethernet address 02:00 and n in 4 bytes; the next hop 'blackhole' drops packets, and
'unreachable', 'prohibit' and 'throw' hand them to the kernel.

Examples:
  longmatch-forward --interface eth0 eth1
  longmatch-forward --interface eth0 eth1 --threads 4 --batch 32 --engine poptrie
  longmatch-forward --io pcap --interface in.pcap=out.pcap --routes rib.txt.zst
  longmatch-forward --interface eth0 eth1 --json | jq '{seconds, forwarded, dropped}'
  longmatch-forward --interface eth0 eth1 --metrics 9470
  longmatch-forward route get 192.0.2.1

docs/forward.md is the guide: bypassed functions, rates, counts, capabilities, a systemd unit.

Exit codes: 0 done, 1 if 'route get' found an address without a route, 2 bad usage or input, or an
interface that cannot be used.";

/// Text after the options of `longmatch-forward completions`.
pub const COMPLETIONS: &str = completions_help!("longmatch-forward");

/// Text after the options of `longmatch-forward man`.
pub const MAN: &str = man_help!("longmatch-forward", "route get", "route-get");

/// Text after the options of `longmatch-forward licences`.
pub const LICENCES: &str = licences_help!("longmatch-forward");
