//! Options of `longmatch rov`, and of VRPs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::candidates::columns;
use super::source::{FamilyArgs, ReadArgs};

/// `longmatch rov`.
#[derive(Args, Debug)]
pub struct RovArgs {
    /// Routes, '-' for standard input [default: -]
    ///
    /// A table or updates of MRT or 'bgpdump -m', from which the origin AS of each route of one
    /// peer is taken, or any format with an AS number beside the prefix, such as lines
    /// '192.0.2.0/24 64500'.
    #[arg(value_name = "FILE", verbatim_doc_comment)]
    pub files: Vec<PathBuf>,

    /// VRPs: JSON or CSV of rpki-client, Routinator and others; may be repeated
    ///
    /// JSON has objects with 'asn', 'prefix' and 'maxLength' in its member 'roas'; CSV has the
    /// columns 'ASN', 'IP Prefix' and 'Max Length'. Compressed files are read too.
    #[arg(long, value_name = "FILE", required = true, verbatim_doc_comment)]
    pub vrps: Vec<PathBuf>,

    /// The column of the origin AS, by name or number [default: the only one]
    ///
    /// For routes in CSV and other formats with columns.
    #[arg(long, value_name = "COLUMN", add = columns(), verbatim_doc_comment)]
    pub origin: Option<String>,

    /// Print only routes in this state: valid, invalid, not-found
    #[arg(long, value_enum, value_name = "STATE", hide_possible_values = true)]
    pub only: Option<RovState>,

    /// Exit 1 if a route is in this state: valid, invalid, not-found
    #[arg(long, value_enum, value_name = "STATE", hide_possible_values = true)]
    pub fail_on: Option<RovState>,

    /// How the routes are read.
    #[command(flatten)]
    pub read: ReadArgs,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// Print CSV with a header
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// A state of routes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum RovState {
    /// A VRP matches.
    Valid,
    /// VRPs cover the route, and none matches.
    Invalid,
    /// No VRP covers the route.
    NotFound,
}
