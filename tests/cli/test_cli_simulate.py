import csv
import json
from pathlib import Path

import pytest
from cli_run import run_command, written


@pytest.fixture
def schedule(tmp_path: Path) -> Path:
    return written(tmp_path / "schedule.json", "generate", "dgx-a100:boxes=2,gpus=2")


def test_latency_dominates_the_time_of_small_messages(schedule: Path) -> None:
    def time(*options: object) -> float:
        out = run_command("simulate", schedule, "--sizes", "1KB", "--json", *options).out
        return float(json.loads(out)[0]["time_us"])

    assert time("--alpha-us", "100") - time("--alpha-us", "10") == pytest.approx(90 * 2)
    assert time("--alpha", "100") == time("--alpha-us", "100")
    assert time("--overhead-us", "3") - time("--overhead-us", "1") == pytest.approx(2 * 2)


def test_tables_pictures_and_traces_are_written(schedule: Path, tmp_path: Path) -> None:
    names = {
        "table": "points.csv",
        "links": "links.csv",
        "plot": "plot.png",
        "gantt": "gantt.svg",
        "trace": "run.json",
    }
    files = {kind: tmp_path / name for kind, name in names.items()}
    options = [word for kind, path in files.items() for word in ("-o", f"{kind}={path}")]
    run = run_command("simulate", schedule, "--sizes", "1MB..8MB", *options)
    assert (run.status, run.err) == (0, "")
    assert len(list(csv.reader(files["table"].read_text().splitlines()))) == 5
    assert len(list(csv.reader(files["links"].read_text().splitlines()))) > 10
    assert files["plot"].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in files["gantt"].read_text()
    assert json.loads(files["trace"].read_text())["traceEvents"]


def test_an_incorrect_schedule_is_refused(schedule: Path) -> None:
    document = json.loads(schedule.read_text())
    document["phases"][0]["trees"][0]["routes"].pop()
    schedule.write_text(json.dumps(document))
    assert "[tree-not-spanning]" in run_command("simulate", schedule).error_line()


def test_the_program_takes_as_long_as_the_trees_or_longer(schedule: Path) -> None:
    words = ("simulate", schedule, "--sizes", "1GB", "--json", "--model")
    times = [json.loads(run_command(*words, model).out)[0]["time_us"] for model in ("trees", "program")]
    assert times[0] <= times[1] * 1.01 <= 2 * times[0]
