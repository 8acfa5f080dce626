import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_run import Run, command, completed, edge, environment, process, without_times, write_network

RUN_MAIN = "import sys\nsys.argv[0] = 'forestcoll'\nfrom forestcoll.cli import main\n{before}\nmain()\n"
FULL = Path("/dev/full")

needs_dev_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def after(before: str, *arguments: object) -> list[str]:
    """Return the arguments that run a command in a process that first executes `before`."""
    return [sys.executable, "-c", RUN_MAIN.format(before=before), *map(str, arguments)]


def started(words: list[str]) -> subprocess.Popen[str]:
    """Start a process whose output is read while it runs."""
    return subprocess.Popen(  # noqa: S603 (our own command)
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )


@needs_dev_full
def test_a_full_disk_for_the_output_file_is_reported() -> None:
    message = process("generate", "ring:nodes=3", "-o", FULL, "--json").error_line()
    assert message == "/dev/full: cannot be written: No space left on device"


@needs_dev_full
@pytest.mark.parametrize("words", [["optimum", "ring:nodes=3", "--json"], ["topologies"], ["--version"], ["--help"]])
def test_a_full_disk_for_standard_output_is_reported(words: list[str]) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(  # noqa: S603 (our own command)
            command(*words), stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), timeout=60, check=False
        )
    message = Run(done.returncode, "", without_times(done.stderr)).error_line()
    assert message == "cannot write the result: No space left on device"


def test_a_full_disk_leaves_the_old_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text("older")
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    # The limit would hit the data of coverage.py, too, so this process is not measured.
    run = completed(after(limit, "generate", "dgx-a100:boxes=2", "-o", path, "--json"), COVERAGE_PROCESS_CONFIG="")
    assert run.error_line() == f"{path}: cannot be written: File too large"
    assert path.read_text() == "older"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_lack_of_memory_is_reported_in_one_line() -> None:
    scarce = (
        "import forestcoll.base.files as files\ndef fail(*_):\n    raise MemoryError\nfiles._open_for_reading = fail"
    )
    message = completed(after(scarce, "verify", "schedule.json")).error_line()
    assert message == "out of memory; use a smaller network, fewer trees or chunks, or smaller values of options"


DEFECT = "import forestcoll.base.files as files\ndef fail(*_, **__):\n    1 / 0\nfiles._open_for_reading = fail"


def test_an_internal_error_is_reported_in_one_line() -> None:
    message = completed(after(DEFECT, "verify", Path(__file__))).error_line()
    assert message == (
        "defect in forestcoll: ZeroDivisionError: division by zero; please report it with the input that led here "
        "(FORESTCOLL_TRACEBACK=1 shows the traceback)"
    )


def test_the_traceback_of_an_internal_error_is_available() -> None:
    run = completed(after(DEFECT, "verify", Path(__file__)), FORESTCOLL_TRACEBACK="1")
    assert (run.status, run.out) == (1, "")
    assert run.err.startswith("Traceback ")
    assert run.err.endswith("ZeroDivisionError: division by zero\n")


