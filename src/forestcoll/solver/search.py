"""From what is asked to its optimum: which search serves it, and which algbw is stated.

One search serves all collectives but allreduce: that of trees whose data flows away from their roots. A collective that
reduces is its dual on the transposed network (`optima.forest_search`), switches that take in more than they send on or
less are balanced first (`optima.unbalanced_switches`), and an allreduce is two forests that share the links in the best
way (`allreduce.search`). Idle compute nodes are switches that copy and add up (`topology.part`): in a balanced network
trees reach the least ratio of a cut, counting ranks only, without copies, and a relay can do what a switch can.

A search says what its forests reach *at least*. They may reach more: two forests of an allreduce may leave room for
each other, and copies on switches and relays save traffic that the search counted. Where the lower limit is the bound
itself, or is known to be exact, it is stated. Everywhere else each candidate's schedule is made, the loads of its links
are added up, and the best one is stated, so that `optimum`, `generate` and `bounds` agree.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.allreduce.search import AllreduceSearch
from forestcoll.collective import Collective
from forestcoll.errors import InputError, InternalError, NoSolutionError
from forestcoll.generation.forest import schedule_for
from forestcoll.optima.forest_search import ForestSearch
from forestcoll.optima.search import Candidate, Search
from forestcoll.optima.unbalanced_switches import UnbalancedSwitchSearch
from forestcoll.optima.value import Optimum, unused_links
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.bound import Bound
from forestcoll.proof.cut import CutProof
from forestcoll.request import Demand
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Link, Topology
from forestcoll.topology.orbits import Orbits
from forestcoll.topology.part import usable_part, widened


@dataclass(frozen=True)
class Solution:
    """An optimum, and what was made on the way to it.

    Attributes:
        optimum: the optimum.
        promised: what the search says is reached at least.
        schedule: the schedule that settled its algbw; None where none had to be made.
        by_trees: where the best number of trees was asked for, the optima of all numbers.
    """

    optimum: Optimum
    promised: Fraction
    schedule: TreeSchedule | None = None
    by_trees: tuple[Optimum, ...] = ()


@dataclass(frozen=True)
class Problem:
    """What is asked of a network, with the search that serves it.

    Attributes:
        topology: the whole network.
        demand: what is asked.
        part: what of the network can be used, its idle compute nodes being switches.
        search: the search on `part`.
        bound: what no schedule beats; its proof is about the whole network.
        cut: a least cut of the whole network, node numbers, rising.
    """

    topology: Topology
    demand: Demand
    part: Topology
    search: Search
    bound: Bound
    cut: tuple[int, ...]

    @staticmethod
    def of(topology: Topology, demand: Demand, progress: Progress, orbits: Orbits | None = None) -> "Problem":
        """Return the problem, searched; `orbits` of the part that can be used save an allreduce a search for them.

        Raises:
            NoSolutionError: how unbalanced switches can be used could not be computed exactly.
            InternalError: a defect: a proof does not prove the bound.
        """
        members = demand.members(topology)
        part = usable_part(topology, members)
        search = _search(part, replace(demand, ranks=None), progress, orbits)
        bound = on_whole(topology, members, search.bound)
        proven = bound.proof.algbw(topology, demand)
        if proven != bound.algbw:
            raise InternalError(f"a proof of {proven} is stated for the bound {bound.algbw}")
        return Problem(topology, demand, part, search, bound, widened(topology, members, search.cut))

    def remark(self, progress: Progress) -> None:
        """Let `progress` know what was left out because it would take too long."""
        if isinstance(self.search, AllreduceSearch):
            self.search.remark(progress)

    def solve(self, trees: int | None = None, progress: Progress = SILENT) -> Solution:
        """Return the optimum with `trees` trees per root, or with the fewest that are best.

        Raises:
            NoSolutionError: so many trees cannot be had.
        """
        candidates = self.search.candidates(trees, progress)
        best = max(candidates, key=lambda each: each.algbw)
        if best.algbw == self.bound.algbw or (best.is_exact and len(candidates) == 1):
            return Solution(self._optimum(best), best.algbw)
        settled = max((self._settled(each, progress) for each in candidates), key=lambda each: each.optimum.algbw)
        return replace(settled, promised=best.algbw)

    def solve_up_to(self, most: int, progress: Progress = SILENT) -> Solution:
        """Return the best of 1 to `most` trees per root, the smallest of equally good numbers.

        No number is tried after the first whose search promises what any number of trees can be promised.

        Raises:
            NoSolutionError: none of the numbers can be had.
        """
        progress.begin("finding the best number of trees")
        unlimited = self._optimum(max(self.search.candidates(), key=lambda each: each.algbw))
        last = min(most, unlimited.trees_per_root)  # so many are promised the most, and fewer may be
        best: Solution | None = None
        optima: list[Optimum] = []
        refusal: NoSolutionError | None = None
        for trees in range(1, last + 1):
            progress.advance(trees - 1, last)
            try:
                found = self.solve(trees, progress)
            except NoSolutionError as error:
                refusal = error
                continue
            optima.append(found.optimum)
            if best is None or found.optimum.algbw > best.optimum.algbw:
                best = found
            if found.promised >= unlimited.algbw or found.optimum.is_optimal:
                break
        if best is None:
            raise refusal or InternalError("no number of trees was tried")
        return replace(best, by_trees=tuple(optima))

    def _optimum(self, found: Candidate) -> Optimum:
        return Optimum(
            topology=self.topology,
            demand=self.demand,
            algbw=found.algbw,
            bound=self.bound,
            cut=self.cut,
            forests=found.forests,
            spare=self._spare(found),
        )

    def _settled(self, found: Candidate, progress: Progress) -> Solution:
        """Return what the schedule of a candidate reaches; what is promised where it cannot fit into the memory."""
        promised = self._optimum(found)
        try:
            schedule = schedule_for(promised, progress=progress)
        except InputError:
            return Solution(promised, found.algbw)
        return Solution(replace(promised, algbw=schedule.algbw), found.algbw, schedule)

    def _spare(self, found: Candidate) -> tuple[Link, ...]:
        if isinstance(self.search, UnbalancedSwitchSearch):
            used = [self.search.search.best.topology]
        elif self.part.has_balanced_switches:
            used = [self.part]
        else:
            used = [plan.topology for plan in found.forests]
        return unused_links(self.topology, used)


def on_whole(topology: Topology, ranks: Collection[int], bound: Bound) -> Bound:
    """Return a bound on the part of a network that `ranks` can use with a proof about the whole network.

    Links that lead nowhere may leave a cut of the part, so the cut is widened; other proofs leave them out themselves.
    """
    if not isinstance(bound.proof, CutProof):
        return bound
    return replace(bound, proof=CutProof(widened(topology, ranks, bound.proof.inside)))


def _search(topology: Topology, demand: Demand, progress: Progress, orbits: Orbits | None) -> Search:
    """Return the search on a network whose compute nodes all take part."""
    if demand.collective is Collective.ALLREDUCE:
        return AllreduceSearch.of(topology, progress, orbits)
    if topology.has_balanced_switches:
        return ForestSearch.of(topology, demand, progress)
    return UnbalancedSwitchSearch.of(topology, demand, progress)
