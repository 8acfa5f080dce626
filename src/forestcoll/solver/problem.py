"""An `OptimumProblem` selects the search for a demand. Its `TreeOptimum` states the algbw, the bound and the forests.

All collectives except allreduce use the search for trees whose data flows away from their roots. A collective that only
reduces is solved as its dual on the transposed network (`forests.forest_search`). Unbalanced switches are
balanced first (`forests.unbalanced_switches`). An allreduce is two forests that share the links (`allreduce.search`).
Idle compute nodes become switches that copy and add up (`topology.graph.part`), because a relay can do everything that
a switch can. In a balanced network, trees without copies reach the bound of the bottleneck cut, in
which only ranks count.

A search states an algbw that its forests reach *at least*. They may reach more: the two forests of an allreduce may
need different links, and copies on switches and relays save traffic that the search counted. If this lower limit equals
the bound, or is known to be exact, it is stated. If not, the schedule of each candidate is made, the loads of its links
are added up, and the best algbw is stated. So `optimum`, `generate` and `bounds` agree.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from forestcoll.base.errors import InputError, InternalError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.solver.forests.forest_search import ForestSearch
from forestcoll.solver.forests.interface import ForestChoice, OptimumSearch
from forestcoll.solver.forests.value import TreeOptimum, unused_links
from forestcoll.topology import Link, Topology
from forestcoll.topology.graph.logical_network import LogicalNetwork
from forestcoll.topology.graph.part import usable_part, widened
from forestcoll.topology.symmetry.orbits import Orbits


@dataclass(frozen=True)
class OptimumProblem:
    """A demand on a network, with its search.

    Attributes:
        topology: the whole network.
        demand: the demand.
        part: the part of the network that can be used, with idle compute nodes as switches.
        search: the search on `part`.
        bound: the bound, with a proof for the whole network.
        cut: a least cut of the whole network, node numbers in rising order.
    """

    topology: Topology
    demand: NodeDemand
    part: Topology
    search: OptimumSearch
    bound: Bound
    cut: tuple[int, ...]

    @staticmethod
    def of(
        topology: Topology, demand: NodeDemand, progress: Progress, orbits: Orbits | None = None
    ) -> "OptimumProblem":
        """Return the problem after its search. `orbits` are those of the usable part, if they are known already.

        Raises:
            InputError: the collective moves along flows.
            NoSolutionError: a linear program for unbalanced switches could not be solved exactly.
            InternalError: a defect of forestcoll: a proof does not prove the bound.
        """
        if demand.collective.is_personalised:
            named = demand.collective.with_article
            raise InputError(f"{named} moves along flows, not along trees; use the method flows")
        members = demand.members(topology)
        part = usable_part(topology, members)
        search = _search(part, replace(demand, ranks=None), progress, orbits)
        bound = on_whole(topology, members, search.bound)
        proven = bound.proof.algbw(topology, demand)
        if proven != bound.algbw:
            raise InternalError(f"the proof of the bound {bound.algbw} proves {proven}")
        return OptimumProblem(topology, demand, part, search, bound, widened(topology, members, search.cut))

    def remark(self, progress: Progress) -> None:
        """Report to `progress` if a linear program was not solved because it was too large."""
        if self.demand.collective is not Collective.ALLREDUCE:
            return
        from forestcoll.solver.allreduce.search import AllreduceSearch

        if isinstance(self.search, AllreduceSearch):
            self.search.remark(progress)

    def solve(self, trees: int | None = None, progress: Progress = SILENT) -> TreeOptimum:
        """Return the optimum with `trees` trees per root, or with the fewest that reach the optimum.

        Raises:
            NoSolutionError: there is no solution with so many trees.
        """
        candidates = self.search.candidates(trees, progress)
        best = max(candidates, key=lambda each: each.algbw)
        if best.algbw == self.bound.algbw or (best.is_exact and len(candidates) == 1):
            return self._optimum(best)
        return max((self._measured(each, progress) for each in candidates), key=lambda each: each.algbw)

    def solve_up_to(self, most: int, progress: Progress = SILENT) -> TreeOptimum:
        """Return the optimum with the best number of trees per root from 1 to `most`, the smallest of equal ones.

        The search ends at the first number that reaches the optimum of any number of trees.

        Raises:
            NoSolutionError: no number of trees has a solution.
        """
        enough = self.solve(progress=progress).algbw
        progress.begin("finding the best number of trees")
        best: TreeOptimum | None = None
        optima: list[TreeOptimum] = []
        refusal: NoSolutionError | None = None
        for trees in range(1, most + 1):
            progress.advance(trees - 1, most)
            try:
                found = self.solve(trees, progress)
            except NoSolutionError as error:
                refusal = error
                continue
            optima.append(replace(found, schedule=None))
            if best is None or found.algbw > best.algbw:
                best = found
            if found.algbw >= enough:
                break
        if best is None:
            raise refusal or InternalError("no number of trees was tried")
        return replace(best, by_trees=tuple(optima))

    def _optimum(self, found: ForestChoice) -> TreeOptimum:
        return TreeOptimum(
            topology=self.topology,
            demand=self.demand,
            algbw=found.algbw,
            bound=self.bound,
            cut=self.cut,
            forests=found.forests,
            spare=self._spare(found),
            packing=found.packing,
        )

    def _measured(self, found: ForestChoice, progress: Progress) -> TreeOptimum:
        """Return the optimum with the algbw of its schedule, or with its lower bound if the schedule is too large."""
        lower_bound = self._optimum(found)
        try:
            from forestcoll.solver.generation.forest import grown_schedule

            schedule = grown_schedule(lower_bound, progress=progress)
        except InputError:
            return lower_bound
        return replace(lower_bound, algbw=schedule.algbw, schedule=schedule)

    def _spare(self, found: ForestChoice) -> tuple[Link, ...]:
        if self.part.has_balanced_switches or found.packing is not None:
            return unused_links(self.topology, [self.part])
        from forestcoll.solver.forests.unbalanced_switches import UnbalancedSwitchSearch

        if isinstance(self.search, UnbalancedSwitchSearch):
            return unused_links(self.topology, [self.search.search.best.topology])
        return unused_links(self.topology, [plan.topology for plan in found.forests])


def on_network(best: TreeOptimum, problem: OptimumProblem, logical: LogicalNetwork) -> TreeOptimum:
    """Return an optimum on `logical`, which was made from the network of `problem`, as one of `problem`.

    The bound is that of all schedules.
    """
    spare = tuple(each for each in best.spare if (each.source, each.target) not in logical.paths)
    whole = replace(best, topology=problem.topology, spare=spare, logical=logical, bound=problem.bound, cut=problem.cut)
    from forestcoll.solver.generation.logical import on_fabric

    schedule = None if best.schedule is None else on_fabric(best.schedule, whole, logical)
    by_trees = tuple(on_network(each, problem, logical) for each in best.by_trees)
    return replace(whole, schedule=schedule, by_trees=by_trees)


def on_whole(topology: Topology, ranks: Collection[int], bound: Bound) -> Bound:
    """Return `bound`, which is for the part of a network that `ranks` can use, with a proof for the whole network.

    Links that lead nowhere may leave a cut of the part, so the cut is widened. Other proofs ignore such links.
    """
    if not isinstance(bound.proof, CutProof):
        return bound
    return replace(bound, proof=CutProof(widened(topology, ranks, bound.proof.inside)))


def _search(topology: Topology, demand: NodeDemand, progress: Progress, orbits: Orbits | None) -> OptimumSearch:
    """Return the search on a network whose compute nodes all take part."""
    if demand.collective is Collective.ALLREDUCE:
        from forestcoll.solver.allreduce.search import AllreduceSearch

        return AllreduceSearch.of(topology, progress, orbits)
    if topology.has_balanced_switches:
        return ForestSearch.of(topology, demand, progress)
    from forestcoll.solver.forests.unbalanced_switches import UnbalancedSwitchSearch

    return UnbalancedSwitchSearch.of(topology, demand, progress)
