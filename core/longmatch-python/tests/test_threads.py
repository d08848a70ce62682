"""Many threads on one table: frozen, live, and the dict-like one; interpreters."""

import contextlib
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

import longmatch
from longmatch import Table


def test_a_pool_on_a_frozen_table():
    table = Table({(i << 24, 4, 8): i % 7 for i in range(256)}).freeze()
    array = np.arange(0, 2**32, 65_537, dtype=np.uint64).astype(np.uint32)
    expected = (array >> 24) % 7
    texts = [f"{i}.1.2.3" for i in range(256)]

    def work(n):
        if n % 3 == 0:
            codes = table.lookup_many(array, out="codes", threads=1 + n % 4)
            values = np.array(table.values_by_code[1:])[codes - 1]
            return bool((values == expected).all())
        if n % 3 == 1:
            found, prefixes = table.lookup_many(texts, return_prefix=True)
            return found == [i % 7 for i in range(256)] and prefixes == [f"{i}.0.0.0/8" for i in range(256)]
        return [table.lookup(text) for text in texts] == [i % 7 for i in range(256)]

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(30)))


def test_readers_of_a_live_table():
    """Each answer is of a version that was current at some time of the call, and of no older one than before."""
    prefixes = [f"{i}.0.0.0/8" for i in range(64)]
    addresses = np.array([i << 24 for i in range(64)], dtype=np.uint32)
    live = Table({prefix: 0 for prefix in prefixes}).live()
    ended = threading.Event()
    begun, committed = [0], [0]
    failures, batches = [], []

    def read():
        reader = live.reader()
        before = [0] * 64
        try:
            while not ended.is_set():
                low = committed[0]
                found, matched = reader.lookup_many(addresses, return_prefix=True)
                high = begun[0]
                assert list(matched) == prefixes
                assert all(max(low, old) <= new <= high for old, new in zip(before, found))
                before = list(found)
                batches.append(1)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=read) for _ in range(3)]
    for worker in workers:
        worker.start()
    version = 0
    while version < 150 or (len(batches) < 10 and not failures):
        version += 1
        for prefix in prefixes:
            live[prefix] = version
        begun[0] = version
        live.commit()
        committed[0] = version
    ended.set()
    for worker in workers:
        worker.join()
    assert not failures
    assert live.lookup("1.1.1.1") == version


def test_live_table_by_itself():
    live = Table({"10.0.0.0/8": 1}).live()
    with pytest.raises(ZeroDivisionError), live:
        live["11.0.0.0/8"] = 2
        1 / 0
    assert live.lookup("11.0.0.1") is None and len(live) == 1
    live.insert("11.0.0.0/8", 2)
    assert live.lookup("11.0.0.1", "not yet") == "not yet"
    live.commit()
    assert live.lookup("11.0.0.1") == 2
    live.update({"2001:db8::/32": 6})
    live.rollback()
    with pytest.raises(KeyError):
        live.delete("2001:db8::/32")
    del live["11.0.0.0/8"]
    live.commit()
    assert len(live) == 1
    for engine in ("poptrie", "dxr"):
        assert Table({"10.0.0.0/8": 1}).live(engine).lookup("10.0.0.1") == 1
    with pytest.raises(ValueError, match="cannot be compiled for changes"):
        Table({"::/0": 1}).live("sail")


def test_with_blocks_take_turns():
    live = Table().live()
    entered, may_end, order = threading.Event(), threading.Event(), []

    def first():
        with live:
            live["20.0.0.0/8"] = "B"
            entered.set()
            may_end.wait(30)
            order.append("B")

    def second():
        with contextlib.suppress(ZeroDivisionError), live:
            order.append("A")
            live["30.0.0.0/8"] = "A"
            1 / 0

    one, two = threading.Thread(target=first), threading.Thread(target=second)
    one.start()
    assert entered.wait(30)
    two.start()
    for change in (lambda: live.insert("1.0.0.0/8", 1), lambda: live.delete("20.0.0.0/8"), live.commit, live.rollback):
        with pytest.raises(RuntimeError, match="another thread changes the table"):
            change()
    may_end.set()
    one.join()
    two.join()
    assert order == ["B", "A"]
    assert live.lookup("20.0.0.1") == "B" and live.lookup("30.0.0.1") is None


