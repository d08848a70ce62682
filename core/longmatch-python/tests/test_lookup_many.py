"""lookup_many: every form of input and output, against single lookups."""

import array
import ipaddress
import random
import signal
import threading
import time

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from longmatch import ArrowColumn, Table

random.seed(7)
V4 = [random.getrandbits(32) for _ in range(3000)] + [0, 1, 2**32 - 1, 0x0A090101]
V6 = [random.getrandbits(128) for _ in range(500)] + [0x20010DB8 << 96 | random.getrandbits(96) for _ in range(500)]
V6 += [0, 1, 2**128 - 1, 0xFFFF_0A09_0101]


def make():
    table = Table({"10.0.0.0/8": "office", "10.9.0.0/16": "lab", "2001:db8::/32": "docs"})
    for i in range(128):
        table[f"{i * 2}.0.0.0/9"] = f"site {i % 10}"
        table[f"2001:db8:{i:x}::/48"] = f"lab {i % 5}"
        table[f"{i:x}00::/8"] = f"six {i}"
    table["10.9.1.1/32"] = None
    return table


@pytest.fixture(scope="module")
def table():
    return make().freeze()


def text4(addresses=V4):
    return [str(ipaddress.IPv4Address(address)) for address in addresses]


def text6(addresses=V6):
    return [str(ipaddress.IPv6Address(address)) for address in addresses]


def packed4():
    return np.array(V4, dtype=">u4").tobytes()


def packed6():
    return b"".join(address.to_bytes(16, "big") for address in V6)


def inputs4():
    array = np.array(V4, dtype=np.uint32)
    twice = np.zeros(2 * len(V4), dtype=np.uint32)
    twice[::2] = array
    yield "uint32", array
    yield "strided", twice[::2]
    yield "reversed twice", array[::-1].copy()[::-1]
    yield "big-endian", array.astype(">u4")
    yield "int64", array.astype(np.int64)
    yield "int64, big-endian", array.astype(">i8")
    yield "uint64", array.astype(np.uint64)
    yield "S4", np.frombuffer(packed4(), dtype="S4")
    yield "V4", np.frombuffer(packed4(), dtype="V4")
    yield "rows", np.frombuffer(packed4(), dtype=np.uint8).reshape(-1, 4)
    yield "records of bytes", np.frombuffer(packed4(), dtype=[(name, np.uint8) for name in "abcd"])
    yield "rows, Fortran order", np.asfortranarray(np.frombuffer(packed4(), dtype=np.uint8).reshape(-1, 4))
    yield "misaligned", np.frombuffer(b"x" + array.tobytes(), dtype=np.uint8)[1:].view(np.uint32)
    yield "text", np.array(text4())
    yield "text, big-endian", np.array(text4()).astype(">U15")
    yield "text, wide", np.array(text4(), dtype="U60")
    yield "objects", np.array(text4(), dtype=object)
    if hasattr(getattr(np, "dtypes", None), "StringDType"):
        yield "StringDType", np.array(text4(), dtype=np.dtypes.StringDType())
    yield "list", text4()
    yield "tuple", tuple(text4())
    yield "iterator", iter(text4())
    yield "generator of addresses", (ipaddress.ip_address(address) for address in V4)
    yield "bytes", [address.to_bytes(4, "big") for address in V4]
    yield "pairs", [(address, 4) for address in V4]


def arrow4():
    for name, array in [
        ("string", pa.array(text4())),
        ("large_string", pa.array(text4(), pa.large_string())),
        ("string_view", pa.array(text4(), pa.string_view())),
        ("uint32", pa.array(V4, pa.uint32())),
        ("int64", pa.array(V4, pa.int64())),
        ("uint64", pa.array(V4, pa.uint64())),
        ("fixed", pa.array([a.to_bytes(4, "big") for a in V4], pa.binary(4))),
        ("binary", pa.array([a.to_bytes(4, "big") for a in V4], pa.binary())),
        ("large_binary", pa.array([a.to_bytes(4, "big") for a in V4], pa.large_binary())),
        ("binary_view", pa.array([a.to_bytes(4, "big") for a in V4], pa.binary_view())),
        ("dictionary", pa.array(text4()).dictionary_encode()),
        ("runs", pc.run_end_encode(pa.array(text4()))),
        ("runs of integers", pc.run_end_encode(pa.array(V4, pa.uint32()), run_end_type=pa.int16())),
    ]:
        yield name, array
        yield f"{name}, chunked", pa.chunked_array([array[:1], array[1:1], array[1:1000], array[1000:]])
        yield f"{name}, a table", pa.table({"address": array})
        yield f"{name}, a sliced table", pa.table({"address": pa.concat_arrays([array[:9], array])}).slice(9)
        yield f"{name}, sliced", pa.concat_arrays([array[:13], array, array[:5]])[13 : 13 + len(array)]


