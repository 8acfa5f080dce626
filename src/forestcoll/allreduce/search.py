"""The two forests of an allreduce (ForestColl §5.7, appendix G).

There are two methods to choose them, and the better one counts:

- *halves*: a reduce-scatter and an allgather, each at its own optimum a and a' with all links to itself. Together they
  take 1/a + 1/a' of the time per unit of data, or less where they do not need the same links at once.
- *split*: the plan of the linear program, which says how much each node roots and how each link is shared between the
  two. Each forest is then one of shards of different sizes, on a network with its part of the bandwidth.

No schedule beats the least exit bandwidth of a set with some but not all compute nodes: the whole sum of the vectors
inside must leave it. Trees often cannot reach that. What bounds them is found in this order, until the halves reach it:
what all nodes must receive (Corollary 2.1 of *On the Computation Rate of All-Reduce*), and the linear program. The
least of these bounds is stated, with its proof.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, lcm

from forestcoll.allreduce import program as allreduce
from forestcoll.allreduce.balanced_rounding import rounded
from forestcoll.allreduce.plan import AllreducePlan
from forestcoll.allreduce.program import AllreduceOptimum, allreduce_optimum
from forestcoll.collective import Collective, PhaseOp
from forestcoll.errors import NoSolutionError
from forestcoll.optima.forest_search import ForestSearch
from forestcoll.optima.plan import ForestPlan
from forestcoll.optima.rooted import cut_set_bound
from forestcoll.optima.search import Candidate
from forestcoll.optima.unbalanced_switches import UnbalancedSwitchSearch
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.bound import Bound
from forestcoll.proof.cut import CutProof
from forestcoll.proof.proof import Proof
from forestcoll.proof.receipt import ReceiptProof
from forestcoll.proof.tree_dual import PHASES, Roles
from forestcoll.request import Demand
from forestcoll.topology import Topology
from forestcoll.topology.orbits import Orbits

MOST_PARTS = 2**96
"""The finest parts of its rate that a plan may use if trees are to make it exactly; a finer plan is rounded.

