//! RIB to SAIL: leaf pushing to the levels 16, 24 and 32. A level's routes go to the next one
//! wherever a longer route lies inside.

use alloc::vec::Vec;

use super::layout::{CHUNK, LONGER, MAX_CHUNKS_24, MAX_CHUNKS_32, MAX_NEXT_HOP, PADDING, Sail};
use super::{Config, NAME};
use crate::addr::Ipv4;
use crate::error::CompileError;
use crate::next_hop::NextHopId;
use crate::rib::{Block, Rib};

pub(super) fn compile(rib: &Rib<Ipv4>, config: &Config) -> Result<Sail, CompileError> {
    let id = rib.max_next_hop();
    if id > MAX_NEXT_HOP {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit: MAX_NEXT_HOP });
    }
    let mut compiler = Compiler::default();
    compiler.level16(rib.root_block());
    let Compiler { mut bcn16, mut bn24, c24, mut n32 } = compiler;
    within("chunks of level 24 (C16 has 15 bits)", c24.len() / CHUNK, MAX_CHUNKS_24)?;
    within("chunks of level 32", n32.len() / CHUNK, MAX_CHUNKS_32)?;
    for array in [&mut bcn16, &mut bn24, &mut n32] {
        array.resize(array.len() + PADDING, 0);
    }
    Ok(Sail {
        bcn16: bcn16.into(),
        bn24: bn24.into(),
        c24: c24.into(),
        n32: n32.into(),
        batch: config.batch,
    })
}

fn within(what: &'static str, count: usize, limit: usize) -> Result<(), CompileError> {
    if count <= limit {
        Ok(())
    } else {
        Err(CompileError::TooMany { engine: NAME, what, limit: limit as u64 })
    }
}

#[derive(Default)]
struct Compiler {
    bcn16: Vec<u16>,
    bn24: Vec<u16>,
    c24: Vec<u32>,
    n32: Vec<u16>,
}

impl Compiler {
    fn level16(&mut self, root: Block<'_, Ipv4>) {
        root.for_each_slots(16, |slots| {
            let entry = match slots.below {
                None => NextHopId::to_raw(slots.next_hop) as u16,
                // One chunk too many is known to be an error; the others need not be built.
                Some(_) if self.c24.len() / CHUNK > MAX_CHUNKS_24 => LONGER,
                Some(below) => LONGER | self.level24(below),
            };
            self.bcn16.resize(self.bcn16.len() + slots.count, entry);
        });
    }

    /// A chunk of level 24; its number. It has 15 bits unless there are too many chunks.
    fn level24(&mut self, block: Block<'_, Ipv4>) -> u16 {
        let number = self.c24.len() / CHUNK;
        block.for_each_slots(8, |slots| {
            let (bn, c) = match slots.below {
                None => (NextHopId::to_raw(slots.next_hop) as u16, 0),
                Some(below) => (LONGER, self.level32(below)),
            };
            self.bn24.resize(self.bn24.len() + slots.count, bn);
            self.c24.resize(self.c24.len() + slots.count, c);
        });
        number as u16
    }

    /// A chunk of level 32; its number.
    fn level32(&mut self, block: Block<'_, Ipv4>) -> u32 {
        let number = self.n32.len() / CHUNK;
        block.for_each_slots(8, |slots| {
            let hop = NextHopId::to_raw(slots.next_hop) as u16;
            self.n32.resize(self.n32.len() + slots.count, hop);
        });
        number as u32
    }
}
