//! From the bytes of a file to a table.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use hashbrown::HashMap;

use super::checksum::xxh64;
use super::error::{FileError, FileErrorKind};
use super::layout::{
    CELLS, COLUMNS, FORM, Header, LENGTHS, LOWER6, NULLS, PREFIXES4, PREFIXES6, ROWS, STRINGS,
    Section, SectionKind, TEXT, decode,
};
use super::packed::Packed;
use super::routes::FileRoutes;
use super::values::{ColumnCells, Strings, Values};
use super::writer::type_of;
use crate::engine::image::LentArrays;
use crate::engine::images::Images;
use crate::fib::Fib;
use crate::mem::{Frozen, Lender, Plain};
use crate::net::{Ipv4, Ipv6};
use crate::table::{Column, ColumnType};

/// The bytes from which on a second thread shares the work on checksums.
const SHARED_WORK: usize = 1 << 21;

/// A table over the memory of a file.
pub(super) struct Opened {
    pub header: Header,
    pub ipv4: Fib<Ipv4>,
    pub ipv6: Fib<Ipv6>,
    pub routes: FileRoutes,
    pub values: Values,
}

/// Opens a table. Without `check`, checksums are not verified.
pub(super) fn open(lender: &Arc<dyn Lender>, check: bool) -> Result<Opened, FileError> {
    let bytes = lender.bytes();
    let (header, sections) = decode(bytes, check)?;
    if cfg!(target_endian = "big") {
        return Err(FileErrorKind::BigEndian.into());
    }
    let file = Sections::new(lender, &sections);
    if !check {
        return file.table(header);
    }
    let checksums = Checksums::of(bytes, &sections);
    let opened = thread::scope(|scope| {
        let helper = (bytes.len() >= SHARED_WORK)
            .then(|| thread::Builder::new().spawn_scoped(scope, || checksums.verify()));
        let opened = file.table(header);
        let own = checksums.verify();
        // A helper that cannot be started leaves all work to this thread.
        let helped = helper.and_then(Result::ok).map(thread::ScopedJoinHandle::join);
        match helped {
            Some(Ok(helped)) => own.and(helped)?,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => own?,
        }
        opened
    })?;
    match opened.values.strings.are_sound() {
        true => Ok(opened),
        false => Err(FileError::structure("section 'text'", "its strings are no UTF-8")),
    }
}

/// The verification of all checksums, which threads share.
struct Checksums<'a> {
    bytes: &'a [u8],
    /// The longest section first.
    sections: Vec<&'a Section>,
    next: AtomicUsize,
}

impl<'a> Checksums<'a> {
    fn of(bytes: &'a [u8], sections: &'a [Section]) -> Self {
        let mut sections: Vec<_> = sections.iter().collect();
        sections.sort_by_key(|section| core::cmp::Reverse(section.len));
        Self { bytes, sections, next: AtomicUsize::new(0) }
    }

    /// Verifies sections until none is left.
    fn verify(&self) -> Result<(), FileError> {
        while let Some(section) = self.sections.get(self.next.fetch_add(1, Relaxed)) {
            if xxh64(&self.bytes[section.range()]) != section.checksum {
                return Err(FileErrorKind::Checksum { section: section.name() }.into());
            }
        }
        Ok(())
    }
}

/// The sections of a file.
struct Sections<'a> {
    lender: &'a Arc<dyn Lender>,
    sections: &'a [Section],
    by_name: HashMap<(SectionKind, u16), &'a Section>,
}

impl<'a> Sections<'a> {
    fn new(lender: &'a Arc<dyn Lender>, sections: &'a [Section]) -> Self {
        let name = |section: &Section| (section.kind, section.index);
        let by_name = sections.iter().map(|section| (name(section), section)).collect();
        Self { lender, sections, by_name }
    }

    fn table(&self, header: Header) -> Result<Opened, FileError> {
        let ipv4 = self.engine::<Ipv4>(b'4')?;
        let ipv6 = self.engine::<Ipv6>(b'6')?;
        let (count4, count6) = (header.ipv4 as usize, header.ipv6 as usize);
        let count = count4.saturating_add(count6);
        let routes = FileRoutes {
            ipv4: self.packed(PREFIXES4, 0, count4)?,
            upper6: self.packed(PREFIXES6, 0, count6)?,
            lower6: self.packed(LOWER6, 0, count6)?,
            lens: self.packed(LENGTHS, 0, count)?,
            rows: self.packed(ROWS, 0, count)?,
        };
        Ok(Opened { header, ipv4, ipv6, routes, values: self.values(header)? })
    }

