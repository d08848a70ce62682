//! The codes of next hops.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::super::survey::{Start, sorted_by_key};
use super::layout::MAX_NEXT_HOP;
use super::leaf::all_ones;

/// The form of a table's codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Form {
    pub name: &'static str,
    /// log2 of the bytes of a code.
    pub log2: u8,
    /// Whether codes are positions in a list of next hops.
    pub is_list: bool,
}

/// The forms, smallest first.
pub(super) const FORMS: [Form; 5] = [
    Form { name: "8", log2: 0, is_list: false },
    Form { name: "book", log2: 0, is_list: true },
    Form { name: "16", log2: 1, is_list: false },
    Form { name: "list", log2: 1, is_list: true },
    Form { name: "32", log2: 2, is_list: false },
];

/// Next hops without a code are rare if they have at most one start in this many.
const WITHOUT_CODE: usize = 1000;

impl Form {
    /// The form of a width, with or without a list.
    pub fn of(log2: u8, is_list: bool) -> Option<Self> {
        FORMS.into_iter().find(|form| (form.log2, form.is_list) == (log2, is_list))
    }

    /// Number of codes: all but all ones, and at most one more than the greatest next hop.
    fn count(self) -> u32 {
        all_ones(self.log2).min(MAX_NEXT_HOP + 1)
    }

    /// Number of next hops in the list.
    pub fn list_len(self) -> usize {
        if self.is_list { 1 << (8 << self.log2) } else { 0 }
    }
}

/// The code of each next hop. Next hops without one are only in entries.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    pub form: Form,
    /// The code of each next hop in the list.
    of: HashMap<u32, u32>,
    /// Whether all next hops of the compiled table have codes.
    pub is_total: bool,
}

impl Codes {
    /// The next hop of code 0 is none; the other codes have the most frequent next hops.
    fn listed(form: Form, frequent: &[u32]) -> Self {
        let count = (form.count() as usize).min(frequent.len() + 1);
        let of = [0].into_iter().chain(frequent.iter().copied()).zip(0..count as u32).collect();
        Self { form, of, is_total: count == frequent.len() + 1 }
    }

    /// The codes of a list of next hops; 0 marks vacant positions.
    pub fn of_list(form: Form, hops: &[u32]) -> Self {
        let listed = hops.iter().copied().zip(0..).filter(|(raw, code)| *raw != 0 || *code == 0);
        Self { form, of: listed.collect(), is_total: false }
    }

    /// Chooses the narrowest codes for a table, or makes those of a requested form.
    pub fn choose(lowest: u32, starts: &[Start<u128>], requested: Option<Form>) -> Self {
        let mut counts: HashMap<u32, u32> = HashMap::new();
        let all = starts.iter().map(|start| start.raw).chain([lowest]).filter(|raw| *raw != 0);
        all.for_each(|raw| *counts.entry(raw).or_default() += 1);
        let mut hops: Vec<u32> = counts.keys().copied().collect();
        hops.sort_unstable();
        let frequent = sorted_by_key(hops.iter().copied(), |raw| u32::MAX - counts[&raw]);
        let uses = |raws: &[u32]| -> usize { raws.iter().map(|raw| counts[raw] as usize).sum() };
        let of_form = |form: Form| {
            let first = match form.is_list {
                true => frequent.len().min(form.count() as usize - 1),
                false => hops.partition_point(|raw| *raw < form.count()),
            };
            let without = if form.is_list { &frequent[first..] } else { &hops[first..] };
            let codes = match form.is_list {
                true => Self::listed(form, &frequent),
                false => Self { form, of: HashMap::new(), is_total: without.is_empty() },
            };
            (codes, uses(without))
        };
        let fits = |form: Form| {
            let (codes, without) = of_form(form);
            (without * WITHOUT_CODE <= starts.len()).then_some(codes)
        };
        match requested {
            Some(form) => of_form(form).0,
            None => FORMS.into_iter().find_map(fits).unwrap_or_else(|| of_form(FORMS[4]).0),
        }
    }

    /// The code of a next hop, if it has one.
    pub fn code(&self, raw: u32) -> Option<u32> {
        match self.form.is_list {
            true => self.of.get(&raw).copied(),
            false => (raw < self.form.count()).then_some(raw),
        }
    }

    /// The next hop of each code of a list.
    pub fn hops(&self) -> Vec<u32> {
        let mut hops = alloc::vec![0; self.form.list_len()];
        self.of.iter().for_each(|(raw, code)| hops[*code as usize] = *raw);
        hops
    }
}
