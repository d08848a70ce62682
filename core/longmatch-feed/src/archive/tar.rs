//! Tar archives (POSIX.1-1988 and pax, and GNU's long names).

use std::io::{self, Read};

use super::{Job, choose, member, refused};
use crate::codec::Codec;
use crate::decompress::explain;
use crate::error::FeedError;
use crate::input::Input;
use crate::printable::printable;
use crate::source::Opened;

/// Bytes of a header; the data of a member is padded to a multiple.
const BLOCK: usize = 512;
/// Greatest length of a long name or of the attributes before a member.
const MAX_NAME: u64 = 64 << 10;

/// The member of a tar archive that is to be read. `opened` is positioned at its first byte.
pub(super) fn enter<'a>(job: &Job<'a>, mut opened: Opened<'a>) -> Result<Opened<'a>, FeedError> {
    let codec = opened.codec.unwrap_or(Codec::Tar);
    let damaged = |offset, error| FeedError::byte(offset, explain(error, Some(codec)));
    let chosen = match job.chosen.get() {
        Some(chosen) => *chosen,
        None => {
            let files = files(&mut opened.input);
            let files = files.map_err(|error| damaged(opened.input.offset(), error))?;
            let names: Vec<_> = files.iter().map(|file| file.name.clone()).collect();
            let chosen = choose(&names, job.member)?;
            if files[chosen].sparse {
                let name = printable(&names[chosen]);
                return Err(refused(format!("'{name}' is stored as a sparse file: unpack it")));
            }
            opened = job.decompressed()?;
            *job.chosen.get_or_init(|| chosen)
        }
    };
    for _ in 0..chosen {
        let skipped = next(&mut opened.input);
        let skipped =
            skipped.and_then(|file| skip(&mut opened.input, file.map_or(0, |it| it.size)));
        skipped.map_err(|error| damaged(opened.input.offset(), error))?;
    }
    let file = next(&mut opened.input);
    let file = file.map_err(|error| damaged(opened.input.offset(), error))?;
    let input = std::mem::replace(&mut opened.input, Input::new(Box::new(io::empty())));
    let left = file.map_or(0, |file| file.size);
    Ok(member(opened, Box::new(Member { input, left }), Codec::Tar))
}

/// A regular file in an archive.
struct TarFile {
    name: String,
    size: u64,
    sparse: bool,
}

/// All files. Reads the archive to its end, so that a compressed one is checked.
fn files(input: &mut Input<'_>) -> io::Result<Vec<TarFile>> {
    let mut files = Vec::new();
    while let Some(file) = next(input)? {
        skip(input, file.size)?;
        files.push(file);
    }
    while input.fill(1) > 0 {
        input.consume(usize::MAX);
    }
    input.take_error().map_or(Ok(files), Err)
}

fn wrong(problem: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// The error of an input that ends too early.
fn cut_off(input: &mut Input<'_>) -> io::Error {
    input.take_error().unwrap_or_else(|| {
        io::Error::new(io::ErrorKind::UnexpectedEof, "the tar archive is cut off")
    })
}

/// The padded length of data.
fn padded(size: u64) -> u64 {
    size.div_ceil(BLOCK as u64).saturating_mul(BLOCK as u64)
}

fn skip(input: &mut Input<'_>, size: u64) -> io::Result<()> {
    let len =
        usize::try_from(padded(size)).map_err(|_| wrong("the size of a member is damaged"))?;
    if input.skip(len) < len { Err(cut_off(input)) } else { Ok(()) }
}

/// Reads the headers before the data of the next file; `None` at the end of the archive.
fn next(input: &mut Input<'_>) -> io::Result<Option<TarFile>> {
    let (mut long, mut long_size, mut sparse) = (None, None, false);
    loop {
        if input.fill(BLOCK) < BLOCK {
            return Err(cut_off(input));
        }
        let block: [u8; BLOCK] = *input.window().first_chunk().unwrap_or(&[0; BLOCK]);
        input.consume(BLOCK);
        if block == [0; BLOCK] {
            return Ok(None);
        }
        let spaces = 8 * u64::from(b' ');
        let bytes = block[..148].iter().chain(&block[156..]).copied().map(u64::from);
        if octal(&block[148..156]) != Some(bytes.sum::<u64>() + spaces) {
            return Err(wrong("the checksum of a tar header does not match"));
        }
        let size = octal(&block[124..136]).ok_or_else(|| wrong("a size is damaged"))?;
        match block[156] {
            b'L' => long = Some(text(&data(input, size)?)),
            b'x' => {
                for (key, value) in attributes(&data(input, size)?) {
                    match &*key {
                        "path" => long = Some(value),
                        "size" => long_size = value.parse().ok(),
                        key => sparse |= key.starts_with("GNU.sparse."),
                    }
                }
            }
            kind @ (b'0' | 0 | b'7' | b'S') => {
                let name = long.take().unwrap_or_else(|| short_name(&block));
                let size = long_size.unwrap_or(size);
                return Ok(Some(TarFile { name, size, sparse: sparse || kind == b'S' }));
            }
            // Links and folders have no data; others, such as attributes of all members, are skipped.
            kind => {
                skip(input, if (b'1'..=b'6').contains(&kind) { 0 } else { size })?;
                (long, long_size, sparse) = (None, None, false);
            }
        }
    }
}

/// The short data of a header that describes the next one.
fn data(input: &mut Input<'_>, size: u64) -> io::Result<Vec<u8>> {
    if size > MAX_NAME {
        return Err(wrong("a long name is damaged"));
    }
    let len = padded(size) as usize;
    if input.fill(len) < len {
        return Err(cut_off(input));
    }
    let data = input.window()[..size as usize].to_vec();
    input.consume(len);
    Ok(data)
}

/// Text up to a zero byte.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The name in a header, with its folder in archives of POSIX.
fn short_name(block: &[u8; BLOCK]) -> String {
    let (name, folder) = (text(&block[..100]), text(&block[345..500]));
    match block[257..263] == *b"ustar\0" && !folder.is_empty() {
        true => format!("{folder}/{name}"),
        false => name,
    }
}

/// The lines `LENGTH KEY=VALUE` of pax.
fn attributes(bytes: &[u8]) -> Vec<(String, String)> {
    let line = |line: &[u8]| {
        let line = String::from_utf8_lossy(line).into_owned();
        let (key, value) = line.split_once(' ')?.1.split_once('=')?;
        Some((key.to_owned(), value.to_owned()))
    };
    bytes.split(|byte| *byte == b'\n').filter_map(line).collect()
}

/// An octal number between spaces or zero bytes, or GNU's binary one.
fn octal(field: &[u8]) -> Option<u64> {
    if field[0] == 0x80 {
        let high = &field[1..field.len() - 8];
        let low = field.last_chunk().map(|low| u64::from_be_bytes(*low));
        return low.filter(|low| high.iter().all(|byte| *byte == 0) && *low < 1 << 62);
    }
    let digits = text(field);
    let digits = digits.trim_ascii();
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}

/// The data of a member.
struct Member<'a> {
    input: Input<'a>,
    left: u64,
}

impl Read for Member<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 || buf.is_empty() {
            return Ok(0);
        }
        if self.input.fill(1) == 0 {
            return Err(cut_off(&mut self.input));
        }
        let window = self.input.window();
        let n = window.len().min(buf.len()).min(usize::try_from(self.left).unwrap_or(usize::MAX));
        buf[..n].copy_from_slice(&window[..n]);
        self.input.consume(n);
        self.left -= n as u64;
        Ok(n)
    }
}
