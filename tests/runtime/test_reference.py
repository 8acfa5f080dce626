"""The plain executor gives NumPy's result on every network; the engine is compared with it."""

from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from players import NETWORKS, data_for, drawn_shards, ops_for

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp, bits_to_float
from forestcoll.runtime.engine.plan import Plan, plan_of
from forestcoll.runtime.engine.sizing import layout_of
from forestcoll.topology import Topology
from networks import demand_for, examples, networks, ranks_for, shards_for
from runtime_reference import run_reference

PLANS = {name: [plan_of(schedule) for schedule in make()] for name, make in NETWORKS.items()}
TOLERANCE = {ElementType.F16: 2e-2, ElementType.BF16: 1e-1, ElementType.F32: 1e-5, ElementType.F64: 1e-13}


@examples(150)
@given(
    st.sampled_from(sorted(PLANS)),
    st.integers(0, 9),
    st.sampled_from(ElementType),
    st.integers(0, 5),
    st.integers(0, 40),
    st.integers(0, 2**31),
)
def test_equal_to_numpy(  # noqa: PLR0917 (what is drawn)
    name: str, place: int, element: ElementType, number: int, units: int, seed: int
) -> None:
    plan = PLANS[name][place % len(PLANS[name])]
    ops = ops_for(element)
    check(plan, element, ops[number % len(ops)], units * 6 * len(plan.members) + (not plan.collective.has_shards), seed)


def check(plan: Plan, element: ElementType, op: ReduceOp, count: int, seed: int) -> None:
    layout = layout_of(plan, count, drawn_shards(plan, count, Random(seed)), element.itemsize)  # noqa: S311 (a test)
    inputs: list[AnyArray | None] = [None] * plan.size
    factors = [1 + rank / 4 for rank in range(plan.size)]
    for place, member in enumerate(plan.members):
        length = layout.counts[place] if plan.collective is Collective.ALLGATHER else count
        inputs[member] = data_for(element, length, seed + member)
    results = run_reference(plan, layout, inputs, element, op=op, factors=factors)
    for place, member in enumerate(plan.members):
        expected = wanted(plan, inputs, element, op, factors)
        result = results[member]
        if result is None:
            assert plan.collective is Collective.REDUCE
            assert member != plan.root
            continue
        if plan.collective is Collective.REDUCE_SCATTER:
            expected = expected[layout.begins[place] :][: layout.counts[place]]
        compare(plan, result, expected, element)


def wanted(
    plan: Plan, inputs: list[AnyArray | None], element: ElementType, op: ReduceOp, factors: list[float]
) -> AnyArray:
    members = [inputs[member] for member in plan.members]
    if plan.collective is Collective.ALLGATHER:
        return np.concatenate([each for each in members if each is not None])
    if plan.collective is Collective.BROADCAST and plan.root is not None:
        root = inputs[plan.root]
        assert root is not None
        return root
    wide = [widened(each, element) for each in members if each is not None]
    if op is ReduceOp.PREMUL_SUM:
        wide = [each * factors[member] for each, member in zip(wide, plan.members, strict=True)]
    stacked = np.stack(wide)
    with np.errstate(all="ignore"):
        return combined(stacked, op, is_float=element.is_float)


def combined(stacked: AnyArray, op: ReduceOp, *, is_float: bool) -> AnyArray:
    if op is ReduceOp.MIN:
        return np.asarray(stacked.min(axis=0))
    if op is ReduceOp.MAX:
        return np.asarray(stacked.max(axis=0))
    if op is ReduceOp.PROD:
        return np.asarray(stacked.prod(axis=0, dtype=stacked.dtype))
    total = np.asarray(stacked.sum(axis=0, dtype=stacked.dtype))
    if op is not ReduceOp.AVG:
        return total
    return total / len(stacked) if is_float else truncated(total, len(stacked))


def truncated(total: AnyArray, count: int) -> AnyArray:
    return np.array([abs(int(each)) // count * (1 if each >= 0 else -1) for each in total], dtype=total.dtype)


def widened(values: AnyArray, element: ElementType) -> AnyArray:
    if element is ElementType.BF16:
        return bits_to_float(values).astype(np.float64)
    return values.astype(np.float64) if element.is_float else values


def compare(plan: Plan, result: AnyArray, expected: AnyArray, element: ElementType) -> None:
    if expected.dtype == result.dtype and element is not ElementType.F64:  # sums of F64 depend on their order
        assert np.array_equal(result, expected)
        return
    with np.errstate(over="ignore"):
        values = widened(result, element)
        if element is ElementType.F16:
            expected = expected.astype(np.float16).astype(np.float64)
    limited = np.isfinite(values) & np.isfinite(expected)
    scale = max(1.0, float(np.abs(expected[limited]).max(initial=0)))
    assert np.allclose(values[limited], expected[limited], rtol=TOLERANCE[element], atol=TOLERANCE[element] * scale)
    assert len(plan.members) == 2 or element is ElementType.F16 or limited.all()


@examples(40)
@given(networks(most=6), st.data())
def test_random_networks(topology: Topology, data: st.DataObject) -> None:
    ranks = data.draw(ranks_for(topology))
    made = [generate(topology, replace(demand_for(topology, each, ranks[0]), ranks=ranks)) for each in SCHEDULED]
    for schedule in (*made, generate(topology, Demand(shards=data.draw(shards_for(topology.compute))))):
        check(plan_of(schedule), ElementType.I32, ReduceOp.SUM, 60 * len(schedule.members), 7)


def test_a_compact_schedule_has_all_trees() -> None:
    compact = generate("ring:nodes=6", method="trees:compact=true")
    assert compact.symmetry is not None
    check(plan_of(compact), ElementType.I32, ReduceOp.SUM, 360, 7)
