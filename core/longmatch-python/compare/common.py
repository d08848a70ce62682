"""What the comparisons of the Python package and of the command share: records, the machine, and a table in other forms."""

import json
import os
import platform
import sys
from datetime import datetime, timezone
from pathlib import Path


def note(text):
    """Says on standard error what happens."""
    print(text, file=sys.stderr, flush=True)


def record(kind, **fields):
    """Prints one record: a line of the form that `longmatch-lab report` writes too."""
    print(json.dumps({"record": kind, **fields}), flush=True)


def run(machine, inputs):
    """Records the run: its date, and pairs of name and value about the machine and the inputs."""
    load = f"{os.getloadavg()[0]:.1f}"
    machine = {"CPU": cpu(), "cores": os.cpu_count(), "load average": load, "Python": platform.python_version(), **machine}
    pairs = [[[name, str(value)] for name, value in part.items()] for part in (machine, inputs)]
    date = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    record("run", version=machine["commit"], date=date, machine=pairs[0], inputs=pairs[1])


def value(metric, unit, found, **fields):
    """Records a value: a number, or passes, whose median and spread count."""
    if not isinstance(found, list):
        return record("value", **fields, metric=metric, unit=unit, value=found)
    found = sorted(found)
    last = len(found) - 1
    median, q1, q3 = (found[last * quarter // 4] for quarter in (2, 1, 3))
    record("value", **fields, metric=metric, unit=unit, value=median, min=found[0], q1=q1, q3=q3, max=found[-1],
           passes=len(found))


def rate(unit, amount, seconds, **fields):
    """Records the rate of each pass as a value."""
    value("rate", unit, [amount / one for one in seconds], **fields)


def experiment(name, conditions=()):
    """Records the end of an experiment, with conditions: figure, name, value."""
    record("experiment", experiment=name, settings="", seconds=0.0, date="", conditions=list(conditions))


def cpu():
    """The CPU's name, family and model."""
    fields = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    return f"{fields.get('model name')}, family {fields.get('cpu family')}, model {fields.get('model')}"


def disjoint(found):
    """The starts of the disjoint ranges in which all addresses have the same answer, and these answers."""
    starts, answers, open_prefixes = [0], [None], []

    def put(start, answer):
        if starts[-1] == start:
            answers[-1] = answer
        elif answers[-1] != answer:
            starts.append(start)
            answers.append(answer)

    def close(until):
        while open_prefixes and open_prefixes[-1][0] < until:
            end, _ = open_prefixes.pop()
            put(end + 1, open_prefixes[-1][1] if open_prefixes else None)

    for prefix, asn in found:
        first = int(prefix.network_address)
        close(first)
        put(first, asn)
        open_prefixes.append((int(prefix.broadcast_address), asn))
    close(1 << 32)
    if starts[-1] == 1 << 32:
        del starts[-1], answers[-1]
    return starts, answers


def write_mmdb(found, path):
    """Writes the routes as a MaxMind database."""
    import mmdb_writer
    import netaddr

    writer = mmdb_writer.MMDBWriter(4, "longmatch-compare", languages=["en"], int_type="u32")
    for prefix, asn in found:
        writer.insert_network(netaddr.IPSet([str(prefix)]), {"autonomous_system_number": asn})
    writer.to_db_file(str(path))
