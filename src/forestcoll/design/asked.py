"""What `forestcoll design` is asked, and its answer: the best networks of one size, those of many, or an expansion.

Which options fit each question follows from its fields.
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.parameters import Question, of_options
from forestcoll.base.progress import Progress
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.demand.groups.layout import Layout
from forestcoll.design.constructions import Construction
from forestcoll.design.expanding import bandwidth_of, expand
from forestcoll.design.given import base_network
from forestcoll.design.realisation import schedule_of, topology_of
from forestcoll.design.search.finder import Frontier, TopologyFinder, find_topologies
from forestcoll.design.search.sweep import found, questions_of, sweep
from forestcoll.design.workloads.job import Job, Ranking, best_networks
from forestcoll.design.workloads.samples import profile_of
from forestcoll.design.workloads.workload import Objective, StepCosts, Workload, WorkloadTraffic, chosen_of
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import Topology

Files = Mapping[str, Path]
"""The file of each kind of output that is written: `schedule`, `topology`, `plot`, `picture`."""


@dataclass(frozen=True)
class _Find(Question):
    """A question about the networks that a search finds.

    Attributes:
        nodes: the numbers of nodes.
        degree: the numbers of links that leave each node.
        base: more base networks, as for `base_network`.
        only: `bidirectional` if every link must have a reverse link, `published` for the base networks of the paper.
        size: M of the workload, in bytes; None without a workload.
        costs: what steps of the workload take.
        collective: the collectives of the workload.
        objective: the `Objective` in which the chosen network is the best if there is no workload. If it is the rate of
            an all-to-all, or if the workload has one, the rate is a third measure of the frontier.
    """

    needs: ClassVar[str] = "give --nodes and --degree to find networks, or BASE and --by to expand a network"
    nodes: range
    degree: range
    base: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    size: int | None = None
    costs: StepCosts | None = None
    collective: str = WorkloadTraffic.ALLREDUCE
    objective: str | None = None

    def __post_init__(self) -> None:
        if self.size is not None and self.objective is not None:
            raise InputError("--objective is for a search without a workload; leave out --objective or --size")
        if self.size is None and self.costs is not None:
            raise InputError("--costs is for a workload; also give its --size")
        if self.collective not in set(WorkloadTraffic):
            raise InputError(
                f"a search compares no networks for {self.collective}; choose one of {', '.join(WorkloadTraffic)}"
            )

    @property
    def workload(self) -> Workload | None:
        """The workload; None if no size was given."""
        if self.size is None:
            return None
        costs = self.costs or StepCosts()
        return Workload(WorkloadTraffic(self.collective), self.size, costs.alpha, costs.bandwidth, costs.reduction)

    @property
    def with_exchanges(self) -> bool:
        """Whether the rate of an all-to-all is a measure of the frontier."""
        workload = self.workload
        return self.objective == Objective.ALL_TO_ALL or (workload is not None and workload.traffic.exchanges)

    @property
    def search(self) -> dict[str, Any]:
        """The arguments of the search that restrict or add networks."""
        bases = [base_network(each) for each in self.base]
        return {"bidirectional": self.bidirectional, "published_only": "published" in self.only, "bases": bases}

    @property
    def bidirectional(self) -> bool:
        """Whether every link must have a reverse link."""
        return "bidirectional" in self.only


@dataclass(frozen=True)
class Search(_Find):
    """A question about the networks of one size and degree.

    Attributes:
        choose: the name of the network to write, or its number of steps; None for the best.
        output: the files of the schedule, the topology and the picture of the chosen network, and the plot of the
            frontier. Links have 1 GB/s or, with a workload, the part of B of each link of a node.
    """

    fits: ClassVar[str] = "one number of nodes and one degree; leave it out"
    choose: str | None = None
    output: Files = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if "schedule" in self.output and WorkloadTraffic(self.collective).exchanges:
            raise InputError("-o writes the schedule of an allgather or an allreduce; choose one as --collective")

    def answer(self, progress: Progress, _: Executor | None = None) -> "SearchAnswer":
        """Return the frontier, and the network that is chosen."""
        workload = self.workload
        progress.begin("searching")
        frontier = found(TopologyFinder(**self.search), self.nodes[0], self.degree[0], self.with_exchanges, progress)
        progress.begin("measuring")
        chosen = chosen_of(frontier, workload or Objective(self.objective or Objective.BANDWIDTH), self.choose)
        bandwidth = Fraction(1) if workload is None else workload.bandwidth / chosen.degree
        return SearchAnswer(chosen, self.collective, bandwidth, self, frontier)

    def published(self) -> Frontier | None:
        """Return the networks of the paper's bases; None if they are what was searched for, or if there are none."""
        if "published" in self.only and not self.base:
            return None
        try:
            return find_topologies(self.nodes[0], self.degree[0], bidirectional=self.bidirectional, published_only=True)
        except NoSolutionError:
            return None


