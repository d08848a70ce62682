"""Arrow structures that contradict themselves are refused, not read."""

import ctypes

import pyarrow as pa
import pytest

from longmatch import Table

TABLE = Table({"0.0.0.0/0": "v4", "::/0": "v6"}).freeze()


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)


class Made:
    """An array with any content, alive as long as this object."""

    def __init__(self, format_=b"u", length=2, null_count=0, offset=0, buffers=(), n_buffers=None, **others):
        self.kept = [RELEASE]
        pointers = []
        for buffer in buffers:
            if isinstance(buffer, bytes):
                # One byte more, so that an odd offset is still inside.
                buffer = ctypes.create_string_buffer(buffer, len(buffer) + 1)
                self.kept.append(buffer)
                buffer = ctypes.addressof(buffer)
            pointers.append(buffer)
        array = (ctypes.c_void_p * max(len(pointers), 1))(*pointers)
        self.kept.append(array)
        release = ctypes.cast(RELEASE, ctypes.c_void_p)
        self.schema = Schema(format=format_, release=release)
        self.array = Array(length, null_count, offset, len(pointers) if n_buffers is None else n_buffers)
        if buffers:
            self.array.buffers = ctypes.cast(array, ctypes.POINTER(ctypes.c_void_p))
        self.array.release = release
        for name, (schema_value, array_value) in others.items():
            if schema_value is not None:
                setattr(self.schema, name, schema_value)
            if array_value is not None:
                setattr(self.array, name, array_value)

    def __arrow_c_array__(self, requested_schema=None):
        return (
            new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
            new_capsule(ctypes.addressof(self.array), b"arrow_array", None),
        )


def i32(*numbers):
    return b"".join(n.to_bytes(4, "little", signed=True) for n in numbers)


def i64(*numbers):
    return b"".join(n.to_bytes(8, "little", signed=True) for n in numbers)


TEXT = b"1.2.3.4::1"
GOOD = i32(0, 7, 10)
MAX = 2**63 - 1


def test_the_maker_makes_good_arrays():
    assert pa.array(TABLE.lookup_many(Made(buffers=[None, GOOD, TEXT]))).to_pylist() == ["v4", "v6"]
    assert pa.array(TABLE.lookup_many(Made(b"U", buffers=[None, i64(0, 7, 10), TEXT]))).to_pylist() == ["v4", "v6"]
    made = Made(b"I", length=3, offset=1, null_count=-1, buffers=[b"\x0d", i32(1, 2, 3, 4)])
    assert pa.array(TABLE.lookup_many(made)).to_pylist() == [None, "v4", "v4"]


