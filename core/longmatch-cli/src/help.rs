//! Help texts printed after each command's options: examples, notes and exit codes.

/// Text after the options of `longmatch`.
pub const TOP: &str = "\
Examples:
  longmatch lookup 8.8.8.8 2001:4860:4860::8888
  longmatch lookup --routes mine.txt - < addresses.txt
  longmatch compile --routes sites.csv -o sites.lm
  longmatch lookup --table sites.lm 192.0.2.7
  longmatch annotate --column ip access.csv
  longmatch set aggregate blocklist.txt

The program longmatch-lab has a demonstration, and checks and measures tables. longmatch-forward
forwards packets.

Exit codes: 0 ok, 1 no match or a difference, 2 bad usage or input.
NO_COLOR is honoured. '<command> -h' prints a summary, '<command> --help' the full help.";

/// Text after the options of `longmatch lookup`.
pub const LOOKUP: &str = "\
Prints 'address<TAB>prefix<TAB>value', or 'address<TAB>-<TAB>-' if no prefix matches. The address is
printed as it was given. IPv4-mapped IPv6 addresses (::ffff:192.0.2.1) are looked up in the IPv4
routes.

A query may be a prefix: the answer is the longest prefix that covers the query or equals it. --all
prints all prefixes that cover the query, --more-specific all prefixes inside the query. The column
'address' has the query as it was given.

The value of routes is the next hop, or the origin AS where routes have AS paths (MRT, 'bgpdump
-m'); see --value. Prefixes of any other format (CSV, lists, address ranges, MaxMind DB, compiled
tables) have a field for each column, empty where the value is null. JSON, CSV and --header have the
names: 'address', 'prefix', and the columns ('prefix_' for a column named 'prefix'); routes have the
column 'next_hop' or 'origin_as'.

If each --routes is 'NAME=FILE', the files are lists with names, and the column 'list' has the names
of all lists that have the address, such as 'drop;tor'.

Without --routes and --table the default table answers: the AS that originates the prefix, 'asn',
and its 'name'. 'longmatch --version' prints its date. Special-purpose addresses have no AS.

A line that is neither an address nor a prefix is an error, unless --skip-invalid is given.

If you run lookup often, compile the prefixes once: a file of --table is mapped, which takes no
time. A later run maps the file that has replaced it by then. (A program that keeps running uses
FileTable::reload of the library.)

Examples:
  longmatch lookup 8.8.8.8
  longmatch lookup --routes sites.csv 192.0.2.7 2001:db8::7
  longmatch lookup --table sites.lm --json - < addresses.txt | jq -r .asn
  longmatch lookup --all 8.8.8.8
  longmatch lookup --routes rib.mrt.bz2 192.0.2.0/24
  longmatch lookup --routes rib.mrt.bz2 --more-specific 192.0.2.0/24
  longmatch lookup --routes sites.csv --csv --add site,asn - < addresses.txt > sites-of.csv
  ip route | longmatch lookup --routes - 192.0.2.7
  longmatch lookup --routes sites.csv - < addresses.txt.gz
  longmatch lookup --routes sites.csv --skip-invalid - < access.log

Exit codes: 0 all queries matched, 1 some did not (0 with --exit-zero), 2 bad usage or input.";

/// Text after the options of `longmatch compile`.
pub const COMPILE: &str = "\
All commands that have --routes read the compiled table with --table. The table is written to a new
file, which then replaces FILE: a program that has the old file open keeps the old table until it
opens FILE again. -o FILE.mmdb writes a MaxMind DB, and --ranges -o FILE.csv disjoint ranges, in the
same way. --ranges -o FILE.parquet needs a build with the feature 'columnar'.

