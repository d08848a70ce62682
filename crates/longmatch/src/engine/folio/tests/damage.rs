//! `check` detects damage, for the right reason, and before a read leaves an array.

use super::super::book::Book;
use super::super::layout::{BRANCH, PAGE, PLACE_UNIT};
use super::*;
use crate::mem::{Frozen, Plain};

/// Pages of codes of two grains, branch pages, shared pages and unused pieces.
const ROUTES: [(&str, u32); 11] = [
    ("10.0.0.0/8", 1),
    ("10.0.0.0/17", 2),
    ("10.1.0.0/17", 2),
    ("10.2.64.0/24", 3),
    ("10.3.0.1/32", 4),
    ("10.4.0.1/32", 4),
    ("10.5.0.1/32", 300),
    ("10.5.0.3/32", 301),
    ("10.5.0.5/32", 302),
    ("10.5.0.7/32", 303),
    ("10.5.0.9/32", 304),
];

fn set_first<F: Family, C: Code>(folio: &mut Folio<F, C>, to: impl Fn(u32) -> u32) {
    match &mut folio.fixed.root.layout {
        RootLayout::Span { first, .. } => *first = to(*first),
        form => panic!("{form:?}"),
    }
}

/// Breaks a sound structure in one place; `check` must name the damage.
fn broken<F: Family, C: Code>(
    rib: &Rib<F>,
    config: &Config,
    damage: impl FnOnce(&mut Folio<F, C>),
    message: &str,
) {
    let mut folio = Folio::<F, C>::compile(rib, config).unwrap();
    Engine::check(&folio, rib).unwrap();
    damage(&mut folio);
    let what = Engine::check(&folio, rib).expect_err(message).what;
    assert!(what.contains(message), "'{what}' does not contain '{message}'");
}

