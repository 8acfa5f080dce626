"""Collectives on NumPy arrays, run by verified schedules between processes.

    from forestcoll import generate, load_topology
    from forestcoll.runtime import Communicator

    topology = load_topology("ring:nodes=4")
    schedules = [generate(topology, "allreduce"), generate(topology, "allgather")]
    with Communicator(schedules, rank=rank, store="127.0.0.1:29500") as group:
        total = group.allreduce(gradients).wait()

Rank i runs compute node i of the topology (in the order of the nodes). All ranks call the same operations in the same
order, one thread a group. Ranks that take no part in a schedule, its relays, call `relay` instead.
"""

import hashlib
import secrets
import socket
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from forestcoll.collective import Collective, collective_named
from forestcoll.environment import interface_here, links_here, pacing_here
from forestcoll.errors import CommunicationError, InputError, shown
from forestcoll.files import PathLike
from forestcoll.runtime.connecting import Addresses, Connected, Group, connect
from forestcoll.runtime.dumping import dump_path
from forestcoll.runtime.elements import AnyArray, ElementType, ReduceOp, check_reduction, reduce_op_named
from forestcoll.runtime.execution import Execution, Sized, new_engine, stop
from forestcoll.runtime.group_plans import common_topology, digest_of, plans_by_size, plans_of, plans_of_one
from forestcoll.runtime.plan import Plan
from forestcoll.runtime.store import Store, TcpStore
from forestcoll.runtime.trees import Hop
from forestcoll.runtime.tuning import read_tables
from forestcoll.runtime.vectors import check_out, copy_scaled, flat_input, gathered_count, new_like, sized_out
from forestcoll.runtime.work import Work
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import NodeId

_LOOPBACK = "127.0.0.1"
_SEND_BUFFER = 2**18
"""Deep queues in the kernel keep urgent chunks behind others."""


