from fractions import Fraction

import pytest

from forestcoll import generate, optimum, verify
from forestcoll.topology import TopologyBuilder
from forestcoll.topology.changes import changed_network
from forestcoll.topology.link_classes import link_classes
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


def test_nodes_that_failed_are_left_out_and_ranks_close_up() -> None:
    changed = A100.without("b0/gpu3")
    assert changed.name == "dgx-a100:boxes=2 without b0/gpu3"
    assert [node.id for node in changed.nodes] == [node.id for node in A100.nodes if node.id != "b0/gpu3"]
    assert len(changed.links) == len(A100.links) - 4
    assert verify(generate(changed)).ok
    small = load_topology("dgx-a100:boxes=3").without("b1")
    assert (small.links, len(small.nodes)) == (A100.links, len(A100.nodes))
    assert load_topology("dgx-a100:boxes=3").without("box 1").links == small.links
    assert optimum(A100.without("b0/gpu3,b1/gpu5")).algbw == optimum(load_topology("dgx-a100:boxes=2,gpus=7")).algbw


def test_a_nic_that_is_a_node_fails_with_its_links() -> None:
    whole = load_topology("cluster:box=dgx-h100,boxes=2,nics=4,nic_bandwidth=50")
    assert len(whole.without("b0/nic3").nodes) == len(whole.nodes) - 1
    assert optimum(whole.without("b0/nic3")).algbw < optimum(whole).algbw


def test_a_switch_that_is_a_part_of_a_node_goes_with_it() -> None:
    builder = TopologyBuilder("ports", port_model="one-port")
    for node in ("a", "b", "c"):
        builder.add_compute(node)
        builder.add_switch(f"{node}-out", port_of=node)
        builder.add_duplex(node, f"{node}-out", 1)
    for node in ("b", "c"):
        builder.add_duplex("a-out", node, 1)
    builder.add_duplex("b-out", "c", 1)
    assert [node.id for node in builder.build().without("a").nodes] == ["b", "b-out", "c", "c-out"]


def test_percentages_classes_and_nodes_are_degraded() -> None:
    half = A100.degraded("b0/gpu0--ib", "b0/gpu1--ib", to="50%")
    assert half.name == "dgx-a100:boxes=2 with b0/gpu0--ib=50%, b0/gpu1--ib=50%"
    assert half.links == A100.degraded("b0/gpu0--ib, b0/gpu1--ib", to=12.5).links
    slow = A100.degraded("gpu--switch", to="10%")
    assert {link.bandwidth for link in slow.links} == {300, Fraction(5, 2)}
    assert A100.degraded("GPU--box-switch", to="1%").bandwidths[A100.number("b0/gpu0"), A100.number("b0/nvswitch")] == 3
    node, old = A100.number("b0/gpu0"), A100.bandwidths
    changed = A100.degraded("b0/gpu0", to="50%").bandwidths
    assert all(changed[ends] == (old[ends] / 2 if node in ends else old[ends]) for ends in old)
    several = A100.without("GPU--switch")
    assert len(several.links) == len(A100.links) - 32


def test_ids_with_dashes_and_commas() -> None:
    odd = linked("a--b c,d 7", "a--b=c,d c,d=7 7=a--b")
    for gone in ("a--b--c,d", "c,d--7"):
        assert len(changed_network(odd, [gone]).links) == 4


@pytest.mark.parametrize(
    ("without", "degrade", "said"),
    [
        (["b0/gpu0--b1/gpu0"], [], "no link joins 'b0/gpu0' and 'b1/gpu0'; 'b0/gpu0' has links to"),
        (["b0/gpu9--ib"], [], "'b0/gpu9--ib' names no link: there is no node 'b0/gpu9'; did you mean 'b0/gpu0--ib'? "),
        (["b1/nic3--ib"], [], "there is no node 'b1/nic3'; did you mean 'b1/gpu3--ib'? name the ends of a link"),
        (["b1/gpu3--ibx"], [], "there is no node 'ibx'; did you mean 'b1/gpu3--ib'? name the ends of a link"),
        (["b1/gpu9"], [], "'b1/gpu9' names no link, node or box; did you mean 'b1/gpu0'? write A--B"),
        (["b7"], [], "'b7' names no link, node or box; did you mean 'b0'? write A--B"),
        (["box 7"], [], "'box 7' names no link, node or box; "),
        (["GPU--NIC"], [], "'GPU--NIC' names no class of links; there are GPU--box switch, GPU--switch"),
        ([""], [], "'' names no link"),
        (["ib--b0/gpu77"], [], "there is no node 'b0/gpu77'; did you mean 'ib--b0/gpu7'? name the ends of a link"),
        (["b0/gpu0,b0"], [], "node 'b0/gpu0' is named twice; name it once"),
        (["b0/gpu0"], ["b0/gpu0--ib=5"], "link 'b0/gpu0--ib' is named twice; name it once"),
        (["b0", "b1/gpu0,b1/gpu1,b1/gpu2,b1/gpu3,b1/gpu4,b1/gpu5,b1/gpu6"], [], "leaves 1 compute nodes; leave at l"),
        (["ib--ib"], [], "'ib--ib' has one node twice; name the two ends of a link"),
        (["b0/gpu0--ib", "ib--b0/gpu0"], [], "link 'b0/gpu0--ib' is named twice"),
        (["b0/gpu0--ib"], ["b0/gpu0--ib=5"], "link 'b0/gpu0--ib' is named twice"),
        ([], ["b0/gpu0--ib"], "'b0/gpu0--ib' has no bandwidth; write A--B=BANDWIDTH"),
        ([], ["b0/gpu0--ib=0"], "must be greater than 0; use --without for a failed link"),
        ([], ["b0/gpu0--ib=-3"], "must be greater than 0"),
        ([], ["b0/gpu0--ib=nan"], "bandwidth 'nan'"),
        ([], ["b0/gpu0--ib=x%"], "bandwidth 'x%' is not a number"),
        ([], ["b0/gpu0--ib=0%"], "bandwidth '0%' must be greater than 0"),
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
