"""Known values of the algorithms that search with HiGHS and give each send a time."""

from fractions import Fraction

import pytest
from made import all_collectives, verified

from forestcoll import optimum
from forestcoll.algorithms.generate import problem_of


@pytest.mark.parametrize(
    ("name", "topology", "algbw"),
    [
        ("te-ccl", "ring:nodes=8", "16/7"),
        ("te-ccl", "hypercube:dim=3", "16/5"),
        ("te-ccl", "torus:dims=3x3", "9/2"),
        ("te-ccl", "dgx-a100:boxes=1", "2400/7"),
        ("te-ccl", "dgx-1:boxes=1", "160"),
        ("te-ccl", "dgx-a100:boxes=2,gpus=4", "160"),
        pytest.param("te-ccl", "dgx-a100:boxes=2", "800/3", marks=pytest.mark.slow),
        ("taccl", "ring:nodes=8", "16/7"),
        ("taccl", "hypercube:dim=3", "16/5"),
        ("taccl", "torus:dims=3x3", "9/2"),
        ("taccl", "dgx-a100:boxes=1", "2400/7"),
        ("taccl", "dgx-a100:boxes=2,gpus=2", "96"),
        pytest.param("taccl", "dgx-a100:boxes=2", "320", marks=pytest.mark.slow),
    ],
)
def test_known_values(name: str, topology: str, algbw: str) -> None:
    for collective in all_collectives():
        found = verified(name, problem_of(topology, collective))
        assert found.algbw == Fraction(algbw) / (2 if collective == "allreduce" else 1)
        assert found.algbw <= optimum(topology, collective).algbw
