"""The exact optimum of an allreduce by linear programming (ForestColl, appendix G), with cutting planes.

`allreduce.plan` states the program: x_v at each root and shares c_RE + c_BC <= b of each link, under one condition for
each phase and each set of nodes. There are too many sets to list, so the program starts with a few. If its solution
violates the condition of another set, a max-flow to some compute node in some phase finds that set, and its condition
is added (Dantzig, Fulkerson and Johnson). Links and nodes of one orbit of a symmetry share a column.

With equal roots on a network whose trees can have their root at any compute node (`proof.tree_dual.roots_are_free`),
the program has *one phase*: the broadcast. The reduce is its reverse, so a pair of opposite links shares the bandwidth
of one of them. This program has half as many columns and conditions, and far fewer solutions of the same value.

When the solution violates no condition by more than rounding errors, the basis is solved in fractions, and conditions
that the exact solution violates are added. In the end, both halves of the proof are checked: the plan is feasible, and
the dual proves its rate. If one half fails, because numbers are too far apart for floating point, the solution is
refined (`exact_lp.refinement`). If this finds no proof either, the result states that it is only a bound.

The exponential program of *On the Computation Rate of All-Reduce*, Theorem 2, over all pairs of an in-tree and an
out-tree with the same root, has the same optimum: by Edmonds' theorem, these trees fit if and only if (1) holds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.base.errors import InternalError
from forestcoll.base.exact import as_float
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.proof.proof import ProofError
from forestcoll.schedule.proof.tree_dual import PHASES, Roles, TreeDualProof, WeightedCut, crossings, roots_are_free
from forestcoll.solver.allreduce.plan import AllreducePlan, flow_network
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import Floats, LinearProgram, Solution
from forestcoll.solver.exact_lp.refinement import Exact
from forestcoll.solver.forests.broadcast import cut_set_bound
from forestcoll.solver.forests.cuts import FlowNetwork
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.registry import load_topology
from forestcoll.topology.symmetry.orbits import Orbits

MOST_COLUMNS = 2000
"""The most columns of the program: one for each orbit of roots and two for each orbit of links.

Such a program takes at most about a minute, and usually much less.
"""

_ENOUGH = 4
"""Bandwidths above this number times the number of nodes times the cut-set bound are reduced to that product.

This keeps the numbers of the program similar in size. A tree has fewer routes than there are nodes, and each route uses
a link at most once. So at any rate up to the cut-set bound, both phases together load a link with less than half of the
product. The price of a reduced link is therefore 0, and proofs hold for the given bandwidths.
"""

_PARTS = 2**40
"""The number that stands for 1 when a floating-point solution is rounded to integers for the core."""

_FINE = 10**6
"""The greatest denominator of a price if the basis is not solved exactly and prices are rounded."""

_TOLERANCE = 1e-7
"""The violation of a condition, relative to the rate, that is accepted in floating point."""


@dataclass(frozen=True)
class AllreduceOptimum:
    """The greatest rate of an allreduce along trees. `allreduce_optimum` returns it.

    Attributes:
        upper: the rate that no schedule of trees exceeds, in the unit of the topology, exact.
        proof: the proof of `upper`.
        plan: a feasible plan; None if no exact plan was found.
        residual: without a plan, the relative amount by which `upper` exceeds the rate found in floating point.

    Example:
        >>> from forestcoll import Collective, load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.solver import allreduce_optimum
        >>> ring = load_topology("ring:nodes=3")
        >>> best = allreduce_optimum(ring)
        >>> str(best.upper), best.plan.rate == best.upper
        ('3/2', True)
        >>> best.proof.algbw(ring, NodeDemand(Collective.ALLREDUCE)) == best.upper
        True
    """

    upper: Fraction
    proof: TreeDualProof
    plan: AllreducePlan | None
    residual: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the plan reaches the bound. Then both are the optimum."""
        return self.plan is not None and self.plan.rate == self.upper


