"""`forestcoll design` as a user runs it: a search for networks, and an expansion."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_run import json_of, run_command

COMMAND = ("design",)


def test_network_and_schedule_are_written_and_verified(tmp_path: Path) -> None:
    network, schedule = tmp_path / "network.json", tmp_path / "schedule.json.gz"
    arguments = ("--nodes", 27, "--degree", 4, "--collective", "allreduce", "--size", "1KB")
    run = run_command(*COMMAND, *arguments, "-o", f"topology={network}", "-o", schedule, "--json")
    document = run.document()
    (row,) = [each for each in document["pareto"] if each["name"] == document["chosen"]]
    verified = json_of("verify", schedule)
    assert verified["steps"] == row["steps"] + row["reduce_scatter"]["steps"]
    factors = Fraction(row["bandwidth_factor"]) + Fraction(row["reduce_scatter"]["bandwidth_factor"])
    assert Fraction(str(verified["bandwidth_factor"])) == factors
    assert json.loads(network.read_text())["graph"]["name"] == document["chosen"]


@pytest.mark.parametrize(
    ("workload", "bandwidth", "said"),
    [
        ((), "1", "1 GB/s each."),
        (("--size", "1MB"), "25/4", "25/4 GB/s (6.25) each: B / 2."),
        (("--size", "1MB", "--costs", "bandwidth=20"), "10", "10 GB/s each: B / 2."),
    ],
)
def test_the_links_of_the_files_have_the_bandwidth_of_the_workload(
    workload: tuple[str, ...], bandwidth: str, said: str, tmp_path: Path
) -> None:
    network, schedule = tmp_path / "network.json", tmp_path / "schedule.json"
    words = ("--nodes", 8, "--degree", 2, *workload, "-o", f"topology={network}", "-o", schedule)
    assert f"Links in the files: {said}\n" in run_command(*COMMAND, *words).out
    for document in (json.loads(network.read_text()), json.loads(schedule.read_text())["topology"]):
        assert {Fraction(str(each["bandwidth"])) for each in document["edges"]} == {Fraction(bandwidth)}


@pytest.mark.parametrize("choice", ["6", "C(64,{6,7})"])
def test_a_network_is_chosen_by_steps_or_name(choice: str) -> None:
    run = run_command(*COMMAND, "--nodes", 64, "--degree", 4, "--only", "published", "--choose", choice, "--json")
    assert run.document()["chosen"] == "C(64,{6,7})"


@pytest.mark.parametrize(
    ("objective", "name"), [("steps", "Cayley(4,32)"), ("bandwidth", "Cayley(4,32)"), ("all-to-all", "L(K(4,4))")]
)
def test_an_objective_chooses_a_network_without_a_workload(objective: str, name: str) -> None:
    found = run_command(*COMMAND, "--nodes", 32, "--degree", 4, "--objective", objective, "--json").document()
    assert found["chosen"] == name
    rates = [row.get("all_to_all_rate") for row in found["pareto"]]
    assert (None not in rates) == (objective == "all-to-all")


def test_a_sweep_chooses_for_an_all_to_all_as_a_search_does() -> None:
    words = ("--degree", 4, "--collective", "all-to-all", "--size", "1MB", "--json")
    swept = run_command(*COMMAND, "--nodes", "31..32", *words).document()["frontiers"]
    assert [each["chosen"] for each in swept][1] == "L(K(4,4))"
    assert len(swept[1]["pareto"]) == 2


def test_the_frontier_and_the_chosen_network_are_drawn(tmp_path: Path) -> None:
    plot, picture = tmp_path / "plot.svg", tmp_path / "network.svg"
    run = run_command(
        *COMMAND, "--nodes", 64, "--degree", 4, "-o", f"plot={plot}", "-o", f"picture={picture}", "--json"
    )
    document = run.document()
    assert (document["plot"], document["picture"]) == (str(plot), str(picture))
    drawn = plot.read_text()
    assert "1: 3 steps, 1.062: L(Cayley(4,16))</text>" in drawn
    assert "3: 6 steps, 0.984: C(64,{6,7})</text>" in drawn
    assert drawn.count('class="point"') == 2 + 3
    assert "Cayley(4,64)" in picture.read_text()


def test_only_one_frontier_is_drawn_if_the_search_uses_the_bases_of_the_paper(tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    assert run_command(*COMMAND, "--nodes", 12, "--degree", 2, "--only", "published", "-o", f"plot={plot}").status == 0
    assert "networks found" not in plot.read_text()


def test_the_expanded_network_and_its_schedule_are_written(tmp_path: Path) -> None:
    schedule, network = tmp_path / "schedule.json", tmp_path / "network.json"
    arguments = ("--by", "line-graph", "--by", "degree=2", "-o", schedule, "-o", f"topology={network}", "--json")
    document = run_command(*COMMAND, "torus:dims=3x3", *arguments).document()
    assert (document["name"], document["nodes"], document["degree"]) == ("L([torus:dims=3x3])*2", 72, 8)
    assert (document["steps"], document["bandwidth_factor"]) == (4, "73/72")
    assert document["bound"] == {"steps": 2, "bandwidth_factor": "71/72"}
    assert document["verified"] is True
    verified = json_of("verify", schedule)
    assert (verified["steps"], verified["bandwidth_factor"]) == (4, "73/72")
    assert "72 compute nodes" in run_command("optimum", "--all", network).out


def test_a_schedule_file_is_expanded(tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    run_command("generate", "ring:nodes=5", "--method", "ring", "-o", base)
    run = run_command(*COMMAND, base, "--by", "degree=2", "--collective", "allreduce")
    assert "allreduce on 10 nodes, degree 4" in run.out
    assert "10 (4 by the Moore bound)" in run.out


@pytest.mark.parametrize("nodes", [(13,), ("13..14",)])
def test_the_search_uses_a_given_base(nodes: tuple[object, ...]) -> None:
    run = run_command(*COMMAND, "--nodes", *nodes, "--degree", 4, "circulant:nodes=13,offsets=1+5")
    assert "[circulant:nodes=13,offsets=1+5]" in run.out


def test_a_mix_of_traffic_has_a_time() -> None:
    found = json_of(*COMMAND, "--nodes", 12, "--degree", 4, "--size", "1MB", "--collective", "mix")
    assert found["pareto"][0]["time_us"] > 0
