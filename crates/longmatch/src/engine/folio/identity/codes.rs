//! Codes for next hops.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::super::book::Book;
use super::super::survey::Survey;
use super::layout::{Decode, Fixed, PATCHES, Vectors};

/// The forms of the codes of pages. The greatest code of each is the escape.
///
/// ```
/// use longmatch::engine::folio::identity::{CodeForm, Config, Pages};
/// use longmatch::{Engine, Rib, Structure};
/// let config = Config { codes: Some(CodeForm::Half), ..Config::default() };
/// let pages = Pages::compile(&Rib::new(), &config)?;
/// assert!(pages.variant().starts_with("identity:codes=16:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeForm {
    /// 8 bits: next hops, except a few.
    Byte,
    /// 8 bits with the next hops of codes in a book.
    Book,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
}

impl CodeForm {
    pub(super) const ALL: [Self; 4] = [Self::Byte, Self::Book, Self::Half, Self::Word];

    /// Name among the options: bits of a code, or `book`.
    ///
    /// ```
    /// use longmatch::engine::folio::identity::CodeForm;
    /// assert_eq!(CodeForm::Half.name(), "16");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Byte => "8",
            Self::Book => "book",
            Self::Half => "16",
            Self::Word => "32",
        }
    }

    /// log2 of the bytes of a code.
    pub(super) const fn log2(self) -> u8 {
        match self {
            Self::Byte | Self::Book => 0,
            Self::Half => 1,
            Self::Word => 2,
        }
    }

    /// Number of codes that do not escape.
    const fn codes(self) -> u32 {
        u32::MAX >> (32 - (8 << self.log2()))
    }
}

/// Codes for next hops: the inverse of [`Decode`].
#[derive(Debug)]
pub(super) struct Codes {
    pub log2: u8,
    escape: u32,
    inverse: Inverse,
}

#[derive(Debug)]
enum Inverse {
    /// A next hop below the escape is its own code, except these: a next hop and its code, or none.
    Own(Vec<(u32, Option<u32>)>),
    /// The codes of next hops.
    Table(HashMap<u32, u32>),
}

/// Next hops without a code are rare if they have at most one part in this many of the weight.
const WITHOUT_CODE: u64 = 50;
/// Next hops that are too large to be their own codes of 16 bits escape if they have at most one
/// part in this many of the weight. A table of next hops takes a third of the rate: it displaces
/// the root from the second-level cache, and is one more read.
const ABOVE_CODES: u64 = 25;

/// The next hops of a table with their weights, heaviest first.
///
/// A weight is the share of the starts plus the share of the addresses, in units of 2^-32: routed
/// traffic meets next hops of many routes, uniform traffic those of large ones.
pub(super) struct Frequencies(Vec<(u32, u64)>);

impl Frequencies {
    pub fn of(survey: &Survey<u32>) -> Self {
        let (mut at, mut raw) = (0, survey.lowest);
        let starts = survey.starts.len() as u64 + 1;
        let mut all: Vec<(u32, u64)> = Vec::with_capacity(survey.starts.len() + 2);
        for start in &survey.starts {
            all.push((raw, u64::from(start.at) - at + (1 << 32) / starts));
            (at, raw) = (start.at.into(), start.raw);
        }
        // An address without a route is an answer too.
        all.extend([(raw, (1 << 32) - at + (1 << 32) / starts), (0, 0)]);
        all.sort_unstable();
        let weight = |same: &[(u32, u64)]| (same[0].0, same.iter().map(|it| it.1).sum());
        let mut weights: Vec<_> = all.chunk_by(|a, b| a.0 == b.0).map(weight).collect();
        weights.sort_unstable_by_key(|(raw, weight)| (u64::MAX - weight, *raw));
        Self(weights)
    }

    /// The weight of all next hops but the `codes` heaviest.
    fn without(&self, codes: usize) -> u64 {
        self.0.iter().skip(codes).map(|(_, weight)| weight).sum()
    }

    /// The weight of the next hops that are too large to be their own codes.
    fn above(&self, codes: usize) -> u64 {
        self.0.iter().filter(|(raw, _)| *raw as usize >= codes).map(|(_, weight)| weight).sum()
    }

