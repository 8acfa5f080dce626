"""The network that a collective runs on: a frozen value, made by `TopologyBuilder` and never changed after.

Nodes are numbered in the order in which they were added; everywhere else in the project a node is that number, and
its `id` is looked up only at the boundary. Links are directed, at most one from a node to another, sorted by
(source, target).
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from forestcoll.display import Displayed
from forestcoll.errors import InputError, nearest, shown
from forestcoll.units import BANDWIDTH_UNIT

if TYPE_CHECKING:
    import networkx as nx

NodeId: TypeAlias = int | str


def _no_attributes() -> Mapping[str, object]:
    return MappingProxyType({})


class NodeKind(StrEnum):
    """What a node does with data."""

    COMPUTE = "compute"
    """Sends, receives, keeps and copies: a GPU."""
    SWITCH = "switch"
    """Passes on what comes in, and copies or adds only where it says so."""


def near_id(name: NodeId, ids: Iterable[NodeId]) -> str:
    """Return a question that names the id nearest to `name`, for a message that says there is no such node.

    Nothing is returned for a number: the number nearest to it is hardly what was meant.
    """
    if not isinstance(name, str) or name.strip().lstrip("-").isdecimal():
        return ""
    by_text = {str(each): each for each in ids}
    near = nearest(name, by_text)
    return "" if near is None else f"did you mean {shown(by_text[near])}? "


@dataclass(frozen=True, slots=True)
class Node:
    """A compute node or a switch.

    Attributes:
        id: the name that files and messages use.
        kind: compute node or switch.
        multicast: a switch that can send what it receives to several links.
        aggregation: a switch that can add up what it receives.
        attributes: whatever else the file said of the node (`box`, say), kept and written back.
    """

    id: NodeId
    kind: NodeKind = NodeKind.COMPUTE
    multicast: bool = False
    aggregation: bool = False
    attributes: Mapping[str, object] = field(default_factory=_no_attributes, hash=False)

    @property
    def is_compute(self) -> bool:
        """Whether the node is a compute node."""
        return self.kind is NodeKind.COMPUTE


@dataclass(frozen=True, slots=True)
class Link:
    """A directed link: `bandwidth` in the topology's unit, from node number `source` to node number `target`."""

    source: int
    target: int
    bandwidth: Fraction
    latency_us: Fraction | None = None


def _ends(link: Link) -> tuple[int, int]:
    return link.source, link.target


