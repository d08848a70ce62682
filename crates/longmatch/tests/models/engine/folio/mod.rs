//! What identity pages import from Folio's first form, and the model of their updates.

#[path = "../../../../src/engine/folio/book.rs"]
mod book;
pub mod identity;
#[path = "../../../../src/engine/folio/store.rs"]
mod store;

const NAME: &str = "folio";

mod layout {
    pub const MAX_CODES: usize = 1 << 26;
}

mod compile {
    use crate::engine::kit::CompileError;

    pub type Admit<'a> = &'a dyn Fn(u64) -> Result<(), CompileError>;
}

mod survey {
    use crate::net::{Bits, Family, Prefix};
    use crate::rib::Rib;

    #[derive(Clone, Copy, Debug)]
    pub struct Start<B> {
        pub at: B,
        pub raw: u32,
    }

    impl<B: Bits> Start<B> {
        pub fn depth(&self) -> u8 {
            B::WIDTH - self.at.trailing_zeros()
        }
    }

    /// A table that is compiled.
    pub struct Survey<B> {
        pub lowest: u32,
        pub starts: Vec<Start<B>>,
    }

    impl<B: Bits> Survey<B> {
        pub fn of<F: Family<Bits = B>>(rib: &Rib<F>) -> Self {
            let mut starts = Vec::new();
            let all = Prefix::from_bits_masked(B::ZERO, 0);
            let lowest = read_within(rib, all, u32::MAX, &mut starts).unwrap();
            Self { lowest, starts }
        }

        pub fn max_next_hop(&self) -> u32 {
            self.starts.iter().map(|start| start.raw).fold(self.lowest, u32::max)
        }
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

mod update {
    use super::store::{Full, Lines, Page};
    use crate::mem::Owner;

    pub struct LivePages(pub Owner<u8>);

    impl Lines for LivePages {
        fn page(&self, page: &Page) -> &[u8] {
            &self.0[page.start as usize..][..page.bytes()]
        }

        fn write(&mut self, start: u32, page: &[u8]) {
            // SAFETY: no entry leads to these bytes; the model tests that.
            unsafe { self.0.write(start as usize, page) };
        }

        fn grow(&mut self, bytes: usize, _: usize) -> Result<u32, Full> {
            self.0.extend(bytes).map(|start| start as u32).ok_or(Full::Memory)
        }
    }

    /// Pages keep their size.
    pub fn halves(_: &mut Vec<u8>, _: usize) -> bool {
        false
    }
}
