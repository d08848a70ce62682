//! Packets forwarded by batch size: Figures 7 and 8.

mod claims;
mod measure;
mod setup;

use super::common::{DIR_24_8, POPTRIE18, SETTING, SPIDER};
use crate::declaration::{ChartKind, Figure, Papers, Rows};
use crate::experiment::{Experiment, Work};

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

/// The engines, each with the paper's name.
const ENGINES: [(&str, &str); 5] = [
    (POPTRIE18, "Poptrie18"),
    (SPIDER, "Spider_16w"),
    ("folio", ""),
    (DIR_24_8, "DIR-24-8"),
    ("dxr:d=18", "D18R"),
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

/// About the rate, in million packets a second, that the paper's card does not exceed.
const CARD: f64 = 30.0;

pub(super) fn forwarding() -> Experiment {
    Experiment {
        name: FIGURE,
        aliases: &["spider-fig7", "forwarding"],
        source: "Spider paper, Figures 7 and 8",
        title: "Packets forwarded by batch size",
        about: "A thread receives a batch of packets, looks up their destinations in one call, rewrites the packets for \
                their neighbours and sends them, before it receives the next batch. Large batches spread the cost of a \
                batch over more packets, and let the engine overlap more lookups; the paper asks how large they must \
                be. They also cost time: a packet waits for the packets after it in its batch, and leaves after the \
                whole batch. The paper argues (IV-B) that parallel lookups add little to this wait, since forwarders \
                already receive packets in batches for the sake of their rate.",
        setting: SETTING,
        work: Work::Own(measure::run, measure::seconds),
        figures: figures(),
        papers: papers(),
        claims: claims::claims(),
    }
}

fn figures() -> Vec<Figure> {
    let rates = |id, title, caption| Figure {
        id,
        title,
        caption,
        chart: ChartKind::Lines("rate", ("packets in a batch", ""), [true, false]),
        rows: Rows::Places,
    };
    vec![
        Figure {
            id: setup::FIGURE,
            title: "The setup",
            caption: "The paper's two machines, and ours: one thread, which is generator and forwarder. Here the rates \
                      include the generation of the packets and exclude a card and its driver.",
            chart: ChartKind::Diagram(&setup::SETUP),
            rows: Rows::Engines,
        },
        rates(
            FIGURE,
            "Packets a second, one thread, full table",
            "Generated packets of minimal size to random destinations. A default route forwards those without another \
             route. Each next hop is a neighbour with an Ethernet address of its own.",
        ),
        rates(
            DEFAULT_ROUTE,
            "Packets a second, one thread, a default route alone",
            "The same packets. With a single route the lookup is as cheap as it can be, so the difference from the full \
             table is the cost of lookups.",
        ),
        rates(
            TWO_THREADS,
            "Packets a second, two threads, full table",
            "The sum of two threads, each with its own queues. The paper's text gives one number: with two cores the \
             rate grows up to a batch of 16, and saturates around 30 million packets a second because of the card. It \
             stands here for every batch of 16 or more.",
        ),
        rates(
            TWO_DEFAULT_ROUTE,
            "Packets a second, two threads, a default route alone",
            "The same with a single route.",
        ),
        rates(
            CAPTURE,
            "Packets a second from a capture, one thread, full table",
            "The packets are the records of a capture in memory and leave into captures whose bytes are counted and \
             dropped, as with `longmatch forward --io pcap`, without disks. The difference from generated packets is the \
             cost of this packet I/O: it allocates and copies each frame, so batches save less.",
        ),
        Figure {
            id: BATCH_TIMES,
            title: "Time of a batch, full table",
            caption: "The time from the reception of a batch to its dispatch: no received packet waits longer. The chart \
                      has the 99th percentile. It excludes the time in which the batch arrives, which depends on the \
                      load: at 30 million packets a second 16 packets arrive within 533 ns.",
            chart: ChartKind::Lines("99th percentile", ("packets in a batch", ""), [true, true]),
            rows: Rows::Places,
        },
    ]
}

fn papers() -> Vec<Papers> {
    let saturated = BATCHES.into_iter().filter(|batch| *batch >= 16);
    let paper = |batch: usize| Papers {
        figure: TWO_THREADS,
        family: "ipv4",
        run: TWO_FULL,
        metric: "rate",
        x: Some(batch as f64),
        values: vec![(POPTRIE18, CARD), (SPIDER, CARD)],
    };
    saturated.map(paper).collect()
}