def test_no_changes_of_another_thread_are_lost():
    live = Table().live()
    thread = threading.Thread(target=live.insert, args=("20.0.0.0/8", "B"))
    thread.start()
    thread.join()
    with pytest.raises(RuntimeError, match="a rollback would lose"):
        live.rollback()
    with pytest.raises(RuntimeError, match="commit them first"), live:
        pass
    live.commit()
    live["30.0.0.0/8"] = "A"
    live.rollback()
    assert live.items() == [("20.0.0.0/8", "B")]
    with live:
        with live:
            live["40.0.0.0/8"] = "C"
        assert live.lookup("40.0.0.1") == "C"

    def write(a):
        for i in range(50):
            with live:
                live[f"{a}.{i}.0.0/16"] = i

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(60, 64)))
    assert len(live) == 2 + 200


def test_other_threads_run_during_long_calls():
    """Another thread gets the interpreter several times while a call works on many objects."""
    routes = [(f"{i >> 16}.{i >> 8 & 255}.{i & 255}.0/24", i) for i in range(1 << 16, 5 << 16)]
    rows = "network,asn,site\n" + "".join(f"{prefix},{value},x\n" for prefix, value in routes)
    table, data = Table(routes), longmatch.load(rows.encode())
    frozen, live, thawed = table.freeze(), table.live(), data.thaw()
    texts = ["1.1.1.1"] * 300_000
    turns, ended = [0], threading.Event()

    def watch():
        while not ended.is_set():
            time.sleep(0)
            turns[0] += 1

    def turns_during(call):
        before = turns[0]
        call()
        return turns[0] - before

    calls = [
        frozen.items, frozen.keys, frozen.values, lambda: frozen.prefixes_by_code, table.items, table.keys,
        lambda: Table(routes), lambda: Table(iter(routes)), lambda: Table(frozen), lambda: table == frozen,
        data.thaw, thawed.freeze, data.items, table.freeze, table.live, lambda: pickle.dumps(frozen),
        lambda: frozen.lookup_many(texts), lambda: frozen.lookup_many(iter(texts)), lambda: live.lookup_many(texts),
        lambda: frozen.lookup_many(np.array(texts, dtype=object)),
        lambda: longmatch.load(pa.table({"net": [prefix for prefix, _ in routes], "asn": [value for _, value in routes]})),
    ]
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for i, call in enumerate(calls):
            # The system may give a quick call no other thread, so that the call gets more chances.
            assert any(turns_during(call) >= 3 for _ in range(20)), i
    finally:
        ended.set()
        watcher.join()


def test_writers_of_one_table():
    table = Table()

    def work(n):
        for i in range(200):
            table[(n << 24 | i << 8, 4, 24)] = (n, i)
            assert table[(n << 24 | i << 8 | 1, 4)] == (n, i)
            if i % 2:
                del table[(n << 24 | i << 8, 4, 24)]
            len(table), table.keys() if i % 50 == 0 else None

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(8)))
    assert len(table) == 800


def test_other_interpreters_are_refused():
    interpreters = pytest.importorskip(
        "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters",
        reason="this Python has no module for interpreters",
    )
    interpreter = interpreters.create()
    code = "\n".join(
        [
            "try:",
            "    import longmatch",
            "except ImportError as error:",
            "    assert 'subinterpreters' in str(error), error",
            "else:",
            "    raise AssertionError('imported')",
        ]
    )
    try:
        result = interpreters.run_string(interpreter, code)
        assert result is None, result
    finally:
        interpreters.destroy(interpreter)


def test_the_interpreter_lock_stays_off():
    """In a free-threaded Python the module needs no lock."""
    if not hasattr(sys, "_is_gil_enabled"):
        pytest.skip("this Python has no free-threaded form")
    import sysconfig

    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python is not free-threaded")
    assert not sys._is_gil_enabled()
