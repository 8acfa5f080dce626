"""The algbw of each algorithm on machines, computed by hand or published, as exact fractions."""

from fractions import Fraction

import pytest
from made import algbw_of, made

from forestcoll import optimum
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.tacos import synthesized
from forestcoll.schedule.loads_of import link_loads

ALLGATHER = [
    ("nccl-ring", "dgx-a100:boxes=1", "2400/7"),
    ("nccl-ring", "dgx-a100:boxes=2", "640/3"),
    ("nccl-ring", "dgx-a100:boxes=4", "6400/31"),
    ("nccl-ring", "dgx-a100:boxes=2,pcie=true", "640/3"),
    ("nccl-ring", "dgx-h100:boxes=2", "1280/3"),
    ("nccl-ring", "dgx-h100:boxes=16", "51200/127"),
    ("nccl-ring", "dgx-a100:boxes=8", "12800/63"),
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
    ("two-level", "dgx-a100:boxes=2,pcie=true", "2400/7"),
    ("two-level", "dgx-a100:boxes=8", "1600/7"),
    ("two-level", "dgx-h100:boxes=2", "3600/7"),
    ("two-level", "dgx-h100:boxes=16", "1280/3"),
    ("two-level", "mi250:boxes=2", "2400/7"),
    ("two-level", "mi250:boxes=2,gpus=8", "200"),
    ("two-level", "mi300x:boxes=1", "512"),
    ("two-level", "mi300x:boxes=2", "512"),
    ("direct", "dgx-a100:boxes=2", "50"),
    ("direct", "dgx-a100:boxes=4", "100/3"),
    ("direct", "mi300x:boxes=1", "512"),
    ("direct", "mi250:boxes=1", "40"),
    ("direct", "mi250:boxes=2", "128/7"),
    ("direct", "mi250:boxes=2,gpus=8", "256/13"),
    ("direct", "dgx-1", "200/3"),
    ("direct", "hypercube:dim=3", "8/9"),
    ("multitree", "dgx-a100:boxes=2", "2400/7"),
    ("multitree", "dgx-a100:boxes=4", "800/3"),
    ("multitree", "dgx-a100:boxes=8", "1600/7"),
    ("multitree", "mi250:boxes=1", "800/3"),
    ("multitree", "mi250:boxes=2", "256"),
    ("multitree", "mi250:boxes=4", "256"),
    ("multitree-bandwidth", "dgx-a100:boxes=8", "1600/7"),
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

STEPS = [
    ("recursive-doubling", "dgx-a100:boxes=2", "4800/103", "50"),
    ("recursive-doubling", "dgx-a100:boxes=4", "1920/59", "100/3"),
    ("recursive-doubling", "mi250:boxes=1", "3200/97", "40"),
    ("recursive-doubling", "mi250:boxes=2", "3200/171", "64/3"),
    ("recursive-doubling", "mi250:boxes=2,gpus=8", "1600/71", "128/5"),
    ("recursive-doubling", "dgx-1", "200/7", "50"),
    ("recursive-doubling", "hypercube:dim=3", "8/7", "2"),
    ("recursive-doubling-far", "dgx-a100:boxes=2", "2400/13", "2400/7"),
    ("recursive-doubling-far", "dgx-a100:boxes=4", "150", "800/3"),
    ("recursive-doubling-far", "mi250:boxes=1", "400/7", "80"),
    ("recursive-doubling-far", "mi250:boxes=2", "12800/339", "512/9"),
    ("recursive-doubling-far", "mi250:boxes=2,gpus=8", "6400/157", "256/5"),
    ("recursive-doubling-far", "dgx-1", "200/7", "50"),
    ("recursive-doubling-far", "hypercube:dim=3", "8/7", "2"),
    ("bruck", "dgx-a100:boxes=2", "80/3", "80/3"),
    ("bruck", "dgx-a100:boxes=4", "800/31", "800/31"),
    ("bruck", "mi250:boxes=1", "400/13", "32"),
    ("bruck", "mi250:boxes=2", "512/31", "512/31"),
    ("bruck", "mi250:boxes=2,gpus=8", "256/15", "256/15"),
    ("bruck", "dgx-1", "200/9", "100/3"),
    ("bruck", "hypercube:dim=3", "8/11", "8/7"),
    ("swing", "dgx-a100:boxes=2", "1200/23", "80"),
    ("swing", "dgx-a100:boxes=4", "2400/49", "800/11"),
    ("swing", "mi250:boxes=1", "800/21", "160/3"),
    ("swing", "mi250:boxes=2", "12800/407", "1024/30"),
    ("swing", "mi250:boxes=2,gpus=8", "6400/191", "256/7"),
    ("swing", "dgx-1", "200/7", "50"),
    ("swing", "hypercube:dim=3", "8/13", "8/13"),
    ("swing-torus", "torus:dims=4x4", "64/15", "64/15"),
    ("swing-torus", "hypercube:dim=3", "24/7", "24/7"),
    ("bine", "dgx-a100:boxes=2", "1200/23", "80"),
    ("bine", "hypercube:dim=3", "8/13", "8/13"),
    ("pat", "dgx-a100:boxes=1", "2400/7", "2400/7"),
    ("two-level-barrier", "dgx-a100:boxes=1", "2400/7", "2400/7"),
    ("two-level-barrier", "dgx-a100:boxes=2", "2400/13", "2400/7"),
    ("two-level-barrier", "dgx-a100:boxes=4", "150", "800/3"),
    ("two-level-barrier", "dgx-h100:boxes=2", "7200/23", "3600/7"),
    ("two-level-barrier", "dgx-h100:boxes=16", "57600/247", "1280/3"),
    ("two-level-barrier", "mi300x:boxes=2", "12800/41", "512"),
]
"""Schedules of steps: the algbw with barriers, and what the same sends could reach without barriers."""

ALLREDUCE = [
    ("recursive-doubling-far", "dgx-a100:boxes=2", "1200/13"),
    ("two-level-barrier", "dgx-a100:boxes=2", "1200/13"),
    ("nccl-ring", "dgx-a100:boxes=1", "1200/7"),
    ("nccl-ring", "dgx-a100:boxes=2", "320/3"),
    ("nccl-ring", "dgx-a100:boxes=4", "3200/31"),
    ("nccl-ring", "dgx-h100:boxes=1", "1800/7"),
    ("nccl-ring", "dgx-h100:boxes=2,nvls=true", "640/3"),
    ("nccl-ring", "dgx-h100:boxes=16", "25600/127"),
    ("rccl-ring", "mi250:boxes=2", "4096/31"),
    ("nccl-tree", "dgx-a100:boxes=2", "1200/7"),
    ("nccl-tree", "dgx-a100:boxes=4", "100"),
    ("nccl-tree", "dgx-h100:boxes=2,nvls=true", "1800/7"),
    ("nccl-tree", "dgx-h100:boxes=16", "200"),
    ("nccl-tree", "dgx-h100:boxes=16,nvls=true", "200"),
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


@pytest.mark.parametrize(("name", "topology", "algbw", "without_barriers"), STEPS)
def test_steps_with_and_without_barriers(name: str, topology: str, algbw: str, without_barriers: str) -> None:
    schedule = made(name, problem_of(topology))
    pairs = zip(link_loads(schedule).exact, schedule.topology.links, strict=True)
    assert schedule.algbw == Fraction(algbw)
    assert 1 / max(load / link.bandwidth for load, link in pairs) == Fraction(without_barriers)


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
        ("recursive-doubling", "dgx-a100:boxes=2"),
        ("bruck", "dgx-a100:boxes=2"),
        ("pat", "mi250:boxes=1"),
        ("bine", "ring:nodes=6"),
        ("two-level-barrier", "mi300x:boxes=2"),
    ],
)
def test_a_reduce_scatter_is_the_reversed_allgather(name: str, topology: str) -> None:
    gathered, scattered = (algbw_of(name, topology, each) for each in ("allgather", "reduce-scatter"))
    assert gathered == scattered
    assert algbw_of(name, topology, "allreduce") == gathered / 2


