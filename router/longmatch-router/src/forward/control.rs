//! The control socket, by which other processes ask a running forwarder.
//!
//! It is a Unix socket in the abstract namespace, which belongs to the network namespace as the routes do and vanishes
//! with the process. A request is a line, and so is the answer, in JSON.

use std::io::{self, BufRead, BufReader, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

use longmatch_cli::error::{CliError, Outcome, Status};
use longmatch_cli::output::{Out, plural, thousands, warn};
use longmatch_forward::io::xdp::ReleasedLink;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg, sockopt::socket_peercred,
};
use serde_json::{Value, json};

use super::questions::{Question, STEP, ask};
use crate::args::RouteGetArgs;

/// The request for the interfaces.
const TAKE_OVER: &str = "take over";

/// The longest time to wait for the other side of a connection.
const PATIENCE: Duration = Duration::from_secs(30);

fn address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(name)
}

/// Opens the socket, and answers requests in a separate thread.
///
/// # Errors
/// If another process has a socket of this name.
pub(super) fn serve(name: &str, questions: SyncSender<Question>) -> Result<(), CliError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => CliError::input(
            format!("--control {name}"),
            "another 'longmatch-forward' of this network namespace has this control socket: start this one with \
             --take-over to replace it, or give it another name",
        ),
        _ => CliError::input(format!("--control {name}"), error),
    };
    let listener = address(name).and_then(|address| bind(&address)).map_err(failed)?;
    let work = move || {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                // Such as too many open files.
                thread::sleep(STEP);
                continue;
            };
            // The other process may have gone.
            if let Ok(Some(stream)) = request(stream, &questions) {
                // The name is free for the process that takes over.
                drop(listener);
                let _ = questions.send(Question::TakeOver(stream));
                return;
            }
        }
    };
    thread::Builder::new().name("control".to_owned()).spawn(work).map_err(failed)?;
    Ok(())
}

/// Binds the socket; a process that has just ended may have the name for a moment.
fn bind(address: &SocketAddr) -> io::Result<UnixListener> {
    let end = Instant::now() + Duration::from_millis(500);
    loop {
        match UnixListener::bind_addr(address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < end => {
                thread::sleep(STEP);
            }
            result => return result,
        }
    }
}

/// Answers a request; returns the connection of a process that takes over.
fn request(stream: UnixStream, questions: &SyncSender<Question>) -> io::Result<Option<UnixStream>> {
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    stream.set_write_timeout(Some(Duration::from_secs(1)))?;
    // One call, so that a slow process keeps no other waiting: a line that is written at once arrives at once.
    let mut bytes = [0; 256];
    let len = (&stream).read(&mut bytes)?;
    let line = String::from_utf8_lossy(&bytes[..len]);
    let line = line.trim_end();
    let answer = match line.strip_prefix("route get ").map(str::parse) {
        Some(Ok(addr)) => ask(questions, |answer| Question::Route(addr, answer))
            .unwrap_or_else(|| json!({ "error": "the forwarder is busy: ask again" })),
        None if line == TAKE_OVER && is_permitted(&stream) => return Ok(Some(stream)),
        None if line == TAKE_OVER => {
            json!({ "error": "only root and the user of the running forwarder may take over" })
        }
        _ => json!({ "error": "no request that this version of longmatch knows" }),
    };
    writeln!(&stream, "{answer}")?;
    Ok(None)
}

/// Whether the process at the other end may end this one.
fn is_permitted(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid();
    socket_peercred(stream).is_ok_and(|peer| peer.uid.is_root() || peer.uid == own)
}

