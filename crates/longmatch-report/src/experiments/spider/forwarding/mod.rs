//! Packets forwarded by batch size: Figures 7 and 8.

mod measure;

pub(in super::super) use measure::{run, seconds};

use super::{D18R, DIR_24_8, POPTRIE18, SPIDER};

const FIGURE: &str = "spider-fig8";
const DEFAULT_ROUTE: &str = "spider-fig8-default";
const TWO_THREADS: &str = "spider-fig8-two";
const TWO_DEFAULT_ROUTE: &str = "spider-fig8-two-default";
const CAPTURE: &str = "spider-fig8-capture";
const BATCH_TIMES: &str = "spider-fig8-latency";

/// The run configurations: one for each figure of rates.
const ONE_FULL: &str = "one thread, full table";
const ONE_DEFAULT: &str = "one thread, default route";
const TWO_FULL: &str = "two threads, full table";
const TWO_DEFAULT: &str = "two threads, default route";
const FROM_CAPTURE: &str = "from a capture";

/// The engines, each with the paper's name. The paper's forwarder looks up one address after the other with Poptrie; its
/// batches are ours.
const ENGINES: [(&str, &str); 6] = [
    ("poptrie:s=18:batch=each", "Poptrie18"),
    (SPIDER, "Spider_16w"),
    ("folio", ""),
    (POPTRIE18, ""),
    (DIR_24_8, "DIR-24-8"),
    (D18R, "D18R"),
];
/// How many of them a quick report has.
const QUICK_ENGINES: usize = 3;
/// How many of them are measured with two threads and from a capture.
const FEW_ENGINES: usize = 3;
const QUICK_FEW_ENGINES: usize = 2;

/// Packets in a batch.
const BATCHES: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const QUICK_BATCHES: [usize; 4] = [1, 16, 32, 256];

/// The shares of batches in the figure of their times.
const SHARES: [(&str, f64); 4] = [
    ("50th percentile", 0.5),
    ("90th percentile", 0.9),
    ("99th percentile", 0.99),
    ("99.9th percentile", 0.999),
];
