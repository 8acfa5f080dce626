"""All-to-alls, gathers and scatters give NumPy's result: on networks with relays and switches, of any sizes."""

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from players import LIMIT, Players, data_for

from exchange_reference import run_exchange
from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError, InputError
from forestcoll.demand.demand import Demand
from forestcoll.runtime import Communicator
from forestcoll.runtime.engine.elements import AnyArray, ElementType
from forestcoll.runtime.engine.exchange import Counts, all_to_all_counts, counts_of_shares, exchange_layout
from forestcoll.runtime.engine.plan import plan_of
from forestcoll.topology import Topology
from networks import SMALL, examples, networks
from refusal import refusal

SPECS = ("ring:nodes=2", "ring:nodes=5", "torus:dims=2x3", "dgx-a100:boxes=2,gpus=2", "mi250:boxes=1,gpus=8")


def exchanged(inputs: list[AnyArray | None], counts: Counts) -> list[AnyArray]:
    """Return what each member must get."""
    ends = [np.cumsum((0, *row)) for row in counts]
    found = []
    for target in range(len(counts)):
        parts = []
        for source, data in enumerate(inputs):
            assert data is not None
            parts.append(data[ends[source][target] : ends[source][target + 1]])
        found.append(np.concatenate(parts))
    return found


def drawn_counts(members: int, most: int, seed: int) -> Counts:
    random = Random(seed)  # noqa: S311 (a test)
    sizes = [random.choice([0, 1, most, random.randint(0, most)]) for _ in range(members**2)]
    return tuple(tuple(sizes[row * members : (row + 1) * members]) for row in range(members))


def inputs_of(counts: Counts, element: ElementType = ElementType.F32) -> list[AnyArray | None]:
    return [data_for(element, sum(row), seed) for seed, row in enumerate(counts)]


def compare(players: Players, sizes: Counts, element: ElementType = ElementType.F32, **options: Any) -> None:
    """Compare an all-to-all of random values with NumPy."""
    inputs: list[Any] = inputs_of(sizes, element)
    results = players.run(lambda group: group.all_to_all(inputs[group.rank], **options).wait(LIMIT))
    for got, wanted in zip(results, exchanged(inputs, sizes), strict=True):
        assert np.array_equal(got, wanted)


@pytest.mark.parametrize("spec", SPECS)
def test_an_all_to_all_equals_numpy(spec: str) -> None:
    with Players([generate(spec, "all-to-all")]) as players:
        ranks = players.size
        for element, part in {ElementType.F32: 1, ElementType.I64: 4097, ElementType.U8: 0}.items():
            compare(players, ((part,) * ranks,) * ranks, element)
        compare(players, ((99,) * ranks,) * ranks, ElementType.BF16, dtype="bf16")
        for seed in range(2):
            counts = drawn_counts(ranks, 30_000, seed)
            compare(players, counts, counts=counts)


def test_much_data_passes_through_a_few_relays() -> None:
    with Players(
        [generate("ring:nodes=6,one_way=true", "all-to-all")]
    ) as players:  # each flow crosses up to four relays
        compare(players, ((150_001,) * 6,) * 6)


def test_several_operations_are_under_way_at_once() -> None:
    with Players([generate("ring:nodes=4", "all-to-all")]) as players:

        def body(group: Communicator) -> list[Any]:
            works = [group.all_to_all(np.arange(4 * size) + group.rank) for size in (1, 5000, 3, 70_000)]
            return [work.wait(LIMIT) for work in works]

        for rank, results in enumerate(players.run(body)):
            for size, got in zip((1, 5000, 3, 70_000), results, strict=True):
                wanted = np.concatenate([np.arange(rank * size, (rank + 1) * size) + each for each in range(4)])
                assert np.array_equal(got, wanted)


