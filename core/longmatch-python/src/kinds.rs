//! The type of a column of Python objects, which follows from all of its values.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use crate::text::utf8;

/// The kinds of the values of a column: a set that only grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kinds(u16);

/// The type of a column of values that Arrow and files can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    Text,
    Bool,
    I64,
    /// Integers, of which one is 2^63 or more.
    U64,
    F64,
}

/// Each kind with its name in messages.
const NAMES: [(Kinds, &str); 9] = [
    (Kinds::TEXT, "str"),
    (Kinds::BOOL, "bool"),
    (Kinds::INT, "int"),
    (Kinds::NEGATIVE, "negative int"),
    (Kinds::LARGE, "int from 2**63 on"),
    (Kinds::HUGE, "int out of the range of 64 bits"),
    (Kinds::INEXACT, "int that float cannot hold exactly"),
    (Kinds::FLOAT, "float"),
    (Kinds::SURROGATES, "str with lone surrogates"),
];

impl Kinds {
    /// Text.
    pub const TEXT: Self = Self(1);
    /// All kinds that a column of this type holds.
    pub const I64: Self = Self(4 | 8 | 64);
    pub const U64: Self = Self(4 | 16 | 64);
    pub const F64: Self = Self(4 | 8 | 16 | 128);
    const BOOL: Self = Self(2);
    const INT: Self = Self(4);
    const NEGATIVE: Self = Self(8);
    const LARGE: Self = Self(16);
    const HUGE: Self = Self(32);
    const INEXACT: Self = Self(64);
    const FLOAT: Self = Self(128);
    const SURROGATES: Self = Self(256);
    const OTHER: Self = Self(512);

    /// The kind of one value; nothing for `None`.
    pub fn of(object: &Bound<'_, PyAny>) -> Self {
        if object.is_none() {
            Self::default()
        } else if let Ok(text) = object.cast::<PyString>() {
            if utf8(text).is_ok() { Self::TEXT } else { Self::SURROGATES }
        } else if object.is_instance_of::<PyBool>() {
            Self::BOOL
        } else if object.is_instance_of::<PyFloat>() {
            Self::FLOAT
        } else if object.is_instance_of::<PyInt>() {
            Self::of_int(object)
        } else {
            Self::OTHER
        }
    }

    fn of_int(object: &Bound<'_, PyAny>) -> Self {
        // 128 bits hold both ranges; an `f64` of such an integer is exact if it comes back.
        let exact =
            |number: i128| if number as f64 as i128 == number { Self(0) } else { Self::INEXACT };
        if let Ok(number) = object.extract::<i64>() {
            let sign = if number < 0 { Self::NEGATIVE } else { Self(0) };
            return Self::INT.join(sign).join(exact(number.into()));
        }
        match object.extract::<u64>() {
            Ok(number) => Self::INT.join(Self::LARGE).join(exact(number.into())),
            Err(_) => Self::HUGE,
        }
    }

    /// The set as a number.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// The set of a number.
    pub fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The kinds of both.
    pub fn join(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, kinds: Self) -> bool {
        self.0 & kinds.0 != 0
    }

    /// Whether these are among other kinds.
    pub fn fits(self, kinds: Self) -> bool {
        self.0 & !kinds.0 == 0
    }

    /// Whether there is no value but `None`.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The type that holds values of all these kinds exactly; text if there is none.
    ///
    /// # Errors
    /// The names of the kinds, if no type holds them all.
    pub fn scalar(self) -> Result<Scalar, String> {
        match self {
            _ if self.is_empty() || self == Self::TEXT => Ok(Scalar::Text),
            Self::BOOL => Ok(Scalar::Bool),
            _ if self.fits(Self::I64) => Ok(Scalar::I64),
            _ if self.fits(Self::U64) => Ok(Scalar::U64),
            _ if self.fits(Self::F64) && self.has(Self::FLOAT) => Ok(Scalar::F64),
            _ => Err(self.names()),
        }
    }

    /// The names of the kinds.
    fn names(self) -> String {
        let mut names: Vec<_> =
            NAMES.iter().filter(|(kind, _)| self.has(*kind)).map(|(_, name)| *name).collect();
        if self.has(Self::OTHER) {
            names.push("other objects");
        }
        names.join(", ")
    }
}
