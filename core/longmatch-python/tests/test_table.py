"""Table: keys, longest matches, exact operations, copies."""

import copy
import ipaddress
import pickle

import pytest

import longmatch
from longmatch import Table

ROUTES = {
    "0.0.0.0/0": "default",
    "10.0.0.0/8": "office",
    "10.9.0.0/16": "lab",
    "10.9.1.0/24": "rack",
    "::/0": "default6",
    "2001:db8::/32": "docs",
}


@pytest.fixture
def table():
    return Table(ROUTES)


def forms(address):
    """All forms of an address as a key."""
    address = ipaddress.ip_address(address)
    return [str(address), address, address.packed, (int(address), address.version)]


@pytest.mark.parametrize(
    ("address", "prefix", "value"),
    [
        ("10.9.1.1", "10.9.1.0/24", "rack"),
        ("10.9.2.1", "10.9.0.0/16", "lab"),
        ("10.1.1.1", "10.0.0.0/8", "office"),
        ("11.0.0.0", "0.0.0.0/0", "default"),
        ("2001:db8::1", "2001:db8::/32", "docs"),
        ("2001:db9::1", "::/0", "default6"),
        ("::", "::/0", "default6"),
        ("255.255.255.255", "0.0.0.0/0", "default"),
    ],
)
def test_longest_match_of_every_form_of_key(table, address, prefix, value):
    frozen, live = table.freeze(), table.live()
    for key in forms(address):
        assert table[key] == value
        assert key in table
        assert table.get(key) == value
        assert table.get_key(key) == prefix
        assert frozen[key] == frozen.lookup(key) == frozen.get(key) == value
        assert frozen.get_key(key) == prefix
        assert frozen.lookup_prefix(key) == live.lookup_prefix(key) == (prefix, value)
        assert live.lookup(key) == live.reader().lookup(key) == value


def test_longest_match_of_a_prefix(table):
    for key in [
        "10.9.1.0/25",
        ipaddress.ip_network("10.9.1.0/25"),
        ipaddress.ip_interface("10.9.1.0/25"),
        (0x0A090100, 4, 25),
    ]:
        assert table[key] == table.freeze()[key] == "rack"
        assert not table.has_key(key)
    assert table["10.0.0.0/7"] == "default"
    assert table.get_key("10.9.0.0/17") == "10.9.0.0/16"


def test_exact_operations(table):
    assert table.has_key("10.9.0.0/16") and not table.has_key("10.9.0.0/17")
    assert not table.has_key("10.9.0.0")
    with pytest.raises(KeyError):
        table.delete("10.9.0.0/17")
    del table["10.9.0.0/16"]
    assert table["10.9.2.1"] == "office"
    assert table.pop("10.0.0.0/8") == "office"
    assert table.pop("10.0.0.0/8", 7) == 7
    with pytest.raises(KeyError):
        table.pop("10.0.0.0/8")
    assert table.setdefault("10.0.0.0/8", "new") == "new"
    assert table.setdefault("10.0.0.0/8", "other") == "new"
    assert len(table) == 5


def test_parent_and_children(table):
    assert table.parent("10.9.1.0/24") == "10.9.0.0/16"
    assert table.parent("0.0.0.0/0") is None
    assert table.parent("2001:db8::/32") == "::/0"
    assert table.children("10.0.0.0/8") == ["10.9.0.0/16", "10.9.1.0/24"]
    assert table.children("10.9.1.0/24") == []
    for method in (table.parent, table.children):
        with pytest.raises(KeyError):
            method("10.9.0.0/17")
    assert table.covering("10.9.1.1") == [
        ("0.0.0.0/0", "default"),
        ("10.0.0.0/8", "office"),
        ("10.9.0.0/16", "lab"),
        ("10.9.1.0/24", "rack"),
    ]


def test_iteration_is_in_order(table):
    order = ["0.0.0.0/0", "10.0.0.0/8", "10.9.0.0/16", "10.9.1.0/24", "::/0", "2001:db8::/32"]
    assert list(table) == table.keys() == order
    assert table.values() == [ROUTES[key] for key in order]
    assert table.items() == [(key, ROUTES[key]) for key in order]
    frozen = table.freeze()
    assert list(frozen) == order and frozen.items() == table.items()
    assert len(frozen) == len(table) == 6


def test_families_do_not_collide():
    """pytricia #29, #36, #38: the same number in both families."""
    table = Table({"1.2.3.4/32": 4, "102:304::/32": 6})
    assert table["1.2.3.4"] == 4
    assert table["102:304::1"] == 6
    assert table.get("::1.2.3.4") is None
    assert table[(0x01020304, 4)] == 4
    assert (0x01020304, 6) not in table


