"""Schedules of the fastest step trees: each shard is divided among the trees of its root.

A reduce-scatter is the reverse of an allgather on the transposed network (Corollary 1.1). An allreduce is a
reduce-scatter followed by an allgather: of all divisions of its steps among the two, the fastest.
"""

from fractions import Fraction

from forestcoll.base.errors import InputError, plural
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.steps.composition import combined, is_own_transpose, reversed_steps
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.generation.bfb.allgather import require_direct
from forestcoll.solver.generation.exchange_steps import joined
from forestcoll.solver.generation.step_trees.cheapest import additions
from forestcoll.solver.generation.step_trees.program import FastestTrees, fastest_trees
from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import hops
from forestcoll.topology.symmetry.orbits import Orbits

MOST_ADDITIONS = 100_000_000
"""The most additions of a search for the cheapest trees, about two seconds; the program takes tens of searches."""


class StepBroadcasts:
    """Makes the collectives of a network that take the least time in a number of steps, and keeps them.

    Args:
        topology: a network without switches.
        progress: receives the stages of the work.

    Raises:
        InputError: the network has a switch.
        NoSolutionError: the network is one-port.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.schedule import shape_of
        >>> made = StepBroadcasts(load_topology("kautz:degree=2,length=1"))
        >>> [str(shape_of(made.schedule(Collective.ALLGATHER, steps)).bandwidth_factor) for steps in (2, 3)]
        ['1', '5/6']
    """

    def __init__(self, topology: Topology, progress: Progress = SILENT) -> None:
        require_direct(topology)
        self._topology, self._progress = topology, progress
        nodes = range(len(topology.nodes))
        self.diameter = max(max(hops([node], topology.targets.__getitem__).values()) for node in nodes)
        self._known: dict[tuple[Collective, int], StepSchedule] = {}

    def fewest(self, collective: Collective) -> int:
        """Return the fewest steps of a collective."""
        return self.diameter * (2 if collective is Collective.ALLREDUCE else 1)

    def schedule(self, collective: Collective, steps: int | None = None) -> StepSchedule:
        """Return the schedule with the least time in so many steps; None stands for the fewest. It is not verified.

        Raises:
            InputError: there are too few steps, or the linear program is too large.
        """
        fewest = self.fewest(collective)
        steps = fewest if steps is None else steps
        if steps < fewest:
            name, kind = self._topology.name, collective.with_article
            raise InputError(f"{name}: {kind} takes {plural(fewest, 'step')} or more; steps is {steps}")
        key = collective, steps
        return self._known.get(key) or self._known.setdefault(key, self._made(collective, steps))

    def _made(self, collective: Collective, steps: int) -> StepSchedule:
        topology = self._topology
        if collective is Collective.ALLGATHER:
            return self._allgather(topology, steps)
        if collective is Collective.REDUCE_SCATTER:
            if is_own_transpose(topology):
                return reversed_steps(self.schedule(Collective.ALLGATHER, steps))
            return reversed_steps(self._allgather(topology.transposed(), steps))
        divided = (
            (self.schedule(Collective.REDUCE_SCATTER, first), self.schedule(Collective.ALLGATHER, steps - first))
            for first in range(self.diameter, steps - self.diameter + 1)
        )
        return combined(*min(divided, key=lambda pair: sum(shape_of(each).bandwidth_time for each in pair)))

    def _allgather(self, topology: Topology, steps: int) -> StepSchedule:
        self._progress.begin("looking for a symmetry")
        orbits = Orbits.of(topology)
        needed = additions(topology, orbits.first_nodes, steps)
        if needed > MOST_ADDITIONS:
            raise InputError(
                f"{topology.name}: the fastest trees of {plural(steps, 'step')} need {needed:,} additions for each row "
                f"of their program; at most {MOST_ADDITIONS:,} are done; use fewer steps, a network of fewer nodes or "
                "more symmetry, or --method bfb"
            )
        self._progress.begin("solving the linear program of steps")
        found = fastest_trees(ScaledTopology.of(topology), orbits, steps, self._progress)
        phase = StepPhase(PhaseOp.BROADCAST, Transfers.of(_steps(topology, found, steps)))
        return expanded_steps(StepSchedule(topology, Collective.ALLGATHER, (phase,), symmetry=found.symmetry))


def _steps(topology: Topology, found: FastestTrees, steps: int) -> list[list[Transfer]]:
    """Return the transfers of the roots whose trees are listed, step by step."""
    filled: dict[int, Fraction] = {}
    sends: dict[tuple[int, int, int], list[tuple[Fraction, Fraction]]] = {}
    for tree, part in found.trees:
        low = filled.get(tree.root, Fraction(0))
        filled[tree.root] = high = min(low + part, Fraction(1))  # a shard may have more trees than it needs
        for step, link in tree.sends if low < high else ():
            sends.setdefault((step, tree.root, link), []).append((low, high))
    made: list[list[Transfer]] = [[] for _ in range(steps)]
    for (step, root, link), parts in sorted(sends.items()):
        ends = topology.links[link].source, topology.links[link].target
        made[step] += [Transfer(root, low, high, *ends) for low, high in joined(parts)]
    return made
