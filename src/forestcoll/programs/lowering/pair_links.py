"""The links over which data goes from one rank to another."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule

Pair = tuple[int, int]


@dataclass(frozen=True)
class PairLinks:
    """What data takes of the links between two ranks.

    Attributes:
        times: for each pair of ranks that send to each other, the links that data crosses, and the time that an amount
            of 1 takes on each, if the pair has the link for itself. Data on several paths is divided as in the
            schedule.
    """

    times: Mapping[Pair, Mapping[int, float]]

    @staticmethod
    def of(schedule: TreeSchedule) -> "PairLinks":
        """Return the links of all pairs of ranks between which `schedule` sends."""
        numbers = schedule.topology.link_numbers
        widths = [float(link.bandwidth) for link in schedule.topology.links]
        times: dict[Pair, dict[int, float]] = {}
        for pair, paths in pair_paths(schedule).items():
            total = sum(paths.values())
            taken = times.setdefault(pair, {})
            for path, part in paths.items():
                for link in (numbers[hop] for hop in pairwise(path)):
                    taken[link] = taken.get(link, 0.0) + part / total / widths[link]
        return PairLinks(times)


def pair_paths(schedule: TreeSchedule) -> Mapping[Pair, Mapping[tuple[int, ...], float]]:
    """Return, for each pair of ranks between which `schedule` sends, paths as node numbers, and the shares on them."""
    schedule = expanded(schedule)
    ranks = {node: rank for rank, node in enumerate(schedule.members)}
    used: dict[Pair, dict[tuple[int, ...], float]] = {}
    rows = list(schedule.routes)
    for phase in schedule.phases:
        for tree in phase:
            for path in _joined([rows[route] for route in tree.routes], phase.op, ranks):
                paths = used.setdefault((ranks[path[0]], ranks[path[-1]]), {})
                paths[path] = paths.get(path, 0.0) + float(tree.share)
    return used


def _joined(paths: list[tuple[int, ...]], op: PhaseOp, ranks: Mapping[int, int]) -> list[tuple[int, ...]]:
    """Return paths from rank to rank: routes that meet on a switch that multicasts or aggregates are joined."""
    outward = paths if op is PhaseOp.BROADCAST else [path[::-1] for path in reversed(paths)]
    above: dict[int, tuple[int, ...]] = {}
    joined = []
    for path in outward:
        whole = path if path[0] in ranks else (*above[path[0]], *path[1:])
        above[path[-1]] = whole
        if path[-1] in ranks:
            joined.append(whole if op is PhaseOp.BROADCAST else whole[::-1])
    return joined
