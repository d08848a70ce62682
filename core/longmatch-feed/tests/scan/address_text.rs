//! The parsers of addresses against those of the standard library.

use std::net::{Ipv4Addr, Ipv6Addr};

use longmatch_feed::{parse_ip, parse_ipv4, parse_ipv6};

use super::Random;

/// Compares both parsers, and that of either family, with the standard library's.
#[track_caller]
fn compare(text: &str) {
    let bytes = text.as_bytes();
    let ipv4 = text.parse::<Ipv4Addr>().ok();
    let ipv6 = text.parse::<Ipv6Addr>().ok();
    assert_eq!(parse_ipv4(bytes), ipv4.map(u32::from), "{text:?}");
    assert_eq!(parse_ipv6(bytes), ipv6.map(u128::from), "{text:?}");
    assert_eq!(parse_ip(bytes), text.parse().ok(), "{text:?}");
}

const CASES: usize = 200_000;

#[test]
fn addresses_as_printed() {
    let mut random = Random(1);
    for _ in 0..CASES {
        let sparse = random.next() & random.next() & random.next();
        let bits = u128::from(random.next()) << 64 | u128::from(sparse);
        let keep = bits & random.next().rotate_left(7) as i64 as i128 as u128;
        compare(&Ipv4Addr::from(bits as u32).to_string());
        compare(&Ipv6Addr::from(bits).to_string());
        compare(&Ipv6Addr::from(keep).to_string());
        compare(&Ipv6Addr::from(u128::from(sparse)).to_string().to_uppercase());
    }
}

#[test]
fn every_octet_in_every_place() {
    for octet in 0..1100 {
        for text in [format!("{octet}"), format!("0{octet}"), format!("00{octet}")] {
            compare(&format!("{text}.2.3.4"));
            compare(&format!("1.{text}.3.4"));
            compare(&format!("1.2.{text}.4"));
            compare(&format!("1.2.3.{text}"));
            compare(&format!("::1.2.3.{text}"));
        }
    }
}

#[test]
fn random_text_of_the_alphabet() {
    let mut random = Random(2);
    let alphabets = ["0123.", "0123456789.", ":01", "01abF:.", "0123456789abcdefABCDEF:.%/ "];
    for _ in 0..CASES * 3 {
        let alphabet = alphabets[random.below(alphabets.len())].as_bytes();
        let len = random.below(48);
        let text: String =
            (0..len).map(|_| char::from(alphabet[random.below(alphabet.len())])).collect();
        compare(&text);
    }
}

#[test]
fn addresses_with_an_edit() {
    let mut random = Random(3);
    let bytes = b"0123456789abcdefg:.%/ -+\0\x7f";
    for _ in 0..CASES {
        let bits = u128::from(random.next() & random.next()) << 64
            | u128::from(random.next() & random.next() & random.next());
        let text = match random.below(4) {
            0 | 1 => Ipv4Addr::from(bits as u32).to_string(),
            2 => Ipv6Addr::from(bits).to_string(),
            _ => format!("{}:{}", "1:2:3:4:5:6", Ipv4Addr::from(bits as u32)),
        };
        let mut text = text.into_bytes();
        let (at, byte) = (random.below(text.len()), bytes[random.below(bytes.len())]);
        match random.below(3) {
            0 => text[at] = byte,
            1 => text.insert(at, byte),
            _ => drop(text.remove(at)),
        }
        compare(&String::from_utf8(text).expect("ASCII"));
    }
}

#[test]
fn odd_texts() {
    let texts = "|.|...|1|1.2.3|1.2.3.|.1.2.3|1..2.3|1.2.3.4.|1.2.3.4.5|256.1.1.1|0.0.0.0|00.0.0.0|\
         255.255.255.255|2555.1.1.1| 1.2.3.4|1.2.3.4 |1.2.3.4\n|+1.2.3.4|1.2.3.-4|0x1.2.3.4|\
         1.2.3.4/32|::|:|:::|::1|1::|1::2::3|:1|1:|1:2:3:4:5:6:7:8|1:2:3:4:5:6:7:8:|\
         1:2:3:4:5:6:7:8:9|1:2:3:4:5:6:7::|1:2:3:4:5:6:7:8::|::1:2:3:4:5:6:7|::1:2:3:4:5:6:7:8|\
         1:2:3:4::5:6:7:8|1:2:3::5:6:7:8|12345::|0001::|00001::|::ffff:1.2.3.4|::1.2.3.4|\
         1:2:3:4:5:6:1.2.3.4|1:2:3:4:5:6:7:1.2.3.4|1:2:3:4:5:1.2.3.4|::1.2.3.4:5|::1.2.3|\
         ::1.2.3.4.5|::ffff:256.1.1.1|1.2.3.4::|1:2:3:4:5:6:7:1.2.3.4|::1:2:3:4:5:1.2.3.4|\
         ::1:2:3:4:5:6:1.2.3.4|fe80::1%eth0|[::1]|::g|::/0|ABCD:ef01::|0:0:0:0:0:0:0:0|\
         ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255|ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff|\
         １.２.３.４|1.2.3.４|::é|\u{0}";
    texts.split('|').for_each(compare);
}
