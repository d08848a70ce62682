//! What Folio's form for IPv4 imports from beside it, and the model of its updates.

#[path = "../../../../src/engine/folio/admit.rs"]
mod admit;
#[path = "../../../../src/engine/folio/pieces.rs"]
mod pieces;
pub mod v4;

const NAME: &str = "folio";

mod survey {
    use crate::net::{Bits, Family, Prefix};
    use crate::rib::Rib;

    #[derive(Clone, Copy, Debug)]
    pub struct Start<B> {
        pub at: B,
        pub raw: u32,
    }

    pub fn read<F: Family>(rib: &Rib<F>) -> (u32, Vec<Start<F::Bits>>) {
        let mut starts = Vec::new();
        let all = Prefix::from_bits_masked(F::Bits::ZERO, 0);
        let lowest = read_within(rib, all, u32::MAX, &mut starts).unwrap();
        (lowest, starts)
    }

    pub fn read_within<F: Family>(
        rib: &Rib<F>,
        prefix: Prefix<F>,
        limit: u32,
        starts: &mut Vec<Start<F::Bits>>,
    ) -> Option<u32> {
        let before = rib.0.iter().take_while(|start| start.0 <= prefix.first());
        let inside = |at| prefix.first() < at && at <= prefix.last();
        starts.clear();
        let all = rib.0.iter().map(|&(at, raw)| Start { at, raw });
        starts.extend(all.filter(|start| inside(start.at)));
        let lowest = before.last().map_or(0, |start| start.1);
        (lowest <= limit && starts.iter().all(|start| start.raw <= limit)).then_some(lowest)
    }
}
