"""The network that a caller names: every public function of this folder takes whatever names one."""

from os import PathLike
from typing import TypeAlias

from forestcoll.topology import Topology
from forestcoll.topology.registry import load_topology

TopologyLike: TypeAlias = Topology | str | PathLike[str]
"""A network: a `Topology`, a builder's spec string such as `dgx-a100:boxes=2`, or a path."""


def network_of(topology: TopologyLike, *, connected: bool = True) -> Topology:
    """Return the network that `topology` names; all compute nodes of a file must reach each other if `connected`.

    Raises:
        InputError: there is no such network.
    """
    return topology if isinstance(topology, Topology) else load_topology(topology, connected=connected)
