"""New schedules for a network that has changed, while a job runs."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import torch.distributed as dist

from forestcoll.base.errors import InputError, shown
from forestcoll.base.units import bandwidth_in
from forestcoll.topology import NodeId, Topology, TopologyLike
from forestcoll.topology.registry import load_topology
from forestcoll.torch.addresses import address_of
from forestcoll.torch.backend import Member, agreed_network, install, member_of, members
from forestcoll.torch.network import Network, placed

Ends = tuple[NodeId, NodeId]


def replan(
    topology: TopologyLike | None = None,
    *,
    without: Iterable[Ends] = (),
    degrade: Mapping[Ends, object] | None = None,
    group: dist.ProcessGroup | None = None,
) -> Topology:
    """Compute the schedules again for a network that has changed, and go on with these.

    All ranks of the group call it between two operations, with the same arguments. It also takes a group back to work
    that has failed, if all its processes live: after a dead link, call it on all ranks with what is left.

    Args:
        topology: the network as it is now; None for the present one. It has the same compute nodes.
        without: links that have failed, as pairs of node ids; both directions are taken out.
        degrade: links with their new bandwidths, by pairs of node ids, in the topology's unit or as text with a unit;
            both directions get it.
        group: the group; the default one and all others of this process if None.

    Returns:
        The network now in use.

    Raises:
        InputError: a link is unknown, or the ranks do not reach each other any more; the group keeps its schedules.
        CommunicationError: a rank did not call it in time.

    Example:
        >>> forestcoll.torch.replan(degrade={("b0/gpu0", "ib"): "10GB/s"})  # doctest: +SKIP
    """
    chosen = members() if group is None else [member_of(group)]
    if not chosen:
        raise InputError("there is no group of the backend forestcoll; call init_process_group('forestcoll', …) first")
    removed, degraded = tuple(without), degrade or {}
    networks = [_replanned(member, topology, removed, degraded) for member in chosen]
    return networks[0]


def _replanned(
    member: Member, topology: TopologyLike | None, without: Collection[Ends], degrade: Mapping[Ends, object]
) -> Topology:
    present = member.network
    if present is None:
        raise InputError("the group has no network; it was not made completely")
    nodes = present.topology.ids(present.nodes)

    def propose() -> Network:
        base = present.topology if topology is None else load_topology(topology, connected=False)
        changed = changed_topology(base, without, degrade)
        network = Network(changed, placed(changed, nodes, len(nodes)))
        if len(member.group.ranks) == len(nodes):
            network.part(member.group.ranks)  # raises where ranks do not reach each other any more
        return network

    member.group.finish()
    agreement = member.agreement()
    network = agreed_network(agreement, address_of(member.options.interface), propose)
    member.options = replace(member.options, tuning=None)  # the tables were made for the old network
    install(member, network, agreement)
    return network.topology


def changed_topology(topology: Topology, without: Collection[Ends], degrade: Mapping[Ends, object]) -> Topology:
    """Return `topology` without some links, and with other bandwidths on some.

    Raises:
        InputError: a link is unknown, or a bandwidth cannot be read.

    Example:
        >>> from forestcoll import load_topology
        >>> len(changed_topology(load_topology("ring:nodes=4"), [(0, 1)], {}).links)
        6
    """
    removed = {pair for ends in without for pair in _pairs(topology, ends)}
    bandwidths = {
        pair: _bandwidth(topology, ends, value) for ends, value in degrade.items() for pair in _pairs(topology, ends)
    }
    links = tuple(
        replace(link, bandwidth=bandwidths.get((link.source, link.target), link.bandwidth))
        for link in topology.links
        if (link.source, link.target) not in removed
    )
    return topology if links == topology.links else replace(topology, links=links)


def _pairs(topology: Topology, ends: Ends) -> list[tuple[int, int]]:
    """Return the links between two nodes, as pairs of numbers."""
    one, other = (topology.named(end) for end in ends)
    pairs = topology.link_numbers
    found = [pair for pair in ((one, other), (other, one)) if pair in pairs]
    if not found:
        raise InputError(f"{topology.name}: there is no link between {shown(ends[0])} and {shown(ends[1])}")
    return found


def _bandwidth(topology: Topology, ends: Ends, value: object) -> Fraction:
    where = f"{topology.name}: link between {shown(ends[0])} and {shown(ends[1])}: bandwidth {shown(value)}"
    try:
        bandwidth = bandwidth_in(topology.bandwidth_unit, value)
    except ValueError as error:
        raise InputError(f"{where} {error}") from None
    if bandwidth <= 0:
        raise InputError(f"{where} must be greater than 0; name a dead link in `without`")
    return bandwidth
