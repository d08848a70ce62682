//! Programs outside the library's tree that use an installed copy: an nginx module, a file for LuaJIT, a loop over
//! bursts of packets beside DPDK's tables. Tests whose programs are missing are skipped, with the packages to install.

#[path = "../c/tools.rs"]
#[allow(dead_code, reason = "the tests in C use all of it")]
mod tools;

mod nginx;

use std::fmt::Write as _;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::process::Command;

use longmatch::IpPrefix;
use longmatch::file::FileSpec;
use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
use tools::{Dir, built, compiler, has, skipped, source, succeed};

/// A generator of numbers: splitmix64.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// An address in 10/8 or 2001:db8::/32, where the routes are; one of eight is elsewhere.
    pub fn address(&mut self) -> IpAddr {
        let (bits, elsewhere) = (self.next(), self.below(8) == 0);
        match self.below(2) {
            0 if elsewhere => Ipv4Addr::from_bits(bits as u32).into(),
            0 => Ipv4Addr::from_bits(10 << 24 | bits as u32 >> 8).into(),
            _ if elsewhere => Ipv6Addr::from_bits(u128::from(bits) << 64 | 1).into(),
            _ => Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(bits) << 32).into(),
        }
    }
}

/// Thousands of routes of both families; the texts begin with a word.
pub fn data(word: &str) -> PrefixData {
    let columns = [
        Column::new("site", ColumnType::String),
        Column::new("asn", ColumnType::U64),
        Column::new("balance", ColumnType::I64),
        Column::new("latitude", ColumnType::F64),
    ];
    let mut data = PrefixData::new(columns.into()).unwrap();
    let mut random = Random(7);
    for i in 0..6000 {
        let length = random.below(20) as u8;
        let prefix = match random.address() {
            address @ IpAddr::V4(_) => IpPrefix::masked(address, 9 + length),
            address @ IpAddr::V6(_) => IpPrefix::masked(address, 33 + length),
        };
        // The largest numbers, too, and cells without a value.
        let row: Row = match random.below(9) {
            0 => [Cell::Null, Cell::Null, Cell::Null, Cell::Null].into(),
            1 => [
                Cell::String("".into()),
                Cell::U64(u64::MAX),
                Cell::I64(i64::MIN),
                Cell::F64(0.1 + 0.2),
            ]
            .into(),
            kind => [
                Cell::String(format!("{word}site {}", i % 50).into()),
                Cell::U64(64496 + kind),
                Cell::I64(-(kind as i64)),
                Cell::F64(kind as f64 / 8.0),
            ]
            .into(),
        };
        data.insert(prefix.unwrap(), row).unwrap();
    }
    let office = [
        Cell::String(format!("{word}office").into()),
        Cell::U64(64500),
        Cell::I64(-5),
        Cell::F64(1.5),
    ];
    data.insert("10.1.2.3/32".parse::<IpPrefix>().unwrap(), office.into()).unwrap();
    data
}

/// The cells of an address between bars, by the routes and not by a compiled table.
pub fn cells(data: &PrefixData, address: IpAddr) -> Option<String> {
    let row = data.table().lookup(address)?;
    let cells = row.iter().map(|cell| match cell {
        Cell::Null => String::new(),
        cell => cell.to_string(),
    });
    Some(cells.collect::<Vec<_>>().join("|"))
}

/// The longest prefix that covers an address.
fn longest(data: &PrefixData, address: IpAddr) -> Option<IpPrefix> {
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let covering = |length| IpPrefix::masked(address, length).ok();
    (0..=longest).rev().filter_map(covering).find(|prefix| data.table().contains(*prefix))
}

/// Writes a compiled file.
pub fn table(data: &PrefixData, path: PathBuf) -> PathBuf {
    FileSpec::default().write(data, &path).unwrap();
    path
}

/// Installs what cargo has built for the tests: the prefix.
pub fn installed(dir: &Dir) -> PathBuf {
    let prefix = dir.path("usr");
    let mut install = Command::new("sh");
    succeed(install.arg(source("install.sh")).arg(built("")).arg(&prefix).env_remove("DESTDIR"));
    prefix
}

/// pkg-config with the installed copy.
pub fn pkg_config(prefix: &Path) -> Command {
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    command
}

#[test]
fn luajit() {
    if compiler("cc", "luajit").is_none() {
        return;
    }
    if Command::new("luajit").arg("-v").output().is_err() {
        skipped("luajit", "luajit", "luajit");
        return;
    }
    let dir = Dir::new("luajit");
    let prefix = installed(&dir);
    let (data, other) = (data(""), data("other "));
    let mut random = Random(11);
    let mut lines = String::new();
    for _ in 0..5000 {
        let address = random.address();
        let prefix = longest(&data, address);
        let prefix = prefix.map_or("-".into(), |prefix| prefix.to_string());
        writeln!(lines, "{address}|{prefix}|{}", cells(&data, address).unwrap_or_default())
            .unwrap();
    }
    fs::write(dir.path("answers"), lines).unwrap();
    let mut run = Command::new("luajit");
    run.arg(source("consumers/luajit/test.lua"));
    run.arg(table(&data, dir.path("table.lm"))).arg(table(&other, dir.path("other.lm")));
    run.arg(dir.path("answers"));
    run.env("LUA_PATH", source("consumers/luajit/?.lua"));
    let output = succeed(run.env("LD_LIBRARY_PATH", prefix.join("lib")));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "5000 addresses\n");
}

#[test]
fn dpdk() {
    let Some(compiler) = compiler("cc", "dpdk") else { return };
    let packages = "pkg-config libdpdk-dev";
    if !has("pkg-config")
        || !Command::new("pkg-config").args(["--exists", "libdpdk"]).status().unwrap().success()
    {
        skipped("dpdk", "libdpdk", packages);
        return;
    }
    let dir = Dir::new("dpdk");
    let prefix = installed(&dir);
    let flags = |option: &str| -> Vec<String> {
        let output = succeed(pkg_config(&prefix).args([option, "libdpdk", "longmatch"]));
        String::from_utf8_lossy(&output.stdout).split_whitespace().map(String::from).collect()
    };
    let program = dir.path("burst");
    let mut compile = Command::new(compiler);
    compile.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]).args(flags("--cflags"));
    compile.arg("-o").arg(&program).arg(source("consumers/dpdk/burst.c")).args(flags("--libs"));
    succeed(&mut compile);
    let mut random = Random(13);
    let mut files = [String::new(), String::new()];
    for (prefix, _) in data("").table().iter() {
        let file = &mut files[usize::from(prefix.addr().is_ipv6())];
        writeln!(file, "{prefix} {}", 1 + random.below(32_767)).unwrap();
    }
    for (text, name) in files.iter().zip(["rte_fib", "rte_fib6"]) {
        let routes = dir.path("routes");
        fs::write(&routes, text).unwrap();
        let mut run = Command::new(&program);
        run.arg(&routes).arg("1").env("LD_LIBRARY_PATH", prefix.join("lib"));
        let output = String::from_utf8(succeed(&mut run).stdout).unwrap();
        assert!(output.starts_with(&format!("{} routes", text.lines().count())), "{output}");
        for traffic in ["random", "routed"] {
            let equal = format!("{traffic}: 1048576 answers of 3 tables equal, sum ");
            let sum = output.split(&equal).nth(1).and_then(|rest| rest.lines().next());
            // Few random addresses have a route.
            assert!(sum.is_some_and(|sum| sum != "0" || traffic == "random"), "{output}");
        }
        assert!(output.contains(&format!("{name}, 4 bytes")), "{output}");
    }
}
