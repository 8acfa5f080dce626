import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_run import run_command

COMMAND = ("find-topology", "--no-cache")


def test_json_lists_the_frontier_in_the_order_of_steps() -> None:
    document = run_command(*COMMAND, "--nodes", 64, "--degree", 4, "--published-only", "--json").document()
    rows = document["pareto"]
    assert isinstance(rows, list)
    assert [row["steps"] for row in rows] == [3, 4, 6]
    assert [row["bandwidth_factor"] for row in rows] == ["21/16", "1", "63/64"]
    assert [row["diameter"] for row in rows] == [3, 4, 6]
    assert {"name", "steps", "bandwidth_factor", "diameter"} <= set(rows[0])
    assert document["bound"] == {"steps": 3, "bandwidth_factor": "63/64"}


def test_the_table_lists_networks_and_marks_the_best_for_a_workload() -> None:
    run = run_command(*COMMAND, "--nodes", 64, "--degree", 4, "--published-only", "--size", "1MB")
    assert (run.status, run.err) == (0, "")
    assert "no allgather beats 3 steps and 0.9844 M/B" in run.out
    assert "L(C(16,{3,4}))" in run.out
    assert "Chosen: L(C(16,{3,4})), the best for allreduce of 1,000,000 bytes." in run.out


def test_network_and_schedule_are_written_and_verified(tmp_path: Path) -> None:
    network, schedule = tmp_path / "network.json", tmp_path / "schedule.json.gz"
    arguments = ("--nodes", 27, "--degree", 4, "--collective", "allreduce", "--size", "1KB")
    run = run_command(*COMMAND, *arguments, "--topology-output", network, "--schedule-output", schedule, "--json")
    document = run.document()
    (row,) = [each for each in document["pareto"] if each["name"] == document["chosen"]]  # type: ignore[attr-defined]
    verified = run_command("verify", schedule, "--json").document()
    assert verified["steps"] == row["steps"] + row["reduce_scatter"]["steps"]
    factors = Fraction(row["bandwidth_factor"]) + Fraction(row["reduce_scatter"]["bandwidth_factor"])
    assert Fraction(str(verified["bandwidth_factor"])) == factors
    assert json.loads(network.read_text())["graph"]["name"] == document["chosen"]


def test_the_report_says_how_the_rate_of_all_to_alls_was_computed() -> None:
    words = (*COMMAND, "--nodes", 32, "--degree", 4, "--size", "1MB", "--collective", "all-to-all")
    assert "  all-to-all: the exact rate of the best flow" in run_command(*words).out.splitlines()
    rows = run_command(*words, "--json").document()["pareto"]
    assert isinstance(rows, list)
    rate = rows[0]["all_to_all_rate"]
    assert (rate["method"], rate["reason"]) == ("exact", None)
    assert rate["algbw"] == rate["bound_algbw"] == pytest.approx(32 * 5.4217e-2, rel=1e-4)
    plain = run_command(*COMMAND, "--nodes", 32, "--degree", 4, "--size", "1MB", "--json").document()["pareto"]
    assert "all_to_all_rate" not in plain[0]  # type: ignore[index]


@pytest.mark.parametrize("choice", ["6", "C(64,{6,7})"])
def test_a_network_is_chosen_by_steps_or_name(choice: str) -> None:
    run = run_command(*COMMAND, "--nodes", 64, "--degree", 4, "--published-only", "--choose", choice, "--json")
    assert run.document()["chosen"] == "C(64,{6,7})"


def test_the_error_for_an_unknown_choice_lists_the_choices() -> None:
    run = run_command(*COMMAND, "--nodes", 9, "--degree", 4, "--published-only", "--choose", "ring")
    assert run.error_line() == "there is no network 'ring' on the frontier; choose one of H(2,3) (2 steps)"


