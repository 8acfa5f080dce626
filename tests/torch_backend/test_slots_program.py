"""Programs of slots move and add up the right data, for all kinds of trees, on one process without torch's groups."""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; `make torch` installs it")

from slot_machine import Vector, expected, programs_of, run

from forestcoll import Demand, generate, load_topology
from forestcoll.algorithms.few_trees import few_trees
from forestcoll.demand.collective import PhaseOp
from forestcoll.runtime import plan_of
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.trees.slots import SLOT_COSTS, SlotModel
from forestcoll.topology.changes import changed_network
from forestcoll.torch.slots.boxes import boxes_of
from forestcoll.torch.slots.program import Memory, Program, Size, Sum, Timetable

NETWORKS = {
    "ring:nodes=2": (),
    "ring:nodes=4": (),
    "torus:dims=3x3": (),
    "dgx-a100:boxes=2,gpus=4": ("b0/gpu0--ib",),
    "dgx-1:boxes=1": ("b0/gpu0--b0/gpu3",),
    "mi250:boxes=1,gpus=8": (),
}
COLLECTIVES = ["allgather", "reduce-scatter", "allreduce", "broadcast:root=1", "reduce:root=1"]


@cache
def timetable(spec: str, collective: str, *, few: bool = False) -> Timetable:
    """Return the timetable on a network without the parts that have failed there."""
    topology = changed_network(load_topology(spec), NETWORKS.get(spec, ()), ())
    name, _, root = collective.partition(":root=")
    node = topology.nodes[topology.compute[int(root)]].id if root else None
    make = few_trees if few else generate
    return Timetable(plan_of(make(topology, Demand(name, root=node))))


def inputs_of(ranks: int, count: int) -> list[Vector]:
    generator = np.random.default_rng(count)
    return [generator.integers(-99, 99, count) for _ in range(ranks)]


def is_right(table: Timetable, size: Size, programs: Sequence[Program]) -> bool:
    inputs = inputs_of(table.plan.size, size.count)
    results = run(table, size, inputs, programs)
    return all(map(np.array_equal, results, expected(table, size, inputs)))


@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("collective", COLLECTIVES[:3])
def test_the_simulator_has_the_slots_that_run(spec: str, collective: str) -> None:
    table = timetable(spec, collective)
    topology = changed_network(load_topology(spec), NETWORKS.get(spec, ()), ())
    schedule = generate(topology, collective)
    assert isinstance(schedule, TreeSchedule)
    assert SlotModel.of(schedule, SLOT_COSTS).depth == table.depth


@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_all_elements_are_right_for_all_sizes(spec: str, collective: str) -> None:
    table = timetable(spec, collective)
    ranks, shards = table.plan.size, table.plan.collective.has_shards
    for count, chunks, grain in product([1, 3, 331], [1, 2, 7], [1, 4]):
        sizes = [Size(count * ranks, None, chunks, grain)]
        if shards:
            counts = tuple(count + rank % 3 for rank in range(ranks))
            sizes.append(Size(sum(counts), counts, chunks, grain))
        else:
            sizes.append(Size(count * ranks + 5, None, chunks, grain))
        for size in sizes:
            programs = programs_of(table, size)
            assert is_right(table, size, programs)
            assert {len(program.slots) for program in programs} == {chunks + table.depth - 1}


def test_a_shard_may_be_empty() -> None:
    for collective in ("allgather", "reduce-scatter"):
        table = timetable("ring:nodes=4", collective)
        size = Size(7, (0, 7, 0, 0), 3, 1)
        assert is_right(table, size, programs_of(table, size))


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_hop_one_slot_early_is_noticed(collective: str) -> None:
    """The hops are those of ranks that must have received first."""
    table = timetable("torus:dims=3x3", collective)
    size, came = Size(9 * 40, None, 3, 1), {(hop.flow, hop.target) for hop in table.hops}
    fed = {PhaseOp.REDUCE: table.summed, PhaseOp.BROADCAST: came}
    waiting = [place for place, hop in enumerate(table.hops) if (hop.flow, hop.source) in fed[hop.op] and hop.slot]
    assert waiting
    for place in waiting[:: max(1, len(waiting) // 8)]:
        hops = list(table.hops)
        hops[place] = hops[place]._replace(slot=hops[place].slot - 1)
        early = Timetable(table.plan)
        vars(early)["hops"] = tuple(hops)
        assert not is_right(early, size, programs_of(early, size)), hops[place]


def test_an_element_that_is_not_added_is_noticed() -> None:
    table = timetable("ring:nodes=4", "allreduce")
    size = Size(64, None, 2, 1)
    programs = programs_of(table, size)
    sums = next(slot.rounds[0] for slot in programs[0].slots if slot.rounds)
    sums[0] = Sum(*(each._replace(high=each.high - 1) for each in sums[0]))
    assert not is_right(table, size, programs)


def test_memory_for_what_came_is_used_again() -> None:
    table = timetable("mi250:boxes=1", "allreduce")
    whole = 16 * 4096
    few, many = (max(each.scratch for each in programs_of(table, Size(whole, None, chunks, 1))) for chunks in (4, 16))
    assert many < few < whole / 2


def test_messages_to_one_peer_are_joined() -> None:
    """The flows of a root that share a hop lie one after the other."""
    table = timetable("dgx-a100:boxes=2,gpus=4", "allgather")
    program = programs_of(table, Size(8 * 4096, None, 8, 1))[0]
    steady = program.slots[table.depth]
    assert len(steady.sends) + len(steady.receives) <= table.most_operations([])
    assert all(each.where.memory is Memory.DATA for each in steady.sends)


@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_no_slot_has_more_operations_than_stated(spec: str, collective: str) -> None:
    table = timetable(spec, collective)
    boxes = boxes_of(load_topology(spec))
    box_of = {rank: number for number, box in enumerate(boxes) for rank in box}
    found = 0
    for rank, program in enumerate(programs_of(table, Size(table.plan.size * 4096, None, table.depth + 1, 1))):
        for slot in program.slots:
            near = [box_of.get(rank, -1) == box_of.get(each.peer, -2) for each in (*slot.sends, *slot.receives)]
            found = max(found, near.count(True), near.count(False))
    assert found <= table.most_operations(boxes) <= 1.5 * found  # a few messages of two chunks may be joined


def test_few_trees_reach_nine_tenths_of_the_optimum_with_fewer_flows() -> None:
    for spec in ("mi250:boxes=1", "dgx-a100:boxes=2"):
        best, few = timetable(spec, "allreduce"), timetable(spec, "allreduce", few=True)
        assert len(few.plan.flows) < len(best.plan.flows)
        assert few.plan.algbw >= best.plan.algbw * 9 / 10
        assert few.most_operations([]) < best.most_operations([])
