//! Whole frames of packet captures.

mod common;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use common::capture::{self, Big, ETHERNET, Little, Order, RAW};
use longmatch_feed::{FeedError, Options, TraceReport, frames};

/// A file that is removed with the value.
struct File(PathBuf);

impl File {
    fn new(name: &str, content: &[u8]) -> Self {
        let name = format!("longmatch-feed-frames-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

type Read = (Vec<(Duration, u32, Vec<u8>)>, Result<TraceReport, FeedError>);

fn read(name: &str, content: &[u8], options: &Options) -> Read {
    let file = File::new(name, content);
    let mut all = Vec::new();
    let end = frames(&file.0, options, |frame| {
        all.push((frame.time, frame.original_len, frame.bytes.to_vec()));
        ControlFlow::Continue(())
    });
    (all, end)
}

#[test]
fn frames_have_their_bytes_length_and_time() {
    let packets = [capture::frame4(1), capture::arp(), capture::frame6(2)];
    for (name, magic, nanoseconds) in [("us", 0xa1b2_c3d4, 2_000), ("ns", 0xa1b2_3c4d, 2)] {
        for order in [Little, Big] {
            let mut file = capture::pcap_header(order, magic, ETHERNET);
            packets.iter().for_each(|packet| file.extend(capture::pcap_packet(order, packet)));
            let (frames, end) = read(name, &file, &Options::default());
            assert_eq!(end.unwrap().packets, 3);
            let time = Duration::new(1, nanoseconds);
            let expected = packets.iter().map(|packet| (time, packet.len() as u32, packet.clone()));
            assert_eq!(frames, expected.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_clock_of_pcapng_has_its_own_resolution_and_offset() {
    for order in [Little, Big] {
        has_its_own_clock(order);
    }
}

fn has_its_own_clock(order: Order) {
    let offset = [order.u32(0), order.u32(100)];
    let [high, low] = if order == Big { offset } else { [offset[1], offset[0]] };
    // Ticks of 2^-2 s, and an offset of 100 s.
    let options = [
        &order.u16(9)[..],
        &order.u16(1),
        &[0x82, 0, 0, 0],
        &order.u16(14),
        &order.u16(8),
        &high,
        &low,
        &[0; 4],
    ];
    let body = [&order.u16(1)[..], &[0, 0], &order.u32(0), &options.concat()].concat();
    let packet = capture::frame4(1);
    let len = order.u32(packet.len() as u32);
    let mut block = [&order.u32(0)[..], &order.u32(0), &order.u32(7), &len, &len, &packet].concat();
    block.resize(block.len().next_multiple_of(4), 0);
    let file = [
        capture::section(order),
        capture::block(order, 1, &body),
        capture::block(order, 6, &block),
    ];
    let (frames, end) = read("clock", &file.concat(), &Options::default());
    end.unwrap();
    assert_eq!(frames, [(Duration::from_millis(101_750), packet.len() as u32, packet)]);
}

#[test]
fn reading_stops_when_the_receiver_breaks_off() {
    let packets = vec![capture::frame4(1); 5];
    let file = File::new("stop", &capture::pcap(Little, ETHERNET, &packets));
    let mut count = 0;
    let report = frames(&file.0, &Options::default(), |_| {
        count += 1;
        if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((report.unwrap().packets, count), (2, 2));
}

#[test]
fn inputs_without_ethernet_frames_are_refused() {
    let raw = capture::pcap(Little, RAW, &[capture::ipv4(1)]);
    let (frames, end) = read("raw", &raw, &Options::default());
    assert!(frames.is_empty());
    let error = end.unwrap_err().to_string();
    assert!(
        error.ends_with("the packets have no Ethernet header, which forwarding needs"),
        "{error}"
    );
    let (_, end) = read("list", b"192.0.2.1\n", &Options::default());
    let error = end.unwrap_err().to_string();
    assert!(error.ends_with("not a packet capture (pcap or pcapng)"), "{error}");
    assert!(missing_error("missing").contains("cannot be opened"), "{}", missing_error("missing"));
}

fn missing_error(name: &str) -> String {
    let path = std::env::temp_dir().join(name).join("no.pcap");
    frames(path, &Options::default(), |_| ControlFlow::Continue(())).unwrap_err().to_string()
}

#[test]
fn a_truncated_capture_keeps_its_first_frames_if_lenient() {
    let mut file = capture::pcap(Little, ETHERNET, &[capture::frame4(1), capture::frame4(2)]);
    file.truncate(file.len() - 3);
    let (frames, end) = read("cut", &file, &Options::default());
    assert_eq!(frames.len(), 1);
    assert!(end.unwrap_err().to_string().contains("the capture is cut off"));
    let mut lenient = Options::default();
    lenient.lenient = true;
    let (frames, end) = read("lenient", &file, &lenient);
    assert_eq!((frames.len(), end.unwrap().cut_off), (1, true));
}
