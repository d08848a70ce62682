//! Forwarding from captures into captures.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use longmatch_cli::error::CliError;
use longmatch_cli::output::warn;
use longmatch_cli::target;
use longmatch_feed::{Options, frames};
use longmatch_forward::io::pcap::{CaptureIo, Captured, Frames};
use longmatch_forward::{Mac, Port, PortId};

use super::{forward_all, static_table};
use crate::args::ForwardArgs;

/// The MTU of the ports.
const MTU: u32 = 1500;

/// Frames that are passed from a reading thread at once, and such portions that may wait: all that is
/// in memory of a capture.
const PORTION: usize = 256;
const PORTIONS: usize = 4;

/// An input and an output.
struct Pair {
    from: PathBuf,
    to: PathBuf,
}

pub(super) fn run(args: &ForwardArgs) -> Result<(), CliError> {
    if args.threads > 1 {
        return Err(CliError::new("--threads: captures are forwarded in order, by one thread"));
    }
    let pairs: Vec<_> = args.interfaces.iter().map(|text| pair(text)).collect::<Result<_, _>>()?;
    let outputs: Vec<_> = pairs.iter().map(|pair| &pair.to).chain(&args.kernel_capture).collect();
    distinct(args, &pairs, &outputs)?;
    // Before an output is overwritten. A pipe may be opened once only.
    for Pair { from, .. } in &pairs {
        let unusable =
            |error| CliError::input(from.display(), format!("cannot be opened: {error}"));
        fs::metadata(from).map_err(unusable)?;
    }
    let ports: Vec<_> = (0..).zip(&pairs).map(|(id, pair)| port(id, pair)).collect();
    let mut routes = static_table(args, &ports)?;
    let options = args.routes.read.options();
    let inputs = pairs.iter().map(|pair| read(pair.from.clone(), options.clone()));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let files = pairs.iter().map(|pair| create(&pair.to)).collect::<Result<Vec<_>, _>>()?;
    let kernel = args.kernel_capture.as_deref().map(create).transpose()?;
    let failed = |error| CliError::input("--interface", error);
    let mut io = [CaptureIo::new(inputs, files, kernel).map_err(failed)?];
    let reader = routes.0.reader();
    forward_all(args, &mut io, &ports, &reader, &mut routes)?;
    let [io] = io;
    io.finish().map_err(failed)?;
    Ok(())
}

/// Parses `IN=OUT`.
fn pair(text: &str) -> Result<Pair, CliError> {
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            Ok(Pair { from: from.into(), to: to.into() })
        }
        _ => Err(CliError::input(
            format!("--interface {text}"),
            "with --io pcap an interface is a capture to read and one to write: IN.pcap=OUT.pcap",
        )),
    }
}

/// Refuses outputs that would overwrite an input or each other.
fn distinct(args: &ForwardArgs, pairs: &[Pair], outputs: &[&PathBuf]) -> Result<(), CliError> {
    for (place, output) in outputs.iter().enumerate() {
        let others = &outputs[..place];
        let is_device = fs::metadata(output).is_ok_and(|it| !it.is_file());
        let again = target::refuse_inputs(output, others.iter().map(|path| &***path)).is_err();
        let routes = args.routes.files.iter().chain(&args.routes.table);
        let inputs = pairs.iter().map(|pair| &pair.from).chain(routes).map(|path| &**path);
        let inputs = inputs.chain(args.routes.read.rows.joined());
        if target::refuse_inputs(output, inputs).is_err()
            || (again || others.contains(output)) && !is_device
        {
            let problem = "the capture to write is another file of this command: name a new one";
            return Err(CliError::input(output.display(), problem));
        }
    }
    Ok(())
}

fn port(id: u16, pair: &Pair) -> Arc<Port> {
    let [high, low] = id.to_be_bytes();
    let name = pair.from.display().to_string();
    let mac = Mac([2, 0, 0, 0xff, high, low]);
    Arc::new(Port::new(PortId(id), name, 0, mac, MTU).promiscuous())
}

fn create(path: &Path) -> Result<BufWriter<File>, CliError> {
    let file = File::create(path).map_err(|error| CliError::input(path.display(), error))?;
    Ok(BufWriter::new(file))
}

/// The frames of a capture, which a separate thread reads ahead.
fn read(path: PathBuf, options: Options) -> Result<Frames, CliError> {
    let (sender, receiver) = sync_channel::<io::Result<Vec<Captured>>>(PORTIONS);
    let work = move || {
        let mut portion = Vec::with_capacity(PORTION);
        let report = frames(&path, &options, |frame| {
            portion.push(Captured { time: frame.time, bytes: frame.bytes.to_vec() });
            let sent =
                portion.len() < PORTION || sender.send(Ok(std::mem::take(&mut portion))).is_ok();
            // Otherwise the forwarding has ended.
            if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        // The frames before the damage come first.
        let _ = sender.send(Ok(portion));
        match report {
            Ok(report) => {
                let first = report.first_damage.iter().map(ToString::to_string);
                report.warnings().into_iter().chain(first).for_each(warn);
            }
            Err(error) => {
                let _ = sender.send(Err(io::Error::other(error.to_string())));
            }
        }
    };
    let started = thread::Builder::new().name("capture".to_owned()).spawn(work);
    started.map_err(|error| CliError::input("--interface", error))?;
    let flat = receiver.into_iter().flat_map(|portion| match portion {
        Ok(frames) => frames.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    });
    Ok(Box::new(flat))
}
