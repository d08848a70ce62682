//! Keys: the types of Python that are an address or a prefix.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use longmatch::IpPrefix;
use longmatch_feed::parse_ip;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString, PyTuple, PyType};

use crate::text::with_text;
use crate::value::is_int;

/// The message for a key of another type.
const FORMS: &str = "a key is a str ('192.0.2.0/24', '::1'), an ipaddress object, bytes (4 or 16), \
    (int, family) or (int, family, length), with family 4 or 6";

/// A key: an address, or a prefix that may have host bits.
#[derive(Clone, Copy)]
pub struct Key {
    pub addr: IpAddr,
    /// `None` for an address.
    pub len: Option<u8>,
}

impl Key {
    /// The prefix; an address means its host prefix.
    ///
    /// # Errors
    /// When the length is too great, or with `strict` when a host bit is set.
    pub fn prefix(self, strict: bool) -> PyResult<IpPrefix> {
        let Self { addr, len: Some(len) } = self else { return Ok(IpPrefix::host(self.addr)) };
        let prefix = if strict { IpPrefix::new(addr, len) } else { IpPrefix::masked(addr, len) };
        prefix.map_err(|error| {
            let advice = if strict && IpPrefix::masked(addr, len).is_ok() {
                ", or make the table with strict=False, which clears them"
            } else {
                ""
            };
            PyValueError::new_err(format!("{addr}/{len}: {error}{advice}"))
        })
    }
}

/// Reads a key.
///
/// # Errors
/// `TypeError` for a type that is not a key, `ValueError` for text or numbers that are neither an address nor a prefix.
pub fn key(object: &Bound<'_, PyAny>) -> PyResult<Key> {
    if let Ok(text) = object.cast::<PyString>() {
        return with_text(text, key_of_text)?;
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return address_of_bytes(bytes.as_bytes()).map(|addr| Key { addr, len: None });
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return key_of_tuple(tuple);
    }
    key_of_ipaddress(object)
}

/// Reads an address; a prefix is an error.
pub fn address(object: &Bound<'_, PyAny>) -> PyResult<IpAddr> {
    match key(object)? {
        Key { addr, len: None } => Ok(addr),
        Key { addr, len: Some(len) } => Err(PyValueError::new_err(format!(
            "{addr}/{len} is a prefix, and this method looks up addresses: leave out the length"
        ))),
    }
}

fn key_of_text(text: &[u8]) -> PyResult<Key> {
    let refused = |why: &str| {
        let text: String = String::from_utf8_lossy(text).chars().take(60).collect();
        Err(PyValueError::new_err(format!("{text:?} is not an address or a prefix: {why}")))
    };
    let Some(slash) = text.iter().position(|byte| *byte == b'/') else {
        return match parse_ip(text) {
            Some(addr) => Ok(Key { addr, len: None }),
            None => refused("expected an address as 192.0.2.1 or 2001:db8::1"),
        };
    };
    let Some(addr) = parse_ip(&text[..slash]) else {
        return refused("no address before the '/'");
    };
    let digits = &text[slash + 1..];
    let plain = matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && digits.len() <= 3;
    if !plain || !digits.iter().all(u8::is_ascii_digit) {
        return refused("the length after the '/' is not a plain decimal number");
    }
    let len = digits.iter().fold(0u16, |len, digit| len * 10 + u16::from(digit - b'0'));
    let width = if addr.is_ipv4() { 32 } else { 128 };
    match u8::try_from(len) {
        Ok(len) if len <= width => Ok(Key { addr, len: Some(len) }),
        _ => refused(&format!("the length {len} is greater than {width}")),
    }
}

fn address_of_bytes(bytes: &[u8]) -> PyResult<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Ok(bytes.into());
    }
    if let Ok(bytes) = <[u8; 16]>::try_from(bytes) {
        return Ok(bytes.into());
    }
    let len = bytes.len();
    Err(PyValueError::new_err(format!(
        "{len} bytes are not an address: 4 are an IPv4 address and 16 an IPv6 address, in network order"
    )))
}