@dataclass(frozen=True, repr=False)
class Topology(Displayed):
    """A network as a graph: nodes, directed links, exact bandwidths. Make one with `TopologyBuilder`.

    Its `repr` is one line: the name and how many nodes and links there are.

    Attributes:
        name: what the network is called in output.
        nodes: compute nodes and switches; a node's number is its place here.
        links: at most one per ordered pair of nodes, sorted by (source, target).
        bandwidth_unit: the unit of every bandwidth, `GB/s` (10^9 bytes/s) unless the file says otherwise.
        port_model: `"one-port"` where a node sends to one neighbour and receives from one at a time, else None.
        attributes: whatever else the file said of the graph, kept and written back.
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    bandwidth_unit: str = BANDWIDTH_UNIT
    port_model: str | None = None
    attributes: Mapping[str, object] = field(default_factory=_no_attributes, hash=False)

    def __repr__(self) -> str:
        compute, switches, links = len(self.compute), len(self.switches), len(self.links)
        parts = [
            shown(self.name),
            f"{compute} compute node{'s' * (compute != 1)}",
            f"{switches} switch{'es' * (switches != 1)}",
            f"{links} link{'s' * (links != 1)}",
            self.bandwidth_unit,
        ]
        return f"Topology({', '.join(parts if self.port_model is None else [*parts, self.port_model])})"

    @cached_property
    def compute(self) -> tuple[int, ...]:
        """The numbers of the compute nodes, rising."""
        return tuple(number for number, node in enumerate(self.nodes) if node.is_compute)

    @cached_property
    def switches(self) -> tuple[int, ...]:
        """The numbers of the switches, rising."""
        return tuple(number for number, node in enumerate(self.nodes) if not node.is_compute)

    @cached_property
    def able_switches(self) -> tuple[int, ...]:
        """The numbers of the switches that can multicast or aggregate, rising."""
        return tuple(each for each in self.switches if self.nodes[each].multicast or self.nodes[each].aggregation)

    @cached_property
    def _numbers(self) -> Mapping[NodeId, int]:
        return {node.id: number for number, node in enumerate(self.nodes)}

    @cached_property
    def _numbers_by_text(self) -> Mapping[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for node, number in self._numbers.items():
            found[str(node)] = (*found.get(str(node), ()), number)
        return found

    def number(self, node: NodeId) -> int:
        """Return the number of the node with id `node`; the id 3 and the id "3" are two.

        Raises:
            InputError: no node has that id.
        """
        try:
            return self._numbers[node]
        except KeyError:
            hint = near_id(node, self._numbers)
            raise InputError(f"{self.name}: no node {shown(node)}; {hint}use the id of one of its nodes") from None

    def named(self, name: NodeId) -> int:
        """Return the number of the node with id `name` or, where there is none, whose id is written so.

        Files and the command line write the id 3 as they do the id "3".

        Example:
            >>> from forestcoll.topology.registry import build_topology
            >>> build_topology("ring:nodes=4").named("3")
            3

        Raises:
            InputError: no node has that id, or both 3 and "3" have, and `name` is a text.
        """
        found = self.find(name)
        return self.number(name) if found is None else found

    def find(self, name: NodeId) -> int | None:
        """Return what `named` returns, or None if there is no such node.

        Raises:
            InputError: both 3 and "3" are ids, and `name` is that text.
        """
        if not isinstance(name, str):
            return self._numbers.get(name)
        numbers = self._numbers_by_text.get(name, ())
        if len(numbers) > 1:
            raise InputError(f"{self.name}: {shown(name)} is the id of two nodes, an integer and a text; rename one")
        return numbers[0] if numbers else None

    def transposed(self) -> "Topology":
        """Return the network with every link reversed; a switch that can multicast can aggregate there."""
        links = sorted((replace(link, source=link.target, target=link.source) for link in self.links), key=_ends)
        nodes = tuple(
            replace(node, multicast=node.aggregation, aggregation=node.multicast)
            if node.multicast != node.aggregation
            else node
            for node in self.nodes
        )
        return replace(self, nodes=nodes, links=tuple(links))

    def without_abilities(self) -> "Topology":
        """Return the network with switches that only pass data on."""
        nodes = (replace(node, multicast=False, aggregation=False) for node in self.nodes)
        return replace(self, nodes=tuple(nodes)) if self.able_switches else self

    def sharing(self, bandwidths: Sequence[Fraction], copying: Collection[int] = ()) -> "Topology":
        """Return the network with these bandwidths on its links, those of none left out.

        The switches `copying` are compute nodes there: data must get to them, and they copy it or add it up.
        """
        links = (
            replace(link, bandwidth=bandwidth)
            for link, bandwidth in zip(self.links, bandwidths, strict=True)
            if bandwidth
        )
        return replace(self, nodes=self._with_copying(copying), links=tuple(links))

    def _with_copying(self, copying: Collection[int]) -> tuple[Node, ...]:
        return tuple(
            replace(node, kind=NodeKind.COMPUTE, multicast=False, aggregation=False) if number in copying else node
            for number, node in enumerate(self.nodes)
        )

    def ids(self, numbers: Sequence[int]) -> list[NodeId]:
        """Return the ids of the nodes with these `numbers`."""
        return [self.nodes[number].id for number in numbers]

    @cached_property
    def egress(self) -> tuple[Fraction, ...]:
        """Of each node, the sum of the bandwidths of the links that leave it."""
        return self._sums(ends=[link.source for link in self.links])

    @cached_property
    def ingress(self) -> tuple[Fraction, ...]:
        """Of each node, the sum of the bandwidths of the links that enter it."""
        return self._sums(ends=[link.target for link in self.links])

    def _sums(self, ends: Sequence[int]) -> tuple[Fraction, ...]:
        sums = [Fraction(0)] * len(self.nodes)
        for end, link in zip(ends, self.links, strict=True):
            sums[end] += link.bandwidth
        return tuple(sums)

    @cached_property
    def has_balanced_switches(self) -> bool:
        """Whether the incoming bandwidth of every switch equals its outgoing bandwidth."""
        return all(self.ingress[switch] == self.egress[switch] for switch in self.switches)


if TYPE_CHECKING:
    TopologyLike: TypeAlias = Topology | str | os.PathLike[str] | nx.Graph
    """What `registry.load_topology` takes: a topology, a builder's spec, a file's name or path, a networkx graph."""
else:
    TopologyLike = Topology | str | os.PathLike
