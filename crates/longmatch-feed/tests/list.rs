//! Sets of addresses: blocks, reads of a few bytes, and what is joined.

use std::io::{self, Read};

use longmatch_feed::{FeedError, ListEntries, Options, Report, read_list};

fn read_with(bytes: impl Read, options: &Options) -> Result<(ListEntries, Report), FeedError> {
    read_list(bytes, Some("list"), options, ListEntries::default())
}

fn lenient() -> Options {
    let mut options = Options::default();
    options.lenient = true;
    options
}

/// The entries as text, IPv4 first.
fn texts(text: &str) -> Vec<String> {
    let (entries, _) = read_with(text.as_bytes(), &Options::default()).unwrap();
    let ipv4 = entries.ipv4.iter().map(ToString::to_string);
    ipv4.chain(entries.ipv6.iter().map(ToString::to_string)).collect()
}

#[test]
fn entries_of_every_form() {
    for text in [
        "10.0.0.0/8",
        "10.0.0.0/8\r\n",
        "# a\n\n10.0.0.0/8 next-hop\n",
        "prefix,asn\n10.0.0.0/8,1\n",
        "\"10.0.0.0/8\"\t\"a\"\n",
        "10.0.0.0-10.255.255.255\n",
        "10.0.0.0 - 10.255.255.255\n",
        "10.0.0.0,10.255.255.255,a\n",
        "10.0.0.0 255.0.0.0\n",
        "10.0.0.0 8 64500\n",
        "10.0.0.0/255.0.0.0\n",
        "10.0.0.0 /8 64500\n",
        "::ffff:10.0.0.0/104\n",
        "::ffff:10.0.0.0-::ffff:10.255.255.255\n",
        "[{\"prefix\":\"10.0.0.0/8\"}]\n",
        "add block 10.0.0.0/8\n",
    ] {
        assert_eq!(texts(text), ["10.0.0.0-10.255.255.255"], "{text:?}");
    }
    assert_eq!(texts("::/95\n"), ["::-::1:ffff:ffff"]);
    assert_eq!(texts("0.0.0.0/0\n::/0\n")[0], "0.0.0.0-255.255.255.255");
    assert_eq!(texts("255.255.255.255\n"), ["255.255.255.255-255.255.255.255"]);
    // Hosts with masks, and networks that look like masks.
    let masks = "240.0.0.0 240.0.0.0\n10.0.12.255 255.255.255.255\n0.0.0.0 0.0.0.0\n";
    let ranges =
        ["240.0.0.0-255.255.255.255", "10.0.12.255-10.0.12.255", "0.0.0.0-255.255.255.255"];
    assert_eq!(texts(masks), ranges);
    // All IPv4-mapped addresses are not all of IPv4.
    assert_eq!(texts("::ffff:0:0/96\n"), ["::ffff:0.0.0.0-::ffff:255.255.255.255"]);
    assert_eq!(texts(""), [""; 0]);
    let (_, report) = read_with(&b"# nothing\n"[..], &Options::default()).unwrap();
    assert_eq!(report.warnings(), ["no prefixes were read"]);
}

#[test]
fn unclear_lines_are_refused() {
    for (text, advice) in [
        ("1.2.3.4 192.0.2.1\n", "is a range or a host with its next hop"),
        ("10.0.0.0 10.0.0.255\n10.0.1.0 10.0.1.255\n", "is a range or a host with its next hop"),
        ("10.0.0.0,10.0.0.255\n", "is a range or a host with its next hop"),
        ("10.0.0.0 8\n", "is a prefix with its length or a host with its next hop"),
        ("10.0.0.0 0.0.0.255\n", "is not a netmask"),
        ("10.0.0.0/8 a\r192.0.2.0/24 b\r", "carriage returns alone"),
    ] {
        let error = read_with(text.as_bytes(), &Options::default()).unwrap_err().to_string();
        assert!(error.starts_with("list: ") && error.contains(advice), "{text:?}: {error}");
    }
}

/// Reader of a few bytes at a time, which fails at the end.
struct Slow<'a>(&'a [u8], bool);

impl Read for Slow<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() && self.1 {
            return Err(io::Error::other("no more"));
        }
        let n = self.0.len().min(buf.len()).min(70_001);
        self.0.read(&mut buf[..n])
    }
}

#[test]
fn lines_do_not_depend_on_blocks_and_reads() {
    let line = |i: u32| format!("10.{}.{}.{}\n", i >> 16, i >> 8 & 255, i & 255);
    let text: String = (0..200_000).map(line).collect();
    assert!(text.len() > 2 << 20, "several blocks");
    let in_order = |entries: &ListEntries, count: u32| {
        assert_eq!(entries.ipv4.len(), count as usize);
        assert!((0..count).zip(&entries.ipv4).all(|(i, range)| range.first() == 0x0a00_0000 + i));
    };
    for bytes in [text.as_bytes(), text.trim_end().as_bytes()] {
        let (entries, report) = read_with(Slow(bytes, false), &Options::default()).unwrap();
        in_order(&entries, 200_000);
        assert_eq!((report.lines, report.bytes), (200_000, bytes.len() as u64));
        // A line that may be cut off is no line.
        let whole = bytes.iter().filter(|byte| **byte == b'\n').count() as u32;
        let refused = read_with(Slow(bytes, true), &Options::default()).unwrap_err();
        assert!(refused.to_string().contains("no more"), "{refused}");
        let (entries, report) = read_with(Slow(bytes, true), &lenient()).unwrap();
        in_order(&entries, whole);
        assert!(report.cut_off);
    }
    let bad = text + "10.0.0\n";
    let message = read_with(Slow(bad.as_bytes(), false), &Options::default()).unwrap_err();
    assert!(message.to_string().starts_with("list: line 200001: "), "{message}");
}
