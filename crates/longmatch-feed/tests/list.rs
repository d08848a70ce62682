//! Lists of prefixes: every form, damage, and the comparison with a slow reference.

mod common;
mod reference;

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use common::Random;
use longmatch_feed::{FeedError, ListEntries, ListOptions, ListReport, read_list, read_list_path};

fn corpus() -> Vec<(String, Vec<u8>)> {
    let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/lists"));
    let mut all: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it != "md"))
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    all.sort();
    assert!(all.len() >= 7, "the corpus is there");
    all
}

fn options(change: impl FnOnce(&mut ListOptions)) -> ListOptions {
    let mut options = ListOptions::default();
    change(&mut options);
    options
}

fn read_with(
    bytes: impl Read,
    options: &ListOptions,
) -> Result<(ListEntries, ListReport), FeedError> {
    let mut entries = ListEntries::default();
    let report = read_list(bytes, Some("list"), options, &mut entries, &mut |_| {})?;
    Ok((entries, report))
}

/// The entries as text, IPv4 first.
fn texts(text: &str) -> Vec<String> {
    let (entries, _) = read_with(text.as_bytes(), &ListOptions::default()).unwrap();
    let ipv4 = entries.ipv4.iter().map(ToString::to_string);
    ipv4.chain(entries.ipv6.iter().map(ToString::to_string)).collect()
}

#[track_caller]
fn error(text: &str) -> String {
    read_with(text.as_bytes(), &ListOptions::default()).unwrap_err().to_string()
}

#[test]
fn entries_of_every_form() {
    let block = ["10.0.0.0-10.255.255.255"];
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
        "::ffff:10.0.0.0/104\n",
        "::ffff:10.0.0.0-::ffff:10.255.255.255\n",
    ] {
        assert_eq!(texts(text), block, "{text:?}");
    }
    assert_eq!(texts("192.0.2.7 - - [x]\n"), ["192.0.2.7-192.0.2.7"]);
    assert_eq!(texts("::/95\n"), ["::-::1:ffff:ffff"]);
    assert_eq!(texts("0.0.0.0/0\n::/0\n")[0], "0.0.0.0-255.255.255.255");
    assert_eq!(texts("255.255.255.255\n"), ["255.255.255.255-255.255.255.255"]);
    assert_eq!(texts(""), [""; 0]);
    let (_, report) = read_with(&b"# nothing\n"[..], &ListOptions::default()).unwrap();
    assert_eq!(report.warnings(), ["the list has no entries"]);
}

#[test]
fn errors_name_the_line_and_the_remedy() {
    let cases = [
        ("10.0.0.0/8\n10.0.0.1/8\n", "line 2: '10.0.0.1/8' is not a prefix: host bits"),
        ("10.0.0.0/33", "line 1: '10.0.0.0/33' is not a prefix: prefix length 33 is greater"),
        (
            "\n\n10.0.0\n",
            "line 3: '10.0.0' is not a prefix, an address or a range: expected a word",
        ),
        ("8.8.8.8:443", "leave out the port"),
        ("fe80::1%eth0", "leave out the zone id"),
        ("default via 10.0.0.1 dev eth0\n10.0.0.0/8\n", "write 0.0.0.0/0 or ::/0"),
        ("10.0.0.9-10.0.0.1", "ends before it begins: exchange the addresses"),
        ("10.0.0.9 - 2001:db8::", "they are of different families"),
        ("192.0.2.7 255.255.255.255", "write 192.0.2.7 or 192.0.2.7-255.255.255.255"),
        ("192.0.2.7 255.255.255.0", "has host bits set under the netmask"),
        ("a\nb\n", "line 2: 'b'"),
        ("a.b\n", "line 1: 'a.b'"),
        ("\u{1b}[2J/8\n", "line 1: '\\u{1b}[2J/8' is not a prefix"),
    ];
    for (text, wanted) in cases {
        let message = error(text);
        assert!(message.starts_with("list: ") && message.contains(wanted), "{message}");
    }
    assert!(error("\0\0\0").contains("not text"));
    let long = [&b"10.0.0.0/8 "[..], &[b'x'; 2 << 20], b"\n11.0.0.0/8\n"].concat();
    let refused = read_with(&long[..], &ListOptions::default()).unwrap_err().to_string();
    assert_eq!(refused, "list: line 1: the line is longer than 1048576 bytes");
    let (entries, report) = read_with(&long[..], &options(|it| it.lenient = true)).unwrap();
    assert_eq!((entries.ipv4.len(), report.damaged, report.lines), (1, 1, 2));
}

#[test]
fn options_change_what_is_refused() {
    let text = &b"10.9.0.1/16\n192.0.2.9 255.255.255.0\nx\n"[..];
    let (entries, report) = read_with(text, &options(|it| it.lenient = true)).unwrap_err_or();
    assert_eq!((entries.ipv4.len(), report), (0, 3));
    let masked = options(|it| {
        it.lenient = true;
        it.mask_host_bits = true;
    });
    let (entries, report) = read_with(text, &masked).unwrap();
    let ranges: Vec<_> = entries.ipv4.iter().map(ToString::to_string).collect();
    assert_eq!(ranges, ["10.9.0.0-10.9.255.255", "192.0.2.0-192.0.2.255"]);
    assert_eq!(report.damaged, 1);
    assert!(report.first_damage.unwrap().to_string().starts_with("list: line 3: "));
    let columns = &b"10.0.0.1 10.0.0.9\n10.0.0.3 10.0.0.1\n"[..];
    let (entries, _) = read_with(columns, &options(|it| it.first_word = true)).unwrap();
    assert_eq!(
        entries.ipv4.iter().map(|it| it.first()).collect::<Vec<_>>(),
        [0x0a00_0001, 0x0a00_0003]
    );
}