def inputs6():
    pairs = [[address >> 64, address & (2**64 - 1)] for address in V6]
    yield "S16", np.frombuffer(packed6(), dtype="S16")
    yield "V16", np.frombuffer(packed6(), dtype="V16")
    yield "rows", np.frombuffer(packed6(), dtype=np.uint8).reshape(-1, 16)
    yield "pairs of halves", np.array(pairs, dtype=np.uint64)
    yield "pairs of halves, big-endian", np.array(pairs, dtype=">u8")
    for order in "<>":
        record = np.dtype([("high", f"{order}u8"), ("low", f"{order}u8")])
        yield f"records of halves, {order}", np.array([tuple(pair) for pair in pairs], dtype=record)
    yield "text", np.array(text6())
    yield "list", text6()
    yield "string", pa.array(text6())
    yield "string_view", pa.array(text6(), pa.string_view())
    yield "fixed", pa.array([a.to_bytes(16, "big") for a in V6], pa.binary(16))
    yield "binary", pa.array([a.to_bytes(16, "big") for a in V6], pa.binary())
    yield "dictionary", pa.array(text6()).dictionary_encode()


def values(found):
    if isinstance(found, ArrowColumn):
        found = pa.array(found)
        found.validate(full=True)
        return found.to_pylist()
    return list(found)


ALL = (
    [("v4", name) for name, _ in inputs4()]
    + [("v4 arrow", name) for name, _ in arrow4()]
    + [("v6", name) for name, _ in inputs6()]
)
MAKERS = {"v4": inputs4, "v4 arrow": arrow4, "v6": inputs6}


@pytest.mark.parametrize(("family", "name"), ALL)
@pytest.mark.parametrize("threads", [None, 3])
def test_every_input(table, family, name, threads):
    def addresses():
        return dict(MAKERS[family]())[name]

    plain = text6() if family == "v6" else text4()
    expected = [table.lookup(address) for address in plain]
    matched = [table.get_key(address) for address in plain]
    found = table.lookup_many(addresses(), threads=threads, strict=True)
    assert values(found) == expected
    found, prefixes = table.lookup_many(addresses(), threads=threads, return_prefix=True)
    assert values(found) == expected
    assert values(prefixes) == matched
    codes = table.lookup_many(addresses(), threads=threads, out="codes")
    assert codes.dtype == np.uint32 and codes.shape == (len(plain),)
    assert [table.values_by_code[code] for code in codes] == expected
    codes, prefixes = table.lookup_many(addresses(), out="codes", return_prefix=True)
    assert [table.values_by_code[code] for code in codes] == expected
    assert [table.prefixes_by_code[code] for code in prefixes] == matched
    assert values(table.lookup_many(addresses(), out="arrow")) == expected
    assert list(table.lookup_many(addresses(), out="values")) == expected


def test_the_live_table_agrees(table):
    live = make().live()
    for name, addresses in [*arrow4(), *inputs4(), *inputs6()]:
        plain = text6() if len(addresses if hasattr(addresses, "__len__") else V4) == len(V6) else text4()
        expected = [table.lookup(address) for address in plain]
        matched = [table.get_key(address) for address in plain]
        found, prefixes = live.lookup_many(addresses, return_prefix=True)
        assert values(found) == expected, name
        assert values(prefixes) == matched, name
    with pytest.raises(ValueError, match="codes"):
        live.lookup_many(["10.0.0.1"], out="codes")


def test_both_families_in_one_column(table):
    texts = text4() + text6()
    random.shuffle(texts)
    expected = [table.lookup(address) for address in texts]
    for addresses in (texts, np.array(texts), pa.array(texts), pa.array(texts, pa.string_view())):
        assert values(table.lookup_many(addresses)) == expected
    binary = [ipaddress.ip_address(text).packed for text in texts]
    assert values(table.lookup_many(binary)) == expected
    assert values(table.lookup_many(pa.array(binary))) == expected


BAD = ["hello", "", "10.0.0", "10.0.0.0/8", " 10.0.0.1", "010.0.0.1", "::1%lo", "10.0.0.1\x00", "１０.0.0.1", "x" * 200]


