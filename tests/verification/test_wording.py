"""The text of numbers and nodes in messages: one line, of limited length."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.topology.registry import build_topology
from forestcoll.verification import wording

LONGEST = 2**402
"""The greatest power of two of which the digits are shown: it is estimated at 120 digits."""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(-2, 3), "-2/3"),
        (7, "7"),
        (LONGEST, str(LONGEST)),
        (-LONGEST, str(-LONGEST)),
        (LONGEST * 2, "a ratio of numbers of about 121 digits"),
        (-LONGEST * 2, "a ratio of numbers of about 121 digits"),
        (Fraction(1, LONGEST * 2), "a ratio of numbers of about 121 digits"),
        (Fraction(1, LONGEST), f"1/{LONGEST}"),
    ],
)
def test_long_numbers_are_described_by_their_digits(value: Fraction | int, text: str) -> None:
    assert wording.number(value) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (3, "3"),
        ("a\nb", r"'a\nb'"),
        ("x" * 118, "'" + "x" * 118 + "'"),
        ("x" * 119, "'" + "x" * 119 + "..."),
    ],
)
def test_long_names_are_cut(name: str | int, text: str) -> None:
    assert wording.quoted(name) == text


def test_a_list_shows_eight_nodes() -> None:
    ring = build_topology("ring:nodes=9")
    ring = replace(ring, nodes=tuple(replace(node, id=f"n{place}") for place, node in enumerate(ring.nodes)))
    assert wording.node(ring, 8) == "'n8'"
    assert wording.nodes(ring, [2, 0]) == "'n2', 'n0'"
    assert wording.nodes(ring, [2, 0], " -> ") == "'n2' -> 'n0'"
    eight = "'n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7'"
    assert wording.nodes(ring, iter(range(8))) == eight
    assert wording.nodes(ring, iter(range(9))) == f"{eight}, ... (9 nodes)"