/// The damage of a lenient reading that finds nothing.
trait UnwrapErrOr {
    fn unwrap_err_or(self) -> (ListEntries, u64);
}

impl UnwrapErrOr for Result<(ListEntries, ListReport), FeedError> {
    fn unwrap_err_or(self) -> (ListEntries, u64) {
        match self.unwrap_err().problem {
            longmatch_feed::Problem::NothingRead { damaged, .. } => {
                (ListEntries::default(), damaged)
            }
            other => panic!("{other:?}"),
        }
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
        let (entries, report) = read_with(Slow(bytes, false), &ListOptions::default()).unwrap();
        in_order(&entries, 200_000);
        assert_eq!((report.lines, report.bytes), (200_000, bytes.len() as u64));
        // A line that may be cut off is no line.
        let whole = bytes.iter().filter(|byte| **byte == b'\n').count() as u32;
        let refused = read_with(Slow(bytes, true), &ListOptions::default()).unwrap_err();
        assert!(refused.to_string().contains("no more"), "{refused}");
        let (entries, report) =
            read_with(Slow(bytes, true), &options(|it| it.lenient = true)).unwrap();
        in_order(&entries, whole);
        assert!(report.cut_off);
    }
    let bad = text + "10.0.0\n";
    let message = read_with(Slow(bad.as_bytes(), false), &ListOptions::default()).unwrap_err();
    assert!(message.to_string().starts_with("list: line 200001: '10.0.0'"), "{message}");
}

/// Entries can be reduced while the list is read.
#[test]
fn each_block_can_be_reduced() {
    let text = "10.0.0.1\n".repeat(400_000);
    let (mut most, mut blocks) = (0, 0);
    let mut entries = ListEntries::default();
    let mut reduce = |entries: &mut ListEntries| {
        most = most.max(entries.ipv4.len());
        blocks += 1;
        entries.ipv4.truncate(1);
    };
    let options = ListOptions::default();
    read_list(text.as_bytes(), None, &options, &mut entries, &mut reduce).unwrap();
    assert!(blocks >= 3 && most < 200_000 && entries.ipv4.len() == 1, "{blocks} {most}");
}

#[test]
fn tables_of_routes_are_lists_of_their_prefixes() {
    let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/feed"));
    for (name, count) in
        [("all-records.mrt", None), ("bgpdump.txt", Some(3)), ("ip-route.json", None)]
    {
        let (mut entries, path) = (ListEntries::default(), dir.join(name));
        let options = ListOptions::default();
        let report = read_list_path(&path, &options, &mut entries, &mut |_| {});
        let found = match report {
            Ok(report) => {
                assert!(report.routes.is_some(), "{name}");
                entries.ipv4.len() + entries.ipv6.len()
            }
            Err(error) => {
                assert!(error.to_string().contains("updates of routes"), "{name}: {error}");
                0
            }
        };
        assert!(count.is_none_or(|count| count == found), "{name}: {found}");
        let streamed = read_with(fs::File::open(&path).unwrap(), &options);
        assert_eq!(streamed.map_or(0, |(it, _)| it.ipv4.len() + it.ipv6.len()), found, "{name}");
    }
    // Text of routes is a list as it is: the next hop is a further column.
    let (entries, report) =
        read_with(fs::File::open(dir.join("plain.txt")).unwrap(), &ListOptions::default()).unwrap();
    assert!(report.routes.is_none() && entries.ipv4.len() == 4 && entries.ipv6.len() == 2);
}

#[test]
fn compressed_lists() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(b"10.0.0.0/8\n::/0\n").unwrap();
    let packed = encoder.finish().unwrap();
    let (entries, report) = read_with(&packed[..], &ListOptions::default()).unwrap();
    assert_eq!((entries.ipv4.len(), entries.ipv6.len()), (1, 1));
    assert_eq!(report.codec, Some(longmatch_feed::Codec::Gzip));
    let cut = read_with(&packed[..packed.len() - 9], &ListOptions::default()).unwrap_err();
    assert!(cut.to_string().contains("gzip"), "{cut}");
}

/// The fuzz target's comparison, over its corpus: whole files, every truncation, every line alone.
#[test]
fn the_corpus_is_read_as_the_reference_reads_it() {
    for (name, bytes) in corpus() {
        println!("{name}");
        for (mask, first_word) in [(false, false), (true, false), (false, true), (true, true)] {
            reference::compare(&bytes, mask, first_word);
            (0..bytes.len()).for_each(|end| reference::compare(&bytes[..end], mask, first_word));
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                reference::compare(line, mask, first_word);
            }
        }
    }
}

/// Mutations of the corpus' lines. `LONGMATCH_MUTATIONS` is their number.
#[test]
fn mutated_lists_are_read_as_the_reference_reads_them() {
    let count = std::env::var("LONGMATCH_MUTATIONS").ok().and_then(|it| it.parse().ok());
    let lines: Vec<Vec<u8>> = corpus()
        .iter()
        .flat_map(|(_, bytes)| bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec))
        .collect();
    let alphabet = b"0123456789abcdef.:/-,;|#\"' \t\r\n%x\0\xff";
    let mut random = Random(20);
    for _ in 0..count.unwrap_or(20_000) {
        let mut text = lines[random.below(lines.len())].clone();
        text.extend(&lines[random.below(lines.len())]);
        for _ in 0..random.below(4) {
            let at = random.below(text.len().max(1));
            let byte = alphabet[random.below(alphabet.len())];
            match random.below(3) {
                0 if !text.is_empty() => text[at] = byte,
                1 => text.insert(at, byte),
                _ if !text.is_empty() => drop(text.remove(at)),
                _ => {}
            }
        }
        reference::compare(&text, random.below(2) == 0, random.below(4) == 0);
    }
}
