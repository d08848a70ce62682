"""The same lookups inside engines: pandas, polars, DuckDB, DataFusion, Dask."""

import dask
import dask.dataframe
import datafusion
import duckdb
import pandas
import polars
import pyarrow

import longmatch.pandas  # noqa: F401


def duck(ints, answer):
    """A function of SQL in DuckDB."""
    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.create_function("asn_of", answer, ["UINTEGER"], "UBIGINT", type="arrow", null_handling="special")
    con.register("log_arrow", pyarrow.table({"ip": ints}))
    con.execute("CREATE TABLE log AS SELECT * FROM log_arrow")
    return lambda: con.execute("SELECT sum(a), count(a) FROM (SELECT asn_of(ip) AS a FROM log)").fetchone()


def fusion(ints, answer):
    """A function of SQL in DataFusion."""
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    context.register_record_batches("log", [pyarrow.table({"ip": ints}).to_batches(max_chunksize=1 << 16)])
    context.register_udf(datafusion.udf(answer, [pyarrow.uint32()], pyarrow.uint64(), "immutable", "asn_of"))

    def call():
        found = context.sql("SELECT sum(a) AS s, count(a) AS n FROM (SELECT asn_of(ip) AS a FROM log)").to_pydict()
        return found["s"][0], found["n"][0]

    return call


def ways(data):
    """Package, call, type of the addresses, and the call itself, which returns the answers or their sum and number."""
    table = data.frozen
    ints, answer = pyarrow.array(data.ints), lambda column: pyarrow.array(table.lookup_many(column))
    numbers, texts = pandas.Series(data.ints), pandas.Series(data.arrow.to_pandas(), dtype="str")
    expression = polars.col("ip").map_batches(
        lambda series: polars.Series(table.lookup_many(series)), return_dtype=polars.UInt64, is_elementwise=True
    )
    frames = {"UInt32": polars.DataFrame({"ip": data.ints}), "String": polars.DataFrame({"ip": data.arrow})}
    parts = dask.dataframe.from_pandas(numbers, npartitions=16)
    meta = pandas.Series([], dtype="UInt64")

    def lazy(frame, engine):
        return lambda: frame.lazy().select(expression).collect(engine=engine)["ip"]

    def in_parts():
        with dask.config.set(scheduler="synchronous"):
            return parts.map_partitions(lambda part: part.longmatch.lookup(table), meta=meta).compute()

    return [
        ("pandas", "`Series.longmatch.lookup`", "uint32", lambda: numbers.longmatch.lookup(table)),
        ("pandas", "`Series.longmatch.lookup`", "str", lambda: texts.longmatch.lookup(table)),
        ("polars", "`map_batches`", "UInt32", lazy(frames["UInt32"], "in-memory")),
        ("polars", "`map_batches`", "String", lazy(frames["String"], "in-memory")),
        ("polars", "`map_batches`, streaming", "String", lazy(frames["String"], "streaming")),
        ("duckdb", "a function of SQL, sum of the answers", "UINTEGER", duck(ints, answer)),
        ("datafusion", "a function of SQL, sum of the answers", "UInt32", fusion(ints, answer)),
        ("dask", "`map_partitions` in one thread", "uint32", in_parts),
    ]