def test_a_demand_matrix_and_idle_relays() -> None:
    matrix = [[0, "1/2", 0], ["1/4", 0, 1], [0, "1/3", 0]]
    schedule = generate("ring:nodes=6", Demand("all-to-all", ranks=[0, 2, 4], matrix=matrix))
    counts = ((7, 5000, 0), (2500, 0, 10_000), (0, 3333, 1))
    inputs: list[Any] = inputs_of(counts)
    with Players([schedule]) as players:

        def body(group: Communicator) -> Any:
            if group.rank % 2:
                return group.relay("all-to-all", 12_000, "f32", counts=counts).wait(LIMIT)
            return group.all_to_all(inputs[group.rank // 2], counts=counts).wait(LIMIT)

        results = players.run(body)
    assert results[1::2] == [None] * 3
    for got, wanted in zip(results[::2], exchanged(inputs, counts), strict=True):
        assert np.array_equal(got, wanted)


@pytest.mark.parametrize(("root", "sizes"), [(0, (20_000,) * 5), (2, (3, 0, 70_000, 5, 1))])
def test_a_gather_and_a_scatter(root: int, sizes: tuple[int, ...]) -> None:
    schedules = [generate("ring:nodes=5", Demand(name, root=root)) for name in ("gather", "scatter")]
    counts = sizes if len(set(sizes)) > 1 else None
    whole = data_for(ElementType.F64, sum(sizes), 1)
    ends = np.cumsum((0, *sizes))

    def body(group: Communicator) -> tuple[Any, Any]:
        shard = whole[ends[group.rank] : ends[group.rank + 1]]
        gathered = group.gather(shard, root=root, counts=counts)
        return gathered.wait(LIMIT), group.scatter(whole, root=root, counts=counts).wait(LIMIT)

    with Players(schedules) as players:
        for rank, (gathered, scattered) in enumerate(players.run(body)):
            assert np.array_equal(gathered, whole) if rank == root else gathered is None
            assert np.array_equal(scattered, whole[ends[rank] : ends[rank + 1]])


@pytest.fixture(scope="module")
def ring() -> Iterator[Players]:
    with Players([generate("ring:nodes=3", "all-to-all"), generate("ring:nodes=3", "gather:root=0")]) as players:
        yield players


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"source": np.zeros(4)}, "4 elements cannot be shared equally by 3 members"),
        ({"source": np.zeros(3), "counts": [[1, 1], [1, 1]]}, "counts must have 3 rows of 3 numbers"),
        ({"source": np.zeros(3), "counts": [[1, 1, 1], [1, -1, 1], [1, 1, 1]]}, "rank 1 is to send -1 elements"),
        ({"source": np.zeros(3), "counts": [[2, 2, 2]] * 3}, "source has 3 elements; by the counts"),
        ({"source": np.zeros(3), "out": np.zeros(4)}, "out has 4 elements of float64; it must have 3"),
        ({"source": np.zeros(3, dtype=np.complex64)}, "dtype is 'complex64'"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_sent(ring: Players, arguments: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ring.groups[0].all_to_all(**arguments)


def test_other_misuse_is_refused(ring: Players) -> None:
    group, data = ring.groups[1], np.zeros(6)
    assert "source and out overlap" in refusal(group.all_to_all, data, data)
    assert "no schedule for scatter with root 0" in refusal(group.scatter, data)
    assert "2 counts; pass one for each of the 3 members" in refusal(group.gather, data, counts=[1, 2])
    assert "call the collective, not relay" in refusal(group.relay, "all-to-all", 6, "f32")


def test_a_schedule_with_a_matrix_needs_counts_and_flows_for_them() -> None:
    plan = plan_of(generate("ring:nodes=3", Demand("all-to-all", matrix=[[0, 1, 0], [0, 0, 1], [1, 0, 0]])))
    assert "has a demand matrix; pass counts" in refusal(all_to_all_counts, plan, 9, None)
    with pytest.raises(InputError, match="rank 0 is to send 4 elements to rank 2, but the schedule has no flow"):
        all_to_all_counts(plan, 9, [[0, 1, 4], [0, 0, 0], [0, 0, 0]])


def test_ranks_that_pass_different_counts_are_told_so() -> None:
    with Players([generate("ring:nodes=3", "all-to-all")]) as players:

        def body(group: Communicator) -> Any:
            counts = [[1, 1, 1]] * 3 if group.rank else [[1, 1, 1], [1, 1, 1], [1, 1, 2]]
            return group.all_to_all(np.zeros(3), counts=counts).wait(LIMIT)

        outcomes = players.outcomes(body)
    assert all(isinstance(each, CommunicationError) for each in outcomes)
    assert all("all-to-all of 4 f64 on rank 0" in str(each) for each in outcomes)


# The plain executor.


@examples(40)
@given(networks(kinds=st.just(SMALL)), st.sampled_from(["all-to-all", "gather", "scatter"]), st.integers(0, 9))
def test_the_plain_executor_equals_numpy(topology: Topology, collective: str, seed: int) -> None:
    root = None if collective == "all-to-all" else topology.nodes[topology.compute[-1]].id
    plan = plan_of(generate(topology, Demand(collective, root=root)))
    counts = counts_of_shares(plan, 4800)
    if root is None and seed % 2:
        counts = drawn_counts(plan.size, 900, seed)
    inputs = inputs_of(counts)
    results = run_exchange(plan, exchange_layout(plan, counts, 4), inputs)
    for got, wanted in zip(results, exchanged(inputs, counts), strict=True):
        assert np.array_equal(wanted, () if got is None else got)


def test_relays_stage_and_targets_do_not() -> None:
    plan = plan_of(generate("ring:nodes=5", "all-to-all"))
    for edge in plan.edges:
        assert edge.is_staged == (edge.hop.target != plan.flows[edge.flow].broadcast[-1].target)
    assert plan.collective.value == "all-to-all"
    assert sum(edge.is_staged for edge in plan.edges if edge.hop.target == 0) == 2
