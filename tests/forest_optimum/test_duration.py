"""Searches that may take long are announced before they begin, and views do without them."""

import pytest

from forestcoll.forest_optimum.duration import long_search
from forestcoll.presentation.view import view_of
from forestcoll.progress import Progress
from forestcoll.request import Demand
from forestcoll.solver.problem import Problem
from forestcoll.topology.registry import build_topology

RING = "ring:nodes=100000"
TEXT = f"{RING} has 100,000 compute nodes up to 50,000 links apart: the bottleneck cut may take 625 hours to find"


class _Stop(Progress):
    """Keeps the remarks, and ends the work at the first stage of the search."""

    def __init__(self) -> None:
        self.remarks: list[str] = []

    def begin(self, stage: str) -> None:
        if stage == "finding the bottleneck cut":
            raise InterruptedError

    def remark(self, text: str) -> None:
        self.remarks.append(text)


def test_a_search_on_a_large_ring_is_announced_before_it_begins() -> None:
    progress = _Stop()
    with pytest.raises(InterruptedError):
        Problem.of(build_topology(RING), Demand(), progress)
    assert progress.remarks == [TEXT]


@pytest.mark.parametrize("spec", ["ring:nodes=2000", "torus:dims=16x32x32", "mesh:dims=64x64", "dgx-a100:boxes=256"])
def test_other_searches_are_not_announced(spec: str) -> None:
    assert long_search(build_topology(spec)) is None


def test_a_view_does_without_a_bound_that_takes_long() -> None:
    progress = _Stop()
    view = view_of(build_topology(RING), progress=progress)
    assert progress.remarks == [f"{TEXT}; it is not marked in the picture"]
    assert view.bound is None
    assert len(view.svg()) < 100_000
