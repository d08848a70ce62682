//! Counts of packets.

use std::ops::AddAssign;

/// Packets and their bytes: those of whole frames, without the checksum that follows a frame on a wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Count {
    #[inline]
    pub(crate) fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }

    #[inline]
    pub(crate) fn subtract(&mut self, bytes: usize) {
        self.packets -= 1;
        self.bytes = self.bytes.saturating_sub(bytes as u64);
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}
