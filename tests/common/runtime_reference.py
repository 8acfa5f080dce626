"""Runs a plan in one process, with NumPy and loops: slow, simple, and right to the last bit.

Tests compare the engine with this. Every sum is of a rank's own data and then of its children's sums in the order of
the edges; floats of 16 bits are added up in 32 bits and rounded once on each rank.
"""

from collections.abc import Sequence

import numpy as np

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp, bits_to_float, float_to_bits
from forestcoll.runtime.engine.plan import Plan, PlanEntry
from forestcoll.runtime.engine.sizing import Layout


def run_reference(
    plan: Plan,
    layout: Layout,
    inputs: Sequence[AnyArray | None],
    element: ElementType,
    *,
    op: ReduceOp = ReduceOp.SUM,
    factors: Sequence[float] | None = None,
) -> list[AnyArray | None]:
    """Return what each rank has in the end: None for a relay, and for all but the root of a reduce.

    Args:
        plan: what is done.
        layout: where the flows lie.
        inputs: what each rank puts in, one-dimensional: its shard, its vector, or None where it puts in nothing.
        element: the type of the elements.
        op: how vectors are combined.
        factors: of each rank, for PREMUL_SUM.
    """
    run = _Run(plan, inputs, element, op, factors or [1.0] * plan.size)
    full = _gathered(plan, layout, inputs)
    results = [np.zeros_like(full) if rank in plan.members else None for rank in range(plan.size)]
    for number, (offset, count, _) in enumerate(layout.ranges):
        place = slice(offset, offset + count)
        flow = plan.flows[number]
        value = run.reduced(flow, number, place) if flow.reduce else full[place]
        for result in results:
            if result is not None:
                result[place] = value
    return [_kept(plan, layout, rank, result) for rank, result in enumerate(results)]


def _gathered(plan: Plan, layout: Layout, inputs: Sequence[AnyArray | None]) -> AnyArray:
    """Return the data that is broadcast: all shards, or the root's vector; zeros where everything is reduced."""
    sample = next(each for each in inputs if each is not None)
    if plan.collective is Collective.ALLGATHER:
        return np.concatenate([inputs[member] for member in plan.members])
    if plan.collective is Collective.BROADCAST and plan.root is not None:
        root: AnyArray | None = inputs[plan.root]
        return sample if root is None else root
    return np.zeros(layout.count, dtype=sample.dtype)


def _kept(plan: Plan, layout: Layout, rank: int, result: AnyArray | None) -> AnyArray | None:
    if result is None or (plan.collective is Collective.REDUCE and rank != plan.root):
        return None
    if plan.collective is not Collective.REDUCE_SCATTER:
        return result
    place = plan.members.index(rank)
    return result[layout.begins[place] : layout.begins[place] + layout.counts[place]]


class _Run:
    """The sums of one operation."""

    def __init__(
        self,
        plan: Plan,
        inputs: Sequence[AnyArray | None],
        element: ElementType,
        op: ReduceOp,
        factors: Sequence[float],
    ) -> None:
        self._plan, self._inputs, self._element, self._op, self._factors = plan, inputs, element, op, factors
        self._children: dict[tuple[int, int], list[int]] = {}
        for edge in plan.edges:
            if edge.op is PhaseOp.REDUCE:
                self._children.setdefault((edge.flow, edge.hop.target), []).append(edge.hop.source)

    def reduced(self, flow: PlanEntry, number: int, place: slice) -> AnyArray:
        """Return the sum of a flow on its root."""
        with np.errstate(all="ignore"):
            return self._sum(number, flow.root, place, is_root=True)

    def _sum(self, flow: int, rank: int, place: slice, *, is_root: bool) -> AnyArray:
        terms = [self._sum(flow, child, place, is_root=False) for child in self._children.get((flow, rank), ())]
        wide = [self._widen(term) for term in terms]
        own = self._inputs[rank]
        if own is not None and rank in self._plan.members:
            wide.insert(0, self._own(own[place], rank))
        total = wide[0]
        for term in wide[1:]:
            total = self._combined(total, term)
        if is_root and self._op is ReduceOp.AVG:
            total = _divided(total, len(self._plan.members))
        return self._narrow(total)

    def _own(self, values: AnyArray, rank: int) -> AnyArray:
        wide = self._widen(values)
        if self._op is not ReduceOp.PREMUL_SUM:
            return wide
        scaled: AnyArray = wide * wide.dtype.type(self._factors[rank])
        return scaled

    def _combined(self, one: AnyArray, other: AnyArray) -> AnyArray:
        if self._op is ReduceOp.MIN:
            return np.minimum(one, other)
        if self._op is ReduceOp.MAX:
            return np.maximum(one, other)
        return one * other if self._op is ReduceOp.PROD else one + other

    def _widen(self, values: AnyArray) -> AnyArray:
        if self._element is ElementType.BF16:
            return bits_to_float(values.view(np.uint16))
        return values.astype(np.float32) if self._element is ElementType.F16 else values

    def _narrow(self, values: AnyArray) -> AnyArray:
        if self._element is ElementType.BF16:
            sample = next(each for each in self._inputs if each is not None)
            return float_to_bits(values).view(sample.dtype)
        return values.astype(np.float16) if self._element is ElementType.F16 else values


def _divided(total: AnyArray, count: int) -> AnyArray:
    """Return the quotients, integers rounded towards zero."""
    if total.dtype.kind == "f":
        quotient: AnyArray = total / total.dtype.type(count)
        return quotient
    floors = total // total.dtype.type(count)
    rest: AnyArray = total % total.dtype.type(count)
    truncated: AnyArray = (floors + ((total < 0) & (rest != 0))).astype(total.dtype)
    return truncated
