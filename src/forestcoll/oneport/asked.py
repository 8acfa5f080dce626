"""What `forestcoll one-port` is asked, and its answers: a series of broadcasts, or one message in packets.

Which options fit each question follows from its fields. The schedules of an answer are verified.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from forestcoll.base.errors import InputError
from forestcoll.base.parameters import Count, Part, Question, Text, of_kind, of_options
from forestcoll.base.progress import Progress
from forestcoll.base.registry import Registry
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.oneport.message.pipelined import Pipeline, PipelinePlan, root_rule
from forestcoll.oneport.series.collectives import collective_series
from forestcoll.oneport.series.comparison import SeriesComparison, compare_series
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.simulation.series.play import SeriesRun, good_cuts, play_series
from forestcoll.topology import NodeId, Topology
from forestcoll.verification import certified, verify
from forestcoll.verification.series.timetable import certified_timetable


@dataclass(frozen=True)
class SeriesAnswer:
    """A series of a collective.

    Attributes:
        compared: the throughputs of broadcasts over all links, over a DAG and along a tree; None for other collectives.
        schedule: the periodic schedule.
        run: the simulation of some messages; None if there was none.
    """

    compared: SeriesComparison | None
    schedule: SeriesSchedule
    run: SeriesRun | None


@dataclass(frozen=True)
class MessageAnswer:
    """The broadcast of one message.

    Attributes:
        pipeline: makes plans for other sizes.
        plan: the plan.
        by_rule: the plan for the same message by the square-root rule.
        schedule: the periodic schedule of the packets.
    """

    pipeline: Pipeline
    plan: PipelinePlan
    by_rule: PipelinePlan
    schedule: SeriesSchedule


methods = Registry("method of one-port broadcasts", ())
"""How a series or a message is broadcast, by name."""


@methods.add("graph", summary="a series over all links")
@dataclass(frozen=True)
class Graph:
    """A series over all links.

    Attributes:
        loss: the part of the optimum that may be lost.
    """

    loss: Fraction = of_kind(
        Fraction(0), Part(), "the part of the optimum that may be lost for fewer trees and rounds, such as 1%"
    )


@methods.add("dag", summary="a series over the links of the best directed acyclic graph (DAG)")
@dataclass(frozen=True)
class Dag:
    """A series over the links of a directed acyclic graph.

    Attributes:
        order: the ids of all compute nodes in the order of the DAG, separated by commas; None for the best one.
    """

    order: str | None = of_kind(
        None,
        Text("ids, such as 's,1,2' in quotes"),
        "the ids of all compute nodes in its order, the source first, such as 's,1,2' in quotes",
        default_text="the best order found",
    )


@methods.add("tree", summary="a series along the best tree")
@dataclass(frozen=True)
class Tree:
    """A series along one tree."""


@methods.add("packets", summary="one message of --size in packets")
@dataclass(frozen=True)
class Packets:
    """One message in packets.

    Attributes:
        count: the number of packets; None for the best one.
    """

    count: int | None = of_kind(None, Count(), "the number of packets; 1 sends it whole", default_text="the best")


@dataclass(frozen=True)
class Series(Question):
    """A question about a series of a collective.

    Attributes:
        source: the root; None for a collective without a root.
        collective: what the series repeats.
        method: the links that the schedule may use.
        simulate: the number of messages to simulate; None for no simulation.
    """

    fits: ClassVar[str] = "a series; leave it out, or give the --size of one message"
    source: NodeId | None = None
    collective: Collective = Collective.BROADCAST
    method: Graph | Dag | Tree = field(default_factory=Graph)
    simulate: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.method, Packets):
            raise InputError("--method packets is for one message; also give its --size")
        object.__setattr__(self, "collective", collective_named(self.collective))
        if self.collective.has_root:
            _check_source(self.source)
        if self.collective is not Collective.BROADCAST and self.method != Graph():
            raise InputError(
                f"--method is for broadcasts, and this is {self.collective.with_article}; leave --method out"
            )

    def answer(self, network: Topology, progress: Progress) -> SeriesAnswer:
        """Return the best schedule."""
        compared, schedule = self._schedule(network, progress)
        progress.begin("verifying")
        certified(verify(schedule))
        run = None
        if self.simulate is not None:
            run = play_series(schedule, self.simulate, cuts=good_cuts(schedule, self.simulate), progress=progress)
        return SeriesAnswer(compared, schedule, run)

    def _schedule(self, network: Topology, progress: Progress) -> tuple[SeriesComparison | None, SeriesSchedule]:
        if self.source is None or self.collective is not Collective.BROADCAST:
            return None, collective_series(network, self.collective, self.source, progress=progress)
        listed = self.method.order if isinstance(self.method, Dag) else None
        order = None if listed is None else [each.strip() for each in listed.split(",")]
        compared = compare_series(network, self.source, order=order, progress=progress)
        progress.begin("colouring the links")
        loss = self.method.loss if isinstance(self.method, Graph) else Fraction(0)
        return compared, compared.schedule(methods.name_of(type(self.method)), loss=loss)


@dataclass(frozen=True)
class Message(Question):
    """A question about the broadcast of one message.

    Attributes:
        size: L, in bytes.
        source: the compute node that sends.
        method: the number of packets.
    """

    fits: ClassVar[str] = "one message of --size; leave one of them out"
    size: int
    source: NodeId | None = None
    method: Packets = field(default_factory=Packets)

    def __post_init__(self) -> None:
        _check_source(self.source)
        if not isinstance(self.method, Packets):
            raise InputError(f"--method {methods.name_of(type(self.method))} is for a series; leave out --size")

    def answer(self, network: Topology, progress: Progress) -> MessageAnswer:
        """Return the fastest known plan to broadcast the message."""
        pipeline = Pipeline(network, _check_source(self.source), progress)
        plan = pipeline.plan(self.size, packets=self.method.count)
        by_rule = pipeline.plan(self.size, packets=root_rule(self.size))
        progress.begin("colouring the links")
        schedule = plan.schedule()
        progress.begin("verifying")
        certified(verify(schedule))
        if plan.timetable is not None:
            certified_timetable(plan.timetable)
        return MessageAnswer(pipeline, plan, by_rule, schedule)


def _check_source(source: NodeId | None) -> NodeId:
    if source is None:
        raise InputError("Missing option '--source'; give the compute node that sends or receives all messages")
    return source


def asked(options: Mapping[str, Any]) -> Series | Message:
    """Return the question that options ask: about one message if its size is given.

    Raises:
        InputError: an option does not fit the question.

    Example:
        >>> asked({"size": None, "method": None, "source": "0"}).method
        Graph(loss=Fraction(0, 1))
    """
    return of_options(Series, options) if options["size"] is None else of_options(Message, options)
