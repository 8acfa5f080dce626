"""Step schedules made from others: reversed, mapped to another numbering, or one after the other."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.steps.composition import combined, is_own_transpose, mapped_to, reversed_steps
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import Transfer, Transfers
from forestcoll.solver.generation.bfb import bfb
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples, networks, one_way_networks
from refusal import refusal

DIRECT = st.one_of(networks(most=6, switches=False), one_way_networks(most=6, switches=False))


@examples(60)
@given(DIRECT, st.sampled_from(["allgather", "reduce-scatter", "allreduce"]))
def test_the_reverse_is_correct_on_the_transposed_network_and_has_the_same_cost(topology: Topology, kind: str) -> None:
    schedule = bfb(topology, kind)
    back = reversed_steps(schedule)
    assert back.collective is schedule.collective.dual
    assert verify(back).ok
    assert step_shape(back).step_times == step_shape(schedule).step_times[::-1]
    assert reversed_steps(back) == schedule


def test_on_a_reverse_symmetric_network_the_reverse_is_mapped_back() -> None:
    topology = build_topology("circulant:nodes=7,offsets=1+2,one_way=true")
    assert not is_own_transpose(topology)
    image = [(-node) % 7 for node in range(7)]
    scatter = mapped_to(reversed_steps(bfb(topology)), topology, image)
    assert scatter.collective is Collective.REDUCE_SCATTER
    assert verify(scatter).optimal
    assert verify(combined(scatter, bfb(topology))).optimal


def test_shards_move_with_their_nodes() -> None:
    topology = build_topology("double-binary-tree:nodes=7")
    schedule = generate(topology, "allreduce", "double-binary-tree")
    image = np.roll(np.arange(7), 1).tolist()
    assert "does not map its links" in refusal(mapped_to, schedule, topology, image)
    assert mapped_to(schedule, topology, list(range(7))) == schedule
    for wrong in ([0, 0, 1, 2, 3, 4, 5], [0, 1, 2], [0, 1, 2, 3, 4, 5, 7]):
        assert "the image does not list each node" in refusal(mapped_to, schedule, topology, wrong)


def test_only_a_reduce_scatter_and_an_allgather_make_an_allreduce() -> None:
    ring, other = bfb(build_topology("ring:nodes=4")), bfb(build_topology("complete:nodes=4"))
    assert "not allgather and allgather" in refusal(combined, ring, ring)
    assert "for different networks" in refusal(combined, reversed_steps(ring), other)
    with pytest.raises(InputError, match="have different shards; make them the same"):
        combined(reversed_steps(ring), replace(ring, shards=(Fraction(1, 2), *[Fraction(1, 6)] * 3)))
    with pytest.raises(InputError, match="have different ranks; make them the same"):
        combined(replace(reversed_steps(ring), ranks=(0, 1, 2, 3)), ring)


def test_transfers_in_any_order_are_sorted_into_steps() -> None:
    columns = [np.array(column) for column in ([1, 0, 1], [0, 1, 2], [0, 1, 2], [1, 2, 0], [3, 1, 0], [2, 0, 2])]
    steps, shards, sources, targets, lows, highs = columns
    sent = Transfers.by_step(
        steps,
        count=3,
        shards=shards,
        sources=sources,
        targets=targets,
        lows=lows,
        highs=highs,
        points=[Fraction(1, 2), Fraction(0), Fraction(1), Fraction(0), Fraction(7)],
    )
    zero, half, one = Fraction(0), Fraction(1, 2), Fraction(1)
    assert sent.points == (zero, half, one)
    assert [list(step) for step in sent] == [
        [Transfer(1, zero, half, 1, 2)],
        [Transfer(0, zero, one, 0, 1), Transfer(2, half, one, 2, 0)],
        [],
    ]
    assert sent == Transfers.of([list(step) for step in sent])
    assert sent != Transfers.of([])


def test_a_node_adds_up_what_it_receives_in_steps_that_reduce() -> None:
    for spec, method, collective, factor in (
        ("ring:nodes=4", "ring", "reduce-scatter", Fraction(3, 4)),
        ("ring:nodes=4", "ring", "allreduce", Fraction(3, 4)),
        ("ring:nodes=4", "ring", "allgather", 0),
        ("hypercube:dim=3", "halving-doubling", "reduce-scatter", Fraction(7, 8)),
    ):
        shape = step_shape(generate(spec, collective, method))
        assert shape.reduction_factor == factor, (spec, collective)


@examples(40)
@given(networks(most=6, switches=False))
def test_adding_up_takes_at_most_the_bandwidth_factor_by_theorem_six(topology: Topology) -> None:
    shape = step_shape(bfb(topology, "reduce-scatter"))
    least = Fraction(len(topology.compute) - 1, len(topology.compute))
    if topology.is_full_duplex:
        assert least <= shape.reduction_factor <= shape.bandwidth_factor
