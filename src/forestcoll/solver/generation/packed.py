"""The phases of a schedule from trees that were packed one by one."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase
from forestcoll.solver.forests.packed_trees import PackedTree, TreePacking


def packed_phases(packing: TreePacking) -> tuple[Rows, tuple[Phase, ...]]:
    """Return the table of routes, and the reduce and the broadcast phase. Each arc of a tree is a route."""
    return tree_phases(((PhaseOp.REDUCE, packing.reduce), (PhaseOp.BROADCAST, packing.broadcast)), packing.weight)


def tree_phases(
    trees: Iterable[tuple[PhaseOp, Sequence[PackedTree]]], whole: Fraction
) -> tuple[Rows, tuple[Phase, ...]]:
    """Return the table of routes and the phases of trees, whose weights in each phase add up to `whole`."""
    numbers: dict[tuple[int, ...], int] = {}
    phases = tuple(_phase(op, each, whole, numbers) for op, each in trees)
    return Rows.of(list(numbers)), phases


def _phase(op: PhaseOp, trees: Sequence[PackedTree], whole: Fraction, numbers: dict[tuple[int, ...], int]) -> Phase:
    """Return a phase, and add its routes to `numbers`. A reduce uses the arcs reversed, the last one first."""
    reduces = op is PhaseOp.REDUCE
    listed = [[arc[::-1] for arc in reversed(tree.arcs)] if reduces else list(tree.arcs) for tree in trees]
    return Phase(
        op=op,
        roots=tuple(tree.root for tree in trees),
        shares=tuple(tree.weight / whole for tree in trees),
        routes=Rows.of([[numbers.setdefault(route, len(numbers)) for route in routes] for routes in listed]),
    )
