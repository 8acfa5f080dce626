"""Every broken program is found, with the same verdict each time, and an oracle that tries all orders agrees."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interleavings import TooManyOrders, goes_right_in_every_order
from mutations import MUTATIONS

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, Placement, lower
from forestcoll.programs.model import Program
from forestcoll.solver.personalised import generate_flows
from forestcoll.topology.registry import build_topology
from networks import examples

SPECS = ("dgx-a100:boxes=2,gpus=2", "mi250:boxes=1,gpus=8", "torus:dims=3x3")


@cache
def lowered(spec: str, collective: Collective, **options: Any) -> Program:
    topology = build_topology(spec)
    root = topology.nodes[topology.compute[1]].id if collective.has_root else None
    return lower(generate(topology, collective=collective, root=root), Options(**options)).program


def spread(broken: Iterator[Program], count: int) -> list[Program]:
    """Return `count` of the broken programs, evenly spaced."""
    listed = list(broken)
    return list(islice(listed, 0, None, max(1, len(listed) // count)))[:count]


@pytest.mark.parametrize("mutate", MUTATIONS)
@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", SPECS)
def test_every_mutation_is_found(
    spec: str, collective: Collective, mutate: Callable[[Program], Iterator[Program]]
) -> None:
    program = lowered(spec, collective)
    assert check(program).ok
    for broken in spread(mutate(program), 6):
        verdict = check(broken)
        assert not verdict.ok, (mutate.__name__, spec, collective)
        assert check(broken) == verdict


@pytest.mark.parametrize("mutate", MUTATIONS)
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2,gpus=2", "torus:dims=3x3"])
def test_every_mutation_of_an_all_to_all_is_found(spec: str, mutate: Callable[[Program], Iterator[Program]]) -> None:
    program = lower(generate_flows(spec)).program
    assert check(program).ok
    for broken in spread(mutate(program), 8):
        assert not check(broken).ok, (mutate.__name__, spec)


SMALL = ("complete:nodes=2", "ring:nodes=3", "complete:nodes=3", "dgx-a100:boxes=2,gpus=1", "mesh:dims=3")


@examples(80)
@given(
    st.sampled_from(SMALL),
    st.sampled_from(list(SCHEDULED)),
    st.sampled_from(MUTATIONS),
    st.integers(0, 10**6),
    st.sampled_from([1, 2, None]),
)
def test_accepted_programs_are_correct_in_every_order(
    spec: str, collective: Collective, mutate: Callable[[Program], Iterator[Program]], place: int, slots: int | None
) -> None:
    program = replace(lowered(spec, collective, placement=Placement.OUT_OF_PLACE), slots=slots)
    broken = list(mutate(program))
    for each in [program, *([broken[place % len(broken)]] if broken else [])]:
        verdict = check(each)
        try:
            right = goes_right_in_every_order(each) if verdict.fault is None or _runs(verdict.fault.rule) else None
        except TooManyOrders:
            continue
        if verdict.ok:
            assert right
        elif verdict.fault is not None and verdict.fault.rule in {"wrong-data", "deadlock", "waits-forever"}:
            assert not right


def _runs(rule: str) -> bool:
    return rule in {"wrong-data", "deadlock", "waits-forever"}
