//! How a table is compiled.

use crate::engine::{EngineKind, EngineSpec};

/// The meaning of the ids in a compiled table.
///
/// ```
/// use longmatch::{Answers, IpPrefix, Table, TableSpec};
/// let mut table = Table::new();
/// for prefix in ["10.0.0.0/8", "10.9.0.0/16"] {
///     table.insert(prefix.parse::<IpPrefix>()?, "office")?;
/// }
/// let ids = |answers| {
///     let frozen = table.clone().freeze(TableSpec::default().answers(answers)).unwrap();
///     [[10, 1, 1, 1], [10, 9, 1, 1]].map(|addr| frozen.lookup_id(addr).unwrap().get())
/// };
/// assert_eq!(ids(Answers::Values), [1, 1]);
/// assert_eq!(ids(Answers::Routes), [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Answers {
    /// Values. Routes with equal values share an id, so that engines compress the table best.
    #[default]
    Values,
    /// Routes: each has its own id, which leads to its prefix and its value.
    ///
    /// A frozen table finds prefixes and values at about the cost of ids of values; an id of a
    /// route costs a binary search of the routes more. In a live table an id costs nothing more.
    ///
    /// An engine whose ids are too few is replaced by its wider variant
    /// ([`EngineSpec::wider`]), if it has one.
    Routes,
}

/// How a table is compiled: an engine for each family, and whether answers are values or routes.
///
/// [`Table::freeze`](crate::Table::freeze) and [`Table::live`](crate::Table::live) take it, or an
/// engine alone, which is then used for both families.
///
/// An engine that does not exist for a family may be named while the family has no routes.
///
/// ```
/// use longmatch::{Answers, EngineKind, IpPrefix, Table, TableSpec};
/// let mut table = Table::new();
/// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
/// table.insert("2001:db8::/32".parse::<IpPrefix>()?, "office")?;
///
/// let spec = TableSpec::new(EngineKind::Sail).ipv6(EngineKind::Poptrie);
/// let table = table.freeze(spec.answers(Answers::Routes))?;
/// let (prefix, site) = table.get_lpm([10, 1, 2, 3]).unwrap();
/// assert_eq!((prefix.to_string().as_str(), *site), ("10.0.0.0/8", "office"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TableSpec {
    pub(super) ipv4: EngineSpec,
    pub(super) ipv6: EngineSpec,
    pub(super) answers: Answers,
}

impl TableSpec {
    /// An engine for both families; answers are values.
    #[must_use]
    pub fn new(engine: impl Into<EngineSpec>) -> Self {
        let spec = engine.into();
        Self { ipv4: spec.clone(), ipv6: spec, answers: Answers::default() }
    }

    /// The same with another engine for IPv4.
    #[must_use]
    pub fn ipv4(self, engine: impl Into<EngineSpec>) -> Self {
        Self { ipv4: engine.into(), ..self }
    }

    /// The same with another engine for IPv6.
    #[must_use]
    pub fn ipv6(self, engine: impl Into<EngineSpec>) -> Self {
        Self { ipv6: engine.into(), ..self }
    }

    /// The same with other answers.
    #[must_use]
    pub fn answers(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }
}

impl Default for TableSpec {
    /// [`EngineKind::Auto`] for each family; answers are values.
    fn default() -> Self {
        Self::new(EngineKind::Auto)
    }
}

impl<E: Into<EngineSpec>> From<E> for TableSpec {
    /// The engine for both families; answers are values.
    fn from(engine: E) -> Self {
        Self::new(engine)
    }
}
