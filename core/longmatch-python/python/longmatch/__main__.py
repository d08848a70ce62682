"""The command ``longmatch``."""

import signal
import sys
from typing import NoReturn

from ._longmatch import _command


def main() -> NoReturn:
    """Runs the command with the words of the process and ends the process with its exit code."""
    # A process that was started with SIGINT ignored goes on ignoring it. The interpreter ignores SIGPIPE, as Rust does.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_command(["longmatch", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
