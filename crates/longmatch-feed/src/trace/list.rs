//! Lists of addresses, one per line.

use super::collect::{Collector, PacketSink};
use crate::codec::Codec;
use crate::decompress::explain;
use crate::error::FeedError;
use crate::input::Input;
use crate::text::{Lines, LinesError, parse_address};

/// Reads all lines; `limit` is the greatest length of a line. Skips empty lines and lines that begin
/// with `#`.
pub(super) fn read(
    input: Input<'_>,
    limit: usize,
    codec: Option<Codec>,
    collector: &mut Collector<'_>,
) -> Result<(), FeedError> {
    let mut lines = Lines::new(input, limit);
    let end = read_lines(&mut lines, codec, collector);
    collector.trace.report.lines = lines.number();
    collector.trace.report.bytes = lines.input().received();
    end
}

fn read_lines(
    lines: &mut Lines<'_>,
    codec: Option<Codec>,
    collector: &mut Collector<'_>,
) -> Result<(), FeedError> {
    while !collector.is_stopped() {
        let number = lines.number() + 1;
        let address = match lines.next_line() {
            Ok(None) => break,
            Ok(Some(line)) => match line.trim_ascii() {
                "" => continue,
                line if line.starts_with('#') => continue,
                line => parse_address(line),
            },
            Err(LinesError::Line(error)) => Err(error),
            Err(LinesError::Io(error)) => {
                return Err(FeedError::byte(lines.input().received(), explain(error, codec)));
            }
        };
        let taken = address.map(|address| collector.address(address));
        collector.pass(taken.map_err(|error| FeedError::line(number, error)))?;
    }
    Ok(())
}
