"""Uses of the package whose types `mypy --strict` checks; it also runs."""

from collections.abc import Mapping, MutableMapping
from ipaddress import ip_address
from typing import Optional

import longmatch
from longmatch import ArrowColumn, FrozenTable, LiveTable, Table

table: Table[str] = Table({"10.0.0.0/8": "office"})
table["10.9.0.0/16"] = "lab"
table.insert("2001:db8::", 32, "docs")
table.insert("192.0.2.0/24", "test")
value: str = table["10.9.1.1"]
maybe: Optional[str] = table.get(ip_address("10.9.1.1"))
known: str = table.get(b"\x0a\0\0\1", "none")
prefix: Optional[str] = table.get_key((0x0A000001, 4))
keys: list[str] = table.keys()
pairs: list[tuple[str, str]] = table.items()

frozen: FrozenTable[str] = table.freeze("poptrie")
found: Optional[str] = frozen.lookup("10.9.1.1")
pair: Optional[tuple[str, str]] = frozen.lookup_prefix("10.9.1.1")
many: list[Optional[str]] = frozen.lookup_many(["10.9.1.1"], threads=2, strict=True, out="values")
matched: list[Optional[str]] = frozen.lookup_many(["10.9.1.1"], return_prefix=True)[1]
arrow: ArrowColumn = frozen.lookup_many(["10.9.1.1"], out="arrow", column=None)
mapping: Mapping[str, str] = frozen
mutable: MutableMapping[str, str] = table

live: LiveTable[str] = table.live()
with live:
    live["10.9.1.0/24"] = "rack"
row: Optional[dict[str, object]] = longmatch.asn().lookup("1.1.1.1")

assert (value, maybe, known, prefix) == ("lab", "lab", "office", "10.0.0.0/8")
assert (found, pair, many) == ("lab", ("10.9.0.0/16", "lab"), ["lab"])
assert matched == ["10.9.0.0/16"] and len(arrow) == 1 and len(mapping) == len(mutable) == 4
assert (len(keys), len(pairs)) == (4, 4)
assert row is not None and row["asn"] == 13335
