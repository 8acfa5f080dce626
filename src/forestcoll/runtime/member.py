"""One rank's membership in a group: it meets the other ranks, and hands operations over to the engine."""

import os
import re
import secrets
import socket
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from forestcoll.base.errors import CommunicationError, InputError
from forestcoll.base.files import PathLike
from forestcoll.demand.collective import Collective
from forestcoll.runtime.connecting import Addresses, Connected, Membership, connect
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp, check_reduction
from forestcoll.runtime.engine.exchange import ExchangeLayout
from forestcoll.runtime.engine.execution import Execution, Sized, new_engine, stop
from forestcoll.runtime.engine.plan import Plan
from forestcoll.runtime.engine.sizing import Layout
from forestcoll.runtime.engine.trees import Hop
from forestcoll.runtime.engine.vectors import copy_scaled
from forestcoll.runtime.engine.work import Work
from forestcoll.runtime.environment import (
    check_secret,
    interface_here,
    links_here,
    pacing_here,
    reads_memory_here,
    secret_here,
)
from forestcoll.runtime.group_plans import common_topology, digest_of, plans_by_size, plans_of, plans_of_one
from forestcoll.runtime.messages import Deadline
from forestcoll.runtime.sharing import sharing_here
from forestcoll.runtime.store import Store, StoreError, TcpStore
from forestcoll.runtime.tuning import TableLike, read_tables
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import NodeId

_LOOPBACK = "127.0.0.1"
_DUMP = "FORESTCOLL_DUMP"
"""The environment variable that names the folder of dumps: one JSON file for each rank."""
_SEND_BUFFER = 2**18
"""Deep queues in the kernel keep urgent chunks behind others."""


