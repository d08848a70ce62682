//! The image of a table. `docs/format.md` describes its bytes.

use alloc::vec::Vec;

use super::bounds::{self, HOPS};
use super::layout::{Fixed, Folio6};
use super::walk::{CODES, LINES, MINIS, PAGES, ROOT};
use crate::engine::kit::image::{DamagedImage, Image, ImageArray, LentArrays};
use crate::mem::bytes_of;

impl Image for Folio6 {
    const FORM: &'static str = "folio";

    fn arrays(&self) -> Vec<ImageArray<'_>> {
        let Fixed { base, shift, last, steps, log2, is_list } = self.fixed;
        let [low, high] = [base as u32, (base >> 32) as u32];
        let parameters =
            [low, high, shift.into(), last, steps.into(), log2.into(), u32::from(is_list)];
        // The numbers in leaves are little-endian on every machine.
        let leaves = |name, bytes: &'_ [u8]| ImageArray { name, bytes: bytes.to_vec().into() };
        [
            ImageArray::of_parameters(&parameters),
            ImageArray::of_words(ROOT, &self.root),
            ImageArray::of_words(PAGES, &self.pages),
            leaves(CODES, &self.codes),
            leaves(LINES, bytes_of(&self.lines)),
            leaves(MINIS, bytes_of(&self.minis)),
            ImageArray::of_words(HOPS, &self.hops),
        ]
        .into()
    }

    fn over(arrays: &LentArrays<'_>) -> Result<Self, DamagedImage> {
        let ([low, high, shift, last, steps, log2, is_list], rest) = arrays.parameters()?;
        let byte = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        if !rest.is_empty() || is_list > 1 || last == u32::MAX {
            return Err(DamagedImage::parameters("has words that no table has"));
        }
        let fixed = Fixed {
            base: u64::from(high) << 32 | u64::from(low),
            shift: byte(shift),
            last,
            steps: byte(steps),
            log2: byte(log2),
            is_list: is_list == 1,
        };
        let table = Self {
            root: arrays.array(ROOT)?,
            pages: arrays.array(PAGES)?,
            codes: arrays.array(CODES)?,
            lines: arrays.array(LINES)?,
            minis: arrays.array(MINIS)?,
            hops: arrays.array(HOPS)?,
            fixed,
            leaves: "",
        };
        bounds::verify(table.slices())?;
        Ok(table)
    }
}
