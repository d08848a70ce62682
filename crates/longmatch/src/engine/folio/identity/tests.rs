use alloc::string::ToString;
use alloc::vec;

use super::layout::{Decode, Entry, Escape, Vectors};
use super::*;
use crate::engine::testing::{ends, hop, rib4, spread};
use crate::net::{Prefix, Route};
use crate::simd::Simd;

mod changes;
mod damage;
mod random;

fn config(form: CodeForm, s: u8, batch: Batch) -> Config {
    Config { codes: Some(form), root_bits: Some(s), batch, huge: false }
}

/// Compiles, checks, and looks up both ends of each of the RIB's ranges.
///
/// One by one, and in batches of several sizes, layouts and modes at every level.
fn agree(rib: &Rib<Ipv4>, config: &Config) -> Pages {
    let mut pages = Pages::compile(rib, config).unwrap_or_else(|e| panic!("{config:?}: {e}"));
    let variant = Structure::variant(&pages);
    Engine::check(&pages, rib).unwrap_or_else(|corrupt| panic!("{variant}: {corrupt}"));
    let (keys, right) = ends(rib);
    for (key, hop) in keys.iter().zip(&right) {
        assert_eq!(pages.lookup_bits(*key), *hop, "{variant}: {key:x}");
    }
    let network: Vec<[u8; 4]> = keys.iter().map(|key| key.to_be_bytes()).collect();
    for batch in MODES {
        pages.batch = *batch;
        for simd in Simd::available() {
            for size in [1, 8, 17, 100, 1024, 1030, keys.len()] {
                for start in (0..keys.len()).step_by(size) {
                    let range = start..keys.len().min(start + size);
                    let mut out = vec![None; range.len()];
                    pages.lookup_batch_with(simd, &keys[range.clone()], &mut out);
                    let about = (batch.name(), simd.level(), size);
                    assert!(out == right[range.clone()], "{variant}, {about:?}");
                    out.fill(Some(hop(7)));
                    pages.lookup_keys(simd, Keys::from(&network[range.clone()]), &mut out);
                    assert!(out == right[range], "{variant}, {about:?}, network order");
                }
            }
        }
    }
    pages.batch = Batch::Auto;
    pages
}

fn entry(pages: &Pages, block: usize) -> Entry {
    Entry(pages.root[block])
}

/// Codes of the page of a block.
fn page(pages: &Pages, block: usize) -> &[u8] {
    let entry = entry(pages, block);
    let codes = 1usize << entry.log2_codes(pages.fixed.root_bits()).unwrap();
    let unit = 1usize << pages.fixed.log2;
    &pages.codes[entry.place() as usize * unit..][..codes * unit]
}

