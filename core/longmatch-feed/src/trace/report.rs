//! The report of reading a trace.

use std::fmt;

use crate::codec::Codec;
use crate::error::FeedError;
use crate::report::were_left_out;

/// Format of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum TraceFormat {
    /// A list of addresses, one per line.
    #[default]
    List,
    /// A packet capture in the format of libpcap.
    Pcap,
    /// A packet capture in the format pcapng.
    PcapNg,
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "list of addresses",
            Self::Pcap => "pcap",
            Self::PcapNg => "pcapng",
        })
    }
}

/// Counts of the packets, lines and damage of a trace.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TraceReport {
    /// Format of the trace.
    pub format: TraceFormat,
    /// Compression of the input.
    pub codec: Option<Codec>,
    /// Bytes of the input.
    pub input_bytes: u64,
    /// Bytes of the input after decompression.
    pub bytes: u64,
    /// Lines of a list.
    pub lines: u64,
    /// Packets of a capture: with a destination, or counted in one of the next two fields.
    pub packets: u64,
    /// Packets without an IP header: other protocols, such as ARP.
    pub other_protocols: u64,
    /// Packets that end before the destination: truncated by the snap length, or empty.
    pub truncated: u64,
    /// Skipped pcapng blocks, which describe no interface and hold no supported packet.
    pub skipped_blocks: u64,
    /// Skipped pcapng blocks that hold a packet in an obsolete, unsupported form.
    pub obsolete_packets: u64,
    /// Whether reading stopped at [`crate::Limits::destinations`], before the end of the input.
    pub stopped: bool,
    /// Damaged lines or blocks that a lenient load skipped.
    pub damaged: u64,
    /// The first damage in a lenient load.
    pub first_damage: Option<FeedError>,
    /// Whether a lenient load stopped before the end of the input.
    pub cut_off: bool,
}

impl TraceReport {
    /// Records damage that does not stop a lenient load.
    pub(super) fn note_damage(&mut self, error: FeedError) {
        self.damaged += 1;
        self.first_damage.get_or_insert(error);
    }

    /// Returns warnings for the user, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let counts = [
            (
                self.other_protocols,
                "packet of another protocol than IP",
                "packets of other protocols than IP",
                "",
            ),
            (self.truncated, "packet", "packets", ": the destination address is cut off"),
            (
                self.obsolete_packets,
                "packet in a block of an obsolete type",
                "packets in blocks of an obsolete type",
                ": editcap can convert the file",
            ),
            (self.damaged, "damaged line or block", "damaged lines or blocks", ""),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let mut all: Vec<_> = counts
            .map(|(count, one, many, reason)| were_left_out(count, one, many) + reason)
            .collect();
        if self.cut_off {
            all.push("the input could not be read to its end".to_owned());
        }
        if self.stopped {
            all.push(
                "the input has more destinations than the limit: only the first ones were kept"
                    .to_owned(),
            );
        }
        all
    }
}