class Communicator:
    """One rank's part in a group of processes.

    Args:
        schedules: what the group can run, one schedule for each collective and root, all on one topology. They are
            verified first. A group of one rank needs none.
        tuning: tables that select a schedule by size, one for each collective: folders that `forestcoll tune` wrote,
            or manifests. They go before `schedules`, which may be empty.
        rank: of the caller, from 0; rank i runs compute node i of the topology.
        store: `host:port`, where rank 0 serves a store of its own; or a store. A group of one rank needs none.
        size: how many ranks there are; None for one for each compute node.
        name: tells groups that use one store apart; give each group its own.
        timeout: seconds without progress after which an operation fails on all ranks; also the time to set up.
        interface: the address to listen on and to connect from; None for `FORESTCOLL_INTERFACE`, or for loopback where
            that is not set.
        links: other addresses, by the id of the node that a link leads to: data over this link uses that interface.
            None for `FORESTCOLL_LINKS`.
        secret: what all ranks must know; None for one that rank 0 draws and puts into the store.
        pacing: whether the bandwidths of the topology are those of the real network. Connections then keep to the
            schedule's rates, which keeps queues short. None for `FORESTCOLL_PACING`.
        dump: the folder for a JSON file with the last operations, written when the group fails; None for the value of
            the environment variable `FORESTCOLL_DUMP`, or no file.

    Raises:
        InputError: an argument is bad, or a schedule is not right.
        CommunicationError: a rank did not come in time, or has other schedules or options.
    """

    def __init__(  # noqa: PLR0913 (what a group is, and how it connects)
        self,
        schedules: Sequence[Schedule],
        *,
        rank: int,
        tuning: Sequence[PathLike] = (),
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
        self._engine = new_engine(rank, timeout, name, dump_path(dump, name, rank))
        self._own_store: TcpStore | None = None
        if topology is not None:
            of_link = links_here() if links is None else links
            default = interface or interface_here() or _LOOPBACK
            addresses = Addresses(default, {topology.named(link): each for link, each in of_link.items()})
            self._join(store, addresses, secret or b"", lanes, digest_of(plans, by_size, pacing=pacing))
        self._engine.start()
        # If the group is dropped or the program ends, the engine must stop before its arrays are freed.
        weakref.finalize(self, stop, self._engine, self._running)

    def _join(
        self, store: Store | str | None, addresses: Addresses, secret: bytes, lanes: tuple[Hop, ...], digest: bytes
    ) -> None:
        """Meet the other ranks, and hand the connections over to the engine."""
        if store is None:
            raise InputError("store is None; give host:port of rank 0, or a store")
        if isinstance(store, str):
            store = self._own_store = TcpStore(store, rank=self.rank, timeout=self._timeout, secret=secret)
        try:
            group = Group(self._name, self.rank, self.size, lanes, digest, secret or self._secret(store))
            connected = connect(group, store, addresses, self._timeout)
            try:
                self._take_over(connected, lanes)
            except BaseException:
                connected.close()
                raise
        except BaseException:
            self._close_store()
            raise

    def allgather(
        self,
        source: AnyArray,
        out: AnyArray | None = None,
        *,
        counts: Sequence[int] | None = None,
        dtype: str | None = None,
    ) -> Work:
        """Start to gather the shards of all members, in the order of their ranks, on all of them.

        Args:
            source: this rank's shard; in place if it is this rank's part of `out`.
            out: where the result goes; a new one-dimensional array if None.
            counts: of each member the elements of its shard; None for those of the schedule.
            dtype: the type of the elements, where NumPy has none (`bf16`).

        Returns:
            The operation; its result is all shards.

        Raises:
            InputError: an argument does not fit the schedule.

        Example:
            `group.allgather(np.full(2, group.rank)).wait()` is `[0, 0, 1, 1, …]`.
        """
        execution = self._execution(Collective.ALLGATHER)
        flat, element = flat_input(source, dtype)
        place = self._place(execution.plan)
        count = sum(counts) if counts is not None else gathered_count(execution.plan, flat, out)
        execution = self._for_size(execution, count * element.itemsize)
        sized = execution.sized(count, counts, element.itemsize)
        begin, length = sized.layout.begins[place], sized.layout.counts[place]
        if flat.size != length:
            raise InputError(f"allgather: source has {flat.size} elements; the shard of rank {self.rank} has {length}")
        result = sized_out(out, source, count, "allgather")
        check_out(flat, result, begin, "allgather")
        result.reshape(-1)[begin : begin + length] = flat
        return self._post(execution, sized, element, ReduceOp.SUM, own=None, result=result)

    def reduce_scatter(  # noqa: PLR0913 (what the operation is)
        self,
        source: AnyArray,
        out: AnyArray | None = None,
        *,
        op: ReduceOp | str = ReduceOp.SUM,
        factor: float = 1.0,
        counts: Sequence[int] | None = None,
        dtype: str | None = None,
    ) -> Work:
        """Start to combine the vectors of all members and to leave each with its shard of the result.

        Args:
            source: this rank's vector; it is not changed, unless `out` is its shard in it.
            out: where the shard goes; a new one-dimensional array if None.
            op: how vectors are combined.
            factor: of this rank's vector, for `premul-sum`.
            counts: of each member the elements of its shard; None for those of the schedule.
            dtype: the type of the elements, where NumPy has none (`bf16`).

        Returns:
            The operation; its result is this rank's shard.

        Raises:
            InputError: an argument does not fit the schedule.
        """
        execution = self._execution(Collective.REDUCE_SCATTER)
        flat, element = flat_input(source, dtype)
        place = self._place(execution.plan)
        execution = self._for_size(execution, flat.size * element.itemsize)
        sized = execution.sized(flat.size, counts, element.itemsize)
        begin, length = sized.layout.begins[place], sized.layout.counts[place]
        result = sized_out(out, source, length, "reduce-scatter")
        check_out(result.reshape(-1), flat, begin, "reduce-scatter")
        return self._post(
            execution, sized, element, reduce_op_named(op), factor=factor, own=flat, result=result, begin=begin
        )

    def allreduce(
        self,
        source: AnyArray,
        out: AnyArray | None = None,
        *,
        op: ReduceOp | str = ReduceOp.SUM,
        factor: float = 1.0,
        dtype: str | None = None,
    ) -> Work:
        """Start to combine the vectors of all members on all of them; every rank gets the same bits.

        Args:
            source: this rank's vector.
            out: where the result goes, `source` itself for in place; a new array if None.
            op: how vectors are combined.
            factor: of this rank's vector, for `premul-sum`.
            dtype: the type of the elements, where NumPy has none (`bf16`).

        Returns:
            The operation; its result has the shape of `source`.

        Raises:
            InputError: an argument does not fit the schedule.

        Example:
            `group.allreduce(np.ones(3)).wait()` is the number of members, three times.
        """
        execution = self._execution(Collective.ALLREDUCE)
        self._place(execution.plan)
        flat, element = flat_input(source, dtype)
        result = new_like(source) if out is None else sized_out(out, source, flat.size, "allreduce")
        check_out(flat, result, 0, "allreduce")
        execution = self._for_size(execution, flat.size * element.itemsize)
        sized = execution.sized(flat.size, None, element.itemsize)
        return self._post(execution, sized, element, reduce_op_named(op), factor=factor, own=flat, result=result)

    def broadcast(
        self, array: AnyArray, out: AnyArray | None = None, *, root: int = 0, dtype: str | None = None
    ) -> Work:
        """Start to copy the root's array to all members.

        Args:
            array: on the root what is sent, on others where the result goes unless `out` is given.
            out: where the result goes; `array` itself if None.
            root: the rank whose array it is; there must be a schedule with this root.
            dtype: the type of the elements, where NumPy has none (`bf16`).

        Returns:
            The operation; its result is `out`, or `array`.

        Raises:
            InputError: an argument does not fit the schedule.
        """
        execution = self._execution(Collective.BROADCAST, root)
        self._place(execution.plan)
        flat, element = flat_input(array, dtype)
        result = sized_out(array if out is None else out, array, flat.size, "broadcast")
        if self.rank == root and result is not array:
            result.reshape(-1)[:] = flat
        sized = execution.sized(flat.size, None, element.itemsize)
        return self._post(execution, sized, element, ReduceOp.SUM, own=None, result=result)

    def reduce(  # noqa: PLR0913 (what the operation is)
        self,
        source: AnyArray,
        out: AnyArray | None = None,
        *,
        root: int = 0,
        op: ReduceOp | str = ReduceOp.SUM,
        factor: float = 1.0,
        dtype: str | None = None,
    ) -> Work:
        """Start to combine the vectors of all members on the root.

        Args:
            source: this rank's vector.
            out: on the root where the result goes, `source` itself for in place; a new array if None.
            root: the rank that gets the result; there must be a schedule with this root.
            op: how vectors are combined.
            factor: of this rank's vector, for `premul-sum`.
            dtype: the type of the elements, where NumPy has none (`bf16`).

        Returns:
            The operation; its result is the sum on the root, None elsewhere.

        Raises:
            InputError: an argument does not fit the schedule.
        """
        execution = self._execution(Collective.REDUCE, root)
        self._place(execution.plan)
        flat, element = flat_input(source, dtype)
        result = None
        if self.rank == root:
            result = new_like(source) if out is None else sized_out(out, source, flat.size, "reduce")
            check_out(flat, result, 0, "reduce")
        sized = execution.sized(flat.size, None, element.itemsize)
        return self._post(execution, sized, element, reduce_op_named(op), factor=factor, own=flat, result=result)

    def relay(  # noqa: PLR0913 (what the operation is)
        self,
        collective: Collective | str,
        count: int,
        dtype: str,
        *,
        op: ReduceOp | str = ReduceOp.SUM,
        root: int | None = None,
        counts: Sequence[int] | None = None,
    ) -> Work:
        """Start to pass on the data of an operation in which this rank takes no part.

        Args:
            collective: what the members do.
            count: the elements of all data, M of the collective.
            dtype: their type, such as `f32`.
            op: how vectors are combined.
            root: the root, where the collective has one.
            counts: of each member the elements of its shard, where the members pass them.

        Returns:
            The operation; it has no result.

        Raises:
            InputError: this rank takes part in the collective, or an argument does not fit the schedule.
        """
        execution = self._execution(collective_named(collective), root)
        if self.rank in execution.plan.members:
            raise InputError(f"rank {self.rank} takes part in {collective}; call the collective, not relay")
        element = next((each for each in ElementType if each.text == dtype), None)
        if element is None:
            known = ", ".join(each.text for each in ElementType)
            raise InputError(f"dtype is {shown(dtype)}; use one of {known}")
        execution = self._for_size(execution, count * element.itemsize)
        sized = execution.sized(count, counts, element.itemsize)
        return self._post(execution, sized, element, reduce_op_named(op), own=None, result=None, is_relay=True)

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
        sized: Sized,
        element: ElementType,
        op: ReduceOp,
        *,
        own: AnyArray | None,
        result: AnyArray | None,
        factor: float = 1.0,
        begin: int = 0,
        is_relay: bool = False,
    ) -> Work:
        if self._is_closed:
            raise InputError(f"group {self._name!r} is closed; make a new Communicator")
        check_reduction(op, element, factor)
        if self.size == 1 and own is not None and result is not None:
            copy_scaled(own, result, element, factor)
        label = _label(execution.plan, sized, element, op)
        native = self._engine.post(
            execution.native,
            sized.native,
            hashlib.sha256(sized.digest + label.encode()).digest(),
            label,
            execution.plan.collective.value,
            sized.layout.count,
            element,
            op.number,
            factor,
            len(execution.plan.members),
            0 if own is None or is_relay else own.ctypes.data,
            0 if result is None else result.ctypes.data,
            begin,
        )
        work = Work(native, label, result)
        self._keep(work, own, result)
        return work

    def _keep(self, work: Work, *arrays: AnyArray | None) -> None:
        """Keep the memory that the engine writes to, even if the caller forgets the operation."""
        while self._running and self._running[0][0].is_done():
            self._running.popleft()
        self._running.append((work, arrays))

    def _secret(self, store: Store) -> bytes:
        key = f"forestcoll/{self._name}/secret"
        if self.rank == 0:
            store.set(key, secrets.token_bytes(32))
        try:
            return store.get(key, self._timeout)
        except CommunicationError:
            text = f"group {self._name!r}: rank 0 did not come within {self._timeout:g} s"
            raise CommunicationError(f"{text}; start all {self.size} ranks, with a secret on all or on none") from None

    def _take_over(self, connected: Connected, lanes: Sequence[Hop]) -> None:
        """Hand all sockets over to the engine, which closes them."""
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
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection.detach()


def _check(rank: int, size: int, wanted: int | None, timeout: float) -> None:
    if wanted is not None and wanted != size:
        raise InputError(f"size is {wanted}, but the schedules are for {size} ranks; give schedules for {wanted}")
    if not 0 <= rank < size:
        raise InputError(f"rank is {rank}; the group has {size} ranks, so use 0 to {size - 1}")
    if not timeout > 0:
        raise InputError(f"timeout is {timeout}; give a number of seconds greater than 0")


def _label(plan: Plan, sized: Sized, element: ElementType, op: ReduceOp) -> str:
    reduces = plan.collective not in {Collective.ALLGATHER, Collective.BROADCAST}
    name = f"{plan.collective.value}({op.value})" if reduces else plan.collective.value
    root = "" if plan.root is None else f" with root {plan.root}"
    return f"{name} of {sized.layout.count} {element.text}{root}"
