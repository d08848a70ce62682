//! Parser of single addresses.

use std::net::IpAddr;

use crate::error::{Problem, shorten};

/// Parses an address, which must fill all of `text`.
///
/// # Errors
/// [`Problem::Address`] with advice, if `text` is not an address.
pub fn parse_address(text: &str) -> Result<IpAddr, Problem> {
    text.parse().map_err(|_| Problem::Address { text: shorten(text), advice: advice(text) })
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
