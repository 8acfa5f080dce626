"""The front door of functions that draw conclusions from a schedule, and the simulation as the first of them."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from forestcoll.base.errors import argument, member_named, require_kind
from forestcoll.base.files import PathLike, as_path
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.texts import DemandLike
from forestcoll.schedule.files import holds_schedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.costs import Costs, Point
from forestcoll.simulation.simulate import Model
from forestcoll.simulation.simulate import simulate as simulate_schedule
from forestcoll.simulation.sizes import SizesLike, sizes_of
from forestcoll.topology import TopologyLike
from forestcoll.verification.reading import read_verified, require_right

if TYPE_CHECKING:
    from forestcoll.algorithms.best_schedule import BestSchedule

ScheduleLike: TypeAlias = Schedule | PathLike | TopologyLike
"""A schedule, the file of one, or a network, for which the allgather is generated that reaches its optimum."""


def is_schedule(source: ScheduleLike) -> bool:
    """Return whether an argument is a schedule or names the file of one, not a network.

    Example:
        >>> is_schedule("ring:nodes=4")
        False
    """
    if isinstance(source, Schedule):
        return True
    return isinstance(source, str | os.PathLike) and (path := as_path(source)).is_file() and holds_schedule(path)


def verified_schedule(source: ScheduleLike, progress: Progress = SILENT) -> Schedule:
    """Return the verified schedule that an argument is or names.

    Args:
        source: a schedule of any kind; the file of one; or a network, as for `optimum`, whose allgather is generated.
        progress: receives the stages.

    Raises:
        InputError: it is none of them, the file cannot be read, or the schedule breaks a rule.

    Example:
        >>> verified_schedule("ring:nodes=4")
        <TreeSchedule: allgather on 'ring:nodes=4', 4 compute nodes, 8 trees>
    """
    if isinstance(source, Schedule):
        require_right(source)
        return source
    if isinstance(source, str | os.PathLike) and is_schedule(source):
        return read_verified(as_path(source), progress=progress)[0]
    from forestcoll.algorithms.generate import generate

    return generate(source, progress=progress)


def simulate(
    schedule: ScheduleLike, sizes: SizesLike, costs: Costs | None = None, model: Model | str = Model.TREES
) -> tuple[Point, ...]:
    """Return the time of a schedule for each message size, with the best number of pieces.

    Args:
        schedule: a schedule of any kind, or the file of one, which is verified first; or a network, as for `optimum`,
            for the best allgather for each size or, with the model `"program"`, that of the optimum. For a series, M is
            one large message.
        sizes: the sizes of the total data M: an integer in bytes, a text such as `"64KiB,1MiB"` or `"1KiB..1GiB"` (A,
            2A, 4A and so on, up to at most B), or several of them.
        costs: the parameters of the model; the defaults of `Costs` if None.
        model: `"trees"` for a closed form, `"program"` for a discrete-event simulation of the lowered program,
            `"slots"` for trees in time slots, as the torch backend runs them: alpha is the time of a slot, 30 us by
            default, and overhead that of each further message to a peer, 15 us.

    Returns:
        One point for each size, in the order of `sizes`.

    Raises:
        InputError: an argument is not valid; the schedule breaks a rule; the size in bytes of the network's bandwidth
            unit is not known; or schedules of this kind cannot be simulated or have no programs.
        NoSolutionError: no program of the schedule fits the limits.

    Example:
        >>> from forestcoll import generate, simulate
        >>> for point in simulate(generate("ring:nodes=4"), ["1KiB", 2**30]):
        ...     print(f"{point.size:10} bytes {point.seconds * 1e6:9.1f} us {point.algbw:6.3f} GB/s")
              1024 bytes      12.8 us  0.080 GB/s
        1073741824 bytes  403933.3 us  2.658 GB/s
    """
    chosen = member_named(Model, model, f"there is no model {argument(model)}")
    require_kind(costs, Costs | None, "costs", "Costs or None")
    found = sizes_of(sizes)
    if chosen is Model.TREES and not is_schedule(schedule):
        return tuple(
            each.point for each in best_schedules(cast("TopologyLike", schedule), Collective.ALLGATHER, found, costs)
        )
    return simulate_schedule(verified_schedule(schedule), found, costs, chosen)


def best_schedules(
    topology: TopologyLike,
    demand: DemandLike,
    sizes: Sequence[int],
    costs: Costs | None = None,
    *,
    progress: Progress = SILENT,
) -> "tuple[BestSchedule, ...]":
    """Return the best schedule for each size, with its time.

    Args:
        topology: the network, as for `optimum`.
        demand: one collective, as for `optimum`.
        sizes: the sizes of M in bytes.
        costs: the costs of a send; the defaults of `Costs` if None.
        progress: receives the stages of the work.

    Raises:
        InputError: as `optimum`; or the size in bytes of the network's bandwidth unit is not known.

    Example:
        >>> [each.method for each in best_schedules("dgx-a100:boxes=2", "allgather", [2**10, 2**20, 2**30])]
        ['direct', 'two-level', 'trees']
    """
    from forestcoll.algorithms.by_size import BySize
    from forestcoll.algorithms.generate import problem_of
    from forestcoll.solver.forests.scaling import require_all_ports

    problem = problem_of(topology, demand, progress)
    require_all_ports(problem.topology)
    by_size = BySize(problem, costs)
    progress.begin("comparing schedules")
    return tuple(map(by_size.at, sizes))
