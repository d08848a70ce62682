"""MaxMind DB beside `.lm`: writing a table by several programs, and reading it from Python. Prints records (NDJSON).

Each writer is a process of its own, which reads the embedded routes of both families as text and writes them with one field
`asn`. MaxMind's own writer needs Go; it is left out aloud without it.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path

import maxminddb
import numpy

import longmatch
from common import experiment, note, rate, value

HERE = Path(__file__).parent
DATA = HERE.parents[2] / "data"
PASSES, FIRST, ADDRESSES, MIB = 5, 100_000, 1_000_000, 1 << 20

PYTHON = """
import sys
from mmdb_writer import MMDBWriter
from netaddr import IPSet
writer = MMDBWriter(ip_version=6, ipv4_compatible=True, int_type="u32")
for line in open(sys.argv[1]):
    prefix, asn = line.split()
    writer.insert_network(IPSet([prefix]), {"asn": int(asn)})
writer.to_db_file(sys.argv[2])
"""


def routes(path):
    """Writes the embedded routes as lines of a prefix and the number of its next hop; returns how many."""
    tables = [longmatch.load(DATA / f"{family}.txt.zst", types={"next_hop": "str"}) for family in ("ipv4", "ipv6")]
    # They are `AS13335` and `nh1`.
    lines = [f"{prefix} {hop.lstrip('AShn')}\n" for table in tables for prefix, hop in table.items()]
    path.write_text("".join(lines))
    return len(lines)


def go_writer(directory):
    """Builds the program that calls MaxMind's writer; `None` without Go or its packages."""
    if shutil.which("go") is None:
        return note("no Go (Debian: `apt-get install golang`): MaxMind's writer is left out")
    for name in ("go.mod", "go.sum", "main.go"):
        shutil.copy(HERE / "mmdbwriter" / name, directory)
    built = subprocess.run(["go", "build", "-o", "write", "."], cwd=directory, check=False, capture_output=True, text=True)
    if built.returncode:
        return note(f"MaxMind's writer is left out: {built.stderr.strip().splitlines()[-1]}")
    return directory / "write"


# The peak of memory of a process is at least that of the process that starts it: this one is small.
START = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), time.perf_counter() - start, usage.ru_maxrss / 1024)
"""


def run(command):
    """The seconds and the peak of memory, in MiB, of a process that succeeds."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", START, *command], capture_output=True, text=True, check=True)
    code, seconds, memory = done.stdout.splitlines()[-1].split()
    if code != "0":
        raise SystemExit(f"{command} ended with {code}: {done.stderr}")
    return float(seconds), float(memory)


def writing(directory, command):
    """Measures the writers; returns the files of longmatch: `.lm` and `.mmdb`."""
    text, short, out = directory / "routes.txt", directory / "first.txt", directory / "out"
    count = routes(text)
    with text.open() as lines:
        short.write_text("".join(line for line, _ in zip(lines, range(FIRST))))
    lm, own = directory / "routes.lm", directory / "routes.mmdb"
    options = ["compile", "--routes", text, "--columns", "next_hop=asn", "--types", "asn=u64"]
    ways = [
        (f"longmatch {longmatch.__version__}", "`compile -o x.mmdb`", count, [command, *options, "-o", own], own),
        (f"longmatch {longmatch.__version__}", "`compile -o x.lm`", count, [command, *options, "-o", lm], lm),
        (f"mmdb_writer {version('mmdb_writer')}", f"Python, the first {FIRST:,} prefixes", FIRST, [sys.executable, "-c", PYTHON, short, out], out),
    ]
    maxmind = go_writer(directory)
    if maxmind:
        module = next(line.split() for line in (HERE / "mmdbwriter/go.mod").read_text().splitlines() if "mmdbwriter v" in line)
        ways.append((f"mmdbwriter {module[-1][1:]}", "Go, MaxMind's own", count, [maxmind, text, out], out))
    measured = [[] for _ in ways]
    for number in range(PASSES + 1):
        note(f"writers, pass {number} of {PASSES}{' (warm-up)' if number == 0 else ''}")
        for (*_, words, path), passes in zip(ways, measured):
            found = run([str(word) for word in words])
            if number:
                passes.append((*found, path.stat().st_size / MIB))
    for (program, how, prefixes, *_), passes in zip(ways, measured):
        fields = {"experiment": "python-mmdb", "figure": "python-mmdb-writing", "engine": program, "run": how}
        seconds, memory, sizes = zip(*passes)
        value("time", "s", list(seconds), **fields)
        value("prefixes", "thousand/s", [prefixes / 1e3 / one for one in seconds], **fields)
        value("peak of memory", "MiB", list(memory), **fields)
        value("file", "MiB", sizes[-1], **fields)
    return lm, own


def reading(lm, own):
    """Measures lookups of texts in both files, which must answer the same."""
    bits = numpy.random.default_rng(4).integers(0, 1 << 32, ADDRESSES, dtype=numpy.uint32)
    texts = [str(ip_address(int(one))) for one in bits]
    table, reader = longmatch.open(lm), maxminddb.open_database(str(own), maxminddb.MODE_MMAP_EXT)
    numbers = lambda: [found and found["asn"] for found in map(reader.get, texts)]  # noqa: E731
    ours, theirs = f"longmatch {longmatch.__version__}", f"maxminddb {maxminddb.__version__}"
    ways = [
        (theirs, "`get` in a loop, C extension", ".mmdb", numbers),
        (ours, "`lookup` in a loop", ".lm", lambda: [table.lookup(text) for text in texts]),
        (ours, "`lookup_many`, list of str", ".lm", lambda: table.lookup_many(texts)),
    ]
    seconds = [[] for _ in ways]
    right = None
    for number in range(PASSES + 1):
        for (program, how, _, call), passes in zip(ways, seconds):
            start = time.perf_counter()
            answers = call()
            taken = time.perf_counter() - start
            right = right or answers
            if answers != right:
                raise SystemExit(f"{program}, {how}: other answers")
            if number:
                passes.append(taken)
    for (program, how, file, _), passes in zip(ways, seconds):
        fields = {"experiment": "python-mmdb", "figure": "python-mmdb-reading", "engine": program, "run": how, "keys": file}
        rate("million/s", ADDRESSES / 1e6, passes, **fields)


def main():
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--longmatch", required=True, help="the command")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        reading(*writing(Path(directory), options.longmatch))
    conditions = [
        ["python-mmdb-writing", "job", "Writing"],
        ["python-mmdb-reading", "job", "Reading"],
        ["python-mmdb-reading", "beside", "maxminddb"],
    ]
    experiment("python-mmdb", conditions)


if __name__ == "__main__":
    main()
