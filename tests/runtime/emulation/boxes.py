"""Networks for tests of the emulation."""

from forestcoll.runtime.emulation.network import EmulatedNetwork
from forestcoll.runtime.emulation.rates import emulated
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology


def two_boxes(gpus: int = 2, fast: int = 100, slow: int = 20) -> Topology:
    """Two boxes with a switch each, and a switch between them that every compute node is connected to."""
    builder = TopologyBuilder("two boxes", bandwidth_unit="Mb/s")
    core = builder.add_switch("core")
    for box in "ab":
        switch = builder.add_switch(f"{box}-switch")
        for gpu in range(gpus):
            node = builder.add_compute(f"{box}{gpu}", box=box)
            builder.add_duplex(node, switch, fast)
            builder.add_duplex(node, core, slow)
    return builder.build()


def spine_network() -> Topology:
    """Two leaf switches, each connected to two spine switches: a loop of switches."""
    builder = TopologyBuilder("spines", bandwidth_unit="Mb/s")
    spines = [builder.add_switch(f"spine{number}") for number in range(2)]
    for leaf in range(2):
        switch = builder.add_switch(f"leaf{leaf}")
        for spine in spines:
            builder.add_duplex(switch, spine, 50)
        for gpu in range(2):
            builder.add_duplex(builder.add_compute(f"{leaf}{gpu}"), switch, 100)
    return builder.build()


def network_of(spec: str, scale: str | None = "100Mbit=1") -> EmulatedNetwork:
    """The emulated network of a builder's spec."""
    return EmulatedNetwork(emulated(build_topology(spec), scale))
