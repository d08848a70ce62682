"""load, compile, open: tables from files and in files."""

import bz2
import gzip
import io
import multiprocessing
import os
import pathlib
import pickle
import random
import time
import warnings

import numpy as np
import pyarrow as pa
import pytest

import longmatch
from longmatch import Table

CSV = b"""network,asn,site,score
10.0.0.0/8,64500,office,1.5
10.9.0.0/16,64501,lab,
192.0.2.0/24,,office,2.5
2001:db8::/32,64500,docs,0
"""
ADDRESSES = ["10.9.1.1", "10.1.1.1", "2001:db8::1", "192.0.2.1", "198.51.100.1"]
PREFIXES = ["10.9.0.0/16", "10.0.0.0/8", "2001:db8::/32", "192.0.2.0/24", None]


def row(asn, site, score):
    return {"asn": asn, "site": site, "score": score}


ROWS = [row(64501, "lab", None), row(64500, "office", 1.5), row(64500, "docs", 0.0), row(None, "office", 2.5), None]


@pytest.fixture
def lm(tmp_path):
    path = tmp_path / "table.lm"
    longmatch.compile(CSV, path)
    return path


@pytest.fixture(params=["loaded", "opened", "opened, trusted", "opened, values", "opened by load", "pickled"])
def table(request, tmp_path):
    table = longmatch.load(CSV)
    if request.param == "loaded":
        return table
    if request.param == "pickled":
        return pickle.loads(pickle.dumps(table))
    path = tmp_path / "table.lm"
    table.save(path, answers="values" if "values" in request.param else "routes")
    if request.param == "opened by load":
        return longmatch.load(path)
    return longmatch.open(path, trust="trusted" in request.param)


def test_single_lookups(table):
    assert table.columns == ["asn", "site", "score"]
    assert [table.lookup(address) for address in ADDRESSES] == ROWS
    assert [table.get_key(address) for address in ADDRESSES] == PREFIXES
    assert table.lookup_prefix(ADDRESSES[0]) == (PREFIXES[0], ROWS[0])
    assert table["10.9.0.0/17"] == ROWS[0] and table.get("10.0.0.0/7", 5) == 5
    assert table.has_key("10.0.0.0/8") and not table.has_key("10.0.0.0/9")
    assert table.keys() == ["10.0.0.0/8", "10.9.0.0/16", "192.0.2.0/24", "2001:db8::/32"]
    assert dict(table.items())["192.0.2.0/24"] == ROWS[3]
    assert len(table) == 4 and table.thaw()["10.9.1.1"] == ROWS[0]


def test_rows_may_be_changed(table):
    """Each answer is a dict of its own."""
    for rows in (table.lookup_many(ADDRESSES[:2] * 2), [table.lookup(ADDRESSES[0])]):
        for found in rows:
            found["address"] = 1
    assert table.lookup_many(ADDRESSES[:2] * 2) == ROWS[:2] * 2
    assert table.lookup(ADDRESSES[0]) == ROWS[0]


def test_many(table):
    assert table.lookup_many(ADDRESSES) == ROWS
    found, prefixes = table.lookup_many(ADDRESSES, return_prefix=True)
    assert (found, prefixes) == (ROWS, PREFIXES)
    codes, routes = table.lookup_many(np.array(ADDRESSES), return_prefix=True, out="codes")
    assert [table.values_by_code[code] for code in codes] == ROWS
    assert [table.prefixes_by_code[code] for code in routes] == PREFIXES
    with pytest.raises(ValueError, match="column="):
        table.lookup_many(ADDRESSES, out="arrow")


@pytest.mark.parametrize("column", ["asn", "site", "score"])
def test_columns(table, column):
    expected = [found and found[column] for found in ROWS]
    assert table.lookup_many(ADDRESSES, column=column) == expected
    found, prefixes = table.lookup_many(pa.array(ADDRESSES), column=column, return_prefix=True)
    assert pa.array(found).to_pylist() == expected
    assert pa.array(prefixes).to_pylist() == PREFIXES
    found = table.lookup_many(np.array(ADDRESSES), column=column)
    if column == "site":
        assert list(found) == expected
    else:
        assert found.dtype == {"asn": np.uint64, "score": np.float64}[column]
        assert found.tolist() == expected
    with pytest.raises(ValueError, match="no column .nothing"):
        table.lookup_many(ADDRESSES, column="nothing")


