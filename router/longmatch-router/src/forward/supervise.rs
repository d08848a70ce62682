//! The work of the main thread while others forward.

use std::net::IpAddr;
use std::time::Duration;

use longmatch_cli::error::CliError;
use longmatch_forward::packet::FlowFields;
use serde_json::{Value, json};

use super::counts::RouteCounts;

/// Changes that concern more than routes.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "the routes of files have no interfaces")
)]
pub(super) enum News {
    None,
    Warning(String),
    /// The kernel must get all packets for some time, for this reason: interfaces have come or were replaced, or it does
    /// more than route.
    Close(String),
}

/// The work of the main thread while others forward.
pub(super) trait Supervise {
    /// Follows the routes for at most `timeout`.
    ///
    /// # Errors
    /// If they cannot be followed any more.
    fn follow(&mut self, timeout: Duration) -> Result<News, CliError>;

    /// The fields by which next hops divide the traffic.
    fn flow_fields(&self) -> FlowFields {
        FlowFields::default()
    }

    /// Leaves all packets that arrive from now on to the kernel.
    fn close(&mut self) {}

    /// The numbers of routes and neighbours.
    fn routes(&self) -> RouteCounts;

    /// The route of an address, for people.
    fn route(&self, addr: IpAddr) -> Value {
        json!({ "address": addr, "error": "the routes of files are not shown" })
    }
}
