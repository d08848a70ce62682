"""The programs that people write today for the jobs of `longmatch annotate`, `lookup` and `set`.

    python contenders.py NAME INPUT [TABLE ...] > OUTPUT

Each is a process of its own, as a cron job or a shell pipeline has it: it loads the table, reads INPUT and prints the
result. Only what it needs is imported.
"""

import csv
import json
import sys


def rows(path):
    """The rows of a CSV file without a header, as lists."""
    with open(path, newline="") as file:
        yield from csv.reader(file)


def trie(table):
    """The routes of a CSV file `prefix,asn` in a pytricia."""
    import pytricia

    routes = pytricia.PyTricia(32)
    for prefix, asn in rows(table):
        routes[prefix] = asn
    return routes


def database(table):
    """The lookup of an AS number in a MaxMind database."""
    import maxminddb

    reader = maxminddb.open_database(table, maxminddb.MODE_MMAP_EXT)

    def asn(ip):
        found = reader.get(ip)
        return str(found["autonomous_system_number"]) if found else None

    return asn


def loop(path, find):
    """Adds an AS number to each row of a CSV file of one column."""
    with open(path) as file:
        out = sys.stdout
        out.write(file.readline().rstrip("\n") + ",asn\n")
        for line in file:
            ip = line.rstrip("\n")
            out.write(f"{ip},{find(ip) or ''}\n")


def csv_pytricia(path, table):
    """A CSV of addresses, by pytricia."""
    loop(path, trie(table).get)


def csv_maxminddb(path, table):
    """A CSV of addresses, by the reader of MaxMind databases."""
    loop(path, database(table))


def json_pytricia(path, table):
    """NDJSON with an address in each object, by pytricia."""
    find = trie(table).get
    with open(path) as file:
        for line in file:
            event = json.loads(line)
            asn = find(event["src"]["ip"])
            event["asn"] = int(asn) if asn else None
            sys.stdout.write(json.dumps(event) + "\n")


def lookup_pytricia(path, table):
    """Addresses, one a line, with their prefixes and AS numbers, by pytricia."""
    routes = trie(table)
    with open(path) as file:
        for line in file:
            ip = line.rstrip("\n")
            prefix = routes.get_key(ip)
            sys.stdout.write(f"{ip}\t{prefix}\tAS{routes[prefix]}\n" if prefix else f"{ip}\t-\t-\n")


def polars_asof(log, table):
    """A frame with the column `ip` and its AS numbers, by `join_asof` on the starts of disjoint ranges."""
    import polars

    ranges = polars.read_csv(table, schema={"start": polars.UInt32, "asn": polars.UInt32}).set_sorted("start")
    parts = polars.col("ip").str.split_exact(".", 3).struct
    number = sum(parts.field(f"field_{i}").cast(polars.UInt32) * (1 << (24 - 8 * i)) for i in range(4))
    log = log.with_row_index().with_columns(number.alias("start")).sort("start")
    joined = log.join_asof(ranges, on="start").sort("index")
    return joined.drop("index", "start")


def csv_polars(path, table):
    """A CSV of addresses, by Polars."""
    import polars

    polars_asof(polars.read_csv(path), table).write_csv(sys.stdout.buffer)


def parquet_polars(path, table, out):
    """Parquet with a column of addresses, by Polars."""
    import polars

    polars_asof(polars.read_parquet(path), table).write_parquet(out, compression="zstd")


DUCKDB = """
    COPY (
        WITH log AS (
            SELECT *, row_number() OVER () AS place, CAST(split_part(ip, '.', 1) AS UBIGINT) * 16777216
                + CAST(split_part(ip, '.', 2) AS UBIGINT) * 65536 + CAST(split_part(ip, '.', 3) AS UBIGINT) * 256
                + CAST(split_part(ip, '.', 4) AS UBIGINT) AS start
            FROM {read}('{path}')
        )
        SELECT log.* EXCLUDE (place, start), ranges.asn
        FROM log ASOF LEFT JOIN read_csv('{table}', columns = {{'start': 'UBIGINT', 'asn': 'UINTEGER'}}) AS ranges
            ON log.start >= ranges.start
        ORDER BY place
    ) TO '{out}' ({options})
"""


def csv_duckdb(path, table):
    """A CSV of addresses, by an ASOF join of DuckDB."""
    import duckdb

    duckdb.sql(DUCKDB.format(read="read_csv", path=path, table=table, out="/dev/stdout", options="FORMAT csv, HEADER"))


def parquet_duckdb(path, table, out):
    """Parquet with a column of addresses, by an ASOF join of DuckDB."""
    import duckdb

    options = "FORMAT parquet, COMPRESSION zstd"
    duckdb.sql(DUCKDB.format(read="read_parquet", path=path, table=table, out=out, options=options))


def aggregate_ipaddress(path):
    """The fewest prefixes of a list, by the standard library."""
    from ipaddress import collapse_addresses, ip_network

    with open(path) as file:
        for prefix in collapse_addresses(ip_network(line.strip()) for line in file):
            print(prefix)


def aggregate_netaddr(path):
    """The fewest prefixes of a list, by netaddr."""
    import netaddr

    with open(path) as file:
        for prefix in netaddr.cidr_merge([line.strip() for line in file]):
            print(prefix)


def diff_dict(old, new):
    """The difference of two tables `prefix value`, by dicts."""

    def read(path):
        with open(path) as file:
            return dict(line.split() for line in file)

    old, new = read(old), read(new)
    for prefix in sorted(old.keys() | new.keys()):
        before, after = old.get(prefix), new.get(prefix)
        if before != after:
            if before is not None:
                print(f"-{prefix} {before}")
            if after is not None:
                print(f"+{prefix} {after}")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
