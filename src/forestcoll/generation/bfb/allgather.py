"""BFB schedules (§6, appendix E): every shard spreads breadth first, and each node balances what comes in at a step.

A reduce-scatter is the reverse of an allgather on the transposed network (Corollary 1.1); an allreduce is one and then
the other. The number of steps is the diameter, the least that any schedule has (Theorem 3).
"""

from fractions import Fraction

from forestcoll.bounds.scaling import ScaledTopology, require_all_ports
from forestcoll.collective import Collective, collective_named
from forestcoll.core import StepTransfers
from forestcoll.errors import InputError, shown
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule.model import PhaseOp
from forestcoll.schedule.step_composition import combined, is_own_transpose, reversed_steps
from forestcoll.schedule.steps import StepPhase, StepSchedule, Transfers
from forestcoll.topology import Topology


def bfb(
    topology: Topology,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    chunks: int | None = None,
    progress: Progress = SILENT,
) -> StepSchedule:
    """Return the breadth-first schedule whose bandwidth time T_B is least (Theorem 16), step by step.

    Args:
        topology: a network of compute nodes and links alone.
        collective: allgather, reduce-scatter or allreduce.
        chunks: P, into how many equal chunks a shard may be cut; anywhere if None (E.2).
        progress: is told how far the work is.

    Raises:
        InputError: there is a switch, the collective has a root, or `chunks` is not a positive integer.
        NoSolutionError: nodes may not use all their links at once.
    """
    kind = collective_named(collective)
    if kind.has_root:
        raise InputError(f"breadth-first broadcast starts from every node, a {kind} from one; ask for an allgather")
    require_direct(topology)
    if chunks is not None and (type(chunks) is not int or chunks < 1):
        raise InputError(f"chunks is {shown(chunks)}; expected an integer of 1 or more")
    if kind is Collective.ALLGATHER:
        return _allgather(topology, chunks or 0, progress)
    if kind is Collective.REDUCE_SCATTER:
        return reversed_steps(_allgather(topology.transposed(), chunks or 0, progress))
    gather = _allgather(topology, chunks or 0, progress)
    spread = gather if is_own_transpose(topology) else _allgather(topology.transposed(), chunks or 0, progress)
    return combined(reversed_steps(spread), gather)


def require_direct(topology: Topology) -> None:
    """Check that the network has compute nodes alone, which send over all links at once.

    Raises:
        InputError: it has a switch.
        NoSolutionError: its port model says that a node uses one link at a time.
    """
    if topology.switches:
        switch = topology.nodes[topology.switches[0]].id
        raise InputError(
            f"{topology.name}: node {switch!r} is a switch; step schedules need a direct network, of compute nodes "
            "alone (the methods of trees take switches)"
        )
    require_all_ports(topology)


def _allgather(topology: Topology, chunks: int, progress: Progress) -> StepSchedule:
    scaled = ScaledTopology.of(topology)
    bound = _bound(scaled, 1, 0, chunks)
    progress.begin("balancing the breadth-first broadcasts")
    scaled.remark_on_width(bound, progress)
    core, problem = scaled.problem(scaled.capacities, bound)
    latencies = [0] * len(topology.links)
    sent = StepTransfers(*core.broadcast_breadth_first(problem, 1, latencies, chunks, progress.advance))
    transfers = Transfers.by_step(
        sent.steps,
        count=int(sent.steps.max()) + 1,
        shards=sent.shards,
        sources=sent.sources,
        targets=sent.targets,
        lows=sent.lows,
        highs=sent.highs,
        points=list(map(Fraction, sent.numerators, sent.denominators)),
    )
    return StepSchedule(topology, Collective.ALLGATHER, (StepPhase(PhaseOp.BROADCAST, transfers),))


def _bound(scaled: ScaledTopology, demand: int, latency: int, chunks: int) -> int:
    """Return what no number of the core exceeds, where shards have this `demand` and links at most this `latency`."""
    nodes, links = len(scaled.topology.nodes), scaled.topology.links
    ingress = [0] * nodes
    for link, capacity in zip(links, scaled.capacities, strict=True):
        ingress[link.target] += capacity
    rates = max(ingress) * max(chunks, 1)
    return rates * (demand * (nodes * max(chunks, 1) + 1) + 2 * rates * latency)
