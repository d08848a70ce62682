//! The blocks of one input, each with the layout of its rows: the header of a log may change.

use std::io;
use std::sync::Arc;

use longmatch_feed::Stream;
use memchr::memmem;

use super::block::Position;
use super::csv::Comments;
use super::plan::{Format, Plan};
use crate::args::AnnotateArgs;
use crate::lines::Blocks;

/// A block of whole lines.
pub struct Block {
    /// The lines.
    pub bytes: Vec<u8>,
    /// Where they are in the inputs.
    pub position: Position,
    /// Their layout, if it is not that of the plan.
    pub layout: Option<Arc<Format>>,
}

/// The blocks of an input. In a log a header with other columns begins a block.
pub struct Source {
    /// The options.
    pub args: AnnotateArgs,
    /// The plan, made from the first header.
    pub plan: Arc<Plan>,
    /// The blocks that are not read yet.
    pub blocks: Blocks<Stream>,
    /// The next block, if it is read.
    pub block: Option<Vec<u8>>,
    /// Its position.
    pub position: Position,
    /// Its layout, if it is not that of the plan.
    pub layout: Option<Arc<Format>>,
}

impl Source {
    /// Returns the next block; `None` at the end.
    ///
    /// # Errors
    /// If reading fails.
    pub fn next_block(&mut self) -> io::Result<Option<Block>> {
        let bytes = match self.block.take() {
            None => self.blocks.next_bytes()?,
            bytes => bytes,
        };
        let Some(mut bytes) = bytes else { return Ok(None) };
        let mut change = self.change(&bytes);
        if change == Some(0) {
            // A layout that does not fit stays, and the header is an error for those who scan the block.
            change = match self.changed(&bytes) {
                Some(layout) => {
                    self.layout = Some(layout);
                    self.change(&bytes)
                }
                None => None,
            };
        }
        if let Some(at) = change {
            self.block = Some(bytes.split_off(at));
        }
        let position = std::mem::replace(&mut self.position, Position::Later);
        Ok(Some(Block { bytes, position, layout: self.layout.clone() }))
    }

    /// The lines of `#` of the current layout, if it is that of a log.
    fn comments(&self) -> Option<&Comments> {
        match self.layout.as_deref().unwrap_or(&self.plan.format) {
            Format::Csv(csv) => csv.comments.as_ref(),
            _ => None,
        }
    }

    /// The beginning of the first line with other columns than those of the layout.
    fn change(&self, bytes: &[u8]) -> Option<usize> {
        let comments = self.comments()?;
        let mut places = memmem::find_iter(bytes, comments.directive);
        places.find(|at| {
            (*at == 0 || bytes[at - 1] == b'\n')
                && comments.fields_of(&bytes[*at..]) != &*comments.fields
        })
    }

    /// The layout of the header with which a block begins, if rows of it can follow in the output.
    fn changed(&self, bytes: &[u8]) -> Option<Arc<Format>> {
        let Format::Csv(csv) = &self.plan.format else { return None };
        let csv = csv.with_fields(&self.args, bytes)?;
        self.plan.continues(&csv).then(|| Arc::new(Format::Csv(csv)))
    }
}
