"""The backend "forestcoll" of `torch.distributed`: makes groups, and gives them new schedules when the network changes.

The default group agrees on the network: rank 0 names it, and every rank checks. Other groups take their part of it.
"""

import atexit
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import torch.distributed as dist

from forestcoll.base.errors import ForestcollError, InputError
from forestcoll.base.version import __version__
from forestcoll.runtime.cuda_table import INNER
from forestcoll.runtime.environment import host_here
from forestcoll.runtime.torch_store import TorchStore
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.hashing import topology_hash
from forestcoll.torch.addresses import address_of
from forestcoll.torch.calls.accelerators import ACCELERATORS, accelerator_here
from forestcoll.torch.calls.inner import Meeting, inner_group
from forestcoll.torch.calls.paths import PathCount, log
from forestcoll.torch.group import ForestcollProcessGroup
from forestcoll.torch.network import RankedTopology, misplaced, network_of, rank_map
from forestcoll.torch.options import AUTO, Options, cache_folder, completed
from forestcoll.torch.schedules.agreement import Agreement
from forestcoll.torch.schedules.engines import Engines, Seat
from forestcoll.torch.slots.choice import Place, Slots

NAME = "forestcoll"


class BackendGroup:
    """A group of this process with what it was made of.

    Attributes:
        group: the process group.
        options: of the group, with the values of the environment.
        store: the store of the group, for this time that it was made.
        timeout: of the group, in seconds.
        network: the network that the group runs on.
        generation: its number: replan makes another.
    """

    def __init__(self, group: ForestcollProcessGroup, options: Options, store: dist.Store, timeout: float) -> None:
        self.group, self.options, self.store, self.timeout = group, options, store, timeout
        self.network: RankedTopology | None = None
        self.generation = 0

    def agreement(self) -> Agreement:
        """Return an agreement on the next network of the group."""
        self.generation += 1
        return Agreement(self.part_of_store(), self.group.rank(), self.group.size(), self.timeout)

    def part_of_store(self) -> TorchStore:
        """Return the part of the store for the present network."""
        return TorchStore(self.store, _prefix(self.generation))


_members: list[BackendGroup] = []


def _prefix(generation: int) -> str:
    return f"forestcoll/{generation}/"


def register() -> None:
    """Make the backend known to torch; more than once does no harm."""
    if not hasattr(dist.Backend, NAME.upper()):
        dist.Backend.register_backend(NAME, create, extended_api=True, devices=["cpu", *ACCELERATORS])
        atexit.register(_close_all)


def create(torch_options: Any, pg_options: Options | None) -> ForestcollProcessGroup:
    """Return a new group: what torch calls for the backend "forestcoll".

    Args:
        torch_options: rank, size, store, timeout, name and ranks, from torch.
        pg_options: the caller's; None for those of the default group, or of the environment.

    Raises:
        InputError: no topology is given, or it does not fit the ranks.
        CommunicationError: a rank did not come in time, or has other schedules or options.
    """
    rank, size = torch_options.group_rank, torch_options.group_size
    world = _world() if torch_options.global_ranks_in_group and pg_options is None else None
    options = completed(pg_options) if world is None else world.options
    address, timeout = address_of(options.interface), torch_options.timeout
    store = _fresh(torch_options.store, size)
    agreement = Agreement(TorchStore(store, _prefix(0)), rank, size, timeout.total_seconds())
    network = None if world is None else world.network
    if network is None:
        network = agreed_network(agreement, address, partial(_proposed, options, rank, size))
    ranks = list(torch_options.global_ranks_in_group) or list(range(size))
    inner = inner_group(Meeting(store, rank, size, timeout, address))
    group = ForestcollProcessGroup(torch_options.group_id, ranks, inner)
    member = BackendGroup(group, options, store, timeout.total_seconds())
    try:
        install(member, network, agreement)
    except BaseException:
        group.shutdown()
        raise
    _members.append(member)
    group.when_closed(partial(_members.remove, member))
    return group


def _fresh(store: dist.Store, size: int) -> dist.Store:
    """Return a part of the store that no earlier group of this name has used."""
    before = store.add("forestcoll/entries", 1) - 1
    return dist.PrefixStore(f"forestcoll/{before // size}/", store)


def _proposed(options: Options, rank: int, size: int) -> RankedTopology | None:
    """Return the network that the options name; None where another rank than 0 has no topology."""
    if options.topology is None and rank > 0:
        return None
    return network_of(options, dist.get_world_size() if dist.is_initialized() else size)


def agreed_network(agreement: Agreement, address: str, propose: Callable[[], RankedTopology | None]) -> RankedTopology:
    """Return the network that rank 0 proposes; the others propose the same or none. Rank 0 of the world prints it.

    Args:
        agreement: with the other ranks.
        address: of this rank.
        propose: returns the proposal of this rank; only rank 0 must have one.

    Raises:
        InputError: the proposal of a rank is wrong, or differs.
        CommunicationError: a rank did not come in time.
    """
    mine, fault = None, None
    try:
        mine = propose()
    except InputError as error:
        fault = str(error)
    stated = None if mine is None else {"topology": topology_hash(mine.topology), "nodes": list(mine.nodes)}
    host = host_here()
    agreement.report({"stated": stated, "fault": fault, "host": host, "address": address, "version": __version__})

    def lead() -> bytes:
        if mine is None:
            raise InputError(fault or "rank 0 names no network")
        reports = agreement.reports()
        for rank, report in enumerate(reports):
            _check_report(rank, report, reports[0])
        check_addresses([(str(report["host"]), str(report["address"])) for report in reports])
        if len(reports) == len(mine.nodes):
            _print_map(mine, [str(report["host"]) for report in reports])
        return mine.to_bytes()

    return RankedTopology.from_bytes(agreement.share("network", lead))


