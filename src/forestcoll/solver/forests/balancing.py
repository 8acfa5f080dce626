"""The largest balanced use of a network with unbalanced switches: a linear program, solved exactly.

A switch that cannot copy sends only what it received. So the links that a schedule of trees uses are a *balanced use*
of the network: a bandwidth u <= b for each link such that every switch receives as much as it sends. If all switches
are balanced, trees reach the least ratio of a cut (ForestColl §4). So what trees reach on the whole network is the
greatest rate x for which a balanced use u exists with

    u(links that leave S) >= x * w(S)   for each set S of nodes that misses a terminal,                             (1)

where w are the weights of `request`. The link loads of a schedule are a balanced use with (1). Conversely, a balanced
use with (1) is a network of balanced switches, on which trees reach x. Of all uses with the greatest rate, the one with
the least unused bandwidth is taken.

There are too many sets to list, so the program starts with a few (cutting planes: Dantzig, Fulkerson and Johnson). If
its solution violates the condition of another set, the core's bottleneck search finds the most violated one, which is
added. A column is the unused bandwidth of a link. It is 0 for most links, so the basis stays small. The condition that
a link has no more unused bandwidth than its bandwidth is also added only when it is violated.

The basis is solved in fractions. Both halves of the result are then checked independently of it: the use is balanced
and its bottleneck is x, and weights of cuts with potentials of switches prove that no balanced use has a greater rate
(a `TreeDualProof` with one phase).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.exact import as_float
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.proof.tree_dual import Roles, TreeDualProof, WeightedCut
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import Floats, LinearProgram
from forestcoll.solver.forests.node_order import NodeOrder
from forestcoll.solver.forests.scaling import ScaledTopology, unbalanced_switch
from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import unreachable_pair

_PARTS = 2**40
"""The number that stands for 1 when a floating-point solution is rounded to integers for the core."""

_TOLERANCE = 1e-9
"""The violation of a condition, relative to the rate, that is accepted in floating point."""

_MOST_ROUNDS = 5000
"""The most rounds in which conditions are added; then the program counts as not solvable."""


@dataclass(frozen=True)
class BalancedUse:
    """The bandwidth of each link that can be used if all switches are balanced, at the greatest rate.

    Attributes:
        topology: the network with these bandwidths, without the links that cannot be used.
        rate: x, for a weight of 1, in the unit of the topology.
        proof: the proof that no balanced use has a greater rate, for a broadcast on the given network.
    """

    topology: Topology
    rate: Fraction
    proof: TreeDualProof


def balanced_use(scaled: ScaledTopology, progress: Progress = SILENT) -> BalancedUse:
    """Return the balanced use of `scaled.topology` with the greatest rate. Its terminals must reach each other.

    Raises:
        NoSolutionError: the linear program could not be solved in fractions.
    """
    if unbalanced_switch(scaled.topology, scaled.capacities) is None:
        return _whole_network(scaled)
    progress.begin("balancing switches")
    order = NodeOrder.of(scaled)
    found = _balanced_use(order.scaled, progress)
    return BalancedUse(order.restored(found.topology), found.rate, _renumbered(found.proof, order.given))


def _renumbered(proof: TreeDualProof, numbers: Sequence[int]) -> TreeDualProof:
    """Return a proof without a symmetry with another number for each node."""
    cuts = (replace(cut, inside=tuple(sorted(numbers[node] for node in cut.inside))) for cut in proof.cuts)
    potentials = {
        phase: {numbers[node]: each for node, each in of_nodes.items()} for phase, of_nodes in proof.potentials.items()
    }
    return TreeDualProof(tuple(cuts), potentials)


def _balanced_use(scaled: ScaledTopology, progress: Progress) -> BalancedUse:
    program = _BalanceProgram(scaled, progress)
    rate, unused = program.best_rate()
    proof = program.proof
    least = _BalanceProgram(scaled, progress, rate=rate, cuts=program.cuts).least_unused()
    unused = unused if least is None else least
    links = tuple(
        replace(link, bandwidth=link.bandwidth - scaled.unit * spare)
        for link, spare in zip(scaled.topology.links, unused, strict=True)
        if link.bandwidth > scaled.unit * spare
    )
    return BalancedUse(replace(scaled.topology, links=links), rate * scaled.unit, proof)


def _whole_network(scaled: ScaledTopology) -> BalancedUse:
    """Return the use of a network whose switches are balanced: all of it. The bottleneck cut is the proof."""
    core, problem = scaled.problem(scaled.capacities, scaled.whole * scaled.total)
    held, leaving, inside = core.bottleneck(problem)
    proof = TreeDualProof((WeightedCut(PhaseOp.BROADCAST, tuple(sorted(inside)), Fraction(1)),), {})
    return BalancedUse(scaled.topology, Fraction(leaving, held) * scaled.unit, proof)


def rate_proven(proof: TreeDualProof, scaled: ScaledTopology) -> Fraction:
    """Return the rate, for a weight of 1, that no balanced use exceeds if no switch copies, in units of capacity.

    Raises:
        ProofError: the proof proves nothing.
    """
    weights = [Fraction(weight) for weight in scaled.weights]
    return proof.forest_rate(scaled.topology, Roles.of(scaled.topology), PhaseOp.BROADCAST, weights) / scaled.unit


class _BalanceProgram:
    """The linear program with the conditions found so far.

    Columns: the unused bandwidth of each link at a switch, then the rate. If `rate` is given, the rate is no column,
    and the program minimises the unused bandwidth.
    """

    def __init__(
        self,
        scaled: ScaledTopology,
        progress: Progress,
        *,
        rate: Fraction | None = None,
        cuts: Iterable[frozenset[int]] = (),
    ) -> None:
        self._scaled, self._progress, self._rate = scaled, progress, rate
        topology = scaled.topology
        switches = set(topology.switches)
        links = topology.links
        self._column = {
            link: column
            for column, link in enumerate(
                number for number, each in enumerate(links) if each.source in switches or each.target in switches
            )
        }
        self._whole = 1 if rate is None else rate.denominator
        self._weights = dict(zip(topology.compute, scaled.weights, strict=True))
        count = len(self._column)
        objective = [0] * count + [1] if rate is None else [-1] * count
        self._program = LinearProgram(objective, scale=max(scaled.capacities) * self._whole)
        self._meaning: list[int | frozenset[int] | None] = []
        self._limited: set[int] = set()
        self._known: set[frozenset[int]] = set()
        self._only_exact = False  # whether the floating-point solver has failed
        self.proof = TreeDualProof((), {})
        self._add_balances()
        everything = frozenset(range(len(topology.nodes)))
        for cut in [*cuts, *(everything - {node} for node in topology.compute)]:
            self._add_cut(cut)

    @property
    def cuts(self) -> tuple[frozenset[int], ...]:
        """The sets whose conditions were added, in the order in which they were found."""
        return tuple(each for each in self._meaning if isinstance(each, frozenset))

    def _add_balances(self) -> None:
        """Add for each switch: unused bandwidth of its links in, minus that of its links out, is its surplus."""
        topology = self._scaled.topology
        rows: dict[int, dict[int, int]] = {switch: {} for switch in topology.switches}
        surplus = dict.fromkeys(topology.switches, 0)
        for number, link in enumerate(topology.links):
            for end, sign in ((link.target, 1), (link.source, -1)):
                if end in rows:
                    rows[end][self._column[number]] = sign
                    surplus[end] += sign * self._scaled.capacities[number]
        for switch, row in rows.items():
            if row:
                side = surplus[switch] * self._whole
                self._program.add(Constraint(row, side, side))
                self._meaning.append(switch)

    def _add_cut(self, inside: frozenset[int]) -> bool:
        """Add the condition of a set, and return whether it is new."""
        held = sum(self._weights.get(node, 0) for node in inside)
        if inside in self._known or not held:
            return False
        self._known.add(inside)
        row: dict[int, int] = {}
        leaving = 0
        for number, link in enumerate(self._scaled.topology.links):
            if link.source in inside and link.target not in inside:
                leaving += self._scaled.capacities[number]
                if number in self._column:
                    row[self._column[number]] = 1
        side = leaving * self._whole
        if self._rate is None:
            row[len(self._column)] = held
        else:
            side -= self._rate.numerator * held
        self._program.add(Constraint(row, None, side))
        self._meaning.append(inside)
        return True

    def _limit(self, links: Iterable[int]) -> bool:
        """Limit the unused bandwidth of `links` to their bandwidth; return whether any limit is new."""
        new = [link for link in links if link not in self._limited]
        for link in new:
            self._limited.add(link)
            self._program.add(Constraint({self._column[link]: 1}, None, self._scaled.capacities[link] * self._whole))
            self._meaning.append(None)
        return bool(new)

    def best_rate(self) -> tuple[Fraction, list[Fraction]]:
        """Return the greatest rate and the unused bandwidth of each link; `proof` is then the proof of the rate."""
        values, prices = self._solved()
        unused = self._unused(values)
        rate = values[-1]
        self.proof = self._proof(prices)
        if self._bottleneck(unused)[0] != rate or rate_proven(self.proof, self._scaled) != rate:
            raise self._unsolved()
        return rate, unused

    def least_unused(self) -> list[Fraction] | None:
        """Return the unused bandwidth of each link at the given rate, or None without an exact solution."""
        try:
            values, _ = self._solved()
        except NoSolutionError:
            return None
        unused = self._unused(values)
        return unused if self._rate is not None and self._bottleneck(unused)[0] >= self._rate else None

    def _solved(self) -> tuple[list[Fraction], list[Fraction]]:
        """Return exact values that satisfy all conditions, and prices.

        Raises:
            NoSolutionError: no exact solution was found.
        """
        for _ in range(_MOST_ROUNDS):
            self._progress.advance(len(self._program.rows), 0)
            if (exact := self._attempt()) is None:
                continue
            if not self._add_exactly_broken(exact[0]):
                return exact
        raise self._unsolved()

    def _attempt(self) -> tuple[list[Fraction], list[Fraction]] | None:
        """Return exact values and prices for the conditions found so far, or None if a condition was added.

        Raises:
            NoSolutionError: no exact solution was found.
        """
        if not self._only_exact:
            solution = self._program.attempt()
            if solution is not None:
                if self._add_broken(solution.values):
                    return None
                exact = self._program.exact(solution)
                if exact is not None and self._program.proves(*exact):
                    return exact
            self._only_exact = True
        exact = self._program.refined()
        if exact is None:
            raise self._unsolved()
        return exact

    def _unsolved(self) -> NoSolutionError:
        topology = self._scaled.topology
        return NoSolutionError(
            f"{topology.name}: the linear program for its unbalanced switches could not be solved exactly; give "
            "bandwidths with fewer digits, or give each switch the same total bandwidth in both directions"
        )

    def _add_broken(self, values: Floats) -> bool:
        """Add conditions that a floating-point solution violates; return whether there are any."""
        scale = max(self._scaled.capacities)
        share = values[: len(self._column)]
        capacities = [self._scaled.capacities[link] / scale for link in self._column]
        over = [
            link
            for link, spare, capacity in zip(self._column, share.tolist(), capacities, strict=True)
            if spare > capacity * (1 + _TOLERANCE) + 1e-15
        ]
        if self._limit(over):
            return True
        left = [each * _PARTS // scale for each in self._scaled.capacities]
        for link, spare in zip(self._column, share.tolist(), strict=True):
            left[link] = max(0, left[link] - round(spare * _PARTS))
        wanted = as_float(values[-1]) * _PARTS if self._rate is None else as_float(self._rate * _PARTS / scale)
        held, leaving, inside = self._bottleneck_of(left)
        return held * wanted * (1 - _TOLERANCE) > leaving and self._add_cut(inside)

    def _add_exactly_broken(self, values: Sequence[Fraction]) -> bool:
        whole = self._whole
        over = [link for link, column in self._column.items() if values[column] > self._scaled.capacities[link] * whole]
        if self._limit(over):
            return True
        wanted = values[-1] if self._rate is None else self._rate
        reached, inside = self._bottleneck(self._unused(values))
        return reached < wanted and self._add_cut(inside)

    def _unused(self, values: Sequence[Fraction]) -> list[Fraction]:
        unused = [Fraction(0)] * len(self._scaled.capacities)
        for link, column in self._column.items():
            unused[link] = values[column] / self._whole
        return unused

    def _bottleneck(self, unused: Sequence[Fraction]) -> tuple[Fraction, frozenset[int]]:
        """Return the least ratio of exit capacity to weight of a set, without `unused`, and a set with this ratio."""
        left = [capacity - spare for capacity, spare in zip(self._scaled.capacities, unused, strict=True)]
        whole = lcm(*(each.denominator for each in left))
        held, leaving, inside = self._bottleneck_of([int(each * whole) for each in left])
        return Fraction(leaving, held * whole), inside

    def _bottleneck_of(self, capacities: Sequence[int]) -> tuple[int, int, frozenset[int]]:
        """Return the weight, the exit capacity and the nodes of a bottleneck cut; a capacity may be 0."""
        links = self._scaled.topology.links
        positive = capacities
        open_links = tuple(link for link, capacity in zip(links, capacities, strict=True) if capacity)
        if unreachable_pair(replace(self._scaled.topology, links=open_links), self._scaled.topology.compute):
            # A small amount added to each capacity keeps all ratios defined; it is too small to change their order.
            fine = len(capacities) * self._scaled.whole**2 + 1
            positive = [capacity * fine + 1 for capacity in capacities]
        core, problem = self._scaled.problem(positive, self._scaled.whole * sum(positive))
        held, _, nodes = core.bottleneck(problem)
        inside = frozenset(nodes)
        leaving = (
            capacity
            for link, capacity in zip(links, capacities, strict=True)
            if link.source in inside and link.target not in inside
        )
        return held, sum(leaving), inside

    def _proof(self, prices: Sequence[Fraction]) -> TreeDualProof:
        cuts = []
        potentials: dict[int, Fraction] = {}
        for meaning, price in zip(self._meaning, prices, strict=True):
            if isinstance(meaning, frozenset) and price > 0:
                cuts.append(WeightedCut(PhaseOp.BROADCAST, tuple(sorted(meaning)), price))
            elif isinstance(meaning, int) and price:
                potentials[meaning] = -price
        return TreeDualProof(tuple(cuts), {PhaseOp.BROADCAST: potentials})
