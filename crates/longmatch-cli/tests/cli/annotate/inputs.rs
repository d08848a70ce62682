//! The inputs of `annotate`: logs, lists of addresses, captures, several files, and inputs that are refused.

use super::{SITES, output, sites};
use crate::common::{Dir, run, run_with};

const ZEEK: &str = "#separator \\x09\n#set_separator\t,\n#path\tconn\n\
    #fields\tts\tid.orig_h\tid.resp_h\tanswers\n#types\ttime\taddr\taddr\tvector[string]\n\
    1.5\t10.0.0.1\t10.9.0.1\t\"a\n2.5\t192.0.2.1\t10.9.0.1\t10.0.0.1,a.example\n#close\t2026\n";

/// The names and types are appended to the header, all other lines of `#` pass through.
#[test]
fn logs_of_zeek_and_of_w3c_have_headers() {
    let expected = ZEEK
        .replace("answers\n", "answers\tasn\tnet\tbad\n")
        .replace("[string]\n", "[string]\tcount\tsubnet\tstring\n")
        .replace("\"a\n", "\"a\t64500\t10.0.0.0/8\ttrue\n")
        .replace("a.example\n", "a.example\t-\t-\tfalse\n");
    let args = ["-c", "id.orig_h", "--add", "asn", "--prefix-as", "net", "--flag", "bad"];
    for block in ["1", "30", "10000"] {
        assert_eq!(output(&[&args[..], &["--block", block]].concat(), ZEEK), expected);
    }
    let answers = output(&["-c", "answers", "--add", "asn", "--match"], ZEEK);
    assert!(answers.ends_with("a.example\t64500,-\n#close\t2026\n"), "{answers}");
    let iis = "#Software: IIS\r\n#Fields: date c-ip cs(User-Agent)\n2026 10.9.0.1 a+b\n2026 - x\n\
        #Date: 2026\n#Fields: date c-ip cs(User-Agent)\n2026 10.0.0.1 \"a b\"\n";
    let expected = "#Software: IIS\r\n#Fields: date c-ip cs(User-Agent) asn site\n\
        2026 10.9.0.1 a+b 64501 \"lab, \"\"north\"\"\"\n2026 - x - -\n\
        #Date: 2026\n#Fields: date c-ip cs(User-Agent) asn site\n2026 10.0.0.1 \"a b\" 64500 office\n";
    assert_eq!(output(&["-c", "c-ip"], iis), expected);
    let cloudfront = "#Version: 1.0\n#Fields: date c-ip\n2026\t10.0.0.1\n";
    let expected = "#Version: 1.0\n#Fields: date c-ip asn\n2026\t10.0.0.1\t64500\n";
    assert_eq!(output(&["-c", "c-ip", "--add", "asn"], cloudfront), expected);
    let changed = iis.replace("#Date: 2026\n#Fields: date", "#Date: 2026\n#Fields: time");
    let ended = sites(&Dir::new(), &["-c", "c-ip"], changed);
    assert!(ended.stderr.contains("line 6: the columns change here"), "{}", ended.stderr);
}

#[test]
fn cells_between_spaces() {
    let flows = "version  srcaddr dstaddr\n2 10.0.0.1  10.9.0.1 \n  2 - 10.9.0.1\n";
    let expected = "version  srcaddr dstaddr asn\n2 10.0.0.1  10.9.0.1 64500 \n  2 - 10.9.0.1 -\n";
    assert_eq!(output(&["-c", "srcaddr", "--add", "asn"], flows), expected);
    let combined = "10.0.0.1 - \"GET / HTTP\" 200 \"10.9.0.1, 10.0.0.1\"\n";
    let expected = "10.0.0.1 - \"GET / HTTP\" 200 \"10.9.0.1, 10.0.0.1\" 64500 64501,64500\n";
    let args = ["-c", "1,5", "--no-header", "-d", "space", "--add", "asn"];
    assert_eq!(output(&args, combined), expected);
}

