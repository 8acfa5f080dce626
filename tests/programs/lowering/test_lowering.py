from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.ranks import without_relays
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Lowering, Options, Placement, Style, lower
from forestcoll.programs.lowering.fitting import excess_of
from forestcoll.programs.lowering.grid import Grid, achieved, grid_for, rounded
from forestcoll.programs.model import Buffer, Message, Program, Span
from forestcoll.programs.model.limits import Limits
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.program.events import run_in_time
from forestcoll.simulation.simulate import paths_of
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import linked
from refusal import refusal
from routed_steps import random_allgather

AZURE = Limits(
    name="azure", blocks=64, steps=64, channels=32, blocks_per_channel=32, count=71, waits=1, steps_of_rank=4000
)


def schedule_of(spec: str, collective: Collective = Collective.ALLGATHER, **options: Any) -> TreeSchedule:
    made: TreeSchedule = generate(build_topology(spec), Demand(collective, **options))
    return made


def lowered(schedule: TreeSchedule, limits: Limits | None = None, **options: Any) -> Lowering:
    lowering = lower(schedule, Options(**options), *([limits] if limits else []))
    assert check(lowering.program).ok
    return lowering


def blocks(program: Program) -> int:
    return max(len(rank.blocks) for rank in program.ranks)


def test_two_mi250_boxes_with_83_trees_per_root_fit() -> None:
    schedule = schedule_of("mi250:boxes=2", Collective.ALLREDUCE)
    assert schedule.trees_per_root == 83
    lowering = lowered(schedule, AZURE)
    assert lowering.loss == 0
    assert lowering.trees_left_out == 0
    assert lowering.algbw == schedule.algbw
    assert lowering.program.chunks == 32 * 83
    assert max(each.count for *_, each in lowering.program.instructions()) <= 71


@pytest.mark.parametrize(
    ("spec", "collective", "most"),
    [
        ("dgx-a100:boxes=2", Collective.ALLGATHER, {32: "0.0111", 64: "0.0111", 128: "0.0022", 4096: "0.0002"}),
        ("mi250:boxes=2", Collective.ALLGATHER, {256: "0.0362", 512: "0.0098", 4096: "0.0013"}),
        ("mi300x:boxes=2", Collective.ALLREDUCE, {64: "0.0362", 128: "0.0362", 256: "0.0052", 2048: "0.0011"}),
    ],
)
def test_each_doubling_of_the_chunks_loses_no_more(spec: str, collective: Collective, most: dict[int, str]) -> None:
    schedule = expanded(schedule_of(spec, collective))
    losses = []
    for chunks in (2**power for power in range(5, 13)):
        grid = grid_for(schedule, chunks)
        assert sum(grid.parts) == sum(grid.trees[-1]) == grid.chunks == chunks
        assert _sums(schedule, grid) == list(grid.parts)
        losses.append(1 - achieved(schedule, grid) / schedule.algbw)
        assert losses[-1] <= Fraction(most.get(chunks, "1"))
    assert losses == sorted(losses, reverse=True)


def _sums(schedule: TreeSchedule, grid: Grid) -> list[int]:
    """Return the number of chunks of each root in the last phase."""
    sums = dict.fromkeys(schedule.members, 0)
    for root, count in zip(schedule.phases[-1].roots, grid.trees[-1], strict=True):
        sums[root] += count
    return list(sums.values())


def test_a_schedule_that_does_not_fit_keeps_its_greatest_trees_and_states_the_loss() -> None:
    schedule = schedule_of("mi250:boxes=2,gpus=8")
    tight = Limits(name="tight", steps_of_rank=60, blocks=64, count=71, waits=1)
    lowering = lowered(schedule, tight)
    assert lowering.trees_left_out > 0
    assert 0 < lowering.loss < Fraction(1, 2)
    assert lowering.algbw == schedule.algbw * (1 - lowering.loss)
    assert excess_of(lowering.program, tight) is None


def test_a_schedule_that_cannot_fit_is_refused_with_the_limit_and_the_rank() -> None:
    schedule = schedule_of("dgx-a100:boxes=1")
    with pytest.raises(NoSolutionError, match=r"no program fits tiny, not even .*: it needs 7 thread blocks"):
        lower(schedule, Options(placement=Placement.IN_PLACE), Limits(name="tiny", blocks=3))
    with pytest.raises(NoSolutionError, match=r"steps.*rank \d+, and 4 is the most|4 is the most"):
        lower(schedule, Options(), Limits(name="short", steps_of_rank=4))


