//! The entry of a prefix, with a route or without.

use core::fmt;
use core::hash::Hash;

use super::{InsertError, Table, ValueMut, value};
use crate::net::{IpPrefix, NextHopId};

impl<T> Table<T> {
    /// The entry of exactly this prefix, for insertion, change or removal.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut packets = Table::new();
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// for _ in 0..3 {
    ///     *packets.entry(office).or_default() += 1;
    /// }
    /// assert_eq!(packets.get(office), Some(&3));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn entry(&mut self, prefix: impl Into<IpPrefix>) -> Entry<'_, T> {
        let prefix = self.canonical(prefix.into());
        match self.id(prefix) {
            Some(id) => Entry::Occupied(OccupiedEntry { table: self, prefix, id }),
            None => Entry::Vacant(VacantEntry { table: self, prefix }),
        }
    }
}

/// The entry of a prefix in a [`Table`]; from [`Table::entry`].
///
/// ```
/// use longmatch::table::{Entry, Table};
/// use longmatch::IpPrefix;
/// let mut table = Table::from([("10.0.0.0/8".parse::<IpPrefix>()?, "office")]);
/// match table.entry("10.9.0.0/16".parse::<IpPrefix>()?) {
///     Entry::Occupied(entry) => println!("{} was {}", entry.key(), entry.remove()),
///     Entry::Vacant(entry) => drop(entry.insert("lab")?),
/// }
/// assert_eq!(table.lookup([10, 9, 1, 1]), Some(&"lab"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Entry<'t, T> {
    /// The prefix has a route.
    Occupied(OccupiedEntry<'t, T>),
    /// The prefix has no route.
    Vacant(VacantEntry<'t, T>),
}

impl<'t, T> Entry<'t, T> {
    /// The prefix, in the form in which the table stores it.
    #[must_use]
    pub fn key(&self) -> IpPrefix {
        match self {
            Self::Occupied(entry) => entry.key(),
            Self::Vacant(entry) => entry.key(),
        }
    }
}

impl<'t, T: Hash + Eq> Entry<'t, T> {
    /// The value, for changes; inserts `value` if there is no route.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::from([(office, 5)]);
    /// *table.entry(office).or_insert(1) += 1;
    /// *table.entry("::/0".parse::<IpPrefix>()?).or_insert(1) += 1;
    /// assert!(table.values().eq(&[6, 2]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Panics
    /// When there is no route and a limit of the table is reached. Where that can happen use
    /// [`VacantEntry::insert`].
    pub fn or_insert(self, value: T) -> ValueMut<'t, T> {
        self.or_insert_with(|| value)
    }

    /// The value, for changes; inserts the function's result if there is no route.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut table = Table::new();
    /// let value = table.entry("10.0.0.0/8".parse::<IpPrefix>()?).or_insert_with(|| 5);
    /// assert_eq!(*value, 5);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Panics
    /// As [`Entry::or_insert`].
    pub fn or_insert_with(self, value: impl FnOnce() -> T) -> ValueMut<'t, T> {
        self.or_insert_with_key(|_| value())
    }

    /// The value, for changes; inserts the function's result for the prefix if there is no route.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut lengths = Table::new();
    /// let entry = lengths.entry("10.0.0.0/8".parse::<IpPrefix>()?);
    /// assert_eq!(*entry.or_insert_with_key(|prefix| prefix.len()), 8);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Panics
    /// As [`Entry::or_insert`].
    pub fn or_insert_with_key(self, value: impl FnOnce(IpPrefix) -> T) -> ValueMut<'t, T> {
        match self {
            Self::Occupied(entry) => entry.into_mut(),
            Self::Vacant(entry) => {
                let value = value(entry.key());
                entry.insert(value).unwrap_or_else(|full| panic!("{full}"))
            }
        }
    }

    /// The value, for changes; inserts the type's default if there is no route.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut names = Table::<Vec<&str>>::new();
    /// names.entry("10.0.0.0/8".parse::<IpPrefix>()?).or_default().push("office");
    /// assert_eq!(names.lookup([10, 9, 1, 1]), Some(&vec!["office"]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Panics
    /// As [`Entry::or_insert`].
    pub fn or_default(self) -> ValueMut<'t, T>
    where
        T: Default,
    {
        self.or_insert_with(T::default)
    }

    /// Changes the value if there is a route.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::from([(office, 5)]);
    /// assert_eq!(*table.entry(office).and_modify(|value| *value += 1).or_insert(1), 6);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Panics
    /// As a change through a [`ValueMut`].
    pub fn and_modify(self, change: impl FnOnce(&mut T)) -> Self
    where
        T: Clone,
    {
        match self {
            Self::Occupied(OccupiedEntry { table, prefix, id }) => {
                change(&mut ValueMut::new(&mut *table, prefix, id));
                table.entry(prefix)
            }
            vacant => vacant,
        }
    }

    /// Adds the route or replaces its value.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut table = Table::new();
    /// let entry = table.entry("10.0.0.0/8".parse::<IpPrefix>()?).insert("office")?;
    /// assert_eq!(entry.get(), &"office");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a limit of the table is reached; the table is then unchanged.
    pub fn insert(self, value: T) -> Result<OccupiedEntry<'t, T>, InsertError> {
        let (Self::Occupied(OccupiedEntry { table, prefix, .. })
        | Self::Vacant(VacantEntry { table, prefix })) = self;
        let (id, _) = table.set_with(prefix, |values| values.acquire(value))?;
        Ok(OccupiedEntry { table, prefix, id })
    }
}

