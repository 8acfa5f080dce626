from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from hypothesis import given
from hypothesis import strategies as st

from forestcoll.solver.allreduce.balanced_rounding import rounded
from networks import examples

FREE = 3
NODES = 8
AMOUNTS = st.fractions(0, 9, max_denominator=12)


@st.composite
def circulations(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[Fraction]]:
    """Return links with amounts that are balanced at all nodes except the first: sums of closed and open walks."""
    carried: Counter[tuple[int, int]] = Counter()
    for _ in range(draw(st.integers(1, 6))):
        inner = draw(st.permutations(range(FREE, NODES)))[: draw(st.integers(0, 5))]
        ends = [draw(st.integers(0, FREE - 1)) for _ in range(2)] if draw(st.booleans()) or len(inner) < 2 else []
        walk = [ends[0], *inner, ends[1]] if ends else [*inner, inner[0]]
        amount = draw(AMOUNTS)
        for link in pairwise(walk):
            carried[link] += amount  # type: ignore[assignment]  # a Counter of fractions
    return list(carried), [Fraction(amount) for amount in carried.values()]


@examples(200)
@given(circulations())
def test_each_amount_is_rounded_up_or_down_and_balanced_nodes_stay_balanced(
    circulation: tuple[list[tuple[int, int]], list[Fraction]],
) -> None:
    ends, amounts = circulation
    passive = range(FREE, NODES)
    result = rounded(ends, amounts, passive)
    assert all(floor(amount) <= whole <= ceil(amount) for whole, amount in zip(result, amounts, strict=True))
    for node in passive:
        taken = sum(whole for (_, target), whole in zip(ends, result, strict=True) if target == node)
        given_out = sum(whole for (source, _), whole in zip(ends, result, strict=True) if source == node)
        assert taken == given_out


def test_integers_are_not_changed() -> None:
    assert rounded([(0, 1), (1, 0)], [Fraction(3), Fraction(0)], {0, 1}) == (3, 0)