def test_a_limit_of_blocks_is_kept() -> None:
    schedule = schedule_of("mi250:boxes=1")
    sizes = [blocks(lowered(schedule, blocks=budget).program) for budget in (64, 24, 12)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(size <= budget for size, budget in zip(sizes, (64, 24, 12), strict=True))


def test_shares_are_rounded_to_the_chunks_that_are_asked_for() -> None:
    schedule = schedule_of("dgx-a100:boxes=2")
    assert lowered(schedule).program.chunks == 208
    rounded_lowering = lowered(schedule, chunks=64)
    assert rounded_lowering.program.chunks == 64
    assert 0 < rounded_lowering.loss < Fraction(1, 4)
    with pytest.raises(NoSolutionError, match="use a multiple of 16 chunks"):
        lower(schedule, Options(chunks=100))


def test_a_lowering_has_the_schedule_that_its_program_executes() -> None:
    schedule = schedule_of("dgx-h100:boxes=4")
    lowering = lowered(schedule, chunks=32)
    assert isinstance(lowering.schedule, TreeSchedule)
    assert lowering.trees_left_out == 16
    assert lowering.schedule.phases[0].shares == (Fraction(1, 32),) * 32
    report = verify(lowering.schedule)
    assert (report.fault, report.algbw) == (None, lowering.algbw)
    assert lowered(schedule).schedule == replace(expanded(schedule), trees_per_root=None)


def test_data_takes_no_path_of_a_tree_that_is_left_out() -> None:
    schedule = schedule_of("dgx-h100:boxes=4")
    some = [paths_of(each).between(15, 8).links for each in (schedule, lowered(schedule, chunks=32).schedule)]
    assert [len(each) for each in some] == [4, 2]  # through the switch of the box; a small tree takes the network, too


def test_rounding_keeps_the_sum_and_is_never_off_by_a_chunk() -> None:
    shares = [Fraction(1, 3), Fraction(1, 7), Fraction(11, 21)]
    for total in (1, 2, 5, 100):
        counts = rounded(shares, total)
        assert sum(counts) == total
        assert all(abs(count - share * total) < 1 for count, share in zip(counts, shares, strict=True))


@pytest.mark.parametrize("style", Style)
def test_pieces_follow_each_other_and_instances_run_in_parallel(style: Style) -> None:
    schedule = schedule_of("ring:nodes=3")
    plain, pieces, instances = (
        lowered(schedule, style=style, placement=Placement.OUT_OF_PLACE, pieces=pieces, instances=instances)
        for pieces, instances in ((1, 1), (4, 1), (1, 2))
    )
    assert pieces.program.chunks == 4 * plain.program.chunks
    assert instances.program.chunks == 2 * plain.program.chunks
    assert blocks(pieces.program) == blocks(plain.program) < blocks(instances.program)


@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.REDUCE, Collective.ALLREDUCE])
def test_strands_share_the_chunks_of_a_tree(collective: Collective) -> None:
    root = {"root": 0} if collective.has_root else {}
    schedule = schedule_of("ring:nodes=4", collective, **root)
    options: dict[str, Any] = {"chunks": 16, "pieces": 8, "step_chunks": 2, "placement": "out-of-place"}
    plain, strands = (lowered(schedule, strands=number, **options).program for number in (1, 3))
    assert strands.chunks == plain.chunks == 128
    assert min(Counter((each.source, each.target) for each in strands.channels).values()) >= 3
    assert blocks(strands) > blocks(plain)


def test_parts_of_trees_that_share_a_link_alternate() -> None:
    """The first link of both chains is the same."""
    chains = linked("0 1 2 3", "0>1:2 1>2 1>3 2>3 3>2 1>0 2>1")
    schedule = generate(chains, "broadcast:root=0")
    program = lowered(schedule, chunks=64, step_chunks=1).program
    costs = Costs(alpha_us=0, overhead_us=0)
    seconds = run_in_time(program, paths_of(schedule), 2 * 10**9, costs).seconds
    assert 1 <= seconds < 1.1  # 1.5 if the parts of one tree came before those of the other


def test_in_place_a_root_copies_nothing() -> None:
    schedule = schedule_of("ring:nodes=4")
    for placement, copies in ((Placement.IN_PLACE, 0), (Placement.OUT_OF_PLACE, 4), (Placement.BOTH, 4)):
        program = lowered(schedule, placement=placement).program
        local = [each for *_, each in program.instructions() if all(isinstance(place, Span) for place in each.places)]
        assert len(local) == copies
        assert (program.in_place, program.out_of_place) == (placement != "out-of-place", placement != "in-place")


def test_sums_need_scratch_only_if_the_output_has_no_space() -> None:
    for collective, needs in ((Collective.ALLREDUCE, False), (Collective.REDUCE_SCATTER, True)):
        program = lowered(schedule_of("torus:dims=3x3", collective)).program
        used = {place.buffer for *_, each in program.instructions() for place in each.places if isinstance(place, Span)}
        assert (Buffer.SCRATCH in used) == needs


