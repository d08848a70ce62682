//! Help texts printed after the options: examples, notes and exit codes.

use longmatch_cli::{completions_help, licences_help, man_help};

/// Text after the options of `longmatch-filter`.
pub const TOP: &str = "\
Examples:
  longmatch-filter start -i eth0 --drop blocklist.txt --pass office.txt --confirm 60s
  longmatch-filter confirm -i eth0
  longmatch-filter counters -i eth0
  longmatch-filter get -i eth0 192.0.2.7
  longmatch-filter replace -i eth0
  longmatch-filter detach -i eth0

docs/filter.md is the guide: order of lists, safety, kernel versions, capabilities, examples.

Exit codes: 0 done, 1 if 'get' found an address whose packets are dropped, 2 bad usage or input, or
a filter that cannot be used.";

/// Text after the options of `longmatch-filter start`.
pub const START: &str = "\
The order of decisions: packets of the SSH peer, the gateways and this machine pass; with --to,
packets to other addresses pass; then the lists of --pass, --drop, --limit and --mark in this order;
--default for the rest. Lists of --count only count. Between prefixes of a list and of other lists
their lengths do not matter: a packet is in a list or it is not.

Files have any format that 'longmatch set' reads: lists of prefixes, addresses and ranges, CSV, JSON,
MRT, MaxMind DB, compiled tables.

The filter stays in the kernel after the command: its program, link and maps are kept in the file
system of BPF. Where there is none, the command keeps the filter until it ends.

Examples:
  longmatch-filter start -i eth0 --drop blocklist.txt
  longmatch-filter start -i eth0 --drop drop.txt --count tor=tor.csv --dry-run
  longmatch-filter start -i eth0 --limit 1000:suspects.txt --to customer.txt
  longmatch-filter start -i eth0 --pass office.txt --default drop --confirm 60s
  longmatch-filter start -i eth0 --hook egress --mark 7:cdn.txt
  longmatch-filter start -i eth0 --drop nl=GeoLite2-Country.mmdb --where country.iso_code=NL";

/// Text after the options of `longmatch-filter counters`.
pub const COUNTERS: &str = "\
'packets' and 'bytes' have all packets with an address in the list, 'decided' those that the list
decided about, 'over' those of them that were more than the rate of --limit. After --dry-run, packets
count as dropped that would have been.";

/// Text after the options of `longmatch-filter replace`.
pub const REPLACE: &str = "\
Give the options of reading that 'start' had, such as --where. Each packet sees either all old
addresses or all new ones; the counts go on. If a file cannot be read, nothing is replaced.

Examples:
  longmatch-filter replace -i eth0
  longmatch-filter replace -i eth0 blocklist=new.txt";

/// Text after the options of `longmatch-filter add` and `remove`.
pub const CHANGE: &str = "\
Each packet sees the table either before the change or after it. The file of the list does not
change: 'replace' reads it again, without the change.

Examples:
  longmatch-filter add -i eth0 blocklist 192.0.2.7 2001:db8::/32
  longmatch-filter remove -i eth0 blocklist 192.0.2.0/25";

/// Text after the options of `longmatch-filter completions`.
pub const COMPLETIONS: &str = completions_help!("longmatch-filter");

/// Text after the options of `longmatch-filter man`.
pub const MAN: &str = man_help!("longmatch-filter", "start", "start");

/// Text after the options of `longmatch-filter licences`.
pub const LICENCES: &str = licences_help!("longmatch-filter");
