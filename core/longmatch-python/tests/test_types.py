"""The types of answers: they follow the table and the column, never the addresses."""

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import longmatch
import longmatch.pandas
from longmatch import Table

TABLES = [
    ([1, 2, None], "int64", "Int64"),
    ([1, 2**64 - 1], "uint64", "UInt64"),
    ([1, 2.5], "float64", "Float64"),
    ([True, None, False], "bool", "boolean"),
    (["a", None, "b"], "string", longmatch.pandas._text_type()),
    ([None], "string", longmatch.pandas._text_type()),
    ([], "string", longmatch.pandas._text_type()),
    ([1, "a"], None, "object"),
    ([1, 2.5, True, 2**63], None, "object"),
    ([2**70], None, "object"),
    ([2**63, -1], None, "object"),
    ([2**60 + 1, 0.5], None, "object"),
    (["\ud800"], None, "object"),
]
BATCHES = [[], ["200.0.0.1"], [None], ["no address"], ["1.0.0.1"], ["2.0.0.1"], ["1.0.0.1", "2.0.0.1", "3.0.0.1"]]


@pytest.mark.parametrize(("values", "arrow", "dtype"), TABLES, ids=lambda item: str(item)[:30].encode("ascii", "replace"))
def test_no_batch_changes_the_type(values, arrow, dtype):
    table = Table({f"{i + 1}.0.0.0/8": value for i, value in enumerate(values)})
    frozen, live = table.freeze(), table.live()
    assert frozen.arrow_type() == arrow
    parts = []
    for batch in BATCHES:
        expected = [frozen.lookup(a) if a and a[0].isdigit() else None for a in batch]
        for series in (pd.Series(batch, dtype=object), pd.Series(batch, dtype="string")):
            found = series.longmatch.lookup(frozen)
            assert found.dtype == dtype, batch
            assert [None if value is pd.NA or value != value else value for value in found] == expected
            parts.append(found)
        column = pa.array(batch, pa.string())
        for one in (frozen, live, live.reader()):
            if arrow is None:
                continue
            answers = one.lookup_many(column)
            assert answers.type == arrow and answers.to_pylist() == expected
            assert len(answers) == len(batch) and list(answers) == expected and answers.null_count == expected.count(None)
            assert answers.to_pandas().dtype == dtype
            assert pa.array(answers).to_pylist() == expected
            assert pl.Series(answers).to_list() == expected
    assert pd.concat(parts).dtype == dtype
    if arrow is None:
        for one in (frozen, live):
            if one is frozen or len(values) > 1 or values[0] in (2**70,):
                with pytest.raises(TypeError, match="make no Arrow array"):
                    one.lookup_many(["1.0.0.1"], out="arrow")
    else:
        pa.Table.from_batches([pa.record_batch({"x": pa.array(frozen.lookup_many(pa.array(b, pa.string())))}) for b in BATCHES])


def test_the_type_of_a_live_table_follows_its_commits():
    live = Table().live()
    batch = pa.array(["10.0.0.1"])
    assert live.lookup_many(batch).type == "string"
    with live:
        live["10.0.0.0/8"] = 5
        assert live.lookup_many(batch).type == "string"
    assert live.lookup_many(batch).type == "int64"
    with pytest.raises(ZeroDivisionError), live:
        live["11.0.0.0/8"] = "x"
        1 / 0
    assert live.lookup_many(batch).type == "int64"
    with live:
        live["11.0.0.0/8"] = 0.5
    assert live.lookup_many(batch).type == "float64" and live.lookup_many(batch).to_pylist() == [5.0]
    with live:
        live["11.0.0.0/8"] = "x"
    for addresses in (["10.0.0.1"], ["1.1.1.1"], []):
        with pytest.raises(TypeError, match="str, int, float"):
            live.lookup_many(addresses, out="arrow")


def test_columns_have_the_types_of_the_data():
    table = longmatch.load(b"network,asn,site,score\n10.0.0.0/8,64500,office,1.5\n11.0.0.0/8,,,\n")
    for column, arrow, dtype in [("asn", "uint64", "UInt64"), ("site", "string", None), ("score", "float64", "Float64")]:
        assert table.arrow_type(column) == arrow
        for batch in BATCHES:
            found = pd.Series(batch, dtype=object).longmatch.lookup(table, column=column)
            assert found.dtype == (dtype or longmatch.pandas._text_type())
            assert table.lookup_many(pa.array(batch, pa.string()), column=column).type == arrow
    with pytest.raises(ValueError, match="name one"):
        table.arrow_type()
    assert longmatch.load(b"10.0.0.0/8\n").arrow_type() == "bool"
    several = table.lookup_many(["10.0.0.1", "1.1.1.1"], column=["site", "asn"], return_prefix=True)
    assert several == ({"site": ["office", None], "asn": [64500, None]}, ["10.0.0.0/8", None])
    assert several[0] == table.lookup_many(["10.0.0.1", "1.1.1.1"], column=("site", "asn"))
    arrow = table.lookup_many(pa.array(["10.0.0.1"]), column=["site", "score"])
    assert pa.table({name: pa.array(column) for name, column in arrow.items()}).to_pylist() == [{"site": "office", "score": 1.5}]


