"""Measures longmatch beside other packages that answer the same question, and prints records (NDJSON).

Every contender has the embedded table, and every answer is compared with the others' before a rate is printed. Passes
are interleaved: each contender in turn, a warm-up first, then five. Packages that take one address at a time get fewer
addresses, so that a pass takes seconds; a record has their number.

    python compare.py --lab target/release/longmatch-lab > docs/results/published/python.ndjson
"""

import argparse
import gc
import importlib.metadata
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from ipaddress import ip_address, ip_network
from pathlib import Path

import duckdb
import maxminddb
import netaddr
import numpy
import pandas
import polars
import pyarrow
import pyasn
import pytricia
import radix

import engines
import longmatch
from common import disjoint, experiment, note, rate, record, run, value

DATA = Path(__file__).parents[3] / "data"

PASSES = 5
MIB = 1 << 20


def version(package):
    """The version of an installed package."""
    return importlib.metadata.version(package)


def place(figure, package, how):
    """The fields of a value: where it is shown, the program and the call."""
    return {"experiment": "python", "figure": f"python-{figure}", "engine": f"{package} {version(package)}", "run": how}


class Contender:
    """One way to look up addresses: `call` takes no argument and returns the origin AS of each, or None; or their sum and number."""

    def __init__(self, package, how, keys, addresses, threads, call, figure="lookups"):
        self.package, self.how, self.keys, self.threads, self.figure = package, how, keys, threads, figure
        self.addresses, self.call, self.seconds = addresses, call, []

    def run(self):
        """One timed pass."""
        gc.collect()
        start = time.perf_counter()
        answers = self.call()
        self.seconds.append(time.perf_counter() - start)
        return answers


def routes():
    """The embedded BGP table: prefix and AS number of each route, in order, and the frozen table."""
    frozen = longmatch.load(DATA / "ipv4.txt.zst", columns={"next_hop": "asn"}, types={"asn": "u64"})
    return [(ip_network(prefix), asn) for prefix, asn in frozen.items()], frozen


class Data:
    """The table in the form of every package, and the addresses in the form of every key."""

    def __init__(self, count, directory):
        note("the table in the form of every package ...")
        self.found, self.frozen = routes()
        self.lm = directory / "table.lm"
        self.frozen.save(self.lm)
        self.pytricia = pytricia.PyTricia(32)
        self.radix = radix.Radix()
        self.netaddr = {netaddr.IPNetwork(str(prefix)): asn for prefix, asn in self.found}
        for prefix, asn in self.found:
            self.pytricia[str(prefix)] = asn
            self.radix.add(str(prefix)).data["asn"] = asn
        dat = directory / "table.dat"
        dat.write_text("".join(f"{prefix}\t{asn}\n" for prefix, asn in self.found))
        self.pyasn = pyasn.pyasn(str(dat))
        self.mmdb_path = directory / "table.mmdb"
        self.frozen.save(self.mmdb_path)
        self.mmdb = maxminddb.open_database(str(self.mmdb_path), maxminddb.MODE_MMAP_EXT)
        starts, answers = disjoint(self.found)
        self.starts = polars.Series("start", starts, dtype=polars.UInt32)
        self.ranges = polars.DataFrame({"start": self.starts, "asn": polars.Series(answers, dtype=polars.UInt32)})
        self.ranges = self.ranges.set_sorted("start")
        self.ints = numpy.random.default_rng(1).integers(0, 1 << 32, count, dtype=numpy.uint32)
        self.bytes = self.ints.byteswap().view("S4") if sys.byteorder == "little" else self.ints.view("S4")
        strings = [str(ip_address(int(bits))) for bits in self.ints]
        self.strings, self.arrow = strings, pyarrow.array(strings)
        self.duck = duckdb.connect()
        self.duck.register("ranges_arrow", self.ranges.to_arrow())
        self.duck.execute("CREATE TABLE ranges AS SELECT * FROM ranges_arrow")
        self.duck.register("log_arrow", pyarrow.table({"ip": pyarrow.array(self.ints)}))
        self.duck.execute("CREATE TABLE log AS SELECT * FROM log_arrow")


def duck_join(data, threads):
    """DuckDB's range join, as an ASOF join on the starts of disjoint ranges; the answers are not in the order of the log."""
    data.duck.execute(f"SET threads = {threads}")
    query = "SELECT sum(asn), count(asn) FROM log ASOF LEFT JOIN ranges ON log.ip >= ranges.start"
    return data.duck.execute(query).fetchone()


def polars_join(data):
    """Polars' join_asof, which needs the log sorted: sorting is a part of the work, and so is the order afterwards."""
    log = polars.DataFrame({"ip": data.ints}).with_row_index()
    joined = log.sort("ip").join_asof(data.ranges, left_on="ip", right_on="start").sort("index")
    return joined["asn"]


