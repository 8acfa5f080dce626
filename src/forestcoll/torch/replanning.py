"""New schedules for a network that has changed, while a job runs."""

from collections.abc import Sequence
from dataclasses import replace

import torch.distributed as dist

from forestcoll.base.errors import InputError
from forestcoll.runtime.cuda_table import SLOTS
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.changes import changed_network
from forestcoll.topology.registry import load_topology
from forestcoll.torch.addresses import address_of
from forestcoll.torch.backend import BackendGroup, agreed_network, install, member_of, members
from forestcoll.torch.network import RankedTopology, placed
from forestcoll.torch.options import AUTO


def replan(
    topology: TopologyLike | None = None,
    *,
    without: Sequence[str] = (),
    degrade: Sequence[str] = (),
    group: dist.ProcessGroup | None = None,
) -> Topology:
    """Compute the schedules again for a network that has changed, and go on with these.

    For example, after a link has become slower: `forestcoll.torch.replan(degrade=["b0/gpu0--ib=10GB/s"])`.

    All ranks of the group call it between two operations, with the same arguments. It also takes a group back to work
    that has failed, if all its processes live: after a link has failed, call it on all ranks with what is left.

    Args:
        topology: the network as it is now; None for the present one. It has the same compute nodes.
        without: parts that have failed, by their names, as for `Topology.without`; no compute node of the group.
        degrade: parts with another bandwidth, each as `NAME=BANDWIDTH`, in the topology's unit or with a unit, or as
            `NAME=50%`.
        group: the group; the default one and all others of this process if None.

    Returns:
        The network now in use.

    Raises:
        InputError: a part is unknown, or the ranks do not reach each other any more; the group keeps its schedules.
        CommunicationError: a rank did not call it in time.
    """
    chosen = members() if group is None else [member_of(group)]
    if not chosen:
        raise InputError("there is no group of the backend forestcoll; call init_process_group('forestcoll', …) first")
    networks = [_replanned(member, topology, without, degrade) for member in chosen]
    return networks[0]


def _replanned(
    member: BackendGroup, topology: TopologyLike | None, without: Sequence[str], degrade: Sequence[str]
) -> Topology:
    present = member.network
    if present is None:
        raise InputError("the group has no network; it was not made completely")
    nodes = present.topology.ids(present.nodes)

    def propose() -> RankedTopology:
        base = present.topology if topology is None else load_topology(topology, connected=False)
        changed = replace(changed_network(base, without, degrade), name=base.name)
        network = RankedTopology(changed, placed(changed, nodes, len(nodes)))
        if len(member.group.ranks) == len(nodes):
            network.part(member.group.ranks)  # raises where ranks do not reach each other any more
        return network

    member.group.finish()
    agreement = member.agreement()
    network = agreed_network(agreement, address_of(member.options.interface), propose)
    cuda = SLOTS if member.options.cuda == AUTO else member.options.cuda
    member.options = replace(member.options, tuning=None, cuda=cuda)  # tables were made for the old network
    install(member, network, agreement)
    return network.topology
