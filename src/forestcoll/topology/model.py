"""The network that a collective runs on: a frozen value, made by `TopologyBuilder`.

Nodes are numbered from 0 in the order in which they were added. The rest of the code identifies nodes by these numbers;
only input and output use ids. Links are directed and sorted by (source, target); there is at most one for each ordered
pair of nodes.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import lcm
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, argument, nearest, shown
from forestcoll.base.units import BANDWIDTH_UNIT
from forestcoll.topology.changes import changed_network

if TYPE_CHECKING:
    import networkx as nx
    import numpy.typing as npt

NodeId: TypeAlias = int | str
"""The id of a node, as a file or a builder names it."""

BOUNDED = "bounded-multi-port"
"""The port model in which a node uses all its links at once, within its bandwidths."""

PORT_MODELS = ("one-port", "one-port-send", "one-port-receive", "half-duplex", BOUNDED)
"""The port models besides that of a node that uses all its links at once; see `Topology`."""

KNOWN_MODELS = " or ".join(map(repr, PORT_MODELS))
"""The port models in words."""

OfBandwidth = TypeVar("OfBandwidth")


def _no_attributes() -> Mapping[str, object]:
    return MappingProxyType({})


class NodeKind(StrEnum):
    """The kind of a node, by its name in files.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> build_topology("ring:nodes=3").nodes[0].kind is NodeKind("compute")
        True
    """

    COMPUTE = "compute"
    """An accelerator: it holds data, sends, receives, copies and reduces."""
    SWITCH = "switch"
    """Forwards data. It copies or adds up data only with `Node.multicast` or `Node.aggregation`."""


def near_id(name: NodeId, ids: Iterable[NodeId]) -> str:
    """Return a question with the id that is most similar to the unknown `name`, for an error message, or "".

    The result is empty if `name` is a number, because a similar number is rarely the one that was meant.
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
        id: the string or integer that files and messages use.
        kind: compute node or switch.
        multicast: whether the node is a switch that can send what it receives to several links.
        aggregation: whether the node is a switch that can add up what it receives.
        attributes: the other attributes of the node in its file, such as `box`, which are kept unchanged.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> node = build_topology("dgx-a100:boxes=2").nodes[8]
        >>> node.id, node.kind.value, node.attributes["box"]
        ('b1/gpu0', 'compute', 1)
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
    """A directed link.

    Attributes:
        source: the number of the node that sends.
        target: the number of the node that receives.
        bandwidth: the exact bandwidth, in the unit of the topology.
        latency_us: the latency in microseconds; None if it is not known.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> link = build_topology("ring:nodes=3,bandwidth=25/2").links[0]
        >>> link.source, link.target, link.bandwidth
        (0, 1, Fraction(25, 2))
    """

    source: int
    target: int
    bandwidth: Fraction
    latency_us: Fraction | None = None


def _ends(link: Link) -> tuple[int, int]:
    return link.source, link.target