fn key_of_tuple(tuple: &Bound<'_, PyTuple>) -> PyResult<Key> {
    if !matches!(tuple.len(), 2 | 3) || !tuple.iter().all(|part| is_int(&part)) {
        let repr = tuple.repr()?.to_string_lossy().chars().take(60).collect::<String>();
        return Err(PyTypeError::new_err(format!("the tuple {repr}: {FORMS}")));
    }
    let family: i64 = tuple.get_item(1)?.extract()?;
    let number = tuple.get_item(0)?;
    let out_of_range = |_| {
        PyValueError::new_err(format!("the number is not an address of IPv{family}: out of range"))
    };
    let (addr, width) = match family {
        4 => (IpAddr::from(Ipv4Addr::from(number.extract::<u32>().map_err(out_of_range)?)), 32),
        6 => (IpAddr::from(Ipv6Addr::from(number.extract::<u128>().map_err(out_of_range)?)), 128),
        _ => {
            return Err(PyValueError::new_err(format!(
                "family {family}: expected 4 or 6, the versions of IP (socket.AF_INET and AF_INET6 are other numbers)"
            )));
        }
    };
    let len = match tuple.get_item(2) {
        Ok(len) => Some(checked_len(len.extract()?, width)?),
        Err(_) => None,
    };
    Ok(Key { addr, len })
}

/// A prefix length of at most `width`.
pub fn checked_len(len: i64, width: u8) -> PyResult<u8> {
    let fits = u8::try_from(len).ok().filter(|len| *len <= width);
    fits.ok_or_else(|| PyValueError::new_err(format!("prefix length {len} is not in 0..={width}")))
}

/// The types of the module `ipaddress`.
struct IpTypes {
    addresses: [Py<PyType>; 2],
    interfaces: [Py<PyType>; 2],
    networks: [Py<PyType>; 2],
}

fn ip_types(py: Python<'_>) -> PyResult<&IpTypes> {
    static TYPES: PyOnceLock<IpTypes> = PyOnceLock::new();
    TYPES.get_or_try_init(py, || {
        let module = py.import("ipaddress")?;
        let get = |name: &str| -> PyResult<_> {
            Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
        };
        Ok(IpTypes {
            addresses: [get("IPv4Address")?, get("IPv6Address")?],
            interfaces: [get("IPv4Interface")?, get("IPv6Interface")?],
            networks: [get("IPv4Network")?, get("IPv6Network")?],
        })
    })
}

fn key_of_ipaddress(object: &Bound<'_, PyAny>) -> PyResult<Key> {
    let py = object.py();
    let types = ip_types(py)?;
    let is = |types: &[Py<PyType>; 2]| -> PyResult<bool> {
        Ok(object.is_instance(types[0].bind(py))? || object.is_instance(types[1].bind(py))?)
    };
    let packed = |object: &Bound<'_, PyAny>| -> PyResult<IpAddr> {
        let packed = object.getattr(intern!(py, "packed"))?;
        address_of_bytes(packed.cast::<PyBytes>()?.as_bytes())
    };
    let len = |network: &Bound<'_, PyAny>| network.getattr(intern!(py, "prefixlen"))?.extract();
    // An interface is an address too.
    if is(&types.interfaces)? {
        // It stands for its network: nearly every interface has host bits.
        let network = object.getattr(intern!(py, "network"))?;
        let addr = packed(&network.getattr(intern!(py, "network_address"))?)?;
        return Ok(Key { addr, len: Some(len(&network)?) });
    }
    if is(&types.addresses)? {
        let scoped = object.getattr_opt(intern!(py, "scope_id"))?;
        if scoped.is_some_and(|scope| !scope.is_none()) {
            let text = object.str()?;
            return Err(PyValueError::new_err(format!("{text}: leave out the zone id")));
        }
        return Ok(Key { addr: packed(object)?, len: None });
    }
    if is(&types.networks)? {
        let addr = packed(&object.getattr(intern!(py, "network_address"))?)?;
        return Ok(Key { addr, len: Some(len(object)?) });
    }
    let ty = object.get_type();
    let advice = if object.hasattr(intern!(py, "__index__"))? {
        "; an integer needs its family: (int(number), 4)"
    } else if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
        "; pass bytes(key)"
    } else {
        ""
    };
    Err(PyTypeError::new_err(format!("a key of type {}{advice}: {FORMS}", ty.name()?)))
}
