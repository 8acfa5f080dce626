"""The collectives whose pairs of ranks exchange data of their own: all-to-all, gather and scatter."""

from collections.abc import Sequence

import numpy as np

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp
from forestcoll.runtime.engine.exchange import Counts, all_to_all_counts, rooted_counts
from forestcoll.runtime.engine.execution import Execution
from forestcoll.runtime.engine.vectors import flat_input, sized_out
from forestcoll.runtime.engine.work import Work
from forestcoll.runtime.member import Member


class Exchanges(Member):
    """The operations of `Communicator` whose schedules are flows."""

    def all_to_all(
        self,
        source: AnyArray,
        out: AnyArray | None = None,
        *,
        counts: Sequence[Sequence[int]] | None = None,
        dtype: str | None = None,
    ) -> Work:
        """Start to exchange data between all members: each sends a part of its array to each other one.

        Args:
            source: what this rank sends: the parts for all members, in the order of their ranks.
            out: where the result goes, which shares no memory with `source`; a new one-dimensional array if None.
            counts: the elements that each member (row) sends to each member (column), the same on all ranks; None if
                all parts are equal. It is required for a schedule with a demand matrix.
            dtype: the type of the elements, where NumPy has none (`bf16`).

        Returns:
            The operation; its result has the parts of all members for this rank, in the order of their ranks.

        Raises:
            InputError: an argument does not fit the schedule.

        Example:
            With two ranks, `group.all_to_all(np.array([2 * group.rank, 2 * group.rank + 1])).wait()` is `[0, 2]` on
            rank 0 and `[1, 3]` on rank 1.
        """
        execution = self._execution(Collective.ALL_TO_ALL)
        flat, element = flat_input(source, dtype)
        matrix = all_to_all_counts(execution.plan, flat.size, counts)
        return self._exchange(execution, matrix, flat, out, element)

    def gather(
        self,
        source: AnyArray,
        out: AnyArray | None = None,
        *,
        root: int = 0,
        counts: Sequence[int] | None = None,
        dtype: str | None = None,
    ) -> Work:
        """Start to collect the shards of all members, in the order of their ranks, on the root.

        Args:
            source: this rank's shard.
            out: on the root, where the result goes, which shares no memory with `source`; a new one-dimensional array
                if None.
            root: the rank that gets the result; there must be a schedule with this root.
            counts: the elements of the shard of each member; None if all shards are equal.
            dtype: the type of the elements, where NumPy has none (`bf16`).

        Returns:
            The operation; its result is all shards on the root, None elsewhere.

        Raises:
            InputError: an argument does not fit the schedule.
        """
        execution = self._execution(Collective.GATHER, root)
        flat, element = flat_input(source, dtype)
        matrix = rooted_counts(execution.plan, flat.size * len(execution.plan.members), counts)
        return self._exchange(execution, matrix, flat, out, element)

    def scatter(
        self,
        source: AnyArray,
        out: AnyArray | None = None,
        *,
        root: int = 0,
        counts: Sequence[int] | None = None,
        dtype: str | None = None,
    ) -> Work:
        """Start to distribute the shards of the root's array: each member gets its own.

        Args:
            source: on the root, the shards of all members in the order of their ranks. Other ranks pass any array of
                this type and, without `counts`, of this size.
            out: where this rank's shard goes, which shares no memory with `source`; a new one-dimensional array if
                None.
            root: the rank whose array it is; there must be a schedule with this root.
            counts: the elements of the shard of each member; None if all shards are equal.
            dtype: the type of the elements, where NumPy has none (`bf16`).

        Returns:
            The operation; its result is this rank's shard.

        Raises:
            InputError: an argument does not fit the schedule.
        """
        execution = self._execution(Collective.SCATTER, root)
        flat, element = flat_input(source, dtype)
        matrix = rooted_counts(execution.plan, flat.size, counts)
        return self._exchange(execution, matrix, flat if self.rank == root else flat[:0], out, element)

    def _exchange(
        self, execution: Execution, counts: Counts, source: AnyArray, out: AnyArray | None, element: ElementType
    ) -> Work:
        """Start the flows of one operation, and copy the part that stays on this rank."""
        collective, place = execution.plan.collective, self._place(execution.plan)
        sized = execution.exchanged(counts, element.itemsize)
        sent, received = sized.layout.sent(place), sized.layout.received(place)
        if source.size != sent[-1]:
            raise InputError(
                f"{collective.value}: source has {source.size} elements; by the counts, rank {self.rank} sends "
                f"{sent[-1]} elements"
            )
        result, kept = None, source[sent[place] : sent[place + 1]]
        if collective is not Collective.GATHER or self.rank == execution.plan.root:
            result = sized_out(out, source, received[-1], collective.value)
            if np.may_share_memory(result, source):
                raise InputError(f"{collective.value}: source and out overlap; pass separate arrays")
        work = self._post(execution, sized, element, ReduceOp.SUM, own=source, result=result)
        if result is not None:
            result.reshape(-1)[received[place] : received[place + 1]] = kept
        return work
