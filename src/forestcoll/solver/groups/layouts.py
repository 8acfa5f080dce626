"""Tables of layouts: how fast the groups of each dimension are, what limits them, and what other orders would gain.

All groups of one dimension run at the same time, and the dimensions one after the other. In another order of the
dimensions, the ranks have other compute nodes. The groups of a dimension depend only on its size and on the product of
the sizes before it, so few of them differ between orders.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.layout import Layout
from forestcoll.demand.groups.value import groups_of
from forestcoll.demand.texts import demand_of
from forestcoll.schedule.proof.lengths.group_lengths import GroupLengthsProof
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.groups.gains import group_gains
from forestcoll.solver.groups.search import group_search
from forestcoll.solver.groups.value import GroupsOptimum
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.link_classes import LinkClass, link_classes
from forestcoll.topology.registry import load_topology


@dataclass(frozen=True)
class DimensionRow:
    """The groups of one dimension, which run at the same time.

    Attributes:
        name: the name of the dimension.
        ranks: the number of ranks in each group.
        groups: the number of groups.
        algbw: the algbw of each group when all run together, in the unit of the topology.
        algbw_alone: the least algbw of a group that runs alone.
        is_optimal: whether `algbw` is proven to be the optimum.
        limited_by: the classes of links that limit the groups: the proof gives some of their links a length above 0.

    Example:
        >>> from forestcoll import Groups
        >>> from forestcoll.solver import layout_table
        >>> row = layout_table("ring:nodes=4", Groups("tp=2,dp=2", "allreduce")).rows[0]
        >>> row.ranks, row.groups, str(row.algbw), row.is_optimal
        (2, 2, '1', True)
    """

    name: str
    ranks: int
    groups: int
    algbw: Fraction
    algbw_alone: Fraction
    is_optimal: bool
    limited_by: tuple[LinkClass, ...]


@dataclass(frozen=True)
class LayoutOrder:
    """An order of the dimensions, the fastest first.

    Attributes:
        names: the names of the dimensions.
        algbws: the algbw of each dimension whose groups have several ranks.

    Example:
        >>> from forestcoll import Groups
        >>> from forestcoll.solver import layout_table
        >>> order = layout_table("ring:nodes=4", Groups("tp=2,dp=2", "allreduce")).orders[0]
        >>> order.names, str(order.time)
        (('tp', 'dp'), '2')
    """

    names: tuple[str, ...]
    algbws: Mapping[str, Fraction]

    @property
    def time(self) -> Fraction:
        """The time of one collective of each dimension, one after the other, for one unit of M each."""
        return sum((1 / algbw for algbw in self.algbws.values()), Fraction(0))


@dataclass(frozen=True, repr=False)
class LayoutTable(Displayed):
    """The dimensions of a layout and its other orders. `layout_table` returns it.

    Attributes:
        topology: the network.
        layout: the layout.
        collective: the collective of all groups.
        rows: the dimensions whose groups have several ranks, in the order of the layout.
        orders: all orders of the dimensions, the one with the least time first. Of equal ones, that of the layout is
            first.

    Example:
        >>> from forestcoll import Groups
        >>> from forestcoll.solver import layout_table
        >>> table = layout_table("dgx-a100:boxes=2", Groups("dp=2,tp=8", "allreduce"))
        >>> [(row.name, str(row.algbw)) for row in table.rows]
        [('dp', '325'), ('tp', '100')]
        >>> last = table.orders[-1]
        >>> last.names, {name: str(algbw) for name, algbw in last.algbws.items()}
        (('tp', 'dp'), {'tp': '1300/7', 'dp': '25'})
    """

    topology: Topology
    layout: Layout
    collective: Collective
    rows: tuple[DimensionRow, ...]
    orders: tuple[LayoutOrder, ...]


def layout_table(
    topology: TopologyLike,
    groups: Demand | Groups | str,
    *,
    progress: Progress = SILENT,
) -> LayoutTable:
    """Return how fast the groups of each dimension of a layout are, what limits them, and what other orders would gain.

    Args:
        topology: the network: a `Topology`, a spec string of a builder, a path, or a networkx graph.
        groups: the groups of a layout, whose sizes multiply to the number of compute nodes, such as
            `Groups("tp=8,dp=2", "allreduce")`. If the collective has a root, this is the first rank of each group.
        progress: receives the stages of the work.

    Returns:
        The table.

    Raises:
        InputError: the layout is not valid, or the network is too large.
        NoSolutionError: the topology is one-port.

    Example:
        >>> from forestcoll import Groups
        >>> from forestcoll.solver import layout_table
        >>> row = layout_table("dgx-a100:boxes=2", Groups("tp=8,dp=2", "allreduce")).rows[1]
        >>> row.name, str(row.algbw), [each.name("GB/s") for each in row.limited_by]
        ('dp', '25', ['16 links of 25 GB/s between GPUs and switches'])
    """
    wanted = demand_of(groups)
    found = wanted.layout if isinstance(wanted, Groups) else None
    if not isinstance(wanted, Groups) or found is None:
        raise InputError("a table is about a layout, such as tp=8,dp=4; give one")
    if wanted.run is not None or wanted.sizes is not None:
        raise InputError("a table lists all dimensions of a layout; leave run and sizes out")
    network = load_topology(topology)
    require_all_ports(network)
    found.check(network)
    kind = collective_named(wanted.collective)
    solver = _Orders(network, kind, progress)
    rows = tuple(_row(solver.best(found, name), found, name, progress) for name, size in found.sizes if size > 1)
    orders = [solver.order(Layout(sizes)) for sizes in permutations(found.sizes)]
    orders.sort(key=lambda order: (order.time, order.names != found.names))
    return LayoutTable(network, found, kind, rows, tuple(orders))


class _Orders:
    """Computes the optimum of the groups of each dimension once for each size and stride."""

    def __init__(self, topology: Topology, collective: Collective, progress: Progress) -> None:
        self._topology, self._collective, self._progress = topology, collective, progress
        self._known: dict[tuple[int, int], GroupsOptimum] = {}

    def best(self, layout: Layout, name: str) -> GroupsOptimum:
        """Return the optimum of all groups of a dimension."""
        key = (dict(layout.sizes)[name], layout.stride(name))
        if key not in self._known:
            groups = groups_of(self._topology, layout.groups(name), self._collective)
            self._known[key] = group_search(self._topology, groups, self._progress)
        return self._known[key]

    def order(self, layout: Layout) -> LayoutOrder:
        """Return the rates of all dimensions of a layout."""
        return LayoutOrder(
            layout.names, {name: self.best(layout, name).algbw for name, size in layout.sizes if size > 1}
        )


def _row(best: GroupsOptimum, layout: Layout, name: str, progress: Progress) -> DimensionRow:
    alone = min(gain.algbw_alone for gain in group_gains(best, progress).groups)
    ranks = dict(layout.sizes)[name]
    return DimensionRow(name, ranks, len(best.groups), best.algbw, alone, best.is_optimal, limiting_links(best))


def limiting_links(best: GroupsOptimum) -> tuple[LinkClass, ...]:
    """Return the classes of links of which the proof of an optimum gives some a length above 0."""
    proof = best.bound.proof
    ends = {(min(pair), max(pair)) for pair in proof.ends} if isinstance(proof, GroupLengthsProof) else set()
    return tuple(each for each in link_classes(best.topology) if not ends.isdisjoint(each.links))
