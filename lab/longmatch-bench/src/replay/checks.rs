//! Comparison of a live table with its routes, through a reader.

use std::sync::{Mutex, PoisonError};

use longmatch::live::Writer;

use crate::family::TrafficFamily;
use crate::mismatches::MismatchCounts;
use crate::replay::record::OK;
use crate::test_addresses::TestAddresses;
use crate::threads::ThreadError;

/// Results of all comparisons of a replay.
pub(crate) struct Checks<F: TrafficFamily> {
    pub counts: MismatchCounts<F>,
    pub checkpoints: u64,
    /// The first broken invariant of the structure.
    broken: Option<String>,
}

impl<F: TrafficFamily> Checks<F> {
    /// The results before any comparison.
    pub fn new() -> Self {
        Self { counts: MismatchCounts::new(), checkpoints: 0, broken: None }
    }

    /// `ok`, or the first broken invariant.
    pub fn structure(&self) -> String {
        self.broken.clone().unwrap_or_else(|| OK.to_owned())
    }

    /// Checks the structure and looks up both ends of every range of the routes.
    ///
    /// All changes must be committed. In full, it also looks up all [`TestAddresses`] of the routes,
    /// with one thread for each CPU.
    pub fn checkpoint(&mut self, writer: &Writer<F>, full: bool) -> Result<(), ThreadError> {
        self.checkpoints += 1;
        if let Err(corrupt) = writer.check() {
            self.broken.get_or_insert_with(|| corrupt.to_string());
        }
        self.compare(writer, &TestAddresses::ends(writer.rib()), 1)?;
        if !full {
            return Ok(());
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        self.compare(writer, &TestAddresses::new(writer.rib()), threads)
    }

    fn compare(
        &mut self,
        writer: &Writer<F>,
        addresses: &TestAddresses<F>,
        threads: usize,
    ) -> Result<(), ThreadError> {
        let first = Mutex::new(writer.reader());
        let lookup = || {
            let mut reader = first.lock().unwrap_or_else(PoisonError::into_inner).clone();
            move |addrs: &[F::Bits], got: &mut [_]| reader.pin().lookup_batch(addrs, got)
        };
        self.counts.add(addresses.compare(0..addresses.parts(), threads, lookup, |_| ())?);
        Ok(())
    }
}
