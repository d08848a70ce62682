//! Zip files (PKWARE's APPNOTE.TXT): the directory at their end, and one member, stored or deflated.

use std::cell::Cell;
use std::io::{self, BufReader, Read, SeekFrom};
use std::rc::Rc;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::{Job, choose, member, refused};
use crate::codec::Codec;
use crate::decompress::{Counted, Guard};
use crate::error::{FeedError, Problem};
use crate::input::Input;
use crate::printable::printable;
use crate::source::{Opened, ReadSeek};

/// Bytes of the end of the directory, without its comment of at most 65,535 bytes.
const END: usize = 22;
const MAX_END: u64 = END as u64 + 65_535;
/// Bytes of an entry of the directory, and of the header before a member, without their names.
const ENTRY: usize = 46;
const HEADER: usize = 30;

/// A member, as the directory describes it.
struct Entry {
    name: String,
    encrypted: bool,
    method: usize,
    crc: u32,
    packed: u64,
    size: u64,
    /// The place of its header.
    at: u64,
}

/// The member of a zip file that is to be read.
pub(super) fn enter<'a>(job: &Job<'a>) -> Result<Opened<'a>, FeedError> {
    let mut file = job.seekable()?;
    let damaged = |error| FeedError::whole(Problem::Compressed { codec: Codec::Zip, error });
    let directory = directory(&mut file).map_err(damaged)?;
    let Some(mut entries) = directory else {
        let problem = "a zip file in parts, or with sizes of 64 bits (zip64): unpack it";
        return Err(refused(problem.to_owned()));
    };
    entries.retain(|entry| !entry.name.ends_with('/'));
    let names: Vec<_> = entries.iter().map(|entry| entry.name.clone()).collect();
    let entry = entries.swap_remove(choose(&names, job.member)?);
    let name = printable(&entry.name);
    if entry.encrypted {
        return Err(refused(format!("'{name}' is encrypted: unpack it")));
    }
    seek(&mut file, &entry).map_err(damaged)?;
    let taken = Rc::new(Cell::new(0));
    let packed = Counted { inner: file.take(entry.packed), count: Rc::clone(&taken) };
    let packed = BufReader::with_capacity(64 << 10, packed);
    let inner: Box<dyn Read + 'a> = match entry.method {
        0 => Box::new(packed),
        8 => Box::new(DeflateDecoder::new(packed)),
        method => {
            let problem = format!("'{name}' has the compression method {method}: unpack it");
            return Err(refused(problem));
        }
    };
    let checked = Checked { inner, crc: Crc::new(), size: entry.size, expected: entry.crc };
    let guard = Guard::new(Box::new(checked), Rc::clone(&taken), job.options.limits);
    let opened = Opened { input: Input::new(Box::new(io::empty())), codec: None, taken };
    Ok(member(opened, Box::new(guard), Codec::Zip))
}

fn wrong(problem: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// A little-endian number of `N` bytes at a place in a structure.
fn number<const N: usize>(bytes: &[u8], at: usize) -> usize {
    let bytes = bytes.get(at..at + N).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// The members, from the directory; `None` if it has parts or numbers of another form.
fn directory(file: &mut dyn ReadSeek) -> io::Result<Option<Vec<Entry>>> {
    let len = file.seek(SeekFrom::End(0))?;
    let start = file.seek(SeekFrom::Start(len.saturating_sub(MAX_END)))?;
    let mut tail = Vec::new();
    file.take(MAX_END).read_to_end(&mut tail)?;
    let ends = |at: &usize| at + END + number::<2>(&tail, at + 20) == tail.len();
    let end = memchr::memmem::rfind_iter(&tail, b"PK\x05\x06").find(ends);
    let end = end.ok_or_else(|| wrong("the directory at its end is missing"))?;
    let (count, size) = (number::<2>(&tail, end + 10), number::<4>(&tail, end + 12));
    let at = number::<4>(&tail, end + 16);
    if number::<4>(&tail, end + 4) != 0 || count == 0xffff || at == 0xffff_ffff {
        return Ok(None);
    }
    if (at + size) as u64 > start + end as u64 {
        return Err(wrong("the directory is not where its end says"));
    }
    file.seek(SeekFrom::Start(at as u64))?;
    let mut bytes = Vec::new();
    file.take(size as u64).read_to_end(&mut bytes)?;
    let (mut rest, mut entries) = (&*bytes, Vec::new());
    for _ in 0..count {
        let [name, extra, comment] = [28, 30, 32].map(|at| number::<2>(rest, at));
        let next = rest.get(ENTRY + name + extra + comment..);
        let next = next.filter(|_| rest.starts_with(b"PK\x01\x02"));
        let next = next.ok_or_else(|| wrong("an entry of the directory is damaged"))?;
        let [packed, size, at] = [20, 24, 42].map(|at| number::<4>(rest, at) as u64);
        if [packed, size, at].contains(&0xffff_ffff) {
            return Ok(None);
        }
        entries.push(Entry {
            name: String::from_utf8_lossy(&rest[ENTRY..ENTRY + name]).into_owned(),
            encrypted: rest[8] & 1 != 0,
            method: number::<2>(rest, 10),
            crc: number::<4>(rest, 16) as u32,
            packed,
            size,
            at,
        });
        rest = next;
    }
    Ok(Some(entries))
}

/// Moves to the data of a member, after its own header.
fn seek(file: &mut dyn ReadSeek, entry: &Entry) -> io::Result<()> {
    file.seek(SeekFrom::Start(entry.at))?;
    let mut header = [0; HEADER];
    file.read_exact(&mut header)?;
    if !header.starts_with(b"PK\x03\x04") {
        return Err(wrong("a member is not where the directory says"));
    }
    let more = number::<2>(&header, 26) + number::<2>(&header, 28);
    file.seek(SeekFrom::Current(more as i64)).map(drop)
}

/// A reader that compares the length and the checksum of a member at its end.
struct Checked<'a> {
    inner: Box<dyn Read + 'a>,
    crc: Crc,
    size: u64,
    expected: u32,
}

impl Read for Checked<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.crc.update(&buf[..n]);
        // The checksum counts its bytes modulo 2^32, the range of all sizes here.
        let whole = u64::from(self.crc.amount()) == self.size && self.crc.sum() == self.expected;
        match n == 0 && !buf.is_empty() && !whole {
            true => Err(wrong("the checksum or the length of a member does not match")),
            false => Ok(n),
        }
    }
}
