//! `ArrowColumn`: answers for every library with the Arrow interface.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyIterator, PyList, PySlice, PySliceMethods, PyTuple};

use crate::answers::{array, layout_of};
use crate::arrow::{
    ColumnData, Layout, array_capsules, requested_layout, schema_capsule, stream_capsule,
};
use crate::bulk::Id;
use crate::pause::list_of;
use crate::store::Typed;

/// An Arrow array of answers, for every library with the Arrow PyCapsule interface.
///
/// ``pyarrow.array(column)``, ``polars.Series(column)`` and others take it. Its type follows from the table and the
/// column, never from the addresses: ``string``, ``int64``, ``uint64``, ``float64`` or ``bool``. A consumer can ask for
/// another type that holds the answers: ``pyarrow.array(column, pyarrow.large_string())``, a dictionary with indices of
/// 32 bits, or integers of another width.
///
/// >>> table = longmatch.Table({"10.0.0.0/8": "office", "10.9.0.0/16": "lab"}).freeze()
/// >>> column = table.lookup_many(["10.9.1.1", "10.1.1.1", "192.0.2.1"], out="arrow")
/// >>> column.type, len(column), column.null_count, column[0], column.to_pylist()
/// ('string', 3, 1, 'lab', ['lab', 'office', None])
#[pyclass(frozen, module = "longmatch")]
pub struct ArrowColumn {
    ids: Vec<Id>,
    values: Arc<Typed>,
}

impl ArrowColumn {
    pub fn new(ids: Vec<Id>, values: Arc<Typed>) -> Self {
        Self { ids, values }
    }

    fn object(&self, py: Python<'_>, i: usize) -> Py<PyAny> {
        self.ids[i].map_or_else(|| py.None(), |id| self.values.object(py, id.get() as usize))
    }

    fn data(&self, py: Python<'_>, requested: Option<Bound<'_, PyAny>>) -> PyResult<ColumnData> {
        let layout = match requested.filter(|requested| !requested.is_none()) {
            Some(requested) => requested_layout(requested)?,
            None => layout_of(&self.values),
        };
        py.detach(|| array(&self.ids, &self.values, layout)).map_err(PyValueError::new_err)
    }

    fn layout(&self) -> Layout {
        layout_of(&self.values)
    }

    fn is_null(&self, id: Id) -> bool {
        let Some(code) = id.map(|id| id.get() as usize) else { return true };
        match &*self.values {
            Typed::Strings(texts) => texts.get(code).is_none(),
            Typed::I64(values) => values[code].is_none(),
            Typed::U64(values) => values[code].is_none(),
            Typed::F64(values) => values[code].is_none(),
            Typed::Bools(values) => values[code].is_none(),
        }
    }
}

#[pymethods]
impl ArrowColumn {
    fn __len__(&self) -> usize {
        self.ids.len()
    }

    /// One answer, or those of a slice.
    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        let len = self.ids.len();
        if let Ok(slice) = index.cast::<PySlice>() {
            let part = slice.indices(len as isize)?;
            let places = (0..part.slicelength as isize).map(|i| part.start + i * part.step);
            let ids = places.map(|place| self.ids[place as usize]).collect();
            return Ok(Bound::new(py, Self::new(ids, self.values.clone()))?.into_any());
        }
        let index: isize = index.extract()?;
        let place = if index < 0 { index + len as isize } else { index };
        match usize::try_from(place) {
            Ok(place) if place < len => Ok(self.object(py, place).into_bound(py)),
            _ => Err(PyIndexError::new_err(format!("index {index} of a column of {len} items"))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    /// The answers as Python objects: a list, with ``None`` for null.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, (0..self.ids.len()).map(|i| Ok(self.object(py, i))))
    }

    /// The answers as a Series of pandas, as ``longmatch.pandas.lookup`` returns them.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("longmatch.pandas")?.call_method1("_of_column", (slf,))
    }

    /// The answers as an array of NumPy: of their own type, or of objects where one is null or they are text.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err("an array of NumPy is a copy of these answers"));
        }
        let array = match self._numpy(py)? {
            Some(parts) if !self.ids.iter().any(|id| self.is_null(*id)) => parts.get_item(0)?,
            _ => crate::numpy::objects(
                py,
                (0..self.ids.len()).map(|i| Ok(self.object(py, i))),
                self.ids.len(),
            )?,
        };
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    /// Numbers or booleans as two arrays of NumPy: the values, and a mask of the nulls; ``None`` for text.
    pub fn _numpy<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let dtype = match &*self.values {
            Typed::Strings(_) => return Ok(None),
            Typed::I64(_) => "int64",
            Typed::U64(_) => "uint64",
            Typed::F64(_) => "float64",
            Typed::Bools(_) => "bool",
        };
        let (bytes, nulls) = py.detach(|| self.bytes());
        let numpy = py.import("numpy")?;
        let array = |bytes: &[u8], dtype: &str| {
            numpy.call_method1("frombuffer", (PyByteArray::new(py, bytes), dtype))
        };
        Ok(Some((array(&bytes, dtype)?, array(&nulls, "bool")?).into_pyobject(py)?))
    }

    /// Number of nulls.
    #[getter]
    fn null_count(&self, py: Python<'_>) -> usize {
        py.detach(|| self.ids.iter().filter(|id| self.is_null(**id)).count())
    }

    /// Name of the Arrow type.
    #[getter]
    fn r#type(&self) -> String {
        self.layout().name()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (ty, len, nulls) = (self.r#type(), self.ids.len(), self.null_count(py));
        format!("<longmatch.ArrowColumn {ty}: {len} items, {nulls} null>")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        schema_capsule(py, self.layout())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        array_capsules(py, self.data(py, requested_schema)?)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        stream_capsule(py, self.data(py, requested_schema)?)
    }
}

impl ArrowColumn {
    /// The bytes of numbers or booleans, and a byte for each that is 1 for null.
    fn bytes(&self) -> (Vec<u8>, Vec<u8>) {
        /// The items of one type.
        fn of<T: Copy + Default, const N: usize>(
            ids: &[Id],
            values: &[Option<T>],
            bytes: impl Fn(T) -> [u8; N],
        ) -> (Vec<u8>, Vec<u8>) {
            let mut made = (Vec::with_capacity(ids.len() * N), Vec::with_capacity(ids.len()));
            for id in ids {
                let value = id.and_then(|id| values[id.get() as usize]);
                made.0.extend_from_slice(&bytes(value.unwrap_or_default()));
                made.1.push(u8::from(value.is_none()));
            }
            made
        }
        match &*self.values {
            Typed::Strings(_) => (Vec::new(), Vec::new()),
            Typed::I64(values) => of(&self.ids, values, i64::to_ne_bytes),
            Typed::U64(values) => of(&self.ids, values, u64::to_ne_bytes),
            Typed::F64(values) => of(&self.ids, values, f64::to_ne_bytes),
            Typed::Bools(values) => of(&self.ids, values, |value| [u8::from(value)]),
        }
    }
}