/// Each address of a cell, an array or a line, or the first that matches.
#[test]
fn several_addresses() {
    let cases: [(&[&str], &str, &str); 9] = [
        (
            &["-c", "x"],
            "x,y\n\"192.0.2.1, 10.9.0.1\",1\n",
            "x,y,asn\n\"192.0.2.1, 10.9.0.1\",1,\",64501\"\n",
        ),
        (
            &["-c", "x", "--any"],
            "x,y\n\"192.0.2.1, 10.9.0.1\",1\n",
            "x,y,asn\n\"192.0.2.1, 10.9.0.1\",1,64501\n",
        ),
        (
            &["-f", "a[].ip"],
            "{\"a\":[{\"ip\":\"10.0.0.1\"},{\"x\":1},{\"ip\":\"10.9.0.1\"}]}\n{\"a\":[]}\n{}\n",
            "{\"a\":[{\"ip\":\"10.0.0.1\"},{\"x\":1},{\"ip\":\"10.9.0.1\"}],\"asn\":[64500,null,64501]}\n{\"a\":[],\"asn\":[]}\n{\"asn\":null}\n",
        ),
        (
            &["-f", "a[]", "--any"],
            "{\"a\":[\"x\",\"10.9.0.1\"]}\n",
            "{\"a\":[\"x\",\"10.9.0.1\"],\"asn\":64501}\n",
        ),
        (
            &["-f", "id.h"],
            "{\"id.h\":\"10.0.0.1\",\"id\":7}\n",
            "{\"id.h\":\"10.0.0.1\",\"id\":7,\"asn\":64500}\n",
        ),
        (
            &["-f", "a.id.h"],
            "{\"a\":{\"id.h\":\"10.0.0.1\"}}\n",
            "{\"a\":{\"id.h\":\"10.0.0.1\"},\"asn\":64500}\n",
        ),
        (&["--any"], "192.0.2.1 > 10.9.0.1:80\n", "192.0.2.1 > 10.9.0.1:80\t64501\n"),
        (&[], "10.0.0.1 > 10.9.0.1\n", "10.0.0.1 > 10.9.0.1\t64500\n"),
        (&["--match"], "192.0.2.1 > 10.9.0.1\n192.0.2.1\n", "192.0.2.1 > 10.9.0.1\t64501\n"),
    ];
    for (args, input, expected) in cases {
        assert_eq!(output(&[args, &["--add", "asn"]].concat(), input), expected);
    }
    assert_eq!(output(&["--no-match"], "192.0.2.1 10.9.0.1\n192.0.2.1 ::1\n"), "192.0.2.1 ::1\n");
}

#[test]
fn flags_defaults_counts_and_expressions() {
    let csv = "ip\n10.0.0.1\n2001:db8::1\n192.0.2.1\n-\n";
    let cases: [(&[&str], &str, &str); 7] = [
        (
            &["-c", "ip", "--add", "asn", "--flag", "hit"],
            csv,
            "ip,asn,hit\n10.0.0.1,64500,true\n2001:db8::1,64502,true\n192.0.2.1,,false\n-,,false\n",
        ),
        (
            &["-c", "ip", "--default", "none"],
            csv,
            "ip,asn,site\n10.0.0.1,64500,office\n2001:db8::1,64502,none\n192.0.2.1,none,none\n-,none,none\n",
        ),
        (
            &["-f", "ip", "--default", "0"],
            "{\"ip\":\"192.0.2.1\"}\n",
            "{\"ip\":\"192.0.2.1\",\"asn\":0,\"site\":\"0\"}\n",
        ),
        (&["-c", "ip", "--match", "--count"], csv, "2\n"),
        (&["--no-match", "--count"], csv, "3\n"),
        (
            &["--regex", "-> (\\S+)", "--add", "asn"],
            "10.0.0.1 -> 10.9.0.1\n",
            "10.0.0.1 -> 10.9.0.1\t64501\n",
        ),
        (
            &["-f", "ip", "--match", "--flag", "f"],
            "{\"ip\":\"10.0.0.1\"}\n{}\n",
            "{\"ip\":\"10.0.0.1\",\"f\":true}\n",
        ),
    ];
    for (args, input, expected) in cases {
        assert_eq!(output(args, input), expected);
    }
    let dir = Dir::new();
    let list = dir.file("list.txt", "10.0.0.0/8\n");
    let ended = run_with(&["annotate", "-r", &list, "--flag", "bad"], "10.0.0.1\n192.0.2.1\n");
    assert_eq!(ended.stdout, "10.0.0.1\ttrue\n192.0.2.1\tfalse\n", "{}", ended.stderr);
    assert_eq!(sites(&dir, &["--match", "--count"], "192.0.2.1\n").code, 1);
}

