"""What `forestcoll one-port` is asked, and its answers: a series of broadcasts, or one message in packets.

Which options fit each question follows from its fields. The schedules of an answer are verified.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from forestcoll.base.parameters import Question, of_options
from forestcoll.base.progress import Progress
from forestcoll.oneport.message.pipelined import Pipeline, PipelinePlan, root_rule
from forestcoll.oneport.series.comparison import SeriesComparison, SeriesKind, compare_series
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.simulation.series.play import SeriesRun, good_cuts, play_series
from forestcoll.topology import NodeId, Topology
from forestcoll.verification import certified, verify
from forestcoll.verification.series.timetable import certified_timetable


@dataclass(frozen=True)
class SeriesAnswer:
    """A series of broadcasts.

    Attributes:
        compared: the throughputs over all links, over a DAG and along a tree.
        schedule: the periodic schedule.
        run: the simulation of some messages; None if there was none.
    """

    compared: SeriesComparison
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


@dataclass(frozen=True)
class Series(Question):
    """A question about a series of broadcasts.

    Attributes:
        along: the links that the schedule may use.
        order: the ids of all compute nodes in the order of the DAG, separated by commas; None for the best one.
        loss: the part of the optimum that may be lost.
        simulate: the number of messages to simulate; None for no simulation.
    """

    fits: ClassVar[str] = "a series of broadcasts; leave it out, or give the --size of one message"
    along: str = SeriesKind.GRAPH
    order: str | None = None
    loss: Fraction = Fraction(0)
    simulate: int | None = None

    def answer(self, network: Topology, source: NodeId, progress: Progress) -> SeriesAnswer:
        """Return the best schedule of broadcasts from `source`."""
        order = None if self.order is None else [each.strip() for each in self.order.split(",")]
        compared = compare_series(network, source, order=order, progress=progress)
        progress.begin("colouring the links")
        schedule = compared.schedule(self.along, loss=self.loss)
        progress.begin("verifying")
        certified(verify(schedule))
        run = None
        if self.simulate is not None:
            run = play_series(schedule, self.simulate, cuts=good_cuts(schedule, self.simulate), progress=progress)
        return SeriesAnswer(compared, schedule, run)


@dataclass(frozen=True)
class Message(Question):
    """A question about the broadcast of one message.

    Attributes:
        size: L, in bytes.
        packets: the number of packets; None for the best one.
    """

    fits: ClassVar[str] = "one message of --size; leave one of them out"
    size: int
    packets: int | None = None

    def answer(self, network: Topology, source: NodeId, progress: Progress) -> MessageAnswer:
        """Return the fastest known plan to broadcast the message from `source`."""
        pipeline = Pipeline(network, source, progress)
        plan = pipeline.plan(self.size, packets=self.packets)
        by_rule = pipeline.plan(self.size, packets=root_rule(self.size))
        progress.begin("colouring the links")
        schedule = plan.schedule()
        progress.begin("verifying")
        certified(verify(schedule))
        if plan.timetable is not None:
            certified_timetable(plan.timetable)
        return MessageAnswer(pipeline, plan, by_rule, schedule)


def asked(options: Mapping[str, Any]) -> Series | Message:
    """Return the question that options ask: about one message if its size is given.

    Raises:
        InputError: an option does not fit the question.

    Example:
        >>> asked({"size": None, "along": "dag", "packets": None}).along
        'dag'
    """
    return of_options(Series, options) if options["size"] is None else of_options(Message, options)