@dataclass(frozen=True)
class JobSearch(Question):
    """A question about the best networks for a job.

    Attributes:
        profile: the file or the sample with the collectives or the layers of the job.
        nodes: the number of nodes.
        degree: the number of links that leave each node.
        base: more base networks, as for `base_network`.
        only: as for a search.
        costs: what steps take.
        layout: how ranks are divided, for sharded training.
        output: the files of the topology and the picture of the best network, whose nodes are numbered as ranks.
    """

    fits: ClassVar[str] = "--profile; leave one of them out"
    needs: ClassVar[str] = _Find.needs
    profile: str
    nodes: range
    degree: range
    base: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    costs: StepCosts | None = None
    layout: str | None = None
    output: Files = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.nodes) * len(self.degree) > 1:
            raise InputError("--profile is for one network; give one number of nodes and one degree")
        if unfit := sorted(self.output.keys() & {"plot", "schedule"}):
            raise InputError(
                f"-o {unfit[0]}=FILE does not fit --profile; write -o topology=FILE, and generate a schedule on it"
            )

    def answer(self, progress: Progress, _: Executor | None = None) -> "JobAnswer":
        """Return the best networks."""
        nodes = self.nodes[0]
        job = Job(profile_of(self.profile).on(nodes), None if self.layout is None else Layout.of(self.layout))
        bases = [base_network(each) for each in self.base]
        finder = TopologyFinder(
            bidirectional="bidirectional" in self.only, published_only="published" in self.only, bases=bases
        )
        progress.begin("searching")
        return JobAnswer(best_networks(job, finder, nodes, self.degree[0], self.costs, progress=progress), self)


@dataclass(frozen=True)
class JobAnswer:
    """The best networks for a job.

    Attributes:
        ranking: the networks.
        question: what was asked.
    """

    ranking: Ranking
    question: JobSearch

    @property
    def topology(self) -> Topology:
        """The best network, in which node r is rank r."""
        return self.ranking.networks[0].times.topology


@dataclass(frozen=True)
class Sweep(_Find):
    """A question about the networks of many sizes and degrees.

    Attributes:
        jobs: the number of processes.
    """

    fits: ClassVar[str] = "a sweep; give one number of nodes and one degree, or leave it out"
    jobs: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base and self.jobs > 1:
            raise InputError("BASE is for a search in one process; leave out --jobs")

    def answer(self, progress: Progress, executor: Executor | None = None) -> "SweepAnswer":
        """Return the frontiers; the `executor` does the work."""
        questions = questions_of(self.nodes, self.degree)
        progress.begin("searching")
        finder = TopologyFinder(**self.search)
        frontiers = sweep(questions, finder, self.with_exchanges, executor=executor, progress=progress)
        return SweepAnswer(self, tuple(frontiers))


@dataclass(frozen=True)
class Expansion(Question):
    """A question about a larger network.

    Attributes:
        base: the network, as for `base_network`.
        by: the expansions, as for `expand`.
        collective: the collective of its schedule.
        output: the files of its schedule and its topology.
    """

    fits: ClassVar[str] = "--by; leave one of them out"
    needs: ClassVar[str] = _Find.needs
    base: tuple[str, ...]
    by: tuple[str, ...]
    collective: str = Collective.ALLGATHER
    output: Files = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.base) > 1:
            raise InputError("--by expands one network; give one BASE")
        if self.collective not in set(UNROOTED):
            raise InputError(f"--by makes no schedule for {self.collective}; choose one of {', '.join(UNROOTED)}")
        if drawn := sorted(self.output.keys() & {"picture", "plot"}):
            raise InputError(f"-o {drawn[0]}=FILE does not fit --by; leave one of them out")

    def answer(self, progress: Progress, _: Executor | None = None) -> "ExpansionAnswer":
        """Return the expanded network."""
        progress.begin("expanding")
        network = expand(self.base[0], self.by)
        return ExpansionAnswer(network, self.collective, bandwidth_of(network), self)


@dataclass(frozen=True)
class SweepAnswer:
    """The networks of each size and degree.

    Attributes:
        question: what was asked.
        frontiers: the networks.
    """

    question: Sweep
    frontiers: tuple[Frontier, ...]


@dataclass(frozen=True)
class _Network:
    """An answer with one network.

    Attributes:
        network: the network that is chosen or made.
        collective: the collective of its schedule.
        bandwidth: the bandwidth of an arc.
    """

    network: Construction
    collective: str
    bandwidth: Fraction

    @property
    def topology(self) -> Topology:
        """The network as a topology."""
        return topology_of(self.network, bandwidth=self.bandwidth)

    def schedule(self, progress: Progress) -> StepSchedule:
        """Return the verified schedule of the network."""
        return schedule_of(self.network, self.collective, bandwidth=self.bandwidth, progress=progress)


@dataclass(frozen=True)
class SearchAnswer(_Network):
    """The networks of one size and degree, and the chosen one.

    Attributes:
        question: what was asked.
        frontier: the networks.
    """

    question: Search
    frontier: Frontier


@dataclass(frozen=True)
class ExpansionAnswer(_Network):
    """An expanded network.

    Attributes:
        question: what was asked.
    """

    question: Expansion


Answer = SweepAnswer | SearchAnswer | JobAnswer | ExpansionAnswer


def asked(options: Mapping[str, Any]) -> Search | JobSearch | Sweep | Expansion:
    """Return the question that options ask.

    Args:
        options: the values of options by their names; None, False and () are not given.

    Raises:
        InputError: an option is missing, or two do not fit each other.

    Example:
        >>> asked({"base": ("ring:nodes=4",), "by": ("degree=2",), "nodes": None, "degree": None}).by
        ('degree=2',)
    """
    nodes, degree = options["nodes"], options["degree"]
    if options.get("profile"):
        return of_options(JobSearch, options)
    if options["by"] or (options["base"] and nodes is None and degree is None):
        return of_options(Expansion, options)
    is_sweep = nodes is not None and degree is not None and len(nodes) * len(degree) > 1
    return of_options(Sweep, options) if is_sweep else of_options(Search, options, JobSearch)