class Member:
    """The base of `Communicator`, which describes the arguments."""

    def __init__(  # noqa: PLR0913 (what a group is, and how it connects)
        self,
        schedules: Sequence[Schedule],
        *,
        rank: int,
        tuning: Sequence[TableLike] = (),
        store: Store | str | None = None,
        size: int | None = None,
        name: str = "default",
        timeout: float = 300.0,
        interface: str | None = None,
        links: Mapping[NodeId, str] | None = None,
        secret: bytes | None = None,
        pacing: bool | None = None,
        dump: PathLike | None = None,
    ) -> None:
        pacing = pacing_here() if pacing is None else pacing
        check_secret(secret)
        secret = secret or secret_here() or b""
        tables = read_tables(tuning, schedules[0].topology if schedules else None)
        ranges = [each.schedule for table in tables.values() for each in table.ranges if each.schedule is not None]
        is_alone = size == 1 and not schedules and not tables
        topology = None if is_alone else common_topology([*schedules, *ranges])
        self.rank, self.size = rank, 1 if topology is None else len(topology.compute)
        _check(rank, self.size, size, timeout)
        self._name, self._timeout, self._is_closed = name, timeout, False
        plans = plans_of_one() if is_alone else plans_of(schedules)
        by_size = plans_by_size(tables, plans)
        every = [*plans.values(), *(plan for listed in by_size.values() for _, plan in listed)]
        lanes = tuple(sorted({lane for plan in every for lane in plan.lanes}))
        numbers = {lane: number for number, lane in enumerate(lanes)}
        made = {plan.digest: Execution(plan, rank, numbers, pacing) for plan in every}
        self._executions = {key: made[plan.digest] for key, plan in plans.items()}
        self._by_size = {key: [(most, made[plan.digest]) for most, plan in listed] for key, listed in by_size.items()}
        self._running: deque[tuple[Work, tuple[AnyArray | None, ...]]] = deque()
        self._engine = new_engine(rank, timeout, name, _dump_path(dump, name, rank))
        self._own_store: TcpStore | None = None
        if topology is not None:
            of_link = links_here() if links is None else links
            default = interface or interface_here() or _LOOPBACK
            addresses = Addresses(default, {topology.named(link): each for link, each in of_link.items()})
            self._join(store, addresses, secret, lanes, digest_of(plans, by_size, pacing=pacing))
        self._engine.start()
        # If the group is dropped or the program ends, the engine must stop before its arrays are freed.
        weakref.finalize(self, stop, self._engine, self._running)

    def _join(
        self, store: Store | str | None, addresses: Addresses, secret: bytes, lanes: tuple[Hop, ...], digest: bytes
    ) -> None:
        """Meet the other ranks, and hand the connections over to the engine."""
        if store is None:
            raise InputError("store is None; give host:port of rank 0, or a store")
        deadline = Deadline.after(self._timeout)
        if isinstance(store, str):
            store = self._own_store = TcpStore(store, rank=self.rank, timeout=self._timeout, secret=secret)
        try:
            group = Membership(self._name, self.rank, self.size, lanes, digest, secret or self._secret(store, deadline))
            shared = sharing_here(lambda size: self._engine.make_pages(self.size, size, reads_memory_here()))
            connected = connect(group, store, addresses, deadline, shared)
            try:
                self._take_over(connected, lanes)
            except BaseException:
                connected.close()
                raise
        except BaseException:
            self._engine.close(0.0)
            self._close_store()
            raise

    def records(self) -> list[dict[str, object]]:
        """Return the last operations, oldest first.

        Each has its `number`, `label`, `collective`, `dtype` and `bytes`, its `state` (`running`, `done` or `failed`),
        and the ranks that it `waits_for` if it failed.
        """
        names = ("number", "label", "state", "waits_for", "collective", "dtype", "bytes")
        return [dict(zip(names, row, strict=True)) for row in self._engine.journal()]

    def close(self, grace: float = 5.0) -> None:
        """Leave the group. Operations that have not ended fail on all ranks.

        Args:
            grace: how many seconds to wait at most until the others have received what this rank sent.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._engine.close(grace)
        self._running.clear()
        self._close_store()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        listed = {collective for collective, _ in self._executions} | set(self._by_size)
        kinds = ", ".join(sorted(each.value for each in listed))
        return f"Communicator({self._name!r}, rank {self.rank} of {self.size}: {kinds})"

    def _execution(self, collective: Collective, root: int | None = None) -> Execution:
        found = self._executions.get((collective, root if collective.has_root else None))
        if found is None and collective in self._by_size:
            found = self._by_size[collective][-1][1]
        if found is None:
            what = f"{collective.value} with root {root}" if collective.has_root else collective.value
            known = ", ".join(name.value + ("" if at is None else f" with root {at}") for name, at in self._executions)
            raise InputError(
                f"group {self._name!r} has no schedule for {what}, only for {known}; pass one to Communicator"
            )
        return found

    def _for_size(self, execution: Execution, size: int) -> Execution:
        """Return what runs M of `size` bytes: as the tuning of the collective says, or else `execution`."""
        listed = self._by_size.get(execution.plan.collective, ())
        return next((each for most, each in listed if size <= most), listed[-1][1] if listed else execution)

    def _place(self, plan: Plan) -> int:
        if self.rank not in plan.members:
            raise InputError(f"rank {self.rank} takes no part in this {plan.collective.value}; call relay instead")
        return plan.members.index(self.rank)

    def _post(  # noqa: PLR0913 (what an operation is)
        self,
        execution: Execution,
        sized: Sized[Layout] | Sized[ExchangeLayout],
        element: ElementType,
        op: ReduceOp,
        *,
        own: AnyArray | None,
        result: AnyArray | None,
        factor: float = 1.0,
        own_begin: int = 0,
        begin: int = 0,
        is_relay: bool = False,
    ) -> Work:
        if self._is_closed:
            raise InputError(f"group {self._name!r} is closed; make a new Communicator")
        check_reduction(op, element, factor)
        if self.size == 1 and own is not None and result is not None:
            copy_scaled(own, result, element, factor)
        label, digest = sized.descriptor(execution.plan, element, op)
        native = self._engine.post(
            execution.native,
            sized.native,
            digest,
            label,
            execution.plan.collective.value,
            sized.layout.count,
            element,
            op.number,
            factor,
            len(execution.plan.members),
            0 if own is None or is_relay else own.ctypes.data - own_begin * element.itemsize,
            0 if result is None else result.ctypes.data,
            begin,
        )
        work = Work(self._engine, native, label, result)
        self._keep(work, own, result)
        return work

    def _keep(self, work: Work, *arrays: AnyArray | None) -> None:
        """Keep the memory that the engine writes to, even if the caller forgets the operation."""
        while self._running and self._running[0][0].is_done():
            self._running.popleft()
        self._running.append((work, arrays))

    def _secret(self, store: Store, deadline: Deadline) -> bytes:
        key = f"forestcoll/{self._name}/secret"
        if self.rank == 0:
            store.set(key, secrets.token_bytes(32))
        try:
            return store.get(key, deadline.left(0.1))
        except StoreError:
            raise
        except CommunicationError:
            text = f"group {self._name!r}: rank 0 did not come within {self._timeout:g} s"
            raise CommunicationError(f"{text}; start all {self.size} ranks, with a secret on all or on none") from None

    def _take_over(self, connected: Connected, lanes: Sequence[Hop]) -> None:
        """Hand all sockets over to the engine, which closes them."""
        for peer, file in connected.pages.items():
            try:
                self._engine.add_pages(file, peer)
            except (OSError, RuntimeError, ValueError) as error:
                text = f"group {self._name!r}: the memory of rank {peer} cannot be read: {error}"
                raise CommunicationError(f"{text}; set FORESTCOLL_SHARED_MEMORY=0 on all ranks") from None
            os.close(file)
        for lane, each in connected.senders.items():
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
            self._engine.add_sender(_detached(each), lanes[lane].target, lane)
        for lane, each in connected.receivers.items():
            self._engine.add_receiver(_detached(each), lanes[lane].source, lane)
        for peer, each in connected.controls.items():
            self._engine.add_control(_detached(each), peer)

    def _close_store(self) -> None:
        if self._own_store is not None:
            self._own_store.close()


def _detached(connection: socket.socket) -> int:
    connection.setblocking(False)  # noqa: FBT003 (the name that sockets have)
    if connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection.detach()


def _check(rank: int, size: int, wanted: int | None, timeout: float) -> None:
    if wanted is not None and wanted != size:
        raise InputError(f"size is {wanted}, but the schedules are for {size} ranks; give schedules for {wanted}")
    if not 0 <= rank < size:
        raise InputError(f"rank is {rank}; the group has {size} ranks, so use 0 to {size - 1}")
    if not timeout > 0:
        raise InputError(f"timeout is {timeout}; give a number of seconds greater than 0")


def _dump_path(folder: PathLike | None, name: str, rank: int) -> str:
    """Return the file for the last operations of a group that fails, and make its folder.

    The result is empty if neither `folder` nor the environment names a folder.

    Raises:
        InputError: the folder cannot be made or written.
    """
    chosen = os.environ.get(_DUMP) if folder is None else os.fspath(folder)
    if not chosen:
        return ""
    made = Path(chosen).absolute()
    try:
        made.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder for dumps, {chosen}, cannot be made: {error.strerror}; choose another") from None
    if not os.access(made, os.W_OK | os.X_OK):
        raise InputError(f"the folder for dumps, {chosen}, cannot be written; choose another")
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:80]
    return str(made / f"{plain}-rank{rank}-{os.getpid()}.json")