def test_mapped_addresses_are_ipv4():
    table = Table({"192.0.2.0/24": "v4", "::/0": "v6"})
    assert table["::ffff:192.0.2.1"] == "v4"
    assert "::ffff:198.51.100.1" not in table
    assert table.freeze().lookup_many(["::ffff:192.0.2.1", "::ffff:198.51.100.1", "::1"]) == [
        "v4",
        None,
        "v6",
    ]
    assert table.has_key("::ffff:192.0.2.0/120")


def test_edges_of_a_prefix():
    """pytricia #34: `::` to `::f`."""
    table = Table({"::/124": "edge"})
    for last in "0123456789abcdef":
        assert table[f"::{last}"] == "edge"
    assert "::10" not in table
    table = Table({"255.255.255.255/32": 1, "ffff::/16": 2})
    assert table["255.255.255.255"] == 1 and "255.255.255.254" not in table
    assert table["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"] == 2


def test_host_bits():
    table = Table()
    # An interface stands for its network.
    table[ipaddress.ip_interface("10.0.0.1/8")] = 1
    assert table.keys() == ["10.0.0.0/8"]
    for key in ["10.0.0.1/8", (0x0A000001, 4, 8)]:
        with pytest.raises(ValueError, match="host bits are set after /8"):
            table[key] = 1
        with pytest.raises(ValueError, match="strict=False"):
            table.has_key(key)
    masked = Table(strict=False)
    masked["10.0.0.1/8"] = 1
    assert masked.keys() == ["10.0.0.0/8"] and masked["10.0.0.1/8"] == 1
    assert masked.freeze().get_key("10.255.0.1/16") == "10.0.0.0/8"
    assert not masked.strict and table.strict


@pytest.mark.parametrize(
    "key",
    ["", "/", "10.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/99999", "::/129"]
    + ["010.0.0.0/8", "fe80::1%eth0", " 10.0.0.1", "10.0.0.1\n", "hello", "\udc80", "\0", b"123", b"", (1, 5)]
    + [(-1, 4), (1 << 32, 4), (1 << 128, 6), (0, 4, 33), (0, 6, -1), (10**50, 6), (0, 4, 10**9)]
    + [ipaddress.ip_address("fe80::1%eth0")],
)
def test_bad_keys_are_value_errors(table, key):
    for use in (table.__getitem__, table.has_key, table.freeze().get, table.live().lookup):
        with pytest.raises(ValueError):
            use(key)


@pytest.mark.parametrize("key", [None, 1, 1.5, [1], (1,), ("10.0.0.0", 8), (True, 4), {}, object()])
def test_keys_of_other_types_are_type_errors(table, key):
    for use in (table.__getitem__, table.has_key, table.freeze().lookup, table.live().lookup):
        with pytest.raises(TypeError, match="a key|a tuple|family"):
            use(key)


def test_insert_with_a_length():
    table = Table()
    table.insert("10.0.0.0", 8, "office")
    table.insert(ipaddress.ip_address("2001:db8::"), 32, "docs")
    assert table.keys() == ["10.0.0.0/8", "2001:db8::/32"]
    with pytest.raises(ValueError):
        table.insert("10.0.0.1", 8, "host bits")
    with pytest.raises(ValueError):
        table.insert("10.0.0.0", 33, "length")
    for arguments in (("10.0.0.0/8",), ("10.0.0.0", 8, 1, 2), ("10.0.0.0/8", 8, 1)):
        with pytest.raises(TypeError):
            table.insert(*arguments)


def test_any_value():
    values = [None, [1], {"a": 1}, {1, 2}, object(), float("nan"), 1, 1.0, True, "1", b"1", (1, [2])]
    table = Table()
    for i, value in enumerate(values):
        table[(i << 24, 4, 8)] = value
    for i, value in enumerate(values):
        found = table[(i << 24, 4)]
        assert found is value or (found == value and type(found) is type(value))
    frozen = table.freeze()
    found = frozen.lookup_many([(i << 24, 4) for i in range(len(values))])
    assert [type(value) for value in found] == [type(value) for value in values]


def test_equal_immutable_values_share_a_code():
    table = Table({f"{i}.0.0.0/8": ("AS", i % 3, 1.5) for i in range(1, 100)})
    assert len(table.freeze().values_by_code) == 4
    table = Table({f"{i}.0.0.0/8": 1 if i % 2 else True for i in range(1, 100)})
    frozen = table.freeze()
    assert frozen.lookup("1.0.0.1") is not True and frozen.lookup("2.0.0.1") is True


def test_updates_and_equality(table):
    other = Table(list(ROUTES.items()))
    assert table == other and table != Table() and table != 5
    other["10.0.0.0/8"] = "changed"
    assert table != other
    other.update(table)
    assert table == other
    other.update({"192.0.2.0/24": 1})
    assert len(other) == 7
    other.clear()
    assert len(other) == 0 and other == Table()
    with pytest.raises(TypeError, match="pairs"):
        other.update([1, 2])
    with pytest.raises(TypeError):
        hash(table)