def test_one_column_and_none():
    table = longmatch.load(b"10.0.0.0/8 office\n10.9.0.0/16 lab\n")
    assert table.lookup_many(ADDRESSES[:2]) == ["lab", "office"]
    assert pa.array(table.lookup_many(pa.array(ADDRESSES[:2]))).to_pylist() == ["lab", "office"]
    table = longmatch.load(b"10.0.0.0/8\n192.0.2.1\n")
    assert table.columns == []
    assert table.lookup_many(["10.0.0.1", "192.0.2.1", "192.0.2.2"]) == [True, True, None]
    assert pa.array(table.lookup_many(pa.array(["10.0.0.1", "8.8.8.8"]))).to_pylist() == [True, None]


def test_inputs(tmp_path):
    path = tmp_path / "sites.csv"
    path.write_bytes(CSV)
    packed = tmp_path / "sites.csv.gz"
    packed.write_bytes(gzip.compress(CSV))
    sources = [path, str(path), packed, bz2.compress(CSV), io.BytesIO(CSV), [CSV, path], (path, packed)]
    for source in sources:
        assert longmatch.load(source).lookup_many(ADDRESSES) == ROWS
    with open(path, "rb") as file:
        assert len(longmatch.load(file)) == 4
    with open(path) as file, pytest.raises(TypeError, match="'rb'"):
        longmatch.load(file)
    merged = longmatch.load([CSV, b"network,owner\n198.51.100.0/24,me\n"])
    assert merged.columns == ["asn", "site", "score", "owner"]
    assert merged.lookup("198.51.100.1")["owner"] == "me"


def test_options():
    assert longmatch.load(CSV, columns=["site"]).lookup("10.9.1.1") == "lab"
    assert longmatch.load(CSV, columns={"asn": "AS"}, types={"AS": str}).lookup_many(ADDRESSES[:1], column="AS") == ["64501"]
    assert longmatch.load(CSV, types={"asn": float}).lookup("10.9.1.1")["asn"] == 64501.0
    text = b"a;10.0.0.0/8\nb;10.9.0.0/16\n"
    assert longmatch.load(text, delimiter=";", header=False, prefix=2).lookup("10.9.1.1") == "b"
    assert longmatch.load(b"10.0.0.0,10.0.0.255,a\n").keys() == ["10.0.0.0/24"]
    with pytest.raises(ValueError, match="line 2|10.0.0.1/8"):
        longmatch.load(b"network,a\n10.0.0.1/8,1\n")
    assert longmatch.load(b"network,a\n10.0.0.1/8,1\n", strict=False).keys() == ["10.0.0.0/8"]
    with pytest.warns(UserWarning, match="damaged"):
        assert len(longmatch.load(b"network,a\n10.0.0.0/8,1\nnonsense,1\n", lenient=True)) == 1
    with pytest.raises(TypeError, match="unknown option"):
        longmatch.load(CSV, nonsense=1)
    for options in ({"format": "x"}, {"types": {"asn": "x"}}, {"delimiter": "xy"}, {"value": "x"}, {"engine": "x"}):
        with pytest.raises(ValueError):
            longmatch.load(CSV, **options)


def test_routing_tables():
    text = b"1.0.0.0/24 10.0.0.1\n1.0.4.0/22 10.0.0.2\n"
    table = longmatch.load(text, format="routes")
    assert table.columns == ["next_hop"] and table.lookup("1.0.4.1") == "10.0.0.2"
    dump = b"TABLE_DUMP2|1|B|10.0.0.1|64500|1.0.0.0/24|64500 13335|IGP|10.0.0.1|0|0||NAG||\n"
    assert longmatch.load(dump, value="origin-as").lookup("1.0.0.1") == 13335


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        longmatch.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        longmatch.open(tmp_path / "nowhere")
    with pytest.raises(OSError):
        longmatch.load(CSV).save(tmp_path / "nowhere" / "table.lm")
    for content in (b"", b"hello", CSV, b"\0" * 5000):
        path = tmp_path / "bad.lm"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="bad.lm"):
            longmatch.open(path)
    with pytest.raises(ValueError):
        longmatch.load(b"\0\1\2\3" * 100)
    with pytest.raises(ValueError, match="answers="):
        longmatch.load(CSV).save(tmp_path / "x.lm", answers="x")
    for source in (5, None, {"10.0.0.0/8": 1}):
        with pytest.raises(TypeError, match="a DataFrame"):
            longmatch.load(source)
    with pytest.raises(ValueError, match="not opened from a file"):
        longmatch.load(CSV).reload()