/// Values with the separators of text stay one cell.
#[test]
fn tabs_and_line_ends_of_values_are_escaped() {
    let dir = Dir::new();
    let table = dir.file("t.csv", "network,note\n10.0.0.0/8,\"a\tb\nc\"\n");
    for (args, input, expected) in [
        (&[][..], "10.0.0.1\n", "10.0.0.1\ta\\tb\\nc\n"),
        (&["-c", "2"], "x\tip\n1\t10.0.0.1\n", "x\tip\tnote\n1\t10.0.0.1\ta\\tb\\nc\n"),
    ] {
        let ended = run_with(&[&["annotate", "-r", &table], args].concat(), input);
        assert_eq!(ended.stdout, expected, "{}", ended.stderr);
    }
}

#[test]
fn several_files_are_one_output() {
    let dir = Dir::new();
    let routes = dir.file("sites.csv", SITES);
    let one = dir.file("1.csv", "\u{feff}ip,x\n10.0.0.1,1");
    let two = dir.file("2.csv", "\u{feff}ip,x\n10.9.0.1,2\n");
    let empty = dir.file("0.csv", "");
    let other = dir.file("3.csv", "x,ip\n1,10.9.0.1\n");
    let args = ["annotate", "-r", &routes, "--add", "asn", "-c", "ip"];
    let ended = run(&[&args[..], &[&empty, &one, &two]].concat());
    assert_eq!(
        ended.stdout, "\u{feff}ip,x,asn\n10.0.0.1,1,64500\n10.9.0.1,2,64501\n",
        "{}",
        ended.stderr
    );
    let ended = run(&[&args[..], &[&one, &other]].concat());
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("3.csv: the header or the delimiter is not that of"),
        "{}",
        ended.stderr
    );
    let ended = run(&["annotate", "-r", &routes, "--match", "--count", &one, &two]);
    assert_eq!(ended.stdout, "2\n");
    let ended = run(&["annotate", "-r", &routes, &one, "-", "-"]);
    assert!(ended.stderr.contains("'-' may be given only once"), "{}", ended.stderr);
}

/// A cell that no quotation mark ends does not swallow the rows after it.
#[test]
fn stray_quotation_marks_are_errors() {
    let dir = Dir::new();
    let cases = [
        ("ip,x\n10.0.0.1,\"a\n10.0.0.2,b\n10.0.0.3,c\n", 2),
        ("ip,x\n10.0.0.1,1\n10.0.0.1,\"a\n10.0.0.2,\"b\n10.0.0.3,c\n", 3),
        ("ip,x\n10.0.0.1,\"a\nb\"\n10.0.0.2,\"b", 4),
    ];
    for (input, line) in cases {
        for block in ["1", "1000"] {
            let ended = sites(&dir, &["-c", "ip", "--add", "asn", "--block", block], input);
            assert_eq!(ended.code, 2, "{input}: {}", ended.stdout);
            let place = format!("standard input, line {line}: the quotation mark");
            assert!(ended.stderr.contains(&place), "{}", ended.stderr);
            assert_eq!(ended.stdout.lines().count(), line - 1, "{}", ended.stdout);
        }
    }
    let tsv = "ip\tx\n10.0.0.1\t\"a\n10.9.0.1\tb\n";
    let expected = "ip\tx\tasn\n10.0.0.1\t\"a\t64500\n10.9.0.1\tb\t64501\n";
    assert_eq!(output(&["-c", "ip", "--add", "asn"], tsv), expected);
}