    /// The narrowest codes that suffice for nearly all lookups.
    pub fn form(&self) -> CodeForm {
        let all = self.without(0);
        let fits = |codes: u32| self.without(codes as usize) * WITHOUT_CODE <= all;
        let byte = CodeForm::Byte.codes();
        if !fits(byte) {
            return if fits(CodeForm::Half.codes()) { CodeForm::Half } else { CodeForm::Word };
        }
        let above = self.0.iter().filter(|(raw, _)| *raw >= byte).count();
        let widest = self.0.iter().map(|(raw, _)| *raw).max().unwrap_or(0);
        match above > PATCHES || widest > u16::MAX.into() {
            true => CodeForm::Book,
            false => CodeForm::Byte,
        }
    }

    /// Assigns codes of a form.
    pub fn decode(&self, form: CodeForm) -> Decode {
        let codes = form.codes() as usize;
        let widest = self.0.iter().map(|(raw, _)| *raw).max().unwrap_or(0);
        let own = form == CodeForm::Half && self.above(codes) * ABOVE_CODES <= self.without(0);
        if form == CodeForm::Word || (widest as usize) < codes || own {
            return Decode::Raw;
        }
        if form == CodeForm::Byte {
            return self.patches();
        }
        let mut hops = vec![0; codes + 1];
        let most = self.0.iter().take(codes);
        hops.iter_mut().zip(most).for_each(|(code, (raw, _))| *code = *raw);
        let mut book = [0; 256];
        let narrow = book.iter_mut().zip(&hops).all(|(code, raw)| {
            *code = *raw as u16;
            *raw <= u16::MAX.into()
        });
        let vectors = match form {
            CodeForm::Book if narrow => Vectors::Book(Box::new(Book::new(book))),
            _ => Vectors::Gather,
        };
        Decode::Table(hops.into(), vectors)
    }

    /// The heaviest next hops beyond the codes take the codes of lighter ones.
    fn patches(&self) -> Decode {
        let codes = CodeForm::Byte.codes();
        let narrow = |raw: &u32| *raw <= u16::MAX.into();
        let above = self.0.iter().filter(|(raw, _)| *raw >= codes && narrow(raw)).take(PATCHES);
        let mut weight = vec![0; codes as usize];
        for (raw, own) in &self.0 {
            if let Some(weight) = weight.get_mut(*raw as usize) {
                *weight = *own;
            }
        }
        // Not the code of "no route".
        let mut light: Vec<u32> = (1..codes).collect();
        light.sort_by_key(|raw| weight[*raw as usize]);
        let pairs = above.zip(light).filter(|((_, own), code)| *own > weight[*code as usize]);
        let patches: Vec<_> = pairs.map(|((raw, _), code)| (code, *raw)).collect();
        if patches.is_empty() {
            return Decode::Raw;
        }
        let mut hops: Box<[u32]> = (0..=codes).collect();
        patches.iter().for_each(|(code, raw)| hops[*code as usize] = *raw);
        hops[codes as usize] = 0;
        Decode::Table(hops, Vectors::Patches(patches))
    }
}

impl Codes {
    /// The codes of a table.
    pub fn of(fixed: &Fixed) -> Self {
        let escape = fixed.escape_code;
        let mut inverse = match &fixed.decode {
            Decode::Raw => Inverse::Own(Vec::new()),
            Decode::Table(_, Vectors::Patches(patches)) => {
                let patch = |(code, raw): &(u32, u32)| [(*raw, Some(*code)), (*code, None)];
                Inverse::Own(patches.iter().flat_map(patch).collect())
            }
            Decode::Table(..) => Inverse::Table(HashMap::new()),
        };
        if let Inverse::Table(table) = &mut inverse {
            // Codes that are not in use decode to 0; the first one counts.
            for code in 0..escape {
                table.entry(fixed.decode(code)).or_insert(code);
            }
        }
        Self { log2: fixed.log2, escape, inverse }
    }

    /// The code of a next hop; `None` if it has none and escapes.
    #[inline]
    pub fn code(&self, raw: u32) -> Option<u32> {
        match &self.inverse {
            Inverse::Own(except) => match except.iter().find(|(hop, _)| *hop == raw) {
                Some((_, code)) => *code,
                None => (raw < self.escape).then_some(raw),
            },
            Inverse::Table(table) => table.get(&raw).copied(),
        }
    }

    /// The code that escapes.
    pub fn escape(&self) -> u32 {
        self.escape
    }
}
