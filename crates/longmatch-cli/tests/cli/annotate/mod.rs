//! `longmatch annotate`, run as a process.

mod inputs;
#[cfg(target_os = "linux")]
mod signals;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use crate::common::{Dir, Ended, longmatch, run, run_with};

const SITES: &str = "\
network,asn,site
10.0.0.0/8,64500,office
10.9.0.0/16,64501,\"lab, \"\"north\"\"\"
2001:db8::/32,64502,
";

/// Runs `annotate` with the sites and a standard input.
fn sites(dir: &Dir, args: &[&str], stdin: impl AsRef<[u8]>) -> Ended {
    let routes = dir.file("sites.csv", SITES);
    run_with(&[&["annotate", "--routes", &routes], args].concat(), stdin)
}

/// Runs `annotate` and returns its output; the exit code is 0.
fn output(args: &[&str], stdin: impl AsRef<[u8]>) -> String {
    let ended = sites(&Dir::new(), args, stdin);
    assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
    ended.stdout
}

#[test]
fn csv_passes_through_with_columns_added() {
    let input = "\u{feff}id,ip,note\r\n\
        1,10.1.2.3,\"a, \"\"b\"\"\nsecond line\"\r\n\
        2,10.9.0.1:443,\r\n\
        \r\n\
        3,,x\n\
        4,[2001:db8::1]:443,x\n\
        5,nowhere,x\n\
        6,192.0.2.1,x\n\
        7,::ffff:10.0.0.1,x\n\
        id,ip,note\n\
        8,\"10.0.0.1\",x";
    let expected = "\u{feff}id,ip,note,asn,site,net\r\n\
        1,10.1.2.3,\"a, \"\"b\"\"\nsecond line\",64500,office,10.0.0.0/8\r\n\
        2,10.9.0.1:443,,64501,\"lab, \"\"north\"\"\",10.9.0.0/16\r\n\
        \r\n\
        3,,x,,,\n\
        4,[2001:db8::1]:443,x,64502,,2001:db8::/32\n\
        5,nowhere,x,,,\n\
        6,192.0.2.1,x,,,\n\
        7,::ffff:10.0.0.1,x,64500,office,10.0.0.0/8\n\
        id,ip,note,asn,site,net\n\
        8,\"10.0.0.1\",x,64500,office,10.0.0.0/8";
    let ended = sites(&Dir::new(), &["--column", "ip", "--prefix-as", "net"], input);
    assert_eq!((ended.code, &*ended.stdout), (0, expected), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("standard input: 1 missing address, 1 bad, in 8 rows"),
        "{}",
        ended.stderr
    );
}

/// Whatever the sizes of blocks and the number of threads, the output is the same.
#[test]
fn blocks_can_end_anywhere() {
    let mut csv = "ip,\"no\nte\"\n".to_owned();
    let mut json = String::new();
    let mut text = String::new();
    for i in 0..60 {
        let ip = ["10.9.0.1", "\"10.1.1.1\"", "::1", "", "\"\"", "x\"y", "2001:db8::1"][i % 7];
        csv += &format!("{ip},\"{}\n\"\"{i}\"{}", "q".repeat(i), ["\n", "\r\n", "\n\n"][i % 3]);
        json += &format!(
            "{{\"ip\": \"{}\", \"i\": [{i}]}}\n",
            ip.trim_matches('"').replace('"', "\\\"")
        );
        text += &format!("{i} {ip} at 12:00:{i:02}{}", ["\n", "\r\n"][i % 2]);
    }
    let dir = Dir::new();
    let cases = [
        (csv, &["-c", "ip"][..], "csv"),
        (json, &["-f", "ip"], "json"),
        (text, &["--prefix-as", "p"], "txt"),
    ];
    for (input, args, name) in cases {
        let file = dir.file(name, &input);
        let whole = sites(&dir, &[args, &[&file]].concat(), "");
        assert_eq!(whole.code, 0, "{}", whole.stderr);
        assert!(whole.stdout.contains("64501") && whole.stdout.len() > input.len());
        let sizes = (1..24).chain([100, 1000]);
        for size in sizes {
            let size = size.to_string();
            let ended =
                sites(&dir, &[args, &["--block", &size, "--threads", "3", &file]].concat(), "");
            assert_eq!(ended, whole, "{name} in blocks of {size}");
        }
    }
}

