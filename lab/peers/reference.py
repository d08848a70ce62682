#!/usr/bin/env python3
"""A peer in the standard library alone: one dictionary for each prefix length.

It is the example that docs/peers.md walks through, and the peer that longmatch's own tests talk
to. The other Python peers use its loop, `serve`, with tables of their own.
"""

import platform
import socket
import sys
import time
from functools import partial

BYTES = {"ipv4": 4, "ipv6": 16}


class Reference:
    """The table of one family.

    Whoever brings a table of their own writes a class like this one. `modes` and `about` are what
    `hello` answers; routes and keys are converted by static methods, so that this is not timed.
    """

    modes = ("one", "batch", "dependent")
    about = f"reference of Python {platform.python_version()}"

    @staticmethod
    def route(family, network, length, value):
        """One route in the form that `__init__` takes: from the network's bytes."""
        return int.from_bytes(network, "big") >> (8 * len(network) - length), length, value

    @staticmethod
    def key(family, address):
        """One address in the form that lookups take: from its bytes."""
        return int.from_bytes(address, "big")

    def __init__(self, family, routes):
        """Builds the table; this is timed."""
        width = 8 * BYTES[family]
        by_length = {}
        for bits, length, value in routes:
            by_length.setdefault(length, {})[bits] = value
        longest_first = sorted(by_length.items(), reverse=True)
        self.dictionaries = [(width - length, values) for length, values in longest_first]

    def lookup(self, key):
        for shift, values in self.dictionaries:
            value = values.get(key >> shift)
            if value is not None:
                return value
        return 0

    def answers(self, keys):
        """The answers to these keys, 0 where there is no route; batches are timed with it."""
        lookup = self.lookup
        return [lookup(key) for key in keys]

    def walk(self, keys):
        """The exclusive or of the answers; single lookups are timed with it."""
        lookup, total = self.lookup, 0
        for key in keys:
            total ^= lookup(key)
        return total

    def walk_dependent(self, keys):
        """As `walk`, but each key is computed from the previous answer."""
        lookup, total, answer = self.lookup, 0, 0
        for key in keys:
            answer = lookup(key ^ (answer & 0))
            total ^= answer
        return total


class Session:
    """What was loaded so far, and the commands on it."""

    def __init__(self, table, families):
        self.table, self.families = table, families
        self.tables, self.key_arrays = {}, {}

    def hello(self):
        families, modes = ",".join(self.families), ",".join(self.table.modes)
        return f"longmatch-peer 1 {families} {modes} {self.table.about}"

    def load(self, family, path):
        self.check(family)
        self.tables.pop(family, None)
        with open(path, encoding="ascii") as lines:
            routes = [self.route(family, line) for line in lines]
        start = time.perf_counter_ns()
        self.tables[family] = self.table(family, routes)
        took = time.perf_counter_ns() - start
        return f"loaded {len(routes)} {took} -"

    def route(self, family, line):
        prefix, value = line.split()
        network, length = prefix.split("/")
        return self.table.route(family, packed(family, network), int(length), int(value))

    def keys(self, family, path):
        self.check(family)
        size = BYTES[family]
        with open(path, "rb") as file:
            data = file.read()
        addresses = (data[at : at + size] for at in range(0, len(data), size))
        self.key_arrays[family] = [self.table.key(family, address) for address in addresses]
        return f"keys {len(self.key_arrays[family])}"

    def answer(self, family, mode, batch, path):
        table, keys = self.ready(family, mode)
        out = bytearray()
        # A table that has no calls for batches answers both modes one key at a time.
        for begin in range(0, len(keys), int(batch)):
            for answer in table.answers(keys[begin : begin + int(batch)]):
                out += answer.to_bytes(4, "little")
        with open(path, "wb") as file:
            file.write(out)
        return f"answered {len(out) // 4}"

    def time(self, family, mode, batch, start, lookups):
        table, keys = self.ready(family, mode)
        if mode == "batch":
            walk = partial(self.walk_batches, table, int(batch))
        else:
            walk = table.walk if mode == "one" else table.walk_dependent
        total = 0
        began = time.perf_counter_ns()
        for begin, end in segments(len(keys), int(start), int(lookups)):
            total ^= walk(keys[begin:end])
        took = time.perf_counter_ns() - began
        return f"timed {took} {total}"

    @staticmethod
    def walk_batches(table, batch, keys):
        total = 0
        for at in range(0, len(keys), batch):
            total ^= table.answers(keys[at : at + batch])[-1]
        return total

    def check(self, family):
        if family not in self.families:
            raise ValueError(f"no {family} here")

    def ready(self, family, mode):
        if mode not in self.table.modes:
            raise ValueError(f"no mode {mode} here")
        if family not in self.tables or not self.key_arrays.get(family):
            raise ValueError(f"{family} needs a table and keys first")
        return self.tables[family], self.key_arrays[family]


def packed(family, text):
    """The bytes of an address."""
    return socket.inet_pton(socket.AF_INET if family == "ipv4" else socket.AF_INET6, text)


def segments(count, start, lookups):
    """The parts of an array of `count` keys for this number of lookups from `start` on."""
    while lookups:
        end = min(count, start + lookups)
        yield start, end
        lookups -= end - start
        start = 0


# How many words follow each command; the last may have blanks in it.
COMMANDS = {"hello": 0, "load": 2, "keys": 2, "answer": 4, "time": 5}


def serve(table, families=("ipv4", "ipv6")):
    """Answers commands from standard input until `quit` or its end."""
    session = Session(table, families)
    for line in sys.stdin:
        name, *rest = line.rstrip("\n").split(" ", 1)
        if name == "quit":
            return
        try:
            if name not in COMMANDS:
                raise ValueError(f"unknown command {name}")
            words = rest[0].split(" ", COMMANDS[name] - 1) if rest else []
            answer = getattr(session, name)(*words)
        except Exception as error:  # Whatever it is, the other side is told.
            answer = " ".join(f"error {type(error).__name__}: {error}".split())
        print(answer, flush=True)


if __name__ == "__main__":
    serve(Reference)
