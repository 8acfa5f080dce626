"""Programs on a network: the data on each link, the algbw, and the time.

Rank i is compute node number i of those that take part. A send between two ranks goes over the widest of the shortest
paths through switches, as the sends of all `algorithms` that name only pairs. Data that a switch adds up
or copies (multicast) crosses the link of each rank of the group once.

The algbw is that of the busiest link: M over the time that the link needs for all data that crosses it. It counts
neither latencies nor waiting. The times are those of the event simulation of the program. A program of MSCCL is
simulated as its runtime moves data: in rounds and messages, with the thread blocks of the machine if they were measured
(`simulation/program/measured_blocks.csv`). Other programs are simulated as they are.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from forestcoll.algorithms.method import Problem
from forestcoll.base.errors import InputError
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.programs.formats.msccl_xml.dialects import CONNECTIONS
from forestcoll.programs.model import Instruction, Message, Multicast, Program, Span
from forestcoll.simulation import Costs, Point
from forestcoll.simulation.program.events import run_in_time
from forestcoll.simulation.program.measured_blocks import MeasuredBlocks, measured_blocks
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.simulate import MOST_INSTRUCTIONS
from forestcoll.topology.gpus import gpu_of
from forestcoll.topology.graph.routes import Path
from forestcoll.tuning.programs.rounds import MEASURED_INSTRUCTIONS, RoundModel

_LONG_US = 10**9
"""A latency in microseconds that is much longer than the rest of the time of a program."""


@dataclass(frozen=True)
class ProgramRun:
    """A program that the interpreter has proven, on a network.

    Attributes:
        problem: the collective and the network.
        program: the program.
        where: the file, for error messages.
        is_msccl: whether MSCCL runs it.
    """

    problem: Problem
    program: Program
    where: str
    is_msccl: bool = False

    @cached_property
    def loads(self) -> list[Fraction]:
        """The part of M that crosses each link, in the order of the links of the network.

        Raises:
            InputError: no path through switches joins two ranks between which data moves.
        """
        chunks: Counter[tuple[int, int]] = Counter()
        pairs: Counter[tuple[int, int]] = Counter()
        for rank, _, _, instruction in self.program.instructions():
            for source, target, count in _sends(self.program, rank, instruction):
                pairs[source, target] += count
            for hop, count in self._multicasts(rank, instruction):
                chunks[hop] += count
        for (source, target), count in pairs.items():
            for hop in pairwise(self._route(source, target)):
                chunks[hop] += count
        links = self.problem.topology.links
        return [Fraction(chunks[link.source, link.target], self.program.chunks) for link in links]

    @property
    def algbw(self) -> Fraction:
        """The algbw that the busiest link allows, in the unit of the network."""
        links = self.problem.topology.links
        busiest = max(load / link.bandwidth for load, link in zip(self.loads, links, strict=True))
        if not busiest:
            raise InputError(f"{self.where}: sends no data between ranks, so it has no algbw")
        return 1 / busiest

    @cached_property
    def height(self) -> int | None:
        """The most sends one after another; None if the program is too long to be simulated."""
        if not self._is_short:
            return None
        seconds = run_in_time(self.program, self._paths, 1, Costs(_LONG_US, 0)).seconds
        return round(seconds / (_LONG_US * 1e-6))

    def points(self, sizes: Sequence[int], costs: Costs | None) -> tuple[Point, ...]:
        """Return the simulated time for each size; none if the program is too long to be simulated.

        Args:
            sizes: the sizes of the data M in bytes.
            costs: the parameters of the model; None for those of the machine.
        """
        if not self._is_short:
            return ()
        if self.is_msccl:
            model = self._model(costs)
            return tuple(model.point(size, MEASURED_INSTRUCTIONS) for size in sizes)
        return tuple(self._point(size, costs or Costs()) for size in sizes)

    @cached_property
    def blocks(self) -> MeasuredBlocks | None:
        """What the thread blocks of the machine reach; None if no measurement is known."""
        return measured_blocks(self.problem.topology, self.program.protocol) if self.is_msccl else None

    @property
    def blocks_note(self) -> str:
        """What the times assume about the thread blocks of a known machine; empty if there is nothing to say."""
        gpu = gpu_of(self.problem.topology)
        if not self.is_msccl or gpu is None:
            return ""
        if self.blocks is not None:
            protocol, gbps = self.program.protocol.value, self.blocks.costs.block_gbps
            return f"in the times, a thread block moves {gbps:g} GB/s with {protocol}, as measured on {gpu.name}"
        if gpu.block_gbps is not None:
            return f"in the times, a thread block sends at most {gpu.block_gbps:g} GB/s, as NCCL counts for {gpu.name}"
        return f"in the times, thread blocks have no limit, because no program was measured on {gpu.name}"

    @property
    def _machine_costs(self) -> Costs:
        """The costs of the machine: as measured, else with the limit of blocks that `export` uses, if it is known."""
        gpu = gpu_of(self.problem.topology)
        return self.blocks.costs if self.blocks else Costs(block_gbps=gpu.block_gbps if gpu else None)

    def _model(self, costs: Costs | None) -> RoundModel:
        """Return the model of a program of MSCCL."""
        connection = CONNECTIONS[self.program.protocol.value]
        return RoundModel(
            schedule=self.problem,
            program=self.program,
            chunks=self.program.chunks,
            round_bytes=connection.slot_bytes,
            paths=self._paths,
            costs=costs or self._machine_costs,
            algbw=self.algbw,
            slices=self.blocks.slices if self.blocks else connection.slices,
        )

    @cached_property
    def _is_short(self) -> bool:
        return sum(1 for _ in self.program.instructions()) <= MOST_INSTRUCTIONS

    def _point(self, size: int, costs: Costs) -> Point:
        seconds = run_in_time(self.program, self._paths, size, costs).seconds
        unit = float(bytes_per_microsecond(self.problem.topology.bandwidth_unit) * 10**6)
        algbw = size / seconds / unit
        part = max(each.count for *_, each in self.program.instructions()) / self.program.chunks
        busbw = algbw * float(self.problem.collective.busbw_factor(len(self.problem.members)))
        return Point(size, seconds, algbw, busbw, 1, size * part)

    @cached_property
    def _paths(self) -> Paths:
        """The routes of this module, for the event simulation."""
        members = self.problem.members
        found = (
            ((one, other), self.problem.routes.find(members[one], members[other]))
            for one in range(len(members))
            for other in range(len(members))
            if one != other
        )
        return Paths(self.problem.topology, members, {pair: {route: 1.0} for pair, route in found if route is not None})

    def _route(self, source: int, target: int) -> Path:
        one, other = self.problem.members[source], self.problem.members[target]
        route = self.problem.routes.find(one, other)
        if route is None:
            names = self.problem.topology.ids([one, other])
            raise InputError(
                f"{self.where}: rank {source} sends to rank {target}, and no path through switches joins their nodes "
                f"{names[0]} and {names[1]}"
            )
        return route

    def _multicasts(self, rank: int, instruction: Instruction) -> list[tuple[tuple[int, int], int]]:
        """Return the links that the multicasts of an instruction use, with the number of chunks on each."""
        found = []
        node = self.problem.members[rank]
        for place in instruction.sources:
            if isinstance(place, Multicast):
                switch, group = self._switch(place, adds_up=True)
                found += [((each, switch), place.count) for each in group] + [((switch, node), place.count)]
        for place in instruction.targets:
            if isinstance(place, Multicast):
                switch, group = self._switch(place, adds_up=False)
                found += [((switch, each), place.count) for each in group] + [((node, switch), place.count)]
        return found

    def _switch(self, place: Multicast, *, adds_up: bool) -> tuple[int, list[int]]:
        """Return the switch that all ranks of a group share, and their nodes."""
        group = [self.problem.members[rank] for rank in self.program.groups[place.group]]
        topology, bandwidths = self.problem.topology, self.problem.routes.bandwidths
        for switch in topology.able_switches:
            node = topology.nodes[switch]
            is_able = node.aggregation if adds_up else node.multicast
            if is_able and all((each, switch) in bandwidths and (switch, each) in bandwidths for each in group):
                return switch, group
        does = "adds up data" if adds_up else "multicasts"
        raise InputError(f"{self.where}: needs a switch that {does} between ranks, and the network has none there")


def _sends(program: Program, rank: int, instruction: Instruction) -> list[tuple[int, int, int]]:
    """Return the source rank, the target rank and the chunks of each send of an instruction, without multicasts."""
    sends = [
        (place.rank, rank, place.count)
        for place in instruction.sources
        if isinstance(place, Span) and place.rank != rank
    ]
    for place in instruction.targets:
        if isinstance(place, Message):
            sends.append((rank, program.channels[place.channel].target, place.count))
        elif isinstance(place, Span) and place.rank != rank:
            sends.append((rank, place.rank, place.count))
    return sends
