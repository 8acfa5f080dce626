"""Attributes of nodes for port models: bandwidths that the links of a node share, and switches that are part of a node.

- `send_bandwidth` and `receive_bandwidth` of a compute node limit the sum of the bandwidths of all its links at a time.
  Here they count in the port model `bounded-multi-port`; otherwise they become links (`node_limits`).
- `port_of` of a switch is the id of a compute node. The links of the switch use the ports of that node, as if they
  began or ended on it. The links between the two are stages of a send or of a receive in the node itself.
"""

from collections.abc import Mapping
from fractions import Fraction

from forestcoll.base.errors import InputError, nearest, shown
from forestcoll.base.exact import to_fraction
from forestcoll.base.units import bandwidth_in
from forestcoll.topology.model import BOUNDED, Topology

SEND_LIMIT, RECEIVE_LIMIT = "send_bandwidth", "receive_bandwidth"
NODE_LIMITS = frozenset({SEND_LIMIT, RECEIVE_LIMIT})
PORT_OF = "port_of"


def shared_bandwidths(topology: Topology, attribute: str) -> Mapping[int, Fraction]:
    """Return the value of `SEND_LIMIT` or `RECEIVE_LIMIT` of each compute node that has it, in the topology's unit.

    The result is empty if the port model is not `BOUNDED`.

    Raises:
        InputError: a value is not a number above 0, with or without a unit.
    """
    if topology.port_model != BOUNDED:
        return {}
    _check_names(topology)
    values = {node: topology.nodes[node].attributes.get(attribute) for node in topology.compute}
    return {
        node: positive(topology, node, attribute, value, unit=topology.bandwidth_unit)
        for node, value in values.items()
        if value is not None
    }


def _check_names(topology: Topology) -> None:
    """Check that no attribute of a compute node looks like a misspelt limit, which would be ignored."""
    for node in topology.compute:
        attributes = topology.nodes[node].attributes
        for name in attributes:
            meant = nearest(name, (SEND_LIMIT, RECEIVE_LIMIT))
            if meant is not None and meant not in attributes:
                place = f"{topology.name}: node {shown(topology.nodes[node].id)}"
                raise InputError(f"{place} has {shown(name)}, which is not a limit; did you mean {meant!r}?")


def positive(topology: Topology, node: int, attribute: str, value: object, *, unit: str | None = None) -> Fraction:
    """Return an attribute of a node as a number above 0; with `unit`, a text may have its own unit of bandwidth.

    Raises:
        InputError: the value is not such a number.
    """
    place = f"{topology.name}: node {shown(topology.nodes[node].id)}: {attribute} {shown(value)}"
    try:
        number = to_fraction(value) if unit is None else bandwidth_in(unit, value)
    except ValueError as error:
        raise InputError(f"{place} {error}") from None
    if number <= 0:
        raise InputError(f"{place} must be greater than 0; leave it out if there is none")
    return number


def link_ends(topology: Topology, link: int) -> tuple[int | None, int | None]:
    """Return the compute nodes whose ports a link uses to send and to receive; None for a switch of its own.

    Raises:
        InputError: `port_of` of a switch is not the id of a compute node.
    """
    ends = topology.links[link]
    sender, receiver = _owner(topology, ends.source), _owner(topology, ends.target)
    if sender != receiver or sender is None:
        return sender, receiver
    return (sender, None) if topology.nodes[ends.source].is_compute else (None, receiver)


def _owner(topology: Topology, node: int) -> int | None:
    """Return the compute node that a node is or is a part of."""
    described = topology.nodes[node]
    owner = described.attributes.get(PORT_OF)
    if described.is_compute or owner is None:
        return node if described.is_compute else None
    numbers = {topology.nodes[each].id: each for each in topology.compute}
    if isinstance(owner, bool) or not isinstance(owner, int | str) or owner not in numbers:
        place = f"{topology.name}: switch {shown(described.id)}: {PORT_OF} is {shown(owner)}"
        raise InputError(f"{place}; write the id of a compute node")
    return numbers[owner]
