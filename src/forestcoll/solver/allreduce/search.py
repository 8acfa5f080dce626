"""The trees of an allreduce (ForestColl §5.7, appendix G).

There are three methods to choose them, and the best result is taken:

- *halves*: a reduce-scatter and an allgather, each at its optimum a and a' as if it had all links. One after the other
  they take the time 1/a + 1/a' per unit of data, or less if they do not need the same links.
- *split*: the plan of the linear program, which states the part that each node is the root of, and how the two forests
  share each link. Each forest then has shards of different sizes, on a network with its share of the bandwidths.
- *packed*: trees that are packed one by one (`tree_packing`), if relays or switches can copy or add up data. Then the
  split is computed only if the packing does not reach the bound.

docs/method.md compares split and packed trees where both are possible.

No schedule is faster than the least exit bandwidth of a set with some but not all compute nodes, because the sum of the
vectors inside must leave the set. Trees often cannot reach this bound. Three further bounds of trees are computed, in
this order, until the halves reach one: the data that all nodes must receive (Corollary 2.1 of *On the Computation Rate
of All-Reduce*), the strength of the network (`strength`), and the linear program. The least bound is stated, with its
proof.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.proof.proof import Proof
from forestcoll.schedule.proof.receipt import ReceiptProof
from forestcoll.schedule.proof.tree_dual import PHASES, Roles, roots_are_free
from forestcoll.solver.allreduce import linear_program
from forestcoll.solver.allreduce.balanced_rounding import rounded
from forestcoll.solver.allreduce.linear_program import AllreduceOptimum, allreduce_optimum
from forestcoll.solver.allreduce.plan import AllreducePlan
from forestcoll.solver.allreduce.strength import strength
from forestcoll.solver.allreduce.tree_packing.packing import MOST_NODES, packed_trees
from forestcoll.solver.forests.apportionment import apportioned
from forestcoll.solver.forests.broadcast import cut_set_bound
from forestcoll.solver.forests.forest_search import ForestSearch
from forestcoll.solver.forests.interface import ForestChoice
from forestcoll.solver.forests.packed_trees import TreePacking
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.unbalanced_switches import UnbalancedSwitchSearch
from forestcoll.topology import Topology
from forestcoll.topology.symmetry.orbits import Orbits

MOST_PARTS = 2**96
"""The largest common denominator for which trees reproduce the parts of a plan exactly; other plans are rounded.

