"""The tables of best schedules that the torch backend makes: those of `generate --size`, the same on all ranks."""

import pytest

pytest.importorskip("torch")

from forestcoll.algorithms.by_size import BySize
from forestcoll.algorithms.generate import problem_of
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.runtime import MemoryStore
from forestcoll.runtime.engine.plan import plan_of
from forestcoll.topology.registry import build_topology
from forestcoll.torch.schedules.agreement import Agreement
from forestcoll.torch.schedules.by_size import best_table


def agreements() -> tuple[Agreement, Agreement]:
    store = MemoryStore()
    return Agreement(store, 0, 2, 5.0), Agreement(store, 1, 2, 5.0)


@pytest.mark.parametrize("collective", UNROOTED)
def test_ranks_have_the_schedules_of_generate_for_each_size(collective: Collective) -> None:
    topology = build_topology("dgx-a100:boxes=2,gpus=4")
    first, second = (best_table(topology, collective, each) for each in agreements())
    assert first is not None
    assert first == second
    by_size = BySize(problem_of(topology, collective))
    for size in (2**10, 2**20, 2**30):
        chosen = next(each.schedule for each in first.ranges if size <= each.most)
        assert chosen == by_size.at(size).schedule


def test_only_schedules_that_can_be_run_are_chosen() -> None:
    topology = build_topology("mi250:boxes=1,gpus=8")
    table = best_table(topology, Collective.ALLGATHER, agreements()[0])
    assert table is not None
    for each in table.ranges:
        assert each.schedule is not None
        plan_of(each.schedule)


def test_there_is_no_table_where_the_optimum_is_always_best_or_nothing_is_known() -> None:
    assert best_table(build_topology("mi300x:boxes=1"), Collective.ALLGATHER, agreements()[0]) is None
    many = build_topology("dgx-a100:boxes=5")
    assert best_table(many, Collective.ALLGATHER, agreements()[0]) is None
