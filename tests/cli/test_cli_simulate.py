import csv
import json
from pathlib import Path

import pytest
from cli_run import run_command


@pytest.fixture
def schedule(tmp_path: Path) -> Path:
    path = tmp_path / "schedule.json"
    assert run_command("generate", "dgx-a100:boxes=2,gpus=2", "-o", path).status == 0
    return path


def test_json_is_a_list_with_one_entry_per_size(schedule: Path) -> None:
    run = run_command("simulate", schedule, "--sizes", "1K..1G", "--json")
    assert (run.status, run.err) == (0, "")
    points = json.loads(run.out)
    assert (points[0]["size"], points[-1]["size"]) == (2**10, 2**30)
    for point in points:
        assert point["algbw"] == pytest.approx(point["size"] / point["time_us"] / 1000)
        assert point["busbw"] == pytest.approx(point["algbw"] * 3 / 4)


def test_the_text_report_lists_the_busiest_links(schedule: Path) -> None:
    run = run_command("simulate", schedule, "--sizes", "1MB,1GB")
    assert (run.status, run.err) == (0, "")
    lines = run.out.splitlines()
    assert lines[0] == "dgx-a100:boxes=2,gpus=2: allgather over 4 compute nodes"
    assert [line.split()[0] for line in lines[2:4]] == ["1MB", "1GB"]
    assert "Busiest links at 1GB" in run.out


def test_latency_dominates_the_time_of_small_messages(schedule: Path) -> None:
    def time(*options: object) -> float:
        out = run_command("simulate", schedule, "--sizes", "1KB", "--json", *options).out
        return float(json.loads(out)[0]["time_us"])

    assert time("--alpha-us", "100") - time("--alpha-us", "10") == pytest.approx(90 * 2)
    assert time("--alpha", "100") == time("--alpha-us", "100")
    assert time("--overhead-us", "3") - time("--overhead-us", "1") == pytest.approx(2 * 2)


def test_the_program_takes_as_long_as_the_trees_or_longer(schedule: Path) -> None:
    times = [
        json.loads(run_command("simulate", schedule, "--sizes", "1GB", "--model", model, "--json").out)[0]["time_us"]
        for model in ("trees", "program")
    ]
    assert times[0] <= times[1] * 1.01 <= 2 * times[0]


def test_tables_pictures_and_traces_are_written(schedule: Path, tmp_path: Path) -> None:
    names = {
        "--csv": "points.csv",
        "--links": "links.csv",
        "--plot": "plot.png",
        "--gantt": "gantt.svg",
        "--trace": "run.json",
    }
    files = {option: tmp_path / name for option, name in names.items()}
    options = [word for option, path in files.items() for word in (option, path)]
    run = run_command("simulate", schedule, "--sizes", "1MB..8MB", "--at", "2MB", *options)
    assert (run.status, run.err) == (0, "")
    assert len(list(csv.reader(files["--csv"].read_text().splitlines()))) == 5
    assert len(list(csv.reader(files["--links"].read_text().splitlines()))) > 10
    assert files["--plot"].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in files["--gantt"].read_text()
    assert json.loads(files["--trace"].read_text())["traceEvents"]
    first = files["--gantt"].read_bytes()
    run_command("simulate", schedule, "--sizes", "1MB..8MB", "--at", "2MB", *options)
    assert files["--gantt"].read_bytes() == first


@pytest.mark.parametrize("option", ["--csv", "--links"])
def test_a_table_on_standard_output_is_not_mixed_with_the_report(schedule: Path, option: str) -> None:
    report = run_command("simulate", schedule, "--sizes", "1MB,8MB").out
    run = run_command("simulate", schedule, "--sizes", "1MB,8MB", option, "-")
    assert (run.status, run.err) == (0, report)
    assert len({line.count(",") for line in run.out.splitlines()}) == 1
    run = run_command("simulate", schedule, "--sizes", "1MB,8MB", option, "-", "--json")
    assert json.loads(run.err)


def test_a_size_without_a_file_about_it_is_refused(schedule: Path) -> None:
    message = run_command("simulate", schedule, "--at", "1M", "--csv", "-").error_line(status=2)
    assert message.startswith("--at is for --links, --gantt and --trace; give one of them, or leave it out")


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--sizes", "1XB"], 2, "'--sizes': '1XB'; expected a size"),
        (["--sizes", "2GB..1GB"], 2, "backwards"),
        (["--at", "0"], 2, "'--at': '0'; expected a size of 1 byte or more"),
        (["--plot", "plot.txt"], 1, "the file name must end in one of .png"),
        (["--csv", "nowhere/points.csv"], 1, "does not exist"),
    ],
)
def test_invalid_values_are_reported_in_one_line(schedule: Path, options: list[str], status: int, words: str) -> None:
    assert words in run_command("simulate", schedule, *options).error_line(status)


def test_an_incorrect_schedule_is_refused(schedule: Path) -> None:
    document = json.loads(schedule.read_text())
    document["phases"][0]["trees"][0]["routes"].pop()
    schedule.write_text(json.dumps(document))
    assert "[tree-not-spanning]" in run_command("simulate", schedule).error_line()
    assert run_command("simulate", schedule, "--alpha-us", "-1").status == 2
    assert "no such file" in run_command("simulate", schedule.parent / "none.json").error_line()
