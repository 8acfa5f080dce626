"""Schedules of flows as programs: the all-to-all of all runtimes, where each pair of ranks exchanges the same amount.

**Data.** Chunks are numbered over the inputs of all ranks: chunk i of the input of rank r has the number r * M + i, if
M is the number of chunks of an input. Then a flow of the schedule is a tree that is a path, whose root is the source,
and the methods for trees apply: two-sided (`plans`, `two_sided`) and one-sided (`one_sided`). A rank that relays a flow
stores its chunks in scratch.

**Chunks.** A runtime uses a program only for messages that its number of chunks divides, and sizes of messages are
mostly powers of two. So the part of each pair is divided into a power of two of chunks: the least one whose loss is at
most `MOST_LOSS`, and at most `MOST_OF_PAIR`, where the best one is used. The chunks of a pair that rounding leaves over
go to the flows whose links have the least load. If a program does not fit the runtime, half as many chunks are tried,
down to one flow for each pair.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import lcm

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.ranks import relay_refusal
from forestcoll.programs.lowering.fitting import Excess, lesser
from forestcoll.programs.lowering.grid import MAX_EXACT_CHUNKS
from forestcoll.programs.lowering.layout import DataLayout
from forestcoll.programs.lowering.one_sided import one_sided
from forestcoll.programs.lowering.options import Options, Style
from forestcoll.programs.lowering.plans import plans
from forestcoll.programs.lowering.rank_trees import RankTree, most_of_step, parts_of
from forestcoll.programs.lowering.two_sided import two_sided
from forestcoll.programs.model import Block, Buffer, Program, Protocol, Rank, Span, Task
from forestcoll.programs.model.limits import Limits
from forestcoll.schedule.flows.expansion import flow_images
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.topology import Topology

MOST_LOSS = Fraction(1, 50)
"""The loss of bandwidth below which more chunks are not tried."""

MOST_OF_PAIR = 64
"""The most chunks of a pair of ranks, unless more are requested."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A program of a schedule of flows.

    Attributes:
        program: the program.
        algbw: the bandwidth with the shares of the program, in the unit of the topology.
        left_out: the number of flows that carry no data, because other flows of the same pair carry all of it.
    """

    program: Program
    algbw: Fraction
    left_out: int


def program_of_flows(schedule: FlowSchedule, options: Options, limits: Limits) -> Exchange:
    """Return a program that does what `schedule` says, within `limits`.

    Raises:
        InputError: no runtime has the collective, the options request a program in place, or a flow passes through a
            compute node that takes no part.
        NoSolutionError: nothing fits.
    """
    _check(schedule, options)
    flows = _Flows.of(schedule)
    excess: Excess | None = None
    for part in _parts(flows, options, limits):
        counts = flows.rounded(part)
        for found in _programs(flows, counts, part, options, limits):
            if isinstance(found, Program):
                return Exchange(found, flows.algbw(counts, part), sum(not count for count in counts))
            excess = lesser(excess, found)
    raise NoSolutionError(f"{schedule.topology.name}: no program of these flows fits {limits.name}: {excess}")


def _check(schedule: FlowSchedule, options: Options) -> None:
    name, collective = schedule.topology.name, schedule.collective
    if collective is not Collective.ALL_TO_ALL:
        raise InputError(f"{name}: no runtime loads a program for a {collective}; of flows, only an all-to-all has one")
    if schedule.matrix is not None:
        raise InputError(
            f"{name}: no runtime loads a program for different amounts of data, as in a demand matrix; "
            "use an all-to-all without one"
        )
    if options.in_place:
        raise InputError(f"{name}: an all-to-all has a program out of place only; leave the placement out")
    if options.style is Style.ONE_SIDED and options.protocol is Protocol.LL:
        raise InputError(f"{name}: an all-to-all has no program with packets (LL); use Simple")


@dataclass(frozen=True, slots=True)
class _Path:
    """A flow: the ranks that it passes through, its part of the data of its pair, and the links that it crosses."""

    ranks: tuple[int, ...]
    share: Fraction
    links: tuple[int, ...]


@dataclass(frozen=True)
class _Flows:
    """All flows of a schedule.

    Attributes:
        topology: the network.
        size: the number of ranks.
        boxes: for each rank, the name of its box.
        paths: the flows, ordered by their ends.
        exact_algbw: the bandwidth with exact shares.
    """

    topology: Topology
    size: int
    boxes: tuple[str, ...]
    paths: tuple[_Path, ...]
    exact_algbw: Fraction

    @staticmethod
    def of(schedule: FlowSchedule) -> "_Flows":
        """Return the flows of `schedule`. Raises `InputError` if a flow passes through an idle compute node."""
        topology, members = schedule.topology, schedule.members
        ranks = {node: rank for rank, node in enumerate(members)}
        links = topology.link_numbers
        paths = []
        for flow in flow_images(schedule):
            passed = (flow.source, *(path[-1] for path in flow.paths))
            if idle := [node for node in passed if node not in ranks]:
                raise InputError(relay_refusal(topology, members, "flows pass", idle[0]))
            crossed = tuple(links[hop] for path in flow.paths for hop in pairwise(path))
            paths.append(_Path(tuple(ranks[node] for node in passed), flow.share * len(members), crossed))
        paths.sort(key=lambda path: (path.ranks[0], path.ranks[-1]))
        boxes = tuple(str(topology.nodes[node].attributes.get("box")) for node in members)
        return _Flows(topology, len(members), boxes, tuple(paths), schedule.algbw)

    @property
    def pairs(self) -> Mapping[tuple[int, int], list[int]]:
        """Return, for each pair of ranks, the numbers of its flows."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, path in enumerate(self.paths):
            found.setdefault((path.ranks[0], path.ranks[-1]), []).append(number)
        return found

    def rounded(self, part: int) -> tuple[int, ...]:
        """Return, for each flow, how many of the `part` chunks of its pair it carries."""
        counts = [int(path.share * part) for path in self.paths]
        costs = self._costs()
        loads = [0] * len(self.topology.links)
        for path, count in zip(self.paths, counts, strict=True):
            for link in path.links:
                loads[link] += costs[link] * count
        for numbers in self.pairs.values():
            for _ in range(part - sum(counts[number] for number in numbers)):
                chosen = min(numbers, key=lambda number: self._after(number, loads, costs))
                counts[chosen] += 1
                for link in self.paths[chosen].links:
                    loads[link] += costs[link]
        return tuple(counts)

    def _after(self, number: int, loads: Sequence[int], costs: Sequence[int]) -> tuple[int, int, int]:
        """Return the greatest load of a link of a flow with one more chunk, its links, and its number."""
        links = self.paths[number].links
        return max(loads[link] + costs[link] for link in links), len(links), number

    def _costs(self) -> list[int]:
        """Return, for each link, the time of a chunk on it, as an integer in a common unit."""
        times = [1 / link.bandwidth for link in self.topology.links]
        common = lcm(*(time.denominator for time in times))
        return [int(time * common) for time in times]

    def algbw(self, counts: Sequence[int], part: int) -> Fraction:
        """Return the bandwidth if each flow carries that many of the `part` chunks of its pair."""
        loads = [0] * len(self.topology.links)
        for path, count in zip(self.paths, counts, strict=True):
            for link in path.links:
                loads[link] += count
        whole = self.size * part
        return 1 / max(load / link.bandwidth / whole for load, link in zip(loads, self.topology.links, strict=True))

    @property
    def exact(self) -> int:
        """Return the least number of chunks of a pair that makes all shares whole."""
        return lcm(*{path.share.denominator for path in self.paths})


