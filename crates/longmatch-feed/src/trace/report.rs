//! What reading a trace did.

use std::fmt;

use crate::decompress::Codec;
use crate::error::FeedError;
use crate::report::were_left_out;

/// What destinations were read from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum TraceFormat {
    /// A list of addresses, one a line.
    #[default]
    List,
    /// A packet capture, as libpcap writes it.
    Pcap,
    /// A packet capture of the next generation.
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

/// What was read of a trace, and what was left out and why.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TraceReport {
    /// What the destinations were read from.
    pub format: TraceFormat,
    /// How the input was compressed.
    pub codec: Option<Codec>,
    /// Bytes of the input.
    pub input_bytes: u64,
    /// The same bytes decompressed.
    pub bytes: u64,
    /// Lines of a list.
    pub lines: u64,
    /// Packets of a capture: those with a destination and those in the next two numbers.
    pub packets: u64,
    /// Packets without an IP header: other protocols, such as ARP.
    pub other_protocols: u64,
    /// Packets that end before the destination: cut off by the snap length, or empty.
    pub truncated: u64,
    /// pcapng blocks that hold no packets and describe no interface.
    pub skipped_blocks: u64,
    /// Those of them that do hold a packet, in a form that is obsolete and not read here.
    pub obsolete_packets: u64,
    /// Whether reading stopped at [`crate::Limits::destinations`], before the end of the input.
    pub stopped: bool,
    /// Damaged lines or blocks that a lenient load left out.
    pub damaged: u64,
    /// The first damage that a lenient load met.
    pub first_damage: Option<FeedError>,
    /// Whether a lenient load could not read the input to its end.
    pub cut_off: bool,
}

impl TraceReport {
    /// Notes damage that does not stop a lenient load.
    pub(super) fn note_damage(&mut self, error: FeedError) {
        self.damaged += 1;
        self.first_damage.get_or_insert(error);
    }

    /// What a user should be told: one sentence each.
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
                "it has more destinations than are kept: the first ones were taken".to_owned(),
            );
        }
        all
    }
}
