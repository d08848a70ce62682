//! Routes that are compiled once it pays.

use std::hash::Hash;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use longmatch::{Answers, FrozenTable, IpPrefix, Table, TableSpec};

/// Lookups for each route after which the routes are compiled: compiling takes about as long as
/// these lookups in a compiled table are faster.
const COMPILE_AFTER: u64 = 8;

/// Routes with their values. The first lookups are done in the routes themselves, which gives the
/// first answer soonest; a thread compiles the routes once many addresses were looked up.
pub struct RouteAnswers<T> {
    table: Table<T>,
    looked_up: AtomicU64,
    compiling: AtomicBool,
    compiled: OnceLock<FrozenTable<T>>,
}

impl<T: Clone + Eq + Hash + Send + Sync + 'static> RouteAnswers<T> {
    /// Prepares to look up.
    pub fn new(table: Table<T>) -> Arc<Self> {
        let (looked_up, compiling) = (AtomicU64::new(0), AtomicBool::new(false));
        Arc::new(Self { table, looked_up, compiling, compiled: OnceLock::new() })
    }

    /// Every prefix that covers a prefix, shortest first.
    pub fn cover(&self, prefix: IpPrefix) -> impl Iterator<Item = (IpPrefix, &T)> {
        self.table.cover(prefix)
    }

    /// Every prefix inside a prefix, in order.
    pub fn children(&self, prefix: IpPrefix) -> impl Iterator<Item = (IpPrefix, &T)> {
        self.table.children(prefix)
    }

    /// The longest matches of addresses.
    pub fn get_lpm_batch<'t>(
        self: &'t Arc<Self>,
        addrs: &[IpAddr],
        out: &mut [Option<(IpPrefix, &'t T)>],
    ) {
        if let Some(compiled) = self.compiled.get() {
            return compiled.get_lpm_batch(addrs, out);
        }
        self.table.get_lpm_batch(addrs, out);
        let count = addrs.len() as u64;
        let looked_up = self.looked_up.fetch_add(count, Ordering::Relaxed) + count;
        if looked_up >= COMPILE_AFTER * self.table.len() as u64
            && !self.compiling.swap(true, Ordering::Relaxed)
        {
            let routes = self.clone();
            // Without a thread or an engine that holds the routes, the routes go on answering.
            let _ = thread::Builder::new().spawn(move || routes.compile());
        }
    }

    fn compile(&self) {
        let spec = TableSpec::default().answers(Answers::Routes);
        if let Ok(compiled) = self.table.clone().freeze(spec) {
            let _ = self.compiled.set(compiled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_routes_give_the_same_answers() {
        let mut table = Table::new();
        for (prefix, value) in [("192.0.2.0/24", 1), ("192.0.2.128/25", 2), ("2001:db8::/32", 3)] {
            table.insert(prefix.parse::<IpPrefix>().unwrap(), value).unwrap();
        }
        let addrs = ["192.0.2.1", "192.0.2.200", "198.51.100.1", "::ffff:192.0.2.1", "2001:db8::1"]
            .map(|addr| addr.parse::<IpAddr>().unwrap());
        let routes = RouteAnswers::new(table);
        let values = |routes: &Arc<RouteAnswers<i32>>| {
            let mut found = [None; 5];
            routes.get_lpm_batch(&addrs, &mut found);
            found.map(|found| found.map(|(prefix, value)| (prefix.to_string(), *value)))
        };
        let before = values(&routes);
        assert_eq!(before.clone().map(|found| found.map_or(0, |it| it.1)), [1, 2, 0, 1, 3]);
        assert!(routes.compiled.get().is_none());
        while routes.compiled.get().is_none() {
            assert_eq!(values(&routes), before);
        }
        assert_eq!(values(&routes), before);
    }
}
