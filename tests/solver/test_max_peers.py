"""Schedules in which a rank exchanges data with few ranks of other boxes."""

from collections import defaultdict
from itertools import pairwise

import pytest

from forestcoll import generate, optimum, verify
from forestcoll.algorithms.flows import Flows
from forestcoll.algorithms.trees import Trees
from forestcoll.demand.demand import Demand
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from refusal import refusal

BOXES = "dgx-a100:boxes=4,gpus=2"


def _most_peers(schedule: TreeSchedule | FlowSchedule) -> int:
    """Return the most ranks of other boxes that a rank exchanges data with."""
    box = [node.attributes.get("box") for node in schedule.topology.nodes]
    peers = defaultdict(set)
    for number in range(len(schedule.routes)):
        route = schedule.routes[number]
        if box[route[0]] != box[route[-1]]:
            peers[route[0]].add(route[-1])
            peers[route[-1]].add(route[0])
    return max(map(len, peers.values()))


@pytest.mark.parametrize(
    ("spec", "collective", "peers"),
    [
        (BOXES, "allgather", 2),
        (BOXES, "reduce-scatter", 2),
        (BOXES, "allreduce", 2),
        (BOXES, "broadcast", 2),
        (BOXES, "reduce", 2),
        ("aws-p4d:boxes=4", "allgather", 2),  # ranks behind NICs that are switches
        ("dgx-2:boxes=2", "allgather", 1),
        ("dgx-a100:boxes=3,pcie=true", "allgather", 2),
    ],
)
def test_schedules_with_few_peers_lose_nothing(spec: str, collective: str, peers: int) -> None:
    root = "b0/gpu0" if collective in {"broadcast", "reduce"} else None
    schedule = generate(spec, Demand(collective, root=root), Trees(peers=peers))
    assert verify(schedule).optimal
    assert _most_peers(schedule) == peers
    assert schedule.algbw == optimum(spec, Demand(collective, root=root)).algbw


def test_the_links_into_all_boxes_are_equally_busy() -> None:
    schedule = generate(BOXES, method="trees:peers=2")
    fabric = schedule.topology.number("ib")
    uses: dict[int, int] = defaultdict(int)
    for route in schedule.phases[0].routes.entries:
        nodes = schedule.routes[int(route)]
        for source, target in pairwise(nodes):
            if source == fabric:
                uses[target] += 1
    assert uses == dict.fromkeys(schedule.topology.compute, 3)  # 6 shards over the 2 links of a box


def test_the_bound_is_that_of_all_schedules() -> None:
    limited, whole = (
        optimum("mi250:boxes=2,gpus=8", method="trees:peers=1"),
        optimum("mi250:boxes=2,gpus=8"),
    )
    assert (limited.bound, limited.cut) == (whole.bound, whole.cut)
    assert limited.algbw <= whole.algbw
    assert verify(generate("mi250:boxes=2,gpus=8", method="trees:peers=1")).ok


@pytest.mark.parametrize(
    ("spec", "collective", "peers", "algbw"),
    [
        (BOXES, "all-to-all", 3, "100/3"),
        (BOXES, "all-to-all", 2, "25"),
        ("mi250:boxes=3,gpus=8", "all-to-all", 2, None),
        ("aws-p4d:boxes=2", "all-to-all", 1, None),
        (BOXES, "gather", 2, None),
        (BOXES, "scatter", 2, None),
    ],
)
def test_flows_with_few_peers(spec: str, collective: str, peers: int, algbw: str | None) -> None:
    root = None if collective == "all-to-all" else 0
    schedule = generate(spec, Demand(collective, root=root), Flows(peers=peers))
    best, report = optimum(spec, Demand(collective, root=root)), verify(schedule)
    assert report.ok
    assert _most_peers(schedule) == peers
    assert schedule.bound == best.bound
    assert str(schedule.algbw) == (algbw or str(best.algbw))
    assert report.optimal == (schedule.algbw == best.algbw)


def test_flows_with_few_peers_are_listed_and_have_a_proven_program() -> None:
    schedule = generate(BOXES, "all-to-all", "flows:peers=2,compact=true")
    assert schedule.symmetry is None
    assert generate(BOXES, "all-to-all", "flows:compact=true").symmetry is not None
    assert check(lower(schedule, Options(placement=Placement.OUT_OF_PLACE)).program).ok


@pytest.mark.parametrize("style", Style)
def test_a_program_with_few_peers_is_proven(style: Style) -> None:
    lowering = lower(generate(BOXES, method="trees:peers=2"), Options(style=style))
    assert check(lowering.program).ok
    assert lowering.loss == 0


def test_base_trees_and_no_peers_are_refused() -> None:
    assert "leave compact out" in refusal(generate, BOXES, method="trees:peers=2,compact=true")
    assert "trees: peers is '0'; expected an integer" in refusal(optimum, BOXES, method="trees:peers=0")
    assert "max_peers is 1; 4 boxes need at least 2 peers" in refusal(optimum, BOXES, "all-to-all", "flows:peers=1")
