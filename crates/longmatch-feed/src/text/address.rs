//! Addresses in text.

use std::net::IpAddr;

use super::error::LineError;

/// Characters of a wrong address that an error keeps.
const KEPT: usize = 60;

/// Reads an address: all of `text`, without space around it.
///
/// # Errors
/// [`LineError::Address`], which says what is wrong and what to do.
pub fn parse_address(text: &str) -> Result<IpAddr, LineError> {
    text.parse().map_err(|_| {
        let mut kept: String = text.chars().take(KEPT).collect();
        let advice = advice(text);
        if kept.len() < text.len() {
            kept.push_str("...");
        }
        LineError::Address { text: kept, advice }
    })
}

/// What to do about a text that is no address, where that can be told.
fn advice(text: &str) -> Option<&'static str> {
    if text.contains(char::is_whitespace) {
        Some("expected one address a line and nothing else")
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
    fn errors_say_what_to_do() {
        let error = |text: &str| parse_address(text).unwrap_err().to_string();
        assert_eq!(error("10.0.0"), "'10.0.0' is not an IP address");
        assert!(error("10.0.0.0/8").ends_with(": leave out the prefix length"));
        assert!(error("fe80::1%eth0").ends_with(": leave out the zone id"));
        assert!(error("10.0.0.1 -").ends_with(": expected one address a line and nothing else"));
        assert!(
            error("\u{1b}[2J").starts_with("'\\u{1b}[2J'"),
            "no control characters get through"
        );
        assert!(error(&"x".repeat(1 << 20)).len() < 100);
        assert!(parse_address("::ffff:10.0.0.1").is_ok() && parse_address("::").is_ok());
    }
}
