//! The image of a table. `docs/format.md` describes its bytes.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::bounds;
use super::layout::{
    Fixed, Folio4, MAX_ROOT, MIN_ROOT, PATCHES, Patches, Single, WIDTH, code_mask,
};
use super::plan::{PAGE, Plan};
use crate::engine::kit::image::{DamagedImage, Image, ImageArray, LentArrays};

const ROOT: [u8; 3] = *b"roo";
const WORDS: [u8; 3] = *b"wor";
const CODES: [u8; 3] = *b"cod";

/// The forms of single lookups, by their numbers among the parameters.
const SINGLES: [Single; 3] = [Single::Plain, Single::Branches, Single::Flat];

impl Image for Folio4 {
    const FORM: &'static str = "folio";

    fn arrays(&self) -> Vec<ImageArray<'_>> {
        let Self { root, words, codes, fixed, plan, .. } = self;
        let single = SINGLES.iter().position(|single| *single == fixed.single);
        let mut parameters = alloc::vec![
            u32::from(fixed.root_bits()),
            u32::from(fixed.code_bytes),
            fixed.hop_bits,
            fixed.identity,
            single.unwrap_or_default() as u32,
            u32::from(fixed.ahead),
            plan.lists,
            plan.entries,
        ];
        parameters.extend(fixed.patches.pairs().iter().flat_map(|(code, hop)| [*code, *hop]));
        let codes = ImageArray { name: CODES, bytes: codes[..].into() };
        [
            ImageArray::of_parameters(&parameters),
            ImageArray::of_words(ROOT, root),
            ImageArray::of_words(WORDS, words),
            codes,
        ]
        .into()
    }

    fn over(arrays: &LentArrays<'_>) -> Result<Self, DamagedImage> {
        let ([bits, code_bytes, hop_bits, identity, single, ahead, lists, entries], patches) =
            arrays.parameters()?;
        let refuse = |what| Err(DamagedImage::parameters(what));
        let range = u32::from(MIN_ROOT)..=u32::from(MAX_ROOT);
        if !range.contains(&bits) || !(1..=4).contains(&code_bytes) || !(1..=32).contains(&hop_bits)
        {
            return refuse("has a number of bits that no table has");
        }
        let (pairs, rest) = patches.as_chunks::<2>();
        let sound = pairs.iter().all(|[code, _]| *code < 256) && code_bytes == 1;
        if pairs.len() > PATCHES || !rest.is_empty() || !(pairs.is_empty() || sound) {
            return refuse("has exceptions that no table has");
        }
        let Some(single) = SINGLES.get(single as usize).copied().filter(|_| ahead < 2) else {
            return refuse("names an unknown form of lookups");
        };
        let pairs: Vec<(u32, u32)> = pairs.iter().map(|[code, hop]| (*code, *hop)).collect();
        let (root_bits, code_bytes, ahead) = (bits as u8, code_bytes as u8, ahead == 1);
        let fixed = Fixed {
            root_shift: u32::from(WIDTH - root_bits),
            below_root: u32::MAX >> root_bits,
            hop_bits,
            code_bytes,
            code_mask: code_mask(code_bytes),
            identity,
            patches: Patches::new(&pairs),
            single,
            ahead,
        };
        let plan = Plan { root: root_bits, lists, entries, page: PAGE, single, ahead };
        let (root, words, codes) =
            (arrays.array(ROOT)?, arrays.array::<u32>(WORDS)?, arrays.array::<u8>(CODES)?);
        let folio = Self::new(root, words, codes, Arc::new(fixed), plan);
        bounds::verify(folio.slices())?;
        Ok(folio)
    }
}
