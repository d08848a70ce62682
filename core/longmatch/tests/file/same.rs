//! A file gives the answers of the data that it was compiled from.

use std::io::Write;
use std::net::IpAddr;

use longmatch::file::{FileRow, FileSpec, FileTable};
use longmatch::table::{Cell, PrefixData, Row};
use longmatch::{
    Answers, EngineKind, EngineSpec, Family, Fib, IpPrefix, Ipv4, Ipv6, Keys, NextHopId, Rib,
};

use crate::common::{levels, quick};
use crate::data::{self, ends, random, set, tables};

/// Owned copy of a row.
fn owned(row: FileRow<'_>) -> Row {
    row.iter().map(|cell| cell.to_owned()).collect()
}

/// The specs whose files differ: every form of codes, several roots, both answers.
fn specs() -> Vec<FileSpec> {
    let spec = |ipv4: &str, ipv6: &str, answers| {
        let of = |text: &str| text.parse::<EngineSpec>().unwrap();
        FileSpec::default().ipv4(of(ipv4)).ipv6(of(ipv6)).answers(answers)
    };
    vec![
        FileSpec::default(),
        FileSpec::default().answers(Answers::Values),
        spec("folio:s=8:lists=0", "folio:codes=8:leaves=lines", Answers::Values),
        spec("folio:s=8:lists=none:entries=none", "folio:codes=8:leaves=minis", Answers::Routes),
        spec("folio:s=12:lists=none:entries=0", "folio:codes=book:steps=2", Answers::Values),
        spec("folio:s=10:codes=24:flat=yes", "folio:codes=list:leaves=codes", Answers::Routes),
        spec("folio:s=16:codes=32", "folio:codes=32:steps=3", Answers::Routes),
        spec("auto", "auto", Answers::Routes),
    ]
}

/// The routes with the ids that a file gives them.
fn ribs(data: &PrefixData, table: &FileTable) -> (Rib<Ipv4>, Rib<Ipv6>) {
    let (mut ipv4, mut ipv6) = (Rib::new(), Rib::new());
    for (i, (prefix, _)) in data.table().iter().enumerate() {
        let id = match table.answers() {
            Answers::Routes => i as u32 + 1,
            Answers::Values => table.get(prefix).unwrap().number() + 1,
        };
        let id = NextHopId::new(id).unwrap();
        match prefix {
            IpPrefix::V4(prefix) => drop(ipv4.insert(prefix, id).unwrap()),
            IpPrefix::V6(prefix) => drop(ipv6.insert(prefix, id).unwrap()),
        }
    }
    (ipv4, ipv6)
}