def test_damaged_files_are_refused(lm):
    content = lm.read_bytes()
    generator = random.Random(5)
    for _ in range(200):
        damaged = bytearray(content)
        damaged[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        lm.write_bytes(damaged)
        with pytest.raises(ValueError):
            longmatch.open(lm)
        # Without checksums: no crash, whatever the answers are.
        try:
            table = longmatch.open(lm, trust=True)
            table.lookup_many(ADDRESSES, return_prefix=True), table.keys(), table.values()
        except ValueError:
            pass
    for cut in range(0, len(content), max(1, len(content) // 97)):
        lm.write_bytes(content[:cut])
        with pytest.raises(ValueError):
            longmatch.open(lm)


def test_objects_are_saved_as_columns(tmp_path):
    path = tmp_path / "objects.lm"

    def saved(*values):
        table = Table({f"{i + 1}.0.0.0/8": value for i, value in enumerate(values)})
        longmatch.compile(table, path)
        opened = longmatch.open(path)
        assert [opened.lookup(f"{i + 1}.1.1.1") for i in range(len(values))] == list(values)
        return opened.columns

    assert saved("a", "b", None) == ["value"]
    assert saved(1, -2, None) == saved(1.5, 2.5) == saved(2**64 - 1, 5) == ["value"]
    assert saved({"a": 1, "b": "x"}, {"a": 2, "b": None}) == ["a", "b"]
    assert saved(True, True) == []
    odds = [[[1]], [1, "x"], [{"a": 1}, 5], [{1: 2}], [True, False], [{"a": [1]}], [{"a": True}], [2**70], [-1, 2**63]]
    odds += [[2**60 + 1, 0.5], [0.5, 2**60 + 1], ["\ud800"], [{"a": 1}, {"b": 1}], [{"a": 1}, {"a": 1, "b": 2}], [{"a": 1, "b": 2}, {"a": 1}]]
    for odd in odds:
        with pytest.raises((TypeError, ValueError), match=r"^[12]\.0\.0\.0/8: "):
            saved(*odd)


def test_replaced_files(lm):
    table = longmatch.open(lm)
    assert table.path == str(lm) and table.reload() is table
    longmatch.compile(b"network,asn\n10.0.0.0/8,1\n", lm)
    newer = table.reload()
    assert newer is not table and newer.lookup("10.9.1.1") == 1
    assert table.lookup_many(ADDRESSES) == ROWS
    lm.unlink()
    with pytest.raises(FileNotFoundError):
        newer.reload()
    assert newer.lookup("10.9.1.1") == 1


def look_up(arguments):
    table, addresses = arguments
    return os.getpid(), table.lookup_many(addresses)


def test_processes_share_a_file(lm):
    table = longmatch.open(lm)
    assert len(pickle.dumps(table)) < 500
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for pid, found in pool.map(look_up, [(table, ADDRESSES)] * 4):
            assert pid != os.getpid() and found == ROWS


VERSIONS = 20


def write_version(number, path):
    """Writes a table whose rows all have the number; the first prefix of the file differs by version."""
    prefixes = (f"10.{(i + number) % 256}.0.0/16" for i in range(256))
    longmatch.compile("".join(["network,version\n", *(f"{p},{number}\n" for p in prefixes)]).encode(), path)


def watch(path, begin, results):
    """Looks up until the last version: each answer is of one version, and of none older than before."""
    addresses = [f"10.{i}.1.1" for i in range(256)]
    table, seen = longmatch.open(path), [0]
    begin.wait(60)
    while seen[-1] < VERSIONS:
        table = table.reload()
        (number,) = set(table.lookup_many(addresses))
        assert number >= seen[-1], (seen, number)
        if number > seen[-1]:
            seen.append(number)
    results.put(seen)


def test_four_processes_read_a_file_that_is_replaced(lm):
    write_version(0, lm)
    context = multiprocessing.get_context("spawn")
    begin, results = context.Barrier(5), context.Queue()
    readers = [context.Process(target=watch, args=(lm, begin, results), daemon=True) for _ in range(4)]
    for reader in readers:
        reader.start()
    begin.wait(60)
    for number in range(1, VERSIONS + 1):
        write_version(number, lm)
        time.sleep(0.02)
    for reader in readers:
        reader.join(60)
    assert [reader.exitcode for reader in readers] == [0] * 4
    assert all(results.get(timeout=60)[-1] == VERSIONS for _ in readers)
    assert list(lm.parent.iterdir()) == [lm], "no temporary file stays"


def test_no_warning_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        longmatch.load(CSV)


def test_members_of_archives_and_joined_files():
    data = pathlib.Path(__file__).parents[3] / "testdata" / "geolite2"
    blocks = f"{data}/GeoLite2-Country-CSV.zip:GeoLite2-Country-Blocks-IPv4.csv"
    join = {"geoname_id": data / "GeoLite2-Country-Locations-en.csv"}
    with pytest.warns(UserWarning, match="1 key has no row in the joined file"):
        table = longmatch.load(blocks, join=join, where={"country_iso_code": "NL"}, columns=["country_name"])
    assert table.lookup("192.0.2.1") == "The Netherlands" and len(table) == 1
    with pytest.raises(ValueError, match="3 files of data"):
        longmatch.load(data / "GeoLite2-Country-CSV.zip")
    with pytest.raises(ValueError, match="expected COLUMN=FILE"):
        longmatch.load(blocks, join={"": "x"})


def test_thawed_tables_keep_their_columns(tmp_path):
    """Names and types stay through changes, copies, pickles, freeze and save; a value that does not fit is refused."""
    data = [
        (b"network,asn\n10.0.0.0/8,64500\n", 64501, "x"),
        (b"network,site\n10.0.0.0/8,007\n", "008", 8),
        (b"network,score\n10.0.0.0/8,1.5\n", 2.0, "x"),
        (b"network,asn,site\n10.0.0.0/8,1,x\n", {"asn": 2, "site": None}, {"asn": 2}),
        (b"10.0.0.0/8\n", True, "x"),
    ]
    for content, value, odd in data:
        loaded = longmatch.load(content)
        thawed = loaded.thaw()
        thawed["11.0.0.0/8"] = value
        for table in (thawed, thawed.copy(), pickle.loads(pickle.dumps(thawed)), Table(thawed), thawed.live(), thawed.live().thaw()):
            frozen = table.freeze()
            assert frozen.columns == loaded.columns and frozen.lookup("11.0.0.1") == value
            frozen.save(tmp_path / "t.lm")
            opened = longmatch.open(tmp_path / "t.lm")
            assert opened.columns == loaded.columns and opened == frozen == table.freeze()
            for column in loaded.columns:
                assert frozen.arrow_type(column) == loaded.arrow_type(column) == opened.arrow_type(column)
        for change in (odd, object()):
            thawed["12.0.0.0/8"] = change
            with pytest.raises((TypeError, ValueError), match=r"^12\.0\.0\.0/8: "):
                thawed.freeze()
            with pytest.raises((TypeError, ValueError), match=r"^12\.0\.0\.0/8: "):
                longmatch.compile(thawed, tmp_path / "t.lm")
        # Without the columns any value goes.
        assert Table(dict(thawed.items())).freeze().lookup("12.0.0.1") is thawed["12.0.0.1"]


def test_a_path_is_absolute(lm, monkeypatch):
    monkeypatch.chdir(lm.parent)
    for options in ({}, {"mmap": False}, {"trust": True, "mmap": False}):
        table = longmatch.open(lm.name, **options)
        pickled = pickle.dumps(table)
        monkeypatch.chdir("/")
        assert table.path == str(lm) and table.reload() is table
        assert pickle.loads(pickled) == table
        monkeypatch.chdir(lm.parent)


def test_a_pickle_is_of_the_same_file(lm):
    table = longmatch.open(lm)
    pickled, content = pickle.dumps(table), lm.read_bytes()
    longmatch.compile(b"network,asn\n9.0.0.0/8,9\n10.0.0.0/8,1\n", lm)
    with pytest.raises(ValueError, match=f"{lm}: the file has been replaced"):
        pickle.loads(pickled)
    assert pickle.loads(pickle.dumps(table.reload())).lookup("10.0.0.1") == 1
    # The same content, in another file of the same name, is the same table.
    other = lm.with_suffix(".new")
    other.write_bytes(content)
    os.replace(other, lm)
    assert pickle.loads(pickled) == table


def test_a_copy_outlives_writes_into_the_file(lm):
    table = longmatch.open(lm, mmap=False)
    content = lm.read_bytes()
    with open(lm, "r+b") as file:
        file.write(b"x" * len(content))
        file.truncate(100)
    assert table.lookup_many(ADDRESSES) == ROWS
    lm.write_bytes(content)
    assert table.reload().lookup_many(ADDRESSES) == ROWS
