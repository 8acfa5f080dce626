"""Reads what NCCL writes with `NCCL_DEBUG=INFO`: communicators with their ranks, rings, trees and choices.

The lines are those of NCCL 2.28 to 2.32; older versions are read as far as their lines are the same. What a subsystem
adds is read, too: GRAPH (`Ring`, `Tree`, the system), TUNING (choices), ENV (`NCCL_HOSTID`), COLL (the communicator of
a call). `messages.py` tells the messages apart, `communicators.py` settles what they state.

A communicator is named by its `commId` or, after a split, by its parent, the number of the split and the color. The
lines of its beginning are between `Init START` and `Init COMPLETE` of one thread; if the first is lost, they wait for
the last. Lines of calls belong to the communicator that the thread named last, or to the only one of the process.
"""

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from forestcoll.demand.collective import Collective
from forestcoll.nccl.job.communicators import Choice, Claims, Communicator
from forestcoll.nccl.job.drafts import Draft, Seat
from forestcoll.nccl.job.messages import Message, Process, has_messages, messages
from forestcoll.topology.graph.walks import joined

_MOST_RANKS = 2**20

_COMM = re.compile(r"(?:\[Rank \d+\] )?(?:nccl\w+ )?comm (0x[0-9a-f]+) rank (\d+) n[rR]anks (\d+) ")
_GPU = re.compile(r" cudaDev (\d+) (?:nvmlDev \d+ )?busId ([0-9a-f]+) ")
_ID = re.compile(r" commId (0x[0-9a-f]+) - Init ")
_PARENT = re.compile(r" parent (0x[0-9a-f]+) \w+ (\d+) color (-?\d+) key ")
_HOSTS = re.compile(r" nNodes (\d+) ")
_CHANNEL = re.compile(r"Channel (\d+)/(\d+) :((?: +\d+)+) *(\.\.\.)?(.*)")
_CONNECTION = re.compile(
    r"Channel (\d+)(?:/(\d+))? : (\d+)\[\w+\] -> (\d+)\[\w+\] (?:\[(send|receive)\] )?via (?:NET/[^/\n]+/(\d+)[/(]?)?"
)
_TREE = re.compile(r"Tree (\d+) : (-?\d+) -> (\d+) -> (-?\d+)/(-?\d+)/(-?\d+)$")
_TREES = re.compile(r" \[(\d+)\] (-?\d+)/(-?\d+)/(-?\d+)->(\d+)->(-?\d+)(?:\|[-\d/>]*)?(?= |$)")
_RING = re.compile(r"Ring (\d+) : (\d+) -> (\d+) -> (\d+)$")
_COUNT = re.compile(r"(\d+) coll channels, ")
_CHOICE = re.compile(r"(\w+): (\d+) Bytes -> Algo (\w+) proto (\w+) channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}")
_CALL = re.compile(r"\w+: opCount .* comm (0x[0-9a-f]+) \[nranks=\d+\]")
_VERSION = re.compile(r"([NR]CCL) version (?:: ?)?(\d+\.\d+(?:\.\d+)?)(?:[+ ]|$)")
_VERSION_ALONE = re.compile(r"\b([NR]CCL) version (?:: ?)?(\d+\.\d+\.\d+)\b")
"""The version in any line: before 2.28, rank 0 wrote it without the mark of its process."""

_NICS = re.compile(r" \[(\d+)\]([^\s:\[]+)")

_COLLECTIVES = {
    "AllReduce": (Collective.ALLREDUCE, False),
    "AllGather": (Collective.ALLGATHER, True),
    "ReduceScatter": (Collective.REDUCE_SCATTER, True),
    "Broadcast": (Collective.BROADCAST, False),
    "Reduce": (Collective.REDUCE, False),
}
"""The collectives by their names in the log, and whether the bytes are those of one rank."""

_LONGEST = 1023
"""The characters at which NCCL ends a line of trees."""