#[test]
fn columns_by_number_name_and_delimiter() {
    let input = "src\tdst\n10.1.0.1\t10.9.0.1\n";
    let two = output(&["--column", "dst,src", "--add", "asn"], input);
    assert_eq!(two, "src\tdst\tdst_asn\tsrc_asn\n10.1.0.1\t10.9.0.1\t64501\t64500\n");
    let named = output(&["--column", "2", "--add", "site,asn", "--as", "S,N"], input);
    assert_eq!(named, "src\tdst\tS\tN\n10.1.0.1\t10.9.0.1\tlab, \"north\"\t64501\n");
    assert_eq!(output(&["-c", "1", "--add", "asn"], "10.1.0.1;x\n"), "10.1.0.1;x;64500\n");
    assert_eq!(
        output(&["-c", "1", "--add", "asn", "-d", "bar"], "a,b|c\n10.0.0.1|1\n"),
        "a,b|c|asn\n10.0.0.1|1|64500\n"
    );
    let no_header = output(&["-c", "1", "--no-header", "--add", "asn"], "x\n10.0.0.1");
    assert_eq!(no_header, "x,\n10.0.0.1,64500");
    assert_eq!(output(&["-c", "ip"], ""), "", "an empty file stays empty");
    assert_eq!(output(&["-c", "ip", "--add", "asn"], "ip"), "ip,asn");
}

#[test]
fn ragged_rows_keep_the_added_columns_in_place() {
    let ended =
        sites(&Dir::new(), &["-c", "ip", "--add", "asn"], "ip,a,b\n10.0.0.1\n10.0.0.1,1,2,3\n");
    assert_eq!(ended.stdout, "ip,a,b,asn\n10.0.0.1,,,64500\n10.0.0.1,1,2,3,64500\n");
    assert!(ended.stderr.contains("2 rows with more or fewer cells"), "{}", ended.stderr);
}

#[test]
fn json_lines_get_members() {
    let input = concat!(
        r#"{"src": {"ip": "10.9.0.1"}, "n": 1}"#,
        "\r\n",
        r#"{"s\u0072c":{"i\u0070":"\u0031\u0030.0.0.1","x":"}\""}}"#,
        "\n",
        r#"{ "src" : { "ip" : null } }"#,
        "\n\n",
        "{}\n",
        "[1, 2\n",
        r#"{"src":{"ip":"fe80::1%eth0"},"src":{"ip":"2001:db8::1"}}"#,
    );
    let expected = concat!(
        r#"{"src": {"ip": "10.9.0.1"}, "n": 1,"asn":64501,"site":"lab, \"north\"","net":"10.9.0.0/16"}"#,
        "\r\n",
        r#"{"s\u0072c":{"i\u0070":"\u0031\u0030.0.0.1","x":"}\""},"asn":64500,"site":"office","net":"10.0.0.0/8"}"#,
        "\n",
        r#"{ "src" : { "ip" : null },"asn":null,"site":null,"net":null }"#,
        "\n\n",
        "{\"asn\":null,\"site\":null,\"net\":null}\n",
        "[1, 2\n",
        r#"{"src":{"ip":"fe80::1%eth0"},"src":{"ip":"2001:db8::1"},"asn":64502,"site":null,"net":"2001:db8::/32"}"#,
    );
    assert_eq!(output(&["--field", "src.ip", "--prefix-as", "net"], input), expected);
}

