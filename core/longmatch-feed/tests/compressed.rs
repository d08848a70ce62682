//! Loading of compressed input: every codec, several parts, damage, nesting and bombs.

mod common;

use std::io::Write;

use common::{Random, capture, error_of, lenient, load, load_lenient, load_with, mrt};
use longmatch_feed::{Codec, Options, Problem, destinations_from};

const TEXT: &[u8] = b"10.0.0.0/8 a\n10.1.0.0/16 b\n2001:db8::/32 c\n";

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(data: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(6));
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zstd(data: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
}

fn xz(data: &[u8]) -> Vec<u8> {
    longmatch_feed::compress(Codec::Xz, data).unwrap()
}

type Compress = fn(&[u8]) -> Vec<u8>;

const CODECS: [(Codec, Compress); 4] =
    [(Codec::Gzip, gzip), (Codec::Bzip2, bzip2), (Codec::Zstd, zstd), (Codec::Xz, xz)];

#[test]
fn every_codec_is_read() {
    for (codec, compress) in CODECS {
        let (routes, report) = load(&compress(TEXT)).unwrap();
        assert_eq!(routes.0.len(), 3, "{codec}");
        assert_eq!(report.codec, Some(codec));
        assert_eq!(report.bytes, TEXT.len() as u64);
        assert_eq!(report.input_bytes, compress(TEXT).len() as u64, "{codec}");
    }
}

#[test]
fn several_parts_are_one_stream() {
    for (codec, compress) in CODECS {
        let parts = [compress(&TEXT[..17]), compress(b""), compress(&TEXT[17..])].concat();
        assert_eq!(load(&parts).unwrap().0.0.len(), 3, "{codec}");
    }
}

#[test]
fn skippable_zstd_frames() {
    let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let file = [skippable.clone(), zstd(TEXT), skippable.clone()].concat();
    assert_eq!(load(&file).unwrap().0.0.len(), 3);
    let cut = &file[..file.len() - 1];
    assert!(error_of(cut).contains("zstd"), "{}", error_of(cut));
}

#[test]
fn cut_off_at_every_byte() {
    let text: String = (0..200).map(|n| format!("10.{n}.0.0/16 hop{}\n", n * n)).collect();
    for (codec, compress) in CODECS {
        let whole = compress(text.as_bytes());
        for end in 1..whole.len() {
            let error = load(&whole[..end]).err();
            assert!(error.is_some(), "{codec} cut at {end} of {}", whole.len());
            if let Ok((routes, report)) = load_lenient(&whole[..end]) {
                assert!(routes.0.len() <= 200 && report.damaged > 0);
            }
        }
    }
}

/// Includes truncation between two records, which truncates no record.
#[test]
fn mrt_cut_off_names_the_compression() {
    let record = mrt::everything();
    for (codec, compress) in CODECS {
        let second = compress(&record);
        let file = [&compress(&record)[..], &second[..second.len() - 4]].concat();
        for end in compress(&record).len() + 1..file.len() {
            let error = load(&file[..end]).err().unwrap();
            let known =
                matches!(&error.problem, Problem::Compressed { codec: c, .. } if *c == codec);
            assert!(known, "{codec} cut at {end}: {error}");
        }
    }
}

#[test]
fn routes_before_the_damage_are_kept() {
    for (codec, compress) in CODECS {
        let second = compress(b"10.2.0.0/16 x\n");
        let file = [&compress(TEXT)[..], &second[..second.len() / 2]].concat();
        assert!(error_of(&file).contains(&format!("the {codec} data is damaged")));
        let (routes, report) = load_lenient(&file).unwrap();
        assert_eq!(routes.0.len(), 3, "{codec}");
        assert!(report.cut_off);
    }
}

#[test]
fn flipped_bits_never_panic() {
    let mut random = Random(1);
    let text: String =
        (0..400).map(|n| format!("10.{}.{}.0/24 {}\n", n % 200, n % 7, random.below(50))).collect();
    for (_, compress) in CODECS {
        let whole = compress(text.as_bytes());
        for _ in 0..1500 {
            let mut file = whole.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(file.len());
                file[at] ^= 1 << random.below(8);
            }
            let _ = load(&file);
            let _ = load_lenient(&file);
        }
    }
}

