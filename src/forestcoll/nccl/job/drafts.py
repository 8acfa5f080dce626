"""A communicator while its log is read."""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from forestcoll.base.errors import plural
from forestcoll.nccl.job.communicators import (
    Choice,
    Claims,
    Communicator,
    Connection,
    Gpu,
    Nic,
    Ring,
    ring_of,
    tree_of,
)
from forestcoll.nccl.job.messages import Message, Process
from forestcoll.topology.graph.walks import joined

_MOST_CHANNELS = 128
"""NCCL has at most 64."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A rank of a communicator."""

    draft: "Draft"
    rank: int


@dataclass(eq=False)
class Draft:
    """A communicator while its log is read; statements about it are claims.

    Attributes:
        key: what tells it from others.
        name: the number by which NCCL names it; empty if there is none.
        size: the number of ranks.
        gpus: the first process of each rank, and its GPU.
        others: ranks that a second process has, too.
        waiting: by rank, the connections that no `Connected all` follows yet: channel, source, target, direction, NIC.
    """

    key: Hashable
    name: str
    size: int
    gpus: dict[int, tuple[Process, int | None, str]] = field(default_factory=dict)
    others: set[int] = field(default_factory=set)
    next_ranks: Claims[int] = field(default_factory=Claims)
    parents: Claims[int] = field(default_factory=Claims)
    channel_counts: Claims[int] = field(default_factory=Claims)
    host_counts: Claims[int] = field(default_factory=Claims)
    waiting: dict[int, list[tuple[int, int, int, str, int | None]]] = field(default_factory=dict)
    nics_of_rings: Claims[int] = field(default_factory=Claims)
    inside: set[tuple[int, int]] = field(default_factory=set)
    choices: dict[Choice, None] = field(default_factory=dict)
    sections: dict[tuple[Process, int], list[str] | None] = field(default_factory=dict)
    systems: dict[Process, tuple[str, ...]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def seat(self, rank: int, message: Message, gpu: re.Match[str] | None) -> None:
        """Note which process has a rank, and which GPU."""
        process, device, bus = self.gpus.get(rank, (message.process, None, ""))
        if process != message.process:
            self.others.add(rank)
            return
        self.gpus[rank] = (process, device, bus) if gpu is None else (process, int(gpu[1]), gpu[2])

    def device(self, rank: int) -> int | None:
        """Return the CUDA device of a rank, if it is known."""
        return self.gpus[rank][1] if rank in self.gpus else None

    def ring(self, channel: int, order: Sequence[int], witness: Hashable) -> None:
        """Note a part of a ring, or all of it."""
        for rank, after in pairwise(order):
            self.next_ranks.add((channel, rank), after, witness)
        if len(order) == self.size:
            self.next_ranks.add((channel, order[-1]), order[0], witness)

    def tree(self, channel: int, rank: int, parent: int, children: Sequence[int], witness: Hashable) -> None:
        """Note the place of a rank in a tree."""
        self.parents.add((channel, rank), parent, witness)
        for child in children:
            if child >= 0:
                self.parents.add((channel, child), rank, witness)

    def connect(self, rank: int, process: Process, *, are_rings: bool) -> None:
        """Note the connections that wait, if they are those of rings."""
        for channel, source, target, direction, nic in self.waiting.pop(rank, ()):
            if nic is None and not direction:
                self.inside.add((source, target))
            if not are_rings or rank != (target if direction == "receive" else source):
                continue
            self.ring(channel, [source, target], (process, "connection"))
            if nic is not None:
                self.nics_of_rings.add((channel, source, target, direction), nic, process)

    def system(self, message: Message) -> None:
        """Note a line of the system of the host of a process."""
        place, text = (message.process, message.thread), message.text.rstrip()
        if text.startswith("=== System"):
            self.sections[place] = [] if not message.is_cut else None
        elif (section := self.sections.get(place)) is not None:
            if message.is_cut:
                self.sections[place] = None
            elif text.startswith("==="):
                self.systems[message.process] = tuple(section)
                del self.sections[place]
            else:
                section.append(text)

    def settled(
        self,
        versions: Claims[str],
        host_names: Mapping[Process, str],
        nics: Mapping[Process, Mapping[tuple[str, int], str]],
    ) -> Communicator:
        """Return what all statements together say."""
        seats = sorted(self.gpus.items())
        names = {rank: host_names.get(process, process.host) for rank, (process, _, _) in seats}
        found = {versions.settled(process) for _, (process, _, _) in seats} - {None}
        count = self.channel_counts.settled("channels")
        count = None if count is None or not 0 < count <= _MOST_CHANNELS else count
        numbers = range(count or 0)
        rings = tuple(ring_of(self.next_ranks, channel, self.size) for channel in numbers)
        hosts = self._hosts(names)
        connections = tuple(self._connections(rings))
        devices = {
            (names[rank], *device): name
            for rank, (process, _, _) in seats
            for device, name in nics.get(process, {}).items()
        }
        return Communicator(
            name=self.name,
            version=found.pop() if len(found) == 1 else None,
            size=self.size,
            gpus=tuple(Gpu(rank, names[rank], device, bus) for rank, (_, device, bus) in seats),
            hosts=hosts,
            channels=count,
            rings=rings,
            trees=tuple(tree_of(self.parents, channel, self.size) for channel in numbers),
            nics=tuple(_nics(devices, connections, names)),
            connections=connections,
            choices=tuple(self.choices),
            systems=self._systems(names),
            remarks=tuple(self._remarks(hosts, found)),
        )

    def _hosts(self, names: Mapping[int, str]) -> tuple[tuple[int, ...], ...] | None:
        """Return the ranks of each host: by name or, if their number is not NCCL's, by the connections inside hosts."""
        by_name: dict[str, list[int]] = {}
        for rank, name in names.items():
            by_name.setdefault(name, []).append(rank)
        found = tuple(tuple(ranks) for ranks in by_name.values())
        count = self.host_counts.settled("hosts")
        if len(names) < self.size or count in {None, len(found)}:
            return found
        by_link = joined(range(self.size), sorted(self.inside))
        return tuple(map(tuple, by_link)) if len(by_link) == count else None

    def _connections(self, rings: Sequence[Ring | None]) -> list[Connection]:
        found = []
        for channel, ring in enumerate(rings):
            for source, target in pairwise((*ring, ring[0])) if ring is not None else ():
                ends = [
                    self.nics_of_rings.settled((channel, source, target, direction))
                    for direction in ("send", "receive")
                ]
                found.append(Connection(channel, source, target, *ends))
        return found

    def _systems(self, names: Mapping[int, str]) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Return for each host the systems that its ranks printed; that of most ranks comes first."""
        found: dict[str, Counter[tuple[str, ...]]] = {}
        for rank, (process, _, _) in sorted(self.gpus.items()):
            if process in self.systems:
                found.setdefault(names[rank], Counter())[self.systems[process]] += 1
        return {host: tuple(each for each, _ in counted.most_common()) for host, counted in found.items()}

    def _remarks(self, hosts: object, versions: Collection[str | None]) -> Iterator[str]:
        silent = [rank for rank in range(self.size) if rank not in self.gpus]
        if silent:
            yield f"no line names {plural(len(silent), 'rank')}: {_numbers(silent)}"
        if self.others:
            yield f"two processes have the same rank: {_numbers(sorted(self.others))}; the log may hold two jobs"
        yield from self.remarks
        if hosts is None:
            yield "the names of hosts and the number of hosts that NCCL states differ"
        if len(versions) > 1:
            yield f"the ranks have different versions of NCCL: {', '.join(sorted(map(str, versions)))}"


def _nics(
    devices: Mapping[tuple[str, str, int], str], connections: Sequence[Connection], names: Mapping[int, str]
) -> Iterator[Nic]:
    """Yield the network devices of the hosts of a communicator, with the rings that use them."""
    between = [each for each in connections if names.get(each.source) != names.get(each.target)]
    sends = Counter((names.get(each.source), each.sends_by) for each in between)
    receives = Counter((names.get(each.target), each.receives_by) for each in between)
    for (host, network, device), name in sorted(devices.items()):
        unknown = sends[host, None] + receives[host, None]
        yield Nic(host, network, device, name, sends[host, device], receives[host, device], unknown)


def _numbers(numbers: Sequence[int]) -> str:
    """Return numbers in text, the first ten."""
    more = ", ..." if len(numbers) > 10 else ""
    return ", ".join(map(str, numbers[:10])) + more
