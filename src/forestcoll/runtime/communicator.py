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

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from forestcoll.base.errors import InputError, shown, unknown_name
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp, reduce_op_named
from forestcoll.runtime.engine.exchange import Counts, all_to_all_counts, rooted_counts
from forestcoll.runtime.engine.plan import Plan
from forestcoll.runtime.engine.vectors import check_out, flat_input, gathered_count, new_like, sized_out
from forestcoll.runtime.engine.work import Work
from forestcoll.runtime.exchanges import Exchanges

if TYPE_CHECKING:
    from forestcoll.runtime.engine.exchange import ExchangeLayout
    from forestcoll.runtime.engine.execution import Sized
    from forestcoll.runtime.engine.sizing import Layout


class Communicator(Exchanges):
    """One rank's part in a group of processes.

    Args:
        schedules: what the group can run, one schedule for each collective and root, all on one topology. They are
            verified first. A group of one rank needs none.
        tuning: tables that select a schedule by size, one for each collective: folders that `forestcoll tune` wrote,
            manifests, or values of `TuningTable`. They go before `schedules`, which may be empty.
        rank: of the caller, from 0; rank i runs compute node i of the topology.
        store: `host:port`, where rank 0 serves a store of its own; or a store. A group of one rank needs none.
        size: how many ranks there are; None for one for each compute node.
        name: tells groups that use one store apart; give each group its own.
        timeout: seconds without progress after which an operation fails on all ranks; also the time to set up.
        interface: the address to listen on and to connect from; None for `FORESTCOLL_INTERFACE`, or for loopback where
            that is not set.
        links: other addresses, by the id of the node that a link leads to: data over this link uses that interface.
            None for `FORESTCOLL_LINKS`.
        secret: what all ranks must know; None for `FORESTCOLL_SECRET` or, where that is not set, for one that rank 0
            draws and puts into the store.
        pacing: whether the bandwidths of the topology are those of the real network. Connections then keep to the
            schedule's rates, which keeps queues short. None for `FORESTCOLL_PACING`.
        dump: the folder for a JSON file with the last operations, written when the group fails; None for the value of
            the environment variable `FORESTCOLL_DUMP`, or no file.

    Raises:
        InputError: an argument is bad, or a schedule is not right.
        CommunicationError: a rank did not come in time, or has other schedules or options.
    """

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
        work = self._post(execution, sized, element, ReduceOp.SUM, own=flat, own_begin=begin, result=result)
        result.reshape(-1)[begin : begin + length] = flat
        return work

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
        counts: Sequence[int] | Sequence[Sequence[int]] | None = None,
    ) -> Work:
        """Start to pass on the data of an operation in which this rank takes no part.

        Args:
            collective: what the members do.
            count: the elements of all data, M of the collective.
            dtype: their type, such as `f32`.
            op: how vectors are combined.
            root: the root, where the collective has one.
            counts: of each member the elements of its shard, or of each pair what it exchanges in an all-to-all, where
                the members pass them.

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
            raise unknown_name(f"dtype is {shown(dtype)}", dtype, [each.text for each in ElementType], "use one of")
        sized: Sized[Layout] | Sized[ExchangeLayout]
        if execution.plan.collective.is_personalised:
            sized = execution.exchanged(_pair_counts(execution.plan, count, counts), element.itemsize)
        else:
            execution = self._for_size(execution, count * element.itemsize)
            sized = execution.sized(count, cast("Sequence[int] | None", counts), element.itemsize)
        return self._post(execution, sized, element, reduce_op_named(op), own=None, result=None, is_relay=True)


def _pair_counts(plan: Plan, count: int, counts: Sequence[int] | Sequence[Sequence[int]] | None) -> Counts:
    if plan.collective is Collective.ALL_TO_ALL:
        return all_to_all_counts(plan, count, cast("Sequence[Sequence[int]] | None", counts))
    return rooted_counts(plan, count, cast("Sequence[int] | None", counts))
