#!/usr/bin/env python3
"""Writes the routes of a configuration of the Click modular router as `prefix next-hop` lines.

    python3 click-routes.py < router.click              the first routing table
    python3 click-routes.py monitor < router.click      the element with this name

A gateway and an output port together are the next hop, written GATEWAY%PORT, because Click's tables
give a next hop of their own to each pair; without a gateway, the port is the next hop.
"""

import re
import sys
from ipaddress import IPv4Address, IPv4Network

CLASSES = "(?:BSD|DXR|Direct|Linear|Radix|Range|Sorted|Static)IPLookup2?|IPRouteTable|LookupIPRoute(?:MP)?"
TABLE = re.compile(rf"(?:([\w@/]+)\s*::\s*)?\b({CLASSES})\s*\(")
# Comments count as white space; quotations go, because they may contain anything.
IGNORED = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'|//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*', re.S | re.M)


def prefix(text):
    """ADDR, ADDR/LENGTH or ADDR/NETMASK; ADDR may lack its last numbers: 10.1/16."""
    address, slash, mask = text.partition("/")
    if "." in mask:
        bits = f"{int(IPv4Address(mask)):032b}"
        if "01" in bits:
            raise ValueError(f"{mask} is not a netmask")
        mask = bits.count("1")
    address += ".0" * (3 - address.count(".") if slash else 0)
    return IPv4Network(f"{address}/{mask if slash else 32}")


def route(text):
    """ADDR/MASK [GATEWAY] OUT."""
    if not re.fullmatch(r"\S+(\s+\S+)?\s+[0-9]+", text):
        raise ValueError("expected ADDR/MASK [GATEWAY] OUT")
    network, *gateway, port = text.split()
    hops = [str(IPv4Address(hop)) for hop in gateway if hop not in ("-", "0.0.0.0")]
    return f"{prefix(network)} {'%'.join([*hops, port])}\n"


text = IGNORED.sub(" ", sys.stdin.read())
tables = [it for it in TABLE.finditer(text) if sys.argv[1:] in ([], [it[1] or it[2]])]
if not tables:
    sys.exit("the configuration has no such routing table")
arguments, end, _ = text[tables[0].end() :].partition(")")
if not end:
    sys.exit("the routing table does not end: the file is cut off")
lines = []
for argument in filter(None, map(str.strip, arguments.split(","))):
    try:
        lines.append(route(argument))
    except ValueError as error:
        sys.exit(f"'{argument}' is not a route: {error}")
sys.stdout.writelines(lines)
