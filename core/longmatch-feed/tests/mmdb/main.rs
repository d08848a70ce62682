//! Written MaxMind DB files: read back by this crate, by the crate `maxminddb` and by readers in other languages.

#[path = "../common/mod.rs"]
mod common;
mod foreign;
mod oracle;
mod random;

use longmatch::IpPrefix;
use longmatch::table::PrefixData;
use longmatch_feed::mmdb::{MmdbError, MmdbOptions, MmdbReport, write, write_path};
use longmatch_feed::{Options, load_data_bytes};
use oracle::decoded;
use serde_json::json;

/// Prefix data from CSV with a header.
fn csv(text: &str) -> PrefixData {
    load_data_bytes(text.as_bytes(), None, &Options::default()).unwrap().0
}

fn options(fields: &[&str]) -> MmdbOptions {
    let mut options = MmdbOptions::default();
    options.fields = fields.iter().map(|field| field.parse().unwrap()).collect();
    options.build_time = Some(1_700_000_000);
    options
}

fn written(data: &PrefixData, options: &MmdbOptions) -> (Vec<u8>, MmdbReport) {
    let mut file = Vec::new();
    let report = write(data, options, &mut file).unwrap();
    assert_eq!(report.bytes, file.len() as u64);
    let reader = maxminddb::Reader::from_source(&*file).unwrap();
    reader.verify().unwrap();
    (file, report)
}

/// The record and the network of an address.
fn ask(file: &[u8], addr: &str) -> (Option<serde_json::Value>, String) {
    let reader = maxminddb::Reader::from_source(file).unwrap();
    let (record, network) = decoded(&reader, addr.parse().unwrap());
    (record, network.to_string())
}

fn refused(data: &PrefixData, options: &MmdbOptions) -> String {
    let mut file = Vec::new();
    let error = write(data, options, &mut file).unwrap_err();
    assert!(file.is_empty());
    error.to_string()
}

#[test]
fn every_type_and_nested_paths() {
    let data = csv("network,asn,site,load,id,flag,raw,delta,big,small\n\
                    10.0.0.0/8,64500,office,0.5,4294967296,1,00ff,-7,340282366920938463463374607431768211455,7\n\
                    2001:db8::/32,,,,,0,,,,\n");
    let fields = [
        "site=city.names.en",
        "asn=traits.autonomous_system_number",
        "flag=traits.is_office:boolean",
        "raw=raw:bytes",
        "big=big:uint128",
        "small=small:uint16",
    ];
    let (file, report) = written(&data, &options(&fields));
    assert_eq!((report.ip_version, report.records, report.record_size), (6, 2, 24));
    let (record, network) = ask(&file, "10.1.2.3");
    assert_eq!(network, "10.0.0.0/8");
    let expected = json!({
        "traits": {"autonomous_system_number": 64500, "is_office": true},
        "city": {"names": {"en": "office"}}, "load": 0.5, "id": 4_294_967_296_u64, "raw": "00ff",
        "delta": -7, "big": "340282366920938463463374607431768211455", "small": 7,
    });
    assert_eq!(record, Some(expected));
    let flag = json!({"traits": {"is_office": false}});
    assert_eq!(ask(&file, "2001:db8::1"), (Some(flag), "2001:db8::/32".to_owned()));
    assert_eq!(ask(&file, "11.0.0.1").0, None);
    let (data, _) = load_data_bytes(&file, None, &Options::default()).unwrap();
    let names: Vec<_> = data.columns().iter().map(|column| &*column.name).collect();
    assert!(names.starts_with(&[
        "traits.autonomous_system_number",
        "traits.is_office",
        "city.names.en"
    ]));
    // The names of a database are paths: it is written again as it was.
    let again = options(&["raw=raw:bytes", "big=big:uint128"]);
    let (copy, _) = written(&data, &again);
    assert_eq!(ask(&copy, "10.1.2.3").0.unwrap()["traits"]["autonomous_system_number"], 64500);
}

