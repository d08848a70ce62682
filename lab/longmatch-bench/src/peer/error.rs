//! Errors of peers.

use core::time::Duration;

use thiserror::Error;

/// Error of a command to a peer.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("peer {peer}, command `{}`: {fault}", printable(.command))]
pub struct PeerError {
    /// The peer's name.
    pub peer: String,
    /// The command as sent, or its first word if it was not sent.
    pub command: String,
    /// The failure.
    pub fault: PeerFault,
}

/// Kind of a [`PeerError`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PeerFault {
    /// The program could not be started, with the reason.
    #[error("it does not start: {0}")]
    Start(String),
    /// A file cannot be written, or the file of answers is wrong; path and reason.
    ///
    /// A wrong file of answers ends the peer.
    #[error("{0}")]
    File(String),
    /// The peer refused the command, with its reason, and accepts others.
    #[error("refused: {0}")]
    Refused(String),
    /// The peer does not support this, so the command was not sent.
    #[error("{0} not supported")]
    Unsupported(String),
    /// The peer wrote an invalid line and was ended; the problem and the shortened line.
    #[error("{0}")]
    Unexpected(String),
    /// The peer did not answer within this limit and was ended.
    #[error("no answer within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The peer ended before it answered; its exit status and the end of its standard error.
    #[error("ended without an answer {0}")]
    Ended(String),
    /// The peer had ended before this command.
    #[error("it had already ended")]
    AlreadyEnded,
}

impl PeerError {
    pub(super) fn new(peer: &str, command: &str, fault: PeerFault) -> Self {
        Self { peer: peer.to_owned(), command: command.to_owned(), fault }
    }

    /// Whether the command was refused or is unsupported: a result, not a failure.
    pub fn is_refusal(&self) -> bool {
        matches!(self.fault, PeerFault::Refused(_) | PeerFault::Unsupported(_))
    }
}

impl PeerFault {
    /// The fault of an invalid line.
    pub(super) fn unexpected(problem: &str, line: &str) -> Self {
        Self::Unexpected(format!("{problem}; it wrote `{}`", printable(line)))
    }

    /// Whether the peer accepts no further commands.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, Self::Refused(_) | Self::Unsupported(_) | Self::File(_))
    }
}

/// Maximum number of a peer's characters in a message.
const SHOWN: usize = 400;

/// The beginning of a peer's text, with control characters escaped.
pub(super) fn printable(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).flat_map(escaped).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push_str("...");
    }
    short
}

/// The end of a peer's text, with control characters escaped.
pub(super) fn printable_end(text: &str) -> String {
    let text = text.trim();
    let skip = text.chars().count().saturating_sub(SHOWN);
    let end: String = text.chars().skip(skip).flat_map(escaped).collect();
    if skip > 0 { format!("...{end}") } else { end }
}

fn escaped(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = (!c.is_control()).then_some(c);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_text_is_shortened() {
        assert_eq!(printable("a\tb\u{1b}[31m"), "a\\tb\\u{1b}[31m");
        assert_eq!(printable(&"é".repeat(SHOWN)), "é".repeat(SHOWN));
        assert_eq!(printable(&"é".repeat(SHOWN + 1)), "é".repeat(SHOWN) + "...");
        assert_eq!(
            printable_end(&("x".repeat(SHOWN) + "é\n")),
            format!("...{}é", "x".repeat(SHOWN - 1))
        );
    }

    #[test]
    fn messages_have_the_peer_and_the_command() {
        let fault = PeerFault::Refused("next hop too large".into());
        let error = PeerError::new("tree", "load ipv4 /x", fault);
        assert_eq!(
            error.to_string(),
            "peer tree, command `load ipv4 /x`: refused: next hop too large"
        );
        assert!(error.is_refusal());
    }
}