@pytest.mark.parametrize("bad", BAD)
def test_bad_text_gets_no_match_or_is_refused(table, bad):
    texts = ["10.0.0.1", None, "10.9.0.1", bad, "2001:db8:5::1", bad]
    expected = ["site 5", None, "lab", None, "lab 0", None]
    expected[0] = table.lookup("10.0.0.1")
    inputs = [texts, np.array(texts, dtype=object), pa.array(texts), pa.array(texts, pa.large_string())]
    inputs += [pa.array(texts, pa.string_view()), pa.array(texts).dictionary_encode()]
    inputs += [pa.chunked_array([pa.array(texts[:2]), pa.array(texts[2:])])]
    for addresses in inputs:
        assert values(table.lookup_many(addresses)) == expected
        assert table.lookup_many(addresses, out="codes").astype(bool).tolist() == [bool(e) for e in expected]
        with pytest.raises(ValueError, match="item 3 is not an address"):
            table.lookup_many(addresses, strict=True)
        with pytest.raises(ValueError, match="item 3 is not an address"):
            table.lookup_many(addresses, strict=True, return_prefix=True, threads=0)


def test_nul_and_lone_surrogates(table):
    assert table.lookup_many(["\udc80", "10.9.0.1"]) == [None, "lab"]
    # NumPy pads text with NUL, so that one in the middle is the only one it keeps.
    array = np.array(["10.9\0.0.1", "10.9.0.1"])
    assert list(table.lookup_many(array)) == [None, "lab"]
    assert list(table.lookup_many(np.array(["", ""]))) == [None, None]
    with pytest.raises(ValueError, match="item 0"):
        table.lookup_many(np.array(["", ""]), strict=True)


def test_numbers_out_of_range(table):
    for dtype in (np.int64, np.uint64):
        array = np.array([0x0A090001, 2**32, 2**40], dtype=dtype)
        assert list(table.lookup_many(array)) == ["lab", None, None]
    array = np.array([-1, 5], dtype=np.int8)
    assert list(table.lookup_many(array)) == [None, table.lookup("0.0.0.5")]
    with pytest.raises(ValueError, match="item 0"):
        table.lookup_many(array, strict=True)
    assert values(table.lookup_many(pa.array([0x0A090001, None, -5, 2**40]))) == ["lab", None, None, None]


def test_binary_of_other_lengths(table):
    items = [b"\x0a\x09\0\1", b"", b"\x0a", None, b"x" * 17, b"\x20\x01\x0d\xb8" + b"\0" * 12]
    expected = ["lab", None, None, None, None, "lab 0"]
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        assert values(table.lookup_many(pa.array(items, kind))) == expected


def test_nulls(table):
    for kind in (pa.string(), pa.string_view(), pa.uint32(), pa.int64(), pa.binary(4), pa.binary(16), pa.binary()):
        for array in (pa.nulls(9, kind), pa.nulls(40, kind)[7:16]):
            assert values(table.lookup_many(array, strict=True)) == [None] * 9
    assert values(table.lookup_many(pa.nulls(3), strict=True)) == [None] * 3
    array = pa.array([0x0A090001, None] * 50, pa.uint32())[3:61]
    assert values(table.lookup_many(array)) == ([None] + ["lab", None] * 29)[:58]
    assert table.lookup_many([None, float("nan"), "10.9.0.1"], strict=True) == [None, None, "lab"]


def test_empty(table):
    empties = [[], (), iter([]), np.array([], dtype=np.uint32), np.zeros((0, 4), np.uint8), np.array([], dtype="U5")]
    empties += [pa.array([], pa.string()), pa.chunked_array([], pa.string()), pa.array([], pa.binary(16)), pa.nulls(0)]
    for addresses in empties:
        assert len(table.lookup_many(addresses)) == 0
        codes, prefixes = table.lookup_many([], out="codes", return_prefix=True)
        assert len(codes) == len(prefixes) == 0
    assert values(table.lookup_many([], out="arrow")) == []