def _parts(flows: _Flows, options: Options, limits: Limits) -> Iterator[int]:
    """Yield the numbers of chunks of a pair to try.

    Raises:
        NoSolutionError: the requested number of chunks is not a multiple of the ranks, or the runtime has too few.
    """
    name = flows.topology.name
    if options.chunks is not None:
        if options.chunks % flows.size:
            raise NoSolutionError(f"{name}: {options.chunks} chunks; use a multiple of {flows.size}, the ranks")
        yield options.chunks // flows.size
        return
    allowed = MAX_EXACT_CHUNKS if limits.chunks is None else min(limits.chunks, MAX_EXACT_CHUNKS)
    most = min(MOST_OF_PAIR, allowed // (flows.size * options.scale))
    if not most:
        raise NoSolutionError(f"{name}: {limits.name} has {allowed} chunks, too few for {flows.size} ranks")
    part = _chosen(flows, most)
    while part:
        yield part
        part //= 2


def _chosen(flows: _Flows, most: int) -> int:
    """Return the power of two, at most `most`, that is the number of chunks of a pair at first."""
    powers = [1 << place for place in range(most.bit_length())]
    if flows.exact in powers:
        return flows.exact
    reached: dict[int, Fraction] = {}
    for part in powers:
        reached[part] = flows.algbw(flows.rounded(part), part)
        if reached[part] >= flows.exact_algbw * (1 - MOST_LOSS):
            return part
    return max(powers, key=lambda part: (reached[part], -part))


@dataclass(frozen=True)
class _Layout(DataLayout):
    """The data of an all-to-all.

    Attributes:
        rooms: for a rank that relays, and the first chunk of what it relays, the first chunk of scratch.
        scratch: for each rank, the number of chunks of scratch.
    """

    rooms: Mapping[tuple[int, int], int] = field(default_factory=dict)
    scratch: tuple[int, ...] = ()

    def own(self, rank: int, offset: int, count: int) -> Span:
        """Return where `rank`, the source, has chunks of the data."""
        return Span(rank, Buffer.INPUT, offset - rank * self.chunks, count)

    def result(self, rank: int, offset: int, count: int) -> Span:
        """Return where `rank` has chunks of the data: in its output if they are for it; a relay has them in scratch."""
        source, chunk = divmod(offset, self.chunks)
        target, place = divmod(chunk, self.parts[0])
        if rank == target:
            return Span(rank, Buffer.OUTPUT, source * self.parts[0] + place, count)
        if rank == source:
            return self.own(rank, offset, count)
        return Span(rank, Buffer.SCRATCH, self.rooms[rank, offset], count)

    def rank(self, number: int, blocks: Iterable[Block], scratch: int, semaphores: int = 0) -> Rank:  # noqa: ARG002 (nothing is added up)
        """Return a rank with these blocks; its scratch consists of the rooms only."""
        return super().rank(number, blocks, self.scratch[number])


def _programs(
    flows: _Flows, counts: Sequence[int], part: int, options: Options, limits: Limits
) -> Iterator[Program | Excess]:
    """Yield the programs that fit, the best one first, and for each other plan the limit that it exceeds."""
    one = options.style is Style.ONE_SIDED
    most = None if one else most_of_step(options, limits.count)
    trees = _trees(flows, counts, part, options, limits)
    listed = [each for tree in trees for each in parts_of(tree, options, most)]
    layout = _layout(flows, part, options, listed)
    own = [_own(rank, layout) for rank in range(flows.size)]
    kept = [each for flow in own for each in parts_of(flow, options, most)]
    name = flows.topology.name
    if one:
        yield one_sided(name, layout, [*kept, *listed], limits, flows.boxes)
        return
    for plan in plans(layout, listed, limits):
        if isinstance(plan, Excess):
            yield plan
        else:
            yield two_sided(name, layout, plan, kept, limits)


def _layout(flows: _Flows, part: int, options: Options, listed: Sequence[RankTree]) -> _Layout:
    rooms: dict[tuple[int, int], int] = {}
    scratch = [0] * flows.size
    for flow in listed:
        for rank in set(flow.children) - {flow.root}:
            rooms[rank, flow.offset] = scratch[rank]
            scratch[rank] += flow.count
    parts = (part * options.scale,) * flows.size
    return _Layout(Task.ALL_TO_ALL, sum(parts), parts, None, options, rooms, tuple(scratch))


def _own(rank: int, layout: _Layout) -> RankTree:
    """Return the data that a rank keeps, as a tree without edges."""
    offset = rank * layout.chunks + layout.begins[rank]
    return RankTree(PhaseOp.BROADCAST, 0, rank, offset, layout.parts[rank], {})


def _trees(flows: _Flows, counts: Sequence[int], part: int, options: Options, limits: Limits) -> Iterator[RankTree]:
    """Yield each flow that carries data as a tree; the flows of a pair follow each other.

    The turns, over which channels are distributed, differ for peers that are too many for one channel.
    """
    pair = part * options.scale
    peers = limits.blocks_per_channel or flows.size
    for (source, target), numbers in flows.pairs.items():
        offset = (source * flows.size + target) * pair
        first = (target - source) % flows.size // peers
        for turn, number in enumerate((each for each in numbers if counts[each]), first):
            count = counts[number] * options.scale
            children = {upper: (lower,) for upper, lower in pairwise(flows.paths[number].ranks)}
            yield RankTree(PhaseOp.BROADCAST, 0, source, offset, count, children, turn=turn)
            offset += count
