//! `longmatch annotate`, run as a process.

#[cfg(target_os = "linux")]
mod signals;

use crate::common::{Dir, Ended, run_with};

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

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io::{Read, Write};
    use std::process::Stdio;

    use super::SITES;
    use crate::common::{Dir, program};

    /// A stream of 200 MB, or of 10 GB with `LONGMATCH_PROVE`, in constant memory.
    #[test]
    fn a_long_stream_needs_constant_memory() {
        let prove = std::env::var_os("LONGMATCH_PROVE").is_some();
        let bytes = if prove { 10_000_000_000 } else { 200_000_000u64 };
        let dir = Dir::new();
        let routes = dir.file("sites.csv", SITES);
        let mut child = program(&["annotate", "--routes", &routes, "-c", "ip", "--threads", "2"])
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
