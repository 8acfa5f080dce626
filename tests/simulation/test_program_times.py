"""The time of small programs, computed by hand: a chunk takes 1 us on a link, an instruction 1 us, a latency 2 us."""

from dataclasses import replace
from typing import Any

import pytest

from forestcoll import generate
from forestcoll.base.errors import InputError
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.programs.model import (
    Barrier,
    Block,
    Buffer,
    Channel,
    DeferredRanks,
    Instruction,
    Message,
    Multicast,
    Program,
    Rank,
    Span,
    Task,
)
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import EventSimulation, Timeline, run_in_time
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.program.rounds import Messages
from forestcoll.topology import Topology
from networks import built, linked
from small_programs import FAR, FIFO, IN, MEMORY, OUT, PORT, move

TO_1 = Channel(FIFO, 0, 1)
COPY = move(IN, OUT)
SEND = move(IN, Message(0, 1))
RECEIVE = move(Message(0, 1), FAR)


def star(latency_us: int | None = None, ranks: int = 3) -> Topology:
    """Return compute nodes around a switch; a chunk of 1000 bytes crosses a link in 1 us."""
    return built(["hub", *range(ranks)], [(rank, "hub", 1, latency_us) for rank in range(ranks)], switches=["hub"])


def program(
    *blocks: list[list[Instruction]], channels: tuple[Channel, ...] = (TO_1,), semaphores: int = 0, **more: Any
) -> Program:
    """Return a program of ranks with these blocks of instructions, on data of two chunks."""
    ranks = tuple(Rank(tuple(Block(tuple(each)) for each in listed), 2, 2, 2, (0,) * semaphores) for listed in blocks)
    used = channels if len(ranks) > 1 else ()
    return Program("small", Task.CUSTOM, ranks, used, chunks=2, **more)


def timeline(timed: Program, topology: Topology | None = None) -> Timeline:
    network = topology or star()
    return run_in_time(timed, Paths(network, network.compute, {}), 2000, Costs(alpha_us=2, overhead_us=1))


def microseconds(timed: Program, topology: Topology | None = None) -> float:
    return round(timeline(timed, topology).seconds * 1e6, 6)


@pytest.mark.parametrize(("latency", "of_links"), [(None, 0), (3, 3 + 3)])
def test_a_message_is_sent_crosses_the_links_and_is_received(latency: int | None, of_links: int) -> None:
    assert microseconds(program([[SEND]], [[RECEIVE]]), star(latency_us=latency)) == 1 + 1 + (2 + of_links) + 1


@pytest.mark.parametrize(("slots", "time"), [(None, 7), (2, 7), (1, 10)])
def test_a_sender_waits_for_a_free_slot(slots: int | None, time: float) -> None:
    """With one slot, the second message starts when the first is received, at 5 us."""
    assert microseconds(program([[SEND, SEND]], [[RECEIVE, RECEIVE]], slots=slots)) == time


@pytest.mark.parametrize("blocks", [2, 3])
def test_no_block_passes_a_barrier_before_all_have_reached_it(blocks: int) -> None:
    meet = Instruction(barrier=Barrier(0, blocks))
    others = [[meet, COPY, meet, COPY]] * (blocks - 1)
    found = timeline(program([[COPY, meet, COPY, meet, COPY], *others]))
    begins = sorted((each.block, round(each.begin * 1e6, 6)) for each in found.actions)
    assert begins == [(0, 0), (0, 1), (0, 2)] + [(block, time) for block in range(1, blocks) for time in (1, 2)]


def test_a_semaphore_orders_two_blocks() -> None:
    first = [COPY, move(IN, OUT, releases=(0,))]
    second = [Instruction(acquires=(0,)), COPY]
    found = timeline(program([first, second], semaphores=1))
    assert [(each.block, round(each.begin * 1e6)) for each in found.actions] == [(0, 0), (0, 1), (1, 2)]


@pytest.mark.parametrize(("rank", "time"), [(1, 1 + 1 + 2 + 1), (0, 2)])
def test_a_reader_of_packets_waits_until_they_have_arrived(rank: int, time: float) -> None:
    """On the same rank, they arrive at once."""
    flagged = Span(rank, Buffer.SCRATCH, 0, 1, packets=True)
    put = move(IN, flagged, channel=0 if rank else None)
    read = move(flagged, FAR if rank else OUT)
    blocks = [[[put]], [[read]]] if rank else [[[read], [put]]]
    assert microseconds(program(*blocks, channels=(Channel(MEMORY, 0, 1),))) == time