Examples:
  longmatch compile --routes sites.csv -o sites.lm
  longmatch compile -r sites.csv --as site=city.names.en -o sites.mmdb
  longmatch compile -r sites.csv --ranges --buckets 16 -o sites-ranges.csv
  longmatch compile -r sites.csv --columns asn,country -o sites.lm
  longmatch compile -r ranges.tsv --prefix-column 1,2 --columns 3=asn --types asn=u64 -o asn.lm
  longmatch compile -r rib.20260101.0000.bz2 -o origins.lm
  longmatch compile -r city.mmdb --columns country.iso_code=country,city.names.en=city -o geo.lm
  longmatch compile -r blocks.csv --join geoname_id=GeoLite2-City-Locations-en.csv -o city.lm
  longmatch compile -r bad-networks.txt -o bad.lm
  longmatch compile -o asn.lm && longmatch lookup --table asn.lm 8.8.8.8

Exit codes: 0 written, 2 bad usage or input, or the file cannot be written.";

/// Parquet and Arrow, in a build that reads them.
#[cfg(feature = "columnar")]
macro_rules! columnar {
    () => {
        "\
In Parquet, Arrow files and Arrow streams --column gives the name of a column, or the path of a
field of a struct (src.ip). Addresses are text, integers (IPv4), or bytes in network order, also in
dictionaries. All columns, their types and the metadata stay; added columns have the types of the
prefix data, and nulls. The output has the format of its name, .parquet, .arrow (.feather, .ipc) or
.arrows (a stream), or else the format of the input. Parquet and Arrow files on a pipe, or
compressed as a whole, are first written to a temporary file of their size. Row groups have up to
about 131,072 rows, and not more than those of a Parquet input.

"
    };
    (example) => {
        "  longmatch annotate --column src.ip flows.parquet -o flows-asn.parquet
"
    };
}

/// The same in a build that does not read them.
#[cfg(not(feature = "columnar"))]
macro_rules! columnar {
    () => {
        "Parquet and Arrow need a build with the feature 'columnar'.\n\n"
    };
    (example) => {
        ""
    };
}

/// Text after the options of `longmatch annotate`.
pub const ANNOTATE: &str = concat!(
    "\
Input is copied byte for byte, in order; new columns follow the last cell of a CSV row or the last
member of a JSON object, and after a tab at the end of a line of text. Addresses may have ports,
brackets, parentheses, zone ids, quotes, a final dot and the length /32 or /128; IPv4-mapped
addresses are IPv4 addresses. Where an address is missing or bad, or no prefix matches, the columns
are empty (JSON: null; between spaces: -). A row of CSV that equals the header is a header again.
Empty lines stay empty. Rows with too few cells get the missing ones. If a cell or array has
several addresses 'a, b', the added cell has a value for each, with commas between them or as an
array.

In logs of Zeek and of W3C programs the line #fields or #Fields: is the header. Another such line
may follow; it must have the same names for the columns with addresses. A packet capture (pcap,
pcapng) is read as CSV with the columns time, source and destination; by default the addresses of
the column destination are looked up.

The first SIGINT or SIGTERM ends the reading; rows that were read are still written. SIGHUP reads
the files of --routes and --table again.

",
    columnar!(),
    "Examples:
  longmatch annotate --column ip access.csv > with-asn.csv
  longmatch annotate --column src,dst --prefix-as net flows.csv.gz -o flows-asn.csv.gz
  longmatch annotate -c client --routes sites.csv --add site,owner --as Site,Owner log.csv
  longmatch annotate --field src.ip --routes GeoLite2.mmdb --add country.iso_code events.ndjson
",
    columnar!(example),
    "  tail -f access.log | longmatch annotate
  longmatch annotate --column id.resp_h --flag bad --routes blocklist.txt conn.log
  longmatch annotate --field 'Records[].sourceIPAddress' --any trail.ndjson
  longmatch annotate --match --count --routes blocklist.txt auth.log auth.log.1.gz
  longmatch annotate --no-match --routes ours.txt --regex 'client=(\\S+)' proxy.log

Exit codes: 0 done, 2 bad usage or input; with --match and --no-match 0 if a line was printed, 1 if
none was, as grep."
);

