"""The row `nccl (as it chooses)` of a comparison."""

import pytest

from forestcoll import Demand, compare
from forestcoll.algorithms.baseline import AS_CHOSEN, title_of

FOUR = "dgx-h100:boxes=4"
SIZES = (2**20, 2**24, 2**27, 2**30)


def test_each_size_has_the_time_of_the_algorithm_that_is_chosen() -> None:
    found = compare(FOUR, "allreduce", sizes=SIZES, baselines=["nccl-ring", "nccl-tree", AS_CHOSEN])
    row = found.row(AS_CHOSEN)
    assert [(each.algorithm, each.protocol) for each in row.choices] == [
        ("TREE", "LL128"),
        ("TREE", "LL128"),
        ("RING", "LL128"),
        ("RING", "SIMPLE"),
    ]
    names = {"TREE": "nccl-tree", "RING": "nccl-ring"}
    for place, choice in enumerate(row.choices):
        assert row.times[place] == found.row(names[choice.algorithm]).times[place]
    assert (row.algbw, row.schedule) == (found.row("nccl-ring").algbw, found.row("nccl-ring").schedule)
    assert row.table == "NCCL 2.32.3 (stored table)"


def test_nvls_counts_its_own_data() -> None:
    found = compare("dgx-h100:boxes=1,nvls=true", "allreduce", sizes=[2**30], baselines=["nvls", AS_CHOSEN])
    assert found.row(AS_CHOSEN).times == found.row("nvls").times
    assert found.row(AS_CHOSEN).algbw == found.row("nvls").algbw


def test_without_sizes_the_row_is_for_large_data() -> None:
    row = compare(FOUR, "allreduce", sizes=(), baselines=[AS_CHOSEN]).row(AS_CHOSEN)
    assert (row.times, row.choices) == ((), ())
    assert row.algbw == compare(FOUR, "allreduce", sizes=(), baselines=["nccl-ring"]).row("nccl-ring").algbw


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("mi300x:boxes=1", "the network is no NVIDIA machine that is known"),
        ("dgx-h100:boxes=17", "no table of NCCL 2.32.3 for 17 such hosts is stored"),
    ],
)
def test_a_row_that_is_not_known_is_skipped_with_its_reason(spec: str, reason: str) -> None:
    found = compare(spec, sizes=(), baselines=[AS_CHOSEN])
    assert [each.name for each in found.rows] == ["forestcoll"]
    assert [each.name for each in found.skipped] == [AS_CHOSEN]
    assert reason in found.skipped[0].reason


def test_some_gpus_of_a_host_have_no_table() -> None:
    found = compare("dgx-h100:boxes=1", Demand("allgather", ranks="0-3"), sizes=(), baselines=[AS_CHOSEN])
    assert "part of the GPUs of a host" in found.skipped[0].reason


def test_the_row_has_a_title() -> None:
    assert title_of(AS_CHOSEN) == "NCCL as it chooses"
