//! Prints sets: prefixes or ranges, as text, JSON or the input of a firewall.

use std::io::Write;

use longmatch::set::AddressRange;
use longmatch::{Bits, Family, Ipv4, Ipv6, Prefix};

use super::ip_set::IpSet;
use crate::args::{FormArg, FormArgs};
use crate::error::CliError;
use crate::families::Families;
use crate::output::Out;

/// Bytes that are collected before they are written.
const BUFFER: usize = 32 << 10;

/// A family whose addresses are printed by the million.
pub trait Printed: Family {
    /// The number of the family.
    const NUMBER: u8;
    /// The name of the family in `ipset`.
    const INET: &'static str;

    /// Appends the text of an address.
    fn push(bits: Self::Bits, text: &mut Vec<u8>);
}

impl Printed for Ipv4 {
    const NUMBER: u8 = 4;
    const INET: &'static str = "inet";

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
    const NUMBER: u8 = 6;
    const INET: &'static str = "inet6";

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
pub struct Printer<'a> {
    out: Out,
    form: FormArg,
    json: bool,
    /// The name of the set.
    name: &'a str,
    /// The families of the output; sets of these are made also where they are empty.
    families: Families,
    text: Vec<u8>,
    /// Entries of the family so far.
    printed: u64,
}

impl<'a> Printer<'a> {
    /// Locks standard output, and prints the beginning.
    ///
    /// # Errors
    /// If a name is given to a form without one.
    pub fn new(args: &'a FormArgs, families: Families) -> Result<Self, CliError> {
        let form =
            args.form.unwrap_or(if args.ranges { FormArg::Ranges } else { FormArg::Prefixes });
        if args.name.is_some()
            && matches!(form, FormArg::Prefixes | FormArg::Ranges | FormArg::Hosts)
        {
            return Err(CliError::new(
                "--name names the set of --form ipset, nft, iptables or prefix-list: leave it out",
            ));
        }
        let name = args.name.as_deref().unwrap_or("longmatch");
        let mut text = Vec::with_capacity(2 * BUFFER);
        // Writing to memory does not fail, here and below.
        let _ = match form {
            FormArg::Nft => writeln!(text, "table inet {name} {{"),
            FormArg::Iptables => writeln!(text, "*filter\n:{name} - [0:0]"),
            _ => Ok(()),
        };
        Ok(Self { out: Out::new(), form, json: args.json, name, families, text, printed: 0 })
    }

    /// Prints a set, IPv4 first.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn set(&mut self, set: &IpSet) -> Result<(), CliError> {
        if self.form != FormArg::Ranges {
            return self.prefixes(set.ipv4.prefixes(), set.ipv6.prefixes());
        }
        self.ranges(set.ipv4.ranges().iter().copied())?;
        self.ranges(set.ipv6.ranges().iter().copied())
    }

    /// Prints prefixes, IPv4 first.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn prefixes(
        &mut self,
        ipv4: impl Iterator<Item = Prefix<Ipv4>> + Clone,
        ipv6: impl Iterator<Item = Prefix<Ipv6>> + Clone,
    ) -> Result<(), CliError> {
        if self.families.ipv4 {
            self.family(ipv4)?;
        }
        if self.families.ipv6 {
            self.family(ipv6)?;
        }
        Ok(())
    }

    fn family<F: Printed>(
        &mut self,
        prefixes: impl Iterator<Item = Prefix<F>> + Clone,
    ) -> Result<(), CliError> {
        if self.form == FormArg::Ranges {
            return self.ranges(prefixes.map(AddressRange::from));
        }
        let (name, number) = (self.name, F::NUMBER);
        let _ = match self.form {
            FormArg::Ipset => {
                let (inet, most) = (F::INET, prefixes.clone().count().max(65_536));
                let text = &mut self.text;
                writeln!(text, "create {name}{number} hash:net family {inet} maxelem {most}")
            }
            FormArg::Nft => writeln!(
                self.text,
                "\tset {name}{number} {{\n\t\ttype ipv{number}_addr\n\t\tflags interval"
            ),
            _ => Ok(()),
        };
        self.printed = 0;
        for prefix in prefixes {
            // Sets of type hash:net have no prefix of length 0.
            match self.form == FormArg::Ipset && prefix.len() == 0 {
                true => {
                    let ones = F::Bits::from_u128(1 << (F::WIDTH - 1));
                    self.entry(Prefix::<F>::from_bits_masked(F::Bits::from_u128(0), 1))?;
                    self.entry(Prefix::<F>::from_bits_masked(ones, 1))?;
                }
                false => self.entry(prefix)?,
            }
        }
        if self.form == FormArg::Nft {
            let end: &[u8] = if self.printed > 0 { b" }\n\t}\n" } else { b"\t}\n" };
            self.text.extend_from_slice(end);
        }
        Ok(())
    }

    fn entry<F: Printed>(&mut self, prefix: Prefix<F>) -> Result<(), CliError> {
        let Self { name, text, .. } = self;
        let number = F::NUMBER;
        self.printed += 1;
        let _ = match self.form {
            // Addresses need no escapes.
            _ if self.json => write!(text, r#"{{"family":"{}","prefix":""#, F::NAME),
            FormArg::Ipset => write!(text, "add {name}{number} "),
            FormArg::Nft if self.printed == 1 => write!(text, "\t\telements = {{ "),
            FormArg::Nft => write!(text, ",\n\t\t\t     "),
            // The restore program of the other family ignores a line that begins so.
            FormArg::Iptables if self.families == Families::BOTH => {
                write!(text, "-{number} -A {name} -s ")
            }
            FormArg::Iptables => write!(text, "-A {name} -s "),
            FormArg::PrefixList => {
                let ip = if number == 4 { "ip" } else { "ipv6" };
                write!(text, "{ip} prefix-list {name} seq {} permit ", 5 * self.printed)
            }
            FormArg::Prefixes | FormArg::Ranges | FormArg::Hosts => Ok(()),
        };
        match self.form {
            FormArg::Hosts | FormArg::Nft if prefix.len() == F::WIDTH => {
                F::push(prefix.bits(), text);
            }
            _ => push_prefix(prefix, text),
        }
        let end: &[u8] = match self.form {
            _ if self.json => b"\"}\n",
            FormArg::Nft => b"",
            FormArg::Iptables => b" -j DROP\n",
            _ => b"\n",
        };
        self.end(end)
    }

    fn ranges<F: Printed>(
        &mut self,
        ranges: impl Iterator<Item = AddressRange<F>>,
    ) -> Result<(), CliError> {
        for range in ranges {
            if self.json {
                let _ = write!(self.text, r#"{{"family":"{}","first":""#, F::NAME);
            }
            F::push(range.first(), &mut self.text);
            let between: &[u8] = if self.json { br#"","last":""# } else { b"-" };
            self.text.extend_from_slice(between);
            F::push(range.last(), &mut self.text);
            self.end(if self.json { b"\"}\n" } else { b"\n" })?;
        }
        Ok(())
    }

    /// Ends an entry.
    fn end(&mut self, end: &[u8]) -> Result<(), CliError> {
        self.text.extend_from_slice(end);
        if self.text.len() >= BUFFER {
            self.out.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    /// Prints the end, and writes the text.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn finish(mut self) -> Result<(), CliError> {
        match self.form {
            FormArg::Nft => self.text.extend_from_slice(b"}\n"),
            FormArg::Iptables => self.text.extend_from_slice(b"COMMIT\n"),
            _ => {}
        }
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
