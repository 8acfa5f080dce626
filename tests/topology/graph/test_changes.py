from fractions import Fraction

import pytest

from forestcoll import generate, optimum, verify
from forestcoll.topology import changed_network
from forestcoll.topology.graph.link_classes import link_classes
from forestcoll.topology.registry import load_topology
from networks import linked
from refusal import refusal

A100 = load_topology("dgx-a100:boxes=2")


def test_a_link_is_gone_or_slower_in_both_directions() -> None:
    changed = changed_network(A100, ["ib--b0/gpu0"])
    assert len(changed.links) == len(A100.links) - 2
    assert optimum(changed).algbw == 320
    assert verify(generate(changed)).ok
    assert changed_network(A100) is A100
    assert changed_network(A100, ["b0/gpu0--ib, b0/gpu1--ib"]) == changed_network(A100, ["b0/gpu0--ib", "b0/gpu1--ib"])
    changed = changed_network(A100, degrade=["b0/gpu0--ib=100Gb/s"])
    ends = A100.number("b0/gpu0"), A100.number("ib")
    both = {link.bandwidth for link in changed.links if {link.source, link.target} == {*ends}}
    assert both == {Fraction(25, 2)}
    assert changed.name == "dgx-a100:boxes=2 with b0/gpu0--ib=25/2"
    ring = load_topology("ring:nodes=4,one_way=true")
    assert len(changed_network(ring, degrade=["0--1=3"]).links) == 4


def test_ids_with_dashes_and_commas() -> None:
    odd = linked("a--b c,d 7", "a--b=c,d c,d=7 7=a--b")
    for gone in ("a--b--c,d", "c,d--7"):
        assert len(changed_network(odd, [gone]).links) == 4


@pytest.mark.parametrize(
    ("without", "degrade", "said"),
    [
        (["b0/gpu0--b1/gpu0"], [], "no link joins 'b0/gpu0' and 'b1/gpu0'; 'b0/gpu0' has links to"),
        (["b0/gpu9--ib"], [], "'b0/gpu9--ib' names no link: there is no node 'b0/gpu9'; did you mean 'b0/gpu0'? "),
        (["b0/gpu0"], [], "'b0/gpu0' names no link; write A--B"),
        ([""], [], "'' names no link"),
        (["ib--b0/gpu77"], [], "there is no node 'b0/gpu77'; did you mean 'b0/gpu7'? name the ends of a link"),
        (["ib--ib"], [], "'ib--ib' has one node twice; name the two ends of a link"),
        (["b0/gpu0--ib", "ib--b0/gpu0"], [], "link 'b0/gpu0--ib' is named twice"),
        (["b0/gpu0--ib"], ["b0/gpu0--ib=5"], "link 'b0/gpu0--ib' is named twice"),
        ([], ["b0/gpu0--ib"], "'b0/gpu0--ib' has no bandwidth; write A--B=BANDWIDTH"),
        ([], ["b0/gpu0--ib=0"], "must be greater than 0; use --without for a dead link"),
        ([], ["b0/gpu0--ib=-3"], "must be greater than 0"),
        ([], ["b0/gpu0--ib=nan"], "bandwidth 'nan'"),
        ([], ["b0/gpu0--ib=5parsec"], "unknown unit 'parsec'"),
    ],
)
def test_wrong_changes_are_refused(without: list[str], degrade: list[str], said: str) -> None:
    assert said in refusal(changed_network, A100, without, degrade)


def test_link_classes_are_named_by_what_they_join() -> None:
    found = link_classes(load_topology("cluster:box=dgx-h100,boxes=4,boxes_per_leaf=2,nics=4,nic_bandwidth=50"))
    assert [each.name("GB/s") for each in found] == [
        "32 links of 450 GB/s between GPUs and box switches",
        "32 links of 50 GB/s between GPUs and NICs",
        "16 links of 50 GB/s between NICs and leaf switches",
        "2 links of 400 GB/s between leaf switches and spine switches",
    ]
    assert sum(len(each.links) for each in found) == 82


def test_a_link_whose_name_can_be_read_in_two_ways_is_refused() -> None:
    topology = linked("a a--b b--c c", "a=b--c a--b=c a=c", name="dashes")
    said = "dashes: 'a--b--c' names two links, because ids contain '--'; rename nodes"
    assert refusal(changed_network, topology, ["a--b--c"]).startswith(said)
    assert len(changed_network(topology, ["a--c"], degrade=[]).links) == 4
