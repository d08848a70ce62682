//! Archives: the member that is read, the members that are refused, and damage.

mod common;

use std::io::{self, Read, Write};
use std::path::PathBuf;

use common::{Random, Routes, error_of, lenient, load, load_lenient, load_with};
use longmatch_feed::{
    Codec, Options, Problem, compress, destinations_from, load_path, load_reader,
};

const TEXT: &[u8] = b"10.0.0.0/8 a\n10.1.0.0/16 b\n2001:db8::/32 c\n";

fn testdata(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata")).join(name)
}

/// A zip file: the name, the data, the method and the flags of each member.
fn zip(members: &[(&str, &[u8], u16, u16)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, data, method, flags) in members {
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), Default::default());
        packed.write_all(data).unwrap();
        let packed = if *method == 8 { packed.finish().unwrap() } else { data.to_vec() };
        let mut crc = flate2::Crc::new();
        crc.update(data);
        let mut both = vec![20, 0];
        both.extend([flags.to_le_bytes(), method.to_le_bytes(), [0; 2], [0; 2]].concat());
        for number in [crc.sum(), packed.len() as u32, data.len() as u32] {
            both.extend(number.to_le_bytes());
        }
        both.extend([(name.len() as u16).to_le_bytes(), [0; 2]].concat());
        directory.extend([b"PK\x01\x02\x14\0", &both[..], &[0; 10]].concat());
        directory.extend((file.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        file.extend([b"PK\x03\x04", &both[..], name.as_bytes(), &packed].concat());
    }
    let (at, count) = (file.len() as u32, (members.len() as u16).to_le_bytes());
    file.extend(&directory);
    file.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count].concat());
    file.extend([(directory.len() as u32).to_le_bytes(), at.to_le_bytes()].concat());
    file.extend([0; 2]);
    file
}

/// A tar archive: the kind, the name and the data of each member.
fn tar(members: &[(u8, &str, &[u8])]) -> Vec<u8> {
    let mut file = Vec::new();
    for (kind, name, data) in members {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
        header[148..156].fill(b' ');
        header[156] = *kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        file.extend(header);
        file.extend(*data);
        file.resize(file.len().next_multiple_of(512), 0);
    }
    file.resize(file.len() + 1024, 0);
    file
}

/// The archives of both formats, plain and compressed, with the codec of each.
fn archives(text: &[u8]) -> Vec<(Codec, Vec<u8>)> {
    let tar = tar(&[(b'5', "d/", b""), (b'0', "d/LICENSE", b"x"), (b'0', "d/a.txt", text)]);
    let beside: (&str, &[u8], u16, u16) = ("README.txt", b"x", 0, 0);
    let mut all = vec![
        (Codec::Zip, zip(&[("d/", b"", 0, 0), beside, ("d/a.txt", text, 8, 0)])),
        (Codec::Zip, zip(&[("a.txt", text, 0, 0), beside])),
    ];
    for codec in [Codec::Gzip, Codec::Zstd] {
        all.push((codec, compress(codec, &tar).unwrap()));
    }
    all.push((Codec::Tar, tar));
    all
}

#[test]
fn the_file_of_data_is_read() {
    for (codec, file) in archives(TEXT) {
        let (routes, report) = load(&file).unwrap();
        assert_eq!((routes.0.len(), report.codec), (3, Some(codec)), "{codec}");
        assert_eq!(report.bytes, TEXT.len() as u64);
        let mut of_stream = Routes::default();
        load_reader(&file[..], None, &Options::default(), &mut of_stream).unwrap();
        assert_eq!(of_stream.lines(), routes.lines());
    }
}

