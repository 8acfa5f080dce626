"""The networks of `fabric.py`: boxes with a switch each, and a switch between them that each GPU has a NIC to."""

from collections.abc import Mapping
from dataclasses import dataclass

from forestcoll.topology import Topology, TopologyBuilder

CORE = "core"
"""The id of the switch between boxes."""


@dataclass(frozen=True)
class Fabric:
    """A network and what is measured on it.

    Attributes:
        name: in tables and names of files.
        title: what it is.
        topology: with the rates of the emulation.
        ranks: the compute nodes that take part, as `generate` takes them; None for all.
        sizes: of the data, in bytes; the first is that of libraries and competitors.
    """

    name: str
    title: str
    topology: Topology
    ranks: tuple[str, ...] | None
    sizes: tuple[int, ...]

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part."""
        if self.ranks is None:
            return self.topology.compute
        return tuple(self.topology.number(each) for each in self.ranks)


def boxes(count: int, gpus: int, fast: int, slow: int, other: Mapping[str, int] | None = None) -> Topology:
    """Return boxes of GPUs with links in Mb/s.

    Args:
        count: how many boxes.
        gpus: how many GPUs each box has.
        fast: the bandwidth between a GPU and the switch of its box.
        slow: the bandwidth between a GPU and the switch between boxes.
        other: the GPUs whose bandwidth to the switch between boxes is another.
    """
    builder = TopologyBuilder(f"{count} boxes of {gpus} GPUs, {fast} / {slow} Mb/s", bandwidth_unit="Mb/s")
    builder.add_switch(CORE)
    for box in range(count):
        switch = builder.add_switch(box_switch(box))
        for gpu in range(gpus):
            name = f"b{box}g{gpu}"
            builder.add_compute(name, box=box)
            builder.add_duplex(name, switch, fast)
            builder.add_duplex(name, CORE, (other or {}).get(name, slow))
    return builder.build()


def box_switch(box: int) -> str:
    """Return the id of the switch of a box."""
    return f"switch{box}"


MIB = 2**20

FABRICS = (
    Fabric("2x4", "two boxes of four", boxes(2, 4, 500, 50), None, (16 * MIB, 64 * MIB)),
    Fabric("4x8", "four boxes of eight", boxes(4, 8, 100, 10), None, (8 * MIB, 32 * MIB)),
    Fabric("slow-nic", "one slow NIC", boxes(2, 4, 500, 50, {"b0g0": 10}), None, (16 * MIB,)),
    Fabric(
        "relays",
        "idle ranks as relays",
        boxes(2, 4, 500, 50),
        tuple(f"b{box}g{gpu}" for box in range(2) for gpu in range(3)),
        (16 * MIB,),
    ),
)
"""All networks; the first is that of `make fabric`."""
