//! The lookup methods, with those of [`crate::table::lookups`].

use super::table::FileTable;
use super::values::FileRow;
use crate::engine::Keys;
use crate::net::{Family, IpPrefix, Ipv4, Ipv6, NextHopId, Prefix};
use crate::table::lookups::{self, FamilyLookups, Longest, Lookups, ValueLookups, resolve_each};
use crate::table::{Addresses, Answers};

impl FileTable {
    /// The row of the longest prefix that covers the address.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::{Cell, Column, ColumnType, PrefixData};
    /// # let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)])?;
    /// # data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [Cell::U64(64500)].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data)?)?;
    /// let mapped: std::net::IpAddr = "::ffff:10.1.2.3".parse()?;
    /// assert_eq!(table.lookup(mapped).unwrap().get(0), Cell::U64(64500));
    /// assert!(table.lookup([127, 0, 0, 1]).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup(&self, addr: impl Into<core::net::IpAddr>) -> Option<FileRow<'_>> {
        lookups::value(self, addr.into())
    }

    /// The longest prefix that covers the address, and its row.
    ///
    /// With [`Answers::Routes`] this is a lookup in the compiled routes and two loads, otherwise a
    /// search in the prefixes: O(log routes) for each of some lengths.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// # use longmatch::table::{Cell, Column, ColumnType, PrefixData};
    /// # let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)])?;
    /// # data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [Cell::U64(64500)].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data)?)?;
    /// assert_eq!(table.get_lpm([10, 1, 2, 3]).unwrap().0.to_string(), "10.0.0.0/8");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_lpm(&self, addr: impl Into<core::net::IpAddr>) -> Option<(IpPrefix, FileRow<'_>)> {
        lookups::longest(self, addr.into())
    }

    /// The id of the longest match of the address, which [`FileTable::value`] takes.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// # use longmatch::table::{Cell, Column, ColumnType, PrefixData};
    /// # let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)])?;
    /// # data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [Cell::U64(64500)].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data)?)?;
    /// assert_eq!(table.lookup_id([10, 1, 2, 3]).map(|id| id.get()), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup_id(&self, addr: impl Into<core::net::IpAddr>) -> Option<NextHopId> {
        lookups::id(self, addr.into())
    }

    /// The row that an id of this table leads to; the same as [`FileTable::row`].
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// # use longmatch::table::{Cell, Column, ColumnType, PrefixData};
    /// # let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)])?;
    /// # data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [Cell::U64(64500)].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data)?)?;
    /// let id = table.lookup_id([10, 1, 2, 3]).unwrap();
    /// assert_eq!(table.value(id), table.lookup([10, 1, 2, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn value(&self, id: NextHopId) -> Option<FileRow<'_>> {
        self.row(id)
    }

    /// Looks up the rows of many addresses: `out[i]` answers address `i`.
    ///
    /// Entries of `out` after the last address keep their values.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// # use longmatch::table::{Cell, Column, ColumnType, PrefixData};
    /// # let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)])?;
    /// # data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [Cell::U64(64500)].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data)?)?;
    /// let mut rows = [None; 2];
    /// table.lookup_batch(&[[10, 1, 2, 3], [127, 0, 0, 1]], &mut rows);
    /// assert_eq!(rows.map(|row| row.map(|row| row.get(0))), [Some(Cell::U64(64500)), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup_batch<'t>(&'t self, addrs: impl Addresses, out: &mut [Option<FileRow<'t>>]) {
        lookups::values(self, addrs, out);
    }

    /// Looks up the ids of many addresses: `out[i]` answers address `i`.
    ///
    /// Ids are the fastest answers. Entries of `out` after the last address keep their values.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// # use longmatch::table::{Cell, Column, ColumnType, PrefixData};
    /// # let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)])?;
    /// # data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [Cell::U64(64500)].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data)?)?;
    /// let mut ids = [None; 2];
    /// table.lookup_ids(&[0x0a01_0203_u32, 0x7f00_0001], &mut ids);
    /// assert_eq!(ids.map(|id| Some(id?.get())), [Some(1), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup_ids(&self, addrs: impl Addresses, out: &mut [Option<NextHopId>]) {
        lookups::ids(self, addrs, out);
    }

    /// Looks up the longest prefixes and their rows: `out[i]` answers address `i`.
    ///
    /// Entries of `out` after the last address keep their values.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// # use longmatch::table::{Cell, Column, ColumnType, PrefixData};
    /// # let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)])?;
    /// # data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [Cell::U64(64500)].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data)?)?;
    /// let mut found = [None; 2];
    /// table.get_lpm_batch(&[0x0a01_0203_u32, 0x7f00_0001], &mut found);
    /// assert_eq!(found.map(|it| it.map(|it| it.0)), [Some("10.0.0.0/8".parse()?), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_lpm_batch<'t, A: Addresses>(
        &'t self,
        addrs: A,
        out: &mut [Option<(A::Prefix, FileRow<'t>)>],
    ) {
        lookups::longest_batch(self, addrs, out);
    }
}

impl<'t> ValueLookups<'t> for &'t FileTable {
    type Answer = FileRow<'t>;

    #[inline]
    fn value(self, id: NextHopId) -> Option<FileRow<'t>> {
        self.row(id)
    }
}

impl<'t> Lookups<'t> for &'t FileTable {
    fn keep_mapped(self) -> bool {
        self.opened.header.keep_mapped
    }
}

impl FileTable {
    /// The route that answers an address with an id.
    #[inline]
    fn matched<F: Family>(&self, addr: F::Bits, id: NextHopId) -> Option<Longest<F, FileRow<'_>>> {
        let route = id.get() as usize - 1;
        let len = self.opened.routes.prefix_len::<F>(route)?;
        Some((Prefix::from_bits_masked(addr, len), self.row(id)?))
    }
}

macro_rules! file_lookups {
    ($($family:ident $fib:ident)*) => {$(
        impl<'t> FamilyLookups<'t, $family> for &'t FileTable {
            fn id(self, addr: <$family as Family>::Bits) -> Option<NextHopId> {
                self.opened.$fib.lookup_bits(addr)
            }

            fn ids(self, keys: Keys<'_, $family>, out: &mut [Option<NextHopId>]) {
                self.opened.$fib.lookup_keys(keys, out);
            }

            fn longest(
                self,
                addr: <$family as Family>::Bits,
            ) -> Option<Longest<$family, FileRow<'t>>> {
                if self.answers() == Answers::Routes {
                    return self.matched::<$family>(addr, self.opened.$fib.lookup_bits(addr)?);
                }
                let routes = self.opened.routes.$fib();
                let host = Prefix::from_bits_masked(addr, $family::WIDTH);
                let at = routes.longest(host)?;
                let row = self.opened.routes.row(routes.number(at))?;
                Some((routes.prefix(at)?, self.row_at(row)?))
            }

            fn longest_each(
                self,
                addrs: &[<$family as Family>::Bits],
                mut put: impl FnMut(usize, Option<Longest<$family, FileRow<'t>>>),
            ) {
                if self.answers() == Answers::Routes {
                    let matched = |addr, id| self.matched::<$family>(addr, id);
                    return resolve_each::<$family, _>(self, addrs, matched, put);
                }
                for (i, addr) in addrs.iter().enumerate() {
                    put(i, FamilyLookups::<$family>::longest(self, *addr));
                }
            }
        }
    )*};
}

file_lookups!(Ipv4 ipv4 Ipv6 ipv6);
