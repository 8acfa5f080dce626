"""`forestcoll fit` and `forestcoll explain`: measured times next to those of the model and the bound."""

import json
from pathlib import Path

import pytest
from cli_run import json_of, run_command

LOG = Path(__file__).parents[2] / "examples" / "nccl-tests.log"
TABLE = "size,algbw\n1M,3.17\n16M,37.6\n128M,152\n1G,187\n"
RINGS = ("--schedule", "dgx-a100:boxes=2", "--algorithm", "nccl-ring")


@pytest.fixture
def table(tmp_path: Path) -> str:
    (tmp_path / "times.csv").write_text(TABLE)
    return str(tmp_path / "times.csv")


def test_costs_are_fitted_and_written_and_used(tmp_path: Path, table: str) -> None:
    costs = tmp_path / "costs.json"
    document = json_of("fit", table, *RINGS, "-o", str(costs))
    assert document["fitted"] == ["alpha_us", "efficiency", "overhead_us"]
    assert document["costs"] == json.loads(costs.read_text())
    schedules = document["schedules"]
    times = schedules[0]["times"]
    found = run_command("compare", "dgx-a100:boxes=2", "--baselines", "nccl-ring", "--costs", str(costs), "--json")
    rows = found.document()["rows"]
    (row,) = [each for each in rows if each["name"] == "nccl-ring"]
    assert [each["time_us"] for each in row["times"]] == pytest.approx([each["simulated_us"] for each in times])
    worst = document["worst_error"]
    assert worst == pytest.approx(max(abs(each["error"]) for each in times))
    assert worst < 0.12


def test_an_option_of_simulate_replaces_the_value_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text('{"format": "forestcoll.costs/1", "alpha_us": 50, "overhead_us": 0}')
    run_command("generate", "ring:nodes=4", "-o", str(tmp_path / "ring.json"))
    words = ("simulate", str(tmp_path / "ring.json"), "--sizes", "1", "--json", "--costs", str(tmp_path / "costs.json"))
    (slow,) = json.loads(run_command(*words).out)
    (fast,) = json.loads(run_command(*words, "--alpha-us", "10").out)
    assert slow["time_us"] == pytest.approx(100, rel=1e-3)
    assert fast["time_us"] == pytest.approx(20, rel=1e-3)


def test_the_page_of_a_log(tmp_path: Path) -> None:
    broken = LOG.read_text().replace("# Out of", "  8589934592 2147483648 float none -1 457 18\n# Out of")
    (tmp_path / "log").write_text(broken)
    run = run_command("explain", "dgx-a100:boxes=2", "--measured", str(tmp_path / "log"))
    assert run.status == 0
    lines = run.out.splitlines()
    assert lines[1] == "allgather over 16 ranks (line 25):"
    assert "  NCCL's rings  at most algbw 640/3 GB/s (213.333), busbw 200 GB/s; 88.11% of it measured" in lines
    assert any(line.startswith("  verdict       normal: as usual with rings") for line in lines)
    assert any("Line 32 was skipped: has 7 columns" in line for line in lines)