/// Text after the operations of `longmatch set`.
pub const SET: &str = "\
A list is a file of any format of --format: one prefix, address or range 'first-last' a line, CSV,
JSON, MRT, the output of 'ip route', ipset, nft and so on. Both families may be in one list;
IPv4-mapped IPv6 addresses count as IPv4. Empty lines and lines that begin with '#' or ';' are
ignored. Files may be compressed with gzip, bzip2, zstd or xz.

overlaps, covered, diff and dump take prefixes as they are listed. The other operations treat a list
as the set of its addresses, and print the fewest prefixes of the result, sorted, IPv4 first. --form
prints ranges, hosts without /32 and /128, or the input of ipset, nft, iptables or routers instead.

Examples:
  longmatch set aggregate blocklist.txt
  longmatch set union a.txt b.txt.gz > both.txt
  longmatch set difference all.txt allowed.txt
  longmatch set diff yesterday.mrt.bz2 today.mrt.bz2
  longmatch set count customers.csv
  longmatch set aggregate --form ipset --name bad blocklist.txt | ipset restore -exist
  longmatch set covered customers.txt blocklist.txt
  longmatch set matrix feed-*.txt
  longmatch set dump --csv GeoLite2-Country.mmdb

Exit codes: 0 done, 1 if overlaps or covered printed no line, or if diff found a difference, 2 bad
usage or input.";

/// Text after the options of `longmatch set aggregate`.
pub const SET_AGGREGATE: &str = "\
The output has exactly the addresses of the lists. Next hops of routes do not count; the function
'aggregated' of the library makes fewer routes with the same answers.

Examples:
  longmatch set aggregate blocklist.txt
  zcat feed-*.gz | longmatch set aggregate --ranges
  longmatch set aggregate --max-length4 24 --max-length6 48 hosts.txt
  longmatch set aggregate --form nft --name bad blocklist.txt | nft -f -
  longmatch set aggregate -4 --form iptables --name bad blocklist.txt | iptables-restore -n

With --form ipset, nft and iptables the output makes a set for each family, even if it is empty;
with -4 or -6 it makes the set of that family only. The input of iptables-restore replaces the rules
of the chain NAME; without -n iptables-restore removes all other chains. Lines that begin with -4 or
-6 let the same file serve iptables-restore and ip6tables-restore. 'ipset restore' and 'nft -f' add
to sets that exist.

Exit codes: 0 done, 2 bad usage or input.";

/// Text after the options of `longmatch set union`.
pub const SET_UNION: &str = "\
Examples:
  longmatch set union a.txt b.txt c.txt
  longmatch set union --ranges a.txt - < b.txt

Exit codes: 0 done, 2 bad usage or input.";

/// Text after the options of `longmatch set intersect`.
pub const SET_INTERSECT: &str = "\
Examples:
  longmatch set intersect ours.txt blocklist.txt
  longmatch set intersect --json a.txt b.txt | jq -r .prefix

Exit codes: 0 done, even without such an address, 2 bad usage or input.";

/// Text after the options of `longmatch set difference`.
pub const SET_DIFFERENCE: &str = "\
Examples:
  longmatch set difference blocklist.txt allowed.txt
  longmatch set difference all.txt a.txt b.txt

Exit codes: 0 done, even if no address is left, 2 bad usage or input.";

/// Text after the options of `longmatch set complement`.
pub const SET_COMPLEMENT: &str = "\
Examples:
  longmatch set complement --within 10.0.0.0/8 used.txt
  longmatch set complement --within 2000::/3 rib.mrt.bz2
  longmatch set complement -4 rib.txt

Exit codes: 0 done, 2 bad usage or input.";

/// Text after the options of `longmatch set overlaps`.
pub const SET_OVERLAPS: &str = "\
Prints 'prefix-of-A<TAB>relation<TAB>prefix-of-B', in the order of the longer prefix. The relation
is 'covers' if A's prefix is the shorter one, 'inside' if it is the longer one, or 'equals'.
Prefixes are compared as they are listed, each once; a range is compared as its fewest prefixes.

