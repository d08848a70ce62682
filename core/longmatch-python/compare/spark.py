"""Measures the recipe for Spark with one and with two workers beside the join of docs/warehouses.md, and prints records (NDJSON).

Each worker has one core. The seconds are those of reading, annotating and writing Parquet; the start of the cluster is
excluded. The contenders take turns; a warm-up of each comes first.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import longmatch
import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from common import experiment, rate, run, value

JOIN = Path(__file__).with_name("spark_join.py")
RECIPE = Path(__file__).parents[1] / "recipes" / "spark_annotate.py"
DATA = Path(__file__).parents[3] / "data"
PASSES, FILES = 5, 8


def log(directory, addresses):
    """Writes a log of random addresses, in several files; returns the number of rows and the sum of their answers."""
    random = numpy.random.default_rng(3)
    directory.mkdir()
    table = longmatch.open(directory.with_name("asn.lm"))
    total = 0
    for number in range(FILES):
        bits = random.integers(0, 256, (addresses // FILES, 4), dtype=numpy.uint8)
        texts = pyarrow.array([f"{a}.{b}.{c}.{d}" for a, b, c, d in bits.tolist()])
        total += pyarrow.compute.sum(pyarrow.array(table.lookup_many(texts))).as_py()
        pyarrow.parquet.write_table(pyarrow.table({"ip": texts}), directory / f"{number}.parquet", compression="zstd")
    return addresses // FILES * FILES, total


def main():
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--addresses", type=int, default=10_000_000)
    parser.add_argument("--longmatch", required=True, help="the command")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    run({"PySpark": version("pyspark"), "commit": options.commit},
        {"random addresses": options.addresses, "passes after a warm-up": PASSES})
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        table, ranges, out = directory / "asn.lm", directory / "ranges.csv", directory / "out"
        longmatch.compile(DATA / "ipv4.txt.zst", table, columns={"next_hop": "asn"}, types={"asn": "u64"})
        compile_ranges = [options.longmatch, "compile", "-r", table, "--types", "asn=i64", "--ranges", "--buckets", "16", "-o", ranges]
        subprocess.run(compile_ranges, check=True, capture_output=True)
        rows, total = log(directory / "log", options.addresses)
        recipe = [RECIPE, directory / "log", out, "--table", table, "--add", "asn", "--master"]
        ways = [
            ("spark_annotate.py", "1 worker of one core", [*recipe, "local-cluster[1,1,1024]"]),
            ("spark_annotate.py", "2 workers of one core", [*recipe, "local-cluster[2,1,1024]"]),
            ("the join of docs/warehouses.md", "1 worker of one core",
             [JOIN, directory / "log", out, "--ranges", ranges, "--master", "local-cluster[1,1,1024]"]),
        ]
        seconds = [[] for _ in ways]
        for number in range(PASSES + 1):
            for (program, _, words), times in zip(ways, seconds):
                done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=True)
                result = json.loads(done.stdout.splitlines()[-1])
                found = pyarrow.compute.sum(pyarrow.parquet.read_table(out, columns=["asn"])["asn"]).as_py()
                if (result["rows"], found) != (rows, total):
                    raise SystemExit(f"{program}: {result['rows']} rows with the sum {found} arrived, expected {rows} with {total}")
                if number > 0:
                    times.append(result["seconds"])
        for (program, how, _), times in zip(ways, seconds):
            fields = {"experiment": "python-spark", "figure": "python-spark", "engine": program, "run": how}
            value("time", "s", times, **fields)
            rate("million rows/s", rows / 1e6, times, **fields)
        experiment("python-spark")


if __name__ == "__main__":
    main()
