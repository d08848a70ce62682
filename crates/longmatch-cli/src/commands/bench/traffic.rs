//! The addresses to look up: a pattern, or a file of them.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use longmatch_lab::{Destinations, Traffic};

use crate::addresses::parse;
use crate::args;
use crate::error::CliError;
use crate::lines::{Lines, Next};

/// Turns what the command line asks for into traffic; files are read here.
///
/// # Errors
/// When a file cannot be read, or has something else than one address a line.
pub fn read(traffics: &[args::Traffic]) -> Result<Vec<Traffic>, CliError> {
    let one = |traffic: &args::Traffic| {
        Ok(match traffic {
            args::Traffic::Random => Traffic::Random,
            args::Traffic::Sequential => Traffic::Sequential,
            args::Traffic::Repeated => Traffic::Repeated,
            args::Traffic::Routed => Traffic::Routed,
            args::Traffic::Zipf => Traffic::Zipf,
            args::Traffic::File(path) => Traffic::File(Arc::new(file(path)?)),
        })
    };
    traffics.iter().map(one).collect()
}

fn file(path: &Path) -> Result<Destinations, CliError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| CliError::input(&name, error))?;
    destinations(name, file)
}

/// Reads one address a line. Empty lines and lines that begin with `#` are skipped.
fn destinations(name: String, reader: impl Read) -> Result<Destinations, CliError> {
    let mut lines = Lines::new(reader);
    let mut addresses = Vec::new();
    loop {
        match lines.next() {
            Next::End => break,
            Next::Line(b"" | [b'#', ..]) => {}
            Next::Line(line) => {
                let compressed = is_compressed(line);
                let text = str::from_utf8(line).map_err(|_| "not text (UTF-8)".to_owned());
                match text.and_then(parse) {
                    Ok(address) => addresses.push(address.to_canonical()),
                    Err(_) if compressed && lines.number() == 1 => {
                        let advice = "is compressed: unpack it, for example with zstdcat or zcat";
                        return Err(CliError::input(name, advice));
                    }
                    Err(problem) => {
                        return Err(CliError::input(format!("{name}:{}", lines.number()), problem));
                    }
                }
            }
            Next::Starved => lines.fill().map_err(|error| CliError::input(&name, error))?,
        }
    }
    if addresses.is_empty() {
        return Err(CliError::input(name, "no addresses"));
    }
    Ok(Destinations::new(name, addresses))
}

/// Whether a file that begins like this is gzip, bzip2, zstd or xz.
fn is_compressed(start: &[u8]) -> bool {
    let magics: [&[u8]; 4] = [b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ"];
    magics.iter().any(|magic| start.starts_with(magic))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Destinations, CliError> {
        destinations("list".into(), text)
    }

    #[test]
    fn one_address_a_line() {
        let list = read(b"# mine\n192.0.2.1\r\n\n 2001:db8::1\n::ffff:192.0.2.2").unwrap();
        assert_eq!(list.name, "list");
        assert_eq!(list.ipv4, [0xc000_0201, 0xc000_0202]);
        assert_eq!(list.ipv6, [0x2001_0db8 << 96 | 1]);
    }

    #[test]
    fn anything_else_is_refused_with_its_place() {
        let error = |text: &[u8]| read(text).unwrap_err().to_string();
        assert_eq!(error(b"1.2.3.4\n1.2.3\n"), "list:2: '1.2.3' is not an IP address");
        assert_eq!(error(b"\n#\n"), "list: no addresses");
        assert!(error(b"\x28\xb5\x2f\xfd\x00").contains("compressed"));
    }
}
