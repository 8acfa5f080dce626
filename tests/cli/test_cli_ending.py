import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_run import Run, command, completed, edge, environment, process, write_network

RUN_MAIN = "import sys\nsys.argv[0] = 'forestcoll'\nfrom forestcoll.cli import main\n{before}\nmain()\n"
FULL = Path("/dev/full")

needs_dev_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def after(before: str, *arguments: object) -> list[str]:
    """The words that run a command in a process that first executes `before`."""
    return [sys.executable, "-c", RUN_MAIN.format(before=before), *map(str, arguments)]


def started(words: list[str]) -> subprocess.Popen[str]:
    """Start a process whose output is read while it runs."""
    return subprocess.Popen(  # noqa: S603 (our own command)
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )


@needs_dev_full
def test_a_full_disk_under_the_output() -> None:
    complaint = process("generate", "ring:nodes=3", "-o", FULL, "--json").complaint()
    assert complaint == "/dev/full: cannot be written: No space left on device"


@needs_dev_full
@pytest.mark.parametrize("words", [["optimum", "ring:nodes=3", "--json"], ["topologies"], ["--version"], ["--help"]])
def test_a_full_disk_under_standard_output(words: list[str]) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(  # noqa: S603 (our own command)
            command(*words), stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), timeout=60, check=False
        )
    complaint = Run(done.returncode, "", done.stderr).complaint()
    assert complaint == "cannot write the result: No space left on device"


def test_a_disk_that_fills_up_leaves_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text("older")
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    run = completed(after(limit, "generate", "dgx-a100:boxes=2", "-o", path, "--json"))
    assert run.complaint() == f"{path}: cannot be written: File too large"
    assert path.read_text() == "older"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_no_memory_is_said_in_one_line() -> None:
    scarce = "import forestcoll.files as files\ndef fail(*_):\n    raise MemoryError\nfiles._read_text = fail"
    complaint = completed(after(scarce, "verify", "schedule.json")).complaint()
    assert complaint == "out of memory; try a smaller network or fewer trees"


DEFECT = "import forestcoll.files as files\ndef fail(*_, **__):\n    1 / 0\nfiles._open_for_reading = fail"


def test_a_defect_of_ours_is_said_in_one_line() -> None:
    complaint = completed(after(DEFECT, "verify", Path(__file__))).complaint()
    assert complaint == (
        "defect in forestcoll: ZeroDivisionError: division by zero; please report it with the input that led here "
        "(FORESTCOLL_TRACEBACK=1 shows the traceback)"
    )


def test_the_traceback_of_a_defect_can_be_had() -> None:
    run = completed(after(DEFECT, "verify", Path(__file__)), FORESTCOLL_TRACEBACK="1")
    assert (run.status, run.out) == (1, "")
    assert run.err.startswith("Traceback ")
    assert run.err.endswith("ZeroDivisionError: division by zero\n")


def interrupted(*arguments: object) -> Run:
    """Start a command, interrupt it after a while, and see that it ends at once."""
    listen = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)"  # even where a shell ignores it
    with started(after(listen, *arguments)) as run:
        time.sleep(1.5)
        assert run.poll() is None
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
        took = time.monotonic() - began
    assert took < 1.5
    return Run(run.returncode, out, err)


def test_ctrl_c_ends_a_long_run_at_once_and_leaves_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text("older")
    run = interrupted("generate", "dgx-a100:boxes=512", "-o", path, "--json")
    assert run.complaint(status=130) == "interrupted; nothing was written"
    assert path.read_text() == "older"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_ctrl_c_ends_a_search_through_many_numbers_of_trees(tmp_path: Path) -> None:
    edges = [edge("a", "b", 999_999_937), edge("b", "c", 999_999_929), edge("c", "a", 999_999_893)]
    path = write_network(tmp_path, edges, "abc")
    run = interrupted("optimum", path, "--max-trees", 10**9)
    assert run.complaint(status=130) == "interrupted; nothing was written"


def test_a_reader_that_goes_away_is_no_error_message() -> None:
    words = command("topology", "torus:dims=32x32")
    with started(words) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert run.stdout.readline() == "{\n"
        run.stdout.close()
        assert run.stderr.read() == ""
        assert run.wait(timeout=30) == 1


def test_a_closed_standard_output_is_said() -> None:
    closing = "import os, sys\nos.close(1)\nsys.stdout = None"
    complaint = completed(after(closing, "optimum", "ring:nodes=3")).complaint()
    assert complaint == "cannot write the result: Bad file descriptor"


@pytest.mark.skipif(os.name != "posix" or not Path("/dev/stdout").exists(), reason="this system has no /dev/stdout")
def test_an_output_goes_into_a_pipe() -> None:
    run = process("topology", "ring:nodes=3", "-o", "/dev/stdout")
    assert (run.status, run.err) == (0, "")
    assert json.loads(run.out) == json.loads(process("topology", "ring:nodes=3").out)
