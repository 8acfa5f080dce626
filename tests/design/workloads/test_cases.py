"""Iterations side by side, with amounts computed by hand."""

from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.base.progress import SILENT
from forestcoll.design.workloads import Layer, Profile, write_profile
from forestcoll.design.workloads.asked import Compared, TrainingQuestion
from forestcoll.design.workloads.cases import Case, Sweep, Swept

MODEL = Profile(
    "two",
    "",
    (
        Layer("a", Fraction(10), Fraction(20), 4 * 10**6, parameter_bytes=4 * 10**6),
        Layer("e", Fraction(30), Fraction(60), exchange_bytes=2 * 10**6, expert_bytes=8 * 10**6),
    ),
)


@pytest.fixture
def profile(tmp_path: Path) -> str:
    """Return the file of the model."""
    write_profile(MODEL, tmp_path / "two.json")
    return str(tmp_path / "two.json")


def cases_of(profile: str, networks: tuple[str, ...], layouts: tuple[str, ...], sweep: str | None) -> tuple[Case, ...]:
    alpha, methods, waits = Fraction(0), (), bool(layouts)
    buckets = None if layouts else (10**9,)
    question = TrainingQuestion(profile, networks, alpha, buckets, layouts, methods, no_overlap=waits, sweep=sweep)
    answer = question.answer(SILENT)
    assert isinstance(answer, Compared)
    return answer.cases


# A ring of 4 nodes with links of 1 GB/s: an allgather or a reduce-scatter of M takes 3/4 M / 2 GB/s, an all-to-all of M
# 1/4 M * (2 * 1 + 2) distances / 2 links: M / 2 GB/s. So 1 MB takes 375 us, 500 us, and an allreduce 750 us.
RING = "ring:nodes=4,bandwidth=1"


@pytest.mark.parametrize(
    ("layout", "fixed", "tokens"),
    [
        ("fsdp=4", 3 * 12 * 375, 0),
        ("dp=4", 12 * 750, 0),
        ("ep=4", 4 * 750, 4 * 2 * 500),
        ("ep=4,fsdp=1", 3 * 4 * 375, 4000),
    ],
)
def test_a_batch_multiplies_computing_and_tokens_and_bandwidth_divides_all_data(
    profile: str, layout: str, fixed: int, tokens: int
) -> None:
    batches = cases_of(profile, (RING,), (layout,), "batch=1,3")
    assert [each.iteration.total_us for each in batches] == pytest.approx(
        [120 + tokens + fixed, 3 * (120 + tokens) + fixed]
    )
    assert [each.batches for each in batches] == [4, 12]
    assert batches[1].batch_us == pytest.approx((360 + 3 * tokens + fixed) / 12)
    faster = cases_of(profile, (RING,), (layout,), "bandwidth=1/2,2")
    assert [each.iteration.total_us for each in faster] == pytest.approx(
        [120 + 2 * (tokens + fixed), 120 + (tokens + fixed) / 2]
    )
    assert [each.batches for each in faster] == [4, 4]


def test_without_a_layout_experts_are_those_of_a_node(profile: str) -> None:
    cases = cases_of(profile, (RING, "ring:nodes=4,bandwidth=2"), (), "batch=1,2")
    dense = 4 * 750
    assert [each.iteration.total_us for each in cases] == pytest.approx(
        [120 + 4000 + dense, 240 + 8000 + dense, 120 + 2000 + dense / 2, 240 + 4000 + dense / 2]
    )
    assert [(each.layout, each.batches, each.iteration.bucket_bytes) for each in cases] == 2 * [
        (None, 4, 10**9),
        (None, 8, 10**9),
    ]


def test_more_bandwidth_is_the_same_as_a_network_that_has_it(profile: str) -> None:
    layouts = ("fsdp=4", "ep=2,fsdp=2")
    swept = cases_of(profile, ("ring:nodes=4,bandwidth=2",), layouts, "bandwidth=3/2")
    built = cases_of(profile, ("ring:nodes=4,bandwidth=3",), layouts, None)
    assert [each.iteration.total_us for each in swept] == pytest.approx([each.iteration.total_us for each in built])


def test_a_value_counts_once() -> None:
    assert Sweep.of("batch=2, 1,2") == Sweep(Swept.BATCH, (Fraction(2), Fraction(1)))
