//! The outline of a plan: what it would store, and how long its lookups would take.

use super::super::numbers::sqrt;
use super::layout::PLACES;

/// The numbers of the arrays in an outline.
pub(super) const PAGES: usize = 0;
pub(super) const CODES: usize = 1;
pub(super) const LINES: usize = 2;
pub(super) const MINIS: usize = 3;

/// The units of a plan's arrays, and its starts by the kind of their leaf.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outline {
    /// Estimated units, in which blocks share lines.
    units: [f32; 4],
    /// Upper bounds, as if pages and leaves shared nothing.
    most: [u64; 4],
    /// Bytes of a unit.
    sizes: [u8; 4],
    pub codes: f32,
    pub minis: f32,
    pub lines: f32,
    pub rare: f32,
    /// A bit for each level that a page leads to.
    pub levels: u128,
}

impl Outline {
    /// No units. Codes have `1 << log2` bytes.
    pub fn new(log2: u8) -> Self {
        Self { sizes: [4, 1 << log2, 64, 16], ..Self::default() }
    }

    /// Adds estimated units to an array, and to its upper bound.
    pub fn add(&mut self, array: usize, most: u64, units: f32) {
        self.most[array] += most;
        self.units[array] += units;
    }

    /// Adds units that share nothing.
    pub fn add_whole(&mut self, array: usize, units: u64) {
        self.add(array, units, units as f32);
    }

    /// Estimated bytes of pages and leaves.
    pub fn bytes(&self) -> f32 {
        self.units.iter().zip(self.sizes).map(|(units, size)| units * f32::from(size)).sum()
    }

    /// An upper bound of their bytes.
    pub fn bound(&self) -> u64 {
        self.most.iter().zip(self.sizes).map(|(units, size)| units * u64::from(size)).sum()
    }

    /// Whether every array has places for its estimated units.
    pub fn has_places(&self) -> bool {
        self.units.iter().all(|units| *units <= PLACES as f32)
    }

    /// Whether the array of pages has places for its exact number of entries: no page is stored twice.
    pub fn has_places_for_pages(&self) -> bool {
        self.most[PAGES] <= PLACES as u64
    }

    /// The outline of a table that has `times` as many starts.
    pub fn times(self, times: f32) -> Self {
        Self { units: self.units.map(|units| units * times), ..self }
    }

    /// The time of lookups with this number of usual steps: the product of cycles in a batch and of cycles
    /// one by one, with less weight, of an address in the table.
    pub fn time(&self, steps: u8) -> f32 {
        let all = (self.codes + self.minis + self.lines + self.rare).max(1.0);
        let share = |starts: f32| starts / all;
        let is_used = |starts: f32| if share(starts) > 0.001 { 1.0 } else { 0.0 };
        // The cycles of a read by the bytes that are read (Zen 3).
        let read = 1.0 + 0.7 * sqrt(f64::from(self.bytes() / 131_072.0)) as f32;
        let steps = f32::from(steps) * (3.0 + read);
        let leaf = is_used(self.codes) * (2.0 + read)
            + is_used(self.minis) * (8.0 + 2.0 * read)
            + share(self.lines) * (8.0 + read);
        let batch = 5.0 + steps + leaf + share(self.rare) * (60.0 + 6.0 * read);
        let mixed = 1.0 - share(self.codes.max(self.minis).max(self.lines));
        let one = 15.0 + steps + read + 25.0 * mixed + 8.0 * share(self.lines + self.minis);
        let one = one + 100.0 * share(self.rare);
        batch * sqrt(f64::from(one)) as f32
    }
}
