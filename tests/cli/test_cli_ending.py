"""How a command ends as a process: streams that are full, closed or pipes, Ctrl-C, and defects."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_run import (
    Run,
    command,
    completed,
    edge,
    environment,
    process,
    run_command,
    without_times,
    write_network,
    written,
)

RUN_MAIN = "import sys\nsys.argv[0] = 'forestcoll'\nfrom forestcoll.cli import main\n{before}\nmain()\n"
FULL = Path("/dev/full")


def after(before: str, *arguments: object) -> list[str]:
    """Return the arguments that run a command in a process that first executes `before`."""
    return [sys.executable, "-c", RUN_MAIN.format(before=before), *map(str, arguments)]


def started(words: list[str]) -> subprocess.Popen[str]:
    """Start a process whose output is read while it runs."""
    return subprocess.Popen(  # noqa: S603 (our own command)
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["optimum", "ring:nodes=3", "--json"], ["generate", "ring:nodes=3", "-o", "-"]])
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


def test_the_traceback_of_an_internal_error_is_available() -> None:
    defect = "import forestcoll.base.files as files\ndef fail(*_, **__):\n    1 / 0\nfiles._open_for_reading = fail"
    run = completed(after(defect, "verify", Path(__file__)), FORESTCOLL_TRACEBACK="1")
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
        time.sleep(0.8)
        assert run.poll() is None
        run.send_signal(signal.SIGINT)
        most = time.monotonic() - begin  # no more processor time than this was used before the signal
        try:
            out, err = run.communicate(timeout=5)
        except subprocess.TimeoutExpired:  # Python drops an interrupt that arrives in a callback of an import
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=60)
            most += 5
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


def test_ctrl_c_while_a_file_goes_to_standard_output_says_that_it_began() -> None:
    with started(command("topology", "torus:dims=32x32")) as run:
        assert run.stdout is not None
        assert run.stdout.read(10)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate()
    assert (run.returncode, err) == (1, "forestcoll: interrupted after output was written\n")


def test_a_closed_pipe_gives_no_error_message() -> None:
    with started(command("topology", "torus:dims=32x32")) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert run.stdout.readline() == "{\n"
        run.stdout.close()
        assert run.stderr.read() == ""
        assert run.wait(timeout=30) == 1


def test_a_closed_standard_output_or_input_is_reported() -> None:
    message = completed(after("import os\nos.close(1)\nsys.stdout = None", "optimum", "ring:nodes=3")).error_line()
    assert message == "cannot write the result: Bad file descriptor"
    message = completed(after("import os\nos.close(0)\nsys.stdin = None", "optimum", "-")).error_line()
    assert message == "standard input: cannot be read: Bad file descriptor"
    message = run_command("verify", "-", stdin=b"").error_line()
    assert message.startswith("standard input: the file is empty; expected a JSON object")


def test_with_a_closed_standard_error_commands_work_and_failures_set_only_the_status(tmp_path: Path) -> None:
    """One process runs all commands; each prints its status after its output."""
    code = "import os, sys\nos.close(2)\nsys.stderr = None\nfrom forestcoll.cli import main\n"
    code += "for line in sys.argv[1:]:\n    sys.argv = ['forestcoll', *line.split()]\n    try:\n        main()\n"
    code += "    except SystemExit as end:\n        print(f'\\n{line}: {end.code}')\n"
    path = tmp_path / "s.json"
    lines = {"optimum ring": 0, "generate ring -o - --json": 0, f"generate ring -o {path}": 0, f"verify {path}": 0}
    lines |= {f"verify {tmp_path}/none.json": 1, "optimum": 2, "": 2}
    run = completed([sys.executable, "-c", code, *lines])
    assert (run.status, run.err) == (0, "")
    for line, status in lines.items():
        assert f"\n{line}: {status}\n" in run.out
    assert run.out.startswith("ring:nodes=8: allgather ")


def test_commands_can_be_connected_by_pipes() -> None:
    network = process("topology", "dgx-a100:boxes=2", "-o", "-")
    assert network == run_command("topology", "dgx-a100:boxes=2")
    best = run_command("optimum", "-", stdin=network.out.encode())
    assert best == run_command("optimum", "dgx-a100:boxes=2")
    schedule = process("generate", "-", "-o", "-", stdin=network.out)
    assert schedule.status == 0
    assert schedule.err.startswith("dgx-a100:boxes=2: allgather over 16 compute nodes\n  algbw ")
    judged = process("verify", "-", stdin=schedule.out)
    assert (judged.status, judged.err) == (0, "")
    assert judged.out.startswith("standard input: valid: allgather on dgx-a100:boxes=2, 16 compute nodes\n")


def test_the_json_report_and_the_schedule_use_different_streams() -> None:
    run = run_command("generate", "ring:nodes=3", "-o", "-", "--json")
    assert json.loads(run.out)["format"] == "forestcoll.schedule/1"
    assert (json.loads(run.err)["output"], json.loads(run.err)["algbw"]) == ("-", "3")
    run = run_command("topology", "ring:nodes=3", "-o", "-", "--json")
    assert json.loads(run.out)["graph"]["name"] == "ring:nodes=3"
    assert (json.loads(run.err)["output"], json.loads(run.err)["links"]) == ("-", 6)


@pytest.mark.parametrize(
    ("words", "kind", "reported"),
    [
        (["generate", "ring:nodes=3", "--method", "bfb", "-o", "-"], "forestcoll.steps/1", "T_L, in hops"),
        (["one-port", "ring:nodes=3", "--source", "0", "-o", "-"], "forestcoll.broadcast-series/1", "to standard o"),
        (["export", "S", "--to", "msccl-xml", "-o", "-"], "<algo ", "as msccl-xml for microsoft"),
        (
            ["compare", "ring:nodes=4", "--baselines", "multitree", "--html", "-"],
            "<!DOCTYPE html>",
            "ring:nodes=4: allg",
        ),
        (["simulate", "S", "--sizes", "1MB", "-o", "-"], "size,time_us,", "ring:nodes=3: allgather"),
        (["simulate", "S", "--sizes", "1MB", "-o", "links=-"], "source,", "ring:nodes=3: allgather"),
    ],
)
def test_a_file_on_standard_output_leaves_the_report_to_standard_error(
    tmp_path: Path, words: list[str], kind: str, reported: str
) -> None:
    path = written(tmp_path / "s.json", "generate", "ring:nodes=3")
    run = run_command(*(path if word == "S" else word for word in words))
    assert run.status == 0
    assert kind in run.out[:60]
    assert reported in run.err
    assert reported not in run.out


def test_a_file_can_have_the_name_of_a_standard_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_command("topology", "ring:nodes=3", "-o", "./-")
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(f"ring:nodes=3: written to {tmp_path.resolve() / '-'}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["-"]
    assert run_command("optimum", "./-").out.startswith("ring:nodes=3: ")


@pytest.mark.skipif(os.name != "posix" or not Path("/dev/stdout").exists(), reason="this system has no /dev/stdout")
def test_an_output_can_be_a_pipe() -> None:
    run = process("topology", "ring:nodes=3", "-o", "/dev/stdout")
    assert (run.status, run.err) == (0, "")
    assert json.loads(run.out) == json.loads(run_command("topology", "ring:nodes=3").out)
