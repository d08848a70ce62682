"""The recipe for Spark, end to end: a cluster of two workers on this machine, Parquet in and out."""

import json
import subprocess
import sys
from pathlib import Path

import longmatch
import pyarrow
import pyarrow.parquet
import pytest

RECIPE = Path(__file__).with_name("spark_annotate.py")
ROUTES = """prefix,asn,site
10.0.0.0/8,64500,office
10.9.0.0/16,64501,lab
2001:db8::/32,64502,
"""
ADDRESSES = ["10.9.1.1", "10.1.1.1", "192.0.2.1", None, "no address", "2001:db8::1", "::ffff:10.9.0.1", ""]
ASNS = [64501, 64500, None, None, None, 64502, 64501, None]
SITES = ["lab", "office", None, None, None, None, "lab", None]
FILES, REPEATS = 4, 5000


@pytest.fixture
def table(tmp_path):
    """A table's file."""
    source = tmp_path / "routes.csv"
    source.write_text(ROUTES)
    path = tmp_path / "table.lm"
    longmatch.load(source).save(path)
    return path


@pytest.fixture
def log(tmp_path):
    """A folder of Parquet files with addresses and the numbers of their rows."""
    folder = tmp_path / "log"
    folder.mkdir()
    for number in range(FILES):
        addresses = ADDRESSES * REPEATS
        rows = range(number * len(addresses), (number + 1) * len(addresses))
        columns = {"row": pyarrow.array(rows, pyarrow.int64()), "ip": pyarrow.array(addresses)}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"{number}.parquet", compression="zstd")
    return folder


def run(*arguments):
    """Runs the recipe with a local cluster of two workers, each with one core and 1,024 MB."""
    command = [sys.executable, str(RECIPE), "--master", "local-cluster[2,1,1024]", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def test_columns_are_added_by_two_workers(table, log, tmp_path):
    """Every row arrives once, with the columns of the longest match; bad and missing addresses have null."""
    out = tmp_path / "annotated"
    done = run(log, out, "--table", table, "--add", "asn", "site")
    assert done.returncode == 0, done.stderr[-4000:]
    rows = FILES * REPEATS * len(ADDRESSES)
    assert json.loads(done.stdout.splitlines()[-1])["rows"] == rows
    found = pyarrow.parquet.read_table(out).sort_by("row").to_pydict()
    assert found["row"] == list(range(rows))
    assert found["ip"] == ADDRESSES * (FILES * REPEATS)
    assert found["asn"] == ASNS * (FILES * REPEATS)
    assert found["site"] == SITES * (FILES * REPEATS)


def test_a_column_that_the_table_lacks_is_refused(table, log, tmp_path):
    """The driver says so before Spark starts."""
    done = run(log, tmp_path / "annotated", "--table", table, "--add", "owner")
    assert done.returncode != 0
    assert "owner" in done.stderr
    assert not (tmp_path / "annotated").exists()
