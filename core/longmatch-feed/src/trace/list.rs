//! Lists of addresses, one per line.

use super::collect::{Receiver, Take};
use crate::codec::Codec;
use crate::decompress::explain;
use crate::error::FeedError;
use crate::text::{Lines, LinesError, parse_address};

/// Reads all lines. Skips empty lines and lines that begin with `#`.
pub(super) fn read(
    lines: &mut Lines<'_>,
    codec: Option<Codec>,
    receiver: &mut Receiver<impl Take>,
) -> Result<(), FeedError> {
    while !receiver.report.stopped {
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
        let taken = address.and_then(|address| receiver.address(address));
        receiver.pass(taken.map_err(|error| FeedError::line(number, error)))?;
    }
    Ok(())
}
