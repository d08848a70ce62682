//! The second compiled form of a frozen table: ids that identify routes, so that answers name their prefixes.

use std::collections::HashMap;
use std::sync::Arc;

use longmatch::file::FileTable;
use longmatch::{IpPrefix, Ipv4, Ipv6, NextHopId, Prefix};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::bulk::{Compiled, Id};
use crate::file::FileStore;
use crate::output::{Output, arrow, codes_array, of_objects, prefix_texts};
use crate::store::{Store, Typed};
use crate::text::prefix_str;

/// The compiled form in which ids identify routes.
pub struct CompiledRoutes {
    pub compiled: Box<dyn Compiled>,
    names: RouteNames,
    texts: PyOnceLock<Arc<Typed>>,
}

/// The prefixes and the values of the ids of routes.
pub enum RouteNames {
    Memory {
        ipv4: Vec<Prefix<Ipv4>>,
        ipv6: Vec<Prefix<Ipv6>>,
        /// The code of the value of each id.
        codes: Vec<Id>,
    },
    /// A file with this form.
    File(FileTable),
}

impl RouteNames {
    pub fn new(store: &dyn Store) -> Self {
        let (mut ipv4, mut ipv6, mut codes) = (Vec::new(), Vec::new(), vec![None]);
        for (prefix, code) in store.routes() {
            codes.push(Some(code));
            match prefix {
                IpPrefix::V4(prefix) => ipv4.push(prefix),
                IpPrefix::V6(prefix) => ipv6.push(prefix),
            }
        }
        Self::Memory { ipv4, ipv6, codes }
    }
}

impl CompiledRoutes {
    /// A compiled form, and the prefixes and values of its ids.
    pub fn new(compiled: Box<dyn Compiled>, names: RouteNames) -> Self {
        Self { compiled, names, texts: PyOnceLock::new() }
    }

    /// The prefix of an id.
    pub fn prefix(&self, id: usize) -> Option<IpPrefix> {
        match &self.names {
            RouteNames::Memory { ipv4, ipv6, .. } => {
                let i = id.checked_sub(1)?;
                match ipv4.get(i) {
                    Some(prefix) => Some((*prefix).into()),
                    None => ipv6.get(i - ipv4.len()).map(|prefix| (*prefix).into()),
                }
            }
            RouteNames::File(table) => {
                let id = NextHopId::new(u32::try_from(id).ok()?)?;
                table.route(id).map(|(prefix, _)| prefix)
            }
        }
    }

    /// Replaces ids of routes by the codes of their values.
    pub fn to_codes(&self, ids: &mut [Id]) {
        match &self.names {
            RouteNames::Memory { codes, .. } => {
                for id in ids {
                    *id = id.and_then(|id| codes.get(id.get() as usize).copied().flatten());
                }
            }
            RouteNames::File(table) => FileStore(table.clone()).to_codes(ids),
        }
    }

    pub fn count(&self) -> usize {
        match &self.names {
            RouteNames::Memory { codes, .. } => codes.len() - 1,
            RouteNames::File(table) => table.len(),
        }
    }

    /// The prefixes as text, by their ids.
    fn texts(&self, py: Python<'_>) -> &Arc<Typed> {
        self.texts.get_or_init(py, || {
            py.detach(|| prefix_texts((1..=self.count()).filter_map(|id| self.prefix(id))))
        })
    }

    /// The id of exactly this prefix. Ids are in the order of the prefixes.
    pub fn id_of(&self, prefix: IpPrefix) -> Id {
        let (mut start, mut end) = (1, self.count() + 1);
        while start < end {
            let middle = start + (end - start) / 2;
            match self.prefix(middle)?.cmp(&prefix) {
                std::cmp::Ordering::Less => start = middle + 1,
                std::cmp::Ordering::Greater => end = middle,
                std::cmp::Ordering::Equal => return NextHopId::new(u32::try_from(middle).ok()?),
            }
        }
        None
    }
}

/// The prefixes of route ids.
pub fn prefix_output<'py>(
    py: Python<'py>,
    routes: &CompiledRoutes,
    ids: &[Id],
    output: Output,
) -> PyResult<Bound<'py, PyAny>> {
    match output {
        Output::Codes => codes_array(py, ids),
        Output::Arrow => arrow(py, routes.texts(py), ids),
        Output::Values(form) => {
            // Answers repeat, so each prefix becomes text once.
            let mut texts = HashMap::<usize, Py<PyString>>::new();
            of_objects(py, ids, form, |id| {
                let text = match texts.get(&id) {
                    Some(text) => text.clone_ref(py),
                    None => {
                        let text = prefix_str(py, routes.prefix(id)?).unbind();
                        texts.insert(id, text.clone_ref(py));
                        text
                    }
                };
                Some(text.into_any())
            })
        }
    }
}
