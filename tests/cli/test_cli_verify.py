import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_run import Run, run_command, written

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def schedule(tmp_path: Path) -> Path:
    return written(tmp_path / "schedule.json", "generate", "ring:nodes=4")


def change(path: Path, mutate: Change) -> Path:
    document = json.loads(path.read_text())
    mutate(document)
    path.write_text(json.dumps(document))
    return path


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
def test_the_fault_of_an_incorrect_schedule_is_reported_in_one_line_and_as_json(schedule: Path, rule: str) -> None:
    change(schedule, BROKEN[rule])
    message = run_command("verify", schedule).error_line()
    assert message.startswith(f"{schedule}: ")
    assert message.endswith(f"[{rule}]")
    run = run_command("verify", schedule, "--json")
    assert (run.status, run.err) == (1, "")
    document = json.loads(run.out)
    assert document == {"valid": False, "rule": rule, "message": document["message"]}


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
def test_a_file_that_is_not_a_schedule_is_refused_in_one_line_and_as_json(schedule: Path, words: str) -> None:
    message = run_command("verify", change(schedule, MALFORMED[words])).error_line()
    assert message.startswith(f"{schedule}: {words}")
    run = run_command("verify", schedule, "--json")
    assert json.loads(run.out) == {"valid": False, "rule": None, "message": message}
    assert Run(run.status, "", run.err).error_line() == message
