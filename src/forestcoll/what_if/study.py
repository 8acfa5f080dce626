"""What-if studies: the optimum of a network, and what it becomes after each of many changes."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.texts import DemandLike, bound_on
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.changes import Change, change_named
from forestcoll.topology.failures import PartKind, parts_of
from forestcoll.what_if.classes import Symmetries, classes_of_sets, images_of_items
from forestcoll.what_if.sweep import SweepRunner
from forestcoll.what_if.value import Value


@dataclass(frozen=True)
class ChangeRow:
    """One change, which stands for all changes that are symmetric to it.

    Attributes:
        change: the first of the symmetric changes.
        value: the optimum after the change.
        ratio: the algbw divided by that before the change.
        count: the number of symmetric changes.
    """

    change: Change
    value: Value
    ratio: Fraction
    count: int


class TabularStudy(Displayed):
    """A study whose records are plain: without the nodes, the curves and the proofs that its JSON has."""

    __slots__ = ()

    def records(self) -> list[dict[str, object]]:
        """See `Displayed.records`."""
        rows = super().records()
        return [{key: value for key, value in row.items() if not isinstance(value, dict | list)} for row in rows]


@dataclass(frozen=True, repr=False)
class Study(TabularStudy):
    """The optimum of a network, and what it becomes after changes.

    Attributes:
        topology: the network before the changes.
        demand: the collective and who takes part.
        base: the optimum before the changes.
        rows: the changes: failures worst first, gains best first.

    Example:
        >>> from forestcoll import failures
        >>> study = failures("ring:nodes=4")
        >>> str(study.base.algbw), str(study.rows[0].value.algbw)
        ('8/3', '4/3')
    """

    topology: Topology
    demand: NodeDemand
    base: Value
    rows: tuple[ChangeRow, ...]


def failures(  # noqa: PLR0913 (the request and its execution)
    topology: TopologyLike,
    part: PartKind | str = PartKind.LINKS,
    demand: DemandLike = Collective.ALLGATHER,
    *,
    at_once: int = 1,
    executor: Executor | None = None,
    progress: Progress = SILENT,
) -> Study:
    """Return the optimum after each failure of parts of one kind, the worst first.

    Failures that are known to be symmetric are computed once.

    Args:
        topology: the network: a `Topology`, a spec string of a builder, a path, or a networkx graph.
        part: what fails: `links` (both directions), `nics`, `switches` or `boxes`. A NIC is the links between a node
            with the attribute `box` and a switch without it. The compute nodes of a box that fails take no part.
        demand: the demand; all its parts must be equal. Each changed network of an all-to-all, a gather or a scatter is
            solved anew.
        at_once: how many parts fail at the same time.
        executor: where the work is done: any executor of `concurrent.futures`; this process if None.
        progress: receives the number of finished failures.

    Returns:
        The study. An `algbw` is in the unit of the topology, and 0 where nodes that take part cannot all reach each
        other.

    Raises:
        InputError: an argument is not valid, the network has no such part, or there are too many sets of failures.
        NoSolutionError: as `optimum`.

    Example:
        >>> from forestcoll import failures
        >>> study = failures("dgx-a100:boxes=2", "links")
        >>> [(row.change.name, str(row.value.algbw), row.count) for row in study.rows]
        [('b0/gpu0--b0/nvswitch', '80/3', 16), ('b0/gpu0--ib', '320', 16)]
    """
    network, bound = network_and_demand(topology, demand)
    parts = parts_of(network, part)
    if isinstance(at_once, bool) or not isinstance(at_once, int) or not 1 <= at_once <= len(parts):
        raise InputError(
            f"at_once is {shown(at_once)}; expected an integer from 1 to {len(parts)}, the number of {part}"
        )
    progress.begin("looking for a symmetry")
    images = images_of_items(Symmetries.of(network, bound), [frozenset((*each.links, *each.nodes)) for each in parts])
    classes = classes_of_sets(len(parts), at_once, images)
    progress.begin("computing failures")
    changes = [_together([parts[place] for place in each.first]) for each in classes]
    return _study(network, bound, changes, [each.count for each in classes], SweepRunner(executor, progress))


def changes_of(
    topology: TopologyLike,
    demand: DemandLike = Collective.ALLGATHER,
    *,
    without: Sequence[str] = (),
    degrade: Sequence[str] = (),
) -> Study:
    """Return the optimum after one change: parts that are gone or links with another bandwidth, all at once.

    Args:
        topology: as for `failures`.
        demand: as for `failures`.
        without: parts that are gone, by their names, as for `Topology.without`.
        degrade: parts with another bandwidth, each as `NAME=BANDWIDTH` or `NAME=50%`.

    Returns:
        The study, with one row.

    Raises:
        InputError: there is no such link, or an argument is not valid.

    Example:
        >>> from forestcoll.what_if import changes_of
        >>> str(changes_of("dgx-a100:boxes=2", degrade=["b0/gpu0--ib=12.5"]).rows[0].value.algbw)
        '1000/3'
    """
    network, bound = network_and_demand(topology, demand)
    change = replace(change_named(network, without, degrade), name=" + ".join([*without, *degrade]))
    return _study(network, bound, [change], [1], SweepRunner())


def network_and_demand(
    topology: TopologyLike, wanted: DemandLike, *, trees_for: str = ""
) -> tuple[Topology, NodeDemand]:
    """Return the network and the demand of a study.

    Args:
        topology: the network.
        wanted: the demand.
        trees_for: what needs a collective along trees, such as `upgrades`; any collective will do if empty.

    Raises:
        InputError: an argument is not valid, parts of the data differ, or the collective does not move along trees.
        NoSolutionError: the topology is one-port.
    """
    network, demand = bound_on(topology, wanted)
    require_all_ports(network)
    if demand.shards is not None or demand.matrix is not None:
        raise InputError("a what-if study needs equal parts of the data; leave shards and the demand matrix out")
    if trees_for and demand.collective.is_personalised:
        choices = ", ".join(SCHEDULED)
        raise InputError(f"{shown(demand.collective.value)} is not supported for {trees_for}; choose one of {choices}")
    return network, demand


def _together(changes: Sequence[Change]) -> Change:
    first, *others = changes
    for other in others:
        first = first.together(other)
    return first


def _study(
    network: Topology, demand: NodeDemand, changes: Sequence[Change], counts: Sequence[int], sweep: SweepRunner
) -> Study:
    base, *values = sweep.values(network, demand, [Change(""), *changes])
    rows = [
        ChangeRow(change, value, value.algbw / base.algbw, count)
        for change, value, count in zip(changes, values, counts, strict=True)
    ]
    return Study(network, demand, base, tuple(sorted(rows, key=lambda row: row.ratio)))
