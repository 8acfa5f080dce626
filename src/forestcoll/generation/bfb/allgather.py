"""BFB schedules (§6, appendix E): shards spread breadth first, and each node balances the load of its incoming links.

A reduce-scatter is the reverse of an allgather on the transposed network (Corollary 1.1). An allreduce is a
reduce-scatter followed by an allgather. The number of steps is the diameter, the least of all schedules (Theorem 3).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from forestcoll.collective import Collective, PhaseOp, collective_named
from forestcoll.core import StepTransfers
from forestcoll.errors import InputError, shown
from forestcoll.forest_optimum.scaling import ScaledTopology, require_all_ports
from forestcoll.generation.step_duality import from_allgathers
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfers
from forestcoll.topology import Topology
from forestcoll.units import bytes_per_microsecond


def bfb(
    topology: Topology,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    chunks: int | None = None,
    data_size: int | None = None,
    progress: Progress = SILENT,
) -> StepSchedule:
    """Return the breadth-first schedule with the least time at every step (Theorem 16). It is not verified yet.

    Args:
        topology: a network without switches. The bandwidths may differ (E.3).
        collective: allgather, reduce-scatter or allreduce.
        chunks: P, the number of equal chunks of a shard, which are sent whole (E.2). If None, a shard can be divided
            anywhere.
        data_size: M in bytes. With it the latencies of links count in addition to their bandwidths (E.3). Without it
            only bandwidths count.
        progress: receives the progress.

    Raises:
        InputError: there is a switch, the collective has a root, an argument is not a positive integer, or `data_size`
            is given and a link has no latency.
        NoSolutionError: the network is one-port.
    """
    kind = collective_named(collective)
    require_direct(topology)
    checked_chunks(chunks)
    if data_size is not None and (type(data_size) is not int or data_size < 1):
        raise InputError(f"data_size is {shown(data_size)}; expected an integer of 1 or more")
    return from_allgathers(
        topology, kind, lambda network: _Request(network, chunks or 0, data_size).allgather(progress)
    )


def checked_chunks(chunks: int | None) -> int | None:
    """Return `chunks`.

    Raises:
        InputError: `chunks` is neither None nor an integer of 1 or more.
    """
    if chunks is not None and (type(chunks) is not int or chunks < 1):
        raise InputError(f"chunks is {shown(chunks)}; expected an integer of 1 or more")
    return chunks


def require_direct(topology: Topology) -> None:
    """Check that the network has no switches and that nodes use all their links at the same time.

    Raises:
        InputError: the network has a switch.
        NoSolutionError: the network is one-port.
    """
    if topology.switches:
        switch = topology.nodes[topology.switches[0]].id
        raise InputError(
            f"{topology.name}: node {switch!r} is a switch; the methods of steps need a network without switches, so "
            "choose a method of trees"
        )
    require_all_ports(topology)


@dataclass(frozen=True)
class _Request:
    """A request for an allgather: the network, the number of chunks or 0, and the data size or None."""

    topology: Topology
    chunks: int
    data_size: int | None

    def allgather(self, progress: Progress) -> StepSchedule:
        scaled = ScaledTopology.of(self.topology)
        demand, latencies = self._times(scaled)
        bound = _bound(scaled, demand, max(latencies), self.chunks)
        progress.begin("balancing the breadth-first broadcasts")
        scaled.remark_on_width(bound, progress)
        core, problem = scaled.problem(scaled.capacities, bound)
        columns = core.broadcast_breadth_first(problem, demand, latencies, self.chunks, (), progress.advance)
        phase = StepPhase(PhaseOp.BROADCAST, _transfers(StepTransfers(*columns)))
        return StepSchedule(self.topology, Collective.ALLGATHER, (phase,))

    def _times(self, scaled: ScaledTopology) -> tuple[int, list[int]]:
        """Return the time of a shard over a link of capacity 1 and the latency of each link, in the same unit."""
        if self.data_size is None:
            return 1, [0] * len(self.topology.links)
        shard = Fraction(self.data_size, len(self.topology.nodes))
        demand = shard / (scaled.unit * bytes_per_microsecond(self.topology.bandwidth_unit))
        times = [demand, *_latencies(self.topology)]
        unit = lcm(*(time.denominator for time in times))
        whole = [int(time * unit) for time in times]
        common = gcd(*whole)
        return whole[0] // common, [time // common for time in whole[1:]]


def _latencies(topology: Topology) -> list[Fraction]:
    """Return the latency of each link in microseconds."""
    for link in topology.links:
        if link.latency_us is None:
            source, target = topology.ids([link.source, link.target])
            raise InputError(
                f"{topology.name}: the link from {source!r} to {target!r} has no latency_us, which a data size needs; "
                "give every link one, or leave the size out"
            )
    return [link.latency_us for link in topology.links if link.latency_us is not None]


def _transfers(sent: StepTransfers) -> Transfers:
    return Transfers.by_step(
        sent.steps,
        count=int(sent.steps.max()) + 1,
        shards=sent.shards,
        sources=sent.sources,
        targets=sent.targets,
        lows=sent.lows,
        highs=sent.highs,
        points=list(map(Fraction, sent.numerators, sent.denominators)),
    )


def _bound(scaled: ScaledTopology, demand: int, latency: int, chunks: int) -> int:
    """Return an upper bound on all numbers in the core for shards of size `demand` and latencies up to `latency`."""
    nodes, links = len(scaled.topology.nodes), scaled.topology.links
    ingress = [0] * nodes
    for link, capacity in zip(links, scaled.capacities, strict=True):
        ingress[link.target] += capacity
    rates = max(ingress) * max(chunks, 1)
    return rates * (demand * (nodes * max(chunks, 1) + 1) + 2 * rates * latency)
