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
from forestcoll.topology.registry import build_topology
from networks import demand_for, examples

SPECS = ("dgx-a100:boxes=2,gpus=2", "torus:dims=2x3")


@cache
def lowered(spec: str, collective: Collective, **options: Any) -> Program:
    topology = build_topology(spec)
    if collective is Collective.ALL_TO_ALL:
        return lower(generate(topology, "all-to-all")).program
    return lower(generate(topology, demand_for(topology, collective, 1)), Options(**options)).program


def spread(broken: Iterator[Program], count: int) -> list[Program]:
    """Return `count` of the broken programs, evenly spaced."""
    listed = list(broken)
    return list(islice(listed, 0, None, max(1, len(listed) // count)))[:count]


@pytest.mark.parametrize("mutate", MUTATIONS)
@pytest.mark.parametrize("collective", [*SCHEDULED, Collective.ALL_TO_ALL])
@pytest.mark.parametrize("spec", SPECS)
def test_every_mutation_is_found(
    spec: str, collective: Collective, mutate: Callable[[Program], Iterator[Program]]
) -> None:
    program = lowered(spec, collective)
    assert check(program).ok
    for broken in spread(mutate(program), 6):
        verdict = check(broken)
        assert not verdict.ok
        assert check(broken) == verdict


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
            if verdict.fault is None or verdict.fault.rule in {"wrong-data", "deadlock", "waits-forever"}:
                assert goes_right_in_every_order(each) == verdict.ok
        except TooManyOrders:
            continue
