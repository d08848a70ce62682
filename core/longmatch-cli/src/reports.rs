//! Reports of inputs, on standard error.

use longmatch_feed::{FeedError, Peer, Report, printable};

use crate::families::Families;
use crate::output::{plural, thousands, warn};

/// Prints the format of an input on standard error.
pub fn print_format(name: &str, report: &Report) {
    let (name, read_as, rows) =
        (printable(name), printable(&report.read_as), plural(report.rows, "row"));
    warn(format_args!("{name}: read as {read_as}: {rows}"));
}

/// Prints the chosen peers and the skipped content of an input on standard error.
pub fn print_report(name: &str, report: &Report, families: Families) {
    let name = printable(name);
    let peer = |position: Option<usize>| position.and_then(|n| report.peers.get(n));
    let ipv4 = peer(report.chosen.ipv4).filter(|_| families.ipv4);
    let ipv6 = peer(report.chosen.ipv6).filter(|_| families.ipv6);
    let ipv6_routes = report.announced_ipv6;
    let taken =
        [(ipv4, report.announced - ipv6_routes, "IPv4 route"), (ipv6, ipv6_routes, "IPv6 route")];
    let among = match report.peers.len() {
        1 => "the only peer".to_owned(),
        count => format!("one of {count} peers; choose with --peer"),
    };
    for (peer, routes, label) in taken {
        // For a peer without any route, the warnings below give the reason.
        if let Some(peer) = peer.filter(|_| routes > 0 || report.withdrawn > 0) {
            let (routes, peer) = (plural(routes, label), peer_name(peer));
            warn(format_args!("{name}: taking {routes} of peer {peer} ({among})"));
        }
    }
    for warning in report.warnings() {
        // The library names its options in parentheses.
        let options = [("duplicates", "duplicates"), ("join", "join"), ("filters", "where")];
        let option = options.into_iter().find_map(|(noun, option)| {
            Some(format!("{}(--{option})", warning.strip_suffix(&format!("({noun})"))?))
        });
        warn(format_args!("{name}: {}", option.unwrap_or(warning)));
    }
    // Routes of the main table are left out only with --ip-table; then the advice is not needed.
    if !report.other_tables.is_empty() && !report.other_tables.contains_key("main") {
        warn(format_args!("{name}: --ip-table takes the routes of another table"));
    }
    if let Some(error) = &report.first_damage {
        warn(first_damage(error, report.damaged));
    }
}

/// Describes the first damage of a lenient load, and the number of damaged places.
pub fn first_damage(error: &FeedError, damaged: u64) -> String {
    match damaged {
        1 => error.to_string(),
        n => format!("{error} (the first of {})", thousands(n)),
    }
}

fn peer_name(peer: &Peer) -> String {
    let name = format!("{} AS{}", peer.addr, peer.asn);
    match peer.index {
        Some(index) => format!("{name} index {index}"),
        None => name,
    }
}
