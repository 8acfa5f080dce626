"""From weighted trees to a periodic schedule (§4.2, §5.4): which link carries messages of which tree in which round.

The total time that all trees need at a link is one job between two ports. Edge colouring divides the jobs into at most
|E| matchings. During its matchings, each link serves its trees one after the other. A round is the time between two
changes of any link. If the trees have few edges in total, their edges are also coloured one by one, and the result with
fewer rounds is used. The period is the shortest one in which every link carries an integer number of messages in each
interval in which it serves a tree without interruption.

If links of a node share a bandwidth, each link gets a part of it and is always busy (`shared_bandwidth`).

If half-duplex nodes form cycles of an odd number of nodes, links are coloured as in any graph (`odd_coloring`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.exact import MAX_RESULT_DIGITS
from forestcoll.demand.collective import Collective
from forestcoll.oneport.platform.odd_sets import half_duplex_pair, two_sides
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.platform.shared_bandwidth import divided
from forestcoll.oneport.series.coloring import Matching, PortTask, matchings
from forestcoll.oneport.series.odd_coloring import matchings_of_any_graph
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.proof.prices import PortKind
from forestcoll.schedule.series.value import Round, SeriesSchedule, SeriesTree, Transfer
from forestcoll.topology.model import BOUNDED

MAX_EDGES_ONE_BY_ONE = 1000
"""The maximum total number of tree edges for colouring edges one by one. For more edges it is slow and saves little."""


def periodic_schedule(
    platform: Platform,
    trees: Sequence[SeriesTree],
    bound: Bound | None = None,
    collective: Collective = Collective.BROADCAST,
) -> SeriesSchedule:
    """Return the schedule with the greatest throughput that uses `trees` in proportion to their weights.

    Args:
        platform: the network with its source.
        trees: the trees or paths of all messages of `collective`.
        bound: the bound that the schedule claims.
        collective: the collective that is repeated.

    Raises:
        NoSolutionError: the period has too many digits.
    """
    if platform.topology.port_model == BOUNDED:
        return _with_shared_bandwidths(platform, trees, bound, collective)
    works, rounds = _fewest_rounds(platform, trees)
    whole = sum(each.time for each in rounds)  # the time that the busiest port needs; the unit of time from here on
    scaled = tuple(SeriesTree(tree.weight * works.scale / whole, tree.routes) for tree in trees)
    period = _period(platform, scaled, rounds, whole)
    messages = sum((tree.weight for tree in scaled), Fraction(0)) * period
    messages /= _of_an_operation(collective, len(platform.topology.compute))
    if max(messages.numerator, period.numerator, period.denominator) >= 10**MAX_RESULT_DIGITS:
        raise NoSolutionError(
            f"{platform.topology.name}: the shortest period has more than {MAX_RESULT_DIGITS} digits; use bandwidths "
            "with fewer digits or a common denominator"
        )
    return SeriesSchedule(
        topology=platform.topology,
        collective=collective,
        source=platform.source if collective.has_root else None,
        period=period,
        messages=int(messages),
        trees=scaled,
        rounds=tuple(Round(each.time * period / whole, each.transfers) for each in rounds),
        bound=bound,
    )


def _of_an_operation(collective: Collective, nodes: int) -> int:
    """Return the number of messages of an operation of `nodes` compute nodes."""
    if collective.has_shards:
        return nodes - 1 if collective.has_root else nodes
    return 1


def _with_shared_bandwidths(
    platform: Platform, trees: Sequence[SeriesTree], bound: Bound | None, collective: Collective
) -> SeriesSchedule:
    """Return the schedule in which each link is always busy with a fixed part of the bandwidths that it shares."""
    topology = platform.topology
    network = divided(platform, trees)
    source = topology.nodes[platform.source].id
    alone = Platform.of(network, source, inwards=collective.flows_to_roots)
    planned = periodic_schedule(alone, trees, bound, collective)
    used = network.bandwidths
    bandwidths = tuple(used.get((link.source, link.target), link.bandwidth) for link in topology.links)
    return replace(planned, topology=topology, bandwidths=bandwidths)


@dataclass(frozen=True, slots=True)
class _IntegerRound:
    """A round with an integer time."""

    time: int
    transfers: tuple[Transfer, ...]


def _fewest_rounds(platform: Platform, trees: Sequence[SeriesTree]) -> "tuple[_Work, list[_IntegerRound]]":
    """Return the rounds after colouring links, or after colouring tree edges one by one if that gives fewer rounds."""
    by_link = _Work(platform, trees, by_link=True)
    rounds = by_link.rounds()
    if not by_link.has_sides or sum(len(tree.edges) for tree in trees) > MAX_EDGES_ONE_BY_ONE:
        return by_link, rounds
    apart = _Work(platform, trees, by_link=False)
    rounds_apart = apart.rounds()
    return (apart, rounds_apart) if len(rounds_apart) < len(rounds) else (by_link, rounds)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The interval from `begin` to `end` of the busy time of a lane, in which it serves one edge of a tree."""

    begin: int
    end: int
    transfer: Transfer


