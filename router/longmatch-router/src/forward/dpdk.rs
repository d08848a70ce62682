//! Forwarding between devices of DPDK.

use std::sync::Arc;

use longmatch::TableReader;
use longmatch_cli::error::CliError;
use longmatch_forward::io::dpdk::{Dpdk, DpdkIo, DpdkOptions};
use longmatch_forward::io::{Generated, GeneratedFrames};
use longmatch_forward::{Port, Target};

use super::kernel::{self, Attached, KernelRoutes};
use super::supervise::Supervise;
use super::{forward_all, static_table};
use crate::args::{ForwardArgs, Generate};

pub(super) fn run(args: &ForwardArgs) -> Result<(), CliError> {
    let mut options = DpdkOptions::new(&args.interfaces);
    // More threads than a queue has numbers are refused by the number of queues.
    options.workers = u16::try_from(args.threads).unwrap_or(u16::MAX);
    let tap = |(place, name): (usize, &String)| format!("net_tap{place},iface={name}");
    options.kernel = args.tap.iter().enumerate().map(tap).collect();
    let opened = Dpdk::open(&options);
    let mut dpdk = opened.map_err(|error| CliError::input("--io dpdk", error))?;
    let (ports, workers) = (dpdk.ports(), dpdk.workers());
    if args.tap.is_empty() {
        let mut routes = static_table(args, &ports)?;
        let reader = routes.0.reader();
        return forward_each(args, workers, &ports, &reader, &mut routes);
    }
    let mut routes = KernelRoutes::new(kernel::read(args, &ports)?, None, Devices);
    let reader = routes.reader();
    forward_each(args, workers, &ports, &reader, &mut routes)
}

/// Devices that are not the kernel's.
struct Devices;

impl Attached for Devices {}

/// Forwards received packets, or generated ones.
fn forward_each(
    args: &ForwardArgs,
    mut workers: Vec<DpdkIo>,
    ports: &[Arc<Port>],
    reader: &TableReader<Target>,
    routes: &mut impl Supervise,
) -> Result<(), CliError> {
    let frames = match args.generate {
        None => return forward_all(args, &mut workers, ports, reader, routes),
        Some(Generate::Ipv4) => GeneratedFrames::random_ipv4(ports, DESTINATIONS, SEED),
        Some(Generate::Ipv6) => GeneratedFrames::random_ipv6(ports, DESTINATIONS, SEED),
    };
    let frames = frames.ok_or_else(|| CliError::new("--generate: no destinations"))?;
    let step = DESTINATIONS / workers.len().max(1);
    let generated = |(number, worker): (usize, DpdkIo)| {
        Generated::new(worker, frames.clone().starting_at(number * step))
    };
    let mut workers: Vec<_> = workers.into_iter().enumerate().map(generated).collect();
    forward_all(args, &mut workers, ports, reader, routes)
}

/// Generated destinations: the parts of a full table that they need are more than caches hold.
const DESTINATIONS: usize = 1 << 20;

/// The seed of generated destinations, so that runs repeat each other.
const SEED: u64 = 1;
