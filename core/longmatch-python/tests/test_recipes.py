"""The recipes of docs/python.md for engines, end to end; each is skipped where its module is not installed."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import longmatch
import longmatch.pandas

RECIPES = pathlib.Path(__file__).parents[1] / "recipes"
CSV = b"network,asn,site\n10.0.0.0/8,64500,office\n10.9.0.0/16,64501,lab\n2001:db8::/32,,docs\n"
ADDRESSES = ["10.9.1.1", "192.0.2.1", None, "no address", "10.1.1.1", "2001:db8::1", ""]
ASNS = [64501, None, None, None, 64500, None, None]
SITES = ["lab", None, None, None, "office", "docs", None]
REPEATS = 5000


@pytest.fixture
def file(tmp_path):
    longmatch.compile(CSV, tmp_path / "t.lm", types={"asn": "i64"})
    return tmp_path / "t.lm"


@pytest.fixture
def table(file):
    return longmatch.open(file)


@pytest.fixture
def log(tmp_path):
    frame = pa.table({"row": range(REPEATS * len(ADDRESSES)), "ip": ADDRESSES * REPEATS})
    pq.write_table(frame, tmp_path / "log.parquet", row_group_size=1000)
    return tmp_path / "log.parquet"


def check(asns, sites):
    """Every row has its answers; missing ones may be NaN."""
    plain = lambda values: [None if value is None or value is pd.NA or value != value else value for value in values]  # noqa: E731
    assert plain(asns) == ASNS * REPEATS and plain(sites) == SITES * REPEATS


def test_duckdb(table, log):
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    con.create_function(
        "asn_of", lambda ip: pa.array(table.lookup_many(ip, column="asn")), ["VARCHAR"], "BIGINT", type="arrow", null_handling="special"
    )
    con.create_function(
        "site_of", lambda ip: pa.array(table.lookup_many(ip, column="site")), ["VARCHAR"], "VARCHAR", type="arrow", null_handling="special"
    )
    found = con.sql(f"select asn_of(ip), site_of(ip) from '{log}' order by row").fetchall()
    check(*zip(*found))
    relation = con.sql(f"select ip from '{log}' order by row")
    assert pa.array(table.lookup_many(relation, column="site")).to_pylist() == SITES * REPEATS


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_polars(table, log, engine):
    def annotate(name, dtype):
        return pl.col("ip").map_batches(
            lambda series: pl.Series(table.lookup_many(series, column=name)), return_dtype=dtype, is_elementwise=True
        ).alias(name)

    lazy = pl.scan_parquet(log).with_columns(annotate("asn", pl.Int64), annotate("site", pl.String))
    found = lazy.collect(engine=engine).sort("row")
    check(found["asn"].to_list(), found["site"].to_list())
    joined = found.join(pl.DataFrame({"site": ["lab"], "floor": [3]}), on="site", how="left")
    assert joined["floor"].sum() == 3 * REPEATS


def test_datafusion(table, log):
    datafusion = pytest.importorskip("datafusion")
    context = datafusion.SessionContext()
    context.register_parquet("log", str(log))
    for name, kind in [("asn", pa.int64()), ("site", pa.string())]:
        answer = lambda column, name=name: pa.array(table.lookup_many(column, column=name))  # noqa: E731
        context.register_udf(datafusion.udf(answer, [pa.string()], kind, "immutable", f"{name}_of"))
    found = context.sql("select asn_of(cast(ip as varchar)) a, site_of(cast(ip as varchar)) s from log order by row").to_pydict()
    check(found["a"], found["s"])


def annotate(part, path):
    """A part of a frame with the columns of the table in a file; each process maps the file."""
    import longmatch.pandas  # noqa: F401

    table = longmatch.open(path)
    return part.assign(asn=part["ip"].longmatch.lookup(table, column="asn"), site=part["ip"].longmatch.lookup(table, column="site"))


def test_dask(file, log):
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    part = annotate(pd.DataFrame({"row": pd.Series([], dtype="int64"), "ip": pd.Series([], dtype="str")}), file)
    frame = frames.from_pandas(pq.read_table(log).to_pandas(), npartitions=7)
    with dask.config.set(scheduler="threads"):
        found = frame.map_partitions(annotate, str(file), meta=part).compute().sort_values("row")
    assert found.dtypes["asn"] == "Int64"
    check(found["asn"], found["site"])


def test_ray(file, log):
    ray = pytest.importorskip("ray")
    data = pytest.importorskip("ray.data")
    path = str(file)

    class Annotate:
        def __init__(self):
            self.table = longmatch.open(path)

        def __call__(self, batch):
            for name in ("asn", "site"):
                batch = batch.append_column(name, pa.array(self.table.lookup_many(batch["ip"], column=name)))
            return batch

    ray.init(num_cpus=1, include_dashboard=False, logging_level="error", log_to_driver=False)
    try:
        read = data.from_arrow(pq.read_table(log))
        found = read.map_batches(Annotate, batch_format="pyarrow", concurrency=1).to_pandas().sort_values("row")
    finally:
        ray.shutdown()
    check(found["asn"], found["site"])


def test_pyspark(file, log):
    pytest.importorskip("pyspark")
    if subprocess.run(["java", "-version"], capture_output=True, check=False).returncode:
        pytest.skip("no java")
    out = log.with_name("annotated")
    command = [sys.executable, str(RECIPES / "spark_annotate.py"), str(log), str(out), "--master", "local[1]"]
    command += ["--table", str(file), "--add", "asn", "site"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found = pq.read_table(out).sort_by("row").to_pydict()
    check(found["asn"], found["site"])


def test_clickhouse(file):
    """The program that ClickHouse runs: blocks of TSV in, one answer a line out."""
    program = [sys.executable, str(RECIPES / "clickhouse_annotate.py"), "--table", str(file), "--column", "site"]
    lines = ["10.9.1.1", "192.0.2.1", "\\N", "", "10.1.1.1"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(3):
            process.stdin.write("5\n" + "".join(f"{line}\n" for line in lines))
            process.stdin.flush()
            assert [process.stdout.readline() for _ in lines] == ["lab\n", "\\N\n", "\\N\n", "\\N\n", "office\n"]
        process.stdin.close()
        assert process.wait(30) == 0


def test_numpy_and_pandas(table):
    frame = pd.DataFrame({"ip": ADDRESSES * REPEATS})
    check(frame["ip"].longmatch.lookup(table, column="asn"), frame["ip"].longmatch.lookup(table, column="site"))
    found = table.lookup_many(np.array(ADDRESSES, dtype=object), column="asn")
    assert found.tolist() == ASNS
