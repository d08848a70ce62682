"""Tables as mappings, and frames as sources of tables."""

import ipaddress
from collections.abc import Mapping, MutableMapping

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import longmatch
from longmatch import FrozenTable, Table

ROUTES = {"10.0.0.0/8": "office", "10.9.0.0/16": "lab", "10.9.1.0/24": None, "2001:db8::/32": "docs"}


def tables(tmp_path):
    table = Table(ROUTES)
    yield table
    yield table.freeze()
    yield table.freeze("poptrie")
    yield table.live()
    table.freeze().save(tmp_path / "t.lm")
    yield longmatch.open(tmp_path / "t.lm")
    yield longmatch.open(tmp_path / "t.lm", mmap=False)


def test_all_tables_answer_alike(tmp_path):
    for table in tables(tmp_path):
        assert dict(table.items()) == ROUTES and dict(zip(table.keys(), table.values())) == ROUTES
        assert list(table) == list(ROUTES) and list(reversed(table)) == list(ROUTES)[::-1] and len(table) == 4
        assert table["10.9.2.1"] == "lab" and table["10.9.0.0/17"] == "lab" and table["10.9.1.1"] is None
        assert table.get("11.0.0.1", 5) == 5 and table.get_key("10.9.1.1") == "10.9.1.0/24"
        assert "10.0.0.1" in table and "11.0.0.1" not in table
        assert table.has_key("10.9.0.0/16") and not table.has_key("10.9.0.0/17")
        assert table.parent("10.9.1.0/24") == "10.9.0.0/16" and table.parent("10.0.0.0/8") is None
        assert table.children("10.0.0.0/8") == ["10.9.0.0/16", "10.9.1.0/24"] and table.children("10.9.1.0/24") == []
        assert table.covering("10.9.1.1") == [(key, ROUTES[key]) for key in list(ROUTES)[:3]]
        assert table.covered("10.8.0.0/15") == [(key, ROUTES[key]) for key in list(ROUTES)[1:3]]
        for method in (table.parent, table.children, table.__getitem__):
            with pytest.raises(KeyError):
                method("12.0.0.0/8")
        assert table.get(ipaddress.ip_interface("10.9.1.7/24"), 1) is None
        assert table.get_key(ipaddress.ip_interface("10.9.2.7/23")) == "10.9.0.0/16"


def test_registered_and_complete():
    table = Table(ROUTES)
    frozen = table.freeze()
    assert isinstance(table, MutableMapping) and isinstance(frozen, Mapping) and not isinstance(frozen, MutableMapping)
    for kind, one in ((MutableMapping, table), (Mapping, frozen)):
        assert all(hasattr(one, name) for name in dir(kind) if not name.startswith("_")), one
    assert table == ROUTES and ROUTES == table and frozen == ROUTES and table == frozen == table.freeze("poptrie")
    assert table != {**ROUTES, "11.0.0.0/8": 1} and frozen != {} and frozen != 5 and table != []
    assert hash(frozen) == hash(table.freeze()) and frozen in {frozen}
    assert {**table} == {**frozen} == ROUTES
    joined = table | {"11.0.0.0/8": 1, "10.0.0.0/8": 2}
    assert dict(joined) == {**ROUTES, "11.0.0.0/8": 1, "10.0.0.0/8": 2} and table == ROUTES
    joined |= {"12.0.0.0/8": 3}
    assert len(joined) == 6
    assert joined.popitem() == ("2001:db8::/32", "docs") and len(joined) == 5
    while joined:
        joined.popitem()
    with pytest.raises(KeyError):
        joined.popitem()
    assert longmatch.__version__.count(".") == 2


def test_scalars_of_numpy_are_values_of_python():
    values = np.array([5, 5, 7])
    table = Table(zip(["10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8"], values))
    assert type(table["10.0.0.1"]) is int
    frozen = table.freeze()
    assert len(frozen.values_by_code) == 3 and frozen.arrow_type() == "int64"
    for value, plain in [(np.float32(0.5), 0.5), (np.str_("x"), "x"), (np.bool_(True), True), (np.uint64(2**63), 2**63)]:
        table["10.0.0.0/8"] = value
        assert table["10.0.0.1"] == plain and type(table["10.0.0.1"]) is type(plain)
    array = np.array([1])
    table["10.0.0.0/8"] = array
    assert table["10.0.0.1"] is array
    rows = Table({"10.0.0.0/8": {"a": np.int64(5)}}).freeze()
    assert rows.lookup_many(["10.0.0.1"], column="a") == [5]


