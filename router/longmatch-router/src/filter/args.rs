//! Command line: options, commands and their help texts.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use longmatch::IpPrefix;
use longmatch_cli::args::{CompletionsArgs, ManArgs, ReadArgs, seconds};
use longmatch_router::http;

use super::help;

/// Filter packets by lists of prefixes, inside the Linux kernel
#[derive(Parser, Debug)]
#[command(name = "longmatch-filter", version, after_help = help::TOP)]
pub struct FilterArgs {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Attach a filter to an interface
    #[command(after_help = help::START)]
    Start(StartArgs),
    /// Print the interface, the lists and the state of a filter
    Status(QuestionArgs),
    /// Print the packets and bytes of each list
    #[command(after_help = help::COUNTERS)]
    Counters(CountersArgs),
    /// Print the prefixes in the kernel, with their lists
    List(QuestionArgs),
    /// Print the lists of addresses, and the decision about their packets
    Get(GetArgs),
    /// Read the lists again, and replace all addresses at once
    #[command(after_help = help::REPLACE)]
    Replace(ReplaceArgs),
    /// Add prefixes to a list in the kernel
    #[command(after_help = help::CHANGE)]
    Add(ChangeArgs),
    /// Remove the addresses of prefixes from a list in the kernel
    #[command(after_help = help::CHANGE)]
    Remove(ChangeArgs),
    /// Keep a filter that was started with --confirm
    Confirm(WhichArgs),
    /// Detach a filter and remove it from the kernel
    Detach(WhichArgs),
    /// Print the completion script of a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page of a command, or write the pages of all
    #[command(after_help = help::MAN)]
    Man(ManArgs),
    /// Print the licences of longmatch and of its tables
    #[command(alias = "licenses", after_help = help::LICENCES)]
    Licences,
}

/// The filter that a command is for.
#[derive(Args, Clone, Debug)]
pub struct WhichArgs {
    /// The interface
    #[arg(short, long, value_name = "IF")]
    pub interface: String,

    /// Where packets are filtered: xdp, ingress, egress
    ///
    /// xdp      received packets, before the network stack: the fastest
    /// ingress  received packets, by tc, where XDP is not to be had
    /// egress   sent packets, by tc
    #[arg(
        long,
        value_enum,
        value_name = "HOOK",
        default_value = "xdp",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub hook: HookArg,

    /// The directory of a file system of BPF in which filters are kept
    #[arg(long, value_name = "DIR", default_value = "/sys/fs/bpf/longmatch")]
    pub pins: PathBuf,
}

/// Where packets are filtered.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookArg {
    /// Received packets, before the network stack
    Xdp,
    /// Received packets, by tc
    Ingress,
    /// Sent packets, by tc
    Egress,
}

/// Mode of the XDP program.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum XdpModeArg {
    /// Native where the driver supports it
    Auto,
    /// In the driver
    Native,
    /// In the network stack
    Generic,
}

/// The matched address.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchArg {
    /// The source
    Source,
    /// The destination
    Destination,
    /// Both
    Both,
}

/// Whether packets pass.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FateArg {
    /// They pass
    Pass,
    /// They are dropped
    Drop,
}

/// The lists and their actions.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// Pass packets of this list, whatever other lists they are in; may be repeated
    ///
    /// NAME is for counts and messages; without it the name is that of the file.
    #[arg(long, value_name = "[NAME=]FILE", verbatim_doc_comment)]
    pub pass: Vec<PathBuf>,

    /// Drop packets of this list; may be repeated
    #[arg(long, value_name = "[NAME=]FILE")]
    pub drop: Vec<PathBuf>,

    /// Pass PPS packets a second of this list on each CPU, and drop more; may be repeated
    ///
    /// A tenth of the packets of a second may come at once.
    #[arg(long, value_name = "PPS:[NAME=]FILE", value_parser = numbered, verbatim_doc_comment)]
    pub limit: Vec<(u32, PathBuf)>,

    /// Give packets of this list a mark (tc only); may be repeated
    ///
    /// For 'ip rule', nftables and tc: the mark of the packet in the kernel.
    #[arg(long, value_name = "MARK:[NAME=]FILE", value_parser = numbered, verbatim_doc_comment)]
    pub mark: Vec<(u32, PathBuf)>,

    /// Count packets of this list, whatever happens to them; may be repeated
    #[arg(long, value_name = "[NAME=]FILE")]
    pub count: Vec<PathBuf>,

    /// Filter only packets to the addresses of this list; all others pass
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,

    /// The address that is looked for in the lists: source, destination, both
    ///
    /// By default the source of received packets and the destination of sent ones. With 'both' a
    /// packet is in a list if one of its addresses is.
    #[arg(
        long = "match",
        value_enum,
        value_name = "ADDRESS",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub matched: Option<MatchArg>,

    /// What happens to packets that no list decides about: pass, drop
    #[arg(
        long,
        value_enum,
        value_name = "FATE",
        default_value = "pass",
        hide_possible_values = true
    )]
    pub default: FateArg,

    /// How the files are read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// `longmatch-filter start`.
