import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_run import Run, run_command

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def schedule(tmp_path: Path) -> Path:
    path = tmp_path / "schedule.json"
    assert run_command("generate", "ring:nodes=4", "-o", path).status == 0
    return path


def change(path: Path, mutate: Change) -> Path:
    document = json.loads(path.read_text())
    mutate(document)
    path.write_text(json.dumps(document))
    return path


def test_the_text_report_of_a_correct_schedule(schedule: Path) -> None:
    run = run_command("verify", schedule)
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(f"{schedule}: valid: allgather on ring:nodes=4, 4 compute nodes\n")
    assert "8/3 GB/s (2.66667)" in run.out
    assert "no schedule is faster" in run.out


def test_the_json_report_of_a_correct_schedule(schedule: Path) -> None:
    document = run_command("verify", schedule, "--json").document()
    assert (document["valid"], document["optimal"]) == (True, True)
    assert (document["algbw"], document["optimal_algbw"]) == ("8/3", "8/3")
    assert (document["collective"], document["compute_nodes"]) == ("allgather", 4)


def test_a_schedule_without_a_claimed_optimum_is_correct(schedule: Path) -> None:
    def forget(document: dict[str, Any]) -> None:
        del document["optimal_algbw"], document["certificate"]

    change(schedule, forget)
    assert "not claimed" in run_command("verify", schedule).out
    assert run_command("verify", schedule, "--json").document()["optimal_algbw"] is None


BROKEN: dict[str, Change] = {
    "algbw-wrong": lambda document: document.update(algbw="3"),
    "shares-sum": lambda document: document["phases"][0]["trees"][0].update(share="1/1000"),
    "tree-not-spanning": lambda document: document["phases"][0]["trees"][0]["routes"].pop(),
    "route-link-missing": lambda document: document["routes"].append([0, 2]),
    "certificate-bound": lambda document: document.update(optimal_algbw="100"),
    "certificate-cut": lambda document: document["certificate"].update(cut=[0, 0]),
    "phase-empty": lambda document: document["phases"][0].update(trees=[]),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_the_fault_of_an_incorrect_schedule_is_reported_in_one_line(schedule: Path, rule: str) -> None:
    change(schedule, BROKEN[rule])
    message = run_command("verify", schedule).error_line()
    assert message.startswith(f"{schedule}: ")
    assert message.endswith(f"[{rule}]")


@pytest.mark.parametrize("rule", BROKEN)
def test_the_json_report_of_an_incorrect_schedule(schedule: Path, rule: str) -> None:
    run = run_command("verify", change(schedule, BROKEN[rule]), "--json")
    assert (run.status, run.err) == (1, "")
    document = json.loads(run.out)
    assert set(document) == {"valid", "rule", "message"}
    assert (document["valid"], document["rule"]) == (False, rule)


MALFORMED: dict[str, Change] = {
    "format is 'x'": lambda document: document.update(format="x"),
    "collective": lambda document: document.update(collective="gossip"),
    "topology": lambda document: document.update(topology=7),
    "routes": lambda document: document.update(routes="none"),
    "phases[0].trees[0].share": lambda document: document["phases"][0]["trees"][0].update(share="1/0"),
    "algbw": lambda document: document.update(algbw=None),
    'has no "algbw"': lambda document: document.pop("algbw"),
}


@pytest.mark.parametrize("words", MALFORMED)
def test_a_file_that_is_not_a_schedule_is_refused(schedule: Path, words: str) -> None:
    message = run_command("verify", change(schedule, MALFORMED[words])).error_line()
    assert message.startswith(f"{schedule}: {words}")


@pytest.mark.parametrize("words", MALFORMED)
def test_the_json_report_of_a_file_that_is_not_a_schedule(schedule: Path, words: str) -> None:
    run = run_command("verify", change(schedule, MALFORMED[words]), "--json")
    document = json.loads(run.out)
    assert set(document) == {"valid", "rule", "message"}
    assert (document["valid"], document["rule"]) == (False, None)
    assert document["message"].startswith(f"{schedule}: {words}")
    assert Run(run.status, "", run.err).error_line() == document["message"]


def fold(document: dict[str, Any]) -> None:
    """Keep the trees of one root of a ring, and add the rotation that maps them to the others."""
    document["symmetry"] = [{"order": 4, "image": [1, 2, 3, 0]}]
    (phase,) = document["phases"]
    phase["trees"] = [tree for tree in phase["trees"] if tree["root"] == 0]


def test_a_schedule_with_a_symmetry_is_verified(schedule: Path) -> None:
    whole = run_command("verify", schedule, "--json").document()
    trees = whole["trees"]
    assert isinstance(trees, int)
    assert (whole["base_trees"], whole["group_order"]) == (trees, 1)
    change(schedule, fold)
    folded = run_command("verify", schedule, "--json").document()
    assert folded == whole | {"base_trees": trees // 4, "group_order": 4}
    listed = f"listed trees  {trees // 4}, 4 images each: {trees} trees\n"
    assert listed in run_command("verify", schedule).out


def test_a_schedule_with_a_wrong_symmetry_is_refused(schedule: Path) -> None:
    def mirror(document: dict[str, Any]) -> None:
        fold(document)
        document["symmetry"][0]["image"] = [0, 3, 2, 1]

    message = run_command("verify", change(schedule, mirror)).error_line()
    assert message.endswith("[symmetry-free]")


def test_a_topology_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    assert run_command("topology", "ring:nodes=3", "-o", path).status == 0
    assert "is a network, not a schedule" in run_command("verify", path).error_line()
