"""Verify changed schedules, for a given time or number.

Goal: the verifier accepts a changed schedule exactly if it is right by the plain rules of the tests. Schedules of trees
and of flows on small networks are changed as documents: other numbers, other fractions, entries that are removed,
repeated or swapped. A schedule with a fault is written to build/fuzz.
"""

import copy
import json
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.schedule.files import schedule_from_document, schedule_text
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification import verify

sys.path.append(str(Path(__file__).parents[2] / "tests" / "common"))

import flow_oracles
import verify_oracle

NETWORKS = (
    "ring:nodes=3",
    "ring:nodes=4",
    "complete:nodes=4",
    "dgx-a100:boxes=2,gpus=2",
    "dgx-h100:boxes=2,gpus=2,nvls=true",
    "mesh:dims=2x3",
)
CHANGED = ("routes", "phases", "flows", "algbw", "shards", "demand", "ranks", "collective")
"""The parts of a document that are changed. The claimed bound is left out: the tests of proofs are about it."""


def bases() -> list[dict[str, Any]]:
    """Return the documents of right schedules, without bounds."""
    found = [
        generate(network, Demand(collective, root=_root(collective)))
        for network in NETWORKS
        for collective in SCHEDULED
    ]
    exchanges: list[Schedule] = [
        generate(network, Demand(collective, root=None if collective == "all-to-all" else 0))
        for network in NETWORKS[:3]
        for collective in ("all-to-all", "gather", "scatter")
    ]
    documents = [json.loads("".join(schedule_text(schedule))) for schedule in [*found, *exchanges]]
    for document in documents:
        for name in ("optimal_algbw", "certificate", "trees_per_root"):
            document.pop(name, None)
    return documents


def _root(collective: Collective) -> int | None:
    return 0 if collective.has_root else None


def changed(document: dict[str, Any], random: Random) -> dict[str, Any]:
    """Return a copy of a document with one to three changes."""
    document = copy.deepcopy(document)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        keys = [key for key in CHANGED if document.get(key) is not None]
        parent: Any = document
        key: Any = random.choice(keys)
        while isinstance(parent[key], dict | list) and parent[key] and random.random() < 0.8:
            parent = parent[key]
            key = random.choice(list(parent)) if isinstance(parent, dict) else random.randrange(len(parent))
        _change(parent, key, random)
    return document


def _change(parent: Any, key: Any, random: Random) -> None:
    """Change one entry of an object or a list."""
    value = parent[key]
    if isinstance(parent, list) and random.random() < 0.5:
        place = random.randrange(len(parent))
        kind = random.randrange(4)
        if kind == 0:
            del parent[key]
        elif kind == 1:
            parent.insert(place, copy.deepcopy(value))
        else:
            parent[key], parent[place] = parent[place], parent[key]
    elif isinstance(value, list):
        value.reverse()
    elif isinstance(value, int):
        parent[key] = max(0, value + random.choice((-2, -1, 1, 2)))
    elif isinstance(value, str):
        parent[key] = _other_text(value, random)


def _other_text(text: str, random: Random) -> str:
    """Return another name, or another fraction."""
    names = [each.value for each in Collective]
    if text in names:
        return random.choice(names)
    factor = Fraction(random.randint(1, 3), random.randint(1, 3)) + random.choice((0, 0, Fraction(1, 10**40)))
    return str(Fraction(text) * factor)


def fault_of(document: dict[str, Any]) -> tuple[str | None, str]:
    """Return what is wrong with the verifier's answer, or None, and what became of the schedule."""
    try:
        schedule = schedule_from_document(document, where="changed")
    except InputError:
        return None, "refused by the reader"
    found = verify(schedule)
    expected = _is_right(schedule)
    if found.ok is not expected:
        return f"verify says {found.fault or 'right'}, the plain rules say {expected}", "failed"
    return None, "right" if expected else "refused by the verifier"


def _is_right(schedule: Schedule) -> bool:
    if isinstance(schedule, FlowSchedule):
        return bool(len(schedule.flows)) and flow_oracles.is_right(schedule)
    return isinstance(schedule, TreeSchedule) and verify_oracle.is_right(schedule)


def fuzz(*, seconds: float, most: int, seed: int, failures: Path) -> tuple[Counter[str], int]:
    """Verify changed schedules until the time or the number is reached; return them by result, and the failures."""
    counts: Counter[str] = Counter()
    documents = bases()
    end = time.monotonic() + seconds
    number = 0
    while number < most and time.monotonic() < end:
        random = Random(f"{seed}/{number}")  # noqa: S311 (not for security)
        document = changed(random.choice(documents), random)
        fault, outcome = fault_of(document)
        counts[outcome] += 1
        if fault is not None:
            failures.mkdir(parents=True, exist_ok=True)
            path = failures / f"schedule-{seed}-{number}.json"
            path.write_text(json.dumps(document) + "\n")
            print(f"FAILED: {fault}; {path}", file=sys.stderr, flush=True)
        number += 1
    return counts, counts["failed"]