    fn find(&self, kind: SectionKind, index: u16) -> Option<&'a Section> {
        self.by_name.get(&(kind, index)).copied()
    }

    fn require(&self, kind: SectionKind, index: u16) -> Result<&'a Section, FileError> {
        self.find(kind, index).ok_or_else(|| {
            let section = format!("section '{}' {index}", kind.escape_ascii());
            FileError::structure(section, "it is missing")
        })
    }

    /// A section as items.
    fn items<T: Plain>(&self, section: &Section) -> Result<Frozen<T>, FileError> {
        let wrong = |what| FileError::structure(section.name(), what);
        if !section.len.is_multiple_of(size_of::<T>()) {
            return Err(wrong("its length is not a whole number of items"));
        }
        let count = section.len / size_of::<T>();
        Frozen::lent(self.lender, section.offset, count)
            .ok_or_else(|| wrong("it is too near the end of the file"))
    }

    /// A section as this number of items.
    fn array<T: Plain>(
        &self,
        kind: SectionKind,
        index: u16,
        count: usize,
    ) -> Result<Frozen<T>, FileError> {
        let section = self.require(kind, index)?;
        let items = self.items(section)?;
        if items.len() == count {
            return Ok(items);
        }
        let what = format!("it has {} items for {count}", items.len());
        Err(FileError::structure(section.name(), what))
    }

    /// A section as a packed array with this number of items.
    fn packed(&self, kind: SectionKind, index: u16, count: usize) -> Result<Packed, FileError> {
        let section = self.require(kind, index)?;
        Packed::new(self.items(section)?, count).ok_or_else(|| {
            FileError::structure(
                section.name(),
                format!("it is no packed array of {count} numbers"),
            )
        })
    }

    /// The engine of a family; the names of its sections begin with a digit.
    fn engine<F: Images>(&self, digit: u8) -> Result<Fib<F>, FileError> {
        let [a, b, c] = FORM;
        let form = self.require([digit, a, b, c], 0)?;
        let form = &self.lender.bytes()[form.range()];
        let own = |section: &&Section| section.kind[0] == digit && section.index == 0;
        let place = |section: &Section| {
            let [_, a, b, c] = section.kind;
            ([a, b, c], section.offset, section.len)
        };
        let arrays = self.sections.iter().filter(own).map(place);
        match F::over(form, &LentArrays::new(self.lender, arrays)) {
            Some(Ok(engine)) => Ok(Fib::of_engine(engine)),
            Some(Err(damaged)) => Err(FileError::image(F::NAME, &damaged)),
            None => {
                let engine: String = form.escape_ascii().take(80).map(char::from).collect();
                Err(FileErrorKind::NoImage { engine }.into())
            }
        }
    }

    fn values(&self, header: Header) -> Result<Values, FileError> {
        let heads = self.array::<u32>(COLUMNS, 0, 2 * header.columns as usize)?;
        let strings = Strings {
            offsets: self.packed(STRINGS, 0, (header.strings as usize).saturating_add(1))?,
            text: self.items(self.require(TEXT, 0)?)?,
        };
        let rows = header.rows as usize;
        let (mut columns, mut cells) = (Vec::new(), Vec::new());
        for (index, [ty, name]) in heads.as_chunks::<2>().0.iter().enumerate() {
            let wrong = |what| FileError::structure(format!("column {index}"), what);
            let ty = type_of(*ty).ok_or_else(|| wrong("its type is unknown"))?;
            let name = strings.get(*name as usize).ok_or_else(|| wrong("it has no name"))?;
            let index = u16::try_from(index).map_err(|_| wrong("there are too many"))?;
            columns.push(Column::new(name, ty));
            cells.push(match ty {
                ColumnType::String => ColumnCells::Strings(self.packed(CELLS, index, rows)?),
                _ => {
                    let nulls = self.find(NULLS, index);
                    let nulls = nulls.map(|_| self.array(NULLS, index, rows.div_ceil(8)));
                    ColumnCells::Numbers(self.packed(CELLS, index, rows)?, nulls.transpose()?)
                }
            });
        }
        Ok(Values { columns, cells, strings, rows: header.rows })
    }
}
