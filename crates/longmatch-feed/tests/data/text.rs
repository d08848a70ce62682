//! Delimited text, lists, pyasn and pfx2as.

use longmatch::table::ColumnType;
use longmatch_feed::{DataLoader, Delimiter, Duplicates, Format, Options, Place};

use crate::show::{check, check_with, columns, error, error_with, load_with, rows};

const COMMA: &str = "text with the delimiter comma, with a header";

/// Options changed by a closure.
fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

#[test]
fn a_header_names_the_columns() {
    check(
        "network,asn,site,load\n192.0.2.0/24,64500,office,0.5\n2001:db8::/32,64501,,-2\n",
        COMMA,
        "asn:u64 site:string load:f64",
        &["192.0.2.0/24 64500|office|0.5", "2001:db8::/32 64501|~|-2"],
    );
    // The prefixes may be in any column.
    check(
        "asn,when,range\nAS1,-1,192.0.2.0-192.0.2.2\nAS2,7,2001:db8::1\n",
        COMMA,
        "asn:string when:i64",
        &["192.0.2.0/31 AS1|-1", "192.0.2.2/32 AS1|-1", "2001:db8::1/128 AS2|7"],
    );
}

#[test]
fn without_a_header_columns_have_numbers() {
    check(
        "192.0.2.0/24,64500,office\n198.51.100.0/24,64501,lab\n",
        "text with the delimiter comma, without a header",
        "column2:u64 column3:string",
        &["192.0.2.0/24 64500|office", "198.51.100.0/24 64501|lab"],
    );
}

#[test]
fn every_delimiter_is_recognised() {
    let expected = ["10.0.0.0/8 1|a", "10.1.0.0/16 2|b"];
    for (delimiter, name) in
        [(",", "comma"), ("\t", "tab"), (";", "semicolon"), ("|", "bar"), ("  ", "white space")]
    {
        let text = "prefix,asn,name\n10.0.0.0/8,1,a\n10.1.0.0/16,2,b\n".replace(',', delimiter);
        let name = format!("text with the delimiter {name}, with a header");
        check(&text, &name, "asn:u64 name:string", &expected);
    }
    // A delimiter inside the cells of another one.
    check(
        "net;names;x\n10.0.0.0/8;a,b,c;1\n10.1.0.0/16;d,e,f;2\n",
        "text with the delimiter semicolon, with a header",
        "names:string x:u64",
        &["10.0.0.0/8 a,b,c|1", "10.1.0.0/16 d,e,f|2"],
    );
}

#[test]
fn odd_texts() {
    // A byte-order mark, CRLF, comments, blank lines, spaces around cells, no final line end.
    check(
        "\u{feff}network,name\r\n# c\r\n\r\n 10.0.0.0/8 , a b \r\n10.1.0.0/16,\"c, d\"",
        COMMA,
        "name:string",
        &["10.0.0.0/8 a b", "10.1.0.0/16 c, d"],
    );
    // Line ends and quotation marks in cells.
    check(
        "network,name,n\n10.0.0.0/8,\"a\n\"\"b\"\"\n\nc\",1\n10.1.0.0/16,5\" disk,2\n",
        COMMA,
        "name:string n:u64",
        &["10.0.0.0/8 a\n\"b\"\n\nc|1", "10.1.0.0/16 5\" disk|2"],
    );
    // Names that are missing, doubled or quoted; a delimiter at the end of each row.
    check(
        "\"network\",x,,x,x_2,\n10.0.0.0/8,1,2,3,4,\n",
        COMMA,
        "x:u64 column3:u64 x_2:u64 x_2_2:u64 column6:string",
        &["10.0.0.0/8 1|2|3|4|~"],
    );
    check("network,a\n10.0.0.0/8,1,,,\n", COMMA, "a:u64", &["10.0.0.0/8 1"]);
    // Rows of thousands of bytes.
    let wide = "x".repeat(100_000);
    check(
        &format!("network,a,b\n10.0.0.0/8,{wide},1\n"),
        COMMA,
        "a:string b:u64",
        &[&format!("10.0.0.0/8 {wide}|1")],
    );
}

