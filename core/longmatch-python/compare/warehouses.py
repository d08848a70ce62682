"""Joins of addresses with the ranges of `longmatch compile --ranges` in DuckDB, by the statement of docs/warehouses.md and by
the usual ones. Prints records (NDJSON).
"""

import argparse
import re
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb
import numpy
import pyarrow
import pyarrow.compute

import longmatch
from common import experiment, note, rate

ROOT = Path(__file__).parents[3]
ROWS, PASSES = 1_000_000, 5
AS_NUMBER = """WITH v AS (SELECT ip, list_sum(list_transform(string_split(ip, '.'), lambda b, i: b::BIGINT * (256 ** (4 - i))::BIGINT))::BIGINT AS n
    FROM visits)"""
ASOF = AS_NUMBER + """ SELECT v.ip, CASE WHEN v.n <= r."end" THEN r.asn END AS asn
    FROM v ASOF LEFT JOIN (SELECT * FROM ranges WHERE family = 4) r ON v.n >= r.start"""
BETWEEN = AS_NUMBER + """ SELECT v.ip, r.asn FROM v LEFT JOIN (SELECT * FROM ranges WHERE family = 4) r ON v.n BETWEEN r.start AND r."end" """


def statement():
    """The page's statement for DuckDB, without the line that makes the table."""
    text = (ROOT / "docs" / "warehouses.md").read_text()
    return re.search(r"\nDuckDB:\n\n```sql\n.*?\n(.*?);\n```", text, re.DOTALL)[1]


def main():
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--longmatch", required=True, help="the command")
    options = parser.parse_args()
    bits = numpy.random.default_rng(5).integers(0, 256, (ROWS, 4), dtype=numpy.uint8)
    texts = [f"{a}.{b}.{c}.{d}" for a, b, c, d in bits.tolist()]
    table = longmatch.load(ROOT / "data/ipv4.txt.zst", columns={"next_hop": "asn"}, types={"asn": "u64"})
    right = pyarrow.array(table.lookup_many(texts, out="arrow"))
    con = duckdb.connect()
    con.execute("SET threads = 1")
    with tempfile.TemporaryDirectory() as directory:
        table.save(f"{directory}/table.lm")
        command = [options.longmatch, "compile", "-r", f"{directory}/table.lm", "--ranges", "--buckets", "16", "-o", f"{directory}/r.csv"]
        subprocess.run(command, check=True, capture_output=True)
        con.execute(f"CREATE TABLE ranges AS SELECT * FROM '{directory}/r.csv'")
    con.register("arrow", pyarrow.table({"ip": texts}))
    con.execute("CREATE TABLE visits AS SELECT * FROM arrow")
    joins = [
        ("buckets, the statement of this page", statement()),
        ("`ASOF JOIN` on the starts", ASOF),
        ("`BETWEEN` start and end", BETWEEN),
    ]
    seconds = [[] for _ in joins]
    for number in range(PASSES + 1):
        note(f"joins, pass {number} of {PASSES}{' (warm-up)' if number == 0 else ''}")
        for (how, sql), passes in zip(joins, seconds):
            start = time.perf_counter()
            found = con.execute(f"SELECT sum(asn), count(asn), count(*) FROM ({sql})").fetchone()
            taken = time.perf_counter() - start
            if tuple(map(int, found)) != (pyarrow.compute.sum(right).as_py(), len(right) - right.null_count, len(right)):
                raise SystemExit(f"{how}: wrong answers: {found}")
            if number:
                passes.append(taken)
    for (how, _), passes in zip(joins, seconds):
        fields = {"experiment": "warehouses", "figure": "warehouses", "engine": f"duckdb {duckdb.__version__}", "run": how}
        rate("thousand rows/s", ROWS / 1e3, passes, **fields, threads=1)
    experiment("warehouses")


if __name__ == "__main__":
    main()
