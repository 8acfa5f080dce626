"""The best breadth-first schedule on the network of an expression, instead of the expanded schedule.

The cost is counted, on a degree expansion at the nodes of its base. The degree expansion of a bidirectional network
with a bandwidth-optimal breadth-first schedule is bandwidth-optimal too: at each step the links share their work
equally, and the shards of the other copies of a node come at step 2 over all its links.
"""

from dataclasses import dataclass
from functools import cached_property

from forestcoll.design.breadth_first import breadth_first_cost_of, breadth_first_sends
from forestcoll.design.constructions import Construction, Expansion
from forestcoll.design.expansions.degree_expansion import DegreeExpansion
from forestcoll.design.measure import MAX_DEGREE, Cost, least_factor
from forestcoll.design.sends import Sends
from forestcoll.design.wiring import Wiring


@dataclass(frozen=True)
class BreadthFirst(Expansion):
    """The network of an expression, with the breadth-first schedule instead of the expanded schedule."""

    @staticmethod
    def least_cost(base: Construction) -> Cost:
        """Return a lower bound on the cost of the best breadth-first schedule, counted at one node.

        The degree of `base`, or of the base of a degree expansion, is at most `MAX_DEGREE`.
        """
        inner, copies = _counted_network(base)
        return _cost_by_formula(base) or inner.wiring.cost_at_first_node(copies)

    @staticmethod
    def of(base: Construction) -> "BreadthFirst":
        """Return the network of `base` with its best breadth-first schedule."""
        return BreadthFirst.like(base, name=f"BFB({base.name})", cost=_cost(base), is_breadth_first=True)

    @cached_property
    def wiring(self) -> Wiring:
        return self.base.wiring

    def sends(self) -> Sends:
        return breadth_first_sends(self.wiring)

    def to_document(self) -> dict[str, object]:
        return {"rescheduled": self.base.to_document()}


def _cost(construction: Construction) -> Cost:
    """Return the cost of the best breadth-first allgather on the network of an expression."""
    inner, copies = _counted_network(construction)
    if construction.nodes_are_equivalent and inner.degree <= MAX_DEGREE:
        return BreadthFirst.least_cost(construction)
    return _cost_by_formula(construction) or breadth_first_cost_of(inner.wiring, copies)


def _counted_network(construction: Construction) -> tuple[Construction, int]:
    """Return the network at whose nodes the cost is counted, and the number of copies of each node."""
    if isinstance(construction, DegreeExpansion):
        return construction.base, construction.copies
    return construction, 1


def _cost_by_formula(construction: Construction) -> Cost | None:
    """Return the cost on a degree expansion, if it is known without counting."""
    if not isinstance(construction, DegreeExpansion):
        return None
    base = construction.base
    if base.is_bidirectional and base.is_breadth_first and base.is_bandwidth_optimal:
        return Cost(max(base.cost.steps, 2), least_factor(construction.nodes))
    return None
