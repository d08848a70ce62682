//! `longmatch set overlaps`: which prefixes of two lists cover each other.

use std::io::Write;

use longmatch::set::AddressRange;
use longmatch::{Family, Prefix};

use super::input;
use super::output::{Printed, push_prefix};
use crate::args::OverlapsArgs;
use crate::error::{CliError, Outcome, Status};
use crate::output::Out;

/// How a prefix of the left list relates to one of the right list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Relation {
    Covers,
    Equals,
    Inside,
}

impl Relation {
    fn name(self) -> &'static str {
        match self {
            Self::Covers => "covers",
            Self::Equals => "equals",
            Self::Inside => "inside",
        }
    }
}

/// Runs the operation.
///
/// # Errors
/// If a list cannot be read, or standard output not be written.
pub fn run(args: &OverlapsArgs) -> Outcome {
    let [left, right] = input::pair(&args.left, &args.right, &args.read)?;
    let mut pairs = Pairs { out: Out::new(), json: args.json, text: Vec::new(), any: false };
    pairs.family(left.ipv4, right.ipv4)?;
    pairs.family(left.ipv6, right.ipv6)?;
    pairs.out.flush()?;
    Ok(Status::ok_if(pairs.any))
}

struct Pairs {
    out: Out,
    json: bool,
    text: Vec<u8>,
    any: bool,
}

impl Pairs {
    fn family<F: Printed>(
        &mut self,
        left: Vec<AddressRange<F>>,
        right: Vec<AddressRange<F>>,
    ) -> Result<(), CliError> {
        let (left, right) = (prefixes(left), prefixes(right));
        each_pair(&left, &right, |a, relation, b| self.print(a, relation, b))
    }

    fn print<F: Printed>(
        &mut self,
        a: Prefix<F>,
        relation: Relation,
        b: Prefix<F>,
    ) -> Result<(), CliError> {
        let [start, middle, last, end] = match self.json {
            true => ["{\"a\":\"", "\",\"relation\":\"", "\",\"b\":\"", "\"}\n"],
            false => ["", "\t", "\t", "\n"],
        };
        self.any = true;
        let text = &mut self.text;
        text.clear();
        text.extend_from_slice(start.as_bytes());
        push_prefix(a, text);
        text.extend_from_slice(middle.as_bytes());
        text.extend_from_slice(relation.name().as_bytes());
        text.extend_from_slice(last.as_bytes());
        push_prefix(b, text);
        text.extend_from_slice(end.as_bytes());
        self.out.write_all(text)?;
        Ok(())
    }
}

/// The prefixes of a list's entries, each once, in order.
pub fn prefixes<F: Family>(entries: Vec<AddressRange<F>>) -> Vec<Prefix<F>> {
    let mut all: Vec<_> = entries.iter().flat_map(AddressRange::prefixes).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Calls a function for each pair in which one covers the other, in the order of the longer prefix.
///
/// Sorted prefixes are in pre-order of the tree that they form. So the prefixes that cover the current one
/// are on two stacks, at most as deep as prefixes are long: the time is linear in prefixes and pairs.
fn each_pair<F: Family>(
    left: &[Prefix<F>],
    right: &[Prefix<F>],
    mut pair: impl FnMut(Prefix<F>, Relation, Prefix<F>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let (mut open_left, mut open_right) = (Vec::new(), Vec::new());
    loop {
        // Of equal prefixes the left one comes first, so that the right one finds it open.
        let from_left = match (left.peek(), right.peek()) {
            (None, None) => return Ok(()),
            (Some(a), Some(b)) => a <= b,
            (a, _) => a.is_some(),
        };
        let Some(&at) = (if from_left { left.next() } else { right.next() }) else { return Ok(()) };
        for open in [&mut open_left, &mut open_right] {
            while open.last().is_some_and(|cover: &Prefix<F>| !cover.covers(at)) {
                open.pop();
            }
        }
        if from_left {
            open_right.iter().try_for_each(|b| pair(at, Relation::Inside, *b))?;
            open_left.push(at);
        } else {
            open_left.iter().try_for_each(|a| {
                let relation = if *a == at { Relation::Equals } else { Relation::Covers };
                pair(*a, relation, at)
            })?;
            open_right.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv4, Ipv6};

    /// Every pair of the prefixes of a small tree, compared one by one.
    fn compare<F: Family>(seed: u64) {
        let mut state = seed;
        let mut list = || {
            let mut some = Vec::new();
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                let bits = F::Bits::from_network_end(state >> 33);
                some.push(Prefix::<F>::from_bits_masked(bits, F::WIDTH - (state >> 60) as u8 % 5));
            }
            some.sort_unstable();
            some.dedup();
            some
        };
        let (left, right) = (list(), list());
        let mut expected = Vec::new();
        for a in &left {
            for b in &right {
                match (a.covers(*b), b.covers(*a)) {
                    (true, true) => expected.push((*a, Relation::Equals, *b)),
                    (true, false) => expected.push((*a, Relation::Covers, *b)),
                    (false, true) => expected.push((*a, Relation::Inside, *b)),
                    (false, false) => {}
                }
            }
        }
        let mut found = Vec::new();
        each_pair(&left, &right, |a, relation, b| {
            found.push((a, relation, b));
            Ok(())
        })
        .unwrap();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{left:?} {right:?}");
    }

    /// Addresses that differ in the last four bits only.
    trait NetworkEnd {
        fn from_network_end(n: u64) -> Self;
    }

    impl<B: longmatch::Bits> NetworkEnd for B {
        fn from_network_end(n: u64) -> Self {
            B::from_u128(u128::from(n & 15))
        }
    }

    #[test]
    fn pairs_are_those_of_a_comparison_one_by_one() {
        for seed in 0..2_000 {
            compare::<Ipv4>(seed);
            compare::<Ipv6>(seed);
        }
    }
}