/// As a column of CSV: nothing of the input is hidden behind a second member of the same name.
#[test]
fn members_are_not_added_twice() {
    let dir = Dir::new();
    for taken in [r#""asn":null"#, r#""\u0061sn":{"x":[1]}"#] {
        let input =
            format!("{{\"ip\":\"10.0.0.1\"}}\n{{\"x\":{{\"asn\":1}}}}\n{{{taken},\"ip\":1}}\n");
        for block in ["1", "1000"] {
            let ended = sites(&dir, &["-f", "ip", "--add", "asn", "--block", block], &input);
            assert_eq!(ended.code, 2);
            assert_eq!(
                ended.stderr,
                "longmatch: standard input, line 3: the object has a member 'asn' already: name the added columns with --as or --prefix-as\n"
            );
            let expected =
                "{\"ip\":\"10.0.0.1\",\"asn\":64500}\n{\"x\":{\"asn\":1},\"asn\":null}\n";
            assert_eq!(ended.stdout, expected);
        }
        let renamed = sites(&dir, &["-f", "ip", "--add", "asn", "--as", "n"], &input);
        assert_eq!(renamed.code, 0, "{}", renamed.stderr);
    }
    let fields = (0..64).map(|n| format!("f{n}")).collect::<Vec<_>>().join(",");
    let ended = sites(&dir, &["-f", &fields, "--add", "asn"], "{}");
    assert!(ended.stderr.contains("at most 64 fields and added members"), "{}", ended.stderr);
}

#[test]
fn lines_of_text_get_cells() {
    let input = "sshd: from 10.9.0.1 port 22\nno address at 12:30:01\nfrom [2001:db8::1]:80\r\n";
    let expected = "sshd: from 10.9.0.1 port 22\t64501\t10.9.0.0/16\nno address at 12:30:01\t\t\n\
        from [2001:db8::1]:80\t64502\t2001:db8::/32\r\n";
    assert_eq!(output(&["--add", "asn", "--prefix-as", "net"], input), expected);
    let input = "a=10.9.0.1 b=10.0.0.1\nb=\n";
    assert_eq!(
        output(&["--regex", r"b=(\S*)", "--add", "asn"], input),
        "a=10.9.0.1 b=10.0.0.1\t64500\nb=\t\n"
    );
}

#[test]
fn lines_are_filtered_as_grep_does() {
    let dir = Dir::new();
    let input = "x 10.9.0.1\nx 192.0.2.1\nnothing\n";
    let ended = sites(&dir, &["--match"], input);
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, "x 10.9.0.1\n", ""));
    let ended = sites(&dir, &["--no-match"], input);
    assert_eq!((ended.code, &*ended.stdout), (0, "x 192.0.2.1\nnothing\n"));
    let ended = sites(&dir, &["--match"], "x 192.0.2.1\n");
    assert_eq!((ended.code, &*ended.stdout), (1, ""));
    assert_eq!(sites(&dir, &["--match", "-c", "ip"], "ip\n192.0.2.1\n").stdout, "ip\n");
    let ended = sites(&dir, &["--match", "-c", "ip", "--add", "asn"], "ip\n192.0.2.1\n10.0.0.1\n");
    assert_eq!((ended.code, &*ended.stdout), (0, "ip,asn\n10.0.0.1,64500\n"));
    assert_eq!(run(&["annotate", "--match", "--routes", &dir.path("none")]).code, 2);
    let list = dir.file("list.txt", "192.0.2.0/24\n2001:db8::7\n");
    let ended = run_with(
        &["annotate", "--match", "--routes", &list],
        "192.0.2.9\n2001:db8::8\n2001:db8::7\n",
    );
    assert_eq!((ended.code, &*ended.stdout), (0, "192.0.2.9\n2001:db8::7\n"), "{}", ended.stderr);
}

#[test]
fn strict_names_line_and_column() {
    let dir = Dir::new();
    let input = "ip,b\n10.0.0.1,\"\n\"\n10.0.0.1,\n10.0.0.256,\n10.0.0.1,\n";
    for block in ["1", "9", "1000"] {
        let ended = sites(&dir, &["-c", "ip", "--add", "asn", "--strict", "--block", block], input);
        assert_eq!(ended.code, 2);
        assert_eq!(
            ended.stderr,
            "longmatch: standard input, line 5: column 'ip': '10.0.0.256' is not an address\n"
        );
        assert_eq!(ended.stdout, "ip,b,asn\n10.0.0.1,\"\n\",64500\n10.0.0.1,,64500\n");
    }
    let ended = sites(&dir, &["-f", "ip", "--strict"], "{\"ip\":\"10.0.0.1\"}\n{\"ip\":1\n");
    assert!(
        ended.stderr.contains("line 2: not a JSON object: expected ',' or '}' at byte 8"),
        "{}",
        ended.stderr
    );
    let ended = sites(&dir, &["--strict"], "10.0.0.1\nnone\n");
    assert!(ended.stderr.ends_with("line 2: no address on the line\n"), "{}", ended.stderr);
}

