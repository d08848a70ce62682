//! The bound of values that routes share.

use core::hash::Hash;

/// A type whose equal values are one object, whatever number of routes has them.
///
/// Every type with [`Hash`] and [`Eq`] is one. Others, such as `f64` and functions, are inserted with
/// [`Table::insert_distinct`](crate::Table::insert_distinct).
///
/// ```compile_fail,E0277
/// # use longmatch::{IpPrefix, Table};
/// let mut loads = Table::new();
/// loads.insert("10.0.0.0/8".parse::<IpPrefix>().unwrap(), 0.5);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `Hash` and `Eq`, which values of several routes need",
    label = "insert it with `insert_distinct`",
    note = "`insert_distinct` and `get_mut_distinct` take values of any type, `into_by_value` and \
        `try_take` return them"
)]
pub trait Shareable: Hash + Eq {}

#[diagnostic::do_not_recommend]
impl<T: Hash + Eq> Shareable for T {}
