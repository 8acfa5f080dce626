"""Bandwidths and latencies of imported networks, rounded to a number of digits."""

import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import InputError, Topology, TopologyBuilder, import_topology, write_topology
from forestcoll.base.exact import rounded
from forestcoll.topology.importers.options import ImportOptions


@given(st.fractions(min_value=0, max_value=10**70), st.integers(1, 60))
def test_a_rounded_number_has_the_digits_and_is_near(number: Fraction, digits: int) -> None:
    near = rounded(number, digits)
    assert abs(near - number) <= number / (2 * Fraction(10) ** (digits - 1))
    assert rounded(near, digits) == near
    whole = near
    while whole.denominator > 1:
        whole *= 10
    assert len(str(whole.numerator).rstrip("0")) <= digits


def test_a_file_of_any_format_is_rounded(tmp_path: Path) -> None:
    builder = TopologyBuilder("long numbers")
    ends = builder.add_compute("a"), builder.add_compute("b")
    builder.add_duplex(*ends, Fraction(10**40 + 1, 3), latency_us="0.123456")
    write_topology(builder.build(), tmp_path / "long.json")
    (tmp_path / "edges.txt").write_text("a b 1.23456\nb a 1\n")
    found = import_topology(tmp_path / "long.json", options=ImportOptions(rounding="4"))
    assert found.assumed == ("bandwidths and latencies are rounded to 4 digits, those of 2 links",)
    assert {link.bandwidth for link in found.topology.links} == {Fraction(3333 * 10**36)}
    assert {link.latency_us for link in found.topology.links} == {Fraction("0.1235")}
    found = import_topology(tmp_path / "edges.txt", format="edge-list", options=ImportOptions(rounding="2"))
    assert {link.bandwidth for link in found.topology.links} == {Fraction("1.2"), Fraction(1)}
    found = import_topology(tmp_path / "edges.txt", format="edge-list", options=ImportOptions(rounding="6"))
    assert found.ignored[-1] == "--rounding: the network is the same without it"


@pytest.mark.parametrize("value", ["0", "61", "-1", "1.5", "much", "10000000000000", "\u0663"])
def test_other_roundings_are_refused(value: str) -> None:
    with pytest.raises(InputError, match="expected 'speeds' or 'none', or a number of digits from 1 to 60"):
        ImportOptions(rounding=value)


def test_rounding_never_makes_a_number_too_long() -> None:
    builder = TopologyBuilder("nines")
    builder.add_link(builder.add_compute("a"), builder.add_compute("b"), 10**60 - 1)
    builder.add_link("b", "a", Fraction(1, 10**60 - 1))
    network = import_topology_of(builder)
    assert {link.bandwidth for link in network.links} == {Fraction(10**60 - 1), Fraction(1, 10**60 - 1)}


def import_topology_of(builder: TopologyBuilder) -> Topology:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nines.json"
        write_topology(builder.build(), path)
        return import_topology(path, options=ImportOptions(rounding="6")).topology
