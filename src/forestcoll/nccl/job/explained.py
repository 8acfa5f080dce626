"""The log of a job of NCCL on a network: what its rings and trees reach there, what limits them, what the order costs.

The network is the user's or, without one, the one that NCCL printed. The schedules are those of the largest
communicator.
"""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction

from forestcoll.algorithms.method import DoesNotApplyError
from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError
from forestcoll.base.files import PathLike, as_path, peek_bytes
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.ranks import RanksLike, ranks_of
from forestcoll.nccl.job.communicators import Choice, Communicator
from forestcoll.nccl.job.messages import has_messages
from forestcoll.nccl.job.reading import NcclLog, parse_nccl_log
from forestcoll.nccl.job.schedules import Placement, placed, schedule_of
from forestcoll.nccl.job.system import network_of
from forestcoll.schedule.loads_of import link_loads
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.link_classes import Ends, LinkClass, link_classes
from forestcoll.topology.registry import load_topology

SHOWN = (
    (Collective.ALLGATHER, "ring"),
    (Collective.ALLREDUCE, "ring"),
    (Collective.ALLREDUCE, "tree"),
)
"""The schedules that are made of every log that states them."""

_HEADER = re.compile(r"\bsize\W+count\W+type\b")
_ROW = re.compile(r"\b\d+[\s|,]+\d+[\s|,]+(?:u?int\d+|float|double|half|bfloat16|fp?8\w*)\b")


@dataclass(frozen=True)
class Reached:
    """What a communicator reaches on a network.

    Attributes:
        algorithm: `ring` or `tree`.
        schedule: the schedule, which is verified.
        changed: at how many ends of rings the NIC of the log is not within reach, so that another one is used.
        limiting: the classes of the links that limit.
        uneven: links of those classes that carry more than most of their class: one link, and how many times as much.
        in_box_order: the algbw if the ranks were numbered in the order of the boxes; None if they are.
    """

    algorithm: str
    schedule: TreeSchedule
    changed: int
    limiting: tuple[LinkClass, ...]
    uneven: tuple[tuple[Ends, Fraction], ...]
    in_box_order: Fraction | None


@dataclass(frozen=True, repr=False)
class JobReport(Displayed):
    r"""A log of NCCL on a network.

    Attributes:
        log: what NCCL wrote.
        has_table: whether the log also has a table of nccl-tests.
        topology: the network; None if the user gave none, and the log does not show it.
        is_logged: whether the network is the one in the log.
        reached: what the largest communicator reaches on the network.
        reasons: why there are no such schedules, in sentences without a period.

    Example:
        >>> from forestcoll.nccl import JobReport
        >>> from forestcoll.nccl.job.reading import parse_nccl_log
        >>> text = "n0:7:7 [0] NCCL INFO comm 0x1 rank 0 nranks 1 cudaDev 0 busId 60 - Init COMPLETE\n"
        >>> JobReport(parse_nccl_log(text, "nccl.log"), False).largest.hosts
        ((0,),)
    """

    log: NcclLog
    has_table: bool
    topology: Topology | None = None
    is_logged: bool = False
    reached: tuple[Reached, ...] = ()
    reasons: tuple[str, ...] = ()
    _placement: Placement | None = field(default=None, repr=False)

    @property
    def largest(self) -> Communicator:
        """The communicator with the most ranks."""
        return self.log.communicators[0]

    def choice(self, collective: Collective, size: int) -> Choice | None:
        """Return what was chosen for a size, or else for the nearest size; None if the log has no choice."""
        found = [each for each in self.largest.choices if each.collective is collective and each.size > 0]
        return min(found, key=lambda each: max(Fraction(each.size, size), Fraction(size, each.size)), default=None)

    def reached_algbw(self, demand: NodeDemand, size: int) -> Fraction | None:
        """Return what the algorithm that NCCL chose could reach, in GB/s; None if the log does not say enough.

        Args:
            demand: the collective and its ranks.
            size: the size M in bytes.
        """
        if self.topology is None or self._placement is None:
            return None
        choice = self.choice(demand.collective, size)
        algorithms = ("ring", "tree") if choice is None else (choice.algorithm,)
        found = [algbw for each in algorithms if (algbw := self._algbw(demand, each)) is not None]
        return max(found, default=None)

    def _algbw(self, demand: NodeDemand, algorithm: str) -> Fraction | None:
        if self.topology is None or self._placement is None or algorithm not in {"ring", "tree"}:
            return None
        try:
            schedule, _ = schedule_of(self.largest, self._placement, demand, by_trees=algorithm == "tree")
        except DoesNotApplyError:
            return None
        return schedule.algbw * bytes_per_microsecond(self.topology.bandwidth_unit) / 1000


