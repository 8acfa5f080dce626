"""What commands write: in every encoding, after signals, on full disks, and within the limit of memory."""

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
from cli_run import command, edge, environment, process, run_command, write_network, written

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


def test_every_encoding_of_standard_output_is_accepted(tmp_path: Path) -> None:
    """Characters that the encoding does not have are question marks."""
    path = tmp_path / "sché-\u2264.json"
    for encoding in ENCODINGS:
        run = run_command("generate", "ring:nodes=3", "-o", path, encoding=encoding)
        assert (run.status, run.err) == (0, ""), encoding
        assert "written" in run.out, encoding
        assert json.loads(path.read_text())["algbw"] == "3"
    network = write_network(tmp_path, [edge("a", "b")], graph={"format": "forestcoll.topology/1", "name": "x\u2264é"})
    done = subprocess.run(  # noqa: S603 (our own command)
        command("optimum", network), capture_output=True, env=environment(PYTHONIOENCODING="latin-1"), check=True
    )
    assert done.stdout.startswith("x?é: ".encode("latin-1"))


def test_a_file_on_standard_output_is_utf_8_in_every_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ENCODINGS:
        written = io.BytesIO()
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding=encoding))
        write_text(STANDARD_STREAM, ["é\u2264", "\n"])
        assert written.getvalue().decode() == "é\u2264\n"


def test_names_that_are_no_text_are_printed(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge("a", "b")], graph={"format": "forestcoll.topology/1", "name": "\ud800"})
    for words in (["optimum", path], ["view", path, "-o", tmp_path / "a.svg"], ["topology", path]):
        assert run_command(*words).status == 0
    odd = os.fsdecode(bytes(tmp_path) + b"/\xff.json")
    Path(odd).write_text('{"directed": false, "graph": {"format": "forestcoll.topology/1"}, "nodes": [{"id": 0}]}')
    assert 'needs "edges"' in process("optimum", odd).error_line()


WAITING = r"""
import os, signal, time
import forestcoll.presentation.printing as printing
import forestcoll.schedule.files as files
from forestcoll.cli import main
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # it is ignored where nohup starts the tests
def slow(*_, **__):
    yield "half"
    os.write(1, b"writing\n")  # print would keep a lock that the end of the process needs
    for _ in range(300):
        time.sleep(0.2)  # a signal just before a sleep does not end it
"""
WHILE_WRITING = f"{WAITING}files._pieces_of = slow\nmain()\n"
AFTERWARDS = f"{WAITING}printing.print_page = lambda *_, **__: list(slow())\nmain()\n"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("code", "number", "status"),
    [
        *((WHILE_WRITING, number, -number) for number in (signal.SIGTERM, signal.SIGHUP)),
        (WHILE_WRITING, signal.SIGINT, 130),
        (AFTERWARDS, signal.SIGTERM, -signal.SIGTERM),
        (AFTERWARDS, signal.SIGINT, 1),
    ],
    ids=["TERM", "HUP", "INT", "TERM afterwards", "INT afterwards"],
)
def test_a_signal_leaves_all_files_of_a_bundle_or_only_the_old_one(
    code: str, number: signal.Signals, status: int, tmp_path: Path
) -> None:
    bundle, members = tmp_path / "bundle.json", tmp_path / "members"
    bundle.write_text("older")
    words = [sys.executable, "-c", code, "generate", "ring:nodes=4", "--groups", "0,1;2,3"]
    words += ["-o", f"members={members}", "-o", str(bundle)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as run:  # noqa: S603 (our own command)
        assert run.stdout is not None
        assert run.stdout.readline() == "writing\n"
        assert bundle.read_text() == "older" or code == AFTERWARDS
        run.send_signal(number)
        _, err = run.communicate(timeout=30)
    found = sorted(str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*"))
    if code == WHILE_WRITING:
        assert found == ["bundle.json"]
        assert bundle.read_text() == "older"
        message = "interrupted; nothing was written"
    else:
        assert found == ["bundle.json", "members", "members/group-0.json", "members/group-1.json"]
        assert json.loads(bundle.read_text())["members"]
        message = "interrupted after output was written"
    assert run.returncode == status
    assert err == (f"forestcoll: {message}\n" if number == signal.SIGINT else "")


SETS = [
    "generate ring:nodes=4 --groups 0,1;2,3 -o members=members -o bundle.json",
    "export ring.json --to chakra -o trace",
    "export ring.json --to astra-sim -o folder",
    "export ring.json --to mscclpp-json -o plan.json -o snippet=plan.py",
    "simulate ring.json -o a.csv -o links=b.csv -o trace=c.json -o gantt=d.svg",
    "design steps.json --by line-graph=1 -o a.json -o topology=b.json",
    "design --nodes 8 --degree 2 -o topology=a.json -o plot=b.svg",
    "one-port ring:nodes=3 --source 0 -o picture=a.svg -o b.json",
    "one-port ring:nodes=2 --source 0 --size 1MB -o picture=a.svg -o b.json",
    "tune ring:nodes=2 --sizes 1MB -o tuned",
]


@pytest.mark.parametrize("line", SETS)
def test_a_disk_that_is_full_before_the_last_file_leaves_none(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(Path("ring.json"), "generate", "ring:nodes=3")
    written(Path("steps.json"), "generate", "ring:nodes=4", "--method", "bfb")
    replace, before, counted, most = Path.replace, sorted(tmp_path.iterdir()), [0], [2]

    def full(self: Path, target: Path) -> Path:
        counted[0] += 1
        if counted[0] == most[0]:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    failed = run_command(*line.split())
    assert (failed.status, failed.out) == (1, "")
    assert failed.err.endswith("cannot be written: No space left on device\n")
    assert sorted(tmp_path.iterdir()) == before
    counted[0], most[0] = 0, 0
    assert run_command(*line.split()).status == 0
    assert counted[0] > 1
    assert len(list(tmp_path.iterdir())) > len(before)


def test_a_file_of_some_kilobytes_cannot_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "lists.json.gz"
    path.write_bytes(gzip.compress(b'{"nodes": [' + b"[]," * 3_000_000 + b"[]]}", 9))
    assert path.stat().st_size < 10**5
    for words in (["optimum"], ["verify"], ["import"], ["view", "-o", tmp_path / "a.svg"]):
        began = time.process_time()
        message = run_command(*words, path, memory="250MB").error_line()
        assert "of memory; the limit is 250 MB, and FORESTCOLL_MAX_MEMORY" in message
        assert time.process_time() - began < 10


def test_the_limit_of_memory_is_an_option_of_every_command(tmp_path: Path) -> None:
    path = write_network(tmp_path, [edge(*link) for link in LINKS], range(4), [4, 5, 6], directed=True)
    assert "the memory limit 100 MB is less than" in run_command("optimum", path, memory="100MB").error_line()
    assert run_command("optimum", path, memory="1GB").status == 0


@pytest.mark.parametrize(
    "words",
    ["generate ring:nodes=4 --groups 0,1;2,3 -o members={}", "one-port ring:nodes=3 --source 0 -o picture={}.svg"],
)
def test_the_report_names_outputs_of_every_kind(words: str, tmp_path: Path) -> None:
    run = run_command(*words.format(tmp_path / "out").split())
    line = next(each for each in run.out.splitlines() if each.split()[:1] == ["written"])
    assert line.split()[1:] == [words.format(tmp_path / "out").rpartition("=")[2]]
