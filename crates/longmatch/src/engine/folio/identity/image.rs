//! The image of a table of pages. `docs/format.md` describes its bytes.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use hashbrown::HashMap;

use super::super::book::Book;
use super::super::store::{Account, Kind, Page, Store};
use super::bounds;
use super::codes::CodeForm;
use super::layout::{
    Decode, Entry, Extent, Fixed, MAX_ROOT, MIN_ROOT, PATCHES, Pages, Slices, Vectors, escape_code,
};
use crate::engine::kit::Batch;
use crate::engine::kit::image::{DamagedImage, Image, ImageArray, LentArrays};

const ROOT: [u8; 3] = *b"roo";
const CODES: [u8; 3] = *b"cod";
const ESCAPES: [u8; 3] = *b"esc";
const DEEP: [u8; 3] = *b"dee";
const HOPS: [u8; 3] = *b"hop";

/// How codes mean next hops, among the parameters.
const RAW: u32 = 0;
const PATCHED: u32 = 1;
const BOOK: u32 = 2;
const TABLE: u32 = 3;

impl Image for Pages {
    const FORM: &'static str = "folio:identity";

    fn arrays(&self) -> Vec<ImageArray<'_>> {
        let Self { root, codes, escapes, deep, fixed, form, extent, .. } = self;
        let mut patches = &[][..];
        let mut hops = None;
        let decode = match &fixed.decode {
            Decode::Raw => RAW,
            Decode::Table(_, Vectors::Patches(pairs)) => {
                patches = pairs;
                PATCHED
            }
            Decode::Table(all, vectors) => {
                hops = Some(ImageArray::of_words(HOPS, all));
                if matches!(vectors, Vectors::Book(_)) { BOOK } else { TABLE }
            }
        };
        let form = CodeForm::ALL.iter().position(|known| known == form).unwrap_or_default();
        let mut parameters = alloc::vec![
            u32::from(fixed.root_bits()),
            form as u32,
            decode,
            u32::from(fixed.escape_bits),
            extent.pages.load(Relaxed) as u32,
            extent.escapes.load(Relaxed) as u32,
        ];
        parameters.extend(patches.iter().flat_map(|(code, raw)| [*code, *raw]));
        let codes = ImageArray { name: CODES, bytes: codes[..].into() };
        let arrays = [
            ImageArray::of_parameters(&parameters),
            ImageArray::of_words(ROOT, root),
            codes,
            ImageArray::of_words(ESCAPES, escapes),
            ImageArray::of_words(DEEP, deep),
        ];
        arrays.into_iter().chain(hops).collect()
    }

    fn over(arrays: &LentArrays<'_>) -> Result<Self, DamagedImage> {
        let ([root_bits, form, decode, escape_bits, pages, escape_count], patches) =
            arrays.parameters()?;
        let range = u32::from(MIN_ROOT)..=u32::from(MAX_ROOT);
        let Some(form) = CodeForm::ALL.get(form as usize).copied() else {
            return Err(DamagedImage::parameters("names an unknown form of codes"));
        };
        if !range.contains(&root_bits) || !(1..=30).contains(&escape_bits) {
            return Err(DamagedImage::parameters("has a number of bits that no table has"));
        }
        let decode = decoding(arrays, form, decode, &patches)?;
        let mut fixed = Fixed::new(root_bits as u8, form.log2(), decode);
        fixed.escape_bits = escape_bits as u8;
        let (root, codes) = (arrays.array(ROOT)?, arrays.array::<u8>(CODES)?);
        let (escapes, deep) = (arrays.array(ESCAPES)?, arrays.array(DEEP)?);
        let extent = Extent::default();
        extent.pages.store(pages as usize, Relaxed);
        extent.bytes.store(codes.len(), Relaxed);
        extent.escapes.store(escape_count as usize, Relaxed);
        let (batch, store) = (Batch::Auto, Store::default());
        let pages = Self { root, codes, escapes, deep, fixed, form, batch, store, extent };
        bounds::verify(pages.slices())?;
        Ok(pages)
    }
}

/// The meaning of codes; every code but one of 32 bits has a next hop.
fn decoding(
    arrays: &LentArrays<'_>,
    form: CodeForm,
    decode: u32,
    patches: &[u32],
) -> Result<Decode, DamagedImage> {
    let refuse = |what| Err(DamagedImage::parameters(what));
    let bytes = 1 << form.log2();
    let codes = escape_code(form.log2()) as usize + 1;
    match decode {
        RAW => Ok(Decode::Raw),
        PATCHED => {
            let pairs: Vec<(u32, u32)> =
                patches.as_chunks::<2>().0.iter().map(|[code, raw]| (*code, *raw)).collect();
            let sound = bytes == 1 && pairs.len() <= PATCHES && patches.len() == 2 * pairs.len();
            let mut hops: Box<[u32]> = (0..256).collect();
            hops[255] = 0;
            for (code, raw) in &pairs {
                match hops.get_mut(*code as usize).filter(|_| sound) {
                    Some(hop) => *hop = *raw,
                    None => return refuse("has exceptions that no table has"),
                }
            }
            Ok(Decode::Table(hops, Vectors::Patches(pairs)))
        }
        BOOK | TABLE if bytes < 4 => {
            let hops = arrays.array::<u32>(HOPS)?;
            if hops.len() != codes {
                return Err(DamagedImage { array: HOPS, what: "has another length than codes" });
            }
            let mut vectors = Vectors::Gather;
            if decode == BOOK {
                let mut book = [0; 256];
                let narrow = |(to, from): (&mut u16, &u32)| {
                    *to = *from as u16;
                    *from <= u16::MAX.into()
                };
                if bytes > 1 || !book.iter_mut().zip(&*hops).all(narrow) {
                    return refuse("names a book of next hops of more than 16 bits");
                }
                vectors = Vectors::Book(Box::new(Book::new(book)));
            }
            Ok(Decode::Table(hops[..].into(), vectors))
        }
        _ => refuse("names an unknown meaning of codes"),
    }
}

/// The account of the pages of an image: the pages that the root leads to, and the gaps between.
///
/// A table over an image keeps none, because only its check needs it.
pub(super) fn account(table: Slices<'_>) -> Account {
    let (bits, log2) = (table.fixed.root_bits(), table.fixed.log2);
    let mut references: HashMap<(u32, u8), u32> = HashMap::new();
    for entry in table.root {
        let entry = Entry(*entry);
        let log2_codes = entry.log2_codes(bits).unwrap_or(0);
        *references.entry((entry.place() << log2, log2_codes + log2)).or_default() += 1;
    }
    let mut pages: Vec<Page> = references
        .into_iter()
        .map(|((start, log2_bytes), references)| {
            let bytes = &table.codes[start as usize..][..1 << log2_bytes];
            let escapes = |code: &[u8]| code.iter().all(|byte| *byte == u8::MAX);
            let escaping = bytes.chunks(1 << log2).any(escapes);
            let kind = if escaping { Kind::Escaping } else { Kind::Codes };
            Page { start, log2_bytes, kind, references, hash: 0 }
        })
        .collect();
    pages.sort_unstable_by_key(|page| page.start);
    let mut unused = Vec::new();
    let mut at = 0;
    for page in &pages {
        let start = page.start as usize;
        if at < start {
            unused.push((at as u32, start - at));
        }
        at = at.max(start + page.bytes());
    }
    if at < table.codes.len() {
        unused.push((at as u32, table.codes.len() - at));
    }
    Account { pages, unused }
}
