//! Escaping of input text for terminals.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns the text with control and bidirectional characters escaped.
///
/// A terminal interprets such characters instead of showing them. Names and next hops come from
/// files, so human-readable output passes them through this function. Machine-readable output
/// leaves them unchanged.
///
/// ```
/// use longmatch_feed::printable;
///
/// assert_eq!(printable("eth0"), "eth0");
/// assert_eq!(printable("\u{1b}[2Jeth0"), r"\u{1b}[2Jeth0");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    // Most text is printable ASCII, which needs no decoding.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_harmful(c) {
            // Writing to a string does not fail.
            let _ = write!(escaped, "{}", c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Control characters (C0, DEL, C1), line and paragraph separators, and the characters that set
/// the direction of writing (Unicode Standard Annex 9).
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_characters_that_control_a_terminal_are_escaped() {
        for plain in ["", "192.0.2.1", "é \\ \" ' ü", "日本"] {
            assert!(matches!(printable(plain), Cow::Borrowed(text) if text == plain));
        }
        assert_eq!(printable("a\tb\nc\r"), r"a\tb\nc\r");
        assert_eq!(printable("\u{7}\u{7f}\u{9b}2J"), r"\u{7}\u{7f}\u{9b}2J");
        assert_eq!(printable("a\u{202e}b\u{2066}"), r"a\u{202e}b\u{2066}");
    }
}