@pytest.mark.parametrize(("name", "algbw"), [("nccl-ring", "8192/31"), ("multitree-bandwidth", "800/3")])
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


OPTIMA = [
    ("allgather", "dgx-a100:boxes=1", "2400/7"),
    ("allgather", "dgx-a100:boxes=2", "1040/3"),
    ("allgather", "dgx-a100:boxes=4", "800/3"),
    ("allgather", "dgx-h100:boxes=2", "1600/3"),
    ("allgather", "dgx-h100:boxes=16", "1280/3"),
    ("allgather", "mi250:boxes=1", "2400/7"),
    ("allgather", "mi250:boxes=2", "5312/15"),
    ("allgather", "mi250:boxes=2,gpus=8", "208"),
    ("allgather", "mi300x:boxes=1", "512"),
    ("allgather", "mi355x:boxes=1", "3072/5"),
    ("allgather", "mi300x:boxes=2", "2656/5"),
    ("allreduce", "dgx-a100:boxes=1", "1200/7"),
    ("allreduce", "dgx-a100:boxes=2", "520/3"),
    ("allreduce", "dgx-a100:boxes=4", "400/3"),
    ("allreduce", "dgx-h100:boxes=1,nvls=true", "450"),
    ("allreduce", "dgx-h100:boxes=2,nvls=true", "400"),
    ("allreduce", "dgx-h100:boxes=16,nvls=true", "640/3"),
    ("allreduce", "mi250:boxes=2", "2656/15"),
    ("allreduce", "mi250:boxes=2,gpus=8", "128"),
    ("allreduce", "dgx-1", "600/7"),
]
"""The optima that the algorithms above are compared with."""


@pytest.mark.parametrize(("collective", "topology", "algbw"), OPTIMA)
def test_optimum(collective: str, topology: str, algbw: str) -> None:
    assert optimum(topology, collective).algbw == Fraction(algbw)
