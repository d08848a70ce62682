//! Command line of a peer, with the name of the peer.

use core::str::FromStr;
use std::ffi::OsString;

/// A peer's name and the command that starts it.
///
/// ```
/// use longmatch_bench::PeerCommand;
/// let peer: PeerCommand = "mine='/opt/my tables/peer' --fast".parse()?;
/// assert_eq!(peer.name, "mine");
/// assert_eq!(peer.command, ["/opt/my tables/peer", "--fast"]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerCommand {
    /// Name in reports.
    pub name: String,
    /// The program, then its arguments; at least the program. No shell interprets them.
    pub command: Vec<OsString>,
}

impl FromStr for PeerCommand {
    type Err = String;

    /// Parses `NAME=COMMAND`.
    ///
    /// Blanks separate the words of the command, except between single or double quotation marks.
    /// No other character is special.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected NAME=COMMAND, such as mine=./my-peer";
        let (name, command) = text.split_once('=').ok_or(expected)?;
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err("the name before `=` is empty or contains blanks".to_owned());
        }
        let command = words(command)?;
        if command.first().is_none_or(|program| program.is_empty()) {
            return Err("the command after `=` is empty".to_owned());
        }
        Ok(Self { name: name.to_owned(), command })
    }
}

fn words(text: &str) -> Result<Vec<OsString>, String> {
    let mut words = Vec::new();
    // `None` is between words; a quoted word can be empty.
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let unclosed = || format!("the quotation mark {c} is not closed");
                let (quoted, rest) = chars.as_str().split_once(c).ok_or_else(unclosed)?;
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

    fn command(text: &str) -> Result<Vec<OsString>, String> {
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
        for (text, problem) in [
            ("./peer", "expected NAME=COMMAND"),
            ("=./peer", "the name"),
            ("a b=./peer", "the name"),
            ("x= ", "the command"),
            ("x='' a", "the command"),
            ("x=a 'b", "mark ' is"),
            ("x=a \"b'", "mark \" is"),
        ] {
            let error = command(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
