"""What rail networks share: boxes with a scale-up switch, and GPU i of every box on rail switch i."""

from fractions import Fraction

from forestcoll.topology.builder import TopologyBuilder


def add_rails(
    network: TopologyBuilder, boxes: int, gpus: int, scale_up_bandwidth: Fraction, rail_bandwidth: Fraction
) -> list[str]:
    """Add boxes and rail switches, joined, and return the ids of the rail switches."""
    for box in range(boxes):
        for gpu in range(gpus):
            network.add_compute(f"b{box}/gpu{gpu}", box=box)
    rails = [f"rail{gpu}" for gpu in range(gpus)]
    for rail in rails:
        network.add_switch(rail)
    for box in range(boxes):
        switch = network.add_switch(f"b{box}/switch", box=box)
        for gpu in range(gpus):
            network.add_duplex(f"b{box}/gpu{gpu}", switch, scale_up_bandwidth)
            network.add_duplex(f"b{box}/gpu{gpu}", rails[gpu], rail_bandwidth)
    return rails
