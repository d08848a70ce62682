//! Destinations from files: `longmatch bench --traffic FILE`. IPv6 only, as in `measure`.

use crate::common::{Dir, Ended, run};

const ROUTES: &str = "2001:db8::/32 a\n2001:db8:1::/48 b\n";

/// A sample with two IPv6 packets among seven.
const CAPTURE: &[u8] = include_bytes!("../../../../testdata/feed/packets.pcapng");

/// Builds a zstd frame (RFC 8878) of one uncompressed block.
fn zstd(data: &[u8]) -> Vec<u8> {
    let header = (data.len() as u32) << 3 | 1;
    [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x38], &header.to_le_bytes()[..3], data].concat()
}

fn bench(dir: &Dir, file: &str, more: &[&str]) -> Ended {
    let routes = dir.file("routes.txt", ROUTES);
    let args = ["bench", "-6", "-e", "poptrie", "-m", "one", "--seconds", "0.02", "--json"];
    run(&[&args[..], &["-t", file, "-r", &routes], more].concat())
}

#[test]
fn captures_and_lists_plain_and_compressed() {
    let dir = Dir::new();
    let list = b"# mine\r\n2001:db8::7\r\n\r\n192.0.2.1\r\n";
    for (name, content) in [("capture", CAPTURE), ("list", list)] {
        for content in [content.to_vec(), zstd(content)] {
            let file = dir.file(name, content);
            let ended = bench(&dir, &file, &[]);
            assert_eq!(ended.code, 0, "{}", ended.stderr);
            let mut lines = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
            let rate: Option<serde_json::Value> =
                lines.find(|line: &serde_json::Value| line["metric"] == "rate");
            let rate = rate.unwrap();
            assert_eq!((&rate["traffic"], rate["value"].is_number()), (&file.into(), true));
            let reported =
                ended.stderr.contains("1 packet of another protocol than IP was left out");
            assert_eq!(reported, name == "capture", "{}", ended.stderr);
        }
    }
}

#[test]
fn errors_name_the_file_and_the_place() {
    let dir = Dir::new();
    let error = |name: &str, content: &[u8]| {
        let file = dir.file(name, content);
        let ended = bench(&dir, &file, &[]);
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{}", ended.stderr);
        let text = ended.stderr.lines().last().unwrap().replace(&file, name);
        text.strip_prefix("longmatch: ").unwrap().to_owned()
    };
    assert_eq!(
        error("list", b"::1\n1.2.3\n"),
        "list:2: '1.2.3' is not an IP address (--lenient keeps the undamaged part)"
    );
    let advice = "list:1: '::/0' is not an IP address: leave out the prefix length \
                  (--lenient keeps the undamaged part)";
    assert_eq!(error("list", b"::/0\n"), advice);
    assert_eq!(error("list", b"\n#\n"), "list: no addresses");
    assert!(error("list", b"::1\n\xff\n").starts_with("list:2: the line is not UTF-8"));
    assert!(error("list.lz4", b"\x04\x22\x4d\x18").starts_with("list.lz4: lz4 is not supported"));
    assert!(error("program", b"\x7fELF\0\0").starts_with("program: byte 0: neither a packet"));
    let cut = &CAPTURE[..CAPTURE.len() - 1];
    assert!(error("cut", cut).contains("the capture is cut off"));
    assert!(error("zst", &zstd(cut)[..200]).contains("the zstd data is damaged or cut off"));
}

#[test]
fn lenient_reads_damaged_files() {
    let dir = Dir::new();
    let cut = dir.file("cut", &CAPTURE[..CAPTURE.len() - 1]);
    let ended = bench(&dir, &cut, &["--lenient"]);
    let rates = ended.stdout.lines().filter(|line| line.contains("\"rate\""));
    assert_eq!((ended.code, rates.count()), (0, 1), "{}", ended.stderr);
    assert!(ended.stderr.contains("cut: the input could not be read to its end"));
    assert!(ended.stderr.contains("the capture is cut off"), "{}", ended.stderr);
}
