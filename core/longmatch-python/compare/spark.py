"""Measures the recipe for Spark with one and with two workers, and prints records (NDJSON).

Each worker has one core. The seconds are those of reading, annotating and writing Parquet; the start of the cluster is
excluded. Passes with one and with two workers alternate; a warm-up of each comes first.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import longmatch
import numpy
import pyarrow
import pyarrow.parquet

from common import experiment, rate, value

RECIPE = Path(__file__).parents[1] / "recipes" / "spark_annotate.py"
DATA = Path(__file__).parents[3] / "data"
PASSES, FILES = 5, 8


def main():
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--addresses", type=int, default=10_000_000)
    options = parser.parse_args()
    random = numpy.random.default_rng(3)
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        longmatch.compile(DATA / "ipv4.txt.zst", directory / "asn.lm", columns={"next_hop": "asn"}, types={"asn": "u64"})
        (directory / "log").mkdir()
        for number in range(FILES):
            bits = random.integers(0, 256, (options.addresses // FILES, 4), dtype=numpy.uint8)
            texts = pyarrow.array([f"{a}.{b}.{c}.{d}" for a, b, c, d in bits.tolist()])
            pyarrow.parquet.write_table(pyarrow.table({"ip": texts}), directory / "log" / f"{number}.parquet", compression="zstd")
        seconds = {1: [], 2: []}
        for number in range(PASSES + 1):
            for workers, times in seconds.items():
                command = [sys.executable, str(RECIPE), str(directory / "log"), str(directory / "out"), "--table",
                           str(directory / "asn.lm"), "--add", "asn", "--master", f"local-cluster[{workers},1,1024]"]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                result = json.loads(done.stdout.splitlines()[-1])
                if result["rows"] != options.addresses // FILES * FILES:
                    raise SystemExit(f"{result['rows']} rows arrived")
                if number > 0:
                    times.append(result["seconds"])
        for workers, times in seconds.items():
            rows = options.addresses // FILES * FILES
            fields = {"experiment": "python-spark", "figure": "python-spark", "engine": "spark_annotate.py",
                      "run": f"{workers} worker{'s' if workers > 1 else ''} of one core"}
            value("time", "s", times, **fields)
            rate("million rows/s", rows / 1e6, times, **fields)
        experiment("python-spark")


if __name__ == "__main__":
    main()
