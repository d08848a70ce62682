//! `check` detects damage, for the right reason, and before a read leaves an array.

use super::super::layout::Decode;
use super::*;
use crate::engine::folio::book::Book;
use crate::engine::folio::store::Kind;
use crate::mem::{Frozen, Plain};

/// Pages of several depths, a shared one, one that escapes to blocks, one to answers.
///
/// The next hop of two routes is too large for a code of 16 bits of its own.
const ROUTES: [(&str, u32); 9] = [
    ("10.0.0.0/8", 1),
    ("10.0.0.0/17", 2),
    ("10.1.0.0/17", 2),
    ("10.2.64.0/24", 3),
    ("10.3.0.1/32", 4),
    ("10.3.1.128/25", 4),
    ("10.4.0.0/18", 300),
    ("10.5.0.0/16", 70_000),
    ("10.7.0.0/16", 70_000),
];

/// A change that breaks a sound structure, and a part of the message about it.
type Damage<'a> = (fn(&mut Pages), &'a str);

/// Breaks a sound structure in one place; `check` must name the damage.
fn broken(form: CodeForm, damages: &[Damage<'_>]) {
    let rib = rib4(&ROUTES);
    for (damage, message) in damages {
        let mut pages = Pages::compile(&rib, &config(form, 16, Batch::Auto)).unwrap();
        Engine::check(&pages, &rib).unwrap();
        damage(&mut pages);
        let what = Engine::check(&pages, &rib).expect_err(message).what;
        assert!(what.contains(message), "'{what}' does not contain '{message}'");
    }
}

/// Returns a copy with another length; added items are zero.
fn resized<T: Plain>(items: &[T], len: usize) -> Frozen<T> {
    let mut copy = Frozen::zeroed(len).unwrap();
    copy.iter_mut().zip(items).for_each(|(to, from)| *to = *from);
    copy
}

fn set_code(pages: &mut Pages, block: usize, slot: usize, code: u8) {
    let at = entry(pages, block).place() as usize + slot;
    pages.codes[at] = code;
}

/// The words of the first escape to a block, or to an answer.
fn escape(pages: &mut Pages, block: bool) -> &mut [u32; 2] {
    let mut slots = pages.escapes.as_chunks_mut::<2>().0.iter_mut();
    slots.find(|[key, escape]| *key != 0 && Escape(*escape).is_block() == block).unwrap()
}

#[test]
fn arrays() {
    broken(
        CodeForm::Byte,
        &[
            (|p| p.fixed.root_shift = 17, "a root of"),
            (|p| p.fixed.root_shift = 40, "a root of"),
            (|p| p.root = resized(&p.root, 1 << 15), "a root of"),
            (|p| p.fixed.log2 = 3, "masks"),
            (|p| p.fixed.below_root >>= 1, "masks"),
            (|p| p.fixed.escape_code >>= 1, "masks"),
            (|p| p.fixed.escape_bits += 1, "words for"),
            (|p| p.escapes = resized(&p.escapes, 2), "words for"),
            (|p| p.codes = resized(&p.codes, p.codes.len() - 64), "do not cover byte"),
            (|p| p.codes = resized(&p.codes, p.codes.len() + 64), "do not cover byte"),
            (|p| p.deep = resized(&p.deep, p.deep.len() - 1), "ends after the deep answers"),
            (|p| p.deep = resized(&p.deep, p.deep.len() + 1), "do not cover deep answer"),
        ],
    );
}

fn table(pages: &mut Pages) -> (&mut [u32], &mut Vectors) {
    match &mut pages.fixed.decode {
        Decode::Table(hops, vectors) => (hops, vectors),
        Decode::Raw => panic!("no table"),
    }
}

#[test]
fn codes() {
    broken(
        CodeForm::Byte,
        &[
            (|p| *table(p).1 = Vectors::Patches(vec![(9, 300)]), "another next hop"),
            (|p| *table(p).1 = Vectors::Book(Book::new([0; 256]).into()), "another next hop"),
            (|p| table(p).0[9] = 300, "another next hop"),
            (
                |p| p.fixed.decode = Decode::Table(vec![0; 255].into(), Vectors::Gather),
                "next hops for",
            ),
        ],
    );
    broken(
        CodeForm::Half,
        &[
            (|p| table(p).0[..3].fill(300), "two codes"),
            (|p| table(p).0[3] = u32::MAX, "too large"),
            (|p| *table(p).1 = Vectors::Patches(Vec::new()), "another next hop"),
        ],
    );
}

#[test]
fn entries_and_pages() {
    broken(
        CodeForm::Byte,
        &[
            (|p| p.root[0x0a00] = Entry::new(1 << 26, Some(17)).0, "leads to no page"),
            (|p| p.root[0x0a00] = Entry::new(entry(p, 0x0a00).place(), Some(16)).0, "below a root"),
            (
                |p| p.root[0x0a00] = Entry::new(entry(p, 0x0a00).place(), Some(18)).0,
                "leads to Page",
            ),
            (|p| p.root[0x0a00] = p.root[0x0a02], ""),
            (|p| p.root[0x0a07] = p.root[0x0a00], ""),
            (|p| set_code(p, 0x0a00, 0, 3), ""),
            (|p| set_code(p, 0x0a00, 1, 255), "has no escape"),
            (|p| set_code(p, 0x0a03, 0, 1), "escapes"),
            (|p| p.store.account_mut().0[0].references += 1, "is met"),
            (|p| p.store.account_mut().0[0].start += 1, ""),
            (|p| p.store.account_mut().0[1].log2_bytes += 1, ""),
            (|p| p.store.account_mut().0[0].kind = Kind::Branch(0), "no page of codes"),
            (|p| p.store.account_mut().0[0].kind = Kind::Escaping, "escapes"),
            (|p| p.store.account_mut().1.iter_mut().for_each(|free| free.clear()), "do not cover"),
        ],
    );
}

#[test]
fn escapes() {
    broken(
        CodeForm::Byte,
        &[
            (|p| p.escapes.fill(0), "has no escape"),
            (|p| p.escapes.fill(u32::MAX), "no empty slot"),
            (|p| escape(p, true)[0] += 1000, ""),
            (|p| escape(p, true)[1] = 4, ""),
            (|p| escape(p, true)[1] |= 0x7fff_fff8, "ends after the deep answers"),
            (|p| escape(p, true)[1] ^= 7, ""),
            (|p| escape(p, false)[1] += 1, ""),
            (|p| p.deep[0] += 1, ""),
            (|p| p.deep[0] = u32::MAX, "next hop"),
        ],
    );
}

#[test]
fn other_routes() {
    let rib = rib4(&ROUTES);
    let pages = Pages::compile(&rib, &Config::default()).unwrap();
    let fewer: Rib<Ipv4> = rib.iter().take(rib.len() - 1).collect();
    assert!(Engine::check(&pages, &fewer).is_err() && Engine::check(&pages, &Rib::new()).is_err());
}