class _Work:
    """The work of the links for the trees in a unit of time, as integer multiples of 1/`scale`.

    A lane is the unit of colouring: a link with all its work, or a single edge of a tree.
    """

    def __init__(self, platform: Platform, trees: Sequence[SeriesTree], *, by_link: bool) -> None:
        numbers = platform.topology.link_numbers
        times = {
            Transfer(number, place): (numbers[ends], tree.weight * platform.costs[numbers[ends]])
            for number, tree in enumerate(trees)
            for place, ends in enumerate(tree.edges)
        }
        self.scale = lcm(*(time.denominator for _, time in times.values()))
        lanes: dict[object, list[_Piece]] = {}
        self._link_of: list[int] = []
        for transfer, (link, time) in times.items():
            lane = link if by_link else transfer
            if lane not in lanes:
                lanes[lane] = []
                self._link_of.append(link)
            begin = lanes[lane][-1].end if lanes[lane] else 0
            lanes[lane].append(_Piece(begin, begin + int(time * self.scale), transfer))
        self._lanes = list(lanes.values())
        pairs = {pair for link in self._link_of if (pair := half_duplex_pair(platform, link)) is not None}
        sides = two_sides(pairs)
        self.has_sides = sides is not None
        self.matchings: list[Matching]
        if sides is not None:
            self.matchings = matchings(list(self._jobs(platform, sides)))
            return
        self.matchings, factor = matchings_of_any_graph(list(self._jobs_of_pairs(platform)))
        self.scale *= factor
        self._lanes = [
            [_Piece(piece.begin * factor, piece.end * factor, piece.transfer) for piece in pieces]
            for pieces in self._lanes
        ]

    def _jobs(self, platform: Platform, sides: Mapping[int, int]) -> Iterator[PortTask]:
        """Yield a job for each lane. If no other link uses the port at an end of a link, the end gets its own port.

        Ports to send are on side 0 and ports to receive on side 1. A port for both is on the side of its node.
        """
        alone = len(platform.topology.nodes)
        for link, pieces in zip(self._link_of, self._lanes, strict=True):
            ends = [alone + link, alone + link]
            for port in platform.ports[link]:
                if port.kind is not PortKind.LINK:
                    both = port.kind is PortKind.BOTH
                    ends[sides.get(port.number, 0) if both else port.kind is PortKind.RECEIVE] = port.number
            yield PortTask(ends[0], ends[1], pieces[-1].end)

    def _jobs_of_pairs(self, platform: Platform) -> Iterator[PortTask]:
        """Yield a job for each lane between half-duplex ports. If a link has only one, the other end is its own."""
        alone = len(platform.topology.nodes)
        for link, pieces in zip(self._link_of, self._lanes, strict=True):
            used = [port.number for port in platform.ports[link] if port.kind is PortKind.BOTH]
            ends = [*used, alone + 2 * link, alone + 2 * link + 1]
            yield PortTask(ends[0], ends[1], pieces[-1].end)

    def rounds(self) -> list[_IntegerRound]:
        """Return the rounds: each matching is divided where one of its lanes changes to another tree."""
        begun = [0] * len(self._lanes)
        served = [0] * len(self._lanes)
        rounds = []
        for matching in self.matchings:
            left = matching.time
            while left:
                current = {lane: self._lanes[lane][served[lane]] for lane in matching.jobs}
                time = min(left, *(piece.end - begun[lane] for lane, piece in current.items()))
                transfers = tuple(sorted(piece.transfer for piece in current.values()))
                rounds.append(_IntegerRound(time, transfers))
                left -= time
                for lane, piece in current.items():
                    begun[lane] += time
                    served[lane] += begun[lane] == piece.end
        return rounds


def _period(platform: Platform, trees: Sequence[SeriesTree], rounds: Sequence[_IntegerRound], whole: int) -> Fraction:
    """Return the shortest period in which every uninterrupted run of a transfer carries an integer number of messages.

    A period of 1 has `whole` units of time.
    """
    denominator, divisor = 1, 0
    for transfer, time in _runs(rounds):
        cost = platform.costs[platform.topology.link_numbers[trees[transfer.tree].edges[transfer.edge]]] * whole
        messages = time / cost
        denominator = lcm(denominator, messages.denominator)
        divisor = gcd(divisor, messages.numerator)
    return Fraction(denominator, divisor)


def _runs(rounds: Sequence[_IntegerRound]) -> Iterator[tuple[Transfer, int]]:
    """Yield each transfer with the length of each run of rounds that contain the transfer."""
    going: dict[Transfer, int] = {}
    for each in (*rounds, _IntegerRound(0, ())):
        stays = {transfer: going.get(transfer, 0) + each.time for transfer in each.transfers}
        yield from ((transfer, time) for transfer, time in going.items() if transfer not in stays)
        going = stays