#[test]
fn texts_without_rows() {
    check("", "a list of prefixes", "", &[]);
    check("\n# nothing\n", "a list of prefixes", "", &[]);
    check("network,asn\n", COMMA, "asn:string", &[]);
    let (_, report) = load_with(b"network,asn\n", &Options::default()).unwrap();
    assert_eq!(report.warnings(), ["no prefixes were read"]);
}

#[test]
fn lists_are_sets() {
    check(
        "; Spamhaus DROP\n10.0.0.0/8 ; SBL1\n192.0.2.1\n2001:db8::/32 # x\n10.0.0.0 - 10.0.0.1\n",
        "a list of prefixes",
        "",
        &["10.0.0.0/8 ", "10.0.0.0/31 ", "192.0.2.1/32 ", "2001:db8::/32 "],
    );
    let one = "text with the delimiter tab, with a header";
    check("network\n10.0.0.0/8\n", one, "", &["10.0.0.0/8 "]);
    let set = load_with(b"::ffff:192.0.2.1\n::ffff:10.0.0.0/104\n", &Options::default());
    assert_eq!(rows(&set.unwrap().0), ["10.0.0.0/8 ", "192.0.2.1/32 "]);
}

#[test]
fn tables_of_pyasn_and_caida() {
    check(
        "; IP-ASN32-DAT file\n; Original\n1.0.0.0/24\t13335\n2001:db8::/32\t64500\n",
        "pyasn",
        "asn:u64",
        &["1.0.0.0/24 13335", "2001:db8::/32 64500"],
    );
    check(
        "1.0.0.0\t24\t13335\n1.0.4.0\t22\t1_2\n1.0.8.0\t24\t3,4_5\n2001:db8::\t32\t6\n",
        "pfx2as",
        "asn:string",
        &["1.0.0.0/24 13335", "1.0.4.0/22 1_2", "1.0.8.0/24 3,4_5", "2001:db8::/32 6"],
    );
    let pyasn = options(|options| options.format = Format::PyAsn);
    check_with("1.0.0.0/24\t1\n", &pyasn, "asn:u64", &["1.0.0.0/24 1"]);
    let caida = options(|options| options.format = Format::Pfx2As);
    check_with("1.0.0.0 24 1\n", &caida, "asn:u64", &["1.0.0.0/24 1"]);
}

#[test]
fn options_choose_columns_and_types() {
    let text = "asn,network,who\nAS1,10.0.0.0/8,007\nAS2,10.1.0.0/16,008\n";
    check(text, COMMA, "asn:string who:string", &["10.0.0.0/8 AS1|007", "10.1.0.0/16 AS2|008"]);
    let chosen = options(|options| {
        options.columns = Some(vec!["3=name".parse().unwrap(), "asn".parse().unwrap()]);
        options.types = vec![("asn".into(), ColumnType::U64)];
    });
    check_with(text, &chosen, "name:string asn:u64", &["10.0.0.0/8 007|1", "10.1.0.0/16 008|2"]);
    let set = options(|options| options.columns = Some(Vec::new()));
    check_with(text, &set, "", &["10.0.0.0/8 ", "10.1.0.0/16 "]);
    let kept =
        options(|options| options.columns = Some(vec!["network=as written".parse().unwrap()]));
    check_with(
        text,
        &kept,
        "as written:string",
        &["10.0.0.0/8 10.0.0.0/8", "10.1.0.0/16 10.1.0.0/16"],
    );
}

