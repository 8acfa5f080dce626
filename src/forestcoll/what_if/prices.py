"""Prices of bandwidth: what 1 more of bandwidth each way costs on a link, in any currency."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from forestcoll.base.errors import InputError, require_kind, shown
from forestcoll.base.exact import to_fraction
from forestcoll.topology import Topology
from forestcoll.topology.changes import part_named
from forestcoll.topology.failures import PartKind, parts_of
from forestcoll.topology.link_classes import Ends, is_nic, nic_name

NIC = "nic"
"""The name of the links of all NICs, as `--fail nics` finds them."""


def prices_of(topology: Topology, texts: Sequence[str]) -> Mapping[Ends, Fraction]:
    """Return the price of 1 more of bandwidth each way, in the unit of the network, for each link that has one.

    Args:
        topology: the network.
        texts: `LINKS=PRICE`, in which LINKS is `nic`, or a link, a class of links, a node or a box as `--without` names
            them. A later text overrules an earlier one.

    Example:
        >>> from forestcoll import load_topology
        >>> prices = prices_of(load_topology("dgx-a100:boxes=2"), ["nic=20", "b0/gpu0--ib=30"])
        >>> len(prices), prices[0, 18]
        (16, Fraction(30, 1))

    Raises:
        InputError: there are no such links, or a price is not a number greater than 0.
    """
    found: dict[Ends, Fraction] = {}
    require_kind(texts, list | tuple, "prices", "a list of texts such as 'nic=20'")
    for text in texts:
        require_kind(text, str, "a price", "a text such as 'nic=20'")
        name, separator, value = text.rpartition("=")
        try:
            price = to_fraction(value.strip()) if separator else Fraction(0)
        except ValueError:
            price = Fraction(0)
        if price <= 0:
            expected = "expected LINKS=PRICE, a number greater than 0 of at most 60 digits, as in nic=20"
            raise InputError(f"price {shown(text)}: {expected}")
        if name.strip().lower() in (NIC, PartKind.NICS):
            links = [ends for part in parts_of(topology, PartKind.NICS) for ends in part.links]
            found |= {ends: price / _directions(topology, ends) for ends in links}
        else:
            found |= dict.fromkeys(part_named(topology, name.strip()).links, price)
    return found


def _directions(topology: Topology, ends: Ends) -> int:
    """Return 2 if a link has one direction of a NIC only: such a NIC is two nodes, which share its price."""
    nics = [node for node in map(topology.nodes.__getitem__, ends) if is_nic(node)]
    return 2 if any(nic_name(node) != node.id for node in nics) else 1
