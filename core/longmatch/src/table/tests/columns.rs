//! Tests of prefix data made from routes that share rows.

use super::*;

fn columns() -> Vec<Column> {
    vec![Column::new("asn", ColumnType::U64), Column::new("site", ColumnType::String)]
}

fn row(asn: u64, site: &str) -> Row {
    [Cell::U64(asn), Cell::String(site.into())].into()
}

/// Ribs with these prefixes and next hops.
fn ribs(routes: &[(&str, u32)]) -> (Rib<Ipv4>, Rib<Ipv6>) {
    let mut ribs = (Rib::new(), Rib::new());
    for (prefix, id) in routes {
        let id = NextHopId::new(*id).unwrap();
        let old = match p(prefix) {
            IpPrefix::V4(prefix) => ribs.0.insert(prefix, id),
            IpPrefix::V6(prefix) => ribs.1.insert(prefix, id),
        };
        assert_eq!(old, Ok(None));
    }
    ribs
}

fn data(rows: Vec<Row>, routes: &[(&str, u32)]) -> Result<PrefixData, ColumnError> {
    let (ipv4, ipv6) = ribs(routes);
    PrefixData::from_routes(columns(), rows, ipv4, ipv6)
}

/// The same data as by [`PrefixData::insert`], whatever rows are equal, unused or of both families.
#[test]
fn shared_rows_are_those_of_single_insertions() {
    let rows = [row(1, "a"), row(2, "b"), row(1, "a"), row(9, "unused"), row(3, "c")];
    let routes = [
        ("0.0.0.0/0", 3),
        ("192.0.2.0/24", 1),
        ("198.51.100.0/24", 2),
        ("2001:db8::/32", 3),
        ("2001:db8:1::/48", 5),
    ];
    let mut expected = PrefixData::new(columns()).unwrap();
    for (prefix, id) in routes {
        expected.insert(p(prefix), rows[id as usize - 1].clone()).unwrap();
    }
    let mut table = data(rows.into(), &routes).unwrap().into_table();
    assert_eq!(&table, expected.table());
    assert_eq!(table.next_hops().len(), 3, "equal rows are one, the unused one is dropped");

    // The references are counted: a row lives until its last prefix is removed.
    for prefix in ["0.0.0.0/0", "192.0.2.0/24"] {
        table.remove(p(prefix));
        table.reclaim();
        assert_eq!(table.next_hops().len(), 3);
    }
    assert_eq!(table.get(p("2001:db8::/32")), Some(&row(1, "a")));
    table.remove(p("2001:db8::/32"));
    table.reclaim();
    assert_eq!(table.next_hops().len(), 2);
    table.insert(p("203.0.113.0/24"), row(3, "c")).unwrap();
    assert_eq!(table.next_hops().len(), 2, "rows inserted later are shared too");
}

#[test]
fn mapped_prefixes_become_ipv4_in_data_too() {
    let routes = [("::ffff:192.0.2.0/120", 1), ("::/0", 2)];
    let data = data(vec![row(1, "a"), row(2, "b")], &routes).unwrap();
    assert_eq!(data.table().get(p("192.0.2.0/24")), Some(&row(1, "a")));
    assert_eq!((data.table().ipv4().len(), data.table().ipv6().len()), (1, 1));
    assert_eq!(data.table().lookup(ip("::ffff:198.51.100.1")), None);
}

#[test]
fn what_does_not_fit_is_refused() {
    let message = |rows: Vec<Row>, id| data(rows, &[("192.0.2.0/24", id)]).unwrap_err().to_string();
    assert_eq!(message(vec![row(1, "a")], 2), "next hop 2 has no row: the number of rows is 1");
    assert_eq!(message(vec![[].into()], 1), "the row has 0 cells for 2 columns");
    let wrong: Row = [Cell::Null, Cell::U64(7)].into();
    assert_eq!(message(vec![wrong], 1), "column 'site' of type string cannot hold '7'");

    let twice = [columns(), columns()].concat();
    let error = PrefixData::from_routes(twice, Vec::new(), Rib::new(), Rib::new()).unwrap_err();
    assert_eq!(error.to_string(), "two columns are named 'asn'");
    assert!(data(Vec::new(), &[]).unwrap().table().is_empty());
}