@dataclass(frozen=True)
class NcclLog:
    """What NCCL wrote into a log.

    Attributes:
        name: how the user named the log.
        communicators: the communicators, the largest first; none if the log has no line of NCCL.
        jobs: the number of groups of processes that share no communicator.
        remarks: what the user should know, in sentences without a period.
    """

    name: str
    communicators: tuple[Communicator, ...]
    jobs: int = 0
    remarks: tuple[str, ...] = ()


def parse_nccl_log(text: str, name: str) -> NcclLog:
    """Return what NCCL wrote into a text, which is no communicator if there are no such lines."""
    if not has_messages(text):
        return NcclLog(name, ())
    reader = _Reader()
    for message in messages(text):
        reader.read(message)
    found = reader.log(name)
    versions = {each[2] for each in _VERSION_ALONE.finditer(text)}
    if len(versions) > 1:
        return found
    version = versions.pop() if versions else None
    return replace(
        found, communicators=tuple(replace(each, version=each.version or version) for each in found.communicators)
    )


_Thread: TypeAlias = tuple[Process, int]


@dataclass
class _Reader:
    """Finds the communicator of each message."""

    drafts: dict[Hashable, Draft] = field(default_factory=dict)
    pointers: dict[tuple[Process, str], Seat] = field(default_factory=dict)
    seats: dict[Process, list[Seat]] = field(default_factory=dict)
    beginning: dict[_Thread, Seat] = field(default_factory=dict)
    calling: dict[_Thread, Seat] = field(default_factory=dict)
    waiting: dict[_Thread, list[Message]] = field(default_factory=dict)
    versions: Claims[str] = field(default_factory=Claims)
    host_names: dict[Process, str] = field(default_factory=dict)
    nics: dict[Process, dict[tuple[str, int], str]] = field(default_factory=dict)
    lives: dict[tuple[str, int], int] = field(default_factory=dict)
    without_communicator: int = 0

    def read(self, message: Message) -> None:
        """Read one message."""
        process = message.process
        if (life := self.lives.get(process[:2], 0)) != process.life:
            message = message._replace(process=process._replace(life=life))
        for beginning, reader in _READERS:
            if message.text.startswith(beginning):
                reader(self, message)
                return

    def communicator(self, message: Message) -> None:
        """Read a line that names a communicator and a rank in it."""
        text, found = message.text, _COMM.match(message.text)
        if found is None or not int(found[2]) < int(found[3]) <= _MOST_RANKS:
            return
        thread = message.process, message.thread
        draft = self._draft(message, found)
        if draft is None:
            self.waiting.setdefault(thread, []).append(message)
            return
        seat = Seat(draft, int(found[2]))
        gpu = _GPU.search(text)
        draft.seat(seat.rank, message, gpu)
        if (hosts := _HOSTS.search(text)) is not None:
            draft.host_counts.add("hosts", int(hosts[1]), message.process)
        if self.pointers.get((message.process, found[1])) != seat:
            self.pointers[message.process, found[1]] = seat
            self.seats.setdefault(message.process, []).append(seat)
        self.beginning[thread] = seat
        for each in self.waiting.pop(thread, ()):
            self.read(each)
        if text.rstrip().endswith("COMPLETE"):
            self.beginning.pop(thread, None)
            self.calling.pop(thread, None)

    def _draft(self, message: Message, found: re.Match[str]) -> Draft | None:
        """Return the communicator that a line names; None if another line must name it first."""
        text, process, size = message.text, message.process, int(found[3])
        known = self.pointers.get((process, found[1]))
        key: Hashable
        if (name := _ID.search(text)) is not None:
            key = name[1]
        elif (parent := _PARENT.search(text)) is not None and (process, parent[1]) in self.pointers:
            key = self.pointers[process, parent[1]].draft.key, parent[2], parent[3]
        elif known is not None and known.draft.size == size and known.rank == int(found[2]):
            return known.draft
        elif "- Init COMPLETE" in text and " commId " not in text:
            key = next(number for number in range(len(self.drafts) + 1) if self._is_free(number, size, int(found[2])))
        else:
            return None
        name_of_it = key if isinstance(key, str) else ""
        draft = self.drafts.setdefault(key, Draft(key, name_of_it, size))
        return draft if draft.size == size else None

    def _is_free(self, number: int, size: int, rank: int) -> bool:
        """Return whether a communicator without a name can be that of another rank."""
        draft = self.drafts.get(number)
        return draft is None or (draft.size == size and rank not in draft.gpus)

    def _seat(self, message: Message) -> Seat | None:
        """Return the rank that wrote a line at the beginning of a communicator; the line waits if it is not known."""
        thread = message.process, message.thread
        if thread not in self.beginning:
            self.waiting.setdefault(thread, []).append(message)
        return self.beginning.get(thread)

    def _caller(self, message: Message) -> Seat | None:
        """Return the rank that wrote a line of a call."""
        thread = message.process, message.thread
        for seats in (self.beginning, self.calling):
            if thread in seats:
                return seats[thread]
        own = self.seats.get(message.process, [])
        own = [seat for seat in own if seat.draft.device(seat.rank) in {None, message.device}] if len(own) > 1 else own
        return own[0] if len(own) == 1 else None

    def channel(self, message: Message) -> None:
        """Read a ring, which rank 0 writes, or a connection."""
        if "->" in message.text or "[" in message.text:
            self._connection(message)
            return
        found = _CHANNEL.match(message.text)
        if found is None or (seat := self._seat(message)) is None:
            return
        order = [int(rank) for rank in found[3].split()]
        if message.is_cut or found[4] or found[5].strip():
            order.pop()
        if seat.rank == 0 and len(order) == seat.draft.size != len(set(order)):
            where = f"line {message.line}: the ring of channel {int(found[1])}"
            seat.draft.remarks.append(f"{where} does not visit every rank once, so it is unknown")
        elif seat.rank == 0:
            seat.draft.ring(int(found[1]), order, (message.process, "Channel"))
            if found[4] or len(order) == seat.draft.size:
                seat.draft.channel_counts.add("channels", int(found[2]), (message.process, "Channel"))

    def _connection(self, message: Message) -> None:
        found = _CONNECTION.match(message.text)
        if found is None or int(found[2] or 0) or (seat := self._caller(message)) is None:
            return
        nic = None if found[6] is None or message.is_cut else int(found[6])
        seat.draft.waiting.setdefault(seat.rank, []).append(
            (int(found[1]), int(found[3]), int(found[4]), found[5] or "", nic)
        )

    def connected(self, message: Message) -> None:
        """Read that the connections before this line are those of rings, or of trees."""
        if (seat := self._caller(message)) is not None:
            seat.draft.connect(seat.rank, message.process, are_rings=message.text.startswith("Connected all rings"))

    def ring(self, message: Message) -> None:
        """Read the place of a rank in a ring."""
        found = _RING.match(message.text)
        if found is not None and not message.is_cut and (seat := self._seat(message)) is not None:
            channel, before, rank, after = map(int, found.groups())
            if rank == seat.rank:
                seat.draft.ring(channel, [before, rank, after], (message.process, "Ring"))

    def tree(self, message: Message) -> None:
        """Read the place of a rank in a tree."""
        found = _TREE.match(message.text)
        if found is not None and not message.is_cut and (seat := self._seat(message)) is not None:
            channel, parent, rank, *children = map(int, found.groups())
            if rank == seat.rank:
                seat.draft.tree(channel, rank, parent, children, (message.process, "Tree"))

    def trees(self, message: Message) -> None:
        """Read the places of a rank in all trees; the last one is not used if the line may be cut."""
        if (seat := self._seat(message)) is None:
            return
        found, place = [], len("Trees")
        while (entry := _TREES.match(message.text, place)) is not None:
            found.append(tuple(map(int, entry.groups())))
            place = entry.end()
        rest = message.text[place:]
        is_whole = rest.startswith(" [") or not (rest.strip() or message.is_cut or len(message.text) >= _LONGEST)
        for channel, *children, rank, parent in found if is_whole else found[:-1]:
            if rank == seat.rank:
                seat.draft.tree(channel, rank, parent, children, (message.process, "Trees"))

    def count(self, message: Message) -> None:
        """Read how many channels there are."""
        found = _COUNT.match(message.text)
        if found is not None and (seat := self._seat(message)) is not None:
            seat.draft.channel_counts.add("channels", int(found[1]), (message.process, "coll"))

    def system(self, message: Message) -> None:
        """Read a line of the system of a host."""
        if (seat := self._seat(message)) is not None:
            seat.draft.system(message)

    def call(self, message: Message) -> None:
        """Read which communicator a call names, or what was chosen for it."""
        if (named := _CALL.match(message.text)) is not None:
            if (seat := self.pointers.get((message.process, named[1]))) is not None:
                self.calling[message.process, message.thread] = seat
            return
        found = _CHOICE.match(message.text)
        if found is None:
            return
        if (owner := self._caller(message)) is None:
            self.without_communicator += 1
            return
        collective, is_part = _COLLECTIVES[found[1]]
        size = int(found[2]) * (owner.draft.size if is_part else 1)
        channels = int(found[6]) - int(found[5]) + 1
        owner.draft.choices[Choice(collective, size, found[3].lower(), found[4].lower(), channels)] = None

    def begin(self, message: Message) -> None:
        """Read that a process starts, which it says once: if it had a rank before, it is another one."""
        if message.process in self.seats:
            self.lives[message.process[:2]] = message.process.life + 1

    def version(self, message: Message) -> None:
        """Read the version of the library."""
        if (found := _VERSION.match(message.text)) is not None:
            self.versions.add(message.process, found[2], message.line)

    def host_name(self, message: Message) -> None:
        """Read the name of a host that the user set."""
        if not message.is_cut:
            self.host_names[message.process] = message.text.rsplit(" ", 1)[-1]

    def networks(self, message: Message) -> None:
        """Read the network devices of a host."""
        network = message.text.split(" ", 1)[0].removeprefix("NET/")
        for device, name in _NICS.findall(message.text.partition("Using")[2]):
            self.nics.setdefault(message.process, {})[network, int(device)] = name

    def log(self, name: str) -> NcclLog:
        """Return what was read."""
        waiting, self.waiting = self.waiting, {}
        for thread, left in waiting.items():
            seats = self.seats.get(thread[0], [])
            if len(seats) == 1:
                self.beginning[thread] = seats[0]
                for message in left:
                    self.read(message)
        found = [
            draft.settled(self.versions, self.host_names, self.nics) for draft in self.drafts.values() if draft.gpus
        ]
        remarks = []
        if self.without_communicator:
            remarks.append(
                f"{self.without_communicator} choices name no communicator; NCCL_DEBUG_SUBSYS=INIT,TUNING,COLL names it"
            )
        jobs = self._jobs()
        if jobs > 1:
            remarks.append(
                f"the log has {jobs} groups of processes that share no communicator: separate jobs or groups"
            )
        return NcclLog(name, tuple(sorted(found, key=lambda each: -each.size)), jobs, tuple(remarks))

    def _jobs(self) -> int:
        first: dict[Hashable, Process] = {}
        pairs = [
            (first.setdefault(seat.draft.key, process), process)
            for process, seats in self.seats.items()
            for seat in seats
        ]
        return len(joined(self.seats, pairs))


_READERS: tuple[tuple[str, Callable[[_Reader, Message], None]], ...] = (
    ("Channel ", _Reader.channel),
    ("Connected ", _Reader.connected),
    ("Trees ", _Reader.trees),
    ("Tree ", _Reader.tree),
    ("Ring ", _Reader.ring),
    ("[Rank ", _Reader.communicator),
    ("comm ", _Reader.communicator),
    ("nccl", _Reader.communicator),
    ("NCCL_HOSTID ", _Reader.host_name),
    ("cudaDriverVersion", _Reader.begin),
    ("NCCL version", _Reader.version),
    ("RCCL version", _Reader.version),
    ("NET/", _Reader.networks),
    *((name + ": ", _Reader.call) for name in _COLLECTIVES),
    *((beginning, _Reader.system) for beginning in ("=", "CPU/", "+", " ")),
    ("", _Reader.count),
)
"""Which method reads a message, by its beginning."""
