"""The best known steps of a network: a schedule that was found by search and is stored, or breadth-first broadcast.

The diamond and the modified de Bruijn graphs have allgathers with the least T_B, (N-1)/N, which are not breadth first
(*Direct-Connect*, Table 9). `tables/` has them. The network is recognised by its links, whatever its name, also
transposed where an isomorphism to the transposed network is stored; so a reduce-scatter has the same cost.

Source: L. Zhao et al., "Efficient Direct-Connect Topologies for Collective Communications" (arXiv:2202.03356),
Table 9.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

import numpy as np

from forestcoll.algorithms.bfb import Bfb
from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.limits import within_limits
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfers
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology

_FILES = {
    "diamond": "diamond",
    **{
        f"modified-de-bruijn:degree={degree},length={length}": f"modified-de-bruijn-{degree}-{length}"
        for degree, length in ((2, 3), (2, 4), (3, 2), (4, 2))
    },
}
"""The table of each network that has one."""


@dataclass(frozen=True, eq=False)
class StoredAllgather:
    """An allgather that was found by search.

    Attributes:
        parts: the number of equal parts of a shard.
        columns: step (from 0), shard, source, target, first part and one past the last part of each transfer.
        mirror: the image of each node under an isomorphism from the network to its transpose; None if none is stored.
    """

    parts: int
    columns: IntArray
    mirror: IntArray | None

    def on(self, topology: Topology, image: IntArray) -> StepSchedule:
        """Return the allgather on a network to which `image` maps that of the table."""
        steps, shards, sources, targets, lows, highs = self.columns
        sent = Transfers.by_step(
            steps,
            count=int(steps.max()) + 1,
            shards=image[shards],
            sources=image[sources],
            targets=image[targets],
            lows=lows,
            highs=highs,
            points=[Fraction(part, self.parts) for part in range(self.parts + 1)],
        )
        return StepSchedule(topology, Collective.ALLGATHER, (StepPhase(PhaseOp.BROADCAST, sent),))


@cache
def stored(spec: str) -> StoredAllgather:
    """Return the stored allgather of a network.

    Raises:
        KeyError: there is none.
    """
    tables = files("forestcoll.algorithms.direct_networks.tables")
    text = (tables / f"{_FILES[spec]}.txt").read_text(encoding="ascii")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    heads = {line[0]: line[1:] for line in lines if line[0].isalpha()}
    columns = np.array([line for line in lines if not line[0].isalpha()], dtype=np.int64).T
    columns[0] -= 1
    mirror = np.array(heads["mirror"], dtype=np.int64) if "mirror" in heads else None
    return StoredAllgather(int(heads["parts"][0]), columns, mirror)


def stored_allgather(topology: Topology) -> StepSchedule | None:
    """Return the stored allgather of a network, which is recognised by its links; None if there is none.

    Example:
        >>> stored_allgather(build_topology("diamond")).steps
        3
    """
    if topology.switches or len({link.bandwidth for link in topology.links}) != 1:
        return None
    for spec in _FILES:
        network = build_topology(spec)
        if len(network.nodes) != len(topology.nodes):
            continue
        found = stored(spec)
        if network.link_numbers.keys() == topology.link_numbers.keys():
            return found.on(topology, np.arange(len(network.nodes)))
        if found.mirror is not None and network.transposed().link_numbers.keys() == topology.link_numbers.keys():
            return found.on(topology, found.mirror)
    return None


@methods.add("best", summary="The best known steps: stored for some networks, else breadth-first broadcast.")
@dataclass(frozen=True)
class BestSteps(Method):
    """The best known steps of a network without switches: stored for some networks, else those of `bfb`.

    The diamond and the modified de Bruijn graphs have stored schedules with the least T_B, (N-1)/N, which no
    breadth-first broadcast reaches there.

    Example:
        >>> from forestcoll import generate, verify
        >>> [str(verify(generate("diamond", method=method)).bandwidth_factor) for method in ("bfb", "best")]
        ['1', '7/8']
    """

    def schedule(self, problem: Problem) -> StepSchedule:
        """Return the steps."""
        return within_limits(
            problem.topology, lambda network: from_allgathers(network, problem.collective, _best_allgather)
        )


def _best_allgather(topology: Topology) -> StepSchedule:
    found = stored_allgather(topology)
    return found or Bfb().schedule(Problem(topology, NodeDemand(Collective.ALLGATHER)))
