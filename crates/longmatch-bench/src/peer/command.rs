//! Command line of a peer, with the name of the peer.

use core::fmt;
use core::str::FromStr;
use std::ffi::OsString;

/// A peer's name and the command that starts it.
///
/// ```
/// use longmatch_bench::PeerCommand;
/// let peer: PeerCommand = "mine='/opt/my tables/peer' --fast".parse()?;
/// assert_eq!(peer.name, "mine");
/// assert_eq!(peer.command, ["/opt/my tables/peer", "--fast"]);
/// # Ok::<(), longmatch_bench::BadPeerCommand>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerCommand {
    /// Name in reports.
    pub name: String,
    /// The program, then its arguments; at least the program. No shell interprets them.
    pub command: Vec<OsString>,
}

/// Error of parsing `NAME=COMMAND`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BadPeerCommand {
    /// The text has no `=`.
    NoCommand,
    /// The name is empty or contains blanks or control characters.
    Name,
    /// The command is empty.
    Empty,
    /// A quotation mark is not closed.
    Quote(char),
}

impl fmt::Display for BadPeerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommand => f.write_str("expected NAME=COMMAND, such as mine=./my-peer"),
            Self::Name => f.write_str("the name before `=` is empty or contains blanks"),
            Self::Empty => f.write_str("the command after `=` is empty"),
            Self::Quote(mark) => write!(f, "the quotation mark {mark} is not closed"),
        }
    }
}

impl std::error::Error for BadPeerCommand {}

impl FromStr for PeerCommand {
    type Err = BadPeerCommand;

    /// Parses `NAME=COMMAND`.
    ///
    /// Blanks separate the words of the command, except between single or double quotation marks.
    /// No other character is special.
    fn from_str(text: &str) -> Result<Self, BadPeerCommand> {
        let (name, command) = text.split_once('=').ok_or(BadPeerCommand::NoCommand)?;
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(BadPeerCommand::Name);
        }
        let command = words(command)?;
        if command.first().is_none_or(|program| program.is_empty()) {
            return Err(BadPeerCommand::Empty);
        }
        Ok(Self { name: name.to_owned(), command })
    }
}

fn words(text: &str) -> Result<Vec<OsString>, BadPeerCommand> {
    let mut words = Vec::new();
    // `None` is between words; a quoted word can be empty.
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let (quoted, rest) =
                    chars.as_str().split_once(c).ok_or(BadPeerCommand::Quote(c))?;
                word.get_or_insert_default().push_str(quoted);
                chars = rest.chars();
            }
            c if c.is_whitespace() => words.extend(word.take().map(OsString::from)),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.map(OsString::from));
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Result<Vec<OsString>, BadPeerCommand> {
        text.parse::<PeerCommand>().map(|peer| peer.command)
    }

    #[test]
    fn blanks_separate_words() {
        let peer: PeerCommand = "x=  python3\tpeer.py  a=b ".parse().unwrap();
        assert_eq!(peer.name, "x");
        assert_eq!(peer.command, ["python3", "peer.py", "a=b"]);
    }

    #[test]
    fn quotation_marks_group_words() {
        assert_eq!(command("x='a b'c\"d 'e\" '' f").unwrap(), ["a bcd 'e", "", "f"]);
        assert_eq!(command("x=a\\ b").unwrap(), ["a\\", "b"], "a backslash is not special");
    }

    #[test]
    fn invalid_commands_are_rejected() {
        assert_eq!(command("./peer"), Err(BadPeerCommand::NoCommand));
        assert_eq!(command("=./peer"), Err(BadPeerCommand::Name));
        assert_eq!(command("a b=./peer"), Err(BadPeerCommand::Name));
        assert_eq!(command("x= "), Err(BadPeerCommand::Empty));
        assert_eq!(command("x='' a"), Err(BadPeerCommand::Empty));
        assert_eq!(command("x=a 'b"), Err(BadPeerCommand::Quote('\'')));
        assert_eq!(command("x=a \"b'"), Err(BadPeerCommand::Quote('"')));
    }
}