def test_the_error_for_a_size_without_a_network_names_the_nearest_size() -> None:
    run = run_command(*COMMAND, "--nodes", 9, "--degree", 3, "--bidirectional")
    assert run.error_line() == (
        "no bidirectional network of 9 nodes with 3 links each is known; the nearest number of nodes that works is 8"
    )


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--nodes", "1", "--degree", "4"), 1, "nodes is 1; expected an integer from 2 to 16384"),
        (("--nodes", "8", "--degree", "99"), 1, "degree is 99; expected an integer from 1 to 64"),
        (("--nodes", "x", "--degree", "4"), 2, "expected a number such as 64, or 32..64"),
        (("--nodes", "9..8", "--degree", "4"), 2, "is a decreasing range"),
        (("--nodes", "8"), 2, "Missing option '--degree'"),
        (("--nodes", "8", "--degree", "4", "--alpha", "3"), 2, "also give its --size"),
        (("--nodes", "8", "--degree", "4", "--size", "1MB", "--alpha", "x"), 2, "expected microseconds such as 10"),
        (("--nodes", "8", "--degree", "4", "--size", "1MB", "--alpha", "-1"), 1, "alpha is '-1'"),
        (("--nodes", "8..9", "--degree", "4", "--choose", "2"), 2, "a sweep writes no files"),
        (
            ("--nodes", "8", "--degree", "4", "--collective", "mix", "--schedule-output", "f.json"),
            2,
            "--schedule-output writes an allgather or an allreduce",
        ),
    ],
)
def test_invalid_arguments_are_refused(arguments: tuple[str, ...], status: int, message: str) -> None:
    run = run_command(*COMMAND, *arguments)
    assert run.status == status
    assert run.out == ""
    assert message in run.err


def test_a_sweep_lists_every_size() -> None:
    document = run_command(*COMMAND, "--nodes", "5..12", "--degree", 4, "--bidirectional", "--json").document()
    frontiers = document["frontiers"]
    assert isinstance(frontiers, list)
    assert [each["nodes"] for each in frontiers] == list(range(5, 13))
    assert all(each["pareto"][0]["steps"] <= 2 for each in frontiers)
    text = run_command(*COMMAND, "--nodes", "5..6", "--degree", 4, "--size", "1MB").out
    assert text.count("best ") == 2


def test_every_traffic_has_a_time() -> None:
    for traffic in ("allgather", "allreduce", "all-to-all", "mix"):
        run = run_command(*COMMAND, "--nodes", 12, "--degree", 4, "--size", "1MB", "--collective", traffic, "--json")
        assert run.document()["pareto"][0]["time_us"] > 0  # type: ignore[index]


def test_the_cache_can_be_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    run_command("find-topology", "--nodes", 12, "--degree", 4, "--no-cache")
    assert not list(tmp_path.rglob("*.json"))
    first = run_command("find-topology", "--nodes", 12, "--degree", 4, "--json")
    assert [path.name for path in tmp_path.rglob("*.json")] == ["12-4.json"]
    assert run_command("find-topology", "--nodes", 12, "--degree", 4, "--json").out == first.out


def test_the_frontier_and_the_chosen_network_are_drawn(tmp_path: Path) -> None:
    plot, picture = tmp_path / "plot.svg", tmp_path / "network.svg"
    run = run_command(*COMMAND, "--nodes", 64, "--degree", 4, "--plot", plot, "--picture", picture, "--json")
    document = run.document()
    assert (document["plot"], document["picture"]) == (str(plot), str(picture))
    drawn = plot.read_text()
    assert "1: 3 steps, 1.062: L(Cayley(4,16))</text>" in drawn
    assert "3: 6 steps, 0.984: C(64,{6,7})</text>" in drawn
    assert drawn.count('class="point"') == 2 + 3
    assert "Cayley(4,64)" in picture.read_text()


def test_only_one_frontier_is_drawn_if_the_search_uses_the_bases_of_the_paper(tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    assert run_command(*COMMAND, "--nodes", 12, "--degree", 2, "--published-only", "--plot", plot).status == 0
    assert "networks found" not in plot.read_text()


def test_a_picture_has_a_known_ending(tmp_path: Path) -> None:
    run = run_command(*COMMAND, "--nodes", 12, "--degree", 2, "--plot", tmp_path / "plot.html")
    assert run.error_line().endswith("plot.html: the file name must end in one of .svg, .png, not '.html'")
