"""Measures `longmatch annotate`, `lookup` and `set` beside other programs for the same jobs, and prints records (NDJSON).

Every contender is a whole process, from its start to its end, which writes its output to a file; its wall time, CPU
time and greatest memory count. The outputs are compared before a time is printed. Passes are interleaved: each contender
of a job in turn, a warm-up first, then five; a contender that takes more than ten seconds has one.

    python compare.py --longmatch target/release/longmatch [--data DIR] > docs/results/published/pipes.ndjson
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from ipaddress import ip_network
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
sys.path.append(str(ROOT / "core/longmatch-python/compare"))

from common import disjoint, experiment, note, rate, run, value, write_mmdb  # noqa: E402

PASSES = 5
# Seconds of a contender that is timed once.
SLOW = 10


def apart(function, *arguments):
    """Calls a function in a process of its own: a process that starts others counts its own memory as theirs."""
    with ProcessPoolExecutor(1) as executor:
        return executor.submit(function, *arguments).result()


class Contender:
    """A program with its arguments: `out` is the file that it writes itself, else its standard output counts."""

    def __init__(self, program, how, command, threads=1, stdin=None, out=None, same=None):
        self.program, self.how, self.command, self.threads = program, how, [str(word) for word in command], threads
        self.stdin, self.out, self.same = stdin, out, same
        self.seconds, self.cpu, self.memory = [], [], 0

    def run(self, output):
        """One timed pass."""
        with open(self.stdin or os.devnull, "rb") as stdin, open(output, "wb") as stdout:
            start = time.perf_counter()
            child = subprocess.Popen(self.command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
            errors = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - start
        # 1 is the answer that something has no match, of lookup, grep and diff.
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            raise SystemExit(f"{self.program} failed: {errors.decode(errors='replace')}")
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


class Job:
    """What is done, how much of it there is, and who does it."""

    def __init__(self, name, what, amount, unit, contenders):
        self.name, self.what, self.amount, self.unit, self.contenders = name, what, amount, unit, contenders

    def measure(self, directory):
        """Runs all contenders and prints their records."""
        output = directory / "output"
        for number in range(PASSES + 1):
            note(f"{self.name}: pass {number} of {PASSES}{' (warm-up)' if number == 0 else ''}")
            right = None
            for way in self.contenders:
                if way.seconds and way.seconds[0] > SLOW:
                    continue
                seconds, cpu, memory = way.run(output)
                if number == 0:
                    found = apart(digest, way.out or output, way.same)
                    right = right or found
                    if found != right:
                        raise SystemExit(f"{self.name}: {way.program}, {way.how}: another output than the first contender")
                else:
                    way.seconds.append(seconds)
                    way.cpu.append(cpu)
                    way.memory = max(way.memory, memory)
        for way in self.contenders:
            fields = {"experiment": "pipes", "figure": f"pipes-{self.name}", "engine": f"{way.program} {version(way.program)}",
                      "run": way.how, "threads": way.threads}
            unit, one = ("GB/s", 1e9) if self.unit == "bytes" else ("million/s", 1e6)
            rate(unit, self.amount / one, way.seconds, **fields)
            value("time", "s", way.seconds, **fields)
            value("CPU", "s", way.cpu, **fields)
            value("memory", "MiB", way.memory / (1 << 20), **fields)

    def conditions(self):
        """What is done and how much of it, and whom the others are compared with, for the records."""
        amount = f"{self.amount // 1_000_000:,} MB" if self.unit == "bytes" else f"{self.amount:,} {self.unit}"
        figure = f"pipes-{self.name}"
        return [[figure, "job", f"{self.what} ({amount})"], [figure, "beside", "longmatch"]]


def digest(path, same):
    """A digest of an output, after `same` has removed what may differ."""
    if same is not None:
        return same(path)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sorted_lines(path):
    """Of outputs with the same lines in any order."""
    lines = sorted(line for line in Path(path).read_bytes().splitlines() if not line.startswith((b"---", b"+++")))
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def parsed_json(path):
    """Of outputs with the same JSON values."""
    hasher = hashlib.sha256()
    with open(path) as file:
        for line in file:
            hasher.update(json.dumps(json.loads(line), sort_keys=True).encode())
    return hasher.hexdigest()


def parquet_rows(path):
    """Of Parquet files with the same columns."""
    import polars

    frame = polars.read_parquet(path).select(polars.col("ip").cast(polars.String), polars.col("asn").cast(polars.Int64))
    return frame.hash_rows(seed=1).sum()


def version(program):
    """The version of a program."""
    if program in ("longmatch", "grepcidr"):
        option = "--version" if program == "longmatch" else "-V"
        path = OPTIONS.longmatch if program == "longmatch" else "grepcidr"
        out = subprocess.run([path, option], capture_output=True, text=True, check=False)
        return (out.stdout or out.stderr).split()[1]
    if program == "Python":
        return platform.python_version()
    return importlib.metadata.version(program)


def python(name, *arguments):
    """A contender that is a function of contenders.py."""
    return [sys.executable, HERE / "contenders.py", name, *arguments]


def decompressed(path):
    """The text of a file compressed with zstd, read by longmatch itself, so that no other program is needed."""
    out = subprocess.run([OPTIONS.longmatch, "annotate", "--no-match", "--routes", "/dev/null", path],
                         capture_output=True, text=True, check=True)
    return out.stdout


class Inputs:
    """The files that the contenders read."""

    def __init__(self, directory, rows):
        self.directory, self.rows = directory, rows
        names = ["table.csv", "ranges.csv", "table.mmdb", "list.txt", "log.csv", "log.txt", "log.ndjson", "log.parquet",
                 "names.log", "access.log", "old.txt", "new.txt", "prefixes.txt"]
        for name in names:
            setattr(self, name.replace(".", "_"), directory / name)

    def write(self):
        """Writes the embedded IPv4 table in the form of every contender, and logs of random addresses."""
        routes = [line.split() for line in decompressed(ROOT / "data/ipv4.txt.zst").splitlines()]
        found = sorted((ip_network(prefix), int(asn.removeprefix("AS"))) for prefix, asn in routes)
        write(self.table_csv, (f"{prefix},{asn}\n" for prefix, asn in found))
        write(self.ranges_csv, ["start,asn\n", *(f"{s},{'' if a is None else a}\n" for s, a in zip(*disjoint(found)))])
        write_mmdb(found, self.table_mmdb)
        generator = random.Random(1)
        addresses = [address(generator.getrandbits(32)) for _ in range(self.rows)]
        write(self.list_txt, (f"{prefix}\n" for prefix, _ in generator.sample(found, 10_000)))
        write(self.log_csv, ["ip\n", *(f"{ip}\n" for ip in addresses)])
        write(self.log_txt, (f"{ip}\n" for ip in addresses))
        write(self.log_ndjson, (EVENT.format(i % 60, ip, 1024 + i % 60_000, i * 7 % 100_000)
                                for i, ip in enumerate(addresses[: self.events()])))
        names = (f"host-{i % 5000}-example" for i in range(self.rows))
        for path, hosts in [(self.access_log, addresses), (self.names_log, names)]:
            write(path, (LINE.format(host, i % 60, i, i * 7 % 100_000) for i, host in enumerate(hosts)))
        if OPTIONS.columnar:
            import polars

            polars.DataFrame({"ip": addresses}).write_parquet(self.log_parquet, compression="zstd")

    def events(self):
        """The number of lines of NDJSON."""
        return self.rows * 2 // 5

    def write_full(self, tables):
        """Writes a full table, its prefixes, and the table a day later; returns their sizes."""
        routes = dict(line.split() for line in decompressed(tables / "ipv4-full.txt.zst").splitlines())
        before = len(routes)
        write(self.old_txt, (f"{prefix} {hop}\n" for prefix, hop in routes.items()))
        write(self.prefixes_txt, (f"{prefix}\n" for prefix in routes))
        for line in decompressed(tables / "ipv4-updates.txt.zst").splitlines():
            kind, prefix, *hop = line.split()
            if kind == "A":
                routes[prefix] = hop[0]
            else:
                routes.pop(prefix, None)
        write(self.new_txt, (f"{prefix} {hop}\n" for prefix, hop in routes.items()))
        return before, len(routes)


# An event as a collector of logs writes it, and a line of a web server's log.
EVENT = ('{{"ts":"2026-01-01T00:00:{:02}Z","src":{{"ip":"{}","port":{}}},"dst":{{"port":443}},"bytes":{},"tags":["a","b"]}}'
         "\n")
LINE = '{} - - [01/Jan/2026:00:00:{:02} +0000] "GET /static/page-{}.html HTTP/1.1" 200 {} "-" "Mozilla/5.0 (X11; Linux)"\n'


def write(path, lines):
    """Writes a file of lines."""
    with open(path, "w") as file:
        file.writelines(lines)


def address(bits):
    """An IPv4 address as text."""
    return f"{bits >> 24}.{bits >> 16 & 255}.{bits >> 8 & 255}.{bits & 255}"


def annotations(data):
    """Jobs of `annotate` and `lookup`."""
    threads, rows = os.cpu_count(), data.rows
    ours = OPTIONS.longmatch
    annotate = [ours, "annotate", "--column", "ip", data.log_csv]
    yield Job("csv", "A CSV of addresses, the AS number added", rows, "rows", [
        Contender("longmatch", "`annotate --column ip`", annotate, threads),
        Contender("longmatch", "`annotate --column ip`", [*annotate, "--threads", "1"]),
        Contender("polars", "`join_asof` on prepared ranges", python("csv_polars", data.log_csv, data.ranges_csv), threads),
        Contender("duckdb", "`ASOF JOIN` on prepared ranges", python("csv_duckdb", data.log_csv, data.ranges_csv), threads),
        Contender("maxminddb", "a loop over a prepared mmdb", python("csv_maxminddb", data.log_csv, data.table_mmdb)),
        Contender("pytricia", "a loop", python("csv_pytricia", data.log_csv, data.table_csv)),
    ])
    yield Job("lookup", "Addresses on standard input, their prefixes and AS numbers", rows, "rows", [
        Contender("longmatch", "`lookup -`", [ours, "lookup", "-"], threads, stdin=data.log_txt),
        Contender("pytricia", "a loop", python("lookup_pytricia", data.log_txt, data.table_csv)),
    ])
    if OPTIONS.columnar:
        yield parquet(data)
    field = [ours, "annotate", "--field", "src.ip", data.log_ndjson]
    json_loop = python("json_pytricia", data.log_ndjson, data.table_csv)
    yield Job("json", "NDJSON with an address in each object, the AS number added", data.events(), "rows", [
        Contender("longmatch", "`annotate --field src.ip`", field, threads, same=parsed_json),
        Contender("pytricia", "a loop, module json", json_loop, same=parsed_json),
    ])
    for name, what, log in [
        ("names", "Lines of a log that has no addresses, filtered by a list of 10,000 prefixes", data.names_log),
        ("log", "Lines of a log with an address each, filtered by a list of 10,000 prefixes", data.access_log),
    ]:
        match = [ours, "annotate", "--match", "--routes", data.list_txt, log]
        contenders = [
            Contender("longmatch", "`annotate --match`", match, threads),
            Contender("longmatch", "`annotate --match`", [*match, "--threads", "1"]),
        ]
        if shutil.which("grepcidr"):
            contenders.append(Contender("grepcidr", "`grepcidr -f`", ["grepcidr", "-f", data.list_txt, log]))
        yield Job(name, what, log.stat().st_size, "bytes", contenders)


def parquet(data):
    """The job of Parquet files."""
    threads, path = os.cpu_count(), data.log_parquet
    outs = [data.directory / f"out{i}.parquet" for i in range(3)]
    ours = [OPTIONS.longmatch, "annotate", "--column", "ip", "-o", outs[0], path]
    join = [python(f"parquet_{name}", path, data.ranges_csv, out) for name, out in [("polars", outs[1]), ("duckdb", outs[2])]]
    ways = [("longmatch", "`annotate --column ip`", ours), ("polars", "`join_asof` on prepared ranges", join[0]),
            ("duckdb", "`ASOF JOIN` on prepared ranges", join[1])]
    return Job("parquet", "Parquet with a column of addresses, the AS number added", data.rows, "rows", [
        Contender(program, how, command, threads, out=out, same=parquet_rows)
        for (program, how, command), out in zip(ways, outs)
    ])


def sets(data, old, new):
    """Jobs of `set`, on a full table and on the same table a day later."""
    ours, aggregate6 = [OPTIONS.longmatch, "set"], Path(sys.executable).with_name("aggregate6")
    plain = data.prefixes_txt
    yield Job("aggregate", "The fewest prefixes of a full IPv4 table", old, "prefixes", [
        Contender("longmatch", "`set aggregate`", [*ours, "aggregate", plain], same=sorted_lines),
        Contender("aggregate6", "`aggregate6`", [aggregate6, plain], same=sorted_lines),
        Contender("netaddr", "`cidr_merge`", python("aggregate_netaddr", plain), same=sorted_lines),
        Contender("Python", "`ipaddress.collapse_addresses`", python("aggregate_ipaddress", plain), same=sorted_lines),
    ])
    both = [data.old_txt, data.new_txt]
    yield Job("diff", "The routes that differ between a full IPv4 table and the same a day later", new, "prefixes", [
        Contender("longmatch", "`set diff`", [*ours, "diff", *both], os.cpu_count(), same=sorted_lines),
        Contender("Python", "two dicts", python("diff_dict", *both), same=sorted_lines),
    ])


def main():
    """Runs everything."""
    with tempfile.TemporaryDirectory(dir=OPTIONS.directory) as directory:
        directory = Path(directory)
        data = Inputs(directory, OPTIONS.rows)
        note("tables and logs ...")
        apart(data.write)
        run({"commit": OPTIONS.commit}, {"passes after a warm-up (one, if it takes more than ten seconds)": PASSES})
        jobs = list(annotations(data))
        if OPTIONS.data and (OPTIONS.data / "ipv4-updates.txt.zst").exists():
            jobs += sets(data, *apart(data.write_full, OPTIONS.data))
        else:
            note("skipped: `set aggregate` and `set diff` need the full tables; name their directory with --data")
        if not shutil.which("grepcidr"):
            note("skipped: grepcidr is not installed")
        jobs = [job for job in jobs if not OPTIONS.only or job.name in OPTIONS.only]
        for job in jobs:
            job.measure(directory)
        experiment("pipes", [condition for job in jobs for condition in job.conditions()])


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    PARSER.add_argument("--longmatch", required=True, help="the command")
    PARSER.add_argument("--columnar", action="store_true", help="the command has the feature columnar")
    PARSER.add_argument("--data", type=Path, help="the directory with the full tables")
    PARSER.add_argument("--rows", type=int, default=5_000_000)
    PARSER.add_argument("--only", nargs="*", help="names of jobs")
    PARSER.add_argument("--commit", default="unknown")
    PARSER.add_argument("--directory", help="where inputs and outputs are written")
    OPTIONS = PARSER.parse_args()
    main()
