"""Which compute node each rank runs, and the part of the network that a group of ranks has to itself."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import json_text
from forestcoll.base.files import parse_document
from forestcoll.topology import NodeId, Topology, topology_from_document, topology_to_document
from forestcoll.topology.graph.part import usable_part
from forestcoll.topology.graph.walks import unreachable_pair
from forestcoll.topology.registry import load_topology
from forestcoll.torch.options import Options

_HOW = (
    "pass pg_options=forestcoll.torch.Options(topology=…), or set FORESTCOLL_TOPOLOGY, to a file or to a builder's "
    "spec such as 'ring:nodes=4'; `forestcoll topology` lists the builders"
)
_MOST_SHOWN = 16


@dataclass(frozen=True, slots=True)
class RankedTopology:
    """A topology with the place of each rank of the world.

    Attributes:
        topology: the whole network.
        nodes: of each rank the number of its compute node.
    """

    topology: Topology
    nodes: tuple[int, ...]

    def to_bytes(self) -> bytes:
        """Return it as JSON; `from_bytes` reads it."""
        document = {"topology": topology_to_document(self.topology), "nodes": list(self.nodes)}
        return json_text(document).encode()

    @staticmethod
    def from_bytes(data: bytes) -> "RankedTopology":
        """Return the network that `to_bytes` wrote."""
        document = parse_document(data, Path("the topology of rank 0"))
        topology = document["topology"]
        if not isinstance(topology, Mapping) or not isinstance(document["nodes"], list):
            raise InputError("the topology of rank 0 is no object; start all ranks with the same version")
        nodes = tuple(int(node) for node in document["nodes"])
        return RankedTopology(topology_from_document(topology, where="the topology of rank 0", connected=False), nodes)

    def part(self, ranks: Sequence[int]) -> Topology:
        """Return the network that these ranks of the world have among themselves, without relays of other ranks.

        Its compute node i is that of `ranks[i]`; it is the whole topology where these are all nodes, in their order.

        Raises:
            InputError: one cannot reach another.
        """
        numbers = [self.nodes[rank] for rank in ranks]
        part = self.topology if tuple(numbers) == self.topology.compute else _reordered(self.topology, numbers)
        pair = unreachable_pair(part, part.compute)
        if pair is not None:
            one, other = (shown(node) for node in part.ids(pair))
            raise InputError(f"{self.topology.name}: node {one} reaches node {other} only over nodes of other ranks")
        return part


def network_of(options: Options, size: int) -> RankedTopology:
    """Return the network that `options` name, for a world of `size` ranks.

    Raises:
        InputError: no topology is given, it cannot be read, or its nodes do not fit the ranks.
    """
    if options.topology is None:
        raise InputError(f"the backend forestcoll has no topology; {_HOW}")
    topology = load_topology(options.topology, connected=False)
    return RankedTopology(topology, placed(topology, options.nodes, size))


def placed(topology: Topology, nodes: Sequence[NodeId] | None, size: int) -> tuple[int, ...]:
    """Return of each rank the number of its compute node.

    Raises:
        InputError: there is not one compute node for each rank, or a name is wrong.
    """
    count = len(topology.compute)
    if nodes is None:
        if count != size:
            choice = ", or name the node of each rank by Options(nodes=…) or FORESTCOLL_NODES" if count > size else ""
            raise InputError(
                f"there are {size} ranks, but {topology.name} has {count} compute nodes; start {count} ranks{choice}"
            )
        return topology.compute
    numbers = tuple(topology.named(node) for node in nodes)
    for node, number in zip(nodes, numbers, strict=True):
        if not topology.nodes[number].is_compute:
            raise InputError(f"{topology.name}: nodes name {shown(node)}, which is a switch; name compute nodes")
        if numbers.count(number) > 1:
            raise InputError(f"{topology.name}: nodes name {shown(node)} twice; name one node for each rank")
    if len(numbers) != size:
        raise InputError(f"nodes name {len(numbers)} compute nodes, but there are {size} ranks; name one for each rank")
    return numbers


def rank_map(network: RankedTopology, hosts: Sequence[str]) -> str:
    """Return one line that says which node and host each rank is on."""
    topology, count = network.topology, len(network.nodes)
    listed = [
        f"{rank}={topology.nodes[number].id}@{host}"
        for rank, number, host in zip(range(_MOST_SHOWN), network.nodes, hosts, strict=False)
    ]
    rest = f" … ({count - _MOST_SHOWN} more)" if count > _MOST_SHOWN else ""
    return f"{count} ranks on {topology.name}, rank=node@host: {' '.join(listed)}{rest}"


def misplaced(network: RankedTopology, hosts: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each box of the topology whose ranks run on several hosts."""
    of_box: dict[str, dict[str, int]] = {}
    for rank, (number, host) in enumerate(zip(network.nodes, hosts, strict=True)):
        box = network.topology.nodes[number].attributes.get("box")
        if box is not None:
            of_box.setdefault(str(box), {}).setdefault(host, rank)
    for box, ranks in of_box.items():
        if len(ranks) > 1:
            where = ", ".join(f"rank {rank} on {host}" for host, rank in ranks.items())
            yield f"box {box} of the topology has ranks on {len(ranks)} hosts ({where}); check the order of the nodes"


def _reordered(topology: Topology, compute: Sequence[int]) -> Topology:
    """Return the network of these compute nodes, in this order, and of all switches."""
    kept = [*compute, *topology.switches]
    places = {number: place for place, number in enumerate(kept)}
    links = [
        replace(link, source=places[link.source], target=places[link.target])
        for link in topology.links
        if link.source in places and link.target in places
    ]
    links.sort(key=lambda link: (link.source, link.target))
    named = json.dumps(topology.ids(compute))
    name = f"{topology.name}, nodes {named}"
    part = replace(topology, name=name, nodes=tuple(topology.nodes[each] for each in kept), links=tuple(links))
    return usable_part(part, part.compute)
