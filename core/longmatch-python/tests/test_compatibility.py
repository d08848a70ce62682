"""The semantics of pytricia, py-radix and pyasn: what programs that move to this package rely on, and each difference.

Where the other package is installed, both are asked the same; the differences of this one are deliberate and asserted here.
"""

import gzip
import ipaddress
import random

import pytest

import longmatch
from longmatch import Table

FAMILIES = {4: (32, ipaddress.IPv4Network, ipaddress.IPv4Address), 6: (128, ipaddress.IPv6Network, ipaddress.IPv6Address)}


class Operations:
    """Random prefixes and addresses that lie close to each other, of one family."""

    def __init__(self, family, seed):
        self.random = random.Random(seed)
        self.width, self.network, self.address = FAMILIES[family]

    def number(self):
        # A few high bits, so that prefixes cover each other.
        high = self.random.getrandbits(6) << (self.width - 6)
        return high | (self.random.getrandbits(4) << self.random.randrange(self.width - 8))

    def prefix(self):
        return str(self.network((self.number(), self.random.randint(0, self.width)), strict=False))

    def host(self):
        return str(self.address(self.number()))


def outcome(call, *arguments):
    """The answer, or that the key is missing."""
    try:
        return call(*arguments)
    except KeyError:
        return KeyError


def normal(prefix):
    """A prefix as RFC 5952 writes it: pytricia writes ::0.10.0.0/126 for ::a:0/126."""
    return prefix and str(ipaddress.ip_network(prefix))


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("seed", range(4))
def test_pytricia_answers_alike(family, seed):
    pytricia = pytest.importorskip("pytricia")
    make = Operations(family, seed)
    theirs, ours = pytricia.PyTricia(make.width), Table()
    for step in range(1500):
        prefix, host = make.prefix(), make.host()
        if step % 4 < 2:
            theirs[prefix] = ours[prefix] = step
        elif step % 4 == 2:
            assert outcome(theirs.delete, prefix) == outcome(ours.delete, prefix)
        for key in (prefix, host):
            assert theirs.get(key, None) == ours.get(key)
            assert normal(theirs.get_key(key)) == ours.get_key(key)
            assert (key in theirs) == (key in ours)
            assert theirs.has_key(key) == ours.has_key(key)
        if theirs.has_key(prefix):
            assert normal(theirs.parent(prefix)) == ours.parent(prefix)
            assert sorted(map(normal, theirs.children(prefix))) == sorted(ours.children(prefix))
        assert len(theirs) == len(ours)
    assert {normal(key): theirs[key] for key in theirs.keys()} == dict(ours)
    frozen = ours.freeze()
    hosts = [make.host() for _ in range(500)]
    assert frozen.lookup_many(hosts) == [theirs.get(host, None) for host in hosts]


