"""The optimum of an all-to-all, a gather, a scatter, or of any demand matrix."""

from dataclasses import replace

from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.demand import NodeDemand
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.flows.value import FlowOptimum, FlowPath
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.generation.flows import all_paths
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.graph.logical_network import BandwidthSplit, LogicalNetwork, logical_network, with_paths


def solve_flows(
    network: Topology, demand: NodeDemand, *, max_peers: int | None = None, progress: Progress = SILENT
) -> FlowOptimum:
    """Return the optimum of an all-to-all, a gather or a scatter along flows.

    Args:
        network: the network.
        demand: the demand.
        max_peers: the most ranks of other boxes that a rank exchanges data with. The result is the optimum of a logical
            network (`topology.logical_network`); `bound` is still that of all schedules.
        progress: receives the stages of the work.

    Returns:
        The optimum. If the network has too little symmetry for an exact solution, `bound` is greater than `algbw`.

    Raises:
        InputError: the linear program is too large; or `max_peers` is too small, or the network has no equal boxes
            behind switches.
        NoSolutionError: the topology is one-port.
    """
    require_all_ports(network)
    if max_peers is None:
        return flow_search(network, demand, progress)
    logical = logical_network(network, max_peers, BandwidthSplit.EQUAL)
    limited = flow_search(logical.topology, demand, progress)
    return _on_network(limited, flow_search(network, demand, progress), logical)


def _on_network(limited: FlowOptimum, best: FlowOptimum, logical: LogicalNetwork) -> FlowOptimum:
    """Return an optimum on `logical` as one on the network of `best`, with the bound of all schedules."""
    paths = (FlowPath(tuple(with_paths(nodes, logical.paths)), share) for nodes, share in all_paths(limited))
    return replace(best, algbw=limited.algbw, paths=tuple(paths), symmetry=Symmetry(()))
