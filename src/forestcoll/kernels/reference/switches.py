"""Switch removal as Algorithm 3 states it: every egress link of a switch is paired with every ingress link.

The amounts come from Theorem 6, by complete max-flows. The stock of a logical arc is a list of shares; each share is
an amount and the physical path that it takes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from forestcoll.base.errors import InternalError
from forestcoll.kernels.interface import ReportProgress
from forestcoll.kernels.reference.network import Arc, Capacities, Problem, max_flow, with_arcs

Path: TypeAlias = tuple[int, ...]
Stock: TypeAlias = list[tuple[Path, int]]


@dataclass
class LogicalNetwork:
    """Capacities between terminals, and the stock of paths of each arc; see `Core.remove_switches`."""

    capacities: Capacities
    stocks: dict[Arc, Stock] = field(default_factory=dict)

    def arcs(self) -> tuple[list[int], list[int], list[int]]:
        """See `interface.LogicalNetwork.arcs`."""
        present = [(arc, capacity) for arc, capacity in self.capacities.items() if capacity]
        return [arc[0] for arc, _ in present], [arc[1] for arc, _ in present], [capacity for _, capacity in present]


def split_capacity(problem: Problem, supply: int, way: tuple[int, int, int], amount: int) -> int:
    """See `Core.split_capacity`."""
    return _split_capacity(problem, problem.arc_capacities(), supply, way, amount)


def _split_capacity(
    problem: Problem, capacities: Capacities, supply: int, way: tuple[int, int, int], amount: int
) -> int:
    u, w, t = way
    source = problem.nodes
    supplies = problem.supplies(supply)
    fed = with_arcs(capacities, ((source, *each) for each in supplies.items()))
    unlimited = sum(fed.values()) + 1
    demand = sum(supplies.values())
    for v in problem.terminals:
        outside = with_arcs(fed, [(u, source, unlimited), (u, t, unlimited), (v, w, unlimited)])
        amount = min(amount, max_flow(outside, u, w)[0] - demand)
        inside = with_arcs(fed, [(w, source, unlimited), (u, t, unlimited), (v, t, unlimited)])
        amount = min(amount, max_flow(inside, w, t)[0] - demand)
    return max(amount, 0)


def remove_switches(problem: Problem, supply: int, progress: ReportProgress = None) -> LogicalNetwork:
    """See `Core.remove_switches`."""
    capacities = problem.arc_capacities()
    logical = LogicalNetwork(capacities, {arc: [(arc, capacity)] for arc, capacity in capacities.items() if capacity})
    switches = sorted(set(range(problem.nodes)) - set(problem.terminals))
    for place, switch in enumerate(switches):
        _remove(problem, logical, supply, switch)
        if progress is not None:
            progress(place + 1, len(switches))
    return logical


def _remove(problem: Problem, logical: LogicalNetwork, supply: int, w: int) -> None:
    capacities = logical.capacities
    sources = [tail for (tail, head), capacity in capacities.items() if head == w and capacity]
    for t in [head for (tail, head), capacity in capacities.items() if tail == w and capacity]:
        for u in sorted(sources, key=lambda node: node == t):  # capacity back to its origin comes last
            amount = min(capacities[u, w], capacities[w, t])
            if amount:
                amount = _split_capacity(problem, capacities, supply, (u, w, t), amount)
                _split(logical, u, w, t, amount)
        if capacities[w, t]:
            raise InternalError(f"switch number {w} could not be split off")
    for u in sources:  # ingress capacity beyond the egress capacity leads nowhere
        capacities[u, w] = 0
        logical.stocks[u, w] = []


def _split(logical: LogicalNetwork, u: int, w: int, t: int, amount: int) -> None:
    logical.capacities[u, w] -= amount
    logical.capacities[w, t] -= amount
    joined: Stock = []

    def take_second(first: Path, part: int) -> None:
        take(logical.stocks[w, t], part, lambda second, piece: joined.append((join(first, second), piece)))

    take(logical.stocks[u, w], amount, take_second)
    if u != t:
        logical.capacities[u, t] = logical.capacities.get((u, t), 0) + amount
        logical.stocks.setdefault((u, t), [])[:0] = joined


def take(stock: Stock, amount: int, use: Callable[[Path, int], None]) -> None:
    """Take `amount` from the end of `stock`; call `use` with each path and how much of it was taken."""
    while amount:
        path, available = stock.pop()
        part = min(amount, available)
        use(path, part)
        amount -= part
        if available > part:
            stock.append((path, available - part))


def join(first: Path, second: Path) -> Path:
    """Return the path along `first` and then `second`, with detours removed."""
    nodes = list(first)
    for node in second[1:]:
        if node in nodes:
            del nodes[nodes.index(node) + 1 :]
        else:
            nodes.append(node)
    return tuple(nodes)
