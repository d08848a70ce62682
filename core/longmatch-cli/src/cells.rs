//! Cells of prefix data and prefixes as text.

use std::io::{self, Write};

use longmatch::IpPrefix;
use longmatch::table::Cell;
use longmatch_feed::printable;

/// How cells are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Delimited text with quotes where they are needed. Where TABs are the delimiter, which has no
    /// quotes, it is [`Style::Printable`]; a space means white space.
    Csv(u8),
    /// JSON values.
    Json,
    /// Values of the columns' types: no text.
    #[cfg(feature = "columnar")]
    Typed,
    /// Words; characters that control a terminal are escaped.
    Printable,
}

/// Writes a cell as a style has it.
#[inline]
pub fn write_cell(cell: Cell<&str>, style: Style, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = match (style, cell) {
        (Style::Json, Cell::Null) => out.write_all(b"null"),
        (Style::Json, Cell::String(text)) => {
            serde_json::to_writer(out, text).map_err(io::Error::from)
        }
        // JSON has no infinity.
        (Style::Json, Cell::F64(number)) if !number.is_finite() => out.write_all(b"null"),
        (Style::Printable | Style::Csv(b'\t'), Cell::String(text)) => {
            out.write_all(printable(text).as_bytes())
        }
        (Style::Csv(b' '), Cell::String("")) => out.write_all(b"-"),
        (Style::Csv(delimiter), Cell::String(text)) => {
            let text = if delimiter == b' ' { printable(text) } else { text.into() };
            let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
            match text.bytes().any(special) {
                true => write!(out, "\"{}\"", text.replace('"', "\"\"")),
                false => out.write_all(text.as_bytes()),
            }
        }
        // Its numbers are those of `Display`, and written faster.
        (_, Cell::U64(number)) => serde_json::to_writer(out, &number).map_err(io::Error::from),
        (_, cell) => write!(out, "{cell}"),
    };
}

/// Writes a prefix as a style has it.
#[inline]
pub fn write_prefix(prefix: IpPrefix, style: Style, out: &mut Vec<u8>) {
    let quote: &[u8] = if style == Style::Json { b"\"" } else { b"" };
    out.extend_from_slice(quote);
    match prefix {
        // Formatting would take most of the time of a lookup.
        IpPrefix::V4(prefix) => {
            let mut text = [0; "255.255.255.255/32".len()];
            let mut len = 0;
            for byte in prefix.bits().to_be_bytes() {
                len = decimal(byte, &mut text, len);
                text[len] = b'.';
                len += 1;
            }
            text[len - 1] = b'/';
            len = decimal(prefix.len(), &mut text, len);
            out.extend_from_slice(&text[..len]);
        }
        // Writing to memory does not fail.
        IpPrefix::V6(prefix) => drop(write!(out, "{prefix}")),
    }
    out.extend_from_slice(quote);
}

/// Writes a number at a place of a text; returns the place after it.
#[inline]
fn decimal(number: u8, text: &mut [u8], mut at: usize) -> usize {
    let digits = [number / 100, number / 10 % 10, number % 10];
    let leading = usize::from(number < 100) + usize::from(number < 10);
    for digit in &digits[leading..] {
        text[at] = b'0' + digit;
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_written_as_they_are_displayed() {
        let bits = (0..=255u8).map(|byte| u32::from_be_bytes([byte, !byte, byte / 3, byte]));
        let ipv4 = bits.flat_map(|bits| {
            (0..=32)
                .map(move |len| longmatch::Prefix::<longmatch::Ipv4>::from_bits_masked(bits, len))
        });
        let ipv6 =
            ["::/0", "2001:db8::/32", "::ffff:192.0.2.0/120"].map(|text| text.parse().unwrap());
        for prefix in ipv4.map(IpPrefix::V4).chain(ipv6) {
            let mut text = Vec::new();
            write_prefix(prefix, Style::Printable, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), prefix.to_string());
        }
        let mut text = Vec::new();
        write_prefix("192.0.2.0/24".parse().unwrap(), Style::Json, &mut text);
        assert_eq!(text, b"\"192.0.2.0/24\"");
    }

    #[test]
    fn cells_are_written_in_each_style() {
        fn text(cell: Cell<&str>, style: Style) -> String {
            let mut text = Vec::new();
            write_cell(cell, style, &mut text);
            String::from_utf8(text).unwrap()
        }
        let styles = [Style::Csv(b';'), Style::Json, Style::Csv(b'\t'), Style::Printable];
        let all = |cell: Cell<&str>| styles.map(|style| text(cell, style));
        assert_eq!(all(Cell::Null), ["", "null", "", ""]);
        assert_eq!(all(Cell::U64(u64::MAX)), ["18446744073709551615"; 4]);
        assert_eq!(all(Cell::I64(-7)), ["-7"; 4]);
        assert_eq!(all(Cell::F64(0.5)), ["0.5"; 4]);
        assert_eq!(all(Cell::F64(f64::INFINITY)), ["inf", "null", "inf", "inf"]);
        let escaped = r"a;\u{1b}b";
        assert_eq!(
            all(Cell::String("a;\u{1b}b")),
            ["\"a;\u{1b}b\"", r#""a;\u001bb""#, escaped, escaped]
        );
        let words = [("", "-"), ("a", "a"), ("a b", "\"a b\""), ("a\tb", r"a\tb")];
        for (cell, expected) in words {
            assert_eq!(text(Cell::String(cell), Style::Csv(b' ')), expected);
        }
    }
}
