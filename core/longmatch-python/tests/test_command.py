"""The command longmatch, which the package installs."""

import importlib.metadata
import os
import signal
import subprocess
import sys
import time

import pytest

import longmatch

COMMAND = [sys.executable, "-m", "longmatch"]


def run(*words, **options):
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=60, **options)


def test_answers_and_exit_codes():
    found = run("lookup", "1.1.1.1")
    assert (found.stdout, found.returncode) == ("1.1.1.1\t1.1.1.0/24\t13335\tCloudflare, Inc.\n", 0)
    assert run("lookup", "10.0.0.1").returncode == 1
    refused = run("lookup", "nonsense")
    assert (refused.stdout, refused.returncode) == ("", 2)
    assert "longmatch: 'nonsense' is not an IP address" in refused.stderr
    unknown = run("lookup", "--unknown")
    assert unknown.returncode == 2
    assert "unexpected argument '--unknown'" in unknown.stderr
    assert "Usage: longmatch lookup" in unknown.stderr
    assert run("--version").stdout.startswith("longmatch ")


def test_words_that_are_not_utf8_reach_the_command(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    with open(path, "wb") as file:
        file.write(b"network,site\n10.0.0.0/8,office\n")
    found = run(b"lookup", b"--routes", path, b"10.1.1.1")
    assert (found.stdout, found.returncode) == ("10.1.1.1\t10.0.0.0/8\toffice\n", 0), found.stderr


def test_a_closed_pipe_ends_it_quietly():
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, "lookup", "--skip-invalid", "-"], **options) as process:
        process.stdout.close()
        try:
            process.stdin.write(b"1.1.1.1\n" * 100_000)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.wait(60) == 0
        assert b"Traceback" not in process.stderr.read()


def test_an_interrupt_ends_it():
    with subprocess.Popen([*COMMAND, "lookup", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # The notice of the default table: the command reads.
        assert process.stderr.readline().startswith(b"longmatch: the default table")
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
        assert process.stderr.read() == b""


def test_the_script_is_installed():
    try:
        scripts = importlib.metadata.distribution("longmatch").entry_points
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed")
    assert [(script.name, script.value) for script in scripts] == [("longmatch", "longmatch.__main__:main")]


def test_it_names_a_table_that_another_program_shortened(tmp_path):
    """The process is the command, so it has the command's handler of SIGBUS; the module in another process has none."""
    table = tmp_path / "t.lm"
    longmatch.compile("".join(f"{i >> 8 & 255}.{i & 255}.0.0/16 {i}\n" for i in range(1 << 15)).encode(), table)
    with subprocess.Popen(
        [*COMMAND, "lookup", "--table", str(table), "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(b"1.1.1.1\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"1.1.1.1\t1.1.0.0/16\t")
        os.truncate(table, 0)
        process.stdin.write(b"99.1.1.1\n")
        process.stdin.close()
        message = process.stderr.read().decode()
        assert process.wait(60) == 2, message
        assert f"longmatch: {table}: a bus error: the mapped file was shortened" in message
    longmatch.compile(b"10.0.0.0/8 1\n", table)
    program = "import longmatch, sys; t = longmatch.open(sys.argv[1]); print(open('/proc/self/status').read())"
    found = subprocess.run([sys.executable, "-c", program, table], capture_output=True, text=True, check=True)
    caught = int(next(line for line in found.stdout.splitlines() if line.startswith("SigCgt:")).split()[1], 16)
    assert caught >> (signal.SIGINT - 1) & 1 and not caught >> (signal.SIGBUS - 1) & 1


@pytest.mark.parametrize("installer", [["uv", "tool", "install"], ["pipx", "install"]], ids=lambda words: words[0])
def test_installers_of_commands(installer, tmp_path):
    """`uv tool install` and `pipx install` of the wheel give the command."""
    wheel = os.environ.get("LONGMATCH_WHEEL")
    if not wheel:
        pytest.skip("LONGMATCH_WHEEL does not name the wheel, as `cargo xtask python` does")
    pytest.importorskip(installer[0], reason=f"no {installer[0]}: pip install {installer[0]}")
    places = {"UV_TOOL_DIR": "tools", "UV_TOOL_BIN_DIR": "bin", "UV_CACHE_DIR": "cache", "PIPX_HOME": "tools", "PIPX_BIN_DIR": "bin"}
    environment = {**os.environ, **{name: str(tmp_path / directory) for name, directory in places.items()}}
    words = [sys.executable, "-m", *installer, wheel]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    command = tmp_path / "bin" / "longmatch"
    found = subprocess.run([command, "lookup", "1.1.1.1"], capture_output=True, text=True, check=True)
    assert found.stdout == "1.1.1.1\t1.1.1.0/24\t13335\tCloudflare, Inc.\n"
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert version.startswith(f"longmatch {longmatch.__version__}\n")
