//! Compares the results of the three readers for the same bytes, as the fuzz target `recognise` does.

use longmatch::IpPrefix;
use longmatch::set::{AddressRange, AddressSet};
use longmatch::{Ipv4, Ipv6};
use longmatch_feed::{
    Event, FeedError, ListEntries, Options, RouteValue, SinkError, load_bytes, load_data_bytes,
    read_list,
};

/// Addresses of both families.
pub type Sets = (AddressSet<Ipv4>, AddressSet<Ipv6>);

fn sets(prefixes: impl IntoIterator<Item = IpPrefix>) -> Sets {
    let (mut ipv4, mut ipv6) = (Vec::new(), Vec::<AddressRange<Ipv6>>::new());
    for prefix in prefixes {
        match prefix.unmapped() {
            IpPrefix::V4(prefix) => ipv4.push(prefix.into()),
            IpPrefix::V6(prefix) => ipv6.push(prefix.into()),
        }
    }
    (ipv4.into(), ipv6.into())
}

/// The addresses of the prefixes with columns.
pub fn data(bytes: &[u8], options: &Options) -> Result<Sets, FeedError> {
    let (data, _) = load_data_bytes(bytes, None, options)?;
    Ok(sets(data.table().iter().map(|(prefix, _)| prefix)))
}

/// The addresses of the routes.
pub fn routes(bytes: &[u8], options: &Options) -> Result<Sets, FeedError> {
    let mut all = std::collections::BTreeSet::new();
    let mut sink = |event: Event<'_>| -> Result<(), SinkError> {
        match event {
            Event::Announce(prefix, _) => drop(all.insert(prefix.unmapped())),
            Event::Withdraw(prefix) => drop(all.remove(&prefix.unmapped())),
        }
        Ok(())
    };
    load_bytes(bytes, None, options, &mut sink)?;
    Ok(sets(all))
}

/// The addresses of the set; `None` for updates of routes, which are not a set.
pub fn set(bytes: &[u8], options: &Options) -> Option<Result<Sets, FeedError>> {
    match read_list(bytes, None, options, ListEntries::joined()) {
        Err(error) if error.to_string().contains("updates of routes") => None,
        Err(error) => Some(Err(error)),
        Ok((entries, _)) => Some(Ok((entries.ipv4.into(), entries.ipv6.into()))),
    }
}

/// The text of an error.
fn said(result: &Result<Sets, FeedError>) -> Result<&Sets, String> {
    result.as_ref().map_err(ToString::to_string)
}

/// # Panics
/// If the readers differ.
pub fn compare(bytes: &[u8], options: &Options) {
    let mut options = options.clone();
    // Prefix data would take the origin AS, which routes of other lines do not have.
    options.value = Some(RouteValue::NextHop);
    let options = &options;
    let data = data(bytes, options);
    let routes = routes(bytes, options);
    assert_eq!(
        said(&routes),
        said(&data),
        "routes and data of {:?}",
        bytes.escape_ascii().to_string()
    );
    if let Some(set) = set(bytes, options) {
        assert_eq!(
            said(&set),
            said(&data),
            "set and data of {:?}",
            bytes.escape_ascii().to_string()
        );
    }
}
