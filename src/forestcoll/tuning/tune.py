"""The best schedule and program of a collective for each range of message sizes."""

from collections.abc import Sequence

from forestcoll.algorithms.generate import problem_of
from forestcoll.base.errors import InputError, plural, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import has_known_size
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.texts import DemandLike
from forestcoll.programs.formats.msccl_xml import Dialect, DialectName, dialect_named
from forestcoll.programs.targets.target import collector_paused
from forestcoll.simulation.lower_bound.hop_bounds import HopBound, crossing_latency_us
from forestcoll.simulation.sizes import SizesLike, sizes_of
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.optimum import solve
from forestcoll.topology import TopologyLike
from forestcoll.tuning.candidates import Candidates
from forestcoll.tuning.costs import CostsLike, ProgramCosts, program_costs
from forestcoll.tuning.lowered import Lowerings
from forestcoll.tuning.ranges import ranges_of
from forestcoll.tuning.search import Best, fastest
from forestcoll.tuning.value import Curve, Tuning

SIZES = tuple(2**power for power in range(10, 33))
"""The sizes of M for which candidates are compared by default: 1 KiB to 4 GiB, in bytes."""

MOST_BYTES = 2**50
"""The greatest size of M, in bytes."""


def tune(  # noqa: PLR0913 (five, and progress)
    topology: TopologyLike,
    demand: DemandLike = Collective.ALLGATHER,
    sizes: SizesLike = SIZES,
    *,
    costs: CostsLike = None,
    dialect: str = DialectName.MICROSOFT,
    progress: Progress = SILENT,
) -> Tuning:
    """Return the best schedule and program of a collective for each range of message sizes.

    For each size, the programs of all candidates that may be the fastest are simulated, and the fastest one is chosen.
    Every schedule is verified. The text of a program is made when it is read: it is read back and run on symbolic data.

    Args:
        topology: as for `optimum`. The size in bytes of its bandwidth unit must be known.
        demand: an allgather, a reduce-scatter or an allreduce, of all or some compute nodes.
        sizes: the sizes of M for which candidates are compared, as for `simulate`. The ranges lie between the least
            and the greatest of them.
        costs: the parameters of the cost model, for the protocol Simple; the defaults of `Costs` if None. `"machine"`
            is for the latencies and the bandwidth of a block that are known of the machine in the network's name. Or
            the parameters of several protocols by name, such as `{"Simple": "machine", "LL": …}`; LL and LL128 are not
            used without them, because the costs have no latencies of protocols.
        dialect: the runtime that loads the MSCCL XML: `"microsoft"`, `"azure"` or `"rccl"`.
        progress: receives the stages of the work.

    Returns:
        The ranges, with a schedule and programs each, the times of all candidates, and a lower bound for each size.

    Raises:
        InputError: an argument is not valid.
        NoSolutionError: there is no schedule, or no program fits the runtime.

    Example:
        >>> from forestcoll import tune
        >>> found = tune("hypercube:dim=2", "allreduce", [2**12, 2**24])
        >>> [round(each / bound, 1) for each, bound in zip(found.microseconds, found.bounds)]
        [1.7, 1.0]
    """
    chosen, problem = _checked(sizes), problem_of(topology, demand, progress)
    _check(problem.demand)
    best = solve(problem.topology, problem.demand, progress=progress)
    if not has_known_size(best.topology.bandwidth_unit):
        unit = shown(best.topology.bandwidth_unit)
        raise InputError(f"{best.topology.name}: the size of {unit} in bytes is not known; use GB/s")
    chosen_costs = program_costs(best.topology, costs)
    with collector_paused():
        return _tuned(best, chosen, chosen_costs, dialect_named(dialect), progress)


def _tuned(
    best: TreeOptimum, sizes: tuple[int, ...], costs: ProgramCosts, dialect: Dialect, progress: Progress
) -> Tuning:
    lowerings = Lowerings(dialect, len(best.members), costs)
    search = Candidates(best, lowerings, sizes, progress)
    progress.begin("making candidates")
    candidates = search.find()
    crossing = crossing_latency_us(costs.network(best.topology), best.members)
    bound = HopBound(best, tuple(costs.protocols.values()), crossing)
    progress.begin("simulating programs")
    found = tuple(fastest(candidates, sizes, bound.microseconds, progress))
    progress.begin("making plans")
    return Tuning(
        topology=best.topology,
        demand=best.demand,
        sizes=sizes,
        microseconds=tuple(listed[0].microseconds for _, listed in found),
        bounds=tuple(map(bound.microseconds, sizes)),
        curves=_curves([listed for _, listed in found]),
        ranges=ranges_of(found, candidates, bound, lowerings, progress),
        algbw=best.bound.algbw,
        costs=costs,
        skipped=tuple(search.skipped),
    )


def _check(demand: NodeDemand) -> None:
    if demand.collective not in UNROOTED:
        known = ", ".join(each.value for each in UNROOTED)
        raise InputError(f"tune has no candidates for {demand.collective.with_article}; use one of {known}")
    if demand.shards is not None:
        raise InputError("tune needs equal shards; leave shards out")


def _checked(sizes: SizesLike) -> tuple[int, ...]:
    chosen = tuple(sorted(set(sizes_of(sizes))))
    if not chosen:
        raise InputError("sizes are empty; give one at least")
    if chosen[-1] > MOST_BYTES:
        raise InputError(f"sizes: {plural(chosen[-1], 'byte')}; a size must be between 1 and 2^50 bytes")
    return chosen


def _curves(found: Sequence[Sequence[Best]]) -> tuple[Curve, ...]:
    """Return the times of each candidate; those that are the fastest for most sizes first."""
    times = [{each.candidate.name: each.microseconds for each in listed} for listed in found]
    wins = [listed[0].candidate.name for listed in found]
    names = dict.fromkeys(name for at_size in times for name in at_size)
    curves = [Curve(name, tuple(at_size.get(name) for at_size in times)) for name in names]
    return tuple(sorted(curves, key=lambda curve: -wins.count(curve.name)))
