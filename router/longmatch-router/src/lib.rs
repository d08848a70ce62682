//! The server of metrics, which both programs have. It is not an interface for other programs: it changes with these.
#![doc(hidden)]
#![deny(unsafe_code)]

pub mod http;
