"""Schedules of steps on the command line: generation, files, verification, and errors for wrong options."""

import json
from pathlib import Path

import pytest
from cli_run import run_command


def test_the_report_of_a_breadth_first_broadcast() -> None:
    document = run_command("generate", "torus:dims=3x4", "--method", "bfb", "--json").document()
    assert (document["steps"], document["bandwidth_factor"]) == (3, "11/12")
    assert document["bandwidth_optimal"] is True
    assert document["algbw"] == "48/11"
    assert document["collective"] == "allgather"


@pytest.mark.parametrize(
    ("network", "method", "collective", "more"),
    [
        ("circulant:nodes=7,offsets=1+3,one_way=true", "bfb", "reduce-scatter", ()),
        ("hypercube:dim=3", "bfb", "allreduce", ("--chunks", 3)),
        ("shifted-ring:nodes=8", "ring", "allgather", ()),
        ("torus:dims=4x4", "torus-rings", "allreduce", ()),
        ("hypercube:dim=3", "halving-doubling", "allreduce", ()),
        ("double-binary-tree:nodes=7", "double-binary-tree", "allreduce", ("--chunks", 4)),
    ],
)
def test_the_schedules_of_every_method_are_verified(
    tmp_path: Path, network: str, method: str, collective: str, more: tuple[object, ...]
) -> None:
    file = tmp_path / "steps.json.gz"
    words = ("generate", network, "--method", method, "--collective", collective, *more, "-o", file)
    generated = run_command(*words, "--json").document()
    judged = run_command("verify", file, "--json").document()
    assert judged["valid"] is True
    assert {key: judged[key] for key in judged if key != "valid"}.items() <= generated.items()
    run = run_command("verify", file)
    assert run.status == 0
    assert f"valid: {collective} in steps on {network}" in run.out
    assert f"steps      {generated['steps']} (T_L, in hops)" in run_command(*words).out


def test_the_violated_rule_of_a_changed_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    assert run_command("generate", "ring:nodes=5", "--method", "bfb", "-o", file).status == 0
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


def test_a_file_written_to_standard_output_leaves_the_report_on_standard_error() -> None:
    run = run_command("generate", "ring:nodes=3", "--method", "bfb", "-o", "-")
    assert json.loads(run.out)["format"] == "forestcoll.steps/1"
    assert "T_L, in hops" in run.err


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--trees", 2), "--trees is for methods of trees"),
        (("--max-trees", 2), "--max-trees is for methods of trees"),
        (("--root", 0), "--root is for methods of trees"),
        (("--ranks", "0-2"), "--ranks is for methods of trees"),
        (("--shards", "x.json"), "--shards is for methods of trees"),
        (
            ("--method", "ring", "--compact"),
            "--compact is for methods of trees and bfb; leave it out with --method ring",
        ),
        (
            ("--collective", "broadcast"),
            "methods of steps support allgather, reduce-scatter, allreduce and all-to-all, not broadcast",
        ),
        (("--chunks", 0), "'0'; expected an integer of 1 or more"),
        (("--size", "much"), "'much'; expected a size of 1 byte or more such as 64K"),
        (("--size", "0"), "expected a size of 1 byte or more"),
    ],
)
def test_options_that_exclude_each_other_are_wrong_usage(options: tuple[object, ...], words: str) -> None:
    assert words in run_command("generate", "ring:nodes=4", "--method", "bfb", *options).error_line(2)


def test_options_of_steps_are_wrong_usage_for_trees() -> None:
    for options in (("--chunks", 2), ("--size", "1MB")):
        message = run_command("generate", "ring:nodes=4", *options).error_line(2)
        assert "--chunks, --size and --steps are for methods of steps" in message


def test_a_network_with_switches_is_refused() -> None:
    message = run_command("generate", "dgx-a100:boxes=1", "--method", "bfb").error_line()
    assert "is a switch; the methods of steps need a network without switches" in message


GOLDEN = Path(__file__).parents[1] / "golden" / "steps-with-routes.json"


def test_a_file_with_routes_is_verified_and_simulated_but_not_exported(tmp_path: Path) -> None:
    page = run_command("verify", GOLDEN).out
    assert "  routes     5 (of up to 4 links)\n" in page
    assert "  steps      4 (T_L)\n" in page
    assert run_command("simulate", GOLDEN, "--sizes", "1M").status == 0
    refused = run_command("export", GOLDEN, "--to", "msccl-xml", "-o", tmp_path / "out.xml").error_line()
    assert "a transfer passes through a compute node" in refused


def test_a_wrong_route_is_named_by_verify(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    file.write_text(GOLDEN.read_text().replace("[2,4,3,0],", "[2,4,0],"))
    assert "routes[0][1]: no link leads from 't' to 'a'" in run_command("verify", file).error_line()


def test_ranks_of_a_file_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    exchange = [{"shard": each, "interval": [0, 1], "source": each, "target": 1 - each} for each in (0, 1)]
    file.write_text(json.dumps(json.loads(GOLDEN.read_text()) | {"ranks": [0, 1], "steps": [exchange]}))
    document = run_command("verify", file, "--json").document()
    assert (document["compute_nodes"], document["ranks"]) == (2, ["a", "b"])
    assert "2 of 3 compute nodes" in run_command("verify", file).out


def test_an_all_to_all_in_steps(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    words = ("generate", "kautz:degree=2,length=2", "--collective", "all-to-all", "--method", "steps")
    found = run_command(*words, "-o", path, "--json").document()
    assert (found["steps"], found["bandwidth_factor"], found["least_bandwidth_factor"]) == (3, "5/2", "43/18")
    checked = run_command("verify", path, "--json").document()
    assert (checked["steps"], checked["bandwidth_factor"], checked["bandwidth_optimal"]) == (3, "5/2", False)
    assert run_command(*words, "--steps", "4", "--json").document()["bandwidth_optimal"] is True
    for more, message in (
        (("--steps", "2"), "an all-to-all takes 3 steps or more; steps is 2"),
        (("--demand", "x.csv"), "--demand is for schedules of flows"),
    ):
        assert message in run_command(*words, *more).err
    assert "an all-to-all in steps has no program" in run_command("export", path, "--to", "msccl-xml").err
