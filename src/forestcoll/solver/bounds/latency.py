"""The least number of steps of any schedule: the diameter of the network, and the Moore bound for its degree.

A step is a send from one compute node to another, over any number of switches; in each step a node may use all its
links. The data of a node needs at least as many steps as the distance to the farthest node (Zhao et al., *Efficient
Direct-Connect Topologies for Collective Communications*, definitions 9 and 10). The Moore bound is the least possible
diameter of N nodes of degree d: within k steps a node of degree d reaches at most 1 + d + d^2 + … + d^k nodes or, if
all links are full duplex, at most 1 + d + d (d-1) + … + d (d-1)^(k-1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forestcoll.demand.ranks import members_of
from forestcoll.topology import Topology


@dataclass(frozen=True)
class LatencyBound:
    """The least number of steps of any schedule.

    Attributes:
        steps: the sends until the data of every compute node can be at every other: the diameter, without counting
            switches.
        farthest: the numbers of a source and a target at this distance.
        links: the number of links between the two nodes that are the most links apart.
        degree: the most compute nodes that a node can send to; None in a network with switches or idle nodes.
        moore_steps: the least number of steps in any network of this degree and size; None if `degree` is None.
    """

    steps: int
    farthest: tuple[int, int]
    links: int
    degree: int | None
    moore_steps: int | None


def latency_bound(topology: Topology, ranks: tuple[int, ...] | None = None) -> LatencyBound:
    """Return the least number of steps of a schedule on `topology` that sends the data of each node to all nodes.

    If only `ranks` take part, these are the steps between them: idle nodes on the path count, switches do not.
    """
    members = members_of(topology, ranks)
    neighbours = topology.targets
    switches = [not node.is_compute for node in topology.nodes]
    steps, farthest = _greatest(members, neighbours, switches)
    links = _greatest(members, neighbours, [False] * len(switches))[0] if any(switches) else steps
    if len(members) < len(topology.compute) or any(neighbours[switch] for switch in topology.switches):
        return LatencyBound(steps, farthest, links, None, None)
    degree = max(map(len, neighbours))
    both_ways = all(node in neighbours[target] for node, targets in enumerate(neighbours) for target in targets)
    return LatencyBound(steps, farthest, links, degree, moore_steps(len(topology.compute), degree, both_ways=both_ways))


def moore_steps(nodes: int, degree: int, *, both_ways: bool) -> int:
    """Return the least diameter that the Moore bound allows for `nodes` nodes of out-degree `degree`."""
    reached, frontier, steps = 1, 1, 0
    while reached < nodes:
        frontier *= degree if steps == 0 or not both_ways else degree - 1
        if frontier == 0:
            return nodes - 1  # two nodes on one link reach no third
        reached += frontier
        steps += 1
    return steps


def _greatest(
    members: Sequence[int], neighbours: Sequence[Sequence[int]], free: Sequence[bool]
) -> tuple[int, tuple[int, int]]:
    """Return the greatest distance between `members`, and the first two with that distance.

    To enter a node costs 1, or nothing if it is `free`. The searches from all members run together: for each node, the
    members from which it has been reached are the bits of an integer.
    """
    reached = [0] * len(neighbours)
    fresh = {member: 1 << place for place, member in enumerate(members)}
    greatest = (0, (members[0], members[0]))
    for node, sources in fresh.items():
        reached[node] = sources
    distance = 0
    while fresh:
        distance += 1
        fresh = _entered(fresh, neighbours, free, reached)
        found = [(node, fresh[node]) for node in members if node in fresh]
        if found:
            first = min((sources & -sources).bit_length() - 1 for _, sources in found)
            target = next(node for node, sources in found if sources >> first & 1)
            greatest = (distance, (members[first], target))
    return greatest


def _entered(
    fresh: Mapping[int, int], neighbours: Sequence[Sequence[int]], free: Sequence[bool], reached: list[int]
) -> dict[int, int]:
    """Return, for each node that one more step reaches, the sources of which this is the first path.

    Args:
        fresh: for each node that the last step reached, the sources of which that was the first path.
        neighbours: the targets of the links of each node.
        free: for each node, whether to enter it costs nothing.
        reached: for each node, all sources that have reached it; updated.
    """
    entered: dict[int, int] = {}
    waiting = dict(fresh)
    while waiting:
        within: dict[int, int] = {}
        for node, sources in waiting.items():
            for target in neighbours[node]:
                new = sources & ~reached[target]
                if new:
                    reached[target] |= new
                    into = within if free[target] else entered
                    into[target] = into.get(target, 0) | new
        waiting = within
    return entered
