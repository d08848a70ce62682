//! Verifies the invariants of `layout.rs`, and every answer against the RIB.
//!
//! One walk in order of addresses counts the chunks and compares each change of next hop with the
//! RIB's disjoint ranges.

use alloc::format;
use alloc::string::String;

use super::NAME;
use super::layout::{CHUNK, LONGER, PADDING, Sail};
use crate::engine::kit::Corrupt;
use crate::engine::kit::Expected;
use crate::net::Ipv4;
use crate::rib::Rib;

pub(super) fn check(sail: &Sail, rib: &Rib<Ipv4>) -> Result<(), Corrupt> {
    let Sail { bcn16, bn24, c24, n32, .. } = sail;
    let chunks24 = c24.len() / CHUNK;
    let chunks32 = n32.len().saturating_sub(PADDING) / CHUNK;
    let expected = [(1 << 16) + PADDING, chunks24 * CHUNK + PADDING, chunks32 * CHUNK + PADDING];
    if [bcn16.len(), bn24.len(), n32.len()] != expected || c24.len() != chunks24 * CHUNK {
        return corrupt(format!(
            "{}, {}, {} and {} entries in BCN16, BN24, C24 and N32",
            bcn16.len(),
            bn24.len(),
            c24.len(),
            n32.len()
        ));
    }
    if [bcn16, bn24, n32].iter().any(|array| array.last() != Some(&0)) {
        return corrupt("the padding is not zero".into());
    }
    let expected = Expected::new(NAME, rib);
    let mut walk = Walk { sail, expected, chunks24: 0, chunks32: 0 };
    for (i, bcn) in (0u32..1 << 16).zip(bcn16) {
        walk.level16(*bcn, i << 16)?;
    }
    walk.expected.finish()?;
    if (walk.chunks24, walk.chunks32) != (chunks24, chunks32) {
        return corrupt(format!(
            "{} of {chunks24} chunks of level 24 and {} of {chunks32} of level 32 are reached",
            walk.chunks24, walk.chunks32
        ));
    }
    Ok(())
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

struct Walk<'a> {
    sail: &'a Sail,
    expected: Expected<'a, Ipv4>,
    /// Chunks visited so far.
    chunks24: usize,
    chunks32: usize,
}

impl Walk<'_> {
    fn level16(&mut self, bcn: u16, first: u32) -> Result<(), Corrupt> {
        if bcn & LONGER == 0 {
            return self.expected.expect(first, bcn.into());
        }
        let chunk = usize::from(bcn & !LONGER);
        if chunk != self.chunks24 || chunk >= self.sail.c24.len() / CHUNK {
            return corrupt(format!("chunk {chunk} of level 24 after {} chunks", self.chunks24));
        }
        self.chunks24 += 1;
        for i in 0..CHUNK {
            self.level24(chunk * CHUNK + i, first | (i as u32) << 8)?;
        }
        Ok(())
    }

    fn level24(&mut self, index: usize, first: u32) -> Result<(), Corrupt> {
        let (bn, chunk) = (self.sail.bn24[index], self.sail.c24[index] as usize);
        if bn & LONGER == 0 {
            if chunk != 0 {
                return corrupt(format!("entry {index} of level 24 has a next hop and a chunk"));
            }
            return self.expected.expect(first, bn.into());
        }
        if bn != LONGER {
            return corrupt(format!("entry {index} of level 24 is {bn:#x}"));
        }
        if chunk != self.chunks32 || (chunk + 1) * CHUNK > self.sail.n32.len() - PADDING {
            return corrupt(format!("chunk {chunk} of level 32 after {} chunks", self.chunks32));
        }
        self.chunks32 += 1;
        for i in 0..CHUNK {
            let hop = self.sail.n32[chunk * CHUNK + i];
            if hop & LONGER != 0 {
                return corrupt(format!("next hop {hop} in level 32"));
            }
            self.expected.expect(first | i as u32, hop.into())?;
        }
        Ok(())
    }
}
