//! Addresses in text.

use std::net::IpAddr;

/// Reads an address.
///
/// # Errors
/// What is wrong with it and what to do, for a message that says before that where it stands.
pub fn parse(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| {
        const SHOWN: usize = 60;
        let shown: String = text.chars().take(SHOWN).collect();
        let more = if text.chars().count() > SHOWN { "..." } else { "" };
        let advice = if text.contains(char::is_whitespace) {
            ": expected one address a line and nothing else"
        } else if text.contains('/') {
            ": leave out the prefix length"
        } else if text.contains('%') {
            ": leave out the zone id"
        } else {
            ""
        };
        format!("'{}{more}' is not an IP address{advice}", shown.escape_debug())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_do() {
        let advice = |text: &str| parse(text).unwrap_err();
        assert_eq!(advice("10.0.0"), "'10.0.0' is not an IP address");
        assert!(advice("10.0.0.0/8").ends_with("leave out the prefix length"));
        assert!(advice("fe80::1%eth0").ends_with("leave out the zone id"));
        assert!(advice("10.0.0.1 -").ends_with("one address a line and nothing else"));
        assert!(
            advice("\u{1b}[2J").starts_with("'\\u{1b}[2J'"),
            "no control characters get through"
        );
        assert!(advice(&"x".repeat(1 << 20)).len() < 100);
        assert!(parse("::ffff:10.0.0.1").is_ok() && parse("::").is_ok());
    }
}
