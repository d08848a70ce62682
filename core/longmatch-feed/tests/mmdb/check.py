"""Lookups by MaxMind's reader: check.py MODE FILE QUESTIONS. A question: an address, a tab, the record as JSON or null."""

import json
import sys

import maxminddb

mode = {"c": maxminddb.MODE_MMAP_EXT, "python": maxminddb.MODE_MEMORY}[sys.argv[1]]
count = 0
with maxminddb.open_database(sys.argv[2], mode) as reader, open(sys.argv[3]) as questions:
    for line in questions:
        address, expected = line.rstrip("\n").split("\t", 1)
        found, length = reader.get_with_prefix_len(address)
        if found != json.loads(expected):
            sys.exit(f"{address}: {found}, not {expected}")
        count += 1
print(count)
