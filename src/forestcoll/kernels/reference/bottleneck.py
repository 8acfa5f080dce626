"""The throughput bottleneck cut by Newton's method on cuts: one max-flow for each terminal and ratio (§4, §5.2)."""

from fractions import Fraction

from forestcoll.kernels.interface import ReportProgress
from forestcoll.kernels.reference.network import Capacities, Problem, max_flow, with_arcs


def bottleneck(problem: Problem, progress: ReportProgress = None) -> tuple[int, int, list[int]]:
    """See `Core.bottleneck`."""
    capacities = problem.arc_capacities()
    everything = set(range(problem.nodes))
    without_one = (everything - {terminal} for terminal in problem.terminals)
    cuts = [each for each in without_one if _weight_inside(problem, each)]  # others bound nothing
    cut = max(cuts, key=lambda each: _ratio(problem, capacities, each))
    for place, terminal in enumerate(problem.terminals):
        while (worse := _overwhelmed(problem, capacities, terminal, _ratio(problem, capacities, cut))) is not None:
            cut = worse
        if progress is not None:
            progress(place + 1, len(problem.terminals))
    return _weight_inside(problem, cut), _exit_capacity(capacities, cut), sorted(cut)


def supply_reaches_all(problem: Problem, supply: int, progress: ReportProgress = None) -> bool:
    """See `Core.supply_reaches_all`."""
    capacities = problem.arc_capacities()
    for place, terminal in enumerate(problem.terminals):
        fed, _ = _feed(problem, capacities, terminal, supply)
        if fed < sum(problem.supplies(supply).values()):
            return False
        if progress is not None:
            progress(place + 1, len(problem.terminals))
    return True


def _ratio(problem: Problem, capacities: Capacities, cut: set[int]) -> Fraction:
    return Fraction(_weight_inside(problem, cut), _exit_capacity(capacities, cut))


def _weight_inside(problem: Problem, cut: set[int]) -> int:
    return sum(weight for terminal, weight in problem.supplies(1).items() if terminal in cut)


def _exit_capacity(capacities: Capacities, cut: set[int]) -> int:
    return sum(capacity for (tail, head), capacity in capacities.items() if tail in cut and head not in cut)


def _overwhelmed(problem: Problem, capacities: Capacities, terminal: int, ratio: Fraction) -> set[int] | None:
    """Return a cut without `terminal` whose ratio is greater than `ratio`, or None."""
    scaled = {arc: capacity * ratio.numerator for arc, capacity in capacities.items()}
    fed, inside = _feed(problem, scaled, terminal, ratio.denominator)
    return inside if fed < sum(problem.supplies(ratio.denominator).values()) else None


def _feed(problem: Problem, capacities: Capacities, terminal: int, supply: int) -> tuple[int, set[int]]:
    source = problem.nodes
    fed = with_arcs(capacities, ((source, *each) for each in problem.supplies(supply).items()))
    value, source_side = max_flow(fed, source, terminal)
    isolated = set(range(problem.nodes)) - {end for arc in fed for end in arc}
    return value, (source_side | isolated) - {source}