#[test]
fn options_choose_the_prefix() {
    let text = "a,b,c\n10.0.0.1,10.0.0.9,1\n10.0.1.1,10.0.1.9,2\n";
    let first = ["10.0.0.1/32 10.0.0.9|1", "10.0.1.1/32 10.0.1.9|2"];
    check(text, COMMA, "b:string c:u64", &first);
    let second = options(|options| options.prefix = vec!["b".into()]);
    let expected = ["10.0.0.9/32 10.0.0.1|1", "10.0.1.9/32 10.0.1.1|2"];
    check_with(text, &second, "a:string c:u64", &expected);
    let range = options(|options| options.prefix = vec!["1".into(), "2".into()]);
    let (data, report) = load_with(text.as_bytes(), &range).unwrap();
    assert_eq!((columns(&data), report.ranges), ("c:u64".to_owned(), 2));
    let length = options(|options| options.prefix = vec!["ip".into(), "mask".into()]);
    let expected = ["10.0.0.0/8 1", "10.1.0.0/16 2"];
    for text in [
        "ip,mask,c\n10.0.0.0,8,1\n10.1.0.0,16,2\n",
        "ip,mask,c\n10.0.0.0,255.0.0.0,1\n10.1.0.0,255.255.0.0,2\n",
    ] {
        check_with(text, &length, "c:u64", &expected);
        let name = "text of addresses and lengths with the delimiter comma, with a header";
        check(text, name, "c:u64", &expected);
    }
}

#[test]
fn options_override_what_is_recognised() {
    // Two words are a next hop without these options.
    let named = options(|options| options.delimiter = Some(Delimiter::Whitespace));
    check_with("10.0.0.0/8 a\n", &named, "column2:string", &["10.0.0.0/8 a"]);
    let header = options(|options| options.header = Some(true));
    check_with("10.0.0.0/8,1\n10.1.0.0/16,2\n", &header, "1:u64", &["10.1.0.0/16 2"]);
    let without = options(|options| options.header = Some(false));
    assert!(
        error_with("network,1\n10.1.0.0/16,2\n", &without).contains("line 1: column 'column1'")
    );
    let masked = options(|options| options.mask_host_bits = true);
    check_with("network,a\n10.0.0.1/8,1\n", &masked, "a:u64", &["10.0.0.0/8 1"]);
}

#[test]
fn errors_name_the_line_the_column_and_the_format() {
    assert_eq!(
        error("network,a\n10.0.0.0/8,1\n10.0.0.1/8,2\n10.1.0.0/16,3\n"),
        "input: line 3: column 'network': '10.0.0.1/8' is not a prefix, an address or a range: \
         host bits are set after /8: mask the prefix, or use a longer length (read as text with the \
         delimiter comma, with a header)"
    );
    let width = error("network,a\n10.0.0.0/8,1\n10.1.0.0/16,2,3\n");
    assert!(width.starts_with("input: line 3: the row has 3 cells for 2 columns: look"), "{width}");
    let width = error("network,a\n10.0.0.0/8,1\n10.1.0.0/16\n");
    assert!(width.contains("line 3: the row has 1 cell for 2 columns"), "{width}");
    let empty = error("network,a\n10.0.0.0/8,1\n,2\n");
    assert!(empty.contains("line 3: column 'network': '' is not a prefix"), "{empty}");
    let typed = options(|options| options.types = vec![("a".into(), ColumnType::U64)]);
    let ty = error_with("network,a\n10.0.0.0/8,\"x\ny\"\n", &typed);
    assert!(ty.contains("line 2: column 'a': 'x\\ny' is not of the type u64"), "{ty}");
    let quote = error("network,a\n10.0.0.0/8,\"1\n10.1.0.0/16,2\n");
    assert!(quote.contains("line 2: the row is longer than"), "{quote}");
    let first = error("10.0.0.0/33,a\n10.0.0.0/8,1\n");
    assert!(first.contains("line 1: column 'column1': '10.0.0.0/33' is not a prefix"), "{first}");
    assert!(error("network,a\n10.0.0.0/8,\0\n").contains("line 2: the line has a NUL byte"));
}