@pytest.mark.parametrize("pulls", [False, True])
def test_data_of_a_group_crosses_the_link_of_one_rank_once(pulls: bool) -> None:  # noqa: FBT001
    """The switch, one latency away, copies or adds up a chunk of two other ranks; a request takes one latency too."""
    group = Multicast(0, Buffer.OUTPUT, 0, 1)
    moved = move(group, OUT) if pulls else move(IN, group)
    assert microseconds(program([[moved]], [], [], groups=((0, 1, 2),))) == 1 + 1 + 2 * (1 + pulls)


def test_packets_of_a_group_arrive_at_each_rank() -> None:
    sent = Multicast(0, Buffer.SCRATCH, 0, 1, packets=True)
    reads = [move(Span(rank, Buffer.SCRATCH, 0, 1, packets=True), Span(rank, Buffer.OUTPUT, 0, 1)) for rank in (1, 2)]
    write = move(IN, sent)
    assert microseconds(program([[write]], [[reads[0]]], [[reads[1]]], groups=((0, 1, 2),))) == 1 + 2 + 2 + 1


def test_memory_of_another_rank_is_read_over_the_links() -> None:
    get = move(FAR, OUT, channel=0)
    assert microseconds(program([[get, COPY]], [], channels=(Channel(MEMORY, 0, 1),))) == 1 + 1 + (2 + 2) + 1


def test_a_helper_of_a_port_sends_one_request_after_the_other() -> None:
    """The block goes on at once; the helper needs 1 us for each of two chunks, and a flush waits for both."""
    ports = (Channel(PORT, 0, 1),)
    put = move(IN, FAR, channel=0)
    flush = Instruction(flushes=(0,))
    found = timeline(program([[put, put, flush, COPY]], [], channels=ports))
    begins = [round(each.begin * 1e6, 6) for each in found.actions]
    assert begins == [0, 1, 3]
    signalled = program([[put, Instruction(signals=(0,))]], [[Instruction(waits=(0,)), USE]], channels=ports)
    assert microseconds(signalled) == 1 + 1 + 2 + 1


USE = move(FAR, Span(1, Buffer.SCRATCH, 0, 1))


def test_ranks_without_a_path_over_switches_are_refused() -> None:
    network = linked("a b c", "a=b b=c", name="line")
    two_away = Channel(FIFO, 0, 2)
    with pytest.raises(InputError, match="line: no path leads from 'a' to 'c' over switches alone"):
        microseconds(program([[SEND]], [], [[RECEIVE]], channels=(two_away,)), network)


def test_a_program_that_stops_before_its_end_is_refused() -> None:
    with pytest.raises(InputError, match="small: the program stops before its end; verify says why"):
        microseconds(program([[Instruction(waits=(0,))]], [], channels=(Channel(MEMORY, 1, 0),)))


def test_ranks_of_a_one_sided_program_write_to_different_ranks_at_the_same_time() -> None:
    """Eight roots write to seven others each; in one common order all would write to the same rank."""
    schedule = generate("dgx-a100:boxes=1")
    program = lower(schedule, Options(style=Style.ONE_SIDED, placement=Placement.OUT_OF_PLACE, pieces=4)).program
    found = run_in_time(program, Paths.of(schedule), 2**30, Costs())
    assert 2**30 / found.seconds > 0.95 * 1e9 * float(schedule.algbw)


@pytest.mark.parametrize(("messages", "time"), [((2, 1), 4.0), ((1, 1), 3.0), ((1, 2), 2.5)])
def test_a_block_forwards_each_slice_of_a_message_when_it_has_arrived(messages: tuple[int, int], time: float) -> None:
    send = move(Span(0, Buffer.INPUT, 0, 2), Message(0, 2))
    forward = move(Message(0, 2), (Span(1, Buffer.OUTPUT, 0, 2), Message(1, 2)))
    receive = move(Message(1, 2), Span(2, Buffer.OUTPUT, 0, 2))
    chain = program([[send]], [[forward]], [[receive]], channels=(TO_1, Channel(FIFO, 1, 2)))
    network = star()
    free = Costs(alpha_us=0, overhead_us=0)
    paths = Paths(network, network.compute, {})
    simulation = EventSimulation(chain, paths, free)
    assert simulation.run(2000, messages=Messages(*messages)).seconds * 1e6 == pytest.approx(time)


def test_ranks_that_are_made_when_they_are_read_are_made_once() -> None:
    chain = program([[COPY, SEND]], [[RECEIVE]])
    made: list[int] = []

    def rank(number: int) -> Rank:
        made.append(number)
        return chain.ranks[number]

    deferred = replace(chain, ranks=DeferredRanks(rank, [1, 1]))
    assert microseconds(deferred) == microseconds(chain)
    assert made == [0, 1]
