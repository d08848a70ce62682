//! Parser of configurations of the Click modular router.
//!
//! A configuration declares elements and connects them. A routing table is an element whose
//! arguments are the routes:
//!
//! ```text
//! rt :: DirectIPLookup(192.0.2.0/24 0,                          // network, output port
//!                      198.51.100.0/255.255.255.0 192.0.2.1 1,  // network, gateway, output port
//!                      0/0 192.0.2.9 1);
//! ```
//!
//! A table of a million routes is one such statement, so the parser reads one argument at a time. It
//! checks no connections, and the arguments of other elements only for their end.
//!
//! The syntax is that of Click's manual (click(5), IPRouteTable, LinearIPLookup), with these
//! differences: set host bits are errors unless the options clear them (Click clears them),
//! numbers have no leading zeros, and names of addresses and `$` variables are errors.

mod detect;
mod route;
mod scanner;

use self::route::parse;
use self::scanner::{Scanner, Token};
use super::error::LineError;
use super::line::{Rules, shorten};
use super::output::Output;
use crate::error::{FeedError, Place, Problem};
use crate::options::IpTable;
use crate::report::Report;
use crate::sink::Sink;
use crate::source::{Job, Opened};

pub(crate) use self::detect::{LOOKAHEAD, looks_like};
pub(crate) use self::route::PortHop;

/// Element classes whose arguments are routes: the family of Click's IPRouteTable and the elements
/// of the DXR distribution.
const CLASSES: [&str; 12] = [
    "BSDIPLookup",
    "DXRIPLookup",
    "DirectIPLookup",
    "IPRouteTable",
    "LinearIPLookup",
    "LookupIPRoute",
    "LookupIPRouteMP",
    "RadixIPLookup",
    "RangeIPLookup",
    "RangeIPLookup2",
    "SortedIPLookup",
    "StaticIPLookup",
];

/// Loads the routes of one routing table of a configuration.
pub(crate) fn load(
    job: &Job<'_>,
    opened: Opened<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    let options = job.options;
    let mut load = Load {
        scanner: Scanner::new(opened.input, opened.codec),
        limit: options.limits.line,
        rules: Rules {
            mask_host_bits: options.mask_host_bits,
            default_family: options.default_family,
        },
        chosen: &options.ip_table,
        tables: 0,
        argument: Vec::new(),
        out: Output::new(sink, report, options),
    };
    let end = load.configuration();
    let Load { scanner, out, .. } = load;
    out.report.lines = scanner.lines();
    out.report.bytes = scanner.received();
    out.report.input_bytes = opened.taken.get();
    end
}

struct Load<'j, 'a, 's> {
    scanner: Scanner<'a>,
    /// Bytes of an argument.
    limit: usize,
    rules: Rules,
    chosen: &'j IpTable,
    /// Routing tables so far.
    tables: u64,
    /// The current argument, with one space for any white space and comments.
    argument: Vec<u8>,
    out: Output<'s>,
}

