//! The limit of AF_XDP: frames go from each of two interfaces to the other without parsing or lookup.
//!
//! ```text
//! copy_mode native|generic NAME=NEIGHBOUR NAME=NEIGHBOUR SECONDS
//! ```
//!
//! Each frame gets two Ethernet addresses, the interface's own and its neighbour's, so that it is
//! received. The rate beside those of `longmatch-forward` and of the kernel shows the cost of AF_XDP
//! from that of the forwarder (docs/decisions/0018-the-forwarder.md, "Speed on virtual interfaces").

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn main() {}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    use std::error::Error;
    use std::fs::read_to_string;
    use std::io::{self, Write};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use longmatch_forward::io::PacketIo;
    use longmatch_forward::io::xdp::{Xdp, XdpOptions};
    use longmatch_forward::{Fate, Mac, PacketCounts, Port, PortId};

    const BATCH: usize = 64;

    /// A port, and the 12 bytes that its frames begin with.
    fn port(id: u16, argument: &str) -> Result<(Arc<Port>, [u8; 12]), Box<dyn Error>> {
        let (name, neighbour) = argument.split_once('=').ok_or("expected NAME=NEIGHBOUR")?;
        let ask = |file| read_to_string(format!("/sys/class/net/{name}/{file}"));
        let (own, mtu) = (mac(&ask("address")?)?, ask("mtu")?.trim().parse()?);
        let mut header = [0; 12];
        header[..6].copy_from_slice(&mac(neighbour)?);
        header[6..].copy_from_slice(&own);
        let index = ask("ifindex")?.trim().parse()?;
        Ok((Arc::new(Port::new(PortId(id), name, index, Mac(own), mtu)), header))
    }

    fn mac(text: &str) -> Result<[u8; 6], Box<dyn Error>> {
        let bytes = text.trim().split(':').map(|byte| u8::from_str_radix(byte, 16));
        let bytes = bytes.collect::<Result<Vec<_>, _>>()?;
        bytes.try_into().map_err(|_| "expected 6 bytes".into())
    }

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let arguments: Vec<_> = std::env::args().skip(1).collect();
        let [mode, first, second, seconds] = &arguments[..] else {
            return Err("expected MODE NAME=NEIGHBOUR NAME=NEIGHBOUR SECONDS".into());
        };
        let ((first, to_first), (second, to_second)) = (port(0, first)?, port(1, second)?);
        let options = XdpOptions { mode: mode.parse()?, ..Default::default() };
        let mut xdp = Xdp::open(&[first, second], &options)?;
        writeln!(io::stdout(), "{}", xdp.descriptions().join("; "))?;
        let mut worker = xdp.workers().pop().ok_or("no worker")?;
        let end = Instant::now() + Duration::from_secs_f64(seconds.parse()?);
        let (mut fates, mut tally) = (Vec::with_capacity(BATCH), PacketCounts::default());
        while Instant::now() < end {
            let received = worker.receive(BATCH)?;
            if received.len == 0 {
                worker.wait(Duration::from_millis(50))?;
                continue;
            }
            let (port, header) = if received.port == PortId(0) {
                (PortId(1), to_second)
            } else {
                (PortId(0), to_first)
            };
            fates.clear();
            for place in 0..received.len {
                let frame = worker.frame(place);
                frame[..12].copy_from_slice(&header);
                // Below 65,536: a frame of memory has at most 4,096 bytes.
                fates.push(Fate::Transmit { port, len: frame.len() as u16 });
                tally.count(received.port, worker.frame(place).len(), fates[place]);
            }
            worker.dispatch(&fates, &mut tally)?;
        }
        writeln!(io::stdout(), "received {}, sent {}", tally.received, tally.forwarded)?;
        Ok(())
    }
}
