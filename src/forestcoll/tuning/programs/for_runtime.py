"""Schedules made for a runtime: of the same demand, where programs of the optimum would be slow or match too few sizes.

`generate --for` writes such a schedule, and `export` of a network uses it. A schedule that is given is never replaced.

*Another number of trees per root*, for plans of MSCCL++. The shares of many trees may be no multiples of a chunk, and a
rank may have more trees than thread blocks. Two trees per root lose less then: on two MI250 boxes, they reach 96.4 % of
the optimum with 64 chunks exactly. A broadcast or a reduce has few trees. With four times as many, ranks of high trees
wait less.

*One peer*, for programs of messages. In many trees, a rank sends to several ranks of other boxes at the same time, so
its NIC divides its bandwidth among them, and each message takes several times as long. If each rank sends to one rank
of another box only, data waits less: on two MI250 boxes, an allgather reaches 97 % of its schedule instead of 91 %. On
many networks, the optimum is the same.

*Two peers*, for programs of messages of many ranks. A rank exchanges data with two ranks of other boxes, one in each
direction around the boxes. So a rank has few blocks, and they do not wait for each other: on 32 boxes of A100 with
RCCL, a reduce-scatter reaches 90 % of its schedule instead of 11 %. Data makes many sends, so small data takes longer.

*Shorter trees*, for programs of messages with one root: data waits at fewer ranks, and the loads of all links are the
same.

*Less scratch*, for plans of a reduce. In a plan of MSCCL++, a rank has scratch for the sums of its children, so a rank
that receives more than M needs more than M of it. Offsets have 32 bits, so such a plan does not match 4 GiB. In these
trees, ranks receive at most M: before each rank is a switch whose link to it has the bandwidth of the algbw. On many
networks, the optimum is the same. The number of trees is a power of two, so that all shares are whole chunks.

*Few peers*, for programs of messages of an all-to-all. A rank sends to all ranks of all boxes, and each needs a thread
block. If it exchanges data with one rank of each other box only, fewer blocks are needed: on four MI250 boxes, 31
instead of 69. RCCL has 64. On many networks, the optimum is the same.

There are no other trees for a schedule that does not state its number of trees, and no other flows for a schedule that
does not reach the optimum, because forestcoll did not make it: its user wants these trees or flows. Trees that pass
through idle compute nodes, which run no program, are not used either.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TypeGuard

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.programs.formats import mscclpp
from forestcoll.programs.lowering import Placement, Style
from forestcoll.programs.targets.target import RuntimeTarget, Target, collector_paused
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.loads import loads_along_routes
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.generation.flows import flows_for
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.generation.shorter_trees import with_shorter_trees
from forestcoll.solver.optimum import with_peers
from forestcoll.solver.personalised import solve_flows
from forestcoll.solver.problem import OptimumProblem, on_network
from forestcoll.topology.graph.boxes import box_numbers
from forestcoll.topology.graph.logical_network import LogicalNetwork, one_peer_network
from forestcoll.topology.graph.receive_limits import with_receive_limits, without_ports
from forestcoll.tuning.programs.candidates import Objective
from forestcoll.tuning.programs.search import GAIN, Chosen, best_program
from forestcoll.verification import certified, verify

FEW = 2
"""The number of trees per root that is tried if the schedule has more."""

TIMES = 4
"""How many times as many trees are tried if there is one root."""

MOST_RANKS = 64
"""The most ranks for which other schedules are tried; programs of more ranks take long to search."""

MOST_RANKS_WITH_TWO_PEERS = 256
"""The most ranks for which trees with two peers are tried."""

LITTLE = Fraction(1, 200)
"""The part of the algbw that trees with less scratch may lose."""

MOST_TREES = 1024
"""The most trees with less scratch: with more, their shares are less than a few chunks."""


def best_for_runtime(
    schedule: Schedule,
    target: RuntimeTarget,
    *,
    objective: Objective | None = None,
    progress: Progress = SILENT,
) -> Chosen:
    """Return the best program of a schedule, or of one made for the runtime if that is faster or matches more sizes.

    Args:
        schedule: a schedule that was generated for its demand.
        target: the format, with options of the lowering that are not searched.
        objective: the sizes and the costs; the defaults of `Objective` if None.
        progress: receives the stages.

    Raises:
        InputError: as for `best_program`.
        NoSolutionError: no program fits the runtime.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.programs.targets.msccl_xml import MscclXml
        >>> schedule = generate("dgx-a100:boxes=4,gpus=2", "all-to-all")
        >>> chosen = best_for_runtime(schedule, MscclXml(dialect="rccl", blocks=10))
        >>> chosen.schedule == schedule, chosen.lowering.other_flows
        (False, True)
    """
    objective = objective or Objective()
    best: Chosen | None = None
    refused: NoSolutionError | None = None
    try:
        best = best_program(schedule, target, objective=objective, progress=progress)
    except NoSolutionError as error:
        refused = error
    if best is not None and ("chunks" in target.given or not _is_poor(best, objective)):
        return best
    for other in _made_for(schedule, target):
        progress.begin("choosing the program of a schedule for the runtime")
        try:
            found = _instead_of(schedule, best_program(other, target, objective=objective, progress=progress))
        except NoSolutionError as error:
            refused = refused or error
            continue
        if best is None or _is_better(found, best, objective):
            best = found
        if not _is_poor(best, objective):
            break
    if best is None:
        raise refused or NoSolutionError(f"{schedule.topology.name}: no program fits {target.name}")
    return best


def schedule_for_runtime(schedule: Schedule, target: Target, progress: Progress = SILENT) -> Schedule:
    """Return a schedule, or the one of the same demand that is made for a runtime, if its program is better.

    Args:
        schedule: a schedule that was generated for its demand.
        target: the format of the runtime. For formats of simulators, the schedule is the given one.
        progress: receives the stages.

    Raises:
        InputError: schedules of this kind have no programs for the runtime.
        NoSolutionError: no program fits the runtime.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.programs.targets.mscclpp_json import MscclppJson
        >>> schedule = generate("mesh:dims=3x3", "reduce:root=0")
        >>> schedule_for_runtime(schedule, MscclppJson()).trees_per_root
        4
    """
    if not isinstance(target, RuntimeTarget):
        return schedule
    target.check(schedule, target.usual_options(schedule))
    with collector_paused():
        return best_for_runtime(schedule, target, progress=progress).schedule


def _made_for(schedule: Schedule, target: RuntimeTarget) -> Iterator[Schedule]:
    """Yield other schedules for a runtime, in the order to try them."""
    made: list[Schedule | None] = []
    if target.style is Style.ONE_SIDED:
        placement = target.usual_options(schedule).placement if target.placement is None else target.placement
        yield from with_less_scratch(schedule, in_place=placement != Placement.OUT_OF_PLACE)
        made = [with_other_number_of_trees(schedule), with_peers_of_block(schedule)]
    elif isinstance(schedule, FlowSchedule):
        made = [with_few_peers(schedule)]
    elif schedule.collective.has_root:
        made = [shortened(schedule)]
    else:
        made = [with_one_peer(schedule) or with_two_peers(schedule)]
    yield from (each for each in made if each is not None)


def _is_poor(found: Chosen, objective: Objective) -> bool:
    """Return whether a program is slow, or a plan for a reduce has so much scratch that it misses the greatest size."""
    return found.is_slow or _misses_sizes(found, objective)


def _misses_sizes(found: Chosen, objective: Objective) -> bool:
    if found.options.style is not Style.ONE_SIDED or found.schedule.collective is not Collective.REDUCE:
        return False
    return mscclpp.most_bytes(found.lowering.program) < objective.most_bytes


def _is_better(found: Chosen, best: Chosen, objective: Objective) -> bool:
    """Return whether a program matches the greatest size where the best one does not, or is faster than it."""
    misses, best_misses = _misses_sizes(found, objective), _misses_sizes(best, objective)
    if misses != best_misses:
        return best_misses and not found.is_slow
    return found.algbw > GAIN * best.algbw


def _instead_of(known: Schedule, found: Chosen) -> Chosen:
    """Return a program of another schedule with its loss against a known one."""
    used, lowering = found.schedule, found.lowering
    trees = used.trees_per_root if isinstance(used, TreeSchedule) else None
    changed = replace(
        lowering,
        schedule_algbw=known.algbw or lowering.algbw,
        trees_left_out=0,
        other_trees=trees,
        other_flows=trees is None,
    )
    return replace(found, lowering=changed)


def with_peers_of_block(schedule: Schedule) -> TreeSchedule | None:
    """Return a schedule in which a rank exchanges data with as many ranks of other boxes as a block has channels.

    It is verified. It is for plans of more ranks than other schedules are tried for, and for the same networks as
    `with_one_peer`.

    Args:
        schedule: a schedule that `verify` accepts.
    """
    if not isinstance(schedule, TreeSchedule) or schedule.sources is not None or schedule.collective.has_root:
        return None
    if len(schedule.members) <= MOST_RANKS:
        return None
    most = mscclpp.limits().channels_of_block or 1
    return _verified(_on_logical(schedule, lambda: with_peers(schedule.topology, schedule.collective, most), None))


def with_other_number_of_trees(schedule: Schedule) -> TreeSchedule | None:
    """Return a schedule of the same demand with another number of trees per root, verified, or None.

    On two boxes, its ranks have one peer if this costs no algbw; on more boxes, plans without it are faster. There is
    none for a broadcast or an allreduce with other sources or targets than usual.

    Args:
        schedule: a schedule that `verify` accepts.

    Example:
        >>> from forestcoll import generate
        >>> other = with_other_number_of_trees(generate("mi250:boxes=2"))
        >>> other.trees_per_root, str(other.algbw)
        (2, '1024/3')
    """
    if not _can_be_replaced(schedule) or schedule.trees_per_root is None:
        return None
    trees = TIMES * schedule.trees_per_root if schedule.collective.has_root else min(FEW, schedule.trees_per_root)
    if trees == schedule.trees_per_root:
        return None
    boxes = len(set(box_numbers(schedule.topology).values()))
    made = [_with_one_peer(schedule, trees)] if boxes == 2 else []
    made.append(_made(lambda: _problem(schedule).solve(trees)))
    return _verified(max((each for each in made if each is not None), key=lambda each: each.algbw, default=None))


def with_one_peer(schedule: Schedule) -> TreeSchedule | None:
    """Return a schedule of the same demand in which a rank sends to one rank of another box at most, verified, or None.

    There is none for a broadcast, a reduce, and an allreduce with other sources or targets than usual, and none on a
    network that does not consist of equal boxes behind a fabric.

    Args:
        schedule: a schedule that `verify` accepts.

    Example:
        >>> from forestcoll import generate
        >>> schedule = generate("mi250:boxes=2")
        >>> with_one_peer(schedule).algbw == schedule.algbw
        True
    """
    if not _can_be_replaced(schedule) or schedule.trees_per_root is None:
        return None
    return _verified(_with_one_peer(schedule, None))


def with_two_peers(schedule: Schedule) -> TreeSchedule | None:
    """Return a schedule of the same demand in which a rank exchanges data with two ranks of other boxes, or None.

    It is verified. It is for more ranks than `with_one_peer`, and for the same collectives and networks.

    Args:
        schedule: a schedule that `verify` accepts.

    Example:
        >>> from forestcoll import generate
        >>> schedule = generate("dgx-a100:boxes=9")
        >>> [len(each.routes) for each in (schedule, with_two_peers(schedule))]
        [1080, 648]
    """
    if not _can_be_replaced(schedule, MOST_RANKS_WITH_TWO_PEERS) or schedule.trees_per_root is None:
        return None
    if schedule.collective.has_root or len(schedule.members) <= MOST_RANKS:
        return None
    return _verified(_on_logical(schedule, lambda: with_peers(schedule.topology, schedule.collective, 2), None))


def with_few_peers(schedule: Schedule) -> FlowSchedule | None:
    """Return an all-to-all in which a rank exchanges data with one rank of each other box, verified, or None.

    There is none if this costs algbw, or only some compute nodes take part, and none on a network that does not consist
    of equal boxes behind a fabric.

    Args:
        schedule: a schedule that `verify` accepts.

    Example:
        >>> from forestcoll import generate
        >>> schedule = generate("dgx-a100:boxes=2,gpus=4", "all-to-all")
        >>> [len({(route[0], route[-1]) for route in each.routes}) for each in (schedule, with_few_peers(schedule))]
        [56, 32]
    """
    if not isinstance(schedule, FlowSchedule) or schedule.collective is not Collective.ALL_TO_ALL:
        return None
    whole = schedule.ranks is None and schedule.matrix is None and len(schedule.members) <= MOST_RANKS
    if not whole or schedule.bound is None or schedule.algbw != schedule.bound.algbw:
        return None
    boxes = len(set(box_numbers(schedule.topology).values()))
    try:
        best = solve_flows(schedule.topology, NodeDemand(Collective.ALL_TO_ALL), max_peers=max(1, boxes - 1))
        made = flows_for(best)
    except InputError:
        return None
    if made.algbw < schedule.algbw:
        return None
    certified(verify(made))
    return made


def shortened(schedule: Schedule) -> TreeSchedule | None:
    """Return a schedule of the same broadcast or reduce with shorter trees and the same loads, verified, or None.

    Args:
        schedule: a schedule that `verify` accepts.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.schedule.trees.shape import tree_shape
        >>> schedule = generate("mi250:boxes=2", "broadcast:root=0")
        >>> [tree_shape(each).greatest_height for each in (schedule, shortened(schedule))]
        [15, 10]
    """
    if not _can_be_replaced(schedule) or schedule.trees_per_root is None or not schedule.collective.has_root:
        return None
    shorter = with_shorter_trees(schedule)
    return None if shorter == schedule else _checked(shorter)


def with_less_scratch(schedule: Schedule, *, in_place: bool) -> Iterator[TreeSchedule]:
    """Yield schedules of the same reduce in which no rank receives more than M, verified, in the order to try them.

    The root may receive M more if it has an output of its own, into which its first child writes. There are none for
    other collectives, and none if this would cost more than `LITTLE` of the algbw.

    Args:
        schedule: a schedule that `verify` accepts.
        in_place: whether the output of the root is its input.

    Example:
        >>> from forestcoll import generate
        >>> schedule = generate("dgx-a100:boxes=4", "reduce:root=0")
        >>> [each.trees_per_root for each in with_less_scratch(schedule, in_place=False)]
        [16, 8, 8]
    """
    if not _can_be_replaced(schedule) or schedule.trees_per_root is None:
        return
    if schedule.collective is not Collective.REDUCE:
        return
    problem = _problem(schedule)
    trees = 1
    while trees < schedule.trees_per_root or _algbw(problem, trees) < (1 - LITTLE) * schedule.algbw:
        trees *= 2
        if trees > MOST_TREES:
            return
    for number in (2 * trees, trees):
        made = _with_less_scratch(problem, number, in_place=in_place) if number <= MOST_TREES else None
        if made is not None and made.algbw >= (1 - LITTLE) * schedule.algbw:
            shorter = with_shorter_trees(made)
            yield _checked(shorter)
            if number == trees and shorter != made:
                yield _checked(made)


def _algbw(problem: OptimumProblem, trees: int) -> Fraction:
    """Return the algbw of so many trees; 0 if there is no such schedule."""
    try:
        return problem.solve(trees).algbw
    except NoSolutionError:
        return Fraction(0)


def _with_less_scratch(problem: OptimumProblem, trees: int, *, in_place: bool) -> TreeSchedule | None:
    topology, demand = problem.topology, problem.demand
    algbw = _algbw(problem, trees)
    limits = dict.fromkeys(demand.members(topology), algbw)
    if not in_place and demand.root is not None:
        limits[demand.root] = 2 * algbw
    made = _made(lambda: OptimumProblem.of(with_receive_limits(topology, limits), demand, SILENT).solve(trees))
    if made is None or made.algbw < algbw:  # then ranks may receive more than M at the lower algbw
        return None
    routes = Rows.of([without_ports(made.routes[number], topology) for number in range(len(made.routes))])
    loads = loads_along_routes(topology, routes, made.phases, None)  # the algbw may be more than the limits allow
    return replace(made, topology=topology, routes=routes, algbw=loads.algbw(topology), bound=problem.bound)


def _can_be_replaced(schedule: Schedule, most_ranks: int = MOST_RANKS) -> TypeGuard[TreeSchedule]:
    """Return whether other trees are tried for a schedule."""
    return isinstance(schedule, TreeSchedule) and schedule.sources is None and len(schedule.members) <= most_ranks


def _with_one_peer(schedule: TreeSchedule, trees: int | None) -> TreeSchedule | None:
    """Return a schedule with so many trees per root; None stands for the fewest that reach the optimum."""
    if schedule.collective.has_root:
        return None
    return _on_logical(schedule, lambda: one_peer_network(schedule.topology), trees)


def _on_logical(
    schedule: TreeSchedule, network: Callable[[], LogicalNetwork], trees: int | None
) -> TreeSchedule | None:
    """Return a schedule of the same demand with so many trees per root on a logical network, or None."""

    def best() -> TreeOptimum:
        logical = network()
        limited = OptimumProblem.of(logical.topology, schedule.demand, SILENT)
        return on_network(limited.solve(trees), _problem(schedule), logical)

    return _made(best)


def _problem(schedule: TreeSchedule) -> OptimumProblem:
    return OptimumProblem.of(schedule.topology, schedule.demand, SILENT)


def _made(best: Callable[[], TreeOptimum]) -> TreeSchedule | None:
    """Return the schedule of an optimum, or None if there is no such optimum or it has no program."""
    try:
        schedule = schedule_for(best())
    except (InputError, NoSolutionError):
        return None
    idle = set(schedule.topology.compute).difference(schedule.members)
    return None if idle.intersection(schedule.routes.entries.tolist()) else schedule


def _verified(schedule: TreeSchedule | None) -> TreeSchedule | None:
    return None if schedule is None else _checked(schedule)


def _checked(schedule: TreeSchedule) -> TreeSchedule:
    certified(verify(schedule))
    return schedule