So the numbers of trees stay within the integers of the native core.
"""

ROUNDED_TREES = 2**12
"""How many trees each phase of a plan that is rounded has, or one for each root if these are more."""

_MOST_TRIED = 4
"""How many choices of switches that copy and add are tried."""

Forests = tuple[ForestPlan, ForestPlan]
"""The trees that reduce, and those that gather."""


@dataclass(frozen=True)
class Halves:
    """A reduce-scatter and an allgather, each as if it were alone."""

    reduces: ForestSearch
    gathers: ForestSearch

    @staticmethod
    def of(topology: Topology, progress: Progress) -> "Halves":
        """Return the two searches.

        Raises:
            NoSolutionError: how unbalanced switches can be used could not be computed exactly.
        """
        gathers = _alone(topology, Collective.ALLGATHER, progress)
        if not is_its_own_transpose(topology):
            return Halves(_alone(topology, Collective.REDUCE_SCATTER, progress), gathers)
        back = topology.transposed()
        scaled = replace(gathers.scaled, topology=back, backwards=True)
        return Halves(ForestSearch(scaled, replace(gathers.found, topology=back), ()), gathers)

    def forests(self, trees: int | None = None) -> tuple[Fraction, Forests]:
        """Return what the two reach one after the other, with the fewest trees or so many for each root, and them."""
        both = [self.reduces, self.gathers]
        reduces, gathers = (each.best if trees is None else each.restricted(trees) for each in both)
        return 1 / (1 / reduces.algbw + 1 / gathers.algbw), (reduces, gathers)


def _alone(topology: Topology, collective: Collective, progress: Progress) -> ForestSearch:
    if topology.has_balanced_switches:
        return ForestSearch.of(topology, Demand(collective), progress)
    return UnbalancedSwitchSearch.of(topology, Demand(collective), progress).search


@dataclass(frozen=True)
class Split:
    """Two forests that share every link as a plan says.

    Attributes:
        topology: the network.
        plan: what each node roots, and what each phase gets of each link.
        roles: what the nodes do.
        progress: is kept informed of the stages.
    """

    topology: Topology
    plan: AllreducePlan
    roles: Roles
    progress: Progress

    def forests(self, trees: int | None = None) -> tuple[Fraction, Forests]:
        """Return what the plan reaches, exactly if that is possible or with about so many trees for each root.

        Raises:
            NoSolutionError: a switch becomes unbalanced for good when the plan is rounded.
        """
        count = len(self.topology.compute)
        if trees is None and self._parts() > MOST_PARTS:
            trees = ceil(ROUNDED_TREES / count)
        return self._exact() if trees is None else self._rounded(trees * count)

    def _parts(self) -> int:
        """Return of how many equal parts of the rate the plan's numbers are multiples."""
        numbers = {*self.plan.roots, *self.plan.reduce, *self.plan.broadcast}
        return lcm(*((number / self.plan.rate).denominator for number in numbers))

    def _exact(self) -> tuple[Fraction, Forests]:
        rate = self.plan.rate
        rooted = [root / rate for root in self.plan.roots]
        reduces, gathers = (
            ForestSearch.of(*self._asked(phase, rooted, self.plan.of_phase(phase)), self.progress, algbw=rate).best
            for phase in PHASES
        )
        return rate, (reduces, gathers)

    def _rounded(self, total: int) -> tuple[Fraction, Forests]:
        """Return `total` trees a phase.

        Bandwidths are rounded so finely that no cut can lose the last of what must cross it.
        """
        counts = _apportioned(self.plan.roots, total)
        rooted = [Fraction(count, total) for count in counts]
        finest = len(self.topology.links) * len(self.topology.nodes) * total / self.plan.rate
        forests, used = [], [Fraction(0)] * len(self.topology.links)
        for phase in PHASES:
            shared = self._rounded_links(phase, finest)
            network, demand = self._asked(phase, rooted, shared)
            search = ForestSearch.of(network, demand, self.progress)
            forests.append(search.restricted(total // sum(demand.weights(network)), self.progress))
            used = [before + more for before, more in zip(used, shared, strict=True)]
        too_much = max(use / link.bandwidth for use, link in zip(used, self.topology.links, strict=True))
        return min(each.algbw for each in forests) / max(too_much, Fraction(1)), (forests[0], forests[1])

    def _rounded_links(self, phase: PhaseOp, finest: Fraction) -> list[Fraction]:
        ends = [(link.source, link.target) for link in self.topology.links]
        amounts = [amount * finest for amount in self.plan.of_phase(phase)]
        return [amount / finest for amount in rounded(ends, amounts, self.roles.passive[phase])]

    def _asked(self, phase: PhaseOp, rooted: Sequence[Fraction], shared: Sequence[Fraction]) -> tuple[Topology, Demand]:
        """Return the network of a phase, and what it is asked for."""
        copying = self.roles.receivers[phase].difference(self.topology.compute)
        network = self.topology.sharing(shared, copying)
        shards = tuple(rooted[node] for node in network.compute)
        collective = Collective.REDUCE_SCATTER if phase is PhaseOp.REDUCE else Collective.ALLGATHER
        return network, Demand(collective, shards=shards if len(set(shards)) > 1 else None)


def _apportioned(amounts: Sequence[Fraction], total: int) -> list[int]:
    """Return integers that add up to `total` and are as the amounts (Hamilton's method)."""
    exact = [amount * total / sum(amounts) for amount in amounts]
    counts = [floor(amount) for amount in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: (counts[place] - exact[place], place))
    for place in by_remainder[: total - sum(counts)]:
        counts[place] += 1
    return counts


@dataclass(frozen=True)
class AllreduceSearch:
    """What an allreduce can reach on a network, and what bounds it.

    Attributes:
        topology: the network.
        bound: the least bound that was found.
        cut: the set of nodes of the least exit bandwidth, node numbers, rising.
        methods: the methods to choose the forests; never empty.
        plain: the optimum of trees if switches only pass data on, where its linear program was solved.
        columns_missing: of a linear program that was too large how many columns it would have had, else 0.
    """

    topology: Topology
    bound: Bound
    cut: tuple[int, ...]
    methods: tuple[Halves | Split, ...]
    plain: AllreduceOptimum | None
    columns_missing: int

    @staticmethod
    def of(topology: Topology, progress: Progress, orbits: Orbits | None = None) -> "AllreduceSearch":
        """Return the search on `topology`, by linear programs of at most `program.MOST_COLUMNS` columns.

        `orbits` are those of a group of symmetries, to save a search for it.

        Raises:
            NoSolutionError: a switch is not balanced, and no linear program was solved exactly.
        """
        halves = Halves.of(topology, progress) if topology.has_balanced_switches else None
        found = _Programs.of(topology, progress, orbits)
        reached = Fraction(0) if halves is None else halves.forests()[0]
        if reached < found.bound.algbw:
            found.solve(reached)
        methods: list[Halves | Split] = [method for method in (halves, found.split) if method is not None]
        if not methods:
            methods = [Halves.of(topology, progress)]
        return AllreduceSearch(topology, found.bound, found.cut, tuple(methods), found.plain, found.columns_missing)

    def remark(self, progress: Progress) -> None:
        """Let `progress` know if the linear program was too large."""
        if self.columns_missing:
            progress.remark(
                f"{self.topology.name}: the linear program of allreduce has {self.columns_missing:,} columns, and "
                f"{allreduce.MOST_COLUMNS:,} are solved on the way to a schedule; a reduce-scatter and an allgather "
                "are taken one after the other"
            )

    def candidates(self, trees: int | None = None, progress: Progress = SILENT) -> tuple[Candidate, ...]:
        """As `Search.candidates`: one of each method, with `trees` trees for each root, on average in a split."""
        if trees is not None:
            progress.begin("finding the best bandwidth for the number of trees")
        found: list[Candidate] = []
        refusals: list[NoSolutionError] = []
        for method in self.methods:
            try:
                found.append(Candidate(*method.forests(trees)))
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
    """The bound of trees while it is found, and the plan that comes with it."""

    topology: Topology
    progress: Progress
    orbits: Orbits | None
    bound: Bound
    cut: tuple[int, ...]
    split: Split | None = None
    plain: AllreduceOptimum | None = None
    columns_missing: int = 0

    @staticmethod
    def of(topology: Topology, progress: Progress, orbits: Orbits | None) -> "_Programs":
        """Return what is bounded without a linear program. Switches that copy and add take no part in Corollary 2.1."""
        progress.begin("finding the bottleneck cut")
        least = cut_set_bound(topology)
        found = _Programs(topology, progress, orbits, _bound(least.algbw, CutProof(least.cut)), least.cut)
        if not topology.able_switches:
            receipt = ReceiptProof()
            found.tighten(receipt.algbw(topology, Demand(Collective.ALLREDUCE)), receipt)
        return found

    def tighten(self, algbw: Fraction, proof: Proof) -> None:
        """Take a bound in place of the one so far if it is less."""
        if algbw < self.bound.algbw:
            self.bound = _bound(algbw, proof)

    def solve(self, reached: Fraction) -> None:
        """Solve the linear program, and keep its plan if it is faster than what is `reached` without."""
        if self.orbits is None:
            self.progress.begin("looking for a symmetry")
            self.orbits = Orbits.of(self.topology)
        needed = allreduce.columns_needed(self.topology, self.orbits)
        if needed > allreduce.MOST_COLUMNS:
            self.columns_missing = needed
            return
        if self.topology.able_switches:
            in_network = self._solved(self.orbits, Roles.in_network(self.topology))
            self.tighten(in_network.upper, in_network.proof)
            reached = self._let_copy(self.orbits, reached)
        if reached < self.bound.algbw:
            self.plain = self._solved(self.orbits, Roles.of(self.topology))
            if not self.topology.able_switches:
                self.tighten(self.plain.upper, self.plain.proof)
            self._keep(self.plain, Roles.of(self.topology), reached)

    def _let_copy(self, orbits: Orbits, reached: Fraction) -> Fraction:
        """Let switches copy and add, a few times, each time without those that all data cannot get to fast enough."""
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

    def _solved(self, orbits: Orbits, roles: Roles) -> AllreduceOptimum:
        return allreduce_optimum(self.topology, roles, orbits=orbits, progress=self.progress)

    def _keep(self, found: AllreduceOptimum, roles: Roles, reached: Fraction) -> Fraction:
        """Keep the plan if it is faster, and return what is reached now."""
        if found.plan is None or found.plan.rate <= reached:
            return reached
        self.split = Split(self.topology, found.plan, roles, self.progress)
        return found.plan.rate


def _bound(algbw: Fraction, proof: Proof) -> Bound:
    return Bound(Collective.ALLREDUCE, algbw, proof)


def _slow_switches(topology: Topology, orbits: Orbits, found: AllreduceOptimum, roles: Roles) -> frozenset[int]:
    """Return the copying switches that limit the rate: the dual has sets that miss them and no compute node."""
    slow: set[int] = set()
    for cut in found.proof.cuts:
        if cut.weight and set(topology.compute) <= set(cut.inside):
            missed = roles.receivers[cut.phase].difference(cut.inside)
            slow.update(orbits.of_node[node] for node in missed)
    return frozenset(node for node, orbit in enumerate(orbits.of_node) if orbit in slow)


def is_its_own_transpose(topology: Topology) -> bool:
    """Return whether each link has one of the same bandwidth back: then what flows can flow backwards as well."""
    bandwidths = {(link.source, link.target): link.bandwidth for link in topology.links}
    return all(bandwidths.get((target, source)) == each for (source, target), each in bandwidths.items())
