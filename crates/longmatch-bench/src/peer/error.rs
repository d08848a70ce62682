//! What goes wrong with peers.

use core::fmt;
use core::time::Duration;

/// Something a peer was asked and did not do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerError {
    /// The peer's name.
    pub peer: String,
    /// What it was asked: the command as it was sent, or its first word if it was not.
    pub asked: String,
    /// What happened.
    pub fault: PeerFault,
}

/// What a peer did instead.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PeerFault {
    /// The program could not be started, and why.
    Start(String),
    /// A file that is passed to the peer cannot be written, or one of answers is not as it should
    /// be: which, and why. After the latter the peer was ended.
    File(String),
    /// It said that it cannot do this, and why. It can be asked other things.
    Refused(String),
    /// It never said that it can do this: nothing was sent. It can be asked other things.
    Unable(String),
    /// It said something else than an answer. It was ended.
    Unexpected {
        /// What was wrong with it.
        problem: String,
        /// The line, shortened.
        came: String,
    },
    /// It did not answer in time. It was ended.
    TimedOut(Duration),
    /// It ended before it answered.
    Ended {
        /// How: its exit status.
        status: String,
        /// The last of what it wrote on standard error, shortened; may be empty.
        stderr: String,
    },
    /// It had ended before this was asked.
    Gone,
}

impl PeerError {
    pub(super) fn new(peer: &str, asked: &str, fault: PeerFault) -> Self {
        Self { peer: peer.to_owned(), asked: asked.to_owned(), fault }
    }

    /// Whether the peer said that it cannot do this, which is a result, and no failure.
    pub fn is_refusal(&self) -> bool {
        matches!(self.fault, PeerFault::Refused(_) | PeerFault::Unable(_))
    }
}

impl PeerFault {
    /// Whether nothing more can be asked.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, Self::Refused(_) | Self::Unable(_) | Self::File(_))
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer {}, asked `{}`: {}", self.peer, shown(&self.asked), self.fault)
    }
}

impl std::error::Error for PeerError {}

impl fmt::Display for PeerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(why) => write!(f, "does not start: {why}"),
            Self::File(why) => f.write_str(why),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Unable(what) => write!(f, "has no {what}"),
            Self::Unexpected { problem, came } => write!(f, "{problem}; it said `{came}`"),
            Self::TimedOut(limit) => write!(f, "no answer within {} s", limit.as_secs_f64()),
            Self::Ended { status, stderr } if stderr.is_empty() => {
                write!(f, "ended without an answer ({status})")
            }
            Self::Ended { status, stderr } => {
                write!(f, "ended without an answer ({status}); on standard error: {stderr}")
            }
            Self::Gone => f.write_str("it had ended before"),
        }
    }
}

/// Characters of a peer's words that are repeated in a message.
const SHOWN: usize = 400;

/// A peer's words in a form that fits a message and harms no terminal: control characters escaped,
/// the beginning only.
pub(super) fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).flat_map(harmless).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push_str("...");
    }
    short
}

/// The same of the end.
pub(super) fn shown_end(text: &str) -> String {
    let text = text.trim();
    let skip = text.chars().count().saturating_sub(SHOWN);
    let end: String = text.chars().skip(skip).flat_map(harmless).collect();
    if skip > 0 { format!("...{end}") } else { end }
}

fn harmless(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = (!c.is_control()).then_some(c);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_made_harmless() {
        assert_eq!(shown("a\tb\u{1b}[31m"), "a\\tb\\u{1b}[31m");
        assert_eq!(shown(&"é".repeat(SHOWN)), "é".repeat(SHOWN));
        assert_eq!(shown(&"é".repeat(SHOWN + 1)), "é".repeat(SHOWN) + "...");
        assert_eq!(
            shown_end(&("x".repeat(SHOWN) + "é\n")),
            format!("...{}é", "x".repeat(SHOWN - 1))
        );
    }

    #[test]
    fn messages_say_who_was_asked_what() {
        let fault = PeerFault::Refused("next hop too large".into());
        let error = PeerError::new("tree", "load ipv4 /x", fault);
        assert_eq!(
            error.to_string(),
            "peer tree, asked `load ipv4 /x`: refused: next hop too large"
        );
        assert!(error.is_refusal());
    }
}
