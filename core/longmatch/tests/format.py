"""Looks up addresses in a file of longmatch: prefix and values. Plain Python, written from docs/format.md.

format.py FILE [ADDRESS...]    "-" reads addresses from standard input; without any, prints all routes
"""
import ipaddress, json, struct, sys
from bisect import bisect_right

M = (1 << 64) - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
def rotl(x, r): return (x << r | x >> 64 - r) & M
def step(lane, word): return rotl((lane + word * P2) & M, 31) * P1 & M
def xxh64(b):
    h, at = P5, len(b) // 32 * 32
    if at:
        v = [(P1 + P2) & M, P2, 0, -P1 & M]
        for stripe in struct.iter_unpack("<4Q", b[:at]): v = [step(a, w) for a, w in zip(v, stripe)]
        h = sum(rotl(a, r) for a, r in zip(v, (1, 7, 12, 18))) & M
        for a in v: h = ((h ^ step(0, a)) * P1 + P4) & M
    h = (h + len(b)) & M
    while at + 8 <= len(b): h, at = (rotl(h ^ step(0, struct.unpack_from("<Q", b, at)[0]), 27) * P1 + P4) & M, at + 8
    if at + 4 <= len(b):
        h, at = (rotl(h ^ struct.unpack_from("<I", b, at)[0] * P1 & M, 23) * P2 + P3) & M, at + 4
    for byte in b[at:]: h = rotl(h ^ byte * P5 & M, 11) * P1 & M
    h = (h ^ h >> 33) * P2 & M
    return (h := (h ^ h >> 29) * P3 & M) ^ h >> 32

def unpack(section, count):  # a packed array
    words, numbers = [w for w, in struct.iter_unpack("<Q", section)], []
    def bits(place, at, width):
        word, offset = place + at * width // 64, at * width % 64
        pair = words[word] | (words[word + 1] if offset + width > 64 else 0) << 64 if width else 0
        return pair >> offset & (1 << width) - 1
    for i in range(count):
        least, head = words[i // 64 * 2], words[i // 64 * 2 + 1]
        place, shift, width, index = head & (1 << 40) - 1, head >> 40 & 255, head >> 48 & 255, head >> 56
        d = bits(place + index, bits(place, i % 64, index), width) if index else bits(place, i % 64, width)
        numbers.append(least + (d << shift))
    return numbers

class Table:
    def __init__(self, data):
        magic, version, count, length, flags, self.rows, n4, n6, columns, strings, zero, checksum = \
            struct.unpack_from("<8sIIQIIIIIIQQ", data)
        assert magic == b"\x89LMT\r\n\x1a\n" and version == 3 and length == len(data) and zero == 0
        end = 64 + 32 * count
        assert xxh64(data[:56] + data[64:end]) == checksum, "header"
        self.s, self.routes, self.keep_mapped = {}, flags & 1, flags & 2
        for kind, index, _, offset, size, checksum in struct.iter_unpack("<4sHHQQQ", data[64:end]):
            assert not any(data[end:offset]) and offset % 64 == 0, "padding"
            end = offset + size
            self.s[kind.decode(), index] = data[offset:end]
            assert xxh64(data[offset:end]) == checksum, kind
        assert not any(data[end:]), "padding"
        words = lambda kind, form, index=0: [w for w, in struct.iter_unpack("<" + form, self.s[kind, index])]
        packed = lambda kind, count, index=0: unpack(self.s[kind, index], count)
        bits = packed("4pre", n4) + [high << 64 | low for high, low in zip(packed("6pre", n6), packed("6low", n6))]
        self.keys = list(zip([4] * n4 + [6] * n6, bits, packed("plen", n4 + n6)))
        self.row_of, offsets = packed("prow", n4 + n6), packed("soff", strings + 1)
        self.strings = [self.s["text", 0][a:b].decode() for a, b in zip(offsets, offsets[1:])]
        heads = list(struct.iter_unpack("<II", self.s["colm", 0]))
        self.columns, self.cells = [self.strings[name] for _, name in heads], []
        for i, (ty, _) in enumerate(heads):
            cells = packed("cell", self.rows, i)
            if ty > 2: cells = [struct.unpack("<" + "qd"[ty - 3], struct.pack("<Q", c))[0] for c in cells]
            nulls = self.s.get(("null", i), bytes(-(-self.rows // 8)))
            self.cells.append([(self.strings[c - 1] if c else None) if ty == 1 else
                               None if nulls[row // 8] >> row % 8 & 1 else c for row, c in enumerate(cells)])
        self.engine = {name: words(name, "I") for name in ("4par", "4roo", "4wor")}

    def longest(self, family, addr):  # in the sorted routes: the number of the route, or None
        width = {4: 32, 6: 128}[family]
        length = width
        while (at := bisect_right(self.keys, (family, addr >> width - length << width - length, length)) - 1) >= 0:
            found, bits, size = self.keys[at]
            if found != family: return None
            if bits >> width - size == addr >> width - size: return at
            length = min(length - 1, width - (bits ^ addr).bit_length())

    def compiled(self, addr):  # Folio's compiled IPv4 routes: the id, 0 for no route
        (bits, size, id_bits), pairs = self.engine["4par"][:3], self.engine["4par"][8:]
        entry, below = self.engine["4roo"][addr >> 32 - bits], addr & (1 << 32 - bits) - 1
        if 16 <= entry >> 27 <= 21:  # a page of entries
            cut = (entry >> 27) - 12
            entry, below = self.engine["4wor"][(entry & 0x7FFFFFF) + (below >> cut)], below & (1 << cut) - 1
        kind, place = entry >> 27, entry & 0x7FFFFFF
        if kind == 24:  # a list
            half = place & -place
            words = self.engine["4wor"][place - half:][:2 * half]
            return next(word for word in words if word >> id_bits <= below) & (1 << id_bits) - 1
        at = (place + (below >> kind)) * size
        code = place if kind == 31 else int.from_bytes(self.s["4cod", 0][at:at + size], "little")
        return dict(zip(pairs[::2], pairs[1::2])).get(code, code)

    def row(self, number): return {name: cells[number] for name, cells in zip(self.columns, self.cells)}

def show(table, at):
    family, bits, length = table.keys[at]
    addr = (ipaddress.IPv4Address if family == 4 else ipaddress.IPv6Address)(bits)
    return f"{addr}/{length} " + json.dumps(table.row(table.row_of[at]), ensure_ascii=False)

def main(path, *addrs):
    with open(path, "rb") as file: table = Table(file.read())
    for text in (sys.stdin.read().split() if addrs == ("-",) else addrs):
        addr = ipaddress.ip_address(text)
        addr = addr if table.keep_mapped else getattr(addr, "ipv4_mapped", None) or addr
        at = table.longest(addr.version, int(addr))
        if addr.version == 4:  # the compiled form and the routes agree
            wanted = 0 if at is None else at + 1 if table.routes else table.row_of[at] + 1
            assert table.compiled(int(addr)) == wanted, (text, table.compiled(int(addr)), wanted)
        print("-" if at is None else show(table, at))
    if not addrs: [print(show(table, at)) for at in range(len(table.keys))]

main(*sys.argv[1:])
