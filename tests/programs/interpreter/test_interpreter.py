from dataclasses import replace
from typing import Any

from forestcoll.programs.interpreter import check
from forestcoll.programs.model import (
    Barrier,
    Buffer,
    Channel,
    Instruction,
    Message,
    Multicast,
    Program,
    ProgramFault,
    Task,
)
from small_programs import (
    MEMORY,
    PAIR,
    PORT,
    after,
    changed,
    exchange,
    inp,
    move,
    out,
    program,
    put,
    relay,
    scratch,
    sum_up,
    with_block,
    with_instruction,
)


def fault(broken: Program) -> ProgramFault:
    """The fault of a program, which must be the same in two runs."""
    found, again = check(broken).fault, check(broken).fault
    assert found is not None
    assert found == again
    return found


def test_correct_programs_have_no_fault_in_any_placement_and_with_any_number_of_slots() -> None:
    placements: tuple[dict[str, Any], ...] = ({}, {"in_place": True}, {"in_place": True, "out_of_place": False})
    for options in placements:
        assert all(check(make(**options)).ok for make in (exchange, relay, put)), options
    for slots in (1, 2, None):
        assert all(check(make(slots=slots)).ok for make in (exchange, relay, sum_up)), slots


def test_a_chunk_in_the_wrong_place_is_wrong_data_and_its_writer_is_named() -> None:
    found = fault(with_instruction(relay(), (2, 0, 0), move(Message(1, 2), scratch(2, 0, 2))))
    assert found.rule == "span-outside"
    base = exchange()
    found = fault(with_instruction(base, (1, 0, 0), move(inp(1, 0), out(1, 0))))
    assert (found.rule, found.rank, found.block, found.step) == ("race", 1, 1, 0)
    found = fault(with_instruction(base, (1, 0, 0)))
    message = "chunk 1 of the output buffer of rank 1 holds nothing at the end; it must hold chunk 1 of rank 1"
    assert found == ProgramFault("wrong-data", message, 1)


def one_rank(*blocks: list[Instruction], size: int = 2, task: Task = Task.REDUCE, **more: Any) -> Program:
    return program(task, [blocks], (), sizes=(size, size, size), chunks=size, root=0, **more)


def test_a_wrong_sum_is_described() -> None:
    lacking = with_instruction(sum_up(out_of_place=False), (1, 0, 0), move(Message(0, 1), Message(1, 1)))
    twice = with_instruction(sum_up(), (2, 0, 0), move([Message(1, 1), inp(2, 0), inp(2, 0)], out(2, 0)))
    doubled = [move([inp(0, 0, 2), inp(0, 0, 2)], scratch(0, 0, 2)), move(scratch(0, 0, 2), out(0, 0, 2))]
    for broken, message in (
        (lacking, "chunk 0 summed over ranks 0, 2 at the end; it must hold chunk 0 summed over all ranks"),
        (twice, "with rank 2 more than once"),
        (one_rank(doubled), "with all ranks more than once"),
        (one_rank([move([inp(0, 0), inp(0, 1)], out(0, 0))]), "a sum of different chunks"),
    ):
        found = fault(broken)
        assert found.rule == "wrong-data"
        assert message in found.message


def test_a_missing_dependency_is_a_race() -> None:
    found = fault(changed(relay(), (1, 1, 0), after=()))
    assert found.rule in {"race", "unwritten-read"}
    assert found.place in {"rank 1, block 0, step 0", "rank 1, block 1, step 0"}


def test_a_message_around_other_ranks_orders_what_follows() -> None:
    """In place, rank 0 overwrites what it sent: the sum that comes back was made from it."""
    assert check(sum_up(out_of_place=False)).ok
    early = with_block(sum_up(out_of_place=False), 2, 1, (move(inp(2, 0), Message(2, 1)),))
    assert fault(early).rule in {"race", "wrong-data"}


def test_messages_that_nobody_receives_or_sends_are_named() -> None:
    base = exchange()
    assert fault(with_block(base, 1, 1, ())).rule == "unmatched-send"
    found = fault(with_block(base, 0, 0, base.ranks[0].blocks[0].instructions[:1]))
    assert (found.rule, found.place) == ("unmatched-receive", "rank 1, block 1, step 0")
    found = fault(with_instruction(relay(), (2, 0, 0), move(Message(1, 1), out(2, 0))))
    assert found.rule == "message-sizes"
    assert "rank 1, block 1, step 0 sends 2" in found.message


def in_one_block(count: int, slots: int | None) -> Program:
    """Two ranks that both send before they receive."""
    blocks = [
        [[move(inp(rank, 0, count), Message(rank, count)),
          move(Message(1 - rank, count), out(rank, (1 - rank) * count, count)),
          move(inp(rank, 0, count), out(rank, rank * count, count))]]
        for rank in (0, 1)
    ]  # fmt: skip
    sizes = (count, 2 * count, 0)
    return program(Task.ALLGATHER, blocks, PAIR, sizes=sizes, chunks=2 * count, shards=(count, count), slots=slots)


