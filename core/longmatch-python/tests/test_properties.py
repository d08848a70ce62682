"""Random tables and operations, against the module ipaddress and a plain dict."""

import ipaddress
import os

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from longmatch import Table

CASES = int(os.environ.get("LONGMATCH_PYTHON_CASES", "60"))
settings.register_profile("quick", max_examples=CASES, deadline=None)
settings.load_profile("quick")


def network(draw_bits, length, version):
    width = 32 if version == 4 else 128
    bits = draw_bits >> (width - length) << (width - length) if length else 0
    kind = ipaddress.IPv4Network if version == 4 else ipaddress.IPv6Network
    return kind((bits, length))


# Few bits, so that prefixes nest and addresses match.
FEW4 = st.integers(0, 15).map(lambda n: n << 28) | st.integers(0, 2**32 - 1)
FEW6 = st.integers(0, 15).map(lambda n: n << 124) | st.integers(0, 2**128 - 1)
NETWORKS = st.builds(network, FEW4, st.integers(0, 6) | st.integers(0, 32), st.just(4)) | st.builds(
    network, FEW6, st.integers(0, 6) | st.integers(0, 128), st.just(6)
)
ADDRESSES = FEW4.map(ipaddress.IPv4Address) | FEW6.map(ipaddress.IPv6Address)
VALUES = st.integers() | st.text(max_size=3) | st.none() | st.lists(st.integers(), max_size=2)


def is_mapped(network):
    """Whether the table stores the network as an IPv4 one."""
    return network.version == 6 and network.prefixlen >= 96 and int(network.network_address) >> 32 == 0xFFFF


def longest(routes, address):
    if address.version == 6 and address.ipv4_mapped:
        address = address.ipv4_mapped
    found = [net for net in routes if net.version == address.version and address in net]
    return max(found, key=lambda net: net.prefixlen, default=None)


def as_text(prefix):
    return None if prefix is None else ipaddress.ip_network(prefix)


class Operations(RuleBasedStateMachine):
    """A table and a dict of networks, changed alike."""

    def __init__(self):
        super().__init__()
        self.table = Table()
        self.routes = {}

    @rule(net=NETWORKS.filter(lambda net: not is_mapped(net)), value=VALUES)
    def insert(self, net, value):
        self.table[net] = value
        self.routes[net] = value

    @rule(net=NETWORKS.filter(lambda net: not is_mapped(net)))
    def delete(self, net):
        assert self.table.has_key(str(net)) == (net in self.routes)
        assert self.table.pop(net, "missing") == self.routes.pop(net, "missing")

    @rule(address=ADDRESSES)
    def look_up(self, address):
        found = longest(self.routes, address)
        assert as_text(self.table.get_key(address)) == found
        assert self.table.get(str(address), "none") == self.routes.get(found, "none")
        assert (address in self.table) == (found is not None)
        covering = [as_text(prefix) for prefix, _ in self.table.covering(address)]
        if not (address.version == 6 and address.ipv4_mapped):
            expected = [n for n in self.routes if n.version == address.version and address in n]
            assert covering == sorted(expected, key=lambda n: n.prefixlen)

    @rule(data=st.data())
    def family(self, data):
        if not self.routes:
            return
        net = data.draw(st.sampled_from(sorted(self.routes, key=str)))
        same = [n for n in self.routes if n.version == net.version]
        above = [n for n in same if n != net and net.subnet_of(n)]
        below = [n for n in same if n != net and n.subnet_of(net)]
        assert as_text(self.table.parent(net)) == max(above, key=lambda n: n.prefixlen, default=None)
        assert {as_text(prefix) for prefix in self.table.children(net)} == set(below)

    @rule(addresses=st.lists(ADDRESSES, max_size=30))
    def freeze(self, addresses):
        frozen = self.table.freeze()
        found, prefixes = frozen.lookup_many(addresses, return_prefix=True)
        matches = [longest(self.routes, address) for address in addresses]
        assert [as_text(prefix) for prefix in prefixes] == matches
        assert found == [self.routes.get(match) for match in matches]
        live = self.table.live()
        assert live.lookup_many(addresses, return_prefix=True) == (found, prefixes)
        assert frozen.thaw() == self.table == self.table.copy()

    @invariant()
    def same_content(self):
        assert len(self.table) == len(self.routes)
        order = sorted(self.routes, key=lambda n: (n.version, int(n.network_address), n.prefixlen))
        assert self.table.keys() == [str(net) for net in order]
        assert self.table.values() == [self.routes[net] for net in order]


Operations.TestCase.settings = settings(max_examples=CASES // 2, stateful_step_count=25, deadline=None)
TestOperations = Operations.TestCase


@given(st.lists(st.tuples(NETWORKS, VALUES)))
def test_dict_and_pairs(routes):
    routes = [(net, value) for net, value in routes if not is_mapped(net)]
    table = Table(routes)
    assert table == Table({str(net): value for net, value in routes})
    assert table.items() == Table(table).items() == list(zip(table, table.values()))


TEXT = st.text("0123456789abcdefABCDEF.:/% x\0é", max_size=20) | ADDRESSES.map(str) | st.none()


@given(st.lists(TEXT, max_size=40))
def test_text_is_read_as_ipaddress_reads_it(texts):
    table = Table({"0.0.0.0/1": 1, "128.0.0.0/1": 2, "::/1": 3, "8000::/1": 4}).freeze()

    def expected(text):
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return None
        if address.version == 6 and (address.scope_id is not None):
            return None
        if address.version == 6 and address.ipv4_mapped:
            address = address.ipv4_mapped
        return 1 + 2 * (address.version == 6) + (int(address) >> (31 if address.version == 4 else 127))

    answers = [expected(text) for text in texts]
    # Before 3.9.5 Python itself read leading zeros.
    for given_ in (texts, pa.array(texts, pa.string()), pa.array(texts, pa.string_view()), np.array(texts, object)):
        found = table.lookup_many(given_)
        found = pa.array(found).to_pylist() if not isinstance(found, (list, np.ndarray)) else list(found)
        assert found == answers


@given(st.lists(st.integers(0, 2**32 - 1), max_size=600), st.integers(0, 5), st.integers(1, 3))
def test_numbers_with_offsets_and_strides(numbers, start, step):
    table = Table({(i << 29, 4, 3): i for i in range(8)}).freeze()
    expected = [n >> 29 for n in numbers[start::step]]
    array = np.array(numbers, dtype=np.uint32)
    assert list(table.lookup_many(array[start::step])) == expected
    assert list(table.lookup_many(array.astype(">u4")[start::step])) == expected
    sliced = pa.array(numbers, pa.uint32())[start:]
    assert pa.array(table.lookup_many(sliced)).to_pylist() == [n >> 29 for n in numbers[start:]]
    text = pa.array([str(ipaddress.IPv4Address(n)) if n % 7 else None for n in numbers], pa.string())[start:]
    assert pa.array(table.lookup_many(text)).to_pylist() == [n >> 29 if n % 7 else None for n in numbers[start:]]
