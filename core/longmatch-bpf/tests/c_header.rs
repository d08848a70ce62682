//! `lm_bpf.h` in a program that clang compiles, against the RIB.

#![cfg(all(target_os = "linux", target_endian = "little"))]

use std::io::Write;
use std::path::Path;
use std::process::Command;

use longmatch::{Ipv4, Ipv6, NextHopId, Rib};
use longmatch_bpf::asm::Instruction;
use longmatch_bpf::sys::{Map, Program, ProgramKind, Run};
use longmatch_bpf::{KernelTable, Version};

fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: lm_bpf.h: {why}");
}

/// Compiles the example for a capacity; an error says why that is not possible here.
fn compile(capacity: u32) -> Result<Vec<u8>, String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join("example.bpf.o");
    let headers = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let output = Command::new("clang")
        .args(["-O2", "-Wall", "-Werror", "-target", "bpf", "-DLM_VALUE=__u8", &headers])
        .arg(format!("-DLM_CAPACITY={capacity}u"))
        .arg(format!("-I{}", dir.join("include").display()))
        .args(["-c", "-o"])
        .args([&object, &dir.join("tests/c/example.bpf.c")])
        .output()
        .map_err(|error| {
            format!("clang: {error}; `apt-get install clang libc6-dev` installs it")
        })?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(object).map_err(|error| error.to_string())
}

/// A number of an ELF file.
fn number<const N: usize>(object: &[u8], at: usize) -> usize {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&object[at..at + N]);
    u64::from_le_bytes(bytes) as usize
}

/// The content of a section of an ELF file.
fn section<'o>(object: &'o [u8], name: &str) -> &'o [u8] {
    let (headers, size) = (number::<8>(object, 0x28), number::<2>(object, 0x3a));
    let header = |section: usize| headers + section * size;
    let content = |at: usize| {
        let start = number::<8>(object, at + 0x18);
        &object[start..start + number::<8>(object, at + 0x20)]
    };
    let names = content(header(number::<2>(object, 0x3e)));
    let found = (1..number::<2>(object, 0x3c)).map(header).find(|at| {
        let text = &names[number::<4>(object, *at)..];
        text.starts_with(name.as_bytes()) && text[name.len()] == 0
    });
    content(found.unwrap_or_else(|| panic!("the object has no section {name}")))
}

/// The instructions of the program, with the map in the place where it is named.
fn program(object: &[u8], map: &Map) -> Vec<Instruction> {
    let code = section(object, "xdp").chunks_exact(8).map(|bytes| Instruction {
        code: bytes[0],
        registers: bytes[1],
        offset: i16::from_le_bytes([bytes[2], bytes[3]]),
        immediate: i32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
    });
    let mut code: Vec<_> = code.collect();
    let relocations = section(object, ".relxdp");
    assert_eq!(relocations.len(), 16, "the program names one map, once");
    let place = number::<8>(relocations, 0) / 8;
    // The source "register" 1 makes the constant a map.
    code[place].registers |= 0x10;
    code[place].immediate = map.descriptor();
    code
}

fn routes() -> (Rib<Ipv4>, Rib<Ipv6>) {
    let id = |id| NextHopId::new(id).unwrap();
    let (mut v4, mut v6) = (Rib::new(), Rib::new());
    for (number, prefix) in
        ["10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24", "192.0.2.7/32"].iter().enumerate()
    {
        v4.insert(prefix.parse().unwrap(), id(number as u32 + 1)).unwrap();
    }
    for host in (0..300_u32).map(|host| host * 7919) {
        v4.insert(longmatch::Prefix::host((0xc633_0000 + host % 65536).into()), id(9)).unwrap();
        let low = 0x2001_0db8_u128 << 96 | u128::from(host) << 40 | u128::from(host % 251);
        v6.insert(longmatch::Prefix::host(low.into()), id(host % 200 + 1)).unwrap();
    }
    for prefix in ["2001:db8:1::/48", "2001:db8:2:3::/64", "2000::/3", "fd00::/8"] {
        v6.insert(prefix.parse().unwrap(), id(5)).unwrap();
    }
    (v4, v6)
}

/// Headers of a packet from this address.
fn frame(source: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 14];
    let (kind, before): ([u8; 2], usize) =
        if source.len() == 4 { ([8, 0], 12) } else { ([0x86, 0xdd], 8) };
    frame[12..].copy_from_slice(&kind);
    frame.resize(14 + before, 0);
    frame.extend(source);
    frame.resize(64, 0);
    frame
}

#[test]
fn a_program_in_c_finds_what_the_rib_finds() {
    let (v4, v6) = routes();
    let table = KernelTable::build(&[(&v4, &v6)]).unwrap();
    let object = match compile(table.shape().capacity()) {
        Ok(object) => object,
        Err(why) => return skip(&why),
    };
    let version = match Version::load("c_header", &table) {
        Ok(version) => version,
        Err(error) => return skip(&error.to_string()),
    };
    // The example looks up an element of its map: the version itself.
    let code = program(&object, version.map());
    let program = Program::load(ProgramKind::Xdp, "c_header", &code).unwrap();
    let dropped = |source: &[u8]| program.run(&frame(source), Run::default()).unwrap().result == 1;
    let mut matches = 0;
    for range in v4.ranges() {
        for addr in [range.first, range.last] {
            let right = v4.lookup(addr.into()).is_some();
            assert_eq!(dropped(&addr.to_be_bytes()), right, "{}", std::net::Ipv4Addr::from(addr));
            matches += usize::from(right);
        }
    }
    for range in v6.ranges() {
        for addr in [range.first, range.last] {
            let right = v6.lookup(addr.into()).is_some();
            assert_eq!(dropped(&addr.to_be_bytes()), right, "{}", std::net::Ipv6Addr::from(addr));
            matches += usize::from(right);
        }
    }
    assert!(matches > 500, "{matches}");
}
