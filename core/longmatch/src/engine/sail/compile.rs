//! Compiles a RIB to SAIL: leaf pushing to the levels 16, 24 and 32. A level's routes are pushed to
//! the next one wherever a longer route lies inside.

use super::layout::{CHUNK, LONGER, MAX_CHUNKS_24, MAX_CHUNKS_32, MAX_NEXT_HOP, PADDING, Sail};
use super::{Config, EXPECTED, MODES, NAME};
use crate::engine::kit::{CompileError, Shape};
use crate::mem::FallibleVec;
use crate::net::{Ipv4, NextHopId};
use crate::rib::{Block, Rib};

pub(super) fn compile(rib: &Rib<Ipv4>, config: &Config) -> Result<Sail, CompileError> {
    let batch = config.batch.among(MODES, NAME, EXPECTED)?;
    let id = rib.max_next_hop();
    if id > MAX_NEXT_HOP {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit: MAX_NEXT_HOP });
    }
    let mut compiler = Compiler {
        bcn16: FallibleVec::new(),
        bn24: FallibleVec::new(),
        c24: FallibleVec::new(),
        n32: FallibleVec::new(),
    };
    compiler.level16(rib.root_block());
    let Compiler { mut bcn16, mut bn24, c24, mut n32 } = compiler;
    within("chunks of level 24 (C16 has 15 bits)", c24.len() / CHUNK, MAX_CHUNKS_24)?;
    within("chunks of level 32", n32.len() / CHUNK, MAX_CHUNKS_32)?;
    for array in [&mut bcn16, &mut bn24, &mut n32] {
        array.fill(0, PADDING);
    }
    Ok(Sail {
        bcn16: bcn16.finish().map_err(CompileError::memory(NAME))?.into(),
        bn24: bn24.finish().map_err(CompileError::memory(NAME))?.into(),
        c24: c24.finish().map_err(CompileError::memory(NAME))?.into(),
        n32: n32.finish().map_err(CompileError::memory(NAME))?.into(),
        batch,
    })
}

/// Upper bound on the bytes of the arrays: a chunk for every block that routes divide.
pub(super) fn estimate(shape: &Shape) -> u64 {
    let chunk = CHUNK as u64;
    let level24 = chunk * (size_of::<u16>() + size_of::<u32>()) as u64;
    let level32 = chunk * size_of::<u16>() as u64;
    let bcn16 = (size_of::<u16>() as u64) << 16;
    bcn16 + shape.blocks(16) * level24 + shape.blocks(24) * level32
}

fn within(what: &'static str, count: usize, limit: usize) -> Result<(), CompileError> {
    if count <= limit {
        Ok(())
    } else {
        Err(CompileError::TooMany { engine: NAME, what, limit: limit as u64 })
    }
}

struct Compiler {
    bcn16: FallibleVec<u16>,
    bn24: FallibleVec<u16>,
    c24: FallibleVec<u32>,
    n32: FallibleVec<u16>,
}

impl Compiler {
    fn level16(&mut self, root: Block<'_, Ipv4>) {
        root.for_each_slots(16, |slots| {
            let entry = match slots.below {
                None => NextHopId::to_raw(slots.next_hop) as u16,
                // One chunk beyond the limit proves the error; the rest need not be built.
                Some(_) if self.c24.len() / CHUNK > MAX_CHUNKS_24 => LONGER,
                Some(below) => LONGER | self.level24(below),
            };
            self.bcn16.fill(entry, slots.count);
        });
    }

    /// Builds a chunk of level 24 and returns its number. It has 15 bits unless there are too many
    /// chunks.
    fn level24(&mut self, block: Block<'_, Ipv4>) -> u16 {
        let number = self.c24.len() / CHUNK;
        block.for_each_slots(8, |slots| {
            let (bn, c) = match slots.below {
                None => (NextHopId::to_raw(slots.next_hop) as u16, 0),
                Some(below) => (LONGER, self.level32(below)),
            };
            self.bn24.fill(bn, slots.count);
            self.c24.fill(c, slots.count);
        });
        number as u16
    }

    /// Builds a chunk of level 32 and returns its number.
    fn level32(&mut self, block: Block<'_, Ipv4>) -> u32 {
        let number = self.n32.len() / CHUNK;
        block.for_each_slots(8, |slots| {
            let hop = NextHopId::to_raw(slots.next_hop) as u16;
            self.n32.fill(hop, slots.count);
        });
        number as u32
    }
}
