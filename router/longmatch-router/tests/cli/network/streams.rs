//! TCP between the hosts, through the router.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::child::Forwarder;
use super::net::Net;
use super::offload;

/// Blocks of data in each direction, and bytes of a block: 20 MB.
const BLOCKS: u64 = 320;
const BLOCK: usize = 1 << 16;

/// A block that is like no other of either direction.
fn block(direction: u64, number: u64) -> Vec<u8> {
    let first = (direction << 32 | number << 16) + 1;
    let words = (first..).take(BLOCK / 8);
    words.flat_map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect()
}

fn send(mut to: &TcpStream, direction: u64) {
    for number in 0..BLOCKS {
        to.write_all(&block(direction, number)).unwrap();
    }
    to.shutdown(Shutdown::Write).unwrap();
}

/// Receives all blocks of a direction, and nothing else.
fn receive(mut from: &TcpStream, direction: u64) {
    let mut received = vec![0; BLOCK];
    for number in 0..BLOCKS {
        from.read_exact(&mut received).unwrap();
        assert!(received == block(direction, number), "block {number} is damaged");
    }
    assert_eq!(from.read(&mut received).unwrap(), 0);
}

/// Sends in one direction and receives in the other.
fn exchange(stream: &TcpStream, direction: u64) {
    for set in [TcpStream::set_read_timeout, TcpStream::set_write_timeout] {
        set(stream, Some(Duration::from_secs(10))).unwrap();
    }
    thread::scope(|scope| {
        scope.spawn(|| send(stream, direction));
        receive(stream, 1 - direction);
    });
}

#[test]
fn streams_pass_in_both_directions() {
    streams("streams_pass_in_both_directions", "native", false);
}

/// As containers send: the checksums are left to a card that is not there.
#[test]
fn streams_pass_with_checksums_left_to_the_card() {
    for mode in ["native", "generic"] {
        streams("streams_pass_with_checksums_left_to_the_card", mode, true);
    }
}

fn streams(test: &str, mode: &str, offload: bool) {
    let Some(net) = Net::new(test) else { return };
    if !offload {
        net.a.run(|| offload::turn_off("ea"));
        net.b.run(|| offload::turn_off("eb"));
    }
    let forwarder = Forwarder::start(&net, &["--xdp-mode", mode]);
    for address in ["10.0.2.2:5001", "[2001:db8:2::2]:5001"] {
        let address: SocketAddr = address.parse().unwrap();
        let listener = net.b.run(|| TcpListener::bind(address)).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| exchange(&listener.accept().unwrap().0, 0));
            let connect = || TcpStream::connect_timeout(&address, Duration::from_secs(5));
            exchange(&net.a.run(connect).unwrap(), 1);
        });
    }
    let counts = forwarder.end();
    if mode == "generic" {
        // The program leaves frames of several segments to the kernel.
        return assert!(counts["forwarded"].as_u64() > Some(0), "{counts}");
    }
    // In segments of an Ethernet frame's size, and not by way of the kernel, except before it has told the neighbours.
    let least = 2 * 2 * BLOCKS * BLOCK as u64 / 1460;
    assert!(counts["forwarded"].as_u64() > Some(least), "{counts}");
    assert!(counts["kernel"].as_u64() < Some(least / 20), "{counts}");
}
