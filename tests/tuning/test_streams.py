"""Streams compute the right data, and a hop costs one overhead."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.algorithms.baseline import Problem
from forestcoll.algorithms.forests import schedule_of
from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.programs.interpreter import check
from forestcoll.programs.model import Message
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import run_in_time
from forestcoll.simulation.program.paths import Paths
from forestcoll.topology.registry import build_topology
from forestcoll.tuning.shallow import central_forest, central_roots, shallow_forest
from forestcoll.tuning.streams import stream_program

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")


def shallow(spec: str, collective: str, trees: int = 1, more: int = 1) -> TreeSchedule:
    problem = Problem(build_topology(spec), NodeDemand(Collective(collective)))
    return schedule_of(problem, lambda each: shallow_forest(each, more, trees))


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("trees", [1, 2])
@pytest.mark.parametrize("spec", ["mi250:boxes=2,gpus=3", "dgx-a100:boxes=2,gpus=2", "ring:nodes=5"])
def test_streams_are_right_in_place_and_out_of_place(spec: str, trees: int, collective: str) -> None:
    for pieces in (1, 3):
        program = stream_program(shallow(spec, collective, trees), pieces)
        assert program is not None
        assert program.chunks % (trees * pieces) == 0
        assert check(replace(program, in_place=True, out_of_place=True)).fault is None


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(("spec", "more"), [("mesh:dims=3x3", 0), ("mesh:dims=3x3", 1), ("mi250:boxes=1", 0)])
def test_ranks_may_be_roots_of_different_numbers_of_trees(spec: str, more: int, times: int) -> None:
    problem = Problem(build_topology(spec), NodeDemand(Collective.ALLREDUCE))
    centre = central_roots(problem, more, times)
    schedule = schedule_of(problem, lambda each: central_forest(each, centre))
    for pieces in (1, 3):
        program = stream_program(schedule, pieces)
        assert program is not None
        assert program.chunks == len(centre.roots) * pieces
        assert check(replace(program, in_place=True, out_of_place=True)).fault is None


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_each_hop_costs_one_overhead(collective: str) -> None:
    """Four hops of 6 us around half of a ring, and a receipt, which may also add up; the other half has three hops."""
    schedule = shallow("ring:nodes=8", collective, more=0)
    program = stream_program(schedule, 1)
    assert program is not None
    seconds = run_in_time(program, Paths.of(schedule), 8, Costs(alpha_us=5, overhead_us=1)).seconds
    assert seconds * 1e6 == pytest.approx(4 * 6 + 1, abs=0.01)


def test_each_path_has_channels_of_its_own() -> None:
    program = stream_program(shallow("mi250:boxes=1,gpus=8", "allreduce"), 1)
    assert program is not None
    users: dict[int, set[tuple[int, int]]] = {}
    for rank, block, _, each in program.instructions():
        for place in (*each.sources, *each.targets):
            if isinstance(place, Message):
                users.setdefault(place.channel, set()).add((rank, block))
    assert all(len(each) == 2 for each in users.values())


def test_long_paths_choose_first_so_that_the_channels_of_msccl_suffice() -> None:
    program = stream_program(shallow("mi250:boxes=1", "allreduce", trees=2, more=0), 1)
    assert program is not None
    assert max(channel.number for channel in program.channels) == 31


def test_trees_of_different_shares_have_no_streams() -> None:
    schedule = generate("ring:nodes=4")
    (phase,) = schedule.phases
    shares = (Fraction(1, 16), Fraction(3, 16), *phase.shares[2:])
    assert stream_program(replace(schedule, phases=(replace(phase, shares=shares),)), 1) is None