type Damage<F, C> = (fn(&mut Folio<F, C>), &'static str);

fn all_broken<C: Code>(damages: &[Damage<Ipv4, C>]) {
    let rib = rib::<Ipv4>(&ROUTES);
    for (damage, message) in damages {
        broken(&rib, &cuts(&[16, 24]), damage, message);
    }
}

/// Returns a copy with another length; added items are zero.
fn resized<T: Plain>(items: &[T], len: usize) -> Frozen<T> {
    let mut copy = Frozen::zeroed(len).unwrap();
    copy.iter_mut().zip(items).for_each(|(to, from)| *to = *from);
    copy
}

/// Sets the code in slot `slot` of the page at `place`.
fn set_code(folio: &mut Folio<Ipv4, Byte>, place: u32, slot: usize, code: u8) {
    folio.pages[place as usize + slot] = code;
}

/// Returns a slot of a branch page of a table with 8-bit codes.
fn branch_slot(folio: &Folio<Ipv4, Byte>, branch: Entry, slot: usize) -> Entry {
    Entry(u32::from_le_bytes(folio.pages.as_chunks::<4>().0[branch.place() as usize / 4 + slot]))
}

fn set_slot(folio: &mut Folio<Ipv4, Byte>, branch: Entry, slot: usize, entry: Entry) {
    let at = branch.place() as usize + 4 * slot;
    folio.pages[at..][..4].copy_from_slice(&entry.0.to_le_bytes());
}

#[test]
fn roots() {
    all_broken::<Byte>(&[
        (|f| f.fixed.root.bits = 0, "a root of"),
        (|f| f.fixed.root.bits = 32, "a root of"),
        (|f| f.fixed.root.bits = 15, "blocks from"),
        (|f| set_first(f, |_| 1), "blocks from"),
        (|f| f.entries = resized(&f.entries, 1 << 16), "entries of a root"),
        (|f| f.entries[1 << 16] = PAGE, "last entry is a page"),
        (|f| f.entries[0x0a06] = 2, "next hop 2 from 10.6.0.0 on"),
        (|f| f.entries[0xffff] = 1, "next hop 1 from 255.255.0.0 on"),
        (|f| f.entries[0] = 70_000, "with codes=8"),
        (|f| f.entries[0x0a00] = 1, "next hop 1 from 10.0.0.0 on"),
    ]);
    let rib = rib::<Ipv6>(&[("2001:db8::/32", 1), ("2001:db8::1/128", 2)]);
    let damages: [Damage<Ipv6, Byte>; 3] = [
        (|f| set_first(f, |first| first + 1), "next hop 1 from 2002:db8:: on"),
        (|f| set_first(f, |_| 0xffff + 1), "blocks from"),
        (|f| f.entries[1] = 7, "next hop 7 from :: on"),
    ];
    for (damage, message) in damages {
        broken(&rib, &cuts(&[16]), damage, message);
    }
}

#[test]
fn levels() {
    all_broken::<Byte>(&[
        (|f| f.fixed.levels = [].into(), "the levels end at 16"),
        (|f| f.fixed.levels = f.fixed.levels[..1].into(), "the levels end at 24"),
        (|f| f.fixed.levels[0].start = 15, "after a cut at 16"),
        (|f| f.fixed.levels[1].start = 25, "after a cut at 24"),
        (|f| f.fixed.levels[0].width = 0, "after a cut at 16"),
        (|f| f.fixed.levels[0].width = 15, "after a cut at 16"),
        (|f| f.fixed.levels[1].width = 9, "in halves of 64"),
        (|f| f.fixed.usual_levels = 0, "usual levels"),
        (|f| f.fixed.usual_levels = 3, "usual levels"),
        (
            |f| {
                f.fixed.levels =
                    [(16, 7), (23, 9)].map(|(start, width)| Level { start, width }).into()
            },
            "",
        ),
    ]);
    let rib = rib::<Ipv6>(&[("2001:db8::/32", 1), ("2001:db8::1/128", 2)]);
    let cuts = cuts(&[16, 30, 44, 58, 64]);
    broken::<_, Byte>(&rib, &cuts, |f| f.fixed.usual_levels = 3, "usual levels");
    let across = |f: &mut Folio<Ipv6, Byte>| {
        (f.fixed.levels[2].width, f.fixed.levels[3]) = (12, Level { start: 56, width: 14 });
    };
    broken::<_, Byte>(&rib, &cuts, across, "in halves of 64");
}

#[test]
fn entries() {
    all_broken::<Byte>(&[
        (|f| f.entries[0x0a00] |= 0x3fff_fff0, "leads to no page"),
        (|f| f.entries[0x0a00] += PLACE_UNIT as u32, "leads to"),
        (|f| f.entries[0x0a00] |= BRANCH, "leads to"),
        (|f| f.entries[0x0a03] &= !BRANCH, "drops bits of"),
        (|f| f.entries[0x0a03] |= 1, "drops bits of a branch page"),
        (|f| f.entries[0x0a00] |= 15, "drops bits of"),
        (|f| f.entries[0x0a02] &= !15, "drops bits of"),
        (|f| f.entries[0x0a02] += 1, "leads to"),
        (|f| f.entries[0x0a06] = f.entries[0x0a00], "leads to"),
        (
            |f| {
                // A slot of the last level that leads on.
                let branch = Entry(f.entries[0x0a05]);
                let below = branch_slot(f, branch, 0);
                assert!(below.is_branch());
                set_slot(f, below, 7, Entry::page_of_codes(0, 2));
            },
            "past the address's end",
        ),
    ]);
}

#[test]
fn pages() {
    all_broken::<Byte>(&[
        (|f| set_code(f, Entry(f.entries[0x0a00]).place(), 1, 3), "next hop 3 from"),
        (|f| set_code(f, Entry(f.entries[0x0a00]).place(), 2, 1), "not filled up"),
        (
            |f| {
                // 10.0.0.0/17 with four slots: correct, but twice as many as needed.
                let page = Entry(f.entries[0x0a00]);
                for (slot, code) in [2, 2, 1, 1].into_iter().enumerate() {
                    set_code(f, page.place(), slot, code);
                }
                f.entries[0x0a00] -= 1;
                f.entries[0x0a01] -= 1;
            },
            "finer than needed",
        ),
        (
            |f| {
                let branch = Entry(f.entries[0x0a03]);
                (0..256).for_each(|slot| set_slot(f, branch, slot, Entry::answer(1)));
            },
            "without a change",
        ),
        (
            |f| {
                let [a, b] = [0x0a03, 0x0a05].map(|at| f.entries[at]);
                let [a, b] = [a, b].map(|entry| Entry(entry).place() as usize);
                f.pages.copy_within(a..a + 1024, b);
            },
            "is stored twice",
        ),
        (
            |f| {
                let end = f.store.pages().map(|page| page.start as usize + page.bytes());
                let end = end.chain(f.store.unused().map(|(start, bytes)| start as usize + bytes));
                f.pages = resized(&f.pages, end.max().unwrap() - 1);
            },
            "bytes for pages of",
        ),
    ]);
}

#[test]
fn accounts() {
    all_broken::<Byte>(&[
        (|f| f.store.account_mut().0[0].references += 1, "is met 2 times"),
        (|f| f.store.account_mut().0[0].references -= 1, "time 2, leads"),
        (|f| f.store.account_mut().0[0].kind = Kind::Branch(0), "leads to"),
        (|f| f.store.account_mut().0[0].start += 4, "in units of"),
        (|f| f.store.account_mut().0[0].start += 16, "a piece begins"),
        (|f| f.store.account_mut().0[0].log2_bytes = 3, "in units of"),
        (|f| f.store.account_mut().0[0].log2_bytes = 40, "in units of"),
        (
            |f| {
                f.store.account_mut().0.remove(0);
            },
            "a piece begins",
        ),
        (|f| f.store.account_mut().0.truncate(1), "leads to no page"),
        (|f| f.store.account_mut().1[4].push(0), "a piece begins"),
        (|f| f.store.account_mut().1[4].push(1 << 30), "a piece begins"),
        (
            |f| {
                let unused = f.store.account_mut().1;
                let list = unused.iter_mut().find(|list| !list.is_empty());
                list.expect("some piece is unused").clear();
            },
            "a piece begins",
        ),
        (
            |f| {
                let (pages, _) = f.store.account_mut();
                let branch = pages.iter_mut().find(|page| page.kind == Kind::Branch(0));
                branch.expect("a branch page").kind = Kind::Branch(1);
            },
            "leads to",
        ),
        (
            |f| {
                // A page without an entry that leads to it, in an unused piece.
                let (pages, unused) = f.store.account_mut();
                let start = unused[4].pop().expect("a piece of 16 bytes");
                pages.push(super::super::store::Page { start, references: 1, ..pages[0] });
            },
            "is met 0 times",
        ),
    ]);
}

#[test]
fn codes() {
    let swapped = |swap: [usize; 2]| {
        let mut values: [u16; 256] = core::array::from_fn(|code| code as u16);
        values.swap(swap[0], swap[1]);
        values
    };
    assert_eq!(swapped([1, 2])[1], 2);
    all_broken::<Byte>(&[
        (|f| f.fixed.book = Book::new([0; 256]), "in the codebook"),
        (|f| f.fixed.patches.clear(), "in the codebook"),
        (|f| f.fixed.patches[0].0 = 77, "in the codebook"),
        (|f| f.fixed.patches[0].1 = 77, "in the codebook"),
        (|f| f.fixed.patches[1] = f.fixed.patches[0], "in the codebook"),
        (|f| f.fixed.patches = vec![(1, 300); 5], "for codes=8"),
    ]);
    let rib = rib::<Ipv4>(&ROUTES);
    let book = swapped([1, 2]);
    broken::<_, Coded>(&rib, &cuts(&[16]), |f| f.fixed.book = Book::new(book), "next hop");
    broken::<_, Coded>(&rib, &cuts(&[16]), |f| f.fixed.book = Book::new([1; 256]), "has two codes");
    broken::<_, Coded>(&rib, &cuts(&[16]), |f| f.fixed.patches.push((1, 1)), "for codes=book");
    broken::<_, u16>(&rib, &cuts(&[16]), |f| f.fixed.patches.push((1, 1)), "for codes=16");
}

#[test]
fn another_rib() {
    let routes = rib::<Ipv4>(&ROUTES);
    let folio = Folio::<Ipv4, u32>::compile(&routes, &Config::default()).unwrap();
    assert!(Engine::check(&folio, &Rib::new()).is_err());
    for (prefix, _) in ROUTES {
        let mut other = routes.clone();
        other.remove(prefix.parse().unwrap());
        assert!(Engine::check(&folio, &other).is_err(), "without {prefix}");
    }
    let mut other = routes.clone();
    other.insert("255.255.255.255/32".parse().unwrap(), hop(9)).unwrap();
    assert!(Engine::check(&folio, &other).unwrap_err().what.contains("is missing"));
}
