from pathlib import Path

import pytest
from cli_run import run_command


def test_the_expanded_network_and_its_schedule_are_written(tmp_path: Path) -> None:
    schedule, network = tmp_path / "schedule.json", tmp_path / "network.json"
    arguments = ("--by", "line-graph", "--by", "degree=2", "-o", schedule, "--topology-output", network, "--json")
    document = run_command("expand", "torus:dims=3x3", *arguments).document()
    assert (document["name"], document["nodes"], document["degree"]) == ("L([torus:dims=3x3])*2", 72, 8)
    assert (document["steps"], document["bandwidth_factor"]) == (4, "73/72")
    assert document["bound"] == {"steps": 2, "bandwidth_factor": "71/72"}
    assert document["verified"] is True
    verified = run_command("verify", schedule, "--json").document()
    assert (verified["steps"], verified["bandwidth_factor"]) == (4, "73/72")
    assert "72 compute nodes" in run_command("bounds", network).out


def test_a_schedule_file_is_expanded(tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    run_command("generate", "ring:nodes=5", "--method", "ring", "-o", base)
    run = run_command("expand", base, "--by", "degree=2", "--collective", "allreduce")
    assert "allreduce on 10 nodes, degree 4" in run.out
    assert "10 (4 by the Moore bound)" in run.out


def test_an_expansion_is_required() -> None:
    assert run_command("expand", "ring:nodes=4").status == 2


def test_the_error_of_an_impossible_expansion_has_one_line() -> None:
    assert run_command("expand", "ring:nodes=4", "--by", "degre=2").error_line().startswith("expansion 'degre=2'")


@pytest.mark.parametrize("nodes", [(13,), ("13..14",)])
def test_the_search_uses_a_given_base(nodes: tuple[object, ...]) -> None:
    run = run_command("find-topology", "--nodes", *nodes, "--degree", 4, "--base", "circulant:nodes=13,offsets=1+5")
    assert "[circulant:nodes=13,offsets=1+5]" in run.out


def test_a_given_base_needs_one_process() -> None:
    run = run_command("find-topology", "--nodes", "8..9", "--degree", 4, "--base", "ring:nodes=4", "--jobs", 2)
    assert run.status == 2
    assert "--base is for a search in one process" in run.err
