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

from ._longmatch import FrozenTable, Table

__all__ = ["LongmatchAccessor", "lookup"]


def lookup(
    series: pd.Series[Any],
    table: FrozenTable[Any] | Table[Any],
    *,
    column: str | None = None,
    return_prefix: bool = False,
    threads: int | None = None,
    strict: bool = False,
) -> Any:
    """Looks up the addresses of a Series; returns a Series with the same index.

    Strings become a categorical, integers ``Int64`` or ``UInt64``, floats ``Float64`` and booleans ``boolean``, each
    with ``NA`` for no match; values of other or several types become objects. With ``return_prefix=True`` the result is
    a DataFrame with the columns ``value`` and ``prefix``. A ``Table`` is compiled by each call: freeze it for several.
    """
    frozen = table.freeze() if isinstance(table, Table) else table
    options: dict[str, Any] = {
        "column": column,
        "return_prefix": return_prefix,
        "threads": threads,
        "strict": strict,
        "out": "codes",
    }
    found = frozen.lookup_many(_addresses(series), **options)
    codes = found[0] if return_prefix else found
    values = _values(frozen, codes, column)
    answers = pd.Series(values, index=series.index, name=series.name)
    if not return_prefix:
        return answers
    prefixes = _categorical(frozen.prefixes_by_code, found[1])
    return pd.DataFrame({"value": answers, "prefix": pd.Series(prefixes, index=series.index)})


def _addresses(series: pd.Series[Any]) -> Any:
    """The addresses in a form that ``lookup_many`` reads without pyarrow."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(object)
    if pd.api.types.is_integer_dtype(series.dtype) and not series.hasnans:
        return series.to_numpy()
    return series.tolist()


def _values(frozen: FrozenTable[Any], codes: Any, column: str | None) -> Any:
    """The values of the answers in the array of pandas that suits their type."""
    # Few of the codes may be used, so that the types and categories are those of the answers.
    used, places = np.unique(codes, return_inverse=True)
    by_code = frozen.values_by_code
    values = [by_code[code] for code in used]
    if column is not None and len(frozen.columns or ()) > 1:
        values = [None if value is None else value[column] for value in values]
    missing = np.array([value is None for value in values], dtype=bool)
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {str}:
        return _categorical(values, places)
    if kinds == {int} and all(value is None or -(2**63) <= value < 2**64 for value in values):
        signed = all(value is None or value < 2**63 for value in values)
        if signed or all(value is None or value >= 0 for value in values):
            numbers = np.array([value or 0 for value in values], np.int64 if signed else np.uint64)
            return pd.arrays.IntegerArray(numbers[places], missing[places])
    if kinds == {float} or kinds == {int, float}:
        floats = np.array([0.0 if value is None else value for value in values], np.float64)
        return pd.arrays.FloatingArray(floats[places], missing[places])
    if kinds == {bool}:
        booleans = np.array([bool(value) for value in values], bool)
        return pd.arrays.BooleanArray(booleans[places], missing[places])
    objects = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        objects[i] = value
    return objects[places]


def _categorical(values: Any, places: Any) -> Any:
    """The strings at these places as a categorical; ``None`` is missing."""
    used, places = np.unique(places, return_inverse=True)
    texts = np.array([values[place] for place in used], dtype=object)
    codes, categories = pd.factorize(texts)
    return pd.Categorical.from_codes(codes[places] if len(codes) else places, categories)


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
    ) -> Any:
        """Looks up the addresses of the Series; see :func:`longmatch.pandas.lookup`."""
        return lookup(
            self._series,
            table,
            column=column,
            return_prefix=return_prefix,
            threads=threads,
            strict=strict,
        )
