"""The fast path of the verifier: the rules about routes and trees, and the loads of links, in compiled code.

The compiled code (`native/verify`) shares no code with what makes schedules. It decides only whether all of these rules
hold. If it does not accept a schedule, the rules in Python decide, and describe the first fault. They also decide if a
schedule has sources and targets, and if arrays or numbers are unusual: the compiled code takes rows of 32-bit integers
and sums that fit into 64 bits.
"""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.trees.value import Phase
from forestcoll.verification.network import BoolArray

if TYPE_CHECKING:
    from forestcoll.schedule import _schedules
    from forestcoll.verification.trees.context import TreeContext


def base_loads(context: "TreeContext") -> npt.NDArray[np.int64] | None:
    """Return the load of each link by base trees, as in `TreeContext.loads`, if all rules about routes and trees hold.

    Return None if one of them may be broken. The rules about form, phases, shards and symmetry must hold.
    """
    from forestcoll.schedule._schedules import examine

    if context.schedule.sources is not None or context.load_type is not np.int64:
        return None
    routes = context.schedule.routes.compiled()
    phases = [
        _phase(context, phase, units) for phase, units in zip(context.schedule.phases, context.units, strict=True)
    ]
    if routes is None or not all(phases):
        return None
    network = context.network
    return examine(
        _marks(network.is_compute),
        _marks(_members(context)),
        _marks(network.is_compute | np.any([network.can_join(each.op) for each in context.schedule.phases], axis=0)),
        network.sources.astype(np.int32),
        network.targets.astype(np.int32),
        routes,
        [phase for phase in phases if phase is not None],
    )


def _phase(context: "TreeContext", phase: Phase, units: list[int]) -> "_schedules.Phase | None":
    """Return a phase as the compiled code takes it, or None if it is unusual."""
    from forestcoll.schedule._schedules import Phase as CompiledPhase

    trees = phase.routes.compiled()
    if trees is None or any(unit < 1 for unit in units) or not all(map(_is_short, phase.roots)):
        return None
    return CompiledPhase(
        trees,
        np.array(phase.roots, dtype=np.int32),
        np.array(units, dtype=np.int64),
        _marks(_possible_roots(context, phase.op)),
        _marks(context.network.is_compute | context.network.can_join(phase.op)),
        phase.op is PhaseOp.REDUCE,
    )


def _is_short(number: int) -> bool:
    """Return whether `number` is an integer that fits in 32 bits; callers may give other types."""
    return type(number) is int and number.bit_length() < 32


def _members(context: "TreeContext") -> BoolArray:
    members = np.zeros(context.network.size, dtype=np.bool_)
    members[list(context.compute)] = True
    return members


def _possible_roots(context: "TreeContext", op: PhaseOp) -> BoolArray:
    """Return which nodes may be the root of a tree: in an allreduce without a symmetry, also places on the way."""
    if context.schedule.collective is not Collective.ALLREDUCE or context.schedule.symmetry is not None:
        return _members(context)
    return context.network.is_compute | context.network.can_join(op)


def _marks(marks: BoolArray) -> npt.NDArray[np.uint8]:
    return marks.view(np.uint8)
