//! Words of a line, and IPv4 addresses at the beginning of bytes.

/// The beginning of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word<'a> {
    /// A word, and the bytes after it.
    Text(&'a [u8], &'a [u8]),
    /// The end of the line, or a comment.
    End,
}

/// Returns the first word of a line.
///
/// Words end at spaces, tabs, commas, semicolons, bars and `#`; or at the closing quotation mark, if
/// they begin with one. A comment begins with `#` or `;` in the place of a word. A line that begins
/// with another separator has an empty word.
pub(super) fn word(line: &[u8]) -> Word<'_> {
    let line = line.trim_ascii_start();
    match line {
        [] | [b'#' | b';', ..] => Word::End,
        [quote @ (b'"' | b'\''), quoted @ ..] => {
            let end = quoted.iter().position(|byte| byte == quote).unwrap_or(quoted.len());
            let rest = quoted.get(end + 1..).unwrap_or_default();
            Word::Text(quoted[..end].trim_ascii(), rest)
        }
        _ => {
            let ends = |byte: &u8| byte.is_ascii_whitespace() || b",;|#".contains(byte);
            let (text, rest) = line.split_at(line.iter().position(ends).unwrap_or(line.len()));
            Word::Text(text, rest)
        }
    }
}

/// Parses an IPv4 address at the beginning of bytes; returns it and its length. Like the standard
/// library it refuses leading zeros.
#[inline]
pub(super) fn ipv4(text: &[u8]) -> Option<(u32, usize)> {
    let digit = |at: usize| text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|it| *it < 10);
    let (mut bits, mut at) = (0u32, 0);
    for part in 0..4 {
        if part > 0 {
            if text.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let mut value = u32::from(digit(at)?);
        at += 1;
        // A zero ends the number, so that a digit after it is no point.
        for _ in 0..2 {
            match digit(at) {
                Some(next) if value > 0 => {
                    value = value * 10 + u32::from(next);
                    at += 1;
                }
                _ => break,
            }
        }
        if value > 255 {
            return None;
        }
        bits = bits << 8 | value;
    }
    Some((bits, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn words(line: &str) -> Vec<&str> {
        let (mut rest, mut all) = (line.as_bytes(), Vec::new());
        while let Word::Text(text, after) = word(rest) {
            all.push(str::from_utf8(text).unwrap());
            rest = after.trim_ascii_start();
            rest = rest.strip_prefix(b",").unwrap_or(rest);
        }
        all
    }

    #[test]
    fn words_end_at_separators_quotes_and_comments() {
        assert_eq!(words("a b\tc,d , e"), ["a", "b", "c", "d", "e"]);
        assert_eq!(words("\"a b\",' c ' # d"), ["a b", "c"]);
        assert_eq!(words("a#b"), ["a"]);
        for nothing in ["", " ", "# a", ";a", "\r"] {
            assert_eq!(words(nothing), [""; 0], "{nothing:?}");
        }
        assert_eq!(words("\"open"), ["open"]);
        assert_eq!(word(b",b"), Word::Text(b"", b",b"));
        assert_eq!(word(b"a|b"), Word::Text(b"a", b"|b"));
    }

    /// The standard library's parser is the reference: every text of three pieces.
    #[test]
    fn addresses_are_those_of_the_standard_library() {
        let pieces = [
            "0", "1", "9", "10", "25", "255", "256", "00", "01", ".", "..", "1.", ".0", " ", "a",
            "",
        ];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    let text = format!("{a}.{b}{c}.7.{c}");
                    // Only whole texts can be compared.
                    let ours = ipv4(text.as_bytes()).filter(|(_, len)| *len == text.len());
                    let theirs = text.parse::<Ipv4Addr>().ok().map(|addr| addr.to_bits());
                    assert_eq!(ours.map(|(bits, _)| bits), theirs, "{text:?}");
                }
            }
        }
        assert_eq!(ipv4(b"192.0.2.1/24"), Some((0xc000_0201, 9)));
        assert_eq!(ipv4(b"1.2.3.4567"), None);
        assert_eq!(ipv4(b"1.2.3.1234"), Some((0x0102_037b, 9)));
    }
}
