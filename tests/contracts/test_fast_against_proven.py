"""The fast way against the proven way on larger networks: the same optimum, all verified, and hardly ever a fallback.

`benchmarks/soak.py` asks the same of larger networks for as long as one likes.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.topology import Topology
from networks import SMALL, examples, one_way_networks

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from mixed_networks import KINDS, random_network  # noqa: E402 (after the path)
from ways import compare  # noqa: E402


def fallbacks(kind: str, most: int, count: int) -> int:
    """Compare the ways on `count` networks of 4 to `most` compute nodes, and count how often fast was not enough."""
    sizes = [4 + (most - 4) * place // (count - 1) for place in range(count)]
    return sum(compare(random_network(kind, f"test {place}", size)).fell_back for place, size in enumerate(sizes))


@pytest.mark.parametrize("kind", KINDS)
def test_the_ways_agree_and_fast_suffices(kind: str) -> None:
    assert fallbacks(kind, most=24, count=60) == 0


@examples(150)
@given(one_way_networks(most=24, kinds=st.just(SMALL)))
def test_the_ways_agree_on_one_way_networks(topology: Topology) -> None:
    compare(topology)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_ways_agree_and_fast_suffices_on_larger_networks(kind: str) -> None:
    # None of these 2,100 networks needed a fallback when this was written; 1 in 100 is what rare means here.
    assert fallbacks(kind, most=60, count=300) <= 3


@pytest.mark.slow
@examples(1000)
@given(one_way_networks(most=60, kinds=st.just(SMALL)))
def test_the_ways_agree_on_larger_one_way_networks(topology: Topology) -> None:
    compare(topology)


def run_benchmark(name: str, *options: str) -> str:
    words = [sys.executable, str(BENCHMARKS / name), *options]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 (our own)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


def test_the_benchmark_of_scale_runs() -> None:
    printed = run_benchmark("scale.py", "--quick")
    assert printed.count("| yes, yes |") == 10
    assert "over the limit" not in printed


def test_the_soak_test_runs(tmp_path: Path) -> None:
    printed = run_benchmark("soak.py", "--minutes", "0", "--largest", "16", "--folder", str(tmp_path))
    assert "failures       0\n" in printed
