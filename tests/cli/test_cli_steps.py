"""Schedules of steps on the command line: generation, files, verification, and errors for wrong options."""

import json
from pathlib import Path

import pytest
from cli_run import json_of, run_command, written


@pytest.mark.parametrize(
    ("network", "method", "collective"),
    [
        ("circulant:nodes=7,offsets=1+3,one_way=true", "bfb", "reduce-scatter"),
        ("hypercube:dim=3", "bfb:chunks=3", "allreduce"),
        ("double-binary-tree:nodes=7", "double-binary-tree:chunks=4", "allreduce"),
    ],
)
def test_generated_schedules_are_verified_with_the_same_figures(
    tmp_path: Path, network: str, method: str, collective: str
) -> None:
    file = tmp_path / "steps.json.gz"
    words = ("generate", network, "--method", method, "--collective", collective, "-o", file)
    generated = json_of(*words)
    judged = json_of("verify", file)
    assert judged["valid"] is True
    assert {key: judged[key] for key in judged if key != "valid"}.items() <= generated.items()
    run = run_command("verify", file)
    assert run.status == 0
    assert f"valid: {collective} in steps on {network}" in run.out
    assert f"steps      {generated['steps']} (T_L, in hops)" in run_command(*words).out


def test_the_violated_rule_of_a_changed_file_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "steps.json", "generate", "ring:nodes=5", "--method", "bfb")
    document = json.loads(file.read_text())
    document["steps"].reverse()
    file.write_text(json.dumps(document))
    assert run_command("verify", file).error_line().endswith("[part-not-held]")
    run = run_command("verify", file, "--json")
    assert run.status == 1
    assert json.loads(run.out)["rule"] == "part-not-held"
    document["steps"][0][0]["shard"] = 9
    file.write_text(json.dumps(document))
    assert "steps[0][0].shard is 9; expected an integer from 0 to 4" in run_command("verify", file).error_line()


def test_a_compact_schedule_lists_base_transfers(tmp_path: Path) -> None:
    file = tmp_path / "compact.json"
    run = run_command("generate", "torus:dims=3x4", "--method", "bfb", "--compact", "-o", file)
    assert "transfers  16 listed, 12 images each" in run.out
    assert "12 images each" in run_command("verify", file).out
    document = json.loads(file.read_text())
    assert sum(map(len, document["steps"])) == 16
    document["steps"][0].pop()
    file.write_text(json.dumps(document))
    assert run_command("verify", file).status == 1


GOLDEN = Path(__file__).parents[1] / "golden" / "steps-with-routes.json"


def test_a_file_with_routes_is_verified_and_simulated_but_not_exported(tmp_path: Path) -> None:
    page = run_command("verify", GOLDEN).out
    assert "  routes     5 (of up to 4 links)\n" in page
    assert "  steps      4 (T_L)\n" in page
    assert run_command("simulate", GOLDEN, "--sizes", "1M").status == 0
    refused = run_command("export", GOLDEN, "--to", "msccl-xml", "-o", tmp_path / "out.xml").error_line()
    assert "a transfer passes through a compute node" in refused


def test_ranks_of_a_file_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    exchange = [{"shard": each, "interval": [0, 1], "source": each, "target": 1 - each} for each in (0, 1)]
    file.write_text(json.dumps(json.loads(GOLDEN.read_text()) | {"ranks": [0, 1], "steps": [exchange]}))
    document = json_of("verify", file)
    assert (document["compute_nodes"], document["ranks"]) == (2, ["a", "b"])
    assert "2 of 3 compute nodes" in run_command("verify", file).out


def test_an_all_to_all_in_steps(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    words = ("generate", "kautz:degree=2,length=2", "--collective", "all-to-all", "--method", "steps")
    found = json_of(*words, "-o", path)
    assert (found["steps"], found["bandwidth_factor"], found["least_bandwidth_factor"]) == (3, "5/2", "43/18")
    checked = json_of("verify", path)
    assert (checked["steps"], checked["bandwidth_factor"], checked["bandwidth_optimal"]) == (3, "5/2", False)
    assert json_of(*words[:-1], "steps:steps=4")["bandwidth_optimal"] is True
    assert "an all-to-all in steps has no program" in run_command("export", path, "--to", "msccl-xml").err