def test_dicts_with_the_same_keys_have_columns(tmp_path):
    rows = {"10.0.0.0/8": {"asn": 5, "site": "x"}, "11.0.0.0/8": {"asn": None, "site": None}}
    table = Table(rows).freeze()
    assert table.columns == ["asn", "site"] and table.arrow_type("asn") == "int64"
    assert table.lookup_many(["10.0.0.1", "11.0.0.1", "1.1.1.1"], column="asn") == [5, None, None]
    with pytest.raises(ValueError, match="column=..."):
        table.lookup_many(["10.0.0.1"], out="arrow")
    for odd in ({"10.0.0.0/8": {"a": 1}, "11.0.0.0/8": {"b": 1}}, {"10.0.0.0/8": {"a": [1]}}, {"10.0.0.0/8": 5}):
        table = Table(odd).freeze()
        assert table.columns is None
        with pytest.raises(ValueError, match='column="a"'):
            table.lookup_many([], column="a")


def test_two_rows_weigh_little():
    """Whatever the table has, an answer carries its own strings only."""
    table = Table({f"10.{i >> 8}.{i & 255}.0/24": f"a site with the number {i}" for i in range(50_000)}).freeze()
    answers, prefixes = table.lookup_many(pa.array(["10.0.0.1", "10.99.0.1"]), return_prefix=True)
    batch = pa.record_batch({"a": pa.array(answers), "p": pa.array(prefixes)})
    assert batch.to_pylist()[1] == {"a": "a site with the number 25344", "p": "10.99.0.0/24"}
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    assert sink.tell() < 2000 and len(pickle.dumps(batch)) < 2000
    assert len(pickle.dumps(pd.DataFrame(pd.Series(["10.0.0.1"]).longmatch.lookup(table, return_prefix=True)))) < 3000


def test_a_consumer_may_ask_for_another_type():
    long = "a text of more than twelve bytes"
    table = Table({"1.0.0.0/8": "short", "2.0.0.0/8": long, "3.0.0.0/8": None}).freeze()
    answers = table.lookup_many(["1.0.0.1", "2.0.0.1", "3.0.0.1", "9.9.9.9", "2.1.1.1"], out="arrow")
    expected = ["short", long, None, None, long]
    kinds = [pa.string(), pa.large_string(), pa.string_view()]
    kinds += [pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.uint32(), pa.large_string())]
    for kind in kinds:
        array = pa.array(answers, type=kind)
        array.validate(full=True)
        assert array.type == kind and array.to_pylist() == expected
    assert len(pa.array(answers, type=kinds[3]).dictionary) == 2
    for kind in (pa.int64(), pa.binary(), pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.string())):
        with pytest.raises((TypeError, ValueError), match="asked for as"):
            answers.__arrow_c_array__(kind.__arrow_c_schema__())
    numbers = Table({"1.0.0.0/8": 200, "2.0.0.0/8": 7}).freeze().lookup_many(["1.0.0.1", "2.0.0.1", "x"], out="arrow")
    for kind in (pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()):
        array = pa.array(numbers, type=kind)
        array.validate(full=True)
        assert array.type == kind and array.to_pylist() == [200, 7, None]
    with pytest.raises(ValueError, match="200 is out of the range"):
        numbers.__arrow_c_array__(pa.int8().__arrow_c_schema__())
    assert pa.array(numbers[1:], type=pa.int8()).to_pylist() == [7, None]


def test_arrow_columns_as_sequences():
    column = Table({"1.0.0.0/8": 5}).freeze().lookup_many(["1.0.0.1", "2.0.0.1", "1.0.0.2"], out="arrow")
    assert (column[0], column[-2], column[::2].to_pylist(), column[::-1].to_pylist()) == (5, None, [5, 5], [5, None, 5])
    for index in (3, -4):
        with pytest.raises(IndexError):
            column[index]
    assert np.array(column).tolist() == [5, None, 5] and np.array(column[::2]).dtype == np.int64
    assert np.asarray(column[::2], dtype=np.float64).tolist() == [5.0, 5.0]
    assert column.to_pandas().tolist()[0] == 5 and pd.Series(column)[2] == 5


def test_every_series_of_pandas():
    table = Table({"10.0.0.0/8": 1}).freeze()
    numbers = [0x0A000001, None, 5]
    for dtype in ("Int64", "UInt32", "uint32[pyarrow]", "int64[pyarrow]", object):
        series = pd.Series([(n, 4) for n in numbers if n], dtype=object) if dtype is object else pd.Series(numbers, dtype=dtype)
        expected = [1, None] if dtype is object else [1, None, None]
        found = table.lookup_many(series)
        assert found.to_pylist() == expected and found.type == "int64"
        accessor = series.longmatch.lookup(table, strict=True)
        assert accessor.dtype == "Int64" and [None if v is pd.NA else v for v in accessor] == expected
    assert table.lookup_many(pd.Series([0x0A000001, 5], dtype=np.uint32)).to_pylist() == [1, None]
    texts = ["10.0.0.1", None, "1.1.1.1", "10.0.0.2"]
    for dtype in (object, "string", "string[python]", "string[pyarrow]", "category"):
        assert table.lookup_many(pd.Series(texts, dtype=dtype)).to_pylist() == [1, None, None, 1], dtype
        assert table.lookup_many(pd.Series(texts, dtype=dtype), out="values") == [1, None, None, 1]
    with pytest.raises(TypeError, match="float64"):
        pd.Series([1.5]).longmatch.lookup(table)


def test_masked_arrays():
    table = Table({"10.0.0.0/8": 1}).freeze()
    array = np.ma.masked_array([0x0A000001, 0x0A000002, 5], [True, False, False], dtype=np.uint32)
    assert list(table.lookup_many(array, strict=True)) == [None, 1, None]
    assert table.lookup_many(np.ma.masked_array(["10.0.0.1", "x"], [False, True]), strict=True).tolist() == [1, None]
    with pytest.raises(TypeError, match="masked"):
        table.lookup_many(np.ma.masked_array(np.zeros((2, 4), np.uint8)))