def test_both_ranks_may_send_first_if_the_channels_have_enough_slots() -> None:
    assert check(in_one_block(2, 2)).ok
    assert check(in_one_block(9, None)).ok
    found = fault(in_one_block(3, 2))
    assert found.rule == "deadlock"
    assert "rank 1, block 0, step 0 waits for rank 0 to receive what it has sent there" in found.message


def test_a_deadlock_reports_who_waits_for_whom() -> None:
    base = exchange()
    first = with_instruction(base, (0, 0, 1), replace(base.ranks[0].blocks[0].instructions[1], after=after(1, 0)))
    second = with_instruction(first, (1, 0, 1), replace(base.ranks[1].blocks[0].instructions[1], after=after(1, 0)))
    assert check(first).ok
    found = fault(second)
    assert (found.rule, found.place) == ("deadlock", "rank 0, block 0, step 1")
    assert found.message == (
        "waits for rank 0, block 1, step 0; rank 0, block 1, step 0 waits for a message from rank 1 (fifo channel 0); "
        "rank 1, block 0, step 1 waits for rank 1, block 1, step 0; rank 1, block 1, step 0 waits for a message from "
        "rank 0 (fifo channel 0); the blocks wait in a cycle"
    )


def test_an_instruction_that_waits_for_itself_is_a_deadlock() -> None:
    found = fault(changed(relay(), (1, 1, 0), after=after(1, 0)))
    assert found.rule == "deadlock"
    assert "which is itself" in found.message


def test_unwritten_memory_must_not_be_read() -> None:
    found = fault(with_instruction(put(), (0, 0, 3), move(scratch(0, 0), out(0, 0))))
    assert (found.rule, found.place) == ("unwritten-read", "rank 0, block 0, step 3")


def test_out_of_place_the_input_is_only_read() -> None:
    base = sum_up()
    broken = with_instruction(base, (1, 1, 0), move(Message(2, 1), [inp(1, 0), Message(3, 1)]))
    assert check(replace(broken, out_of_place=False)).ok
    verdict = check(broken)
    assert (verdict.placement, fault(broken).rule) == ("out of place", "input-overwritten")


def test_signals_order_puts_only_if_they_are_waited_for_not_relaxed_and_after_all_threads() -> None:
    base, first = put(), (0, 0, 0)
    relaxed = changed(base, (0, 0, 2), relaxed=True)
    starts = with_block(base, 1, 0, (Instruction(signals=(1,), relaxed=True),))
    ends = base.ranks[1].blocks[0].instructions
    eager = with_block(with_block(base, 0, 0, base.ranks[0].blocks[0].instructions[1:]), 1, 0, ends[1:])
    reading = with_block(relaxed, 1, 0, (*ends, move(out(1, 0), scratch(1, 0))))
    listed = put(PORT).ranks[0].blocks[0].instructions
    early = with_block(put(PORT), 0, 0, (listed[0], listed[2], listed[1], *listed[3:]))
    assert check(put(PORT)).ok
    for broken, rule, place in (
        (starts, "unmatched-signal", None),
        (with_instruction(starts, (0, 0, 2)), "after-end", (0, 0, 1)),
        (relaxed, "after-end", None),
        (reading, "race", None),
        (eager, "before-start", first),  # a rank must have started before others touch its memory
        (changed(base, (0, 0, 2), meets=False), "after-end", None),
        (early, "after-end", None),  # a signal over a port comes after earlier puts
    ):
        found = fault(broken)
        assert found.rule == rule
        assert place in {None, (found.rank, found.block, found.step)}


def test_the_helper_of_a_port_may_read_late() -> None:
    """The source of a put may be overwritten only after a flush, or after the other rank has answered."""
    base = put(PORT)
    assert check(base).ok
    overwrite = move(scratch(0, 0), inp(0, 0))
    fill = move(inp(0, 0), scratch(0, 0))
    listed = base.ranks[0].blocks[0].instructions
    late = with_block(replace(base, in_place=True, out_of_place=False), 0, 0, (*listed, fill, overwrite))
    assert check(late).ok
    early = with_block(late, 0, 0, (*listed[:4], fill, overwrite, listed[4]))
    found = fault(early)
    assert (found.rule, found.place) == ("race", "rank 0, block 0, step 5")