#[test]
fn records_and_texts_are_stored_once() {
    let mut text = "network,country,code\n".to_owned();
    for n in 0..2000 {
        let country = "a long name of a country ".repeat(1 + n % 2);
        text += &format!("10.{}.{}.0/24,{country},{n}\n", n / 256, n % 256);
        text += &format!("11.{}.{}.0/24,{country},{}\n", n / 256, n % 256, n % 10);
    }
    let data = csv(&text);
    let (file, report) = written(&data, &options(&["country=country.names.en"]));
    assert_eq!(report.records, 2000);
    let of = |text: &str| memchr::memmem::find_iter(&file, text).count();
    assert_eq!((of("names"), of("a long name of a country")), (1, 3));
    // A record: its control byte, two keys and a map as pointers, a number of at most 3 bytes.
    let data_bytes = report.bytes as usize - report.nodes * usize::from(report.record_size) / 4;
    assert!(data_bytes < 2000 * 10 + 500, "{data_bytes}");
    // Long texts: every form of a size, and pointers beyond their first two forms.
    let lengths = [0, 1, 28, 29, 284, 285, 65_820, 65_821, 300_000];
    let mut text = "network,text\n".to_owned();
    for (n, len) in lengths.iter().enumerate() {
        text += &format!(
            "10.0.{n}.0/24,{}\n11.0.{n}.0/24,\"{}\"\n",
            "x".repeat(*len),
            "y".repeat(*len)
        );
    }
    let mut long = Options::default();
    long.limits.line = 1 << 20;
    let (data, _) = load_data_bytes(text.as_bytes(), None, &long).unwrap();
    let (file, _) = written(&data, &options(&["text=a.b"]));
    for (n, len) in lengths.iter().enumerate().skip(1) {
        let (record, _) = ask(&file, &format!("11.0.{n}.1"));
        assert_eq!(record.unwrap()["a"]["b"].as_str().unwrap().len(), *len);
    }
}