def contenders(data):
    """Every way to look up the addresses."""
    count, frozen = len(data.ints), data.frozen
    some, few = min(count, 1_000_000), 2
    strings, threads = data.strings[:some], os.cpu_count()

    def ours(how, keys, values, threads=1):
        call = lambda: frozen.lookup_many(values, threads=threads, out="codes")  # noqa: E731
        return Contender("longmatch", how, keys, count, threads, call)

    def loop(package, how, one, addresses=strings):
        return Contender(package, how, "str", len(addresses), 1, lambda: [one(ip) for ip in addresses])

    def smallest(ip):
        match = netaddr.smallest_matching_cidr(ip, data.netaddr)
        return match and data.netaddr[match]

    def node(ip):
        match = data.radix.search_best(ip)
        return match and match.data["asn"]

    def mmdb(ip):
        match = data.mmdb.get(ip)
        return match and match["asn"]

    return [
        ours("`lookup_many`, codes", "NumPy uint32", data.ints),
        ours("`lookup_many`, codes", "NumPy uint32", data.ints, threads),
        ours("`lookup_many`, codes", "NumPy S4", data.bytes),
        ours("`lookup_many`, codes", "Arrow string", data.arrow),
        ours("`lookup_many`, codes", "Arrow string", data.arrow, threads),
        ours("`lookup_many`, codes", "list of str", data.strings),
        loop("longmatch", "`lookup` in a loop", frozen.lookup),
        loop("pytricia", "`get` in a loop", data.pytricia.get),
        loop("py-radix", "`search_best` in a loop", node),
        loop("pyasn", "`lookup` in a loop", lambda ip: data.pyasn.lookup(ip)[0]),
        loop("maxminddb", "`get` in a loop", mmdb),
        loop("netaddr", "`smallest_matching_cidr` in a loop", smallest, strings[:few]),
        Contender("polars", "sort, `join_asof`, sort back", "UInt32", count, threads, lambda: polars_join(data)),
        Contender("duckdb", "`ASOF JOIN`, sum of the answers", "UINTEGER", count, 1, lambda: duck_join(data, 1)),
        Contender("duckdb", "`ASOF JOIN`, sum of the answers", "UINTEGER", count, threads, lambda: duck_join(data, threads)),
        *(Contender(package, how, keys, count, 1, call, "engines") for package, how, keys, call in engines.ways(data)),
    ]


def in_numpy(contender, answers, frozen):
    """The answers as AS numbers, 0 where there is none."""
    if contender.package == "longmatch" and "codes" in contender.how:
        return numpy.array([value or 0 for value in frozen.values_by_code], dtype=numpy.int64)[answers]
    if isinstance(answers, polars.Series):
        return answers.fill_null(0).to_numpy().astype(numpy.int64)
    if isinstance(answers, pandas.Series):
        return answers.fillna(0).to_numpy(dtype=numpy.int64)
    return numpy.array([answer or 0 for answer in answers], dtype=numpy.int64)


def check(contender, answers, data, right):
    """Refuses a contender with other answers than the disjoint ranges give."""
    if isinstance(answers, tuple):
        same = (int(answers[0]), answers[1]) == (int(right.sum()), int((data.expected_matched).sum()))
    else:
        same = numpy.array_equal(in_numpy(contender, answers, data.frozen), right[: contender.addresses])
    if not same:
        raise SystemExit(f"{contender.package}, {contender.how}, {contender.keys}: wrong answers")


def expected(data):
    """The answers by a binary search in the disjoint ranges."""
    found = data.ranges["asn"]
    places = numpy.searchsorted(data.starts.to_numpy(), data.ints, side="right") - 1
    data.expected_matched = ~found.is_null().to_numpy()[places]
    return found.fill_null(0).to_numpy()[places].astype(numpy.int64)


def measure(data):
    """Runs all contenders and prints their records."""
    ways, right = contenders(data), expected(data)
    for number in range(PASSES + 1):
        note(f"pass {number} of {PASSES}{' (warm-up)' if number == 0 else ''}")
        for way in ways:
            answers = way.run()
            if number == 0:
                check(way, answers, data, right)
                way.seconds.clear()
            del answers
    for way in ways:
        rate("million/s", way.addresses / 1e6, way.seconds, **place(way.figure, way.package, way.how), keys=way.keys,
             threads=way.threads)


OPENING = """
import sys, time
{imports}
start = time.perf_counter()
{open}
answer = {lookup}
print(time.perf_counter() - start, answer)
"""


