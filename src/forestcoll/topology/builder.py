"""All the validation of a network, in one place: a mutable builder that ends in one frozen `Topology`.

File readers, builders of machines and families, and callers all come through here, so that a rule is written once
and a message names the node or the edge and the value however the network arrived.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from numbers import Integral
from types import MappingProxyType

from forestcoll.errors import InputError, shown
from forestcoll.exact import WrittenFloat, to_fraction
from forestcoll.topology.model import Link, Node, NodeId, NodeKind, Topology, near_id
from forestcoll.topology.reach import unreachable_pair
from forestcoll.units import BANDWIDTH_UNIT, bandwidth_in

PORT_MODELS = ("one-port",)

MAX_DENOMINATOR_DIGITS = 1800
"""The most digits of the bandwidths' common denominator: sums of them, and the optimum, are that long.

An optimum of this length, for a number of trees that the solver takes, stays within the 4,000 digits of a result.
"""


class TopologyBuilder:
    """Collects nodes and links, refuses bad ones at once, and checks the whole in `build`.

    Args:
        name: what the network is called in output.
        bandwidth_unit: the unit of every bandwidth.
        port_model: None, or `"one-port"`.
        attributes: further attributes of the graph, kept as they are.
        where: what error messages begin with: the file's name, or `name` if it is None.

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
        self._where = name if where is None else where
        if port_model is not None and port_model not in PORT_MODELS:
            raise self._error(f"port_model is {shown(port_model)}; leave it out or say 'one-port'")
        self._name = name
        self._bandwidth_unit = bandwidth_unit
        self._port_model = port_model
        self._attributes = dict(attributes or {})
        self._check_attributes("graph", self._attributes)
        self._nodes: list[Node] = []
        self._numbers: dict[NodeId, int] = {}
        self._links: dict[tuple[int, int], Link] = {}

    def add_compute(self, node: NodeId, /, **attributes: object) -> NodeId:
        """Add a compute node and return its id."""
        for ability in ("multicast", "aggregation"):
            if attributes.get(ability):
                raise self._error(f"compute node {shown(node)}: only a switch can have {ability}; make it one")
        return self._add(node, NodeKind.COMPUTE, attributes, multicast=False, aggregation=False)

    def add_switch(
        self, node: NodeId, /, *, multicast: bool = False, aggregation: bool = False, **attributes: object
    ) -> NodeId:
        """Add a switch and return its id."""
        return self._add(node, NodeKind.SWITCH, attributes, multicast=multicast, aggregation=aggregation)

    def add_link(self, source: NodeId, target: NodeId, bandwidth: object, *, latency_us: object | None = None) -> None:
        """Add a one-way link. Its bandwidth adds to that of a link already there; the longer latency holds.

        Args:
            source: the id of the node that sends.
            target: the id of the node that receives.
            bandwidth: a number in the network's unit, as `exact.to_fraction` takes it, or a text with a unit of its
                own, such as `"400Gb/s"`, which is converted exactly.
            latency_us: microseconds; None if nothing is known of it.

        Raises:
            InputError: an unknown end, a self-loop, or a bandwidth or latency that is not a number of the right
                size or has a unit that cannot be converted.
        """
        try:
            link = self._link(source, target, bandwidth, latency_us)
        except ValueError as error:
            raise self._error(f"edge {shown(source)} -> {shown(target)}{error}") from None
        self._merge(link)

    def add_duplex(self, one: NodeId, other: NodeId, bandwidth: object, *, latency_us: object | None = None) -> None:
        """Add a full-duplex link: `bandwidth` in each direction at once. Raises like `add_link`."""
        self.add_link(one, other, bandwidth, latency_us=latency_us)
        self.add_link(other, one, bandwidth, latency_us=latency_us)

    def build(self, *, connected: bool = True) -> Topology:
        """Return the frozen topology.

        Args:
            connected: whether compute nodes must all reach each other; a collective over a part of them asks less.

        Raises:
            InputError: fewer than two compute nodes, two compute nodes of which one cannot reach the other (unless it
                is one-port), or bandwidths whose common denominator has more than `MAX_DENOMINATOR_DIGITS` digits.
        """
        topology = Topology(
            name=self._name,
            nodes=tuple(self._nodes),
            links=tuple(link for _, link in sorted(self._links.items())),
            bandwidth_unit=self._bandwidth_unit,
            port_model=self._port_model,
            attributes=MappingProxyType(self._attributes),
        )
        if len(topology.compute) < 2:
            count = len(topology.compute)
            raise self._error(f"has {count} compute node{'s' * (count != 1)}; a collective needs at least two")
        # A one-port platform serves one source, which need not be reached itself.
        if connected and self._port_model is None:
            self._check_connected(topology)
        self._check_denominator()
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
        self._check_attributes(f"node {shown(node)}", attributes)
        self._numbers[node] = len(self._nodes)
        self._nodes.append(Node(node, kind, multicast, aggregation, MappingProxyType(dict(attributes))))
        return node

    def _check_attributes(self, what: str, attributes: Mapping[str, object]) -> None:
        for name, value in attributes.items():
            if (number := _not_finite(value)) is not None:
                raise self._error(f"{what}: {name} holds {shown(number)}, which is no JSON; give it a finite number")

    def _link(self, source: NodeId, target: NodeId, bandwidth: object, latency_us: object | None) -> Link:
        """Return the link, or raise a `ValueError` whose text follows the name of the edge."""
        ends = (self._number(source), self._number(target))
        if ends[0] == ends[1]:
            raise ValueError(" is a self-loop; remove it")
        amount = self._bandwidth(bandwidth)
        if amount <= 0:
            raise ValueError(f": bandwidth {shown(bandwidth)} must be greater than 0; leave a dead link out")
        latency = None if latency_us is None else _latency(latency_us)
        if latency is not None and latency < 0:
            raise ValueError(f": latency_us {shown(latency_us)} must be 0 or more")
        return Link(*ends, amount, latency)

    def _number(self, node: NodeId) -> int:
        number = self._numbers.get(_plain(node)) if _is_id(_plain(node)) else None
        if number is None:
            hint = near_id(_plain(node), self._numbers)
            raise ValueError(f": there is no node {shown(node)}; {hint}add the node or fix the edge")
        return number

    def _bandwidth(self, value: object) -> Fraction:
        try:
            return bandwidth_in(self._bandwidth_unit, value)
        except ValueError as error:
            raise ValueError(f": bandwidth {shown(value)} {error}") from None

    def _merge(self, link: Link) -> None:
        ends = (link.source, link.target)
        present = self._links.get(ends)
        if present is not None:
            latencies = [each.latency_us for each in (present, link) if each.latency_us is not None]
            link = Link(*ends, present.bandwidth + link.bandwidth, max(latencies, default=None))
        self._links[ends] = link

    def _check_denominator(self) -> None:
        common, bound = 1, 10**MAX_DENOMINATOR_DIGITS
        for denominator in {link.bandwidth.denominator for link in self._links.values()}:
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


def _plain(node: NodeId) -> NodeId:
    """Return an integer that numpy made as one of Python's, which JSON can write, and anything else as it is."""
    other: object = node
    if isinstance(other, int | str):
        return node
    return int(other) if isinstance(other, Integral) else node


def _is_id(node: object) -> bool:
    # True and 1.0 equal 1, and would pass for it in a dict.
    return isinstance(node, int | str) and not isinstance(node, bool)


def _not_finite(value: object) -> float | None:
    """Return the first number in an attribute that JSON cannot write, or None."""
    if isinstance(value, float):
        # a number as large as 1e999 is written as it was read
        finite = value.text.lstrip("-")[:1].isdigit() if isinstance(value, WrittenFloat) else math.isfinite(value)
        return None if finite else value
    if isinstance(value, Mapping):
        return next((each for each in map(_not_finite, value.values()) if each is not None), None)
    if isinstance(value, list | tuple):
        return next((each for each in map(_not_finite, value) if each is not None), None)
    return None


def _latency(value: object) -> Fraction:
    try:
        return to_fraction(value)
    except ValueError as error:
        raise ValueError(f": latency_us {shown(value)} {error}; write a number such as 25 or '25/3'") from None
