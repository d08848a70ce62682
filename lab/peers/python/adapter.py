#!/usr/bin/env python3
"""The Python packages pytricia and py-radix as peers of longmatch: `adapter.py PACKAGE`.

It needs `reference.py`, whose loop it uses, in the same directory: `cargo xtask peers` puts both
beside the virtual environment that has the packages.
"""

import importlib.metadata
import platform
import sys

from reference import BYTES, serve


def about(package):
    return f"{package} {importlib.metadata.version(package)} in Python {platform.python_version()}"


def pytricia_table():
    import pytricia

    class PyTricia:
        """Keys are bytes, which the package takes without parsing."""

        modes = ("one",)
        about = about("pytricia")

        @staticmethod
        def route(family, network, length, value):
            return network, length, value

        @staticmethod
        def key(family, address):
            return address

        def __init__(self, family, routes):
            tree = pytricia.PyTricia(8 * BYTES[family])
            for network, length, value in routes:
                tree.insert(network, length, value)
            # Puts the nodes side by side, as the package advises once a table is complete.
            tree.freeze()
            self.get = tree.get

        def answers(self, keys):
            get = self.get
            return [get(key, 0) for key in keys]

        def walk(self, keys):
            get, total = self.get, 0
            for key in keys:
                total ^= get(key, 0)
            return total

    return PyTricia


def radix_table():
    import radix

    class Radix:
        """Keys are bytes, which the package takes without parsing. A node's values are in its
        dictionary `data`; there is no cheaper place. Arguments by position, network and length
        left out, take a fourth of the time of `packed=`."""

        modes = ("one",)
        about = about("py-radix")

        @staticmethod
        def route(family, network, length, value):
            return network, length, value

        @staticmethod
        def key(family, address):
            return address

        def __init__(self, family, routes):
            tree = radix.Radix()
            for network, length, value in routes:
                tree.add(packed=network, masklen=length).data["id"] = value
            self.search = tree.search_best

        def answers(self, keys):
            search = self.search
            nodes = (search(None, -1, key) for key in keys)
            return [node.data["id"] if node is not None else 0 for node in nodes]

        def walk(self, keys):
            search, total = self.search, 0
            for key in keys:
                node = search(None, -1, key)
                if node is not None:
                    total ^= node.data["id"]
            return total

    return Radix


TABLES = {"pytricia": pytricia_table, "py-radix": radix_table}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in TABLES:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(TABLES)}")
    serve(TABLES[sys.argv[1]]())
