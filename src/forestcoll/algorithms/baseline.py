"""What a baseline is: an algorithm with a name, a source, and a function that makes its schedule for a problem."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

from forestcoll.algorithms.boxes import Boxes
from forestcoll.algorithms.routes import Routes
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import NodeId, Topology


class DoesNotApplyError(InputError):
    """The algorithm has no meaning on the network or for the collective. The message says why, in one line."""


class Family(StrEnum):
    """How the schedules of an algorithm move data."""

    TREES = "trees"
    """Along trees at the same time: data flows as soon as it has arrived."""
    STEPS = "steps"
    """In steps with a barrier after each."""


@dataclass(frozen=True)
class Problem:
    """A collective on a network, as an algorithm receives it.

    Attributes:
        topology: the network.
        demand: the collective and its parameters, in node numbers of the network.
    """

    topology: Topology
    demand: NodeDemand

    @property
    def collective(self) -> Collective:
        """The collective."""
        return self.demand.collective

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part, in ascending order."""
        return self.demand.members(self.topology)

    @cached_property
    def ranks_by_id(self) -> list[NodeId] | None:
        """The ids of the compute nodes that take part; None if all do."""
        return None if self.demand.ranks is None else self.topology.ids(self.demand.ranks)

    @cached_property
    def share(self) -> Fraction:
        """The part of the data of each member: 1/N."""
        return Fraction(1, len(self.members))

    @cached_property
    def routes(self) -> Routes:
        """The routes between compute nodes."""
        return Routes(self.topology)

    @cached_property
    def boxes(self) -> Boxes:
        """The boxes of the network."""
        return Boxes(self.topology, self.members)

    def require_boxes(self) -> None:
        """Raise `DoesNotApplyError` if a compute node that takes part is in no box."""
        if not self.boxes.is_complete:
            raise DoesNotApplyError("some compute nodes are in no box; the algorithm needs the node attribute 'box'")

    @cached_property
    def transposed_boxes(self) -> Boxes:
        """The boxes of the network with every link reversed. Its exits are the reversed paths into boxes."""
        transposed = self.transposed()
        return self.boxes if transposed is self else Boxes(transposed.topology, self.members)

    def transposed(self) -> "Problem":
        """Return the problem on the network with every link reversed: itself if that is the same network."""
        return self._transposed or self

    @cached_property
    def _transposed(self) -> "Problem | None":
        topology = self.topology.transposed()
        is_same = (topology.nodes, topology.links) == (self.topology.nodes, self.topology.links)
        return None if is_same else Problem(topology, self.demand)


@dataclass(frozen=True)
class BaselineResult:
    """A schedule of an algorithm, with what the schedule does not say.

    Attributes:
        schedule: the schedule.
        algbw: the algbw of the algorithm if it is not that of the schedule; else None.
        note: what `algbw` counts, or how the schedule was found, as a sentence without a period; empty for none.
    """

    schedule: Schedule
    algbw: Fraction | None = None
    note: str = ""


@dataclass(frozen=True)
class Overhead:
    """Data that an algorithm sends in addition to the sends of its schedule.

    Attributes:
        algbw: returns the algbw with this data, for a problem and the schedule.
        note: what the data is, as a sentence without a period.
    """

    algbw: Callable[[Problem, Any], Fraction]
    note: str


@dataclass(frozen=True)
class Baseline:
    """An algorithm that other libraries use.

    Attributes:
        name: the name in tables and on the command line.
        family: how its schedules move data.
        collectives: the collectives that it is used for.
        make: returns its schedule for a problem, or a `BaselineResult` with more. The schedule is not verified yet.
            Raises `DoesNotApplyError` where the algorithm has no meaning.
        overhead: data that the algorithm sends and the schedule does not; None if the schedule has all sends.
    """

    name: str
    family: Family
    collectives: tuple[Collective, ...]
    make: Callable[[Problem], Schedule | BaselineResult]
    overhead: Overhead | None = None

    def result(self, problem: Problem) -> BaselineResult:
        """Return the schedule for a problem, with the algbw of the algorithm if that is another one.

        Raises:
            DoesNotApplyError: the algorithm has no meaning on the network or for the collective.
        """
        if problem.collective not in self.collectives:
            raise DoesNotApplyError(f"not an algorithm for {problem.collective.with_article}")
        found = self.make(problem)
        if isinstance(found, BaselineResult):
            return found
        if self.overhead is None or not isinstance(found, TreeSchedule):
            return BaselineResult(found)
        return BaselineResult(found, self.overhead.algbw(problem, found), self.overhead.note)
