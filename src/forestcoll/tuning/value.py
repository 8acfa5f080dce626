"""The result of tuning as frozen values."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.display import Displayed
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology
from forestcoll.tuning.costs import ProgramCosts


@dataclass(frozen=True)
class Curve:
    """The times of one candidate by message size.

    Attributes:
        name: the name of the candidate.
        microseconds: for each size of the tuning, the time of the fastest program of the candidate that was simulated;
            None if the candidate has no program for the size, or if none was simulated because another candidate is
            faster.

    Example:
        >>> from forestcoll import tune
        >>> curve = tune("ring:nodes=3", "allgather", [2**20]).curves[0]
        >>> len(curve.microseconds)
        1
    """

    name: str
    microseconds: tuple[float | None, ...]


class Texts(Mapping[str, str]):
    """The texts of the programs of a range by the name of the format, each made and checked when it is first read.

    Args:
        makers: the function that makes each text.

    Example:
        >>> from forestcoll import tune
        >>> tune("ring:nodes=3", "allgather", [2**20]).ranges[-1].programs["msccl-xml"][:5]
        '<algo'
    """

    def __init__(self, makers: Mapping[str, Callable[[], str]]) -> None:
        self._makers, self._made = dict(makers), dict[str, str]()

    def __getitem__(self, name: str) -> str:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True)
class SizeRange:
    """A range of sizes and what is best in it.

    Attributes:
        least: the least size of M, in bytes.
        most: the greatest size, in bytes.
        candidate: the name of the candidate whose program is the fastest.
        variant: how the program is made of the candidate, such as `4 pieces`.
        microseconds: the time of the program at `most`.
        bound_microseconds: the lower bound at `most` of every program of messages, as MSCCL runs them.
        schedule: the schedule for this range: that of the candidate. If the candidate is an exchange, or the runtime
            cannot run its schedule, it is the one of all that the runtime can run that is the fastest at `most` by its
            closed form.
        schedule_name: the name of the candidate that has `schedule`.
        chunks: the number of chunks of the program; it divides the data of a call if each chunk is whole elements.
        programs: the texts of the programs, by the name of the format; each is read back and run on symbolic data when
            it is made, which is when it is first read.
        program_microseconds: the time of each program at `most`, by the name of the format.

    Example:
        >>> from forestcoll import tune
        >>> last = tune("ring:nodes=3", "allgather", [2**20]).ranges[-1]
        >>> last.most, last.ratio >= 1, sorted(last.programs)
        (1048576, True, ['msccl-xml', 'mscclpp-json'])
    """

    least: int
    most: int
    candidate: str
    variant: str
    microseconds: float
    bound_microseconds: float
    schedule: Schedule
    schedule_name: str
    chunks: int
    programs: Mapping[str, str]
    program_microseconds: dict[str, float]

    @property
    def ratio(self) -> float:
        """The time as a multiple of the lower bound."""
        return self.microseconds / self.bound_microseconds


@dataclass(frozen=True, repr=False)
class Tuning(Displayed):
    """What is best for each size of one collective on one network.

    Attributes:
        topology: the network.
        demand: the collective and who takes part.
        sizes: the sizes for which candidates were compared, in bytes, in ascending order.
        microseconds: for each size, the time of the best program.
        bounds: for each size, the lower bound of every program of messages, in microseconds.
        curves: the candidates, the best ones first.
        ranges: the ranges, in ascending order, without gaps.
        algbw: the bound of the bandwidth for large data, in the unit of the network.
        costs: the costs with which programs were compared.
        skipped: for each candidate that does not apply, the reason.

    Example:
        >>> from forestcoll import tune
        >>> found = tune("ring:nodes=3", "allgather", [2**10, 2**20])
        >>> [(each.least, each.most) for each in found.ranges][0][0]
        1024
        >>> all(time >= bound for time, bound in zip(found.microseconds, found.bounds))
        True
    """

    topology: Topology
    demand: NodeDemand
    sizes: tuple[int, ...]
    microseconds: tuple[float, ...]
    bounds: tuple[float, ...]
    curves: tuple[Curve, ...]
    ranges: tuple[SizeRange, ...]
    algbw: Fraction
    costs: ProgramCosts
    skipped: tuple[tuple[str, str], ...] = ()

    @property
    def collective(self) -> Collective:
        """The collective."""
        return self.demand.collective

    def ratio(self, place: int) -> float:
        """Return the best time at a size as a multiple of the lower bound."""
        return self.microseconds[place] / self.bounds[place]
