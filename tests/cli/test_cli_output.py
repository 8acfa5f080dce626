import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_run import command, completed, edge, environment, process, run_command, write_network

from forestcoll.base.files import STANDARD_STREAM, write_text

LINK_TEXT = "0-1-8 1-2-4 2-3-6 3-4-7 4-5-8 5-6-4 6-0-9 6-1-1 2-0-6 0-4-2 4-1-9 2-4-2 5-4-9 4-5-3 6-4-4"
LINKS = [tuple(map(int, link.split("-"))) for link in LINK_TEXT.split(" ")]
"""A network on which HiGHS prints a line to standard output if its presolve rule for duplicate columns is on."""


def test_libraries_print_nothing_to_standard_output(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge(*link) for link in LINKS], range(4), [4, 5, 6], directed=True)
    run = process("optimum", path, "--collective", "reduce-scatter", "--json")
    assert json.loads(run.out)["algbw"] == "16/3"
    assert run.err == ""


ENCODINGS = ["ascii", "latin-1", "cp1252", "utf-16", "utf-8"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_of_standard_output_is_accepted(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "sché-\u2264.json"
    words = command("generate", "ring:nodes=3", "-o", path)
    done = subprocess.run(  # noqa: S603 (our own command)
        words, capture_output=True, env=environment(PYTHONIOENCODING=encoding), timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "written" in done.stdout.decode("utf-8" if encoding == "ascii" else encoding)  # click prefers UTF-8 to ASCII
    assert json.loads(path.read_text())["algbw"] == "3"


def test_a_file_on_standard_output_is_utf_8_in_every_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ENCODINGS:
        written = io.BytesIO()
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding=encoding))
        write_text(STANDARD_STREAM, ["é\u2264", "\n"])
        assert written.getvalue().decode() == "é\u2264\n"


def test_names_that_are_no_text_are_printed(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b")], graph={"format": "forestcoll.topology/1", "name": "\ud800"})
    for words in (["optimum", path], ["view", path, "-o", tmp_path / "a.svg"], ["topology", path]):
        assert process(*words).status == 0
    odd = os.fsdecode(bytes(tmp_path) + b"/\xff.json")
    Path(odd).write_text('{"directed": false, "graph": {"format": "forestcoll.topology/1"}, "nodes": [{"id": 0}]}')
    assert process("optimum", odd).status == 1


ENDLESS = r"""
import os, signal, time
import forestcoll.schedule.files as files
from forestcoll.cli import main
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # it is ignored where nohup starts the tests
def slow(schedule):
    yield "half"
    os.write(1, b"writing\n")  # print would keep a lock that the end of the process needs
    for _ in range(300):
        time.sleep(0.2)  # a signal just before a sleep does not end it
files._pieces_of = slow
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_old_file_and_nothing_else(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text("older")
    words = [sys.executable, "-c", ENDLESS, "generate", "ring:nodes=3", "-o", str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as run:  # noqa: S603 (our own command)
        assert run.stdout is not None
        assert run.stdout.readline() == "writing\n"
        assert len(list(tmp_path.iterdir())) == 2
        run.send_signal(number)
        run.communicate(timeout=30)
    assert run.returncode == (130 if number == signal.SIGINT else -number)
    assert path.read_text() == "older"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


AFTERWARDS = r"""
import os, signal, time
import forestcoll.presentation.printing as printing
from forestcoll.cli import main
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # it is ignored where nohup starts the tests
def slow(*_, **__):
    os.write(1, b"writing\n")
    for _ in range(300):
        time.sleep(0.2)
printing.print_page = slow
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("code", [ENDLESS, AFTERWARDS])
def test_a_signal_leaves_all_files_of_a_bundle_or_none(code: str, number: signal.Signals, tmp_path: Path) -> None:
    words = [sys.executable, "-c", code, "generate", "ring:nodes=4", "--groups", "0,1;2,3"]
    words += ["--members", str(tmp_path / "members"), "-o", str(tmp_path / "bundle.json")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as run:  # noqa: S603 (our own command)
        assert run.stdout is not None
        assert run.stdout.readline() == "writing\n"
        run.send_signal(number)
        _, err = run.communicate(timeout=30)
    written = sorted(str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*"))
    if code == ENDLESS:
        assert written == []
        status, message = 130, "interrupted; nothing was written"
    else:
        assert written == ["bundle.json", "members", "members/group-0.json", "members/group-1.json"]
        status, message = 1, "interrupted after output was written"
    assert run.returncode == (status if number == signal.SIGINT else -number)
    assert err == (f"forestcoll: {message}\n" if number == signal.SIGINT else "")


SETS = [
    ["generate", "ring:nodes=4", "--groups", "0,1;2,3", "--members", "members", "-o", "bundle.json"],
    ["export", "ring.json", "--to", "chakra", "-o", "trace"],
    ["export", "ring.json", "--to", "astra-sim", "-o", "folder"],
    ["export", "ring.json", "--to", "mscclpp-json", "-o", "plan.json", "--snippet", "plan.py"],
    ["simulate", "ring.json", "--csv", "a.csv", "--links", "b.csv", "--trace", "c.json", "--gantt", "d.svg"],
    ["expand", "steps.json", "--by", "line-graph=1", "-o", "a.json", "--topology-output", "b.json"],
    ["find-topology", "--no-cache", "--nodes", "8", "--degree", "2", "--topology-output", "a.json", "--plot", "b.svg"],
    ["broadcast-series", "ring:nodes=3", "--source", "0", "--picture", "a.svg", "-o", "b.json"],
    ["pipelined-broadcast", "ring:nodes=3", "--source", "0", "--size", "1MB", "--plot", "a.svg", "-o", "b.json"],
    ["tune", "ring:nodes=3", "--sizes", "1MB", "-o", "tuned"],
]


@pytest.mark.parametrize("words", SETS, ids=[f"{each[0]}-{each[-1]}" for each in SETS])
def test_a_disk_that_is_full_before_the_last_file_leaves_none(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command("generate", "ring:nodes=3", "-o", "ring.json").status == 0
    assert run_command("generate", "ring:nodes=4", "--method", "bfb", "-o", "steps.json").status == 0
    replace, before, counted = Path.replace, sorted(tmp_path.iterdir()), [0]

    def full(self: Path, target: Path) -> Path:
        counted[0] += 1
        if counted[0] == most[0]:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    most = [2]
    failed = run_command(*words)
    assert (failed.status, failed.out) == (1, "")
    assert failed.err.endswith("cannot be written: No space left on device\n")
    assert sorted(tmp_path.iterdir()) == before
    counted[0], most[0] = 0, 0
    assert run_command(*words).status == 0
    assert counted[0] > 1
    assert len(list(tmp_path.iterdir())) > len(before)


def test_a_file_of_some_kilobytes_cannot_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "lists.json.gz"
    path.write_bytes(gzip.compress(b'{"nodes": [' + b"[]," * 20_000_000 + b"[]]}", 9))
    assert path.stat().st_size < 10**5
    for words in (["optimum"], ["verify"], ["import"], ["view", "-o", tmp_path / "a.svg"]):
        began = time.process_time()
        message = run_command(*words, path, "--max-memory", "1.2GB").error_line()
        assert "of memory; the limit is 1.2 GB, and --max-memory" in message
        assert time.process_time() - began < 30


def test_the_limit_of_memory_is_an_option_of_every_command(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge(*link) for link in LINKS], range(4), [4, 5, 6], directed=True)
    assert "the memory limit 100 MB is less than" in run_command("optimum", path, "--max-memory", "100MB").error_line()
    assert run_command("optimum", path, "--max-memory", "1GB").status == 0
    message = run_command("optimum", path, "--max-memory", "much").error_line(2)
    assert message.startswith("Invalid value for '--max-memory': 'much'; expected a size of 1 byte or more")
    assert "--max-memory" in run_command("what-if", "--help").out


def test_without_a_home_directory_the_finder_works() -> None:
    homeless = "import os, pwd\nfor name in ('HOME', 'XDG_CACHE_HOME'):\n    os.environ.pop(name, None)\n"
    homeless += "def unknown(*_):\n    raise KeyError\npwd.getpwuid = unknown\n"
    run = completed([sys.executable, "-c", f"{homeless}from forestcoll.cli import main\nmain()", "find-topology"])
    assert run.status == 2
    words = ["find-topology", "--nodes", "12", "--degree", "4", "--json"]
    run = completed([sys.executable, "-c", f"{homeless}from forestcoll.cli import main\nmain()", *words])
    assert json.loads(run.out)["pareto"]
