"""Adds columns of a compiled table to Parquet files, by Spark.

    longmatch compile --routes rib.mrt.bz2 --value origin-as -o asn.lm
    python spark_annotate.py --table asn.lm --ip ip --add origin_as logs/ annotated/

Spark ships the table to each executor once, as a file. Each Python process of an executor maps that file, so the
processes of one machine share one copy of it in memory. Rows pass through in Arrow batches: no address becomes a Python
object. Addresses that are missing or malformed give null.
"""

import argparse
import json
import os
import time

import longmatch
import pyarrow
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType


def spark_type(table, column):
    """The Arrow and Spark types of a table's column. Spark has no unsigned integers, so all become 64-bit signed ones."""
    empty = pyarrow.array([], pyarrow.string())
    arrow = pyarrow.array(table.lookup_many(empty, column=column, out="arrow")).type
    if pyarrow.types.is_integer(arrow):
        return pyarrow.int64(), LongType()
    if pyarrow.types.is_floating(arrow):
        return pyarrow.float64(), DoubleType()
    return pyarrow.string(), StringType()


def annotate(file, ip, columns):
    """Returns a function for `mapInArrow`: it adds the columns of a table's file, a dict of Arrow types by names."""

    def add(batches):
        table = longmatch.open(SparkFiles.get(file))
        for batch in batches:
            arrays, names = list(batch.columns), list(batch.schema.names)
            for column, kind in columns.items():
                added = table.lookup_many(batch.column(ip), column=column, out="arrow")
                arrays.append(pyarrow.array(added).cast(kind))
                names.append(column)
            yield pyarrow.RecordBatch.from_arrays(arrays, names=names)

    return add


def main():
    """Annotates a folder of Parquet files, and prints rows and seconds as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", help="a folder of Parquet files")
    parser.add_argument("output", help="the folder to write")
    parser.add_argument("--table", required=True, help="a file written by `longmatch compile`")
    parser.add_argument("--ip", default="ip", help="the column of addresses [default: ip]")
    parser.add_argument("--add", nargs="+", required=True, metavar="COLUMN", help="columns of the table")
    parser.add_argument("--master", help="Spark's master, such as local-cluster[2,1,1024]")
    options = parser.parse_args()

    table = longmatch.open(options.table)
    types = {column: spark_type(table, column) for column in options.add}
    builder = SparkSession.builder.appName("longmatch").config("spark.ui.enabled", "false")
    if options.master:
        builder = builder.master(options.master)
    spark = builder.getOrCreate()
    spark.sparkContext.addFile(options.table)
    log = spark.read.parquet(options.input)
    schema = StructType(log.schema.fields + [StructField(column, kind) for column, (_, kind) in types.items()])
    columns = {column: arrow for column, (arrow, _) in types.items()}
    function = annotate(os.path.basename(options.table), options.ip, columns)
    start = time.perf_counter()
    # Spark's snappy takes the library of musl, which does not load, where musl's tools are installed beside glibc.
    log.mapInArrow(function, schema).write.mode("overwrite").option("compression", "zstd").parquet(options.output)
    seconds = time.perf_counter() - start
    rows = spark.read.parquet(options.output).count()
    spark.stop()
    print(json.dumps({"rows": rows, "seconds": seconds}))


if __name__ == "__main__":
    main()