def test_barriers_and_semaphores_order_blocks() -> None:
    """One block writes, and the other reads after a barrier or a semaphore."""
    write, read = move(inp(0, 0), scratch(0, 0)), move(scratch(0, 0), out(0, 0), meets=False)

    def met(blocks: int, *others: Instruction) -> Program:
        return one_rank([write, Instruction(barrier=Barrier(0, blocks))], [*others, read], size=1)

    def released(start: int, acquires: int) -> Program:
        second = [*[Instruction(acquires=(0,))] * acquires, replace(read, meets=True)]
        return one_rank([write, Instruction(releases=(0,))], second, size=1, semaphores=(start,))

    assert check(met(2, Instruction(barrier=Barrier(0, 2)))).ok
    assert fault(met(1, Instruction(barrier=Barrier(0, 1)))).rule == "barrier-blocks"
    assert fault(met(1, Instruction())).rule in {"race", "unwritten-read"}
    assert check(released(0, 1)).ok
    assert check(released(1, 2)).ok
    assert fault(released(1, 1)).rule in {"race", "unwritten-read"}
    assert fault(released(0, 2)).rule == "waits-forever"


def packets_program(*more: Instruction) -> Program:
    """Rank 0 writes packets into rank 1's scratch without any signal, and rank 1 unpacks them."""
    channels = (Channel(MEMORY, 0, 1),)
    send = move(inp(0, 0), scratch(1, 0, packets=True), channel=0)
    blocks = [[[send, *more, move(inp(0, 0), out(0, 0))]], [[move(scratch(1, 0, packets=True), out(1, 0))]]]
    return program(Task.BROADCAST, blocks, channels, sizes=(1, 1, 1), chunks=1, root=0)


def test_packets_need_no_signal() -> None:
    assert check(packets_program()).ok
    other = move([inp(0, 0), inp(0, 0)], scratch(1, 0, packets=True), channel=0)
    assert fault(packets_program(other)).rule == "packet-twice"
    found = fault(with_block(packets_program(), 0, 0, (move(inp(0, 0), out(0, 0)),)))
    assert (found.rule, found.place) == ("waits-forever", "rank 1, block 0, step 0")
    plain = with_block(packets_program(), 1, 0, (move(scratch(1, 0), out(1, 0)),))
    assert fault(plain).rule in {"race", "unwritten-read"}


def switch_program(*, greet: bool = True, last: bool = True) -> Program:
    """An allreduce of two ranks in place through a switch: each sums and stores its half on both."""
    channels = (Channel(MEMORY, 0, 1), Channel(MEMORY, 1, 0))
    blocks = [
        [[
            *[Instruction(signals=(rank,), relaxed=True), Instruction(waits=(1 - rank,), relaxed=True)] * greet,
            move(Multicast(0, Buffer.INPUT, rank, 1), Multicast(0, Buffer.INPUT, rank, 1)),
            *[Instruction(signals=(rank,)), Instruction(waits=(1 - rank,))] * last,
        ]]
        for rank in (0, 1)
    ]  # fmt: skip
    return program(Task.ALLREDUCE, blocks, channels, sizes=(2, 2, 0), chunks=2, groups=((0, 1),), in_place=True,
                   out_of_place=False)  # fmt: skip


def test_a_switch_reads_and_writes_all_ranks_of_a_group() -> None:
    assert check(switch_program()).ok
    assert fault(switch_program(greet=False)).rule == "before-start"
    assert fault(switch_program(last=False)).rule == "after-end"


def test_two_blocks_at_one_end_of_a_channel_are_refused() -> None:
    base = exchange()
    broken = with_block(base, 0, 1, (*base.ranks[0].blocks[1].instructions, move(inp(0, 0), Message(0, 1))))
    assert fault(broken).rule == "channel-shared"


def test_an_alltoall_and_a_sendrecv_are_checked_too() -> None:
    blocks = [
        [[move(inp(rank, rank), out(rank, rank)), move(inp(rank, 1 - rank), Message(rank, 1)),
          move(Message(1 - rank, 1), out(rank, 1 - rank))]]
        for rank in (0, 1)
    ]  # fmt: skip
    right = program(Task.ALL_TO_ALL, blocks, PAIR, sizes=(2, 2, 0), chunks=2, shards=(1, 1))
    assert check(right).ok
    assert fault(with_instruction(right, (0, 0, 1), move(inp(0, 0), Message(0, 1)))).rule == "wrong-data"
    blocks = [[[move(inp(rank, 0), Message(rank, 1)), move(Message(1 - rank, 1), out(rank, 0))]] for rank in (0, 1)]
    assert check(program(Task.SEND_RECEIVE, blocks, PAIR, sizes=(1, 1, 0), chunks=1)).ok


def test_messages_use_the_ids_of_blocks_and_steps_in_the_file() -> None:
    base = relay()
    renamed = changed(base, (1, 1, 0), after=(), step=7)
    ranks = list(renamed.ranks)
    blocks = tuple(replace(block, number=40 + place) for place, block in enumerate(ranks[1].blocks))
    ranks[1] = replace(ranks[1], blocks=blocks)
    found = fault(replace(renamed, ranks=tuple(ranks)))
    assert "block 41, step 7" in f"{found.place} {found.message}" or "block 40" in found.place
