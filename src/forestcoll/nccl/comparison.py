"""A log of nccl-tests next to the bound of its network: what share is reached, what limits, what rings could reach.

The bound counts bandwidth only. So it is for large messages: small ones are limited by latency.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import PathLike, as_path
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.ranks import RanksLike, ranks_of, require_reach
from forestcoll.nccl.log import COLLECTIVES, Log, LogRow, LogTest, collectives_of, read_log
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.solver.bounds.rings import RingBound, ring_bound
from forestcoll.solver.bounds.values import busbw_factor
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.problem import OptimumProblem
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.link_classes import LinkClass, link_classes
from forestcoll.topology.registry import load_topology

USUAL_SHARE = Fraction(4, 5)
"""Large messages usually reach more than this of the nominal bandwidth: 83 % on H100 and GB200, 91 % on A100.

(Peaks of nccl-tests in github.com/stas00/ml-engineering, network/README.md.)
"""

_LARGE = 2**26
"""Bytes. Smaller messages seldom reach the bandwidth of a network."""


class Verdict(StrEnum):
    """What the best result of a test says."""

    NORMAL = "normal"
    """It reaches a usual share of the bound."""
    NORMAL_FOR_RINGS = "normal for rings"
    """It reaches a usual share of what rings could reach, which is less than the bound."""
    LOW = "low"
    """It reaches less."""
    ABOVE = "above the bound"
    """It exceeds the bound, so the network or the collective is not the one that was measured."""


@dataclass(frozen=True)
class TestComparison:
    """One test of a log next to the bound.

    Attributes:
        test: the test.
        collective: the collective; None if it has no bound.
        reason: why there is no bound; empty if there is one.
        demand: the collective with its ranks and its root; None without a bound.
        bound: the bound, in the unit of the topology; None without one.
        gbps: GB/s of one unit of the topology.
        rings: the bound of rings, in the unit of the topology; None if there are no rings.
        limiting: the classes of links that limit, the greatest bandwidth first; none if the proof weighs many sets.
        limiting_rings: the classes of links that limit rings.
        remarks: what the user should know, in sentences.
    """

    test: LogTest
    collective: Collective | None
    reason: str
    demand: NodeDemand | None = None
    bound: Bound | None = None
    gbps: Fraction = Fraction(1)
    rings: RingBound | None = None
    limiting: tuple[LinkClass, ...] = ()
    limiting_rings: tuple[LinkClass, ...] = ()
    remarks: tuple[str, ...] = ()

    __test__ = False  # the name is no test of pytest

    @property
    def bound_algbw(self) -> Fraction | None:
        """The bound in GB/s."""
        return None if self.bound is None else self.bound.algbw * self.gbps

    @property
    def rings_algbw(self) -> Fraction | None:
        """The bound of rings in GB/s."""
        return None if self.rings is None else self.rings.algbw * self.gbps

    def share(self, algbw: Fraction) -> Fraction | None:
        """Return the share of the bound that an algbw in GB/s reaches."""
        return None if self.bound_algbw is None else algbw / self.bound_algbw

    @property
    def best(self) -> tuple[LogRow, Fraction]:
        """The row with the greatest algbw, and that algbw in GB/s."""
        reached = [(row, max((each.algbw for each in row.results), default=Fraction(0))) for row in self.test.rows]
        return max(reached, key=lambda each: (each[1], -each[0].line))

    @property
    def verdict(self) -> Verdict | None:
        """What the best result says; None without a bound."""
        share = self.share(self.best[1])
        if share is None:
            return None
        if share > 1:
            return Verdict.ABOVE
        if share >= USUAL_SHARE:
            return Verdict.NORMAL
        if self.rings_algbw is not None and self.best[1] >= self.rings_algbw * USUAL_SHARE:
            return Verdict.NORMAL_FOR_RINGS
        return Verdict.LOW


@dataclass(frozen=True, repr=False)
class LogComparison(Displayed):
    """A log next to the bounds of its network.

    Attributes:
        topology: the network.
        log: the log.
        tests: the tests of the log.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.nccl import LogComparison
        >>> from forestcoll.nccl.log import Log
        >>> found = LogComparison(load_topology("dgx-a100:boxes=2"), Log("nccl.log", (), skipped=((7, "no size"),)), ())
        >>> found.topology.name, found.log.skipped
        ('dgx-a100:boxes=2', ((7, 'no size'),))
    """

    topology: Topology
    log: Log
    tests: tuple[TestComparison, ...]


def explain(
    topology: TopologyLike,
    log: PathLike,
    *,
    ranks: RanksLike | None = None,
    collective: Collective | str | None = None,
    progress: Progress = SILENT,
) -> LogComparison:
    """Return a log of nccl-tests or rccl-tests next to the bounds of the network.

    Args:
        topology: the network on which the log was measured.
        log: the file with the output of nccl-tests or rccl-tests.
        ranks: the compute nodes that took part, as for `optimum`; all if None.
        collective: the collective of tests that the log does not name, if the columns allow several.
        progress: receives the stages of the work.

    Returns:
        The comparison, with one entry for each test of the log.

    Raises:
        InputError: the log cannot be read or has no rows; it has another number of ranks; it does not say which
            collective it is; or an argument is not valid.
        NoSolutionError: as `optimum`.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from forestcoll import explain
        >>> text = '''# Collective test starting: all_gather_perf
        ... #  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
        ... 1073741824 16777216 float none -1 5368.7 200.00 187.50 0 5368.7 200.00 187.50 0'''
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = Path(folder, "nccl.log").write_text(text)
        ...     found = explain("dgx-a100:boxes=2", Path(folder, "nccl.log"))
        >>> found.tests[0].verdict.value, str(found.tests[0].rings_algbw)
        ('normal for rings', '640/3')
    """
    network = load_topology(topology, connected=ranks is None)
    require_all_ports(network)
    members = ranks_of(network, ranks)
    require_reach(network, members)
    read = read_log(as_path(log))
    request = None if collective is None else collective_named(collective)
    comparer = _Comparer(network, members, read, request, progress)
    return LogComparison(network, read, tuple(comparer.compared(test) for test in read.tests))


class _Comparer:
    """Compares the tests of a log with one network; equal demands are solved once."""

    def __init__(
        self,
        network: Topology,
        ranks: tuple[int, ...] | None,
        log: Log,
        request: Collective | None,
        progress: Progress,
    ) -> None:
        self._network, self._ranks, self._log, self._requested = network, ranks, log, request
        self._progress = progress
        self._members = NodeDemand(ranks=ranks).members(network)
        self._gbps = bytes_per_microsecond(network.bandwidth_unit) / 1000
        self._bounds: dict[NodeDemand, Bound | None] = {}

    def compared(self, test: LogTest) -> TestComparison:
        """Return one test next to its bound."""
        if test.program is not None and test.program not in COLLECTIVES:
            return TestComparison(test, None, f"there is no bound for {test.program}")
        collective = self._collective(test)
        if test.repeated:
            why = "a rank is listed twice, so processes did not run one collective; build nccl-tests with MPI=1"
            return TestComparison(test, collective, why)
        if test.groups > 1:
            return TestComparison(test, collective, f"{test.groups} groups ran at the same time; measure one group")
        self._check_ranks(test)
        demand = NodeDemand(collective, self._root(test, collective), None, self._ranks)
        bound = self._bound(demand)
        if bound is None:
            return TestComparison(test, collective, "the linear program of the all-to-all is too large")
        rings = ring_bound(self._network, demand, bound.algbw)
        limiting = _limiting(self._network, bound.proof.inside) if isinstance(bound.proof, CutProof) else ()
        of_rings = () if rings is None else _limiting(self._network, rings.cut)
        remarks = tuple(self._remarks(test, collective))
        return TestComparison(test, collective, "", demand, bound, self._gbps, rings, limiting, of_rings, remarks)

    def _collective(self, test: LogTest) -> Collective:
        if test.program is not None:
            return COLLECTIVES[test.program]
        possible = collectives_of(test)
        if self._requested is not None:
            if self._requested not in possible:
                names = " or ".join(each.value for each in possible)
                raise InputError(
                    f"{self._place(test)} cannot be {self._requested.with_article}; its columns say {names}"
                )
            return self._requested
        if len(possible) > 1:
            names = " or ".join(f"--collective {each.value}" for each in possible)
            raise InputError(f"{self._place(test)} does not say which collective it is; give {names}")
        return possible[0]

    def _place(self, test: LogTest) -> str:
        return f"{self._log.name}: the test in line {test.line}"

    def _check_ranks(self, test: LogTest) -> None:
        count = len(self._members)
        if test.ranks is not None and test.ranks != count:
            whose = f"{self._network.name} has {count} compute nodes" if self._ranks is None else f"{count} are named"
            fix = "name those that took part by --ranks" if test.ranks < count else "give the network that was measured"
            raise InputError(f"{self._place(test)} ran on {test.ranks} ranks, and {whose}; {fix}")

    def _root(self, test: LogTest, collective: Collective) -> int | None:
        if not collective.has_root:
            return None
        root = test.rows[0].root
        if not 0 <= root < len(self._members):
            raise InputError(f"{self._place(test)} has the root {shown(root)}; expected 0 to {len(self._members) - 1}")
        return self._members[root]

    def _bound(self, demand: NodeDemand) -> Bound | None:
        if demand not in self._bounds:
            self._progress.begin(f"finding the bound of {demand.collective.with_article}")
            exchange = demand.collective is Collective.ALL_TO_ALL
            bound = self._all_to_all() if exchange else OptimumProblem.of(self._network, demand, self._progress).bound
            self._bounds[demand] = bound
        return self._bounds[demand]

    def _all_to_all(self) -> Bound | None:
        try:
            return flow_search(
                self._network, NodeDemand(Collective.ALL_TO_ALL, ranks=self._ranks), self._progress
            ).bound
        except InputError:  # too large
            return None

    def _remarks(self, test: LogTest, collective: Collective) -> list[str]:
        found = []
        wrong = sum(bool(each.wrong) for row in test.rows for each in row.results)
        if wrong:
            found.append(f"{wrong} results have wrong values (#wrong is not 0): the hardware or the library is faulty")
        if max(row.size for row in test.rows) < _LARGE:
            found.append("the largest message is less than 64 MiB: latency limits it, so measure up to 1 GiB or more")
        row = max(test.rows, key=lambda each: max((result.busbw for result in each.results), default=Fraction(0)))
        result = max(row.results, key=lambda each: each.busbw, default=None)
        factor = busbw_factor(collective, len(self._members))
        if result is not None and result.busbw and abs(result.busbw / result.algbw - factor) > Fraction(1, 50):
            ratio = f"{float(result.busbw / result.algbw):.3f}"
            found.append(f"busbw is {ratio} times algbw, not {float(factor):.3f} as for {len(self._members)} ranks")
        return found


def _limiting(network: Topology, cut: tuple[int, ...]) -> tuple[LinkClass, ...]:
    """Return the classes of the links that leave a cut."""
    leaving = CutProof(cut).leaving(network)
    ends = sorted({(min(link.source, link.target), max(link.source, link.target)) for link in leaving})
    return tuple(sorted(link_classes(network, ends), key=lambda each: -each.bandwidth))
