"""In an allreduce, the root of a tree may be a switch with the abilities, or an idle node."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import Collective, InputError, lower, read_schedule, simulate, verify, write_schedule
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Topology, TopologyBuilder


def star(*, multicast: bool = True, aggregation: bool = True, idle: bool = False) -> Topology:
    """Three compute nodes around a hub, which is a switch or an idle compute node."""
    builder = TopologyBuilder("star")
    for node in "abc":
        builder.add_compute(node)
    if idle:
        builder.add_compute("hub")
    else:
        builder.add_switch("hub", multicast=multicast, aggregation=aggregation)
    for node in "abc":
        builder.add_duplex(node, "hub", 4)
    return builder.build()


def through_the_hub(topology: Topology, ranks: tuple[int, ...] | None = None) -> TreeSchedule:
    hub, members = 3, (0, 1, 2)
    routes = Rows.of([[node, hub] for node in members] + [[hub, node] for node in members])
    phases = (
        Phase(PhaseOp.REDUCE, (hub,), (Fraction(1),), Rows.of([[0, 1, 2]])),
        Phase(PhaseOp.BROADCAST, (hub,), (Fraction(1),), Rows.of([[3, 4, 5]])),
    )
    return TreeSchedule(
        topology=topology,
        collective=Collective.ALLREDUCE,
        routes=routes,
        phases=phases,
        algbw=Fraction(4),
        ranks=ranks,
    )


def test_a_switch_that_adds_and_copies_may_be_the_root() -> None:
    report = verify(through_the_hub(star()))
    assert report.fault is None
    assert report.algbw == 4


def test_an_idle_node_may_be_the_root() -> None:
    report = verify(through_the_hub(star(idle=True), ranks=(0, 1, 2)))
    assert report.fault is None
    assert report.algbw == 4


@pytest.mark.parametrize("missing", ["multicast", "aggregation"])
def test_a_switch_needs_both_abilities(missing: str) -> None:
    fault = verify(through_the_hub(star(**{missing: False}))).fault
    assert fault is not None
    assert fault.rule in {"tree-root", "tree-switch", "route-ends-on-switch"}


def test_both_phases_need_the_same_root() -> None:
    schedule = through_the_hub(star())
    other = Phase(PhaseOp.BROADCAST, (0,), (Fraction(1),), Rows.of([[0, 4, 5]]))
    fault = verify(replace(schedule, phases=(schedule.phases[0], other))).fault
    assert fault is not None
    assert fault.rule == "root-shares"


@pytest.mark.parametrize("idle", [False, True])
def test_a_rank_that_sends_nothing_is_found(*, idle: bool) -> None:
    schedule = through_the_hub(star(idle=idle), ranks=(0, 1, 2))
    short = replace(schedule.phases[0], routes=Rows.of([[0, 1]]))
    fault = verify(replace(schedule, phases=(short, schedule.phases[1]))).fault
    assert fault is not None
    assert fault.rule == "tree-not-spanning"


def test_other_collectives_need_a_root_that_takes_part() -> None:
    schedule = through_the_hub(star())
    broadcast = replace(schedule, collective=Collective.BROADCAST, phases=schedule.phases[1:])
    fault = verify(broadcast).fault
    assert fault is not None
    assert fault.rule == "tree-root"


def test_it_is_written_read_and_simulated_but_has_no_program(tmp_path_factory: pytest.TempPathFactory) -> None:
    schedule, path = through_the_hub(star()), tmp_path_factory.mktemp("roots") / "schedule.json"
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule
    assert simulate(schedule, [2**30])[0].algbw > 3
    with pytest.raises(
        InputError, match="a tree is rooted at 'hub', which runs no program; use a schedule whose roots"
    ):
        lower(schedule)