COLUMNS = {"site": ["x", None, "007"], "network": ["10.0.0.0/8", "11.0.0.0/8", "2001:db8::/32"], "asn": [1, None, 2**40], "score": [0.5, 1.0, None]}
ROWS = [{"site": s, "asn": a, "score": c} for s, a, c in zip(COLUMNS["site"], COLUMNS["asn"], COLUMNS["score"])]


def frames(tmp_path):
    arrow = pa.table(COLUMNS)
    pq.write_table(arrow, tmp_path / "t.parquet")
    yield pd.DataFrame(COLUMNS).astype({"asn": "Int64"})
    yield pl.DataFrame(COLUMNS)
    yield arrow
    yield arrow.to_batches()[0]
    connection = duckdb.connect()
    yield connection.from_arrow(arrow)
    yield tmp_path / "t.parquet"
    yield str(tmp_path / "t.parquet")


def test_frames_are_sources(tmp_path):
    for frame in frames(tmp_path):
        table = longmatch.load(frame)
        assert table.columns == ["site", "asn", "score"] and table.keys() == COLUMNS["network"] and table.values() == ROWS
        assert [table.arrow_type(column) for column in table.columns] == ["string", "int64", "float64"]
        assert longmatch.load(frame, prefix="network", columns=["asn"]).values() == COLUMNS["asn"]
        assert longmatch.load(frame, columns={"asn": "AS", "score": "s"}).columns == ["AS", "s"]
        longmatch.compile(frame, tmp_path / "t.lm")
        assert longmatch.open(tmp_path / "t.lm") == table
        if not isinstance(frame, (str, type(tmp_path))):
            thawed = Table(frame)
            assert thawed == table and thawed.freeze().columns == table.columns
        for options, message in [({"prefix": "x"}, "no column 'x'"), ({"columns": ["x"]}, "no column 'x'")]:
            with pytest.raises(ValueError, match=message):
                longmatch.load(frame, **options)
        with pytest.raises(TypeError, match="header: a frame takes"):
            longmatch.load(frame, header=True)
    for odd, message in [
        (pa.table({"p": ["10.0.0.0/8"], "b": [True]}), "row 0, column .b.: .*bool"),
        (pa.table({"p": ["10.0.0.0/8"], "b": [[1]]}), "row 0, column .b."),
        (pa.table({"p": ["10.0.0.0/8", "x"]}), "row 1: "),
        (pa.table({"p": ["10.0.0.1/8"]}), "row 0: "),
        (pa.table({"a": ["x"]}), "no column begins with a prefix"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            longmatch.load(odd)
    assert longmatch.load(pa.table({"p": ["10.0.0.1/8"]}), strict=False).keys() == ["10.0.0.0/8"]


MESSAGES = [
    (lambda t: t[np.uint32(5)], TypeError, r"int\(number\), 4"),
    (lambda t: t[5], TypeError, r"int\(number\), 4"),
    (lambda t: t[bytearray(4)], TypeError, r"bytes\(key\)"),
    (lambda t: t[(5, 2)], ValueError, "expected 4 or 6"),
    (lambda t: t[(True, 4)], TypeError, r"\(True, 4\)"),
    (lambda t: Table([("10.0.0.0/8", 1), ("bogus", 2)]), ValueError, "pair 1: .*bogus"),
    (lambda t: Table([("10.0.0.0/8", 1), ("10.0.0.1/8", 2)]), ValueError, "pair 1: .*host bits"),
    (lambda t: Table(5), TypeError, "expected a mapping|not iterable"),
    (lambda t: t.freeze().lookup_many(pa.array([1.5])), TypeError, "Arrow type float64"),
    (lambda t: t.freeze().lookup_many(pa.array([[1]])), TypeError, "Arrow type list"),
    (lambda t: t.freeze().lookup_many(np.zeros(1, "datetime64[s]")), TypeError, r"datetime64\[s\]"),
    (lambda t: t.freeze().lookup_many([], column=5), TypeError, "column"),
]


@pytest.mark.parametrize(("call", "kind", "message"), MESSAGES)
def test_messages_say_what_to_do(call, kind, message):
    with pytest.raises(kind, match=message):
        call(Table(ROUTES))


def test_a_file_of_another_kind_is_named(tmp_path):
    path = tmp_path / "x.lm"
    path.write_bytes(b"x" * 5000)
    with pytest.raises(ValueError, match="longmatch.compile"):
        longmatch.open(path)


def test_frozen_tables_are_generic():
    assert FrozenTable[str].__origin__ is FrozenTable