BAD = {
    "no buffers": dict(buffers=[]),
    "too few buffers": dict(buffers=[None, GOOD]),
    "fewer than it says": dict(buffers=[], n_buffers=3),
    "negative number of buffers": dict(buffers=[None, GOOD, TEXT], n_buffers=-1),
    "negative length": dict(length=-1, buffers=[None, GOOD, TEXT]),
    "negative offset": dict(offset=-1, buffers=[None, GOOD, TEXT]),
    "length that overflows": dict(length=MAX, buffers=[None, GOOD, TEXT]),
    "offset that overflows": dict(offset=MAX, buffers=[None, GOOD, TEXT]),
    "sum that overflows": dict(offset=MAX, length=MAX, buffers=[None, GOOD, TEXT]),
    "null offsets": dict(buffers=[None, None, TEXT]),
    "null data": dict(buffers=[None, GOOD, None]),
    "negative first offset": dict(buffers=[None, i32(-4, 7, 10), TEXT]),
    "negative last offset": dict(buffers=[None, i32(0, 7, -1), TEXT]),
    "offsets that descend": dict(buffers=[None, i32(0, 2**30, 10), TEXT]),
    "first offset after the last": dict(buffers=[None, i32(100, 7, 10), TEXT]),
    "negative offsets of 64 bits": dict(format_=b"U", buffers=[None, i64(0, -7, -10), TEXT]),
    "great offsets of 64 bits": dict(format_=b"U", buffers=[None, i64(0, MAX, 10), TEXT]),
    "misaligned": dict(format_=b"I", buffers=[None, 4097]),
    "views without lengths": dict(format_=b"vu", buffers=[None, b"\0" * 32]),
    "views with negative lengths": dict(format_=b"vu", buffers=[None, b"\0" * 32, TEXT, i64(-1)]),
    "no format": dict(format_=None, buffers=[None, GOOD, TEXT]),
    "format that is no text": dict(format_=b"\xff", buffers=[None, GOOD, TEXT]),
    "empty format": dict(format_=b"", buffers=[None, GOOD, TEXT]),
    "released": dict(buffers=[None, GOOD, TEXT], release=(None, 0)),
    "released schema": dict(buffers=[None, GOOD, TEXT], release=(0, None)),
    "struct without children": dict(format_=b"+s", buffers=[None]),
    "struct with a missing child": dict(format_=b"+s", buffers=[None], n_children=(1, 1)),
    "dictionary without values": dict(
        format_=b"i", buffers=[None, i32(0, 0)], dictionary=(ctypes.pointer(Schema(format=b"u")), None)
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(name):
    # An offset before the start of the buffer would otherwise read foreign memory.
    made = Made(**BAD[name])
    try:
        found = TABLE.lookup_many(made, strict=True)
    except (ValueError, TypeError):
        return
    pytest.fail(f"read as {pa.array(found).to_pylist()}")


def runs(ends, values, **others):
    """A column of runs whose ends are of 32 bits."""
    parts = [Made(b"i", length=len(ends), buffers=[None, i32(*ends)]), values]
    schemas = (ctypes.POINTER(Schema) * 2)(*(ctypes.pointer(part.schema) for part in parts))
    arrays = (ctypes.POINTER(Array) * 2)(*(ctypes.pointer(part.array) for part in parts))
    made = Made(b"+r", n_children=(2, 2), children=(schemas, arrays), **others)
    made.kept += [parts, schemas, arrays]
    return made


def test_runs_that_contradict_themselves():
    def found(ends, **others):
        return pa.array(TABLE.lookup_many(runs(ends, Made(buffers=[None, GOOD, TEXT]), **others))).to_pylist()

    assert found([1, 3], length=2, offset=1) == ["v6", "v6"]
    assert found([1, 3], length=3) == ["v4", "v6", "v6"]
    assert found([], length=0) == []
    for ends, others in [
        ([1, 3], {"length": 4}),
        ([1, 3], {"length": 3, "offset": 1}),
        ([3, 1], {"length": 1}),
        ([2, 2], {"length": 2}),
        ([0, 2], {"length": 2}),
        ([-1, 2], {"length": 2}),
        ([1, 2, 3], {"length": 3}),
        ([], {"length": 1}),
    ]:
        with pytest.raises(ValueError, match="malformed Arrow data"):
            found(ends, **others)
    with pytest.raises(ValueError, match="malformed Arrow data"):
        TABLE.lookup_many(Made(b"+r", length=0))


def test_views_outside_of_their_buffers_are_bad():
    def view(length, buffer, offset):
        return i32(length) + b"1.2." + i32(buffer, offset)

    views = view(13, 0, 0) + view(13, 0, 5) + view(13, 1, 0) + view(13, -1, 0) + view(13, 0, -1) + view(-5, 0, 0)
    views += view(2**31 - 1, 0, 2**31 - 1)
    made = Made(b"vu", length=7, buffers=[None, views, b"192.168.100.1", i64(13)])
    assert pa.array(TABLE.lookup_many(made)).to_pylist() == ["v4"] + [None] * 6
    with pytest.raises(ValueError, match="item 1"):
        TABLE.lookup_many(made, strict=True)


@pytest.mark.parametrize("index", [-1, 3, 2**31 - 1, -(2**31)])
def test_indices_outside_of_the_dictionary_are_bad(index):
    values = Made(buffers=[None, GOOD, TEXT])
    made = Made(
        b"i",
        buffers=[None, i32(1, index)],
        dictionary=(ctypes.pointer(values.schema), ctypes.pointer(values.array)),
    )
    assert pa.array(TABLE.lookup_many(made)).to_pylist() == ["v6", None]
    with pytest.raises(ValueError, match="item 1"):
        TABLE.lookup_many(made, strict=True)


def test_a_stream_that_fails():
    class Failing(pa.RecordBatchReader):
        pass

    def batches():
        yield pa.record_batch({"a": ["1.2.3.4"]})
        raise RuntimeError("out of data")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.string()}), batches())
    with pytest.raises(ValueError, match="out of data"):
        TABLE.lookup_many(reader)


def test_methods_that_raise():
    class Raising:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        TABLE.lookup_many(Raising())
