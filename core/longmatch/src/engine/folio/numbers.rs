//! Functions of floats that the standard library has only with an operating system, within 0.01 %.

/// `e^-x`, for `x` of at least 0.
pub(super) fn exp_minus(x: f64) -> f64 {
    const LOG2: u32 = 12;
    let part = x / f64::from(1 << LOG2);
    if x > 40.0 { 0.0 } else { power(1.0 / (1.0 + part + part * part / 2.0), LOG2) }
}

/// `x` raised to `2^log2`.
pub(super) fn power(x: f64, log2: u32) -> f64 {
    (0..log2).fold(x, |x, _| x * x)
}

/// The logarithm of a positive number to base 2.
pub(super) fn log2(x: f64) -> f64 {
    ln(x) / core::f64::consts::LN_2
}

/// The natural logarithm of a positive number.
pub(super) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let mantissa = f64::from_bits(bits & !(0xfff << 52) | 1023 << 52);
    // The logarithm of the mantissa, from 1 to 2, is the series of the inverse hyperbolic tangent.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let t2 = t * t;
    let series = 2.0 * t * (1.0 + t2 * (1.0 / 3.0 + t2 * (0.2 + t2 * (1.0 / 7.0 + t2 / 9.0))));
    exponent as f64 * core::f64::consts::LN_2 + series
}

/// The square root of a number of at least 0.
pub(super) fn sqrt(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // Half the exponent is near enough for Newton's method.
    let mut root = f64::from_bits((x.to_bits() >> 1) + (1023 << 51));
    for _ in 0..3 {
        root = (root + x / root) / 2.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_close() {
        for x in [1e-9, 0.3, 1.0, 1.5, 2.0, 77.0, 1e12] {
            assert!((ln(x) - f64::ln(x)).abs() < 1e-4, "ln {x}");
            assert!((sqrt(x) / f64::sqrt(x) - 1.0).abs() < 1e-4, "sqrt {x}");
        }
        for x in [0.0, 1e-6, 0.1, 1.0, 5.0, 20.0] {
            assert!((exp_minus(x) - f64::exp(-x)).abs() < 1e-4, "exp {x}");
        }
        assert_eq!(sqrt(0.0), 0.0);
    }
}
