//! The image of a table of lines. `docs/format.md` describes its bytes.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::super::book::Book;
use super::super::layout::{Code, CodeForm};
use super::super::root::{PLACES, REGION_BITS, Regions, Root, RootLayout};
use super::bounds;
use super::layout::{DISTANCE, Fixed, KEYS, Line, Lines, Slices};
use crate::engine::kit::image::{DamagedImage, Image, ImageArray, LentArrays};
use crate::mem::{LINE, bytes_of};

const ROOT: [u8; 3] = *b"roo";
const LINES: [u8; 3] = *b"lin";
const BOOK: [u8; 3] = *b"boo";

/// Words of parameters before the places of regions.
const FIRST: usize = 7;

impl<C: Code> Lines<C> {
    fn slices(&self) -> Slices<'_> {
        let Self { entries, lines, fixed, .. } = self;
        Slices { entries, lines, fixed, form: CodeForm::of::<C>() }
    }
}

impl<C: Code> Image for Lines<C> {
    const FORM: &'static str = match C::NAME.as_bytes() {
        b"8" => "folio:lines:codes=8",
        b"book" => "folio:lines:codes=book",
        b"16" => "folio:lines:codes=16",
        _ => "folio:lines:codes=32",
    };

    fn arrays(&self) -> Vec<ImageArray<'_>> {
        let Root { last, bits, layout } = &self.fixed.root;
        let (first, regions) = match layout {
            RootLayout::Span { first, .. } => (*first, None),
            RootLayout::Regions(regions) => (0, Some(regions)),
        };
        let mut parameters = alloc::vec![
            u32::from(*bits),
            *last,
            first,
            u32::from(regions.is_some()),
            regions.map_or(0, |regions| regions.multiplier),
            regions.map_or(0, |regions| regions.block_bits.into()),
            C::LOG2,
        ];
        debug_assert_eq!(parameters.len(), FIRST);
        parameters.extend(regions.map_or(&[][..], |regions| &regions.places));
        let bytes = match cfg!(target_endian = "little") {
            true => Cow::Borrowed(bytes_of(&self.lines)),
            false => Cow::Owned(little_endian(self.slices())),
        };
        let arrays = [
            ImageArray::of_parameters(&parameters),
            ImageArray::of_words(ROOT, &self.entries),
            ImageArray { name: LINES, bytes },
        ];
        let book = C::BOOK.then(|| {
            let hops = self.fixed.book.table()[..256].iter();
            ImageArray { name: BOOK, bytes: hops.flat_map(|hop| hop.to_le_bytes()).collect() }
        });
        arrays.into_iter().chain(book).collect()
    }

    fn over(arrays: &LentArrays<'_>) -> Result<Self, DamagedImage> {
        let ([bits, last, first, regions, multiplier, block_bits, log2], places) =
            arrays.parameters()?;
        let refuse = |what| Err(DamagedImage::parameters(what));
        if log2 != C::LOG2 {
            return refuse("has another width of codes than the form");
        }
        if !matches!(bits, 16 | 20) {
            return refuse("has a number of bits that no root has");
        }
        let bits = bits as u8;
        let layout = match regions {
            0 => RootLayout::Span { first, sparse: false },
            1 => {
                let Ok(places) = <[u32; PLACES]>::try_from(places) else {
                    return refuse("has another number of regions than 32");
                };
                let block_bits = block_bits as u8;
                if block_bits != bits - REGION_BITS {
                    return refuse("has regions of another size than the root's bits say");
                }
                RootLayout::Regions(Regions { places, multiplier, block_bits })
            }
            _ => return refuse("names an unknown form of the root"),
        };
        let mut hops = [0; 256];
        if C::BOOK {
            let book = arrays.array::<u16>(BOOK)?;
            if book.len() != hops.len() {
                return Err(DamagedImage { array: BOOK, what: "has another length than 256" });
            }
            hops.copy_from_slice(&book);
        }
        let (entries, lines) = (arrays.array(ROOT)?, arrays.array(LINES)?);
        let fixed = Fixed { root: Root { last, bits, layout }, book: Book::new(hops) };
        let table = Self { entries, lines, fixed, code: PhantomData };
        bounds::verify(table.slices())?;
        Ok(table)
    }
}

/// The bytes of the lines on a little-endian machine.
///
/// Leaves with codes of less than 32 bits are not made of words only.
fn little_endian(table: Slices<'_>) -> Vec<u8> {
    let log2 = table.form.log2;
    // A compiled table is sound.
    let depths = bounds::depths(table).unwrap_or_default();
    let mut bytes = Vec::with_capacity(LINE * table.lines.len());
    for (line, depth) in table.lines.iter().zip(depths) {
        let words = if depth == 1 && log2 < 2 { KEYS[log2 as usize] } else { line.0.len() };
        let mut at = [0; LINE];
        for (to, word) in at.as_chunks_mut::<4>().0.iter_mut().zip(&line.0[..words]) {
            *to = word.to_le_bytes();
        }
        if words < line.0.len() {
            for i in 0..=words {
                let code = line.code(log2, i).to_le_bytes();
                at[Line::code_offset(log2, i)..][..1 << log2].copy_from_slice(&code[..1 << log2]);
            }
            at[DISTANCE] = line.distance(log2) as u8;
        }
        bytes.extend(at);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::engine::folio::{Byte, Coded};
    use crate::engine::testing::spread;
    use crate::net::Ipv6;

    fn same_bytes<C: Code>(hops: u32) {
        let rib = spread::<Ipv6>(0..=128, hops);
        let table = Lines::<C>::compile(&rib, &()).unwrap();
        assert!(table.lines.len() > 1000);
        let lines = table.arrays().into_iter().find(|array| array.name == LINES).unwrap();
        let bytes = little_endian(table.slices());
        assert!(*lines.bytes == bytes, "codes of {}", C::NAME);
    }

    /// A big-endian machine makes the same bytes: here both ways are compared on one machine.
    #[test]
    fn images_are_the_same_bytes_on_every_machine() {
        same_bytes::<Byte>(200);
        same_bytes::<Byte>(3000);
        same_bytes::<Coded>(3000);
        same_bytes::<u16>(3000);
        same_bytes::<u32>(3000);
    }
}