def test_pytricia_differences():
    """Each is a row of the table in docs/python.md."""
    pytricia = pytest.importorskip("pytricia")
    theirs, ours, loose = pytricia.PyTricia(), Table(), Table(strict=False)
    # Host bits: pytricia keeps the text and ignores them in matches.
    theirs["10.0.0.1/8"] = loose["10.0.0.1/8"] = 1
    assert theirs.keys() == ["10.0.0.1/8"] and theirs.get_key("10.9.9.9") == "10.0.0.1/8"
    assert loose.keys() == ["10.0.0.0/8"] and loose.get_key("10.9.9.9") == "10.0.0.0/8"
    with pytest.raises(ValueError, match="host bits"):
        ours["10.0.0.1/8"] = 1
    # Integers without a family, and packed keys with a length.
    assert theirs[0x0A000001] == 1
    with pytest.raises(TypeError, match="needs its family"):
        loose[0x0A000001]
    assert loose[(0x0A000001, 4)] == 1 and loose[b"\x0a\0\0\1"] == 1
    raw = pytricia.PyTricia(32, 2, True)
    raw[(b"\x0a\0\0\0", 8)] = 1
    assert raw[(b"\x0a\1\1\1", 32)] == 1
    loose[(int.from_bytes(b"\x0b\0\0\0", "big"), 4, 8)] = 2
    assert loose["11.0.0.1"] == 2
    # Frozen: pytricia's own table refuses changes and thaws in place; ours stays as it is, beside a compiled one.
    theirs.freeze()
    with pytest.raises(ValueError):
        theirs["11.0.0.0/8"] = 2
    theirs.thaw()
    frozen = loose.freeze()
    loose["12.0.0.0/8"] = 3
    assert frozen.get("12.0.0.1") is None and not hasattr(frozen, "insert") and frozen.thaw().get("11.0.0.1") == 2
    # Families: one in a table of pytricia, both in ours.
    loose["2001:db8::/32"] = "six"
    assert (loose["2001:db8::1"], loose["10.1.1.1"]) == ("six", 1)
    # Deletes of what is not there.
    for table in (theirs, ours):
        with pytest.raises(KeyError):
            del table["99.0.0.0/8"]


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("seed", range(4))
def test_py_radix_answers_alike(family, seed):
    radix = pytest.importorskip("radix")
    make = Operations(family, seed)
    theirs, ours = radix.Radix(), Table()
    for step in range(1500):
        prefix, host = make.prefix(), make.host()
        if step % 3:
            theirs.add(prefix).data["v"] = step
            ours[prefix] = {"v": step}
        else:
            try:
                theirs.delete(prefix)
            except KeyError:
                with pytest.raises(KeyError):
                    ours.delete(prefix)
            else:
                ours.delete(prefix)
        exact = theirs.search_exact(prefix)
        assert (exact and exact.data) == (dict(ours)[prefix] if ours.has_key(prefix) else None)
        best = theirs.search_best(host)
        assert (best and best.prefix, best and best.data) == (ours.get_key(host), ours.get(host))
        assert [node.prefix for node in theirs.search_covering(prefix)][::-1] == [key for key, _ in ours.covering(prefix)]
        assert sorted(node.prefix for node in theirs.search_covered(prefix)) == sorted(key for key, _ in ours.covered(prefix))
        worst = theirs.search_worst(host)
        assert (worst and worst.prefix) == next((key for key, _ in ours.covering(host)), None)
    assert sorted(theirs.prefixes()) == sorted(ours.keys())
    # Deleting while iterating is safe here: the keys are a list.
    for key in ours:
        del ours[key]
    assert len(ours) == 0


ROUTES = {"1.0.0.0/24": 13335, "1.0.4.0/22": 38803, "1.0.5.0/24": 38803, "8.8.8.0/24": 15169, "2001:4860::/32": 15169}


def test_pyasn_answers_alike(tmp_path):
    path = tmp_path / "ipasn.dat"
    path.write_text("; IP-ASN32-DAT file\n" + "".join(f"{prefix}\t{asn}\n" for prefix, asn in ROUTES.items()))
    packed = tmp_path / "ipasn.dat.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    ours = longmatch.load(path)
    assert longmatch.load(packed) == ours
    hosts = ["1.0.0.1", "1.0.5.9", "1.0.7.255", "1.0.8.0", "8.8.8.8", "2001:4860::1", "::1"]
    expected = [(13335, "1.0.0.0/24"), (38803, "1.0.5.0/24"), (38803, "1.0.4.0/22"), None, (15169, "8.8.8.0/24"), (15169, "2001:4860::/32"), None]
    answers = [ours.lookup_prefix(host) for host in hosts]
    assert answers == [found and (found[1], found[0]) for found in expected]
    # The prefixes of an AS.
    assert {key for key, asn in ours.items() if asn == 38803} == {"1.0.4.0/22", "1.0.5.0/24"}
    pyasn = pytest.importorskip("pyasn")
    theirs = pyasn.pyasn(str(path))
    # pyasn gives a pair of None where this package gives None, and the AS before the prefix.
    assert [theirs.lookup(host) for host in hosts] == [found or (None, None) for found in expected]
    assert theirs.get_as_prefixes(38803) == {"1.0.4.0/22", "1.0.5.0/24"}
    with pytest.raises(ValueError):
        theirs.lookup("no address")
    with pytest.raises(ValueError):
        ours.lookup("no address")
