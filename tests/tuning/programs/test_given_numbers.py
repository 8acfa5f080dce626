"""Numbers that users give: absurd ones are refused before a program is made, and odd ones are used or refused."""

from unittest import mock

import pytest

from forestcoll import export, generate, simulate
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.programs.lowering import lowering
from forestcoll.tuning.tune import tune
from refusal import refusal

SCHEDULE = generate("dgx-a100:boxes=2")
STEPS = generate("torus:dims=3x3", "allreduce", "bfb")
ODD = (1, 7, 999, 1001, 4097, 65_535, 65_537, 10**6 + 1, 2**30 - 3)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("msccl-xml:instances=1000", "instances=1000 makes 16,000 chunks or more, and 64KiB, .* use at most 256, or"),
        ("msccl-xml:instances=2147483647", "instances=2147483647 makes 34,359,738,352 chunks or more"),
        ("msccl-xml:channels=1000", "channels=1000, and MSCCL XML for microsoft has 32; use at most so many"),
        ("mscclpp-json:instances=1000", "instances=1000 makes 16,000 chunks or more"),
        (
            "mscclpp-json:chunks=16,instances=1000",
            r"16,000 operations of a rank .*MSCCL\+\+ has 6,656; use at most 4",
        ),
        ("goal:pieces=100000", "use at most about 20833 pieces"),
        ("astra-sim:pieces=2000000", "use at most about 20833 pieces"),
    ],
)
def test_numbers_that_no_program_has_are_refused_before_one_is_made(target: str, message: str) -> None:
    with (
        mock.patch.object(lowering, "_lower_trees", side_effect=AssertionError),
        pytest.raises(InputError, match=message),
    ):
        export(SCHEDULE, target)


def test_too_many_instances_are_refused_with_the_most_that_fit() -> None:
    with pytest.raises(NoSolutionError, match=r"17 for each rank .* what fits is at most 13 instances"):
        export(SCHEDULE, "msccl-xml:chunks=16,instances=17")
    assert export(SCHEDULE, "msccl-xml:chunks=16,instances=13").sizes


@pytest.mark.parametrize("schedule", [SCHEDULE, STEPS], ids=["trees", "steps"])
@pytest.mark.parametrize("target", ["goal", "chakra"])
def test_a_simulator_has_any_size_that_has_a_byte_for_each_chunk(target: str, schedule: object) -> None:
    chunks = export(schedule, target).chunks
    for size in (*ODD, chunks - 1, chunks):
        if size >= chunks:
            assert export(schedule, f"{target}:bytes={size}").lowering.program.chunks == chunks
        else:
            assert f"use bytes={chunks} or more" in refusal(export, schedule, f"{target}:bytes={size}")


@pytest.mark.parametrize("schedule", [SCHEDULE, STEPS], ids=["trees", "steps"])
def test_every_size_can_be_simulated(schedule: object) -> None:
    assert len(simulate(schedule, ODD[:-1], model="program")) == len(ODD) - 1


def test_every_size_can_be_tuned() -> None:
    for size in ODD[2:6]:
        tuned = tune("ring:nodes=3", sizes=[size])
        assert tuned.ranges[0].least <= size <= tuned.ranges[-1].most


@pytest.mark.parametrize("target", ["msccl-xml", "mscclpp-json"])
@pytest.mark.parametrize("chunks", [1, 3, 9, 17, 1000, 10**9])
def test_any_number_of_chunks_is_used_or_refused_in_words_of_the_user(target: str, chunks: int) -> None:
    schedule = generate("torus:dims=3x3")
    if chunks < 9:
        found = refusal(export, schedule, f"{target}:chunks={chunks}")
        assert found.endswith(f"need 9 chunks, and {chunks} is the most; use chunks=9 or more")
    else:
        assert export(schedule, f"{target}:chunks={chunks}").chunks <= chunks
