"""The commands that make a network, without running them."""

import itertools

import pytest
from boxes import network_of, spine_network, two_boxes

from forestcoll.runtime.emulation.network import Batch, EmulatedNetwork
from forestcoll.runtime.emulation.paths import RoutingGraph, ports, ways
from forestcoll.runtime.emulation.rates import change_of
from forestcoll.topology.registry import build_topology
from networks import linked
from refusal import refusal


def batches(network: EmulatedNetwork) -> list[Batch]:
    groups = (network.switching(), network.forwarding(), network.addressing(), network.shaping())
    return [network.creation(), network.wiring(), *itertools.chain(*groups)]


def lines_of(network: EmulatedNetwork, program: str, namespace: str) -> list[str]:
    return [
        line
        for batch in batches(network)
        if (batch.program, batch.namespace) == (program, namespace)
        for line in batch.lines
    ]


def test_each_node_has_a_namespace_and_each_link_a_veth_pair() -> None:
    network = EmulatedNetwork(two_boxes())
    assert network.creation().lines == (
        "netns add switch0",
        "netns add switch1",
        "netns add rank0",
        "netns add rank1",
        "netns add switch4",
        "netns add rank2",
        "netns add rank3",
    )
    wires = network.wiring().lines
    assert len(wires) == 8
    assert wires[0] == (
        "link add name to2 mtu 9000 netns switch0 "
        "type veth peer name to0 address 02:fc:00:00:00:00 mtu 9000 netns rank0"
    )


def test_each_direction_has_its_rate() -> None:
    lines = lines_of(EmulatedNetwork(two_boxes()), "tc", "rank0")
    assert lines == [
        "qdisc add dev to0 root handle 1: htb default 1",
        "class add dev to0 parent 1: classid 1:1 htb rate 20000000bit burst 16384 cburst 16384 quantum 18000",
        "qdisc add dev to0 parent 1:1 handle 10: pfifo limit 1000",
        "qdisc add dev to1 root handle 1: htb default 1",
        "class add dev to1 parent 1: classid 1:1 htb rate 100000000bit burst 16384 cburst 16384 quantum 18000",
        "qdisc add dev to1 parent 1:1 handle 10: pfifo limit 1000",
    ]


def test_a_rank_has_a_rule_for_each_link_and_a_route_to_each_rank() -> None:
    lines = lines_of(EmulatedNetwork(two_boxes()), "ip", "rank0")
    assert [line for line in lines if line.startswith("rule")] == [
        "rule add from 10.65.0.1 lookup 1000",
        "rule add from 10.65.0.2 lookup 1001",
    ]
    assert [line for line in lines if line.startswith("route") and "table" not in line] == [
        "route add 10.64.0.2/32 via 10.65.0.4 dev to1 onlink src 10.64.0.1",  # the switch of the box is wider
        "route add 10.64.0.3/32 via 10.65.0.5 dev to0 onlink src 10.64.0.1",
        "route add 10.64.0.4/32 via 10.65.0.7 dev to0 onlink src 10.64.0.1",
    ]
    assert len([line for line in lines if line.startswith("neighbour") and "dev to0" in line]) == 3
    assert len([line for line in lines if line.startswith("neighbour") and "dev to1" in line]) == 1


def test_links_are_named_by_the_id_of_the_other_end() -> None:
    network = EmulatedNetwork(two_boxes())
    assert network.links_of(3) == {"core": "10.65.0.7", "b-switch": "10.65.0.8"}
    assert network_of("ring:nodes=4").links_of(0) == {"1": "10.65.0.1", "3": "10.65.0.2"}


def test_addresses_are_unique() -> None:
    network = network_of("torus:dims=4x4x4")
    addresses = [nic.address for nic in network.nics] + [network.main_address(rank) for rank in range(64)]
    assert len(set(addresses)) == len(addresses) == 64 * 7
    assert len({nic.hardware_address for nic in network.nics}) == 64 * 6


def test_a_switch_knows_the_port_of_each_address_and_floods_nothing() -> None:
    network = EmulatedNetwork(spine_network())
    for switch in (0, 1, 2, 5):
        entries = lines_of(network, "bridge", f"switch{switch}")
        assert len(entries) == len({line.split()[2] for line in entries}) == 4
    assert all("flood off" in line for line in lines_of(network, "ip", "switch0") if "bridge_slave" in line)


def test_loops_of_switches_are_used_by_turns_and_lead_to_the_target() -> None:
    topology = spine_network()
    graph = RoutingGraph(topology)
    assert ports(graph, 5) == {0: [5], 1: [5], 2: [0, 1]}
    used = {line.split()[4] for line in lines_of(EmulatedNetwork(topology), "bridge", "switch2")}
    assert used == {"to0", "to1", "to3", "to4"}


@pytest.mark.parametrize("spec", ["ring:nodes=7", "torus:dims=3x4", "dgx-a100:boxes=2", "mi250:boxes=1"])
def test_every_way_comes_to_its_target(spec: str) -> None:
    topology = build_topology(spec)
    graph = RoutingGraph(topology)
    for target in topology.compute:
        found = ways(graph, target)
        assert set(found) == set(topology.compute) - {target}
        for node in found:
            passed = [node]
            while passed[-1] != target:
                passed.append(found[passed[-1]].rank)
                assert len(passed) <= len(topology.compute)


def test_data_does_not_take_a_direction_without_bandwidth() -> None:
    network = EmulatedNetwork(linked("0 1 2 3", "0>1:100 1>2:100 2>3:100 3>0:100", bandwidth_unit="Mb/s"))
    assert {node: way.rank for node, way in ways(RoutingGraph(network.topology), 0).items()} == {1: 2, 2: 3, 3: 0}
    assert network.bits[0, 1] == 100_000_000
    assert network.bits[1, 0] == 5_000_000  # acknowledgements


def test_a_change_sets_both_ends() -> None:
    topology = two_boxes()
    network = EmulatedNetwork(topology)
    slow = network.change(change_of(topology, "a0--core=5Mbit@1"))
    assert [batch.namespace for batch in slow] == ["switch0", "rank0"]
    assert slow[1].lines == (
        "class change dev to0 parent 1: classid 1:1 htb rate 5000000bit burst 16384 cburst 16384 quantum 18000",
        "qdisc replace dev to0 parent 1:1 handle 10: pfifo limit 1000",
    )
    dead = network.change(change_of(topology, "a0--core=0@1"))
    assert dead[0].lines == ("qdisc replace dev to2 parent 1:1 handle 20: pfifo limit 0",)


def test_networks_that_cannot_be_emulated_are_refused() -> None:
    assert "at most 512 can be emulated" in refusal(EmulatedNetwork, build_topology("ring:nodes=513"))
    assert "one port, which cannot be emulated" in refusal(EmulatedNetwork, linked("a b", "a=b", port_model="one-port"))
