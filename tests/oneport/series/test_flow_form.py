"""The flow form of SSB(G) has the same optimum as the program over trees, and its flows are flows."""

from fractions import Fraction

from hypothesis import given

from forestcoll.oneport import Platform, steady_optimum
from forestcoll.oneport.platform.packing import packed_trees
from forestcoll.oneport.series.flow_form import flow_form
from forestcoll.topology import Topology
from networks import examples
from oneport_platforms import figure_1, random_platforms


@given(random_platforms(6))
@examples(20)
def test_flows_and_trees_have_the_same_optimum(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    assert flow_form(platform).throughput == steady_optimum(platform).throughput


@given(random_platforms(4, switches=2, skewed=True))
@examples(15)
def test_with_switches_flows_and_trees_have_the_same_optimum(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    assert flow_form(platform).throughput == steady_optimum(platform).throughput


@given(random_platforms(5, duplex=True))
@examples(10)
def test_without_ports_flows_and_trees_have_the_same_optimum(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    assert flow_form(platform).throughput == steady_optimum(platform).throughput


@given(random_platforms(5, switches=1))
@examples(10)
def test_the_rates_carry_the_flows_within_the_ports_and_trees_fit_into_them(topology: Topology) -> None:
    platform = Platform.of(topology, 0)
    found = flow_form(platform)
    busy: dict[object, Fraction] = {}
    for link, rate in enumerate(found.rates):
        assert all(flow[link] * found.throughput <= rate for flow in found.flows)
        for port in platform.ports[link]:
            busy[port] = busy.get(port, Fraction(0)) + rate * platform.costs[link]
    assert max(busy.values()) <= 1
    for node, flow in zip(platform.destinations, found.flows, strict=True):
        ends = list(zip(topology.links, flow, strict=True))
        entering = sum(part for link, part in ends if link.target == node)
        assert entering - sum(part for link, part in ends if link.source == node) == 1
    packed = packed_trees(platform, found.rates, found.throughput)
    assert packed is None or sum(tree.weight for tree in packed) == found.throughput


def test_the_flow_form_of_figure_1_has_throughput_1() -> None:
    assert flow_form(Platform.of(figure_1(), "s")).throughput == 1
