"""The native simulation of a program does the same as the plain one, step by step."""

from dataclasses import replace
from itertools import combinations
from typing import cast

import pytest

from forestcoll import generate
from forestcoll.demand.demand import Demand
from forestcoll.kernels.events import EventTables, Rows, event_program
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.programs.model import (
    Block,
    Buffer,
    Channel,
    ChannelKind,
    Instruction,
    Multicast,
    Program,
    Protocol,
    Rank,
    Span,
    Task,
)
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import Action, EventSimulation
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.program.tables import Encoder
from networks import built
from plain_events import run_plainly

COSTS = (
    Costs(),
    Costs(alpha_us=3, overhead_us=0, launch_us=5, reduction_us_per_mb=20, block_gbps=2.5),
    Costs(alpha_us=2, overhead_us=1, block_gbps=3, receive_gbps=4, copy_gbps=9, rank_gbps=200),
    Costs(alpha_us=2, overhead_us=0, receive_gbps=2, incast=0.2),
    Costs(alpha_us=0, overhead_us=1, incast=0.1, rank_gbps=200, nic_efficiency=0.5),
)


def lowered(spec: str, collective: str, options: Options) -> tuple[Program, Paths]:
    root = "b0/gpu0" if collective == "broadcast" else None
    schedule = generate(spec, Demand(collective, root=root))
    return lower(schedule, options).program, Paths.of(schedule)


def check_equal(program: Program, paths: Paths, costs: Costs) -> None:
    simulation = EventSimulation(program, paths, costs)
    for size in (1, 3000, 2**24):
        found, plain = simulation.run(size), run_plainly(program, paths, size, costs)
        assert found.seconds == pytest.approx(plain.seconds, rel=1e-12)
        assert found.link_seconds == pytest.approx(plain.link_seconds, rel=1e-12)
        assert len(found.actions) == len(plain.actions)
        for one, other in zip(sorted(found.actions, key=place), sorted(plain.actions, key=place), strict=True):
            assert place(one) == place(other)
            assert (one.begin, one.end) == pytest.approx((other.begin, other.end), rel=1e-9, abs=1e-15)


def place(action: Action) -> tuple[int, int, int]:
    return action.rank, action.block, action.instruction


@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("style", Style)
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=1,gpus=4", "torus:dims=2x3"])
def test_a_program_takes_the_same_time(spec: str, style: Style, costs: Costs) -> None:
    check_equal(*lowered(spec, "allreduce", Options(style=style, pieces=2)), costs)


def test_packets_take_the_same_time() -> None:
    options = Options(style=Style.ONE_SIDED, protocol=Protocol.LL)
    program, paths = lowered("dgx-a100:boxes=1", "allreduce", options)
    assert Encoder(program, paths, Costs()).tables()["cells"]
    check_equal(program, paths, Costs())


def test_helpers_of_channels_and_semaphores_take_the_same_time() -> None:
    options = Options(style=Style.ONE_SIDED, chunks=16, children=1)
    program, paths = lowered("dgx-a100:boxes=2", "broadcast", options)
    assert any(each.kind is ChannelKind.PORT for each in program.channels)
    assert any(rank.semaphores for rank in program.ranks)
    check_equal(program, paths, COSTS[1])


@pytest.mark.parametrize("costs", COSTS)
def test_sums_by_a_switch_take_the_same_time(costs: Costs) -> None:
    options = Options(style=Style.ONE_SIDED, placement=Placement.OUT_OF_PLACE, pieces=2)
    program, paths = lowered("dgx-h100:boxes=1,gpus=4,nvls=true", "allreduce", options)
    assert any(isinstance(source, Multicast) for *_, each in program.instructions() for source in each.sources)
    check_equal(program, paths, costs)


@pytest.mark.parametrize("costs", COSTS)
def test_reads_of_other_ranks_take_the_same_time(costs: Costs) -> None:
    """Each rank adds the data of the two ranks after it to its own, and then reads that of the third one."""
    paths, ranks = Paths.of(generate("dgx-a100:boxes=1,gpus=6")), 6

    def of(rank: int) -> Span:
        return Span(rank % ranks, Buffer.INPUT, 0, 1)

    def listed(rank: int) -> tuple[Instruction, ...]:
        result = (Span(rank, Buffer.OUTPUT, 0, 1),)
        add = Instruction(sources=(of(rank), of(rank + 1), of(rank + 2)), targets=result, channel=rank)
        return add, Instruction(sources=(of(rank + 3),), targets=result, channel=rank)

    channels = tuple(Channel(ChannelKind.MEMORY, rank, (rank + 1) % ranks) for rank in range(ranks))
    members = tuple(Rank((Block(listed(rank)),), 1, 1) for rank in range(ranks))
    check_equal(Program("reads", Task.CUSTOM, members, channels, chunks=1), paths, costs)


def test_many_transfers_at_once_take_the_same_time() -> None:
    """Twelve nodes send to all others at once, over links of different bandwidths: 132 transfers end one by one."""
    links = [(one, other, 1 + (7 * one + other) % 13) for one, other in combinations(range(12), 2)]
    schedule = generate(built(range(12), links))
    check_equal(lower(schedule, Options(chunks=12)).program, Paths.of(schedule), Costs())


@pytest.mark.parametrize("slots", [1, None])
def test_messages_wait_for_slots_alike(slots: int | None) -> None:
    program, paths = lowered("torus:dims=2x3", "allgather", Options(pieces=3))
    check_equal(replace(program, slots=slots), paths, Costs())


TABLES = {
    Style.TWO_SIDED: ("block_starts", "after", "received", "sent", "transfers", "links"),
    Style.ONE_SIDED: ("waits", "signals"),
}


@pytest.mark.parametrize(("style", "name"), [(style, name) for style, names in TABLES.items() for name in names])
def test_a_number_out_of_range_is_refused(style: Style, name: str) -> None:
    program, paths = lowered("torus:dims=2x3", "allgather", Options(style=style, pieces=3))
    tables = Encoder(program, paths, Costs()).tables()
    event_program(tables)
    value = dict(tables)[name]
    starts, numbers = cast("Rows", value if isinstance(value, tuple) else (None, value))
    damaged = numbers.copy()
    damaged[-1] = 2**30
    changed = {**tables, name: damaged if starts is None else (starts, damaged)}
    with pytest.raises(ValueError, match="malformed"):
        event_program(cast("EventTables", changed))
