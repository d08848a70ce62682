//! Rules that convert the source of the default table, ranges of addresses with their AS, to prefixes.
//! data/PROVENANCE.md states the same rules in prose.

use std::str::FromStr;

use longmatch::set::{AddressRange, AddressSet};
use longmatch::table::{Cell, Column, ColumnType, PrefixData};
use longmatch::{Family, IpPrefix, Ipv4, Ipv6, Prefix};

/// Special-purpose prefixes of IPv4 (RFC 6890 and its registry) that are not globally reachable, and multicast.
const SPECIAL_IPV4: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
];

/// The same of IPv6: all that is not global unicast (2000::/3), and the special prefixes in it.
const SPECIAL_IPV6: &[&str] =
    &["::/3", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "4000::/2", "8000::/1"];

/// Parts of special-purpose prefixes that the registry calls globally reachable and that an AS originates: AMT and AS112.
const REACHABLE_IPV6: &[&str] = &["2001:3::/32", "2001:4:112::/48"];

/// Names of the columns that the table has.
pub const COLUMNS: [&str; 2] = ["asn", "name"];

/// Builds the table from the two files of the package.
///
/// # Errors
/// Names the first line that is not a range with an AS.
pub fn table(ipv4: &str, ipv6: &str) -> Result<PrefixData, String> {
    let columns = [(COLUMNS[0], ColumnType::U64), (COLUMNS[1], ColumnType::String)];
    let columns = columns.map(|(name, ty)| Column::new(name, ty)).to_vec();
    let mut data = PrefixData::new(columns).map_err(|error| error.to_string())?;
    add::<Ipv4>(&mut data, ipv4, &set(SPECIAL_IPV4))?;
    add::<Ipv6>(&mut data, ipv6, &set(SPECIAL_IPV6).difference(&set(REACHABLE_IPV6)))?;
    Ok(data)
}

/// A range of addresses, its AS and the name of that.
type Row<F> = (AddressRange<F>, u32, String);

/// Adds the prefixes of the ranges of one file, without the special ones. Where ranges overlap, the later one answers.
fn add<F: Family>(data: &mut PrefixData, csv: &str, special: &AddressSet<F>) -> Result<(), String>
where
    IpPrefix: From<Prefix<F>>,
{
    let mut rows: Vec<Row<F>> = Vec::new();
    for line in csv.lines() {
        let row = parse::<F>(line).ok_or_else(|| format!("not a range with an AS: `{line}`"))?;
        if rows.last().is_some_and(|before| before.0.first() > row.0.first()) {
            return Err(format!("not in the order of addresses: `{line}`"));
        }
        rows.push(row);
    }
    for (at, (range, asn, name)) in rows.iter().enumerate() {
        let later = rows[at + 1..].iter().map(|row| row.0);
        let later = later.take_while(|later| later.first() <= range.last()).collect();
        let own = AddressSet::from(*range).difference(&later).difference(special);
        for prefix in own.prefixes() {
            let row = [Cell::U64((*asn).into()), Cell::String(name.as_str().into())];
            data.insert(prefix, row.into()).map_err(|error| format!("{prefix}: {error}"))?;
        }
    }
    Ok(())
}

/// Parses `first,last,asn,name`, with quotation marks around names that need them.
fn parse<F: Family>(line: &str) -> Option<Row<F>> {
    let mut fields = line.splitn(4, ',');
    let mut address = || fields.next()?.parse().ok();
    let range = AddressRange::new(address()?, address()?)?;
    let asn = fields.next()?.parse().ok().filter(|asn| *asn > 0)?;
    let name = fields.next()?;
    let name = match name.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"')?.replace("\"\"", "\""),
        None => (!name.contains(['"', ','])).then(|| name.to_owned())?,
    };
    let sound = !name.is_empty() && !name.contains(char::is_control);
    sound.then_some((range, asn, name))
}

/// Returns the day of a version such as `2.3.2026061719`, which ends with year, month, day and hour.
pub fn date(version: &str) -> Option<String> {
    let digits = version.rsplit('.').next()?;
    let sound = digits.len() == 10 && digits.bytes().all(|digit| digit.is_ascii_digit());
    sound.then(|| format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..8]))
}

fn set<F: Family>(prefixes: &[&str]) -> AddressSet<F>
where
    Prefix<F>: FromStr,
{
    prefixes.iter().filter_map(|prefix| prefix.parse::<Prefix<F>>().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ipv4: &str, ipv6: &str) -> Vec<String> {
        let data = table(ipv4, ipv6).expect("well formed");
        let row = |(prefix, row): (IpPrefix, &longmatch::table::Row)| {
            format!("{prefix} {} {}", row[0], row[1])
        };
        data.table().iter().map(row).collect()
    }

    #[test]
    fn ranges_become_prefixes() {
        let ipv4 = "1.0.0.0,1.0.2.255,13335,\"Cloudflare, Inc.\"\n1.0.4.0,1.0.4.0,7,A \n";
        let ipv6 = "2001:200::,2001:200:1:ffff:ffff:ffff:ffff:ffff,2500,\"\"\"W\"\"\"\n";
        assert_eq!(
            rows(ipv4, ipv6),
            [
                "1.0.0.0/23 13335 Cloudflare, Inc.",
                "1.0.2.0/24 13335 Cloudflare, Inc.",
                "1.0.4.0/32 7 A ",
                "2001:200::/47 2500 \"W\""
            ]
        );
    }

    #[test]
    fn the_later_of_overlapping_ranges_answers() {
        let ipv4 = "214.255.0.0,215.0.255.255,749,A\n215.0.0.0,215.1.255.255,721,B\n";
        assert_eq!(rows(ipv4, ""), ["214.255.0.0/16 749 A", "215.0.0.0/15 721 B"]);
        assert!(table("2.0.0.0,2.0.0.0,1,A\n1.0.0.0,1.0.0.0,1,A\n", "").is_err());
    }

    #[test]
    fn special_purpose_addresses_have_no_as() {
        for prefix in SPECIAL_IPV4.iter().chain(SPECIAL_IPV6).chain(REACHABLE_IPV6) {
            assert!(prefix.parse::<IpPrefix>().is_ok(), "{prefix}");
        }
        let ipv4 = "9.255.255.0,11.0.0.255,1,A\n192.0.2.0,192.0.2.255,1,A\n";
        assert_eq!(rows(ipv4, ""), ["9.255.255.0/24 1 A", "11.0.0.0/24 1 A"]);
        let ipv6 = "2001::,2001:0:ffff:ffff:ffff:ffff:ffff:ffff,6939,A\n\
                    2001:4:112::,2001:4:112:ffff:ffff:ffff:ffff:ffff,112,B\nfe80::,fe80::1,1,C\n";
        assert_eq!(rows("", ipv6), ["2001:4:112::/48 112 B"]);
    }

    #[test]
    fn malformed_lines_are_named() {
        for line in [
            "1.0.0.0,1.0.0.255,1",
            "1.0.0.255,1.0.0.0,1,A",
            "1.0.0.0,1.0.0.255,0,A",
            "1.0.0.0,1.0.0.255,AS1,A",
            "1.0.0.0,1.0.0.255,1,",
            "1.0.0.0,1.0.0.255,1,\"A",
            "1.0.0.0,1.0.0.255,1,A,B",
            "::,::1,1,A",
        ] {
            assert!(table(line, "").expect_err(line).contains(line));
        }
        assert_eq!(date("2.3.2026061719").as_deref(), Some("2026-06-17"));
        assert_eq!([date("2.3.1"), date("")], [None, None]);
    }
}