Examples:
  longmatch set overlaps customers.txt blocklist.txt
  longmatch set overlaps --json a.txt b.txt | jq -r 'select(.relation == \"inside\").a'

Exit codes: 0 done, 1 without such a pair, 2 bad usage or input.";

/// Text after the options of `longmatch set covered`.
pub const SET_COVERED: &str = "\
Prints 'prefix-of-A<TAB>full', 'partly' or 'not': B has all, some or none of the addresses of this
prefix. Several prefixes of B may cover it together. Prefixes of A are printed as they are listed,
each once, sorted, IPv4 first; a range is printed as its fewest prefixes.

Examples:
  longmatch set covered customers.txt blocklist.txt
  longmatch set covered --only not allocations.txt rib.mrt.bz2
  longmatch set covered --json a.txt b.txt | jq -r 'select(.covered == \"partly\").prefix'

Exit codes: 0 done, 1 no line was printed, 2 bad usage or input.";

/// Text after the options of `longmatch set matrix`.
pub const SET_MATRIX: &str = "\
Prints a grid for each family, with a row and a column for each list. A cell has the number of
addresses that both lists have, and in parentheses their share of all addresses of the row's list.
With --json the number of addresses is a text, and 'share' is null if list 'a' is empty.

Examples:
  longmatch set matrix feed1.txt feed2.txt feed3.txt
  longmatch set matrix --json *.txt | jq -r 'select(.a != .b and .share > 0.9) | [.a, .b]'

Exit codes: 0 done, 2 bad usage or input.";

/// Text after the options of `longmatch set dump`.
pub const SET_DUMP: &str = "\
Prints the prefix and all columns of each row, sorted by prefix, IPv4 first, with TABs between them
and without a header; --csv prints the names of the columns first, --json has them in each object.
A null value is an empty cell; in JSON it is null. Ranges become their fewest prefixes. If there are
several files, the output has the columns of all files, and rows of later files replace rows of
earlier files. A column named 'prefix' becomes 'prefix_'.

Examples:
  longmatch set dump sites.lm
  longmatch set dump --csv GeoLite2-Country.mmdb > country.csv
  longmatch set dump GeoLite2-ASN-CSV_20250101.zip:GeoLite2-ASN-Blocks-IPv4.csv
  longmatch set dump --json --columns region,service --duplicates join ip-ranges.json
  longmatch set dump --csv --value as-path rib.20260101.0000.bz2

Exit codes: 0 done, 2 bad usage or input.";

/// Text after the options of `longmatch set diff`.
pub const SET_DIFF: &str = "\
Reads files of any format, as 'lookup --routes' does. A line '-prefix value' is in OLD only, a line
'+prefix value' in NEW only; if the value changed, both lines are printed. All rows of a prefix are
compared, in any order; equal rows count once. With --duplicates one row of each prefix is compared.
Columns are compared by name, in any order. If only one table has a column, --columns must name the
columns to compare.

Examples:
  longmatch set diff old.txt new.txt
  longmatch set diff --columns region,service ip-ranges.json new.json
  longmatch set diff --stat rib.0000.bz2 rib.0800.bz2
  ip route | longmatch set diff saved.txt -
  longmatch set diff --prefixes old-list.txt new-list.txt
  longmatch set diff --json old.txt new.txt | jq -r 'select(.change == \"added\").prefix'

Exit codes: 0 the tables are equal, 1 they differ, 2 bad usage or input.";

/// Text after the options of `longmatch set split`.
pub const SET_SPLIT: &str = "\
The lists are first reduced to the fewest prefixes. Then each prefix shorter than the length of its
family is split into prefixes of that length. Longer prefixes are printed as they are, and so are
all prefixes of a family without a length.

Examples:
  longmatch set split --length4 24 --length6 48 allocations.txt
  echo 10.0.0.0/8 | longmatch set split --length4 16

