//! `check` detects damage, for the right reason, and before a read leaves an array.

use hashbrown::HashMap;

use super::super::account::Account;
use super::super::check::Known;
use super::super::layout::{Entry, Patches, Target};
use super::*;
use crate::engine::folio::pieces::Piece;
use crate::mem::{Frozen, Plain};

/// Pages of codes, one of them shared; a list; a page of entries; answers.
const ROUTES: [(&str, u32); 8] = [
    ("10.0.0.0/8", 1),
    ("10.0.0.0/17", 2),
    ("10.1.0.0/17", 2),
    ("10.2.64.0/24", 3),
    ("10.3.0.1/32", 4),
    ("10.3.1.128/25", 5),
    ("10.3.200.0/29", 5),
    ("10.9.0.0/20", 6),
];

fn compiled(lists: u32, entries: u32) -> Folio4 {
    let config = Config {
        root_bits: Some(16),
        lists: Some(lists),
        entries: Some(entries),
        ..Config::default()
    };
    agree(&rib4(&ROUTES), &config)
}

/// A change that breaks a sound structure, and a part of the message about it.
type Damage<'a> = (fn(&mut Folio4), &'a str);

/// Breaks a sound structure in one place; `check` must name the damage.
fn broken(sound: impl Fn() -> Folio4, damages: &[Damage<'_>]) {
    let rib = rib4(&ROUTES);
    for (damage, message) in damages {
        let mut folio = sound();
        damage(&mut folio);
        let what = Engine::check(&folio, &rib).expect_err(message).what;
        assert!(what.contains(message), "'{what}' does not contain '{message}'");
    }
}

/// Returns a copy with another length; added items are zero.
fn resized<T: Plain>(items: &[T], len: usize) -> Frozen<T> {
    let mut copy = Frozen::zeroed(len).unwrap();
    copy.iter_mut().zip(items).for_each(|(to, from)| *to = *from);
    copy
}

fn fixed(folio: &mut Folio4) -> &mut Fixed {
    std::sync::Arc::get_mut(&mut folio.fixed).unwrap()
}

fn with_pages() -> Folio4 {
    compiled(plan::NONE, plan::NONE)
}

fn with_lists() -> Folio4 {
    compiled(0, plan::NONE)
}

fn with_entries() -> Folio4 {
    compiled(plan::NONE, 0)
}

/// The page of entries of 10.3.0.0/16.
fn entries(folio: &Folio4) -> std::ops::Range<usize> {
    let Target::Entries { cut, place } = Entry(folio.root[0x0a03]).target() else {
        panic!("no page of entries")
    };
    place as usize..place as usize + (1 << (16 - cut))
}

/// The list of 10.3.0.0/16.
fn list(folio: &mut Folio4) -> &mut [u32] {
    let Target::List { place, words } = Entry(folio.root[0x0a03]).target() else {
        panic!("no list")
    };
    &mut folio.words[place as usize..][..words as usize]
}

#[test]
fn arrays() {
    broken(
        with_pages,
        &[
            (|p| fixed(p).root_shift = 15, "a root of"),
            (|p| p.root = resized(&p.root, 1 << 15), "a root of"),
            (|p| fixed(p).code_bytes = 2, "masks"),
            (|p| fixed(p).below_root >>= 1, "masks"),
            (|p| fixed(p).hop_bits = 0, "bits in lists"),
            (|p| p.words = resized(&p.words, p.words.len() + 1), "words,"),
            (|p| p.codes = resized(&p.codes, 512), "leads past the end"),
            (|p| p.codes[77] = 1, "the code at place 77 is another"),
            (|p| fixed(p).patches = Patches::new(&[(9, 10)]), "patches"),
            (|p| fixed(p).patches.own_hops = Some(Box::new([9; 256])), "next hop 9 of code 0"),
        ],
    );
}

#[test]
fn entries_of_the_root() {
    broken(
        with_pages,
        &[
            (|p| p.root[0x0a00] = p.root[0x0900], "the RIB's next range"),
            (|p| p.root[0x0a05] = Entry::answer(300).0, "for a block of"),
            (|p| p.root[0x0a05] = Entry::answer(9).0, "next hop 9 from 10.5.0.0"),
            (|p| p.root[0x0a05] = 30 << 27, "for a block of"),
            (|p| p.root[0x0a05] = Entry::codes(1 << 20, 8).0, "leads past the end"),
            (|p| p.root[0x0a00] += 1, "is at no place of its kind"),
            (|p| p.root[0x0a00] -= 1 << 27, ""),
            (|p| p.root[0x0a05] = Entry::list(1 << 20, 2).0, "leads past the end"),
        ],
    );
}

#[test]
fn lists() {
    broken(
        with_lists,
        &[
            (|p| fixed(p).single = Single::Plain, "in a plain table"),
            (|p| list(p)[0] ^= 1, "next hop"),
            (|p| list(p)[0] = list(p)[1] ^ 7, "does not descend"),
            (|p| list(p).fill(1 << 20), "has no lowest address"),
            (|p| list(p)[1..].fill(0), "has words behind its last one"),
            (|p| list(p)[1] = list(p)[0] - (1 << fixed(p).hop_bits), "repeats a next hop"),
            (|p| fixed(p).hop_bits = 17, "has too few bits"),
            (|p| p.root[0x0a03] += 2, ""),
        ],
    );
}

#[test]
fn pages_of_entries() {
    broken(
        with_entries,
        &[
            (
                |p| {
                    let at = entries(p).start;
                    p.words[at] = Entry::answer(7).0
                },
                "next hop 7 from 10.3.0.0",
            ),
            (
                |p| {
                    let at = entries(p);
                    p.words[at.end - 1] = p.root[0x0a03]
                },
                "in a page of entries",
            ),
            (
                |p| {
                    let at = entries(p).start;
                    p.words[at] = Entry::codes(1 << 20, 2).0
                },
                "leads past the end",
            ),
            (
                |p| {
                    let at = entries(p).start;
                    p.words[at] = Entry::codes(64, 15).0
                },
                "for a block of",
            ),
        ],
    );
}

/// A change of what a writer knows, and a part of the message about it.
type Unlike<'a> = (fn(&mut Known), &'a str);