def test_copies(table):
    value = ["mutable"]
    table["192.0.2.0/24"] = value
    for clone in (table.copy(), copy.copy(table), Table(table)):
        assert clone == table and clone["192.0.2.1"] is value
        clone["198.51.100.0/24"] = 1
        assert not table.has_key("198.51.100.0/24")
    deep = copy.deepcopy(table)
    assert deep == table and deep["192.0.2.1"] is not value


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(table, protocol):
    loaded = pickle.loads(pickle.dumps(table, protocol))
    assert loaded == table and loaded.strict
    assert not pickle.loads(pickle.dumps(Table(strict=False), protocol)).strict
    frozen = table.freeze("poptrie")
    loaded = pickle.loads(pickle.dumps(frozen, protocol))
    assert loaded.items() == frozen.items() and loaded.engines == frozen.engines
    table["192.0.2.0/24"] = table
    loaded = pickle.loads(pickle.dumps(table, protocol))
    assert loaded["192.0.2.1"] is loaded


def test_damaged_pickles_are_refused():
    for state in [
        (True, (b"\x04", [], [])),
        (True, (b"\x04\x08\x0a\x00\x00\x00", [], [])),
        (True, (b"\x04\x08\x0a\x00\x00\x00", [], [5])),
        (True, (b"\x04\x08\x0a\x00\x00\x01", [1], [0])),
        (True, (b"\x09\x08\x0a\x00\x00\x00", [1], [0])),
        (True, (b"\x04\x21\x0a\x00\x00\x00", [1], [0])),
    ]:
        with pytest.raises((ValueError, IndexError)):
            Table().__setstate__(state)


def test_repr(table):
    assert repr(Table()) == "Table({})"
    assert repr(Table({"10.0.0.0/8": [1]}, strict=False)) == "Table({'10.0.0.0/8': [1]}, strict=False)"
    assert repr(table).endswith("... 3 more})")
    assert "6 prefixes" in repr(table.freeze()) and "6 prefixes" in repr(table.live())


def test_engines(table):
    for engine in ["auto", "folio", "poptrie", "dxr", "radix", "linear"]:
        frozen = table.freeze(engine)
        assert frozen.lookup("10.9.1.1") == "rack"
    with pytest.raises(ValueError, match="engine="):
        table.freeze("no such engine")
    # SAIL exists for IPv4 only.
    with pytest.raises(ValueError, match="cannot be compiled"):
        table.freeze("sail")


def test_a_frozen_table_does_not_follow_changes(table):
    frozen = table.freeze()
    table["10.9.1.0/24"] = "changed"
    assert frozen["10.9.1.1"] == "rack"
    thawed = frozen.thaw()
    thawed["10.9.1.0/24"] = "thawed"
    assert frozen["10.9.1.1"] == "rack" and thawed["10.9.1.1"] == "thawed"


def test_finalizers_may_use_the_table():
    table = Table()

    class Value:
        def __del__(self):
            table["192.0.2.0/24"] = len(table)

    table["10.0.0.0/8"] = Value()
    table["10.0.0.0/8"] = 1
    table["11.0.0.0/8"] = 2
    table["12.0.0.0/8"] = 3
    assert table.has_key("192.0.2.0/24")
    live = table.live()
    live["10.0.0.0/8"] = Value()
    live.commit()
    live["10.0.0.0/8"] = 1
    live.commit()
    live.commit()


def test_cycles_are_collected():
    import gc
    import weakref

    table = Table()
    table["10.0.0.0/8"] = table
    alive = weakref.ref(table)
    del table
    gc.collect()
    assert alive() is None
    value = []
    frozen = Table({"10.0.0.0/8": value}).freeze()
    value.append(frozen)
    assert frozen.lookup_many(["10.0.0.1"]) == list(frozen.values_by_code[1:]) == [value]
    alive = weakref.ref(frozen)
    del frozen, value
    gc.collect()
    assert alive() is None


def test_asn():
    table = longmatch.asn()
    assert table is longmatch.asn()
    assert table.columns == ["asn", "name"]
    assert table.lookup("1.1.1.1") == {"asn": 13335, "name": "Cloudflare, Inc."}
    assert table.lookup("2001:4860::1")["asn"] == 15169
    assert table.lookup("10.1.2.3") is None and table.lookup("fe80::1") is None


def test_covered():
    table = Table(ROUTES)
    assert table.covered("10.8.0.0/15") == [("10.9.0.0/16", "lab"), ("10.9.1.0/24", "rack")]
