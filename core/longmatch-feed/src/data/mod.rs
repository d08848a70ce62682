//! Reading of prefix data: prefixes with any columns, from any format.
//!
//! [`layout`] finds the columns of text and [`sample`] those of the prefix; [`text`], [`json`], [`routes`], [`mmdb`] and [`compiled`] read the rows into a
//! [`store`], which has each distinct row once; [`types`] chooses the columns' types and makes the table.

pub(crate) mod compiled;
pub(crate) mod join;
pub(crate) mod json;
pub(crate) mod key;
pub(crate) mod layout;
pub(crate) mod mmdb;
pub(crate) mod names;
pub(crate) mod routes;
pub(crate) mod rows;
mod sample;
mod split;
mod store;
pub(crate) mod text;
pub(crate) mod types;

pub(crate) use store::Store;