def of_reversed(topology: Topology, values: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return, for each link of a full duplex network, the value of the link in the opposite direction."""
    numbers = topology.link_numbers
    return tuple(values[numbers[link.target, link.source]] for link in topology.links)


def columns_needed(topology: Topology, orbits: Orbits) -> int:
    """Return the number of columns of the program for `topology`."""
    return len(orbits.first_compute(topology)) + 2 * len(orbits.link_sizes)


def allreduce_optimum(
    topology: TopologyLike,
    roles: Roles | None = None,
    *,
    equal_roots: bool = False,
    orbits: Orbits | None = None,
    progress: Progress = SILENT,
) -> AllreduceOptimum:
    """Return the optimum of an allreduce along trees on `topology`.

    Args:
        topology: the network. Its switches may be unbalanced.
        roles: the roles of the nodes; by default, switches only forward data. Trees reach the optimum for roles made by
            `Roles.of`. For `Roles.in_network` it is a bound, and it is not known whether schedules reach it.
        equal_roots: whether every compute node is the root of the same part. The result is then the best rate of a
            reduce-scatter and an allgather that run at the same time and share the links. On full duplex networks whose
            nodes copy if and only if they add up, it is the optimum of all roots.
        orbits: the orbits of a group of symmetries, if they are known already.
        progress: receives the stages of the work.

    Returns:
        The optimum, in the unit of the topology, with its proof and a plan that reaches it.

    Raises:
        InternalError: a defect of forestcoll.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.solver import allreduce_optimum
        >>> best = allreduce_optimum(load_topology("ring:nodes=4"))
        >>> str(best.upper), best.exact
        ('4/3', True)
    """
    topology = load_topology(topology)
    progress.begin("solving the linear program of allreduce")
    roles = roles or Roles.of(topology)
    return _RateProgram(topology, orbits or Orbits.of(topology), roles, equal_roots=equal_roots).run(progress)


class _RateProgram:
    """The program with the conditions found so far.

    Columns, one per orbit: roots, then links in the reduce, then links in the broadcast.
    """

    def __init__(self, topology: Topology, orbits: Orbits, roles: Roles, *, equal_roots: bool) -> None:
        self._topology, self._orbits, self._roles, self._equal_roots = topology, orbits, roles, equal_roots
        self._scaled = ScaledTopology.of(topology)
        self._phases = PHASES[1:] if equal_roots and roots_are_free(topology, roles) else PHASES
        able = frozenset(topology.compute) if equal_roots else roles.roots
        roots = [node for node in orbits.first_nodes if node in able]
        self._root_column = {orbits.of_node[node]: 0 if equal_roots else place for place, node in enumerate(roots)}
        columns = 1 if equal_roots else len(roots)
        self._first = {phase: columns + place * len(orbits.link_sizes) for place, phase in enumerate(self._phases)}
        objective = [0] * (columns + len(self._phases) * len(orbits.link_sizes))
        for orbit, column in self._root_column.items():
            objective[column] += orbits.node_sizes[orbit]
        enough = _ENOUGH * len(topology.nodes) * int(cut_set_bound(topology).algbw / self._scaled.unit)
        self._capacities = [min(capacity, enough) for capacity in self._scaled.capacities]
        self._program = LinearProgram(objective, scale=max(self._capacities))
        self._meaning: list[tuple[PhaseOp, tuple[int, ...]] | tuple[PhaseOp, int] | None] = []
        self._known: set[tuple[PhaseOp, tuple[int, ...]]] = set()
        self._add_capacities()
        self._add_balances()
        self._add_first_cuts()

    def _add_capacities(self) -> None:
        """Add one condition for each orbit of links or, in one phase, of pairs of opposite links."""
        for orbit, other in enumerate(self._orbits.of_reversed(self._topology) if self._one_phase else ()):
            if other >= orbit:
                columns = Counter(self._first[PhaseOp.BROADCAST] + each for each in (orbit, other))
                self._add(Constraint(columns, None, self._capacities[self._orbits.first_links[orbit]]), None)
        for orbit, link in enumerate(() if self._one_phase else self._orbits.first_links):
            columns = Counter(first + orbit for first in self._first.values())
            self._add(Constraint(columns, None, self._capacities[link]), None)

    @property
    def _one_phase(self) -> bool:
        return len(self._phases) == 1

    def _add_balances(self) -> None:
        for phase in self._phases:
            for switch in self._orbits.first_nodes:
                if switch in self._roles.passive[phase]:
                    self._add(Constraint(self._surplus(phase, switch), 0, 0), (phase, switch))

    def _surplus(self, phase: PhaseOp, switch: int) -> dict[int, int]:
        surplus: dict[int, int] = {}
        for link, orbit in zip(self._topology.links, self._orbits.of_link, strict=True):
            if switch in (link.source, link.target):
                column = self._first[phase] + orbit
                surplus[column] = surplus.get(column, 0) + (1 if link.target == switch else -1)
        return surplus

    def _add_first_cuts(self) -> None:
        everything = range(len(self._topology.nodes))
        for phase in self._phases:
            for node in self._receivers(phase):
                self._add_cut(phase, tuple(each for each in everything if each != node))
                self._add_cut(phase, (node,))

    def _receivers(self, phase: PhaseOp) -> list[int]:
        """Return one receiver of each orbit."""
        return [node for node in self._orbits.first_nodes if node in self._roles.receivers[phase]]

    def _add(self, row: Constraint, meaning: tuple[PhaseOp, tuple[int, ...]] | tuple[PhaseOp, int] | None) -> None:
        self._program.add(row)
        self._meaning.append(meaning)

    def _add_cut(self, phase: PhaseOp, inside: tuple[int, ...]) -> bool:
        """Add the condition of a set, and return whether it is new."""
        if (phase, inside) in self._known:
            return False
        self._known.add((phase, inside))
        row: dict[int, int] = {}
        for node in inside:
            column = self._root_column.get(self._orbits.of_node[node])
            if column is not None:
                row[column] = row.get(column, 0) + 1
        for orbit, count in crossings(self._topology, self._orbits, phase, inside).items():
            row[self._first[phase] + orbit] = -count
        self._add(Constraint(row, None, 0), (phase, inside))
        return True

    def run(self, progress: Progress) -> AllreduceOptimum:
        rounds = 1
        while (answer := self._round()) is None:
            progress.advance(rounds, 0)
            rounds += 1
        progress.note({"allreduce_rounds": rounds, "allreduce_rows": len(self._program.rows)})
        return answer

    def _round(self) -> AllreduceOptimum | None:
        """Solve the program; return None if its solution violates conditions, which are then added."""
        solution = self._program.attempt()
        if solution is not None and self._add_broken(solution.values):
            return None
        for values, prices in self._exact(solution):
            plan = self._plan(values)
            if self._add_exactly_broken(plan):
                return None
            answer = self._answer(plan, self._proof(prices))
            if answer.exact:
                return answer
        return self._numerical(solution or self._program.solve())

    def _exact(self, solution: Solution | None) -> Iterator[Exact]:
        """Yield exact values and prices: of the basis of a solution, and if this does not prove an optimum, refined."""
        exact = None if solution is None else self._program.exact(solution)
        if exact is not None and min(exact[0]) >= 0:
            yield exact
        exact = self._program.refined()
        if exact is not None:
            yield exact

    def _add_broken(self, values: Floats) -> bool:
        """Add conditions that a floating-point solution violates; return whether there are any."""
        whole = _PARTS / max(1e-9, as_float(values.max()))
        parts = [max(0, int(each)) for each in np.rint(values * whole)]
        roots, uses = self._spread(parts)
        rate = sum(roots)
        return self._add_less_than(roots, uses, rate - int(_TOLERANCE * rate))

    def _add_exactly_broken(self, plan: AllreducePlan) -> bool:
        network_parts = {
            phase: flow_network(self._topology, phase, plan.roots, plan.of_phase(phase)) for phase in self._phases
        }
        return self._add_cuts((phase, network, plan.rate * whole) for phase, (network, whole) in network_parts.items())

    def _add_less_than(self, roots: Sequence[int], uses: dict[PhaseOp, list[int]], enough: int) -> bool:
        exact_roots = [Fraction(each) for each in roots]
        networks = (
            (phase, flow_network(self._topology, phase, exact_roots, [Fraction(each) for each in uses[phase]])[0])
            for phase in self._phases
        )
        return self._add_cuts((phase, network, Fraction(enough)) for phase, network in networks)

    def _add_cuts(self, questions: Iterator[tuple[PhaseOp, FlowNetwork, Fraction]]) -> bool:
        """Add a cut for each tested target that receives too little, one per orbit; return whether any is new."""
        added = False
        source = len(self._topology.nodes)
        for phase, network, enough in questions:
            for target in self._receivers(phase):
                cut = network.least_cut(source, target)
                if cut.capacity < enough:
                    added |= self._add_cut(phase, tuple(node for node in cut.inside if node != source))
        return added

    def _spread(self, values: Sequence[int]) -> tuple[list[int], dict[PhaseOp, list[int]]]:
        """Return for each node, and for each link in each phase, the value of the column of its orbit."""
        roots = [
            values[self._root_column[orbit]] if orbit in self._root_column else 0 for orbit in self._orbits.of_node
        ]
        uses = {
            phase: [values[first + orbit] for orbit in self._orbits.of_link] for phase, first in self._first.items()
        }
        return roots, uses

    def _plan(self, values: Sequence[Fraction]) -> AllreducePlan:
        unit = self._scaled.unit
        columns = [value * unit for value in values]
        zero = Fraction(0)
        roots = (
            columns[self._root_column[each]] if each in self._root_column else zero for each in self._orbits.of_node
        )
        uses = {
            phase: tuple(columns[first + orbit] for orbit in self._orbits.of_link)
            for phase, first in self._first.items()
        }
        broadcast = uses[PhaseOp.BROADCAST]
        if self._one_phase:
            return AllreducePlan(tuple(roots), of_reversed(self._topology, broadcast), broadcast)
        return AllreducePlan(tuple(roots), uses[PhaseOp.REDUCE], broadcast)

    def _proof(self, prices: Sequence[Fraction]) -> TreeDualProof:
        cuts = []
        potentials: dict[PhaseOp, dict[int, Fraction]] = {phase: {} for phase in PHASES}
        for meaning, price in zip(self._meaning, prices, strict=True):
            if meaning is None or not price:
                continue
            phase, what = meaning
            if isinstance(what, tuple):
                cuts.append(WeightedCut(phase, what, max(price, Fraction(0))))
            else:
                self._set_potential(potentials[phase], what, price)
        if self._one_phase:
            cuts += [WeightedCut(PhaseOp.REDUCE, cut.inside, cut.weight) for cut in cuts]
            potentials[PhaseOp.REDUCE] = {node: -each for node, each in potentials[PhaseOp.BROADCAST].items()}
        return TreeDualProof(tuple(cuts), potentials, self._orbits.symmetry, equal_roots=self._one_phase)

    def _set_potential(self, potentials: dict[int, Fraction], switch: int, price: Fraction) -> None:
        orbit = self._orbits.of_node[switch]
        for node, other in enumerate(self._orbits.of_node):
            if other == orbit:
                potentials[node] = price / self._orbits.node_sizes[orbit]

    def _answer(self, plan: AllreducePlan, proof: TreeDualProof) -> AllreduceOptimum:
        """Return the optimum with both halves of the proof, each checked independently."""
        fault = plan.fault(self._topology, self._roles)
        return AllreduceOptimum(self._proven(proof), proof, plan if fault is None else None)

    def _numerical(self, solution: Solution) -> AllreduceOptimum:
        """Return the bound that rounded prices prove: it is exact as a bound, but it may be above the optimum."""
        proof = self._proof([Fraction(as_float(price)).limit_denominator(_FINE) for price in solution.prices])
        upper = self._proven(proof)
        reached = self._program.reached(solution.values)
        wanted = as_float(upper / self._scaled.unit / max(self._capacities), self._program.unit)
        return AllreduceOptimum(upper, proof, None, residual=abs(wanted / reached - 1))

    def _proven(self, proof: TreeDualProof) -> Fraction:
        try:
            return proof.allreduce_rate(self._topology, self._roles, equal_roots=self._equal_roots)
        except ProofError as error:
            raise InternalError(f"the dual of an allreduce's linear program proves nothing: {error}") from error
