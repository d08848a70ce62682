//! Parser of single addresses.

use std::net::IpAddr;

use super::error::LineError;

/// Greatest number of characters of an invalid address in an error.
const MAX_SHOWN: usize = 60;

/// Parses an address, which must fill all of `text`.
///
/// # Errors
/// [`LineError::Address`] with advice, if `text` is not an address.
pub fn parse_address(text: &str) -> Result<IpAddr, LineError> {
    text.parse().map_err(|_| {
        let mut kept: String = text.chars().take(MAX_SHOWN).collect();
        let advice = advice(text);
        if kept.len() < text.len() {
            kept.push_str("...");
        }
        LineError::Address { text: kept, advice }
    })
}

/// Advice for correcting a text that is not an address.
fn advice(text: &str) -> Option<&'static str> {
    if text.contains(char::is_whitespace) {
        Some("expected one address per line and nothing else")
    } else if text.contains('/') {
        Some("leave out the prefix length")
    } else if text.contains('%') {
        Some("leave out the zone id")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_give_advice() {
        let error = |text: &str| parse_address(text).unwrap_err().to_string();
        assert_eq!(error("10.0.0"), "'10.0.0' is not an IP address");
        assert!(error("10.0.0.0/8").ends_with(": leave out the prefix length"));
        assert!(error("fe80::1%eth0").ends_with(": leave out the zone id"));
        assert!(error("10.0.0.1 -").ends_with(": expected one address per line and nothing else"));
        assert!(error("\u{1b}[2J").starts_with("'\\u{1b}[2J'"), "control characters are escaped");
        assert!(error(&"x".repeat(1 << 20)).len() < 100);
        assert!(parse_address("::ffff:10.0.0.1").is_ok() && parse_address("::").is_ok());
    }
}
