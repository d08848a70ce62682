//! Inputs that can be opened more than once.
//!
//! The peer to take is known only after the whole input has been read once, and an MRT dump is too
//! large to keep. So a source is a path or bytes in memory, and every pass opens it again.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::rc::Rc;

use crate::codec::{Codec, MAGIC_LEN};
use crate::decompress::{decode, explain, refuse_nested};
use crate::error::{FeedError, Problem};
use crate::input::Input;
use crate::options::Limits;

/// An input that can be opened more than once.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Path(&'a Path),
    Bytes(&'a [u8]),
}

/// A decompressed input, positioned at its first byte.
pub(crate) struct Opened<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) codec: Option<Codec>,
    /// Bytes read from the compressed input so far.
    pub(crate) taken: Rc<Cell<u64>>,
}

/// An input whose bytes can be read in any order.
pub(crate) trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// Detects the compression of a stream and decompresses it.
pub(crate) fn open<'a>(raw: Box<dyn Read + 'a>, limits: Limits) -> Result<Opened<'a>, FeedError> {
    let decoded = decode(raw, limits).map_err(FeedError::whole)?;
    let mut input = Input::new(decoded.reader);
    if let Some(codec) = decoded.codec {
        input.fill(MAGIC_LEN);
        refuse_nested(codec, input.window()).map_err(FeedError::whole)?;
    }
    Ok(Opened { input, codec: decoded.codec, taken: decoded.taken })
}

/// Opens a file and refuses a directory, which the system opens without an error.
///
/// ```
/// assert!(longmatch_feed::open_file(".".as_ref()).unwrap_err().to_string().contains("a directory"));
/// ```
///
/// # Errors
/// If the file cannot be opened or is a directory.
pub fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        let error = "it is a directory: name a file in it";
        return Err(io::Error::new(io::ErrorKind::IsADirectory, error));
    }
    Ok(file)
}

/// Opens a file as an input without a name.
pub(crate) fn open_input(path: &Path) -> Result<File, FeedError> {
    open_file(path).map_err(|error| FeedError::whole(Problem::Open(error)))
}

/// The whole input, in memory.
pub(crate) fn whole(opened: &mut Opened<'_>, limit: u64) -> Result<Vec<u8>, FeedError> {
    let input: &mut Input<'_> = &mut opened.input;
    let mut bytes = Vec::new();
    while input.fill(1) > 0 {
        let window = input.window();
        if (bytes.len() + window.len()) as u64 > limit {
            return Err(FeedError::whole(Problem::TooLarge { limit }));
        }
        bytes.extend_from_slice(window);
        let len = window.len();
        input.consume(len);
    }
    match input.take_error() {
        Some(error) => Err(FeedError::byte(bytes.len() as u64, explain(error, opened.codec))),
        None => Ok(bytes),
    }
}
