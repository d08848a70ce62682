//! Escaping, and the estimated width of text.

/// Escapes text for an element or an attribute of HTML or XML.
///
/// Line breaks become blanks. Characters that XML forbids become U+FFFD; controls of the text direction are removed.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.extend(sanitize(c)),
        }
    }
    out
}

/// Replaces or removes a harmful character.
fn sanitize(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' => Some(' '),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        '\u{fffe}' | '\u{ffff}' => Some('\u{fffd}'),
        c if c.is_control() => Some('\u{fffd}'),
        c => Some(c),
    }
}

/// Escapes prose for an element; text between backticks becomes code.
pub(super) fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Converts a name to an anchor of letters, digits, `-` and `_`.
pub(super) fn anchor(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let anchor: String = name.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    if anchor.is_empty() { "unnamed".into() } else { anchor }
}

/// Escapes prose for Markdown: one line that begins no list or heading and breaks no table.
///
/// Text between backticks stays code.
pub(crate) fn markdown(text: &str) -> String {
    let line: String = text.chars().filter_map(sanitize).collect();
    let line = line.trim();
    let code = line.matches('`').count().is_multiple_of(2);
    let (mut out, mut inside) = (String::with_capacity(line.len()), false);
    let mut before = ' ';
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        inside ^= code && c == '`';
        let special = match c {
            '|' => true,
            _ if inside => false,
            '`' => !code,
            '\\' | '*' | '[' | ']' | '~' | '$' => true,
            '_' => !(before.is_alphanumeric() && next.is_alphanumeric()),
            '#' | '+' | '-' | '=' => out.is_empty(),
            // `1. ` begins a list.
            '.' | ')' => next == ' ' && !out.is_empty() && digits(&out),
            _ => false,
        };
        match c {
            '<' if !inside => out.push_str("&lt;"),
            '>' if !inside => out.push_str("&gt;"),
            '&' if !inside && next.is_alphanumeric() | (next == '#') => out.push_str("&amp;"),
            _ => {
                if special {
                    out.push('\\');
                }
                out.push(c);
            }
        }
        before = c;
    }
    out
}

fn digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Width of bold text relative to normal text.
pub(super) const BOLD: f64 = 1.14;

/// Estimates the width of text at a font size. The fonts of readers are unknown, so the estimate is generous.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.34,
        ' ' | '(' | ')' | '[' | ']' | 't' | 'f' | 'r' | '/' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.96,
        'A'..='Z' => 0.7,
        '=' | '+' | '<' | '>' => 0.84,
        _ if c.is_ascii() => 0.63,
        '–' | '·' | '×' => 0.7,
        _ => 1.0,
    };
    size * text.chars().map(em).sum::<f64>()
}

/// Truncates text to a width, with an ellipsis at the end.
pub(super) fn shorten(text: &str, wide: f64, size: f64) -> String {
    if width(text, size) <= wide {
        return text.to_owned();
    }
    let free = wide - width("…", size);
    let mut used = 0.0;
    let fits = |c: &char| {
        used += width(c.encode_utf8(&mut [0; 4]), size);
        used <= free
    };
    let start: String = text.chars().take_while(fits).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_controls_are_escaped() {
        for (text, wanted) in [
            (r#"<a b="c">&'"#, "&lt;a b=&quot;c&quot;&gt;&amp;&#39;"),
            ("a\nb\tc", "a b c"),
            ("a\0\u{1b}[1m\u{7f}\u{85}\u{ffff}", "a\u{fffd}\u{fffd}[1m\u{fffd}\u{fffd}\u{fffd}"),
            ("a\u{202e}b\u{2067}c", "abc"),
            ("Größe 東京", "Größe 東京"),
        ] {
            assert_eq!(escape(text), wanted);
        }
    }

    #[test]
    fn backticks_enclose_code() {
        assert_eq!(prose("run `a <b>` & `c`"), "run <code>a &lt;b&gt;</code> &amp; <code>c</code>");
        assert_eq!(["one ` alone", ""].map(prose), ["one ` alone", ""]);
    }

    #[test]
    fn anchors_have_safe_characters() {
        let names = ["poptrie-table2", "a b\"c<ä", ""];
        assert_eq!(names.map(anchor), ["poptrie-table2", "a-b-c--", "unnamed"]);
    }

    #[test]
    fn markdown_is_one_line_of_text() {
        for (text, wanted) in [
            ("a | b\nc", r"a \| b c"),
            ("dir24_8 is *fast*", r"dir24_8 is \*fast\*"),
            ("_x_ [y](z)", r"\_x\_ \[y\](z)"),
            ("<b> & &lt; `a<b|c`", r"&lt;b&gt; & &amp;lt; `a<b\|c`"),
            ("# no heading", r"\# no heading"),
            ("1. no list", r"1\. no list"),
            ("at 1. the end", "at 1. the end"),
            ("one ` alone", r"one \` alone"),
        ] {
            assert_eq!(markdown(text), wanted);
        }
    }

    #[test]
    fn long_text_is_shortened() {
        assert_eq!(shorten("poptrie s=18", 200.0, 12.0), "poptrie s=18");
        let short = shorten(&"word ".repeat(50), 100.0, 12.0);
        assert!(short.ends_with('…') && width(&short, 12.0) <= 100.0, "{short}");
        assert_eq!(shorten("東京東京", 1.0, 12.0), "…");
    }
}
