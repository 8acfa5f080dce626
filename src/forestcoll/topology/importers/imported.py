"""What an import gives: the topology, and a summary of what was understood."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from forestcoll.base.display import Displayed
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.link_classes import is_nic, nic_name
from forestcoll.topology.model import Topology

IMPORTED = "imported"
"""The attribute of an imported network that says what it was imported from, and what was assumed and ignored."""


@dataclass(frozen=True, repr=False)
class Imported(Displayed):
    """A network from a file of another tool.

    Attributes:
        topology: the network; its attribute `imported` holds what was assumed and ignored, if anything was.
        format: the name of the format.
        ignored: what the files hold and the network does not, and why.
        assumed: what the network has and the files do not say.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> imported = Imported(build_topology("dgx-a100:boxes=2"), "none", (), ())
        >>> imported.boxes, imported.nics, imported.bandwidths
        (2, 0, {Fraction(300, 1): 32, Fraction(25, 1): 32})
    """

    topology: Topology
    format: str
    ignored: tuple[str, ...]
    assumed: tuple[str, ...]

    @classmethod
    def of(cls, topology: Topology, name: str, notes: Notes) -> "Imported":
        """Return an import whose topology keeps the notes, if there are any."""
        said = {key: list(value) for key, value in (("assumed", notes.assumed), ("ignored", notes.ignored)) if value}
        if said:
            attributes = MappingProxyType({**topology.attributes, IMPORTED: {"format": name, **said}})
            topology = replace(topology, attributes=attributes)
        return cls(topology, name, tuple(notes.ignored), tuple(notes.assumed))

    @property
    def boxes(self) -> int:
        """How many hosts the compute nodes are in; 0 if the files do not say."""
        nodes = (self.topology.nodes[node] for node in self.topology.compute)
        return len({repr(node.attributes["box"]) for node in nodes if "box" in node.attributes})

    @property
    def nics(self) -> int:
        """How many network cards there are; one that several GPUs share is two switches."""
        return len({nic_name(node) for node in self.topology.nodes if is_nic(node)})

    @property
    def bandwidths(self) -> Mapping[Fraction, int]:
        """How many one-way links there are of each bandwidth, the greatest first."""
        counts = Counter(link.bandwidth for link in self.topology.links)
        return dict(sorted(counts.items(), reverse=True))
