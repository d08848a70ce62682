//! Detection of configurations among texts.

use super::scanner::is_word;
use crate::text::line::Rules;
use crate::text::parse::parse;

/// Bytes of an input that decide.
pub(crate) const LOOKAHEAD: usize = 64 << 10;

/// Whether the beginning of a text is that of a configuration instead of lines of routes.
///
/// The first line decides that is neither blank nor a `#` comment. A line that the parser of lines
/// understands is never a statement.
pub(crate) fn looks_like(mut head: &[u8]) -> bool {
    head = head.trim_ascii_start();
    while head.starts_with(b"#") {
        head = after_line(head).trim_ascii_start();
    }
    // No prefix begins with a slash.
    if is_comment(head) {
        return true;
    }
    let line = &head[..head.len() - after_line(head).len()];
    let is_route = str::from_utf8(line).is_ok_and(|line| parse(line, Rules::default()).is_ok());
    !is_route && is_statement(head)
}

fn is_comment(text: &[u8]) -> bool {
    text.starts_with(b"//") || text.starts_with(b"/*")
}

/// The text after the first line.
fn after_line(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', text);
    end.map_or(&[], |end| &text[end + 1..])
}

/// Whether a text begins as a statement does: `name ::`, `a, b ::`, `a ->`, `a[1]`, `Class(`,
/// `elementclass`.
fn is_statement(text: &[u8]) -> bool {
    let (mut word, mut rest) = identifier(text);
    while let ([_, ..], [b',', next @ ..]) = (word, rest) {
        (word, rest) = identifier(next.trim_ascii_start());
    }
    match rest {
        _ if word.is_empty() => false,
        _ if word == b"elementclass" => true,
        [b'(' | b'[', ..] | [b'-', b'>', ..] => true,
        [b':', b':', class @ ..] => {
            let (class, rest) = identifier(class.trim_ascii_start());
            // Text such as `dead::beef%eth0` goes on with another character.
            let ends = matches!(rest, [] | [b'(' | b'[' | b';' | b'-', ..]) || is_comment(rest);
            !class.is_empty() && ends
        }
        rest => is_comment(rest),
    }
}

/// Splits a text after the identifier at its beginning and the white space after it.
fn identifier(text: &[u8]) -> (&[u8], &[u8]) {
    let named = text.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let len = if named { text.iter().take_while(|byte| is_word(**byte)).count() } else { 0 };
    (&text[..len], text[len..].trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations() {
        for text in [
            "rt :: LinearIPLookup(0/0 1);",
            "rt::LinearIPLookup(",
            "rt :: LinearIPLookup /* x */ (",
            "\n  # 1 \"x.click\"\nrt :: DXRIPLookup\n(",
            "// 192.0.2.0/24 a\n",
            "/* x",
            "Idle -> rt :: RadixIPLookup(0/0 1)",
            "define($X 1)\nrt :: StaticIPLookup(",
            "rt[1] -> Discard;",
            "elementclass X { input -> output }",
            "c0 /* x */ :: X",
            "rt :: X",
            "a, b,c :: X",
        ] {
            assert!(looks_like(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn lines_of_routes() {
        for text in [
            "",
            "# rt :: X(\n",
            "192.0.2.0/24 a\n",
            "192.0.2.0/24 192.0.2.1 7\n",
            "192.0.2.0/33 a\n",
            "A ::/0 x\n",
            "A ::a x\n",
            "dead::beef x\n",
            "dead::beef%eth0 x\n",
            "fe80::1%eth0 x\n",
            "default via fe80::1 dev eth0\n",
            "default dev ppp0",
            "TABLE_DUMP2|1|B|192.0.2.1",
            "network,next_hop\n10.0.0.0/8,a\n",
            "a,b,",
            "network next-hop\n",
            "x\ny z\n",
            "/8 x\n",
            "\u{e9} :: X(\n",
            "{\"routes\": []}",
        ] {
            assert!(!looks_like(text.as_bytes()), "{text:?}");
        }
        assert!(!looks_like(b"\xff :: X("));
    }
}
