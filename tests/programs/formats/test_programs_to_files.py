"""Programs that a format cannot express are refused with the place; all that it can express is read back."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from samples import ALGORITHM, plan, schedule, text_of

from forestcoll.base.errors import InputError
from forestcoll.programs.formats import msccl_xml, mscclpp
from forestcoll.programs.formats.judging import judge_file
from forestcoll.programs.formats.msccl_xml import DIALECTS
from forestcoll.programs.formats.roots import with_root
from forestcoll.programs.interpreter import check
from forestcoll.programs.model import (
    Barrier,
    Block,
    Buffer,
    Channel,
    ChannelKind,
    Dependency,
    Instruction,
    Loop,
    Message,
    Multicast,
    Program,
    Protocol,
    Rank,
    Task,
)
from forestcoll.tuning.programs.export import export
from refusal import refusal
from small_programs import FAR, FIFO, IN, MEMORY, OUT, PORT, move

COPY = move(IN, OUT)
TO_1, MORE = Message(0, 1), Message(1, 1)
FIRST = "rank 0, block 0, step 0: "


def program(*blocks: list[Instruction], kind: ChannelKind = FIFO, **more: Any) -> Program:
    """Return a program whose rank 0 has these blocks; two channels lead to rank 1."""
    ranks = (Rank(tuple(Block(tuple(each)) for each in blocks), 2, 2, 2, (0,)), Rank((), 2, 2, 2))
    channels = (Channel(kind, 0, 1), Channel(kind, 0, 1, 1))
    usual: dict[str, Any] = {"task": Task.ALLREDUCE, "chunks": 2, "groups": ((0, 1),)}
    return Program("odd", ranks=ranks, channels=channels, **usual | more)


def shards() -> Program:
    return program([COPY], task=Task.ALLGATHER, shards=(2, 0))


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        (shards(), "MSCCL XML has shards of one size only; this allgather has some of 0 and of 2 chunks"),
        (program([COPY], kind=MEMORY), "MSCCL XML has no memory channels; lower the schedule for "),
        (program([Instruction(acquires=(0,))]), f"{FIRST}MSCCL XML has no signals, semaphores or barriers"),
        (
            program([COPY, move(IN, FAR)]),
            "rank 0, block 0, step 1: MSCCL XML reaches only a rank's own memory, without packets",
        ),
        (
            program([move(IN, (OUT, replace(OUT, offset=1)))]),
            f"{FIRST}MSCCL XML has no step with as many sources and targets",
        ),
        (program([move((IN, OUT), TO_1)]), f"{FIRST}MSCCL XML has no step with these sources and targets"),
        (
            program([move(IN, TO_1), move(IN, MORE)]),
            "rank 0, block 0: sends over 2 channels and receives over 0; MSCCL XML has at most one of each, of one",
        ),
        (
            program([Instruction()], [replace(COPY, after=(Dependency(0, 0),))]),
            "rank 0, block 1, step 0: waits for a step that does nothing; lower it for this format",
        ),
    ],
)
def test_xml_cannot_express_all_programs(odd: Program, message: str) -> None:
    assert refusal(msccl_xml.from_program, odd, DIALECTS["azure"]).startswith(message)


def test_a_sum_into_another_span_is_a_copy_and_a_reduction() -> None:
    scratch = replace(OUT, buffer=Buffer.SCRATCH)
    found = msccl_xml.from_program(program([move((IN, scratch), OUT)]), DIALECTS["azure"])
    assert [step.type.value for step in found.gpus[0].blocks[0].steps] == ["cpy", "re"]


TWICE = Rank((Block((COPY, replace(COPY, sources=(replace(IN, offset=1),), targets=(replace(OUT, offset=1),))),
                    (Loop(0, 1, 2),)),), 2, 2)  # fmt: skip


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        (shards(), "MSCCL++ has shards of one size only; this allgather has some of 0 and of 2 chunks"),
        (program([COPY], kind=MEMORY, protocol=Protocol.LL128), "MSCCL++ has no protocol LL128; use Simple or LL"),
        (program([move(IN, TO_1)]), f"{FIRST}MSCCL++ has no messages; lower the schedule one-sided"),
        (
            program([COPY], [replace(COPY, after=(Dependency(0, 0),))], kind=MEMORY),
            "rank 0, block 1, step 0: MSCCL++ has no dependencies between blocks but semaphores and barriers",
        ),
        (
            program([move(IN, (OUT, Multicast(0, Buffer.OUTPUT, 0, 1)))], kind=MEMORY),
            f"{FIRST}MSCCL++ has no operation with these sources and targets",
        ),
        (
            replace(program([COPY], kind=MEMORY), ranks=(TWICE, Rank((Block((COPY,) * 3, (Loop(0, 1, 3),)),), 2, 2))),
            "odd: has loops of [2, 3] rounds; in a plan they must be equal",
        ),
    ],
)
def test_plans_cannot_express_all_programs(odd: Program, message: str) -> None:
    assert refusal(mscclpp.from_program, odd).startswith(message)


@pytest.mark.parametrize(("flushes", "name"), [((), "pws"), ((0,), "pwsf")])
def test_a_put_over_a_port_with_its_signal_is_one_operation(flushes: tuple[int, ...], name: str) -> None:
    put = move(IN, FAR, channel=0, signals=(0,), flushes=flushes)
    found = mscclpp.from_program(program([put], kind=PORT))
    assert [each.name.value for each in found.gpus[0].blocks[0].operations] == [name]


def synchronised() -> dict[str, Any]:
    """Return a correct plan whose block also releases and acquires a semaphore and reaches a barrier alone."""
    document = plan()
    for gpu in document["gpus"]:
        gpu["semaphores"] = [{"init_value": 0}]
        gpu["threadblocks"][0]["ops"] += [
            {"name": "sem_release", "semaphore_ids": [0]},
            {"name": "sem_acquire", "semaphore_ids": [0]},
            {"name": "barrier", "barrier_id": 2, "num_threadblocks": 1},
        ]
    return document


def test_semaphores_and_barriers_are_read_and_written() -> None:
    found = mscclpp.plan_from_document(synchronised(), where="file.json")
    assert mscclpp.plan_fault(found) is None
    made = mscclpp.to_program(found)
    assert check(made).fault is None
    *_, release, acquire, barrier = made.ranks[0].blocks[0].instructions
    assert (release.releases, acquire.acquires, barrier.barrier) == ((0,), (0,), Barrier(2, 1))
    again = mscclpp.to_program(mscclpp.from_program(made))
    assert [each.barrier for each in again.ranks[0].blocks[0].instructions][-1] == Barrier(2, 1)
    text = "".join(mscclpp.emit(found))
    assert '"barrier_id": 2' in text or '"barrier_id":2' in text


def test_the_root_of_a_program_is_the_only_rank_that_gets_nothing() -> None:
    put = move(IN, FAR, channel=0)
    sends = program([put], kind=MEMORY, task=Task.BROADCAST)
    assert with_root(sends, None).root == 0
    by_group = program([move(IN, Multicast(0, Buffer.OUTPUT, 0, 1))], task=Task.BROADCAST)
    assert with_root(by_group, None).root == 0
    pulled = program([move(FAR, OUT, channel=0)], kind=MEMORY, task=Task.REDUCE)
    assert with_root(pulled, None).root == 0


@pytest.mark.parametrize(
    ("task", "root", "message"),
    [
        (Task.BROADCAST, None, "odd: 2 ranks get nothing, so the root of this broadcast is unknown; give its rank"),
        (Task.REDUCE, None, "odd: 2 ranks give nothing, so the root of this reduce is unknown; give its rank (--root)"),
        (Task.REDUCE, 2, "odd: there is no rank 2; ranks are 0 to 1"),
    ],
)
def test_an_unknown_root_is_requested(task: Task, root: int | None, message: str) -> None:
    assert refusal(with_root, program([COPY], task=task), root).startswith(message)


def test_an_unknown_format_is_refused() -> None:
    assert "'msccl': no such format; did you mean 'msccl-xml'?" in refusal(export, schedule("ring:nodes=2"), "msccl")


def test_a_plan_has_no_dialect_and_one_placement(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text_of(plan()))
    assert judge_file(file).fault is None
    with pytest.raises(InputError, match="is not MSCCL XML, and only MSCCL XML has dialects; leave the dialect out"):
        judge_file(file, dialect="azure")
    with pytest.raises(InputError, match="a plan of MSCCL\\+\\+ is for in place or for out of place; export two files"):
        export(schedule("ring:nodes=2"), "mscclpp-json:placement=both")


def test_an_algorithm_needs_its_collective() -> None:
    with pytest.raises(InputError, match='line 1: <algo> has no "coll"'):
        msccl_xml.parse_algorithm(ALGORITHM.replace('coll="allgather" ', "").encode(), where="x")