def openings(data, directory):
    """The time from the call that opens a table to its first answer, each in a process of its own."""
    pickled = directory / "pytricia.pickle"
    data.pytricia.freeze()
    pickled.write_bytes(pickle.dumps(data.pytricia))
    ways = [
        ("longmatch", "`open`", data.lm, "import longmatch", "t = longmatch.open(sys.argv[1])", "t.lookup('8.8.8.8')"),
        ("longmatch", "`open`, `trust=True`", data.lm, "import longmatch", "t = longmatch.open(sys.argv[1], trust=True)",
         "t.lookup('8.8.8.8')"),
        ("pytricia", "`pickle.load`", pickled, "import pickle, pytricia", "t = pickle.load(open(sys.argv[1], 'rb'))",
         "t['8.8.8.8']"),
        ("maxminddb", "`open_database`, mmap", data.mmdb_path, "import maxminddb",
         "t = maxminddb.open_database(sys.argv[1], maxminddb.MODE_MMAP_EXT)", "t.get('8.8.8.8')['asn']"),
    ]
    seconds = [[] for _ in ways]
    for number in range(PASSES + 1):
        for (_, _, path, imports, opening, lookup), times in zip(ways, seconds):
            program = OPENING.format(imports=imports, open=opening, lookup=lookup)
            out = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True)
            taken, answer = out.stdout.split(maxsplit=1)
            if "15169" not in answer:
                raise SystemExit(f"wrong answer after opening {path}: {answer}")
            if number > 0:
                times.append(float(taken))
    for (package, how, path, *_), times in zip(ways, seconds):
        fields = place("openings", package, how)
        value("file", "MiB", path.stat().st_size / MIB, **fields)
        value("first answer after", "ms", [one * 1e3 for one in times], **fields)


SHARING = """
import sys, numpy
{imports}
before = sum(int(l.split()[1]) for l in open('/proc/self/smaps_rollup') if l.startswith('Pss:'))
{open}
addresses = numpy.random.default_rng(2).integers(0, 1 << 32, {addresses}, dtype=numpy.uint32)
{lookups}
print('ready', flush=True)
sys.stdin.readline()
after = sum(int(l.split()[1]) for l in open('/proc/self/smaps_rollup') if l.startswith('Pss:'))
print(before, after, flush=True)
sys.stdin.readline()
"""


def sharing(data, directory):
    """The memory that four processes with one table take: the growth of their proportional shares (Pss)."""
    ways = [
        ("longmatch", "`open`", data.lm, "import longmatch", "t = longmatch.open(sys.argv[1])", 1_000_000,
         "t.lookup_many(addresses, out='codes')"),
        ("pytricia", "`pickle.load`", directory / "pytricia.pickle", "import pickle, pytricia",
         "t = pickle.load(open(sys.argv[1], 'rb'))", 100_000, "[t.get(int(a)) for a in addresses]"),
    ]
    for package, how, path, imports, opening, addresses, lookups in ways:
        program = SHARING.format(imports=imports, open=opening, addresses=addresses, lookups=lookups)
        children = [subprocess.Popen([sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True) for _ in range(4)]
        for child in children:
            assert child.stdout.readline() == "ready\n"
        grown = 0
        for child in children:
            child.stdin.write("\n")
            child.stdin.flush()
            before, after = map(int, child.stdout.readline().split())
            grown += (after - before) * 1024
        for child in children:
            child.communicate("\n")
        value("4 processes", "MiB", grown / MIB, **place("openings", package, how))


def rust(binary):
    """The rate of the Rust library in batches, on the same table: random addresses, one thread."""
    command = [binary, "bench", "--engine", "auto", "--traffic", "random", "--ipv4", "--json"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in map(json.loads, out.splitlines()):
        if line.get("metric") == "rate" and line["mode"] == "batch" and line["engine"] != "auto":
            spread = {name: line[name] for name in ("value", "min", "q1", "q3", "max", "passes")}
            fields = {**place("lookups", "longmatch", "Rust, in batches"), "keys": "array of u32", "threads": 1}
            record("value", **fields, metric="rate", unit="million/s", **spread)


def main():
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--addresses", type=int, default=10_000_000)
    parser.add_argument("--lab", help="the program longmatch-lab, for the rate of the Rust library")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        data = Data(options.addresses, directory)
        run({"NumPy": version("numpy"), "PyArrow": version("pyarrow"), "commit": options.commit},
            {"IPv4 routes of the embedded table": len(data.found), "random addresses": options.addresses,
             "passes after a warm-up": PASSES})
        measure(data)
        openings(data, directory)
        sharing(data, directory)
        if options.lab:
            rust(options.lab)
        experiment("python", [["python-lookups", "beside", "pytricia"]])


if __name__ == "__main__":
    main()
