"""Programs for one size: the protocol and the chunks are chosen for it, and losses are stated."""

import pytest

from forestcoll import export, generate, simulate
from forestcoll.programs.targets.target import RuntimeTarget
from forestcoll.schedule.schedule import Schedule
from forestcoll.tuning.programs.export import POOR
from refusal import refusal

BOX, PAIR = (generate(f"dgx-a100:boxes={boxes}", "allreduce") for boxes in (1, 2))
TARGETS = pytest.mark.parametrize("target", ["msccl-xml", "msccl-xml:dialect=rccl", "mscclpp-json"])


@TARGETS
@pytest.mark.parametrize("size", ["16KiB", "1MiB", "64MiB"])
def test_a_program_for_a_size_matches_it_and_is_not_slower_there(target: str, size: str) -> None:
    usual, own = export(BOX, target), export(BOX, target, size=size)
    (stated,) = own.expected
    assert own.sizes is not None
    assert own.sizes.match(stated.size)
    assert isinstance(own.target, RuntimeTarget)
    (other,) = export(BOX, own.target, size=size).expected
    assert (other.size, other.algbw) == (stated.size, stated.algbw)
    if stated.size == 2**26:
        assert stated.algbw >= 0.99 * next(each.algbw for each in usual.expected if each.size == 64 * 10**6)


def test_small_data_gets_packets_and_large_data_does_not() -> None:
    small, large = (export(PAIR, "msccl-xml", size=size) for size in ("64KiB", "1GiB"))
    assert small.lowering.program.protocol.value == "LL"
    assert small.remarks[0] == "the protocol is LL, the best that was tried for 64KiB"
    assert large.lowering.program.protocol.value != "LL"
    assert export(PAIR, "msccl-xml:protocol=Simple", size="64KiB").lowering.program.protocol.value == "Simple"


@TARGETS
@pytest.mark.parametrize("schedule", [BOX, PAIR, generate("torus:dims=3x3", "allreduce", "bfb")], ids=str)
def test_every_size_at_which_a_program_loses_much_has_a_warning(target: str, schedule: Schedule) -> None:
    done = export(schedule, target)
    for each in done.expected[:-1]:
        (alone,) = simulate(schedule, [each.size])
        assert each.schedule_algbw <= 1.01 * alone.algbw
        lines = [line for line in done.warnings if line.startswith(f"at {each.size // 10**6}MB, ")]
        assert len(lines) == (each.algbw < POOR * each.schedule_algbw)
        assert all(f"--size {each.size // 10**6}MB" in line for line in lines)


def test_a_loss_is_stated_with_its_figures_and_what_to_do() -> None:
    done = export(generate("torus:dims=4x4", "reduce-scatter", "bfb"), "mscclpp-json")
    (line,) = done.warnings
    first = done.expected[0]
    figures = f"({first.algbw:.4g} instead of {first.schedule_algbw:.4g} GB/s)"
    assert (
        f"below the schedule for this size {figures}; for calls of this size, export a program with --size 1MB" in line
    )


def test_a_size_that_the_program_does_not_match_is_named() -> None:
    done = export(BOX, "msccl-xml", size=10**6 + 1)
    assert any(
        line.startswith("calls of 976.6KiB do not match: their size must be a multiple") for line in done.warnings
    )


@pytest.mark.parametrize(
    ("target", "size", "message"),
    [
        ("goal", "1MiB", "size is for runtimes; goal has bytes, as in goal:bytes=1048576"),
        ("msccl-xml", "no", "expected a size of 1 byte or more"),
        ("msccl-xml", 0, "expected a size of 1 byte or more"),
        ("mscclpp-json:chunks=exact", "1MiB", ""),
    ],
)
def test_a_size_that_makes_no_sense_is_refused(target: str, size: str | int, message: str) -> None:
    if not message:
        assert export(BOX, target, size=size).expected
    else:
        assert message in refusal(export, BOX, target, size=size)


def test_a_size_below_a_chunk_of_each_rank_is_refused_with_what_fits() -> None:
    found = refusal(export, generate("dgx-a100:boxes=1"), "msccl-xml", size=64)
    assert "the shards of the ranks need 8 chunks, and 4 is the most; use chunks=8 or more" in found
