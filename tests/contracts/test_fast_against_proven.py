"""The fast way against the proven way on larger networks: the same optimum, all verified, and hardly ever a fallback.

`benchmarks/soak.py` makes the same comparison on larger networks for any time.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from methods import compare
from mixed_networks import KINDS, random_network

from forestcoll.topology import Topology
from networks import SMALL, examples, one_way_networks


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
