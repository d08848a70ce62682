//! Comparison of a live table with its routes, through a reader.

use std::sync::{Mutex, PoisonError};

use longmatch::NextHopId;
use longmatch::live::{Reader, Writer};

use crate::family::TrafficFamily;
use crate::replay::record::OK;
use crate::tally::{Tally, UNWRITTEN};
use crate::test_addresses::TestAddresses;
use crate::threads::{ThreadError, together};

/// Addresses in one call of a lookup.
const CHUNK: usize = 1024;

/// Results of all comparisons of a replay.
pub(crate) struct Checks<F: TrafficFamily> {
    pub tally: Tally<F>,
    pub checkpoints: u64,
    /// The first broken invariant of the structure.
    broken: Option<String>,
}

impl<F: TrafficFamily> Checks<F> {
    /// The results before any comparison.
    pub fn new() -> Self {
        Self { tally: Tally::new(), checkpoints: 0, broken: None }
    }

    /// `ok`, or the first broken invariant.
    pub fn structure(&self) -> String {
        self.broken.clone().unwrap_or_else(|| OK.to_owned())
    }

    /// Checks the structure and looks up both ends of every range of the routes.
    ///
    /// All changes must be committed.
    pub fn checkpoint(&mut self, writer: &Writer<F>) {
        self.checkpoints += 1;
        if let Err(corrupt) = writer.check() {
            self.broken.get_or_insert_with(|| corrupt.to_string());
        }
        let mut ends = RangeEnds::new(writer.reader(), &mut self.tally);
        for range in writer.rib().ranges() {
            ends.push(range.first, range.next_hop());
            if range.first != range.last {
                ends.push(range.last, range.next_hop());
            }
        }
        ends.flush();
    }

    /// Looks up all [`TestAddresses`] of the routes, with one thread for each CPU.
    ///
    /// # Errors
    /// If the system does not start all threads.
    pub fn all_addresses(&mut self, writer: &Writer<F>) -> Result<(), ThreadError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let addresses = TestAddresses::new(writer.rib());
        let first = Mutex::new(writer.reader());
        let work = |i| {
            let mut reader = first.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let (mut tally, mut got) = (Tally::new(), Vec::new());
            for part in (0..addresses.parts()).skip(i).step_by(threads) {
                let table = reader.pin();
                addresses.visit(part, |addrs, expected| {
                    got.clear();
                    got.resize(addrs.len(), UNWRITTEN);
                    table.lookup_batch(addrs, &mut got);
                    tally.compare(addrs, expected, &got);
                });
            }
            tally
        };
        together(threads, work)?.into_iter().for_each(|tally| self.tally.add(tally));
        Ok(())
    }
}

/// Ends of ranges with their right answers, looked up in chunks.
struct RangeEnds<'s, F: TrafficFamily> {
    reader: Reader<F>,
    tally: &'s mut Tally<F>,
    addrs: Vec<F::Bits>,
    expected: Vec<Option<NextHopId>>,
    got: Vec<Option<NextHopId>>,
}

impl<'s, F: TrafficFamily> RangeEnds<'s, F> {
    fn new(reader: Reader<F>, tally: &'s mut Tally<F>) -> Self {
        Self { reader, tally, addrs: Vec::new(), expected: Vec::new(), got: Vec::new() }
    }

    fn push(&mut self, addr: F::Bits, answer: Option<NextHopId>) {
        self.addrs.push(addr);
        self.expected.push(answer);
        if self.addrs.len() == CHUNK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.got.clear();
        self.got.resize(self.addrs.len(), UNWRITTEN);
        self.reader.pin().lookup_batch(&self.addrs, &mut self.got);
        self.tally.compare(&self.addrs, &self.expected, &self.got);
        self.addrs.clear();
        self.expected.clear();
    }
}