/// The compiled routes are sound, equal to the routes at every address, and answer so in each layout
/// of keys at each level.
fn engine<F: Family>(
    fib: &Fib<F>,
    rib: &Rib<F>,
    layouts: impl Fn(&[F::Bits], &mut dyn FnMut(Keys<'_, F>)),
    about: &str,
) {
    fib.check(rib).unwrap_or_else(|corrupt| panic!("{about}: {corrupt}"));
    let addrs = ends(rib);
    let right: Vec<_> = addrs.iter().map(|addr| rib.lookup(F::addr(*addr))).collect();
    for (addr, right) in addrs.iter().zip(&right) {
        assert_eq!(fib.lookup_bits(*addr), *right, "{about}");
    }
    for simd in levels() {
        let mut out = vec![None; addrs.len()];
        fib.lookup_each(simd, &addrs, &mut out);
        assert!(out == right, "{about}: one by one at {}", simd.level());
        for len in [addrs.len(), 100, 33, 16, 5] {
            let len = len.min(addrs.len());
            layouts(&addrs[..len], &mut |keys| {
                let mut out = vec![None; len];
                fib.lookup_keys_with(simd, keys, &mut out);
                let layout = keys.layout();
                assert!(out == right[..len], "{about}: {layout:?} at {}", simd.level());
            });
        }
    }
}

fn layouts4(addrs: &[u32], visit: &mut dyn FnMut(Keys<'_, Ipv4>)) {
    let network: Vec<[u8; 4]> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
    visit(addrs.into());
    visit(network.as_slice().into());
}

fn layouts6(addrs: &[u128], visit: &mut dyn FnMut(Keys<'_, Ipv6>)) {
    let pairs: Vec<[u64; 2]> =
        addrs.iter().map(|addr| [(addr >> 64) as u64, *addr as u64]).collect();
    let network: Vec<[u8; 16]> = addrs.iter().map(|addr| addr.to_be_bytes()).collect();
    visit(addrs.into());
    visit(pairs.as_slice().into());
    visit(network.as_slice().into());
}

/// Every method returns the same as that of the data's table.
pub fn methods(data: &PrefixData, table: &FileTable, about: &str) {
    let original = data.table();
    assert_eq!((table.len(), table.columns()), (original.len(), data.columns()), "{about}");
    let rows = original.next_hops().len();
    assert_eq!(table.row_count(), rows, "{about}");
    assert!((0..rows as u32).all(|row| table.row_at(row).unwrap().number() == row));
    assert!(table.row_at(rows as u32).is_none());
    let all = table.iter().map(|(prefix, row)| (prefix, owned(row)));
    assert!(all.eq(original.iter().map(|(prefix, row)| (prefix, row.clone()))), "{about}");

    let ipv4 = ends(original.ipv4()).into_iter().map(|addr| IpAddr::from(Ipv4::addr(addr)));
    let ipv6 = ends(original.ipv6()).into_iter().map(|addr| IpAddr::from(Ipv6::addr(addr)));
    let mapped = ends(original.ipv4()).into_iter().take(50);
    let mapped = mapped.map(|addr| IpAddr::from(Ipv4::addr(addr).to_ipv6_mapped()));
    let addrs: Vec<IpAddr> = ipv4.chain(ipv6).chain(mapped).collect();
    let mut batch = vec![None; addrs.len()];
    let mut lpm_batch = vec![None; addrs.len()];
    let mut ids = vec![None; addrs.len()];
    table.lookup_batch(&addrs[..], &mut batch);
    table.get_lpm_batch(&addrs[..], &mut lpm_batch);
    table.lookup_ids(&addrs[..], &mut ids);
    for (i, addr) in addrs.iter().enumerate() {
        let right = original.get_lpm(*addr).map(|(prefix, row)| (prefix, row.clone()));
        let found = table.get_lpm(*addr);
        assert_eq!(found.map(|(prefix, row)| (prefix, owned(row))), right, "{about}: {addr}");
        assert_eq!(table.lookup(*addr), found.map(|found| found.1), "{about}: {addr}");
        assert_eq!(batch[i], found.map(|found| found.1), "{about}: {addr}");
        let unmapped = |(prefix, row): (IpPrefix, _)| (prefix.unmapped(), row);
        assert_eq!(lpm_batch[i].map(unmapped), found, "{about}: {addr}");
        assert_eq!(table.lookup_id(*addr), ids[i], "{about}: {addr}");
        let of_id = ids[i].and_then(|id| table.row(id));
        assert_eq!(of_id, found.map(|found| found.1), "{about}: {addr}");
        let number = ids[i].and_then(|id| table.row_number(id));
        assert_eq!(number, found.map(|found| found.1.number()), "{about}: {addr}");
        let route = ids[i].and_then(|id| table.route(id));
        let right = found.filter(|_| table.answers() == Answers::Routes);
        assert_eq!(route, right, "{about}: {addr}");
    }
    for (prefix, row) in original.iter().step_by(1 + original.len() / 200) {
        assert_eq!(table.get(prefix).map(owned).as_ref(), Some(row), "{about}: {prefix}");
        let parent = prefix.parent().unwrap_or(prefix);
        for prefix in [prefix, parent] {
            let names = |found: Vec<(IpPrefix, Row)>| found;
            let cover = table.cover(prefix).map(|(prefix, row)| (prefix, owned(row))).collect();
            let right: Vec<_> = original.cover(prefix).map(|(p, row)| (p, row.clone())).collect();
            assert_eq!(names(cover), right, "{about}: cover of {prefix}");
            let children = table.children(prefix).map(|(p, row)| (p, owned(row)));
            let right = original.children(prefix).map(|(p, row)| (p, row.clone()));
            assert!(children.eq(right), "{about}: children of {prefix}");
        }
        assert_eq!(table.get(parent).map(owned).as_ref(), original.get(parent), "{about}");
    }
}

/// Files of all forms give the same as the data.
fn same(data: &PrefixData, about: &str) {
    for spec in specs() {
        let about = format!("{about}, {spec:?}");
        let bytes = spec.to_bytes(data).unwrap_or_else(|error| panic!("{about}: {error}"));
        let table = FileTable::from_bytes(&*bytes).unwrap_or_else(|e| panic!("{about}: {e}"));
        let (ipv4, ipv6) = ribs(data, &table);
        engine(table.ipv4(), &ipv4, layouts4, &about);
        engine(table.ipv6(), &ipv6, layouts6, &about);
        methods(data, &table, &about);
        // The same bytes whatever was inserted and removed before.
        assert!(spec.to_bytes(&table.to_data()).unwrap() == bytes, "{about}");
    }
}

#[test]
fn the_tables_of_the_suite() {
    let tables = tables();
    assert!(tables.len() > 10);
    for (name, data) in tables {
        same(&data, &name);
    }
}

#[test]
fn random_tables() {
    let seeds = if quick() { 1 } else { 2 };
    for seed in 0..seeds {
        same(&random(seed, 400, 40), &format!("seed {seed}"));
    }
    same(&random(9, 900, 600), "many rows");
}

/// The plans of a file depend only on its data, neither on the machine nor on the order of hashing.
#[test]
fn equal_data_give_equal_bytes_on_every_machine() {
    let bytes = FileSpec::default().to_bytes(&random(39, 12_000, 300)).unwrap();
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    let right = (2_424_000, 5_881_910_918_199_495_875);
    assert_eq!((bytes.len(), hash), right, "another plan, or a format that needs a new version");
}

#[test]
fn sets_and_edges() {
    same(&PrefixData::default(), "no route");
    same(&set(&["0.0.0.0/0"]), "the default route");
    same(&set(&["0.0.0.0/0", "::/0"]), "both default routes");
    same(&set(&["255.255.255.255/32", "0.0.0.0/32", "::/128", "ffff::/16"]), "the ends");
    same(&set(&["::/1", "8000::/1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"]), "halves");
}

/// Tables of a file, opened in each way.
pub fn opened(path: &std::path::Path) -> [FileTable; 4] {
    // SAFETY: the tests replace files that they map.
    let map = unsafe { FileTable::map(path) };
    // SAFETY: the same.
    let map_trusted = unsafe { FileTable::map_trusted(path) };
    let open = [FileTable::open(path), FileTable::open_trusted(path), map, map_trusted];
    open.map(Result::unwrap)
}

/// A file that is read or mapped, verified or trusted, is the same as one in memory; clones share it among threads.
#[test]
fn files_that_are_read_or_mapped() {
    let dir = tempdir("opened");
    let path = dir.join("table.lm");
    let data = random(77, 500, 30);
    let report = FileSpec::default().write(&data, &path).unwrap();
    assert_eq!(report.routes, data.table().len());
    assert_eq!(report.rows, data.table().next_hops().len());
    assert_eq!(report.bytes, std::fs::metadata(&path).unwrap().len());
    let tables = opened(&path);
    for table in &tables {
        methods(&data, table, "opened");
        let clone = table.clone();
        std::thread::scope(|scope| {
            scope.spawn(|| methods(&data, &clone, "in another thread"));
        });
    }
    // An open file stays although nothing names it any more, or the name has another file.
    let other = random(78, 500, 30);
    FileSpec::default().write(&other, &path).unwrap();
    tables.iter().for_each(|table| methods(&data, table, "replaced"));
    for mut table in tables.clone() {
        assert!(table.reload().unwrap());
        methods(&other, &table, "opened again");
    }
    std::fs::remove_dir_all(dir).unwrap();
    tables.iter().for_each(|table| methods(&data, table, "removed"));
}

/// A table that was read is independent of its file, which other programs write into and shorten.
#[test]
fn files_that_are_changed_after_reading() {
    let dir = tempdir("changed");
    let path = dir.join("table.lm");
    let data = random(79, 500, 30);
    FileSpec::default().write(&data, &path).unwrap();
    let sound = std::fs::read(&path).unwrap();
    let mut numbers = data::Numbers::new(80);
    for mut table in [FileTable::open(&path).unwrap(), FileTable::open_trusted(&path).unwrap()] {
        let texts: Vec<Cell<&str>> = table.iter().map(|(_, row)| row.get(0)).collect();
        for round in 0..4 {
            let mut bytes = sound.clone();
            for _ in 0..1 + numbers.below(4000) {
                let at = numbers.below(sound.len() as u64) as usize;
                bytes[at] = if round % 2 == 0 { 0xff } else { numbers.next() as u8 };
            }
            // The same file: it is written from its first byte on.
            let mut file = std::fs::File::options().write(true).open(&path).unwrap();
            file.write_all(&bytes).unwrap();
            methods(&data, &table, "written into");
        }
        std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        methods(&data, &table, "shortened");
        let right = data.table().iter().map(|(_, row)| row[0].clone());
        assert!(texts.iter().map(|text| text.to_owned()).eq(right));
        assert!(table.reload().unwrap_err().to_string().contains("truncated: 0 bytes of 64"));
        methods(&data, &table, "not opened again");
        std::fs::write(&path, &sound).unwrap();
        assert!(table.reload().unwrap());
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn engines_without_images_are_refused() {
    let data = random(5, 50, 5);
    for kind in EngineKind::ALL.into_iter().filter(|kind| *kind != EngineKind::Folio) {
        let error = FileSpec::default().engine(kind).to_bytes(&data).unwrap_err().to_string();
        assert!(error.contains(kind.name()) && error.contains("use 'folio'"), "{error}");
    }
    let small = EngineSpec::from(EngineKind::Folio).with_memory(100);
    let error = FileSpec::default().engine(small).to_bytes(&data).unwrap_err();
    assert!(matches!(error.kind(), longmatch::file::FileErrorKind::Compile(_)), "{error}");
}

#[test]
fn null_is_what_is_not_there() {
    let data = random(6, 50, 5);
    let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data).unwrap()).unwrap();
    let (_, row) = table.iter().next().unwrap();
    assert_eq!((row.len(), row.get(5), row.by_name("nothing")), (5, Cell::Null, None));
    assert_eq!(row.by_name("Straße"), Some(row.get(4)));
    let far = NextHopId::new(u32::MAX).unwrap();
    assert_eq!((table.row(far), table.route(far), table.row_number(far)), (None, None, None));
    assert!(format!("{table:?}").contains("folio"), "{table:?}");
    assert!(format!("{row:?}").contains("site"), "{row:?}");
}

/// A new directory for a test's files.
pub fn tempdir(name: &str) -> std::path::PathBuf {
    let dir = std::env::temp_dir().join(format!("longmatch-file-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

#[test]
fn data_of_a_file_is_that_of_the_test() {
    // So that the other tests compare something: rows of all types, both families, long prefixes.
    let data = data::random(0, 800, 40);
    let (ipv4, ipv6) = (data.table().ipv4(), data.table().ipv6());
    assert!(ipv4.len() > 300 && ipv6.len() > 200);
    assert!(ipv4.iter().filter(|route| route.prefix.len() > 24).count() > 50);
    assert!(ipv6.iter().filter(|route| route.prefix.len() > 64).count() > 50);
}
