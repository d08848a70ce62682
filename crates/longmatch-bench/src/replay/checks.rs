//! Compares a table that has changed with its routes, through a reader.

use std::sync::{Mutex, PoisonError};

use longmatch::NextHopId;
use longmatch::live::{Reader, Writer};

use crate::family::BenchFamily;
use crate::probes::Probes;
use crate::replay::record::OK;
use crate::tally::Tally;
use crate::threads::{ThreadError, together};

/// Addresses that are looked up in one call.
const CHUNK: usize = 1024;

/// What all comparisons so far have shown.
pub(crate) struct Checks<F: BenchFamily> {
    pub tally: Tally<F>,
    pub checkpoints: u64,
    /// What the first structure says that was not sound.
    broken: Option<String>,
}

impl<F: BenchFamily> Checks<F> {
    /// Nothing was compared yet.
    pub fn new() -> Self {
        Self { tally: Tally::new(), checkpoints: 0, broken: None }
    }

    /// `ok`, or the first broken invariant.
    pub fn structure(&self) -> String {
        self.broken.clone().unwrap_or_else(|| OK.to_owned())
    }

    /// Checks the structure, and looks up both ends of every range of the routes. Every change is
    /// committed.
    pub fn checkpoint(&mut self, writer: &Writer<F>) {
        self.checkpoints += 1;
        if let Err(corrupt) = writer.check() {
            self.broken.get_or_insert_with(|| corrupt.to_string());
        }
        let mut ends = Ends::new(writer.reader(), &mut self.tally);
        for range in writer.rib().ranges() {
            ends.push(range.first, range.next_hop());
            if range.first != range.last {
                ends.push(range.last, range.next_hop());
            }
        }
        ends.flush();
    }

    /// Looks up every IPv4 address, or addresses at the ends of and inside every IPv6 range, with
    /// as many threads as there are CPUs.
    ///
    /// # Errors
    /// When the system does not start all threads.
    pub fn everything(&mut self, writer: &Writer<F>) -> Result<(), ThreadError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let probes = Probes::new(writer.rib());
        let first = Mutex::new(writer.reader());
        let work = |i| {
            let mut reader = first.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let (mut tally, mut got) = (Tally::new(), Vec::new());
            for part in (0..probes.parts()).skip(i).step_by(threads) {
                let table = reader.pin();
                probes.visit(part, |addrs, expected| {
                    unwritten(&mut got, addrs.len());
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

/// Makes room for answers. What a table leaves unwritten must not look right by chance.
fn unwritten(got: &mut Vec<Option<NextHopId>>, len: usize) {
    got.clear();
    got.resize(len, NextHopId::new(u32::MAX));
}

/// Addresses with their right answers, looked up when there are enough of them.
struct Ends<'s, F: BenchFamily> {
    reader: Reader<F>,
    tally: &'s mut Tally<F>,
    addrs: Vec<F::Bits>,
    expected: Vec<Option<NextHopId>>,
    got: Vec<Option<NextHopId>>,
}

impl<'s, F: BenchFamily> Ends<'s, F> {
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
        unwritten(&mut self.got, self.addrs.len());
        self.reader.pin().lookup_batch(&self.addrs, &mut self.got);
        self.tally.compare(&self.addrs, &self.expected, &self.got);
        self.addrs.clear();
        self.expected.clear();
    }
}
