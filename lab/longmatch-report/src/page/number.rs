//! Numbers formatted for readers.

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
    Some(grouped(&format!("{value:.*}", usize::from(decimals))))
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
        assert_eq!([0, 999, 1_042_325].map(count), ["0", "999", "1,042,325"]);
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        for (value, decimals, wanted) in [
            (-1234.567, 2, Some("-1,234.57")),
            (0.5, 0, Some("0")),
            (12.0, 2, Some("12.00")),
            (1e300, 255, Some("1.000e300")),
            (f64::NAN, 2, None),
            (f64::INFINITY, 2, None),
        ] {
            assert_eq!(decimal(value, decimals).as_deref(), wanted);
        }
    }

    #[test]
    fn short_numbers_have_about_three_digits() {
        let values = [0.0, 1234.5, 123.45, 12.345, 1.2345, 0.12345, 0.00012];
        let wanted = ["0", "1,234", "123", "12.3", "1.23", "0.123", "1.2e-4"];
        assert_eq!(values.map(short), wanted);
        let wanted = ["123 M", "4.29 G", "1.0e20"];
        assert_eq!([123_456_789.0, 4_294_967_296.0, 1e20].map(short), wanted);
    }

    #[test]
    fn ticks_have_the_digits_they_need() {
        let values = [0.0, 0.2, 0.1 + 0.2, 2500.0, 200_000.0];
        assert_eq!(values.map(tick), ["0", "0.2", "0.3", "2,500", "200,000"]);
        let wanted = ["1 M", "1.042 M", "2.5 G", "1e-7", "1e18"];
        assert_eq!([1e6, 1_042_325.0, 2.5e9, 1e-7, 1e18].map(tick), wanted);
    }
}
