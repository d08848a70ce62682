//! Help texts printed after each command's options: examples, notes and exit codes.

/// Text after the options of `longmatch`.
pub const TOP: &str = "\
Examples:
  longmatch                                     a short demonstration
  longmatch lookup 8.8.8.8 2001:4860:4860::8888
  longmatch lookup --routes mine.txt - < addresses.txt
  longmatch annotate --column ip access.csv
  longmatch stat --routes rib.20260101.0000.bz2
  longmatch bench --engine poptrie --traffic random,routed

Exit codes: 0 ok, 1 no match, a difference or an engine without a result, 2 bad usage or input.
NO_COLOR is honoured. '<command> -h' prints a summary, '<command> --help' the full help.";

/// Text after the options of `longmatch lookup`.
pub const LOOKUP: &str = "\
Prints 'address<TAB>prefix<TAB>next-hop'; '-' and '-' where no prefix matches. IPv4-mapped IPv6
addresses (::ffff:192.0.2.1) are looked up in the IPv4 routes.

Examples:
  longmatch lookup 8.8.8.8
  longmatch lookup --all 8.8.8.8
  longmatch lookup --routes sites.txt 192.0.2.7 2001:db8::7
  ip route | longmatch lookup --routes - 192.0.2.7
  cut -f1 access.log | longmatch lookup --routes sites.txt -
  longmatch lookup --json - < addresses.txt | jq -r .next_hop

Exit codes: 0 all addresses matched, 1 some did not, 2 bad usage or input.";

/// Text after the options of `longmatch annotate`.
pub const ANNOTATE: &str = "\
Lines pass through byte for byte, in order; what is added comes after the last cell of a CSV row or
the last member of a JSON object, and after a tab at the end of a line of text. Addresses may have
ports, brackets, zone ids and quotes; IPv4-mapped addresses are IPv4 addresses. Where an address is
missing or bad, or no prefix matches, what is added is empty (in JSON null). A row of CSV that equals
the header is a header again. Empty lines stay empty. Rows with too few cells get the missing ones.

Examples:
  longmatch annotate --column ip access.csv > with-asn.csv
  longmatch annotate --column src,dst --prefix-as net flows.csv.gz -o flows-asn.csv.gz
  longmatch annotate -c client --routes sites.csv --add site,owner --as Site,Owner log.csv
  longmatch annotate --field src.ip --routes GeoLite2.mmdb --add country.iso_code events.ndjson
  tail -f access.log | longmatch annotate
  longmatch annotate --match --routes blocklist.txt auth.log | wc -l
  longmatch annotate --no-match --routes ours.txt --regex 'client=(\\S+)' proxy.log

Exit codes: 0 done, 2 bad usage or input; with --match and --no-match 0 if a line was printed, 1 if
none was, as grep.";

/// Text after the options of `longmatch stat`.
pub const STAT: &str = "\
Examples:
  longmatch stat
  longmatch stat --routes rib.20260101.0000.bz2 --peer AS64500
  longmatch stat -4 --engine poptrie,poptrie:s=16,radix
  longmatch stat --json | jq '.engines[] | {engine, bytes}'";

/// Text after the options of `longmatch verify`.
pub const VERIFY: &str = "\
Examples:
  longmatch verify
  longmatch verify --quick
  longmatch verify --routes mine.txt --engine poptrie:s=16
  longmatch verify -6 --simd avx2

Exit codes: 0 all agree, 1 a difference, or a named engine that cannot hold the table, 2 bad usage
or input, or nothing to verify.";

/// Text after the options of `longmatch bench`.
pub const BENCH: &str = "\
Examples:
  longmatch bench
  longmatch bench -4 --engine poptrie,poptrie:s=16 --traffic random,routed,zipf
  longmatch bench --routes rib.mrt.gz --traffic addresses.txt --mode batch --batch 64
  longmatch bench -4 --traffic capture.pcap.gz,zipf
  longmatch bench -4 --engine poptrie --generate
  longmatch bench -4 --engine dir24_8,spider --mode batch --roofline
  longmatch bench --engine all,auto
  longmatch bench -6 --keys network
  longmatch bench --json > rates.ndjson

If an engine cannot hold the table, its wider forms are tried. If these fail too, the output has a
row with the reason, or with --json an object with an 'error'.

Exit codes: 0 done, 1 a wrong answer, or a named engine without a result, 2 bad usage or input, or
nothing was measured.";

/// Text after the options of `longmatch replay`.
pub const REPLAY: &str = "\
Each engine starts from the same routes and applies the updates one by one, as fast as it can. The
time of an update includes applying it and making it visible to readers. With --batch, only the
time of the last update of a batch includes the commit. Objects replaced are an average over all
updates. 'fresh' is the memory of a table compiled from the final routes.

Examples:
  longmatch replay --routes rib.bz2 --updates updates.txt
  longmatch replay -r rib.bz2 --peer AS64500 -u updates.0000.gz -u updates.0005.gz -4
  longmatch replay -r rib.txt -u updates.txt --readers 1 --verify-every 200000 --full
  longmatch replay -r rib.txt -u updates.txt --engine sail,spider --batch 1000
  longmatch replay -4 --from-empty --engine folio
  longmatch replay -r rib.txt -u updates.txt --json | jq '{engine, mean_us, mismatches}'

If an engine fails, the replay is repeated with its wider forms. If these fail too, the output has
a row with the reason, or with --json an object with an 'error'.

Exit codes: 0 all answers right, 1 a wrong one, or an engine without a result, 2 bad usage or input,
or nothing was replayed.";

/// Text after the options of `longmatch report`.
pub const REPORT: &str = "\
Each --routes FILE is a separate table; give the most important one first.

Writes report.html, one self-contained page, and records.ndjson, every value with its settings.
Both are written again after each experiment: the same command continues an interrupted report.
--convert prints an existing report as CSV or Markdown, or its page again, without measuring.

Examples:
  longmatch report
  longmatch report --routes rib4.txt.zst --routes rib6.txt.zst --full --out results
  longmatch report -r rib.mrt.bz2 --updates day.txt.zst --trace packets.pcap.gz --quick
  longmatch report --list
  longmatch report --only poptrie-table2 --only dxr-chunks
  longmatch report --out results --convert csv > values.csv

Exit codes: 0 all answers right, 1 a wrong one, 2 bad usage or input.";

/// Text after the options of `longmatch forward`.
pub const FORWARD: &str = "\
The output has one line of rates each interval, and at the end the counts of all packets by cause.
A packet is forwarded, goes to the kernel (local addresses, ARP, neighbour discovery, IP options,
expired TTLs, packets above the MTU, unknown neighbours), or is dropped (damaged headers, impossible
addresses, blackhole routes). Ctrl-C ends the forwarding and leaves the interfaces as they were.

With --io pcap and dpdk, next hop n of the routes is a neighbour of interface n modulo their number,
with the Ethernet address 02:00 and n in 4 bytes; the next hop 'blackhole' drops packets, and
'unreachable', 'prohibit' and 'throw' hand them to the kernel.

Examples:
  longmatch forward --interface eth0 eth1
  longmatch forward --interface eth0 eth1 --threads 4 --batch 32 --engine poptrie
  longmatch forward --io pcap --interface in.pcap=out.pcap --routes rib.txt.zst
  longmatch forward --interface eth0 eth1 --json | jq '{seconds, forwarded, dropped}'

Exit codes: 0 done, 2 bad usage or input, or an interface that cannot be used.";

/// Text after the options of `longmatch licences`.
pub const LICENCES: &str = "\
Examples:
  longmatch licences
  longmatch licences > LICENCES.txt";
