"""The best networks for a job: the least time of its collectives, or of an iteration of its training (§5.4, A.4).

All networks of the finder are candidates, and with groups also several placements of the ranks on each. A candidate has
a lower bound of its time, which grows with each collective that is measured. The candidate with the least bound is
measured next, until as many networks as wanted are fully measured and no other one can be faster.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.layout import Layout
from forestcoll.demand.texts import demand_of
from forestcoll.design.search.exchanges import all_networks
from forestcoll.design.search.finder import TopologyFinder
from forestcoll.design.workloads.groups import Role, TrainingGroups
from forestcoll.design.workloads.iteration import DEFAULT_BUCKETS, Activity, Iteration, best_iteration, iterate
from forestcoll.design.workloads.placed import JobDemand, PlacedTimes, Placement, networks_of, placements_of
from forestcoll.design.workloads.profile import Profile
from forestcoll.design.workloads.sharded import LayoutTimes, SizedTime, sharded_iteration
from forestcoll.design.workloads.workload import StepCosts

MOST_LISTED = 5
"""The number of networks that are listed."""

_COMPARED = (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE, Collective.ALL_TO_ALL)


@dataclass(frozen=True)
class Job:
    """What runs on a network: the collectives of a profile, or iterations of training.

    Attributes:
        profile: the layers of a model, or collectives with sizes and weights.
        layout: how ranks are divided, for layers with sharded parameters; None for data parallelism and experts.
    """

    profile: Profile
    layout: Layout | None = None

    def __post_init__(self) -> None:
        if self.layout is not None and self.profile.collectives:
            raise InputError(f"{self.profile.name}: has collectives; write a layout as their groups, or leave it out")
        for place, each in enumerate(self.profile.collectives):
            _check(each.collective, f"{self.profile.name}: collective {place}")

    @cached_property
    def sized(self) -> tuple[tuple[JobDemand, int, float], ...]:
        """The collectives, each with its size in bytes and its weight."""
        listed = self.profile.collectives
        return tuple((demand_of(each.collective), each.size, float(each.weight)) for each in listed)

    @cached_property
    def demands(self) -> tuple[JobDemand, ...]:
        """What is measured on a network: each collective once."""
        if self.profile.collectives:
            return tuple(dict.fromkeys(demand for demand, _, _ in self.sized))
        if self.layout is not None:
            return tuple(dict.fromkeys(demand for _, _, demand in TrainingGroups(self.layout).demands()))
        exchanges = (Demand(Collective.ALL_TO_ALL),) if self.profile.has_exchanges else ()
        return (Demand(Collective.ALLREDUCE), *exchanges)

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts of the groups, each once."""
        listed = [each.layout for each in self.demands if isinstance(each, Groups)]
        return tuple(dict.fromkeys(each for each in listed if each is not None))

    def iteration(self, times: PlacedTimes) -> Iteration | None:
        """Return the iteration on a network; None for collectives."""
        if self.profile.collectives:
            return None
        if self.layout is None:
            return best_iteration(self.profile, times)
        groups = TrainingGroups(self.layout)
        found: Mapping[tuple[Role, Collective], SizedTime] = {
            (role, collective): _Sized(times, demand) for role, collective, demand in groups.demands()
        }
        return sharded_iteration(self.profile, LayoutTimes(times.network.main.name, groups, None, found))

    def us(self, times: PlacedTimes) -> float:
        """Return the time of the job on a network, in microseconds."""
        made = self.iteration(times)
        if made is not None:
            return made.total_us
        return float(sum(weight * times.us(demand, size) for demand, size, weight in self.sized))

    def least_us(self, times: PlacedTimes) -> float:
        """Return a lower bound of the time, from times that are lower bounds.

        An iteration with buckets may be shorter if a collective takes longer, because another one then starts before.
        So its bound adds up what must follow one another: computing, all-to-alls and the last bucket; all collectives.
        """
        if self.profile.collectives or self.layout is not None:
            return self.us(times)
        return min(_least_of(iterate(self.profile, times, size)) for size in DEFAULT_BUCKETS)


def _check(collective: str, where: str) -> None:
    """Check that networks are compared by a collective."""
    try:
        demand = demand_of(collective)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    kind = Collective(demand.collective)
    if kind not in _COMPARED or demand != (Demand(kind) if isinstance(demand, Demand) else demand):
        raise InputError(
            f"{where} is {shown(collective)}; networks are compared by {', '.join(_COMPARED)} of all nodes, or groups "
            "of them"
        )