def explain_job(log: PathLike, topology: TopologyLike | None, *, ranks: RanksLike | None = None) -> JobReport | None:
    """Return what NCCL did in a job, and what that reaches on a network; None if the log has no line of NCCL.

    Args:
        log: the file with the output of a job with `NCCL_DEBUG=INFO`.
        topology: the network on which the job ran; None for the one that the log shows.
        ranks: the compute nodes of the ranks, as for `optimum`; None for all, with the hosts as boxes.

    Raises:
        InputError: the log cannot be read, or names no communicator; or the network has another number of ranks.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from forestcoll import explain_job
        >>> line = "n0:7:7 [0] NCCL INFO comm 0x1 rank 0 nranks 1 cudaDev 0 busId 60 - Init COMPLETE"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = Path(folder, "nccl.log").write_text(line + chr(10))
        ...     found = explain_job(Path(folder, "nccl.log"), None)
        >>> found.largest.gpus[0].host, found.topology
        ('n0', None)
    """
    path = as_path(log)
    text = bytes(peek_bytes(path)).decode("utf-8", errors="replace")
    read = parse_nccl_log(text, str(path))
    has_header = _HEADER.search(text) is not None
    has_table = has_header and _ROW.search(text) is not None
    if not read.communicators:
        if has_header or not has_messages(text):
            return None
        raise InputError(f"{path}: names no communicator of NCCL; run with NCCL_DEBUG=INFO and give the whole output")
    hung = ("the log has the header of a table of nccl-tests and no row: the test did not end",)
    report = JobReport(read, has_table, reasons=hung if has_header and not has_table else ())
    if topology is not None:
        network = load_topology(topology, connected=ranks is None)
        return _on(report, placed(report.largest, network, ranks_of(network, ranks), str(path)))
    found = network_of(report.largest) if report.largest.size > 1 else None
    if found is None:
        why = "the log shows no network (NCCL_DEBUG_SUBSYS=INIT,GRAPH); give TOPOLOGY"
        return replace(report, reasons=(*report.reasons, why))
    return replace(_on(report, Placement(found, found.compute, found.compute, None)), is_logged=True)


def _on(report: JobReport, placement: Placement) -> JobReport:
    reached, reasons = [], list(report.reasons)
    for collective, algorithm in SHOWN:
        try:
            reached.append(_reached(report.largest, placement, collective, algorithm))
        except DoesNotApplyError as error:
            reasons.append(f"{collective.value} by {algorithm}s: {error}")
    return replace(
        report,
        topology=placement.topology,
        reached=tuple(reached),
        reasons=tuple(reasons),
        _placement=placement,
    )


def _reached(communicator: Communicator, placement: Placement, collective: Collective, algorithm: str) -> Reached:
    demand, by_trees = NodeDemand(collective, ranks=placement.members), algorithm == "tree"
    schedule, changed = schedule_of(communicator, placement, demand, by_trees=by_trees)
    in_order = None
    if placement.in_box_order != placement.nodes:
        other, _ = schedule_of(
            communicator, replace(placement, nodes=placement.in_box_order), demand, by_trees=by_trees
        )
        in_order = other.algbw
    return Reached(algorithm, schedule, changed, *_limits(schedule), in_order)


def _limits(schedule: TreeSchedule) -> tuple[tuple[LinkClass, ...], tuple[tuple[Ends, Fraction], ...]]:
    """Return the classes of the links that are busy longest, and their links that carry more than most of the class."""
    topology = schedule.topology
    loads: dict[Ends, Fraction] = {}
    times: dict[Ends, Fraction] = {}
    for link, load in zip(topology.links, link_loads(schedule).exact, strict=True):
        ends = min(link.source, link.target), max(link.source, link.target)
        loads[ends] = max(load, loads.get(ends, Fraction(0)))
        times[ends] = max(load / link.bandwidth, times.get(ends, Fraction(0)))
    longest = max(times.values())
    limiting = {ends for ends, time in times.items() if time == longest}
    uneven = []
    for each in link_classes(topology):
        carried = [loads[ends] for ends in each.links if loads[ends]]
        usual = Counter(carried).most_common(1)[0][0] if carried else Fraction(0)
        uneven += [(ends, loads[ends] / usual) for ends in each.links if ends in limiting and loads[ends] > usual > 0]
    return tuple(link_classes(topology, sorted(limiting))), tuple(uneven)