LISTEN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # even where a shell ignores it
print("listening", file=sys.stderr, flush=True)
"""


def seconds_of_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


def interrupted(*arguments: object) -> Run:
    """Start a command, interrupt it after a while, and check that it stops at once, by the time of the processor."""
    before, begin = seconds_of_children(), time.monotonic()
    with started(after(LISTEN, *arguments)) as run:
        assert run.stderr is not None
        assert run.stderr.readline() == "listening\n"
        time.sleep(1.5)
        assert run.poll() is None
        run.send_signal(signal.SIGINT)
        most = time.monotonic() - begin  # no more processor time than this was used before the signal
        out, err = run.communicate(timeout=60)
    assert seconds_of_children() - before < most + 1.5
    return Run(run.returncode, out, without_times(err))


def test_ctrl_c_stops_a_long_run_and_leaves_the_old_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text("older")
    run = interrupted("generate", "torus:dims=28x28", "--method", "proven", "-o", path, "--json")
    assert run.error_line(status=130) == "interrupted; nothing was written"
    assert path.read_text() == "older"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_ctrl_c_stops_a_search_over_many_numbers_of_trees(tmp_path: Path) -> None:
    edges = [edge("a", "b", 999_999_937), edge("b", "c", 999_999_929), edge("c", "a", 999_999_893)]
    path = write_network(tmp_path, edges, "abc")
    run = interrupted("optimum", path, "--max-trees", 10**9)
    assert run.error_line(status=130) == "interrupted; nothing was written"


@pytest.mark.slow
def test_ctrl_c_stops_an_export(tmp_path: Path) -> None:
    schedule, program = tmp_path / "schedule.json", tmp_path / "program.xml"
    assert not process("generate", "dgx-a100:boxes=32", "--collective", "allreduce", "-o", schedule, "--json").status
    run = interrupted("export", schedule, "--to", "msccl-xml", "--dialect", "azure", "-o", program)
    assert run.err.splitlines()[-1] == "forestcoll: interrupted; nothing was written"
    assert not program.exists()


def test_a_closed_pipe_gives_no_error_message() -> None:
    words = command("topology", "torus:dims=32x32")
    with started(words) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert run.stdout.readline() == "{\n"
        run.stdout.close()
        assert run.stderr.read() == ""
        assert run.wait(timeout=30) == 1


def test_a_closed_standard_output_is_reported() -> None:
    closing = "import os, sys\nos.close(1)\nsys.stdout = None"
    message = completed(after(closing, "optimum", "ring:nodes=3")).error_line()
    assert message == "cannot write the result: Bad file descriptor"


def without_standard_error(*arguments: object) -> Run:
    closing = "import os, sys\nos.close(2)\nsys.stderr = None"
    return completed(after(closing, *arguments))


@pytest.mark.parametrize("words", [["optimum"], ["generate"], ["topology"], ["generate", "-o", "-", "--json"]])
def test_a_command_succeeds_with_a_closed_standard_error(words: list[str]) -> None:
    expected = process(*words, "ring:nodes=3")
    run = without_standard_error(*words, "ring:nodes=3")
    assert (run.status, run.out.splitlines()[0]) == (0, expected.out.splitlines()[0])


def test_a_failure_with_a_closed_standard_error_sets_only_the_status(tmp_path: Path) -> None:
    assert without_standard_error("verify", tmp_path / "none.json") == Run(1, "", "")
    assert without_standard_error("optimum") == Run(2, "", "")
    assert without_standard_error() == Run(2, "", "")
    schedule = tmp_path / "schedule.json"
    assert process("generate", "ring:nodes=3", "-o", schedule).status == 0
    assert without_standard_error("verify", schedule).status == 0
    schedule.write_text(schedule.read_text().replace('"algbw": "3"', '"algbw": "4"'))
    assert without_standard_error("verify", schedule) == Run(1, "", "")


def test_commands_can_be_connected_by_pipes() -> None:
    network = process("topology", "dgx-a100:boxes=2", "-o", "-")
    assert network == process("topology", "dgx-a100:boxes=2")
    best = process("optimum", "-", stdin=network.out)
    assert best == process("optimum", "dgx-a100:boxes=2")
    schedule = process("generate", "-", "-o", "-", stdin=network.out)
    assert schedule.status == 0
    assert schedule.err.startswith("dgx-a100:boxes=2: allgather over 16 compute nodes\n  algbw ")
    judged = process("verify", "-", stdin=schedule.out)
    assert (judged.status, judged.err) == (0, "")
    assert judged.out.startswith("standard input: valid: allgather on dgx-a100:boxes=2, 16 compute nodes\n")


def test_the_json_report_and_the_schedule_use_different_streams() -> None:
    run = process("generate", "ring:nodes=3", "-o", "-", "--json")
    assert json.loads(run.out)["format"] == "forestcoll.schedule/1"
    assert (json.loads(run.err)["output"], json.loads(run.err)["algbw"]) == ("-", "3")
    run = process("topology", "ring:nodes=3", "-o", "-", "--json")
    assert json.loads(run.out)["graph"]["name"] == "ring:nodes=3"
    assert (json.loads(run.err)["output"], json.loads(run.err)["links"]) == ("-", 6)


def test_a_file_can_have_the_name_of_a_standard_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = process("topology", "ring:nodes=3", "-o", "./-")
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(f"ring:nodes=3: written to {tmp_path.resolve() / '-'}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["-"]
    assert process("optimum", "./-").out.startswith("ring:nodes=3: ")


def test_a_closed_or_empty_standard_input_is_reported() -> None:
    assert process("verify", "-").error_line().startswith("standard input: the file is empty; expected a JSON object")
    closing = "import os, sys\nos.close(0)\nsys.stdin = None"
    message = completed(after(closing, "optimum", "-")).error_line()
    assert message == "standard input: cannot be read: Bad file descriptor"


@needs_dev_full
def test_a_full_disk_for_a_schedule_on_standard_output_is_reported() -> None:
    words = command("generate", "ring:nodes=3", "-o", "-")
    with FULL.open("w") as full:
        done = subprocess.run(  # noqa: S603 (our own command)
            words, stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), timeout=60, check=False
        )
    assert (
        Run(done.returncode, "", without_times(done.stderr)).error_line()
        == "cannot write the result: No space left on device"
    )


@pytest.mark.skipif(os.name != "posix", reason="this system has no pseudo-terminals")
def test_progress_bars_do_not_change_standard_output() -> None:
    terminal, its_end = os.openpty()
    with os.fdopen(terminal, "rb"):
        done = subprocess.run(  # noqa: S603 (our own command)
            command("generate", "ring:nodes=3", "-o", "-"),
            stdout=subprocess.PIPE,
            stderr=its_end,
            env=environment(TERM="xterm"),
            timeout=60,
            check=True,
        )
        os.close(its_end)
    assert json.loads(done.stdout)["format"] == "forestcoll.schedule/1"


@pytest.mark.skipif(os.name != "posix" or not Path("/dev/stdout").exists(), reason="this system has no /dev/stdout")
def test_an_output_can_be_a_pipe() -> None:
    run = process("topology", "ring:nodes=3", "-o", "/dev/stdout")
    assert (run.status, run.err) == (0, "")
    assert json.loads(run.out) == json.loads(process("topology", "ring:nodes=3").out)
