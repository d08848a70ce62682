//! Serialization of tables with `serde`: a map from prefixes to values, in order.

use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;

use serde_core::de::{Error, MapAccess, Visitor};
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use super::Table;
use crate::net::IpPrefix;

impl<T: Serialize> Serialize for Table<T> {
    /// A map from prefixes to values, in order. It does not hold the table's limits.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let table = Table::from([("10.0.0.0/8".parse::<IpPrefix>()?, "office".to_string())]);
    /// let json = serde_json::to_string(&table)?;
    /// assert_eq!(json, r#"{"10.0.0.0/8":"office"}"#);
    /// assert_eq!(serde_json::from_str::<Table<String>>(&json)?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, T: Deserialize<'de> + Hash + Eq> Deserialize<'de> for Table<T> {
    /// A table without limits and without [`Table::keep_mapped`], from a map.
    ///
    /// Two values of the same prefix are an error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Hash + Eq> Visitor<'de> for TableVisitor<T> {
    type Value = Table<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from prefixes to values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table<T>, A::Error> {
        let mut table = Table::new();
        while let Some((prefix, value)) = map.next_entry::<IpPrefix, T>()? {
            if table.insert(prefix, value).map_err(A::Error::custom)?.is_some() {
                let prefix = prefix.unmapped();
                return Err(A::Error::custom(format_args!("the prefix {prefix} is there twice")));
            }
        }
        Ok(table)
    }
}
