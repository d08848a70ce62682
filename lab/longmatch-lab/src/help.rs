//! Help texts printed after each command's options: examples, notes and exit codes.

use longmatch_cli::{completions_help, licences_help, man_help};

/// Text after the options of `longmatch-lab`.
pub const TOP: &str = "\
Examples:
  longmatch-lab                                 a short demonstration
  longmatch-lab stat --routes rib.20260101.0000.bz2
  longmatch-lab verify --quick
  longmatch-lab bench --engine poptrie --traffic random,routed

Exit codes: 0 ok, 1 a wrong answer or an engine without a result, 2 bad usage or input.
NO_COLOR is honoured. '<command> -h' prints a summary, '<command> --help' the full help.";

/// Text after the options of `longmatch-lab stat`.
pub const STAT: &str = "\
Examples:
  longmatch-lab stat
  longmatch-lab stat -e none
  longmatch-lab stat --routes rib.20260101.0000.bz2 --peer AS64500
  longmatch-lab stat -4 --engine poptrie,poptrie:s=16,radix
  longmatch-lab stat --json | jq '.engines[] | {engine, bytes}'";

/// Text after the options of `longmatch-lab verify`.
pub const VERIFY: &str = "\
With --table, the compiled form in the file is verified first, as engine 'file'. All engines answer
with routes, or with values if the file was compiled with '--answers values'.

Examples:
  longmatch-lab verify
  longmatch-lab verify --quick
  longmatch-lab verify --quick --table sites.lm
  longmatch-lab verify --routes mine.txt --engine poptrie:s=16
  longmatch-lab verify -6 --simd avx2

Exit codes: 0 all agree, 1 a difference, or a named engine that cannot hold the table, 2 bad usage
or input, or nothing to verify.";

/// Text after the options of `longmatch-lab bench`.
pub const BENCH: &str = "\
With --table, the compiled form in the file is measured first, as engine 'file': its memory is
mapped, and each call takes one indirect call more. The other engines are compiled from the routes
of the table. All engines answer with routes, or with values if the file was compiled with
'--answers values'.

Examples:
  longmatch-lab bench
  longmatch-lab bench -4 --engine poptrie,poptrie:s=16 --traffic random,routed,zipf
  longmatch-lab bench --routes rib.mrt.gz --traffic addresses.txt --mode batch --batch 64
  longmatch-lab bench -4 --traffic capture.pcap.gz,zipf
  longmatch-lab bench --table sites.lm --engine folio --mode batch
  longmatch-lab bench -4 --engine poptrie --generate
  longmatch-lab bench -4 --engine dir24_8,spider --mode batch --roofline
  longmatch-lab bench --engine all,auto
  longmatch-lab bench -6 --keys network
  longmatch-lab bench --json > rates.ndjson

If an engine cannot hold the table, its wider forms are tried. If these fail too, the output has a
row with the reason. With --json the output has the form of records.ndjson of 'report': one line
about the run, then a line for each value. The line has the settings, and the spread of the value or
the reason why the value is missing.

Exit codes: 0 done, 1 a wrong answer, or a named engine without a result, 2 bad usage or input, or
nothing was measured.";

/// Text after the options of `longmatch-lab replay`.
pub const REPLAY: &str = "\
Each engine starts from the same routes and applies the updates one by one, as fast as it can. The
time of an update includes applying it and making it visible to readers. With --batch, only the
time of the last update of a batch includes the commit. Objects replaced are an average over all
updates. 'fresh' is the memory of a table compiled from the final routes.

Examples:
  longmatch-lab replay --routes rib.bz2 --updates updates.txt
  longmatch-lab replay -r rib.bz2 --peer AS64500 -u updates.0000.gz -u updates.0005.gz -4
  longmatch-lab replay -r rib.txt -u updates.txt --readers 1 --verify-every 200000 --full
  longmatch-lab replay -r rib.txt -u updates.txt --engine sail,spider --batch 1000
  longmatch-lab replay -4 --from-empty --engine folio
  longmatch-lab replay -r rib.txt -u updates.txt --json | jq '{engine, mean_us, mismatches}'

If an engine fails, the replay is repeated with its wider forms. If these fail too, the output has
a row with the reason, or with --json an object with an 'error'.

Exit codes: 0 all answers right, 1 a wrong one, or an engine without a result, 2 bad usage or input,
or nothing was replayed.";

/// Text after the options of `longmatch-lab report`.
pub const REPORT: &str = "\
Each --routes FILE is a separate table; give the most important one first.

Writes report.html, one self-contained page, and records.ndjson, which has every value with its
settings. Both are written again after each experiment; if the report is interrupted, the same
command continues it. --convert prints an existing report in another format and measures nothing.

Examples:
  longmatch-lab report
  longmatch-lab report --routes rib4.txt.zst --routes rib6.txt.zst --full --out results
  longmatch-lab report -r rib.mrt.bz2 --updates day.txt.zst --trace packets.pcap.gz --quick
  longmatch-lab report --list
  longmatch-lab report --only poptrie-table2 --only dxr-chunks
  longmatch-lab report --out results --convert csv > values.csv

Exit codes: 0 all answers right, 1 a wrong one, 2 bad usage or input.";

/// Text after the options of `longmatch-lab completions`.
pub const COMPLETIONS: &str = completions_help!("longmatch-lab");

/// Text after the options of `longmatch-lab man`.
pub const MAN: &str = man_help!("longmatch-lab", "bench", "bench");

/// Text after the options of `longmatch-lab licences`.
pub const LICENCES: &str = licences_help!("longmatch-lab");
