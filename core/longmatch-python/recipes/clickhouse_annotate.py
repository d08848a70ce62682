"""Looks up addresses for ClickHouse, as an executable user-defined function.

    <function>
      <type>executable_pool</type><name>site_of</name><return_type>Nullable(String)</return_type>
      <argument><type>Nullable(String)</type></argument><format>TabSeparated</format>
      <command>clickhouse_annotate.py --table /var/lib/clickhouse/t.lm --column site</command>
      <send_chunk_header>1</send_chunk_header>
    </function>

ClickHouse writes the number of rows of a block and then its addresses, one a line; the program answers with a line for each.
"""

import argparse
import sys

import longmatch

ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"})


def main():
    """Answers block after block, until the input ends; takes a newer file of the table between two blocks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", required=True, help="a file written by `longmatch compile`")
    parser.add_argument("--column", help="the column of the table [default: its only one]")
    options = parser.parse_args()
    table = longmatch.open(options.table)
    for header in sys.stdin:
        table = table.reload()
        lines = [sys.stdin.readline().rstrip("\n") for _ in range(int(header))]
        answers = table.lookup_many([None if line == "\\N" else line for line in lines], column=options.column)
        cells = ("\\N" if answer is None else str(answer).translate(ESCAPES) for answer in answers)
        sys.stdout.write("".join(f"{cell}\n" for cell in cells))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
