"""The times of trees in slots: by hand, against a play of every slot, and in the limits."""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import pytest

from forestcoll import Costs, TreeSchedule, generate, simulate
from forestcoll.simulation.trees.slots import CHUNKS, SLOT_COSTS, SlotModel
from refusal import refusal


def trees(spec: str, collective: str = "allgather") -> TreeSchedule:
    found = generate(spec, collective)
    assert isinstance(found, TreeSchedule)
    return found


def test_two_nodes_exchange_in_one_slot() -> None:
    model = SlotModel.of(trees("complete:nodes=2"), Costs(alpha_us=7, overhead_us=5))
    assert model.depth == 1
    assert model.seconds(10**6, 1) == pytest.approx(7e-6 + 0.5e-3)  # half of 1 MB at 1 GB/s
    assert model.seconds(10**6, 4) == pytest.approx(4 * 7e-6 + 0.5e-3)


def test_a_line_passes_data_on_one_slot_later() -> None:
    # 0 - 1 - 2 at 1 GB/s. In the first slot, 0 and 1 both send their third to the right; in the second, 1 passes on.
    model = SlotModel.of(trees("mesh:dims=3"), Costs(alpha_us=10, overhead_us=0))
    assert model.depth == 2
    third = 1e6 / 3 / 1e9
    assert model.seconds(10**6, 1) == pytest.approx(2 * (10e-6 + third))
    # With two chunks there are three slots: the first chunk, the second one beside what is passed on, the rest.
    assert model.seconds(10**6, 2) == pytest.approx(3 * 10e-6 + third / 2 + 2 * third / 2 + third / 2)


def test_further_messages_to_a_peer_take_time() -> None:
    # 1 sends its own part and that of 0 to 2 in one slot, if there are two chunks.
    line = trees("mesh:dims=3")
    with_messages, without = (SlotModel.of(line, Costs(alpha_us=10, overhead_us=each)) for each in (4, 0))
    extra = [with_messages.seconds(1000, chunks) - without.seconds(1000, chunks) for chunks in (1, 2, 3)]
    assert extra == pytest.approx([0, 4e-6, 8e-6])


def played(schedule: TreeSchedule, size: int, chunks: int, slot_us: float) -> float:
    """Play every slot of an allgather: which chunk each tree sends over each route."""
    topology, (phase,) = schedule.topology, schedule.phases
    slots: dict[int, dict[tuple[int, int], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for tree in phase:
        reached = {tree.root: 0}
        for number in tree.routes:
            path = [int(node) for node in schedule.routes[int(number)]]
            reached[path[-1]] = reached[path[0]] + 1
            for chunk in range(chunks):
                for link in pairwise(path):
                    slots[chunk + reached[path[0]]][link] += tree.share / chunks
    busiest = [max(part / topology.bandwidths[link] for link, part in each.items()) for each in slots.values()]
    return len(slots) * slot_us * 1e-6 + float(sum(busiest)) * size / 1e9


@pytest.mark.parametrize(
    "spec", ["ring:nodes=5", "torus:dims=3x3", "dgx-1:boxes=1", "dgx-a100:boxes=2,gpus=4", "mesh:dims=4"]
)
def test_every_slot_takes_its_busiest_link(spec: str) -> None:
    schedule = generate(spec)
    assert isinstance(schedule, TreeSchedule)
    model = SlotModel.of(schedule, Costs(alpha_us=20, overhead_us=0))
    for chunks in (1, 2, 3, 8, 32):
        assert model.seconds(10**7, chunks) == pytest.approx(played(model.schedule, 10**7, chunks, 20))


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_many_chunks_reach_the_algbw_and_few_data_take_one(collective: str) -> None:
    schedule = trees("dgx-a100:boxes=2,gpus=4", collective)
    assert schedule.algbw is not None
    large, small = simulate(schedule, [2**40, 64], Costs(alpha_us=0, overhead_us=0), "slots")
    assert 1 <= float(schedule.algbw) / large.algbw < 1 + SlotModel.of(schedule, SLOT_COSTS).depth / CHUNKS[-1]
    (small,) = simulate(schedule, [64], model="slots")
    assert small.pieces == 1
    assert small.seconds > SLOT_COSTS.alpha_us * 1e-6


def test_only_trees_have_slots() -> None:
    steps = generate("ring:nodes=4", method="bfb")
    assert "a steps schedule has no slots" in refusal(simulate, steps, [1024], None, "slots")
