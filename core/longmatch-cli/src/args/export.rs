//! Options of `longmatch compile` for MaxMind DBs and for disjoint ranges.

use clap::Args;
use longmatch_feed::mmdb::{MmdbField, MmdbOptions};

/// The options of an output named `.mmdb`.
#[derive(Args, Clone, Debug, Default)]
pub struct MmdbArgs {
    /// Places of columns in records: 'site=city.names.en,asn=asn:uint32'
    ///
    /// Dots separate the keys of nested maps. Without this option a column's name is its path.
    /// The type is string, double, bytes (of hexadecimal text), uint16, uint32, uint64, uint128,
    /// int32 or boolean; by default string, double, uint32, or uint64 or int32 if needed.
    #[arg(long = "as", value_name = "LIST", value_delimiter = ',', verbatim_doc_comment)]
    pub fields: Vec<MmdbField>,

    /// Type of the database, such as 'GeoLite2-City'
    #[arg(long, value_name = "TYPE")]
    pub database_type: Option<String>,

    /// Languages in the metadata: 'en,de'
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub languages: Vec<String>,

    /// Description in English, or with 'de=TEXT' in another language
    #[arg(long, value_name = "TEXT", value_parser = description)]
    pub description: Vec<(String, String)>,

    /// Seconds since 1970 [default: $SOURCE_DATE_EPOCH, else now]
    #[arg(long, value_name = "SECONDS")]
    pub build_time: Option<u64>,

    /// Answer 6to4 and Teredo addresses as the IPv4 address in them
    #[arg(long)]
    pub aliases: bool,

    /// Leave out IPv6 prefixes inside ::/96, where the file has IPv4
    #[arg(long)]
    pub drop_compatible: bool,
}

impl MmdbArgs {
    /// The first of the options that is given.
    pub fn first(&self) -> Option<&'static str> {
        let given = [
            (!self.fields.is_empty(), "--as"),
            (self.database_type.is_some(), "--database-type"),
            (!self.languages.is_empty(), "--languages"),
            (!self.description.is_empty(), "--description"),
            (self.build_time.is_some(), "--build-time"),
            (self.aliases, "--aliases"),
            (self.drop_compatible, "--drop-compatible"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// The options of the writer.
    pub fn options(&self) -> MmdbOptions {
        let mut options = MmdbOptions::default();
        if let Some(name) = &self.database_type {
            options.database_type.clone_from(name);
        }
        options.languages.clone_from(&self.languages);
        options.descriptions.clone_from(&self.description);
        options.fields.clone_from(&self.fields);
        options.build_time = self.build_time;
        options.aliases = self.aliases;
        options.drop_compatible = self.drop_compatible;
        options
    }
}

/// Parses `language=text`, or a text in English.
fn description(text: &str) -> Result<(String, String), &'static str> {
    let is_language = |name: &str| {
        (2..=8).contains(&name.len())
            && name.bytes().all(|it| it.is_ascii_alphabetic() || it == b'-')
    };
    Ok(match text.split_once('=').filter(|(language, _)| is_language(language)) {
        Some((language, text)) => (language.to_owned(), text.to_owned()),
        None => ("en".to_owned(), text.to_owned()),
    })
}

/// The options of disjoint ranges.
#[derive(Args, Clone, Debug, Default)]
pub struct RangeArgs {
    /// Write disjoint ranges of addresses as CSV or Parquet, for joins in SQL
    ///
    /// Parquet needs a name that ends in .parquet, and a build with the feature 'columnar'.
    #[arg(long)]
    pub ranges: bool,

    /// Cut ranges by their first BITS bits, which are the column 'bucket'
    ///
    /// For IPv4 and IPv6: '16,32'. One number is that of IPv4; IPv6 has twice as many bits then.
    #[arg(long, value_name = "BITS", value_parser = buckets, requires = "ranges", verbatim_doc_comment)]
    pub buckets: Option<(u8, u8)>,
}

/// Parses the bits of buckets for both families.
fn buckets(text: &str) -> Result<(u8, u8), &'static str> {
    let (ipv4, ipv6) = match text.split_once(',') {
        Some((ipv4, ipv6)) => (ipv4.parse().ok(), ipv6.parse().ok()),
        None => (text.parse().ok(), text.parse().ok().and_then(|bits: u8| bits.checked_mul(2))),
    };
    match (ipv4, ipv6) {
        (Some(ipv4 @ 1..=32), Some(ipv6 @ 1..=63)) => Ok((ipv4, ipv6)),
        _ => Err("expected 1 to 32 bits for IPv4, and 1 to 63 for IPv6 after a comma"),
    }
}
