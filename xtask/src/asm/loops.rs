//! The loops of a control flow graph and their nesting.
//!
//! A backward jump does not identify a loop: the compiler moves rare blocks behind the loop, and they jump back into
//! its middle. So a loop is a strongly connected set of blocks; a strongly connected subset that remains without the
//! entry block is an inner loop.

/// A loop of a function.
#[derive(Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its number among its siblings, after those of the loops around it: 1, 2 is the second loop inside the first.
    pub path: Vec<usize>,
    /// Its blocks, except those of inner loops.
    pub own: Vec<usize>,
}

/// Returns the loops of a function whose block `i` has the successors `next[i]`: outer loops before inner ones,
/// otherwise in code order. Block 0 is the function's entry.
pub fn find(next: &[Vec<usize>]) -> Vec<Loop> {
    let mut before = vec![Vec::new(); next.len()];
    for (block, targets) in next.iter().enumerate() {
        for target in targets {
            before[*target].push(block);
        }
    }
    let mut loops = Vec::new();
    Graph { next, before: &before }.collect(&vec![true; next.len()], &[], &mut loops);
    loops
}

struct Graph<'a> {
    next: &'a [Vec<usize>],
    before: &'a [Vec<usize>],
}

impl Graph<'_> {
    /// Appends the loops among the blocks that are `inside` the loop with the path `around`.
    fn collect(&self, inside: &[bool], around: &[usize], loops: &mut Vec<Loop>) {
        let mut rest = inside.to_vec();
        let mut number = 0;
        for block in 0..rest.len() {
            if !rest[block] {
                continue;
            }
            let cycle = self.cycle(block, &rest);
            rest[block] = false;
            if !cycle.contains(&true) {
                continue;
            }
            number += 1;
            cycle.iter().zip(&mut rest).for_each(|(cycle, rest)| *rest &= !cycle);
            let (path, at) = ([around, &[number]].concat(), loops.len());
            let mut without_header = cycle.clone();
            without_header[self.header(&cycle)] = false;
            self.collect(&without_header, &path, loops);
            let mut own = cycle;
            for block in loops[at..].iter().flat_map(|inner| &inner.own) {
                own[*block] = false;
            }
            let own = (0..own.len()).filter(|block| own[*block]).collect();
            loops.insert(at, Loop { path, own });
        }
    }

    /// Returns the blocks of `inside` in one strongly connected set with `block`; none if it cannot reach itself.
    fn cycle(&self, block: usize, inside: &[bool]) -> Vec<bool> {
        let mut cycle = reachable(block, inside, self.next);
        let back = reachable(block, inside, self.before);
        cycle.iter_mut().zip(back).for_each(|(forth, back)| *forth &= back);
        cycle
    }

    /// Returns the entry block of a loop, the first in code order if there are several.
    fn header(&self, cycle: &[bool]) -> usize {
        let entered = |block: &usize| {
            cycle[*block] && (*block == 0 || self.before[*block].iter().any(|from| !cycle[*from]))
        };
        let first = || cycle.iter().position(|inside| *inside);
        (0..cycle.len()).find(entered).or_else(first).unwrap_or(0)
    }
}

/// Returns the blocks of `inside` that a path of at least one edge reaches.
fn reachable(from: usize, inside: &[bool], edges: &[Vec<usize>]) -> Vec<bool> {
    let mut reached = vec![false; inside.len()];
    let mut todo = vec![from];
    while let Some(block) = todo.pop() {
        for target in edges[block].iter().filter(|target| inside[**target]) {
            if !reached[*target] {
                reached[*target] = true;
                todo.push(*target);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(next: &[&[usize]]) -> Vec<(Vec<usize>, Vec<usize>)> {
        let next: Vec<Vec<usize>> = next.iter().map(|targets| targets.to_vec()).collect();
        find(&next).into_iter().map(|found| (found.path, found.own)).collect()
    }

    fn expected(loops: &[(&[usize], &[usize])]) -> Vec<(Vec<usize>, Vec<usize>)> {
        loops.iter().map(|(path, own)| (path.to_vec(), own.to_vec())).collect()
    }

    #[test]
    fn straight_code_has_no_loop() {
        assert_eq!(found(&[&[1, 2], &[2], &[]]), []);
    }

    #[test]
    fn loops_follow_each_other() {
        let next: [&[usize]; 4] = [&[1], &[1, 2], &[2, 3], &[]];
        assert_eq!(found(&next), expected(&[(&[1], &[1]), (&[2], &[2])]));
    }

    #[test]
    fn inner_loops_are_taken_out() {
        // 1 is the outer header, 2 and 3 are an inner loop, 4 is another one, 5 goes back to 1.
        let next: [&[usize]; 7] = [&[1], &[2, 6], &[3], &[2, 4], &[4, 5], &[1], &[]];
        assert_eq!(found(&next), expected(&[(&[1], &[1, 5]), (&[1, 1], &[2, 3]), (&[1, 2], &[4])]));
    }

    #[test]
    fn a_rare_block_behind_the_loop_is_no_loop_of_its_own() {
        // 4 is behind the return and jumps back into the middle.
        let next: [&[usize]; 5] = [&[1], &[2, 4], &[1, 3], &[], &[2]];
        assert_eq!(found(&next), expected(&[(&[1], &[1, 2, 4])]));
    }

    #[test]
    fn a_rotated_loop_is_entered_in_its_middle() {
        // 1 is the latch, which is first in the code; 3 is an inner loop.
        let next: [&[usize]; 5] = [&[2], &[2, 4], &[3], &[3, 1], &[]];
        assert_eq!(found(&next), expected(&[(&[1], &[1, 2]), (&[1, 1], &[3])]));
    }
}
