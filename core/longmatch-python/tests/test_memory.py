"""Memory does not grow with the number of calls, and no reference is lost or kept."""

import gc
import os
import pickle
import sys

import numpy as np
import pyarrow as pa
import pytest

import longmatch
from longmatch import Table

# Calls of each kind; 10^6 in the long form.
CALLS = int(os.environ.get("LONGMATCH_PYTHON_CALLS", "20000"))
# Growth of the allocators themselves, which is not a leak.
ALLOWED = 3 << 20


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def make():
    return Table({"10.0.0.0/8": "office", "10.9.0.0/16": ["a", "list"], "2001:db8::/32": None})


TABLE = make()
FROZEN = TABLE.freeze()
TEXT = make()
TEXT["10.9.0.0/16"] = "lab"
TEXTS = TEXT.freeze()
LIVE = make().live()
ROWS = longmatch.load(b"network,asn,site\n10.0.0.0/8,64500,office\n10.9.0.0/16,64501,lab\n")
ADDRESSES = ["10.9.1.1", "10.1.1.1", "bad", None, "2001:db8::1"] * 4
ARRAY = np.array([0x0A090101, 5, 0x0A010101] * 8, dtype=np.uint32)
COLUMN = pa.array(ADDRESSES)
CHUNKS = pa.chunked_array([COLUMN, COLUMN])


def failing(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except (ValueError, TypeError, KeyError):
        return
    raise AssertionError("no error")


def change():
    TABLE["192.0.2.0/24"] = [object()]
    TABLE["192.0.2.0/24"] = "text " + str(id(change))
    del TABLE["192.0.2.0/24"]


def change_live():
    with LIVE:
        LIVE["192.0.2.0/24"] = [object()]
    with LIVE:
        del LIVE["192.0.2.0/24"]


KINDS = {
    "get": (1, lambda: TABLE["10.9.1.1"]),
    "get, missing": (1, lambda: failing(TABLE.__getitem__, "8.8.8.8")),
    "get, bad": (1, lambda: failing(TABLE.__getitem__, "bad")),
    "get_key": (1, lambda: TABLE.get_key((0x0A090101, 4))),
    "change": (1, change),
    "items": (1, lambda: (TABLE.items(), TABLE.children("10.0.0.0/8"))),
    "lookup": (1, lambda: FROZEN.lookup(b"\x0a\x09\1\1")),
    "lookup_prefix": (1, lambda: FROZEN.lookup_prefix("10.9.1.1")),
    "rows": (1, lambda: ROWS.lookup("10.9.1.1")),
    "list": (1, lambda: FROZEN.lookup_many(ADDRESSES, return_prefix=True)),
    "list, refused": (1, lambda: failing(FROZEN.lookup_many, ADDRESSES, strict=True)),
    "list, of another type": (1, lambda: failing(FROZEN.lookup_many, [1, 2])),
    "array": (1, lambda: FROZEN.lookup_many(ARRAY)),
    "array, codes": (1, lambda: FROZEN.lookup_many(ARRAY, out="codes", return_prefix=True)),
    "arrow": (1, lambda: TEXTS.lookup_many(COLUMN)),
    "arrow, taken": (1, lambda: pa.array(TEXTS.lookup_many(COLUMN, return_prefix=True)[1])),
    "arrow, not taken": (1, lambda: TEXTS.lookup_many(COLUMN).__arrow_c_array__()),
    "arrow, stream": (1, lambda: pa.chunked_array(TEXTS.lookup_many(CHUNKS))),
    "arrow, refused": (1, lambda: failing(TEXTS.lookup_many, CHUNKS, strict=True)),
    "rows, column": (1, lambda: (ROWS.lookup_many(ARRAY, column="asn"), ROWS.lookup_many(ADDRESSES))),
    "live": (1, lambda: LIVE.lookup_many(ADDRESSES, return_prefix=True)),
    "live, change": (4, change_live),
    "reader": (4, lambda: LIVE.reader().lookup("10.9.1.1")),
    "copy": (20, lambda: (TABLE.copy(), Table(TABLE))),
    "freeze": (100, lambda: TABLE.freeze("linear").lookup_many(ADDRESSES, return_prefix=True)),
    "make live": (100, lambda: make().live()),
    "pickle": (20, lambda: pickle.loads(pickle.dumps(TABLE))),
    "load": (100, lambda: longmatch.load(b"network,asn\n10.0.0.0/8,1\n", engine="linear")),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_memory_does_not_grow(kind):
    share, call = KINDS[kind]
    calls = max(CALLS // share, 50)
    for _ in range(calls // 4 + 10):
        call()
    gc.collect()
    before = resident()
    for _ in range(calls):
        call()
    gc.collect()
    grown = resident() - before
    assert grown < ALLOWED, f"{grown / calls:.1f} bytes a call"


def test_references():
    value = ["value"]
    texts = ["10.9.1.1", "10.1.1.1"]
    start = sys.getrefcount(value), sys.getrefcount(texts[0])
    table = Table({"10.0.0.0/8": value, "10.9.0.0/16": value})
    frozen = table.freeze()
    live = table.live()
    reader = live.reader()
    found = [
        table["10.0.0.1"],
        frozen.lookup_many(texts, return_prefix=True),
        frozen.lookup_many(np.array(texts, dtype=object)),
        frozen.values_by_code,
        live.lookup_many(texts),
        reader.lookup(texts[0]),
        table.items(),
        table.copy(),
        pickle.loads(pickle.dumps(table)),
    ]
    assert sys.getrefcount(value) > start[0]
    own = make()
    own["192.0.2.0/24"] = held = [1]
    count = sys.getrefcount(held)
    del own["192.0.2.0/24"]
    assert sys.getrefcount(held) == count - 1
    own["192.0.2.0/24"] = held
    own["192.0.2.0/24"] = None
    assert sys.getrefcount(held) == count - 1
    table["10.0.0.0/8"] = table["10.9.0.0/16"] = 1
    table["11.0.0.0/8"] = 2
    del found, frozen, live, reader, table
    gc.collect()
    assert (sys.getrefcount(value), sys.getrefcount(texts[0])) == start
