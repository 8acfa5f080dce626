"""The algbw of each algorithm on machines, computed by hand or published, as exact fractions."""

from fractions import Fraction

import pytest
from made import algbw_of, problem_of

from forestcoll import optimum
from forestcoll.baselines.tacos import synthesized

ALLGATHER = [
    ("nccl-ring", "dgx-a100:boxes=1", "2400/7"),
    ("nccl-ring", "dgx-a100:boxes=2", "640/3"),
    ("nccl-ring", "dgx-a100:boxes=4", "6400/31"),
    ("nccl-ring", "dgx-a100:boxes=2,nics=true", "640/3"),
    ("nccl-ring", "dgx-h100:boxes=2", "1280/3"),
    ("nccl-ring", "dgx-h100:boxes=16", "51200/127"),
    ("nccl-ring", "mi300x:boxes=1", "512"),
    ("nccl-ring", "mi300x:boxes=2", "1280/3"),
    ("nccl-ring", "dgx-1", "1200/7"),
    ("rccl-ring", "mi250:boxes=1", "320"),
    ("rccl-ring", "mi250:boxes=2", "8192/31"),
    ("rccl-ring", "mi300x:boxes=1", "512"),
    ("rccl-ring", "mi300x:boxes=2", "1280/3"),
    ("two-level", "dgx-a100:boxes=1", "2400/7"),
    ("two-level", "dgx-a100:boxes=2", "2400/7"),
    ("two-level", "dgx-a100:boxes=4", "800/3"),
    ("two-level", "dgx-a100:boxes=2,nics=true", "2400/7"),
    ("two-level", "dgx-h100:boxes=2", "3600/7"),
    ("two-level", "dgx-h100:boxes=16", "1280/3"),
    ("two-level", "mi250:boxes=2", "2400/7"),
    ("two-level", "mi250:boxes=2,gpus=8", "200"),
    ("two-level", "mi300x:boxes=1", "512"),
    ("two-level", "mi300x:boxes=2", "512"),
    ("direct", "dgx-a100:boxes=2", "50"),
    ("direct", "dgx-a100:boxes=4", "100/3"),
    ("direct", "mi300x:boxes=1", "512"),
    ("multitree", "dgx-a100:boxes=2", "2400/7"),
    ("multitree", "dgx-a100:boxes=4", "800/3"),
    ("multitree", "dgx-a100:boxes=8", "1600/7"),
    ("multitree", "mi250:boxes=1", "800/3"),
    ("multitree-remaining", "mi250:boxes=2", "320"),
    ("multitree-source", "dgx-a100:boxes=2", "200"),
    ("multitree-source", "dgx-a100:boxes=4", "400/3"),
    ("multitree-source", "dgx-a100:boxes=8", "800/7"),
    ("multitree-source", "mi250:boxes=1", "400/3"),
    ("multitree-source", "mi250:boxes=2", "256/5"),
    ("multitree-source", "mi250:boxes=2,gpus=8", "256/7"),
    ("multitree-source", "dgx-1", "100"),
    ("multitree-source", "hypercube:dim=3", "8/3"),
    ("nvls", "dgx-h100:boxes=1,nvls=true", "450"),
]