/// What a writer would know of the pieces of an array; what no piece covers is free.
fn known(pieces: &HashMap<u32, (Piece, u32)>, first: usize, units: usize) -> Known {
    let mut pieces: Vec<(Piece, u32)> = pieces.values().copied().collect();
    pieces.sort_unstable();
    let covers = |unit| {
        move |it: &(Piece, u32)| {
            (it.0.start as usize..it.0.start as usize + it.0.units()).contains(&unit)
        }
    };
    let free = (first..units).filter(|unit| !pieces.iter().any(covers(*unit)));
    let others = free.map(|unit| Piece { start: unit as u32, log2: 0, kind: 0 }).collect();
    Known { pieces, others }
}

#[test]
fn accounts_of_a_writer() {
    let rib = rib4(&ROUTES);
    let folio = with_entries();
    let fixed = &folio.fixed;
    let account = Account::of(folio.slices()).unwrap();
    let sound = || {
        let units = folio.codes.len() / usize::from(fixed.code_bytes);
        [
            known(&account.words, compile::first_word(fixed), folio.words.len()),
            known(&account.codes, compile::identity_units(fixed), units),
        ]
    };
    let verify = |accounts: &check::Accounts| check::check(folio.slices(), Some(accounts), &rib);
    verify(&sound()).unwrap();
    let damages: [Unlike<'_>; 5] = [
        (|it| it.pieces[0].1 -= 1, "references is met as"),
        (|it| it.pieces[0].1 += 1, "references is met as"),
        (|it| it.pieces[0].0.kind ^= 1, "references is met as"),
        (|it| it.pieces.truncate(it.pieces.len() - 1), "in the account"),
        (|it| it.others.push(it.pieces[0].0), "do not cover unit"),
    ];
    for array in 0..2 {
        for (damage, message) in damages {
            let mut accounts = sound();
            damage(&mut accounts[array]);
            let what = verify(&accounts).map_err(|corrupt| corrupt.what);
            assert!(what.as_ref().is_err_and(|what| what.contains(message)), "{message}: {what:?}");
        }
    }
}
