"""The two forests of an allreduce (ForestColl §5.7, appendix G).

There are two ways to choose them, and the better one counts:

- *halves*: a reduce-scatter and an allgather, each at its own optimum a and a' with all links to itself. Together they
  take 1/a + 1/a' of the time per unit of data, or less where they do not need the same links at once.
- *split*: the plan of the linear program, which says how much each node roots and how each link is shared between the
  two. Each forest is then one of shards of different sizes, on a network with its part of the bandwidth.

No schedule beats the least exit bandwidth of a set with some but not all compute nodes: of the vectors inside, all of
their sum must leave it. Trees often cannot reach that; what bounds them is found in this order, until the halves reach
it: what all nodes must receive (Corollary 2.1 of *On the Computation Rate of All-Reduce*), and the linear program.
"""

from collections.abc import Iterator, Sequence
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
from forestcoll.optima.rooted import cut_set_bound
from forestcoll.optima.unbalanced import UnbalancedSearch
from forestcoll.optima.value import Optimum
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.receipt import ReceiptProof
from forestcoll.proof.tree_dual import PHASES, Roles
from forestcoll.request import Demand
from forestcoll.topology import Topology
from forestcoll.topology.orbits import Orbits

MOST_COLUMNS = 2000
"""The most columns of a linear program that is solved on the way to a schedule: a minute, and mostly far less."""

MOST_PARTS = 2**96
"""The finest parts of its rate that a plan may use if trees are to make it exactly; a finer plan is rounded.

So the numbers of trees stay within the integers of the native core.
"""

ROUNDED_TREES = 2**12
"""How many trees each phase of a plan that is rounded has, or one for each root if these are more."""

_MOST_TRIED = 4
"""How many choices of switches that copy and add are tried."""

Forests = tuple[Optimum, Optimum]
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
        return Halves(ForestSearch(scaled, replace(gathers.found, topology=back)), gathers)

    def forests(self, trees: int | None = None) -> tuple[Fraction, Forests]:
        """Return what the two reach one after the other, with the fewest trees or so many for each root, and them."""
        both = [self.reduces, self.gathers]
        reduces, gathers = (each.best if trees is None else each.restricted(trees) for each in both)
        return 1 / (1 / reduces.algbw + 1 / gathers.algbw), (reduces, gathers)


def _alone(topology: Topology, collective: Collective, progress: Progress) -> ForestSearch:
    if topology.has_balanced_switches:
        return ForestSearch.of(topology, Demand(collective), progress)
    return UnbalancedSearch.of(topology, Demand(collective), progress).search


@dataclass(frozen=True)
class Split:
    """Two forests that share every link as a plan says.

    Attributes:
        topology: the network.
        plan: what each node roots, and what each phase gets of each link.
        roles: what the nodes do.
        progress: is told of stages.
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
        enlisted = self.roles.receivers[phase].difference(self.topology.compute)
        network = self.topology.sharing(shared, enlisted)
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
        cut_bound: no schedule is faster.
        cut: the set of nodes that proves it.
        tree_bound: no schedule of trees is faster.
        ways: the ways to choose the forests; never empty.
        plain: the optimum of trees if switches only pass data on, where its linear program was solved.
        in_network: the bound of trees if switches do what they can, where there are such and it was sought.
        columns_missing: of a linear program that was too large how many columns it would have had, else 0.
    """

    topology: Topology
    cut_bound: Fraction
    cut: tuple[int, ...]
    tree_bound: Fraction
    ways: tuple[Halves | Split, ...]
    plain: AllreduceOptimum | None
    in_network: AllreduceOptimum | None
    columns_missing: int

    @staticmethod
    def of(topology: Topology, progress: Progress, orbits: Orbits | None = None) -> "AllreduceSearch":
        """Return the search on `topology`, by linear programs of at most `MOST_COLUMNS` columns.

        `orbits` are those of a group of symmetries, to save a search for it.

        Raises:
            NoSolutionError: a switch is not balanced, and no linear program was solved exactly.
        """
        halves = Halves.of(topology, progress) if topology.has_balanced_switches else None
        bound = _TreeBound.of(topology, progress, orbits)
        reached = Fraction(0) if halves is None else halves.forests()[0]
        if reached < bound.tree_bound:
            bound.solve(reached)
        ways: list[Halves | Split] = [way for way in (halves, bound.split) if way is not None]
        if not ways:
            ways = [Halves.of(topology, progress)]
        return AllreduceSearch(
            topology=topology,
            cut_bound=bound.cut_bound,
            cut=bound.cut,
            tree_bound=bound.tree_bound,
            ways=tuple(ways),
            plain=bound.plain,
            in_network=bound.in_network,
            columns_missing=bound.columns_missing,
        )

    def remark(self, progress: Progress) -> None:
        """Let `progress` know if the linear program was too large."""
        if self.columns_missing:
            progress.remark(
                f"{self.topology.name}: the linear program of allreduce has {self.columns_missing:,} columns, and "
                f"{MOST_COLUMNS:,} are solved on the way to a schedule; a reduce-scatter and an allgather are taken "
                "one after the other"
            )

    @property
    def best(self) -> Optimum:
        """The fastest way, with the fewest trees that it needs."""
        return self._best_of(way.forests() for way in self.ways)

    def restricted(self, trees: int, progress: Progress = SILENT) -> Optimum:
        """Return the faster way with `trees` trees for each root, on average in a split.

        Raises:
            NoSolutionError: neither is possible with so many.
        """
        progress.begin("finding the best bandwidth for the number of trees")
        return self._best_of(self._possible(trees))

    def _possible(self, trees: int) -> Iterator[tuple[Fraction, Forests]]:
        refusals = []
        for way in self.ways:
            try:
                yield way.forests(trees)
            except NoSolutionError as error:
                refusals.append(error)
        if len(refusals) == len(self.ways):
            raise refusals[0]

    def _best_of(self, candidates: Iterator[tuple[Fraction, Forests]]) -> Optimum:
        algbw, forests = max(candidates, key=lambda each: each[0])
        count = len(self.topology.compute)
        trees = max(ceil(Fraction(each.trees_per_root * sum(each.weights), count)) for each in forests)
        return Optimum(
            topology=self.topology,
            collective=Collective.ALLREDUCE,
            algbw=algbw,
            trees_per_root=trees,
            tree_bandwidth=algbw / (count * trees),
            optimal_algbw=self.cut_bound,
            cut=self.cut,
            phases=forests,
            tree_bound=self.tree_bound,
        )