def _check_report(rank: int, report: Mapping[str, object], leading: Mapping[str, object]) -> None:
    if report["version"] != leading["version"]:
        raise InputError(
            f"rank {rank} has forestcoll {report['version']}, rank 0 has {leading['version']}; install one version"
        )
    if report["fault"] is not None:
        raise InputError(f"rank {rank}: {report['fault']}")
    stated = report["stated"]
    if isinstance(stated, Mapping) and stated != leading["stated"]:
        raise InputError(
            f"rank {rank} names another topology, or other nodes, than rank 0; give all ranks the same, or rank 0 only"
        )


def check_addresses(listed: Sequence[tuple[str, str]]) -> None:
    """Check that no rank listens on loopback only, if ranks are on several hosts.

    Args:
        listed: of each rank its host and its address.

    Raises:
        InputError: a rank cannot be reached from another host.
    """
    for rank, (host, address) in enumerate(listed):
        other = next((each for each, (name, _) in enumerate(listed) if name != host), None)
        if other is not None and ip_address(address).is_loopback:
            raise InputError(
                f"rank {rank} on {host} has the address {address}, which rank {other} on {listed[other][0]} cannot "
                "reach; name its network interface by Options(interface=…) or FORESTCOLL_INTERFACE"
            )


def _print_map(network: RankedTopology, hosts: list[str]) -> None:
    sys.stderr.write(f"forestcoll: {rank_map(network, hosts)}\n")
    for warning in misplaced(network, hosts):
        log.warning("%s", warning)


def install(member: BackendGroup, network: RankedTopology, agreement: Agreement) -> None:
    """Let the group run on its part of `network`.

    Raises:
        CommunicationError: the ranks do not come together.
        InputError: a tuning table is wrong.
    """
    group, options = member.group, member.options
    member.network = network
    if group.size() == 1:
        group.use(None, "the group has one rank")
        return
    try:
        topology = network.part(group.ranks)
    except InputError as error:
        group.use(None, f"the topology cannot serve this group: {error}")
        return
    seat = Seat(
        name=f"{group.name_in_torch}.{member.generation}",
        rank=group.rank(),
        store=member.part_of_store(),
        timeout=member.timeout,
        address=address_of(options.interface),
        links=_links_in(topology, network, options),
        pacing=bool(options.pacing),
        cache=cache_folder(options),
        secret=options.secret,
    )
    whole = topology is network.topology
    tables = [Path(path) for path in options.tuning or ()] if whole else []
    engines = Engines(seat, topology, agreement, tables)
    try:
        slots = _slots(member, seat, topology, agreement)
    except BaseException:
        engines.close(0.0)
        raise
    group.use(engines, slots=slots)


def _slots(member: BackendGroup, seat: Seat, topology: Topology, agreement: Agreement) -> Slots | None:
    """Return what moves CUDA tensors, as rank 0 has chosen; None for the inner group."""
    options = member.options
    mine = f"{options.cuda} {options.cuda_device}"
    cuda, device = agreement.share("cuda", mine.encode).decode().split()
    is_whole = member.network is not None and topology is member.network.topology
    gpu = accelerator_here()
    if cuda == INNER or (cuda == AUTO and not is_whole) or (device != "cpu" and gpu is None):
        return None
    device = "cpu" if device == "cpu" or gpu is None else gpu.device
    store = dist.PrefixStore(f"{_prefix(member.generation)}slots/", member.store)
    table = None if options.cuda_table is None else Path(options.cuda_table)
    return Slots(Place(cuda, table, device, store, seat), topology, agreement)


def _links_in(topology: Topology, network: RankedTopology, options: Options) -> dict[NodeId, str]:
    """Return the addresses by link, without those of nodes that a part of the network does not have."""
    links = {} if options.links is None else dict(options.links)
    for link in links:
        network.topology.named(link)  # raises where there is no such node at all
    return {link: address for link, address in links.items() if topology.find(link) is not None}


def member_of(group: dist.ProcessGroup | None) -> BackendGroup:
    """Return what belongs to a group, the default one if it is None.

    Raises:
        InputError: it is no group of this backend.
    """
    chosen = dist.group.WORLD if group is None else group
    for member in members():
        if member.group is chosen:
            return member
    raise InputError("the group is not of the backend forestcoll; make it by init_process_group('forestcoll', …)")


def members() -> list[BackendGroup]:
    """Return what belongs to each group of this process that was not destroyed, in the order of making."""
    return list(_members)


def paths(group: dist.ProcessGroup | None = None) -> tuple[PathCount, ...]:
    """Return how often each operation took which path, and why.

    Args:
        group: one group; all groups of this process if None. Groups that were destroyed have no counts.

    Returns:
        The counts, by group, operation, path and reason.

    Raises:
        InputError: `group` is no group of this backend.

    Example:
        With a group, `[(each.operation, each.path, each.count) for each in forestcoll.torch.paths()]` is for instance
        `[("all_reduce", "forestcoll", 12)]`. Without one, there is nothing to count:

        >>> import forestcoll.torch
        >>> forestcoll.torch.paths()
        ()
    """
    chosen = members() if group is None else [member_of(group)]
    return tuple(each for member in chosen for each in member.group.counter.counts())


def _world() -> BackendGroup | None:
    world = dist.group.WORLD if dist.is_initialized() else None
    return next((member for member in members() if member.group is world), None)


def _close_all() -> None:
    for member in members():
        try:
            member.group.shutdown()
        except (ForestcollError, RuntimeError):
            log.debug("a group was not closed cleanly", exc_info=True)
