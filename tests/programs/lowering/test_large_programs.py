"""Programs of large networks: ranks that are made when they are read, many peers, and early refusals."""

from dataclasses import replace
from itertools import product
from typing import ClassVar

import pytest

from forestcoll import generate
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.resources import set_memory_limit
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, least_instructions, lower, plans, two_sided
from forestcoll.programs.lowering.options import MOST_INSTRUCTIONS
from forestcoll.programs.model import DeferredRanks, Program, block_counts, instruction_count, message_counts
from forestcoll.programs.model.limits import Limits
from forestcoll.programs.targets.chakra import Chakra
from forestcoll.programs.targets.msccl_xml import MscclXml
from forestcoll.schedule.schedule import Schedule
from forestcoll.tuning.programs.candidates import Candidates, Objective
from forestcoll.tuning.programs.estimate import announce_export, announce_search
from remarks import Remarks


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_ranks_that_are_made_when_they_are_read_are_the_same(monkeypatch: pytest.MonkeyPatch, collective: str) -> None:
    schedule = generate("dgx-a100:boxes=2,gpus=2", demand=collective)
    eager = lower(schedule).program
    monkeypatch.setattr(two_sided, "MOST_AT_ONCE", 0)
    deferred = lower(schedule).program
    assert isinstance(eager.ranks, tuple)
    assert isinstance(deferred.ranks, DeferredRanks)
    assert replace(deferred, ranks=tuple(deferred.ranks)) == eager
    assert deferred.ranks[1:3] == eager.ranks[1:3]
    assert deferred.ranks[-1] == eager.ranks[-1]
    for count in (block_counts, message_counts, instruction_count):
        wanted, found = count(eager), count(deferred)
        assert found == wanted if isinstance(wanted, int) else list(found) == list(wanted)  # type: ignore[arg-type]
    assert check(deferred) == check(eager)


def test_peers_are_distributed_over_channels_if_one_channel_has_too_few_blocks() -> None:
    limits = Limits(name="a test", blocks=7, blocks_per_channel=4)
    program = lower(generate("complete:nodes=8"), Options(), limits).program
    assert check(program).ok
    assert max(map(len, [rank.blocks for rank in program.ranks])) == 7
    assert {channel.number for channel in program.channels} == {0, 1}