Exit codes: 0 done, 2 bad usage or input, or more prefixes than --limit.";

/// Text after the options of `longmatch set count`.
pub const SET_COUNT: &str = "\
'prefixes' is the smallest number of prefixes that have exactly these addresses, 'ranges' the
smallest number of ranges. With --json the number of addresses is a text of up to 39 digits.

Examples:
  longmatch set count blocklist.txt
  longmatch set count --json *.txt | jq -r .addresses

Exit codes: 0 done, 2 bad usage or input.";

/// Text after the options of `longmatch rov`.
pub const ROV: &str = "\
Prints 'prefix<TAB>asn<TAB>state' for each route, in the order of the input (formats with columns:
of the prefixes). The states are those of RFC 6811: 'valid'; 'invalid (asn)', if no VRP that covers
the route has its origin; 'invalid (length)', if one has it, but the route is longer than its max
length; 'not found', if no VRP covers the route. CSV and JSON have 'not-found', and the reason apart.

A route whose AS path ends in a set has no origin: '-', in CSV nothing, in JSON null. It is invalid
if a VRP covers it. So is a route with an empty path or one that ends in a confederation, as the AS
of the router that wrote it is not in the file. VRPs of AS 0 match no route.

The numbers of routes in each state are printed on standard error. Damaged VRPs are refused: without
them valid routes would be invalid or not found.

Examples:
  longmatch rov --vrps vrps.json rib.mrt.bz2
  longmatch rov --vrps vrps.csv --only invalid --json rib.mrt.bz2
  echo 192.0.2.0/24 64500 | longmatch rov --vrps vrps.json --fail-on invalid
  longmatch rov --vrps vrps.json --origin asn routes.csv

Exit codes: 0 done, 1 a route is in the state of --fail-on, 2 bad usage or input.";

/// Text after the options of the command `completions` of a program.
#[macro_export]
macro_rules! completions_help {
    ($program:literal) => {
        concat!(
            "\
The script completes commands, options, their values and the names of files. Write it to where the
shell looks for scripts, or evaluate it when the shell starts. It asks the program of PATH for the
words: options, their values, and for --add, --columns and --types the columns of the tables that
the line names. For zsh the directory must be in 'fpath' before 'compinit' runs. Release archives
have the scripts of all shells.

Examples:
  ", $program, " completions bash > ~/.local/share/bash-completion/completions/", $program, "
  ", $program, " completions zsh > ~/.zfunc/_", $program, "
  ", $program, " completions fish > ~/.config/fish/completions/", $program, ".fish
  ", $program, " completions elvish >> ~/.config/elvish/rc.elv
  ", $program, " completions powershell >> $PROFILE

Exit codes: 0 printed, 2 bad usage."
        )
    };
}

/// Text after the options of the command `man` of a program, with the command and the page of an example.
#[macro_export]
macro_rules! man_help {
    ($program:literal, $command:literal, $page:literal) => {
        concat!(
            "\
The pages have the texts of '--help'; 'man ",
            $program,
            "-",
            $page,
            "' shows the page of
'",
            $program,
            " ",
            $command,
            "'. Release archives have the pages.

Examples:
  ",
            $program,
            " man ",
            $command,
            " | man -l -
  ",
            $program,
            " man --out ~/.local/share/man/man1

Exit codes: 0 printed or written, 2 bad usage, or a page cannot be written."
        )
    };
}

/// Text after the options of the command `licences` of a program.
#[macro_export]
macro_rules! licences_help {
    ($program:literal) => {
        concat!("Examples:\n  ", $program, " licences\n  ", $program, " licences > LICENCES.txt")
    };
}

/// Text after the options of `longmatch completions`.
pub const COMPLETIONS: &str = completions_help!("longmatch");

/// Text after the options of `longmatch man`.
pub const MAN: &str = man_help!("longmatch", "set aggregate", "set-aggregate");

/// Text after the options of `longmatch licences`.
pub const LICENCES: &str = licences_help!("longmatch");