/// An input that is not what the options say is an error, or at least not silent.
#[test]
fn inputs_of_other_formats_are_told() {
    let utf16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let mut tar = vec![b'x'; 512];
    tar[257..262].copy_from_slice(b"ustar");
    let cases: [(i32, &[&str], Vec<u8>, &str); 12] = [
        (2, &["-c", "ip"], utf16("\u{feff}ip\n10.0.0.1\n"), "the input is UTF-16"),
        (2, &[], utf16("10.0.0.1\n"), "the input is UTF-16"),
        (2, &[], tar, "the input is a tar archive"),
        (2, &["-f", "ip"], b" [\n{\"ip\":\"10.0.0.1\"}]\n".to_vec(), "the input is a JSON array"),
        (
            2,
            &["-f", "ip"],
            b"{\"Records\": [\n{\"ip\":1}\n]}\n".to_vec(),
            "the first line is a part of a JSON object",
        ),
        (
            2,
            &[],
            b"{\"a\":1,\"ip\":\"10.0.0.1\"}\n".to_vec(),
            "name the field with the address with --field; the first line has: a, ip",
        ),
        (0, &[], b"x,ip\n1,10.0.0.1\n".to_vec(), "the input looks like CSV: --column 2"),
        (0, &["--match"], b"{\"ip\":\"10.0.0.1\"}\n".to_vec(), ""),
        (
            2,
            &["-c", "x"],
            b"x,ip\na,10.0.0.1\n,\n".to_vec(),
            "no address in column 'x' of 2 rows: 1 bad, 1 missing",
        ),
        (
            0,
            &["-f", "x"],
            b"{\"ip\":\"10.0.0.1\"}\n".to_vec(),
            "1 missing address, 0 bad, in 1 row: is there an address in another",
        ),
        (
            0,
            &["-f", "ip"],
            b"{\"ip\":\"10.0.0.1\"}\nx\n[]\n{}\n".to_vec(),
            "1 missing address, 2 bad, in 4 rows",
        ),
        (0, &[], b"no\n".to_vec(), "1 missing address, 0 bad, in 1 row: is there"),
    ];
    for (code, args, input, message) in cases {
        let ended = sites(&Dir::new(), args, &input);
        assert_eq!(ended.code, code, "{args:?} {message}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{args:?}: {}", ended.stderr);
        assert!(!message.is_empty() || ended.stderr.is_empty(), "{}", ended.stderr);
    }
}

/// A capture of one packet of IPv4 in Ethernet from 10.0.0.1 to 10.9.0.1 and one of ARP.
fn pcap() -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for (kind, seconds) in [([8, 0], 1_700_000_000_u32), ([8, 6], 1_700_000_001)] {
        let mut packet = vec![0; 12];
        packet.extend(kind);
        packet.extend([0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 9, 0, 1]);
        for word in [seconds, 250_000, packet.len() as u32, packet.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(packet);
    }
    bytes
}

#[test]
fn captures_are_rows_of_packets() {
    let dir = Dir::new();
    let packets = "1700000000.250000000,10.0.0.1,10.9.0.1";
    for args in [&[][..], &["--block", "1"], &["-c", "destination"]] {
        let ended = sites(&dir, &[args, &["--add", "asn"]].concat(), pcap());
        assert_eq!(ended.stdout, format!("time,source,destination,asn\n{packets},64501\n"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains("packet"), "{}", ended.stderr);
    }
    let packed = longmatch_feed::compress(longmatch_feed::Codec::Gzip, &pcap()).unwrap();
    let file = dir.file("x.pcap.gz", packed);
    let ended = sites(&dir, &["-c", "source", "--add", "asn", &file], "");
    assert_eq!(ended.stdout, format!("time,source,destination,asn\n{packets},64500\n"));
    let ended = sites(&dir, &["-f", "ip"], pcap());
    assert!(ended.stderr.contains("the input is a packet capture"), "{}", ended.stderr);
    let cut = &pcap()[..pcap().len() - 3];
    let ended = sites(&dir, &["--add", "asn"], cut);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stdout.contains(packets), "{}", ended.stdout);
}
