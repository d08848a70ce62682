"""Lookups of pandas Series: a function, and the accessor ``series.longmatch``.

Importing this module registers the accessor.

>>> import pandas as pd, longmatch, longmatch.pandas
>>> sites = longmatch.Table({"10.0.0.0/8": "office", "10.9.0.0/16": "lab"})
>>> pd.Series(["10.9.1.1", "10.1.1.1"]).longmatch.lookup(sites).tolist()
['lab', 'office']
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ._longmatch import ArrowColumn, FrozenTable, Table

__all__ = ["LongmatchAccessor", "lookup"]


def lookup(
    series: pd.Series[Any],
    table: FrozenTable[Any] | Table[Any],
    *,
    column: str | None = None,
    return_prefix: bool = False,
    threads: int | None = None,
    strict: bool = False,
    lenient: bool = False,
) -> Any:
    """Looks up the addresses of a Series; returns a Series with the same index.

    The type follows from the table and the column, never from the addresses: text becomes ``str`` (before pandas 3
    ``string``), integers ``Int64`` or ``UInt64``, floats ``Float64`` and booleans ``boolean``, each with a missing value
    for no match; values of other or several types become objects. With ``return_prefix=True`` the result is a DataFrame
    with the columns ``value`` and ``prefix``. A ``Table`` is compiled by each call: freeze it for several.
    """
    frozen = table.freeze() if isinstance(table, Table) else table
    is_typed = _is_typed(frozen, column)
    options: dict[str, Any] = {
        "column": column,
        "return_prefix": return_prefix,
        "threads": threads,
        "strict": strict,
        "lenient": lenient,
        "out": "arrow" if is_typed else "codes",
    }
    found = frozen.lookup_many(series, **options)
    values = found[0] if return_prefix else found
    if is_typed:
        answers = _of_column(values, series.index, series.name)
    else:
        objects = _gathered(frozen.values_by_code, values)
        # The type is given, since pandas would find one by the values.
        answers = pd.Series(objects, index=series.index, name=series.name, dtype=object)
    if not return_prefix:
        return answers
    if is_typed:
        prefixes = _of_column(found[1], series.index)
    else:
        texts = _gathered(frozen.prefixes_by_code, found[1])
        prefixes = pd.Series(texts, index=series.index, dtype=_text_type())
    return pd.DataFrame({"value": answers, "prefix": prefixes})


def _is_typed(frozen: FrozenTable[Any], column: str | None) -> bool:
    """Whether the answers have a type; a dict of several columns has none."""
    if column is None and len(frozen.columns or ()) > 1:
        return False
    return frozen.arrow_type(column) is not None


def _gathered(by_code: tuple[Any, ...], codes: Any) -> Any:
    """The objects of codes."""
    objects = np.empty(len(by_code), dtype=object)
    for code, value in enumerate(by_code):
        objects[code] = value
    return objects[codes]


def _text_type() -> str:
    """The type of text: that of pandas 3, or the nullable one of pandas 2."""
    return "str" if int(pd.__version__.split(".")[0]) >= 3 else "string"


def _of_column(column: ArrowColumn, index: Any = None, name: Any = None) -> Any:
    """The answers as a Series; ``ArrowColumn.to_pandas`` calls it."""
    parts = column._numpy()
    if parts is None:
        return pd.Series(_text(column), index=index, name=name, copy=False)
    values, missing = parts
    arrays: dict[str, Any] = {"f": pd.arrays.FloatingArray, "b": pd.arrays.BooleanArray}
    array = arrays.get(values.dtype.kind, pd.arrays.IntegerArray)
    return pd.Series(array(values, missing), index=index, name=name, copy=False)


def _text(column: ArrowColumn) -> Any:
    """Text as an array of pandas: that of Arrow where pyarrow is there."""
    try:
        import pyarrow as pa
    except ImportError:
        return pd.array(column.to_pylist(), dtype=_text_type())
    dtype: Any = pd.Series([], dtype="str").dtype if _text_type() == "str" else pd.StringDtype("pyarrow")
    # The arrays of pandas have long offsets, so that nothing is copied.
    return pd.array(pa.chunked_array([pa.array(column, pa.large_string())]), dtype=dtype)


@pd.api.extensions.register_series_accessor("longmatch")
class LongmatchAccessor:
    """The accessor ``series.longmatch``: lookups of the Series' addresses."""

    def __init__(self, series: pd.Series[Any]) -> None:
        self._series = series

    def lookup(
        self,
        table: FrozenTable[Any] | Table[Any],
        *,
        column: str | None = None,
        return_prefix: bool = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
    ) -> Any:
        """Looks up the addresses of the Series; see :func:`longmatch.pandas.lookup`."""
        return lookup(
            self._series,
            table,
            column=column,
            return_prefix=return_prefix,
            threads=threads,
            strict=strict,
            lenient=lenient,
        )
