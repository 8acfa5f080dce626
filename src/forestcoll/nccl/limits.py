"""What each algorithm of NCCL could reach on a network, and what it usually reaches there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.change import demand_after
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.nccl.algorithms import algbw_of
from forestcoll.nccl.healthy import ANY, NVLS, RINGS, TREES, Usual, rule_of_thumb, usual_shares, with_nvls
from forestcoll.solver.bounds.rings import ring_bound
from forestcoll.solver.problem import OptimumProblem
from forestcoll.topology import Topology
from forestcoll.topology.changes import Change
from forestcoll.topology.graph.boxes import box_numbers


@dataclass(frozen=True)
class Limit:
    """What one algorithm could reach, and what it usually reaches.

    Attributes:
        usual: the algorithm and the usual share of `algbw`.
        algbw: the bound of which it is a share, in the unit of the topology.
        reached: the algbw of the algorithm as the library runs it, in the unit of the topology; None if not known.
    """

    usual: Usual
    algbw: Fraction
    reached: Fraction | None

    def distance(self, algbw: Fraction) -> Fraction:
        """Return by which factor an algbw is outside what is usual; 1 inside."""
        share = algbw / self.algbw
        return max(Fraction(1), self.usual.low / share if share else Fraction(10**9), share / self.usual.high)


def limits_of(network: Topology, demand: NodeDemand, any_schedule: Fraction, progress: Progress) -> tuple[Limit, ...]:
    """Return what the algorithms of NCCL could reach; the last one is any schedule.

    Trees are listed where they could reach more than rings.

    Args:
        network: the network.
        demand: the collective and its ranks.
        any_schedule: the bound of all schedules, in the unit of the topology.
        progress: receives the stages of the work.
    """
    progress.begin("finding what rings, trees and NVLS reach")
    known = usual_shares(network, demand.members(network), demand.collective)
    limits = list(_limits(*_inside_box(network, demand), known, progress))
    rest = [rule_of_thumb(name) for name in (RINGS, TREES, NVLS) if all(each.algorithm != name for each in known)]
    limits += _limits(network, demand, rest, progress)
    best_rings = max((each.algbw for each in limits if each.usual.algorithm == RINGS), default=0)
    useful = [each for each in limits if each.usual.algorithm != TREES or each.algbw > best_rings]
    return (*useful, Limit(rule_of_thumb(ANY), any_schedule, None))


def _limits(network: Topology, demand: NodeDemand, shares: Sequence[Usual], progress: Progress) -> Iterator[Limit]:
    """Yield the limit of each usual share whose algorithm has a meaning on the network."""
    for usual in shares:
        algbw = bound_by(usual.bound, network, demand, progress)
        if algbw:
            yield Limit(usual, algbw, reached_by(usual.algorithm, network, demand))


def _inside_box(network: Topology, demand: NodeDemand) -> tuple[Topology, NodeDemand]:
    """Return the box in which all ranks are, without its links to the outside; the whole network if there are several.

    Figures that were published of one box are shares of what its own links allow.
    """
    numbers = box_numbers(network)
    boxes = {numbers.get(member, -1) for member in demand.members(network)}
    outside = tuple(node for node in range(len(network.nodes)) if numbers.get(node, -1) not in boxes)
    if len(boxes) > 1 or -1 in boxes or not outside:
        return network, demand
    change = Change("", nodes=outside)
    inner = demand_after(change, network, demand)
    return (network, demand) if inner is None else (change.network(network), inner)


def bound_by(name: str, network: Topology, demand: NodeDemand, progress: Progress = SILENT) -> Fraction | None:
    """Return what an algorithm cannot exceed, in the unit of the topology; None where it has no meaning."""
    if name == RINGS:
        rings = ring_bound(network, demand)
        return None if rings is None else rings.algbw
    if name == TREES:
        return reached_by(TREES, network, demand)
    able = network if name == ANY else _with_nvls(network, demand)
    return None if able is None else OptimumProblem.of(able, demand, progress).bound.algbw


def reached_by(name: str, network: Topology, demand: NodeDemand) -> Fraction | None:
    """Return the algbw of an algorithm as NCCL runs it, in the unit of the topology; None where it has no meaning."""
    if name == RINGS:
        return algbw_of(network, demand, "RING") or bound_by(RINGS, network, demand)
    if name == NVLS:
        able = _with_nvls(network, demand)
        return None if able is None else algbw_of(able, demand, "NVLS") or algbw_of(able, demand, "NVLS_TREE")
    return algbw_of(network, demand, "TREE") if name == TREES else None


def _with_nvls(network: Topology, demand: NodeDemand) -> Topology | None:
    if demand.collective is not Collective.ALLREDUCE:
        return None
    return with_nvls(network, demand.members(network))