@pytest.mark.parametrize("style", Style)
def test_participating_ranks_have_a_program(style: Style) -> None:
    topology = without_relays(build_topology("dgx-a100:boxes=2,gpus=3"), "0-1,3-4")
    schedule = generate(topology, "allreduce:ranks='0-1,3-4'")
    lowering = lowered(schedule, style=style, placement=Placement.OUT_OF_PLACE)
    assert len(lowering.program.ranks) == 4
    assert lowering.loss == 0


def test_trees_over_idle_nodes_have_no_program() -> None:
    schedule = generate(build_topology("dgx-a100:boxes=2,gpus=3"), "allgather:ranks='0-1,3-4'")
    assert "takes no part, so that it runs no program; generate with --no-relays" in refusal(lower, schedule)
    for collective, name in (("allgather", "trees"), ("all-to-all", "flows")):
        message = (
            f"ring:nodes=6: {name} pass through compute node 1, which takes no part, so that it runs no program, "
            "and rank 0 cannot reach rank 2 without relays; generate with more --ranks"
        )
        with pytest.raises(InputError, match=message):
            lower(generate("ring:nodes=6", Demand(collective, "0,2,4")))


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        (("chunks", "pieces", "step_chunks", "channels", "instances", "strands", "blocks"), (0, -1, True, 1.5), ""),
        (("step_chunks",), (Fraction(1, 2), Fraction(2**32), "2"), "must be an integer or a fraction from 1 to"),
        (("lane_overhead",), (0, -0.1, 1.1, True, "1", None, float("nan")), "must be a number above 0, at most 1"),
    ],
)
def test_numbers_that_are_no_options_are_refused(names: Sequence[str], values: Sequence[Any], message: str) -> None:
    for name, value in product(names, values):
        with pytest.raises(InputError, match=f"{name} .*{message}"):
            Options(**{name: value})


def test_options_with_names_accept_their_text() -> None:
    knobs: dict[str, Any] = {"style": "one-sided", "placement": "in-place", "protocol": "LL"}
    assert (Options(**knobs).style, Options(**knobs).placement) == (Style.ONE_SIDED, Placement.IN_PLACE)
    assert "placement is 'beside'; it must be one of in-place" in refusal(Options, **knobs | {"placement": "beside"})


REDUCING_TOO = pytest.mark.parametrize(
    "collective", [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE]
)


@REDUCING_TOO
def test_steps_are_lowered_to_correct_programs_with_routes_through_switches_too(collective: Collective) -> None:
    network = build_topology("dgx-a100:boxes=2,gpus=3")
    for seed in range(3):
        steps = from_allgathers(network, collective, lambda each: random_allgather(each, Random(seed), relays=False))  # noqa: B023, S311
        lowering = lower(steps)
        assert check(lowering.program).ok
        assert lowering.algbw >= lowering.schedule_algbw == shape_of(steps).algbw
    steps = generate(build_topology("hypercube:dim=3"), collective, "halving-doubling")
    for placement in Placement:
        lowering = lower(steps, Options(placement=placement), AZURE)
        assert check(lowering.program).ok
        assert lowering.loss == 0


def test_steps_of_some_ranks_have_a_program_if_no_route_passes_a_compute_node() -> None:
    network = build_topology("dgx-a100:boxes=2,gpus=3")
    program = lower(random_allgather(network, Random(2), relays=False, ranks=(0, 2, 4, 5))).program  # noqa: S311
    assert check(program).ok
    assert len(program.ranks) == 4
    with pytest.raises(InputError, match="a transfer passes through a compute node"):
        lower(random_allgather(build_topology("ring:nodes=5"), Random(1)))  # noqa: S311


def test_steps_are_exact_or_rounded_and_refused_with_the_limit() -> None:
    steps = generate(build_topology("torus:dims=3x4"), method="bfb")
    exact, rounded_lowering = lower(steps), lower(steps, Options(chunks=12))
    assert (exact.program.chunks, rounded_lowering.program.chunks) == (48, 12)
    assert exact.loss == 0
    assert rounded_lowering.loss > 0
    assert check(rounded_lowering.program).ok
    with pytest.raises(NoSolutionError, match="use a multiple of 12 chunks"):
        lower(steps, Options(chunks=50))
    with pytest.raises(NoSolutionError, match="3 is the most"):
        lower(steps, Options(), Limits(name="tiny", blocks=3))


