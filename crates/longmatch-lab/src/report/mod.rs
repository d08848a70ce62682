//! The report: every table and figure of the papers, measured here.

mod model;
mod write;

pub use model::{
    Axis, Bar, BarGroup, Bars, BoxSeries, Boxes, Cell, Chart, Column, Condition, Figure, Finding,
    Heat, Lines, Point, Row, Section, Series, Table,
};
pub use write::{Absent, Page, csv, ndjson};
