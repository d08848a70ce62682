//! pcapng files: sections of blocks, which describe interfaces and their packets.
//!
//! This module finds the block boundaries itself, so that a damaged block does not hide the blocks
//! after it, and skips blocks of any length that hold no packets.

use std::time::Duration;

use pcap_parser::pcapng::{EPB_MAGIC, IDB_MAGIC, SHB_MAGIC, SPB_MAGIC};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    Block, InterfaceDescriptionBlock, SectionHeaderBlock, parse_block_be, parse_block_le,
};

use super::collect::{Captured, Receiver, Take};
use super::link::Link;
use super::pcap::cut_off;
use crate::error::{FeedError, Problem};
use crate::input::Input;

/// Type of the obsolete block for packets.
const OBSOLETE_PACKET: u32 = 2;

/// Bytes of the smallest block: its type, and its length at both ends. In a section header, the
/// byte-order magic follows the first length.
const BLOCK_LEN: usize = 12;

/// Greatest number of interfaces in a section.
const INTERFACES: usize = 1 << 16;

/// Whether an input with these first bytes is pcapng. The first four bytes could be empty lines of
/// a text, but the following length contains a NUL, which text does not.
pub(super) fn looks_like(head: &[u8]) -> bool {
    head.starts_with(&SHB_MAGIC.to_le_bytes()) && head.contains(&0)
}

/// Reads all blocks; `limit` is the greatest length of a block that must be in memory.
pub(super) fn read(
    input: &mut Input<'_>,
    limit: usize,
    receiver: &mut Receiver<impl Take>,
) -> Result<(), FeedError> {
    let mut section = Section { big_endian: false, interfaces: Vec::new() };
    while !receiver.report.stopped {
        if input.fill(BLOCK_LEN) == 0 {
            break;
        }
        let start = input.offset();
        let Some(head) = input.window().first_chunk() else {
            return Err(cut_off(input, BLOCK_LEN));
        };
        let head = section.head(head).map_err(|error| FeedError::byte(start, error))?;
        if head.is_needed() {
            if head.len > limit {
                return Err(FeedError::byte(
                    start,
                    Problem::PacketTooLong { len: head.len, limit },
                ));
            }
            if input.fill(head.len) < head.len {
                return Err(cut_off(input, head.len));
            }
            let result = section.block(head, &input.window()[..head.len], receiver);
            receiver.pass(result.map_err(|error| FeedError::byte(start, error)))?;
            input.consume(head.len);
        } else {
            receiver.report.skipped_blocks += 1;
            receiver.report.obsolete_packets += u64::from(head.kind == OBSOLETE_PACKET);
            let have = input.skip(head.len);
            if have < head.len {
                return Err(FeedError::byte(
                    start,
                    Problem::CaptureCutOff { needed: head.len, have },
                ));
            }
        }
    }
    Ok(())
}

/// The type and the length of a block.
#[derive(Clone, Copy)]
struct Head {
    kind: u32,
    /// Bytes of the whole block.
    len: usize,
}

impl Head {
    /// Whether the block describes a section or an interface, or holds a packet.
    fn is_needed(self) -> bool {
        matches!(self.kind, SHB_MAGIC | IDB_MAGIC | EPB_MAGIC | SPB_MAGIC)
    }
}

/// An interface that received packets.
#[derive(Clone, Copy)]
struct Interface {
    /// Number of the link type.
    link_type: u32,
    /// `None` if the link type is not supported.
    link: Option<Link>,
    /// Snap length: greatest number of captured bytes per packet; 0 means no limit.
    snap: u32,
    /// Ticks of its clock in a second.
    resolution: u64,
    /// Seconds to add to its times.
    offset: i64,
}

/// A section: the part of a file with one byte order and one numbering of interfaces.
struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
}

impl Section {
    /// Parses the type and the length of a block.
    fn head(&mut self, head: &[u8; BLOCK_LEN]) -> Result<Head, Problem> {
        let [k0, k1, k2, k3, l0, l1, l2, l3, order @ ..] = *head;
        if [k0, k1, k2, k3] == SHB_MAGIC.to_le_bytes() {
            self.big_endian = match order {
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                _ => return Err(Problem::ByteOrder),
            };
        }
        let kind = self.number([k0, k1, k2, k3]);
        let len = self.number([l0, l1, l2, l3]);
        if len < BLOCK_LEN as u32 || !len.is_multiple_of(4) {
            return Err(Problem::BlockLength { len });
        }
        Ok(Head { kind, len: len as usize })
    }