#[test]
fn checksums_are_compared() {
    let mut frame = zstd(TEXT);
    if frame[4] & 4 == 0 {
        // Without a checksum there is nothing to compare.
        eprintln!("skipped: the zstd encoder writes no checksum");
    } else {
        *frame.last_mut().unwrap() ^= 1;
        assert!(error_of(&frame).contains("checksum"));
    }
    let mut member = gzip(TEXT);
    let at = member.len() - 8;
    member[at] ^= 1;
    assert!(error_of(&member).contains("gzip"));
}

#[test]
fn compressed_twice() {
    for (outer, compress) in CODECS {
        for (inner, compress_inner) in CODECS {
            let error = error_of(&compress(&compress_inner(TEXT)));
            assert!(error.contains(&format!("{inner} data inside {outer} data")), "{error}");
        }
    }
}

#[test]
fn unsupported_codecs() {
    let heads: [(&[u8], &str); 2] =
        [(b"\x04\x22\x4d\x18", "lz4"), (b"\x1f\x9d\x90", "compress (.Z)")];
    for (head, name) in heads {
        assert!(error_of(head).starts_with(&format!("{name} is not supported")));
    }
}

/// A zstd frame of `blocks` times 128 KiB of newlines, 4 bytes each.
fn bomb(blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for n in 0..blocks {
        let header = (128u32 << 10) << 3 | 1 << 1 | u32::from(n + 1 == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b'\n');
    }
    frame
}

#[test]
fn bombs_are_refused_and_small_files_are_not() {
    assert_eq!(load(&bomb(400)).unwrap().1.bytes, 400 * (128 << 10));
    let error = load(&bomb(5000)).err().unwrap();
    assert!(matches!(error.problem, Problem::Bomb { ratio: 1000 }), "{error}");
    let mut options = Options::default();
    options.limits.ratio = u64::MAX;
    assert!(load_with(&bomb(700), &options).is_ok());
    let file = [zstd(TEXT), bomb(5000)].concat();
    assert_eq!(load_lenient(&file).unwrap().0.0.len(), 3);
}

/// The dictionary that a file names is reserved before its data is read.
#[test]
fn xz_with_a_huge_dictionary_is_refused() {
    let mut file = xz(TEXT);
    // The block header: size, flags, LZMA2 and the length of its properties, the dictionary.
    assert_eq!(file[12..16], [2, 0, 0x21, 1]);
    file[16] = 40;
    let crc = crc32(&file[12..20]);
    file[20..24].copy_from_slice(&crc.to_le_bytes());
    let error = error_of(&file);
    assert!(error.contains("the xz data is damaged or cut off: needed memory too big"), "{error}");
}

/// CRC-32 of a few bytes.
fn crc32(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}

#[test]
fn xz_bombs_are_refused() {
    let mut options = Options::default();
    options.limits.ratio_after = 1 << 20;
    let file = xz(&vec![b'\n'; 8 << 20]);
    let error = load_with(&file, &options).err().unwrap();
    assert!(matches!(error.problem, Problem::Bomb { ratio: 1000 }), "{error}");
}

#[test]
fn traces_are_read_compressed() {
    let packets: Vec<_> = (0..200).map(capture::frame4).collect();
    let list: String = (0..200).map(|n| format!("192.0.2.{n}\n")).collect();
    let pcap = capture::pcap(capture::Big, capture::ETHERNET, &packets);
    let ng = capture::everything();
    for (file, ipv4) in [(&pcap[..], 200), (list.as_bytes(), 200), (&ng[..], 3)] {
        for (codec, compress) in CODECS {
            let whole = compress(file);
            let trace = destinations_from(&whole[..], None, &Options::default()).unwrap();
            assert_eq!((trace.ipv4.len(), trace.report.codec), (ipv4, Some(codec)));
            assert_eq!(trace.report.bytes, file.len() as u64);
            assert_eq!(trace.report.input_bytes, whole.len() as u64);
            for end in whole.len() / 2..whole.len() {
                let cut = &whole[..end];
                let error = destinations_from(cut, None, &Options::default()).unwrap_err();
                assert!(matches!(error.problem, Problem::Compressed { .. }), "{codec}: {error}");
                let trace = destinations_from(cut, None, &lenient()).unwrap();
                assert!(trace.ipv4.len() <= ipv4 && trace.report.cut_off);
            }
        }
    }
    let twice = gzip(&zstd(&pcap));
    let error = destinations_from(&twice[..], None, &Options::default()).unwrap_err();
    assert!(matches!(error.problem, Problem::Nested { .. }), "{error}");
}
