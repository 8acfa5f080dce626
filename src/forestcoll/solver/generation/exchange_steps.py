"""All-to-alls in steps: the walks of the fastest one as transfers of parts of the nodes' buffers.

The buffer of a node has one part for each node that takes part, in their order. The part of a target is divided among
its walks. Transfers of adjacent parts over the same link at the same step are joined.
"""

from collections.abc import Iterator
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.flows.stepwise import StepFlows, Walk, fastest_steps
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.topology import Topology


def stepwise_all_to_all(topology: Topology, *, steps: int | None = None, progress: Progress = SILENT) -> StepSchedule:
    """Return an all-to-all with the least time for large data in this number of steps.

    Args:
        topology: a network without switches.
        steps: the number of steps; None for the fewest.
        progress: receives the stages of the work.

    Raises:
        InputError: the network has a switch, there are too few steps, or the linear program is too large.
        NoSolutionError: the network is one-port.
    """
    require_all_ports(topology)
    if len(topology.compute) < len(topology.nodes):
        raise InputError(
            f"{topology.name}: has switches, and an all-to-all in steps needs a network without; use the flows of "
            "--method auto"
        )
    found = fastest_steps(topology, steps, progress)
    best = flow_search(topology, NodeDemand(Collective.ALL_TO_ALL), progress)
    phase = StepPhase(PhaseOp.BROADCAST, Transfers.of(_steps(topology, found)))
    return StepSchedule(topology, Collective.ALL_TO_ALL, (phase,), bound=best.bound)


def _steps(topology: Topology, found: StepFlows) -> list[list[Transfer]]:
    places = {node: place for place, node in enumerate(topology.compute)}
    filled: dict[tuple[int, int], Fraction] = {}
    sends: dict[tuple[int, int, int, int], list[tuple[Fraction, Fraction]]] = {}
    for walk in _images(topology, found):
        low = filled.get((walk.source, walk.target), Fraction(places[walk.target], len(places)))
        filled[walk.source, walk.target] = low + walk.share
        for step, source, target in walk.sends:
            sends.setdefault((step, walk.source, source, target), []).append((low, low + walk.share))
    steps: list[list[Transfer]] = [[] for _ in range(found.steps)]
    for (step, shard, source, target), parts in sorted(sends.items()):
        steps[step] += [Transfer(shard, low, high, source, target) for low, high in joined(sorted(parts))]
    return steps


def _images(topology: Topology, found: StepFlows) -> Iterator[Walk]:
    """Yield the images of all walks under the symmetry."""
    for element in found.symmetry.elements(len(topology.nodes)):
        image = element.tolist()
        for walk in found.walks:
            sends = tuple((step, image[source], image[target]) for step, source, target in walk.sends)
            yield Walk(image[walk.source], image[walk.target], walk.share, sends)


def joined(parts: list[tuple[Fraction, Fraction]]) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield `parts`, which are in ascending order, with adjacent ones as one."""
    low, high = parts[0]
    for begin, end in parts[1:]:
        if begin != high:
            yield low, high
            low = begin
        high = end
    yield low, high