@pytest.mark.parametrize(
    "array",
    [
        np.array(5, dtype=np.uint32),
        np.zeros((2, 2, 4), np.uint8),
        np.zeros((2, 5), np.uint8),
        np.zeros((2, 4), np.uint32),
        np.zeros(3, np.float64),
        np.zeros(3, bool),
        np.zeros(3, "datetime64[s]"),
        np.zeros(3, "S15"),
        np.zeros(3, "V5"),
        np.zeros(3, [("a", "u4"), ("b", "u1")]),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_odd_arrays_are_refused(table, array):
    with pytest.raises((TypeError, ValueError), match="expected"):
        table.lookup_many(array)


@pytest.mark.parametrize(
    "array",
    [pa.array([1.5]), pa.array([True]), pa.array([[1]]), pa.array([b"12345"], pa.binary(5))]
    + [pa.table({"a": [1], "b": [2]}), pa.array([{"a": "10.0.0.1"}, None]), pa.array([1.5]).dictionary_encode()],
    ids=lambda array: str(getattr(array, "type", "table")),
)
def test_odd_arrow_types_are_refused(table, array):
    with pytest.raises(TypeError, match="Arrow type|columns|nulls"):
        table.lookup_many(array)


def test_other_objects_are_refused(table):
    for other in ("10.0.0.1", b"\0\0\0\0"):
        with pytest.raises(TypeError, match="many addresses"):
            table.lookup_many(other)
    for other in (5, None, object()):
        with pytest.raises(TypeError, match="addresses of type .*: expected"):
            table.lookup_many(other)
    for other in (array.array("I", [1]), memoryview(b"1234")):
        with pytest.raises(TypeError, match="numpy.asarray"):
            table.lookup_many(other)
    with pytest.raises(TypeError, match="collect it"):
        table.lookup_many(pl.LazyFrame({"a": ["10.0.0.1"]}))
    for item in (5, 1.5, object(), [1]):
        with pytest.raises(TypeError, match="item 1"):
            table.lookup_many(["10.0.0.1", item])
    with pytest.raises(ValueError, match="out="):
        table.lookup_many([], out="nonsense")
    for threads in (-1, 5000):
        with pytest.raises(ValueError, match="threads="):
            table.lookup_many([], threads=threads)
    with pytest.raises(ValueError, match="column="):
        table.lookup_many([], column="asn")


def test_read_only_and_subclasses(table):
    array = np.array(V4, dtype=np.uint32)
    array.flags.writeable = False
    expected = list(table.lookup_many(array))

    class Liar(np.ndarray):
        __array_interface__ = {"data": (8, True), "shape": (10,), "typestr": "<u4", "version": 3}

    assert list(table.lookup_many(array.view(Liar))) == expected


def test_arrow_answers_by_type():
    def answers(values_, kind):
        table = Table({f"{i + 1}.0.0.0/8": value for i, value in enumerate(values_)}).freeze()
        addresses = [f"{i + 1}.1.1.1" for i in range(len(values_))] + ["200.0.0.0", "x"]
        found = pa.array(table.lookup_many(addresses, out="arrow"))
        found.validate(full=True)
        assert str(found.type) == kind
        assert found.to_pylist() == [*values_, None, None]
        assert len(table.lookup_many(addresses, out="arrow")) == len(addresses)

    answers(["a", None, "é", ""], "string")
    answers([1, None, -5], "int64")
    answers([1, 2**64 - 1], "uint64")
    answers([1, 1.5, None], "double")
    answers([True, None, False] * 5, "bool")
    for odd in ([1, "x"], [object()], [[1]], [2**70], [True, 1], ["x", 1]):
        table = Table({f"{i + 1}.0.0.0/8": value for i, value in enumerate(odd)}).freeze()
        with pytest.raises(TypeError, match="make no Arrow array"):
            table.lookup_many(["1.1.1.1"], out="arrow")


def test_arrow_answers_outlive_the_table():
    table = make().freeze()
    expected = table.lookup_many(text4())
    column = table.lookup_many(text4(), out="arrow")
    stream = pa.chunked_array(pa.ChunkedArray._import_from_c_capsule(column.__arrow_c_stream__()).chunks)
    array = pa.array(column)
    schema = pa.DataType._import_from_c_capsule(column.__arrow_c_schema__())
    assert schema == array.type
    del table, column
    assert array.to_pylist() == stream.to_pylist() == expected
    # Capsules that nobody takes release their structures.
    column = make().freeze().lookup_many(text4(), out="arrow")
    for _ in range(3):
        column.__arrow_c_array__(), column.__arrow_c_stream__(), column.__arrow_c_schema__()


def test_used_capsules_are_refused(table):
    class Again:
        def __init__(self, array):
            self.capsules = array.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    again = Again(pa.array(["10.9.0.1"]))
    assert values(table.lookup_many(again)) == ["lab"]
    pa.array(again)
    with pytest.raises(ValueError, match="released"):
        table.lookup_many(again)

    class Stream:
        def __init__(self, array):
            self.capsule = pa.chunked_array([array]).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    stream = Stream(pa.array(["10.9.0.1"]))
    assert values(table.lookup_many(stream)) == ["lab"]

    class Wrong:
        def __init__(self, result):
            self.result = result

        def __arrow_c_array__(self, requested_schema=None):
            return self.result

    for result in (None, (), (1, 2), (again.capsules[1], again.capsules[0]), 5):
        with pytest.raises((TypeError, ValueError)):
            table.lookup_many(Wrong(result))


def test_threads_share_a_frozen_table(table):
    array = np.array(V4 * 20, dtype=np.uint32)
    expected = table.lookup_many(array, out="codes")
    texts = text4()
    failures = []

    def run():
        try:
            for _ in range(5):
                assert (table.lookup_many(array, out="codes", threads=2) == expected).all()
                assert table.lookup_many(texts) == [table.lookup(text) for text in texts[:50]] + table.lookup_many(texts[50:])
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=run) for _ in range(4)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    assert not failures


STATES = [
    ("10.9.0.1", "lab", "match"),
    (None, None, None),
    ("241.0.0.1", None, "no match"),
    ("no address", None, "not an address"),
    ("", None, "not an address"),
    ("2001:db8:5::1", "lab 0", "match"),
]


@pytest.mark.parametrize("threads", [1, 2])
def test_states(table, threads):
    """No match, null and no address are told apart, in every form."""
    texts, expected, states = map(list, zip(*STATES))
    live = make().live()
    inputs = [texts, np.array(texts, dtype=object), pa.array(texts), pa.array(texts, pa.string_view())]
    inputs += [pa.array(texts).dictionary_encode(), pa.chunked_array([pa.array(texts[:2]), pa.array(texts[2:])])]
    for addresses in inputs:
        for one in (table, live, live.reader()):
            found, state = one.lookup_many(addresses, return_status=True, threads=threads)
            assert (values(found), values(state)) == (expected, states)
            found, prefixes, state = one.lookup_many(addresses, return_prefix=True, return_status=True)
            assert (values(found), values(state)) == (expected, states)
            assert values(prefixes)[0] == "10.9.0.0/16"
        codes, state = table.lookup_many(addresses, return_status=True, out="codes")
        assert state.tolist() == [1, 0, 2, 3, 3, 1] and codes.astype(bool).tolist() == [e is not None for e in expected]
    for addresses in (np.array([0x0A090001, 0xF1000001], np.uint32), pa.array([0x0A090001, 0xF1000001], pa.uint32())):
        assert values(table.lookup_many(addresses, return_status=True)[1]) == ["match", "no match"]
    assert values(table.lookup_many(pa.array([-1, 0x0A090001], pa.int64()), return_status=True)[1]) == ["not an address", "match"]
    many = pa.array(["10.9.0.1", "x", None] * 50_000)
    found, state = table.lookup_many(many, return_status=True, threads=threads)
    assert pa.array(state).value_counts().to_pylist() == [{"values": v, "counts": 50_000} for v in ("match", "not an address", None)]


LENIENT = [" 10.9.0.1", "10.9.0.1\n", "\t10.9.0.1 ", "10.9.0.1:80", "[10.9.0.1]:65535", "10.9.0.1/32", "::ffff:10.9.0.1"]
LENIENT += ["::ffff:10.9.0.1/128", "[::ffff:10.9.0.1]", "[::ffff:10.9.0.1]:443", "::ffff:10.9.0.1%eth0"]
NOT_LENIENT = ["10.9.0.1:", "10.9.0.1:80:80", "10.9.0.1:65536", "10.9.0.1:-1", "[10.9.0.1", "10.9.0.1]", "[10.9.0.1]x", "10.9.0.1/31"]
NOT_LENIENT += ["::1/32", "10.9.0.1%eth0", "::1%", "10.9.0.1 10.9.0.1", "0x0a090001", "168362241", "", " ", "[]", ":80", "/32"]


def test_lenient_reading(table):
    live = make().live()
    for texts in (LENIENT, np.array(LENIENT), np.array(LENIENT, dtype=object), pa.array(LENIENT), pa.array(LENIENT).dictionary_encode()):
        assert values(table.lookup_many(texts))[:6] == [None] * 6
        for one in (table, live):
            assert values(one.lookup_many(texts, lenient=True, strict=True)) == ["lab"] * len(LENIENT)
            found, prefixes, states = one.lookup_many(texts, lenient=True, return_prefix=True, return_status=True)
            assert set(values(prefixes)) == {"10.9.0.0/16"} and set(values(states)) == {"match"}
    for text in NOT_LENIENT:
        assert table.lookup_many([text], lenient=True, return_status=True) == ([None], ["not an address"]), text
        with pytest.raises(ValueError, match="item 1 is not an address"):
            table.lookup_many(["10.9.0.1", text], lenient=True, strict=True)
    signed = pa.array([-0x5F000000, 0x0A090001, None], pa.int32())
    assert values(table.lookup_many(signed)) == [None, "lab", None]
    assert values(table.lookup_many(signed, lenient=True)) == [table.lookup("161.0.0.0"), "lab", None]


def test_columns_of_prefixes(table):
    plain = table.keys() + ["10.9.0.0/17", "10.9.1.1/32", "10.0.0.0/7", "0.0.0.0/0", "::/0", "10.9.1.2", "2001:db8:5::/64"]
    random.shuffle(plain)
    expected = [table.get(key) for key in plain]
    matched = [table.get_key(key) for key in plain]
    networks = [ipaddress.ip_network(key) for key in plain]
    for keys in (plain, networks, np.array(plain), pa.array(plain), pa.array(plain).dictionary_encode()):
        found, prefixes = table.lookup_many(keys, prefixes=True, return_prefix=True, strict=True)
        assert (values(found), values(prefixes)) == (expected, matched)
        assert values(table.lookup_many(keys, prefixes=True)) == expected
        codes, prefixes = table.lookup_many(keys, prefixes=True, return_prefix=True, out="codes")
        assert [table.prefixes_by_code[code] for code in prefixes] == matched
    odd = ["10.9.0.1/16", "10.9.0.0/33", "x/8", "10.9.0.0/", "10.9.0.0/08"]
    assert table.lookup_many(odd, prefixes=True, return_status=True) == ([None] * 5, ["not an address"] * 5)
    loose = Table({"10.0.0.0/8": 1}, strict=False).freeze()
    assert loose.lookup_many(["10.9.0.1/16"], prefixes=True) == [1]


class Alarm(Exception):
    pass


@pytest.mark.parametrize("out", ["codes", "values", "arrow"])
def test_signals_end_long_lookups(out):
    def ring(*_):
        raise Alarm

    table = Table({"10.0.0.0/8": 1}).freeze()
    addresses = np.zeros(100_000_000, np.uint32)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        start = time.perf_counter()
        with pytest.raises(Alarm):
            for _ in range(50):
                table.lookup_many(addresses, out=out)
        assert time.perf_counter() - start < 2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_runs():
    """Runs of the same address, nulls, bad ones, and slices that begin and end inside of a run."""
    table = Table({"10.0.0.0/8": "office", "2001:db8::/32": "docs"}).freeze()
    plain = pa.array(["10.1.1.1"] * 3 + [None] * 2 + ["2001:db8::1"] + ["nonsense"] * 4 + ["10.1.1.1"])
    expected = ["office"] * 3 + [None] * 2 + ["docs"] + [None] * 4 + ["office"]
    runs = pc.run_end_encode(plain)
    for start in range(len(plain) + 1):
        for end in range(start, len(plain) + 1):
            assert values(table.lookup_many(runs[start:end])) == expected[start:end]
    assert values(table.lookup_many(pc.run_end_encode(plain.dictionary_encode().cast(pa.string())))) == expected
    with pytest.raises(ValueError, match="item 6 is not an address"):
        table.lookup_many(runs, strict=True)
    _, status = table.lookup_many(runs, return_status=True)
    assert values(status)[3:7] == [None, None, "match", "not an address"]


@pytest.mark.parametrize("record", ["<u8,<u8,<u8", "<u8,>u8", "<u4,<u4", "<i8,<i8"])
def test_other_records_are_refused(table, record):
    """Their bytes are not the address in the order of the network, though they may be 4 or 16."""
    with pytest.raises(TypeError, match="expected two uint64"):
        table.lookup_many(np.zeros(3, dtype=record))


def test_missing_text_of_any_length(table):
    """A missing text, in each form, is not an address, and not an error in strict mode."""
    if not hasattr(getattr(np, "dtypes", None), "StringDType"):
        pytest.skip("NumPy before 2 has no StringDType")
    for missing in [None, float("nan")]:
        texts = np.array(["10.9.1.2", missing], dtype=np.dtypes.StringDType(na_object=missing))
        assert table.lookup_many(texts, strict=True).tolist() == ["lab", None]