#[test]
fn files_of_other_programs() {
    let read = |name: &str| {
        let mut routes = Routes::default();
        let mut options = Options::default();
        if name.contains("ip2location") {
            // Integers without names may be anything.
            options.prefix = ["1", "2"].map(str::to_owned).into();
        }
        load_path(testdata(name), &options, &mut routes).map(|_| routes.lines())
    };
    let list = ["192.0.2.0/24 192.0.2.0/24", "2001:db8::/32 2001:db8::/32"];
    assert_eq!(read("formats/list.tar.gz").unwrap(), list);
    assert_eq!(read("formats/pax.tar.gz").unwrap(), list);
    assert_eq!(read("formats/ip2location.zip").unwrap()[0], "192.0.2.0/24 NL,Netherlands");
    let zip = "geolite2/GeoLite2-Country-CSV.zip";
    let error = read(zip).unwrap_err().to_string();
    assert!(error.contains("has 3 files of data: name one, as FILE:MEMBER"), "{error}");
    assert!(error.contains("GeoLite2-Country-Blocks-IPv6.csv"), "{error}");
    let blocks = read(&format!("{zip}:GeoLite2-Country-Blocks-IPv6.csv")).unwrap();
    assert_eq!(blocks[0], "2001:db8::/33 2750405,2750405,,0,0,");
    for (name, text) in [
        (":x.csv", "has no member 'x.csv'; it has: "),
        ("/nothing", "cannot be opened"),
        (":", "has no member ''"),
    ] {
        let error = read(&format!("{zip}{name}")).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    let error = read("formats/list.txt:a").unwrap_err().to_string();
    assert!(error.contains("list.txt:a: not an archive (zip or tar)"), "{error}");
}

#[test]
fn other_archives_are_refused_with_the_reason() {
    let mut zip64 = zip(&[("a", TEXT, 8, 0)]);
    let end = zip64.len() - 22;
    zip64[end + 16..end + 20].fill(0xff);
    let gzip = compress(Codec::Gzip, TEXT).unwrap();
    let refused: Vec<(Vec<u8>, &str)> = vec![
        (zip(&[("a", TEXT, 8, 0), ("b", TEXT, 0, 0)]), "2 files of data: name one"),
        (zip(&[("README", TEXT, 8, 0)]), "no file of data"),
        (zip(&[]), "has no files"),
        (zip(&[("a", TEXT, 8, 1)]), "'a' is encrypted"),
        (zip(&[("a\n", TEXT, 12, 0)]), r"'a\n' has the compression method 12"),
        (zip64, "zip64"),
        (zip(&[("a", &gzip, 0, 0)]), "gzip data inside zip data"),
        (zip(&[("a", &zip(&[("b", TEXT, 0, 0)]), 8, 0)]), "zip data inside zip data"),
        (compress(Codec::Xz, &zip(&[])).unwrap(), "zip data inside xz data"),
        (tar(&[(b'0', "a", TEXT), (b'0', "b", TEXT)]), "2 files of data: name one"),
        (tar(&[(b'5', "a", b"")]), "has no files"),
        (tar(&[(b'S', "a", TEXT)]), "a sparse file"),
        (tar(&[(b'x', "", b"22 GNU.sparse.major=1\n"), (b'0', "a", TEXT)]), "a sparse file"),
        (tar(&[(b'0', "a", &gzip)]), "gzip data inside tar data"),
    ];
    for (file, text) in refused {
        let error = error_of(&file);
        assert!(error.contains(text), "{text}: {error}");
        // A lenient load chooses no other member.
        assert!(load_lenient(&file).is_err(), "{text}");
    }
    for (codec, file) in archives(b"192.0.2.1\n") {
        let error = destinations_from(&file[..], None, &Options::default()).unwrap_err();
        assert!(matches!(error.problem, Problem::OtherFormat { .. }), "{codec}: {error}");
    }
}

#[test]
fn damage_is_an_error() {
    let text: String = (0..200).map(|n| format!("10.{n}.0.0/16 hop{}\n", n * n)).collect();
    let mut random = Random(3);
    for (codec, whole) in archives(text.as_bytes()) {
        // Of the zero blocks at the end of a tar archive one is enough.
        let needed = if codec == Codec::Tar { whole.len() - 1023 } else { whole.len() };
        for end in 3..needed {
            let error = error_of(&whole[..end]);
            assert!(end < 300 || error.contains("damaged or cut off"), "{codec} at {end}: {error}");
        }
        for _ in 0..1000 {
            let mut file = whole.clone();
            let at = random.below(file.len());
            file[at] ^= 1 << random.below(8);
            let _ = load_with(&file, &lenient());
            // Tar has no checksum of the data.
            if let (Ok((routes, _)), Codec::Zip) = (load(&file), codec) {
                assert_eq!(routes.0.len(), 200, "byte {at}");
            }
        }
    }
    let mut options = Options::default();
    options.limits.ratio_after = 1 << 20;
    let bomb = zip(&[("a", &vec![b'\n'; 8 << 20], 8, 0)]);
    let error = load_with(&bomb, &options).err().unwrap().to_string();
    assert!(error.contains("more than 1000 times its size"), "{error}");
}

#[test]
fn archives_that_are_streamed_are_named() {
    for (codec, file) in archives(TEXT) {
        let stream = longmatch_feed::Stream::new(Box::new(io::Cursor::new(file)));
        let head = stream.map(|mut stream| {
            let mut head = Vec::new();
            stream.read_to_end(&mut head).map(|_| head).unwrap()
        });
        let text = head.map_or_else(
            |error| error.to_string(),
            |head| longmatch_feed::other_encoding(&head).unwrap().to_owned(),
        );
        assert!(text.contains("archive: unpack it"), "{codec}: {text}");
    }
    assert!(compress(Codec::Zip, TEXT).is_err());
}
