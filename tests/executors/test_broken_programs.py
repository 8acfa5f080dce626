"""Programs that were broken in small ways: what the executors find and what `check-program` finds is the same."""

import json
import random
from collections import Counter
from itertools import product
from pathlib import Path

import plan_executor
import pytest
import xml_executor
from file_changes import changed_plan, changed_xml
from test_exported_programs import QUICK, SMALL, exported, schedule

from forestcoll.programs.formats.judging import judge_file

NOT_HIT = {"race", "before-start", "after-end", "dependency", "operation-range"}
"""Rules against what may go wrong, but need not. An executor does not see loads that move before a relaxed wait, nor a
rank that starts late if the data shows that it has started. A step without `hasdep` raises no flag, but a later step of
its block may raise it. Most operations use the size of their first source only, so others may exceed a buffer."""


def verdict(text: str, tmp_path: Path) -> str | None:
    """Return the rule that a file breaks, as `check-program` says; None if it breaks none."""
    path = tmp_path / "program"
    path.write_text(text)
    fault = judge_file(path).fault
    return None if fault is None else fault.rule


def compare(text: str, count: int, orders: int, tmp_path: Path) -> Counter[tuple[str | None, bool]]:
    """Return how often each rule was broken, and whether an executor saw the fault, for `count` changed files."""
    changes = changed_plan if text.startswith("{") else changed_xml
    every = list(changes(text))
    assert verdict(text, tmp_path) is None
    found: Counter[tuple[str | None, bool]] = Counter()
    for name, changed in random.Random(0).sample(every, min(count, len(every))):  # noqa: S311
        rule = verdict(changed, tmp_path)
        wrong = next(iter(_first(changed, orders)), None)
        assert rule is not None or wrong is None, (name, wrong)
        assert rule is None or wrong is not None or rule in NOT_HIT, (name, rule)
        found[rule, wrong is not None] += 1
    return found


def _first(text: str, orders: int) -> list[str]:
    """Return what goes wrong in the first of so many orders in which anything does."""
    for seed in range(orders):
        if found := faults_of_order(text, seed):
            return found
    return []


def faults_of_order(text: str, seed: int) -> list[str]:
    if text.startswith("{"):
        found = [plan_executor.run(text, seed=seed, times=3)]
    else:
        found = [
            xml_executor.run(text, size, in_place=place, seed=seed)
            for size in xml_executor.sizes(text)
            for place in xml_executor.Algorithm(text).places
        ]
    return [each for each in found if each is not None]


def share_seen(found: Counter[tuple[str | None, bool]]) -> float:
    """Return the share of the faults that `check-program` found which an executor saw."""
    faulty = {key: count for key, count in found.items() if key[0] is not None}
    return sum(count for (_, seen), count in faulty.items() if seen) / sum(faulty.values())


@pytest.mark.parametrize("target", [QUICK[0], *QUICK[2:]])
def test_check_program_and_executors_agree_on_some_changed_files(target: str, tmp_path: Path) -> None:
    found = compare(exported(schedule("ring:nodes=3", "allgather"), target), 30, 6, tmp_path)
    assert share_seen(found) > 0.7, found


@pytest.mark.slow
@pytest.mark.parametrize("target", [QUICK[0], QUICK[0].replace("azure", "microsoft").replace("Simple", "LL"), QUICK[2]])
@pytest.mark.parametrize(
    ("spec", "collective"), list(product(SMALL, ["allgather", "reduce-scatter", "allreduce", "all-to-all"]))
)
def test_check_program_and_executors_agree_on_changed_files(
    spec: str, collective: str, target: str, tmp_path: Path
) -> None:
    found = compare(exported(schedule(spec, collective), target), 60, 8, tmp_path)
    assert share_seen(found) > 0.6, found


def test_a_port_that_reads_after_the_end_of_its_rank_is_seen_by_both(tmp_path: Path) -> None:
    plan = json.loads(exported(schedule("dgx-a100:boxes=2,gpus=2", "allreduce"), QUICK[2]))
    for gpu in plan["gpus"]:
        for block in gpu["threadblocks"]:
            block["ops"] = [each for each in block["ops"] if each["name"] != "flush"]
    assert verdict(json.dumps(plan), tmp_path) == "after-end"
    assert _first(json.dumps(plan), 12)


def test_executors_import_nothing_of_what_they_judge() -> None:
    for name in ("random_order", "collective_calls", "xml_executor", "plan_executor", "file_changes"):
        assert "forestcoll" not in (Path(__file__).parent / f"{name}.py").read_text()
