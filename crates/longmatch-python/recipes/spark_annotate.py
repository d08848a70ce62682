"""Adds columns of a compiled table to Parquet files, by Spark.

    longmatch compile --routes rib.mrt.bz2 --value origin-as -o asn.lm
    python spark_annotate.py --table asn.lm --ip ip --add origin_as logs/ annotated/

Spark ships the table to each executor once, as a file. Each of its Python processes maps that file, so the processes of
a machine share one copy of it in memory. Rows pass through in Arrow batches: no row becomes a Python object.
"""

import argparse
import time

from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

TYPES = {"string": StringType(), "u64": LongType(), "i64": LongType(), "f64": DoubleType()}


def annotate(name, ip, columns):
    """A function for `mapInArrow` that adds `columns` of the table file `name` to batches with addresses in `ip`."""

    def add(batches):
        import longmatch
        import pyarrow

        table = longmatch.open(SparkFiles.get(name))
        for batch in batches:
            codes = table.lookup_many(batch.column(ip), out="codes")
            arrays, names = list(batch.columns), list(batch.schema.names)
            for column in columns:
                arrays.append(pyarrow.array(table.column(column, codes)))
                names.append(column)
            yield pyarrow.RecordBatch.from_arrays(arrays, names=names)

    return add


def main():
    """Annotates a folder of Parquet files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--table", required=True, help="a file of `longmatch compile`")
    parser.add_argument("--ip", default="ip", help="the column of addresses")
    parser.add_argument("--add", nargs="+", required=True, metavar="COLUMN", help="columns of the table")
    parser.add_argument("--master", default=None, help="Spark's master, such as local-cluster[2,1,1024]")
    options = parser.parse_args()
