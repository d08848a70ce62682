"""Frames and Series of pandas, polars, pyarrow and DuckDB as what the compiled part reads. It calls this module."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any


PART = 1 << 14


def is_pandas(source: Any) -> bool:
    """Whether the object is a DataFrame of pandas."""
    found = getattr(sys.modules.get("pandas"), "DataFrame", None)
    return isinstance(found, type) and isinstance(source, found)


def addresses(series: Any) -> Any:
    """The addresses of a Series: an array of NumPy, masked where values are missing, or an Arrow column."""
    import numpy as np
    import pandas as pd

    array, dtype = series.array, series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        # Few categories: an Arrow dictionary, whose values are read once.
        try:
            import pyarrow as pa
        except ImportError:
            return series.astype(object).to_numpy()
        codes = pa.array(series.cat.codes.to_numpy().astype(np.int32), mask=series.isna().to_numpy())
        return pa.DictionaryArray.from_arrays(codes, pa.array(series.cat.categories.tolist()))
    if pd.api.types.is_extension_array_dtype(dtype):
        if pd.api.types.is_integer_dtype(dtype) and not isinstance(dtype, pd.ArrowDtype):
            missing = series.isna().to_numpy()
            kind = np.dtype(getattr(dtype, "numpy_dtype", dtype))
            return np.ma.masked_array(array.to_numpy(dtype=kind, na_value=0), missing)
        # Text and other columns that Arrow holds already.
        if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
            return array.__arrow_array__()
        return series.astype(object).to_numpy()
    return series.to_numpy()


def array(addresses: Any) -> Any:
    """An array of NumPy whose records became rows, and whose integers have the byte order of the machine where it matters."""
    import numpy as np

    dtype = addresses.dtype
    if dtype.names is None:
        swapped = not dtype.isnative and dtype.kind in "iu" and addresses.ndim == 1
        # Unsigned integers of 32 bits in the order of the network are read as they are.
        return addresses.astype(dtype.newbyteorder("=")) if swapped and dtype != np.dtype(">u4") else addresses
    fields = [dtype.fields[name][:2] for name in dtype.names]
    kind, size = fields[0][0], fields[0][0].itemsize
    packed = all(field == (kind, i * size) for i, field in enumerate(fields)) and dtype.itemsize == size * len(fields)
    if packed and (kind.kind, size, len(fields)) in [("u", 8, 2), ("u", 1, 4), ("u", 1, 16)]:
        return np.ascontiguousarray(addresses).view(kind).reshape(*addresses.shape, len(fields))
    raise TypeError(f"records of type {dtype} have no addresses: expected two uint64 (IPv6, high half first), or 4 or 16 uint8")


def is_frame(source: Any) -> bool:
    """Whether ``load`` reads columns of this source: a frame, or the path of a Parquet file."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source).lower().endswith((".parquet", ".pq"))
    if isinstance(source, (bytes, list, tuple, dict)) or isinstance(source, type):
        return False
    if is_pandas(source):
        return True
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def columns(
    source: Any, prefix: list[str], kept: list[tuple[str, str | None]] | None
) -> tuple[list[Any], list[tuple[str, list[Any]]]]:
    """The prefixes of a frame, and its other columns with their names."""
    named = dict(_lists(source))
    if len(prefix) > 1:
        raise ValueError("prefix: a frame has one column of prefixes; make it of two before")
    chosen = prefix[0] if prefix else next((name for name, cells in named.items() if _has_prefixes(cells)), None)
    if chosen is None:
        raise ValueError(f"no column begins with a prefix: name the column with prefix=...; the columns are {list(named)}")
    if chosen not in named:
        raise ValueError(f"prefix: no column {chosen!r}: the frame has {list(named)}")
    prefixes = named[chosen]
    if kept is None:
        return prefixes, [(name, cells) for name, cells in named.items() if name != chosen]
    for name, _ in kept:
        if name not in named:
            raise ValueError(f"columns: no column {name!r}: the frame has {list(named)}")
    return prefixes, [(new or name, named[name]) for name, new in kept]


def _has_prefixes(cells: list[Any]) -> bool:
    """Whether the first cell that is not missing is a prefix or an address: text, bytes or an object of ``ipaddress``."""
    from ._longmatch import Table

    first = next((cell for cell in cells if cell is not None), None)
    if first is None or isinstance(first, tuple):
        return False
    try:
        Table([(first, None)], strict=False)
    except (TypeError, ValueError):
        return False
    return True


def _lists(source: Any) -> list[tuple[str, list[Any]]]:
    """The columns of a frame as lists, with ``None`` for what is missing."""
    if is_pandas(source):
        named = [(name, source.iloc[:, i]) for i, name in enumerate(source.columns)]
        return [(str(name), _cells(series)) for name, series in named]
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(f"a frame or a Parquet file is read by pyarrow, which cannot be imported ({error})") from None
    if isinstance(source, (str, os.PathLike)):
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(os.fspath(source))
    else:
        table = pa.table(source)
    return [(name, [cell for part in _parts(column) for cell in part.to_pylist()]) for name, column in zip(table.column_names, table.columns)]


def _parts(column: Any) -> Iterator[Any]:
    """The slices of a column, between which other threads run."""
    return (getattr(column, "iloc", column)[start : start + PART] for start in range(0, len(column), PART))


def _cells(series: Any) -> list[Any]:
    """The cells of a Series of pandas."""
    missing = series.isna().to_numpy()
    cells = [cell for part in _parts(series) for cell in part.tolist()]
    return [None if gone else cell for cell, gone in zip(cells, missing)] if missing.any() else cells
