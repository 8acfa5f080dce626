"""The communicators of a group: one for the schedules that it begins with, others for further ones of a collective."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.runtime import Communicator, Work
from forestcoll.runtime.torch_store import TorchStore
from forestcoll.runtime.tuning import TuningTable, read_tables
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import NodeId, Topology
from forestcoll.torch.calls.work import Completer
from forestcoll.torch.schedules import cache as schedules
from forestcoll.torch.schedules.agreement import Agreement
from forestcoll.torch.schedules.by_size import best_table


@dataclass(frozen=True, slots=True)
class Seat:
    """How this process takes part in groups.

    Attributes:
        name: of the group.
        rank: of this process in it.
        store: the store of the group.
        timeout: seconds without progress after which operations fail; also the time to set up.
        address: the address to listen on and to connect from.
        links: other addresses, by the id of the node that a link leads to.
        pacing: whether connections keep to the schedule's rates.
        cache: the folder of schedules.
        secret: what all ranks must know; None for one that rank 0 draws.
    """

    name: str
    rank: int
    store: TorchStore
    timeout: float
    address: str
    links: Mapping[NodeId, str]
    pacing: bool
    cache: Path
    secret: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Engine:
    """A communicator, the thread that completes the futures of its operations, and those that may still run."""

    communicator: Communicator
    completer: Completer
    running: deque[Work] = field(default_factory=deque)

    def note(self, work: Work) -> None:
        """Remember an operation until it has ended."""
        while self.running and self.running[0].is_done():
            self.running.popleft()
        self.running.append(work)

    def finish(self) -> None:
        """Wait until all operations have ended.

        Raises:
            CommunicationError: one has failed.
        """
        for work in tuple(self.running):
            work.wait()

    def close(self, grace: float) -> None:
        """End both; operations that have not ended fail."""
        self.communicator.close(grace)
        self.completer.close()


class Engines:
    """All communicators of a group on one topology.

    Args:
        seat: how this process takes part.
        topology: of the group; its compute node i is rank i.
        agreement: with the other ranks of the group.
        tables: which schedule is best for which size; read on rank 0.

    Raises:
        ForestcollError: there is no schedule, or ranks do not come together.
    """

    def __init__(self, seat: Seat, topology: Topology, agreement: Agreement, tables: Iterable[Path] = ()) -> None:
        self.topology = topology
        self._seat, self._agreement, self._number = seat, agreement, 0
        self._added: dict[tuple[Collective, int | None], Engine] = {}
        self._by_size: dict[Collective, list[tuple[int, Engine | None]]] = {}
        self._all: list[Engine] = []
        listed, outline = self._read_tables(tuple(tables))
        try:
            given = {line.split()[0] for line in outline.splitlines()}
            best = [best_table(topology, each, agreement) for each in UNROOTED if each.value not in given]
            optima = [self._schedule(each, None) for each in UNROOTED]
            self._main = self._engine(optima, [each for each in best if each is not None])
            self._add_tables(listed, outline)
        except BaseException:
            self.close(0.0)
            raise

    def get(self, collective: Collective, root: int | None, size: int) -> Engine | None:
        """Return what runs a collective on data of `size` bytes; None where the table says that it should not.

        Raises:
            ForestcollError: a schedule cannot be made.
        """
        if root is not None or (collective not in UNROOTED and collective not in self._by_size):
            return self._on_first_use(collective, root)
        for most, engine in self._by_size.get(collective, ()):
            if size <= most:
                return engine
        return self._by_size[collective][-1][1] if collective in self._by_size else self._main

    def finish(self) -> None:
        """Wait until all operations have ended.

        Raises:
            CommunicationError: one has failed.
        """
        for engine in self._all:
            engine.finish()

    def close(self, grace: float) -> None:
        """Close all communicators, within about `grace` seconds in all."""
        until = time.monotonic() + grace
        for engine in self._all:
            engine.close(max(0.0, until - time.monotonic()))

    def records(self) -> list[dict[str, object]]:
        """Return the last operations of all communicators, as `Communicator.records` does."""
        return [record for engine in self._all for record in engine.communicator.records()]

    def _on_first_use(self, collective: Collective, root: int | None) -> Engine:
        found = self._added.get((collective, root))
        if found is None:
            found = self._added[collective, root] = self._engine([self._schedule(collective, root)])
        return found

    def _schedule(self, collective: Collective, root: int | None) -> Schedule:
        def make() -> bytes:
            made = schedules.schedule_of(self.topology, collective, root, self._seat.cache)
            return schedules.to_bytes(made)

        return self._shared(f"schedule/{collective.value}/{root}", make)

    def _shared(self, key: str, make: Callable[[], bytes]) -> Schedule:
        return schedules.from_bytes(self._agreement.share(key, make), self.topology)

    def _read_tables(self, paths: tuple[Path, ...]) -> tuple[Mapping[Collective, TuningTable], str]:
        """Return the tables, which only rank 0 reads, and their outline, which all ranks get."""
        tables: dict[Collective, TuningTable] = {}

        def read() -> bytes:
            tables.update(read_tables(paths, self.topology))
            return _outline(tables)

        return tables, self._agreement.share("tables", read).decode()

    def _add_tables(self, tables: Mapping[Collective, TuningTable], outline: str) -> None:
        """Add an engine for each schedule of the tables."""
        for line in outline.splitlines():
            name, place, most, has_schedule = line.split()
            collective, engine = Collective(name), None
            if has_schedule == "1":
                key = f"table/{name}/{place}"
                engine = self._engine([self._shared(key, partial(_bytes_of, tables, collective, int(place)))])
            self._by_size.setdefault(collective, []).append((int(most), engine))

    def _engine(self, listed: list[Schedule], tuning: Sequence[TuningTable] = ()) -> Engine:
        seat, number = self._seat, self._number
        self._number += 1
        name = f"{seat.name}.{number}"
        communicator = Communicator(
            listed,
            tuning=tuning,
            rank=seat.rank,
            store=seat.store,
            name=name,
            timeout=seat.timeout,
            interface=seat.address,
            links=seat.links,
            pacing=seat.pacing,
            secret=seat.secret,
        )
        engine = Engine(communicator, Completer(name))
        self._all.append(engine)
        return engine


def _outline(tables: Mapping[Collective, TuningTable]) -> bytes:
    lines = [
        f"{collective.value} {place} {each.most} {int(each.schedule is not None)}"
        for collective, table in tables.items()
        for place, each in enumerate(table.ranges)
    ]
    return "\n".join(lines).encode()


def _bytes_of(tables: Mapping[Collective, TuningTable], collective: Collective, place: int) -> bytes:
    schedule = tables[collective].ranges[place].schedule
    return b"" if schedule is None else schedules.to_bytes(schedule)