@dataclass(frozen=True, repr=False)
class Topology(Displayed):
    """A network: nodes, directed links and exact bandwidths. Use `TopologyBuilder` or `load_topology` to make one.

    Attributes:
        name: the name of the network in output.
        nodes: the compute nodes and switches; the number of a node is its index.
        links: the links, at most one for each ordered pair of nodes, sorted by (source, target).
        bandwidth_unit: the unit of all bandwidths; by default `GB/s`, which is 10^9 bytes per second.
        port_model: None if a compute node uses all its links at once. With `"one-port"` it sends to one neighbour and
            receives from one neighbour at a time. `"one-port-send"` limits only what it sends, and
            `"one-port-receive"` only what it receives. With `"half-duplex"` it sends to or receives from one neighbour
            at a time. With `"bounded-multi-port"` it uses all its links at once, within its `send_bandwidth` and its
            `receive_bandwidth`.
        attributes: the other attributes of the graph in its file, which are kept unchanged.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> topology = build_topology("dgx-a100:boxes=2")
        >>> len(topology.compute), len(topology.switches), topology.bandwidth_unit
        (16, 3, 'GB/s')
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    bandwidth_unit: str = BANDWIDTH_UNIT
    port_model: str | None = None
    attributes: Mapping[str, object] = field(default_factory=_no_attributes, hash=False)

    def __post_init__(self) -> None:
        if self.port_model is not None and self.port_model not in PORT_MODELS:
            raise InputError(
                f"{self.name}: port_model is {argument(self.port_model)}; leave it out or use {KNOWN_MODELS}"
            )

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
        """The numbers of the compute nodes, in ascending order."""
        return tuple(number for number, node in enumerate(self.nodes) if node.is_compute)

    @cached_property
    def switches(self) -> tuple[int, ...]:
        """The numbers of the switches, in ascending order."""
        return tuple(number for number, node in enumerate(self.nodes) if not node.is_compute)

    @cached_property
    def able_switches(self) -> tuple[int, ...]:
        """The numbers of the switches that can multicast or aggregate, in ascending order."""
        return tuple(each for each in self.switches if self.nodes[each].multicast or self.nodes[each].aggregation)

    @cached_property
    def is_full_duplex(self) -> bool:
        """Whether each link has a reverse link of the same bandwidth."""
        numerators, numbers = self.bandwidth_numerators[0], self.link_numbers
        back = (numbers.get((target, source)) for source, target in numbers)
        return all(other is not None and numerators[other] == numerators[own] for own, other in enumerate(back))

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
        """Return the number of the node with the id `node`. The ids 3 and "3" are different.

        Raises:
            InputError: no node has that id.
        """
        try:
            return self._numbers[node]
        except KeyError:
            hint = near_id(node, self._numbers)
            raise InputError(f"{self.name}: no node {shown(node)}; {hint}use the id of one of its nodes") from None

    def named(self, name: NodeId) -> int:
        """Return the number of the node with the id `name` or, if there is none, the node whose id has this text.

        Use this for ids from the command line, which does not distinguish the ids 3 and "3".

        Example:
            >>> from forestcoll.topology.registry import build_topology
            >>> build_topology("ring:nodes=4").named("3")
            3

        Raises:
            InputError: no node has that id; or `name` is a text, and an integer and a text are both such ids.
        """
        found = self.find(name)
        return self.number(name) if found is None else found

    def find(self, name: NodeId) -> int | None:
        """Return the same number as `named`, or None if there is no such node.

        Raises:
            InputError: `name` is a text, and an integer and a text are both such ids.
        """
        if not isinstance(name, str):
            return self._numbers.get(name)
        numbers = self._numbers_by_text.get(name, ())
        if len(numbers) > 1:
            raise InputError(f"{self.name}: {shown(name)} is the id of two nodes, an integer and a text; rename one")
        return numbers[0] if numbers else None

    def transposed(self) -> "Topology":
        """Return the network with all links reversed, in which switches exchange multicast and aggregation."""
        links = sorted((replace(link, source=link.target, target=link.source) for link in self.links), key=_ends)
        nodes = tuple(
            replace(node, multicast=node.aggregation, aggregation=node.multicast)
            if node.multicast != node.aggregation
            else node
            for node in self.nodes
        )
        return replace(self, nodes=nodes, links=tuple(links))

    def without_abilities(self) -> "Topology":
        """Return the network with switches that only forward data."""
        nodes = (replace(node, multicast=False, aggregation=False) for node in self.nodes)
        return replace(self, nodes=tuple(nodes)) if self.able_switches else self

    def sharing(self, bandwidths: Sequence[Fraction], copying: Collection[int] = ()) -> "Topology":
        """Return the network with other bandwidths, without the links whose bandwidth is 0.

        Args:
            bandwidths: the bandwidth of each link, in the order of the links.
            copying: the numbers of switches that become compute nodes: data must reach them, and they copy it or add
                it up.
        """
        links = (
            replace(link, bandwidth=bandwidth)
            for link, bandwidth in zip(self.links, bandwidths, strict=True)
            if bandwidth
        )
        return replace(self, nodes=self._with_copying(copying), links=tuple(links))

    def with_bandwidths(self, bandwidths: Mapping[tuple[int, int], Fraction]) -> "Topology":
        """Return the network with other bandwidths, by (source, target).

        Links with bandwidth 0 are left out. Between two nodes without a link, there is a new one.
        """
        links = dict(zip(self.link_numbers, self.links, strict=True))
        for ends, bandwidth in bandwidths.items():
            link = links.get(ends)
            links[ends] = Link(*ends, bandwidth) if link is None else replace(link, bandwidth=bandwidth)
        kept = tuple(link for _, link in sorted(links.items()) if link.bandwidth)
        return self if kept == self.links else replace(self, links=kept)

    def without(self, *names: str) -> "Topology":
        """Return the network without parts that have failed.

        Args:
            names: what has failed: a link in both directions, by the ids of its ends, `A--B`; a node with all its links
                (a GPU, a NIC, a switch), by its id; a box, as `b0`, if the ids of its nodes begin with `b0/`, or as
                `box 0`, by the attribute `box`; a class of links, by the sorts of its ends, as `GPU--NIC`. A text may
                have several names, with commas between them.

        Returns:
            The network. Nodes that have failed are left out, and the numbers of the others close up, so that ranks do.
            The compute nodes that are left may not reach each other.

        Example:
            >>> from forestcoll.topology import build_topology
            >>> build_topology("dgx-a100:boxes=2").without("b1/gpu3", "b0/gpu0--ib")
            Topology('dgx-a100:boxes=2 without b1/gpu3, b0/gpu0--ib', 15 compute nodes, 3 switches, 58 links, GB/s)

        Raises:
            InputError: there is no such part, a part is named twice, or fewer than two compute nodes are left.
        """
        return changed_network(self, names)

    def degraded(self, *names: str, to: object) -> "Topology":
        """Return the network with another bandwidth on some links, in both directions.

        Args:
            names: the links, as for `without`; of a node or a box, all its links.
            to: the bandwidth each way, in the unit of the network or as a text with a unit, such as "100Gb/s"; or a
                percentage of the present one, such as "50%".

        Example:
            >>> from forestcoll.topology import build_topology
            >>> build_topology("ring:nodes=4").degraded("0--1", to="50%").bandwidths[1, 0]
            Fraction(1, 2)

        Raises:
            InputError: there is no such part, a link is named twice, or `to` is not a bandwidth greater than 0.
        """
        return changed_network(self, degrade=[f"{name}={to}" for name in names])

    def _with_copying(self, copying: Collection[int]) -> tuple[Node, ...]:
        return tuple(
            replace(node, kind=NodeKind.COMPUTE, multicast=False, aggregation=False) if number in copying else node
            for number, node in enumerate(self.nodes)
        )

    def ids(self, numbers: Sequence[int]) -> list[NodeId]:
        """Return the ids of the nodes with these `numbers`."""
        return [self.nodes[number].id for number in numbers]

    @cached_property
    def link_numbers(self) -> Mapping[tuple[int, int], int]:
        """The number of each link, its index in `links`, by its source and target.

        Example:
            >>> from forestcoll.topology import build_topology
            >>> topology = build_topology("ring:nodes=3")
            >>> topology.link_numbers[2, 0], (0, 0) in topology.link_numbers
            (4, False)
        """
        return {ends: number for number, ends in enumerate(zip(*self.link_ends, strict=True))}

    @cached_property
    def bandwidths(self) -> Mapping[tuple[int, int], Fraction]:
        """The bandwidth of each link, by its source and target."""
        return {(link.source, link.target): link.bandwidth for link in self.links}

    @cached_property
    def leaving(self) -> tuple[list[int], ...]:
        """For each node, the numbers of the links that leave it, in ascending order.

        Example:
            >>> from forestcoll.topology import build_topology
            >>> build_topology("ring:nodes=3").leaving
            ([0, 1], [2, 3], [4, 5])
        """
        return self._touching(self.link_ends[0])

    @cached_property
    def entering(self) -> tuple[list[int], ...]:
        """For each node, the numbers of the links that enter it, in ascending order."""
        return self._touching(self.link_ends[1])

    def _touching(self, ends: Sequence[int]) -> tuple[list[int], ...]:
        found: tuple[list[int], ...] = tuple([] for _ in self.nodes)
        for number, end in enumerate(ends):
            found[end].append(number)
        return found

    @cached_property
    def targets(self) -> tuple[list[int], ...]:
        """For each node, the nodes that its links lead to."""
        return tuple([self.links[number].target for number in numbers] for numbers in self.leaving)

    @cached_property
    def sources(self) -> tuple[list[int], ...]:
        """For each node, the nodes that its links come from."""
        return tuple([self.links[number].source for number in numbers] for numbers in self.entering)

    @cached_property
    def egress(self) -> tuple[Fraction, ...]:
        """For each node, the sum of the bandwidths of the links that leave it."""
        return self._sums(self.link_ends[0])

    @cached_property
    def ingress(self) -> tuple[Fraction, ...]:
        """For each node, the sum of the bandwidths of the links that enter it."""
        return self._sums(self.link_ends[1])

    def _sums(self, ends: Sequence[int]) -> tuple[Fraction, ...]:
        numerators, denominator = self.bandwidth_numerators
        sums = [0] * len(self.nodes)
        for end, numerator in zip(ends, numerators, strict=True):
            sums[end] += numerator
        exact = {each: Fraction(each, denominator) for each in set(sums)}
        return tuple(exact[each] for each in sums)

    @cached_property
    def bandwidth_numerators(self) -> tuple[tuple[int, ...], int]:
        """The bandwidths of the links as numerators of a common denominator, which is the second value."""
        distinct, _ = self.bandwidth_classes
        denominator = lcm(*(bandwidth.denominator for bandwidth in distinct))
        return self.of_links(int(bandwidth * denominator) for bandwidth in distinct), denominator

    @cached_property
    def bandwidth_classes(self) -> tuple[tuple[Fraction, ...], tuple[int, ...]]:
        """The distinct bandwidths of links, and for each link the index of its bandwidth among them.

        Links of large networks have few distinct bandwidths, and most share one object for each.
        """
        bandwidths = [link.bandwidth for link in self.links]
        objects = dict(zip(map(id, bandwidths), bandwidths, strict=True))
        distinct = {bandwidth: index for index, bandwidth in enumerate(dict.fromkeys(objects.values()))}
        classes = {identity: distinct[bandwidth] for identity, bandwidth in objects.items()}
        return tuple(distinct), tuple(map(classes.__getitem__, map(id, bandwidths)))

    def of_links(self, of_distinct: Iterable[OfBandwidth]) -> tuple[OfBandwidth, ...]:
        """Return a value for each link, from a value for each of the distinct bandwidths in `bandwidth_classes`."""
        return tuple(map(tuple(of_distinct).__getitem__, self.bandwidth_classes[1]))

    @cached_property
    def link_ends(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The sources and the targets of the links."""
        return tuple(link.source for link in self.links), tuple(link.target for link in self.links)

    @cached_property
    def has_balanced_switches(self) -> bool:
        """Whether the incoming bandwidth of every switch equals its outgoing bandwidth."""
        return all(self.ingress[switch] == self.egress[switch] for switch in self.switches)


if TYPE_CHECKING:

    class _IgraphGraph(Protocol):
        @property
        def vs(self) -> Any: ...
        @property
        def es(self) -> Any: ...

    class _RustworkxGraph(Protocol):
        def node_indices(self) -> Any: ...
        def edge_index_map(self) -> Any: ...

    class _PandasTable(Protocol):
        @property
        def columns(self) -> Any: ...
        def to_numpy(self) -> Any: ...

    TopologyLike: TypeAlias = (
        Topology | str | os.PathLike[str] | nx.Graph | _IgraphGraph | _RustworkxGraph | _PandasTable | npt.NDArray[Any]
    )
    """A value that `load_topology` takes: a topology, a builder's spec, a file's name or path, or a graph."""
else:
    TopologyLike = Topology | str | os.PathLike
