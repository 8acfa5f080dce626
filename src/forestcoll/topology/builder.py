"""The mutable builder that validates a network and returns a frozen `Topology`.

Readers of files, builders of machines and families, and callers all use this builder. So each rule exists once, and
the same mistake gives the same message, with the node or the edge and the value.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from numbers import Integral
from types import MappingProxyType

from forestcoll.base.errors import InputError, require_kind, shown
from forestcoll.base.exact import WrittenFloat, to_fraction
from forestcoll.base.units import BANDWIDTH_UNIT, bandwidth_in
from forestcoll.topology.graph.node_limits import with_node_limits
from forestcoll.topology.graph.walks import unreachable_pair
from forestcoll.topology.model import (
    BOUNDED,
    KNOWN_MODELS,
    PORT_MODELS,
    Link,
    Node,
    NodeId,
    NodeKind,
    Topology,
    near_id,
)

MAX_DENOMINATOR_DIGITS = 1800
"""The most digits of the common denominator of all bandwidths. Sums of bandwidths and the optimum may be that long.

With this limit, results have at most 4,000 digits for each number of trees that the solver accepts.
"""

MOST_NESTED = 100
"""The most levels of lists and objects in an attribute. Writing deeper ones exceeds the recursion limit of Python."""


class TopologyBuilder:
    """Collects nodes and links and returns a `Topology`.

    Each node and link is checked when it is added; the whole network is checked in `build`.

    Args:
        name: the name of the network in output.
        bandwidth_unit: the unit of all bandwidths.
        port_model: None, or one of `PORT_MODELS`; see `Topology`.
        attributes: further attributes of the graph, which are kept unchanged.
        where: the text that begins error messages, such as the name of a file; `name` if None.

    Raises:
        InputError: the name, the unit, the port model or an attribute is not valid.

    Example:
        >>> builder = TopologyBuilder("pair")
        >>> builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), "400Gb/s")
        >>> builder.build()
        Topology('pair', 2 compute nodes, 0 switches, 2 links, GB/s)
    """

    def __init__(
        self,
        name: str,
        *,
        bandwidth_unit: str = BANDWIDTH_UNIT,
        port_model: str | None = None,
        attributes: Mapping[str, object] | None = None,
        where: str | None = None,
    ) -> None:
        require_kind(name, str, "name", "a text")
        require_kind(bandwidth_unit, str, "bandwidth_unit", "a text, such as 'GB/s'")
        self._where = name if where is None else where
        if port_model is not None and port_model not in PORT_MODELS:
            raise self._error(f"port_model is {shown(port_model)}; leave it out or use {KNOWN_MODELS}")
        self._name = name
        self._bandwidth_unit = bandwidth_unit
        self._port_model = port_model
        self._attributes = dict(attributes or {})
        self._check_attributes("graph", self._attributes)
        self._nodes: list[Node] = []
        self._numbers: dict[NodeId, int] = {}
        self._links: dict[int, Link] = {}  # by source and target, as `_code` combines them
        self._bandwidths: dict[tuple[type, object], Fraction] = {}  # by the type and the value that was given
        self._last: tuple[object, Fraction] = (self, Fraction(0))  # the last bandwidth that was given, and its value

    def add_compute(self, node: NodeId, /, **attributes: object) -> NodeId:
        """Add a compute node.

        Args:
            node: its id, a string or an integer.
            attributes: further attributes, such as `box`, which are kept unchanged.

        Returns:
            `node`.

        Raises:
            InputError: the id or an attribute is not valid, or another node has the id.
        """
        for ability in ("multicast", "aggregation"):
            if attributes.get(ability):
                raise self._error(
                    f"compute node {shown(node)}: only a switch can have {ability}; make the node a switch"
                )
        return self._add(node, NodeKind.COMPUTE, attributes, multicast=False, aggregation=False)

    def add_switch(
        self, node: NodeId, /, *, multicast: bool = False, aggregation: bool = False, **attributes: object
    ) -> NodeId:
        """Add a switch.

        Args:
            node: its id, a string or an integer.
            multicast: whether it can send what it receives to several links.
            aggregation: whether it can add up what it receives.
            attributes: further attributes, which are kept unchanged.

        Returns:
            `node`.

        Raises:
            InputError: the id or an attribute is not valid, or another node has the id.
        """
        return self._add(node, NodeKind.SWITCH, attributes, multicast=multicast, aggregation=aggregation)

    def add_link(self, source: NodeId, target: NodeId, bandwidth: object, *, latency_us: object | None = None) -> None:
        """Add a one-way link.

        If there is already a link between these nodes in this direction, the bandwidths are added, and the greater
        latency is used.

        Args:
            source: the id of the node that sends.
            target: the id of the node that receives.
            bandwidth: a number in the network's unit, as `exact.to_fraction` takes it, or a text with its own unit,
                such as `"400Gb/s"`, which is converted exactly.
            latency_us: the latency in microseconds; None if it is not known.

        Raises:
            InputError: an end is not a node of the network, the link is a self-loop, the bandwidth is not a number
                greater than 0, the latency is not a number of 0 or more, or a unit cannot be converted.
        """
        self._merge(self._link(source, target, bandwidth, latency_us))

    def add_duplex(self, one: NodeId, other: NodeId, bandwidth: object, *, latency_us: object | None = None) -> None:
        """Add two links, one in each direction, each with the whole `bandwidth`. Arguments and errors: `add_link`."""
        link = self._link(one, other, bandwidth, latency_us)
        self._merge(link)
        self._merge(Link(link.target, link.source, link.bandwidth, link.latency_us))

    def build(self, *, connected: bool = True) -> Topology:
        """Return the frozen topology.

        Args:
            connected: whether all compute nodes must reach each other. For a collective over some of them, False is
                enough. It is not checked if the port model is `"one-port"`.

        Raises:
            InputError: there are fewer than two compute nodes, a compute node cannot reach another, or the common
                denominator of all bandwidths has more than `MAX_DENOMINATOR_DIGITS` digits.
        """
        topology = Topology(
            name=self._name,
            nodes=tuple(self._nodes),
            links=tuple(map(self._links.__getitem__, sorted(self._links))),
            bandwidth_unit=self._bandwidth_unit,
            port_model=self._port_model,
            attributes=MappingProxyType(self._attributes),
        )
        if self._port_model != BOUNDED:
            topology = with_node_limits(topology)
        if len(topology.compute) < 2:
            count = len(topology.compute)
            raise self._error(f"has {count} compute node{'s' * (count != 1)}; a collective needs at least two")
        # A one-port network is used for broadcasts from one source, which other nodes need not reach.
        if connected and self._port_model is None:
            self._check_connected(topology)
        self._check_denominator(topology)
        return topology

    def _error(self, message: str) -> InputError:
        return InputError(f"{self._where}: {message}")

    def _add(
        self,
        node: NodeId,
        kind: NodeKind,
        attributes: Mapping[str, object],
        *,
        multicast: bool,
        aggregation: bool,
    ) -> NodeId:
        node = _plain(node)
        if not _is_id(node):
            raise self._error(f"node id {shown(node)} must be a string or an integer; rename the node")
        if node in self._numbers:
            raise self._error(f"node {shown(node)} appears twice; give every node an id of its own")
        if not _FINITE.issuperset(map(type, attributes.values())):
            self._check_attributes(f"node {shown(node)}", attributes)
        self._numbers[node] = len(self._nodes)
        self._nodes.append(Node(node, kind, multicast, aggregation, MappingProxyType(dict(attributes))))
        return node

    def _check_attributes(self, what: str, attributes: Mapping[str, object]) -> None:
        for name, value in attributes.items():
            if (problem := _attribute_problem(value)) is not None:
                raise self._error(f"{what}: {name} {problem}")

    def _link(self, source: NodeId, target: NodeId, bandwidth: object, latency_us: object | None) -> Link:
        try:
            return self._checked_link(source, target, bandwidth, latency_us)
        except ValueError as error:
            raise self._error(f"edge {shown(source)} -> {shown(target)}{error}") from None

    def _checked_link(self, source: NodeId, target: NodeId, bandwidth: object, latency_us: object | None) -> Link:
        """Return the link, or raise a `ValueError` whose text follows the name of the edge."""
        ends = (self._number(source), self._number(target))
        if ends[0] == ends[1]:
            raise ValueError(" is a self-loop; remove it")
        amount = self._bandwidth(bandwidth)
        latency = None if latency_us is None else _latency(latency_us)
        if latency is not None and latency < 0:
            raise ValueError(f": latency_us {shown(latency_us)} must be 0 or more")
        return Link(*ends, amount, latency)

    def _number(self, node: NodeId) -> int:
        if type(node) is str and (known := self._numbers.get(node)) is not None:
            return known
        plain = _plain(node)
        number = self._numbers.get(plain) if _is_id(plain) else None
        if number is None:
            hint = near_id(plain, self._numbers)
            raise ValueError(f": there is no node {shown(node)}; {hint}add the node or fix the edge")
        return number

    def _bandwidth(self, value: object) -> Fraction:
        """Return the exact bandwidth; large networks have few different ones, so that each is converted once."""
        if value is not self._last[0]:
            self._last = (value, self._known_or_converted(value))
        return self._last[1]

    def _known_or_converted(self, value: object) -> Fraction:
        if type(value) not in {int, str, Fraction}:
            return self._converted(value)
        key = (type(value), value)
        if (known := self._bandwidths.get(key)) is None:
            known = self._bandwidths[key] = self._converted(value)
        return known

    def _converted(self, value: object) -> Fraction:
        try:
            amount = bandwidth_in(self._bandwidth_unit, value)
        except ValueError as error:
            raise ValueError(f": bandwidth {shown(value)} {error}") from None
        if amount.numerator <= 0:
            raise ValueError(f": bandwidth {shown(value)} must be greater than 0; leave a failed link out")
        return amount

    def _merge(self, link: Link) -> None:
        code = _code(link)
        present = self._links.setdefault(code, link)
        if present is not link:
            latencies = [each.latency_us for each in (present, link) if each.latency_us is not None]
            latency = max(latencies, default=None)
            try:
                bandwidth = to_fraction(present.bandwidth + link.bandwidth)
            except ValueError as error:
                one, other = (shown(self._nodes[node].id) for node in (link.source, link.target))
                raise self._error(
                    f"the sum of parallel edges {one} -> {other} {error}; round their bandwidths"
                ) from None
            self._links[code] = Link(link.source, link.target, bandwidth, latency)

    def _check_denominator(self, topology: Topology) -> None:
        common, bound = 1, 10**MAX_DENOMINATOR_DIGITS
        for denominator in {bandwidth.denominator for bandwidth in topology.bandwidth_classes[0]}:
            common = math.lcm(common, denominator)
            if common >= bound:
                raise self._error(
                    f"the common denominator of the bandwidths has more than {MAX_DENOMINATOR_DIGITS} digits; "
                    "round them to fractions with fewer or common denominators"
                )

    def _check_connected(self, topology: Topology) -> None:
        pair = unreachable_pair(topology, topology.compute)
        if pair is not None:
            one, other = topology.ids(pair)
            raise self._error(
                f"compute node {shown(one)} cannot reach compute node {shown(other)}; add links on the way"
            )


_FINITE = frozenset((int, str, bool, type(None)))
"""Types of attributes that JSON can always represent."""


def _code(link: Link) -> int:
    """Return a number for the ends of a link. Numbers are in the order of (source, target)."""
    return link.source << 32 | link.target


def _plain(node: NodeId) -> NodeId:
    """Return an integer of NumPy as a Python integer, which JSON can represent, and any other value unchanged."""
    other: object = node
    if isinstance(other, int | str):
        return node
    return int(other) if isinstance(other, Integral) else node


def _is_id(node: object) -> bool:
    # True and 1.0 are equal to 1, so that a dict does not distinguish them.
    return isinstance(node, int | str) and not isinstance(node, bool)


def _attribute_problem(value: object) -> str | None:
    """Return why JSON cannot represent an attribute, and what to do, or None. It is examined level by level."""
    level = [value]
    for _ in range(MOST_NESTED):
        inside: list[object] = []
        for each in level:
            if isinstance(each, float) and not _is_finite(each):
                return f"holds {shown(each)}, which JSON cannot represent; use a finite number"
            if isinstance(each, Mapping):
                inside += each.values()
            elif isinstance(each, list | tuple):
                inside += each
        if not inside:
            return None
        level = inside
    return f"is nested more than {MOST_NESTED} levels deep; flatten it or leave it out"


def _is_finite(value: float) -> bool:
    # a number such as 1e999 is written with the digits that were read
    return value.text.lstrip("-")[:1].isdigit() if isinstance(value, WrittenFloat) else math.isfinite(value)


def _latency(value: object) -> Fraction:
    try:
        return to_fraction(value)
    except ValueError as error:
        raise ValueError(f": latency_us {shown(value)} {error}; write a number such as 25 or '25/3'") from None
