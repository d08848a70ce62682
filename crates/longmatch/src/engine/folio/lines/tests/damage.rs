//! `check` detects damage, for the right reason, and before a read leaves an array.

use super::super::layout::{DISTANCE, KEYS, LINE_BITS};
use super::*;
use crate::engine::folio::book::Book;
use crate::mem::{Frozen, Plain};

/// A leaf with an escape to a second stage and one to a next hop, a leaf without, and inner lines.
fn table() -> Rib<Ipv6> {
    let mut table = routes(48, (0..40).map(|i| 0x2001_0db8 << 96 | i << 82), 3);
    for (text, raw) in [
        ("2001:db9::/32", 1),
        ("2001:2000::/28", 2),
        ("2001:2001:2::/48", 300),
        ("2001:2001:3:4::/64", 4),
        ("2001:2001:3:4:5::1/128", 5),
    ] {
        table.insert(text.parse().unwrap(), hop(raw)).unwrap();
    }
    table
}

type Damage = (fn(&mut Lines<Byte>), &'static str);

/// Breaks a sound structure in one place; `check` must name the damage.
fn all_broken(damages: &[Damage]) {
    let table = table();
    for (damage, message) in damages {
        let mut lines = Lines::<Byte>::compile(&table, &()).unwrap();
        Engine::check(&lines, &table).unwrap();
        damage(&mut lines);
        let what = Engine::check(&lines, &table).expect_err(message).what;
        assert!(what.contains(message), "'{what}' does not contain '{message}'");
    }
}

/// Returns a copy with another length; added items are zero.
fn resized<T: Plain>(items: &[T], len: usize) -> Frozen<T> {
    let mut copy = Frozen::zeroed(len).unwrap();
    copy.iter_mut().zip(items).for_each(|(to, from)| *to = *from);
    copy
}

/// The index of the entry of a block.
fn index(lines: &Lines<Byte>, word: u32) -> usize {
    lines.fixed.root.index(word) as usize
}

/// The line that the entry of a block leads to.
fn line(lines: &mut Lines<Byte>, word: u32) -> &mut Line {
    let index = index(lines, word);
    let entry = Entry(lines.entries[index]);
    assert!(entry.depth() > 0);
    &mut lines.lines[entry.number() as usize]
}

/// The block of the inner line, and that of the leaf with escapes.
const INNER: u32 = 0x2001_0db8;
const LEAF: u32 = 0x2001_2001;

#[test]
fn roots() {
    all_broken(&[
        (|it| it.fixed.root.bits = 0, "a root of"),
        (|it| it.fixed.root.bits = 19, "not found at"),
        (|it| it.entries = resized(&it.entries, it.entries.len() + 1), "entries of a root"),
        (|it| it.entries = resized(&it.entries, it.entries.len() - 1), "entries of a root"),
        (
            |it| {
                let last = it.fixed.root.last as usize;
                it.entries[last] = Entry::line(1, 0).0;
            },
            "last entry leads to a line",
        ),
        (
            |it| {
                let at = index(it, 0x2001_4000);
                it.entries[at] = 7;
            },
            "next hop 7 from 2001:4000:: on",
        ),
    ]);
}

#[test]
fn entries() {
    fn change(it: &mut Lines<Byte>, word: u32, to: impl Fn(u32) -> u32) {
        let at = index(it, word);
        it.entries[at] = to(it.entries[at]);
    }
    all_broken(&[
        (|it| change(it, LEAF, |entry| entry | 0xffff), "outside of the array"),
        (|it| change(it, LEAF, |entry| entry + (1 << LINE_BITS)), ""),
        (|it| change(it, INNER, |entry| entry - (1 << LINE_BITS)), ""),
        (|it| change(it, INNER, |entry| entry + (4 << LINE_BITS)), ""),
        (|it| change(it, LEAF, |_| 0), ""),
        (|it| change(it, LEAF, |entry| entry - 1), ""),
    ]);
}

#[test]
fn lines() {
    all_broken(&[
        (|it| line(it, INNER).0[SEPARATORS] += 1000, "outside of the array"),
        (|it| line(it, INNER).0[SEPARATORS] = u32::MAX, "outside of the array"),
        (|it| line(it, INNER).0[0] = 0, "keys out of order"),
        (|it| line(it, INNER).0.swap(0, 1), "keys out of order"),
        (|it| line(it, INNER).0[14] = 5, "keys out of order"),
        (|it| line(it, INNER).0[1] = u32::MAX, "keys out of order"),
        (|it| line(it, INNER).0[0] += 1, ""),
        (|it| line(it, LEAF).0[0] = 5, "keys out of order"),
        (|it| line(it, LEAF).0[0] += 1, ""),
        (|it| line(it, LEAF).set_code(0, 0, 9), "next hop 9"),
        (|it| line(it, LEAF).set_code(0, 12, 9), "codes after the last"),
        (|it| line(it, LEAF).set_code(0, 0, 255), "an escape for a code"),
        (|it| line(it, LEAF).set_distance(0), "wrong distance"),
        (|it| line(it, LEAF).set_distance(2), "wrong distance"),
        (
            |it| {
                let lines = it.lines.len();
                it.lines = resized(&it.lines, lines + 1);
            },
            "in no run",
        ),
        (
            |it| {
                let lines = it.lines.len();
                it.lines = resized(&it.lines, lines - 1);
            },
            "outside of the array",
        ),
    ]);
    assert_eq!(DISTANCE, 63);
}

/// The escapes of the leaf: a next hop of the block, one without a code, and a second stage.
fn escapes(it: &mut Lines<Byte>) -> &mut [u32; 16] {
    let leaf = Entry(it.entries[index(it, LEAF)]).number() as usize;
    let escapes = leaf + it.lines[leaf].distance(0);
    &mut it.lines[escapes].0
}

/// Removes the segment after the word that has a second stage: the tree would answer for it too.
fn widen_a_tree(it: &mut Lines<Byte>) {
    let tree = escapes(it).iter().position(|it| Entry(*it).depth() > 0).unwrap();
    let leaf = line(it, LEAF);
    leaf.0.copy_within(tree + 1..KEYS[0], tree);
    leaf.0[KEYS[0] - 1] = u32::MAX;
    (tree + 1..KEYS[0]).for_each(|i| leaf.set_code(0, i, leaf.code(0, i + 1)));
}

#[test]
fn escapes_of_leaves() {
    all_broken(&[
        (widen_a_tree, "for more than one word"),
        (|it| *escapes(it).iter_mut().find(|it| **it == 300).unwrap() = 301, "next hop 301"),
        (|it| *escapes(it).iter_mut().find(|it| **it == 300).unwrap() = 3, "an escape for a code"),
        (
            |it| {
                let escapes = escapes(it);
                let on = escapes.iter().copied().find(|it| Entry(*it).depth() > 0).unwrap();
                *escapes.iter_mut().find(|it| **it == 300).unwrap() = on;
            },
            "",
        ),
        (
            |it| {
                let on = escapes(it).iter_mut().find(|it| Entry(**it).depth() > 0);
                *on.unwrap() += 1000;
            },
            "outside of the array",
        ),
        (
            |it| {
                let entry = it.entries[index(it, LEAF)];
                let on = escapes(it).iter_mut().find(|it| Entry(**it).depth() > 0);
                *on.unwrap() = entry;
            },
            "",
        ),
    ]);
}

#[test]
fn codebooks() {
    let broken = |book: [u16; 256], message: &str| {
        let table = table();
        let mut lines = Lines::<Coded>::compile(&table, &()).unwrap();
        Engine::check(&lines, &table).unwrap();
        lines.fixed.book = Book::new(book);
        let what = Engine::check(&lines, &table).expect_err(message).what;
        assert!(what.contains(message), "'{what}' does not contain '{message}'");
    };
    broken([0; 256], "");
    broken([1; 256], "is next hop 1");
    broken(core::array::from_fn(|code| code as u16), "is next hop 255");
    all_broken(&[(|it| it.fixed.book = Book::new([7; 256]), "is next hop 7")]);
}

#[test]
fn another_rib() {
    let table = table();
    let lines = Lines::<u16>::compile(&table, &()).unwrap();
    assert!(Engine::check(&lines, &Rib::new()).is_err());
    for route in table.iter() {
        let mut other = table.clone();
        other.remove(route.prefix);
        assert!(Engine::check(&lines, &other).is_err(), "without {}", route.prefix);
    }
}