    fn number(&self, bytes: [u8; 4]) -> u32 {
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// Parses a complete block.
    fn block(
        &mut self,
        head: Head,
        bytes: &[u8],
        receiver: &mut Receiver<impl Take>,
    ) -> Result<(), Problem> {
        let first = head.len as u32;
        let last = bytes.last_chunk().map_or(0, |last| self.number(*last));
        if first != last {
            return Err(Problem::BlockEnd { first, last });
        }
        let parsed = if self.big_endian { parse_block_be(bytes) } else { parse_block_le(bytes) };
        // The parser requests more bytes if a length inside the block is too great.
        let Ok((_, block)) = parsed else {
            return Err(Problem::Block { kind: head.kind });
        };
        match block {
            Block::SectionHeader(header) => self.begin(&header),
            Block::InterfaceDescription(interface) => self.describe(&interface),
            Block::EnhancedPacket(packet) => {
                let interface = self.interface(packet.if_id)?;
                let link = interface.known(packet.if_id)?;
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let (time, original_len) = (interface.time(ticks), packet.origlen);
                receiver.packet(Captured { link, time, original_len, bytes: packet.packet_data() })
            }
            Block::SimplePacket(packet) => {
                let interface = self.interface(0)?;
                let link = interface.known(0)?;
                let (time, original_len) = (Duration::ZERO, packet.origlen);
                let bytes = interface.snapped(packet.packet_data());
                receiver.packet(Captured { link, time, original_len, bytes })
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, header: &SectionHeaderBlock<'_>) -> Result<(), Problem> {
        let (major, minor) = (header.major_version, header.minor_version);
        if major != 1 {
            return Err(Problem::Version { format: "pcapng", major, minor });
        }
        self.interfaces.clear();
        Ok(())
    }

    fn describe(&mut self, interface: &InterfaceDescriptionBlock<'_>) -> Result<(), Problem> {
        if self.interfaces.len() == INTERFACES {
            return Err(Problem::Interfaces { limit: INTERFACES });
        }
        let link_type = interface.linktype.0 as u32;
        let link = Link::from_number(link_type);
        self.interfaces.push(Interface {
            link_type,
            link,
            snap: interface.snaplen,
            resolution: resolution(interface.if_tsresol),
            // The parser takes every offset as little-endian.
            offset: match interface.ts_offset() {
                offset if self.big_endian => offset.swap_bytes(),
                offset => offset,
            },
        });
        Ok(())
    }

    fn interface(&self, index: u32) -> Result<Interface, Problem> {
        let found = self.interfaces.get(index as usize);
        let interfaces = self.interfaces.len();
        found.copied().ok_or(Problem::NoInterface { index, interfaces })
    }
}

/// Ticks in a second: a power of 10, or of 2 if the highest bit is set. A million where the power is
/// too great.
fn resolution(option: u8) -> u64 {
    const BINARY: u8 = 0x80;
    let base: u64 = if option & BINARY != 0 { 2 } else { 10 };
    base.checked_pow((option & !BINARY).into()).unwrap_or(1_000_000)
}

impl Interface {
    /// Returns the link type. An unsupported link type is an error only if the interface has packets.
    fn known(self, index: u32) -> Result<Link, Problem> {
        let error = Problem::InterfaceLink { index, number: self.link_type };
        self.link.ok_or(error)
    }

    /// The time of a packet; zero where the stated one is before 1970.
    fn time(self, ticks: u64) -> Duration {
        let (seconds, rest) = (ticks / self.resolution, ticks % self.resolution);
        let nanoseconds = u128::from(rest) * 1_000_000_000 / u128::from(self.resolution);
        let seconds = seconds.checked_add_signed(self.offset).unwrap_or(0);
        // The fraction is below a second.
        Duration::new(seconds, nanoseconds as u32)
    }

    /// Removes the padding of a simple packet: its block does not state the captured length.
    fn snapped(self, packet: &[u8]) -> &[u8] {
        match self.snap as usize {
            0 => packet,
            snap => &packet[..snap.min(packet.len())],
        }
    }
}
