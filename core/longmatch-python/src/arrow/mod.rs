//! Arrow columns in and out, by the C data interface in capsules of Python.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

mod export;
mod ffi;
mod import;

pub use export::{
    Buffer, ColumnData, Layout, array_capsules, bitmap, schema_capsule, stream_capsule, type_name,
};
pub use import::{Chunks, import, is_arrow, requested_layout};
