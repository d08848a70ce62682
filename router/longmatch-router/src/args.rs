//! Command line: options, commands and their help texts.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use longmatch::{EngineKind, EngineSpec, Ipv4, Ipv6, TableSpec};
use longmatch_cli::args::{
    CompletionsArgs, ManArgs, SourceArgs, at_most, seconds, threads, unsupported,
};
use longmatch_cli::error::CliError;
use longmatch_forward::MAX_BATCH;

use longmatch_router::http;

use crate::help;

/// Forward packets by the routes of the kernel, or from captures into captures
#[derive(Parser, Debug)]
#[command(
    name = "longmatch-forward",
    version,
    after_help = help::TOP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct ForwardArgs {
    /// A command; `None` forwards.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Forward between these interfaces; may be repeated
    ///
    /// xdp   interfaces of the kernel: eth0
    /// pcap  captures to read and to write: IN.pcap=OUT.pcap
    /// dpdk  devices: net_null0, net_pcap0,rx_pcap=IN,tx_pcap=OUT, 0000:01:00.0
    #[arg(
        short,
        long = "interface",
        value_name = "IF",
        num_args = 1..,
        required = true,
        verbatim_doc_comment
    )]
    pub interfaces: Vec<String>,

    /// Packet input and output: xdp, pcap, dpdk
    ///
    /// xdp   AF_XDP sockets on Linux, with the routes, next hops and neighbours of the kernel and
    ///       their changes. The kernel handles the packets that are not forwarded.
    /// pcap  from capture files into capture files, with the routes of --routes
    /// dpdk  DPDK, in a build with the feature 'dpdk', with the routes of --routes, or with
    ///       --tap those of the kernel
    #[arg(
        long,
        value_enum,
        value_name = "IO",
        default_value = "xdp",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub io: Io,

    /// Lookup engine: 'name' or 'name:option:option'
    ///
    /// If the engine does not exist for IPv6, folio forwards IPv6.
    #[arg(short, long, value_name = "SPEC", default_value = "folio", verbatim_doc_comment)]
    pub engine: EngineSpec,

    /// Greatest number of packets in a batch, 1 to 256
    ///
    /// A batch is as large as the number of packets that have arrived, so a larger limit costs no
    /// latency while packets are few.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = batch, verbatim_doc_comment)]
    pub batch: usize,

    /// Threads; each has one queue of every interface
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = threads)]
    pub threads: usize,

    /// Mode of the XDP program: auto, native, generic
    ///
    /// native   in the driver, without copies where the card can do that
    /// generic  in the kernel's network stack, for every interface
    /// auto     native where the driver has it, but generic between containers (veth), which is
    ///          faster for TCP
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        default_value = "auto",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub xdp_mode: XdpMode,

    /// Forward past these parts of the kernel: firewall, nat, tc, rules, rp_filter, multipath
    ///
    /// Forwarded packets do not reach them. Without this option the forwarder refuses to start where the
    /// kernel has any of them, and leaves all packets to the kernel while one appears.
    ///
    /// firewall   rules of nftables and iptables for forwarded packets
    /// nat        translation of addresses
    /// tc         queueing disciplines that shape, and filters
    /// rules      rules of 'ip rule', VRFs
    /// rp_filter  the reverse path filter
    /// multipath  other hashes of multipath routes than by addresses or ports
    #[arg(
        long,
        value_enum,
        value_name = "PARTS",
        value_delimiter = ',',
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub bypass: Vec<Bypass>,

    /// Make received frames packets to random addresses: ipv4, ipv6
    ///
    /// For measurements with --io dpdk and its device net_null, which makes empty frames.
    #[arg(
        long,
        value_enum,
        value_name = "FAMILY",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub generate: Option<Generate>,

    /// Make these kernel interfaces, one for each device of DPDK
    ///
    /// For --io dpdk. The kernel receives the packets that are not forwarded, sends packets
    /// through the devices, and gives the routes: give the interfaces addresses. Without --tap
    /// the routes are those of --routes, and packets for the kernel are only counted.
    #[arg(long, value_name = "NAME", num_args = 1.., verbatim_doc_comment)]
    pub tap: Vec<String>,

    /// The routes, for captures and DPDK without --tap.
    #[command(flatten)]
    pub routes: SourceArgs,

    /// With --io pcap, write the packets for the kernel to FILE
    #[arg(long, value_name = "FILE")]
    pub kernel_capture: Option<PathBuf>,

    /// Seconds between two lines of counts
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub interval: f64,

    /// Stop after this time [default: at a signal or the captures' end]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,

    /// Serve metrics for Prometheus at http://ADDR:PORT/metrics
    ///
    /// Without ADDR they are at 127.0.0.1. Every process that reaches the address may read the counts.
    #[arg(
        long,
        value_name = "[ADDR:]PORT",
        value_parser = http::address,
        verbatim_doc_comment
    )]
    pub metrics: Option<SocketAddr>,

    /// Name of the control socket, by which other processes ask this one
    ///
    /// A Unix socket in the abstract namespace, which belongs to the network namespace. Two
    /// forwarders of one namespace need two names. [default: longmatch-forward]
    #[arg(
        long,
        value_name = "NAME",
        value_parser = NonEmptyStringValueParser::new(),
        verbatim_doc_comment
    )]
    pub control: Option<String>,

    /// Take the interfaces over from the forwarder that has the control socket
    ///
    /// It goes on until the routes are read here, and then ends. The kernel forwards meanwhile.
    /// Without a running forwarder the option has no effect.
    #[arg(long, verbatim_doc_comment)]
    pub take_over: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// The control socket's name without the option.
