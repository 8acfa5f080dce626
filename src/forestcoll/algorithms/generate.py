"""The front door: the optimum of a demand on a network, and a schedule that reaches it, by any method."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from forestcoll.algorithms.method import Generated, Method, Problem, method_of, require_supported
from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import has_known_size
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.texts import DemandLike, bound_on, demand_of
from forestcoll.schedule.proof.optimum import CollectiveOptimum, Optimum
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.sizes import SizesLike, sizes_of
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.topology import TopologyLike

if TYPE_CHECKING:
    from forestcoll.algorithms.best_schedule import BestOverSizes, OptimumFrom
    from forestcoll.algorithms.flows import Flows
    from forestcoll.algorithms.trees import Trees
    from forestcoll.schedule.bundle.value import BundleSchedule
    from forestcoll.schedule.flows.value import FlowSchedule
    from forestcoll.schedule.trees.value import TreeSchedule
    from forestcoll.solver.flows.value import FlowOptimum
    from forestcoll.solver.forests.value import TreeOptimum
    from forestcoll.solver.groups.value import GroupsOptimum

MethodLike: TypeAlias = Method | str | None
"""A method: a value, a text such as `trees:k=4`, or None for trees, flows or groups, as the demand needs."""


_OfTrees: TypeAlias = Literal["allgather", "reduce-scatter", "allreduce"]
_OfFlows: TypeAlias = Literal["all-to-all"]


@overload
def optimum(
    topology: TopologyLike, demand: _OfTrees = ..., method: "Trees | None" = None, *, progress: Progress = ...
) -> "TreeOptimum": ...
@overload
def optimum(
    topology: TopologyLike, demand: _OfFlows, method: None = None, *, progress: Progress = ...
) -> "FlowOptimum": ...
@overload
def optimum(
    topology: TopologyLike, demand: Groups, method: None = None, *, progress: Progress = ...
) -> "GroupsOptimum": ...
@overload
def optimum(
    topology: TopologyLike, demand: DemandLike, method: "Trees", *, progress: Progress = ...
) -> "TreeOptimum": ...
@overload
def optimum(
    topology: TopologyLike, demand: DemandLike, method: "Flows", *, progress: Progress = ...
) -> "FlowOptimum": ...
@overload
def optimum(
    topology: TopologyLike, demand: DemandLike = ..., method: MethodLike = None, *, progress: Progress = ...
) -> Any: ...  # an `Optimum`, whose kind depends on the content of a text
def optimum(
    topology: TopologyLike,
    demand: DemandLike = Collective.ALLGATHER,
    method: MethodLike = None,
    *,
    progress: Progress = SILENT,
) -> Optimum:
    """Return the exact optimum of a demand on a network: the algbw that `generate` reaches, and its bound.

    Args:
        topology: the network: a `Topology`, a spec string of a builder, a path, or a networkx graph.
        demand: what is to be moved: a collective, a `Demand`, `Groups`, or a text such as `broadcast:root=b0/gpu0`.
        method: how: `Trees`, `Flows`, or a text such as `trees:k=4`. By default trees, or flows for an all-to-all, a
            gather and a scatter, as few as reach the optimum.
        progress: receives the stages of the work.

    Returns:
        The optimum. `algbw` is in the unit of the topology; for groups, it is that of a group of size 1.
        `bound.proof.algbw(topology, demand)` checks the proof. If `bound.proof.trees_only`, the bound holds only for
        schedules whose data moves along trees. It also says what idle nodes gain as relays, and what each group would
        have alone.

    Raises:
        InputError: the network, the demand or the method is not valid, or they do not fit each other; a node cannot
            reach another to which it sends data; or a linear program is too large.
        NoSolutionError: the topology is one-port; or there is no solution with so many trees.

    Example:
        >>> from forestcoll import Demand, Groups, optimum
        >>> best = optimum("dgx-a100:boxes=2", "allreduce")
        >>> str(best.algbw), best.bound.proof.kind, best.is_optimal
        ('520/3', 'receipt', True)
        >>> [str(each.algbw) for each in optimum("mi250:boxes=2,gpus=8", method="trees:most=4").by_trees]
        ['200', '200', '200', '1024/5']
        >>> str(optimum("ring:nodes=4", Demand("gather", root=0)).algbw)
        '8/3'
        >>> str(optimum("torus:dims=4x4", "groups:members='0-3;4-7;8-11;12-15',collective=allreduce").algbw)
        '4/3'
    """
    wanted = demand_of(demand)
    if isinstance(wanted, Groups):
        from forestcoll.algorithms.groups import optimum_of_groups

        _refuse_method(method, None)
        return optimum_of_groups(topology, wanted, progress)
    chosen, problem = _problem(topology, wanted, method, None, progress)
    best = chosen.optimum(problem)
    return chosen.with_gain(best, progress) if wanted.relays else best


@overload
def generate(
    topology: TopologyLike,
    demand: _OfTrees = ...,
    method: "Trees | None" = None,
    size: None = None,
    *,
    progress: Progress = ...,
) -> "TreeSchedule": ...
@overload
def generate(
    topology: TopologyLike,
    demand: _OfFlows,
    method: None = None,
    size: None = None,
    *,
    progress: Progress = ...,
) -> "FlowSchedule": ...
@overload
def generate(
    topology: TopologyLike, demand: Groups, method: None = None, size: None = None, *, progress: Progress = ...
) -> "BundleSchedule": ...
@overload
def generate(
    topology: TopologyLike, demand: DemandLike, method: "Trees", size: None = None, *, progress: Progress = ...
) -> "TreeSchedule": ...
@overload
def generate(
    topology: TopologyLike, demand: DemandLike, method: "Flows", size: None = None, *, progress: Progress = ...
) -> "FlowSchedule": ...
@overload
def generate(
    topology: TopologyLike,
    demand: DemandLike = ...,
    method: MethodLike = None,
    size: SizesLike | None = None,
    *,
    progress: Progress = ...,
) -> Any: ...  # a `Schedule`, whose kind depends on the content of a text
def generate(
    topology: TopologyLike,
    demand: DemandLike = Collective.ALLGATHER,
    method: MethodLike = None,
    size: SizesLike | None = None,
    *,
    progress: Progress = SILENT,
) -> Schedule:
    """Return a schedule for a demand on a network. By default, it reaches the optimum.

    The same arguments always give the same schedule.

    Args:
        topology: as for `optimum`.
        demand: as for `optimum`.
        method: as for `optimum`; also a method of steps or the name of an algorithm, such as `bfb:chunks=4` or
            `nccl-ring`. `forestcoll generate --help` lists them.
        size: the data size M, in bytes or as a text such as `1MB`. Without a method, the schedule is the best known for
            this size (`algorithms.by_size`), or for all sizes of a text such as `1MiB..1GiB`: its mean loss against the
            best ones is least. With a method, the size is for methods whose schedules are for one size.
        progress: receives the stages of the work.

    Returns:
        The schedule: of trees, flows or steps; for groups, a bundle of schedules. `verify` checks it.

    Raises:
        InputError: as `optimum`; or the schedule cannot fit into the memory.
        NoSolutionError: as `optimum`.

    Example:
        >>> from forestcoll import generate, verify
        >>> schedule = generate("dgx-a100:boxes=2")
        >>> str(schedule.algbw), verify(schedule).ok
        ('1040/3', True)
        >>> [generate("ring:nodes=4", "allreduce", each).size for each in ("trees:k=2", "ring", "direct")]
        ['16 trees', '6 steps, 48 transfers', '2 steps, 24 transfers']
        >>> [generate("dgx-a100:boxes=2", size=each).size for each in ("1KiB", "1MiB", "1GiB")]
        ['16 trees', '16 trees', '32 trees']
    """
    wanted = demand_of(demand)
    if isinstance(wanted, Groups):
        from forestcoll.algorithms.groups import groups_generated

        _refuse_method(method, size)
        return groups_generated(topology, wanted, progress).schedule
    if size is not None and method in {None, "auto"}:
        return _best(topology, wanted, size, progress).best.schedule
    chosen, problem = _problem(topology, wanted, method, size, progress)
    return chosen.schedule(problem)


def generated(
    topology: TopologyLike,
    demand: DemandLike,
    method: MethodLike = None,
    size: SizesLike | None = None,
    *,
    progress: Progress = SILENT,
) -> Generated:
    """Return what `generate` returns, with the optimum as `optimum` returns it.

    Args:
        topology: as for `generate`.
        demand: as for `generate`.
        method: as for `generate`.
        size: as for `generate`.
        progress: receives the stages of the work.
    """
    wanted = demand_of(demand)
    if isinstance(wanted, Groups):
        from forestcoll.algorithms.groups import groups_generated

        _refuse_method(method, size)
        return groups_generated(topology, wanted, progress, gains=True)
    if size is not None and method in {None, "auto"}:
        choice = _best(topology, wanted, size, progress)
        is_own = choice.best.method in {"trees", "flows"}
        return Generated(choice.best.schedule, choice.optimum if is_own else None, choice)
    chosen, problem = _problem(topology, wanted, method, size, progress)
    made = chosen.generated(problem)
    if chosen == method_of(None, problem.collective, {}):
        made = replace(made, best_from=_optimum_from(problem, progress))
    if not wanted.relays or not isinstance(made.optimum, CollectiveOptimum):
        return made
    return replace(made, optimum=chosen.with_gain(made.optimum, progress))


def _best(topology: TopologyLike, demand: Demand, size: SizesLike, progress: Progress) -> "BestOverSizes":
    """Return the best schedule for a size, or for several."""
    from forestcoll.algorithms.by_size import BySize

    if (wrong := demand.problem()) is not None:
        raise InputError(wrong)
    sizes = sizes_of(size)
    if not sizes:
        raise InputError("sizes are empty; give one at least")
    problem = problem_of(topology, demand, progress)
    require_all_ports(problem.topology)
    by_size = BySize(problem)
    progress.begin("comparing schedules")
    return by_size.over(sizes)


def _optimum_from(problem: Problem, progress: Progress) -> "OptimumFrom | None":
    """Return from which size on the optimum is the best; None if that is not known, or would take long."""
    from forestcoll.algorithms.by_size import MOST_NODES, BySize

    if len(problem.members) > MOST_NODES or not has_known_size(problem.topology.bandwidth_unit):
        return None
    progress.begin("comparing schedules")
    return BySize(problem).optimum_from()


def problem_of(
    topology: TopologyLike, demand: DemandLike = Collective.ALLGATHER, progress: Progress = SILENT
) -> Problem:
    """Return the problem of one collective on a network, after all checks.

    Raises:
        InputError: as `optimum`; also for groups.
    """
    return Problem(*bound_on(topology, demand), progress=progress)


def _problem(
    topology: TopologyLike, demand: Demand, method: MethodLike, size: SizesLike | None, progress: Progress
) -> tuple[Method, Problem]:
    chosen = method_of(method, collective_named(demand.collective), {})
    number = None if size is None else _one(size)
    require_supported(chosen, demand, number)
    problem = replace(problem_of(topology, demand, progress), size=number)
    require_all_ports(problem.topology)
    return chosen, problem


def _one(size: SizesLike) -> int:
    sizes = sizes_of(size)
    if len(sizes) != 1:
        raise InputError(f"there are {len(sizes)} sizes, but the schedules of a method are for one; give one size")
    return sizes[0]


def _refuse_method(method: MethodLike, size: SizesLike | None) -> None:
    if method not in {None, "auto"} or size is not None:
        raise InputError("groups and pieces take no method and no size; leave them out")
