"""Scales and changes of links: what they mean, and what is refused."""

from fractions import Fraction

import pytest
from boxes import two_boxes

from forestcoll.base.errors import InputError
from forestcoll.runtime.emulation.rates import change_of, changed, emulated
from forestcoll.topology import TopologyBuilder
from forestcoll.topology.registry import build_topology


def test_a_scale_keeps_the_ratios_of_links() -> None:
    real = build_topology("dgx-a100:boxes=2")
    small = emulated(real, "500Mbit=300GB/s")
    assert small.bandwidth_unit == "Mb/s"
    for before, after in zip(real.links, small.links, strict=True):
        assert after.bandwidth == before.bandwidth * Fraction(500, 300)


@pytest.mark.parametrize("scale", ["500Mbit=300", "500Mb/s=300GB/s", "0.5Gbit=300", "62.5MB/s=300000MB/s"])
def test_a_scale_can_be_written_in_several_units(scale: str) -> None:
    small = emulated(build_topology("dgx-a100:boxes=1"), scale)
    assert max(link.bandwidth for link in small.links) == 500


def test_without_a_scale_links_are_as_fast_as_the_real_ones() -> None:
    assert {link.bandwidth for link in emulated(two_boxes(), None).links} == {100, 20}
    assert emulated(build_topology("ring:nodes=3"), None).links[0].bandwidth == 8000


def test_latencies_are_dropped() -> None:
    builder = TopologyBuilder("pair")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), 1, latency_us=5)
    assert all(link.latency_us is None for link in emulated(builder.build(), None).links)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ("500Mbit", "expected EMULATED=REAL"),
        ("=300", "is not a number"),
        ("500Mbit=", "is not a number"),
        ("fast=300GB/s", "'fast' is not a number"),
        ("500Mbit=0", "'0' is not greater than 0"),
        ("-1Mbit=300", "is not greater than 0"),
        ("500Mbit=300GB", "unknown unit 'GB'"),
        ("1kbit=300GB/s", "at least 64 kbit/s can be emulated"),
    ],
)
def test_a_bad_scale_is_refused(scale: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        emulated(build_topology("dgx-a100:boxes=2"), scale)
    assert "\n" not in str(error.value)


def test_an_unknown_unit_needs_a_scale() -> None:
    builder = TopologyBuilder("pair", bandwidth_unit="messages")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), 3)
    with pytest.raises(InputError, match="use --scale"):
        emulated(builder.build(), None)
    assert emulated(builder.build(), "10Mbit=1").links[0].bandwidth == 30


def test_a_change_names_both_ends_of_a_link() -> None:
    network = two_boxes()
    change = change_of(network, "a0--core=5Mbit@2.5s")
    assert (change.one, change.other, change.after) == (network.number("a0"), 0, 2.5)
    assert change.rate == 5
    after = changed(network, [change])
    rates = {(link.source, link.target): link.bandwidth for link in after.links}
    assert rates[change.one, change.other] == rates[change.other, change.one] == 5
    assert len(after.links) == len(network.links)


def test_ids_may_contain_dashes() -> None:
    builder = TopologyBuilder("dashes", bandwidth_unit="Mb/s")
    builder.add_duplex(builder.add_compute("a--1"), builder.add_compute("b--2"), 10)
    change = change_of(builder.build(), "a--1--b--2=1@0")
    assert (change.one, change.other) == (0, 1)


def test_a_dead_link_is_left_out() -> None:
    network = two_boxes()
    after = changed(network, [change_of(network, "a0--core=0@1")])
    assert len(after.links) == len(network.links) - 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a0--core", "expected A--B=RATE@T"),
        ("a0--core=5Mbit", "expected A--B=RATE@T"),
        ("a0-core=5Mbit@1", "there is no link 'a0-core'"),
        ("a0--b0=5Mbit@1", "there is no link 'a0--b0'"),
        ("a0--nothing=5Mbit@1", "there is no link"),
        ("a0--core=slow@1", "rate 'slow'"),
        ("a0--core=-5@1", "the rate must be 0 or at least 64kbit"),
        ("a0--core=1kbit@1", "the rate must be 0 or at least 64kbit"),
        ("a0--core=5Mbit@soon", "time 'soon'"),
        ("a0--core=5Mbit@-1", "the time must be from 0"),
    ],
)
def test_a_bad_change_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        change_of(two_boxes(), text)