def test_blocks_on_one_channel_are_counted_before_chains_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains of 256 ranks take seconds to make."""
    monkeypatch.setattr(plans, "chains_of", None)
    limits = Limits(name="a test", blocks=14, blocks_per_channel=4)
    with pytest.raises(NoSolutionError, match="it needs 7 blocks on one channel number, and 4 is the most"):
        lower(generate("complete:nodes=8"), Options(blocks=7, levels=0), limits)


@pytest.mark.parametrize(
    ("spec", "collective"), [("torus:dims=3x3", "allgather"), ("dgx-a100:boxes=2,gpus=4", "allreduce")]
)
def test_plans_are_only_left_out_without_their_chains_if_they_exceed_a_limit(
    monkeypatch: pytest.MonkeyPatch, spec: str, collective: str
) -> None:
    schedule = generate(spec, collective)
    every = [
        (Options(levels=0, chunks=72, step_chunks=1), Limits(name="a test", **limits))
        for blocks, steps, on_channel in product((7, 12), (16, 18, 45, None), (3, None))
        for limits in [{"blocks": blocks, "steps": steps, "blocks_per_channel": on_channel}]
    ]
    found = [program_or_none(schedule, *each) for each in every]
    monkeypatch.setattr(plans._Planner, "_excess_through", lambda *_: None)
    assert found == [program_or_none(schedule, *each) for each in every]
    assert None in found
    assert any(found)


def program_or_none(schedule: Schedule, options: Options, limits: Limits) -> Program | None:
    try:
        return lower(schedule, options, limits).program
    except NoSolutionError:
        return None


@pytest.mark.parametrize(
    ("spec", "collective", "limits", "message"),
    [
        ("complete:nodes=8", "allgather", {"blocks": 6}, r"7 thread blocks, .* and 6 is the most; .* at most 6 peers"),
        ("complete:nodes=8", "allreduce", {"blocks": 13},
         r"14 thread blocks, 2 for each .* 13 is the most; .* at most 6 peers"),
        ("complete:nodes=8", "allreduce", {"blocks": 1},
         r"14 thread blocks, .* and 1 is the most; what fits is fewer boxes$"),
        ("dgx-a100:boxes=2,gpus=4", "allgather", {"dependency_block": 0},
         r"blocks that others wait for .* what fits is fewer boxes, or a schedule in which a rank has fewer peers"),
    ],
)  # fmt: skip
def test_too_many_peers_are_refused_with_the_number_that_fits(
    spec: str, collective: str, limits: dict[str, int], message: str
) -> None:
    with pytest.raises(NoSolutionError, match=message):
        lower(generate(spec, collective), Options(), Limits(name="a test", **limits))
    fits = lower(generate("complete:nodes=8", "allreduce"), Options(), Limits(name="a test", blocks=14)).program
    assert max(len(rank.blocks) for rank in fits.ranks) == 14


def test_the_estimate_counts_a_send_and_a_receive_for_each_edge() -> None:
    schedule = generate("ring:nodes=4")
    program = lower(schedule, Chakra().usual_options(schedule)).program
    trees = len(schedule.phases[0])
    assert least_instructions(schedule) == 2 * 3 * trees
    assert instruction_count(program) >= least_instructions(schedule)


def test_a_long_export_is_announced_and_a_too_long_one_is_refused() -> None:
    schedule = generate("ring:nodes=4")
    remarks = Remarks()
    announce_export(schedule, Chakra(), 1, remarks)
    assert not remarks.texts
    announce_export(schedule, Chakra(), 10**4, remarks)
    (text,) = remarks.texts
    assert text.endswith("480,000 instructions, in files of 36 MB, takes about 12 s and 192 MB of memory")
    with pytest.raises(InputError, match="use at most about 416666 pieces"):
        announce_export(schedule, Chakra(), MOST_INSTRUCTIONS // 30, remarks)


def test_the_search_for_a_program_with_one_root_is_announced_and_its_progress_begins_at_once() -> None:
    """It does all of its work if no program is fast enough: on four H100 boxes, 28 s were measured."""

    class Bar(Remarks):
        counts: ClassVar[list[tuple[int, int]]] = []

        def advance(self, done: int, total: int) -> None:
            self.counts.append((done, total))

    for spec, seconds in (("dgx-h100:boxes=4", 28), ("ring:nodes=4", None)):
        remarks = Bar()
        space = Candidates(generate(spec, "broadcast:root=0"), MscclXml(), Objective(), remarks)
        assert remarks.counts[-1] == (0, 100)
        if seconds is None:
            space.work = space.most_work * 3 // 4
        announce_search(space)
        assert [f"takes about {seconds} s" in text for text in remarks.texts] == [True] * (seconds is not None)
    space = Candidates(generate("dgx-h100:boxes=4"), MscclXml(), Objective(), remarks)
    announce_search(space)
    assert not remarks.texts


def test_a_program_of_too_many_parts_is_refused_before_they_are_made() -> None:
    schedule = generate("mi250:boxes=2")
    with pytest.raises(
        NoSolutionError, match=r"with 134,217,728 chunks, the program would have about .* use fewer chunks"
    ):
        lower(schedule, Options(chunks=2**27, step_chunks=4))


def test_a_program_whose_chunks_do_not_fit_into_the_memory_is_not_run() -> None:
    program = lower(generate("ring:nodes=4"), Options(chunks=2**12)).program
    assert check(program).ok
    deferred = replace(program, ranks=DeferredRanks(program.ranks.__getitem__, block_counts(program)))
    set_memory_limit(121 * 10**6)
    try:
        with pytest.raises(
            InputError, match=r"chunks in all buffers would take about [0-9.]+ MB of memory; use fewer chunks"
        ):
            check(deferred)
    finally:
        set_memory_limit(None)
