import json
from pathlib import Path

import pytest
from cli_run import run_command

LOG = Path(__file__).parents[2] / "examples" / "nccl-tests.log"
TABLE = "size,algbw\n1M,3.17\n16M,37.6\n128M,152\n1G,187\n"
RINGS = ("--schedule", "dgx-a100:boxes=2", "--algorithm", "nccl-ring")


@pytest.fixture
def table(tmp_path: Path) -> str:
    (tmp_path / "times.csv").write_text(TABLE)
    return str(tmp_path / "times.csv")


def test_costs_are_fitted_and_written_and_used(tmp_path: Path, table: str) -> None:
    costs = tmp_path / "costs.json"
    document = run_command("fit", table, *RINGS, "-o", str(costs), "--json").document()
    assert document["fitted"] == ["alpha_us", "efficiency", "overhead_us"]
    assert document["costs"] == json.loads(costs.read_text())
    schedules = document["schedules"]
    assert isinstance(schedules, list)
    times = schedules[0]["times"]
    found = run_command("compare", "dgx-a100:boxes=2", "--baselines", "nccl-ring", "--costs", str(costs), "--json")
    rows = found.document()["rows"]
    assert isinstance(rows, list)
    (row,) = [each for each in rows if each["name"] == "nccl-ring"]
    assert [each["time_us"] for each in row["times"]] == pytest.approx([each["simulated_us"] for each in times])
    worst = document["worst_error"]
    assert isinstance(worst, float)
    assert worst == pytest.approx(max(abs(each["error"]) for each in times))
    assert worst < 0.12


def test_the_page_has_measured_and_simulated_times_and_the_error(table: str) -> None:
    lines = run_command("fit", table, *RINGS).out.splitlines()
    assert lines[0] == "Costs fitted to 4 measured times"
    assert any(line.split()[0] == "alpha_us" and line.endswith("fitted") for line in lines[2:])
    assert any("launch_us was not fitted: the measured times do not tell it from alpha_us" in line for line in lines)
    assert lines[-1].startswith("Error of the fit: ")


def test_a_log_is_fitted() -> None:
    document = run_command("fit", str(LOG), *RINGS, "--model", "alpha-beta", "--json").document()
    costs = document["costs"]
    assert isinstance(costs, dict)
    assert costs["overhead_us"] == 0
    assert 0.7 < costs["efficiency"] <= 1


def test_an_option_of_simulate_replaces_the_value_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text('{"format": "forestcoll.costs/1", "alpha_us": 50, "overhead_us": 0}')
    run_command("generate", "ring:nodes=4", "-o", str(tmp_path / "ring.json"))
    words = ("simulate", str(tmp_path / "ring.json"), "--sizes", "1", "--json", "--costs", str(tmp_path / "costs.json"))
    (slow,) = json.loads(run_command(*words).out)
    (fast,) = json.loads(run_command(*words, "--alpha-us", "10").out)
    assert slow["time_us"] == pytest.approx(100, rel=1e-3)
    assert fast["time_us"] == pytest.approx(20, rel=1e-3)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 2, "Missing argument 'TIMES...'"),
        (("no.csv", *RINGS), 1, "no.csv: no such file"),
        (("TABLE",), 1, "no schedule is given; give --schedule, or a column schedule"),
        (("TABLE", *RINGS, "--parameters", "alpha"), 1, "'alpha' is no parameter of the costs"),
        (("TABLE", *RINGS, "--parameters", "launch_us,alpha_us"), 1, "do not tell it from launch_us"),
        (("TABLE", *RINGS, "--costs", "TABLE"), 1, "not valid JSON"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_one_line(
    table: str, words: tuple[str, ...], status: int, said: str
) -> None:
    run = run_command("fit", *(table if word == "TABLE" else word for word in words))
    assert (run.status, run.out) == (status, "")
    assert said in run.err