#[test]
fn the_same_input_makes_the_same_bytes() {
    let data = csv("network,a,b\n10.0.0.0/8,1,x\n2001:db8::/32,2,y\n10.1.0.0/16,2,y\n");
    let (file, _) = written(&data, &options(&[]));
    // Rows in another order have other ids.
    let other = csv("network,a,b\n2001:db8::/32,2,y\n10.1.0.0/16,2,y\n10.0.0.0/8,1,x\n");
    assert_eq!(written(&other, &options(&[])).0, file);
    let dir = std::env::temp_dir().join(format!("longmatch-mmdb-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("x.mmdb");
    write_path(&data, &options(&[]), &path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), file);
    // A failure leaves the old file, and no other.
    assert!(matches!(
        write_path(&data, &options(&["a=b.c"]), &path),
        Err(MmdbError::Collision { .. })
    ));
    assert_eq!(std::fs::read(&path).unwrap(), file);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn metadata_are_those_of_the_options() {
    let mut options = options(&[]);
    options.database_type = "GeoLite2-City".to_owned();
    options.languages = vec!["en".to_owned(), "de".to_owned()];
    options.descriptions = vec![("de".to_owned(), "Orte".to_owned())];
    let (file, report) = written(&csv("net,a\n10.0.0.0/8,1\n"), &options);
    let reader = maxminddb::Reader::from_source(&*file).unwrap();
    let metadata = reader.metadata();
    assert_eq!((&*metadata.database_type, metadata.build_epoch), ("GeoLite2-City", 1_700_000_000));
    assert_eq!((&metadata.languages, metadata.ip_version), (&options.languages, 4));
    assert_eq!((&*metadata.description["de"], metadata.node_count), ("Orte", report.nodes as u32));
    options.descriptions[0].1 = "x".repeat(200 << 10);
    assert!(refused(&csv("net,a\n10.0.0.0/8,1\n"), &options).contains("128 KiB"));
}

#[test]
fn ipv4_and_ipv6_meet_in_one_tree() {
    let text = "net,a\n::/0,v6\n2000::/3,v6\n10.0.0.0/8,v4\n192.0.2.0/24,v4\n";
    let (file, _) = written(&csv(text), &options(&[]));
    let get =
        |addr: &str| ask(&file, addr).0.map(|record| record["a"].as_str().unwrap().to_owned());
    for (addr, expected) in [
        ("10.1.1.1", Some("v4")),
        ("::ffff:10.1.1.1", Some("v4")),
        ("::10.1.1.1", Some("v4")),
        ("8.8.8.8", None),
        ("::ffff:8.8.8.8", None),
        ("::1:0:0:1", Some("v6")),
        ("2002:a01:101::", Some("v6")),
        ("2001:0:a01:101::", Some("v6")),
        ("ffff::", Some("v6")),
    ] {
        assert_eq!(get(addr).as_deref(), expected, "{addr}");
    }
    assert_eq!(ask(&file, "2002:a01:101::").1, "2000::/3");
    let mut aliases = options(&[]);
    aliases.aliases = true;
    let (file, _) = written(&csv(text), &aliases);
    assert_eq!(ask(&file, "2002:a01:101::").0, Some(json!({"a": "v4"})));
    assert_eq!(ask(&file, "2001:0:a01:101::").0, Some(json!({"a": "v4"})));
    assert_eq!(ask(&file, "2002:808:808::").0, None);
    assert_eq!(ask(&file, "2003::").0, Some(json!({"a": "v6"})));
    let (read, _) = load_data_bytes(&file, None, &Options::default()).unwrap();
    assert_eq!(read.table().ipv4().len(), 2);
}

#[test]
fn prefixes_without_a_place_of_their_own_are_errors() {
    let teredo = csv("net,a\n2001::/32,1\n10.0.0.0/8,2\n");
    let mut with = options(&[]);
    assert_eq!(ask(&written(&teredo, &with).0, "2001::1").0, Some(json!({"a": 1})));
    with.aliases = true;
    let error = refused(&teredo, &with);
    assert!(error.starts_with("2001::/32: addresses of 2001::/32 would have"), "{error}");
    let inside = refused(&csv("net,a\n2002:a00::/24,1\n10.0.0.0/8,2\n"), &with);
    assert!(inside.starts_with("2002:a00::/24: addresses of 2002::/16"), "{inside}");
    let compatible = csv("net,a\n::1/128,1\n::/128,2\n2001:db8::/32,2\n::/8,3\n");
    let mut with = options(&[]);
    let error = refused(&compatible, &with);
    assert!(error.starts_with("::/128: a MaxMind DB has the IPv4 addresses at ::/96"), "{error}");
    with.drop_compatible = true;
    let (file, report) = written(&compatible, &with);
    assert_eq!((report.dropped, ask(&file, "0.0.0.1").0), (2, None));
    assert_eq!(ask(&file, "::2:0:0:1").0, Some(json!({"a": 3})));
}

#[test]
fn paths_and_cells_that_do_not_fit_are_errors() {
    let data = csv("net,a,b.c,d\n10.0.0.0/8,1,x,-3000000000\n10.1.0.0/16,2,,5\n");
    let refused = |fields: &[&str]| refused(&data, &options(fields));
    assert_eq!(
        refused(&[]),
        "10.0.0.0/8: column 'd': '-3000000000' is not a value of the type int32, the only signed \
         integer: double or string may hold it"
    );
    for (fields, error) in [
        (["d=b"], "column 'd': the path 'b' collides with that of another column"),
        (["d=b.c.x"], "column 'd': the path 'b.c.x' collides"),
        (["a=d"], "column 'd': the path 'd' collides"),
        (["e=x"], "no column is named 'e': the columns are a, b.c, d"),
        (["b.c=x:boolean"], "10.0.0.0/8: column 'b.c': 'x' is not a value of the type boolean"),
        (["d=d:uint64"], "10.0.0.0/8: column 'd': '-3000000000' is not a value of the type uint64"),
    ] {
        let found = refused(&fields);
        assert!(found.starts_with(error), "{found}");
    }
    let (file, _) = written(&data, &options(&["d=d:double", "a=b.a:string"]));
    let expected = json!({"b": {"a": "1", "c": "x"}, "d": -3e9});
    assert_eq!(ask(&file, "10.2.0.0").0, Some(expected));
    for wrong in ["a", "a=", "=x", "a=b..c", "a=b:u32"] {
        assert!(wrong.parse::<longmatch_feed::mmdb::MmdbField>().is_err(), "{wrong}");
    }
    let dots = csv("net,a..b\n10.0.0.0/8,1\n");
    assert!(write(&dots, &options(&[]), Vec::new()).is_err());
    assert!(write(&dots, &options(&["a..b=x"]), Vec::new()).is_ok());
}

#[test]
fn sets_and_empty_data() {
    let (file, report) = written(&PrefixData::default(), &options(&[]));
    assert_eq!((report.nodes, ask(&file, "10.0.0.1")), (1, (None, "0.0.0.0/1".to_owned())));
    let mut set = PrefixData::default();
    for prefix in ["10.0.0.0/9", "10.128.0.0/9", "192.0.2.1/32"] {
        set.insert(prefix.parse::<IpPrefix>().unwrap(), [].into()).unwrap();
    }
    let (file, _) = written(&set, &options(&[]));
    assert_eq!(ask(&file, "10.200.0.1"), (Some(json!({})), "10.0.0.0/8".to_owned()));
    assert_eq!(ask(&file, "192.0.2.1").1, "192.0.2.1/32");
}