ALLREDUCE = [
    ("nccl-ring", "dgx-a100:boxes=1", "1200/7"),
    ("nccl-ring", "dgx-a100:boxes=2", "320/3"),
    ("nccl-ring", "dgx-h100:boxes=1", "1800/7"),
    ("rccl-ring", "mi250:boxes=2", "4096/31"),
    ("nccl-tree", "dgx-a100:boxes=2", "1200/7"),
    ("nccl-tree", "dgx-a100:boxes=4", "100"),
    ("nccl-tree", "dgx-h100:boxes=2,nvls=true", "1800/7"),
    ("nccl-tree", "dgx-h100:boxes=16", "200"),
    ("nvls", "dgx-h100:boxes=1,nvls=true", "400"),
    ("nvls-tree", "dgx-h100:boxes=2,nvls=true", "400"),
    ("nvls-tree", "dgx-h100:boxes=16,nvls=true", "200"),
    ("blink-switch", "dgx-a100:boxes=1", "150"),
    ("blink-switch", "dgx-a100:boxes=2", "100"),
    ("blink-switch", "dgx-a100:boxes=4", "100"),
    ("blink-switch", "mi250:boxes=2", "128"),
    ("blink-switch", "mi250:boxes=2,gpus=8", "100"),
    ("blink", "dgx-1", "75"),
    ("single-root", "dgx-a100:boxes=1", "1200/7"),
    ("single-root", "dgx-a100:boxes=2", "520/3"),
    ("single-root", "mi250:boxes=2", "2656/15"),
    ("single-root", "mi250:boxes=2,gpus=8", "128"),
    ("single-root", "dgx-1", "600/7"),
]


@pytest.mark.parametrize(("name", "topology", "algbw"), ALLGATHER)
def test_allgather(name: str, topology: str, algbw: str) -> None:
    assert algbw_of(name, topology) == Fraction(algbw)


@pytest.mark.parametrize(("name", "topology", "algbw"), ALLREDUCE)
def test_allreduce(name: str, topology: str, algbw: str) -> None:
    assert algbw_of(name, topology, "allreduce") == Fraction(algbw)


@pytest.mark.parametrize(
    ("name", "topology"),
    [
        ("nccl-ring", "dgx-a100:boxes=2"),
        ("nccl-ring", "dgx-1"),
        ("rccl-ring", "mi250:boxes=1"),
        ("rccl-ring", "mi300x:boxes=2"),
        ("two-level", "dgx-a100:boxes=2"),
        ("two-level", "mi250:boxes=2"),
        ("direct", "mi300x:boxes=2"),
        ("multitree", "mi250:boxes=1"),
        ("multitree-source", "dgx-a100:boxes=2"),
    ],
)
def test_a_reduce_scatter_is_the_reversed_allgather(name: str, topology: str) -> None:
    gathered, scattered = (algbw_of(name, topology, each) for each in ("allgather", "reduce-scatter"))
    assert gathered == scattered
    assert algbw_of(name, topology, "allreduce") == gathered / 2


@pytest.mark.parametrize(("name", "algbw"), [("nccl-ring", "8192/31"), ("multitree", "800/3")])
def test_rings_that_are_packed_on_two_boxes_of_mi250(name: str, algbw: str) -> None:
    assert algbw_of(name, "mi250:boxes=2") == Fraction(algbw)


@pytest.mark.parametrize(
    ("topology", "chunks", "algbw"),
    [
        ("dgx-a100:boxes=2", 1, "200"),
        ("dgx-a100:boxes=2", 4, "1600/7"),
        ("dgx-a100:boxes=2", 8, "800/3"),
        ("dgx-a100:boxes=4", 1, "400/3"),
        ("dgx-a100:boxes=4", 4, "200"),
        ("mi250:boxes=1", 8, "3200/11"),
        ("mi250:boxes=2", 1, "128"),
        ("mi250:boxes=2,gpus=8", 4, "128"),
    ],
)
def test_tacos_with_a_number_of_chunks(topology: str, chunks: int, algbw: str) -> None:
    made = synthesized(problem_of(topology), chunks)
    assert made.algbw == Fraction(algbw)
    assert made.schedule.algbw is not None
    assert made.algbw <= made.schedule.algbw <= optimum(topology).algbw


def test_tacos_takes_the_best_number_of_chunks() -> None:
    assert algbw_of("tacos", "dgx-a100:boxes=2") == Fraction(800, 3)
    assert algbw_of("tacos", "dgx-a100:boxes=2", "reduce-scatter") == Fraction(800, 3)
    assert algbw_of("tacos", "dgx-a100:boxes=2", "allreduce") == Fraction(400, 3)
    assert algbw_of("tacos", "ring:nodes=8") <= Fraction(16, 7)