const CONTROL: &str = "longmatch-forward";

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Ask a running forwarder for its routes
    Route(RouteArgs),
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

/// `longmatch-forward route`.
#[derive(Args, Debug)]
pub struct RouteArgs {
    /// The question.
    #[command(subcommand)]
    pub question: RouteQuestion,
}

/// Questions about routes.
#[derive(Subcommand, Debug)]
pub enum RouteQuestion {
    /// Print the route of an address: prefix, next hops, neighbours and their counts
    Get(RouteGetArgs),
}

/// `longmatch-forward route get`.
#[derive(Args, Debug)]
pub struct RouteGetArgs {
    /// Addresses
    #[arg(required = true, value_name = "ADDR")]
    pub addrs: Vec<IpAddr>,

    /// Name of the control socket
    #[arg(
        long,
        value_name = "NAME",
        value_parser = NonEmptyStringValueParser::new(),
        default_value = CONTROL
    )]
    pub control: String,

    /// Print one JSON object for each address
    #[arg(long)]
    pub json: bool,
}

/// Packet input and output.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Io {
    /// AF_XDP sockets
    Xdp,
    /// Capture files
    Pcap,
    /// DPDK
    Dpdk,
}

/// Family of generated packets.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generate {
    /// IPv4
    Ipv4,
    /// IPv6
    Ipv6,
}

/// Mode of the XDP program.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum XdpMode {
    /// Native where the driver supports it
    Auto,
    /// In the driver
    Native,
    /// In the network stack
    Generic,
}

impl ForwardArgs {
    /// Returns the name of the control socket.
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    pub fn control_name(&self) -> &str {
        self.control.as_deref().unwrap_or(CONTROL)
    }

    /// Returns the engines of both families.
    ///
    /// # Errors
    /// If the engine lacks an option that it was given.
    pub fn table_spec(&self) -> Result<TableSpec, CliError> {
        let spec = &self.engine;
        match (unsupported::<Ipv4>(spec), unsupported::<Ipv6>(spec)) {
            (None, None) => Ok(TableSpec::new(spec.clone())),
            (None, Some(_)) => Ok(TableSpec::new(spec.clone()).ipv6(EngineKind::Folio)),
            (Some(_), None) => Ok(TableSpec::new(spec.clone()).ipv4(EngineKind::Folio)),
            (Some(error), Some(_)) => Err(CliError::input("--engine", error)),
        }
    }
}

/// Parses the size of a batch.
fn batch(text: &str) -> Result<usize, String> {
    at_most(text, MAX_BATCH)
}

/// A part of the kernel that forwarded packets do not reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Bypass {
    Firewall,
    Nat,
    Tc,
    Rules,
    #[value(name = "rp_filter")]
    RpFilter,
    Multipath,
}