#[test]
fn mistakes_are_explained() {
    let dir = Dir::new();
    let cases = [
        (
            &["-c", "addr"][..],
            "ip,x\n",
            "--column: no column is named 'addr'; the first row has: ip, x",
        ),
        (
            &["-c", "ip"],
            "ip,x,ip\n",
            "--column: columns 1 and 3 are both named 'ip': give the number of one",
        ),
        (&["-c", "4"], "ip,x,ip\n", "--column: column 4 does not exist: the first row has 3"),
        (&["-c", "1,ip"], "ip,x\n", "--column: column 1 is named twice"),
        (
            &["-c", "ip"],
            "ip,asn\n",
            "the input has a column 'asn' already, number 2: name the added columns with --as or --prefix-as",
        ),
        (
            &["-c", "ip", "--add", "owner"],
            "ip\n",
            "--add: the prefix data have no column 'owner'; they have: asn, site",
        ),
        (&["-c", "ip", "--as", "a"], "ip\n", "--as: 1 names for 2 added columns"),
        (&["--regex", "("], "", "--regex: "),
        (&["--count"], "", "--count needs --match or --no-match"),
        (&["-o", "out.lz4"], "", "out.lz4: no such file is written: name it .gz"),
        (&["-c", "ip", "--no-header"], "ip\n", "--column: 'ip' is not a number"),
    ];
    for (args, input, expected) in cases {
        let ended = sites(&dir, args, input);
        assert_eq!((ended.code, &*ended.stdout), (2, ""), "{args:?}");
        assert!(ended.stderr.contains(expected), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn compressed_in_and_out() {
    let dir = Dir::new();
    let plain: String = (0..5000).map(|i| format!("10.{}.0.1,{i}\n", i % 11)).collect();
    let expected = output(&["-c", "1"], &plain);
    for name in ["x.csv.gz", "x.csv.bz2", "x.csv.zst", "x.csv.xz"] {
        let (packed, back) = (dir.path(name), dir.path(&format!("back-{name}")));
        let ended =
            sites(&dir, &["-c", "1", "--add", "asn", "-o", &packed, "--block", "10000"], &plain);
        assert_eq!((ended.code, &*ended.stdout), (0, ""), "{}", ended.stderr);
        assert!(fs::metadata(&packed).unwrap().len() < plain.len() as u64 / 2);
        let ended = sites(
            &dir,
            &["-c", "1", "--add", "site", &packed, "-o", &back, "--compress", "none"],
            "",
        );
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let back = fs::read_to_string(&back).unwrap();
        assert_eq!(back.lines().count(), expected.lines().count());
        assert_eq!(back.lines().next(), expected.lines().next());
    }
    let packed = dir.path("x.csv.gz");
    let half = fs::read(&packed).unwrap();
    let cut = dir.file("cut.gz", &half[..half.len() - 9]);
    let ended = sites(&dir, &["-c", "1", "--add", "site", &cut], "");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("the gzip data is damaged or cut off"), "{}", ended.stderr);
}

#[test]
fn several_tables_and_compiled_ones() {
    let dir = Dir::new();
    let asns = dir.file("asns.csv", "network,as_number\n10.0.0.0/8,1\n");
    let more = dir.file("more.csv", "network,asn,site\n10.0.0.0/8,7,moved\n");
    let ended = sites(
        &dir,
        &["--routes", &more, "--routes", &asns, "--prefix-as", "net"],
        "10.9.0.1\n10.1.0.1\n",
    );
    let expected =
        "10.9.0.1\t64501\tlab, \"north\"\t1\t10.9.0.0/16\n10.1.0.1\t7\tmoved\t1\t10.0.0.0/8\n";
    assert_eq!(ended.stdout, expected, "{}", ended.stderr);
    let other = dir.file("other.csv", "network,asn\n10.0.0.0/8,1\n");
    let ended = sites(&dir, &["--routes", &other], "");
    assert!(ended.stderr.contains("two tables have a column 'asn'"), "{}", ended.stderr);
    let compiled = dir.path("asns.lm");
    assert_eq!(run(&["compile", "--routes", &asns, "-o", &compiled]).code, 0);
    let ended = sites(&dir, &["--table", &compiled], "10.9.0.1\n");
    assert_eq!(ended.stdout, "10.9.0.1\t64501\tlab, \"north\"\t1\n", "{}", ended.stderr);
    for trust in [&["--trust"][..], &[]] {
        let args = [&["annotate", "--table", &compiled, "--prefix-as", "net"], trust].concat();
        let ended = run_with(&args, "10.9.0.1\n");
        assert_eq!(ended.stdout, "10.9.0.1\t1\t10.0.0.0/8\n", "{}", ended.stderr);
    }
    assert!(run(&["annotate", "--trust"]).stderr.contains("--table <FILE>"));
    let damaged = dir.file("cut.lm", &fs::read(&compiled).unwrap()[..200]);
    let ended = run_with(&["annotate", "--table", &damaged], "");
    assert!(ended.code == 2 && ended.stderr.contains("cut.lm"), "{}", ended.stderr);
}

/// The default table adds the origin AS and its name for both families, and says how old it is.
#[test]
fn the_default_table_works_at_once() {
    let input = "ip\n1.1.1.1\n2001:4860:4860::8888\n10.1.2.3\n";
    let args = ["annotate", "--column", "ip", "--prefix-as", "net"];
    let both = "ip,asn,name,net\n1.1.1.1,13335,\"Cloudflare, Inc.\",1.1.1.0/24\n\
        2001:4860:4860::8888,15169,Google LLC,2001:4860:4840::/42\n10.1.2.3,,,\n";
    let asn = "ip,asn\n1.1.1.1,13335\n2001:4860:4860::8888,15169\n10.1.2.3,\n";
    let date = include_str!("../../../../../data/asn.version").split_whitespace().nth(1).unwrap();
    let notice = format!("longmatch: the default table answers: the origin AS of {date} (");
    for (args, expected) in [(&args[..], both), (&["annotate", "-c", "ip", "--add", "asn"], asn)] {
        let ended = run_with(args, input);
        assert_eq!((ended.code, &*ended.stdout), (0, expected), "{}", ended.stderr);
        assert!(ended.stderr.starts_with(&notice), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
    let ended = run_with(&["annotate", "--match"], "2001:4860:4860::8888\n0.0.0.0\n240.0.0.1\n");
    assert_eq!(ended.stdout, "2001:4860:4860::8888\n");
}

#[test]
fn lines_are_passed_on_as_they_come() {
    let dir = Dir::new();
    let routes = dir.file("sites.csv", SITES);
    let mut child = longmatch(&["annotate", "--routes", &routes, "--add", "asn"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut output = BufReader::new(output);
    for asn in ["64500", "64501"] {
        let addr = if asn == "64500" { "10.0.0.1" } else { "10.9.0.1" };
        writeln!(input, "{addr}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, format!("{addr}\t{asn}\n"));
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_pipe_ends_it_silently() {
    let dir = Dir::new();
    let routes = dir.file("sites.csv", SITES);
    let input = dir.file("in.txt", "10.0.0.1 and more\n".repeat(200_000));
    let mut child = longmatch(&["annotate", "--routes", &routes, &input])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 20];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), &*ended.stderr), (Some(0), &b""[..]));
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    #[test]
    fn a_full_disk_is_reported() {
        let dir = Dir::new();
        let routes = dir.file("sites.csv", SITES);
        for to_file in [false, true] {
            let mut command = longmatch(&["annotate", "--routes", &routes]);
            if to_file {
                command.args(["-o", "/dev/full"]);
            } else {
                command.stdout(fs::File::create("/dev/full").unwrap());
            }
            let input = dir.file("in.txt", "10.0.0.1\n");
            let ended: Ended = command.arg(&input).stderr(Stdio::piped()).output().unwrap().into();
            assert_eq!(ended.code, 2);
            assert!(ended.stderr.contains("No space left on device"), "{}", ended.stderr);
        }
    }

    /// The shell's limit on files stands for a full disk: the file ends with a whole line.
    #[test]
    fn a_full_disk_leaves_no_half_line() {
        let dir = Dir::new();
        let routes = dir.file("sites.csv", SITES);
        let input = dir.file("in.txt", "10.0.0.1 and more\n".repeat(20_000));
        let out = dir.file("out.txt", "before\n");
        let script = "trap '' XFSZ; ulimit -f 100; exec \"$0\" annotate --routes \"$1\" --block 10000 \"$2\" >> \"$3\"";
        let exe = env!("CARGO_BIN_EXE_longmatch");
        let ended = std::process::Command::new("bash")
            .args(["-c", script, exe, &routes, &input, &out])
            .output()
            .unwrap();
        assert_eq!(ended.status.code(), Some(2), "{}", String::from_utf8_lossy(&ended.stderr));
        let written = fs::read_to_string(&out).unwrap();
        assert!(written.starts_with("before\n10.0.0.1") && written.ends_with("\toffice\n"));
        assert!(written.len() > 80_000, "{}", written.len());
    }

    /// A stream of 200 MB, or of 10 GB with `LONGMATCH_PROVE`, in constant memory.
    #[test]
    fn a_long_stream_needs_constant_memory() {
        let prove = std::env::var_os("LONGMATCH_PROVE").is_some();
        let bytes = if prove { 10_000_000_000 } else { 200_000_000u64 };
        let dir = Dir::new();
        let routes = dir.file("sites.csv", SITES);
        let mut child = longmatch(&["annotate", "--routes", &routes, "-c", "ip", "--threads", "2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let row = format!("10.9.0.1,\"{}\n\"\n", "x".repeat(400));
        let writer = std::thread::spawn(move || {
            input.write_all(b"ip,text\n").unwrap();
            let rows = row.repeat(1000);
            let mut written = 0;
            while written < bytes {
                input.write_all(rows.as_bytes()).unwrap();
                written += rows.len() as u64;
            }
        });
        let status = format!("/proc/{}/status", child.id());
        let (mut read, mut peak, mut buffer) = (0u64, 0, vec![0; 1 << 20]);
        loop {
            let n = output.read(&mut buffer).unwrap();
            if n == 0 {
                break;
            }
            if read >> 24 != (read + n as u64) >> 24 {
                peak = peak.max(peak_memory(&status));
            }
            read += n as u64;
        }
        writer.join().unwrap();
        assert!(child.wait().unwrap().success());
        assert!(read > bytes, "{read}");
        assert!((1..200_000).contains(&peak), "{peak} KiB");
    }

    /// The greatest resident memory of a process so far, in KiB.
    fn peak_memory(status: &str) -> u64 {
        let text = fs::read_to_string(status).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("VmHWM:"));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }
}

#[cfg(not(feature = "columnar"))]
#[test]
fn columnar_input_names_the_feature() {
    let inputs: [(&[u8], &str); 3] = [
        (b"PAR1", "Parquet"),
        (b"ARROW1\0\0", "an Arrow file"),
        (b"\xff\xff\xff\xff\x10", "an Arrow stream"),
    ];
    for (input, format) in inputs {
        let ended = sites(&Dir::new(), &["--column", "ip"], input);
        let expected = format!("standard input: the input is {format}: this longmatch was built");
        assert_eq!((ended.code, &*ended.stdout), (2, ""));
        assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
        assert!(ended.stderr.contains("--features columnar"), "{}", ended.stderr);
    }
}
