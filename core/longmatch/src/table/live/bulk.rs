//! Changes of many routes, and changes of a value that depend on the old one.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::Hash;

use super::TableWriter;
use crate::net::IpPrefix;
use crate::table::InsertError;

impl<T> TableWriter<T> {
    /// Keeps the routes for which the function returns `true`, and removes all others.
    ///
    /// The function sees the routes in order, before the first is removed, with changes that are
    /// not committed yet. O(routes), and memory for a list of the removed ones.
    ///
    /// ```
    /// use longmatch::{EngineKind, IpPrefix, Table};
    /// let [office, lab]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let table = Table::from([(office, "office"), (lab, "lab")]);
    /// let mut writer = table.live(EngineKind::Folio)?;
    /// writer.retain(|prefix, _| prefix.len() <= 8);
    /// writer.commit()?;
    /// assert_eq!(writer.reader().pin().lookup([10, 9, 1, 1]), Some(&"office"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(IpPrefix, &T) -> bool) {
        let refused = self.iter().filter(|(prefix, value)| !keep(*prefix, value));
        let refused: Vec<IpPrefix> = refused.map(|(prefix, _)| prefix).collect();
        for prefix in refused {
            self.remove(prefix);
        }
    }

    /// Removes every route that a prefix covers, its own included; returns their number.
    ///
    /// ```
    /// use longmatch::{EngineKind, IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut writer = Table::from([(office, "office")]).live(EngineKind::Folio)?;
    /// assert_eq!(writer.remove_children("10.0.0.0/7".parse::<IpPrefix>()?), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove_children(&mut self, prefix: impl Into<IpPrefix>) -> usize {
        let covered: Vec<IpPrefix> = self.children(prefix).map(|(prefix, _)| prefix).collect();
        for prefix in &covered {
            self.remove(*prefix);
        }
        covered.len()
    }

    /// Removes all routes; [`TableWriter::replace`] by an empty table needs no list of them.
    pub fn clear(&mut self) {
        self.retain(|_, _| false);
    }
}

impl<T: Hash + Eq> TableWriter<T> {
    /// Sets the value of exactly this prefix to the function's result, or removes the route at
    /// `None`; returns the new value.
    ///
    /// The function gets the old value, `None` without a route. It replaces the entries and the
    /// guards of a [`Table`](crate::Table): readers use the old value, so no value is changed in
    /// place.
    ///
    /// ```
    /// use longmatch::{EngineKind, IpPrefix, Table};
    /// let mut writer = Table::<u32>::new().live(EngineKind::Folio)?;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// for _ in 0..3 {
    ///     writer.update(office, |count| Some(count.unwrap_or(&0) + 1))?;
    /// }
    /// assert_eq!(writer.get(office), Some(&3));
    /// assert_eq!(writer.update(office, |_| None)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`TableWriter::insert`]; the route is then as before.
    pub fn update(
        &mut self,
        prefix: impl Into<IpPrefix>,
        change: impl FnOnce(Option<&T>) -> Option<T>,
    ) -> Result<Option<&T>, InsertError> {
        let prefix = prefix.into();
        match change(self.get(prefix)) {
            Some(value) => drop(self.insert(prefix, value)?),
            None => drop(self.remove(prefix)),
        }
        Ok(self.get(prefix))
    }
}

impl<P: Into<IpPrefix>, T: Hash + Eq> Extend<(P, T)> for TableWriter<T> {
    /// Adds all routes; of routes with equal prefixes the last one wins.
    ///
    /// # Panics
    /// When [`TableWriter::insert`] refuses a route. Where that can happen use it.
    fn extend<I: IntoIterator<Item = (P, T)>>(&mut self, routes: I) {
        for (prefix, value) in routes {
            self.insert(prefix, value).unwrap_or_else(|refused| panic!("{refused}"));
        }
    }
}

impl<'t, P: Into<IpPrefix>, T: Hash + Eq + Clone> Extend<(P, &'t T)> for TableWriter<T> {
    /// Adds all routes; clones only values that are new to the table.
    ///
    /// # Panics
    /// When [`TableWriter::insert`] refuses a route. Where that can happen use it.
    fn extend<I: IntoIterator<Item = (P, &'t T)>>(&mut self, routes: I) {
        for (prefix, value) in routes {
            self.insert_with(prefix.into(), |values| match values.find::<T>(value) {
                Some(id) => {
                    values.retain(id);
                    Ok(id)
                }
                None => values.acquire(Arc::new(value.clone())),
            })
            .unwrap_or_else(|refused| panic!("{refused}"));
        }
    }
}
