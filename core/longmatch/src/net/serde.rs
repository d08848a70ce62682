//! Serialization with `serde`.
//!
//! Formats for people hold a prefix as text, such as `"10.0.0.0/8"`. Other formats hold it as
//! bytes, the address in network order and then the length: 5 bytes for IPv4, 17 for IPv6. A
//! next-hop id is a number. Values that the constructors refuse are errors here too.

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use serde_core::de::{Error, SeqAccess, Unexpected, Visitor};
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use crate::net::{Bits, Family, IpPrefix, Ipv4, Ipv6, NextHopId, ParsePrefixError, Prefix};

/// The greatest number of bytes of a prefix in compact form.
const MAX_BYTES: usize = 17;

impl<F: Family> Serialize for Prefix<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        let octets = self.bits().to_network();
        let octets = octets.as_ref();
        let mut bytes = [0; MAX_BYTES];
        bytes[..octets.len()].copy_from_slice(octets);
        bytes[octets.len()] = self.len();
        serializer.serialize_bytes(&bytes[..=octets.len()])
    }
}

impl<'de, F: Family> Deserialize<'de> for Prefix<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

impl Serialize for IpPrefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::V4(prefix) => prefix.serialize(serializer),
            Self::V6(prefix) => prefix.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for IpPrefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

/// A prefix with a text and a compact form.
trait Form: FromStr<Err = ParsePrefixError> {
    /// The sentence after "expected" in an error.
    const EXPECTED: &'static str;

    /// Reads the compact form.
    ///
    /// # Errors
    /// When `bytes` is of another size, or does not hold a prefix.
    fn from_bytes<E: Error>(bytes: &[u8]) -> Result<Self, E>;
}

impl<F: Family> Form for Prefix<F> {
    const EXPECTED: &'static str = "a prefix, as address/length or as its bytes";

    fn from_bytes<E: Error>(bytes: &[u8]) -> Result<Self, E> {
        match bytes.split_last() {
            Some((len, octets)) if octets.len() == usize::from(F::WIDTH / 8) => {
                Self::new(F::addr(F::Bits::from_network(octets)), *len).map_err(E::custom)
            }
            _ => Err(E::invalid_length(bytes.len(), &Self::EXPECTED)),
        }
    }
}

impl Form for IpPrefix {
    const EXPECTED: &'static str = Prefix::<Ipv4>::EXPECTED;

    fn from_bytes<E: Error>(bytes: &[u8]) -> Result<Self, E> {
        if bytes.len() == MAX_BYTES {
            Prefix::<Ipv6>::from_bytes(bytes).map(Self::V6)
        } else {
            Prefix::<Ipv4>::from_bytes(bytes).map(Self::V4)
        }
    }
}

fn deserialize<'de, D: Deserializer<'de>, P: Form>(deserializer: D) -> Result<P, D::Error> {
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(PrefixVisitor(PhantomData))
    } else {
        deserializer.deserialize_bytes(PrefixVisitor(PhantomData))
    }
}

struct PrefixVisitor<P>(PhantomData<P>);

impl<'de, P: Form> Visitor<'de> for PrefixVisitor<P> {
    type Value = P;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(P::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<P, E> {
        let error = |error| E::custom(format_args!("{text:?} is not a prefix: {error}"));
        text.parse().map_err(error)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<P, E> {
        P::from_bytes(bytes)
    }

    /// Some formats hold bytes as a sequence of numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<P, A::Error> {
        let mut bytes = [0; MAX_BYTES];
        let mut len = 0;
        while let Some(byte) = seq.next_element()? {
            *bytes.get_mut(len).ok_or_else(|| A::Error::invalid_length(len + 1, &self))? = byte;
            len += 1;
        }
        P::from_bytes(&bytes[..len])
    }
}

impl Serialize for NextHopId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.get())
    }
}

impl<'de> Deserialize<'de> for NextHopId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = u32::deserialize(deserializer)?;
        let expected = &"a next-hop id, at least 1";
        Self::new(id).ok_or_else(|| D::Error::invalid_value(Unexpected::Unsigned(0), expected))
    }
}
