"""pandas, polars and DuckDB by the Arrow interface."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from longmatch import Table, load

ADDRESSES = ["10.9.1.1", None, "10.1.1.1", "bad", "2001:db8::1", "192.0.2.1"]
SITES = ["lab", None, "office", None, "docs", None]
PREFIXES = ["10.9.0.0/16", None, "10.0.0.0/8", None, "2001:db8::/32", None]


@pytest.fixture(scope="module")
def table():
    return Table({"10.0.0.0/8": "office", "10.9.0.0/16": "lab", "2001:db8::/32": "docs"}).freeze()


@pytest.fixture(scope="module")
def numbers():
    return Table({"10.0.0.0/8": 1, "10.9.0.0/16": 2, "2001:db8::/32": 3}).freeze()


def test_polars(table, numbers):
    for series in [pl.Series(ADDRESSES), pl.Series(ADDRESSES, dtype=pl.Categorical), pl.Series(["x", *ADDRESSES])[1:]]:
        sites, prefixes = table.lookup_many(series, return_prefix=True)
        assert pl.Series(sites).cast(pl.String).to_list() == SITES
        assert pl.Series(prefixes).cast(pl.String).to_list() == PREFIXES
        assert pl.Series(numbers.lookup_many(series)).to_list() == [2, None, 1, None, 3, None]
    frame = pl.DataFrame({"address": ADDRESSES})
    frame = frame.with_columns(site=pl.Series(table.lookup_many(frame["address"])))
    assert frame["site"].cast(pl.String).to_list() == SITES
    numbers4 = pl.Series([0x0A090101, None, 0x0A010101], dtype=pl.UInt32)
    assert pl.Series(table.lookup_many(numbers4)).cast(pl.String).to_list() == ["lab", None, "office"]
    chunked = pl.concat([pl.Series(ADDRESSES), pl.Series(ADDRESSES)], rechunk=False)
    assert pl.Series(table.lookup_many(chunked)).cast(pl.String).to_list() == SITES * 2
    binary = pl.Series([b"\x0a\x09\x01\x01", None])
    assert pl.Series(table.lookup_many(binary)).cast(pl.String).to_list() == ["lab", None]


def test_pandas(table, numbers):
    series = pd.Series(ADDRESSES)
    for of in (series, series.astype("category"), series.astype(pd.ArrowDtype(pa.string()))):
        assert pa.array(table.lookup_many(of)).to_pylist() == SITES
    assert table.lookup_many(series.to_list()) == SITES
    assert table.lookup_many(series.astype(object).to_numpy()).tolist() == SITES
    assert pd.Series(pa.array(table.lookup_many(series)).to_pandas()).isna().tolist() == [s is None for s in SITES]
    integers = pd.Series([0x0A090101, 0x0A010101])
    assert pa.array(numbers.lookup_many(integers)).to_pylist() == [2, 1]
    assert pa.array(numbers.lookup_many(pd.Series([0x0A090101, None], dtype="Int64"))).to_pylist() == [2, None]


def test_duckdb(table):
    con = duckdb.connect()
    relation = con.sql("select unnest(['10.9.1.1', null, '10.1.1.1', 'bad', '2001:db8::1', '192.0.2.1']) as address")
    assert pa.array(table.lookup_many(relation)).to_pylist() == SITES
    frame = pa.table({"address": ADDRESSES, "site": pa.array(table.lookup_many(pa.array(ADDRESSES)))})
    assert con.sql("select site::varchar from frame where site is not null").fetchall() == [("lab",), ("office",), ("docs",)]
    numbers = con.sql("select unnest([168362241::uinteger, 167837953::uinteger]) as address")
    assert pa.array(table.lookup_many(numbers)).to_pylist() == ["lab", "office"]


def test_series_helpers(table, numbers):
    import longmatch.pandas  # noqa: F401

    series = pd.Series(ADDRESSES, index=list("abcdef"), name="address")
    sites = series.longmatch.lookup(table)
    assert sites.index.tolist() == list("abcdef")
    assert sites.astype(object).where(sites.notna(), None).tolist() == SITES
    both = series.longmatch.lookup(table, return_prefix=True)
    assert both.columns.tolist() == ["value", "prefix"]
    assert both["prefix"].dropna().tolist() == [p for p in PREFIXES if p]
    found = longmatch.pandas.lookup(series, numbers)
    assert found.dtype == "Int64" and found.dropna().tolist() == [2, 1, 3]
    found = longmatch.pandas.lookup(pd.Series(np.array([0x0A090101, 5], np.uint32)), table)
    assert found.iloc[0] == "lab" and pd.isna(found.iloc[1])
    mixed = Table({"10.0.0.0/8": [1], "11.0.0.0/8": "x"}).freeze()
    assert longmatch.pandas.lookup(pd.Series(["10.0.0.1", "11.0.0.1"]), mixed).tolist() == [[1], "x"]
    with pytest.raises(ValueError, match="item 3"):
        series.longmatch.lookup(table, strict=True)
    assert longmatch.pandas.lookup(series, Table({"10.9.0.0/16": "x"})).iloc[0] == "x"


def test_rows_with_the_same_prefix():
    frame = pa.table({"net": ["10.0.0.0/8", "10.0.0.0/8", "10.0.0.0/8"], "asn": [1, 1, 2]})
    found = lambda **options: load(frame, **options).lookup("10.1.1.1")  # noqa: E731
    assert (found(), found(duplicates="last"), found(duplicates="first")) == (2, 2, 1)
    with pytest.raises(ValueError, match="row 2: 10.0.0.0/8 has other cells than in a row before"):
        found(duplicates="error")
    assert load(frame[:2], duplicates="error").lookup("10.1.1.1") == 1
    with pytest.raises(ValueError, match="a frame takes 'last', 'first' or 'error'"):
        found(duplicates="join")