def test_instances_and_trees_of_different_roots_begin_their_messages_at_different_times() -> None:
    schedule = generate("dgx-a100:boxes=1", "broadcast:root=0")
    for instances, most, first in (
        (2, 2, [[2, 2], [1, 1, 2]]),
        (4, 4, [[4], [1, 4], [2, 4], [3, 4]]),
        (4, 2, [[2, 2], [1, 1, 2], [1, 1, 1, 1, 2], [1, 1, 1, 1, 1, 1, 2]]),
        (3, Fraction(5, 2), [[2, 3, 2, 3], [1, 1, 3, 2, 3], [1, 1, 1, 1, 2, 2, 3]]),
    ):
        options: dict[str, Any] = {"chunks": 64, "step_chunks": most, "instances": instances, "placement": "in-place"}
        program = lowered(schedule, **options).program
        sent = [[each.count for each in block.instructions] for block in program.ranks[0].blocks]
        assert [sum(counts) for counts in sent] == [64] * instances
        assert [counts[: len(begin)] for counts, begin in zip(sent, first, strict=True)] == first
    program = lowered(schedule_of("dgx-a100:boxes=1"), chunks=128, step_chunks=4, levels=1).program
    assert [rank.blocks[0].instructions[0].count for rank in program.ranks] == [4, 2, 4, 3, 1, 4, 2, 1]


@REDUCING_TOO
def test_lanes_between_two_ranks_take_turns_and_are_continued_by_other_blocks(collective: Collective) -> None:
    schedule = generate("ring:nodes=4", demand=collective)
    limits = replace(AZURE, steps=16)
    program = lower(schedule, Options(chunks=96, step_chunks=1, lanes=2), limits).program
    assert check(program).ok
    assert excess_of(program, limits) is None
    sent: dict[tuple[int, int], Counter[int]] = {}
    for _, _, _, each in program.instructions():
        for place in each.targets:
            if isinstance(place, Message):
                channel = program.channels[place.channel]
                sent.setdefault((channel.source, channel.target), Counter())[channel.number] += 1
    assert max(map(len, sent.values())) > 2
    for numbers in sent.values():
        assert all(numbers[lane] - numbers[lane + 1] in {0, 1} for lane in range(0, len(numbers), 2))


def test_a_tree_with_too_many_parts_for_the_steps_of_a_block_is_sent_by_blocks_that_continue_each_other() -> None:
    schedule = generate("dgx-a100:boxes=1,gpus=3", "broadcast:root=0")
    options = Options(chunks=20, step_chunks=1, placement=Placement.IN_PLACE)
    program = lower(schedule, options, replace(AZURE, steps=8)).program
    blocks = program.ranks[0].blocks
    assert check(program).ok
    assert [len(block.instructions) for block in blocks] == [7, 7, 6]
    waits = [[(each.block, each.instruction) for each in block.instructions[0].after] for block in blocks]
    assert waits == [[], [(0, 6)], [(1, 6)]]


def test_levels_choose_how_hops_are_distributed_over_blocks() -> None:
    schedule = schedule_of("dgx-a100:boxes=4")
    programs = {each: lowered(schedule, chunks=32, levels=each).program for each in (None, 1, 0)}
    assert {each: blocks(program) for each, program in programs.items()} == {None: 21, 1: 21, 0: 18}
    assert programs[None] == programs[1]  # 35 blocks of two levels are more than by default
    many = lowered(schedule, chunks=32, blocks=64).program
    assert (blocks(many), lowered(schedule, chunks=32, blocks=64, levels=2).program) == (35, many)


def test_trees_have_blocks_of_their_own_if_there_are_enough() -> None:
    schedule = schedule_of("dgx-a100:boxes=2,gpus=4", Collective.BROADCAST, root=0)
    program = lowered(schedule, chunks=4, placement=Placement.IN_PLACE).program
    sent = [
        sum(place.count for each in block.instructions for place in each.targets if isinstance(place, Message))
        for rank in program.ranks
        for block in rank.blocks
    ]
    edges = sum(len(list(tree.routes)) for phase in expanded(schedule).phases for tree in phase)
    assert Counter(sent)[1] == edges == len(program.channels)
    schedule = schedule_of("dgx-a100:boxes=2,gpus=4", Collective.REDUCE_SCATTER)
    options: dict[str, Any] = {"style": Style.ONE_SIDED, "placement": Placement.OUT_OF_PLACE, "chunks": 8}
    assert [blocks(lowered(schedule, blocks=most, **options).program) for most in (2, None)] == [2, 8]


def test_steps_may_move_several_pieces() -> None:
    schedule = schedule_of("ring:nodes=4")
    program = lowered(schedule, chunks=4, pieces=8, step_chunks=2, placement=Placement.IN_PLACE).program
    assert program.chunks == 4 * 8
    assert Counter(each.count for *_, each in program.instructions()).most_common(1)[0][0] == 2
    assert max(each.count for *_, each in program.instructions()) == 2