@dataclass(frozen=True)
class _Sized:
    """The time of a demand on a network."""

    times: PlacedTimes
    demand: JobDemand

    def us(self, size: float) -> float:
        return self.times.us(self.demand, size)


def _least_of(made: Iteration) -> float:
    reduced = [each.end_us - each.begin_us for each in made.intervals if each.kind is Activity.ALLREDUCE]
    waiting = made.computing_us + made.all_to_all_us
    return max(waiting + (reduced[-1] if reduced else 0.0), made.all_to_all_us + made.allreduce_us)


@dataclass(frozen=True, eq=False)
class JobNetwork:
    """A network on which a job was measured.

    Attributes:
        times: the network, the placement, and the times of its collectives.
        time_us: the time of the job, in microseconds.
        iteration: the iteration; None for collectives.
    """

    times: PlacedTimes
    time_us: float
    iteration: Iteration | None


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Displayed):
    """The best networks for a job, the fastest first.

    Attributes:
        job: the job.
        nodes: the number of nodes N.
        degree: the number of links that leave each node.
        networks: the networks.
        compared: the number of networks that were compared.
        placements: the number of placements on all of them.
        measured: the number of placements of which all collectives were measured.
    """

    job: Job
    nodes: int
    degree: int
    networks: tuple[JobNetwork, ...]
    compared: int
    placements: int
    measured: int


def best_networks(  # noqa: PLR0913 (a job, a network, and what they cost)
    job: Job,
    finder: TopologyFinder,
    nodes: int,
    degree: int,
    costs: StepCosts | None = None,
    *,
    most: int = MOST_LISTED,
    progress: Progress = SILENT,
) -> Ranking:
    """Return the networks on which a job takes the least time.

    Args:
        job: the job.
        finder: which networks are searched.
        nodes: the number of nodes N.
        degree: the degree d.
        costs: the latency of a step, and the bandwidth of a node; the defaults of `StepCosts` if None.
        most: the most networks to return.
        progress: receives the number of placements that are measured.

    Raises:
        InputError: a number is out of range, or the job does not fit the nodes.
        NoSolutionError: no such network is known.

    Example:
        >>> from forestcoll.design.workloads.samples import profile_of
        >>> found = best_networks(Job(profile_of("gpt2-small").on(4)), TopologyFinder(), 12, 4)
        >>> found.networks[0].times.network.main.name, found.compared
        ('C(12,{2,3})', 19)
    """
    for layout in job.layouts if job.layout is None else (job.layout,):
        if layout.ranks != nodes:
            raise InputError(f"layout {layout} has {layout.ranks} ranks, and there are {nodes} nodes; give as many")
    networks = networks_of(all_networks(finder, nodes, degree))
    natural = [(each, _natural(each.main.nodes)) for each in networks]
    placed = [(each, one) for each in networks for one in placements_of(each, job.layouts)] if job.layouts else natural
    candidates = [PlacedTimes(each, one, costs or StepCosts(), job.demands) for each, one in placed]
    found = tuple(
        JobNetwork(each, time, job.iteration(each)) for each, time in _fastest(job, candidates, most, progress)
    )
    measured = sum(each.is_measured for each in candidates)
    return Ranking(job, nodes, degree, found, len(networks), len(candidates), measured)


def _natural(nodes: int) -> Placement:
    import numpy as np

    return Placement("", np.arange(nodes, dtype=np.int32))


def _fastest(
    job: Job, candidates: Iterable[PlacedTimes], most: int, progress: Progress
) -> Iterator[tuple[PlacedTimes, float]]:
    """Yield the candidates with the least times, one of each network; of equal times, that of least cost."""
    waiting = [(job.least_us(each), False, each) for each in candidates]
    total, found = len(waiting), 0
    while waiting and found < most:
        place = min(range(len(waiting)), key=lambda each: (*waiting[each][:2], waiting[each][2].network.main.cost))
        least, is_known, candidate = waiting[place]
        if is_known:
            yield candidate, least
            found += 1
            waiting = [each for each in waiting if each[2].network is not candidate.network]
        elif candidate.is_measured:
            waiting[place] = (job.us(candidate), True, candidate)
            progress.advance(sum(each.is_measured for _, _, each in waiting), total)
        else:
            candidate.measure()
            waiting[place] = (max(least, job.least_us(candidate)), False, candidate)