/// Sends a request, and returns the connection; `None` if no forwarder has the socket.
fn send(name: &str, request: &str) -> io::Result<Option<UnixStream>> {
    let stream = match UnixStream::connect_addr(&address(name)?) {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(None),
        Err(error) => return Err(error),
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    (&stream).write_all(format!("{request}\n").as_bytes())?;
    Ok(Some(stream))
}

/// Hands the interfaces over to the process at the other end. A message takes 253 links; the others are dropped, which
/// detaches their programs, and the other process attaches its own.
pub(super) fn hand_over(stream: &UnixStream, links: &[ReleasedLink]) {
    if let Err(error) = send_links(stream, &links[..links.len().min(MOST_LINKS)]) {
        warn(format_args!("the process that takes over is gone ({error}): the kernel forwards"));
    }
}

fn send_links(stream: &UnixStream, links: &[ReleasedLink]) -> io::Result<()> {
    let names = links.iter().map(
        |ReleasedLink { port, index, native, .. }| json!({ "port": port, "index": index, "native": native }),
    );
    let line = format!("{}\n", json!({ "links": names.collect::<Vec<_>>() }));
    let descriptors: Vec<_> = links.iter().map(|link| link.link.as_fd()).collect();
    let mut space = vec![MaybeUninit::uninit(); space(links.len())];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let sent = sendmsg(stream, &[IoSlice::new(line.as_bytes())], &mut control, SendFlags::NOSIGNAL);
    let rest = &line.as_bytes()[sent?..];
    { stream }.write_all(rest)
}

/// Takes the interfaces over from a running forwarder; without one there are none.
///
/// # Errors
/// If it does not give them.
pub(super) fn take_over(name: &str) -> Result<Vec<ReleasedLink>, CliError> {
    let failed = |error: io::Error| CliError::input("--take-over", error);
    let Some(stream) = send(name, TAKE_OVER).map_err(failed)? else { return Ok(Vec::new()) };
    let mut bytes = vec![0; 1 << 16];
    let mut space = vec![MaybeUninit::uninit(); space(MOST_LINKS)];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(&stream, &mut parts, &mut control, flags);
    let received = received.map_err(|error| failed(error.into()))?.bytes;
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    let mut line = bytes[..received].to_vec();
    BufReader::new(&stream).read_until(b'\n', &mut line).map_err(failed)?;
    let answer: Value = serde_json::from_slice(&line).map_err(|_| ended())?;
    if let Some(error) = answer["error"].as_str() {
        return Err(CliError::input("--take-over", error));
    }
    let links = answer["links"].as_array().ok_or_else(ended)?;
    let link = |(value, link): (&Value, OwnedFd)| {
        let port = value["port"].as_str()?.to_owned();
        let index = value["index"].as_u64()?.try_into().ok()?;
        Some(ReleasedLink { port, index, native: value["native"].as_bool()?, link })
    };
    links.iter().zip(descriptors).map(link).collect::<Option<_>>().ok_or_else(ended)
}

/// Descriptors that one message takes: the kernel's `SCM_MAX_FD`.
const MOST_LINKS: usize = 253;

/// The bytes of a control message with this number of descriptors.
fn space(descriptors: usize) -> usize {
    // The size of the macro does not depend on them: 4 bytes each.
    rustix::cmsg_space!(ScmRights(1)) + 4 * descriptors
}

fn ended() -> CliError {
    CliError::input(
        "--take-over",
        "the running forwarder ended without handing its interfaces over",
    )
}

/// `longmatch-forward route get`: asks the running forwarder.
///
/// # Errors
/// If there is none, or it does not answer.
pub(super) fn route_get(args: &RouteGetArgs) -> Outcome {
    let mut out = Out::new();
    let mut status = Status::Ok;
    for addr in &args.addrs {
        let answer = answer(&args.control, *addr)?;
        if answer["prefix"].is_null() {
            status = Status::Negative;
        }
        if args.json {
            out.json(&answer)?;
        } else {
            print_route(&mut out, &answer)?;
        }
    }
    out.flush()?;
    Ok(status)
}

fn answer(control: &str, addr: IpAddr) -> Result<Value, CliError> {
    let failed = |error: io::Error| CliError::input(format!("--control {control}"), error);
    let stream = send(control, &format!("route get {addr}")).map_err(failed)?;
    let stream = stream.ok_or_else(|| {
        CliError::input(
            format!("--control {control}"),
            "no 'longmatch-forward' of this network namespace has this control socket: start one, or enter its \
             namespace ('ip netns exec')",
        )
    })?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).map_err(failed)?;
    let answer: Value = serde_json::from_str(&line)
        .map_err(|_| CliError::input(format!("--control {control}"), "the forwarder has ended"))?;
    match answer["error"].as_str() {
        Some(error) => Err(CliError::input(addr, error)),
        None => Ok(answer),
    }
}

/// Prints the route of an address.
fn print_route(out: &mut Out, route: &Value) -> Result<(), CliError> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let addr = text(&route["address"]);
    let Some(prefix) = route["prefix"].as_str() else {
        writeln!(out, "{addr}: no route: the kernel gets the packets")?;
        return Ok(());
    };
    writeln!(out, "{addr}: {prefix}: {}", text(&route["target"]))?;
    for hop in route["next_hops"].as_array().into_iter().flatten() {
        let number = |key: &str| hop[key].as_u64().unwrap_or(0);
        let mac = hop["ethernet_address"].as_str();
        let mac = mac.map_or("Ethernet address unknown".to_owned(), str::to_owned);
        writeln!(
            out,
            "  via {} dev {} lladdr {mac} ({}) weight {}: {}, {} bytes",
            text(&hop["gateway"]),
            text(&hop["port"]),
            text(&hop["state"]),
            number("weight"),
            plural(number("packets"), "packet"),
            thousands(number("bytes")),
        )?;
    }
    Ok(())
}