impl Load<'_, '_, '_> {
    /// Reads all statements.
    fn configuration(&mut self) -> Result<(), FeedError> {
        // In `name :: class(arguments)`, the name and the last word.
        let (mut name, mut word) = (String::new(), String::new());
        // Open parentheses around statements.
        let mut groups = 0u64;
        loop {
            let token = self.scanner.token()?;
            let line = self.scanner.line();
            match token {
                Token::Word(next) => word = next,
                Token::Colons => name = core::mem::take(&mut word),
                Token::Open if word.is_empty() => groups += 1,
                Token::Open if CLASSES.contains(&&*word) => {
                    self.table(if name.is_empty() { &word } else { &name }, line)?;
                    (name, word) = Default::default();
                }
                Token::Open => {
                    self.skip_arguments(&word, line)?;
                    (name, word) = Default::default();
                }
                Token::Close if groups > 0 => groups -= 1,
                Token::Mark => (name, word) = Default::default(),
                Token::Close => self.stray(')', line)?,
                Token::Stray(character) => self.stray(character, line)?,
                Token::End => break,
            }
        }
        match self.tables {
            0 => Err(FeedError::at(Place::Whole, Problem::Line(LineError::ClickTable))),
            _ => Ok(()),
        }
    }

    /// Reports a character that no statement has, and drops the rest of its line.
    fn stray(&mut self, character: char, line: u64) -> Result<(), FeedError> {
        self.out.pass(Err(FeedError::line(line, LineError::ClickCharacter { character })))?;
        self.scanner.skip_line();
        Ok(())
    }

    /// Reads the arguments of a routing table, whose opening parenthesis is on this line.
    fn table(&mut self, name: &str, line: u64) -> Result<(), FeedError> {
        // The table that `ip route` calls `main` is the one to take without a choice.
        let taken = match self.chosen.is_main() {
            true => self.tables == 0,
            false => self.chosen.is(name),
        };
        self.tables += 1;
        loop {
            let argument = self.argument(name, line)?;
            let result = match (argument.last, self.argument.is_empty()) {
                // No route at all, or a comma after the last one.
                (true, true) => Ok(()),
                _ if taken => self.route(argument.line),
                _ => {
                    self.out.report.count_other_table(name);
                    Ok(())
                }
            };
            self.out.pass(result)?;
            if argument.last {
                return Ok(());
            }
        }
    }

    /// Loads the route of the current argument, which begins on this line.
    fn route(&mut self, line: u64) -> Result<(), FeedError> {
        let wrong = |error| FeedError::line(line, error);
        let text = str::from_utf8(&self.argument).map_err(|_| wrong(LineError::NotUtf8))?;
        if text.len() > self.limit {
            return Err(wrong(LineError::ClickRoute { text: shorten(text) }));
        }
        let (prefix, hop) = parse(text, self.rules).map_err(wrong)?;
        self.out.announce(prefix, &hop.to_string(), Place::Line(line))
    }

    /// Reads one argument of the element with this name, whose arguments begin on this line.
    fn argument(&mut self, name: &str, start: u64) -> Result<Argument, FeedError> {
        self.argument.clear();
        let (mut line, mut depth) = (start, 0u64);
        loop {
            let Some(byte) = self.scanner.next()? else { return Err(cut_off(name, start)) };
            match byte {
                b',' if depth == 0 => return Ok(Argument { line, last: false }),
                b')' if depth == 0 => return Ok(Argument { line, last: true }),
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'"' | b'\'' => self.scanner.skip_quotation(byte),
                _ => {}
            }
            let blank = byte.is_ascii_whitespace();
            if self.argument.is_empty() {
                line = self.scanner.line();
            }
            if blank && self.argument.last().is_none_or(|last| *last == b' ') {
                continue;
            }
            // One byte beyond the limit shows that the argument is too long.
            if self.argument.len() <= self.limit {
                self.argument.push(if blank { b' ' } else { byte });
            }
        }
    }

    /// Reads the arguments of an element that is not a routing table.
    fn skip_arguments(&mut self, name: &str, line: u64) -> Result<(), FeedError> {
        let mut depth = 1u64;
        while depth > 0 {
            match self.scanner.next()? {
                Some(b'(') => depth += 1,
                Some(b')') => depth -= 1,
                Some(mark @ (b'"' | b'\'')) => self.scanner.skip_quotation(mark),
                Some(_) => {}
                None => return Err(cut_off(name, line)),
            }
        }
        Ok(())
    }
}

/// The error of arguments that begin on this line and do not end.
fn cut_off(element: &str, line: u64) -> FeedError {
    FeedError::line(line, LineError::ClickArguments { element: shorten(element) })
}

/// An argument that has been read.
struct Argument {
    /// The line on which it begins.
    line: u64,
    /// Whether a parenthesis follows, not a comma.
    last: bool,
}

#[cfg(test)]
mod tests {
    use std::io::{Read, repeat};

    use super::*;
    use crate::input::Input;
    use crate::options::Options;

    #[test]
    fn endless_arguments_are_read_in_bounded_memory() {
        let options = Options::default();
        let limit = options.limits.line;
        for byte in [b'x', b' ', b'(', b'"'] {
            let endless = repeat(byte).take(8 << 20).chain(&b"\"\"))"[..]);
            let (mut report, mut sink) = (Report::default(), |_: crate::Event<'_>| Ok(()));
            let mut load = Load {
                scanner: Scanner::new(Input::new(Box::new(endless)), None),
                limit,
                rules: Rules::default(),
                chosen: &options.ip_table,
                tables: 0,
                argument: Vec::new(),
                out: Output::new(&mut sink, &mut report, &Options::default()),
            };
            let ended = load.argument("rt", 1);
            assert_eq!(ended.is_err(), byte == b'(', "{}", char::from(byte));
            assert!(load.argument.len() <= limit + 1 && load.argument.capacity() <= 4 * limit);
        }
    }
}
