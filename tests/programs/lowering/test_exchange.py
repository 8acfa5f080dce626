"""Schedules of flows become correct programs: an all-to-all in each style, on any network."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.flows import Flows
from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.demand import Demand
from forestcoll.programs.formats import msccl_xml
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Lowering, Options, Placement, Style, lower
from forestcoll.programs.model import Buffer, Message, Protocol, Span, Task
from forestcoll.programs.model.limits import Limits
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.simulation.simulate import Model, simulate
from forestcoll.topology import Topology
from networks import SMALL, examples, networks


def lowered(schedule: FlowSchedule, limits: Limits | None = None, **options: object) -> Lowering:
    chosen = Options(**({"placement": Placement.OUT_OF_PLACE} | options))  # type: ignore[arg-type]
    lowering = lower(schedule, chosen, *([limits] if limits else []))
    verdict = check(lowering.program)
    assert verdict.ok, verdict.fault
    assert lowering.program.task is Task.ALL_TO_ALL
    assert lowering.algbw == schedule.algbw * (1 - lowering.loss)
    return lowering


@pytest.mark.parametrize("style", Style)
def test_an_all_to_all_has_a_correct_program(style: Style) -> None:
    lowering = lowered(generate("kautz:degree=2,length=2", "all-to-all"), style=style)
    part = lowering.program.shards[0]
    assert lowering.program.chunks == len(lowering.program.ranks) * part
    assert part.bit_count() == 1
    assert lowering.loss <= Fraction(1, 20)


@examples(40)
@given(
    networks(kinds=st.just(SMALL)),
    st.sampled_from(Style),
    st.integers(1, 3),
    st.integers(1, 2),
    st.sampled_from([None, 1, 3]),
)
def test_random_networks(topology: Topology, style: Style, pieces: int, instances: int, channels: int | None) -> None:
    schedule = generate(topology, "all-to-all")
    lowered(schedule, style=style, pieces=pieces, instances=instances, channels=channels)


def test_a_symmetry_does_not_change_the_program() -> None:
    base, listed = (generate("torus:dims=3x4", "all-to-all", Flows(compact=compact)) for compact in (True, False))
    assert base.symmetry is not None
    one, other = lowered(base), lowered(listed)
    assert (one.loss, one.program.chunks) == (other.loss, other.program.chunks)
    assert one.trees_left_out == other.trees_left_out


def test_rounding_is_as_good_as_stated_and_requested_chunks_make_all_shares_exact() -> None:
    schedule = generate("torus:dims=4x4", "all-to-all")
    rounded = lowered(schedule)
    assert 0 < rounded.loss <= Fraction(1, 50)
    assert rounded.trees_left_out > 0
    loads: Counter[tuple[int, int]] = Counter()
    for *_, each in rounded.program.instructions():
        for place in each.targets:
            if isinstance(place, Message):  # over one link
                channel = rounded.program.channels[place.channel]
                loads[channel.source, channel.target] += place.count
    assert rounded.program.chunks / Fraction(max(loads.values())) == rounded.algbw
    exact = lowered(schedule, chunks=16 * 12)
    assert (str(exact.loss), exact.algbw, exact.trees_left_out) == ("0", schedule.algbw, 0)
    with pytest.raises(NoSolutionError, match="100 chunks; use a multiple of 16, the ranks"):
        lowered(schedule, chunks=100)


def test_only_relays_use_scratch() -> None:
    direct = lowered(generate("dgx-a100:boxes=2,gpus=2", "all-to-all")).program
    assert {rank.scratch_chunks for rank in direct.ranks} == {0}
    ring = lowered(generate("ring:nodes=5", "all-to-all")).program
    spans = [place for *_, each in ring.instructions() for place in each.targets if isinstance(place, Span)]
    assert {place.buffer for place in spans} == {Buffer.OUTPUT, Buffer.SCRATCH}
    assert {rank.scratch_chunks for rank in ring.ranks} == {2}  # each rank relays for the pairs at distance 2


@pytest.mark.parametrize("dialect", ["microsoft", "rccl"])
def test_forty_peers_are_too_many_for_one_channel_but_not_for_two(dialect: str) -> None:
    limits = msccl_xml.limits(msccl_xml.dialect_named(dialect), 40)
    lowering = lowered(generate("complete:nodes=40", "all-to-all"), limits)
    assert lowering.loss == 0
    assert len({channel.number for channel in lowering.program.channels}) == 2


def test_a_program_that_does_not_fit_has_fewer_chunks_and_states_the_loss() -> None:
    schedule = generate("hypercube:dim=3", "all-to-all")
    tight = Limits(name="tight", steps_of_rank=30)
    lowering = lowered(schedule, tight)
    assert lowering.program.shards[0] == 1
    assert 0 < lowering.loss < Fraction(1, 2)
    with pytest.raises(NoSolutionError, match=r"no program of these flows fits tiny: it needs \d+ steps"):
        lower(schedule, limits=Limits(name="tiny", steps_of_rank=10))
    with pytest.raises(NoSolutionError, match="few has 7 chunks, too few for 8 ranks"):
        lower(schedule, limits=Limits(name="few", chunks=7))


def test_what_has_no_program_is_refused_in_one_line() -> None:
    ring, out_of_place = "ring:nodes=3", Options(placement=Placement.OUT_OF_PLACE)
    packets = replace(out_of_place, style=Style.ONE_SIDED, protocol=Protocol.LL)
    shifted = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    for schedule, options, words in (
        (generate(ring, "gather:root=0"), Options(), "no runtime loads a program for a gather"),
        (generate(ring, "scatter:root=0"), Options(), "no runtime loads a program for a scatter"),
        (
            generate(ring, Demand("all-to-all", matrix=shifted)),
            Options(),
            "no runtime loads a program for different amounts of data",
        ),
        (generate(ring, "all-to-all"), Options(), "out of place only"),
        (generate(ring, "all-to-all"), packets, "no program with packets"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            lower(schedule, options)
        assert "\n" not in str(caught.value)


def test_a_program_takes_about_the_time_of_its_schedule() -> None:
    schedule = generate("torus:dims=3x3", "all-to-all")
    (flows,), (program,) = simulate(schedule, [10**9]), simulate(schedule, [10**9], model=Model.PROGRAM)
    assert program.seconds == pytest.approx(flows.seconds, rel=0.6)
