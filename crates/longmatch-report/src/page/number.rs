//! Numbers formatted for readers.

/// Maximum number of decimals.
const MAX_DECIMALS: usize = 12;

/// Formats a count with commas between thousands.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Formats a number with a number of decimals and commas between thousands; `None` if it is not finite.
pub(super) fn decimal(value: f64, decimals: u8) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    if value.abs() >= 1e15 {
        return Some(format!("{value:.3e}"));
    }
    Some(grouped(&format!("{value:.*}", usize::from(decimals).min(MAX_DECIMALS))))
}

/// Formats a number with about three significant digits.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size >= 100.0 || size == 0.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ if size >= 0.001 => 3,
        _ => return format!("{value:.1e}"),
    };
    match size {
        _ if size >= 1e15 => format!("{value:.1e}"),
        _ if size >= 1e7 => scaled(value, true),
        _ => grouped(&format!("{value:.decimals$}")),
    }
}

/// Formats the number of an axis tick, with as few digits as it needs.
pub(super) fn tick(value: f64) -> String {
    scaled(value, false)
}

/// Formats a number with a letter for millions and more, and with three digits if `rounded`.
fn scaled(value: f64, rounded: bool) -> String {
    let size = value.abs();
    let (by, letter) = match size {
        _ if !(1e-6..1e15).contains(&size) && size != 0.0 => {
            return format!("{:e}", significant(value, 3));
        }
        _ if size >= 1e12 => (1e12, " T"),
        _ if size >= 1e9 => (1e9, " G"),
        _ if size >= 1e6 => (1e6, " M"),
        _ => (1.0, ""),
    };
    let most = if letter.is_empty() { 6 } else { 4 };
    let digits = significant(value / by, if rounded { 3 } else { most });
    grouped(&format!("{digits}")) + letter
}

/// Rounds to a number of significant digits.
fn significant(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// Inserts commas between thousands before the decimal point.
fn grouped(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_042_325), "1,042,325");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(decimal(-1234.567, 2).as_deref(), Some("-1,234.57"));
        assert_eq!(decimal(0.5, 0).as_deref(), Some("0"));
        assert_eq!(decimal(12.0, 2).as_deref(), Some("12.00"));
        assert_eq!(decimal(f64::NAN, 2), None);
        assert_eq!(decimal(f64::INFINITY, 2), None);
        assert_eq!(decimal(1e300, 255).as_deref(), Some("1.000e300"));
        assert!(decimal(1.0, 255).is_some_and(|text| text.len() == 14));
    }

    #[test]
    fn short_numbers_have_about_three_digits() {
        for (value, wanted) in [
            (0.0, "0"),
            (1234.5, "1,234"),
            (123.45, "123"),
            (12.345, "12.3"),
            (1.2345, "1.23"),
            (0.12345, "0.123"),
            (0.00012, "1.2e-4"),
            (123_456_789.0, "123 M"),
            (4_294_967_296.0, "4.29 G"),
            (1e20, "1.0e20"),
        ] {
            assert_eq!(short(value), wanted);
        }
    }

    #[test]
    fn ticks_have_the_digits_they_need() {
        for (value, wanted) in [
            (0.0, "0"),
            (0.2, "0.2"),
            (0.30000000000000004, "0.3"),
            (2500.0, "2,500"),
            (200_000.0, "200,000"),
            (1e6, "1 M"),
            (1_042_325.0, "1.042 M"),
            (2.5e9, "2.5 G"),
            (1e-7, "1e-7"),
            (1e18, "1e18"),
        ] {
            assert_eq!(tick(value), wanted);
        }
    }
}