#[test]
fn options_that_do_not_fit_are_errors() {
    let text = "network,a\n10.0.0.0/8,1\n";
    let column = options(|options| options.columns = Some(vec!["b".parse().unwrap()]));
    assert_eq!(
        error_with(text, &column),
        "input: no column is named 'b': the columns are network, a (read as text with the delimiter \
         comma, with a header)"
    );
    let prefix = options(|options| options.prefix = vec!["b".into()]);
    assert!(error_with(text, &prefix).contains("no column is named 'b'"));
    let three = options(|options| options.prefix = vec!["1".into(), "2".into(), "3".into()]);
    assert!(error_with(text, &three).contains("3 columns are named for the prefixes"));
    let twice = options(|options| {
        options.columns = Some(vec!["a".parse().unwrap(), "2".parse().unwrap()]);
    });
    assert!(error_with(text, &twice).contains("two columns are named 'a'"));
    assert!(error("name,a\nx,1\ny,2\n").contains("no column has prefixes"));
    assert!(error("some words\nof prose that go on\n").contains("not a known format"));
}

#[test]
fn a_lenient_load_skips_damaged_rows() {
    let text = "network,a\n10.0.0.0/8,1\n10.0.0.0/33,2\n10.1.0.0/16,3,4\n10.2.0.0/16,5\n";
    let lenient = options(|options| options.lenient = true);
    let (data, report) = load_with(text.as_bytes(), &lenient).unwrap();
    assert_eq!(rows(&data), ["10.0.0.0/8 1", "10.2.0.0/16 5"]);
    assert_eq!((report.damaged, report.rows, report.lines), (2, 2, 5));
    assert_eq!(report.first_damage.unwrap().place, Place::Line(3));
    let all = "network,a\n10.0.0.0/33,1\n";
    assert!(error_with(all, &lenient).contains("nothing could be read: line 2: column 'network'"));
    let latin = [b"network,a\n10.0.0.0/8,1\n10.1.0.0/16,".as_slice(), b"\xe9\n"].concat();
    let (data, report) = load_with(&latin, &lenient).unwrap();
    assert_eq!((rows(&data).len(), report.damaged), (1, 1));
}

#[test]
fn later_rows_replace_earlier_ones() {
    let text = "network,a\n10.0.0.0/8,x\n10.0.0.0/8,1\n";
    check(text, COMMA, "a:u64", &["10.0.0.0/8 1"]);
    let (data, report) = load_with(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!((report.rows, report.replaced, data.table().len()), (2, 1, 1));
}

#[test]
fn several_inputs_have_the_columns_of_all() {
    let mut loader = DataLoader::new(Options::default());
    loader.bytes(b"network,a,b\n10.0.0.0/8,1,x\n10.1.0.0/16,2,y\n", Some("one")).unwrap();
    loader.bytes(b"c;a;net\nz;-7;10.1.0.0/16\n", Some("two")).unwrap();
    loader.bytes(b"10.2.0.0/16\n", Some("three")).unwrap();
    loader.bytes(b"10.3.0.0/16 192.0.2.1\n", Some("four")).unwrap();
    assert_eq!((loader.len(), loader.is_empty()), (4, false));
    // The options of each input are its own.
    loader.options_mut().duplicates = Duplicates::First;
    loader.bytes(b"network,a\n10.0.0.0/8,9\n", Some("five")).unwrap();
    let data = loader.finish().unwrap();
    assert_eq!(columns(&data), "a:i64 b:string c:string next_hop:string");
    assert_eq!(
        rows(&data),
        [
            "10.0.0.0/8 1|x|~|~",
            "10.1.0.0/16 -7|~|z|~",
            "10.2.0.0/16 ~|~|~|~",
            "10.3.0.0/16 ~|~|~|192.0.2.1",
        ]
    );
}

#[test]
fn limits_bound_columns_and_rows() {
    let text = "network,a,b\n10.0.0.0/8,1,2\n10.1.0.0/16,3,4\n";
    let columns = options(|options| options.limits.columns = 2);
    assert!(error_with(text, &columns).contains("more than 2 columns"));
    let rows = options(|options| options.limits.rows = 60);
    assert!(error_with(text, &rows).contains("the distinct rows take more than 60 bytes"));
    let row = options(|options| options.limits.row = 14);
    assert!(error_with(text, &row).contains("line 3: the line is longer than 14 bytes"));
}
