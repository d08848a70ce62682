"""Longest-prefix match for IP addresses, one at a time or a column at a time.

>>> import longmatch
>>> table = longmatch.Table({"10.0.0.0/8": "office", "10.9.0.0/16": "lab"})
>>> table["10.9.1.1"]
'lab'
>>> table.freeze().lookup_many(["10.9.1.1", "10.1.1.1", "192.0.2.1"])
['lab', 'office', None]
"""

from collections.abc import Mapping, MutableMapping

from ._longmatch import (
    ArrowColumn,
    FrozenTable,
    LiveReader,
    LiveTable,
    Table,
    __version__,
    asn,
    compile,
    load,
    open,
)

MutableMapping.register(Table)
Mapping.register(FrozenTable)
del Mapping, MutableMapping

__all__ = [
    "ArrowColumn",
    "FrozenTable",
    "LiveReader",
    "LiveTable",
    "Table",
    "__version__",
    "asn",
    "compile",
    "load",
    "open",
]