#[derive(Args, Clone, Debug)]
pub struct StartArgs {
    /// The filter.
    #[command(flatten)]
    pub which: WhichArgs,

    /// The lists.
    #[command(flatten)]
    pub lists: ListArgs,

    /// What happens to packets whose headers cannot be read: pass, drop
    #[arg(
        long,
        value_enum,
        value_name = "FATE",
        default_value = "pass",
        hide_possible_values = true
    )]
    pub unknown: FateArg,

    /// Count only: all packets pass
    #[arg(long)]
    pub dry_run: bool,

    /// Let all packets pass after this time, unless 'longmatch-filter confirm' is called: 60s
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub confirm: Option<Duration>,

    /// Filter packets of the SSH peer, of gateways and of this machine like all others
    ///
    /// Without this option they pass, so that nobody locks himself out.
    #[arg(long, verbatim_doc_comment)]
    pub no_safety: bool,

    /// Mode of the XDP program: auto, native, generic
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub xdp_mode: XdpModeArg,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `longmatch-filter status` and `list`.
#[derive(Args, Clone, Debug)]
pub struct QuestionArgs {
    /// The filter.
    #[command(flatten)]
    pub which: WhichArgs,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `longmatch-filter counters`.
#[derive(Args, Clone, Debug)]
pub struct CountersArgs {
    /// The filter.
    #[command(flatten)]
    pub which: WhichArgs,

    /// Serve metrics for Prometheus at http://ADDR:PORT/metrics, until a signal
    ///
    /// Without ADDR they are at 127.0.0.1. Every process that reaches the address may read the counts.
    #[arg(
        long,
        value_name = "[ADDR:]PORT",
        value_parser = http::address,
        conflicts_with_all = ["interval", "json"],
        verbatim_doc_comment
    )]
    pub metrics: Option<SocketAddr>,

    /// Print the counts again after each interval of so many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub interval: Option<f64>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `longmatch-filter get`.
#[derive(Args, Clone, Debug)]
pub struct GetArgs {
    /// The filter.
    #[command(flatten)]
    pub which: WhichArgs,

    /// Addresses
    #[arg(required = true, value_name = "ADDR")]
    pub addrs: Vec<IpAddr>,

    /// Print one JSON object for each address
    #[arg(long)]
    pub json: bool,
}

/// `longmatch-filter replace`.
#[derive(Args, Clone, Debug)]
pub struct ReplaceArgs {
    /// The filter.
    #[command(flatten)]
    pub which: WhichArgs,

    /// Another file for a list; lists that are not named are read from their own files again
    #[arg(value_name = "NAME=FILE")]
    pub files: Vec<PathBuf>,

    /// How the files are read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// `longmatch-filter add` and `remove`.
#[derive(Args, Clone, Debug)]
pub struct ChangeArgs {
    /// The filter.
    #[command(flatten)]
    pub which: WhichArgs,

    /// The name of the list
    #[arg(value_name = "LIST")]
    pub list: String,

    /// Prefixes or addresses
    #[arg(value_name = "PREFIX", required = true, value_parser = prefix)]
    pub prefixes: Vec<IpPrefix>,
}

/// Parses a prefix, or an address as that of one address.
fn prefix(text: &str) -> Result<IpPrefix, String> {
    IpPrefix::parse_or_host(text).map_err(|error| error.to_string())
}

/// Parses a number and a path.
fn numbered(text: &str) -> Result<(u32, PathBuf), String> {
    let parts = text.split_once(':').and_then(|(number, path)| Some((number.parse().ok()?, path)));
    match parts {
        Some((number @ 1.., path)) if !path.is_empty() => Ok((number, path.into())),
        _ => Err("expected a number of at least 1 and a file, such as 1000:list.txt".to_owned()),
    }
}

/// Parses a duration: a number with `s`, `m` or `h`; without a unit it has seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(['s', 'm', 'h']);
    let unit = match &text[digits.len()..] {
        "" | "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let seconds = unit.and_then(|unit| digits.parse::<u32>().ok()?.checked_mul(unit));
    match seconds {
        Some(seconds @ 1..=86_400) => Ok(Duration::from_secs(seconds.into())),
        _ => Err("expected a time of at most a day, such as 60s, 5m, 1h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_options() {
        let seconds = |text| duration(text).ok().map(|it| it.as_secs());
        assert_eq!(
            ["60s", "5m", "1h", "7"].map(seconds),
            [Some(60), Some(300), Some(3600), Some(7)]
        );
        assert_eq!(["", "s", "0s", "25h", "1ms", "-1", "1d"].map(seconds), [None; 7]);
        assert_eq!(numbered("100:a=b:c"), Ok((100, "a=b:c".into())));
        assert!(["x:a", "0:a", "5:", "a", "4294967296:a"].map(numbered).iter().all(Result::is_err));
    }
}
