"""Annotates a folder of Parquet files by the join on buckets of docs/warehouses.md, as spark_annotate.py does by a mapped table."""

import argparse
import json
import re
import time
from pathlib import Path

from pyspark.sql import SparkSession


def main():
    """Joins, and prints rows and seconds as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", help="a folder of Parquet files with the column ip")
    parser.add_argument("output", help="the folder to write")
    parser.add_argument("--ranges", required=True, help="a file of `longmatch compile --ranges --buckets 16`")
    parser.add_argument("--master", required=True, help="Spark's master")
    options = parser.parse_args()
    guide = (Path(__file__).parents[3] / "docs" / "warehouses.md").read_text()
    statement = re.search(r"\nSpark:\n\n```sql\n(.*?);\n```", guide, re.DOTALL)[1]
    spark = SparkSession.builder.appName("longmatch").config("spark.ui.enabled", "false").master(options.master).getOrCreate()
    ranges = spark.read.csv(options.ranges, header=True, inferSchema=True).cache()
    # The table is in memory before the clock starts, as the file is with the executors in the other program.
    ranges.count()
    ranges.createOrReplaceTempView("ranges")
    spark.read.parquet(options.input).createOrReplaceTempView("visits")
    start = time.perf_counter()
    joined = spark.sql(statement).select("ip", "asn")
    joined.write.mode("overwrite").option("compression", "zstd").parquet(options.output)
    seconds = time.perf_counter() - start
    rows = spark.read.parquet(options.output).count()
    spark.stop()
    print(json.dumps({"rows": rows, "seconds": seconds}))


if __name__ == "__main__":
    main()
