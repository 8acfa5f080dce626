"""Trees that reach the optimum (ForestColl): what most collectives are made of.

Source: L. Zhao et al., "ForestColl: Throughput-Optimal Collective Communications on Heterogeneous Network Fabrics"
(arXiv:2402.06787).
"""

from dataclasses import dataclass, replace
from typing import cast

from forestcoll.algorithms.method import DoesNotApplyError, Generated, Method, Problem, methods
from forestcoll.base.parameters import choice, count, flag
from forestcoll.base.progress import Progress
from forestcoll.demand.collective import SCHEDULED
from forestcoll.schedule.proof.optimum import CollectiveOptimum
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.value import RelayGain, TreeOptimum
from forestcoll.solver.generation.growing import TreeSearch
from forestcoll.solver.optimum import optimum_without_relays, solve

MOST_EXCHANGES = 2**22
"""The most exchanges of parents that are looked at to make trees shorter; each takes 8 bytes."""


@methods.add(
    "trees",
    summary="Trees that reach the optimum; growing them is fast, and packing them always succeeds.",
    by_size=["trees", "trees:shorter=true", "trees:peers=2"],
)
@dataclass(frozen=True)
class Trees(Method):
    """Trees that reach the optimum, or the best for a number of trees.

    Attributes:
        k: the number of trees per root, in an allreduce the mean over the roots. If all switches are balanced, the
            result is the best with that number, except for an allreduce. For an allreduce and for unbalanced switches,
            bandwidths or weights are rounded, and it is the best that is found; `bound` states the distance.
        most: the most trees per root. The result is the best that `k` finds for 1 to `most`, with the smallest of
            equally good numbers.
        peers: the most ranks of other boxes that a rank exchanges data with. The result is the optimum of a logical
            network (`topology.logical_network`); `bound` is still that of all schedules.
        search: how trees are found: `fast` grows them, `proven` packs them as in the paper, and `auto` packs those that
            cannot be grown.
        shorter: whether trees exchange parents, which makes them shorter and leaves the load of each link as it is.
        compact: whether the schedule lists base trees and a symmetry of the network, if there is a symmetry.

    Example:
        >>> from forestcoll import Trees, generate
        >>> generate("mi250:boxes=2,gpus=8", "allgather", Trees(k=4)).trees_per_root
        4
    """

    collectives = SCHEDULED
    takes = frozenset({"ranks", "shards"})

    k: int | None = count("few that reach the optimum", "trees per root")
    most: int | None = count("no limit", "the best number of trees per root up to this")
    peers: int | None = count("no limit", "most ranks of other boxes that a rank meets")
    search: str = choice("auto", "how trees are found", *TreeSearch)
    shorter: bool = flag("exchange parents, so that trees are shorter")
    compact: bool = flag("list base trees and a symmetry")

    def problem(self) -> str | None:
        """Two numbers of trees exclude each other, and so do two forms."""
        if self.k is not None and self.most is not None:
            return "k and most exclude each other; give one of them"
        return "shorter and compact exclude each other; give one of them" if self.shorter and self.compact else None

    def optimum(self, problem: Problem) -> TreeOptimum:
        """Return the optimum that the trees reach."""
        if self.k is None and self.most is None and self.peers is None:
            return cast("TreeOptimum", problem.optimum)
        counts = {"trees": self.k, "max_trees": self.most, "max_peers": self.peers}
        return solve(problem.topology, problem.demand, **counts, progress=problem.progress)

    def schedule(self, problem: Problem) -> TreeSchedule:
        """Return the trees."""
        return self._reaching(self.optimum(problem), problem)

    def generated(self, problem: Problem) -> Generated:
        """Return the trees and the optimum, with the algbw that the loads of the links allow."""
        best = self.optimum(problem)
        schedule = self._reaching(best, problem)
        return Generated(schedule, replace(best, algbw=schedule.algbw))

    def _reaching(self, best: TreeOptimum, problem: Problem) -> TreeSchedule:
        from forestcoll.solver.generation.forest import schedule_for

        found = schedule_for(best, search=TreeSearch(self.search), compact=self.compact, progress=problem.progress)
        return self._shortened(found) if self.shorter else found

    def _shortened(self, schedule: TreeSchedule) -> TreeSchedule:
        from forestcoll.solver.generation.shorter_trees import with_shorter_trees

        exchanges = len(schedule.members) * max(map(len, schedule.phases)) ** 2
        if exchanges > MOST_EXCHANGES:
            text = f"{exchanges:,} exchanges of parents are possible; at most {MOST_EXCHANGES:,} are looked at"
            raise DoesNotApplyError(f"{self.name}: {text}; leave shorter out")
        return with_shorter_trees(schedule)

    def with_gain(self, best: CollectiveOptimum, progress: Progress) -> CollectiveOptimum:
        """Return the optimum with what idle nodes gain as relays, unless peers are limited."""
        if not isinstance(best, TreeOptimum) or best.logical is not None:
            return best
        if len(best.members) == len(best.topology.compute):
            return best
        without = optimum_without_relays(best, trees=self.k, max_trees=self.most, progress=progress)
        return replace(best, relays=RelayGain(best.algbw, None if without is None else without.algbw))


@methods.add("fast", summary="Trees that are grown; an error if they cannot be grown.")
@dataclass(frozen=True)
class FastTrees(Trees):
    """Trees that are grown, and an error if they cannot be grown: `trees:search=fast`."""

    search: str = choice("fast", "how trees are found", "fast")


@methods.add("proven", summary="Trees that are packed by the proven method of the paper.")
@dataclass(frozen=True)
class ProvenTrees(Trees):
    """Trees that are packed by the proven method of the paper: `trees:search=proven`."""

    search: str = choice("proven", "how trees are found", "proven")