/// The entry of a prefix that has a route.
///
/// ```
/// use longmatch::table::{Entry, Table};
/// use longmatch::IpPrefix;
/// let office: IpPrefix = "10.0.0.0/8".parse()?;
/// let mut table = Table::from([(office, "office")]);
/// if let Entry::Occupied(mut entry) = table.entry(office) {
///     assert_eq!(entry.insert("lab")?, &"office");
///     assert_eq!((entry.key(), entry.get()), (office, &"lab"));
///     assert_eq!(entry.remove(), &"lab");
/// }
/// assert!(table.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OccupiedEntry<'t, T> {
    table: &'t mut Table<T>,
    /// The prefix as stored; `id` is its id.
    prefix: IpPrefix,
    id: NextHopId,
}

impl<'t, T> OccupiedEntry<'t, T> {
    /// The prefix, in the form in which the table stores it.
    #[must_use]
    pub fn key(&self) -> IpPrefix {
        self.prefix
    }

    /// The value.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// use longmatch::table::Entry;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::from([(office, "office")]);
    /// let Entry::Occupied(entry) = table.entry(office) else { unreachable!() };
    /// assert_eq!(entry.get(), &"office");
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn get(&self) -> &T {
        value(&self.table.values, self.id)
    }

    /// Removes the route; returns its value, which is readable until the table's next change.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// use longmatch::table::Entry;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::from([(office, "office")]);
    /// let Entry::Occupied(entry) = table.entry(office) else { unreachable!() };
    /// assert_eq!(entry.remove(), &"office");
    /// assert!(table.is_empty());
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn remove(self) -> &'t T {
        let Self { table, prefix, .. } = self;
        table.remove(prefix).expect("the prefix of an occupied entry has a route")
    }

    /// The table and the prefix as stored.
    pub(super) fn into_parts(self) -> (&'t mut Table<T>, IpPrefix) {
        (self.table, self.prefix)
    }
}

impl<'t, T: Hash + Eq> OccupiedEntry<'t, T> {
    /// The value, for changes.
    ///
    /// ```
    /// use longmatch::table::{Entry, Table};
    /// use longmatch::IpPrefix;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::from([(office, 1)]);
    /// if let Entry::Occupied(entry) = table.entry(office) {
    ///     *entry.into_mut() += 1;
    /// }
    /// assert_eq!(table.get(office), Some(&2));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn into_mut(self) -> ValueMut<'t, T> {
        ValueMut::new(self.table, self.prefix, self.id)
    }

    /// Replaces the value; returns the old one, which is readable until the next change.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// use longmatch::table::Entry;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::from([(office, "office")]);
    /// let Entry::Occupied(mut entry) = table.entry(office) else { unreachable!() };
    /// assert_eq!(entry.insert("lab")?, &"office");
    /// assert_eq!(entry.get(), &"lab");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the limit of values is reached; the table is then unchanged.
    pub fn insert(&mut self, value: T) -> Result<&T, InsertError> {
        let old = self.id;
        (self.id, _) = self.table.set_with(self.prefix, |values| values.acquire(value))?;
        Ok(super::value(&self.table.values, old))
    }
}

/// The entry of a prefix that has no route.
///
/// ```
/// use longmatch::table::{Entry, Table};
/// use longmatch::IpPrefix;
/// let office: IpPrefix = "10.0.0.0/8".parse()?;
/// let mut table = Table::new();
/// if let Entry::Vacant(entry) = table.entry(office) {
///     assert_eq!(entry.key(), office);
///     *entry.insert(1)? += 1;
/// }
/// assert_eq!(table.get(office), Some(&2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VacantEntry<'t, T> {
    table: &'t mut Table<T>,
    /// The prefix as it will be stored.
    prefix: IpPrefix,
}

impl<'t, T> VacantEntry<'t, T> {
    /// The prefix, in the form in which the table will store it.
    #[must_use]
    pub fn key(&self) -> IpPrefix {
        self.prefix
    }
}

impl<'t, T: Hash + Eq> VacantEntry<'t, T> {
    /// Adds the route; returns its value, for changes.
    ///
    /// ```
    /// use longmatch::table::Entry;
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::<&str>::new();
    /// let Entry::Vacant(entry) = table.entry(office) else { unreachable!() };
    /// assert_eq!(*entry.insert("office")?, "office");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a limit of the table is reached; the table is then unchanged.
    pub fn insert(self, value: T) -> Result<ValueMut<'t, T>, InsertError> {
        let Self { table, prefix } = self;
        let (id, _) = table.set_with(prefix, |values| values.acquire(value))?;
        Ok(ValueMut::new(table, prefix, id))
    }
}

impl<T: fmt::Debug> fmt::Debug for Entry<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(entry) => f.debug_tuple("Entry").field(entry).finish(),
            Self::Vacant(entry) => f.debug_tuple("Entry").field(entry).finish(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for OccupiedEntry<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("OccupiedEntry");
        debug.field("key", &self.key()).field("value", self.get()).finish()
    }
}

impl<T> fmt::Debug for VacantEntry<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(&self.key()).finish()
    }
}
