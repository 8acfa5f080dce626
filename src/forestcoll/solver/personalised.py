"""The optimum and the schedule of an all-to-all, a gather, a scatter, or of any demand matrix."""

from dataclasses import replace

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, ShardsByNode, collective_named
from forestcoll.demand.demand import Demand, DemandLike
from forestcoll.demand.matrix import MatrixLike
from forestcoll.demand.ranks import RanksLike
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.solver.counts import count_of
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.flows.value import FlowOptimum, FlowPath
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.generation.flows import all_paths, flows_for
from forestcoll.topology import NodeId, Symmetry, TopologyLike
from forestcoll.topology.graph.logical_network import LogicalNetwork, Spread, logical_network, with_paths
from forestcoll.topology.registry import load_topology


def flow_optimum(  # noqa: PLR0913 (the request and how to solve it)
    topology: TopologyLike,
    collective: DemandLike = Collective.ALL_TO_ALL,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    matrix: MatrixLike | None = None,
    max_peers: int | None = None,
    progress: Progress = SILENT,
) -> FlowOptimum:
    """Return the exact optimum of an all-to-all, a gather or a scatter: the bandwidth that flows reach, and its bound.

    Args:
        topology: the network: a `Topology`, a spec string of a builder, a path, or a networkx graph.
        collective: the collective, or a `Demand` that also holds the keywords below.
        ranks: the compute nodes that take part, as for `ranks_of`: positions or ids, or a text such as `0-7,16-23`;
            all if None. Idle compute nodes serve as relays.
        root: for a gather or a scatter, the compute node that is its root: an id or a position.
        shards: for a gather or a scatter, the part of the data of each compute node, by node id. The parts add up to 1;
            nodes that are missing have 0. All parts are equal if None.
        matrix: the demand matrix: what each node that takes part (row) sends to each other one (column), in multiples
            of M. If None, each part is 1/N.
        max_peers: the most ranks of other boxes that a rank exchanges data with. The result is the optimum of a logical
            network (`topology.logical_network`); `bound` is still that of all schedules.
        progress: receives the stages of the work.

    Returns:
        The optimum. `algbw` is in the unit of the topology. `bound.proof.algbw(topology, demand)` checks the proof. If
        the network has too little symmetry for an exact solution, `bound` is greater than `algbw`.

    Raises:
        InputError: an argument is not valid, a node cannot reach another to which it sends data, or the linear program
            is too large; or `max_peers` is too small, or the network has no equal boxes behind switches.
        NoSolutionError: the topology is one-port.

    Example:
        >>> from forestcoll import flow_optimum
        >>> str(flow_optimum("ring:nodes=4").algbw), str(flow_optimum("ring:nodes=4", "gather", root=0).algbw)
        ('2', '8/3')
    """
    request = Demand.of(collective, ranks, root, shards, matrix)
    kind = collective_named(request.collective)
    if not kind.is_personalised:
        raise InputError(f"{kind.with_article} moves along trees, not along flows; use optimum() and generate()")
    network = load_topology(topology, connected=request.ranks is None)
    require_all_ports(network)
    demand = request.demand(network)
    if max_peers is None:
        return flow_search(network, demand, progress)
    logical = logical_network(network, count_of("max_peers", max_peers), Spread.EQUAL)
    limited = flow_search(logical.topology, demand, progress)
    return _on_network(limited, flow_search(network, demand, progress), logical)


def _on_network(limited: FlowOptimum, best: FlowOptimum, logical: LogicalNetwork) -> FlowOptimum:
    """Return an optimum on `logical` as one on the network of `best`, with the bound of all schedules."""
    paths = (FlowPath(tuple(with_paths(nodes, logical.paths)), share) for nodes, share in all_paths(limited))
    return replace(best, algbw=limited.algbw, paths=tuple(paths), symmetry=Symmetry(()))


def generate_flows(  # noqa: PLR0913 (the request and how to solve it)
    topology: TopologyLike,
    collective: DemandLike = Collective.ALL_TO_ALL,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    matrix: MatrixLike | None = None,
    max_peers: int | None = None,
    compact: bool | None = None,
    progress: Progress = SILENT,
) -> FlowSchedule:
    """Return a schedule of flows that reaches the optimum of an all-to-all, a gather or a scatter.

    The same arguments always give the same schedule.

    Args:
        topology: as for `flow_optimum`.
        collective: as for `flow_optimum`.
        ranks: as for `flow_optimum`.
        root: as for `flow_optimum`.
        shards: as for `flow_optimum`.
        matrix: as for `flow_optimum`.
        max_peers: as for `flow_optimum`. All flows are then listed.
        compact: whether the schedule lists base flows and a symmetry of the network, if there is a symmetry. If None,
            it does so if there are more than 50,000 flows.
        progress: receives the stages of the work.

    Returns:
        The schedule. `verify` checks it.

    Raises:
        InputError: see `flow_optimum`.
        NoSolutionError: see `flow_optimum`.

    Example:
        >>> from forestcoll import generate_flows, verify
        >>> schedule = generate_flows("dgx-a100:boxes=2")
        >>> len(schedule.flows), str(schedule.algbw), verify(schedule).optimal
        (240, '50', True)
    """
    request = Demand.of(collective, ranks, root, shards, matrix)
    best = flow_optimum(topology, request, max_peers=max_peers, progress=progress)
    return flows_for(best, compact=compact, progress=progress)