@dataclass
class _TreeBound:
    """What bounds trees, while it is found, and the plan that comes with it."""

    topology: Topology
    progress: Progress
    orbits: Orbits | None
    cut_bound: Fraction
    cut: tuple[int, ...]
    tree_bound: Fraction
    split: Split | None = None
    plain: AllreduceOptimum | None = None
    in_network: AllreduceOptimum | None = None
    columns_missing: int = 0

    @staticmethod
    def of(topology: Topology, progress: Progress, orbits: Orbits | None) -> "_TreeBound":
        """Return what is bounded without a linear program. Switches that copy and add take no part in Corollary 2.1."""
        progress.begin("finding the bottleneck cut")
        found = cut_set_bound(topology)
        least = (
            found.algbw
            if topology.able_switches
            else min(found.algbw, ReceiptProof().algbw(topology, Demand(Collective.ALLREDUCE)))
        )
        return _TreeBound(topology, progress, orbits, found.algbw, found.cut, least)

    def solve(self, reached: Fraction) -> None:
        """Solve the linear program, and keep its plan if it is faster than what is `reached` without."""
        if self.orbits is None:
            self.progress.begin("looking for a symmetry")
            self.orbits = Orbits.of(self.topology)
        needed = allreduce.columns_needed(self.topology, self.orbits)
        if needed > MOST_COLUMNS:
            self.columns_missing = needed
            return
        if self.topology.able_switches:
            self.in_network = self._solved(self.orbits, Roles.in_network(self.topology))
            self.tree_bound = min(self.tree_bound, self.in_network.upper)
            reached = self._enlist(self.orbits, reached)
        if reached < self.tree_bound:
            self.plain = self._solved(self.orbits, Roles.of(self.topology))
            if not self.topology.able_switches:
                self.tree_bound = min(self.tree_bound, self.plain.upper)
            self._keep(self.plain, Roles.of(self.topology), reached)

    def _enlist(self, orbits: Orbits, reached: Fraction) -> Fraction:
        """Let switches copy and add; those that all data cannot get to fast enough are let go, a few times."""
        enlisted = frozenset(self.topology.able_switches)
        for _ in range(_MOST_TRIED):
            roles = Roles.of(self.topology, enlisted)
            found = self._solved(orbits, roles)
            reached = self._keep(found, roles, reached)
            slow = _slow_switches(self.topology, orbits, found, roles)
            if reached == self.tree_bound or not slow:
                break
            enlisted -= slow
        return reached

    def _solved(self, orbits: Orbits, roles: Roles) -> AllreduceOptimum:
        return allreduce_optimum(self.topology, roles, orbits=orbits, progress=self.progress)

    def _keep(self, found: AllreduceOptimum, roles: Roles, reached: Fraction) -> Fraction:
        """Keep the plan if it is faster, and return what is reached now."""
        if found.plan is None or found.plan.rate <= reached:
            return reached
        self.split = Split(self.topology, found.plan, roles, self.progress)
        return found.plan.rate


def _slow_switches(topology: Topology, orbits: Orbits, found: AllreduceOptimum, roles: Roles) -> frozenset[int]:
    """Return the enlisted switches that limit the rate: the dual has sets that miss them and no compute node."""
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