This keeps the numbers of trees within the integers of the native core.
"""

ROUNDED_PARTS = 2**30
"""The parts of the data in each phase of a rounded plan, so that rounding loses about 1e-9."""

_MOST_TRIED = 4
"""The most choices of copying switches that are tried."""

Forests = tuple[ForestPlan, ForestPlan]
"""The forest that reduces, and the forest that broadcasts."""


@dataclass(frozen=True)
class Halves:
    """A reduce-scatter and an allgather, each planned as if it had all links."""

    reduces: ForestSearch
    gathers: ForestSearch

    @staticmethod
    def of(topology: Topology, progress: Progress) -> "Halves":
        """Return the two searches.

        Raises:
            NoSolutionError: a linear program for unbalanced switches could not be solved exactly.
        """
        gathers = _alone(topology, Collective.ALLGATHER, progress)
        if not topology.is_full_duplex:
            return Halves(_alone(topology, Collective.REDUCE_SCATTER, progress), gathers)
        back = topology.transposed()
        scaled = replace(gathers.scaled, topology=back, backwards=True)
        return Halves(ForestSearch(scaled, replace(gathers.found, topology=back), ()), gathers)

    def forests(self, trees: int | None = None) -> tuple[Fraction, Forests]:
        """Return the algbw of the two forests one after the other, and the forests.

        They have `trees` trees for each root, or the fewest that reach the optimum.
        """
        both = [self.reduces, self.gathers]
        reduces, gathers = (each.best if trees is None else each.restricted(trees) for each in both)
        return 1 / (1 / reduces.algbw + 1 / gathers.algbw), (reduces, gathers)

    def candidate(self, trees: int | None = None) -> ForestChoice:
        """Return `forests` as a candidate."""
        return ForestChoice(*self.forests(trees))


def _alone(topology: Topology, collective: Collective, progress: Progress) -> ForestSearch:
    if topology.has_balanced_switches:
        return ForestSearch.of(topology, NodeDemand(collective), progress)
    return UnbalancedSwitchSearch.of(topology, NodeDemand(collective), progress).search


@dataclass(frozen=True)
class Split:
    """Two forests that share every link according to a plan.

    Attributes:
        topology: the network.
        plan: the part that each node is the root of, and the bandwidth of each link for each phase.
        roles: the roles of the nodes.
        progress: receives the stages of the work.
    """

    topology: Topology
    plan: AllreducePlan
    roles: Roles
    progress: Progress

    def forests(self, trees: int | None = None) -> tuple[Fraction, Forests]:
        """Return the algbw and the forests of the plan: exact if possible, or with about `trees` trees for each root.

        Raises:
            NoSolutionError: when the plan is rounded, a switch sends more than it receives, and no trimming was found
                that fixes this.
        """
        count = len(self.topology.compute)
        if trees is not None:
            return self._rounded(trees * count, in_few_trees=True)
        if self._parts() > MOST_PARTS:
            with suppress(NoSolutionError):
                return self._rounded(ROUNDED_PARTS)
        return self._exact()

    def candidate(self, trees: int | None = None) -> ForestChoice:
        """Return `forests` as a candidate. Raises as `forests`."""
        return ForestChoice(*self.forests(trees))

    def _parts(self) -> int:
        """Return the least n such that all numbers of the plan are multiples of rate / n."""
        numbers = {*self.plan.roots, *self.plan.reduce, *self.plan.broadcast}
        return lcm(*((number / self.plan.rate).denominator for number in numbers))

    def _exact(self) -> tuple[Fraction, Forests]:
        rate = self.plan.rate
        rooted = [root / rate for root in self.plan.roots]
        reduces, gathers = (
            ForestSearch.of(*self._part(phase, rooted, self.plan.of_phase(phase)), self.progress, algbw=rate).best
            for phase in PHASES
        )
        return rate, (reduces, gathers)

    def _rounded(self, total: int, *, in_few_trees: bool = False) -> tuple[Fraction, Forests]:
        """Return the algbw and the forests of the plan in `total` parts, or with `total` trees in each phase.

        The unit to which bandwidths are rounded is so small that no cut loses all of its bandwidth.
        """
        counts = apportioned(self.plan.roots, total)
        rooted = [Fraction(count, total) for count in counts]
        finest = len(self.topology.links) * len(self.topology.nodes) * total / self.plan.rate
        forests, used = [], [Fraction(0)] * len(self.topology.links)
        for phase in PHASES:
            shared = self._rounded_links(phase, finest)
            network, demand = self._part(phase, rooted, shared)
            search = ForestSearch.of(network, demand, self.progress)
            trees = total // sum(demand.weights(network))
            forests.append(search.restricted(trees, self.progress) if in_few_trees else search.best)
            used = [before + more for before, more in zip(used, shared, strict=True)]
        too_much = max(use / link.bandwidth for use, link in zip(used, self.topology.links, strict=True))
        return min(each.algbw for each in forests) / max(too_much, Fraction(1)), (forests[0], forests[1])

    def _rounded_links(self, phase: PhaseOp, finest: Fraction) -> list[Fraction]:
        ends = [(link.source, link.target) for link in self.topology.links]
        amounts = [amount * finest for amount in self.plan.of_phase(phase)]
        return [amount / finest for amount in rounded(ends, amounts, self.roles.passive[phase])]

    def _part(
        self, phase: PhaseOp, rooted: Sequence[Fraction], shared: Sequence[Fraction]
    ) -> tuple[Topology, NodeDemand]:
        """Return the network of a phase, and the demand on it."""
        copying = self.roles.receivers[phase].difference(self.topology.compute)
        network = self.topology.sharing(shared, copying)
        shards = tuple(rooted[node] for node in network.compute)
        collective = Collective.REDUCE_SCATTER if phase is PhaseOp.REDUCE else Collective.ALLGATHER
        return network, NodeDemand(collective, shards=shards if len(set(shards)) > 1 else None)


@dataclass(frozen=True)
class Packed:
    """Trees that were packed one by one.

    Attributes:
        topology: the network.
        packing: the trees.
    """

    topology: Topology
    packing: TreePacking

    def candidate(self, trees: int | None = None) -> ForestChoice:
        """Return the trees with their exact weights if these are short, or with about `trees` trees for each root."""
        count, packing = len(self.topology.compute), self.packing
        if trees is None and packing.trees > MOST_PARTS:
            trees = ROUNDED_PARTS // count
        if trees is not None:
            packing = packing.rounded(trees * count)
        return ForestChoice(packing.algbw(self.topology), (), is_exact=True, packing=packing)


Method = Halves | Split | Packed


@dataclass(frozen=True)
class AllreduceSearch:
    """The search for the forests and the bound of an allreduce.

    Attributes:
        topology: the network.
        bound: the least bound found.
        cut: the set with the least exit bandwidth, node numbers in rising order.
        methods: the methods to choose the forests; never empty.
        plain: the optimum of trees if switches only forward data; None if its linear program was not solved.
        columns_missing: the number of columns of a linear program that was too large; 0 if none was.
    """

    topology: Topology
    bound: Bound
    cut: tuple[int, ...]
    methods: tuple[Method, ...]
    plain: AllreduceOptimum | None
    columns_missing: int

    @staticmethod
    def of(topology: Topology, progress: Progress, orbits: Orbits | None = None) -> "AllreduceSearch":
        """Return the search on `topology`, with linear programs of at most `linear_program.MOST_COLUMNS` columns.

        `orbits` are the orbits of a group of symmetries, if they are known already.

        Raises:
            NoSolutionError: a switch is not balanced, and no linear program was solved exactly.
        """
        halves = Halves.of(topology, progress) if topology.has_balanced_switches else None
        found = _Programs.of(topology, progress, orbits)
        reached = Fraction(0) if halves is None else halves.forests()[0]
        if reached < found.bound.algbw:
            found.partition()
        if reached < found.bound.algbw:
            found.solve(reached)
        methods: list[Method] = [each for each in (halves, found.split, found.packed) if each is not None]
        if not methods:
            methods = [Halves.of(topology, progress)]
        return AllreduceSearch(topology, found.bound, found.cut, tuple(methods), found.plain, found.columns_missing)

    def remark(self, progress: Progress) -> None:
        """Report to `progress` if the linear program was too large."""
        if self.columns_missing:
            progress.remark(
                f"{self.topology.name}: the linear program of allreduce has {self.columns_missing:,} columns, and "
                f"at most {linear_program.MOST_COLUMNS:,} are solved for a schedule; a reduce-scatter and an allgather "
                "are used one after the other"
            )

    def candidates(self, trees: int | None = None, progress: Progress = SILENT) -> tuple[ForestChoice, ...]:
        """Return one candidate per method (see `Search.candidates`). In a split, `trees` is a mean over the roots."""
        if trees is not None:
            progress.begin("finding the best bandwidth for the number of trees")
        found: list[ForestChoice] = []
        refusals: list[NoSolutionError] = []
        for method in self.methods:
            try:
                found.append(method.candidate(trees))
            except NoSolutionError as error:
                refusals.append(error)
        if not found:
            raise refusals[0]
        return tuple(found)


def bound_without_programs(topology: Topology, progress: Progress) -> tuple[Bound, tuple[int, ...]]:
    """Return the least bound of an allreduce that needs no linear program, and the least cut."""
    found = _Programs.of(topology, progress, None)
    return found.bound, found.cut


@dataclass
class _Programs:
    """The least bound found so far, and the best plan found so far."""

    topology: Topology
    progress: Progress
    orbits: Orbits | None
    bound: Bound
    cut: tuple[int, ...]
    split: Split | None = None
    packed: Packed | None = None
    plain: AllreduceOptimum | None = None
    columns_missing: int = 0

    @staticmethod
    def of(topology: Topology, progress: Progress, orbits: Orbits | None) -> "_Programs":
        """Return the bounds without a linear program. Corollary 2.1 holds only if no switch can copy or add up."""
        progress.begin("finding the bottleneck cut")
        least = cut_set_bound(topology)
        found = _Programs(topology, progress, orbits, _bound(least.algbw, CutProof(least.cut)), least.cut)
        if not topology.able_switches:
            receipt = ReceiptProof()
            found.tighten(receipt.algbw(topology, NodeDemand(Collective.ALLREDUCE)), receipt)
        return found

    def tighten(self, algbw: Fraction, proof: Proof) -> None:
        """Replace the bound if the given one is less."""
        if algbw < self.bound.algbw:
            self.bound = _bound(algbw, proof)

    def partition(self) -> None:
        """Compute the strength of the network if it is the optimum of trees."""
        proof = strength(self.topology, self.cut, self.progress)
        if proof is not None:
            self.tighten(proof.algbw(self.topology, NodeDemand(Collective.ALLREDUCE)), proof)

    def solve(self, reached: Fraction) -> None:
        """Solve the linear program, and keep its plan if its rate is greater than `reached`."""
        if self.orbits is None:
            self.progress.begin("looking for a symmetry")
            self.orbits = Orbits.of(self.topology)
        needed = linear_program.columns_needed(self.topology, self.orbits)
        if needed > linear_program.MOST_COLUMNS:
            self.columns_missing = needed
            return
        if self.topology.able_switches:
            in_network = self._bounded(self.orbits, Roles.in_network(self.topology))
            self.tighten(in_network.upper, in_network.proof)
            reached = self._with_packing(self.orbits, reached)
            if reached < self.bound.algbw:
                reached = self._with_copying(self.orbits, reached)
        if reached < self.bound.algbw:
            self.plain = self._solved(self.orbits, Roles.of(self.topology))
            if not self.topology.able_switches:
                self.tighten(self.plain.upper, self.plain.proof)
            self._keep(self.plain, Roles.of(self.topology), reached)

    def _with_packing(self, orbits: Orbits, reached: Fraction) -> Fraction:
        """Pack trees, keep them if they are faster, and return the best rate so far."""
        if len(self.topology.nodes) > MOST_NODES:
            return reached
        found = packed_trees(self.topology, orbits, self.bound.algbw, self.progress)
        if found.proof is not None:
            self.tighten(found.proof.algbw(self.topology, NodeDemand(Collective.ALLREDUCE)), found.proof)
        packed = Packed(self.topology, found.packing)
        rate = packed.packing.algbw(self.topology)
        if rate > reached:
            self.packed = packed
        return max(rate, reached)

    def _with_copying(self, orbits: Orbits, reached: Fraction) -> Fraction:
        """Solve the program with copying switches a few times, each time without the switches that limited the rate."""
        copying = frozenset(self.topology.able_switches)
        for _ in range(_MOST_TRIED):
            roles = Roles.of(self.topology, copying)
            found = self._solved(orbits, roles)
            reached = self._keep(found, roles, reached)
            slow = _slow_switches(self.topology, orbits, found, roles)
            if reached == self.bound.algbw or not slow:
                break
            copying -= slow
        return reached

    def _bounded(self, orbits: Orbits, roles: Roles) -> AllreduceOptimum:
        """Return the optimum for `roles`, with equal roots if these are as good as any."""
        equal_roots = roots_are_free(self.topology, roles)
        return allreduce_optimum(self.topology, roles, equal_roots=equal_roots, orbits=orbits, progress=self.progress)

    def _solved(self, orbits: Orbits, roles: Roles) -> AllreduceOptimum:
        return allreduce_optimum(self.topology, roles, orbits=orbits, progress=self.progress)

    def _keep(self, found: AllreduceOptimum, roles: Roles, reached: Fraction) -> Fraction:
        """Keep the plan if it is faster, and return the best rate so far."""
        if found.plan is None or found.plan.rate <= reached:
            return reached
        self.split = Split(self.topology, found.plan, roles, self.progress)
        return found.plan.rate


def _bound(algbw: Fraction, proof: Proof) -> Bound:
    return Bound(Collective.ALLREDUCE, algbw, proof)


def _slow_switches(topology: Topology, orbits: Orbits, found: AllreduceOptimum, roles: Roles) -> frozenset[int]:
    """Return the copying switches that limit the rate: a set of the dual misses them and contains all compute nodes."""
    slow: set[int] = set()
    for cut in found.proof.cuts:
        if cut.weight and set(topology.compute) <= set(cut.inside):
            missed = roles.receivers[cut.phase].difference(cut.inside)
            slow.update(orbits.of_node[node] for node in missed)
    return frozenset(node for node, orbit in enumerate(orbits.of_node) if orbit in slow)
