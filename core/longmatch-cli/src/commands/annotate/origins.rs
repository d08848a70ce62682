//! The origins of the routes of a table, validated against VRPs.

use longmatch::NextHopId;
use longmatch::file::FileTable;
use longmatch::rov::{Validity, VrpSet};
use longmatch::table::Cell;
use longmatch_feed::printable;

use crate::args::AnnotateArgs;
use crate::error::CliError;
use crate::name_list::list_of_names;
use crate::vrps;

/// Names of the column of the origin AS: of routes, and of the default table and others.
const NAMES: [&str; 2] = ["origin_as", "asn"];

/// The origins of the rows of a table, and the VRPs.
pub struct Origins {
    rows: Vec<Option<u32>>,
    vrps: VrpSet,
}

/// The table and the column with the origin AS.
///
/// # Errors
/// If no table has it.
pub fn column(args: &AnnotateArgs, tables: &[FileTable]) -> Result<(usize, usize), CliError> {
    let all = || {
        tables.iter().enumerate().flat_map(|(table, file)| {
            file.columns().iter().enumerate().map(move |(at, column)| ((table, at), &*column.name))
        })
    };
    let named = |wanted: &str| all().find(|(_, name)| *name == wanted).map(|(place, _)| place);
    let found = match &args.origin {
        Some(wanted) => named(wanted),
        None => NAMES.into_iter().find_map(named),
    };
    found.ok_or_else(|| {
        let names = list_of_names(all().map(|(_, name)| name));
        let problem =
            format!("no column of the prefix data has the origin AS: name one of {names}");
        CliError::input("--origin", problem)
    })
}

impl Origins {
    /// Reads the VRPs, and the origins of all rows.
    ///
    /// # Errors
    /// If the VRPs cannot be read, or a cell is no AS number.
    pub fn load(args: &AnnotateArgs, table: &FileTable, column: usize) -> Result<Self, CliError> {
        let cells = (0..table.row_count() as u32).map(|number| {
            let row = table.row_at(number);
            match row.as_ref().map_or(Cell::Null, |row| row.get(column)) {
                Cell::Null => Ok(None),
                cell => vrps::origin(&cell.to_string()),
            }
        });
        let rows: Result<Vec<_>, String> = cells.collect();
        let name = &table.columns()[column].name;
        let rows = rows.map_err(|problem| {
            CliError::input(format_args!("column '{}'", printable(name)), problem)
        })?;
        Ok(Self { rows, vrps: vrps::load(&args.vrps)? })
    }

    /// The state of the route with an id.
    pub fn state(&self, table: &FileTable, id: NextHopId) -> Option<Validity> {
        let (prefix, _) = table.route(id)?;
        let origin = *self.rows.get(table.row_number(id)? as usize)?;
        Some(self.vrps.validate(prefix, origin))
    }
}
