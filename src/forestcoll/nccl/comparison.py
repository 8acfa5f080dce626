"""A measurement next to the bound of its network: what share is reached, what limits, and whether that is normal.

The bound counts bandwidth only. So it is for large messages: small ones are limited by latency.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import to_fraction
from forestcoll.base.files import PathLike, as_path
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.ranks import RanksLike, ranks_of, require_reach
from forestcoll.nccl.healthy import ANY, NVLS, RINGS, TREES
from forestcoll.nccl.limits import Limit, limits_of
from forestcoll.nccl.reading import read_log
from forestcoll.nccl.results import COLLECTIVES, Log, LogRow, LogTest, collectives_of
from forestcoll.nccl.settings import NcclAlgbw, nccl_algbw
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.proof.proof import Proof
from forestcoll.schedule.proof.tree_dual import TreeDualProof
from forestcoll.solver.bounds.rings import RingBound, ring_bound
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.problem import OptimumProblem
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.graph.part import usable_part
from forestcoll.topology.link_classes import LinkClass, link_classes
from forestcoll.topology.registry import load_topology

LARGE = 2**26
"""Bytes. Smaller messages seldom reach the bandwidth of a network."""


class Verdict(StrEnum):
    """What the best result of a test says."""

    NORMAL = "normal"
    """It reaches what healthy machines reach."""
    LOW = "low"
    """It reaches less."""
    VERY_LOW = "very low"
    """It reaches less than half of the least usual share: a part works not at all, or a slow path is taken."""
    ABOVE = "above the bound"
    """It exceeds the bound, so the network or the collective is not the one that was measured."""


@dataclass(frozen=True)
class Cause:
    """A change or a setting under which the result of a test would be normal.

    Attributes:
        change: the options `--without` or `--degrade` that make the change, or a setting of NCCL.
        busbw: GB/s that are expected with it.
        test: the command that tests it.
        rank: the place in the list, the best first: how near the figure is, and how many parts have failed.
    """

    change: str
    busbw: Fraction
    test: str
    rank: tuple[int, int, float] = (0, 0, 0.0)


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
        limiting: the classes of links that limit, the greatest bandwidth first; none for other proofs than
            a cut and weights of sets.
        limiting_rings: the classes of links that limit rings.
        limits: what the algorithms of the library could reach and usually reach, the best-fitting one first.
        remarks: what the user should know, in sentences.
        figure: the algbw in GB/s that the user gave instead of a log; None if there is a log.
        causes: what may be the cause of a low result, the best first; `what_if.causes` finds them.
        nccl: what NCCL's settings could reach, in the unit of the topology; None without a bound.
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
    limits: tuple[Limit, ...] = ()
    remarks: tuple[str, ...] = ()
    figure: Fraction | None = None
    causes: tuple[Cause, ...] = ()
    nccl: NcclAlgbw | None = None

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
    def best(self) -> tuple[LogRow | None, Fraction]:
        """The row with the greatest algbw, and that algbw in GB/s; no row if the user gave the figure."""
        found = self.test.best
        return (None, self.figure or Fraction(0)) if found is None else (found[0], found[1].algbw)

    @property
    def limit(self) -> Limit | None:
        """The limit that fits the best result; None without a bound."""
        return self.limits[0] if self.limits else None

    @property
    def best_of_settings(self) -> Fraction | None:
        """What the best setting of the library could reach, in the unit of the topology; None if not known."""
        reached = [each.reached for each in self.limits] + ([] if self.nccl is None else [self.nccl.best])
        return max((each for each in reached if each is not None), default=None)

    @property
    def verdict(self) -> Verdict | None:
        """What the best result says; None without a bound."""
        if not self.limits:
            return None
        algbw, usual = self.best[1] / self.gbps, self.limits[0].usual
        if algbw > max(each.algbw for each in self.limits):
            return Verdict.ABOVE
        share = algbw / self.limits[0].algbw
        if share < usual.low / 2:
            return Verdict.VERY_LOW
        return Verdict.LOW if share < usual.least_normal else Verdict.NORMAL


@dataclass(frozen=True, repr=False)
class LogComparison(Displayed):
    """A log next to the bounds of its network.

    Attributes:
        topology: the network; None if only the log was asked for.
        log: the log.
        tests: the tests of the log.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.nccl import LogComparison
        >>> from forestcoll.nccl.results import Log
        >>> found = LogComparison(load_topology("dgx-a100:boxes=2"), Log("nccl.log", (), skipped=((7, "no size"),)), ())
        >>> found.topology.name, found.log.skipped
        ('dgx-a100:boxes=2', ((7, 'no size'),))
    """

    topology: Topology | None
    log: Log
    tests: tuple[TestComparison, ...]


def explain(
    topology: TopologyLike | None,
    log: PathLike,
    *,
    ranks: RanksLike | None = None,
    collective: Collective | str | None = None,
    progress: Progress = SILENT,
) -> LogComparison:
    """Return a measurement next to the bounds of the network.

    Args:
        topology: the network on which it was measured; None shows only what the file says.
        log: the file: what nccl-tests or rccl-tests print or write as JSON or CSV, what NCCL's Inspector writes, or a
            report of NCCL's RAS.
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
        ('normal', '640/3')
    """
    read = read_log(as_path(log))
    request = None if collective is None else collective_named(collective)
    if topology is None:
        return LogComparison(None, read, tuple(_without_network(test, request) for test in read.tests))
    comparer = _Comparer(*_network_and_ranks(topology, ranks), read, request, progress)
    return LogComparison(comparer.network, read, tuple(comparer.compared(test) for test in read.tests))


def judge_busbw(
    topology: TopologyLike,
    busbw: object,
    collective: Collective | str,
    *,
    ranks: RanksLike | None = None,
    progress: Progress = SILENT,
) -> LogComparison:
    """Return the busbw of large messages next to the bounds of the network.

    Args:
        topology: the network on which it was measured.
        busbw: GB/s, as nccl-tests print it.
        collective: the collective that was measured.
        ranks: the compute nodes that took part, as for `optimum`; all if None.
        progress: receives the stages of the work.

    Raises:
        InputError: an argument is not valid.
        NoSolutionError: as `optimum`.

    Example:
        >>> from forestcoll.nccl.comparison import judge_busbw
        >>> [test.verdict.value for test in judge_busbw("dgx-h100:boxes=1", 480, "allreduce").tests]
        ['normal']
    """
    kind = collective_named(collective)
    if kind.is_personalised and kind is not Collective.ALL_TO_ALL:
        raise InputError(f"{kind.with_article} has no busbw in nccl-tests; give its output by --measured")
    try:
        value = to_fraction(busbw)
    except ValueError:
        value = Fraction(0)
    if value <= 0:
        raise InputError(f"busbw is {shown(busbw)}; expected GB/s, a number greater than 0 of at most 60 digits")
    network, members = _network_and_ranks(topology, ranks)
    log = Log(f"busbw {float(value):g} GB/s", (LogTest(0, None, None, 0, 0, repeated=False, rows=()),), ())
    return LogComparison(network, log, (_Comparer(network, members, log, None, progress).judged(kind, value),))


def _network_and_ranks(topology: TopologyLike, ranks: RanksLike | None) -> tuple[Topology, tuple[int, ...] | None]:
    network = load_topology(topology, connected=ranks is None)
    require_all_ports(network)
    members = ranks_of(network, ranks)
    require_reach(network, members)
    return network, members


def _without_network(test: LogTest, request: Collective | None) -> TestComparison:
    possible = (COLLECTIVES.get(test.program or ""),) if test.program is not None else collectives_of(test)
    collective = request if request in possible else possible[0] if len(possible) == 1 else None
    why = _no_single_collective(test) or "no network was given, so there is no bound"
    return TestComparison(test, collective, why, remarks=test.remarks)


def _no_single_collective(test: LogTest) -> str:
    """Return why the ranks of a test did not run one collective together; empty if they did."""
    alone = test.ranks == 1 or (test.best is not None and not test.best[1].busbw and test.best[0].size >= LARGE)
    if test.repeated or alone:
        which = "a rank is listed twice" if test.repeated else "it ran on one rank"
        return f"{which}, so processes did not run one collective; build nccl-tests with MPI=1"
    if test.groups > 1:
        return f"{test.groups} groups ran at the same time; measure one group"
    return ""


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
        self.network, self._ranks, self._log, self._requested = network, ranks, log, request
        self._progress = progress
        self._members = NodeDemand(ranks=ranks).members(network)
        self._gbps = bytes_per_microsecond(network.bandwidth_unit) / 1000
        self._bounds: dict[NodeDemand, Bound | None] = {}

    def compared(self, test: LogTest) -> TestComparison:
        """Return one test next to its bound."""
        if test.program is not None and test.program not in COLLECTIVES:
            return TestComparison(test, None, f"there is no bound for {test.program}", remarks=test.remarks)
        collective = self._collective(test)
        if why := _no_single_collective(test):
            return TestComparison(test, collective, why, remarks=test.remarks)
        self._check_ranks(test)
        demand = NodeDemand(collective, self._root(test, collective), None, self._ranks)
        found = self._judged(test, demand)
        return replace(found, remarks=(*test.remarks, *found.remarks, *self._remarks(test, collective)))

    def judged(self, collective: Collective, busbw: Fraction) -> TestComparison:
        """Return the busbw of a collective next to its bound."""
        root = self._members[0] if collective.has_root else None
        figure = busbw / collective.busbw_factor(len(self._members))
        return self._judged(self._log.tests[0], NodeDemand(collective, root, None, self._ranks), figure)

    def _judged(self, test: LogTest, demand: NodeDemand, figure: Fraction | None = None) -> TestComparison:
        asked = TestComparison(test, demand.collective, "", gbps=self._gbps, figure=figure)
        bound = self._bound(demand)
        if bound is None:
            return replace(asked, reason="the linear program of the all-to-all is too large")
        rings = ring_bound(self.network, demand, bound.algbw)
        found = replace(
            asked,
            demand=demand,
            bound=bound,
            rings=rings,
            limiting=_limiting(self.network, demand, bound.proof),
            limiting_rings=() if rings is None else _limiting(self.network, demand, CutProof(rings.cut)),
        )
        measured = found.best[1] / self._gbps
        *limits, general = limits_of(self.network, demand, bound.algbw, self._progress)
        if not limits or all(measured > each.algbw for each in limits):
            limits.append(general)
        named = _ALGORITHMS.get(_algorithm_of(found.test))
        limits.sort(
            key=lambda each: (
                each.usual.algorithm != named,
                measured > each.algbw,
                each.distance(measured),
                not each.usual.source,
            )
        )
        remarks, nccl = tuple(self._limit_remarks(limits, measured)), nccl_algbw(self.network, demand)
        return replace(found, limits=tuple(limits), remarks=remarks, nccl=nccl)

    def _limit_remarks(self, limits: Sequence[Limit], measured: Fraction) -> Iterator[str]:
        """Yield what the limits say besides: no algorithm of NCCL is so fast, or NVLS, which did not run, is faster."""
        if limits[0].usual.algorithm == ANY and len(limits) > 1:
            yield "no rings reach this, so another library ran, or the network is not the one that was measured"
        factor = Collective.ALLREDUCE.busbw_factor(len(self._members)) * self._gbps
        for limit in limits[1:]:
            usual = limit.usual
            if usual.algorithm == NVLS and usual.source and measured < usual.least_normal * limit.algbw:
                least = float(limit.algbw * usual.low * factor)
                yield f"healthy machines reach busbw {least:.4g} with NVLS, which did not run; NCCL_DEBUG=INFO says why"

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
            whose = f"{self.network.name} has {count} compute nodes" if self._ranks is None else f"{count} are named"
            fix = "name those that took part by --ranks" if test.ranks < count else "give the network that was measured"
            raise InputError(f"{self._place(test)} ran on {test.ranks} ranks, and {whose}; {fix}")

    def _root(self, test: LogTest, collective: Collective) -> int | None:
        if not collective.has_root:
            return None
        root = test.rows[0].root
        if root == -1:  # Inspector and the CSV files of rccl-tests do not say it
            return self._members[0]
        if not 0 <= root < len(self._members):
            raise InputError(f"{self._place(test)} has the root {shown(root)}; expected 0 to {len(self._members) - 1}")
        return self._members[root]

    def _bound(self, demand: NodeDemand) -> Bound | None:
        if demand not in self._bounds:
            self._progress.begin(f"finding the bound of {demand.collective.with_article}")
            if demand.collective is Collective.ALL_TO_ALL:
                self._bounds[demand] = self._all_to_all(demand)
            else:
                self._bounds[demand] = OptimumProblem.of(self.network, demand, self._progress).bound
        return self._bounds[demand]

    def _all_to_all(self, demand: NodeDemand) -> Bound | None:
        try:
            return flow_search(self.network, demand, self._progress, paths=False).bound
        except InputError:  # too large
            return None

    def _remarks(self, test: LogTest, collective: Collective) -> list[str]:
        found = []
        wrong = sum(bool(each.wrong) for row in test.rows for each in row.results)
        if wrong:
            found.append(f"{wrong} results have wrong values (#wrong is not 0): the hardware or the library is faulty")
        if max(row.size for row in test.rows) < LARGE:
            found.append("the largest message is less than 64 MiB: latency limits it, so measure up to 1 GiB or more")
        if test.best is None:
            return found
        result, count = test.best[1], len(self._members)
        factor = collective.busbw_factor(count)
        if result.busbw and abs(result.busbw - result.algbw * factor) > result.algbw / 50 + Fraction(1, 100):
            ratio = f"{float(result.busbw / result.algbw):.3f}"
            found.append(f"busbw is {ratio} times algbw, not {float(factor):.3f} as for {count} ranks")
        return found


_ALGORITHMS = {"RING": RINGS, "TREE": TREES, "NVLS": NVLS, "NVLS_TREE": NVLS, "NVLSTREE": NVLS}
"""The algorithms as tables of rccl-tests name them."""


def _algorithm_of(test: LogTest) -> str:
    """Return the algorithm of the best row, as the table names it; empty if it names none."""
    return "" if test.best is None else test.best[0].algorithm.upper()


def _limiting(network: Topology, demand: NodeDemand, proof: Proof) -> tuple[LinkClass, ...]:
    """Return the classes of the links that leave a cut, or cost something by the weights of sets; else none."""
    links = proof.leaving(network) if isinstance(proof, CutProof) else ()
    if isinstance(proof, TreeDualProof):
        links = tuple(proof.limiting(usable_part(network, demand.members(network))))
    ends = sorted({(min(link.source, link.target), max(link.source, link.target)) for link in links})
    return tuple(sorted(link_classes(network, ends), key=lambda each: -each.bandwidth))
