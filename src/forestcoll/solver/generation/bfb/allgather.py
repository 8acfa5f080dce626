"""BFB schedules (§6, appendix E): shards spread breadth first, and each node balances the load of its incoming links.

A reduce-scatter is the reverse of an allgather on the transposed network (Corollary 1.1). An allreduce is a
reduce-scatter followed by an allgather. The number of steps is the diameter, the least of all schedules (Theorem 3).

Each node balances its own links, so a symmetry of the network maps what one node receives to what another receives. On
large networks, the core computes one node of each orbit, and the others receive the images. A compact schedule lists
only what the core computed.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

import numpy as np

from forestcoll.base.errors import InputError, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective, PhaseOp, collective_named
from forestcoll.kernels import StepTransfers
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfers
from forestcoll.solver.forests.scaling import ScaledTopology, require_all_ports
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.symmetry.automorphisms import find_symmetry


def bfb(  # noqa: PLR0913 (the collective and its options)
    topology: Topology,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    chunks: int | None = None,
    data_size: int | None = None,
    compact: bool = False,
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
        compact: whether to list what one node of each orbit of a symmetry receives, with the symmetry, instead of all
            transfers. The network may have no symmetry; then all transfers are listed.
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
    symmetry = _symmetry(topology, data_size, compact=compact)

    def allgather(network: Topology) -> StepSchedule:
        found = _Request(network, chunks or 0, data_size, symmetry).allgather(progress)
        return found if compact else expanded_steps(found)

    return from_allgathers(topology, kind, allgather)


def _symmetry(topology: Topology, data_size: int | None, *, compact: bool) -> Symmetry | None:
    """Return a symmetry of the network and its transposed network; None if there is none, or it would save little."""
    if len(topology.nodes) < _SYMMETRY_FROM and not compact:
        return None
    if data_size is not None and len({link.latency_us for link in topology.links}) > 1:
        return None
    symmetry = find_symmetry(topology)
    return symmetry if symmetry.shifts else None


def checked_chunks(chunks: int | None) -> int | None:
    """Return `chunks`.

    Raises:
        InputError: `chunks` is neither None nor an integer of 1 or more.
    """
    if chunks is not None and (type(chunks) is not int or chunks < 1):
        raise InputError(f"chunks is {shown(chunks)}; expected an integer of 1 or more")
    return chunks


def require_direct(topology: Topology, instead: str = "choose a method of trees") -> None:
    """Check that the network has no switches and that nodes use all their links at the same time.

    Args:
        topology: the network.
        instead: what the caller of a network with a switch can do, for the message.

    Raises:
        InputError: the network has a switch.
        NoSolutionError: the network is one-port.
    """
    if topology.switches:
        switch = topology.nodes[topology.switches[0]].id
        raise InputError(
            f"{topology.name}: node {switch!r} is a switch; the methods of steps need a network without switches, so "
            f"{instead}"
        )
    require_all_ports(topology)


_SYMMETRY_FROM = 256
"""The number of nodes from which a symmetry is used. It saves less time on smaller networks."""


@dataclass(frozen=True)
class _Request:
    """A request for an allgather: the network, the number of chunks or 0, the data size or None, and a symmetry."""

    topology: Topology
    chunks: int
    data_size: int | None
    symmetry: Symmetry | None

    def allgather(self, progress: Progress) -> StepSchedule:
        scaled = ScaledTopology.of(self.topology)
        demand, latencies = self._times(scaled)
        bound = _bound(scaled, demand, max(latencies), self.chunks)
        progress.begin("balancing the breadth-first broadcasts")
        scaled.remark_on_width(bound, progress)
        core, problem = scaled.problem(scaled.capacities, bound)
        columns = core.broadcast_breadth_first(
            problem, demand, latencies, self.chunks, self._targets(), progress.advance
        )
        phase = StepPhase(PhaseOp.BROADCAST, _transfers(StepTransfers(*columns)))
        return StepSchedule(self.topology, Collective.ALLGATHER, (phase,), symmetry=self.symmetry)

    def _targets(self) -> tuple[int, ...]:
        """Return the first node of each orbit, whose images are the other nodes; () for all nodes."""
        if self.symmetry is None:
            return ()
        nodes = len(self.topology.nodes)
        least = reduce(np.minimum, self.symmetry.elements(nodes))
        return tuple(np.flatnonzero(least == np.arange(nodes)).tolist())

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
