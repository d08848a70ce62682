//! Prefixes, ids and tables in the forms of `serde`, for people and compact.

use longmatch::{IpPrefix, Ipv4, Ipv6, NextHopId, Prefix, Table};
use serde_test::{Configure, Token, assert_de_tokens, assert_de_tokens_error, assert_tokens};

fn p(text: &str) -> IpPrefix {
    text.parse().unwrap()
}

const V6: [u8; 17] = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32];

#[test]
fn text_in_formats_for_people() {
    assert_tokens(&p("10.0.0.0/8").readable(), &[Token::Str("10.0.0.0/8")]);
    assert_tokens(&p("2001:db8::/32").readable(), &[Token::Str("2001:db8::/32")]);
    let prefix: Prefix<Ipv4> = "10.0.0.0/8".parse().unwrap();
    assert_tokens(&prefix.readable(), &[Token::Str("10.0.0.0/8")]);
    assert_eq!(serde_json::to_string(&prefix).unwrap(), "\"10.0.0.0/8\"");
}

#[test]
fn bytes_in_compact_formats() {
    assert_tokens(&p("10.0.0.0/8").compact(), &[Token::Bytes(&[10, 0, 0, 0, 8])]);
    assert_tokens(&p("2001:db8::/32").compact(), &[Token::Bytes(&V6)]);
    let prefix: Prefix<Ipv6> = "2001:db8::/32".parse().unwrap();
    assert_tokens(&prefix.compact(), &[Token::Bytes(&V6)]);
    let seq = [10, 0, 0, 0, 8].map(Token::U8);
    let seq = [&[Token::Seq { len: Some(5) }][..], &seq, &[Token::SeqEnd]].concat();
    assert_de_tokens(&p("10.0.0.0/8").compact(), &seq);
}

#[test]
fn bad_text_is_refused_with_its_reason() {
    let error = |text| serde_json::from_str::<IpPrefix>(text).unwrap_err().to_string();
    let host_bits = error("\"10.0.0.1/8\"");
    assert!(host_bits.contains("\"10.0.0.1/8\" is not a prefix: host bits"), "{host_bits}");
    assert!(error("\"10.0.0.0\"").contains("expected address/length"));
    assert!(error("\"10.0.0.0/33\"").contains("greater than 32"));
    assert!(error("8").contains("expected a prefix"));
    assert!(serde_json::from_str::<Prefix<Ipv6>>("\"10.0.0.0/8\"").is_err());
}

#[test]
fn bad_bytes_are_refused_with_their_reason() {
    let refuse = |bytes: &'static [u8], error: &str| {
        type Compact = serde_test::Compact<IpPrefix>;
        assert_de_tokens_error::<Compact>(&[Token::Bytes(bytes)], error);
    };
    let size = "expected a prefix, as address/length or as its bytes";
    refuse(&[10, 0, 0, 0, 33], "prefix length 33 is greater than 32");
    refuse(&[10, 0, 0, 0], &format!("invalid length 4, {size}"));
    refuse(&[], &format!("invalid length 0, {size}"));
    refuse(
        &[10, 0, 0, 1, 8],
        "host bits are set after /8: mask the prefix, or use a longer length",
    );
    let long = [&[Token::Seq { len: None }][..], &[Token::U8(0); 18]].concat();
    assert_de_tokens_error::<serde_test::Compact<IpPrefix>>(
        &long,
        &format!("invalid length 18, {size}"),
    );
}

#[test]
fn ids_are_numbers_but_not_0() {
    assert_tokens(&NextHopId::new(7).unwrap(), &[Token::U32(7)]);
    let error = "invalid value: integer `0`, expected a next-hop id, at least 1";
    assert_de_tokens_error::<NextHopId>(&[Token::U32(0)], error);
}

#[test]
fn tables_are_maps_in_serde() {
    let table = Table::from([(p("10.0.0.0/8"), 1u8), (p("::/0"), 2)]);
    assert_tokens(
        &table.clone().compact(),
        &[
            Token::Map { len: Some(2) },
            Token::Bytes(&[10, 0, 0, 0, 8]),
            Token::U8(1),
            Token::Bytes(&[0; 17]),
            Token::U8(2),
            Token::MapEnd,
        ],
    );
    let json = serde_json::to_string(&table).unwrap();
    assert_eq!(json, r#"{"10.0.0.0/8":1,"::/0":2}"#);
    assert_eq!(serde_json::from_str::<Table<u8>>(&json).unwrap(), table);
    for again in ["10.0.0.0/8", "::ffff:10.0.0.0/104"] {
        let twice = format!(r#"{{"10.0.0.0/8":1,"::/0":2,"{again}":1}}"#);
        let error = serde_json::from_str::<Table<u8>>(&twice).unwrap_err().to_string();
        assert!(error.contains("the prefix 10.0.0.0/8 is there twice"), "{error}");
    }

    let error = serde_json::from_str::<Table<u8>>(r#"{"10.0.0.1/8":1}"#).unwrap_err().to_string();
    assert!(error.contains("\"10.0.0.1/8\" is not a prefix: host bits are set"), "{error}");
    let error = serde_json::from_str::<Table<u8>>("[1]").unwrap_err().to_string();
    assert!(error.contains("expected a map from prefixes to values"), "{error}");
    assert_de_tokens_error::<serde_test::Compact<Table<u8>>>(
        &[Token::Map { len: None }, Token::U8(1)],
        "invalid type: integer `1`, expected a prefix, as address/length or as its bytes",
    );
}
