//! Codes for next hops.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::super::book::Book;
use super::super::survey::{Survey, sorted_by_key};
use super::layout::{Decode, Fixed, PATCHES};
use crate::net::Bits;

/// The forms of the codes of pages. The escape is one of the codes.
///
/// ```
/// use longmatch::engine::folio::{CodeForm, Config};
/// use longmatch::{EngineSpec, Fib, Ipv4, Rib};
/// let config = Config { codes: Some(CodeForm::Half), ..Config::default() };
/// let fib = Fib::compile(&Rib::<Ipv4>::new(), EngineSpec::from(config))?;
/// assert!(fib.variant().starts_with("codes=16:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeForm {
    /// 8 bits: next hops, or most of them.
    Byte,
    /// 8 bits with the next hops of codes in a book.
    Book,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
}

impl CodeForm {
    pub(in super::super) const ALL: [Self; 4] = [Self::Byte, Self::Book, Self::Half, Self::Word];

    /// Name among the options: bits of a code, or `book`.
    ///
    /// ```
    /// use longmatch::engine::folio::CodeForm;
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

/// Next hops without a code are rare if they have at most one start in this many.
const WITHOUT_CODE: usize = 50;

/// The next hops of a table by their number of starts, most first.
pub(super) struct Frequencies(Vec<(u32, u32)>);

impl Frequencies {
    pub fn of<B: Bits>(survey: &Survey<B>) -> Self {
        let mut all: Vec<u32> = survey.starts.iter().map(|start| start.raw).collect();
        // An address without a route is an answer too.
        all.extend([survey.lowest, 0]);
        all.sort_unstable();
        let mut counts: Vec<(u32, u32)> =
            all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect();
        counts.sort_unstable_by_key(|(raw, count)| (u32::MAX - count, *raw));
        Self(counts)
    }

    /// Number of starts of all next hops but the `codes` most frequent.
    fn without(&self, codes: usize) -> usize {
        self.0.iter().skip(codes).map(|(_, count)| *count as usize).sum()
    }

    /// The narrowest codes that suffice for nearly all starts.
    pub fn form(&self) -> CodeForm {
        let starts = self.without(0);
        let fits = |codes: u32| self.without(codes as usize) * WITHOUT_CODE <= starts;
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
        let codes = form.codes();
        let widest = self.0.iter().map(|(raw, _)| *raw).max().unwrap_or(0);
        match form {
            CodeForm::Word => Decode::Raw,
            _ if widest < codes => Decode::Raw,
            CodeForm::Byte => self.patches(),
            CodeForm::Book if widest <= u16::MAX.into() => {
                let mut book = [0; 256];
                let most = self.0.iter().take(codes as usize);
                book.iter_mut().zip(most).for_each(|(code, (raw, _))| *code = *raw as u16);
                Decode::Book(Box::new(Book::new(book)))
            }
            CodeForm::Book | CodeForm::Half => {
                // The escape has an entry too, which vectors read and nothing uses.
                let mut table = vec![0; codes as usize + 1];
                let most = self.0.iter().take(codes as usize);
                table.iter_mut().zip(most).for_each(|(code, (raw, _))| *code = *raw);
                Decode::Table(table.into())
            }
        }
    }

    /// The most frequent next hops beyond the codes take the codes of less frequent ones.
    fn patches(&self) -> Decode {
        let codes = CodeForm::Byte.codes();
        let narrow = |raw: &u32| *raw <= u16::MAX.into();
        let above = self.0.iter().filter(|(raw, _)| *raw >= codes && narrow(raw)).take(PATCHES);
        let mut count = vec![0; codes as usize];
        for (raw, starts) in &self.0 {
            if let Some(count) = count.get_mut(*raw as usize) {
                *count = *starts;
            }
        }
        // Not the code of "no route".
        let rare = sorted_by_key(1..codes, |raw| count[raw as usize]);
        let pairs = above.zip(rare).filter(|((_, starts), code)| *starts > count[*code as usize]);
        let patches: Vec<_> = pairs.map(|((raw, _), code)| (code as u8, *raw as u16)).collect();
        if patches.is_empty() { Decode::Raw } else { Decode::Patches(patches) }
    }
}

impl Codes {
    /// The codes of a table.
    pub fn of(fixed: &Fixed) -> Self {
        let escape = fixed.escape_code();
        let mut inverse = match &fixed.decode {
            Decode::Raw => Inverse::Own(Vec::new()),
            Decode::Patches(patches) => {
                let patch = |(code, raw): &(u8, u16)| {
                    let (code, raw) = (u32::from(*code), u32::from(*raw));
                    [(raw, Some(code)), (code, None)]
                };
                Inverse::Own(patches.iter().flat_map(patch).collect())
            }
            Decode::Book(_) | Decode::Table(_) => Inverse::Table(HashMap::new()),
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