/// The worked example of the README.
#[test]
fn a_small_table_by_hand() {
    let routes = [("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.1.1.128/25", 3), ("11.0.0.0/16", 4)];
    let pages = agree(&rib4(&routes), &config(CodeForm::Byte, 16, Batch::Auto));
    assert_eq!(page(&pages, 0x0900), [0]);
    assert_eq!(page(&pages, 0x0a02), [1]);
    assert_eq!(page(&pages, 0x0b00), [4]);
    assert_eq!(entry(&pages, 0x0a00).drop(), 12);
    assert_eq!(page(&pages, 0x0a00), [1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    // Codes of /24; the one of 10.1.1.0/24 escapes to a block of two answers.
    assert_eq!(entry(&pages, 0x0a01).drop(), 8);
    assert_eq!(page(&pages, 0x0a01)[..4], [1, 255, 1, 1]);
    let position = entry(&pages, 0x0a01).place() + 1;
    let slots = pages.escapes.as_chunks::<2>().0;
    let found = slots.iter().find(|[key, _]| *key == position + 1);
    assert_eq!(found.map(|[_, escape]| Escape(*escape)), Some(Escape::block(0, 25)));
    assert_eq!(pages.deep[..], [1, 3]);
    assert_eq!(pages.extent.escapes.load(Relaxed), 1);
}

/// Blocks with equal codes share a page, an answer is a page of one code.
#[test]
fn equal_pages_are_shared() {
    let routes = [("10.0.1.0/24", 1), ("10.1.1.0/24", 1), ("10.2.1.0/24", 2)];
    let pages = agree(&rib4(&routes), &config(CodeForm::Byte, 16, Batch::Auto));
    assert_eq!(entry(&pages, 0x0a00), entry(&pages, 0x0a01));
    let mut references: Vec<u32> = pages.store.pages().map(|page| page.references).collect();
    references.sort_unstable();
    assert_eq!(references, [1, 2, (1 << 16) - 3]);
}

/// Pages whose codes escape are not shared, as escapes belong to positions.
#[test]
fn escaping_pages_are_apart() {
    let routes = [("20.0.0.1/32", 1), ("20.1.0.1/32", 2)];
    let pages = agree(&rib4(&routes), &config(CodeForm::Byte, 16, Batch::Auto));
    assert_ne!(entry(&pages, 0x1400).place(), entry(&pages, 0x1401).place());
    assert_eq!(page(&pages, 0x1400), page(&pages, 0x1401));
    assert_eq!(pages.extent.escapes.load(Relaxed), 2);
}

/// Many long prefixes make finer codes, few make escapes.
#[test]
fn depth_follows_the_number_of_long_prefixes() {
    let many: Rib<Ipv4> = (0..1024)
        .map(|i| Route {
            prefix: Prefix::from_bits_masked(0x0a00_0000 | i << 6, 26),
            next_hop: hop(1 + i % 5),
        })
        .collect();
    let pages = agree(&many, &config(CodeForm::Byte, 16, Batch::Auto));
    assert_eq!(entry(&pages, 0x0a00).drop(), 6);
    assert_eq!(pages.extent.escapes.load(Relaxed), 0);
    let pages = agree(&rib4(&[("10.0.0.0/26", 1)]), &config(CodeForm::Byte, 16, Batch::Auto));
    assert_eq!(entry(&pages, 0x0a00).drop(), 8);
    assert_eq!(pages.extent.escapes.load(Relaxed), 1);
}

/// Next hops around the limits of codes: raw, patched, in a book, translated, escaping.
#[test]
fn every_next_hop_has_an_answer() {
    let table = |hops: &[u32]| -> Rib<Ipv4> {
        let routes = (0u32..).zip(hops).flat_map(|(i, raw)| {
            let bits = i.wrapping_mul(0x9e37_79b1);
            [14, 19, 24, 29].map(|len| Route {
                prefix: Prefix::from_bits_masked(bits.rotate_left(len.into()), len),
                next_hop: hop(*raw),
            })
        });
        routes.collect()
    };
    let upto = |most: u32| (1..=most).collect::<Vec<_>>();
    let wide = [upto(200), vec![254, 255, 256, 65_535, 65_536, 70_000, (1 << 31) - 1]].concat();
    for hops in [upto(254), upto(255), upto(600), wide.clone()] {
        for form in CodeForm::ALL {
            agree(&table(&hops), &config(form, 17, Batch::Auto));
        }
    }
    let decode = |hops: &[u32]| {
        let pages = Pages::compile(&table(hops), &Config::default()).unwrap();
        (pages.form, pages.fixed.decode)
    };
    assert_eq!(decode(&upto(254)), (CodeForm::Byte, Decode::Raw));
    let few = [upto(100), vec![300; 40], vec![400; 30]].concat();
    let (form, Decode::Table(_, Vectors::Patches(patches))) = decode(&few) else { panic!() };
    assert_eq!((form, patches.len()), (CodeForm::Byte, 2));
    assert_eq!(patches.iter().map(|patch| patch.1).collect::<Vec<_>>(), [300, 400]);
    let sparse: Vec<u32> = (1..200).map(|i| 300 * i).collect();
    assert!(matches!(decode(&sparse), (CodeForm::Book, Decode::Table(_, Vectors::Book(_)))));
    assert!(matches!(decode(&wide), (CodeForm::Book, Decode::Table(_, Vectors::Gather))));
    assert_eq!(decode(&upto(2000)), (CodeForm::Half, Decode::Raw));
    let sparse: Vec<u32> = (1..2000).map(|i| 300 * i).collect();
    assert!(matches!(decode(&sparse), (CodeForm::Half, Decode::Table(..))));
    // A few next hops too many escape instead.
    assert_eq!(decode(&upto(66_000)), (CodeForm::Half, Decode::Raw));
}

/// Batches in which most addresses escape, to answers and to blocks, in every mode.
#[test]
fn many_addresses_of_a_batch_escape() {
    let routes = (0..4096u32).flat_map(|i| {
        let at = 0x0a00_0000 | i << 8;
        let host = Route { prefix: Prefix::from_bits_masked(at | (i % 251), 32), next_hop: hop(7) };
        [host, Route { prefix: Prefix::from_bits_masked(at, 24), next_hop: hop(1 + i % 900) }]
    });
    let rib: Rib<Ipv4> = routes.collect();
    for form in [CodeForm::Byte, CodeForm::Half] {
        let pages = agree(&rib, &config(form, 12, Batch::Auto));
        assert!(pages.extent.escapes.load(Relaxed) > 1000);
    }
}

/// A chunk has 2^20 addresses; another one has the rest.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_batch_of_two_chunks() {
    let keys: Vec<u32> = (0..(1 << 20) + 100).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
    let pages = config(CodeForm::Byte, 12, Batch::Gather);
    let pages = Pages::compile(&spread::<Ipv4>(4..=28, 300), &pages).unwrap();
    let mut out = vec![None; keys.len()];
    pages.lookup_batch_with(Simd::best(), &keys, &mut out);
    assert!(keys.iter().zip(&out).all(|(key, hop)| pages.lookup_bits(*key) == *hop));
}

/// Every root of the limits, and a table of every length.
#[test]
fn roots_of_all_sizes_agree() {
    let rib = spread::<Ipv4>(0..=32, 90);
    for s in [8, 12, 17, 21, 24] {
        agree(&rib, &config(CodeForm::Byte, s, Batch::Auto));
    }
    for s in [7, 25, 255] {
        let error = Pages::compile(&rib, &config(CodeForm::Byte, s, Batch::Auto)).map(drop);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&alloc::format!("s={s}")) && error.contains("8 to 24"), "{error}");
    }
    let line = config(CodeForm::Byte, 16, Batch::Line);
    assert!(Pages::compile(&rib, &line).is_err());
}

#[test]
fn empty_and_default_only_tables() {
    for rib in [Rib::new(), rib4(&[("0.0.0.0/0", 5)]), rib4(&[("0.0.0.0/0", 70_000)])] {
        for form in CodeForm::ALL {
            let pages = agree(&rib, &config(form, 8, Batch::Auto));
            assert_eq!(pages.store.page_count(), 1);
        }
    }
}
