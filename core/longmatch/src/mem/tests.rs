//! Tests of modules that the model checkers include: their arrays exist only inside of a model.

use alloc::vec::Vec;

use super::runs::{FreeRuns, Run, tile};
use crate::mem::Live;

/// Runs are found, split and joined by their lengths, in every word of the bit set.
#[test]
fn runs_are_taken_and_joined() {
    let (_live, mut array) = Live::with_capacity(&[0u16; 600], 600).unwrap();
    let mut free = FreeRuns::new(300);
    for (start, count) in [(0, 1), (1, 64), (65, 65), (130, 128), (258, 42), (300, 300)] {
        free.free(Run { start, count });
    }
    assert_eq!(free.take(&mut array, 64), Some(1));
    assert_eq!(free.take(&mut array, 64), Some(65));
    // The rest of the run of 65 items.
    assert_eq!(free.take(&mut array, 1), Some(129));
    assert_eq!(free.take(&mut array, 129), Some(300));
    assert_eq!(free.items(), 1 + 128 + 42 + 171);
    // A run of joined neighbours.
    assert_eq!(free.take(&mut array, 172), None);
    free.free(Run { start: 300, count: 129 });
    assert_eq!(free.take(&mut array, 299), Some(130));
    assert_eq!(free.items(), 1 + 171);
    let mut runs: Vec<Run> = free.iter().collect();
    runs.extend([(1, 64), (65, 65), (130, 299)].map(|(start, count)| Run { start, count }));
    assert_eq!(tile(runs.clone(), 600), Ok(()));
    assert_eq!(tile(runs, 601), Err(600));
    // Longer than the longest run that can be taken.
    free.free(Run { start: 1, count: 428 });
    assert_eq!(free.items(), 600);
    assert_eq!(tile(free.iter().collect(), 600), Ok(()));
}
