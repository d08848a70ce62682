//! Prints sets: prefixes or ranges, as text or JSON.

use std::io::Write;

use longmatch::set::{AddressRange, AddressSet};
use longmatch::{Family, Ipv4, Ipv6, Prefix};

use super::ip_set::IpSet;
use crate::error::CliError;
use crate::output::Out;

/// Bytes that are collected before they are written.
const BUFFER: usize = 32 << 10;

/// The form of a set's output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Ranges instead of prefixes.
    pub ranges: bool,
    /// One JSON object a line.
    pub json: bool,
}

/// A family whose addresses are printed by the million.
pub trait Printed: Family {
    /// Appends the text of an address.
    fn push(bits: Self::Bits, text: &mut Vec<u8>);
}

impl Printed for Ipv4 {
    /// Without the standard library's formatting, which takes several times as long.
    fn push(bits: u32, text: &mut Vec<u8>) {
        for (i, byte) in bits.to_be_bytes().into_iter().enumerate() {
            if i > 0 {
                text.push(b'.');
            }
            push_number(byte, text);
        }
    }
}

impl Printed for Ipv6 {
    fn push(bits: u128, text: &mut Vec<u8>) {
        // Writing to memory does not fail.
        let _ = write!(text, "{}", Self::addr(bits));
    }
}

/// Appends the digits of a byte.
fn push_number(byte: u8, text: &mut Vec<u8>) {
    if byte >= 100 {
        text.push(b'0' + byte / 100);
    }
    if byte >= 10 {
        text.push(b'0' + byte / 10 % 10);
    }
    text.push(b'0' + byte % 10);
}

/// Appends `address/length`.
pub fn push_prefix<F: Printed>(prefix: Prefix<F>, text: &mut Vec<u8>) {
    F::push(prefix.bits(), text);
    text.push(b'/');
    push_number(prefix.len(), text);
}

/// Prints sets on standard output.
pub struct Printer {
    out: Out,
    form: Form,
    text: Vec<u8>,
}

impl Printer {
    /// Locks standard output.
    pub fn new(form: Form) -> Self {
        Self { out: Out::new(), form, text: Vec::with_capacity(2 * BUFFER) }
    }

    /// Prints a set, IPv4 first.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn set(&mut self, set: &IpSet) -> Result<(), CliError> {
        self.family(&set.ipv4)?;
        self.family(&set.ipv6)
    }

    fn family<F: Printed>(&mut self, set: &AddressSet<F>) -> Result<(), CliError> {
        match self.form.ranges {
            true => self.ranges(set.ranges()),
            false => self.prefixes(set.prefixes()),
        }
    }

    /// Prints prefixes.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn prefixes<F: Printed>(
        &mut self,
        prefixes: impl Iterator<Item = Prefix<F>>,
    ) -> Result<(), CliError> {
        for prefix in prefixes {
            if self.form.json {
                // Addresses need no escapes.
                let _ = write!(self.text, r#"{{"family":"{}","prefix":""#, F::NAME);
            }
            push_prefix(prefix, &mut self.text);
            self.end_line()?;
        }
        Ok(())
    }

    fn ranges<F: Printed>(&mut self, ranges: &[AddressRange<F>]) -> Result<(), CliError> {
        for range in ranges {
            if self.form.json {
                let _ = write!(self.text, r#"{{"family":"{}","first":""#, F::NAME);
            }
            F::push(range.first(), &mut self.text);
            let between: &[u8] = if self.form.json { br#"","last":""# } else { b"-" };
            self.text.extend_from_slice(between);
            F::push(range.last(), &mut self.text);
            self.end_line()?;
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), CliError> {
        let end: &[u8] = if self.form.json { b"\"}\n" } else { b"\n" };
        self.text.extend_from_slice(end);
        if self.text.len() >= BUFFER {
            self.out.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn finish(mut self) -> Result<(), CliError> {
        self.out.write_all(&self.text)?;
        self.out.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_standard_library() {
        for byte in 0..=255u8 {
            let bits = u32::from_be_bytes([byte, 255 - byte, byte / 3, byte.wrapping_mul(7)]);
            let prefix = Prefix::<Ipv4>::from_bits_masked(bits, byte % 33);
            let mut text = Vec::new();
            push_prefix(prefix, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), prefix.to_string());
            let bits = u128::from(byte) << 120 | u128::from(byte);
            let prefix = Prefix::<Ipv6>::from_bits_masked(bits, byte % 129);
            let mut text = Vec::new();
            push_prefix(prefix, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), prefix.to_string());
        }
    }
}
